/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits guards: as masks, and tests of all guards of a window at once.  Where the first and the last element of a window lie
 * inside the input in every dimension, all others do, because a guard's form grows with every REDUCED variable.
 */
#include "codegen/lower/access.h"

#include "codegen/lower/scalar.h"

V guard_and(struct emitter *e, V a, V b)
{
    if (!a || !b)
        return a ? a : b;
    uint32_t lanes = lanes_of(a) > lanes_of(b) ? lanes_of(a) : lanes_of(b);
    a = splat(&e->m, a, lanes);
    return op_and(&e->m, a, splat(&e->m, b, lanes));
}

/* Returns a mask of the lanes for which 0 <= base + lane < bound.  The bound is a vector of 32-bit integers, which holds any
 * size of a tensor.  As unsigned numbers negative ones are above every bound, and so is the substitute for a base outside 32
 * bits, if the schedule has such. */
static V guard_contiguous(struct emitter *e, const struct context *cx, V base, V bound)
{
    const struct build *m = &e->m;
    V first = op_trunc(m, base, type_i32);
    if (!e->s->edges.far_guards)
        return op_ult(m, op_add(m, splat(m, first, cx->lanes), const_iota(m, 32, cx->lanes)), bound);
    V near = op_plus(m, base, cx->lanes);
    near = op_ult(m, near, const_index(m, (INT64_C(1) << 31) + cx->lanes));
    first = op_select(m, near, first, const_int(m, 32, INT32_MIN));
    V lane = op_add(m, splat(m, first, cx->lanes), const_iota(m, 32, cx->lanes));
    return op_ult(m, lane, bound);
}

void guards_value(struct emitter *e, const struct context *cx, uint32_t form, uint32_t count, uint32_t level,
                  const struct guard_part *part, V *scalar, V *lanes)
{
    struct loop_place *here = e->m.b->at;

    *scalar = *lanes = NULL;
    for (uint32_t i = 0; i < count; i++) {
        const struct form *f = &e->info.forms[form + i];
        V bound = form_bound(e, form + i), c;
        if (kaffine_coefficient(*f->affine, e->s->tile.m_var) ? cx->steps_hold : cx->line_holds)
            continue;
        struct form_value p = form_evaluate(e, cx, form + i);
        if (p.kind == FORM_UNIFORM ? cx->rows_inside : cx->lanes_inside)
            continue;
        const bool contiguous = p.kind == FORM_CONTIGUOUS || (part && p.kind != FORM_UNIFORM);
        if (contiguous) {
            frame_at(&e->frame, LEVEL_ENTRY);
            bound = splat(&e->m, op_trunc(&e->m, bound, type_i32), cx->lanes);
        }
        frame_at(&e->frame, f->level);
        if (p.kind == FORM_UNIFORM)
            c = op_ult(&e->m, p.base, bound);
        else if (contiguous)
            c = guard_contiguous(e, cx, part ? op_plus(&e->m, p.base, part->first) : p.base, bound);
        else
            c = op_ult(&e->m, form_lanes(e, cx, &p, e->m.index_bits), splat(&e->m, bound, cx->lanes));
        frame_at(&e->frame, level);
        V *all = p.kind == FORM_UNIFORM ? scalar : lanes;
        *all = guard_and(e, *all, c);
    }
    e->m.b->at = here;
}

V guard_fill(struct emitter *e, const struct kexpr *load, uint32_t lanes)
{
    return narrow_float(&e->m, splat(&e->m, const_scalar(&e->m, load->type, load->bits), lanes),
                        e->k->tensors[load->tensor].type);
}

/* Returns whether a guard's form is the smallest for the window's first element and the largest for its last. */
static bool grows(const struct kernel *k, const struct kaffine *a)
{
    for (uint32_t i = 0; i < a->count; i++) {
        const enum kvar_kind kind = k->vars[a->terms[i].var].kind;
        if (kind != KVAR_PARALLEL && (kind != KVAR_REDUCED || a->terms[i].coefficient < 0))
            return false;
    }
    return true;
}

