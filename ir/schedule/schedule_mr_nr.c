/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Chooses MR x NR: how many rows and vectors the register tiles of a contraction have, and how wide the panels are into which
 * its B is packed for them.  From the sizes of a contraction it finds the tile with the least estimated time, for
 * schedule_matmul.c, which knows the kernel, and panel widths and rows for passes, which decide about layouts before there is a
 * kernel.  This is the one place where these numbers are chosen.
 */
#include <stdlib.h>

#include "ir/schedule/schedule_internal.h"

/* ---- tiles ---- */

/* Returns the nanoseconds of one step of a tile: multiply-adds, loads, or waiting for the chain of additions. */
static double tile_cost(const struct target_facts *facts, int64_t rows, int64_t vectors)
{
    const struct tile_prices *p = &facts->multiplication.tile;
    const int64_t chains = facts->contraction.chains, work = rows * vectors > rows + vectors ? rows * vectors : rows + vectors;

    return p->work * (double)(work > chains ? work : chains) + p->step;
}

/* Returns the cost of one step of the sum in all columns of a row of tiles that is so high. */
static double strip_cost(const struct register_tile *t, const struct target_facts *facts, int64_t rows, int64_t columns,
                         int64_t width)
{
    const int64_t strip = t->vectors * width, rest = columns % strip;
    double cost = (double)(columns / strip) * tile_cost(facts, rows, t->vectors);

    if (t->n_tail)
        cost += tile_cost(facts, rows, t->n_tail);
    if (t->scalars)
        cost += (double)(rest % width) * tile_cost(facts, rows, 1);
    return cost;
}

/* Finds the remainder of the columns, and returns the cost of one step of the sum for one of many rows. */
static double shape_cost(struct register_tile *t, const struct target_facts *facts, int64_t columns, int64_t width, bool masked)
{
    const int64_t strip = t->vectors * width, rest = columns % strip;

    t->full = columns >= strip;
    t->masked = masked && rest % width;
    t->n_tail = (uint32_t)(masked ? ceil_div(rest, width) : rest / width);
    t->scalars = !masked && rest % width;
    double cost = strip_cost(t, facts, t->mr, columns, width), rows = t->mr;
    if (t->shorter) {
        cost += strip_cost(t, facts, t->mr - 1, columns, width);
        rows += t->mr - 1;
    }
    /* Every kind of tile has its own code. */
    uint32_t kinds = (1U + t->shorter) * (uint32_t)(t->full + (t->n_tail > 0) + t->scalars);
    return cost / rows * (1 + facts->contraction.code * (kinds - 1));
}

/* Chooses the best tile that has `least` to `most` rows, and others of one row less unless one tile of these has all rows. */
static void choose_shape(const struct target *target, const struct tile_bounds *b, int64_t least, int64_t most,
                         struct register_tile *t)
{
    const struct isa *isa = &target->isa;
    const struct contraction_facts *facts = &target_facts(target)->contraction;
    const int64_t lanes = target_lanes(target), vector_block = target_facts(target)->loop.vector_block;
    const bool masked = isa->vector_bits > 32 && (isa->masks || (isa->masks32 && b->wide_elements));
    const uint32_t product = isa->fma || isa->relaxed_fma ? 0 : 1;
    const uint32_t sums = b->own_operands ? facts->chains : facts->tile.accumulators;
    const int64_t own_vectors = b->m >= sums ? 1 : sums / b->m; /* rows share what they read, vectors do not */
    const int64_t vectors_most = b->own_operands && b->m > 1 ? own_vectors : facts->tile.vectors_most;
    struct register_tile best = *t;
    double lowest = 0;

    best.vectors = 0;
    for (t->vectors = 1; t->vectors <= (lanes > 1 ? vectors_most : 1); t->vectors++) {
        for (t->mr = (uint32_t)least; t->mr <= most && t->mr * t->vectors <= sums; t->mr++) {
            const uint32_t b_registers = b->unpacked ? 2 * t->vectors + 1 : t->vectors;
            const uint32_t a_registers = isa->loads_first ? t->mr : 1;
            const bool any = t->mr == 1 || (t->mr == least && t->vectors == 1); /* whatever the registers hold */

            if (t->mr * t->vectors + b_registers + a_registers + product > isa->registers && !any)
                break;
            if (b->n > vector_block && vector_block % (t->vectors * lanes))
                continue;
            if (t->vectors > facts->tile.vectors_most_tall && t->mr > 1)
                continue;
            t->shorter = t->mr > 1 && !b->m_multiple && (least != most || b->m != most || target->sizes_vary);
            double cost = shape_cost(t, target_facts(target), b->n, lanes, masked);
            if (!best.vectors || cost < lowest) {
                lowest = cost;
                best = *t;
            }
        }
    }
    *t = best;
}

