/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Does the specification's "cast" of numbers (section Casting), and handles float16 as its bits.
 *
 * Integers never pass through a double on their way, so that 64-bit values keep every digit.
 */
#include "ir/support/number.h"

#include <string.h>

/* ---- float16 ---- */

float f16_to_f32(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 0x1F, mantissa = h & 0x3FF, bits;
    float f;

    if (exponent == 0) {
        /* The number is zero or subnormal: mantissa * 2^-24 is exact. */
        f = (float)mantissa * 0x1p-24f;
        memcpy(&bits, &f, sizeof bits);
        bits |= sign;
    } else if (exponent == 0x1F) {
        bits = sign | 0x7F800000u | mantissa << 13 | (mantissa ? 0x400000u : 0);
    } else {
        bits = sign | (exponent + 127 - 15) << 23 | mantissa << 13;
    }
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* Rounds a magnitude that is finite to a format whose fraction has so many bits, with this bias of the exponent, which has as
 * many bits as it takes: exponent and fraction as one number, so that a carry out of the fraction moves to the next exponent,
 * and from the largest one to what stands for infinity. */
static uint64_t round_magnitude(double d, int fraction, int bias)
{
    uint64_t bits;

    memcpy(&bits, &d, sizeof bits);
    int exponent = (int)(bits >> 52 & 0x7FF) - 1023, least = 1 - bias;
    if (exponent < least - fraction - 1)
        return 0; /* below half of the smallest subnormal; the half itself is a tie, settled below */
    uint64_t mantissa = (bits & 0xFFFFFFFFFFFFFull) | 1ull << 52;
    /* This keeps the fraction's bits, fewer below the normal range. */
    int shift = 52 - fraction + (exponent >= least ? 0 : least - exponent);
    uint64_t h = (mantissa >> shift) + (exponent >= least ? (uint64_t)(exponent - least) << fraction : 0);
    uint64_t rest = mantissa & ((1ull << shift) - 1), half = 1ull << (shift - 1);
    return h + (rest > half || (rest == half && (h & 1)));
}

/* Rounds to a format of 16 bits, of which `fraction` are the number's fraction and those before it the exponent with this
 * bias. */
static uint16_t f64_to_low_precision(double d, int fraction, int bias)
{
    uint64_t bits;

    memcpy(&bits, &d, sizeof bits);
    uint16_t sign = (uint16_t)(bits >> 48 & 0x8000);
    uint16_t infinity = (uint16_t)(sign | (2 * bias + 1) << fraction);
    uint64_t mantissa = bits & 0xFFFFFFFFFFFFFull;

    if (isnan(d))
        return (uint16_t)(infinity | 1u << (fraction - 1) | mantissa >> (52 - fraction));
    if (!(fabs(d) < ldexp(1, bias + 1)))
        return infinity;
    return (uint16_t)(sign | round_magnitude(fabs(d), fraction, bias));
}

uint16_t f64_to_f16(double d)
{
    return f64_to_low_precision(d, 10, 15);
}

uint16_t f64_to_bf16(double d)
{
    if (fabs(d) < 0x1p-126)
        return signbit(d) ? 0x8000 : 0;
    return f64_to_low_precision(d, 7, 127);
}

uint16_t f32_to_f16(float f)
{
    return f64_to_f16((double)f); /* exact, so there is one rounding */
}

/* ---- floats of 8 bits ---- */

uint8_t f64_to_f8(double d, dtype t)
{
    const bool wide = t == DTYPE_FLOAT8E5M2;
    const double top = wide ? FLOAT8E5M2_TOP : FLOAT8E4M3_TOP, size = fabs(d) < top ? fabs(d) : top;

    return (uint8_t)((signbit(d) ? 0x80 : 0) | (isnan(d) ? 0x7F : round_magnitude(size, wide ? 2 : 3, wide ? 15 : 7)));
}

float f8_to_f32(uint8_t b, dtype t)
{
    if (t == DTYPE_FLOAT8E5M2) /* the upper half of a float16 */
        return f16_to_f32((uint16_t)(b << 8));
    return (b & 0x7F) == 0x7F ? (b & 0x80 ? -NAN : NAN) : f16_to_f32((uint16_t)((b & 0x80) << 8 | (b & 0x7F) << 7)) * 0x1p8F;
}

float bf16_to_f32(uint16_t h)
{
    uint32_t bits = (uint32_t)h << 16;
    float f;

    memcpy(&f, &bits, sizeof f);
    return f;
}

float f32_round(float f, dtype t)
{
    return scalar_widen(scalar_narrow((union scalar){.f32 = f}, t), t).f32;
}

union scalar scalar_widen(union scalar s, dtype t)
{
    if (t == WNNOperandDataType_Float16)
        s.f32 = f16_to_f32(s.f16);
    else if (t == DTYPE_BFLOAT16)
        s.f32 = bf16_to_f32(s.f16);
    return s; /* floats of 8 bits are bytes in kernels */
}

union scalar scalar_narrow(union scalar s, dtype t)
{
    if (t == WNNOperandDataType_Float16)
        s.f16 = f32_to_f16(s.f32);
    else if (t == DTYPE_BFLOAT16)
        s.f16 = f64_to_bf16((double)s.f32);
    return s;
}

/* ---- numbers ---- */

double number_to_double(WNNNumber n)
{
    switch (n.type) {
    case WNNNumberType_Float64:
        return n.value.float64;
    case WNNNumberType_Int64:
        return (double)n.value.int64;
    case WNNNumberType_Uint64:
        return (double)n.value.uint64;
    case WNNNumberType_Undefined:
    case WNNNumberType_Force32:
        break;
    }
    return NAN;
}

/* Rounds to the nearest integer, ties to even, whatever rounding mode the caller's thread has. */
static double round_even(double x)
{
    double lower = floor(x), rest = x - lower;

    if (rest > 0.5 || (rest == 0.5 && fmod(lower, 2.0) != 0.0))
        lower += 1.0;
    return lower;
}

/* Does ConvertToInt for signed types and for unsigned ones below 64 bits; lowest and highest are the type's. */
static int64_t to_signed(WNNNumber n, int64_t lowest, int64_t highest)
{
    if (n.type == WNNNumberType_Int64)
        return n.value.int64 < lowest ? lowest : n.value.int64 > highest ? highest : n.value.int64;
    if (n.type == WNNNumberType_Uint64)
        return n.value.uint64 > (uint64_t)highest ? highest : (int64_t)n.value.uint64;

    double x = number_to_double(n);
    if (isnan(x))
        return 0;
    if (x <= (double)lowest)
        return lowest;
    if (x >= (double)highest) /* INT64_MAX becomes 2^63 as a double: the first value out of range */
        return highest;
    return (int64_t)round_even(x);
}

static uint64_t to_uint64(WNNNumber n)
{
    if (n.type == WNNNumberType_Int64)
        return n.value.int64 < 0 ? 0 : (uint64_t)n.value.int64;
    if (n.type == WNNNumberType_Uint64)
        return n.value.uint64;

    double x = number_to_double(n);
    if (!(x > 0.0)) /* NaN, too */
        return 0;
    if (x >= 0x1p64)
        return UINT64_MAX;
    return (uint64_t)round_even(x);
}

static float to_float32(WNNNumber n)
{
    if (n.type == WNNNumberType_Int64)
        return (float)n.value.int64;
    if (n.type == WNNNumberType_Uint64)
        return (float)n.value.uint64;
    return (float)number_to_double(n);
}

static uint16_t to_float16(WNNNumber n)
{
    /* Integers are cut to 2^16, which is infinity for float16, before they become doubles; they are exact below. */
    if (n.type == WNNNumberType_Int64 || n.type == WNNNumberType_Uint64)
        return f64_to_f16((double)to_signed(n, -65536, 65536));
    return f64_to_f16(number_to_double(n));
}

union scalar number_cast(WNNNumber n, dtype t)
{
    static const struct {
        int64_t low, high;
    } ranges[DTYPE_END] = {
        [WNNOperandDataType_Int32] = {INT32_MIN, INT32_MAX}, [WNNOperandDataType_Uint32] = {0, UINT32_MAX},
        [WNNOperandDataType_Int64] = {INT64_MIN, INT64_MAX}, [WNNOperandDataType_Int8] = {INT8_MIN, INT8_MAX},
        [WNNOperandDataType_Uint8] = {0, UINT8_MAX},         [DTYPE_INT16] = {INT16_MIN, INT16_MAX},
    };
    union scalar s = {.u64 = 0};

    switch ((int)t) {
    case WNNOperandDataType_Float32:
        s.f32 = to_float32(n);
        break;
    case WNNOperandDataType_Float16:
        s.f16 = to_float16(n);
        break;
    case DTYPE_BFLOAT16:
        s.f16 = f64_to_bf16(number_to_double(n)); /* no whole number becomes one */
        break;
    case DTYPE_FLOAT8E4M3:
    case DTYPE_FLOAT8E5M2:
        s.u8 = f64_to_f8(number_to_double(n), t);
        break;
    case DTYPE_FLOAT64:
        s.f64 = number_to_double(n);
        break;
    case WNNOperandDataType_Uint64:
        s.u64 = to_uint64(n);
        break;
    default:
        if (dtype_is_public(t) || t == DTYPE_INT16)
            s.u64 = (uint64_t)to_signed(n, ranges[t].low, ranges[t].high) & UINT64_MAX >> (64 - 8 * dtype_size(t));
    }
    return s;
}

double scalar_to_double(union scalar s, dtype t)
{
    switch ((int)t) {
    case WNNOperandDataType_Float32:
        return (double)s.f32;
    case WNNOperandDataType_Float16:
        return (double)f16_to_f32(s.f16);
    case DTYPE_BFLOAT16:
        return (double)bf16_to_f32(s.f16);
    case DTYPE_FLOAT8E4M3:
    case DTYPE_FLOAT8E5M2:
        return (double)f8_to_f32(s.u8, t);
    case DTYPE_FLOAT64:
        return s.f64;
    case WNNOperandDataType_Int32:
        return (double)s.i32;
    case WNNOperandDataType_Uint32:
        return (double)s.u32;
    case WNNOperandDataType_Int64:
        return (double)s.i64;
    case WNNOperandDataType_Uint64:
        return (double)s.u64;
    case WNNOperandDataType_Int8:
        return (double)s.i8;
    case DTYPE_INT16:
        return (double)(int16_t)s.f16;
    case WNNOperandDataType_Uint8:
        return (double)s.u8;
    default:
        return NAN;
    }
}

double number_extreme(bool largest, double a, double b)
{
    if (isnan(a) || isnan(b))
        return NAN;
    if (a == b)
        return !signbit(a) == largest ? a : b;
    return (a > b) == largest ? a : b;
}

uint64_t number_power(bool is_signed, int64_t base, int64_t exponent)
{
    uint64_t result = 1, square = (uint64_t)base;

    if (is_signed && exponent < 0)
        return base == 1 ? 1 : base == -1 ? (exponent & 1 ? UINT64_MAX : 1) : 0;
    for (uint64_t n = (uint64_t)exponent; n; n >>= 1) {
        if (n & 1)
            result *= square;
        square *= square;
    }
    return result;
}
