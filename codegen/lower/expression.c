/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Evaluates expressions on demand, at the level where they belong.
 */
#include "codegen/lower/expression.h"

#include "codegen/lower/accumulate.h"
#include "codegen/lower/index.h"
#include "codegen/lower/lookup.h"
#include "codegen/lower/memory.h"
#include "codegen/lower/operation.h"
#include "codegen/lower/quantise.h"
#include "codegen/lower/transpose.h"

static V compute_quantised(struct emitter *e, const struct context *cx, const struct quantised *q, uint32_t lanes,
                           enum ktype to)
{
    V zero_point = q->zero_point == KEXPR_NONE ? NULL : expr_value_lanes(e, cx, q->zero_point, 1);
    V x = expr_value_lanes(e, cx, q->x, lanes), scale = expr_value_lanes(e, cx, q->scale, 1);

    frame_here(&e->frame);
    return emit_quantised(&e->m, x, scale, zero_point, to == KT_I8);
}

static V compute(struct emitter *e, const struct context *cx, uint32_t expr)
{
    const struct kexpr *x = &e->k->exprs[expr];
    uint32_t lanes = expr_is_vector(e, cx, expr) ? cx->lanes : 1;
    V args[3] = {NULL, NULL, NULL};
    struct quantised quantised;

    if (e->s->exprs[expr].row_buffer >= 0 && (e->s->exprs[expr].short_row || cx->phase > e->s->exprs[expr].phase))
        return emit_row_buffer_load(e, cx, e->s->exprs[expr].row_buffer, x->type);
    switch (x->op) {
    case K_CONST:
        return const_scalar(&e->m, x->type, x->bits);
    case K_LOAD:
        return emit_load(e, cx, expr);
    case K_SCAN:
        return accumulator_scan(e, cx, expr, expr_value_lanes(e, cx, x->args[0], accumulator_lanes(e, cx, expr)));
    case K_INDEX: {
        struct form_value p = form_evaluate(e, cx, e->info.expr_form[expr]);
        frame_at(&e->frame, e->info.expr_level[expr]);
        return form_lanes(e, cx, &p);
    }
    default:
        break;
    }
    float table[16];
    const uint32_t index = x->type == KT_F32 ? lookup_find(e, expr, lanes, table) : KEXPR_NONE;
    if (index != KEXPR_NONE) {
        V bits = expr_value_lanes(e, cx, index, lanes);
        frame_at(&e->frame, e->info.expr_level[expr]);
        return emit_lookup(&e->m, table, bits);
    }
    if (quantise_has(&e->m, lanes) && frame_is_here(&e->frame, e->info.expr_level[expr]) &&
        schedule_quantised(e->s, expr, &quantised))
        return compute_quantised(e, cx, &quantised, lanes, x->type);
    for (uint32_t i = 0; i < 3 && x->args[i] != KEXPR_NONE; i++)
        args[i] = expr_value_lanes(e, cx, x->args[i], lanes);
    frame_at(&e->frame, e->info.expr_level[expr]);
    enum ktype from = x->args[0] != KEXPR_NONE ? e->k->exprs[x->args[0]].type : x->type;
    return emit_operation(&e->m, x->op, x->type, from, args[0], args[1], args[2]);
}

static uint32_t cache_index(const struct emitter *e, const struct context *cx, uint32_t expr)
{
    if (cx->tile) {
        uint32_t row = e->info.expr_rows[expr] ? cx->copy / cx->tile->vectors : 0;
        return expr * COPIES_MAX + row * cx->tile->vectors + (expr_is_vector(e, cx, expr) ? cx->copy % cx->tile->vectors : 0);
    }
    bool by_copy = expr_is_vector(e, cx, expr) || (cx->transposed && e->info.expr_level[expr] >= e->info.vector_level);
    return expr * COPIES_MAX + (by_copy ? cx->copy : 0);
}

V expr_value(struct emitter *e, const struct context *cx, uint32_t expr)
{
    struct cached *c = &e->cache.exprs[cache_index(e, cx, expr)];
    uint32_t serial = e->frame.levels[e->info.expr_level[expr]].serial;
    if (c->serial != serial && load_is_transposed(e, cx, expr)) {
        V values[COPIES_MAX];
        emit_transposed_load(e, cx, expr, values);
        for (uint32_t i = 0; i < cx->copies; i++)
            e->cache.exprs[expr * COPIES_MAX + i] = (struct cached){values[i], serial};
    } else if (c->serial != serial) {
        V value = compute(e, cx, expr);
        *c = (struct cached){value, serial};
    }
    return c->value;
}

V expr_value_lanes(struct emitter *e, const struct context *cx, uint32_t expr, uint32_t lanes)
{
    V value = expr_value(e, cx, expr);
    if (lanes_of(value) == lanes || lanes == 1)
        return value;
    struct cached *c = &e->cache.splats[cache_index(e, cx, expr)];
    uint32_t level = e->info.expr_level[expr], serial = e->frame.levels[level].serial;
    if (c->serial != serial || lanes_of(c->value) != lanes) {
        frame_at(&e->frame, level);
        *c = (struct cached){splat(&e->m, value, lanes), serial};
    }
    return c->value;
}
