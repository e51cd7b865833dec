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

static uint64_t add_saturated(uint32_t bits, int64_t x, int64_t y)
{
    const int64_t most = (int64_t)((UINT64_C(1) << (bits - 1)) - 1);
    int64_t sum;

    if (__builtin_add_overflow(x, y, &sum))
        sum = x < 0 ? INT64_MIN : INT64_MAX;
    return (uint64_t)(sum > most ? most : sum < -most - 1 ? -most - 1 : sum);
}

static uint64_t int_scalar(enum loop_op op, enum loop_element from, uint64_t a, uint64_t b, bool *known)
{
    const uint32_t bits = loop_element_bits(from);
    const int64_t x = extend(from, a), y = extend(from, b);

    switch (op) {
    case LOOP_ADD:
        return a + b;
    case LOOP_SUB:
        return a - b;
    case LOOP_MUL:
        return a * b;
    case LOOP_SDIV:
        return y == 0 ? 0 : y == -1 ? 0 - a : (uint64_t)(x / y);
    case LOOP_UDIV:
        return b ? a / b : 0;
    case LOOP_UREM:
        return b ? a % b : 0;
    case LOOP_NEG:
        return 0 - a;
    case LOOP_ABS:
        return x < 0 ? 0 - a : a;
    case LOOP_SMIN:
        return x < y ? a : b;
    case LOOP_SMAX:
        return x > y ? a : b;
    case LOOP_UMIN:
        return a < b ? a : b;
    case LOOP_UMAX:
        return a > b ? a : b;
    case LOOP_ADD_SATURATED:
        return add_saturated(bits, x, y);
    case LOOP_AND:
        return a & b;
    case LOOP_OR:
        return a | b;
    case LOOP_XOR:
        return a ^ b;
    case LOOP_SHL:
        return b < bits ? a << b : 0;
    case LOOP_LSHR:
        return b < bits ? a >> b : 0;
    case LOOP_ASHR:
        return b < bits ? (uint64_t)(x >> b) : 0;
    case LOOP_EQ:
        return a == b;
    case LOOP_NE:
        return a != b;
    case LOOP_LT:
        return x < y;
    case LOOP_LE:
        return x <= y;
    case LOOP_GT:
        return x > y;
    case LOOP_GE:
        return x >= y;
    case LOOP_ULT:
        return a < b;
    case LOOP_ULE:
        return a <= b;
    case LOOP_UGE:
        return a >= b;
    case LOOP_SEXT:
        return (uint64_t)x;
    case LOOP_TRUNC:
    case LOOP_ZEXT:
    case LOOP_FENCE:
        return a;
    default:
        *known = false;
        return 0;
    }
}

static double round_even(double x)
{
    return isfinite(x) ? copysign(x - remainder(x, 1), x) : x;
}

static double float_value(enum loop_op op, enum loop_element from, double x, double y, double z, bool *known)
{
    const bool is_nan = isnan(x) || isnan(y);

    switch (op) {
    case LOOP_ADD:
        return x + y;
    case LOOP_SUB:
        return x - y;
    case LOOP_MUL:
        return x * y;
    case LOOP_DIV:
        return x / y;
    case LOOP_MINIMUM:
        return is_nan ? x + y : number_extreme(false, x, y);
    case LOOP_MAXIMUM:
        return is_nan ? x + y : number_extreme(true, x, y);
    case LOOP_MINIMUM_NUMBER:
        return isnan(x) ? y : isnan(y) ? x : number_extreme(false, x, y);
    case LOOP_MAXIMUM_NUMBER:
        return isnan(x) ? y : isnan(y) ? x : number_extreme(true, x, y);
    case LOOP_COPY_SIGN:
        return copysign(x, y);
    case LOOP_SQRT:
        return sqrt(x);
    case LOOP_FLOOR:
        return floor(x);
    case LOOP_CEIL:
        return ceil(x);
    case LOOP_ROUND_EVEN:
        return round_even(x);
    case LOOP_FMA:
    case LOOP_RELAXED_FMA:
        return from == LOOP_F32 ? (double)fmaf((float)x, (float)y, (float)z) : fma(x, y, z);
    case LOOP_SCALE: /* beyond any exponent there is nothing else; whole numbers below fit an int */
        return isnan(y) ? y : ldexp(x, (int)floor(fmin(fmax(y, -4096), 4096)));
    case LOOP_ESTIMATE:
        return 1 / x;
    default:
        *known = false;
        return 0;
    }
}

static uint64_t float_scalar(enum loop_op op, enum loop_element from, const uint64_t *args, bool *known)
{
    const double x = float_of(from, args[0]), y = float_of(from, args[1]);
    const uint64_t sign = UINT64_C(1) << (loop_element_bits(from) - 1);

    switch (op) {
    case LOOP_EQ:
        return x == y;
    case LOOP_NE:
        return !(x == y);
    case LOOP_LT:
        return x < y;
    case LOOP_LE:
        return x <= y;
    case LOOP_GT:
        return x > y;
    case LOOP_GE:
        return x >= y;
    case LOOP_UNORDERED:
        return isnan(x) || isnan(y);
    case LOOP_NEG:
        return args[0] ^ sign;
    case LOOP_ABS:
        return args[0] & ~sign;
    case LOOP_FENCE:
        return args[0];
    default:
        return bits_of(from, float_value(op, from, x, y, float_of(from, args[2]), known));
    }
}

/* Truncates to an integer; what does not fit gives the least one. */
static uint64_t to_int(enum loop_element to, double x)
{
    const double limit = ldexp(1, (int)loop_element_bits(to) - 1);

    return x > -limit - 1 && x < limit ? (uint64_t)(int64_t)x : UINT64_C(1) << (loop_element_bits(to) - 1);
}

static uint64_t scalar(enum loop_op op, enum loop_element to, enum loop_element from, const uint64_t args[3], bool *known)
{
    const double x = float_of(from, args[0]);

    switch (op) {
    case LOOP_SELECT:
        return args[0] & 1 ? args[1] : args[2];
    case LOOP_FPTRUNC:
    case LOOP_FPEXT:
        return bits_of(to, x);
    case LOOP_SITOFP: /* float32 is rounded once */
        return bits_of(to, to == LOOP_F32 ? (double)(float)extend(from, args[0]) : (double)extend(from, args[0]));
    case LOOP_UITOFP:
        return bits_of(to, to == LOOP_F32 ? (double)(float)args[0] : (double)args[0]);
    case LOOP_FPTOSI:
        return to_int(to, x);
    case LOOP_FPTOUI:
        return x > -1 && x < ldexp(1, (int)loop_element_bits(to)) ? (uint64_t)x : 0;
    case LOOP_TO_NEAREST:
        return to_int(to, round_even(x));
    case LOOP_FROM_F16:
        return bits_of(LOOP_F32, (double)f16_to_f32((uint16_t)args[0]));
    case LOOP_TO_F16:
        return f32_to_f16((float)x);
    case LOOP_TO_BF16:
        return f64_to_bf16(x);
    case LOOP_BITCAST:
        *known = loop_element_bits(to) == loop_element_bits(from);
        return args[0];
    default:
        return loop_element_is_float(from) ? float_scalar(op, from, args, known)
                                           : int_scalar(op, from, args[0], args[1], known);
    }
}

bool loop_scalar(enum loop_op op, enum loop_element to, enum loop_element from, const uint64_t args[3], uint64_t *out)
{
    bool known = true;

    *out = cut(to, scalar(op, to, from, args, &known));
    return known;
}
