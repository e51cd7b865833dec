/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Elementary functions of float32 that are computed in double: sin, cos, tan, pow, and the fused multiply-add where there is no
 * instruction.  Nearly always correctly rounded: the error before the last rounding is below 2^-40.
 *
 * Each is a function in the module, called and not inlined: they are long, and rarely what a kernel spends its time on.
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
static V select_if(const struct build *m, V c, V a, V b)
{
    return LLVMBuildSelect(m->b, c, a, b, "");
}
static V i64_for(const struct build *m, V like, int64_t x)
{
    return const_splat(const_int(m, 64, x), lanes_of(like));
}
static V test(const struct build *m, LLVMRealPredicate p, V a, double b)
{
    return LLVMBuildFCmp(m->b, p, a, num(m, a, b), "");
}

static V polynomial(const struct build *m, V t, const double *c, uint32_t count)
{
    V r = num(m, t, c[count - 1]);
    for (uint32_t i = count - 1; i-- > 0;)
        r = op_mad(m, r, t, num(m, t, c[i]));
    return r;
}
#define POLYNOMIAL(m, t, c) polynomial(m, t, c, sizeof(c) / sizeof *(c))

/* A function in the module with `count` parameters and a result of one type; body fills it in when it is new. */
static V call_function(const struct build *m, const char *base, V *args, uint32_t count, V (*body)(struct build *f, V *args))
{
    char name[32];
    T type = LLVMTypeOf(args[0]), params[2] = {type, type};
    snprintf(name, sizeof name, "%s.v%u", base, lanes_of(args[0]));
    V function = LLVMGetNamedFunction(m->module, name);
    T signature = LLVMFunctionType(type, params, count, false);
    if (!function) {
        function = LLVMAddFunction(m->module, name, signature);
        LLVMSetLinkage(function, LLVMInternalLinkage);
        function_set_attributes(m, function);
        struct build f = *m;
        V inside[2] = {LLVMGetParam(function, 0), count > 1 ? LLVMGetParam(function, 1) : NULL};
        f.function = function;
        f.b = LLVMCreateBuilderInContext(m->context);
        LLVMPositionBuilderAtEnd(f.b, block_append(&f, "entry"));
        LLVMBuildRet(f.b, body(&f, inside));
        LLVMDisposeBuilder(f.b);
    }
    return LLVMBuildCall2(m->b, signature, function, args, count, "");
}

static V to_double(const struct build *m, V x)
{
    return LLVMBuildFPExt(m->b, x, type_like(type_f64(m), x), "");
}
static V to_float(const struct build *m, V x)
{
    return LLVMBuildFPTrunc(m->b, x, type_like(type_f32(m), x), "");
}

/* ---- trigonometric functions ---- */

/* (sin(r) - r) / r^3 and (cos(r) - 1 + r^2 / 2) / r^4 in r^2, |r| <= 0.7855 */
static const double sin_coefficients[] = {-0x1.555555555223fp-3, 0x1.1111110c875a2p-7, -0x1.a019f939166e0p-13,
                                          0x1.71d76cb0fd3a8p-19, -0x1.a9616cf878bbap-26};
static const double cos_coefficients[] = {0x1.5555555552dd0p-5, -0x1.6c16c1671ff2dp-10, 0x1.a019fa5eb3d6cp-16,
                                          -0x1.27e00af77280ap-22, 0x1.1bbe5ba28863cp-29};

/* x = quadrant * pi/2 + r, |r| <= pi/4.  Quadrants count modulo 4, in i32 lanes. */
struct angle {
    V quadrant, r;
};

/* |x| < 2^26: pi/2 in three parts, of which the first two have 26 bits, so that all but the last product are exact. */
static struct angle reduce_near(const struct build *m, V x)
{
    struct angle a;
    V wide = to_double(m, x);
    V magic = num(m, wide, 0x1.8p52); /* rounds to whole numbers and leaves them in the low bits */
    V shifted = add(m, mul(m, wide, num(m, wide, 0x1.45f306dc9c883p-1)), magic);
    V n = sub(m, shifted, magic);
    a.r = sub(m, wide, mul(m, n, num(m, wide, 0x1.921fb5p+0)));
    a.r = sub(m, a.r, mul(m, n, num(m, wide, 0x1.110b46p-26)));
    a.r = sub(m, a.r, mul(m, n, num(m, wide, 0x1.1a62633145c07p-54)));
    a.quadrant = LLVMBuildTrunc(m->b, op_bits(m, shifted, type_int(m, 64)), type_like(type_int(m, 32), x), "");
    return a;
}

