/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Lowers element-wise operators, batchNormalization and triangular.
 *
 * Inside one operator everything is float32, also for float16 (lower_value rounds its result); the formulas are chosen for
 * accuracy where the specification's text is only mathematics (docs/semantics.md).
 */

#include "passes/lower/lower.h"

/* Exponents of so many bits become products. */
enum { POWER_BITS = 3 };

static uint32_t f32(struct lowering *l, double value)
{
    return kernel_f32(l->k, (float)value);
}

/** Returns an option as the operand's type holds it. */
static uint32_t option(struct lowering *l, const struct node *n, double value)
{
    return lower_number(l, wnnNumber(value), n->inputs[0].value->type.type);
}

static uint32_t zero_of(struct lowering *l, uint32_t e)
{
    return e == KEXPR_NONE ? e : kernel_const(l->k, l->k->exprs[e].type, (union scalar){.u64 = 0});
}

/** Returns a * x + b. */
static uint32_t line(struct lowering *l, uint32_t a, uint32_t x, uint32_t b)
{
    return kernel_op2(l->k, K_ADD, kernel_op2(l->k, K_MUL, a, x), b);
}

static uint32_t truth(struct lowering *l, uint32_t e)
{
    return kernel_op2(l->k, K_NE, e, zero_of(l, e));
}

/** Returns max(x, 0) + then, where then is a function of min(x, 0). */
static uint32_t positive_part_plus(struct lowering *l, uint32_t x, uint32_t then)
{
    return kernel_op2(l->k, K_ADD, kernel_op2(l->k, K_MAX, x, zero_of(l, x)), then);
}

/* ---- sigmoid and tanh of float64 ---- */

static uint32_t f64(struct lowering *l, double value)
{
    return kernel_const(l->k, KT_F64, (union scalar){.f64 = value});
}

static bool is_f64(const struct lowering *l, uint32_t x)
{
    return x != KEXPR_NONE && l->k->exprs[x].type == KT_F64;
}

/**
 * Returns e^-|x| of float64 with an error below 2^-40: 2^n e^r, where |r| <= ln 2 / 2.  Float64 has no function that gives 2^n,
 * but float32's e^(n ln 2) is so near to it that rounding to bfloat16 leaves the power; 2^64 keeps that above subnormal
 * numbers.
 */
static uint32_t decay(struct lowering *l, uint32_t x)
{
    static const double taylor[] = {1,        1,         1. / 2,     1. / 6,      1. / 24,     1. / 120,
                                    1. / 720, 1. / 5040, 1. / 40320, 1. / 362880, 1. / 3628800};
    const double ln2 = 0x1.62e42fefa39efp-1;
    struct kernel *k = l->k;
    uint32_t t = kernel_op2(k, K_MAX, kernel_op1(k, K_NEG, kernel_op1(k, K_ABS, x)), f64(l, -104)); /* float32 has 0 below */
    uint32_t n = kernel_op1(k, K_ROUND_EVEN, kernel_op2(k, K_MUL, t, f64(l, 1 / ln2))), power, p = f64(l, taylor[10]);

    t = line(l, f64(l, -ln2), n, t);
    for (uint32_t i = 10; i-- > 0;)
        p = line(l, p, t, f64(l, taylor[i]));
    power = kernel_op2(k, K_MUL, kernel_op2(k, K_ADD, n, f64(l, 64)), f64(l, ln2));
    power = kernel_op1(k, K_ROUND_BF16, kernel_op1(k, K_EXP, power));
    return kernel_op2(k, K_MUL, p, kernel_op2(k, K_MUL, power, f64(l, 0x1p-64)));
}

static uint32_t lower_sigmoid(struct lowering *l, uint32_t x)
{
    struct kernel *k = l->k;
    uint32_t e, y;

    if (!is_f64(l, x))
        return kernel_op1(k, K_SIGMOID, x);
    e = decay(l, x);
    y = kernel_op1(k, K_RECIPROCAL, kernel_op2(k, K_ADD, e, f64(l, 1)));
    return kernel_op3(k, K_SELECT, kernel_op2(k, K_LT, x, f64(l, 0)), kernel_op2(k, K_MUL, e, y), y);
}