/*
 * Chooses tiles for many rows, and for fewer only where these and tiles with one row less do not make that number: so all
 * numbers of rows but some small ones have the same tiles, and share code.
 */
void mr_nr_choose(const struct target *target, const struct tile_bounds *b, struct register_tile *t)
{
    const struct tile_facts *facts = &target_facts(target)->contraction.tile;

    choose_shape(target, b, b->m_multiple ? b->m_multiple : 1, b->m_multiple ? b->m_multiple : b->m > 1 ? b->mr_most : 1, t);
    int64_t rows = ceil_div(b->m, ceil_div(b->m, t->mr));
    if (b->m < ceil_div(b->m, t->mr) * (t->mr - 1)) {
        if (target->sizes_vary) /* few heights */
            for (rows = t->mr / 2; b->m < ceil_div(b->m, rows) * (rows - 1);)
                rows /= 2;
        choose_shape(target, b, rows, rows, t);
    }
    /* Their tiles are long code, which other sizes do not share: of eight and seven rows the latter divide more of the images
     * that networks have. */
    if (b->own_operands && rows == target_facts(target)->contraction.chains && b->m % (rows - 1) == 0)
        rows--;
    if (b->own_operands && !target->sizes_vary && b->m % rows == 0) {
        t->mr = (uint32_t)rows;
        t->shorter = false;
    }
    t->even = t->shorter && !target->sizes_vary && b->m % t->mr == 0;
    t->m_tiles = (b->m_multiple ? facts->m_block_padded : facts->m_block) / t->mr;
}

/* Returns a number that tiles of kernels with the same expressions have in common.  Others may have it, too: all that follows
 * from that is code that does not run. */
static uint64_t tile_likeness(const struct schedule *s)
{
    const struct register_tile *t = &s->tile;
    uint64_t hash =
        hash_mix(hash_mix(t->mr, t->vectors), (t->n_tail * 2 + t->full) * KERNEL_VARS_MAX + s->kernel->parallel_count);

    for (uint32_t i = 0; i < s->kernel->expr_count; i++) {
        const struct kexpr *x = &s->kernel->exprs[i];
        hash = hash_mix(hash_mix(hash, x->op * 64 + x->type), x->args[0]);
    }
    return hash;
}

/* Lets s do what a larger matrix multiplication does that is like it.  A request for a step, and a test for a tile whose sum is
 * one block, cost next to nothing. */
static void tile_join(struct schedule *s, const struct register_tile *other)
{
    struct register_tile *t = &s->tile;

    if (!t->strided || !other->strided || t->chains != other->chains || t->unroll_from != other->unroll_from ||
        t->b_outer != other->b_outer || t->m_outer != other->m_outer || t->m_var != other->m_var || t->interleaved)
        return;
    if (t->prefetch_var == KEXPR_NONE)
        t->prefetch_var = other->prefetch_var;
    const int64_t steps = s->kernel->vars[s->kernel->parallel_count].size;
    if (t->split == KEXPR_NONE && other->split == 0 && other->split_steps > 1 && steps > 1 &&
        t->prefetch_var == other->prefetch_var) {
        const struct register_tile alone = *t;
        const struct knumbers numbers = s->numbers;

        t->split = 0;
        t->split_steps = steps;
        if (!schedule_list_numbers(s)) { /* without memory the kernel stays as it is */
            *t = alone;
            s->numbers = numbers;
        }
    }
}

void schedules_join(struct schedule *const *schedules, uint32_t count)
{
    uint64_t *likeness = calloc(count + 1, sizeof *likeness);

    for (uint32_t i = 0; likeness && i < count; i++)
        if (schedules[i] && schedules[i]->tiled)
            likeness[i] = tile_likeness(schedules[i]) | 1;
    for (uint32_t i = 0; likeness && i < count; i++)
        for (uint32_t o = 0; likeness[i] && o < count; o++)
            if (likeness[o] == likeness[i])
                tile_join(schedules[i], &schedules[o]->tile);
    for (uint32_t i = 0; likeness && i < count; i++) {
        bool needed = !likeness[i] || !schedules[i]->tile.even;

        for (uint32_t o = 0; !needed && o < count; o++)
            needed = likeness[o] == likeness[i] && schedules[o]->tile.shorter && !schedules[o]->tile.even;
        if (!needed)
            schedules[i]->tile.shorter = false;
    }
    free(likeness);
}

