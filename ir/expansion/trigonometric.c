/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Expands sin, cos and tan of float32, which are computed in float64 by polynomials (bench/fit_expansion.py).
 *
 * The error before the last rounding is below 2^-40, so that results are nearly always correctly rounded, for arguments of any
 * size.
 */
#include "ir/expansion/expander.h"

/* These polynomials in r^2 are (sin(r) - r) / r^3 and (cos(r) - 1 + r^2 / 2) / r^4 for |r| <= 0.7855. */
static const double sin_coefficients[] = {-0x1.555555555223fp-3, 0x1.1111110c875a2p-7, -0x1.a019f939166e0p-13,
                                          0x1.71d76cb0fd3a8p-19, -0x1.a9616cf878bbap-26};
static const double cos_coefficients[] = {0x1.5555555552dd0p-5, -0x1.6c16c1671ff2dp-10, 0x1.a019fa5eb3d6cp-16,
                                          -0x1.27e00af77280ap-22, 0x1.1bbe5ba28863cp-29};

/* Writes x as quadrant * pi/2 + r with |r| <= pi/4.  Quadrants count modulo 4, as KT_I32; r is KT_F64. */
struct angle {
    value quadrant, r;
};

/* Reduces |x| < 2^26: pi/2 comes in three parts, of which the first two have 26 bits, so that all but the last product are
 * exact. */
static struct angle reduce_near(struct expander *e, value x)
{
    struct angle a;
    value wide = convert(e, KT_F64, x);
    value magic = number(e, wide, 0x1.8p52); /* rounds to whole numbers and leaves them in the low bits */
    value shifted = add(e, mul(e, wide, number(e, wide, 0x1.45f306dc9c883p-1)), magic);
    value n = sub(e, shifted, magic);
    a.r = sub(e, wide, mul(e, n, number(e, wide, 0x1.921fb5p+0)));
    a.r = sub(e, a.r, mul(e, n, number(e, wide, 0x1.110b46p-26)));
    a.r = sub(e, a.r, mul(e, n, number(e, wide, 0x1.1a62633145c07p-54)));
    a.quadrant = convert(e, KT_I32, bits_as(e, KT_I64, shifted));
    return a;
}

/* These are the digits of 2/pi in words of 32 bits, the first word being the first 32 fraction bits. */
static const uint32_t two_over_pi[] = {0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0,
                                       0xDB629599, 0x3C439041, 0xFE5163AB, 0xDEBBC561};
enum { WORDS = sizeof two_over_pi / sizeof *two_over_pi };

/* Returns word `index` (KT_U32) of two_over_pi as KT_U64, and 0 beyond, by selection: there is no table in memory and no
 * gather. */
static value word_of(struct expander *e, value index, value zero)
{
    value w = zero;
    for (uint32_t i = 0; i < WORDS; i++)
        w = select_if(e, step2(e, K_EQ, index, integer(e, index, i)), integer(e, zero, two_over_pi[i]), w);
    return w;
}

/* Reduces large numbers after Payne and Hanek: of the product of the 24-bit mantissa and 2/pi only 96 bits matter, those from
 * the units of the quadrant down.  x = mantissa * 2^shift; the bits of 2/pi before position shift - 2 give multiples of 4
 * quadrants.  For numbers below 2^24 the result is of no use, but all shifts are defined. */
