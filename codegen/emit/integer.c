/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits integer division and powers that never trap, and saturating casts.
 */
#include "codegen/emit/integer.h"

#include <math.h>
#include <stdio.h>

/* ---- integer division ---- */

static V divide_by_float(const struct build *m, V a, V b, bool is_signed, T float_element)
{
    T type = type_like(float_element, a), result = LLVMTypeOf(a);
    V x = is_signed ? LLVMBuildSIToFP(m->b, a, type, "") : LLVMBuildUIToFP(m->b, a, type, "");
    V y = is_signed ? LLVMBuildSIToFP(m->b, b, type, "") : LLVMBuildUIToFP(m->b, b, type, "");
    V q = LLVMBuildFDiv(m->b, x, y, "");
    return is_signed ? LLVMBuildFPToSI(m->b, q, result, "") : LLVMBuildFPToUI(m->b, q, result, "");
}

V int_divide(const struct build *m, V a, V b, bool is_signed)
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

V int_power(const struct build *m, V a, V b, bool is_signed)
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
V float_to_int(const struct build *m, V f, uint32_t bits, bool is_signed)
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
