/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Finds numbers that are divided by one scale for all lanes, rounded to whole ones and made bytes, as quantizeLinear does.
 */
#include <math.h>

#include "ir/graph/constant.h"
#include "ir/schedule/schedule_internal.h"

/** Returns whether an expression is the same number for all lanes, whole, and not larger than bytes are. */
static bool is_zero_point(const struct schedule *s, uint32_t expr)
{
    const struct kexpr *x = &s->kernel->exprs[expr];

    if (s->exprs[expr].lanes)
        return false;
    if (x->op == K_CONST)
        return x->bits.f32 >= INT8_MIN && x->bits.f32 <= UINT8_MAX && x->bits.f32 == (float)(int)x->bits.f32;
    return x->op == K_CAST && ktype_size(s->kernel->exprs[x->args[0]].type) == 1;
}

/* Returns a number that x, computed in so many steps at most, does not exceed in magnitude, nor is it NaN; or infinity or NaN.
 */
static double magnitude_of(const struct schedule *s, const struct kexpr *x, uint32_t steps)
{
    const struct kexpr *exprs = s->kernel->exprs;
    const struct byte_products *p = &s->tile.blocks.bytes;

    if (steps && (x->op == K_ADD || x->op == K_SUB || x->op == K_MAX || x->op == K_MUL)) {
        const double a = magnitude_of(s, &exprs[x->args[0]], steps - 1), b = magnitude_of(s, &exprs[x->args[1]], steps - 1);
        return x->op == K_MUL ? a * b : a + b;
    }
    if (x->op == K_CONST)
        return fabs((double)x->bits.f32);
    if (x->op == K_CAST)
        return ktype_size(exprs[x->args[0]].type) == 1 ? UINT8_MAX : INFINITY;
    if (x->op == K_REDUCE && s->tiled && p->a != KEXPR_NONE && p->a_factor == KEXPR_NONE && p->b_factor != KEXPR_NONE &&
        s->tile.split == KEXPR_NONE)
        return (double)(BYTE_SUM_STEPS * UINT8_MAX * -INT8_MIN) * magnitude_of(s, &exprs[p->b_factor], 0);
    const uint8_t magnitude = x->op == K_LOAD && !x->guard_count ? s->kernel->tensors[x->tensor].magnitude : MAGNITUDE_UNKNOWN;
    return magnitude == MAGNITUDE_UNKNOWN ? INFINITY : magnitude == MAGNITUDE_1 ? 1 : 0x1p24;
}

bool schedule_quantised(const struct schedule *s, uint32_t expr, struct quantised *q)
{
    const struct kexpr *exprs = s->kernel->exprs, *x = &exprs[expr];

    if (x->op != K_CAST || (x->type != KT_U8 && x->type != KT_I8) || exprs[x->args[0]].type != KT_F32)
        return false;
    *q = (struct quantised){.zero_point = KEXPR_NONE};
    x = &exprs[x->args[0]];
    if (x->op == K_ADD) {
        const bool swapped = exprs[x->args[1]].op == K_ROUND_EVEN;

        q->zero_point = x->args[!swapped];
        if (!is_zero_point(s, q->zero_point))
            return false;
        x = &exprs[x->args[swapped]];
    }
    if (x->op != K_ROUND_EVEN)
        return false;
    q->x = x->args[0];
    q->scale = KEXPR_NONE;
    if (exprs[q->x].op == K_DIV && !s->exprs[exprs[q->x].args[1]].lanes) {
        q->scale = exprs[q->x].args[1];
        q->x = exprs[q->x].args[0];
    }
    const struct kexpr *by = q->scale == KEXPR_NONE ? NULL : &exprs[q->scale];
    q->fits = (!by || by->op == K_CONST) && magnitude_of(s, &exprs[q->x], 8) <= 0x1p30 * (by ? (double)by->bits.f32 : 1);
    return s->exprs[q->x].lanes;
}

uint32_t quantised_vectors(const struct schedule *s, const struct isa *isa)
{
    const struct kernel *k = s->kernel;
    struct quantised q;

    if (!isa->fma || !isa->permutes || isa->vector_bits < 256 || s->lanes != isa->vector_bits / 32)
        return 1;
    for (uint32_t i = 0; i < k->store_count; i++)
        if (schedule_quantised(s, k->stores[i].expr, &q))
            return QUANTISED_VECTORS;
    return 1;
}
