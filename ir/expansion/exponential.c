/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Expands exp, expm1, sigmoid, tanh and erf in float32, by polynomials (fit.py), and ldexp.
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

/* Writes x as n ln 2 + r with |r| <= ln 2 / 2 (a little more, since x / ln 2 is rounded twice without fused multiply-add); n is
 * whole, as KT_I32 and KT_F32. */
struct reduced {
    value n, n_float, r;
};

static struct reduced reduce(struct expander *e, value x)
{
    /* Adding 1.5 * 2^23 rounds to whole numbers and leaves them in the low bits. */
    value magic = number(e, x, 0x1.8p23);
    value shifted = multiply_add(e, x, number(e, x, 0x1.715476p+0), magic);
    struct reduced d;
    d.n_float = sub(e, shifted, magic);
    value bits = bits_as(e, KT_I32, shifted);
    d.n = sub(e, bits, integer(e, bits, 0x4B400000));
    /* The first part of ln 2 has 14 bits, so that its products are exact also without fused multiply-add. */
    d.r = multiply_add_const(e, d.n_float, -0x1.62ep-1, x);
    d.r = multiply_add_const(e, d.n_float, -0x1.0bfbe8p-15, d.r);
    return d;
}

/* This polynomial is (e^r - 1 - r) / r^2 for |r| <= 0.3467. */
static const float exp_coefficients[] = {0x1.fffffcp-2f, 0x1.555492p-3f, 0x1.5558f2p-5f, 0x1.123a0cp-7f, 0x1.6a2452p-10f};

/* Beyond these the result is 0 or infinite, while n stays small enough for K_LDEXP. */
static const double exp_low = -104.5, exp_high = 89;

/* Returns e^x for a clamped x; limits are infinite for values known to be within those above (or NaN). */
static value exp_between(struct expander *e, value x, double low, double high)
{
    x = clamp(e, x, low, high);
    struct reduced d = reduce(e, x);
    value one = number(e, x, 1), p = POLYNOMIAL(e, d.r, exp_coefficients);
    p = multiply_add(e, multiply_add(e, p, d.r, one), d.r, one);
    return step3(e, K_LDEXP, p, d.n, d.n_float);
}

value expand_ldexp(struct expander *e, const value *args)
{
    /* 2^n comes in two factors: one alone cannot reach subnormals or 2^128.  The second multiplication rounds. */
    value p = args[0], n = args[1], half = shift_right(e, n, 1);
    p = mul(e, p, power_of_two(e, half));
    return mul(e, p, power_of_two(e, sub(e, n, half)));
}

value expand_exp(struct expander *e, const value *args)
{
    return exp_between(e, args[0], exp_low, exp_high);
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
    value x = args[0], exponential = exp_between(e, negate(e, magnitude(e, x)), exp_low, INFINITY);
    value one = number(e, x, 1), sum = add(e, exponential, one);
    value y = step2(e, K_DIV_APPROX, select_if(e, less(e, x, 0), exponential, one), sum);
    /* lost is what rounding the sum lost, which is divided by the sum; where that is not near 1, half of the correction is
     * better than none. */
    value lost = sub(e, sub(e, sum, one), exponential);
    return multiply_add(e, y, lost, y);
}

/* This polynomial in x^2 is (tanh(x) - x) / x^3 for |x| <= 0.626. */
static const float tanh_coefficients[] = {-0x1.555532p-2f, 0x1.11070cp-3f, -0x1.b83878p-5f, 0x1.520bb6p-6f, -0x1.756364p-8f};

value expand_tanh(struct expander *e, const value *args)
{
    value x = args[0], a = magnitude(e, x), square = mul(e, x, x), one = number(e, x, 1);
    value small = multiply_add(e, mul(e, POLYNOMIAL(e, square, tanh_coefficients), square), x, x);
    /* This is 1 - 1 / (e^2a + 1) * 2, where doubling is exact; it is 1 from 9.02 on. */
    value exponential = exp_between(e, add(e, a, a), -INFINITY, 40);
    value quotient = step2(e, K_DIV_APPROX, one, add(e, exponential, one));
    value large = multiply_add(e, number(e, x, -2), quotient, one);
    return step2(e, K_COPY_SIGN, select_if(e, less(e, a, 0.625), small, large), x); /* also -0 */
}

/* This polynomial in x^2 is erf(x) / x - 1 for |x| <= 0.951. */
static const float erf_small[] = {0x1.06eba8p-3f, -0x1.812742p-2f,  0x1.ce2dc8p-4f, -0x1.b8091ap-6f,
                                  0x1.5493cap-8f, -0x1.a8774ep-11f, 0x1.5707d6p-14f};
/* This polynomial in x - 1 is log(1 - erf(x)) for 0.949 <= x <= 4. */
static const float erf_large[] = {-0x1.d97fc0p+0f, -0x1.51c9b0p+1f, -0x1.afabbep-1f, -0x1.547bc6p-5f,
                                  0x1.492832p-7f,  -0x1.077eb6p-9f, 0x1.2e9a92p-12f, -0x1.6878eap-16f};

value expand_erf(struct expander *e, const value *args)
{
    value x = args[0], a = magnitude(e, x), square = mul(e, x, x), one = number(e, x, 1);
    value small = multiply_add(e, POLYNOMIAL(e, square, erf_small), x, x);
    value c = select_if(e, more(e, a, 4), number(e, x, 4), a);
    value logarithm = POLYNOMIAL(e, sub(e, c, one), erf_large); /* -18 to 0; the result is 1 from 3.92 on */
    value exponential = exp_between(e, logarithm, -INFINITY, INFINITY);
    value large = step2(e, K_COPY_SIGN, sub(e, one, exponential), x);
    return select_if(e, less(e, a, 0.95), small, large);
}