/* 2/pi in words of 32 bits, the first being its first 32 fraction bits. */
static const uint32_t two_over_pi[] = {0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0,
                                       0xDB629599, 0x3C439041, 0xFE5163AB, 0xDEBBC561};

/* Word `index` (i32 lanes, 0 .. 7; -1: 0) of two_over_pi, in i64 lanes, by selection: no table in memory, no gather. */
static V word_of(const struct build *m, V index)
{
    V w = i64_for(m, index, 0);
    for (int i = 0; i < 8; i++)
        w = select_if(m, LLVMBuildICmp(m->b, LLVMIntEQ, index, const_i32_for(m, index, i), ""),
                      i64_for(m, index, two_over_pi[i]), w);
    return w;
}

/* After Payne and Hanek: of the product of the 24-bit mantissa and 2/pi only 96 bits matter: those from the units of the
 * quadrant down.  x = mantissa * 2^shift; the bits of 2/pi before position shift - 2 give multiples of 4 quadrants. */
static struct angle reduce_far(const struct build *m, V x)
{
    T i32 = type_like(type_int(m, 32), x), i64 = type_like(type_int(m, 64), x);
    V bits = op_bits(m, x, type_int(m, 32));
    V exponent = LLVMBuildAnd(m->b, LLVMBuildLShr(m->b, bits, const_i32_for(m, x, 23), ""), const_i32_for(m, x, 0xFF), "");
    V mantissa =
        LLVMBuildOr(m->b, LLVMBuildAnd(m->b, bits, const_i32_for(m, x, 0x7FFFFF), ""), const_i32_for(m, x, 0x800000), "");
    V skip = LLVMBuildSub(m->b, exponent, const_i32_for(m, x, 150 + 2), ""); /* shift - 2: whole bits that do not matter */
    /* Lanes that are not large are computed for nothing, but shifts must stay defined. */
    skip = op_intrinsic2(m, "llvm.smax", skip, const_i32_for(m, x, 0));
    V word = LLVMBuildLShr(m->b, skip, const_i32_for(m, x, 5), "");
    V in_word = LLVMBuildZExt(m->b, LLVMBuildAnd(m->b, skip, const_i32_for(m, x, 31), ""), i64, "");
    V w[4];
    for (int i = 0; i < 4; i++)
        w[i] = word_of(m, LLVMBuildAdd(m->b, word, const_i32_for(m, x, i), ""));
    /* p: 96 bits of 2/pi from position skip on, as three words of 32. */
    V p[3], down = LLVMBuildSub(m->b, i64_for(m, x, 32), in_word, "");
    V low_word = i64_for(m, x, 0xFFFFFFFF);
    for (int i = 0; i < 3; i++) {
        V both = LLVMBuildOr(m->b, LLVMBuildShl(m->b, w[i], i64_for(m, x, 32), ""), w[i + 1], "");
        p[i] = LLVMBuildAnd(m->b, LLVMBuildLShr(m->b, both, down, ""), low_word, "");
    }
    /* mantissa * p: bit 0 of p[0]'s product weighs 2^-30 quadrants (2 bits of whole quadrants lead), modulo 4. */
    V wide = LLVMBuildZExt(m->b, mantissa, i64, "");
    V product = LLVMBuildShl(m->b, LLVMBuildMul(m->b, wide, p[0], ""), i64_for(m, x, 32), "");
    product = LLVMBuildAdd(m->b, product, LLVMBuildMul(m->b, wide, p[1], ""), "");
    product = LLVMBuildAdd(m->b, product, LLVMBuildLShr(m->b, LLVMBuildMul(m->b, wide, p[2], ""), i64_for(m, x, 32), ""), "");
    /* product: 2 bits of quadrant, 62 of fraction.  To nearest: the rest becomes a signed fraction. */
    struct angle a;
    V half = i64_for(m, x, INT64_C(1) << 61);
    V quadrant = LLVMBuildLShr(m->b, LLVMBuildAdd(m->b, product, half, ""), i64_for(m, x, 62), "");
    V rest = LLVMBuildSub(m->b, product, LLVMBuildShl(m->b, quadrant, i64_for(m, x, 62), ""), "");
    V r = mul(m, LLVMBuildSIToFP(m->b, rest, type_like(type_f64(m), x), ""),
              num(m, to_double(m, x), 0x1.921fb54442d18p+0 * 0x1p-62));
    V negative = LLVMBuildICmp(m->b, LLVMIntSLT, bits, const_i32_for(m, x, 0), "");
    a.quadrant = LLVMBuildTrunc(m->b, quadrant, i32, "");
    a.quadrant = select_if(m, negative, LLVMBuildNeg(m->b, a.quadrant, ""), a.quadrant);
    a.r = select_if(m, negative, LLVMBuildFNeg(m->b, r, ""), r);
    return a;
}

