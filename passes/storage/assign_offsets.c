/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Finds offsets for blocks of memory with lifetimes, so that blocks alive together do not overlap, and all of them span few
 * bytes.  Finding the fewest is NP-hard (dynamic storage allocation), but there is a lower bound to compare with: the most
 * bytes alive at one step.
 *
 * Three orders of placing are tried and the best kept: by size, by size times lifetime (large blocks first leave gaps that
 * small ones fill), and by time; each in two ways (see place_in_order).  A block goes into the tightest gap between the placed
 * blocks that are alive with it.  These are found in a tree over the blocks sorted by first step, whose nodes know the last
 * step of the blocks placed below them: k log n for k of them.  Where everything is alive at once, beyond PAIRS_MAX overlapping
 * pairs, only a scan in time order with a list of gaps is made, as an ordinary allocator would work.
 *
 * The result depends on the input only: sorting breaks ties by index.
 */
#include "passes/storage/assign_offsets.h"

#include <stdlib.h>
#include <string.h>

enum { PAIRS_MAX = 1 << 22 };

/* The blocks alive at a step, and the end of those that are placed there. */
struct step {
    int64_t bytes, count, top;
};

struct arena_packer {
    struct storage_block *blocks;
    uint32_t count;
    struct arena arena;
    uint32_t *by_first; /* blocks sorted by first step */
    uint32_t *position; /* of a block in by_first */
    uint32_t leaves;    /* of the tree: a power of two */
    int64_t *tree;      /* tree[1] is the root; last step of the placed blocks below, -1: none */
    uint32_t *order;    /* of placing */
    uint32_t *together; /* placed blocks alive with the one being placed */
    int64_t *offsets;   /* by block, of the order being tried */
    uint32_t *spare;    /* for sorting */
    uint32_t step_count;
    struct step *steps;
};

/* ---- sorting: a merge sort, because qsort passes no context and its order of equals is not defined ---- */

enum sort_key { KEY_FIRST, KEY_LAST, KEY_SIZE, KEY_AREA, KEY_OFFSET };

static int64_t key_of(const struct arena_packer *p, uint32_t block, enum sort_key key)
{
    const struct storage_block *b = &p->blocks[block];

    return key == KEY_FIRST  ? b->first
           : key == KEY_LAST ? b->last
           : key == KEY_SIZE ? -b->bytes
           : key == KEY_AREA ? -(b->bytes / TARGET_ALIGNMENT) * ((int64_t)b->last - b->first + 1)
                             : p->offsets[block];
}

static void sort(const struct arena_packer *p, uint32_t *items, uint32_t *spare, uint32_t count, enum sort_key key)
{
    if (count < 2)
        return;
    uint32_t half = count / 2, a = 0, b = half, k = 0;
    sort(p, items, spare, half, key);
    sort(p, items + half, spare, count - half, key);
    if (key_of(p, items[half - 1], key) <= key_of(p, items[half], key))
        return;
    memcpy(spare, items, count * sizeof *items);
    while (a < half || b < count) {
        bool left = b == count || (a < half && key_of(p, spare[a], key) <= key_of(p, spare[b], key));
        items[k++] = left ? spare[a++] : spare[b++];
    }
}

static void sort_all(struct arena_packer *p, uint32_t *items, enum sort_key key)
{
    for (uint32_t i = 0; i < p->count; i++)
        items[i] = i;
    sort(p, items, p->spare, p->count, key);
}

/* ---- lifetimes ---- */

/* Finds the most bytes alive at one step, and about how many pairs of blocks are ever alive together. */
static void measure(struct arena_packer *p, int64_t *lower_bound, int64_t *pairs)
{
    for (uint32_t i = 0; i < p->count; i++) {
        struct step *first = &p->steps[p->blocks[i].first], *end = &p->steps[p->blocks[i].last + 1];

        first->bytes += p->blocks[i].bytes;
        first->count++;
        end->bytes -= p->blocks[i].bytes;
        end->count--;
    }
    for (uint32_t s = 0; s < p->step_count; s++) {
        *lower_bound = p->steps[s].bytes > *lower_bound ? p->steps[s].bytes : *lower_bound;
        p->steps[s + 1].bytes += p->steps[s].bytes;
        p->steps[s + 1].count += p->steps[s].count;
    }
    for (uint32_t i = 0; i < p->count; i++)
        *pairs += p->steps[p->blocks[i].first].count;
}

static void tree_insert(struct arena_packer *p, uint32_t block)
{
    int64_t last = p->blocks[block].last;

    for (uint32_t i = p->leaves + p->position[block]; i && p->tree[i] < last; i /= 2)
        p->tree[i] = last;
}

