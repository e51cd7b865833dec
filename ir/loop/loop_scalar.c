/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Computes single lanes of the loop language's operations: for the builder, which folds constants, and for the interpreter.
 */
#include <math.h>
#include <string.h>

#include "ir/loop/loop.h"
#include "ir/support/number.h"

static uint64_t cut(enum loop_element element, uint64_t bits)
{
    const uint32_t count = loop_element_bits(element);

    return count < 64 ? bits & ((UINT64_C(1) << count) - 1) : bits;
}

static int64_t extend(enum loop_element element, uint64_t bits)
{
    const uint32_t left = 64 - loop_element_bits(element);

    return (int64_t)(bits << left) >> left;
}

static double float_of(enum loop_element element, uint64_t bits)
{
    float narrow;
    double wide;
    uint32_t low = (uint32_t)bits;

    memcpy(&narrow, &low, sizeof narrow);
    memcpy(&wide, &bits, sizeof wide);
    return element == LOOP_F32 ? (double)narrow : wide;
}

/* Returns the bits of a number, rounded to float32 if it is one; of float32's arithmetic in double that is the only rounding
 * that shows, but for FMA and SCALE. */
static uint64_t bits_of(enum loop_element element, double value)
{
    const float narrow = (float)value;
    uint64_t bits = 0;

    if (element == LOOP_F32)
        memcpy(&bits, &narrow, sizeof narrow);
    else
        memcpy(&bits, &value, sizeof value);
    return bits;
}

static bool int_scalar(enum loop_op op, enum loop_element from, uint64_t a, uint64_t b, uint64_t *out)
{
    const uint32_t bits = loop_element_bits(from);
    const int64_t x = extend(from, a), y = extend(from, b);
    const int64_t most = bits > 1 ? (int64_t)(UINT64_MAX >> (65 - bits)) : 0;
    int64_t sum;

    switch (op) {
    case LOOP_ADD:
        *out = a + b;
        break;
    case LOOP_SUB:
        *out = a - b;
        break;
    case LOOP_MUL:
        *out = a * b;
        break;
    case LOOP_SDIV:
        *out = y == 0 ? 0 : y == -1 ? 0 - a : (uint64_t)(x / y);
        break;
    case LOOP_UDIV:
        *out = b ? a / b : 0;
        break;
    case LOOP_UREM:
        *out = b ? a % b : 0;
        break;
    case LOOP_NEG:
        *out = 0 - a;
        break;
    case LOOP_ABS:
        *out = x < 0 ? 0 - a : a;
        break;
    case LOOP_SMIN:
        *out = x < y ? a : b;
        break;
    case LOOP_SMAX:
        *out = x > y ? a : b;
        break;
    case LOOP_UMIN:
        *out = a < b ? a : b;
        break;
    case LOOP_UMAX:
        *out = a > b ? a : b;
        break;
    case LOOP_ADD_SATURATED:
        if (__builtin_add_overflow(x, y, &sum))
            sum = x < 0 ? INT64_MIN : INT64_MAX;
        *out = (uint64_t)(sum > most ? most : sum < -most - 1 ? -most - 1 : sum);
        break;
    case LOOP_AND:
        *out = a & b;
        break;
    case LOOP_OR:
        *out = a | b;
        break;
    case LOOP_XOR:
        *out = a ^ b;
        break;
    case LOOP_SHL:
        *out = b < bits ? a << b : 0;
        break;
    case LOOP_LSHR:
        *out = b < bits ? a >> b : 0;
        break;
    case LOOP_ASHR:
        *out = b < bits ? (uint64_t)(x >> b) : 0;
        break;
    case LOOP_EQ:
        *out = a == b;
        break;
    case LOOP_NE:
        *out = a != b;
        break;
    case LOOP_LT:
        *out = x < y;
        break;
    case LOOP_LE:
        *out = x <= y;
        break;
    case LOOP_GT:
        *out = x > y;
        break;
    case LOOP_GE:
        *out = x >= y;
        break;
    case LOOP_ULT:
        *out = a < b;
        break;
    case LOOP_ULE:
        *out = a <= b;
        break;
    case LOOP_UGE:
        *out = a >= b;
        break;
    case LOOP_TRUNC:
    case LOOP_ZEXT:
    case LOOP_FENCE:
        *out = a;
        break;
    case LOOP_SEXT:
        *out = (uint64_t)x;
        break;
    default:
        return false;
    }
    return true;
}

static double extreme(bool largest, double x, double y)
{
    if (x == y)
        return !signbit(x) == largest ? x : y;
    return largest ? (x > y ? x : y) : (x < y ? x : y);
}

