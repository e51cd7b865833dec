/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits the register tiles of contractions on devices whose operands come from global memory.
 *
 * A step of the sum loads each operand as often as it differs within the tile and multiplies every row with every vector.  Rows
 * and columns beyond the edges are computed from the last ones' operands and not stored: so nothing is read outside, and the
 * loop has no tests.
 *
 * What an operand is computed from is loaded before the loops that it does not depend on: a word of weights of 4 bits before
 * the loop over its numbers, a zero point before that over a block.  The scale of a block multiplies the block's sum.
 */
#include "codegen/lower/item_tile.h"

#include "codegen/lower/values.h"
#include "codegen/lower/index.h"

/* A tile, with the variables of its rows, one row after the other, and the first columns of its vectors. */
struct global_tile {
    struct item_tile *tile;
    V *rows, *columns;
    uint32_t row_vars; /* values of a row */
};

/* ---- values ---- */

/* Returns which row and vector an operand is loaded for, of which sum i is. */
static uint32_t place_of(const struct item_tile *t, uint32_t o, uint32_t i)
{
    const uint32_t vectors = t->t->vectors;

    return (t->along_rows[o] ? i / vectors * vectors : 0) + (t->along_columns[o] ? i % vectors : 0);
}

/* Returns the value of an expression of operand o for sum i: a scalar where its lanes are alike. */
static V value_of(const struct global_tile *g, uint32_t o, uint32_t expr, uint32_t i)
{
    struct item_tile *t = g->tile;
    struct emitter *e = t->e;
    const uint32_t place = place_of(t, o, i), row = place / t->t->vectors, v = place % t->t->vectors;
    const struct context cx = {.lanes = t->s->lanes, .copies = 1, .vector_base = &g->columns[v]};

    item_tile_at(t, place);
    space_set(e, t->t->m, &g->rows[row * g->row_vars]);
    space_set(e, t->t->n, &g->columns[v]);
    return expr_value(e, &cx, expr);
}

static V factor_of(const struct global_tile *g, uint32_t v)
{
    return splat(&g->tile->e->m, value_of(g, g->tile->scaled, g->tile->t->factor, v), g->tile->s->lanes);
}

/* ---- loops ---- */

static void step(const struct global_tile *g)
{
    struct item_tile *t = g->tile;

    for (uint32_t o = 0; o < 2; o++)
        for (uint32_t i = 0; i < t->count; i++) {
            const uint32_t known = place_of(t, o, i);
            t->values[o][i] = known < i ? t->values[o][known] : value_of(g, o, t->operands[o], i);
        }
    item_tile_multiply(t);
}

/* Multiplies the sums of a block by its scale, and adds them to those of the blocks before. */
static void add_scaled(const struct global_tile *g)
{
    struct item_tile *t = g->tile;
    const struct build *m = &t->e->m;

    for (uint32_t i = 0; i < t->count; i++) {
        const struct item_sum *s = &t->sums[i];
        V factor = factor_of(g, i % t->t->vectors);
        op_set(m, s->scaled, op_mad(m, op_get(m, s->partial), factor, op_get(m, s->scaled)));
        op_set(m, s->partial, const_zero(m, s->partial->type));
    }
}

static void nest(const struct global_tile *g, uint32_t r);

/* Emits the iterations [from, to) of a loop. */
static void loop_over(const struct global_tile *g, uint32_t r, V from, V to)
{
    struct emitter *e = g->tile->e;
    V at = loop_for_begin(e->m.b, from, to, 0);

    frame_open(&e->frame, e->info.reduced_level + r);
    e->frame.var_value[e->k->parallel_count + r] = at;
    nest(g, r + 1);
    if (g->tile->sums->scaled && r + 1 == g->tile->t->factor_depth)
        add_scaled(g);
    loop_for_end(e->m.b, const_index(&e->m, 1));
}

/* Cuts a loop into blocks, which the items that share it take in turns. */
static void loop_in_blocks(const struct global_tile *g, uint32_t r, V from, V to)
{
    struct item_tile *t = g->tile;
    const struct build *m = &t->e->m;
    V steps = const_index(m, t->s->sum_steps);

    from = t->share ? op_add(m, from, op_mul(m, t->share, steps)) : from;
    V block = loop_for_begin(m->b, from, to, 0);
    loop_over(g, r, block, op_smin(m, op_add(m, block, steps), to));
    for (uint32_t i = 0; i < t->count && t->totals; i++)
        item_tile_flush(t, i);
    loop_for_end(m->b, const_index(m, (int64_t)t->s->sum_steps * t->t->k_items));
}

static void nest(const struct global_tile *g, uint32_t r)
{
    struct item_tile *t = g->tile;
    struct emitter *e = t->e;
    const uint32_t var = e->k->parallel_count + r, level = e->info.reduced_level + r;

    if (r == e->k->reduced_count) {
        step(g);
        return;
    }
    V from = var_first(e, var), to = var_end(e, var);
    frame_enter(&e->frame, level - 1, NULL);
    (r == t->s->sum_split ? loop_in_blocks : loop_over)(g, r, from, to);
    frame_leave(&e->frame, level - 1);
}

