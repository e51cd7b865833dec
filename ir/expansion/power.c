/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Expands pow of float32: 2^(y log2 |x|) in float64, by polynomials (bench/fit_expansion.py), and IEEE 754's special cases.
 *
 * The error before the last rounding is below 2^-40, so that results are nearly always correctly rounded.
 */
#include "ir/expansion/expander.h"

/* This polynomial in s^2 is log2((1 + s) / (1 - s)) / s for |s| <= 0.1716. */
static const double log2_coefficients[] = {0x1.71547652b82ffp+1, 0x1.ec709dc39c9e3p-1, 0x1.2776c516a9b40p-1,
                                           0x1.a6175676603e2p-2, 0x1.484fac6206182p-2, 0x1.0bb7b44f13c8cp-2,
                                           0x1.f185c57c39929p-3};
/* This polynomial is (2^f - 1) / f for |f| <= 1/2. */
static const double exp2_coefficients[] = {0x1.62e42fefa08c8p-1,  0x1.ebfbdff823db3p-3,  0x1.c6b08d7a984a1p-5,
                                           0x1.3b2ab71804f19p-7,  0x1.5d87ebe052439p-10, 0x1.4308acaefda84p-13,
                                           0x1.fffd7a02511a6p-17, 0x1.63d10b0938c6ep-20, 0x1.89c4eab80d118p-24};

/* Returns log2 of a positive normal KT_F64. */
static value log2_f64(struct expander *e, value x)
{
    value bits = bits_as(e, KT_I64, x), root = integer(e, bits, 0x3FE6A09E667F3BCD); /* sqrt(1/2) */
    value moved = sub(e, bits, root), n = shift_right(e, moved, 52);
    value mantissa = bits_as(e, KT_F64, add(e, masked(e, moved, 0xFFFFFFFFFFFFF), root));
    value one = number(e, x, 1), sum = add(e, mantissa, one), difference = sub(e, mantissa, one);
    value s = step2(e, K_DIV, difference, sum);
    value fraction = mul(e, POLYNOMIAL(e, mul(e, s, s), log2_coefficients), s);
    /* 64-bit integers become doubles without the instruction that SSE2 and AVX2 lack: by the magic constant. */
    value biased = bits_as(e, KT_F64, add(e, n, integer(e, n, 0x4338000000000000)));
    return add(e, sub(e, biased, number(e, x, 0x1.8p52)), fraction);
}

/* Returns 2^x of KT_F64 for |x| <= 1000. */
static value exp2_f64(struct expander *e, value x)
{
    value magic = number(e, x, 0x1.8p52), shifted = add(e, x, magic), f = sub(e, x, sub(e, shifted, magic));
    value y = multiply_add(e, POLYNOMIAL(e, f, exp2_coefficients), f, number(e, x, 1));
    value scale = shift_left(e, bits_as(e, KT_I64, shifted), 52);
    return bits_as(e, KT_F64, add(e, bits_as(e, KT_I64, y), scale));
}

value expand_pow(struct expander *e, const value *args)
{
    value x = args[0], y = args[1], zero = number(e, x, 0), one = number(e, x, 1), infinity = number(e, x, INFINITY);
    value a = magnitude(e, x), b = magnitude(e, y);
    value base_zero = equals(e, x, 0), base_infinite = step2(e, K_EQ, a, infinity);
    value y_infinite = step2(e, K_EQ, b, infinity), y_negative = less(e, y, 0);

    /* These tell whole and odd exponents: from 2^24 on every float is even. */
    value whole = step2(e, K_EQ, step1(e, K_FLOOR, y), y), is_small = less(e, b, 0x1p24);
    value whole_part =
        expander_step(e, K_CAST_IN_RANGE, KT_I32, select_if(e, is_small, y, zero), EXPANSION_NONE, EXPANSION_NONE);
    value low_bit = has_bit(e, whole_part, 1), odd = both(e, both(e, whole, is_small), low_bit);
    value bits = bits_as(e, KT_I32, x), sign_bit = step2(e, K_LT, bits, integer(e, bits, 0));
    value negative = both(e, odd, sign_bit);

    /* This is the finite case: |x|^y, with subnormals, over- and underflow by the last rounding. */
    value ordinary = select_if(e, either(e, base_zero, base_infinite), one, a);
    value logarithm = log2_f64(e, convert(e, KT_F64, ordinary)), exponent = mul(e, convert(e, KT_F64, y), logarithm);
    exponent = select_if(e, more(e, exponent, 200), number(e, exponent, 200), exponent);
    exponent = select_if(e, less(e, exponent, -200), number(e, exponent, -200), exponent);
    value r = convert(e, KT_F32, exp2_f64(e, exponent));

    /* If |x| is 0 or infinite, the result is 0 or infinity by the sign of y. */
    value grows = step2(e, K_XOR, base_zero, step1(e, K_NOT, y_negative));
    value edge = select_if(e, grows, infinity, zero);
    r = select_if(e, either(e, base_zero, base_infinite), edge, r);
    /* If y is infinite, the result depends on whether |x| is above or below 1. */
    value above = step2(e, K_LT, one, a), equal = step2(e, K_EQ, a, one);
    value limit = select_if(e, step2(e, K_XOR, above, y_negative), infinity, zero);
    r = select_if(e, y_infinite, select_if(e, equal, one, limit), r);
    r = select_if(e, negative, negate(e, r), r);

    /* The result is NaN for a negative finite base with an exponent that is not whole, and for NaN operands. */
    value base_finite = step1(e, K_NOT, base_infinite), finite_negative = both(e, less(e, x, 0), base_finite);
    value invalid = both(e, finite_negative, step1(e, K_NOT, whole));
    value x_nan = step1(e, K_IS_NAN, x), y_nan = step1(e, K_IS_NAN, y);
    invalid = either(e, invalid, either(e, x_nan, y_nan));
    r = select_if(e, invalid, number(e, x, NAN), r);
    /* 1^y and x^0 are 1 whatever the other is. */
    value y_zero = equals(e, y, 0), certain = either(e, equals(e, x, 1), y_zero);
    return select_if(e, certain, one, r);
}
