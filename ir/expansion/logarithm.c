/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Expands log and log1p in float32, by a polynomial (bench/fit_expansion.py). */
#include "ir/expansion/expander.h"

/* This polynomial is (log(1 + f) - f + f^2 / 2) / f^3 for sqrt(1/2) - 1 <= f <= sqrt(2) - 1. */
static const double log_coefficients[] = {0x1.555544p-2,  -0x1.ffffdcp-3, 0x1.99a6c8p-3,  -0x1.5568acp-3, 0x1.23170ap-3,
                                          -0x1.fa377ep-4, 0x1.e6e1cep-4,  -0x1.ea04eep-4, 0x1.230e64p-4};

/* Splits a positive normal number into 2^n (1 + f): returns 1 + f, and n as KT_I32. */
static value split_exponent(struct expander *e, value x, value *n)
{
    value bits = bits_as(e, KT_I32, x), root = integer(e, bits, 0x3F3504F3); /* sqrt(1/2) */
    value moved = sub(e, bits, root);
    *n = shift_right(e, moved, 23);
    return bits_as(e, KT_F32, add(e, masked(e, moved, 0x7FFFFF), root));
}

/* Returns n ln 2 + log(1 + f). */
static value log_sum(struct expander *e, value n, value f)
{
    value square = mul(e, f, f), p = POLYNOMIAL(e, f, log_coefficients);
    value tail = mul(e, mul(e, p, f), square);
    tail = multiply_add_const(e, n, 0x1.0bfbe8p-15, tail);
    tail = multiply_add_const(e, square, -0.5, tail);
    return multiply_add_const(e, n, 0x1.62ep-1, add(e, f, tail));
}

/* Returns the results that no polynomial gives: log of 0, of negative numbers, of infinity and NaN; y otherwise. */
static value log_special(struct expander *e, value x, value y)
{
    value zero = equals(e, x, 0), positive = at_least(e, x, 0) /* false for NaN */, infinite = equals(e, x, INFINITY);
    y = select_if(e, infinite, x, y);
    y = select_if(e, zero, number(e, x, -INFINITY), y);
    return select_if(e, positive, y, number(e, x, NAN));
}

value expand_log(struct expander *e, const value *args)
{
    value x = args[0], subnormal = less(e, x, 0x1p-126), n;
    value scaled = select_if(e, subnormal, mul(e, x, number(e, x, 0x1p23)), x);
    value f = sub(e, split_exponent(e, scaled, &n), number(e, x, 1));
    value n_float = convert(e, KT_F32, n);
    n_float = select_if(e, subnormal, sub(e, n_float, number(e, x, 23)), n_float);
    return log_special(e, x, log_sum(e, n_float, f));
}

value expand_log1p(struct expander *e, const value *args)
{
    value x = args[0], one = number(e, x, 1), u = add(e, x, one), n;
    value mantissa = split_exponent(e, u, &n);
    /* These are what rounding 1 + x lost, scaled like the mantissa. */
    value lost_small = sub(e, x, sub(e, u, one)), lost_large = sub(e, one, sub(e, u, x));
    value lost = select_if(e, more(e, x, 1), lost_large, lost_small);
    value low = sub(e, integer(e, n, 0), n);
    low = step2(e, K_MAX, low, integer(e, low, -126)); /* nothing is left of it there */
    low = step2(e, K_MIN, low, integer(e, low, 126));
    value f = sub(e, mantissa, one);
    value scale = bits_as(e, KT_F32, shift_left(e, add(e, low, integer(e, low, 127)), 23)); /* 2^low */
    f = multiply_add(e, lost, scale, f);
    value y = log_special(e, u, log_sum(e, convert(e, KT_F32, n), f));
    value small = less(e, magnitude(e, x), 0x1p-24);
    return select_if(e, small, x, y); /* also keeps -0 */
}
