/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Evaluates expressions on demand, at the level where they belong.
 */
#include "codegen/lower/values.h"

#include "codegen/lower/access.h"
#include "codegen/lower/scalar.h"

static const struct kexpr *quantised_scale(const struct kernel *k, const struct quantised *q)
{
    return q->scale == KEXPR_NONE ? NULL : &k->exprs[q->scale];
}

static V value_or_null(struct emitter *e, const struct context *cx, uint32_t expr)
{
    return expr == KEXPR_NONE ? NULL : expr_value_lanes(e, cx, expr, 1);
}

void expr_quantise_copies(struct emitter *e, const struct context *cx, uint32_t expr)
{
    const struct kexpr *exprs = e->k->exprs, *clamps[2], *x = &exprs[expr];
    const struct build *m = &e->m;
    uint32_t clamped = 0, quantised = expr;
    struct quantised q;

    for (; (x->op == K_MIN || x->op == K_MAX) && clamped < 2; x = &exprs[quantised]) {
        const bool first = exprs[x->args[0]].op == K_CONST;
        if (first == (exprs[x->args[1]].op == K_CONST))
            return;
        clamps[clamped++] = x;
        quantised = x->args[first];
    }
    if (!cx->tile || !frame_is_here(&e->frame, e->info.expr_level[quantised]) || !schedule_quantised(e->s, quantised, &q) ||
        cx->lanes != m->isa->vector_bits / 32 || !quantise_has(m, cx->lanes, quantised_scale(e->k, &q)))
        return;
    for (uint32_t c = 0; c < cx->copies; c += QUANTISED_VECTORS) {
        V zero_point = value_or_null(e, cx, q.zero_point), scale = value_or_null(e, cx, q.scale), parts[QUANTISED_VECTORS];
        for (uint32_t i = 0; i < QUANTISED_VECTORS; i++) {
            const struct context of = context_of_copy(cx, c + i < cx->copies ? c + i : c);
            parts[i] = expr_value_lanes(e, &of, q.x, cx->lanes);
        }
        V bytes = emit_quantised_vectors(m, parts, scale, zero_point, x->type == KT_I8, q.fits);
        for (uint32_t i = clamped; i-- > 0;) {
            V bound = expr_value_lanes(e, cx, clamps[i]->args[exprs[clamps[i]->args[0]].op != K_CONST], 1);
            bytes = emit_operation(m, clamps[i]->op, x->type, x->type, bytes, splat(m, bound, lanes_of(bytes)), NULL);
        }
        for (uint32_t i = 0; i < QUANTISED_VECTORS && c + i < cx->copies; i++)
            expr_know(e, expr, c + i, op_lanes(m, bytes, NULL, i * cx->lanes, cx->lanes));
    }
}

enum { MANTISSA_BITS = 0x4b000000 /* of 2^23, whose last bits count ones */ };

static bool is_mantissa(const struct kexpr *x)
{
    return x->op == K_CONST && (x->type == KT_U32 || x->type == KT_I32) && x->bits.u32 < 1 << 23;
}

/*
 * Returns the expression whose bits are a whole number below 2^23, as those of weights of 4 bits are, if expr is that number as
 * a float, or KEXPR_NONE.  Where a whole constant is subtracted from it, *less is that.  Appended to the bits of 2^23 the
 * number is a float that is too large by 2^23, which takes no conversion.
 */
static uint32_t find_whole(const struct kexpr *exprs, uint32_t expr, int32_t *less)
{
    const struct kexpr *x = &exprs[expr];

    *less = 0;
    if (x->op == K_SUB && x->type == KT_F32 && exprs[x->args[1]].op == K_CONST) {
        const float c = exprs[x->args[1]].bits.f32;
        if (!(c >= -(1 << 22) && c <= 1 << 22) || c != (float)(int32_t)c)
            return KEXPR_NONE;
        *less = (int32_t)c;
        x = &exprs[x->args[0]];
    }
    if (x->op != K_CAST || x->type != KT_F32 || exprs[x->args[0]].op != K_AND)
        return KEXPR_NONE;
    const struct kexpr *bits = &exprs[x->args[0]];
    if (bits->type != KT_U32 || (!is_mantissa(&exprs[bits->args[0]]) && !is_mantissa(&exprs[bits->args[1]])))
        return KEXPR_NONE;
    return x->args[0];
}

