/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits scalar operations of the kernel IR that are one instruction or a few: what expansions are made of, and what needs none.
 * There are no fast-math flags and no contraction: every operation rounds as IEEE says.  Nothing traps.
 */
#include "codegen/emit/native.h"

#include <math.h>
#include <stdio.h>

#include "codegen/emit/avx512.h"

/* ---- integer division ---- */

static V divide_by_float(const struct build *m, V a, V b, bool is_signed, T float_element)
{
    T type = type_like(float_element, a), result = LLVMTypeOf(a);
    V x = is_signed ? LLVMBuildSIToFP(m->b, a, type, "") : LLVMBuildUIToFP(m->b, a, type, "");
    V y = is_signed ? LLVMBuildSIToFP(m->b, b, type, "") : LLVMBuildUIToFP(m->b, b, type, "");
    V q = LLVMBuildFDiv(m->b, x, y, "");
    return is_signed ? LLVMBuildFPToSI(m->b, q, result, "") : LLVMBuildFPToUI(m->b, q, result, "");
}

/* Returns a / b, truncated.  A division by 0 gives 0, and the smallest number divided by -1 is itself. */
static V int_divide(const struct build *m, V a, V b, bool is_signed)
{
    uint32_t bits = LLVMGetIntTypeWidth(element_type(a));
    V zero = LLVMConstNull(LLVMTypeOf(a)), one = const_int_like(m, a, 1);
    V by_zero = LLVMBuildICmp(m->b, LLVMIntEQ, b, zero, ""), special = by_zero, by_minus_one = NULL, q;

    if (is_signed) {
        by_minus_one = LLVMBuildICmp(m->b, LLVMIntEQ, b, LLVMConstAllOnes(LLVMTypeOf(b)), "");
        special = LLVMBuildOr(m->b, special, by_minus_one, "");
    }
    V divisor = LLVMBuildSelect(m->b, special, one, b, "");
    /* There is no vector division of integers.  A quotient of numbers of n bits lies at least 2^-n below the next whole one,
     * and a float with more than 2n bits of precision cannot round up to that.  n is 8 in float32.  It is 32 in double:
     * relative to a quotient that shrinks as the divisor grows, n + n/2 bits are needed and not 2n. */
    if (lanes_of(a) > 1 && bits == 8)
        q = divide_by_float(m, a, divisor, is_signed, type_f32(m));
    else if (lanes_of(a) > 1 && bits == 32 && m->isa->f64)
        q = divide_by_float(m, a, divisor, is_signed, type_f64(m));
    else
        q = is_signed ? LLVMBuildSDiv(m->b, a, divisor, "") : LLVMBuildUDiv(m->b, a, divisor, "");
    if (is_signed)
        q = LLVMBuildSelect(m->b, by_minus_one, LLVMBuildNeg(m->b, a, ""), q, "");
    return LLVMBuildSelect(m->b, by_zero, zero, q, "");
}

/* ---- integer powers ---- */

/* Returns the function for powers of that type.  It is a function of its own, since it loops: it squares the base until no lane
 * has exponent bits left. */
