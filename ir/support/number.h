/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares scalars of all data types, the specification's "cast" of numbers, and float16 and bfloat16 as their bits.
 */
#pragma once

#include <math.h>

#include "ir/support/dtype.h"

/** Holds the bits of a scalar of any data type. */
union scalar {
    double f64;
    float f32;
    uint16_t f16;
    int32_t i32;
    uint32_t u32;
    int64_t i64;
    uint64_t u64;
    int8_t i8;
    uint8_t u8;
};

/** Casts a number as the specification's "cast" does: saturating, to nearest even, NaN to 0. */
union scalar number_cast(WNNNumber n, dtype t);
/** Returns a number as a double, rounded to nearest even where it must be. */
double number_to_double(WNNNumber n);
/** Converts the bits of a float16 number, exactly. */
float f16_to_f32(uint16_t h);
/** Rounds to nearest even; subnormals, infinities and NaN are kept. */
uint16_t f32_to_f16(float f);
/** Does the same with a double, which is rounded once. */
uint16_t f64_to_f16(double d);
/** Converts the bits of a bfloat16 number, exactly. */
float bf16_to_f32(uint16_t h);
/** Rounds to nearest even; infinities and NaN are kept.  Subnormal float32 numbers become zeros, as by processors'
 * instructions. */
uint16_t f64_to_bf16(double d);
/** The largest finite numbers of the types of 8 bits. */
#define FLOAT8E4M3_TOP 448.0
#define FLOAT8E5M2_TOP 57344.0
/** Converts the bits of a float of 8 bits, exactly. */
float f8_to_f32(uint8_t b, dtype t);
/** Rounds to nearest even; larger numbers and infinities saturate to the largest; NaN is kept. */
uint8_t f64_to_f8(double d, dtype t);
/** Rounds a number to a low-precision type (dtype_is_low_precision); the result is float32. */
float f32_round(float f, dtype t);
/** Converts an element in memory to the type of computations: low-precision floats become float32, all others stay. */
union scalar scalar_widen(union scalar s, dtype t);
/** Converts back, and rounds. */
union scalar scalar_narrow(union scalar s, dtype t);
/** Returns an element as a double, and NaN if the type is none. */
double scalar_to_double(union scalar s, dtype t);

/** Returns whether a number is -0. */
static inline bool is_negative_zero(double x)
{
    return x == 0 && signbit(x);
}
/** Returns the greater or the lesser of two numbers, and NaN if either is (IEEE 754-2019 maximum and minimum: -0 < +0). */
double number_extreme(bool largest, double a, double b);
/**
 * Returns the low bits of an integer to the power of another, which is without a sign unless is_signed.  A negative exponent
 * truncates the exact value; 0 to a negative power is 0.
 */
uint64_t number_power(bool is_signed, int64_t base, int64_t exponent);
/** Returns a / b rounded up; b is above 0. */
static inline int64_t ceil_div(int64_t a, int64_t b)
{
    return a / b + (a % b > 0);
}

/** Returns the greatest common divisor of two numbers, which is not negative. */
static inline int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}