/* Appends the placed blocks below tree node i, which covers `width` leaves from `start`, that live in [first, last]. */
static uint32_t tree_find(const struct arena_packer *p, uint32_t i, uint32_t start, uint32_t width,
                          const struct storage_block *b, uint32_t found)
{
    if (p->tree[i] < (int64_t)b->first || start >= p->count || p->blocks[p->by_first[start]].first > b->last)
        return found;
    if (width == 1) {
        p->together[found] = p->by_first[start];
        return found + 1;
    }
    found = tree_find(p, 2 * i, start, width / 2, b, found);
    return tree_find(p, 2 * i + 1, start + width / 2, width / 2, b, found);
}

/* ---- placing ---- */

/* Returns where `b` goes among the blocks in p->together, sorted by offset: into the tightest gap, else above them all. */
static int64_t choose_gap(const struct arena_packer *p, const struct storage_block *b, uint32_t found, int64_t ceiling)
{
    int64_t best = -1, best_gap = INT64_MAX, end = 0;
    int64_t below = INT64_MAX; /* end of the live range of the block that ends at `end`; floor and ceiling are always live */

    for (uint32_t k = 0; k <= found; k++) {
        uint32_t other = k < found ? p->together[k] : 0;
        int64_t start = k < found ? p->offsets[other] : ceiling, above = k < found ? p->blocks[other].last : INT64_MAX;
        int64_t gap = start - end;

        if (gap >= b->bytes && gap < best_gap) {
            best = above > below ? start - b->bytes : end;
            best_gap = gap;
        }
        if (k < found && start + p->blocks[other].bytes > end) {
            end = start + p->blocks[other].bytes;
            below = above;
        }
    }
    return best >= 0 ? best : end;
}

/*
 * Places all blocks in p->order, and sets p->offsets.  Returns the bytes spanned.  Without a ceiling (0) a block sits on what
 * is below it.  With one (the lower bound), a block goes to that end of a gap where its neighbour is live longer, and what fits
 * nowhere below the ceiling goes above all others: in a chain of values this fills the arena from both ends, turn and turn
 * about.
 */
static int64_t place_in_order(struct arena_packer *p, int64_t ceiling)
{
    int64_t total = 0;

    for (uint32_t i = 0; i < 2 * p->leaves; i++)
        p->tree[i] = -1;
    for (uint32_t i = 0; i < p->count; i++) {
        uint32_t block = p->order[i], found;
        const struct storage_block *b = &p->blocks[block];

        found = tree_find(p, 1, 0, p->leaves, b, 0);
        sort(p, p->together, p->spare, found, KEY_OFFSET);
        p->offsets[block] = choose_gap(p, b, found, ceiling);
        total = p->offsets[block] + b->bytes > total ? p->offsets[block] + b->bytes : total;
        tree_insert(p, block);
    }
    return total;
}

/* This is a free range.  The array of them is sorted by offset; the last one has no end. */
struct gap {
    int64_t offset, bytes;
};