static uint32_t lower_tanh(struct lowering *l, uint32_t x)
{
    struct kernel *k = l->k;
    uint32_t e, y, square, small;

    if (!is_f64(l, x))
        return kernel_op1(k, K_TANH, x);
    e = decay(l, kernel_op2(k, K_ADD, x, x));
    y = kernel_op2(k, K_DIV, kernel_op2(k, K_SUB, f64(l, 1), e), kernel_op2(k, K_ADD, f64(l, 1), e));
    /* Near 0 the difference would lose digits: x - x^3 / 3 + x^5 * 2 / 15. */
    square = kernel_op2(k, K_MUL, x, x);
    small = kernel_op2(k, K_MUL, square, line(l, f64(l, 2. / 15), square, f64(l, -1. / 3)));
    small = line(l, small, x, x);
    y = kernel_op2(k, K_COPY_SIGN, y, x);
    return kernel_op3(k, K_SELECT, kernel_op2(k, K_LT, kernel_op1(k, K_ABS, x), f64(l, 0x1p-6)), small, y);
}

static uint32_t lower_clamp(struct lowering *l, const struct node *n, uint32_t x)
{
    const WNNClampOptions *o = n->options;
    const dtype t = n->inputs[0].value->type.type;
    const WNNNumber bounds[2] = {o->minValue, o->maxValue};

    for (int i = 0; i < 2; i++) {
        union scalar s = lower_scalar(bounds[i], t);
        const bool is_nan = dtype_is_float(t) && (t == DTYPE_FLOAT64 ? isnan(s.f64) : isnan(s.f32));
        if (bounds[i].type != WNNNumberType_Undefined && !is_nan) /* a NaN bound is as if it were absent */
            x = kernel_op2(l->k, i ? K_MIN : K_MAX, x, kernel_const(l->k, ktype_of(t), s));
    }
    return x;
}

/** Returns 1, -1 or 0; NaN gives 0, as the specification's "0 otherwise" says. */
static uint32_t lower_sign(struct lowering *l, uint32_t x)
{
    struct kernel *k = l->k;

    if (x == KEXPR_NONE || k->exprs[x].type != KT_F32)
        return x == KEXPR_NONE ? x : kernel_op1(k, K_SIGN, x);
    uint32_t zero = f32(l, 0), negative = kernel_op3(k, K_SELECT, kernel_op2(k, K_LT, x, zero), f32(l, -1), zero);
    return kernel_op3(k, K_SELECT, kernel_op2(k, K_LT, zero, x), f32(l, 1), negative);
}

/* ---- floats of 8 bits ---- */

static uint32_t u32(struct lowering *l, uint32_t number)
{
    return kernel_const(l->k, KT_U32, (union scalar){.u32 = number});
}

/* What a format's numbers are as those of float32: 2^-bias, and how far the fraction's bits are from float32's. */
struct float8 {
    float first, top; /* half of the smallest number that is not subnormal; the largest one */
    uint32_t shift;
};

static struct float8 float8_of(dtype t)
{
    return t == DTYPE_FLOAT8E4M3 ? (struct float8){0x1p-7F, (float)FLOAT8E4M3_TOP, 20}
                                 : (struct float8){0x1p-15F, (float)FLOAT8E5M2_TOP, 21};
}

/**
 * Returns the float32 number that a byte stands for, or x if its type has no 8 bits.  Exponent and fraction in float32's place,
 * moved by the difference of the biases, are the number itself where the exponent is not 0; there they are between 2^-bias and
 * twice as much, and what they are more is half of the subnormal number.  No float32 number on the way is subnormal.
 */
static uint32_t float8_decode(struct lowering *l, dtype t, uint32_t x)
{
    const struct float8 f = float8_of(t);
    struct kernel *k = l->k;

    if (!dtype_is_float8(t))
        return x;
    const uint32_t bits = kernel_cast(k, KT_U32, x);
    uint32_t y = kernel_op2(k, K_SHL, kernel_op2(k, K_AND, bits, u32(l, 0x7F)), u32(l, f.shift));
    y = kernel_bitcast(k, KT_F32, kernel_op2(k, K_ADD, y, u32(l, (union scalar){.f32 = f.first}.u32)));
    const uint32_t more = kernel_op2(k, K_SUB, y, f32(l, (double)f.first));
    const uint32_t subnormal = kernel_op2(k, K_LT, y, f32(l, 2 * (double)f.first));
    const uint32_t beyond = kernel_op2(k, K_LT, f32(l, (double)f.top), y);
    const uint32_t infinite = kernel_op2(k, K_EQ, y, f32(l, 0x1p16)); /* with no fraction, where there are infinities */
    const uint32_t special =
        t == DTYPE_FLOAT8E5M2 ? kernel_op3(k, K_SELECT, infinite, f32(l, INFINITY), f32(l, NAN)) : f32(l, NAN);
    const uint32_t size =
        kernel_op3(k, K_SELECT, beyond, special, kernel_op3(k, K_SELECT, subnormal, kernel_op2(k, K_ADD, more, more), y));
    const uint32_t sign = kernel_op2(k, K_SHL, kernel_op2(k, K_AND, bits, u32(l, 0x80)), u32(l, 24));
    return kernel_bitcast(k, KT_F32, kernel_op2(k, K_OR, kernel_bitcast(k, KT_U32, size), sign));
}

