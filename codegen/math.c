/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Elementary functions of float32 by polynomials in float32: exp, expm1, log, log1p, tanh, erf, sigmoid.
 *
 * Straight-line code for scalars and vectors of any width; NaN, infinities, signed zeros and subnormals come out as IEEE 754
 * wants.  Coefficients: math_fit.py.  Largest errors in ulp of the exact result, with fused multiply-add and without (held to
 * by tests/codegen/test_math.c):
 *
 *   exp 0.87, 1.17   expm1 1.45, 1.55   log 0.79   log1p 1.36   tanh 1.36   erf 0.97, 1.15   sigmoid 1.79, 1.97
 */
#include "codegen/llvm.h"

#include <math.h>

static V add(const struct build *m, V a, V b)
{
    return LLVMBuildFAdd(m->b, a, b, "");
}
static V sub(const struct build *m, V a, V b)
{
    return LLVMBuildFSub(m->b, a, b, "");
}
static V mul(const struct build *m, V a, V b)
{
    return LLVMBuildFMul(m->b, a, b, "");
}
static V num(const struct build *m, V like, double x)
{
    return const_f_like(m, like, x);
}
static V mad_const(const struct build *m, V a, double b, V c)
{
    return op_mad(m, a, num(m, a, b), c);
}
static V select_if(const struct build *m, V c, V a, V b)
{
    return LLVMBuildSelect(m->b, c, a, b, "");
}
static V less(const struct build *m, V a, double b)
{
    return LLVMBuildFCmp(m->b, LLVMRealOLT, a, num(m, a, b), "");
}
static V more(const struct build *m, V a, double b)
{
    return LLVMBuildFCmp(m->b, LLVMRealOGT, a, num(m, a, b), "");
}

static V polynomial(const struct build *m, V t, const float *c, uint32_t count)
{
    V r = num(m, t, c[count - 1]);
    for (uint32_t i = count - 1; i-- > 0;)
        r = op_mad(m, r, t, num(m, t, c[i]));
    return r;
}
#define POLYNOMIAL(m, t, c) polynomial(m, t, c, sizeof(c) / sizeof *(c))

/* x within [low, high], infinite ones being no limit; NaN stays. */
static V clamp(const struct build *m, V x, double low, double high)
{
    if (low > -INFINITY)
        x = select_if(m, less(m, x, low), num(m, x, low), x);
    return high < INFINITY ? select_if(m, more(m, x, high), num(m, x, high), x) : x;
}

/* 2^n for integer lanes -126 <= n <= 127. */
static V power_of_two(const struct build *m, V n)
{
    V bits = LLVMBuildShl(m->b, LLVMBuildAdd(m->b, n, const_int_like(m, n, 127), ""), const_int_like(m, n, 23), "");
    return op_bits(m, bits, type_f32(m));
}

/* Lanes [first, first + count) of v, or count lanes of v and w one behind the other. */
static V some_lanes(const struct build *m, V v, V w, uint32_t first, uint32_t count)
{
    V at[64];
    for (uint32_t i = 0; i < count; i++)
        at[i] = const_int(m, 32, first + i);
    return LLVMBuildShuffleVector(m->b, v, w, LLVMConstVector(at, count), "");
}

/* Whether there are the instructions of AVX-512 that LLVM has no name of its own for. */
static bool has_avx512(bool wanted, V like)
{
    uint32_t lanes = lanes_of(like);
    return wanted && (lanes == 4 || lanes == 8 || lanes == 16 || lanes == 32 || lanes == 64);
}

/* One of them on all lanes, by the current rounding; more than 16 lanes are several vectors.  control: its immediate number, or
 * -1: it has none. */
