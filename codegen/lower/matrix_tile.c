/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits tiles of contractions that sub-groups compute by matrix instructions (ir/schedule/schedule_gpu_local.c).
 *
 * A step of a group: each item loads its part of both operands for the next step into registers, while the sub-groups multiply
 * from the group's memory; then it stores that part into the other one of two buffers, and a barrier ends the step.  The loop
 * begins one step early, when there is nothing to multiply.  Operands lie there as halves, in rows of their own (rows of the
 * tile, or columns) with K contiguous, or where neighbours in memory are neighbours along those, in rows of K; instructions
 * that load fragments transpose the latter.  Each row is padded by eight halves that are never read, so that eight consecutive
 * rows lie in different banks.  Beyond the edges there are zeros.
 *
 * After the loop each sub-group writes 16 rows of sums after 16 rows to the group's memory, whose elements its items take with
 * neighbouring columns for neighbouring items, and computes the point's other expressions.
 */
#include "codegen/lower/item_tile.h"

#include "codegen/lower/values.h"
#include "codegen/lower/access.h"

enum { CHUNK = GPU_MATRIX_CHUNK, SIDE = GPU_MATRIX_ROWS, SUBGROUP = 32, QUADS = 4 /* sums of an item in an instruction */ };

/* Is a chunk that an item brings: of row or column j of the tile, which there is (has), from iteration k of a step on. */
struct chunk {
    V j, k, has;
    V exists; /* whether it is one at all; NULL: it is */
    V vars[KERNEL_VARS_MAX];
    V words; /* the slot for all of it */
};

/* Describes an operand: of the rows (m) or of the columns. */
struct side {
    uint32_t operand, expr, place; /* place: the first of item_tile_at */
    bool is_m;
    uint64_t vars;
    uint32_t width, pitch;  /* rows or columns of the group's tile, and halves between rows in its memory */
    uint32_t chunks, count; /* of a step, and those of one item */
    uint32_t first, halves; /* of its part of a buffer */
    bool along_rows;        /* its chunks are neighbours along its rows or columns, else along K */
    V start;                /* its first row or column */
    V own;                  /* where the item's row of the first matrices of 8 x 8 lies */
    V aligned;              /* all chunks have addresses that one load takes */
    struct chunk *own_chunks;
};

struct matrix_tile {
    struct item_tile *tile;
    struct side sides[2];                  /* of the rows, of the columns */
    uint32_t items, k_tile, rows, columns; /* rows, columns: of instructions, of a sub-group */
    V memory, item, lane, iterations, buffer, sums, fragments[2];
    V subgroup[2]; /* its first row and column in the group's tile */
};

/* ---- numbers ---- */

static V half_at(const struct matrix_tile *x, V index)
{
    return op_address(&x->tile->e->m, type_i16, x->memory, index);
}

/* Begins a loop that compilers unroll, so that what it counts lies in registers. */
static V begin_unrolled(const struct build *m, uint32_t count)
{
    return loop_for_begin(m->b, const_index(m, 0), const_index(m, count), LOOP_UNROLLED);
}

static void end_loop(const struct build *m)
{
    loop_for_end(m->b, const_index(m, 1));
}

/* ---- which part is an item's ---- */

static bool side_of(struct matrix_tile *x, bool m)
{
    struct emitter *e = x->tile->e;
    const struct gpu_tile *t = x->tile->t;
    struct side *s = &x->sides[!m];

    *s = (struct side){
        .operand = m ? t->operand_m : !t->operand_m, .is_m = m, .vars = m ? t->m : t->n, .width = gpu_tile_width(t, m)};
    s->expr = e->k->exprs[t->dot].args[s->operand];
    s->pitch = gpu_tile_stride(t, s->operand);
    s->along_rows = !t->along_k[s->operand];
    s->chunks = s->width * x->k_tile / CHUNK;
    s->count = ceil_div(s->chunks, x->items);
    s->halves = (s->along_rows ? x->k_tile : s->width) * s->pitch;
    s->first = m ? 0 : x->sides[0].halves;
    s->place = m ? 0 : x->sides[0].count;
    s->own_chunks = arena_array(&e->arena, s->count, sizeof *s->own_chunks);
    return s->own_chunks != NULL;
}

