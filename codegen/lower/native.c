/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits scalar operations of the kernel IR that are one instruction or a few: what expansions are made of, and what needs none.
 * There are no fast-math flags and no contraction: every operation rounds as IEEE says.  Nothing traps.
 */
#include "codegen/lower/scalar.h"

/* ---- integer division ---- */

static V divide_by_float(const struct build *m, V a, V b, bool is_signed, T float_element)
{
    T type = type_like(float_element, a), result = a->type;
    V x = is_signed ? op_sitofp(m, a, type) : op_uitofp(m, a, type);
    V y = is_signed ? op_sitofp(m, b, type) : op_uitofp(m, b, type);
    V q = op_div(m, x, y);
    return is_signed ? op_fptosi(m, q, result) : op_fptoui(m, q, result);
}

/* Returns a / b, truncated.  A division by 0 gives 0, and the smallest number divided by -1 is itself. */
static V int_divide(const struct build *m, V a, V b, bool is_signed)
{
    uint32_t bits = loop_type_bits(a->type);
    V zero = const_zero(m, a->type), one = const_int_like(m, a, 1);
    V by_zero = op_eq(m, b, zero), special = by_zero, by_minus_one = NULL, q;

    if (is_signed) {
        by_minus_one = op_eq(m, b, const_ones(m, b->type));
        special = op_or(m, special, by_minus_one);
    }
    V divisor = op_select(m, special, one, b);
    /* There is no vector division of integers.  A quotient of numbers of n bits lies at least 2^-n below the next whole one,
     * and a float with more than 2n bits of precision cannot round up to that.  n is 8 in float32.  It is 32 in double:
     * relative to a quotient that shrinks as the divisor grows, n + n/2 bits are needed and not 2n. */
    if (lanes_of(a) > 1 && bits == 8)
        q = divide_by_float(m, a, divisor, is_signed, type_f32);
    else if (lanes_of(a) > 1 && bits == 32 && m->isa->f64)
        q = divide_by_float(m, a, divisor, is_signed, type_f64);
    else
        q = is_signed ? op_sdiv(m, a, divisor) : op_udiv(m, a, divisor);
    if (is_signed)
        q = op_select(m, by_minus_one, op_neg(m, a), q);
    return op_select(m, by_zero, zero, q);
}

/* ---- integer powers ---- */

/* Returns the function for powers of that type.  It is a separate function, since it loops: it squares the base until no lane
 * has exponent bits left. */
static struct loop_function *power_function(const struct build *m, T type)
{
    struct loop_module *module = m->b->module;
    struct loop_builder b;
    const struct build f = {&b, m->isa, m->index_bits};
    char name[64];

    snprintf(name, sizeof name, "power.v%ui%u", loop_type_lanes(type), loop_type_bits(type));
    struct loop_function *function = loop_function_find(module, name);
    if (function)
        return function;
    function = loop_function_add(module, name, (T[2]){type, type}, 2, type);
    if (!loop_builder_begin(&b, module, function))
        return NULL;
    function->internal = true;
    V result = loop_slot(&b, type), square = loop_slot(&b, type), left = loop_slot(&b, type);
    V one = const_bits(&f, type, 1), zero = const_zero(&f, type);
    op_set(&f, result, one);
    op_set(&f, square, loop_parameter(&b, 0));
    op_set(&f, left, loop_parameter(&b, 1));
    loop_for_begin(&b, const_int(&f, 32, 0), const_int(&f, 32, 1), LOOP_AT_LEAST_ONCE); /* is 0 until it ends */
    V old = op_get(&f, result), factor = op_get(&f, square), bits = op_get(&f, left);
    V odd = op_ne(&f, op_and(&f, bits, one), zero);
    op_set(&f, result, op_select(&f, odd, op_mul(&f, old, factor), old));
    op_set(&f, square, op_mul(&f, factor, factor));
    bits = op_lshr(&f, bits, one);
    op_set(&f, left, bits);
    loop_for_end(&b, op_zext(&f, op_not(&f, op_any(&f, op_ne(&f, bits, zero))), type_i32));
    op1(&f, LOOP_RETURN, op_get(&f, result));
    return function;
}

