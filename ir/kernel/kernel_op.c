/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Holds the table of scalar operations of the kernel IR: what building, verifying and printing kernels must know of each. */
#include "ir/kernel/kernel_internal.h"

const struct kop_info kop_infos[K_OP_COUNT] = {
    /* Each row has name, operands, types, commutes, class of cost and has_f64. */
    [K_CONST] = {"const", 0, KOP_OWN, false, OPERATION_NONE, false},
    [K_LOAD] = {"load", 0, KOP_OWN, false, OPERATION_SIMPLE, false},
    [K_INDEX] = {"index", 0, KOP_OWN, false, OPERATION_SIMPLE, false},
    [K_REDUCE] = {"reduce", 1, KOP_OWN, false, OPERATION_SIMPLE, false},
    [K_SCAN] = {"scan", 1, KOP_NUMBERS, false, OPERATION_SIMPLE, true},
    [K_ADD] = {"add", 2, KOP_NUMBERS, true, OPERATION_SIMPLE, true},
    [K_SUB] = {"sub", 2, KOP_NUMBERS, false, OPERATION_SIMPLE, true},
    [K_MUL] = {"mul", 2, KOP_NUMBERS, true, OPERATION_SIMPLE, true},
    [K_DIV] = {"div", 2, KOP_NUMBERS, false, OPERATION_DIVISION, true},
    [K_MIN] = {"min", 2, KOP_NUMBERS, true, OPERATION_EXTREME, true},
    [K_MAX] = {"max", 2, KOP_NUMBERS, true, OPERATION_EXTREME, true},
    [K_POW] = {"pow", 2, KOP_NUMBERS, false, OPERATION_POWER, false},
    [K_NEG] = {"neg", 1, KOP_NUMBERS, false, OPERATION_SIMPLE, true},
    [K_ABS] = {"abs", 1, KOP_NUMBERS, false, OPERATION_SIMPLE, true},
    [K_SIGN] = {"sign", 1, KOP_NUMBERS, false, OPERATION_SIMPLE, false},
    [K_COPY_SIGN] = {"copy_sign", 2, KOP_FLOATS, false, OPERATION_SIMPLE, true},
    [K_FLOOR] = {"floor", 1, KOP_FLOATS, false, OPERATION_SIMPLE, true},
    [K_CEIL] = {"ceil", 1, KOP_FLOATS, false, OPERATION_SIMPLE, true},
    [K_ROUND_EVEN] = {"round_even", 1, KOP_FLOATS, false, OPERATION_SIMPLE, true},
    [K_SQRT] = {"sqrt", 1, KOP_FLOATS, false, OPERATION_DIVISION, true},
    [K_RECIPROCAL] = {"reciprocal", 1, KOP_FLOATS, false, OPERATION_DIVISION, true},
    [K_EXP] = {"exp", 1, KOP_FLOATS, false, OPERATION_EXPONENTIAL, false},
    [K_EXP2] = {"exp2", 1, KOP_FLOATS, false, OPERATION_EXPONENTIAL, false},
    [K_EXPM1] = {"expm1", 1, KOP_FLOATS, false, OPERATION_EXPONENTIAL, false},
    [K_LOG] = {"log", 1, KOP_FLOATS, false, OPERATION_EXPONENTIAL, false},
    [K_LOG1P] = {"log1p", 1, KOP_FLOATS, false, OPERATION_EXPONENTIAL, false},
    [K_SIN] = {"sin", 1, KOP_FLOATS, false, OPERATION_TRIGONOMETRIC, false},
    [K_COS] = {"cos", 1, KOP_FLOATS, false, OPERATION_TRIGONOMETRIC, false},
    [K_TAN] = {"tan", 1, KOP_FLOATS, false, OPERATION_TRIGONOMETRIC, false},
    [K_TANH] = {"tanh", 1, KOP_FLOATS, false, OPERATION_EXPONENTIAL, false},
    [K_ERF] = {"erf", 1, KOP_FLOATS, false, OPERATION_EXPONENTIAL, false},
    [K_SIGMOID] = {"sigmoid", 1, KOP_FLOATS, false, OPERATION_EXPONENTIAL, false},
    [K_FMA] = {"fma", 3, KOP_NUMBERS, false, OPERATION_SIMPLE, true},
    [K_ROUND_F16] = {"round_f16", 1, KOP_FLOATS, false, OPERATION_ROUNDING, false},
    [K_ROUND_BF16] = {"round_bf16", 1, KOP_FLOATS, false, OPERATION_ROUNDING, false},
    [K_CAST] = {"cast", 1, KOP_OWN, false, OPERATION_SIMPLE, false},
    [K_BITCAST] = {"bitcast", 1, KOP_OWN, false, OPERATION_NONE, false},
    [K_SHL] = {"shl", 2, KOP_INTEGERS, false, OPERATION_SIMPLE, false},
    [K_SHR] = {"shr", 2, KOP_INTEGERS, false, OPERATION_SIMPLE, false},
    [K_EQ] = {"eq", 2, KOP_COMPARISON, true, OPERATION_SIMPLE, false},
    [K_NE] = {"ne", 2, KOP_COMPARISON, true, OPERATION_SIMPLE, false},
    [K_LT] = {"lt", 2, KOP_COMPARISON, false, OPERATION_SIMPLE, false},
    [K_LE] = {"le", 2, KOP_COMPARISON, false, OPERATION_SIMPLE, false},
    [K_IS_NAN] = {"is_nan", 1, KOP_FLOAT_TEST, false, OPERATION_SIMPLE, false},
    [K_IS_INFINITE] = {"is_infinite", 1, KOP_FLOAT_TEST, false, OPERATION_SIMPLE, false},
    [K_AND] = {"and", 2, KOP_BITS, true, OPERATION_SIMPLE, false},
    [K_OR] = {"or", 2, KOP_BITS, true, OPERATION_SIMPLE, false},
    [K_XOR] = {"xor", 2, KOP_BITS, true, OPERATION_SIMPLE, false},
    [K_NOT] = {"not", 1, KOP_LOGIC, false, OPERATION_SIMPLE, false},
    [K_SELECT] = {"select", 3, KOP_CHOICE, false, OPERATION_SIMPLE, false},
    [K_TO_F16] = {"to_f16", 1, KOP_EXPANSION, false, OPERATION_SIMPLE, false},
    [K_TO_BF16] = {"to_bf16", 1, KOP_EXPANSION, false, OPERATION_ROUNDING, false},
    [K_FROM_F16] = {"from_f16", 1, KOP_EXPANSION, false, OPERATION_SIMPLE, false},
    [K_FROM_BF16] = {"from_bf16", 1, KOP_EXPANSION, false, OPERATION_SIMPLE, false},
    [K_LDEXP] = {"ldexp", 3, KOP_EXPANSION, false, OPERATION_SIMPLE, false},
    [K_FRACTION] = {"fraction", 1, KOP_EXPANSION, false, OPERATION_SIMPLE, false},
    [K_DIV_APPROX] = {"div_approx", 2, KOP_EXPANSION, false, OPERATION_DIVISION, false},
    [K_CAST_IN_RANGE] = {"cast_in_range", 1, KOP_EXPANSION, false, OPERATION_SIMPLE, false},
};

