/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits what register tiles of contractions on devices are made of.
 *
 * The sums go through an array to the point's other expressions, which are computed vector after vector, and where a row's
 * columns end in the middle of one column after column.
 *
 * A place is what values differ by within a tile: a row with a vector, say.  Each has its own caches, so that a value of one
 * place is not reused in another; its code is still at its level.
 */
#include "codegen/lower/item_tile.h"

#include "codegen/lower/values.h"
#include "codegen/lower/point.h"

/* ---- the contraction ---- */

static bool is_product(const struct kexpr *x, uint32_t a, uint32_t b)
{
    return x->op == K_MUL && ((x->args[0] == a && x->args[1] == b) || (x->args[0] == b && x->args[1] == a));
}

/* Returns whether an operand is computed from what the innermost loop only takes apart. */
static bool has_words(const struct emitter *e, uint32_t operand, bool *below)
{
    const int64_t size = e->k->vars[e->k->parallel_count + e->k->reduced_count - 1].size;

    mark_below(e->k, operand, below);
    for (uint32_t i = 0; i < operand && size > 1 && size <= KERNEL_IMMEDIATE_MAX; i++)
        if (below[i] && e->k->exprs[i].op == K_LOAD && e->info.expr_level[i] == e->info.inner_level - 1)
            return true;
    return false;
}

static void view_operand(struct item_tile *t, uint32_t o, bool *below)
{
    const struct gpu_tile *g = t->t;
    const uint32_t operand = t->e->k->exprs[g->dot].args[o];

    t->along_rows[o] = t->e->k->exprs[operand].vars & g->m;
    t->along_columns[o] = t->e->k->exprs[operand].vars & g->n;
    t->operands[o] = operand;
    if (g->factor != KEXPR_NONE && is_product(&t->e->k->exprs[operand], g->factor, g->unscaled)) {
        t->scaled = o;
        t->operands[o] = g->unscaled;
    }
    t->words[o] = has_words(t->e, t->operands[o], below);
}

struct item_tile *item_tile_of(struct emitter *e, const struct gpu_schedule *s, uint32_t places)
{
    const enum ktype type = e->k->exprs[s->tile.dot].type;
    const uint32_t count = s->tile.rows * s->tile.vectors;
    bool *below = arena_array(&e->arena, (size_t)e->k->expr_count + 1, sizeof *below);
    struct item_tile *t = arena_alloc(&e->arena, sizeof *t);
    struct item_sum *sums = arena_array(&e->arena, count, sizeof *sums);
    struct caches *places_of = arena_array(&e->arena, places, sizeof *places_of);
    V *values[2] = {arena_array(&e->arena, count, sizeof(V)), arena_array(&e->arena, count, sizeof(V))};

    if (!below || !t || !sums || !places_of || !values[0] || !values[1]) {
        e->m.b->module->failed = true;
        return NULL;
    }
    *t = (struct item_tile){.e = e,
                            .s = s,
                            .t = &s->tile,
                            .type = type,
                            .count = count,
                            .scaled = 2,
                            .totals = s->sum_split != KEXPR_NONE && ktype_is_float(type),
                            .sums = sums,
                            .values = {values[0], values[1]},
                            .own = e->cache,
                            .places = places_of};
    for (uint32_t o = 0; o < 2; o++)
        view_operand(t, o, below);
    t->rows = space_points(e, s->tile.m);
    t->columns = space_points(e, s->tile.n);
    return t;
}

/* ---- places ---- */

void item_tile_at(struct item_tile *t, uint32_t place)
{
    struct caches *c = &t->places[place];

    if (c->forms || caches_make(t->e, c))
        t->e->cache = *c;
    else
        t->e->m.b->module->failed = true;
}

/* ---- sums ---- */

static V new_sum(struct item_tile *t)
{
    V slot = loop_slot(t->e->m.b, type_lanes(type_of(t->type), t->s->lanes));

    op_set(&t->e->m, slot, const_zero(&t->e->m, slot->type));
    return slot;
}

void item_tile_begin(struct item_tile *t, bool rest)
{
    for (uint32_t i = 0; i < t->count; i++)
        t->sums[i] = (struct item_sum){new_sum(t), t->scaled < 2 && t->t->factor_depth ? new_sum(t) : NULL,
                                       t->totals ? new_sum(t) : NULL, t->totals && rest ? new_sum(t) : NULL};
}

void item_tile_multiply(struct item_tile *t)
{
    const struct build *m = &t->e->m;
    V x[2] = {NULL, NULL};

    t->e->cache = t->own;
    for (uint32_t i = 0; i < t->count; i++) {
        for (uint32_t o = 0; o < 2; o++) /* here, where compilers make one instruction of it and the load */
            if (!i || t->values[o][i] != t->values[o][i - 1])
                x[o] = splat(m, t->values[o][i], t->s->lanes);
        V slot = t->sums[i].partial, old = op_get(m, slot);
        op_set(m, slot, ktype_is_float(t->type) ? op_mad(m, x[0], x[1], old) : op_add(m, old, op_mul(m, x[0], x[1])));
    }
}

/* Returns the slot of the sum of a block, or of its scaled parts. */
static V block_sum(const struct item_sum *s)
{
    return s->scaled ? s->scaled : s->partial;
}

void item_tile_flush(struct item_tile *t, uint32_t i)
{
    const struct build *m = &t->e->m;
    const struct item_sum *s = &t->sums[i];
    V block = block_sum(s), value = op_get(m, block);

    if (s->rest)
        sum_add_block(m, s->total, s->rest, value);
    else
        op_set(m, s->total, op_add(m, op_get(m, s->total), value));
    op_set(m, block, const_zero(m, block->type));
}