static V power_function(const struct build *m, T type)
{
    char name[64];
    T element = LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
    uint32_t lanes = LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetVectorSize(type) : 1;
    snprintf(name, sizeof name, "power.v%ui%u%s", lanes, LLVMGetIntTypeWidth(element), m->suffix ? m->suffix : "");
    V function = LLVMGetNamedFunction(m->module, name);
    if (function)
        return function;

    T params[2] = {type, type};
    function = LLVMAddFunction(m->module, name, LLVMFunctionType(type, params, 2, false));
    LLVMSetLinkage(function, LLVMInternalLinkage);
    function_set_attributes(m, function);
    struct build f = *m;
    f.function = function;
    f.b = LLVMCreateBuilderInContext(m->context);
    LLVMBasicBlockRef entry = block_append(&f, "entry"), loop = block_append(&f, "loop"), done = block_append(&f, "done");
    LLVMPositionBuilderAtEnd(f.b, entry);
    LLVMBuildBr(f.b, loop);
    LLVMPositionBuilderAtEnd(f.b, loop);
    V result = LLVMBuildPhi(f.b, type, "result"), square = LLVMBuildPhi(f.b, type, "square"),
      left = LLVMBuildPhi(f.b, type, "left");
    V one = const_int_like(&f, result, 1), zero = LLVMConstNull(type);
    V odd = LLVMBuildICmp(f.b, LLVMIntNE, LLVMBuildAnd(f.b, left, one, ""), zero, "");
    V next_result = LLVMBuildSelect(f.b, odd, LLVMBuildMul(f.b, result, square, ""), result, "");
    V next_square = LLVMBuildMul(f.b, square, square, ""), next_left = LLVMBuildLShr(f.b, left, one, "");
    LLVMBuildCondBr(f.b, op_any(&f, LLVMBuildICmp(f.b, LLVMIntNE, next_left, zero, "")), loop, done);
    LLVMBasicBlockRef from[2] = {entry, loop};
    LLVMAddIncoming(result, (V[2]){one, next_result}, from, 2);
    LLVMAddIncoming(square, (V[2]){LLVMGetParam(function, 0), next_square}, from, 2);
    LLVMAddIncoming(left, (V[2]){LLVMGetParam(function, 1), next_left}, from, 2);
    LLVMPositionBuilderAtEnd(f.b, done);
    LLVMBuildRet(f.b, next_result);
    LLVMDisposeBuilder(f.b);
    return function;
}

/* Returns a to the power of b, which wraps.  If b is negative that is 1 / a^-b, truncated. */
static V int_power(const struct build *m, V a, V b, bool is_signed)
{
    T type = LLVMTypeOf(a);
    V zero = LLVMConstNull(type), one = const_int_like(m, a, 1), minus_one = LLVMConstAllOnes(type);
    V exponent = b, negative = NULL;

    if (is_signed) { /* so that the loop ends early */
        negative = LLVMBuildICmp(m->b, LLVMIntSLT, b, zero, "");
        exponent = LLVMBuildSelect(m->b, negative, zero, b, "");
    }
    V function = power_function(m, type), args[2] = {a, exponent};
    V power = LLVMBuildCall2(m->b, LLVMGlobalGetValueType(function), function, args, 2, "");
    if (!is_signed)
        return power;
    /* This is 1 / a^n, truncated: only 1 and -1 leave something. */
    V odd = LLVMBuildICmp(m->b, LLVMIntNE, LLVMBuildAnd(m->b, b, one, ""), zero, "");
    V sign = LLVMBuildSelect(m->b, odd, minus_one, one, "");
    V inverse = LLVMBuildSelect(m->b, LLVMBuildICmp(m->b, LLVMIntEQ, a, minus_one, ""), sign, zero, "");
    inverse = LLVMBuildSelect(m->b, LLVMBuildICmp(m->b, LLVMIntEQ, a, one, ""), one, inverse, "");
    return LLVMBuildSelect(m->b, negative, inverse, power, "");
}

/* ---- saturating casts ---- */

/* Bytes are clamped as floats: a select of a comparison with a bound is one instruction.  It takes the bound where there is
 * NaN, which is right for the lower one of unsigned bytes, 0. */
static V float_to_byte(const struct build *m, V f, bool is_signed)
{
    V bottom = const_f_like(m, f, is_signed ? INT8_MIN : 0), top = const_f_like(m, f, is_signed ? INT8_MAX : UINT8_MAX);

    if (is_signed)
        f = LLVMBuildSelect(m->b, LLVMBuildFCmp(m->b, LLVMRealORD, f, f, ""), f, LLVMConstNull(LLVMTypeOf(f)), "");
    f = LLVMBuildSelect(m->b, LLVMBuildFCmp(m->b, LLVMRealOGT, f, bottom, ""), f, bottom, "");
    f = LLVMBuildSelect(m->b, LLVMBuildFCmp(m->b, LLVMRealOLT, f, top, ""), f, top, "");
    /* a signed conversion to 32 bits exists everywhere */
    return LLVMBuildTrunc(m->b, LLVMBuildFPToSI(m->b, f, type_like(type_int(m, 32), f), ""), type_like(type_int(m, 8), f), "");
}