/* Both, the second one only where a lane needs it. */
static struct angle reduce(struct build *m, V x)
{
    struct angle near = reduce_near(m, x), far, a;
    V large = LLVMBuildFCmp(m->b, LLVMRealOGE, op_fabs(m, x), num(m, x, 0x1p26), "");
    LLVMBasicBlockRef entry = LLVMGetInsertBlock(m->b), slow = block_append(m, "large"), join = block_append(m, "reduced");
    LLVMBuildCondBr(m->b, op_any(m, large), slow, join);
    LLVMPositionBuilderAtEnd(m->b, slow);
    far = reduce_far(m, x);
    far.r = select_if(m, large, far.r, near.r);
    far.quadrant = select_if(m, large, far.quadrant, near.quadrant);
    LLVMBuildBr(m->b, join);
    LLVMPositionBuilderAtEnd(m->b, join);
    LLVMBasicBlockRef from[2] = {entry, slow};
    a.r = LLVMBuildPhi(m->b, LLVMTypeOf(near.r), "r");
    a.quadrant = LLVMBuildPhi(m->b, LLVMTypeOf(near.quadrant), "quadrant");
    LLVMAddIncoming(a.r, (V[2]){near.r, far.r}, from, 2);
    LLVMAddIncoming(a.quadrant, (V[2]){near.quadrant, far.quadrant}, from, 2);
    return a;
}

static V sin_near(const struct build *m, V r, V square)
{
    return op_mad(m, mul(m, POLYNOMIAL(m, square, sin_coefficients), square), r, r);
}

static V cos_near(const struct build *m, V square)
{
    V p = op_mad(m, POLYNOMIAL(m, square, cos_coefficients), square, num(m, square, -0.5));
    return op_mad(m, p, square, num(m, square, 1));
}

static V quadrant_has(const struct build *m, V quadrant, int64_t bit)
{
    V b = LLVMBuildAnd(m->b, quadrant, const_int_like(m, quadrant, bit), "");
    return LLVMBuildICmp(m->b, LLVMIntNE, b, LLVMConstNull(LLVMTypeOf(b)), "");
}

/* sin(x + turn * pi/2), as float; NaN for infinities and NaN. */
static V sin_turned(struct build *m, V x, int64_t turn)
{
    struct angle a = reduce(m, x);
    V square = mul(m, a.r, a.r);
    V quadrant = LLVMBuildAdd(m->b, a.quadrant, const_int_like(m, a.quadrant, turn), "");
    V y = select_if(m, quadrant_has(m, quadrant, 1), cos_near(m, square), sin_near(m, a.r, square));
    y = select_if(m, quadrant_has(m, quadrant, 2), LLVMBuildFNeg(m->b, y, ""), y);
    V finite = test(m, LLVMRealOLT, op_fabs(m, x), INFINITY);
    return select_if(m, finite, to_float(m, y), num(m, x, NAN));
}

static V sin_body(struct build *m, V *args)
{
    V zero = test(m, LLVMRealOEQ, args[0], 0); /* -0 */
    return select_if(m, zero, args[0], sin_turned(m, args[0], 0));
}

static V cos_body(struct build *m, V *args)
{
    return sin_turned(m, args[0], 1);
}

static V tan_body(struct build *m, V *args)
{
    V x = args[0], zero = test(m, LLVMRealOEQ, x, 0);
    struct angle a = reduce(m, x);
    V square = mul(m, a.r, a.r), s = sin_near(m, a.r, square), c = cos_near(m, square);
    V odd = quadrant_has(m, a.quadrant, 1);
    V y = LLVMBuildFDiv(m->b, select_if(m, odd, LLVMBuildFNeg(m->b, c, ""), s), select_if(m, odd, s, c), "");
    V finite = test(m, LLVMRealOLT, op_fabs(m, x), INFINITY);
    y = select_if(m, finite, to_float(m, y), num(m, x, NAN));
    return select_if(m, zero, x, y);
}