static V compute_whole(struct emitter *e, const struct context *cx, uint32_t bits, int32_t less, uint32_t lanes)
{
    const struct build *m = &e->m;
    V number = expr_value_lanes(e, cx, bits, lanes);

    number = op_bits(m, op_or(m, number, const_int_like(m, number, MANTISSA_BITS)), type_f32);
    return op_sub(m, number, const_f_like(m, number, (1 << 23) + less));
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
        V index = form_lanes(e, cx, &p, e->m.index_bits);
        return op_sext(&e->m, index, type_like(type_i64, index));
    }
    default:
        break;
    }
    /* Values computed outside of the branch are valid in the other one, too. */
    if (x->op == K_SELECT && e->chosen_by && e->info.expr_level[expr] >= e->info.point_level &&
        expr_value(e, cx, x->args[0]) == e->chosen_by)
        return expr_value_lanes(e, cx, x->args[e->chosen], lanes);
    int32_t less;
    const uint32_t whole = e->m.isa->slow_conversions ? find_whole(e->k->exprs, expr, &less) : KEXPR_NONE;
    if (whole != KEXPR_NONE)
        return compute_whole(e, cx, whole, less, lanes);
    float table[16];
    const uint32_t index = x->type == KT_F32 ? lookup_find(e, expr, lanes, table) : KEXPR_NONE;
    if (index != KEXPR_NONE)
        return lookup_emit(&e->m, table, expr_value_lanes(e, cx, index, lanes));
    if (frame_is_here(&e->frame, e->info.expr_level[expr]) && schedule_quantised(e->s, expr, &quantised) &&
        quantise_has(&e->m, lanes, quantised_scale(e->k, &quantised))) {
        V zero_point = value_or_null(e, cx, quantised.zero_point), scale = value_or_null(e, cx, quantised.scale);
        return emit_quantised(&e->m, expr_value_lanes(e, cx, quantised.x, lanes), scale, zero_point, x->type == KT_I8,
                              quantised.fits);
    }
    for (uint32_t i = 0; i < 3 && x->args[i] != KEXPR_NONE; i++)
        args[i] = expr_value_lanes(e, cx, x->args[i], lanes);
    enum ktype from = x->args[0] != KEXPR_NONE ? e->k->exprs[x->args[0]].type : x->type;
    return emit_operation(&e->m, x->op, x->type, from, args[0], args[1], args[2]);
}

static uint32_t cache_index(const struct emitter *e, const struct context *cx, uint32_t expr)
{
    if (cx->tile) {
        uint32_t row = e->info.expr_rows[expr] ? cx->copy / cx->tile->vectors : 0;
        if (e->info.expr_level[expr] < e->info.vector_level) /* it is known in tiles of other sizes, too: by line */
            return expr * COPIES_MAX + (cx->tile->lines > 1 ? row / cx->tile->rows : 0);
        return expr * COPIES_MAX + row * cx->tile->vectors + (expr_is_vector(e, cx, expr) ? cx->copy % cx->tile->vectors : 0);
    }
    bool by_copy = expr_is_vector(e, cx, expr) || (cx->transposed && e->info.expr_level[expr] >= e->info.vector_level);
    return expr * COPIES_MAX + (by_copy ? cx->copy : 0);
}

V expr_value(struct emitter *e, const struct context *cx, uint32_t expr)
{
    struct cached *c = &e->cache.exprs[cache_index(e, cx, expr)];
    uint32_t serial = e->frame.levels[e->info.expr_level[expr]].serial;
    struct loop_place *here = frame_at(&e->frame, e->info.expr_level[expr]);
    if (c->serial != serial && load_is_transposed(e, cx, expr)) {
        V values[COPIES_MAX];
        emit_transposed_load(e, cx, expr, values);
        for (uint32_t i = 0; i < cx->copies; i++)
            e->cache.exprs[expr * COPIES_MAX + i] = (struct cached){values[i], serial};
    } else if (c->serial != serial) {
        V value = compute(e, cx, expr);
        *c = (struct cached){value, serial};
    }
    e->m.b->at = here;
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
        struct loop_place *here = frame_at(&e->frame, level);
        *c = (struct cached){splat(&e->m, value, lanes), serial};
        e->m.b->at = here;
    }
    return c->value;
}

bool caches_make(struct emitter *e, struct caches *c)
{
    const size_t values = (size_t)(e->k->expr_count + 1) * COPIES_MAX;
    struct arena *a = &e->arena;

    *c = (struct caches){.forms = arena_array(a, (size_t)(e->info.form_count + 1) * LEVELS_MAX, sizeof *c->forms),
                         .row_pointers = arena_array(a, e->info.form_count + 1, sizeof *c->row_pointers),
                         .exprs = arena_array(a, values, sizeof *c->exprs),
                         .splats = arena_array(a, values, sizeof *c->splats),
                         .vars = arena_array(a, (size_t)(e->k->var_count + 1) * COPIES_MAX, sizeof *c->vars)};
    return c->forms && c->row_pointers && c->exprs && c->splats && c->vars;
}

bool values_prepare(struct emitter *e, const struct build *m, const struct schedule *s)
{
    struct arena *a = &e->arena;

    e->m = *m;
    e->s = s;
    e->k = s->kernel;
    e->expr_value = expr_value_lanes;
    if (!analyze(&e->info, s, a))
        return false;
    e->frame = (struct frame){.m = &e->m, .inner_level = e->info.inner_level};
    e->args.params = arena_array(a, e->info.numbers.param_count + 1, sizeof *e->args.params);
    e->accumulators = arena_array(a, s->kernel->expr_count + 1, sizeof *e->accumulators);
    e->store_values = arena_array(a, (size_t)s->kernel->store_count * COPIES_MAX + 1, sizeof *e->store_values);
    e->row_pointers = arena_array(a, (size_t)s->kernel->expr_count * (s->tiled ? COPIES_MAX : 0) + 1, sizeof *e->row_pointers);
    return caches_make(e, &e->cache) && e->accumulators && e->store_values && e->args.params && e->row_pointers;
}