/* llvm.fptosi.sat on vectors becomes scalar code in LLVM 19; in range, the plain conversion is one instruction. */
/* Converts float32 to integers of so many bits: truncates, saturates, and turns NaN into 0. */
static V float_to_int(const struct build *m, V f, uint32_t bits, bool is_signed)
{
    if (bits == 8)
        return float_to_byte(m, f, is_signed);
    T type = type_like(type_int(m, bits), f);
    double low = is_signed ? -ldexp(1, (int)bits - 1) : 0, high = ldexp(1, (int)bits - is_signed);
    V bottom = const_f_like(m, f, low), top = const_f_like(m, f, high);
    V too_low = LLVMBuildFCmp(m->b, LLVMRealOLT, f, bottom, ""), too_high = LLVMBuildFCmp(m->b, LLVMRealOGE, f, top, "");
    V in_range =
        LLVMBuildAnd(m->b, LLVMBuildFCmp(m->b, LLVMRealOGE, f, bottom, ""), LLVMBuildFCmp(m->b, LLVMRealOLT, f, top, ""), "");
    V x = LLVMBuildSelect(m->b, in_range, f, LLVMConstNull(LLVMTypeOf(f)), "");
    V r = is_signed ? LLVMBuildFPToSI(m->b, x, type, "") : LLVMBuildFPToUI(m->b, x, type, "");

    uint64_t least = is_signed ? -(UINT64_C(1) << (bits - 1)) : 0;
    uint64_t most = is_signed ? (UINT64_C(1) << (bits - 1)) - 1 : bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    r = LLVMBuildSelect(m->b, too_low, const_int_like(m, r, (int64_t)least), r, "");
    return LLVMBuildSelect(m->b, too_high, const_int_like(m, r, (int64_t)most), r, "");
}

static V float_sign(const struct build *m, V a)
{
    V zero = const_f_like(m, a, 0);
    V less = LLVMBuildFCmp(m->b, LLVMRealOLT, a, zero, ""), more = LLVMBuildFCmp(m->b, LLVMRealOGT, a, zero, "");
    a = LLVMBuildSelect(m->b, less, const_f_like(m, a, -1), a, "");
    return LLVMBuildSelect(m->b, more, const_f_like(m, a, 1), a, "");
}

/* Returns whether all lanes are one number, which is stored. */
static bool is_number(V v, double *number)
{
    V lane = LLVMIsConstant(v) ? LLVMGetAggregateElement(v, 0) : NULL;
    LLVMBool loses;

    if (!lane || !LLVMIsAConstantFP(lane) || const_splat(lane, lanes_of(v)) != v)
        return false;
    *number = LLVMConstRealGetDouble(lane, &loses);
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
    V other = LLVMBuildFCmp(m->b, largest ? LLVMRealOLT : LLVMRealOGT, a, number_lanes, "");
    V one = LLVMBuildSelect(m->b, other, number_lanes, a, "");
    return largest && number == 0 && !signbit(number) ? LLVMBuildFAdd(m->b, one, number_lanes, "") : one;
}

/* Returns the extreme of two numbers of float64 by comparisons: NaN of either, and of two zeros the one of the right sign. */
static V f64_extreme(const struct build *m, bool largest, V a, V b)
{
    V one = op_bits(m, a, type_int(m, 64)), other = op_bits(m, b, type_int(m, 64));
    V both = largest ? LLVMBuildAnd(m->b, one, other, "") : LLVMBuildOr(m->b, one, other, "");
    V r = LLVMBuildSelect(m->b, LLVMBuildFCmp(m->b, largest ? LLVMRealOGT : LLVMRealOLT, a, b, ""), a, b, "");

    r = LLVMBuildSelect(m->b, LLVMBuildFCmp(m->b, LLVMRealOEQ, a, b, ""), op_bits(m, both, type_f64(m)), r, "");
    return LLVMBuildSelect(m->b, LLVMBuildFCmp(m->b, LLVMRealUNO, a, b, ""), LLVMBuildFAdd(m->b, a, b, ""), r, "");
}