V math_sin(const struct build *m, V x)
{
    return call_function(m, "sin", &x, 1, sin_body);
}
V math_cos(const struct build *m, V x)
{
    return call_function(m, "cos", &x, 1, cos_body);
}
V math_tan(const struct build *m, V x)
{
    return call_function(m, "tan", &x, 1, tan_body);
}

/* ---- pow ---- */

/* log2((1 + s) / (1 - s)) / s in s^2, |s| <= 0.1716 */
static const double log2_coefficients[] = {0x1.71547652b82ffp+1, 0x1.ec709dc39c9e3p-1, 0x1.2776c516a9b40p-1,
                                           0x1.a6175676603e2p-2, 0x1.484fac6206182p-2, 0x1.0bb7b44f13c8cp-2,
                                           0x1.f185c57c39929p-3};
/* (2^f - 1) / f, |f| <= 1/2 */
static const double exp2_coefficients[] = {0x1.62e42fefa08c8p-1,  0x1.ebfbdff823db3p-3,  0x1.c6b08d7a984a1p-5,
                                           0x1.3b2ab71804f19p-7,  0x1.5d87ebe052439p-10, 0x1.4308acaefda84p-13,
                                           0x1.fffd7a02511a6p-17, 0x1.63d10b0938c6ep-20, 0x1.89c4eab80d118p-24};

/* log2 of a positive normal double. */
static V log2_double(const struct build *m, V x)
{
    T i64 = type_int(m, 64);
    V bits = op_bits(m, x, i64), root = i64_for(m, x, 0x3FE6A09E667F3BCD); /* sqrt(1/2) */
    V moved = LLVMBuildSub(m->b, bits, root, "");
    V n = LLVMBuildAShr(m->b, moved, i64_for(m, x, 52), "");
    V mantissa = LLVMBuildAdd(m->b, LLVMBuildAnd(m->b, moved, i64_for(m, x, 0xFFFFFFFFFFFFF), ""), root, "");
    mantissa = op_bits(m, mantissa, type_f64(m));
    V one = num(m, x, 1), s = LLVMBuildFDiv(m->b, sub(m, mantissa, one), add(m, mantissa, one), "");
    V fraction = mul(m, POLYNOMIAL(m, mul(m, s, s), log2_coefficients), s);
    /* Whole numbers from 64-bit integers without the instruction that SSE2 and AVX2 lack: by the magic constant. */
    V biased = LLVMBuildAdd(m->b, n, i64_for(m, x, 0x4338000000000000), "");
    return add(m, sub(m, op_bits(m, biased, type_f64(m)), num(m, x, 0x1.8p52)), fraction);
}

/* 2^x for |x| <= 1000. */
static V exp2_double(const struct build *m, V x)
{
    V magic = num(m, x, 0x1.8p52), shifted = add(m, x, magic), f = sub(m, x, sub(m, shifted, magic));
    V y = op_mad(m, POLYNOMIAL(m, f, exp2_coefficients), f, num(m, x, 1));
    V scale = LLVMBuildShl(m->b, op_bits(m, shifted, type_int(m, 64)), i64_for(m, x, 52), "");
    return op_bits(m, LLVMBuildAdd(m->b, op_bits(m, y, type_int(m, 64)), scale, ""), type_f64(m));
}