const char *kop_name(enum kop op)
{
    return op < K_OP_COUNT ? kop_infos[op].name : "?";
}

uint32_t kop_arity(enum kop op)
{
    return op < K_OP_COUNT ? kop_infos[op].arity : 0;
}

bool kop_has_f64(enum kop op)
{
    /* Of the others, these are values, casts, comparisons and choices. */
    return kop_infos[op].has_f64 ||
           (kop_infos[op].types != KOP_NUMBERS && kop_infos[op].types != KOP_FLOATS && kop_infos[op].types != KOP_EXPANSION);
}

/* Checks what the rules in the table do not say. */
static bool own_types_fit(enum kop op, enum ktype result, enum ktype a, enum ktype b, enum ktype c)
{
    switch (op) {
    case K_INDEX:
        return result == KT_I64;
    case K_CAST:
        return result != KT_BOOL;
    case K_BITCAST:
        return result != KT_BOOL && a != KT_BOOL && ktype_size(result) == ktype_size(a);
    case K_TO_F16:
    case K_TO_BF16:
        return result == KT_U32 && a == KT_F32;
    case K_FROM_F16:
    case K_FROM_BF16:
        return result == KT_F32 && a == KT_U32;
    case K_LDEXP:
        return result == KT_F32 && a == KT_F32 && b == KT_I32 && c == KT_F32;
    case K_FRACTION:
        return result == KT_F32 && a == KT_F32;
    case K_DIV_APPROX:
        return result == KT_F32 && a == KT_F32 && b == KT_F32;
    case K_CAST_IN_RANGE:
        return result == KT_I32 && a == KT_F32;
    default: /* constants */
        return true;
    }
}

bool kop_types_fit(enum kop op, enum ktype result, enum ktype a, enum ktype b, enum ktype c)
{
    const enum kop_types types = kop_info(op)->types;
    const bool same = result == a && (b == KT_COUNT || a == b) && (c == KT_COUNT || a == c);

    switch (types) {
    case KOP_OWN:
    case KOP_EXPANSION:
        return own_types_fit(op, result, a, b, c);
    case KOP_NUMBERS:
        return same && a != KT_BOOL;
    case KOP_FLOATS:
        return same && ktype_is_float(a);
    case KOP_INTEGERS:
        return same && !ktype_is_float(a) && a != KT_BOOL && ktype_size(a) >= 4;
    case KOP_BITS:
        return same && !ktype_is_float(a);
    case KOP_LOGIC:
        return same && a == KT_BOOL;
    case KOP_COMPARISON:
        return result == KT_BOOL && a == b;
    case KOP_FLOAT_TEST:
        return result == KT_BOOL && ktype_is_float(a);
    case KOP_CHOICE:
        return a == KT_BOOL && b == c && result == b;
    }
    return false;
}