/* ---- tiles ---- */

static bool global_tile_of(struct emitter *e, const struct gpu_schedule *s, struct global_tile *g)
{
    g->tile = item_tile_of(e, s, s->tile.rows * s->tile.vectors);
    g->row_vars = (uint32_t)__builtin_popcountll(s->tile.m);
    g->rows = arena_array(&e->arena, (size_t)s->tile.rows * (g->row_vars + 1), sizeof(V));
    g->columns = arena_array(&e->arena, s->tile.vectors, sizeof(V));
    e->m.b->module->failed |= !g->rows || !g->columns;
    return g->tile && g->rows && g->columns;
}

/* Emits the tile whose first row is m0 and whose first column n0. */
static void emit_tile_at(const struct global_tile *g, V m0, V n0)
{
    struct item_tile *t = g->tile;
    struct emitter *e = t->e;
    const struct build *m = &e->m;
    const uint32_t lanes = t->s->lanes, items = t->s->local[0];

    frame_open(&e->frame, LEVEL_UNIT);
    frame_open(&e->frame, e->info.point_level);
    for (uint32_t r = 0; r < t->t->rows && t->t->m; r++) {
        space_decode(e, t->t->m, op_smin(m, op_plus(m, m0, r), op_sub(m, t->rows, const_index(m, 1))));
        space_keep(e, t->t->m, &g->rows[r * g->row_vars]);
    }
    for (uint32_t v = 0; v < t->t->vectors; v++)
        g->columns[v] = op_smin(m, op_plus(m, n0, (int64_t)v * lanes), op_sub(m, t->columns, const_index(m, lanes)));
    item_tile_begin(t, true);
    nest(g, 0);
    const bool late = t->scaled < 2 && !t->t->factor_depth;
    V factors[KERNEL_IMMEDIATE_MAX];
    for (uint32_t v = 0; v < t->t->vectors && late; v++)
        factors[v] = factor_of(g, v);
    V array = item_tile_store(t, late ? factors : NULL);
    if (t->share) {
        V memory = loop_array(m->b, LOOP_GROUP_ARRAY, type_of(t->type), (int64_t)sizeof(float) * items * (t->t->k_items - 1));
        item_tile_add_shares(t, array, memory, space_place(e, LOOP_ITEM, 0), items, 1);
    }
    item_tile_points(t, array, m0, n0, lanes);
}

void emit_global_tiles(struct emitter *e, const struct gpu_schedule *s)
{
    const struct build *m = &e->m;
    struct global_tile g;

    if (!global_tile_of(e, s, &g))
        return;
    g.tile->share = s->tile.k_items > 1 ? space_place(e, LOOP_ITEM, 1) : NULL;
    V n0 = space_item(e, s, 0, s->lanes * s->tile.vectors);
    V m0 = op_times(m, space_place(e, LOOP_GROUP, 1), s->tile.rows);
    frame_enter(&e->frame, LEVEL_ENTRY, s->partial[0] && !g.tile->share ? op_lt(m, n0, g.tile->columns) : NULL);
    frame_open(&e->frame, LEVEL_UNIT);
    space_decode(e, s->dimensions[2], space_item(e, s, 2, 1));
    emit_tile_at(&g, m0, n0);
    frame_leave(&e->frame, LEVEL_ENTRY);
}

void emit_stage_tiles(struct emitter *e, const struct gpu_schedule *s, const struct stage_item *at, uint64_t fixed)
{
    const struct build *m = &e->m;
    const uint64_t batch = gpu_tile_batch(e->k, &s->tile);
    const uint32_t width = s->lanes * s->tile.vectors;
    struct global_tile g;

    if (!global_tile_of(e, s, &g))
        return;
    V tiles_n = op_parts(m, g.tile->columns, width), tiles_m = op_parts(m, g.tile->rows, s->tile.rows);
    V count = op_mul(m, op_mul(m, tiles_n, tiles_m), space_points(e, batch));
    frame_enter(&e->frame, LEVEL_ENTRY, NULL);
    V number = loop_for_begin(m->b, at->id, count, 0);
    frame_open(&e->frame, LEVEL_UNIT);
    V rest = op_divide_index(m, number, tiles_n);
    space_decode(e, fixed, at->tile);
    space_decode(e, batch, op_divide_index(m, rest, tiles_m));
    emit_tile_at(&g, op_times(m, op_modulo_index(m, rest, tiles_m), s->tile.rows),
                 op_times(m, op_modulo_index(m, number, tiles_n), width));
    loop_for_end(m->b, const_index(m, s->local[0]));
    frame_leave(&e->frame, LEVEL_ENTRY);
}