/** Returns the byte of the number nearest to x, which is float32, ties to even; it saturates. */
static uint32_t float8_encode(struct lowering *l, dtype t, uint32_t x)
{
    const struct float8 f = float8_of(t);
    struct kernel *k = l->k;
    const uint32_t bits = kernel_bitcast(k, KT_U32, x),
                   sign = kernel_op2(k, K_AND, kernel_op2(k, K_SHR, bits, u32(l, 24)), u32(l, 0x80));
    const uint32_t is_nan = kernel_op1(k, K_IS_NAN, x);
    const uint32_t size =
        kernel_op2(k, K_MIN, kernel_op1(k, K_ABS, kernel_op3(k, K_SELECT, is_nan, f32(l, 0), x)), f32(l, (double)f.top));
    const uint32_t all = kernel_bitcast(k, KT_U32, size);
    const uint32_t odd = kernel_op2(k, K_AND, kernel_op2(k, K_SHR, all, u32(l, f.shift)), u32(l, 1));
    const uint32_t half = kernel_op2(k, K_ADD, all, kernel_op2(k, K_ADD, odd, u32(l, (1u << (f.shift - 1)) - 1)));
    const uint32_t normal = kernel_op2(k, K_SUB, kernel_op2(k, K_SHR, half, u32(l, f.shift)),
                                       u32(l, (union scalar){.f32 = f.first}.u32 >> f.shift));
    /* The smallest subnormal number is 2 * first / 2^(bits of the fraction). */
    const double steps = (double)(1u << (23 - f.shift)) / (2 * (double)f.first);
    const uint32_t few = kernel_cast(k, KT_U32, kernel_op1(k, K_ROUND_EVEN, kernel_op2(k, K_MUL, size, f32(l, steps))));
    const uint32_t subnormal = kernel_op2(k, K_LT, size, f32(l, 2 * (double)f.first));
    const uint32_t number = kernel_op3(k, K_SELECT, is_nan, u32(l, 0x7F), kernel_op3(k, K_SELECT, subnormal, few, normal));
    return kernel_cast(k, KT_U8, kernel_op2(k, K_OR, number, sign));
}

/** Returns where a blockwise-broadcast operand is read: block by block. */
static struct map map_blockwise(struct lowering *l, const struct map *m, const struct tensor_type *t,
                                const struct tensor_type *small)
{
    struct map spread, r;

    if (type_elements(t) == type_elements(small))
        return map_reshape(l, m, t, small);
    r = map_like(m, small->rank);
    if (type_elements(small) == 1)
        return r;
    spread = map_spread(l, m, t);
    for (uint32_t d = 0; d < small->rank; d++) {
        uint32_t block = t->dims[d] / small->dims[d];
        if (small->dims[d] > 1)
            r.forms[d] = block == 1 ? spread.forms[d] : form_divmod(l, spread.forms[d], block, small->dims[d]);
    }
    return r;
}

