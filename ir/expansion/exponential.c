/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Expands exp, exp2, expm1, sigmoid, tanh and erf in float32, by polynomials (bench/fit_expansion.py).
 *
 * NaN, infinities, signed zeros and subnormals come out as IEEE 754 wants.
 */
#include "ir/expansion/expander.h"

/* Returns x within [low, high], infinite ones being no limit; NaN stays. */
static value clamp(struct expander *e, value x, double low, double high)
{
    if (low > -INFINITY)
        x = select_if(e, less(e, x, low), number(e, x, low), x);
    return high < INFINITY ? select_if(e, more(e, x, high), number(e, x, high), x) : x;
}

/* Returns 2^n for integers -126 <= n <= 127. */
static value power_of_two(struct expander *e, value n)
{
    return bits_as(e, KT_F32, shift_left(e, add(e, n, integer(e, n, 127)), 23));
}

/* A number as n and a remainder r; n is whole, as KT_I32 and KT_F32. */
struct reduced {
    value n, n_float, r;
};

/* Adding 1.5 * 2^23 rounds to whole numbers and leaves them in the low bits. */
static const double magic = 0x1.8p23;

static struct reduced nearest(struct expander *e, value shifted)
{
    value bits = bits_as(e, KT_I32, shifted);
    struct reduced d = {.n = sub(e, bits, integer(e, bits, 0x4B400000))};

    d.n_float = sub(e, shifted, number(e, shifted, magic));
    return d;
}

/* Writes x as n ln 2 + r with |r| <= ln 2 / 2 (a little more, since x / ln 2 is rounded twice without fused multiply-add). */
static struct reduced reduce(struct expander *e, value x)
{
    struct reduced d = nearest(e, multiply_add_const(e, x, 0x1.715476p+0, number(e, x, magic)));
    /* The first part of ln 2 has 14 bits, so that its products are exact also without fused multiply-add. */
    d.r = multiply_add_const(e, d.n_float, -0x1.62ep-1, x);
    d.r = multiply_add_const(e, d.n_float, -0x1.0bfbe8p-15, d.r);
    return d;
}

/* This polynomial is (e^r - 1 - r) / r^2 for |r| <= 0.3467. */
static const double exp_coefficients[] = {0x1.fffffcp-2, 0x1.555492p-3, 0x1.5558f2p-5, 0x1.123a0cp-7, 0x1.6a2452p-10};

/* Beyond these e^x is 0 or infinite in float32. */
static const double exp_low = -104.5, exp_high = 89;

/* Returns p 2^n, for 0.5 <= p < 2 and an n that has the sign of `sign` or is 0. */
static value scale(struct expander *e, value p, const struct reduced *d, value sign, double n_low, double n_high)
{
    if (e->target->ldexp)
        return step3(e, K_LDEXP, p, d->n, d->n_float);
    if (n_low >= -125 && n_high <= 126)
        return mul(e, p, power_of_two(e, d->n));
    /* The last of two factors, 2^64 or 2^-64, overflows or rounds to a subnormal number. */
    value last = number(e, p, 0x1p-64), biases = shift_left(e, add(e, d->n, integer(e, d->n, 254)), 23);
    if (n_high > 126) {
        value bits = bits_as(e, KT_I32, sign), is_less = step2(e, K_LT, bits, integer(e, bits, 0));
        last = select_if(e, is_less, last, number(e, p, 0x1p64));
    }
    p = mul(e, p, bits_as(e, KT_F32, sub(e, biases, bits_as(e, KT_I32, last))));
    return mul(e, p, last);
}

/* Returns e^x for low <= x <= high, or NaN. */
static value exp_between(struct expander *e, value x, double low, double high)
{
    struct reduced d = reduce(e, x);
    value one = number(e, x, 1), p = POLYNOMIAL(e, d.r, exp_coefficients);
    p = multiply_add(e, multiply_add(e, p, d.r, one), d.r, one);
    return scale(e, p, &d, x, low * 1.45, high * 1.45);
}

value expand_exp(struct expander *e, const value *args)
{
    return exp_between(e, clamp(e, args[0], exp_low, exp_high), exp_low, exp_high);
}

/* This polynomial is (2^r - 1) / r for |r| <= 1/2. */
static const double exp2_coefficients[] = {0x1.62e432p-1, 0x1.ebfbe2p-3,  0x1.c6ae72p-5,
                                           0x1.3b270ep-7, 0x1.5f72aep-10, 0x1.470bd4p-13};

value expand_exp2(struct expander *e, const value *args)
{
    value x = args[0], one = number(e, x, 1);
    struct reduced d;

    if (e->target->ldexp) {
        d.r = step1(e, K_FRACTION, x);
        d.n_float = sub(e, x, d.r);
        d.n = convert(e, KT_I32, d.n_float);
    } else { /* beyond these 2^x is 0 or infinite */
        x = clamp(e, x, -151, 129);
        d = nearest(e, add(e, x, number(e, x, magic)));
        d.r = sub(e, x, d.n_float);
    }
    value p = multiply_add(e, POLYNOMIAL(e, d.r, exp2_coefficients), d.r, one);
    return scale(e, p, &d, x, -151, 129);
}

