/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits the register tiles of contractions on devices whose operands come to the group's memory first.
 *
 * The items of a group load the numbers of the next iterations into registers while they multiply those that are in the group's
 * memory: the loads are under way for as long as that takes.  Then they write them there, between two barriers.
 *
 * Each item brings numbers of one row or column only, wherever the sizes allow it, so that what belongs to it (divisions, for
 * an image) is computed once.  Where iterations that are brought at once never cross the end of the innermost REDUCED variable,
 * the outer ones are the same for all items.
 *
 * An item's rows are neighbours in the group's memory, and so are its columns, which are items_n apart in the matrix: it loads
 * either in vectors, and yet neighbouring items store neighbouring columns.
 */
#include "codegen/lower/item_tile.h"

#include "codegen/lower/values.h"

enum { VECTOR = GPU_LOCAL_VECTOR /* numbers that an item loads from the group's memory at once */ };

/* Is a number, or those of a word, that an item brings: which row or column of the group's tile it is of (by `line`), from
 * which iteration on, in which slots it waits for the group's memory, and whether it exists (NULL: it does). */
struct brought {
    uint32_t line;
    V k, exists, *next;
};

/* Is a row or column that an item brings numbers of: its variables' values, and where it is in the group's memory. */
struct line {
    V vars[KERNEL_VARS_MAX], place;
};

/* Says how the items bring one operand. */
struct bringing {
    uint32_t operand;
    bool is_m;
    uint64_t vars;
    uint32_t width;       /* rows or columns of the tile */
    uint32_t stride;      /* between iterations in the group's memory */
    uint32_t numbers;     /* that one place has: 1, or those of a word */
    uint32_t places;      /* of a row, in a tile */
    uint32_t count;       /* places of an item */
    uint32_t sharing;     /* items that share a row; 0: places are dealt out one by one, and the last items may have one less */
    uint32_t loops;       /* over the REDUCED variables, without that of a word's numbers */
    bool whole;           /* iterations that are brought at once never cross the end of the innermost one */
    V first;              /* of its numbers in the group's memory */
    V limit;              /* how many iterations, or words, there are */
    uint32_t first_place; /* of item_tile_at */
    struct line *lines;
    struct brought *brought;
};

struct local_tile {
    struct item_tile *tile;
    struct bringing sides[2];
    V memory, item, item_m, item_n, m0, n0;
};

static uint32_t group_items(const struct gpu_tile *t)
{
    return t->items_m * t->items_n * t->k_items;
}

static bool bringing_of(struct item_tile *t, uint32_t o, uint32_t places, struct bringing *b)
{
    const struct kernel *k = t->e->k;
    const struct gpu_tile *g = t->t;
    const uint32_t size = (uint32_t)k->vars[k->parallel_count + k->reduced_count - 1].size, items = group_items(g);

    *b = (struct bringing){.operand = o, .is_m = o == g->operand_m, .numbers = 1, .stride = gpu_tile_stride(g, o)};
    b->vars = b->is_m ? g->m : g->n;
    b->width = gpu_tile_width(g, b->is_m);
    if (t->words[o] && g->k_tile % size == 0)
        b->numbers = size;
    b->places = g->k_tile / b->numbers;
    b->count = ceil_div(b->width * b->places, items);
    if (items % b->width == 0 && b->places % (items / b->width) == 0)
        b->sharing = items / b->width;
    b->loops = k->reduced_count - (b->numbers > 1);
    b->whole = b->loops && k->vars[k->parallel_count + b->loops - 1].size % b->places == 0;
    b->first_place = o * places;
    b->lines = arena_array(&t->e->arena, b->count, sizeof *b->lines);
    b->brought = arena_array(&t->e->arena, b->count, sizeof *b->brought);
    return b->lines && b->brought;
}

/* ---- which numbers are an item's ---- */

/* Returns how many numbers of an item lie next to each other. */
static uint32_t vector_of(uint32_t numbers)
{
    return numbers % VECTOR == 0 ? VECTOR : numbers % 2 == 0 ? 2 : 1;
}

/* Returns the place of a row or column in the group's memory: an item's columns are put together, vector by vector. */
static V place_of(const struct item_tile *t, const struct bringing *b, V j)
{
    const struct build *m = &t->e->m;
    const uint32_t vector = vector_of(t->t->vectors), items = t->t->items_n;

    if (b->is_m || vector == 1)
        return j;
    V vectors = op_times(m, op_over(m, j, items * vector), items * vector), item = op_times(m, op_modulo(m, j, items), vector);
    return op_add(m, op_add(m, vectors, item), op_modulo(m, op_over(m, j, items), vector));
}