/* Returns a to the power of b, which wraps.  If b is negative that is 1 / a^-b, truncated. */
static V int_power(const struct build *m, V a, V b, bool is_signed)
{
    T type = a->type;
    V zero = const_zero(m, type), one = const_int_like(m, a, 1), minus_one = const_ones(m, type);
    V exponent = b, negative = NULL;

    if (is_signed) { /* so that the loop ends early */
        negative = op_lt(m, b, zero);
        exponent = op_select(m, negative, zero, b);
    }
    V power = loop_call(m->b, power_function(m, type), (V[2]){a, exponent});
    if (!is_signed)
        return power;
    /* This is 1 / a^n, truncated: only 1 and -1 leave something. */
    V odd = op_ne(m, op_and(m, b, one), zero);
    V sign = op_select(m, odd, minus_one, one);
    V inverse = op_select(m, op_eq(m, a, minus_one), sign, zero);
    inverse = op_select(m, op_eq(m, a, one), one, inverse);
    return op_select(m, negative, inverse, power);
}

/* ---- saturating casts ---- */

/* Bytes are clamped as floats: a select of a comparison with a bound is one instruction.  It takes the bound where there is
 * NaN, which is right for the lower one of unsigned bytes, 0. */
static V float_to_byte(const struct build *m, V f, bool is_signed)
{
    V bottom = const_f_like(m, f, is_signed ? INT8_MIN : 0), top = const_f_like(m, f, is_signed ? INT8_MAX : UINT8_MAX);

    if (is_signed)
        f = op_select(m, op_not(m, op_unordered(m, f, f)), f, const_zero(m, f->type));
    f = op_select(m, op_gt(m, f, bottom), f, bottom);
    f = op_select(m, op_lt(m, f, top), f, top);
    /* a signed conversion to 32 bits exists everywhere */
    return op_trunc(m, op_fptosi(m, f, type_like(type_i32, f)), type_like(type_i8, f));
}

/* Converts floats to integers of so many bits: truncates, saturates, and turns NaN into 0.  Within the range a conversion is
 * one instruction, and selections do the rest: LLVM makes scalar code of its own saturating conversion of vectors. */
static V float_to_int(const struct build *m, V f, uint32_t bits, bool is_signed)
{
    if (bits == 8 && loop_type_bits(f->type) == 32)
        return float_to_byte(m, f, is_signed);
    T type = type_like(type_int(bits), f);
    double low = is_signed ? -ldexp(1, (int)bits - 1) : 0, high = ldexp(1, (int)bits - is_signed);
    V bottom = const_f_like(m, f, low), top = const_f_like(m, f, high);
    V too_low = op_lt(m, f, bottom), too_high = op_ge(m, f, top);
    V in_range = op_and(m, op_ge(m, f, bottom), op_lt(m, f, top));
    V x = op_select(m, in_range, f, const_zero(m, f->type));
    V r = is_signed ? op_fptosi(m, x, type) : op_fptoui(m, x, type);

    uint64_t least = is_signed ? -(UINT64_C(1) << (bits - 1)) : 0;
    uint64_t most = is_signed ? (UINT64_C(1) << (bits - 1)) - 1 : bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    r = op_select(m, too_low, const_int_like(m, r, (int64_t)least), r);
    return op_select(m, too_high, const_int_like(m, r, (int64_t)most), r);
}

static V float_sign(const struct build *m, V a)
{
    V zero = const_f_like(m, a, 0);
    V less = op_lt(m, a, zero), more = op_gt(m, a, zero);
    a = op_select(m, less, const_f_like(m, a, -1), a);
    return op_select(m, more, const_f_like(m, a, 1), a);
}

/* Returns whether all lanes are one number, which is stored. */
static bool is_number(V v, double *number)
{
    uint64_t bits;

    if (!is_float(v) || !loop_is_splat(v, &bits))
        return false;
    *number = element_type(v) == type_f32 ? (double)(union scalar){.u32 = (uint32_t)bits}.f32 : (union scalar){.u64 = bits}.f64;
    return !isnan(*number);
}

/*
 * Returns the extreme of a vector and a number other than NaN by a comparison and a selection.  A NaN in the vector compares
 * false and stays.  So does a zero of either sign next to a zero, which is right if the number is the zero that never wins, and
 * for a maximum adding +0 makes +0 of it.  Returns NULL for a minimum with -0.
 */