static V pow_body(struct build *m, V *args)
{
    V x = args[0], y = args[1], one = num(m, x, 1), infinity = num(m, x, INFINITY);
    V a = op_fabs(m, x), b = op_fabs(m, y);
    V base_zero = test(m, LLVMRealOEQ, x, 0), base_infinite = LLVMBuildFCmp(m->b, LLVMRealOEQ, a, infinity, "");
    V y_infinite = LLVMBuildFCmp(m->b, LLVMRealOEQ, b, infinity, ""), y_negative = test(m, LLVMRealOLT, y, 0);

    /* Whole and odd exponents: from 2^24 on every float is even. */
    V whole = LLVMBuildFCmp(m->b, LLVMRealOEQ, op_floor(m, y), y, "");
    V is_small = test(m, LLVMRealOLT, b, 0x1p24);
    V integer = LLVMBuildFPToSI(m->b, select_if(m, is_small, y, num(m, y, 0)), type_like(type_int(m, 32), y), "");
    V odd = LLVMBuildAnd(m->b, LLVMBuildAnd(m->b, whole, is_small, ""), quadrant_has(m, integer, 1), "");
    V sign_bit = LLVMBuildICmp(m->b, LLVMIntSLT, op_bits(m, x, type_int(m, 32)), const_i32_for(m, x, 0), "");
    V negate = LLVMBuildAnd(m->b, odd, sign_bit, "");

    /* The finite case: |x|^y with subnormals, over- and underflow by the last rounding. */
    V ordinary = select_if(m, LLVMBuildOr(m->b, base_zero, base_infinite, ""), one, a);
    V exponent = mul(m, to_double(m, y), log2_double(m, to_double(m, ordinary)));
    exponent = select_if(m, test(m, LLVMRealOGT, exponent, 200), num(m, exponent, 200), exponent);
    exponent = select_if(m, test(m, LLVMRealOLT, exponent, -200), num(m, exponent, -200), exponent);
    V r = to_float(m, exp2_double(m, exponent));

    /* |x| is 0 or infinite: 0 or infinity by the sign of y. */
    V grows = LLVMBuildXor(m->b, base_zero, LLVMBuildNot(m->b, y_negative, ""), "");
    V edge = select_if(m, grows, infinity, num(m, x, 0));
    r = select_if(m, LLVMBuildOr(m->b, base_zero, base_infinite, ""), edge, r);
    /* y infinite: by whether |x| is above or below 1. */
    V above = LLVMBuildFCmp(m->b, LLVMRealOGT, a, one, ""), equal = LLVMBuildFCmp(m->b, LLVMRealOEQ, a, one, "");
    V limit = select_if(m, LLVMBuildXor(m->b, above, y_negative, ""), infinity, num(m, x, 0));
    r = select_if(m, y_infinite, select_if(m, equal, one, limit), r);
    r = select_if(m, negate, LLVMBuildFNeg(m->b, r, ""), r);

    /* A negative finite base with an exponent that is not whole, and NaN operands. */
    V finite_negative = LLVMBuildAnd(m->b, test(m, LLVMRealOLT, x, 0), LLVMBuildNot(m->b, base_infinite, ""), "");
    V invalid = LLVMBuildAnd(m->b, finite_negative, LLVMBuildNot(m->b, whole, ""), "");
    invalid = LLVMBuildOr(m->b, invalid, LLVMBuildFCmp(m->b, LLVMRealUNO, x, y, ""), "");
    r = select_if(m, invalid, num(m, x, NAN), r);
    /* 1^y and x^0 are 1 whatever the other is. */
    V certain = LLVMBuildOr(m->b, test(m, LLVMRealOEQ, x, 1), test(m, LLVMRealOEQ, y, 0), "");
    return select_if(m, certain, one, r);
}

V math_pow(const struct build *m, V x, V y)
{
    V args[2] = {x, y};
    return call_function(m, "pow", args, 2, pow_body);
}

/* ---- fused multiply-add ---- */

V math_fma(const struct build *m, V a, V b, V c)
{
    if (m->isa->fma)
        return op_mad(m, a, b, c);
    /* The product is exact in double.  Its sum with c is rounded to odd (the last bit is set if anything was lost), so that the
     * second rounding, to float, comes out as if it were the only one. */
    V product = mul(m, to_double(m, a), to_double(m, b)), wide = to_double(m, c);
    V sum = add(m, product, wide), back = sub(m, sum, product);
    V error = add(m, sub(m, product, sub(m, sum, back)), sub(m, wide, back));
    V bits = op_bits(m, sum, type_int(m, 64)), zero = i64_for(m, a, 0), one = i64_for(m, a, 1);
    V inexact = test(m, LLVMRealONE, error, 0); /* ordered: false for NaN */
    V even = LLVMBuildICmp(m->b, LLVMIntEQ, LLVMBuildAnd(m->b, bits, one, ""), zero, "");
    /* Toward the error: away from zero if both have one sign, else toward it. */
    V toward = LLVMBuildICmp(m->b, LLVMIntSLT, LLVMBuildXor(m->b, bits, op_bits(m, error, type_int(m, 64)), ""), zero, "");
    V moved = LLVMBuildAdd(m->b, bits, select_if(m, toward, i64_for(m, a, -1), one), "");
    bits = select_if(m, LLVMBuildAnd(m->b, inexact, even, ""), moved, bits);
    return to_float(m, op_bits(m, bits, type_f64(m)));
}
