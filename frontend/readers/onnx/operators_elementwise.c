/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Imports ONNX operators of one element each: arithmetic, comparisons, logic.  Activations are in operators_activation.c.
 */
#include <math.h>
#include <string.h>

#include "frontend/readers/onnx/operators.h"

/** Makes output 0 this operand, with the ONNX type of input i. */
static bool output_like(struct onnx_node *n, WNNOperand operand, size_t i)
{
    const struct onnx_value *v = onnx_input(n, i);

    return onnx_output_as(n, 0, operand, v ? v->type : ONNX_UNDEFINED);
}

static bool is_unsigned(const struct onnx_node *n)
{
    enum onnx_type type = n->inputs[0]->type;

    return !onnx_type_is_float(type) && !onnx_type_is_signed(type);
}

/** Ignores the hint of the oldest versions about memory that may be reused. */
static void ignore_hints(struct onnx_node *n)
{
    if (n->version < 6)
        onnx_ignore(n, "consumed_inputs");
}

/* ---- one operand ---- */

#define UNARY(name, method)                                                                                                    \
    static bool import_##name(struct onnx_node *n)                                                                             \
    {                                                                                                                          \
        ignore_hints(n);                                                                                                       \
        return onnx_output(n, 0, wnnGraphBuilder##method(n->builder, onnx_operand(n, 0), n->options));                         \
    }

UNARY(ceil, Ceil)
UNARY(cos, Cos)
UNARY(erf, Erf)
UNARY(exp, Exp)
UNARY(floor, Floor)
UNARY(log, Log)
UNARY(neg, Neg)
UNARY(reciprocal, Reciprocal)
UNARY(round, RoundEven)
UNARY(sin, Sin)
UNARY(sqrt, Sqrt)
UNARY(tan, Tan)
UNARY(tanh, Tanh)

static bool import_abs(struct onnx_node *n)
{
    ignore_hints(n);
    if (is_unsigned(n))
        return onnx_output_value(n, 0, n->inputs[0]);
    return onnx_output(n, 0, wnnGraphBuilderAbs(n->builder, onnx_operand(n, 0), n->options));
}

static bool import_sign(struct onnx_node *n)
{
    WNNOperand x = onnx_operand(n, 0);

    if (is_unsigned(n)) {
        WNNOperand positive = wnnGraphBuilderNotEqual(n->builder, x, onnx_scalar_like(n, x, 0), n->options);

        return onnx_output(n, 0, onnx_cast(n, positive, wnnOperandGetDataType(x)));
    }
    return onnx_output(n, 0, wnnGraphBuilderSign(n->builder, x, n->options));
}

static bool import_not(struct onnx_node *n)
{
    return onnx_output_as(n, 0, wnnGraphBuilderLogicalNot(n->builder, onnx_operand(n, 0), n->options), ONNX_BOOL);
}

static bool import_bitwise_not(struct onnx_node *n)
{
    WNNOperand x = onnx_operand(n, 0);
    WNNOperand all = wnnGraphBuilderSub(n->builder, onnx_scalar_like(n, x, 0), onnx_scalar_like(n, x, 1), n->options);

    return onnx_output(n, 0, wnnGraphBuilderSub(n->builder, all, x, n->options));
}

static bool import_is_nan(struct onnx_node *n)
{
    return onnx_output_as(n, 0, wnnGraphBuilderIsNaN(n->builder, onnx_operand(n, 0), n->options), ONNX_BOOL);
}

static bool import_is_inf(struct onnx_node *n)
{
    bool negative = onnx_int(n, "detect_negative", 1) != 0, positive = onnx_int(n, "detect_positive", 1) != 0;
    WNNOperand x = onnx_operand(n, 0), zero = onnx_scalar_like(n, x, 0);
    WNNOperand y = wnnGraphBuilderIsInfinite(n->builder, x, n->options);

    /* If neither is asked for, nothing is found, since no element is both above and below 0. */
    if (!negative)
        y = wnnGraphBuilderLogicalAnd(n->builder, y, wnnGraphBuilderGreater(n->builder, x, zero, n->options), n->options);
    if (!positive)
        y = wnnGraphBuilderLogicalAnd(n->builder, y, wnnGraphBuilderLesser(n->builder, x, zero, n->options), n->options);
    return onnx_output_as(n, 0, y, ONNX_BOOL);
}

/* ---- functions by composition ---- */

typedef WNNOperand (*binary)(WNNGraphBuilder, WNNOperand, WNNOperand, WNNOperatorOptions const *);
typedef WNNOperand (*unary)(WNNGraphBuilder, WNNOperand, WNNOperatorOptions const *);

static WNNOperand op2(struct onnx_node *n, binary f, WNNOperand a, WNNOperand b)
{
    return f(n->builder, a, b, n->options);
}

static WNNOperand op2s(struct onnx_node *n, binary f, WNNOperand a, double b)
{
    return f(n->builder, a, onnx_scalar_like(n, a, b), n->options);
}

static WNNOperand op1(struct onnx_node *n, unary f, WNNOperand a)
{
    return f(n->builder, a, n->options);
}

static WNNOperand select(struct onnx_node *n, WNNOperand condition, WNNOperand a, WNNOperand b)
{
    return wnnGraphBuilderWhere(n->builder, condition, a, b, n->options);
}

/** Returns log(1 + u), exact to a few units in the last place also for small u: the error of 1 + u divides out. */
static WNNOperand log1p_of(struct onnx_node *n, WNNOperand u)
{
    WNNOperand v = op2s(n, wnnGraphBuilderAdd, u, 1), log = op1(n, wnnGraphBuilderLog, v);
    WNNOperand ratio = op2(n, wnnGraphBuilderDiv, u, op2s(n, wnnGraphBuilderSub, v, 1));
    WNNOperand exact = op2(n, wnnGraphBuilderMul, log, ratio);

    exact = select(n, op1(n, wnnGraphBuilderIsInfinite, v), log, exact);
    return select(n, op2s(n, wnnGraphBuilderEqual, v, 1), u, exact);
}

/** Returns sign(x) * f(|x|). */
static WNNOperand odd(struct onnx_node *n, WNNOperand x, WNNOperand magnitude)
{
    return op2(n, wnnGraphBuilderMul, op1(n, wnnGraphBuilderSign, x), magnitude);
}

/** Returns `near` up to where acosh and asinh of t are log(2 t) within half a unit, and that beyond, where t * t may overflow.
 */
static WNNOperand log_beyond(struct onnx_node *n, WNNOperand t, WNNOperand near)
{
    double limit = wnnOperandGetDataType(t) == WNNOperandDataType_Float16 ? 128 : 0x1p24;
    WNNOperand far = op2s(n, wnnGraphBuilderAdd, op1(n, wnnGraphBuilderLog, t), 0.69314718055994531);

    return select(n, op2s(n, wnnGraphBuilderGreater, t, limit), far, near);
}

static bool import_acosh(struct onnx_node *n)
{
    WNNOperand x = onnx_operand(n, 0), below = op2s(n, wnnGraphBuilderSub, x, 1);
    /* The product of roots, unlike the root of a product, is NaN below -1, too. */
    WNNOperand root = op2(n, wnnGraphBuilderMul, op1(n, wnnGraphBuilderSqrt, below),
                          op1(n, wnnGraphBuilderSqrt, op2s(n, wnnGraphBuilderAdd, x, 1)));

    /* log(x + root) is log1p(x - 1 + root), which is right also next to 1. */
    return onnx_output(n, 0, log_beyond(n, x, log1p_of(n, op2(n, wnnGraphBuilderAdd, below, root))));
}

static bool import_asinh(struct onnx_node *n)
{
    WNNOperand x = onnx_operand(n, 0), t = op1(n, wnnGraphBuilderAbs, x), square = op2(n, wnnGraphBuilderMul, t, t);
    WNNOperand root = op1(n, wnnGraphBuilderSqrt, op2s(n, wnnGraphBuilderAdd, square, 1));
    WNNOperand small =
        log1p_of(n, op2(n, wnnGraphBuilderAdd, t, op2(n, wnnGraphBuilderDiv, square, op2s(n, wnnGraphBuilderAdd, root, 1))));

    return onnx_output(n, 0, odd(n, x, log_beyond(n, t, small)));
}

static bool import_atanh(struct onnx_node *n)
{
    WNNOperand x = onnx_operand(n, 0), t = op1(n, wnnGraphBuilderAbs, x);
    WNNOperand rest = op2(n, wnnGraphBuilderSub, onnx_scalar_like(n, t, 1), t);
    WNNOperand u = op2(n, wnnGraphBuilderDiv, op2(n, wnnGraphBuilderAdd, t, t), rest);

    return onnx_output(n, 0, odd(n, x, op2s(n, wnnGraphBuilderMul, log1p_of(n, u), 0.5)));
}

/**
 * Returns atan(t) for t >= 0, infinity included: brought into 0 to tan(pi / 8) by 1 / t and by halving the angle, then the
 * Taylor series, whose first term left out is below 2^-24 of the sum there.
 */
static WNNOperand atan_of(struct onnx_node *n, WNNOperand t)
{
    static const double terms[] = {1.0 / 17, -1.0 / 15, 1.0 / 13, -1.0 / 11, 1.0 / 9, -1.0 / 7, 1.0 / 5, -1.0 / 3};
    WNNOperand big = op2s(n, wnnGraphBuilderGreater, t, 1);
    WNNOperand u = select(n, big, op1(n, wnnGraphBuilderReciprocal, t), t);
    WNNOperand root = op1(n, wnnGraphBuilderSqrt, op2s(n, wnnGraphBuilderAdd, op2(n, wnnGraphBuilderMul, u, u), 1));
    WNNOperand square, y;

    u = op2(n, wnnGraphBuilderDiv, u, op2s(n, wnnGraphBuilderAdd, root, 1));
    square = op2(n, wnnGraphBuilderMul, u, u);
    y = op2s(n, wnnGraphBuilderMul, square, terms[0]);
    for (size_t i = 1; i < sizeof terms / sizeof terms[0]; i++)
        y = op2(n, wnnGraphBuilderMul, op2s(n, wnnGraphBuilderAdd, y, terms[i]), square);
    y = op2(n, wnnGraphBuilderAdd, u, op2(n, wnnGraphBuilderMul, u, y));
    y = op2(n, wnnGraphBuilderAdd, y, y);
    return select(n, big, op2(n, wnnGraphBuilderSub, onnx_scalar_like(n, y, 1.57079632679489662), y), y);
}

/** Returns sqrt((1 - a) * (1 + a)). */
static WNNOperand cathetus(struct onnx_node *n, WNNOperand a)
{
    WNNOperand one = onnx_scalar_like(n, a, 1);

    return op1(n, wnnGraphBuilderSqrt,
               op2(n, wnnGraphBuilderMul, op2(n, wnnGraphBuilderSub, one, a), op2(n, wnnGraphBuilderAdd, one, a)));
}

static bool import_atan(struct onnx_node *n)
{
    WNNOperand x = onnx_operand(n, 0);

    return onnx_output(n, 0, odd(n, x, atan_of(n, op1(n, wnnGraphBuilderAbs, x))));
}

/** Imports Asin as atan(x / sqrt(1 - x^2)). */
static bool import_asin(struct onnx_node *n)
{
    WNNOperand x = onnx_operand(n, 0), t = op1(n, wnnGraphBuilderAbs, x);

    return onnx_output(n, 0, odd(n, x, atan_of(n, op2(n, wnnGraphBuilderDiv, t, cathetus(n, t)))));
}

/** Imports Acos as 2 atan(sqrt((1 - x) / (1 + x))). */
static bool import_acos(struct onnx_node *n)
{
    WNNOperand x = onnx_operand(n, 0), one = onnx_scalar_like(n, x, 1);
    WNNOperand ratio = op2(n, wnnGraphBuilderDiv, op2(n, wnnGraphBuilderSub, one, x), op2(n, wnnGraphBuilderAdd, one, x));
    WNNOperand half = atan_of(n, op1(n, wnnGraphBuilderSqrt, ratio));

    return onnx_output(n, 0, op2(n, wnnGraphBuilderAdd, half, half));
}

/** Returns (exp(t) +- exp(-t)) / 2 for t >= 0, through exp(t / 2), which is finite wherever the result is. */
static WNNOperand hyperbolic(struct onnx_node *n, WNNOperand t, binary join)
{
    WNNOperand e = op1(n, wnnGraphBuilderExp, op2s(n, wnnGraphBuilderMul, t, 0.5));
    WNNOperand half = op2s(n, wnnGraphBuilderMul, e, 0.5);
    WNNOperand inverse = op2(n, wnnGraphBuilderDiv, op2(n, wnnGraphBuilderDiv, onnx_scalar_like(n, e, 0.5), e), e);

    return op2(n, join, op2(n, wnnGraphBuilderMul, half, e), inverse);
}

static bool import_cosh(struct onnx_node *n)
{
    WNNOperand t = op1(n, wnnGraphBuilderAbs, onnx_operand(n, 0));

    return onnx_output(n, 0, hyperbolic(n, t, wnnGraphBuilderAdd));
}

static bool import_sinh(struct onnx_node *n)
{
    WNNOperand x = onnx_operand(n, 0), t = op1(n, wnnGraphBuilderAbs, x);
    /* Below 1 the difference of exponentials cancels: 2 h / (1 - h h) with h = tanh(x / 2). */
    WNNOperand h = op1(n, wnnGraphBuilderTanh, op2s(n, wnnGraphBuilderMul, x, 0.5));
    WNNOperand rest = op2(n, wnnGraphBuilderSub, onnx_scalar_like(n, h, 1), op2(n, wnnGraphBuilderMul, h, h));
    WNNOperand small = op2(n, wnnGraphBuilderDiv, op2(n, wnnGraphBuilderAdd, h, h), rest);
    WNNOperand large = odd(n, x, hyperbolic(n, t, wnnGraphBuilderSub));

    return onnx_output(n, 0, select(n, op2s(n, wnnGraphBuilderLesser, t, 1), small, large));
}

/* ---- two operands ---- */

/** Returns the operand of input 1.  Below version 7 an attribute says where it is broadcast along input 0. */
static WNNOperand second_operand(struct onnx_node *n)
{
    const struct onnx_value *a = n->inputs[0], *b = n->inputs[1];
    uint32_t dims[ONNX_RANK_MAX];
    bool broadcast, same;
    int64_t axis;

    if (n->version >= 7)
        return onnx_operand(n, 1);
    ignore_hints(n);
    broadcast = onnx_int(n, "broadcast", 0) != 0;
    axis = onnx_int(n, "axis", (int64_t)a->rank - (int64_t)b->rank);
    same = a->rank == b->rank && !memcmp(a->dims, b->dims, sizeof a->dims);
    if (same)
        return onnx_operand(n, 1);
    if (axis < 0)
        axis += (int64_t)a->rank;
    if (!broadcast || axis < 0 || b->rank > a->rank || axis > (int64_t)(a->rank - b->rank)) {
        onnx_refuse(n, broadcast ? "input 1 does not fit into input 0 at axis %lld" : "the inputs differ in shape",
                    (long long)axis);
        return onnx_error_operand(n);
    }
    for (size_t d = 0; d < a->rank - (size_t)axis; d++)
        dims[d] = d < b->rank ? (uint32_t)b->dims[d] : 1;
    return onnx_reshape(n, onnx_operand(n, 1), a->rank - (size_t)axis, dims);
}

static bool import_binary(struct onnx_node *n, binary f)
{
    WNNOperand b = second_operand(n);

    return output_like(n, f(n->builder, onnx_operand(n, 0), b, n->options), 0);
}

static bool import_compare(struct onnx_node *n, binary f)
{
    WNNOperand b = second_operand(n);

    return onnx_output_as(n, 0, f(n->builder, onnx_operand(n, 0), b, n->options), ONNX_BOOL);
}

#define BINARY(name, kind, method)                                                                                             \
    static bool import_##name(struct onnx_node *n)                                                                             \
    {                                                                                                                          \
        return import_##kind(n, wnnGraphBuilder##method);                                                                      \
    }

BINARY(add, binary, Add)
BINARY(sub, binary, Sub)
BINARY(mul, binary, Mul)
BINARY(div, binary, Div)
BINARY(equal, compare, Equal)
BINARY(greater, compare, Greater)
BINARY(greater_or_equal, compare, GreaterOrEqual)
BINARY(less, compare, Lesser)
BINARY(less_or_equal, compare, LesserOrEqual)
BINARY(and, compare, LogicalAnd)
BINARY(or, compare, LogicalOr)
BINARY(xor, compare, LogicalXor)

/** The result has the type of the base.  An integer to a real power is computed in float32. */
static bool import_pow(struct onnx_node *n)
{
    WNNOperand b = second_operand(n), a = onnx_operand(n, 0);
    WNNOperandDataType type = wnnOperandGetDataType(a), exponent = wnnOperandGetDataType(b);

    if (onnx_type_is_float(n->inputs[0]->type) || !onnx_type_is_float(n->inputs[1]->type)) {
        b = onnx_cast(n, b, type);
    } else {
        a = onnx_cast(n, a, WNNOperandDataType_Float32);
        if (exponent != WNNOperandDataType_Float32)
            b = onnx_cast(n, b, WNNOperandDataType_Float32);
    }
    return onnx_output(n, 0, onnx_cast(n, op2(n, wnnGraphBuilderPow, a, b), type));
}

/** Returns x - y * trunc(x / y) of integers, whose sign is that of x. */
static WNNOperand integer_remainder(struct onnx_node *n, WNNOperand x, WNNOperand y)
{
    return op2(n, wnnGraphBuilderSub, x, op2(n, wnnGraphBuilderMul, op2(n, wnnGraphBuilderDiv, x, y), y));
}

/**
 * Returns the remainder of floating-point numbers by long division, whose digits of the quotient have DIGIT bits: the product
 * of a digit and of either half of the divisor has no more bits than float32 holds, and neither has what it leaves of the
 * dividend. So the remainder is exact; quotients from 2^128, whose digits float32 does not hold, make it NaN.
 */
static WNNOperand float_remainder(struct onnx_node *n, WNNOperand x, WNNOperand y)
{
    enum { DIGIT = 11, DIGITS = 12, HALF_DIGITS = 4 /* which hold every quotient of float16 */ };
    const WNNOperandDataType type = wnnOperandGetDataType(x);
    WNNOperand wide = onnx_cast(n, x, WNNOperandDataType_Float32), rest = op1(n, wnnGraphBuilderAbs, wide);
    WNNOperand divisor = op1(n, wnnGraphBuilderAbs, onnx_cast(n, y, WNNOperandDataType_Float32));
    WNNOperand less = op2(n, wnnGraphBuilderLesser, rest, divisor); /* an infinite divisor, too */
    WNNOperand large = op2s(n, wnnGraphBuilderGreater, divisor, 0x1p100), below, high, low;

    rest = select(n, large, op2s(n, wnnGraphBuilderMul, rest, 0x1p-20), rest);
    divisor = select(n, large, op2s(n, wnnGraphBuilderMul, divisor, 0x1p-20), divisor);
    /* The high half is rounded to 12 bits by Veltkamp's method, of a number so far below that it does not exceed the divisor.
     */
    below = op2s(n, wnnGraphBuilderMul, divisor, 1 - 0x1p-12);
    high = op2s(n, wnnGraphBuilderMul, below, 0x1p12 + 1);
    high = op2(n, wnnGraphBuilderSub, high, op2(n, wnnGraphBuilderSub, high, below));
    low = op2(n, wnnGraphBuilderSub, divisor, high);
    for (int i = type == WNNOperandDataType_Float16 ? HALF_DIGITS : DIGITS; i--;) {
        const double place = ldexp(1, DIGIT * i);
        WNNOperand digit = op2(n, wnnGraphBuilderDiv, rest, op2s(n, wnnGraphBuilderMul, divisor, place));

        digit = op2s(n, wnnGraphBuilderMul, op1(n, wnnGraphBuilderFloor, digit), place);
        rest = op2(n, wnnGraphBuilderSub, rest, op2(n, wnnGraphBuilderMul, digit, high));
        rest = op2(n, wnnGraphBuilderSub, rest, op2(n, wnnGraphBuilderMul, digit, low));
    }
    /* A quotient that is rounded up to a whole number makes the last digit one too large. */
    rest = select(n, op2s(n, wnnGraphBuilderLesser, rest, 0), op2(n, wnnGraphBuilderAdd, rest, divisor), rest);
    rest = select(n, large, op2s(n, wnnGraphBuilderMul, rest, 0x1p20), rest);
    rest = select(n, op2s(n, wnnGraphBuilderLesser, wide, 0), op1(n, wnnGraphBuilderNeg, rest), rest);
    return onnx_cast(n, select(n, less, wide, rest), type);
}

static bool import_mod(struct onnx_node *n)
{
    bool fmod = onnx_int(n, "fmod", 0) != 0, is_float = onnx_type_is_float(n->inputs[0]->type);
    WNNOperand x = onnx_operand(n, 0), y = onnx_operand(n, 1), r, zero, differs;

    if (is_float && !fmod)
        return onnx_refuse(n, "floating-point numbers need fmod = 1");
    r = is_float ? float_remainder(n, x, y) : integer_remainder(n, x, y);
    if (!fmod && !is_unsigned(n)) {
        /* The result gets the sign of the divisor. */
        zero = onnx_scalar_like(n, r, 0);
        differs =
            op2(n, wnnGraphBuilderLogicalXor, op2(n, wnnGraphBuilderLesser, r, zero), op2(n, wnnGraphBuilderLesser, y, zero));
        differs = op2(n, wnnGraphBuilderLogicalAnd, differs, op2(n, wnnGraphBuilderNotEqual, r, zero));
        r = select(n, differs, op2(n, wnnGraphBuilderAdd, r, y), r);
    }
    return onnx_output(n, 0, r);
}

/** Imports BitShift as x * 2^y or x / 2^y: powers of two wrap around to 0 where all bits are shifted out, and x / 0 is 0. */
static bool import_bit_shift(struct onnx_node *n)
{
    const char *direction = onnx_string(n, "direction", "");
    WNNOperand x = onnx_operand(n, 0), y = onnx_operand(n, 1);
    WNNOperand power = op2(n, wnnGraphBuilderPow, onnx_scalar_like(n, y, 2), y);

    if (!strcmp(direction, "LEFT"))
        return onnx_output(n, 0, op2(n, wnnGraphBuilderMul, x, power));
    if (!strcmp(direction, "RIGHT"))
        return onnx_output(n, 0, op2(n, wnnGraphBuilderDiv, x, power));
    return onnx_refuse(n, "direction is neither LEFT nor RIGHT");
}

/* ---- any number of operands ---- */

static WNNOperand fold_inputs(struct onnx_node *n, binary f)
{
    WNNOperand y;

    ignore_hints(n);
    y = onnx_operand(n, 0);
    for (size_t i = 1; i < n->input_count; i++)
        y = f(n->builder, y, onnx_operand(n, i), n->options);
    return y;
}

static bool import_max(struct onnx_node *n)
{
    return onnx_output(n, 0, fold_inputs(n, wnnGraphBuilderMax));
}

static bool import_min(struct onnx_node *n)
{
    return onnx_output(n, 0, fold_inputs(n, wnnGraphBuilderMin));
}

static bool import_sum(struct onnx_node *n)
{
    return onnx_output(n, 0, fold_inputs(n, wnnGraphBuilderAdd));
}

static bool import_mean(struct onnx_node *n)
{
    WNNOperand sum = fold_inputs(n, wnnGraphBuilderAdd);

    return onnx_output(n, 0, n->input_count > 1 ? op2s(n, wnnGraphBuilderDiv, sum, (double)n->input_count) : sum);
}

static bool import_where(struct onnx_node *n)
{
    WNNOperand condition = onnx_operand(n, 0), a = onnx_operand(n, 1), b = onnx_operand(n, 2);

    return output_like(n, select(n, condition, a, b), 1);
}

static const struct onnx_operator rows[] = {
    {"Abs", 1, 0, 1, 1, 1, 0, import_abs, "", NULL},
    {"Acos", 7, 0, 1, 1, 1, 0, import_acos, "composed of square roots and a polynomial", NULL},
    {"Acosh", 9, 0, 1, 1, 1, 0, import_acosh, "composed of square roots and a logarithm", NULL},
    {"Add", 1, 0, 2, 2, 1, 0, import_add, "", NULL},
    {"And", 1, 0, 2, 2, 1, 0, import_and, "", NULL},
    {"Asin", 7, 0, 1, 1, 1, 0, import_asin, "composed of square roots and a polynomial", NULL},
    {"Asinh", 9, 0, 1, 1, 1, 0, import_asinh, "composed of a square root and a logarithm", NULL},
    {"Atan", 7, 0, 1, 1, 1, 0, import_atan, "composed of a square root and a polynomial", NULL},
    {"Atanh", 9, 0, 1, 1, 1, 0, import_atanh, "composed of a division and a logarithm", NULL},
    {"BitShift", 11, 0, 2, 2, 1, 0, import_bit_shift, "mul or div with a power of two", NULL},
    {"BitwiseNot", 18, 0, 1, 1, 1, 0, import_bitwise_not, "-1 - x", NULL},
    {"Ceil", 1, 0, 1, 1, 1, 0, import_ceil, "", NULL},
    {"Cos", 7, 0, 1, 1, 1, 0, import_cos, "", NULL},
    {"Cosh", 9, 0, 1, 1, 1, 0, import_cosh, "composed of exponentials", NULL},
    {"Div", 1, 0, 2, 2, 1, 0, import_div, "integers: what is divided by 0 becomes 0", NULL},
    {"Equal", 1, 0, 2, 2, 1, 0, import_equal, "", NULL},
    {"Erf", 9, 0, 1, 1, 1, 0, import_erf, "", NULL},
    {"Exp", 1, 0, 1, 1, 1, 0, import_exp, "", NULL},
    {"Floor", 1, 0, 1, 1, 1, 0, import_floor, "", NULL},
    {"Greater", 1, 0, 2, 2, 1, 0, import_greater, "", NULL},
    {"GreaterOrEqual", 12, 0, 2, 2, 1, 0, import_greater_or_equal, "", NULL},
    {"IsInf", 10, 0, 1, 1, 1, 0, import_is_inf, "one sign: with a comparison", NULL},
    {"IsNaN", 9, 0, 1, 1, 1, 0, import_is_nan, "", NULL},
    {"Less", 1, 0, 2, 2, 1, 0, import_less, "", NULL},
    {"LessOrEqual", 12, 0, 2, 2, 1, 0, import_less_or_equal, "", NULL},
    {"Log", 1, 0, 1, 1, 1, 0, import_log, "", NULL},
    {"Max", 1, 0, 1, UINT8_MAX, 1, 0, import_max, "", NULL},
    {"Mean", 1, 0, 1, UINT8_MAX, 1, 0, import_mean, "additions and a division", NULL},
    {"Min", 1, 0, 1, UINT8_MAX, 1, 0, import_min, "", NULL},
    {"Mod", 10, 0, 2, 2, 1, 0, import_mod, "composed of divisions; floating-point remainders of quotients from 2^128 are NaN",
     NULL},
    {"Mul", 1, 0, 2, 2, 1, 0, import_mul, "", NULL},
    {"Neg", 1, 0, 1, 1, 1, 0, import_neg, "", NULL},
    {"Not", 1, 0, 1, 1, 1, 0, import_not, "", NULL},
    {"Or", 1, 0, 2, 2, 1, 0, import_or, "", NULL},
    {"Pow", 1, 0, 2, 2, 1, 0, import_pow, "the exponent is cast to the base's type; integers to real powers in float32", NULL},
    {"Reciprocal", 1, 0, 1, 1, 1, 0, import_reciprocal, "", NULL},
    {"Round", 11, 0, 1, 1, 1, 0, import_round, "", NULL},
    {"Sign", 9, 0, 1, 1, 1, 0, import_sign, "", NULL},
    {"Sin", 7, 0, 1, 1, 1, 0, import_sin, "", NULL},
    {"Sinh", 9, 0, 1, 1, 1, 0, import_sinh, "composed of tanh and exponentials", NULL},
    {"Sqrt", 1, 0, 1, 1, 1, 0, import_sqrt, "", NULL},
    {"Sub", 1, 0, 2, 2, 1, 0, import_sub, "", NULL},
    {"Sum", 1, 0, 1, UINT8_MAX, 1, 0, import_sum, "", NULL},
    {"Tan", 7, 0, 1, 1, 1, 0, import_tan, "", NULL},
    {"Tanh", 1, 0, 1, 1, 1, 0, import_tanh, "", NULL},
    {"Where", 9, 0, 3, 3, 1, 0, import_where, "", NULL},
    {"Xor", 1, 0, 2, 2, 1, 0, import_xor, "", NULL},
};

ONNX_TABLE(onnx_elementwise_operators, rows);