static void gap_release(struct gap *gaps, uint32_t *count, int64_t offset, int64_t bytes)
{
    uint32_t low = 0, high = *count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (gaps[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    /* There is always a gap at the end, which has no limit. */
    bool joins_before = low > 0 && gaps[low - 1].offset + gaps[low - 1].bytes == offset;
    bool joins_next = offset + bytes == gaps[low].offset;
    if (joins_next) {
        gaps[low].offset = offset;
        if (gaps[low].bytes != INT64_MAX)
            gaps[low].bytes += bytes;
        if (joins_before) {
            gaps[low - 1].bytes = gaps[low].bytes == INT64_MAX ? INT64_MAX : gaps[low - 1].bytes + gaps[low].bytes;
            memmove(&gaps[low], &gaps[low + 1], (*count - low - 1) * sizeof *gaps);
            --*count;
        }
    } else if (joins_before) {
        gaps[low - 1].bytes += bytes;
    } else {
        memmove(&gaps[low + 1], &gaps[low], (*count - low) * sizeof *gaps);
        gaps[low] = (struct gap){offset, bytes};
        ++*count;
    }
}

/* Places all blocks in time order, with a list of gaps for one more than there are blocks.  Returns the bytes spanned. */
static int64_t place_by_scan(struct arena_packer *p, struct gap *gaps)
{
    uint32_t gap_count = 1, ended = 0;
    int64_t total = 0;

    sort_all(p, p->order, KEY_LAST);
    gaps[0] = (struct gap){0, INT64_MAX};
    for (uint32_t i = 0; i < p->count; i++) {
        uint32_t block = p->by_first[i], best = 0;
        const struct storage_block *b = &p->blocks[block];

        for (; p->blocks[p->order[ended]].last < b->first; ended++)
            gap_release(gaps, &gap_count, p->offsets[p->order[ended]], p->blocks[p->order[ended]].bytes);
        for (uint32_t k = 1; k < gap_count; k++)
            if (gaps[best].bytes < b->bytes || (gaps[k].bytes >= b->bytes && gaps[k].bytes < gaps[best].bytes))
                best = k;
        p->offsets[block] = gaps[best].offset;
        gaps[best].offset += b->bytes;
        if (gaps[best].bytes != INT64_MAX)
            gaps[best].bytes -= b->bytes;
        if (gaps[best].bytes == 0) {
            memmove(&gaps[best], &gaps[best + 1], (gap_count - best - 1) * sizeof *gaps);
            gap_count--;
        }
        total = p->offsets[block] + b->bytes > total ? p->offsets[block] + b->bytes : total;
    }
    return total;
}

/*
 * Puts all blocks, in an order, on top of those before it that are alive with it.  Returns the bytes spanned: in the order by
 * offset of a placing with other sizes the fewest, as long as no two blocks change sides.
 */
static int64_t place_on_top(struct arena_packer *p, const uint32_t *order)
{
    int64_t total = 0;

    for (uint32_t i = 0; i < p->count; i++) {
        const struct storage_block *b = &p->blocks[order[i]];
        int64_t at = 0;

        for (uint32_t s = b->first; s <= b->last; s++)
            at = p->steps[s].top > at ? p->steps[s].top : at;
        for (uint32_t s = b->first; s <= b->last; s++)
            p->steps[s].top = at + b->bytes;
        p->offsets[order[i]] = at;
        total = at + b->bytes > total ? at + b->bytes : total;
    }
    return total;
}

static void keep(struct arena_packer *p, int64_t spanned, int64_t *total)
{
    if (spanned >= *total)
        return;
    *total = spanned;
    for (uint32_t i = 0; i < p->count; i++)
        p->blocks[i].offset = p->offsets[i];
}

static bool begin(struct arena_packer *p)
{
    uint32_t **const lists[] = {&p->by_first, &p->position, &p->order, &p->together, &p->spare};

    for (p->leaves = 1; p->leaves < p->count; p->leaves *= 2)
        ;
    for (uint32_t i = 0; i < p->count; i++) {
        struct storage_block *b = &p->blocks[i];

        b->bytes = target_align(b->bytes);
        p->step_count = b->last >= p->step_count ? b->last + 1 : p->step_count;
    }
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (!(*lists[i] = arena_array(&p->arena, p->count, sizeof **lists[i])))
            return false;
    p->offsets = arena_array(&p->arena, p->count, sizeof *p->offsets);
    p->steps = arena_array(&p->arena, (size_t)p->step_count + 1, sizeof *p->steps);
    p->tree = arena_array(&p->arena, 2 * (size_t)p->leaves, sizeof *p->tree);
    return p->offsets && p->steps && p->tree;
}

static bool assign(struct arena_packer *p, int64_t pairs, int64_t lower_bound, int64_t *total)
{
    static const enum sort_key keys[] = {KEY_SIZE, KEY_AREA, KEY_FIRST};

    sort_all(p, p->by_first, KEY_FIRST);
    if (pairs > PAIRS_MAX) {
        struct gap *gaps = arena_array(&p->arena, (size_t)p->count + 2, sizeof *gaps);
        if (gaps)
            keep(p, place_by_scan(p, gaps), total);
        return gaps;
    }
    for (uint32_t i = 0; i < p->count; i++)
        p->position[p->by_first[i]] = i;
    for (size_t k = 0; k < sizeof keys / sizeof *keys && *total > lower_bound; k++) {
        sort_all(p, p->order, keys[k]);
        for (int with_ceiling = 0; with_ceiling < 2 && *total > lower_bound; with_ceiling++)
            keep(p, place_in_order(p, with_ceiling ? lower_bound : 0), total);
    }
    return true;
}

static void keep_order(struct arena_packer *p, struct storage_order *order)
{
    uint32_t *blocks = calloc(p->count, sizeof *blocks);

    if (!blocks)
        return;
    for (uint32_t i = 0; i < p->count; i++)
        p->offsets[i] = p->blocks[i].offset;
    sort_all(p, blocks, KEY_OFFSET);
    free(order->blocks);
    *order = (struct storage_order){p->count, blocks};
}

bool assign_offsets(struct storage_block *blocks, uint32_t count, struct storage_order *order, int64_t *total,
                    int64_t *lower_bound)
{
    struct arena_packer p = {.blocks = blocks, .count = count};
    bool done = begin(&p);
    int64_t pairs = 0;

    *total = *lower_bound = 0;
    if (done && count) {
        measure(&p, lower_bound, &pairs);
        *total = INT64_MAX;
        if (order && order->count == count && pairs <= PAIRS_MAX)
            keep(&p, place_on_top(&p, order->blocks), total);
        if (*total > *lower_bound) {
            done = assign(&p, pairs, *lower_bound, total);
            if (order && done)
                keep_order(&p, order);
        }
    }
    arena_free(&p.arena);
    return done;
}