/* Finds the first row or column of a chunk, and its first iteration of a step. */
static void find_place(const struct matrix_tile *x, const struct side *s, V number, struct chunk *c)
{
    const struct build *m = &x->tile->e->m;
    const uint32_t of_line = (s->along_rows ? s->width : x->k_tile) / CHUNK;
    V in_line = op_times(m, op_modulo(m, number, of_line), CHUNK), line = op_over(m, number, of_line);

    c->j = s->along_rows ? in_line : line;
    c->k = s->along_rows ? line : in_line;
}

static void find_chunk(const struct matrix_tile *x, const struct side *s, uint32_t i)
{
    struct emitter *e = x->tile->e;
    const struct build *m = &e->m;
    struct chunk *c = &s->own_chunks[i];
    V number = op_plus(m, x->item, i * x->items), end = s->is_m ? x->tile->rows : x->tile->columns;

    find_place(x, s, number, c);
    V at = op_add(m, s->start, c->j);
    c->has = op_lt(m, at, end);
    c->exists = (i + 1) * x->items > s->chunks ? op_lt(m, number, const_index(m, s->chunks)) : NULL;
    space_decode(e, s->vars, op_smin(m, at, op_sub(m, end, const_index(m, 1))));
    space_keep(e, s->vars, c->vars);
    c->words = loop_slot(m->b, type_lanes(type_i32, CHUNK / 2));
}

/* Tells whether all chunks of an operand have addresses that one load takes.  Tensors may begin anywhere; a test of each
 * address would cost a fifth of the kernel's time. */
static V all_aligned(const struct matrix_tile *x, const struct side *s)
{
    struct emitter *e = x->tile->e;
    const struct build *m = &e->m;
    const struct kexpr *load = &e->k->exprs[s->expr];
    const struct form *f = &e->info.forms[e->info.expr_form[s->expr]];
    const uint32_t along = kvars_last(s->along_rows ? s->vars : gpu_reduced_vars(e->k));
    V halves = number_value(e, f->number), tensor = tensor_pointer(e, load->tensor);

    for (uint32_t i = 0; i < load->index.count; i++)
        if (load->index.terms[i].var != along) { /* whose chunks begin at multiples of eight */
            V step = number_value(e, f->number + 1 + i);
            halves = op_or(m, halves, step);
        }
    V rest = op_and(m, halves, const_index(m, CHUNK - 1));
    return op_and(m, op_eq(m, rest, const_index(m, 0)),
                  loop_add(m->b, LOOP_ALIGNED, type_i1, &tensor, 1, CHUNK * (int64_t)sizeof(uint16_t)));
}

/* ---- from global memory to registers ---- */

/* Says for which row or column, and for which iteration, code is emitted. */
static void set_place(const struct matrix_tile *x, const struct side *s, uint32_t i, V iteration)
{
    struct emitter *e = x->tile->e;

    item_tile_at(x->tile, s->place + i);
    space_open_reduced(e, 0);
    space_set(e, s->vars, s->own_chunks[i].vars);
    space_decode(e, gpu_reduced_vars(e->k), iteration);
}

/* Emits the load of a chunk, as one of eight halves. */
static void load_chunk(const struct matrix_tile *x, const struct side *s, uint32_t i, V next)
{
    struct emitter *e = x->tile->e;
    const struct build *m = &e->m;
    const struct kexpr *load = &e->k->exprs[s->expr];
    const struct context cx = {.lanes = 1, .copies = 1};
    const struct chunk *c = &s->own_chunks[i];
    const uint32_t form = e->info.expr_form[s->expr], fill = f32_to_f16(load->bits.f32);
    const T words = type_lanes(type_i32, CHUNK / 2);
    V part = c->words, iteration = op_add(m, next, c->k), inside, lanes;

    op_set(m, part, const_zero(m, words));
    loop_if_begin(m->b, op_and(m, c->has, op_lt(m, iteration, x->iterations)));
    set_place(x, s, i, iteration);
    guards_value(e, &cx, form + 1, load->guard_count, e->info.inner_level, NULL, &inside, &lanes);
    V index = form_evaluate(e, &cx, form).base, tensor = tensor_pointer(e, load->tensor);
    if (inside) {
        op_set(m, part, splat(m, const_int(m, 32, (int32_t)(fill << 16 | fill)), CHUNK / 2));
        loop_if_begin(m->b, inside);
    }
    V address = op_address(m, type_i16, tensor, index);
    loop_if_begin(m->b, s->aligned);
    op_set(m, part, op_load(m, words, address, NULL, CHUNK * sizeof(uint16_t)));
    loop_else(m->b);
    op_set(m, part, op_bitcast(m, op_load(m, type_lanes(type_i16, CHUNK), address, NULL, sizeof(uint16_t)), words));
    loop_end(m->b);
    if (inside)
        loop_end(m->b);
    loop_end(m->b);
}