/* ---- panels ---- */

/** Returns the width of a tile for so many rows, without regard for the remainder. */
static int64_t preferred_panel(const struct target *t, const struct contraction *c)
{
    const struct contraction_facts *facts = &target_facts(t)->contraction;
    const int64_t lanes = target_lanes(t), line = TARGET_LINE_BYTES / (int64_t)sizeof(float);
    const int64_t compact = lanes * facts->panel.vectors_compact;
    const int64_t width = c->compact && c->group % compact == 0 ? compact : lanes * facts->panel.vectors;

    /* parts of a panel share a line of the cache */
    return c->m <= facts->few_rows ? lanes * facts->panel.vectors_few : width < line ? line : width;
}

/* Returns the nanoseconds of a multiply-add of a vector in tiles of many rows. */
static double vector_cost(const struct target *t, int64_t vectors)
{
    const struct contraction_facts *facts = &target_facts(t)->contraction;
    const int64_t held = (t->isa.registers - 1 - vectors) / vectors, most = facts->row_pointers;
    const int64_t rows = held < 1 ? 1 : held < most ? held : most;

    return tile_cost(target_facts(t), rows, vectors) / (double)(rows * vectors);
}

int64_t schedule_panel(const struct target *t, const struct contraction *c)
{
    const struct contraction_facts *facts = &target_facts(t)->contraction;
    const struct cache_facts *cache = &target_facts(t)->cache;
    const int64_t lanes = target_lanes(t), one_tile = lanes * facts->panel.vectors_short, wide = preferred_panel(t, c);
    /* A few rows read a panel once, by one tile; a tile of one row is as wide as any. */
    const int64_t most = c->m > 1 && c->m <= facts->few_rows ? wide : lanes * facts->panel.vectors_most;
    /* Several tiles jump over each other's part, and read theirs from beyond the L2 cache if the panel is large. */
    const bool far = (double)(most * c->k) * sizeof(float) > cache->l2_hot_share * (double)cache->l2_bytes;
    const struct tile_prices *prices = &target_facts(t)->multiplication.tile;
    const int64_t least_width = target_facts(t)->loop.run_least;
    int64_t best = c->n;
    double least = 0;

    if (c->n <= wide || c->group < least_width)
        return c->n;
    for (int64_t p = least_width; p <= most && p <= c->group; p++) {
        const double waste = (double)(ceil_div(p, lanes) * lanes) / (double)p;

        if (c->group % p || waste > facts->empty_lanes)
            continue;
        const bool wider = p > wide && c->m > 1, split = wider && p > one_tile;
        double cost = vector_cost(t, p <= lanes ? 1 : wider && !split ? facts->panel.vectors_short : facts->panel.vectors);
        cost += !split ? 0 : far ? prices->split_far : prices->split_near;
        cost *= waste * (1 + wider * facts->code); /* tiles that others do not have */
        if (!least || cost < least || (cost == least && p <= wide)) {
            best = p;
            least = cost;
        }
    }
    return best;
}

uint32_t schedule_padded_rows(const struct target *t, uint32_t mr[2])
{
    const uint32_t *rows = target_facts(t)->contraction.tile.padded_rows;

    mr[0] = rows[0];
    mr[1] = rows[1];
    return rows[1] && !t->sizes_vary ? 2 : 1;
}

int64_t schedule_device_panel(int64_t columns, int64_t group, int64_t most)
{
    if (columns > most)
        for (int64_t panel = most - most % GPU_LANES_MAX; panel; panel -= GPU_LANES_MAX)
            if (group % panel == 0)
                return panel;
    return columns;
}

int64_t schedule_padded_panel(const struct target *t, const struct contraction *c)
{
    if (t->device)
        return schedule_device_panel(c->n, c->group, t->device->panel_columns);

    const int64_t lanes = target_lanes(t), wide = lanes > 1 ? target_facts(t)->contraction.panel.vectors * lanes : 1;

    return c->n % wide == 0 ? wide : schedule_panel(t, c);
}

int64_t schedule_recurrent_panel(const struct target *t, int64_t n)
{
    const int64_t lanes = target_lanes(t), run = target_facts(t)->loop.run_least;

    for (int64_t width = lanes > run ? lanes : run; width >= run / 2; width /= 2)
        if (n % width == 0)
            return width;
    return 0;
}
