/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits instructions of AVX-512 that LLVM has no operation for.
 */
#include "codegen/lower/scalar.h"

/* Returns whether there are vectors of so many lanes, or several make one. */
static bool has_lanes(V like)
{
    uint32_t lanes = lanes_of(like);
    return lanes == 4 || lanes == 8 || lanes == 16 || lanes == 32 || lanes == 64;
}

/* Emits one of the instructions on all lanes; more than 16 lanes are several vectors. */
static V avx512_operation(const struct build *m, enum loop_op op, const V *args, uint32_t count)
{
    const uint32_t lanes = lanes_of(args[0]);
    V halves[2], half[2];

    if (lanes <= 16)
        return loop_add(m->b, op, 0, args, count, 0);
    for (uint32_t h = 0; h < 2; h++) {
        for (uint32_t i = 0; i < count; i++)
            half[i] = op_lanes(m, args[i], NULL, lanes / 2 * h, lanes / 2);
        halves[h] = avx512_operation(m, op, half, count);
    }
    return op_lanes(m, halves[0], halves[1], 0, lanes);
}

bool avx512_has_extreme(const struct build *m, V like)
{
    return m->isa->scaling && has_lanes(like);
}

V avx512_extreme_number(const struct build *m, bool largest, V a, V b)
{
    V args[2] = {a, b};
    return avx512_operation(m, largest ? LOOP_MAXIMUM_NUMBER : LOOP_MINIMUM_NUMBER, args, 2);
}

V avx512_extreme(const struct build *m, bool largest, V a, V b)
{
    V one = avx512_extreme_number(m, largest, a, b);
    V is_nan = op_unordered(m, a, b);
    return op_select(m, is_nan, op_add(m, a, b), one);
}

bool avx512_has_count(const struct build *m, V like)
{
    return avx512_has_extreme(m, like) && element_type(like) == type_i32;
}

/* LLVM makes a vector of the condition's mask and adds that: a third instruction.  It does not where it cannot know that what
 * is added is 1. */
V avx512_count(const struct build *m, V count, V condition)
{
    V one = op_fence(m, const_int_like(m, count, 1));

    return op_select(m, condition, op_add(m, count, one), count);
}

V avx512_scale(const struct build *m, V x, V n)
{
    V args[2] = {x, n};
    return avx512_operation(m, LOOP_SCALE, args, 2);
}

V avx512_fraction(const struct build *m, V x)
{
    return avx512_operation(m, LOOP_FRACTION, &x, 1);
}

bool avx512_has_divide(const struct build *m, V like)
{
    return m->isa->slow_division && lanes_of(like) >= 16 && has_lanes(like);
}

V avx512_divide(const struct build *m, V a, V b)
{
    V r = avx512_operation(m, LOOP_ESTIMATE, &b, 1), minus = op_neg(m, b);
    r = op_mad(m, op_mad(m, minus, r, const_f_like(m, a, 1)), r, r);
    V q = op_mul(m, a, r);
    return op_mad(m, op_mad(m, minus, q, a), r, q);
}
