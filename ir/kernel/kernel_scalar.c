/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Computes scalar operations of the kernel IR on single values.  This folds constants while a kernel is built.
 *
 * Float arithmetic is float32's or float64's own (one rounding); transcendental functions are computed in double and rounded to
 * float32.  Integers wrap; nothing traps.
 */

#include "ir/kernel/kernel.h"

const char *ktype_name(enum ktype t)
{
    static const char *const names[KT_COUNT] = {"bool", "f32", "f64", "i8", "u8", "i16", "i32", "u32", "i64", "u64"};

    return t < KT_COUNT ? names[t] : "?";
}

const char *kreduce_name(enum kreduce r)
{
    static const char *const names[KR_COUNT_] = {"sum", "product", "min", "max", "arg_min", "arg_max", "dot"};

    return r < KR_COUNT_ ? names[r] : "?";
}

/* ---- integers: all types in 64 bits, cut to size at the end ---- */

/** Returns the value's low bits, extended as its type says. */
static int64_t int_get(enum ktype t, union scalar s)
{
    switch (ktype_size(t)) {
    case 1:
        return ktype_is_signed(t) ? s.i8 : s.u8;
    case 2:
        return (int16_t)s.f16;
    case 4:
        return ktype_is_signed(t) ? (int64_t)s.i32 : (int64_t)s.u32;
    default:
        return s.i64;
    }
}

static union scalar int_put(enum ktype t, uint64_t v)
{
    const size_t size = ktype_size(t);

    return (union scalar){.u64 = size < 8 ? v & ((UINT64_C(1) << 8 * size) - 1) : v};
}

static uint64_t int_divide(enum ktype t, int64_t a, int64_t b)
{
    if (b == 0)
        return 0;
    if (!ktype_is_signed(t))
        return (uint64_t)a / (uint64_t)b;
    if (b == -1)
        return 0 - (uint64_t)a; /* the smallest integer stays itself */
    return (uint64_t)(a / b);
}

static bool int_less(enum ktype t, int64_t a, int64_t b)
{
    return ktype_is_signed(t) ? a < b : (uint64_t)a < (uint64_t)b;
}

static uint64_t int_operate(enum kop op, enum ktype t, const union scalar args[3])
{
    const int64_t a = int_get(t, args[0]), b = int_get(t, args[1]), c = int_get(t, args[2]);

    switch (op) {
    case K_ADD:
        return (uint64_t)a + (uint64_t)b;
    case K_SUB:
        return (uint64_t)a - (uint64_t)b;
    case K_MUL:
        return (uint64_t)a * (uint64_t)b;
    case K_FMA:
        return (uint64_t)a * (uint64_t)b + (uint64_t)c;
    case K_DIV:
        return int_divide(t, a, b);
    case K_MIN:
        return (uint64_t)(int_less(t, b, a) ? b : a);
    case K_MAX:
        return (uint64_t)(int_less(t, a, b) ? b : a);
    case K_POW:
        return number_power(ktype_is_signed(t), a, b);
    case K_NEG:
        return 0 - (uint64_t)a;
    case K_ABS:
        return ktype_is_signed(t) && a < 0 ? 0 - (uint64_t)a : (uint64_t)a;
    case K_SIGN:
        return ktype_is_signed(t) && a < 0 ? UINT64_MAX : a != 0;
    case K_AND:
        return (uint64_t)a & (uint64_t)b;
    case K_OR:
        return (uint64_t)a | (uint64_t)b;
    case K_XOR:
        return (uint64_t)a ^ (uint64_t)b;
    case K_NOT:
        return !a;
    case K_SHL:
        return (uint64_t)a << (b & 63);
    case K_SHR: /* int_get has extended the sign, or zeros */
        return ktype_is_signed(t) ? (uint64_t)(a >> (b & 63)) : (uint64_t)a >> (b & 63);
    default: /* rounding an integer changes nothing; the rest has no integer form */
        return (uint64_t)a;
    }
}

/* ---- floats ---- */

static double sigmoid(double a)
{
    return 1.0 / (1.0 + exp(-a));
}

static double fraction(double a)
{
    return isinf(a) ? 0 : a - rint(a);
}

/** Computes a float operation in double.  For all but K_FMA and the roundings, rounding that to float32 is float32's result. */
static double operate(enum kop op, double a, double b, double c)
{
    static double (*const functions[K_OP_COUNT])(double) = {
        [K_FLOOR] = floor,       [K_CEIL] = ceil,   [K_ROUND_EVEN] = rint, /* the default rounding mode is nearest even */
        [K_FRACTION] = fraction, [K_EXP2] = exp2,   [K_SQRT] = sqrt,       [K_EXP] = exp, [K_EXPM1] = expm1,
        [K_LOG] = log,           [K_LOG1P] = log1p, [K_SIN] = sin,         [K_COS] = cos, [K_TAN] = tan,
        [K_TANH] = tanh,         [K_ERF] = erf,     [K_SIGMOID] = sigmoid};

    if (functions[op])
        return functions[op](a);
    switch (op) {
    case K_ADD:
        return a + b;
    case K_SUB:
        return a - b;
    case K_MUL:
        return a * b;
    case K_DIV:
    case K_DIV_APPROX: /* the best of the quotients that it may be */
        return a / b;
    case K_MIN:
    case K_MAX:
        return number_extreme(op == K_MAX, a, b);
    case K_POW:
        return pow(a, b);
    case K_NEG:
        return -a;
    case K_ABS:
        return fabs(a);
    case K_SIGN:
        return a > 0 ? 1 : a < 0 ? -1 : a; /* NaN and signed zeros as they are */
    case K_COPY_SIGN:
        return copysign(a, b);
    case K_RECIPROCAL:
        return 1 / a;
    case K_FMA:
        return fma(a, b, c);
    default: /* not a float operation: kernel_verify refuses it */
        return a;
    }
}

