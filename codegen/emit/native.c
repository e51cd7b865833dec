/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits scalar operations of the kernel IR that are one instruction or a few: what expansions are made of, and what needs none.
 * There are no fast-math flags and no contraction: every operation rounds as IEEE says.  Nothing traps.
 */
#include "codegen/emit/native.h"

#include <math.h>

#include "codegen/emit/avx512.h"
#include "codegen/emit/integer.h"
#include "codegen/emit/type.h"

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
 * false and stays.  So does a zero of either sign beside a zero, which is right if the number is the zero that never wins, and
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