static struct angle reduce_far(struct expander *e, value x)
{
    value bits = bits_as(e, KT_U32, x), exponent = masked(e, shift_right(e, bits, 23), 0xFF);
    value mantissa = either(e, masked(e, bits, 0x7FFFFF), integer(e, bits, 0x800000));
    value skip = bits_as(e, KT_I32, sub(e, exponent, integer(e, exponent, 150 + 2))); /* shift - 2: whole bits to skip */
    skip = bits_as(e, KT_U32, step2(e, K_MAX, skip, integer(e, skip, 0)));
    value word = shift_right(e, skip, 5), in_word = convert(e, KT_U64, masked(e, skip, 31)), w[4], p[3];
    value zero = integer(e, in_word, 0);
    for (uint32_t i = 0; i < 4; i++)
        w[i] = word_of(e, add(e, word, integer(e, word, i)), zero);
    /* p holds 96 bits of 2/pi from position skip on, as three words of 32. */
    value down = sub(e, integer(e, in_word, 32), in_word);
    for (uint32_t i = 0; i < 3; i++)
        p[i] = masked(e, step2(e, K_SHR, either(e, shift_left(e, w[i], 32), w[i + 1]), down), 0xFFFFFFFF);
    /* The product is mantissa * p: bit 0 of p[0]'s product weighs 2^-30 quadrants (2 bits of whole quadrants lead), modulo
     * 4. */
    value wide = convert(e, KT_U64, mantissa);
    value product = shift_left(e, mul(e, wide, p[0]), 32);
    product = add(e, product, mul(e, wide, p[1]));
    product = add(e, product, shift_right(e, mul(e, wide, p[2]), 32));
    /* The product has 2 bits of quadrant and 62 of fraction.  It is rounded to nearest: the rest becomes a signed fraction. */
    value quadrant = shift_right(e, add(e, product, integer(e, product, INT64_C(1) << 61)), 62);
    value rest = sub(e, product, shift_left(e, quadrant, 62));
    value r = convert(e, KT_F64, bits_as(e, KT_I64, rest));
    r = mul(e, r, number(e, r, 0x1.921fb54442d18p+0 * 0x1p-62));
    value sign = bits_as(e, KT_I32, bits), negative = step2(e, K_LT, sign, integer(e, sign, 0));
    struct angle a;
    a.quadrant = convert(e, KT_I32, quadrant);
    a.quadrant = select_if(e, negative, negate(e, a.quadrant), a.quadrant);
    a.r = select_if(e, negative, negate(e, r), r);
    return a;
}

/* Computes both, the second one only where a lane needs it. */
static struct angle reduce(struct expander *e, value x)
{
    struct angle near = reduce_near(e, x), far, a;
    value large = at_least(e, magnitude(e, x), 0x1p26);
    e->out->rare_first = e->out->value_count;
    e->out->rare_condition = large;
    far = reduce_far(e, x);
    a.r = select_if(e, large, far.r, near.r);
    a.quadrant = select_if(e, large, far.quadrant, near.quadrant);
    e->out->rare_end = e->out->value_count;
    e->out->rare_merged = 2;
    return a;
}

static value sin_near(struct expander *e, value r, value square)
{
    return multiply_add(e, mul(e, POLYNOMIAL(e, square, sin_coefficients), square), r, r);
}

static value cos_near(struct expander *e, value square)
{
    value p = multiply_add(e, POLYNOMIAL(e, square, cos_coefficients), square, number(e, square, -0.5));
    return multiply_add(e, p, square, number(e, square, 1));
}

/* Returns y rounded, and NaN where x is infinite or NaN. */
static value finish(struct expander *e, value x, value y)
{
    value finite = less(e, magnitude(e, x), INFINITY);
    return select_if(e, finite, convert(e, KT_F32, y), number(e, x, NAN));
}

/* Returns sin(x + turn * pi/2). */
static value sin_shifted(struct expander *e, value x, int64_t turn)
{
    struct angle a = reduce(e, x);
    value square = mul(e, a.r, a.r), quadrant = add(e, a.quadrant, integer(e, a.quadrant, turn));
    value s = sin_near(e, a.r, square), c = cos_near(e, square);
    value y = select_if(e, has_bit(e, quadrant, 1), c, s), minus = negate(e, y);
    return finish(e, x, select_if(e, has_bit(e, quadrant, 2), minus, y));
}

value expand_sin(struct expander *e, const value *args)
{
    value zero = equals(e, args[0], 0); /* -0 */
    return select_if(e, zero, args[0], sin_shifted(e, args[0], 0));
}

value expand_cos(struct expander *e, const value *args)
{
    return sin_shifted(e, args[0], 1);
}

value expand_tan(struct expander *e, const value *args)
{
    value x = args[0], zero = equals(e, x, 0);
    struct angle a = reduce(e, x);
    value square = mul(e, a.r, a.r), s = sin_near(e, a.r, square), c = cos_near(e, square), odd = has_bit(e, a.quadrant, 1);
    value divisor = select_if(e, odd, s, c), dividend = select_if(e, odd, negate(e, c), s);
    return select_if(e, zero, x, finish(e, x, step2(e, K_DIV, dividend, divisor)));
}
