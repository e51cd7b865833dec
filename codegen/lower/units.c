/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits the units of a kernel's work: which of them belong to a function call, and the tiles, vectors or points that each
 * consists of.
 */
#include "codegen/lower/point.h"

#include "codegen/lower/tile.h"
#include "codegen/lower/index.h"

/* Says where tiles of mr rows begin, where those of one row less do, and where they end. */
struct rows {
    V first, shorter, end;
};

/* Says which rows and columns there are, and which tile comes next. */
struct sweep {
    struct rows rows;
    V low, high;
    struct tile_at tile;
};

typedef void (*sweep_body)(struct emitter *e, const struct context *cx, struct sweep *s, V at);

/* Emits for (i = from; i + step <= high; i += step) body, and returns where it stops. */
static V sweep_loop(struct emitter *e, const struct context *cx, struct sweep *s, V from, V high, int64_t step_size,
                    sweep_body body)
{
    V at = loop_for_begin(e->m.b, from, high, LOOP_WHOLE_STEPS);

    body(e, cx, s, at);
    loop_for_end(e->m.b, const_index(&e->m, step_size));
    return loop_stopped(e->m.b, at);
}

/* Emits body for every tile of rows. */
static void sweep_rows(struct emitter *e, const struct context *cx, struct sweep *s, sweep_body body)
{
    const struct build *m = &e->m;

    s->tile.rows = e->s->tile.mr;
    if (e->s->tile.shorter && !e->s->tile.window.row.neighbours) { /* the same code but for the sums */
        V at = loop_for_begin(m->b, s->rows.first, s->rows.end, 0);
        V whole = s->tile.whole = op_lt(m, at, s->rows.shorter);
        body(e, cx, s, at);
        loop_for_end(m->b, op_select(m, whole, const_index(m, s->tile.rows), const_index(m, s->tile.rows - 1)));
        s->tile.whole = NULL;
        return;
    }
    sweep_loop(e, cx, s, s->rows.first, s->rows.shorter, s->tile.rows, body);
    if (e->s->tile.shorter) {
        s->tile.rows = e->s->tile.mr - 1;
        sweep_loop(e, cx, s, s->rows.shorter, s->rows.end, s->tile.rows, body);
    }
}

/* Emits body for every tile of columns. */
static void sweep_columns(struct emitter *e, const struct context *cx, struct sweep *s, sweep_body body)
{
    const struct build *m = &e->m;
    const struct register_tile *t = &e->s->tile;
    const uint32_t width = e->s->lanes;
    V low = s->low;

    s->tile.high = s->high;
    s->tile.lanes = width;
    s->tile.masked = false;
    if (t->full) {
        s->tile.vectors = t->vectors;
        low = sweep_loop(e, cx, s, low, s->high, (int64_t)t->vectors * width, body);
    }
    if (t->n_tail) { /* blocks before the last one have none */
        s->tile.vectors = t->n_tail;
        s->tile.masked = t->masked;
        int64_t least = t->masked ? 1 : (int64_t)t->n_tail * width;
        V fits = op_ge(m, op_sub(m, s->high, low), const_index(m, least));
        V next = op_plus(m, low, (int64_t)t->n_tail * width);
        V after = op_select(m, fits, next, low);
        loop_if_begin(m->b, fits);
        body(e, cx, s, low);
        loop_end(m->b);
        low = after;
    }
    if (t->scalars) {
        s->tile.vectors = s->tile.lanes = 1;
        s->tile.masked = false;
        sweep_loop(e, cx, s, low, s->high, 1, body);
    }
}

static void at_row(struct emitter *e, const struct context *cx, struct sweep *s, V row)
{
    s->tile.row = row;
    emit_microkernel(e, cx, &s->tile);
}

static void at_column(struct emitter *e, const struct context *cx, struct sweep *s, V column)
{
    V column_sums[COPIES_MAX];

    s->tile.column = column;
    if (e->s->tile.m_var == KEXPR_NONE || e->s->tile.window.row.neighbours) {
        emit_microkernel(e, cx, &s->tile);
        return;
    }
    s->tile.column_sums = NULL;
    if (byte_products_share_columns(e)) {
        emit_column_sums(e, cx, &s->tile, column_sums);
        s->tile.column_sums = column_sums;
    }
    sweep_rows(e, cx, s, at_row);
}