static uint32_t lower_quantisation(struct lowering *l, const struct node *n, const struct map *m)
{
    struct kernel *k = l->k;
    const struct tensor_type *t = &n->inputs[0].value->type, *small = &n->inputs[1].value->type;
    const struct map at = map_blockwise(l, m, t, small);
    const dtype to = n->results[0]->type.type;
    uint32_t x = lower_value(l, n->inputs[0].value, m), scale = lower_value(l, n->inputs[1].value, &at);
    uint32_t zero_point = lower_value(l, n->inputs[2].value, &at), q, whole;

    x = float8_decode(l, t->type, x);
    zero_point = float8_decode(l, n->inputs[2].value->type.type, zero_point);
    if (dtype_is_float8(to))
        return float8_encode(l, to, kernel_op2(k, K_ADD, kernel_op2(k, K_DIV, x, scale), zero_point));
    if (n->op == OP_DEQUANTIZE_LINEAR)
        return kernel_op2(k, K_MUL, kernel_op2(k, K_SUB, kernel_cast(k, KT_F32, x), kernel_cast(k, KT_F32, zero_point)), scale);
    q = kernel_op1(k, K_ROUND_EVEN, kernel_op2(k, K_DIV, x, scale));
    if (dtype_size(to) == 1) /* exact where it does not saturate; NaN casts to 0 */
        return kernel_cast(k, ktype_of(to), kernel_op2(k, K_ADD, q, kernel_cast(k, KT_F32, zero_point)));
    /* Of 32 bits, float32 could not add exactly.  2^40 is beyond any sum that does not saturate. */
    whole = kernel_op2(k, K_MIN, kernel_op2(k, K_MAX, q, f32(l, -0x1p40)), f32(l, 0x1p40));
    whole = kernel_op2(k, K_ADD, kernel_cast(k, KT_I64, whole), kernel_cast(k, KT_I64, zero_point));
    const bool is_signed = dtype_is_signed(to);
    const int64_t low = is_signed ? INT32_MIN : 0, high = is_signed ? INT32_MAX : UINT32_MAX;
    whole = kernel_op2(k, K_MAX, whole, kernel_const(k, KT_I64, (union scalar){.i64 = low}));
    whole = kernel_op2(k, K_MIN, whole, kernel_const(k, KT_I64, (union scalar){.i64 = high}));
    whole = kernel_cast(k, ktype_of(to), whole);
    return kernel_op3(k, K_SELECT, kernel_op1(k, K_IS_NAN, q), zero_of(l, whole), whole);
}

/** Returns a condition as the uint8 that operators make of it. */
static uint32_t logical(struct lowering *l, uint32_t condition)
{
    return kernel_cast(l->k, KT_U8, condition);
}

/**
 * Returns a to the power b.  Small whole exponents of floats are products, rounded at most four times: exact where pow is, with
 * the same zeros, infinities and NaN.  No power on the way leaves float32's range before the result does.
 */
static uint32_t power(struct lowering *l, uint32_t a, uint32_t b)
{
    struct kernel *k = l->k;
    uint32_t y = a, bit = POWER_BITS;

    if (a == KEXPR_NONE || b == KEXPR_NONE || k->exprs[a].type != KT_F32 || k->exprs[b].op != K_CONST)
        return kernel_op2(k, K_POW, a, b);
    const float exponent = k->exprs[b].bits.f32;
    if (!(exponent >= 1 && exponent < 1 << POWER_BITS) || exponent != floorf(exponent))
        return kernel_op2(k, K_POW, a, b);
    const uint32_t whole = (uint32_t)exponent;
    while (!(whole >> bit & 1))
        bit--;
    while (bit-- > 0) {
        y = kernel_op2(k, K_MUL, y, y);
        if (whole >> bit & 1)
            y = kernel_op2(k, K_MUL, y, a);
    }
    return y;
}

/* Holds the operators that are one operation of kernels; K_CONST is none. */
static const enum kop operations[OP_ROWS] = {[OP_ADD] = K_ADD,
                                             [OP_SUB] = K_SUB,
                                             [OP_MUL] = K_MUL,
                                             [OP_DIV] = K_DIV,
                                             [OP_MAX] = K_MAX,
                                             [OP_MIN] = K_MIN,
                                             [OP_EQUAL] = K_EQ,
                                             [OP_NOT_EQUAL] = K_NE,
                                             [OP_LESSER] = K_LT,
                                             [OP_LESSER_OR_EQUAL] = K_LE,
                                             [OP_IS_NAN] = K_IS_NAN,
                                             [OP_IS_INFINITE] = K_IS_INFINITE,
                                             [OP_ABS] = K_ABS,
                                             [OP_CEIL] = K_CEIL,
                                             [OP_COS] = K_COS,
                                             [OP_ERF] = K_ERF,
                                             [OP_EXP] = K_EXP,
                                             [OP_FLOOR] = K_FLOOR,
                                             [OP_LOG] = K_LOG,
                                             [OP_NEG] = K_NEG,
                                             [OP_RECIPROCAL] = K_RECIPROCAL,
                                             [OP_ROUND_EVEN] = K_ROUND_EVEN,
                                             [OP_SIN] = K_SIN,
                                             [OP_SQRT] = K_SQRT,
                                             [OP_TAN] = K_TAN};