static V avx512_operation(const struct build *m, const char *name, const V *args, uint32_t count, int control)
{
    uint32_t lanes = lanes_of(args[0]), all_count = 0;
    V all[6];
    char full[64];

    if (lanes > 16) {
        V halves[2];
        for (uint32_t h = 0; h < 2; h++) {
            for (uint32_t i = 0; i < count; i++)
                all[i] = some_lanes(m, args[i], LLVMGetPoison(LLVMTypeOf(args[i])), lanes / 2 * h, lanes / 2);
            halves[h] = avx512_operation(m, name, all, count, control);
        }
        return some_lanes(m, halves[0], halves[1], 0, lanes);
    }
    snprintf(full, sizeof full, "llvm.x86.avx512.%s.ps.%u", name, 32 * lanes);
    while (all_count < count) {
        all[all_count] = args[all_count];
        all_count++;
    }
    if (control >= 0)
        all[all_count++] = const_int(m, 32, control);
    all[all_count++] = LLVMConstNull(LLVMTypeOf(args[0])); /* what lanes get that are masked: none */
    all[all_count++] = LLVMConstAllOnes(type_int(m, lanes < 8 ? 8 : lanes));
    if (lanes == 16 && count == 2)
        all[all_count++] = const_int(m, 32, 4);
    return call_intrinsic(m, full, NULL, 0, all, all_count);
}

bool op_extreme(const struct build *m, bool largest, V a, V b, V *out)
{
    if (!has_avx512(m->isa->scaling, a) || LLVMIsConstant(a) || LLVMIsConstant(b))
        return false;
    /* Of a NaN and a number the instruction takes the number; of zeros the right one. */
    V args[2] = {a, b}, one = avx512_operation(m, "mask.range", args, 2, largest ? 5 : 4);
    *out = select_if(m, LLVMBuildFCmp(m->b, LLVMRealUNO, a, b, ""), add(m, a, b), one);
    return true;
}

/* a / b to 0.6 ulp, for b within [2^-100, 2^100] and a that is no larger than 1 (or NaN). */
static V divide(const struct build *m, V a, V b)
{
    if (lanes_of(a) < 16 || !has_avx512(m->isa->slow_division, a))
        return LLVMBuildFDiv(m->b, a, b, "");
    V r = avx512_operation(m, "rcp14", &b, 1, -1), minus = LLVMBuildFNeg(m->b, b, "");
    r = op_mad(m, op_mad(m, minus, r, num(m, a, 1)), r, r);
    V q = mul(m, a, r);
    return op_mad(m, op_mad(m, minus, q, a), r, q);
}

/* ---- exponentials ---- */

/* x = n ln 2 + r with |r| <= ln 2 / 2 (a little more without rounding to spare); n is whole, also as integer lanes. */
struct reduced {
    V n, r, n_float;
};

static struct reduced reduce_exp(const struct build *m, V x)
{
    /* Adding 1.5 * 2^23 rounds to whole numbers and leaves them in the low bits. */
    V magic = num(m, x, 0x1.8p23);
    V shifted = op_mad(m, x, num(m, x, 0x1.715476p+0), magic);
    struct reduced d;
    d.n_float = sub(m, shifted, magic);
    d.n = LLVMBuildSub(m->b, op_bits(m, shifted, type_int(m, 32)), const_i32_for(m, x, 0x4B400000), "");
    /* The first part of ln 2 has 14 bits, so that its products are exact also without fused multiply-add. */
    d.r = mad_const(m, d.n_float, -0x1.62ep-1, x);
    d.r = mad_const(m, d.n_float, -0x1.0bfbe8p-15, d.r);
    return d;
}

/* (e^r - 1 - r) / r^2 for |r| <= 0.3467 */
static const float exp_coefficients[] = {0x1.fffffcp-2f, 0x1.555492p-3f, 0x1.5558f2p-5f, 0x1.123a0cp-7f, 0x1.6a2452p-10f};

/* Beyond these the result is 0 or infinite, while n stays small enough for two steps of scaling. */
static const double exp_low = -104.5, exp_high = 89;

/* e^x clamped: infinite limits for what is known to be within those above (or NaN). */
static V exp_between(const struct build *m, V x, double low, double high)
{
    x = clamp(m, x, low, high);
    struct reduced d = reduce_exp(m, x);
    V p = POLYNOMIAL(m, d.r, exp_coefficients);
    p = op_mad(m, op_mad(m, p, d.r, num(m, x, 1)), d.r, num(m, x, 1));
    if (has_avx512(m->isa->scaling, x)) {
        V args[2] = {p, d.n_float}; /* the same to the bit as below */
        return avx512_operation(m, "mask.scalef", args, 2, -1);
    }
    /* 2^n in two factors: one alone cannot reach subnormals or 2^128.  The second multiplication rounds. */
    V half = LLVMBuildAShr(m->b, d.n, const_i32_for(m, x, 1), "");
    p = mul(m, p, power_of_two(m, half));
    return mul(m, p, power_of_two(m, LLVMBuildSub(m->b, d.n, half, "")));
}