bool window_is_guarded(const struct emitter *e)
{
    const struct kernel *k = e->k;
    bool any = false;

    if (e->s->tiled || e->s->edges.zeros || k->rare || !e->info.vector_parallel || e->s->transpose.var != KEXPR_NONE)
        return false;
    for (uint32_t i = 0; i < k->expr_count; i++) {
        const struct kexpr *x = &k->exprs[i];
        for (uint32_t g = 0; x->op == K_LOAD && g < x->guard_count; g++) {
            if (!grows(k, &x->guards[g].form))
                return false;
            any |= x->varying;
        }
    }
    return any;
}

/* Begins an iteration of all loops over REDUCED variables in which these have their first or last values. */
static void open_corner(struct emitter *e, bool last)
{
    for (uint32_t r = 0; r < e->k->reduced_count; r++) {
        const uint32_t var = e->k->parallel_count + r;
        V size = number_value(e, e->info.numbers.vars[var]);

        frame_open(&e->frame, e->info.reduced_level + r);
        e->frame.var_value[var] = last ? op_sub(&e->m, size, const_index(&e->m, 1)) : const_index(&e->m, 0);
    }
}

/* Returns a form's value in the last lane. */
static V last_lane(struct emitter *e, const struct context *cx, uint32_t form, const struct form_value *p)
{
    if (p->kind == FORM_UNIFORM)
        return p->base;
    V step = form_coefficient(e, &e->info.forms[form], e->s->vector_var);
    return op_add(&e->m, p->base, op_times(&e->m, step, (int64_t)cx->lanes - 1));
}

static void test_guard(struct emitter *e, const struct context *cx, uint32_t form, V *rows, V *lanes)
{
    const struct build *m = &e->m;
    V bound = form_bound(e, form);
    const struct form_value p = form_evaluate(e, cx, form);
    V *all = p.kind == FORM_UNIFORM ? rows : lanes;

    *all = guard_and(e, *all, op_ult(m, p.base, bound));
    if (p.kind != FORM_UNIFORM)
        *all = guard_and(e, *all, op_ult(m, last_lane(e, cx, form, &p), bound));
}

bool guards_at_ends(struct emitter *e, const struct context *cx, uint32_t form, uint32_t count, V *every, V *some)
{
    const struct build *m = &e->m;

    *every = *some = NULL;
    for (uint32_t g = form; g < form + count; g++) {
        const V bound = form_bound(e, g);
        const struct form_value p = form_evaluate(e, cx, g);
        V low = p.base, high;

        if (e->info.forms[g].derived_lanes)
            return false;
        frame_here(&e->frame);
        *every = guard_and(e, *every, op_ult(m, p.base, bound));
        V last = high = last_lane(e, cx, g, &p);
        if (p.kind != FORM_UNIFORM)
            *every = guard_and(e, *every, op_ult(m, last, bound));
        if (p.kind == FORM_REVERSED || p.kind == FORM_LANES) {
            low = op_smin(m, p.base, last);
            high = op_smax(m, p.base, last);
        }
        *some = guard_and(e, *some, op_and(m, op_ge(m, high, const_index(m, 0)), op_lt(m, low, bound)));
    }
    return true;
}

void window_tests(struct emitter *e, const struct context *cx, V *rows, V *lanes)
{
    const struct kernel *k = e->k;

    *rows = *lanes = NULL;
    for (uint32_t copy = 0; copy < cx->copies; copy++) {
        const struct context of = context_of_copy(cx, copy);
        for (uint32_t last = 0; last < 2; last++) {
            open_corner(e, last);
            for (uint32_t i = 0; i < k->expr_count; i++)
                for (uint32_t g = 0; k->exprs[i].op == K_LOAD && g < k->exprs[i].guard_count; g++)
                    test_guard(e, &of, e->info.expr_form[i] + 1 + g, rows, lanes);
        }
    }
}
