/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Chooses the vectors of a GPU schedule: along which variable lanes are neighbours, and how sums are split into blocks.
 */
#include "ir/schedule/schedule_gpu_internal.h"

#include <string.h>

enum { LANES_MIN = 4 /* fewer are not worth a vector */ };

/* ---- accesses ---- */

/* Returns whether vectors have an operation: the printer computes others lane by lane. */
static bool has_vectors(const struct kexpr *e)
{
    const bool simple = e->type == KT_F32 || e->type == KT_BOOL || e->type == KT_I32 || e->type == KT_U32 || e->type == KT_I8 ||
                        e->type == KT_U8;

    if (e->op == K_SCAN || (e->op == K_REDUCE && (e->reduce == KR_ARG_MIN || e->reduce == KR_ARG_MAX)))
        return false;
    if (e->op == K_REDUCE && e->reduce == KR_PRODUCT && e->type == KT_F32) /* in float64 */
        return false;
    if (!ktype_is_float(e->type) && (e->op == K_DIV || e->op == K_POW || e->op == K_SIGN || e->op == K_INDEX))
        return false;
    return simple;
}

static void count_access(struct gpu_accesses *a, bool derived, int64_t step, bool load)
{
    if (!derived && step == 1)
        a->side_by_side++;
    else
        a->scattered++;
    a->strided += !derived && load && step > 1 && step <= GPU_STRIDE_MAX;
}

struct gpu_accesses gpu_accesses_along(const struct kernel *k, uint32_t var)
{
    struct gpu_accesses a = {.computable = true}, varying = {0};

    for (uint32_t i = 0; i < k->expr_count; i++) {
        const struct kexpr *e = &k->exprs[i];
        if (k->vars[var].kind == KVAR_REDUCED && e->op == K_REDUCE)
            a.computable &= has_vectors(e);
        if (!depends_on(e->vars, var))
            continue;
        a.computable &= has_vectors(e);
        if (e->op == K_LOAD)
            count_access(e->varying ? &varying : &a, kaffine_derives(k, e->index, var), kaffine_coefficient(e->index, var),
                         true);
    }
    for (uint32_t i = 0; i < k->store_count; i++) {
        const struct kstore *s = &k->stores[i];
        if (!depends_on(k->exprs[s->expr].vars | kaffine_vars(k, s->index), var))
            continue;
        a.computable &= k->exprs[s->expr].type != KT_F64;
        count_access(s->varying ? &varying : &a, kaffine_derives(k, s->index, var), kaffine_coefficient(s->index, var), false);
    }
    if (varying.side_by_side || varying.scattered) { /* each iteration has these, and a point only one of the others */
        a.side_by_side = varying.side_by_side;
        a.scattered = varying.scattered;
        a.strided = varying.strided;
    }
    return a;
}

/* ---- choices ---- */

static uint32_t lanes_for(const struct gpu_context *c, int64_t size)
{
    uint32_t lanes = c->choice.lanes ? c->choice.lanes : c->device->vector_lanes;

    while (lanes > 1 && lanes > size)
        lanes /= 2;
    return lanes;
}

/* Returns whether a point may be computed twice: nothing that is read can have been written, even if an output shares an
 * input's memory. */
static bool may_repeat(const struct kernel *k)
{
    for (uint32_t i = 0; i < k->expr_count; i++)
        if (k->exprs[i].op == K_LOAD && k->tensors[k->exprs[i].tensor].written)
            return false;
    for (uint32_t o = 0; o < k->tensor_count; o++)
        for (uint32_t i = 0; i < k->tensor_count && k->tensors[o].written; i++)
            if (!k->tensors[i].written && kernel_may_share(k, i, o))
                return false;
    return true;
}

/* Decides whether points are computed twice where a row has a rest that is less than a vector.  One by one, windows are
 * expensive. */
static void choose_repeats(const struct gpu_context *c, struct gpu_schedule *s)
{
    const struct kernel *k = c->k;

    s->lane_repeats = s->lane_tail && !c->stage_items && !c->choice.no_repeats && s->lane_var < k->parallel_count &&
                      k->reduced_count && may_repeat(k);
    s->lane_tail &= !s->lane_repeats;
}

static bool try_lanes(const struct gpu_context *c, uint32_t var, struct gpu_schedule *s)
{
    const int64_t size = c->k->vars[var].size;
    const uint32_t lanes = lanes_for(c, size);
    const struct gpu_accesses a = gpu_accesses_along(c->k, var);
    const uint32_t strided = c->device->vector_strides ? a.strided : 0;

    if (lanes < LANES_MIN || !a.computable || c->k->vars[var].bounded || a.side_by_side + strided <= a.scattered - strided)
        return false;
    s->lane_var = var;
    s->lanes = lanes;
    s->lane_tail = size % lanes != 0;
    choose_repeats(c, s);
    return true;
}

void gpu_choose_lanes(const struct gpu_context *c, bool rows, struct gpu_schedule *s)
{
    const struct kernel *k = c->k;

    s->lane_var = KEXPR_NONE;
    s->lanes = 1;
    if (c->choice.no_lanes || gpu_has_order(k))
        return;
    if (k->parallel_count > k->macro_tile_vars && try_lanes(c, k->parallel_count - 1, s))
        return;
    if (rows && k->reduced_count)
        try_lanes(c, k->parallel_count + k->reduced_count - 1, s);
}

void gpu_choose_split(const struct kernel *k, uint32_t steps, uint32_t lanes, struct gpu_schedule *s)
{
    const struct sum_split split = choose_split(k, steps, lanes);

    s->sum_split = split.var;
    s->sum_steps = split.steps;
}