static bool float_scalar(enum loop_op op, enum loop_element from, const uint64_t *args, uint64_t *out)
{
    const double x = float_of(from, args[0]), y = float_of(from, args[1]), z = float_of(from, args[2]);
    const bool is_nan = isnan(x) || isnan(y);
    double r;

    switch (op) {
    case LOOP_ADD:
        r = x + y;
        break;
    case LOOP_SUB:
        r = x - y;
        break;
    case LOOP_MUL:
        r = x * y;
        break;
    case LOOP_DIV:
        r = x / y;
        break;
    case LOOP_NEG:
        *out = args[0] ^ UINT64_C(1) << (loop_element_bits(from) - 1);
        return true;
    case LOOP_ABS:
        *out = args[0] & ~(UINT64_C(1) << (loop_element_bits(from) - 1));
        return true;
    case LOOP_MINIMUM:
        r = is_nan ? x + y : extreme(false, x, y);
        break;
    case LOOP_MAXIMUM:
        r = is_nan ? x + y : extreme(true, x, y);
        break;
    case LOOP_MINIMUM_NUMBER:
        r = isnan(x) ? y : isnan(y) ? x : extreme(false, x, y);
        break;
    case LOOP_MAXIMUM_NUMBER:
        r = isnan(x) ? y : isnan(y) ? x : extreme(true, x, y);
        break;
    case LOOP_COPY_SIGN:
        r = copysign(x, y);
        break;
    case LOOP_SQRT:
        r = sqrt(x);
        break;
    case LOOP_FLOOR:
        r = floor(x);
        break;
    case LOOP_CEIL:
        r = ceil(x);
        break;
    case LOOP_ROUND_EVEN:
        r = isfinite(x) ? x - remainder(x, 1) : x;
        r = r == 0 ? copysign(r, x) : r;
        break;
    case LOOP_FMA:
    case LOOP_RELAXED_FMA:
        r = from == LOOP_F32 ? (double)fmaf((float)x, (float)y, (float)z) : fma(x, y, z);
        break;
    case LOOP_SCALE: /* beyond any exponent there is nothing else; whole numbers below fit an int */
        r = isnan(y) ? y : y > 4096 ? ldexp(x, 4096) : y < -4096 ? ldexp(x, -4096) : ldexp(x, (int)floor(y));
        break;
    case LOOP_ESTIMATE:
        r = 1 / x;
        break;
    case LOOP_EQ:
        *out = x == y;
        return true;
    case LOOP_NE:
        *out = !(x == y);
        return true;
    case LOOP_LT:
        *out = x < y;
        return true;
    case LOOP_LE:
        *out = x <= y;
        return true;
    case LOOP_GT:
        *out = x > y;
        return true;
    case LOOP_GE:
        *out = x >= y;
        return true;
    case LOOP_UNORDERED:
        *out = is_nan;
        return true;
    case LOOP_FENCE:
        *out = args[0];
        return true;
    default:
        return false;
    }
    *out = bits_of(from, r);
    return true;
}

/* Truncates to an integer; what does not fit gives the least one. */
static uint64_t to_int(enum loop_element to, double x)
{
    const double limit = ldexp(1, (int)loop_element_bits(to) - 1);

    return x > -limit - 1 && x < limit ? (uint64_t)(int64_t)x : UINT64_C(1) << (loop_element_bits(to) - 1);
}

bool loop_scalar(enum loop_op op, enum loop_element to, enum loop_element from, const uint64_t args[3], uint64_t *out)
{
    const double x = float_of(from, args[0]);
    bool known = true;

    switch (op) {
    case LOOP_SELECT:
        *out = args[0] & 1 ? args[1] : args[2];
        break;
    case LOOP_FPTRUNC:
    case LOOP_FPEXT:
        *out = bits_of(to, x);
        break;
    case LOOP_SITOFP:
        *out = to == LOOP_F32 ? bits_of(to, (double)(float)extend(from, args[0])) : bits_of(to, (double)extend(from, args[0]));
        break;
    case LOOP_UITOFP:
        *out = to == LOOP_F32 ? bits_of(to, (double)(float)args[0]) : bits_of(to, (double)args[0]);
        break;
    case LOOP_FPTOSI:
        *out = to_int(to, x);
        break;
    case LOOP_FPTOUI:
        *out = x > -1 && x < ldexp(1, (int)loop_element_bits(to)) ? (uint64_t)x : 0;
        break;
    case LOOP_TO_NEAREST:
        *out = isfinite(x) ? to_int(to, x - remainder(x, 1)) : UINT64_C(1) << 31;
        break;
    case LOOP_FROM_F16:
        *out = bits_of(LOOP_F32, (double)f16_to_f32((uint16_t)args[0]));
        break;
    case LOOP_TO_F16:
        *out = f32_to_f16((float)x);
        break;
    case LOOP_TO_BF16:
        *out = f64_to_bf16(x);
        break;
    case LOOP_BITCAST:
        known = loop_element_bits(to) == loop_element_bits(from);
        *out = args[0];
        break;
    default:
        known = loop_element_is_float(from) ? float_scalar(op, from, args, out) : int_scalar(op, from, args[0], args[1], out);
    }
    *out = known ? cut(to, *out) : 0;
    return known;
}
