/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Computes single lanes of the loop language's operations, as loop_ops.def says: for the builder, which folds constants, and
 * for the interpreter.
 */
#include <math.h>

#include "ir/loop/loop_internal.h"
#include "ir/support/number.h"

static double float_of(enum loop_element element, uint64_t bits)
{
    const union scalar s = {.u64 = bits};

    return element == LOOP_F32 ? (double)s.f32 : s.f64;
}

/* Returns the bits of a number, rounded to float32 if it is one; of float32's arithmetic in double that is the only rounding
 * that shows, but for FMA and SCALE. */
static uint64_t rounded(enum loop_element element, double value)
{
    union scalar s = {.u64 = 0};

    if (element == LOOP_F32)
        s.f32 = (float)value;
    else
        s.f64 = value;
    return s.u64;
}

static int64_t add_saturated(uint32_t bits, int64_t x, int64_t y)
{
    const int64_t most = (int64_t)((UINT64_C(1) << (bits - 1)) - 1);
    int64_t sum;

    if (__builtin_add_overflow(x, y, &sum))
        sum = x < 0 ? INT64_MIN : INT64_MAX;
    return sum > most ? most : sum < -most - 1 ? -most - 1 : sum;
}

static double round_even(double x)
{
    return isfinite(x) ? copysign(x - remainder(x, 1), x) : x;
}

static double fused(enum loop_element element, double x, double y, double z)
{
    return element == LOOP_F32 ? (double)fmaf((float)x, (float)y, (float)z) : fma(x, y, z);
}

/* Beyond any exponent there is nothing else, and whole numbers below fit an int. */
static double scaled(double x, double y)
{
    return isnan(y) ? y : ldexp(x, (int)floor(fmin(fmax(y, -4096), 4096)));
}

/* Truncates to an integer; what does not fit gives the least one. */
static uint64_t to_int(enum loop_element to, double x)
{
    const double limit = ldexp(1, (int)loop_element_bits(to) - 1);

    return x > -limit - 1 && x < limit ? (uint64_t)(int64_t)x : UINT64_C(1) << (loop_element_bits(to) - 1);
}

static uint64_t to_unsigned(enum loop_element to, double x)
{
    return x > -1 && x < ldexp(1, (int)loop_element_bits(to)) ? (uint64_t)x : 0;
}

#define UNKNOWN (*known = false, 0)

static uint64_t scalar(enum loop_op op, enum loop_element to, enum loop_element from, const uint64_t args[3], bool *known)
{
    const uint32_t bits = loop_element_bits(from);
    const uint64_t a = args[0], b = args[1], c = args[2], sign = UINT64_C(1) << (bits - 1);
    const int64_t i = loop_extend(from, a), j = loop_extend(from, b);
    const double x = float_of(from, a), y = float_of(from, b), z = float_of(from, c);
    const bool is_float = loop_element_is_float(from), same_bits = bits == loop_element_bits(to);

    switch (op) {
#define LOOP_OP(NAME, name, operands, result)
#define LOOP_BITS(NAME, name, operands, result, ints, floats)                                                                  \
    case LOOP_##NAME:                                                                                                          \
        return is_float ? (uint64_t)(floats) : (uint64_t)(ints);
#define LOOP_ROUND(NAME, name, operands, result, ints, floats)                                                                 \
    case LOOP_##NAME:                                                                                                          \
        return is_float ? rounded(from, floats) : (uint64_t)(ints);
#define LOOP_CONVERT(NAME, name, operands, fits, value)                                                                        \
    case LOOP_##NAME:                                                                                                          \
        return value;
#include "ir/loop/loop_ops.def"
    default:
        return UNKNOWN;
    }
}

bool loop_scalar(enum loop_op op, enum loop_element to, enum loop_element from, const uint64_t args[3], uint64_t *out)
{
    bool known = true;

    *out = loop_cut(to, scalar(op, to, from, args, &known));
    return known;
}
