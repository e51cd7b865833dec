/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Emits functions of at most 4 bits as lookups. */
#include "codegen/lower/values.h"

enum { ENTRIES = LOOKUP_ENTRIES };

/* Returns what x has the lowest 4, 2 or 1 bits of, which *bits are, or KEXPR_NONE if x is no such number. */
static uint32_t masked(const struct kernel *k, const struct kexpr *x, uint32_t *bits)
{
    for (uint32_t i = 0; x->op == K_AND && x->type == KT_U32 && i < 2; i++) {
        const struct kexpr *mask = &k->exprs[x->args[i]];
        *bits = mask->bits.u32;
        if (mask->op == K_CONST && (*bits == ENTRIES - 1 || *bits == 3 || *bits == 1))
            return x->args[1 - i];
    }
    return KEXPR_NONE;
}

/*
 * Computes an expression for each number that the 4 bits may be.  *index is what they are the lowest bits of; there must be one
 * such expression.  Returns false if the value depends on anything else.
 */
static bool evaluate(const struct kernel *k, uint32_t expr, uint32_t *index, union scalar *values)
{
    const struct kexpr *x = &k->exprs[expr];
    union scalar args[3][ENTRIES];
    uint32_t of, bits;

    if (x->op == K_CONST) {
        for (uint32_t i = 0; i < ENTRIES; i++)
            values[i] = x->bits;
        return true;
    }
    if ((of = masked(k, x, &bits)) != KEXPR_NONE) { /* whatever the bits above those are */
        for (uint32_t i = 0; i < ENTRIES; i++)
            values[i] = (union scalar){.u32 = i & bits};
        if (*index != KEXPR_NONE && *index != of)
            return false;
        *index = of;
        return true;
    }
    if (x->op != K_CAST && x->op != K_ADD && x->op != K_SUB && x->op != K_MUL)
        return false;
    for (uint32_t a = 0; a < kop_arity(x->op); a++)
        if (!evaluate(k, x->args[a], index, args[a]))
            return false;
    for (uint32_t i = 0; i < ENTRIES; i++) {
        const union scalar each[3] = {args[0][i], kop_arity(x->op) > 1 ? args[1][i] : args[0][i]};
        values[i] = kernel_scalar(x->op, x->type, k->exprs[x->args[0]].type, each);
    }
    return true;
}

uint32_t lookup_find(const struct emitter *e, uint32_t expr, uint32_t lanes, float *table)
{
    union scalar values[ENTRIES];
    uint32_t index = KEXPR_NONE;

    if (!e->m.isa->scaling || lanes % ENTRIES || e->k->exprs[expr].type != KT_F32 || !evaluate(e->k, expr, &index, values) ||
        index == KEXPR_NONE)
        return KEXPR_NONE;
    for (uint32_t i = 0; i < ENTRIES; i++)
        table[i] = values[i].f32;
    return index;
}

V lookup_table(const struct build *m, const float *table)
{
    uint64_t bits[ENTRIES];

    for (uint32_t i = 0; i < ENTRIES; i++)
        bits[i] = (union scalar){.f32 = table[i]}.u32;
    return loop_const(m->b, type_lanes(type_f32, ENTRIES), bits);
}

V lookup_emit(const struct build *m, const float *table, V index)
{
    V halves[2], numbers = lookup_table(m, table);
    const uint32_t half = lanes_of(index) / 2;

    if (half < ENTRIES)
        return op2(m, LOOP_PERMUTE, numbers, index);
    for (uint32_t h = 0; h < 2; h++)
        halves[h] = lookup_emit(m, table, op_lanes(m, index, NULL, half * h, half));
    return op_lanes(m, halves[0], halves[1], 0, 2 * half);
}