/* ---- arrays of sums ---- */

static V element(const struct item_tile *t, V array, V index)
{
    return op_address(&t->e->m, type_of(t->type), array, index);
}

static V load_element(const struct item_tile *t, V array, V index, uint32_t lanes)
{
    return op_load(&t->e->m, type_lanes(type_of(t->type), lanes), element(t, array, index), NULL, sizeof(float));
}

V item_tile_store(struct item_tile *t, const V *factors)
{
    const struct build *m = &t->e->m;
    const uint32_t lanes = t->s->lanes;
    V array = loop_array(m->b, LOOP_ARRAY, type_of(t->type), (int64_t)sizeof(float) * t->count * lanes);

    for (uint32_t i = 0; i < t->count; i++) {
        const struct item_sum *s = &t->sums[i];
        V sum = s->rest ? sum_of_blocks(m, s->total, s->rest) : op_get(m, s->total ? s->total : block_sum(s));
        sum = factors ? op_mul(m, sum, factors[i % t->t->vectors]) : sum;
        op_store(m, sum, element(t, array, const_index(m, (int64_t)i * lanes)), NULL, sizeof(float));
    }
    return array;
}

/* Returns the number of an element of the group's memory: number i of a share's `at_once`, of item `own` of so many. */
static V shared_index(const struct build *m, V share, uint32_t at_once, V i, uint32_t items, V own)
{
    V number = op_add(m, op_times(m, share, at_once), i);

    return op_add(m, op_times(m, number, items), own);
}

void item_tile_add_shares(struct item_tile *t, V array, V memory, V own, uint32_t items, uint32_t at_once)
{
    const struct build *m = &t->e->m;
    V zero = const_index(m, 0), one = const_index(m, 1), some = const_index(m, at_once);
    V from = loop_for_begin(m->b, zero, const_index(m, t->count * t->s->lanes), 0);

    loop_if_begin(m->b, op_gt(m, t->share, zero));
    V i = loop_for_begin(m->b, zero, some, 0);
    V to = element(t, memory, shared_index(m, op_sub(m, t->share, one), at_once, i, items, own));
    op_store(m, load_element(t, array, op_add(m, from, i), 1), to, NULL, sizeof(float));
    loop_for_end(m->b, one);
    loop_end(m->b);
    op_barrier(m);
    loop_if_begin(m->b, op_eq(m, t->share, zero));
    i = loop_for_begin(m->b, zero, some, 0);
    V k = loop_for_begin(m->b, zero, const_index(m, t->t->k_items - 1), 0);
    V other = load_element(t, memory, shared_index(m, k, at_once, i, items, own), 1), at = op_add(m, from, i);
    op_store(m, op_add(m, load_element(t, array, at, 1), other), element(t, array, at), NULL, sizeof(float));
    loop_for_end(m->b, one);
    loop_for_end(m->b, one);
    loop_end(m->b);
    op_barrier(m);
    loop_for_end(m->b, some);
}

/* ---- points ---- */

void item_tile_point(struct item_tile *t, V column, uint32_t lanes, V sum)
{
    struct emitter *e = t->e;
    const struct context cx = {.lanes = lanes, .copies = 1, .vector_base = &column};

    e->cache = t->own;
    frame_open(&e->frame, LEVEL_UNIT);
    frame_open(&e->frame, e->info.point_level);
    space_decode(e, t->t->n, column);
    expr_know(e, t->t->dot, 0, sum);
    emit_results(e, &cx);
}

/* Emits the points of a vector, whose sums begin at `first` of the array. */
static void emit_vector_of(struct item_tile *t, V array, V first, V column)
{
    const struct build *m = &t->e->m;
    const uint32_t lanes = t->s->lanes;
    V last = op_sub(m, t->columns, const_index(m, lanes));

    loop_if_begin(m->b, op_le(m, column, last));
    item_tile_point(t, column, lanes, load_element(t, array, first, lanes));
    if (t->s->lane_tail) { /* its sums are those of the last whole vector */
        loop_else(m->b);
        V at = loop_for_begin(m->b, column, t->columns, 0);
        item_tile_point(t, at, 1, load_element(t, array, op_add(m, first, op_sub(m, at, last)), 1));
        loop_for_end(m->b, const_index(m, 1));
    }
    loop_end(m->b);
}

void item_tile_points(struct item_tile *t, V array, V row, V column, uint32_t step)
{
    const struct build *m = &t->e->m;
    V zero = const_index(m, 0), one = const_index(m, 1), vectors = const_index(m, t->t->vectors);

    if (t->share)
        loop_if_begin(m->b, op_eq(m, t->share, zero));
    V r = loop_for_begin(m->b, zero, const_index(m, t->t->rows), 0); /* a constant, so that the array lies in registers */
    row = op_add(m, row, r);
    loop_if_begin(m->b, op_lt(m, row, t->rows));
    frame_open(&t->e->frame, LEVEL_UNIT);
    space_decode(t->e, t->t->m, row);
    V v = loop_for_begin(m->b, zero, vectors, 0);
    V first = op_times(m, op_add(m, op_mul(m, r, vectors), v), t->s->lanes);
    emit_vector_of(t, array, first, op_add(m, column, op_times(m, v, step)));
    loop_for_end(m->b, one);
    loop_end(m->b);
    loop_for_end(m->b, one);
    if (t->share)
        loop_end(m->b);
}