/* Finds a row or column that an item brings numbers of. */
static void find_line(const struct local_tile *l, const struct bringing *b, V j, struct line *line)
{
    struct emitter *e = l->tile->e;
    const struct build *m = &e->m;
    V end = b->is_m ? l->tile->rows : l->tile->columns;

    space_decode(e, b->vars, op_smin(m, op_add(m, b->is_m ? l->m0 : l->n0, j), op_sub(m, end, const_index(m, 1))));
    space_keep(e, b->vars, line->vars);
    line->place = place_of(l->tile, b, j);
}

/* Splits an item's number: into a line and which of those that share it, or a place. */
static void split(const struct build *m, V number, bool along_k, uint32_t places, uint32_t width, V *line, V *k)
{
    const uint32_t size = along_k ? places : width;
    V low = op_modulo(m, number, size), high = op_over(m, number, size);

    *line = along_k ? high : low;
    *k = along_k ? low : high;
}

/* Finds all that an item brings of an operand, and makes the slots for it. */
static bool find_brought(const struct local_tile *l, struct bringing *b)
{
    struct emitter *e = l->tile->e;
    const struct build *m = &e->m;
    const uint32_t items = group_items(l->tile->t), all = b->width * b->places;
    const bool along_k = l->tile->t->along_k[b->operand];
    V j, k = NULL;

    if (b->sharing) {
        split(m, l->item, along_k, b->sharing, b->width, &j, &k);
        find_line(l, b, j, &b->lines[0]);
        k = op_times(m, k, b->count);
    }
    for (uint32_t i = 0; i < b->count; i++) {
        struct brought *x = &b->brought[i];
        *x = (struct brought){.next = arena_array(&e->arena, b->numbers, sizeof(V))};
        if (!x->next)
            return false;
        for (uint32_t n = 0; n < b->numbers; n++)
            x->next[n] = loop_slot(m->b, type_of(l->tile->type));
        if (b->sharing) {
            x->k = op_plus(m, k, i);
            continue;
        }
        V place = op_plus(m, l->item, i * items);
        x->line = i;
        x->exists = (i + 1) * items > all ? op_lt(m, place, const_index(m, all)) : NULL;
        split(m, place, along_k, b->places, b->width, &j, &x->k);
        if (x->exists) /* what does not exist is loaded, too */
            x->k = op_smin(m, x->k, const_index(m, b->places - 1));
        find_line(l, b, j, &b->lines[i]);
    }
    return true;
}

/* ---- to registers ---- */

/* Says for which line and iterations of an operand code is emitted. */
static void set_place(const struct local_tile *l, const struct bringing *b, const struct brought *x, V begin)
{
    struct item_tile *t = l->tile;
    struct emitter *e = t->e;
    const struct build *m = &e->m;
    const uint32_t last = b->loops - 1;

    item_tile_at(t, b->first_place + x->line);
    space_open_reduced(e, b->whole ? last : 0);
    space_set(e, b->vars, b->lines[x->line].vars);
    if (b->whole) {
        e->frame.var_value[e->k->parallel_count + last] = op_add(m, begin, x->k);
    } else if (b->loops) {
        V iteration = op_smin(m, op_add(m, begin, x->k), op_sub(m, b->limit, const_index(m, 1)));
        space_decode(e, kvars_from(e->k->parallel_count, b->loops), iteration);
    }
}

/* Emits the loads of a place: of one number, or of all of a word; after the last iteration they are zeros. */
static void load_place(const struct local_tile *l, const struct bringing *b, const struct brought *x, V begin)
{
    struct item_tile *t = l->tile;
    struct emitter *e = t->e;
    const struct build *m = &e->m;
    const struct context cx = {.lanes = 1, .copies = 1};
    const uint32_t word = e->k->parallel_count + b->loops;

    for (uint32_t n = 0; n < b->numbers; n++) {
        if (b->numbers > 1) {
            frame_open(&e->frame, e->info.reduced_level + b->loops);
            e->frame.var_value[word] = const_index(m, n);
        }
        V value = expr_value(e, &cx, t->operands[b->operand]);
        if (!b->whole)
            value = op_select(m, op_lt(m, op_add(m, begin, x->k), b->limit), value, const_zero(m, value->type));
        op_set(m, x->next[n], value);
    }
}