static void at_row_of_columns(struct emitter *e, const struct context *cx, struct sweep *s, V row)
{
    s->tile.row = row;
    sweep_columns(e, cx, s, at_column);
}

/* Says where the digits of a unit's number are, on the stack. */
struct units {
    V slots[KERNEL_VARS_MAX];
    V vector_slot; /* of blocks of the vector variable */
    V row_slot;    /* of the rows of transposed tiles, or of blocks of the M variable */
};

/* Returns how many parts of so many values each a variable has. */
static V parts_of(struct emitter *e, uint32_t var, int64_t each)
{
    V size = number_value(e, e->info.numbers.vars[var]);

    frame_at(&e->frame, LEVEL_ENTRY);
    return op_parts(&e->m, size, each);
}

/* Emits the rows [u, u + rows) of transposed tiles and the elements [low, high) of the vector variable. */
static void emit_transposed_tiles(struct emitter *e, const struct context *cx, V low, V high, V rows)
{
    const struct build *m = &e->m;
    const uint32_t width = e->s->lanes, interleave = e->s->transpose.interleave, most = interleave ? interleave : width;
    V first = e->frame.var_value[e->s->transpose.var];
    struct transposed_tile tile = {.base = first};
    struct strip strip = {.lanes = width, .copies = most, .transposed = &tile};

    V full = op_eq(m, rows, const_index(m, most)), rest = low;
    if (e->s->transpose.full)
        rest = loop_strip(e, cx, low, op_select(m, full, high, low), strip, emit_point);
    if (e->s->transpose.partial) { /* part of a tile; a few rows alone are better gathered and scattered */
        strip.masked = true;
        V few = op_le(m, rows, const_index(m, e->s->transpose.few_rows));
        tile.rows = rows;
        rest = loop_strip(e, cx, rest, op_select(m, few, rest, high), strip, emit_point);
    }
    if (!e->s->transpose.few)
        return;
    struct strip line = {.lanes = e->s->edges.masked_tail ? width : 1, .copies = 1, .masked = e->s->edges.masked_tail};
    V end = op_add(m, first, rows);
    e->frame.var_value[e->s->transpose.var] = loop_for_begin(m->b, first, end, LOOP_AT_LEAST_ONCE);
    loop_strip(e, cx, rest, high, line, emit_point);
    loop_for_end(m->b, const_index(m, 1));
}

/* Emits the blocks [first, last) of the vector variable; rows are those of a transposed tile, or NULL if there is none. */
static void emit_range(struct emitter *e, const struct context *cx, V first, V last, V rows)
{
    const struct build *m = &e->m;
    V block = const_index(m, e->s->vector_block), size = number_value(e, e->info.numbers.vars[e->s->vector_var]);
    int64_t fixed;

    V low = op_mul(m, first, block);
    V high = op_smin(m, op_mul(m, last, block), size);
    if (e->s->fixed_size && is_int_constant(size, &fixed) && fixed <= e->s->vector_block) {
        low = const_index(m, 0); /* there is one block */
        high = size;
    }
    frame_enter(&e->frame, LEVEL_UNIT, NULL);
    if (rows)
        emit_transposed_tiles(e, cx, low, high, rows);
    else
        loop_vectors(e, cx, low, high, e->s->vectors, emit_point);
    frame_leave(&e->frame, LEVEL_UNIT);
}

static bool has_m_blocks(const struct emitter *e)
{
    return e->s->tiled && e->s->tile.m_var != KEXPR_NONE;
}

static V m_blocks(struct emitter *e)
{
    return op_parts(&e->m, parts_of(e, e->s->tile.m_var, e->s->tile.mr), e->s->tile.m_tiles);
}

/* Returns the rows of a block of tiles.  The first tiles of all have mr rows, and the others, which are as many as rows would
 * be missing, one less. */