static V float_extreme(const struct build *m, bool largest, V a, V b)
{
    double number;

    if (!m->isa->f64_extremes && element_type(a) == type_f64(m))
        return f64_extreme(m, largest, a, b);
    if (m->isa->select_extremes && (is_number(a, &number) || is_number(b, &number))) {
        V one = is_number(b, &number) ? compared_extreme(m, largest, a, b, number) : compared_extreme(m, largest, b, a, number);
        if (one)
            return one;
    }
    if (avx512_has_extreme(m, a) && !LLVMIsConstant(a) && !LLVMIsConstant(b))
        return avx512_extreme(m, largest, a, b);
    return op_intrinsic2(m, largest ? "llvm.maximum" : "llvm.minimum", a, b);
}

/* Is LLVM's function for an instruction of two operands. */
typedef V (*instruction)(LLVMBuilderRef b, V x, V y, const char *name);

static V float_operation(const struct build *m, enum kop op, V a, V b, V c)
{
    static const instruction instructions[K_OP_COUNT] = {
        [K_ADD] = LLVMBuildFAdd, [K_SUB] = LLVMBuildFSub, [K_MUL] = LLVMBuildFMul, [K_DIV] = LLVMBuildFDiv};

    if (instructions[op])
        return instructions[op](m->b, a, b, "");
    switch (op) {
    case K_MIN:
        return float_extreme(m, false, a, b);
    case K_MAX:
        return float_extreme(m, true, a, b);
    case K_NEG:
        return LLVMBuildFNeg(m->b, a, "");
    case K_ABS:
        return op_fabs(m, a);
    case K_SIGN:
        return float_sign(m, a);
    case K_COPY_SIGN:
        return op_intrinsic2(m, "llvm.copysign", a, b);
    case K_FLOOR:
        return op_floor(m, a);
    case K_CEIL:
        return op_ceil(m, a);
    case K_ROUND_EVEN:
        return op_round_even(m, a);
    case K_SQRT:
        return op_intrinsic1(m, "llvm.sqrt", a);
    case K_RECIPROCAL:
        return LLVMBuildFDiv(m->b, const_f_like(m, a, 1), a, "");
    case K_FMA:
        return op_mad(m, a, b, c);
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
    static const instruction instructions[K_OP_COUNT] = {
        [K_ADD] = LLVMBuildAdd, [K_SUB] = LLVMBuildSub, [K_MUL] = LLVMBuildMul, [K_AND] = LLVMBuildAnd,
        [K_OR] = LLVMBuildOr,   [K_XOR] = LLVMBuildXor, [K_SHL] = LLVMBuildShl};
    V zero = LLVMConstNull(LLVMTypeOf(a));

    if (instructions[op])
        return instructions[op](m->b, a, b, "");
    switch (op) {
    case K_FMA:
        return LLVMBuildAdd(m->b, LLVMBuildMul(m->b, a, b, ""), c, "");
    case K_DIV:
        return int_divide(m, a, b, is_signed);
    case K_MIN:
        return op_intrinsic2(m, is_signed ? "llvm.smin" : "llvm.umin", a, b);
    case K_MAX:
        return op_intrinsic2(m, is_signed ? "llvm.smax" : "llvm.umax", a, b);
    case K_POW:
        return int_power(m, a, b, is_signed);
    case K_NEG:
        return LLVMBuildNeg(m->b, a, "");
    case K_ABS: {
        T type = LLVMTypeOf(a);
        V args[2] = {a, const_int(m, 1, 0)}; /* 0: the smallest integer is itself, not poison */
        return is_signed ? call_intrinsic(m, "llvm.abs", &type, 1, args, 2) : a;
    }
    case K_SIGN: {
        V some = LLVMBuildZExt(m->b, LLVMBuildICmp(m->b, LLVMIntNE, a, zero, ""), LLVMTypeOf(a), "");
        if (!is_signed)
            return some;
        V negative = LLVMBuildICmp(m->b, LLVMIntSLT, a, zero, "");
        return LLVMBuildSelect(m->b, negative, LLVMConstAllOnes(LLVMTypeOf(a)), some, "");
    }
    case K_NOT:
        return LLVMBuildNot(m->b, a, "");
    case K_SHR:
        return is_signed ? LLVMBuildAShr(m->b, a, b, "") : LLVMBuildLShr(m->b, a, b, "");
    default: /* rounding an integer changes nothing */
        return a;
    }
}

static V cast(const struct build *m, enum ktype to, enum ktype from, V a)
{
    uint32_t bits = to == KT_BOOL ? 1 : 8 * (uint32_t)ktype_size(to);
    if (to == from)
        return a;
    if (to == KT_F64 && from == KT_F32)
        return LLVMBuildFPExt(m->b, a, type_like(type_f64(m), a), "");
    if (from == KT_F64) /* to an integer by float32: nothing casts so */
        return cast(m, to, KT_F32, LLVMBuildFPTrunc(m->b, a, type_like(type_f32(m), a), ""));
    if (ktype_is_float(to)) {
        T type = type_like(to == KT_F64 ? type_f64(m) : type_f32(m), a);
        return ktype_is_signed(from) ? LLVMBuildSIToFP(m->b, a, type, "") : LLVMBuildUIToFP(m->b, a, type, "");
    }
    if (from == KT_F32)
        return float_to_int(m, a, bits, ktype_is_signed(to));
    return LLVMBuildIntCast2(m->b, a, type_like(type_int(m, bits), a), ktype_is_signed(from), "");
}

static V compare(const struct build *m, enum kop op, enum ktype type, V a, V b)
{
    if (ktype_is_float(type)) {
        LLVMRealPredicate p = op == K_EQ ? LLVMRealOEQ : op == K_NE ? LLVMRealUNE : op == K_LT ? LLVMRealOLT : LLVMRealOLE;
        return LLVMBuildFCmp(m->b, p, a, b, "");
    }
    bool is_signed = ktype_is_signed(type);
    LLVMIntPredicate p = op == K_EQ   ? LLVMIntEQ
                         : op == K_NE ? LLVMIntNE
                         : op == K_LT ? (is_signed ? LLVMIntSLT : LLVMIntULT)
                                      : (is_signed ? LLVMIntSLE : LLVMIntULE);
    return LLVMBuildICmp(m->b, p, a, b, "");
}

V emit_native(const struct build *m, enum kop op, enum ktype type, enum ktype from, V a, V b, V c)
{
    switch (op) {
    case K_CAST:
        return cast(m, type, from, a);
    case K_CAST_IN_RANGE:
        return LLVMBuildFPToSI(m->b, a, type_like(type_of(m, type), a), "");
    case K_BITCAST:
        return op_bits(m, a, type_of(m, type));
    case K_EQ:
    case K_NE:
    case K_LT:
    case K_LE:
        return compare(m, op, from, a, b);
    case K_IS_NAN:
        return LLVMBuildFCmp(m->b, LLVMRealUNO, a, a, "");
    case K_IS_INFINITE: {
        V infinity = const_f_like(m, a, INFINITY);
        return LLVMBuildFCmp(m->b, LLVMRealOEQ, op_fabs(m, a), infinity, "");
    }
    case K_SELECT:
        return LLVMBuildSelect(m->b, a, b, c, "");
    default:
        break;
    }
    return ktype_is_float(type) ? float_operation(m, op, a, b, c) : int_operation(m, op, ktype_is_signed(type), a, b, c);
}