/* Makes an item load what it brings of an operand for the iterations from `from` on. */
static void emit_load(const struct local_tile *l, const struct bringing *b, V from)
{
    struct emitter *e = l->tile->e;
    const struct build *m = &e->m;
    V begin = b->numbers > 1 ? op_over(m, from, b->numbers) : from;

    if (b->whole) {
        space_decode(e, kvars_from(e->k->parallel_count, b->loops), begin);
        begin = e->frame.var_value[e->k->parallel_count + b->loops - 1];
        for (uint32_t i = 0; i + 1 < b->loops; i++)
            frame_open(&e->frame, e->info.reduced_level + i);
    }
    for (uint32_t i = 0; i < b->count; i++) {
        set_place(l, b, &b->brought[i], begin);
        load_place(l, b, &b->brought[i], begin);
    }
}

/* ---- to the group's memory, and to products ---- */

/* Returns the address of a number of an operand in the group's memory: in steps, because compilers of GPUs keep an address for
 * each step of an unrolled loop in a register if it is one sum. */
static V number_at(const struct local_tile *l, const struct bringing *b, V k, V place)
{
    const struct build *m = &l->tile->e->m;
    const T type = type_of(l->tile->type);
    V step = op_address(m, type, op_address(m, type, l->memory, b->first), op_times(m, k, b->stride));

    return op_address(m, type, step, place);
}

static void emit_keep(const struct local_tile *l, const struct bringing *b)
{
    const struct build *m = &l->tile->e->m;

    for (uint32_t i = 0; i < b->count; i++) {
        const struct brought *x = &b->brought[i];
        if (x->exists)
            loop_if_begin(m->b, x->exists);
        for (uint32_t n = 0; n < b->numbers; n++) {
            V k = op_plus(m, op_times(m, x->k, b->numbers), n);
            op_store(m, op_get(m, x->next[n]), number_at(l, b, k, b->lines[x->line].place), NULL, sizeof(float));
        }
        if (x->exists)
            loop_end(m->b);
    }
}

/* Loads an operand's numbers of a step, in vectors. */
static void load_numbers(const struct local_tile *l, const struct bringing *b, V k)
{
    struct item_tile *t = l->tile;
    const struct build *m = &t->e->m;
    const uint32_t count = b->is_m ? t->t->rows : t->t->vectors, vector = vector_of(count);
    const T type = type_lanes(type_of(t->type), vector);
    V from = op_times(m, b->is_m ? l->item_m : l->item_n, b->is_m ? count : vector), loaded = NULL;

    for (uint32_t i = 0; i < count; i++) {
        V at = op_plus(m, from, b->is_m ? i : i * t->t->items_n);
        loaded = i % vector ? loaded : op_load(m, type, number_at(l, b, k, at), NULL, (uint32_t)sizeof(float) * vector);
        V value = vector > 1 ? op_extract(m, loaded, const_int(m, 64, i % vector)) : loaded;
        for (uint32_t j = 0; j < t->count; j++)
            if ((b->is_m ? j / t->t->vectors : j % t->t->vectors) == i)
                t->values[b->operand][j] = value;
    }
}

static void emit_steps(const struct local_tile *l)
{
    struct item_tile *t = l->tile;
    const struct build *m = &t->e->m;
    V steps = const_index(m, t->t->k_tile / t->t->k_items);
    V step = loop_for_begin(m->b, const_index(m, 0), steps, LOOP_UNROLLED); /* loads of the next steps run during products */
    V k = t->share ? op_add(m, op_mul(m, t->share, steps), step) : step;

    for (uint32_t o = 0; o < 2; o++)
        load_numbers(l, &l->sides[o], k);
    item_tile_multiply(t);
    loop_for_end(m->b, const_index(m, 1));
}

/* ---- the tile ---- */