V math_exp(const struct build *m, V x)
{
    return exp_between(m, x, exp_low, exp_high);
}

V math_expm1(const struct build *m, V x)
{
    V small = LLVMBuildFCmp(m->b, LLVMRealOLT, op_fabs(m, x), num(m, x, 0x1p-24), "");
    V c = clamp(m, x, -18, 89);
    struct reduced d = reduce_exp(m, c);
    V p = POLYNOMIAL(m, d.r, exp_coefficients);
    p = op_mad(m, mul(m, p, d.r), d.r, d.r); /* e^r - 1 */
    /* 2^n p + (2^n - 1), with half of it first: 2^128 is too large. */
    V scale = power_of_two(m, LLVMBuildSub(m->b, d.n, const_i32_for(m, x, 1), ""));
    V y = op_mad(m, scale, p, sub(m, scale, num(m, x, 0.5)));
    return select_if(m, small, x, add(m, y, y)); /* also keeps -0 */
}

V math_sigmoid(const struct build *m, V x)
{
    /* 1 / (1 + e^-|x|), or e^-|x| times that for negative x: never overflows, and small results keep their bits. */
    V e = exp_between(m, LLVMBuildFNeg(m->b, op_fabs(m, x), ""), exp_low, INFINITY), one = num(m, x, 1), sum = add(m, e, one);
    V y = divide(m, select_if(m, less(m, x, 0), e, one), sum);
    /* What rounding the sum lost, divided by it; where that is not near 1, half of the correction is better than none. */
    V lost = sub(m, sub(m, sum, one), e);
    return op_mad(m, y, lost, y);
}

/* (tanh(x) - x) / x^3 in x^2 for |x| <= 0.626 */
static const float tanh_coefficients[] = {-0x1.555532p-2f, 0x1.11070cp-3f, -0x1.b83878p-5f, 0x1.520bb6p-6f, -0x1.756364p-8f};

V math_tanh(const struct build *m, V x)
{
    V a = op_fabs(m, x), square = mul(m, x, x);
    V small = op_mad(m, mul(m, POLYNOMIAL(m, square, tanh_coefficients), square), x, x);
    /* 1 - 1 / (e^2a + 1) * 2, where doubling is exact; 1 from 9.02 on */
    V e = exp_between(m, add(m, a, a), -INFINITY, 40), quotient = divide(m, num(m, x, 1), add(m, e, num(m, x, 1)));
    V large = op_mad(m, num(m, x, -2), quotient, num(m, x, 1));
    return op_intrinsic2(m, "llvm.copysign", select_if(m, less(m, a, 0.625), small, large), x); /* also -0 */
}

/* erf(x) / x - 1 in x^2 for |x| <= 0.951 */
static const float erf_small[] = {0x1.06eba8p-3f, -0x1.812742p-2f,  0x1.ce2dc8p-4f, -0x1.b8091ap-6f,
                                  0x1.5493cap-8f, -0x1.a8774ep-11f, 0x1.5707d6p-14f};
/* log(1 - erf(x)) in x - 1 for 0.949 <= x <= 4 */
static const float erf_large[] = {-0x1.d97fc0p+0f, -0x1.51c9b0p+1f, -0x1.afabbep-1f, -0x1.547bc6p-5f,
                                  0x1.492832p-7f,  -0x1.077eb6p-9f, 0x1.2e9a92p-12f, -0x1.6878eap-16f};

V math_erf(const struct build *m, V x)
{
    V a = op_fabs(m, x), square = mul(m, x, x);
    V small = op_mad(m, POLYNOMIAL(m, square, erf_small), x, x);
    V c = select_if(m, more(m, a, 4), num(m, x, 4), a);
    V logarithm = POLYNOMIAL(m, sub(m, c, num(m, x, 1)), erf_large); /* -18 to 0; the result is 1 from 3.92 on */
    V e = exp_between(m, logarithm, -INFINITY, INFINITY);
    V large = op_intrinsic2(m, "llvm.copysign", sub(m, num(m, x, 1), e), x);
    return select_if(m, less(m, a, 0.95), small, large);
}