static float float_operate(enum kop op, float a, float b, float c)
{
    return op == K_FMA          ? fmaf(a, b, c)
           : op == K_ROUND_F16  ? f32_round(a, WNNOperandDataType_Float16)
           : op == K_ROUND_BF16 ? f32_round(a, DTYPE_BFLOAT16)
                                : (float)operate(op, a, b, c);
}

/* ---- casts and comparisons ---- */

static union scalar cast(enum ktype to, enum ktype from, union scalar s)
{
    static const dtype integers[KT_COUNT] = {[KT_I8] = WNNOperandDataType_Int8,    [KT_U8] = WNNOperandDataType_Uint8,
                                             [KT_I32] = WNNOperandDataType_Int32,  [KT_I16] = DTYPE_INT16,
                                             [KT_U32] = WNNOperandDataType_Uint32, [KT_I64] = WNNOperandDataType_Int64,
                                             [KT_U64] = WNNOperandDataType_Uint64};
    union scalar r = {.u64 = 0};

    if (to == from && ktype_is_float(to))
        return s;
    if (to == KT_F64) {
        r.f64 = from == KT_F32 ? (double)s.f32 : from == KT_U64 ? (double)s.u64 : (double)int_get(from, s);
        return r;
    }
    if (to == KT_F32) {
        r.f32 = from == KT_F64 ? (float)s.f64 : from == KT_U64 ? (float)s.u64 : (float)int_get(from, s);
        return r;
    }
    if (ktype_is_float(from))
        return number_cast(wnnNumber(trunc(from == KT_F64 ? s.f64 : s.f32)), integers[to]);
    return int_put(to, (uint64_t)int_get(from, s));
}

static bool compare(enum kop op, enum ktype type, union scalar a, union scalar b)
{
    if (type == KT_F64)
        return op == K_EQ ? a.f64 == b.f64 : op == K_NE ? a.f64 != b.f64 : op == K_LT ? a.f64 < b.f64 : a.f64 <= b.f64;
    if (type == KT_F32)
        return op == K_EQ ? a.f32 == b.f32 : op == K_NE ? a.f32 != b.f32 : op == K_LT ? a.f32 < b.f32 : a.f32 <= b.f32;
    const int64_t x = int_get(type, a), y = int_get(type, b);
    return op == K_EQ ? x == y : op == K_NE ? x != y : op == K_LT ? int_less(type, x, y) : !int_less(type, y, x);
}

union scalar kernel_scalar(enum kop op, enum ktype type, enum ktype from, const union scalar args[3])
{
    union scalar r = {.u64 = 0};

    switch (op) {
    case K_CAST:
    case K_CAST_IN_RANGE:
        return cast(type, from, args[0]);
    case K_BITCAST:
        return ktype_size(type) == 4 ? (union scalar){.u64 = args[0].u32} : args[0];
    case K_TO_F16:
    case K_TO_BF16:
        r.f16 = scalar_narrow(args[0], op == K_TO_F16 ? WNNOperandDataType_Float16 : DTYPE_BFLOAT16).f16;
        return r;
    case K_FROM_F16:
    case K_FROM_BF16:
        r.f32 = scalar_widen(args[0], op == K_FROM_F16 ? WNNOperandDataType_Float16 : DTYPE_BFLOAT16).f32;
        return r;
    case K_LDEXP:
        r.f32 = ldexpf(args[0].f32, args[1].i32);
        return r;
    case K_EQ:
    case K_NE:
    case K_LT:
    case K_LE:
        r.u8 = compare(op, from, args[0], args[1]);
        return r;
    case K_IS_NAN:
        r.u8 = (from == KT_F64 ? isnan(args[0].f64) : isnan(args[0].f32)) != 0;
        return r;
    case K_IS_INFINITE:
        r.u8 = (from == KT_F64 ? isinf(args[0].f64) : isinf(args[0].f32)) != 0;
        return r;
    case K_SELECT:
        return args[0].u8 ? args[1] : args[2];
    default:
        break;
    }
    if (type == KT_F64) {
        r.f64 = kop_has_f64(op) ? operate(op, args[0].f64, args[1].f64, args[2].f64)
                                : (double)float_operate(op, (float)args[0].f64, (float)args[1].f64, (float)args[2].f64);
        return r;
    }
    if (type != KT_F32)
        return int_put(type, int_operate(op, type, args));
    r.f32 = float_operate(op, args[0].f32, args[1].f32, args[2].f32);
    return r;
}