/* ---- to the group's memory ---- */

static void emit_bring(const struct matrix_tile *x, const struct side *s, V buffer)
{
    const struct build *m = &x->tile->e->m;

    for (uint32_t i = 0; i < s->count; i++) {
        const struct chunk *c = &s->own_chunks[i];
        V at = op_add(m, op_times(m, s->along_rows ? c->k : c->j, s->pitch), s->along_rows ? c->j : c->k);
        at = op_add(m, op_plus(m, buffer, s->first), at);
        if (c->exists)
            loop_if_begin(m->b, c->exists);
        op_store(m, op_get(m, c->words), half_at(x, at), NULL, CHUNK * (uint32_t)sizeof(uint16_t));
        if (c->exists)
            loop_end(m->b);
    }
}

/* ---- from there to sums ---- */

/* Returns where the item's row of the first matrices of 8 x 8 lies.  Of four matrices that are loaded at once the next one of
 * M's follows along M, the next one of N's along K: that is the order in which the instruction wants them. */
static V own_row(const struct matrix_tile *x, const struct side *s)
{
    const struct build *m = &x->tile->e->m;
    const bool rows = s->along_rows;
    V near = op_modulo(m, op_over(m, x->lane, 8), 2), far = op_over(m, x->lane, 16), j = s->is_m ? near : far,
      k = s->is_m ? far : near;
    V row = op_add(m, op_modulo(m, x->lane, 8), op_times(m, rows ? k : j, 8));

    row = op_add(m, op_times(m, x->subgroup[!s->is_m], rows ? 1 : s->pitch), op_times(m, row, s->pitch));
    return op_plus(m, op_add(m, row, op_times(m, rows ? j : k, 8)), s->first);
}

static V fragment_at(const struct matrix_tile *x, bool m, V i)
{
    return op_address(&x->tile->e->m, type_lanes(type_i32, QUADS), x->fragments[!m], i);
}

static uint32_t fragment_count(const struct matrix_tile *x, bool m)
{
    return m ? x->rows : x->columns / 2;
}

static void load_fragments(const struct matrix_tile *x, const struct side *s, V k)
{
    const struct build *m = &x->tile->e->m;
    const bool rows = s->along_rows;
    V i = begin_unrolled(m, fragment_count(x, s->is_m));
    V at = op_add(m, op_add(m, op_get(m, x->buffer), s->own), op_times(m, i, rows ? SIDE : SIDE * s->pitch));
    V address = half_at(x, op_add(m, at, op_times(m, k, rows ? s->pitch : 1)));
    V loaded = loop_add(m->b, LOOP_MATRIX_LOAD, type_lanes(type_i32, QUADS), &address, 1, rows);

    op_store(m, loaded, fragment_at(x, s->is_m, i), NULL, QUADS * sizeof(uint32_t));
    end_loop(m);
}

/* Returns the address of an item's sums of an instruction. */
static V sums_at(const struct matrix_tile *x, V i, V j)
{
    const struct build *m = &x->tile->e->m;

    return op_address(m, type_lanes(type_f32, QUADS), x->sums, op_add(m, op_times(m, i, x->columns), j));
}

static V load_sums(const struct build *m, V address)
{
    return op_load(m, type_lanes(type_f32, QUADS), address, NULL, QUADS * sizeof(float));
}

