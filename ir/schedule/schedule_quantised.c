/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Finds numbers that are divided by one scale for all lanes, rounded to whole ones and made bytes, as quantizeLinear does.
 */
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

static bool is_within(const struct kernel *k, uint32_t expr, enum constant_magnitude magnitude)
{
    return k->exprs[expr].op == K_LOAD && !k->exprs[expr].guard_count &&
           k->tensors[k->exprs[expr].tensor].magnitude == magnitude;
}

/* Returns whether x is a sum of bytes times a number of at most 1, perhaps with one added that keeps it within int32. */
static bool fits_int32(const struct schedule *s, uint32_t expr)
{
    const struct kexpr *exprs = s->kernel->exprs, *x = &exprs[expr];
    const struct byte_products *p = &s->tile.blocks.bytes;

    if (!s->tiled || p->a == KEXPR_NONE || p->a_factor != KEXPR_NONE || p->b_factor == KEXPR_NONE ||
        s->tile.split != KEXPR_NONE || !is_within(s->kernel, p->b_factor, MAGNITUDE_1))
        return false;
    for (uint32_t i = 0; i < 2 && x->op == K_ADD; i++)
        if (is_within(s->kernel, x->args[i], MAGNITUDE_2_24))
            x = &exprs[x->args[!i]];
    return x->op == K_REDUCE && x->reduce == KR_DOT;
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
    q->fits = q->scale == KEXPR_NONE && fits_int32(s, q->x);
    return s->exprs[q->x].lanes;
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
