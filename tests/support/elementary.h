/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * For tests of elementary functions: references, errors in units in the last place, and hard arguments.
 */
#pragma once

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ir/kernel/kernel.h"

static inline double elementary_sigmoid(double x)
{
    return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x));
}

/* The functions of one argument, and the same in float64, whose own error does not count. */
static const struct elementary {
    enum kop op;
    double (*reference)(double);
} elementary[] = {{K_EXP, exp},
                  {K_EXP2, exp2},
                  {K_EXPM1, expm1},
                  {K_LOG, log},
                  {K_LOG1P, log1p},
                  {K_SIN, sin},
                  {K_COS, cos},
                  {K_TAN, tan},
                  {K_TANH, tanh},
                  {K_ERF, erf},
                  {K_SIGMOID, elementary_sigmoid}};
enum { ELEMENTARY_COUNT = sizeof elementary / sizeof *elementary };

/** Returns the bits of a number. */
static inline uint32_t elementary_bits(float f)
{
    uint32_t b;
    memcpy(&b, &f, sizeof b);
    return b;
}

/** Returns the number of these bits. */
static inline float elementary_float(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/*
 * Returns the error of a result, in units in the last place of the exact one.  It is infinite if a NaN, an infinity or the
 * sign of a zero is wrong.
 */
static inline double ulp_error(float got, double exact)
{
    float rounded = (float)exact;
    int exponent;
    if (isnan(got) || isnan(exact))
        return isnan(got) && isnan(exact) ? 0 : INFINITY;
    if (got == rounded)
        return got == 0 && signbit(got) != signbit(rounded) ? INFINITY
               : isinf(got) || got == exact                 ? 0
                                                            : fmin(0.5, fabs(got - exact) / ldexp(1, -149));
    if (isinf(got)) /* infinity where the largest number is right is as far off as the next number would be */
        got = copysignf(3.4028235e38f, got), exact -= copysign(0x1p104, exact);
    if (isinf(exact))
        return INFINITY;
    frexp(exact, &exponent);
    return fabs(got - exact) / ldexp(1, exponent < -125 ? -149 : exponent > 128 ? 104 : exponent - 24);
}

/* At these a function changes its method, or its result its kind. */
static const float elementary_edges[] = {
    0.0f,       0x1p-149f,   0x1.fffffcp-127f, 0x1p-126f, 0x1p-24f, 0x1p-12f,   0.34657359f, 0.5f,      0.625f,
    0.6931472f, 0.70710677f, 0.78539819f,      0.95f,     1.0f,     1.4142135f, 1.5707964f,  2.0f,      3.1415927f,
    3.9192059f, 4.0f,        9.01091f,         17.32868f, 18.0f,    20.0f,      87.33654f,   88.72284f, 89.0f,
    89.41599f,  103.97208f,  104.5f,           65504.0f,  65520.0f, 8388608.0f, 16777216.0f, 0x1p26f,   0x1p31f,
    0x1p63f,    0x1p100f,    3.4028235e38f,    INFINITY,  NAN};
enum {
    ELEMENTARY_EDGES = sizeof elementary_edges / sizeof *elementary_edges,
    ELEMENTARY_NEAR = 64, /* numbers around each, of both signs */
    ELEMENTARY_HALVES = 1 << 16,
    ELEMENTARY_SPECIAL = ELEMENTARY_EDGES * 2 * ELEMENTARY_NEAR + ELEMENTARY_HALVES
};

/* Returns how many arguments there are: all numbers of float16, the numbers around the edges, then every step-th float32. */
static inline uint64_t elementary_arguments(uint32_t step)
{
    return ELEMENTARY_SPECIAL + (UINT64_C(1) << 32) / step + 1;
}

/** Returns the i-th argument, as bits. */
static inline uint32_t elementary_argument(uint64_t i, uint32_t step)
{
    if (i < ELEMENTARY_HALVES)
        return elementary_bits(f16_to_f32((uint16_t)i));
    i -= ELEMENTARY_HALVES;
    if (i < ELEMENTARY_EDGES * 2 * ELEMENTARY_NEAR) {
        float edge = elementary_edges[i / (2 * ELEMENTARY_NEAR)];
        return elementary_bits(i / ELEMENTARY_NEAR % 2 ? -edge : edge) + (uint32_t)(i % ELEMENTARY_NEAR) - ELEMENTARY_NEAR / 2;
    }
    return (uint32_t)((i - ELEMENTARY_EDGES * 2 * ELEMENTARY_NEAR) * step);
}

/*
 * Returns the step between arguments: 1 if the variable ELEMENTARY asks for "all", every float32, which takes hours where steps
 * are interpreted, else the usual one.  ELEMENTARY=print asks for the errors found.
 */
static inline uint32_t elementary_step(uint32_t usual)
{
    const char *option = getenv("ELEMENTARY");
    return option && strstr(option, "all") ? 1 : usual;
}