static uint32_t operate(struct lowering *l, const struct node *n, const uint32_t x[3])
{
    struct kernel *k = l->k;
    const uint32_t a = x[0], b = x[1];
    const enum kop op = operations[n->op];

    if (op != K_CONST) {
        const uint32_t y = kop_arity(op) == 1 ? kernel_op1(k, op, a) : kernel_op2(k, op, a, b);
        return y != KEXPR_NONE && k->exprs[y].type == KT_BOOL ? logical(l, y) : y;
    }
    switch (n->op) {
    case OP_POW:
        return power(l, a, b);
    case OP_GREATER:
        return logical(l, kernel_op2(k, K_LT, b, a));
    case OP_GREATER_OR_EQUAL:
        return logical(l, kernel_op2(k, K_LE, b, a));
    case OP_LOGICAL_NOT:
        return logical(l, kernel_op2(k, K_EQ, a, zero_of(l, a)));
    case OP_LOGICAL_AND:
        return logical(l, kernel_op2(k, K_AND, truth(l, a), truth(l, b)));
    case OP_LOGICAL_OR:
        return logical(l, kernel_op2(k, K_OR, truth(l, a), truth(l, b)));
    case OP_LOGICAL_XOR:
        return logical(l, kernel_op2(k, K_XOR, truth(l, a), truth(l, b)));
    case OP_IDENTITY:
        return a;
    case OP_SIGN:
        return lower_sign(l, a);
    case OP_CAST: { /* float16 results are rounded as any */
        const dtype from = n->inputs[0].value->type.type, to = n->results[0]->type.type;
        if (dtype_is_float8(to) && from != to)
            return float8_encode(l, to, kernel_cast(k, KT_F32, float8_decode(l, from, a)));
        return from == to ? a : kernel_cast(k, ktype_of(to), float8_decode(l, from, a));
    }
    case OP_CLAMP:
        return lower_clamp(l, n, a);
    case OP_ELU:
        return positive_part_plus(l, a,
                                  kernel_op2(k, K_MUL, option(l, n, NODE_OPTIONS(n, WNNEluOptions)->alpha),
                                             kernel_op1(k, K_EXPM1, kernel_op2(k, K_MIN, a, zero_of(l, a)))));
    case OP_GELU: {
        const uint32_t e = kernel_op1(k, K_ERF, kernel_op2(k, K_MUL, a, f32(l, 0.70710678118654752440)));
        return kernel_op2(k, K_MUL, kernel_op2(k, K_MUL, f32(l, 0.5), a), kernel_op2(k, K_ADD, f32(l, 1), e));
    }
    case OP_HARD_SIGMOID: {
        const WNNHardSigmoidOptions *o = n->options;
        uint32_t y = line(l, option(l, n, o->alpha), a, option(l, n, o->beta));
        return kernel_op2(k, K_MAX, kernel_op2(k, K_MIN, y, f32(l, 1)), f32(l, 0));
    }
    case OP_HARD_SWISH: { /* divided first: x * 6 could overflow */
        uint32_t y = kernel_op2(k, K_MIN, kernel_op2(k, K_ADD, a, f32(l, 3)), f32(l, 6));
        return kernel_op2(k, K_MUL, a, kernel_op2(k, K_DIV, kernel_op2(k, K_MAX, y, f32(l, 0)), f32(l, 6)));
    }
    case OP_LEAKY_RELU: {
        const WNNLeakyReluOptions *o = n->options;
        uint32_t alpha = option(l, n, o->alpha), y;
        if (isinf(o->alpha)) /* counts also where x > 0 */
            return positive_part_plus(l, a, kernel_op2(k, K_MUL, alpha, kernel_op2(k, K_MIN, a, zero_of(l, a))));
        y = kernel_op2(k, K_MUL, alpha, a);
        return kernel_op3(k, K_SELECT, kernel_op2(k, K_LT, a, zero_of(l, a)), y, a);
    }
    case OP_LINEAR: {
        const WNNLinearOptions *o = n->options;
        return line(l, option(l, n, o->alpha), a, option(l, n, o->beta));
    }
    case OP_PRELU: /* integers wrap; for floats a slope that is not finite counts also where x > 0 */
        if (!dtype_is_float(n->results[0]->type.type))
            return kernel_op3(k, K_SELECT, kernel_op2(k, K_LT, a, zero_of(l, a)), kernel_op2(k, K_MUL, b, a), a);
        return positive_part_plus(l, a, kernel_op2(k, K_MUL, b, kernel_op2(k, K_MIN, a, zero_of(l, a))));
    case OP_RELU:
        return kernel_op2(k, K_MAX, a, zero_of(l, a));
    case OP_SIGMOID:
        return lower_sigmoid(l, a);
    case OP_SOFTPLUS: /* ln(1 + exp(x)) without overflow */
        return positive_part_plus(l, a,
                                  kernel_op1(k, K_LOG1P, kernel_op1(k, K_EXP, kernel_op1(k, K_NEG, kernel_op1(k, K_ABS, a)))));
    case OP_SOFTSIGN:
        return kernel_op2(k, K_DIV, a, kernel_op2(k, K_ADD, f32(l, 1), kernel_op1(k, K_ABS, a)));
    case OP_TANH:
        return lower_tanh(l, a);
    case OP_WHERE:
        return kernel_op3(k, K_SELECT, truth(l, a), b, x[2]);
    default: /* the others are not OPF_ELEMENTWISE; a new row without a case here fails its test */
        l->unfusable = true;
        return KEXPR_NONE;
    }
}

