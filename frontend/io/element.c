/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Elements of arrays as doubles.  Data need no alignment: every access is a copy of the element's bytes. */
#include "frontend/io/element.h"

#include <math.h>
#include <string.h>

/* A float16 is sign, 5 bits of exponent (bias 15), 10 of fraction. */
static double from_half(uint16_t bits)
{
    int exponent = bits >> 10 & 31;
    double fraction = bits & 1023, value;

    if (exponent == 31)
        value = fraction > 0 ? (double)NAN : (double)INFINITY;
    else
        value = exponent ? ldexp(fraction + 1024, exponent - 25) : ldexp(fraction, -24);
    return bits & 0x8000 ? -value : value;
}

static uint16_t to_half(double value)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    double size = fabs(value), fraction;
    int exponent;

    if (isnan(value))
        return 0x7E00;
    if (size >= 65520) /* half a step above the largest number */
        return sign | 0x7C00;
    if (size == 0)
        return sign;
    /* The step between neighbours is 2^(exponent - 11) for numbers below 2^exponent, 2^-24 for the smallest ones. */
    frexp(size, &exponent);
    if (exponent < -13)
        exponent = -13;
    fraction = nearbyint(ldexp(size, 11 - exponent)); /* up to 2048: carries into the exponent by itself */
    return (uint16_t)(sign + (uint16_t)(((exponent + 13) << 10) + (int)fraction));
}

double element_get(WNNOperandDataType type, const void *data, size_t index)
{
    const char *at = (const char *)data + index * wnnOperandDataTypeGetByteSize(type);
    union {
        float f32;
        uint16_t f16;
        int32_t i32;
        uint32_t u32;
        int64_t i64;
        uint64_t u64;
        int8_t i8;
        uint8_t u8;
    } x;

    memcpy(&x, at, wnnOperandDataTypeGetByteSize(type));
    switch ((int)type) {
    case WNNOperandDataType_Float32:
        return (double)x.f32;
    case WNNOperandDataType_Float16:
        return from_half(x.f16);
    case WNNOperandDataType_Int32:
        return (double)x.i32;
    case WNNOperandDataType_Uint32:
        return (double)x.u32;
    case WNNOperandDataType_Int64:
        return (double)x.i64;
    case WNNOperandDataType_Uint64:
        return (double)x.u64;
    case WNNOperandDataType_Int8:
        return (double)x.i8;
    case WNNOperandDataType_Uint8:
        return (double)x.u8;
    }
    return 0;
}

/* Rounded and kept between low and high, both of which a double holds exactly. */
static double integer_in(double value, double low, double high)
{
    value = isnan(value) ? 0 : nearbyint(value);
    return value < low ? low : value > high ? high : value;
}

void element_set(WNNOperandDataType type, void *data, size_t index, double value)
{
    char *at = (char *)data + index * wnnOperandDataTypeGetByteSize(type);
    const double above_int64 = 0x1p63, above_uint64 = 0x1p64;
    union {
        float f32;
        uint16_t f16;
        int32_t i32;
        uint32_t u32;
        int64_t i64;
        uint64_t u64;
        int8_t i8;
        uint8_t u8;
    } x = {0};

    switch ((int)type) {
    case WNNOperandDataType_Float32:
        x.f32 = (float)value;
        break;
    case WNNOperandDataType_Float16:
        x.f16 = to_half(value);
        break;
    case WNNOperandDataType_Int32:
        x.i32 = (int32_t)integer_in(value, INT32_MIN, INT32_MAX);
        break;
    case WNNOperandDataType_Uint32:
        x.u32 = (uint32_t)integer_in(value, 0, UINT32_MAX);
        break;
    case WNNOperandDataType_Int64:
        value = integer_in(value, -above_int64, above_int64);
        x.i64 = value >= above_int64 ? INT64_MAX : (int64_t)value;
        break;
    case WNNOperandDataType_Uint64:
        value = integer_in(value, 0, above_uint64);
        x.u64 = value >= above_uint64 ? UINT64_MAX : (uint64_t)value;
        break;
    case WNNOperandDataType_Int8:
        x.i8 = (int8_t)integer_in(value, INT8_MIN, INT8_MAX);
        break;
    case WNNOperandDataType_Uint8:
        x.u8 = (uint8_t)integer_in(value, 0, UINT8_MAX);
        break;
    }
    memcpy(at, &x, wnnOperandDataTypeGetByteSize(type));
}

bool element_is_float(WNNOperandDataType type)
{
    return type == WNNOperandDataType_Float32 || type == WNNOperandDataType_Float16;
}