static V compared_extreme(const struct build *m, bool largest, V a, V number_lanes, double number)
{
    if (!largest && number == 0 && signbit(number))
        return NULL;
    V other = op2(m, largest ? LOOP_LT : LOOP_GT, a, number_lanes);
    V one = op_select(m, other, number_lanes, a);
    return largest && number == 0 && !signbit(number) ? op_add(m, one, number_lanes) : one;
}

/* Returns the extreme of two numbers of float64 by comparisons: NaN of either, and of two zeros the one of the right sign. */
static V f64_extreme(const struct build *m, bool largest, V a, V b)
{
    V one = op_bits(m, a, type_i64), other = op_bits(m, b, type_i64);
    V both = largest ? op_and(m, one, other) : op_or(m, one, other);
    V r = op_select(m, op2(m, largest ? LOOP_GT : LOOP_LT, a, b), a, b);

    r = op_select(m, op_eq(m, a, b), op_bits(m, both, type_f64), r);
    return op_select(m, op_unordered(m, a, b), op_add(m, a, b), r);
}

static V float_extreme(const struct build *m, bool largest, V a, V b)
{
    double number;

    if (!m->isa->f64_extremes && element_type(a) == type_f64)
        return f64_extreme(m, largest, a, b);
    if (m->isa->select_extremes && (is_number(a, &number) || is_number(b, &number))) {
        V one = is_number(b, &number) ? compared_extreme(m, largest, a, b, number) : compared_extreme(m, largest, b, a, number);
        if (one)
            return one;
    }
    if (avx512_has_extreme(m, a))
        return avx512_extreme(m, largest, a, b);
    return op2(m, largest ? LOOP_MAXIMUM : LOOP_MINIMUM, a, b);
}

/* Without SSE4.1 the rounding instructions are library calls.  Adding and subtracting 2^23, or 2^52, rounds smaller numbers
 * (nearest even); the sign is put back for -0.  Larger numbers are whole. */
static V round_by_adding(const struct build *m, V x)
{
    V magic = const_f_like(m, x, element_type(x) == type_f64 ? 0x1p52 : 0x1p23);
    V a = op_abs(m, x);
    V r = op_sub(m, op_add(m, a, magic), magic);
    r = op_copy_sign(m, r, x);
    return op_select(m, op_lt(m, a, magic), r, x);
}

/* Rounds floats of any size to whole numbers without library calls; ceil(-0.5) is -0. */
static V rounded(const struct build *m, enum loop_op op, V x)
{
    if (m->isa->rounding && (m->isa->f64 || element_type(x) != type_f64))
        return op1(m, op, x);
    V r = round_by_adding(m, x);
    if (op == LOOP_ROUND_EVEN)
        return r;
    V moved = op_add(m, r, const_f_like(m, x, op == LOOP_FLOOR ? -1 : 1));
    V beyond = op2(m, op == LOOP_FLOOR ? LOOP_GT : LOOP_LT, r, x);
    return op_copy_sign(m, op_select(m, beyond, moved, r), x);
}

/* Emits operations on floats that are a few instructions. */
static V float_operation(const struct build *m, enum kop op, V a, V b, V c)
{
    switch (op) {
    case K_MIN:
        return float_extreme(m, false, a, b);
    case K_MAX:
        return float_extreme(m, true, a, b);
    case K_SIGN:
        return float_sign(m, a);
    case K_FLOOR:
        return rounded(m, LOOP_FLOOR, a);
    case K_CEIL:
        return rounded(m, LOOP_CEIL, a);
    case K_ROUND_EVEN:
        return rounded(m, LOOP_ROUND_EVEN, a);
    case K_RECIPROCAL:
        return op_div(m, const_f_like(m, a, 1), a);
    case K_FMA:
        return op_mad(m, a, b, c);
    case K_FRACTION:
        return avx512_fraction(m, a);
    case K_LDEXP:
        return avx512_scale(m, a, c);
    case K_DIV_APPROX:
        return avx512_divide(m, a, b);
    default:
        return a;
    }
}

static V int_operation(const struct build *m, enum kop op, bool is_signed, V a, V b, V c)
{
    V zero = const_zero(m, a->type);

    switch (op) {
    case K_FMA:
        return op_add(m, op_mul(m, a, b), c);
    case K_DIV:
        return int_divide(m, a, b, is_signed);
    case K_POW:
        return int_power(m, a, b, is_signed);
    case K_SIGN: {
        V some = op_zext(m, op_ne(m, a, zero), a->type);
        if (!is_signed)
            return some;
        V negative = op_lt(m, a, zero);
        return op_select(m, negative, const_ones(m, a->type), some);
    }
    case K_NOT:
        return op_not(m, a);
    default: /* rounding an integer changes nothing, nor does the magnitude of one without a sign */
        return a;
    }
}

