/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Finds numbers that are divided by one scale for all lanes, rounded to whole ones and made bytes, as quantizeLinear does.
 */
#include "ir/schedule/schedule_internal.h"

enum { QUANTISED_VECTORS = 4 }; /* of 32 bits, which make one of bytes */

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
    if (x->op != K_ROUND_EVEN || exprs[x->args[0]].op != K_DIV)
        return false;
    q->x = exprs[x->args[0]].args[0];
    q->scale = exprs[x->args[0]].args[1];
    return s->exprs[q->x].lanes && !s->exprs[q->scale].lanes;
}

uint32_t quantised_vectors(const struct schedule *s, const struct isa *isa)
{
    const struct kernel *k = s->kernel;
    struct quantised q;

    if (!isa->fma || !isa->packs || isa->vector_bits < 256 || s->lanes != isa->vector_bits / 32)
        return 1;
    for (uint32_t i = 0; i < k->store_count; i++)
        if (schedule_quantised(s, k->stores[i].expr, &q))
            return QUANTISED_VECTORS;
    return 1;
}