static void store_sums(const struct build *m, V value, V address)
{
    op_store(m, value, address, NULL, QUADS * sizeof(float));
}

static void emit_products(const struct matrix_tile *x)
{
    const struct build *m = &x->tile->e->m;
    const T words = type_lanes(type_i32, QUADS);
    V k = loop_for_begin(m->b, const_index(m, 0), const_index(m, x->k_tile), LOOP_UNROLLED);

    for (uint32_t o = 0; o < 2; o++)
        load_fragments(x, &x->sides[o], k);
    V i = begin_unrolled(m, x->rows), j = begin_unrolled(m, x->columns / 2);
    for (uint32_t pair = 0; pair < 2; pair++) {
        V to = sums_at(x, i, op_plus(m, op_times(m, j, 2), pair));
        V args[3] = {load_sums(m, to), op_load(m, words, fragment_at(x, true, i), NULL, QUADS * sizeof(uint32_t)),
                     op_load(m, words, fragment_at(x, false, j), NULL, QUADS * sizeof(uint32_t))};
        store_sums(m, loop_add(m->b, LOOP_MATRIX_MULTIPLY, args[0]->type, args, 3, pair), to);
    }
    end_loop(m);
    end_loop(m);
    loop_for_end(m->b, const_index(m, GPU_MATRIX_STEPS));
}

static void clear_sums(const struct matrix_tile *x)
{
    const struct build *m = &x->tile->e->m;
    V i = begin_unrolled(m, x->rows * x->columns);

    store_sums(m, const_zero(m, type_lanes(type_f32, QUADS)), op_address(m, type_lanes(type_f32, QUADS), x->sums, i));
    end_loop(m);
}

static void emit_steps(const struct matrix_tile *x)
{
    struct emitter *e = x->tile->e;
    const struct build *m = &e->m;
    V zero = const_index(m, 0), steps = const_index(m, x->k_tile);
    V halves = const_index(m, x->sides[0].halves + x->sides[1].halves);

    op_set(m, x->buffer, halves);
    V next = loop_for_begin(m->b, zero, op_add(m, x->iterations, steps), 0);
    for (uint32_t o = 0; o < 2; o++)
        for (uint32_t i = 0; i < x->sides[o].count; i++)
            load_chunk(x, &x->sides[o], i, next);
    e->cache = x->tile->own;
    loop_if_begin(m->b, op_gt(m, next, zero));
    emit_products(x);
    loop_end(m->b);
    V other = op_sub(m, halves, op_get(m, x->buffer));
    for (uint32_t o = 0; o < 2; o++)
        emit_bring(x, &x->sides[o], other);
    op_barrier(m);
    op_set(m, x->buffer, other);
    loop_for_end(m->b, steps);
}

/* ---- points ---- */

/* Puts the sums of an instruction into the sub-group's part of the group's memory. */
static void put_sums(const struct matrix_tile *x, V slab, uint32_t pitch, V i)
{
    const struct build *m = &x->tile->e->m;
    V j = begin_unrolled(m, x->columns), sums = load_sums(m, sums_at(x, i, j));

    for (uint32_t r = 0; r < QUADS; r++) {
        V row = op_plus(m, op_over(m, x->lane, 4), r / 2 * 8);
        V column = op_add(m, op_times(m, j, GPU_MATRIX_COLUMNS), op_times(m, op_modulo(m, x->lane, 4), 2));
        V at = op_add(m, op_add(m, op_times(m, row, pitch), column), op_plus(m, slab, r % 2));
        op_store(m, op_extract(m, sums, const_int(m, 64, r)), op_address(m, type_f32, x->memory, at), NULL, sizeof(float));
    }
    end_loop(m);
}