static V cast(const struct build *m, enum ktype to, enum ktype from, V a)
{
    uint32_t bits = to == KT_BOOL ? 1 : 8 * (uint32_t)ktype_size(to);
    if (to == from)
        return a;
    if (to == KT_F64 && from == KT_F32)
        return op_fpext(m, a, type_like(type_f64, a));
    if (to == KT_F32 && from == KT_F64)
        return op_fptrunc(m, a, type_like(type_f32, a));
    if (ktype_is_float(to)) {
        T type = type_like(to == KT_F64 ? type_f64 : type_f32, a);
        return ktype_is_signed(from) ? op_sitofp(m, a, type) : op_uitofp(m, a, type);
    }
    if (ktype_is_float(from))
        return float_to_int(m, a, bits, ktype_is_signed(to));
    const uint32_t own = loop_type_bits(a->type);
    return op_convert(m,
                      bits < own              ? LOOP_TRUNC
                      : ktype_is_signed(from) ? LOOP_SEXT
                                              : LOOP_ZEXT,
                      a, type_like(type_int(bits), a));
}

/* These operations are one of the loop language, on floats and on integers with and without a sign. */
static const struct {
    uint8_t floats, with_sign, without;
} direct[K_OP_COUNT] = {
    [K_ADD] = {LOOP_ADD, LOOP_ADD, LOOP_ADD}, [K_SUB] = {LOOP_SUB, LOOP_SUB, LOOP_SUB},
    [K_MUL] = {LOOP_MUL, LOOP_MUL, LOOP_MUL}, [K_DIV] = {LOOP_DIV, 0, 0},
    [K_MIN] = {0, LOOP_SMIN, LOOP_UMIN},      [K_MAX] = {0, LOOP_SMAX, LOOP_UMAX},
    [K_AND] = {0, LOOP_AND, LOOP_AND},        [K_OR] = {0, LOOP_OR, LOOP_OR},
    [K_XOR] = {0, LOOP_XOR, LOOP_XOR},        [K_SHL] = {0, LOOP_SHL, LOOP_SHL},
    [K_SHR] = {0, LOOP_ASHR, LOOP_LSHR},      [K_NEG] = {LOOP_NEG, LOOP_NEG, LOOP_NEG},
    [K_ABS] = {LOOP_ABS, LOOP_ABS, 0},        [K_SQRT] = {LOOP_SQRT, 0, 0},
    [K_COPY_SIGN] = {LOOP_COPY_SIGN, 0, 0},   [K_EQ] = {LOOP_EQ, LOOP_EQ, LOOP_EQ},
    [K_NE] = {LOOP_NE, LOOP_NE, LOOP_NE},     [K_LT] = {LOOP_LT, LOOP_LT, LOOP_ULT},
    [K_LE] = {LOOP_LE, LOOP_LE, LOOP_ULE},
};

V emit_native(const struct build *m, enum kop op, enum ktype type, enum ktype from, V a, V b, V c)
{
    const uint8_t one = ktype_is_float(from)    ? direct[op].floats
                        : ktype_is_signed(from) ? direct[op].with_sign
                                                : direct[op].without;

    if (one)
        return loop_add(m->b, one, 0, (V[2]){a, b}, kop_arity(op), 0);
    switch (op) {
    case K_CAST:
        return cast(m, type, from, a);
    case K_CAST_IN_RANGE:
        return op_fptosi(m, a, type_like(type_of(type), a));
    case K_BITCAST:
        return op_bits(m, a, type_of(type));
    case K_IS_NAN:
        return op_unordered(m, a, a);
    case K_IS_INFINITE: {
        V infinity = const_f_like(m, a, INFINITY);
        return op_eq(m, op_abs(m, a), infinity);
    }
    case K_SELECT:
        return op_select(m, a, b, c);
    default:
        break;
    }
    return ktype_is_float(type) ? float_operation(m, op, a, b, c) : int_operation(m, op, ktype_is_signed(type), a, b, c);
}