static struct rows rows_of_block(struct emitter *e, V block)
{
    const struct build *m = &e->m;
    V size = number_value(e, e->info.numbers.vars[e->s->tile.m_var]), tiles = parts_of(e, e->s->tile.m_var, e->s->tile.mr);
    V less = const_index(m, e->s->tile.mr - 1), most = const_index(m, e->s->tile.m_tiles);
    V whole = op_sub(m, size, op_mul(m, tiles, less));
    frame_here(&e->frame);
    V from = op_mul(m, block, most), to = op_smin(m, op_add(m, from, most), tiles);
    V whole_from = op_smin(m, from, whole), whole_to = op_smin(m, to, whole);
    V first = op_add(m, op_mul(m, from, less), whole_from), end = op_add(m, op_mul(m, to, less), whole_to);
    V rows = op_times(m, op_sub(m, whole_to, whole_from), e->s->tile.mr);

    return (struct rows){first, op_add(m, first, rows), end};
}

/* Emits all tiles of rows, if there is an M variable, of so many lines, and elements [low, high) of the vector variable.  Where
 * windows overlap, those of all channels are read before the next pixels, which are elsewhere in memory. */
static void emit_lines(struct emitter *e, const struct context *cx, uint32_t lines, struct rows rows, V low, V high)
{
    struct sweep s = {.rows = rows, .low = low, .high = high, .tile = {.rows = 1, .lines = lines}};

    frame_enter(&e->frame, LEVEL_UNIT, NULL);
    if (e->s->tile.window.row.neighbours)
        sweep_rows(e, cx, &s, at_row_of_columns);
    else
        sweep_columns(e, cx, &s, at_column);
    frame_leave(&e->frame, LEVEL_UNIT);
}

/* Emits a block of the M variable and one of the vector variable, in register tiles. */
static void emit_tiled_unit(struct emitter *e, const struct context *cx, struct units *u, V block)
{
    const struct tile_window *w = &e->s->tile.window;
    const struct build *m = &e->m;
    V size = number_value(e, e->info.numbers.vars[e->s->vector_var]), length = const_index(m, e->s->vector_block);
    struct rows rows = {NULL, NULL, NULL};

    if (has_m_blocks(e))
        rows = rows_of_block(e, op_get(m, u->row_slot));
    V low = op_mul(m, block, length);
    V high = op_smin(m, op_add(m, low, length), size);
    if (w->lines > 1 && w->line_left) {
        V lines = number_value(e, e->info.numbers.vars[w->line_var]);
        V second = op_plus(m, e->frame.var_value[w->line_var], 1);
        loop_if_begin(m->b, op_eq(m, second, lines));
        emit_lines(e, cx, 1, rows, low, high);
        loop_else(m->b);
        frame_open(&e->frame, LEVEL_UNIT); /* what belongs to the second line is loaded where there is one */
    }
    emit_lines(e, cx, w->row.neighbours ? w->lines : 1, rows, low, high);
    if (w->lines > 1 && w->line_left)
        loop_end(m->b);
}

/* Puts one digit of a unit's number into a new slot and returns the rest of the number. */
static V split_digit(struct emitter *e, V *slot, V size, V unit)
{
    const struct build *m = &e->m;
    *slot = loop_slot(m->b, type_index(m));
    frame_here(&e->frame);
    op_set(m, *slot, op_modulo_index(m, unit, size));
    return op_divide_index(m, unit, size);
}

/* Adds carry to a slot and returns the carry out of a counter of that size. */
static V count_up(struct emitter *e, V *slot, V size, V carry)
{
    const struct build *m = &e->m;
    frame_here(&e->frame);
    V next = op_add(m, op_get(m, *slot), carry);
    V full = op_eq(m, next, size);
    op_set(m, *slot, op_select(m, full, const_index(m, 0), next));
    return op_zext(m, full, type_index(m));
}

/* Returns how many values of a variable units tell apart. */
static V unit_values(struct emitter *e, uint32_t var)
{
    return tile_has_lines(e->s, var) ? parts_of(e, var, e->s->tile.window.lines) : number_value(e, e->info.numbers.vars[var]);
}

/* Acts on every digit of a unit's number, handing x on from one to the next.  Fastest is the variable of transposed tiles or
 * blocks of M, then blocks of the vector variable, then the others from the last to the first, or before those blocks if
 * they are outer.  (Any order would do: units are independent.) */