/* Writes the sums of a sub-group, 16 rows after 16 rows, to the group's memory, and computes their points. */
static void emit_points(const struct matrix_tile *x)
{
    struct item_tile *t = x->tile;
    const struct build *m = &t->e->m;
    const uint32_t columns = t->t->vectors, pitch = columns + CHUNK;
    V slab = op_times(m, op_over(m, x->item, SUBGROUP), SIDE * pitch), i = begin_unrolled(m, x->rows);

    put_sums(x, slab, pitch, i);
    op_barrier(m);
    V at = loop_for_begin(m->b, x->lane, const_index(m, SIDE * columns), 0);
    V of_row = op_over(m, at, columns), of_column = op_modulo(m, at, columns);
    V row = op_add(m, op_add(m, x->sides[0].start, x->subgroup[0]), op_add(m, op_times(m, i, SIDE), of_row));
    V column = op_add(m, op_add(m, x->sides[1].start, x->subgroup[1]), of_column);
    loop_if_begin(m->b, op_and(m, op_lt(m, row, t->rows), op_lt(m, column, t->columns)));
    V from = op_add(m, slab, op_add(m, op_times(m, of_row, pitch), of_column));
    V sum = op_load(m, type_f32, op_address(m, type_f32, x->memory, from), NULL, sizeof(float));
    frame_open(&t->e->frame, LEVEL_UNIT);
    space_decode(t->e, t->t->m, row);
    item_tile_point(t, column, 1, sum);
    loop_end(m->b);
    loop_for_end(m->b, const_index(m, SUBGROUP));
    op_barrier(m);
    end_loop(m);
}

/* ---- the tile ---- */

static V quads(const struct build *m, T element, uint32_t count)
{
    return loop_array(m->b, LOOP_ARRAY, type_lanes(element, QUADS), (int64_t)count * QUADS * sizeof(float));
}

/* Finds who the item is, and what it brings. */
static void begin_tile(struct matrix_tile *x)
{
    struct emitter *e = x->tile->e;
    const struct build *m = &e->m;
    const struct gpu_tile *t = x->tile->t;

    x->memory = loop_array(m->b, LOOP_GROUP_ARRAY, type_lanes(type_i32, QUADS), (gpu_tile_bytes(t) + 15) / 16 * 16);
    for (uint32_t o = 0; o < 2; o++)
        x->fragments[o] = quads(m, type_i32, fragment_count(x, !o));
    x->sums = quads(m, type_f32, x->rows * x->columns);
    x->buffer = loop_slot(m->b, type_index(m));
    x->item = space_place(e, LOOP_ITEM, 0);
    x->lane = op_modulo(m, x->item, SUBGROUP);
    x->subgroup[0] = op_times(m, op_over(m, x->item, SUBGROUP * t->items_n), t->rows);
    x->subgroup[1] = op_times(m, op_modulo(m, op_over(m, x->item, SUBGROUP), t->items_n), t->vectors);
    space_decode(e, x->tile->s->dimensions[2], space_place(e, LOOP_GROUP, 2));
    for (uint32_t o = 0; o < 2; o++) {
        struct side *s = &x->sides[o];
        s->start = op_times(m, space_place(e, LOOP_GROUP, !o), s->width);
        s->own = own_row(x, s);
        for (uint32_t i = 0; i < s->count; i++)
            find_chunk(x, s, i);
        s->aligned = all_aligned(x, s);
    }
}

void emit_matrix_tiles(struct emitter *e, const struct gpu_schedule *s)
{
    const struct gpu_tile *t = &s->tile;
    struct matrix_tile x = {.items = s->local[0],
                            .k_tile = t->k_tile,
                            .rows = t->rows / GPU_MATRIX_ROWS,
                            .columns = t->vectors / GPU_MATRIX_COLUMNS};
    const uint32_t widths = gpu_tile_width(t, true) + gpu_tile_width(t, false);

    x.tile = item_tile_of(e, s, widths * t->k_tile / CHUNK / x.items + 2);
    if (!x.tile)
        return;
    if (!side_of(&x, true) || !side_of(&x, false)) {
        e->m.b->module->failed = true;
        return;
    }
    x.iterations = space_points(e, gpu_reduced_vars(e->k));
    frame_enter(&e->frame, LEVEL_ENTRY, NULL);
    frame_open(&e->frame, LEVEL_UNIT);
    begin_tile(&x);
    clear_sums(&x);
    frame_enter(&e->frame, LEVEL_UNIT, NULL);
    emit_steps(&x);
    frame_leave(&e->frame, LEVEL_UNIT);
    emit_points(&x);
    frame_leave(&e->frame, LEVEL_ENTRY);
}