/* ---- logarithms ---- */

/* (log(1 + f) - f + f^2 / 2) / f^3 for sqrt(1/2) - 1 <= f <= sqrt(2) - 1 */
static const float log_coefficients[] = {0x1.555544p-2f,  -0x1.ffffdcp-3f, 0x1.99a6c8p-3f,  -0x1.5568acp-3f, 0x1.23170ap-3f,
                                         -0x1.fa377ep-4f, 0x1.e6e1cep-4f,  -0x1.ea04eep-4f, 0x1.230e64p-4f};

/* x = 2^n (1 + f), for bits of a positive normal number. */
static V split_exponent(const struct build *m, V bits, V *n)
{
    V root = const_int_like(m, bits, 0x3F3504F3); /* sqrt(1/2) */
    V moved = LLVMBuildSub(m->b, bits, root, "");
    *n = LLVMBuildAShr(m->b, moved, const_int_like(m, bits, 23), "");
    V mantissa = LLVMBuildAdd(m->b, LLVMBuildAnd(m->b, moved, const_int_like(m, bits, 0x7FFFFF), ""), root, "");
    return op_bits(m, mantissa, type_f32(m));
}

/* n ln 2 + log(1 + f) */
static V log_sum(const struct build *m, V n, V f)
{
    V square = mul(m, f, f), p = POLYNOMIAL(m, f, log_coefficients);
    V tail = mul(m, mul(m, p, f), square);
    tail = mad_const(m, n, 0x1.0bfbe8p-15, tail);
    tail = mad_const(m, square, -0.5, tail);
    return mad_const(m, n, 0x1.62ep-1, add(m, f, tail));
}

/* The results that no polynomial gives: log of 0, of negative numbers, of infinity and NaN; y otherwise. */
static V log_special(const struct build *m, V x, V argument, V y)
{
    V zero = LLVMBuildFCmp(m->b, LLVMRealOEQ, argument, num(m, x, 0), "");
    V positive = LLVMBuildFCmp(m->b, LLVMRealOGE, argument, num(m, x, 0), ""); /* false for NaN */
    V infinite = LLVMBuildFCmp(m->b, LLVMRealOEQ, argument, num(m, x, INFINITY), "");
    y = select_if(m, infinite, argument, y);
    y = select_if(m, zero, num(m, x, -INFINITY), y);
    return select_if(m, positive, y, num(m, x, NAN));
}

V math_log(const struct build *m, V x)
{
    V subnormal = less(m, x, 0x1p-126);
    V scaled = select_if(m, subnormal, mul(m, x, num(m, x, 0x1p23)), x), n;
    V f = sub(m, split_exponent(m, op_bits(m, scaled, type_int(m, 32)), &n), num(m, x, 1));
    V n_float = LLVMBuildSIToFP(m->b, n, LLVMTypeOf(x), "");
    n_float = select_if(m, subnormal, sub(m, n_float, num(m, x, 23)), n_float);
    return log_special(m, x, x, log_sum(m, n_float, f));
}

V math_log1p(const struct build *m, V x)
{
    V one = num(m, x, 1), u = add(m, x, one), n;
    V mantissa = split_exponent(m, op_bits(m, u, type_int(m, 32)), &n);
    /* What rounding 1 + x lost, scaled like the mantissa. */
    V lost = select_if(m, more(m, x, 1), sub(m, one, sub(m, u, x)), sub(m, x, sub(m, u, one)));
    V low = LLVMBuildSub(m->b, const_i32_for(m, x, 0), n, "");
    low = op_intrinsic2(m, "llvm.smax", low, const_i32_for(m, x, -126)); /* nothing is left of it there */
    low = op_intrinsic2(m, "llvm.smin", low, const_i32_for(m, x, 126));
    V f = op_mad(m, lost, power_of_two(m, low), sub(m, mantissa, one));
    V y = log_special(m, x, u, log_sum(m, LLVMBuildSIToFP(m->b, n, LLVMTypeOf(x), ""), f));
    V small = LLVMBuildFCmp(m->b, LLVMRealOLT, op_fabs(m, x), num(m, x, 0x1p-24), "");
    return select_if(m, small, x, y); /* also keeps -0 */
}