value expand_expm1(struct expander *e, const value *args)
{
    value x = args[0], small = less(e, magnitude(e, x), 0x1p-24);
    struct reduced d = reduce(e, clamp(e, x, -18, 89));
    value p = POLYNOMIAL(e, d.r, exp_coefficients);
    p = multiply_add(e, mul(e, p, d.r), d.r, d.r); /* e^r - 1 */
    /* This is 2^n p + (2^n - 1), with half of it first: 2^128 is too large. */
    value scale = power_of_two(e, sub(e, d.n, integer(e, d.n, 1)));
    value y = multiply_add(e, scale, p, sub(e, scale, number(e, x, 0.5)));
    return select_if(e, small, x, add(e, y, y)); /* also keeps -0 */
}

value expand_sigmoid(struct expander *e, const value *args)
{
    /* This is 1 / (1 + e^-|x|), or e^-|x| times that for negative x: it never overflows, and small results keep their bits. */
    value x = args[0], negative = clamp(e, negate(e, magnitude(e, x)), exp_low, INFINITY);
    value exponential = exp_between(e, negative, exp_low, 0);
    value one = number(e, x, 1), sum = add(e, exponential, one);
    value y = step2(e, K_DIV_APPROX, select_if(e, less(e, x, 0), exponential, one), sum);
    /* lost is what rounding the sum lost, which is divided by the sum; where that is not near 1, half of the correction is
     * better than none. */
    value lost = sub(e, sub(e, sum, one), exponential);
    return multiply_add(e, y, lost, y);
}

/* This polynomial in x^2 is (tanh(x) - x) / x^3 for |x| <= 0.626. */
static const double tanh_coefficients[] = {-0x1.555532p-2, 0x1.11070cp-3, -0x1.b83878p-5, 0x1.520bb6p-6, -0x1.756364p-8};

value expand_tanh(struct expander *e, const value *args)
{
    value x = args[0], a = magnitude(e, x), square = mul(e, x, x), one = number(e, x, 1);
    value small = multiply_add(e, mul(e, POLYNOMIAL(e, square, tanh_coefficients), square), x, x);
    /* This is 1 - 1 / (e^2a + 1) * 2, where doubling is exact; it is 1 from 9.02 on. */
    value exponential = exp_between(e, clamp(e, add(e, a, a), -INFINITY, 40), 0, 40);
    value quotient = step2(e, K_DIV_APPROX, one, add(e, exponential, one));
    value large = multiply_add(e, number(e, x, -2), quotient, one);
    return step2(e, K_COPY_SIGN, select_if(e, less(e, a, 0.625), small, large), x); /* also -0 */
}

/* This polynomial in x^2 is erf(x) / x - 1 for |x| <= 0.951. */
static const double erf_small[] = {0x1.06eba8p-3, -0x1.812742p-2,  0x1.ce2dc8p-4, -0x1.b8091ap-6,
                                   0x1.5493cap-8, -0x1.a8774ep-11, 0x1.5707d6p-14};
/* This polynomial in t = x - 1 is (log2(1 - erf(x)) - erf_first) / t for 0.949 <= x <= 4. */
static const double erf_first = -0x1.558eaep+1;
static const double erf_large[] = {-0x1.e7532ap+1, -0x1.3762e4p+0, -0x1.eac2d2p-5,
                                   0x1.d55038p-7,  -0x1.5e01ccp-9, 0x1.21dc88p-12};
/* Appends a polynomial of 6 coefficients as short chains, most of them side by side. */
static value parallel_polynomial(struct expander *e, value t, const double *c)
{
    value square = mul(e, t, t), pairs[3];

    for (int i = 0; i < 3; i++) {
        value even = number(e, t, c[2 * i]);
        pairs[i] = multiply_add_const(e, t, c[2 * i + 1], even);
    }
    return multiply_add(e, multiply_add(e, pairs[2], square, pairs[1]), square, pairs[0]);
}

value expand_erf(struct expander *e, const value *args)
{
    value x = args[0], a = magnitude(e, x), square = mul(e, x, x), one = number(e, x, 1);
    value small = multiply_add(e, POLYNOMIAL(e, square, erf_small), x, x);
    value c = select_if(e, more(e, a, 4), number(e, x, 4), a);
    value t = sub(e, c, one), p = parallel_polynomial(e, t, erf_large), first = number(e, x, erf_first);
    value logarithm = multiply_add(e, p, t, first); /* -26 to 0; the result is 1 from 3.92 on */
    struct reduced d = nearest(e, add(e, logarithm, number(e, x, magic)));
    d.r = multiply_add(e, p, t, sub(e, first, d.n_float)); /* rounded once */
    value exponential = multiply_add(e, parallel_polynomial(e, d.r, exp2_coefficients), d.r, one);
    value large = step2(e, K_COPY_SIGN, sub(e, one, scale(e, exponential, &d, logarithm, -26, 0)), x);
    return select_if(e, less(e, a, 0.95), small, large);
}
