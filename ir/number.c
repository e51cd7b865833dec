/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Numbers: the specification's "cast" (section Casting), and float16 as its bits.
 *
 * Integers never pass through a double on their way, so that 64-bit values keep every digit.
 */
#include "ir/ir.h"

#include <math.h>
#include <string.h>

/* ---- float16 ---- */

float f16_to_f32(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 0x1F, mantissa = h & 0x3FF, bits;
    float f;

    if (exponent == 0) {
        /* zero or subnormal: mantissa * 2^-24 is exact */
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

uint16_t f64_to_f16(double d)
{
    uint64_t bits;

    memcpy(&bits, &d, sizeof bits);
    uint16_t sign = (uint16_t)(bits >> 48 & 0x8000);
    int exponent = (int)(bits >> 52 & 0x7FF) - 1023;
    uint64_t mantissa = bits & 0xFFFFFFFFFFFFFull;

    if (exponent == 1024)
        return (uint16_t)(sign | 0x7C00 | (mantissa ? 0x200 | mantissa >> 42 : 0));
    if (exponent > 15)
        return sign | 0x7C00;
    if (exponent < -25)
        return sign; /* below half of the smallest subnormal; 2^-25 itself is a tie, settled below */

    mantissa |= 1ull << 52;
    /* Keep 10 fraction bits, fewer below the normal range; h is exponent and fraction as one number, so that a carry
       out of the fraction moves to the next exponent, and from the largest one to infinity. */
    int shift = exponent >= -14 ? 42 : 42 + (-14 - exponent);
    uint64_t h = (mantissa >> shift) + (exponent >= -14 ? (uint64_t)(exponent + 14) << 10 : 0);
    uint64_t rest = mantissa & ((1ull << shift) - 1), half = 1ull << (shift - 1);
    if (rest > half || (rest == half && (h & 1)))
        h++;
    return (uint16_t)(sign | h);
}

uint16_t f32_to_f16(float f)
{
    return f64_to_f16((double)f); /* exact, so there is one rounding */
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

/* To the nearest integer, ties to even, whatever rounding mode the caller's thread has. */
static double round_even(double x)
{
    double lower = floor(x), rest = x - lower;

    if (rest > 0.5 || (rest == 0.5 && fmod(lower, 2.0) != 0.0))
        lower += 1.0;
    return lower;
}

/* ConvertToInt for signed types and for unsigned ones below 64 bits; lowest and highest as the type has them. */
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
    /* Integers are cut to 2^16, infinity for float16, before they become doubles: exact below. */
    if (n.type == WNNNumberType_Int64 || n.type == WNNNumberType_Uint64)
        return f64_to_f16((double)to_signed(n, -65536, 65536));
    return f64_to_f16(number_to_double(n));
}

union scalar number_cast(WNNNumber n, dtype t)
{
    union scalar s = {.u64 = 0};

    switch (t) {
    case WNNOperandDataType_Float32:
        s.f32 = to_float32(n);
        break;
    case WNNOperandDataType_Float16:
        s.f16 = to_float16(n);
        break;
    case WNNOperandDataType_Int32:
        s.i32 = (int32_t)to_signed(n, INT32_MIN, INT32_MAX);
        break;
    case WNNOperandDataType_Uint32:
        s.u32 = (uint32_t)to_signed(n, 0, UINT32_MAX);
        break;
    case WNNOperandDataType_Int64:
        s.i64 = to_signed(n, INT64_MIN, INT64_MAX);
        break;
    case WNNOperandDataType_Uint64:
        s.u64 = to_uint64(n);
        break;
    case WNNOperandDataType_Int8:
        s.i8 = (int8_t)to_signed(n, INT8_MIN, INT8_MAX);
        break;
    case WNNOperandDataType_Uint8:
        s.u8 = (uint8_t)to_signed(n, 0, UINT8_MAX);
        break;
    case WNNOperandDataType_Undefined:
    case WNNOperandDataType_Force32:
        break;
    }
    return s;
}

double scalar_to_double(union scalar s, dtype t)
{
    switch (t) {
    case WNNOperandDataType_Float32:
        return (double)s.f32;
    case WNNOperandDataType_Float16:
        return (double)f16_to_f32(s.f16);
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
    case WNNOperandDataType_Uint8:
        return (double)s.u8;
    case WNNOperandDataType_Undefined:
    case WNNOperandDataType_Force32:
        break;
    }
    return NAN;
}