static void each_digit(struct emitter *e, struct units *u, V x, V (*act)(struct emitter *e, V *slot, V size, V x))
{
    if (e->s->transpose.var != KEXPR_NONE)
        x = act(e, &u->row_slot, number_value(e, e->info.numbers.vars[e->s->transpose.var]), x);
    if (has_m_blocks(e) && !e->s->tile.m_outer)
        x = act(e, &u->row_slot, m_blocks(e), x);
    if (e->info.vector_parallel && !e->s->tile.window.outer)
        x = act(e, &u->vector_slot, parts_of(e, e->s->vector_var, e->s->vector_block), x);
    for (uint32_t i = e->s->unit_var_count; i-- > 0;)
        x = act(e, &u->slots[i], unit_values(e, e->s->unit_vars[i]), x);
    if (e->s->tile.window.outer)
        x = act(e, &u->vector_slot, parts_of(e, e->s->vector_var, e->s->vector_block), x);
    if (has_m_blocks(e) && e->s->tile.m_outer)
        act(e, &u->row_slot, m_blocks(e), x);
}

/* Emits the unit, or as many as make a transposed tile; returns how many. */
static V emit_unit(struct emitter *e, const struct context *cx, struct units *u, V unit, V end)
{
    const struct build *m = &e->m;
    V count = const_index(m, 1), rows = NULL;

    frame_open(&e->frame, LEVEL_UNIT);
    for (uint32_t i = 0; i < e->s->unit_var_count; i++) {
        V value = op_get(m, u->slots[i]);
        if (tile_has_lines(e->s, e->s->unit_vars[i]))
            value = op_times(m, value, e->s->tile.window.lines);
        e->frame.var_value[e->s->unit_vars[i]] = value;
    }
    if (e->s->transpose.var != KEXPR_NONE) {
        V size = number_value(e, e->info.numbers.vars[e->s->transpose.var]);
        V first = op_get(m, u->row_slot);
        e->frame.var_value[e->s->transpose.var] = first;
        rows = op_smin(m, op_sub(m, size, first), op_sub(m, end, unit));
        if (!e->s->transpose.interleave)
            rows = op_smin(m, rows, const_index(m, e->s->lanes));
        count = rows;
    }
    if (e->s->tiled) {
        emit_tiled_unit(e, cx, u, op_get(m, u->vector_slot));
    } else if (e->info.vector_parallel) {
        V block = op_get(m, u->vector_slot);
        emit_range(e, cx, block, op_plus(m, block, 1), rows);
    } else {
        emit_point(e, cx);
    }
    return count;
}

/* Leaves those units that count: where a variable of them is bounded, which is the slowest after the macro-tile's, they are
 * neighbours.  A call has the units of one macro-tile. */
static void leave_bounded_units(struct emitter *e, V *begin, V *end)
{
    const uint32_t var = kernel_find_bounded(e->k);

    if (var == KEXPR_NONE || e->k->vars[var].kind != KVAR_PARALLEL)
        return;
    V size = number_value(e, e->info.numbers.vars[var]), first = var_first(e, var), last = var_end(e, var);
    frame_at(&e->frame, LEVEL_ENTRY);
    V of_each = op_divide_index(&e->m, op_sub(&e->m, *end, *begin), size);
    *end = op_add(&e->m, *begin, op_mul(&e->m, of_each, last));
    *begin = op_add(&e->m, *begin, op_mul(&e->m, of_each, first));
}

void emit_units(struct emitter *e, const struct context *cx, V begin, V end)
{
    struct units *u = &(struct units){.row_slot = NULL};
    const struct build *m = &e->m;

    leave_bounded_units(e, &begin, &end);
    frame_here(&e->frame);
    V any = op_lt(m, begin, end);
    frame_enter(&e->frame, LEVEL_ENTRY, any);
    if (!e->s->unit_var_count && e->s->transpose.var == KEXPR_NONE &&
        !e->s->tiled) { /* blocks of one variable are one range; without any variable there is one unit */
        frame_open(&e->frame, LEVEL_UNIT);
        if (e->info.vector_parallel)
            emit_range(e, cx, begin, end, NULL);
        else
            emit_point(e, cx);
    } else {
        each_digit(e, u, begin, split_digit);
        V unit = loop_for_begin(m->b, begin, end, LOOP_AT_LEAST_ONCE), count = emit_unit(e, cx, u, unit, end);
        each_digit(e, u, count, count_up);
        loop_for_end(m->b, count);
    }
    frame_leave(&e->frame, LEVEL_ENTRY);
}