/* Emits the loop over all iterations. */
static void emit_sums(const struct local_tile *l, V iterations)
{
    struct item_tile *t = l->tile;
    const struct build *m = &t->e->m;
    V zero = const_index(m, 0), size = const_index(m, t->t->k_tile);

    for (uint32_t o = 0; o < 2; o++)
        emit_load(l, &l->sides[o], zero);
    V k0 = loop_for_begin(m->b, zero, iterations, 0);
    for (uint32_t o = 0; o < 2; o++)
        emit_keep(l, &l->sides[o]);
    op_barrier(m);
    V next = op_add(m, k0, size), more = op_lt(m, next, iterations);
    loop_if_begin(m->b, more);
    for (uint32_t o = 0; o < 2; o++)
        emit_load(l, &l->sides[o], next);
    loop_end(m->b);
    emit_steps(l);
    if (t->totals) {
        V full = op_eq(m, op_modulo(m, next, GPU_LOCAL_SUM_STEPS), zero);
        loop_if_begin(m->b, op_or(m, full, op_not(m, more)));
        for (uint32_t i = 0; i < t->count; i++)
            item_tile_flush(t, i);
        loop_end(m->b);
    }
    op_barrier(m);
    loop_for_end(m->b, size);
}

/* Finds who the item is, and what it brings. */
static bool begin_tile(struct local_tile *l, uint32_t places)
{
    struct item_tile *t = l->tile;
    const struct build *m = &t->e->m;
    const struct gpu_tile *g = t->t;
    const T vector = type_lanes(type_of(t->type), VECTOR);
    const int64_t size = VECTOR * (int64_t)sizeof(float);

    l->memory = loop_array(m->b, LOOP_GROUP_ARRAY, vector, ceil_div(gpu_tile_bytes(g), size) * size);
    l->item_n = space_place(t->e, LOOP_ITEM, 0);
    l->item_m = space_place(t->e, LOOP_ITEM, 1);
    t->share = g->k_items > 1 ? space_place(t->e, LOOP_ITEM, 2) : NULL;
    V group = op_times(m, space_place(t->e, LOOP_GROUP, 1), g->items_m);
    l->m0 = op_times(m, group, g->rows);
    l->n0 = op_times(m, space_place(t->e, LOOP_GROUP, 0), g->items_n * g->vectors);
    l->item = op_add(m, op_times(m, l->item_m, g->items_n), l->item_n);
    if (t->share)
        l->item = op_add(m, op_times(m, t->share, g->items_m * g->items_n), l->item);
    space_decode(t->e, t->s->dimensions[2], space_place(t->e, LOOP_GROUP, 2));
    for (uint32_t o = 0; o < 2; o++)
        if (!bringing_of(t, o, places, &l->sides[o]) || !find_brought(l, &l->sides[o]))
            return false;
    return true;
}

void emit_local_tiles(struct emitter *e, const struct gpu_schedule *s)
{
    const struct build *m = &e->m;
    const struct gpu_tile *g = &s->tile;
    const uint32_t items = g->items_m * g->items_n, widths = gpu_tile_width(g, true) + gpu_tile_width(g, false);
    const uint32_t places = widths * g->k_tile / items + 1; /* of an operand, at most */
    struct local_tile l = {.tile = item_tile_of(e, s, 2 * places)};

    if (!l.tile)
        return;
    V iterations = space_points(e, gpu_reduced_vars(e->k));
    frame_enter(&e->frame, LEVEL_ENTRY, NULL);
    frame_open(&e->frame, LEVEL_UNIT);
    if (!begin_tile(&l, places)) {
        m->b->module->failed = true;
        return;
    }
    for (uint32_t o = 0; o < 2; o++) {
        struct bringing *b = &l.sides[o];
        b->first = const_index(m, o ? (int64_t)g->k_tile * l.sides[0].stride : 0);
        b->limit = b->numbers > 1 ? op_over(m, iterations, b->numbers) : iterations;
    }
    item_tile_begin(l.tile, false); /* blocks are so long that few are added up */
    frame_enter(&e->frame, LEVEL_UNIT, NULL);
    emit_sums(&l, iterations);
    frame_leave(&e->frame, LEVEL_UNIT);
    V array = item_tile_store(l.tile, NULL), own = op_add(m, op_times(m, l.item_m, g->items_n), l.item_n);
    if (l.tile->share)
        item_tile_add_shares(l.tile, array, l.memory, own, items, l.tile->count);
    item_tile_points(l.tile, array, op_add(m, l.m0, op_times(m, l.item_m, g->rows)), op_add(m, l.n0, l.item_n), g->items_n);
    frame_leave(&e->frame, LEVEL_ENTRY);
}