/**
 * Returns whether a number is to be read from memory instead of being a part of the code.  The factor of a single number after
 * a reduction costs nothing there, and reductions that differ in nothing else, as the ranges of dynamically quantised
 * activations times the scales of weights do, share code.
 */
static bool is_parameter(const struct lowering *l, const struct node *n, const struct value *v)
{
    return n->op == OP_MUL && l->reduced_points > 1 && type_elements(&n->results[0]->type) == 1 && v->kind == VALUE_CONSTANT &&
           v->type.type == WNNOperandDataType_Float32;
}

uint32_t lower_elementwise(struct lowering *l, const struct node *n, const struct map *m)
{
    uint32_t x[3] = {KEXPR_NONE, KEXPR_NONE, KEXPR_NONE};

    if (n->op == OP_QUANTIZE_LINEAR || n->op == OP_DEQUANTIZE_LINEAR)
        return lower_quantisation(l, n, m);
    for (uint32_t i = 0; i < n->input_count && i < 3; i++) {
        const struct value *v = n->inputs[i].value;
        const struct map at = map_broadcast(l, m, &n->results[0]->type, &v->type);
        x[i] = is_parameter(l, n, v) ? lower_element(l, v, &at) : lower_value(l, v, &at);
        if (x[i] == KEXPR_NONE)
            return KEXPR_NONE;
    }
    return operate(l, n, x);
}

uint32_t lower_batch_normalization(struct lowering *l, const struct node *n, const struct map *m)
{
    const WNNBatchNormalizationOptions *o = n->options;
    struct kernel *k = l->k;
    const struct map spread = map_spread(l, m, &n->results[0]->type);
    struct map channel = map_like(m, 1);
    uint32_t x, mean, root;

    channel.forms[0] = spread.forms[o->axis];
    x = lower_value(l, n->inputs[0].value, m);
    mean = lower_value(l, n->inputs[1].value, &channel);
    root = kernel_op1(k, K_SQRT, kernel_op2(k, K_ADD, lower_value(l, n->inputs[2].value, &channel), option(l, n, o->epsilon)));
    x = kernel_op2(k, K_DIV, kernel_op2(k, K_SUB, x, mean), root);
    if (n->inputs[3].value)
        x = kernel_op2(k, K_MUL, x, lower_value(l, n->inputs[3].value, &channel));
    if (n->inputs[4].value)
        x = kernel_op2(k, K_ADD, x, lower_value(l, n->inputs[4].value, &channel));
    return x;
}

uint32_t lower_triangular(struct lowering *l, const struct node *n, const struct map *m)
{
    const WNNTriangularOptions *o = n->options;
    const struct tensor_type *t = &n->results[0]->type;
    const struct map spread = map_spread(l, m, t);
    const struct kaffine row = spread.forms[t->rank - 2], column = spread.forms[t->rank - 1];
    /* upper keeps column - row >= diagonal; lower keeps column - row <= diagonal. */
    const int64_t sign = o->upper ? 1 : -1;
    struct kaffine distance = kaffine_add(l->k, kaffine_scale(l->k, column, sign), kaffine_scale(l->k, row, -sign));
    int64_t low, high;

    distance = kaffine_add_const(distance, -sign * (int64_t)o->diagonal);
    kaffine_range(l->k, distance, &low, &high);
    if (high < 0)
        return kernel_const(l->k, ktype_of(t->type), (union scalar){.u64 = 0});
    return lower_guarded(l, n->inputs[0].value, m, 1, &(struct kguard){distance, high + 1}, (union scalar){.u64 = 0});
}
