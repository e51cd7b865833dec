/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits instructions of AVX-512 that LLVM has no operation for.
 */
#include "codegen/emit/avx512.h"

#include <stdio.h>

/* Returns whether there are vectors of so many lanes, or several make one. */
static bool has_lanes(V like)
{
    uint32_t lanes = lanes_of(like);
    return lanes == 4 || lanes == 8 || lanes == 16 || lanes == 32 || lanes == 64;
}

/* Emits one of the instructions on all lanes, with the current rounding; more than 16 lanes are several vectors.  control is
 * its immediate number, or -1 if it has none. */
static V avx512_operation(const struct build *m, const char *name, const V *args, uint32_t count, int control)
{
    uint32_t lanes = lanes_of(args[0]), all_count = 0;
    V all[6];
    char full[64];

    if (lanes > 16) {
        V halves[2];
        for (uint32_t h = 0; h < 2; h++) {
            for (uint32_t i = 0; i < count; i++)
                all[i] = op_lanes(m, args[i], NULL, lanes / 2 * h, lanes / 2);
            halves[h] = avx512_operation(m, name, all, count, control);
        }
        return op_lanes(m, halves[0], halves[1], 0, lanes);
    }
    snprintf(full, sizeof full, "llvm.x86.avx512.%s.ps.%u", name, 32 * lanes);
    while (all_count < count) {
        all[all_count] = args[all_count];
        all_count++;
    }
    if (control >= 0)
        all[all_count++] = const_int(m, 32, control);
    all[all_count++] = LLVMConstNull(LLVMTypeOf(args[0])); /* what lanes get that are masked: none */
    all[all_count++] = LLVMConstAllOnes(type_int(m, lanes < 8 ? 8 : lanes));
    if (lanes == 16 && count == 2)
        all[all_count++] = const_int(m, 32, 4);
    return call_intrinsic(m, full, NULL, 0, all, all_count);
}

bool avx512_has_extreme(const struct build *m, V like)
{
    return m->isa->scaling && has_lanes(like);
}

V avx512_extreme_number(const struct build *m, bool largest, V a, V b)
{
    V args[2] = {a, b};
    return avx512_operation(m, "mask.range", args, 2, largest ? 5 : 4);
}

V avx512_extreme(const struct build *m, bool largest, V a, V b)
{
    V one = avx512_extreme_number(m, largest, a, b);
    V is_nan = LLVMBuildFCmp(m->b, LLVMRealUNO, a, b, "");
    return LLVMBuildSelect(m->b, is_nan, LLVMBuildFAdd(m->b, a, b, ""), one, "");
}

bool avx512_has_count(const struct build *m, V like)
{
    return m->isa->scaling && has_lanes(like) && element_type(like) == type_int(m, 32);
}

/* LLVM makes a vector of the condition's mask and adds that: a third instruction.  It does not where it cannot know that what
 * is added is 1. */
V avx512_count(const struct build *m, V count, V condition)
{
    T type = LLVMTypeOf(count);
    V one = LLVMConstBitCast(const_splat(const_int(m, 32, 1), lanes_of(count)), type_like(type_f32(m), count));

    one = LLVMBuildBitCast(m->b, op_intrinsic1(m, "llvm.arithmetic.fence", one), type, "");
    return LLVMBuildSelect(m->b, condition, LLVMBuildAdd(m->b, count, one, ""), count, "");
}

bool avx512_has_scale(const struct build *m, V like)
{
    return m->isa->scaling && has_lanes(like);
}

V avx512_scale(const struct build *m, V x, V n)
{
    V args[2] = {x, n};
    return avx512_operation(m, "mask.scalef", args, 2, -1);
}

bool avx512_has_divide(const struct build *m, V like)
{
    return m->isa->slow_division && lanes_of(like) >= 16 && has_lanes(like);
}

V avx512_divide(const struct build *m, V a, V b)
{
    V r = avx512_operation(m, "rcp14", &b, 1, -1), minus = LLVMBuildFNeg(m->b, b, "");
    r = op_mad(m, op_mad(m, minus, r, const_f_like(m, a, 1)), r, r);
    V q = LLVMBuildFMul(m->b, a, r, "");
    return op_mad(m, op_mad(m, minus, q, a), r, q);
}
