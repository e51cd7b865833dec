/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Puts short names over LLVM's C API: types and constants shaped like a value, intrinsics, roundings that need no library call.
 *
 * Every function works on scalars and on vectors: the number of lanes comes from the operands.
 */
#include "codegen/emit/build.h"

#include <string.h>

uint32_t lanes_of(V v)
{
    T t = LLVMTypeOf(v);
    return LLVMGetTypeKind(t) == LLVMVectorTypeKind ? LLVMGetVectorSize(t) : 1;
}

T element_type(V v)
{
    T t = LLVMTypeOf(v);
    return LLVMGetTypeKind(t) == LLVMVectorTypeKind ? LLVMGetElementType(t) : t;
}

T type_i1(const struct build *m)
{
    return LLVMInt1TypeInContext(m->context);
}
T type_int(const struct build *m, uint32_t bits)
{
    return LLVMIntTypeInContext(m->context, bits);
}
T type_f32(const struct build *m)
{
    return LLVMFloatTypeInContext(m->context);
}
T type_f64(const struct build *m)
{
    return LLVMDoubleTypeInContext(m->context);
}
T type_ptr(const struct build *m)
{
    return LLVMPointerTypeInContext(m->context, 0);
}
T type_lanes(T element, uint32_t lanes)
{
    return lanes == 1 ? element : LLVMVectorType(element, lanes);
}
T type_like(T element, V like)
{
    return type_lanes(element, lanes_of(like));
}

V const_int(const struct build *m, uint32_t bits, int64_t value)
{
    return LLVMConstInt(type_int(m, bits), (unsigned long long)value, true);
}

V const_splat(V scalar, uint32_t lanes)
{
    V all[LANES_MAX];
    if (lanes == 1)
        return scalar;
    for (uint32_t i = 0; i < lanes; i++)
        all[i] = scalar;
    return LLVMConstVector(all, lanes);
}

V const_int_like(const struct build *m, V like, int64_t value)
{
    (void)m;
    return const_splat(LLVMConstInt(element_type(like), (unsigned long long)value, true), lanes_of(like));
}

V const_f_like(const struct build *m, V like, double value)
{
    (void)m;
    return const_splat(LLVMConstReal(element_type(like), value), lanes_of(like));
}

V const_i32_for(const struct build *m, V like, int64_t value)
{
    return const_splat(const_int(m, 32, value), lanes_of(like));
}

V const_iota(const struct build *m, uint32_t bits, uint32_t lanes)
{
    V all[LANES_MAX];
    for (uint32_t i = 0; i < lanes; i++)
        all[i] = const_int(m, bits, i);
    return lanes == 1 ? all[0] : LLVMConstVector(all, lanes);
}

V splat(const struct build *m, V scalar, uint32_t lanes)
{
    if (lanes == 1)
        return scalar;
    if (LLVMIsConstant(scalar) && !LLVMIsUndef(scalar))
        return const_splat(scalar, lanes);
    T vector = LLVMVectorType(LLVMTypeOf(scalar), lanes);
    V one = LLVMBuildInsertElement(m->b, LLVMGetPoison(vector), scalar, const_int(m, 64, 0), "");
    return LLVMBuildShuffleVector(m->b, one, LLVMGetPoison(vector), LLVMConstNull(LLVMVectorType(type_int(m, 32), lanes)),
                                  "splat");
}

V call_intrinsic(const struct build *m, const char *name, T *overloads, uint32_t overload_count, V *args, uint32_t arg_count)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    V function = LLVMGetIntrinsicDeclaration(m->module, id, overloads, overload_count);
    T type = LLVMIntrinsicGetType(m->context, id, overloads, overload_count);
    return LLVMBuildCall2(m->b, type, function, args, arg_count, "");
}

V op_intrinsic1(const struct build *m, const char *name, V a)
{
    T t = LLVMTypeOf(a);
    return call_intrinsic(m, name, &t, 1, &a, 1);
}

V op_intrinsic2(const struct build *m, const char *name, V a, V b)
{
    T t = LLVMTypeOf(a);
    V args[2] = {a, b};
    return call_intrinsic(m, name, &t, 1, args, 2);
}

V op_mad(const struct build *m, V a, V b, V c)
{
    T t = LLVMTypeOf(a);
    V args[3] = {a, b, c};

    if (m->isa->relaxed_fma && t == LLVMVectorType(type_f32(m), 4)) /* there are no others */
        return call_intrinsic(m, "llvm.wasm.relaxed.madd", &t, 1, args, 3);
    if (!m->isa->fma || (!m->isa->f64 && element_type(a) == type_f64(m)))
        return LLVMBuildFAdd(m->b, LLVMBuildFMul(m->b, a, b, ""), c, "");
    return call_intrinsic(m, "llvm.fma", &t, 1, args, 3);
}

V op_select(const struct build *m, V condition, V a, V b)
{
    if (lanes_of(condition) == 1 || lanes_of(condition) == lanes_of(a))
        return LLVMBuildSelect(m->b, condition, a, b, "");
    return LLVMBuildSelect(m->b, condition, splat(m, a, lanes_of(condition)), splat(m, b, lanes_of(condition)), "");
}

V op_bits(const struct build *m, V v, T element)
{
    return LLVMBuildBitCast(m->b, v, type_like(element, v), "");
}

V op_lanes(const struct build *m, V x, V y, uint32_t first, uint32_t count)
{
    V at[LANES_MAX];

    for (uint32_t i = 0; i < count; i++)
        at[i] = const_int(m, 32, first + i);
    return LLVMBuildShuffleVector(m->b, x, y ? y : LLVMGetPoison(LLVMTypeOf(x)), LLVMConstVector(at, count), "");
}

V op_shuffle(const struct build *m, V x, V y, const uint32_t *numbers, uint32_t n)
{
    V at[LANES_MAX];

    for (uint32_t i = 0; i < n; i++)
        at[i] = const_int(m, 32, numbers[i]);
    return LLVMBuildShuffleVector(m->b, x, y, LLVMConstVector(at, n), "");
}

V op_fence(const struct build *m, V x)
{
    T type = LLVMTypeOf(x), element = LLVMGetElementType(type);
    uint32_t bits = LLVMGetTypeKind(element) == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(element) : 0, n = lanes_of(x);

    if (!bits)
        return op_intrinsic1(m, "llvm.arithmetic.fence", x);
    if (n * bits < 128) /* no register of its own everywhere */
        return x;
    x = LLVMBuildBitCast(m->b, x, LLVMVectorType(type_f32(m), n * bits / 32), "");
    return LLVMBuildBitCast(m->b, op_intrinsic1(m, "llvm.arithmetic.fence", x), type, "");
}

V op_fabs(const struct build *m, V x)
{
    return op_intrinsic1(m, "llvm.fabs", x);
}

V op_opaque(const struct build *m, V pointer)
{
    return op_intrinsic1(m, "llvm.strip.invariant.group", pointer); /* no code, and gone before instruction selection */
}

V op_address(const struct build *m, T element, V pointer, V index)
{
    return LLVMBuildGEP2(m->b, element, pointer, &index, 1, "");
}

void op_prefetch(const struct build *m, V pointer)
{
    T type = type_ptr(m);
    V args[4] = {pointer, const_int(m, 32, 0), const_int(m, 32, 3), const_int(m, 32, 1)}; /* to read, keep, data */
    call_intrinsic(m, "llvm.prefetch", &type, 1, args, 4);
}

V op_any(const struct build *m, V condition)
{
    uint32_t lanes = lanes_of(condition);
    if (lanes == 1)
        return condition;
    V bits = LLVMBuildBitCast(m->b, condition, type_int(m, lanes), "");
    return LLVMBuildICmp(m->b, LLVMIntNE, bits, LLVMConstNull(LLVMTypeOf(bits)), "any");
}

/* Without SSE4.1 the rounding intrinsics are library calls.  Adding and subtracting 2^23 rounds what is smaller (nearest even);
 * the sign is put back for -0.  Larger numbers are whole. */
static V round_by_adding(const struct build *m, V x)
{
    V magic = const_f_like(m, x, 8388608.0);
    V a = op_fabs(m, x);
    V r = LLVMBuildFSub(m->b, LLVMBuildFAdd(m->b, a, magic, ""), magic, "");
    r = op_intrinsic2(m, "llvm.copysign", r, x);
    return op_select(m, LLVMBuildFCmp(m->b, LLVMRealOLT, a, magic, ""), r, x);
}

static bool has_rounding(const struct build *m)
{
    return m->isa->rounding;
}

V op_round_even(const struct build *m, V x)
{
    return has_rounding(m) ? op_intrinsic1(m, "llvm.roundeven", x) : round_by_adding(m, x);
}

static V step_if(const struct build *m, LLVMRealPredicate predicate, V rounded, V x, double step)
{
    V moved = LLVMBuildFAdd(m->b, rounded, const_f_like(m, x, step), "");
    V r = op_select(m, LLVMBuildFCmp(m->b, predicate, rounded, x, ""), moved, rounded);
    return op_intrinsic2(m, "llvm.copysign", r, x); /* ceil(-0.5) is -0 */
}

V op_floor(const struct build *m, V x)
{
    return has_rounding(m) ? op_intrinsic1(m, "llvm.floor", x) : step_if(m, LLVMRealOGT, round_by_adding(m, x), x, -1);
}

V op_ceil(const struct build *m, V x)
{
    return has_rounding(m) ? op_intrinsic1(m, "llvm.ceil", x) : step_if(m, LLVMRealOLT, round_by_adding(m, x), x, 1);
}

/* Returns whether a is to be divided in 32 bits, and then what that takes: a and b in that type. */
static bool divides_narrowly(const struct build *m, V *a, V *b)
{
    if (m->isa->wide_division || element_type(*a) != type_int(m, 64))
        return false;
    T narrow = type_like(type_int(m, 32), *a);
    *a = LLVMBuildTrunc(m->b, *a, narrow, "");
    *b = LLVMBuildTrunc(m->b, *b, narrow, "");
    return true;
}

V op_divide_index(const struct build *m, V a, V b)
{
    T type = LLVMTypeOf(a);
    bool narrow = divides_narrowly(m, &a, &b);
    V quotient = LLVMBuildUDiv(m->b, a, b, "");
    return narrow ? LLVMBuildZExt(m->b, quotient, type, "") : quotient;
}

V op_modulo_index(const struct build *m, V a, V b)
{
    T type = LLVMTypeOf(a);
    bool narrow = divides_narrowly(m, &a, &b);
    V rest = LLVMBuildURem(m->b, a, b, "");
    return narrow ? LLVMBuildZExt(m->b, rest, type, "") : rest;
}

static void add_attribute(const struct build *m, V function, const char *name, const char *value)
{
    LLVMAttributeRef a = LLVMCreateStringAttribute(m->context, name, (unsigned)strlen(name), value, (unsigned)strlen(value));
    LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, a);
}

static void add_flag(const struct build *m, V function, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(m->context, kind, 0));
}

void function_set_attributes(const struct build *m, V function)
{
    char bits[16];
    snprintf(bits, sizeof bits, "%u", m->isa->vector_bits);
    add_flag(m, function, "nounwind");
    if (m->sanitize)
        add_flag(m, function, "sanitize_address");
    if (m->for_size)
        add_flag(m, function, "optsize");
    /* No loop of ours may become a call of memset or memcpy: code must link into bare objects. */
    add_attribute(m, function, "no-builtins", "");
    if (m->target->cpu)
        add_attribute(m, function, "target-cpu", m->target->cpu);
    if (m->target->features)
        add_attribute(m, function, "target-features", m->target->features);
    /* Without these two, explicit 512-bit vectors are split. */
    add_attribute(m, function, "prefer-vector-width", bits);
    add_attribute(m, function, "min-legal-vector-width", bits);
}

LLVMBasicBlockRef block_append(const struct build *m, const char *name)
{
    return LLVMAppendBasicBlockInContext(m->context, m->function, name);
}

V block_enter(const struct build *m, const char *name)
{
    LLVMBasicBlockRef block = block_append(m, name);
    V branch = LLVMBuildBr(m->b, block);
    LLVMPositionBuilderAtEnd(m->b, block);
    return branch;
}

struct loop build_loop_begin(const struct build *m, V from, const char *name)
{
    struct loop l = {.before = LLVMGetInsertBlock(m->b), .from = from};

    block_enter(m, name);
    l.body = LLVMGetInsertBlock(m->b);
    l.at = LLVMBuildPhi(m->b, LLVMTypeOf(from), name);
    return l;
}

void build_loop_end(const struct build *m, const struct loop *l, V next, V high, LLVMIntPredicate less, const char *name)
{
    LLVMBasicBlockRef from[2] = {l->before, LLVMGetInsertBlock(m->b)}, after = block_append(m, name);

    LLVMBuildCondBr(m->b, LLVMBuildICmp(m->b, less, next, high, ""), l->body, after);
    LLVMAddIncoming(l->at, (V[2]){l->from, next}, from, 2);
    LLVMPositionBuilderAtEnd(m->b, after);
}

V alloca_entry(const struct build *m, T type, const char *name)
{
    LLVMBasicBlockRef here = LLVMGetInsertBlock(m->b), entry = LLVMGetEntryBasicBlock(m->function);
    V first = LLVMGetFirstInstruction(entry);
    if (first)
        LLVMPositionBuilderBefore(m->b, first);
    else
        LLVMPositionBuilderAtEnd(m->b, entry);
    V a = LLVMBuildAlloca(m->b, type, name);
    LLVMPositionBuilderAtEnd(m->b, here);
    return a;
}

V op_load(const struct build *m, T type, V pointer, V mask, uint32_t align)
{
    return op_load_or(m, type, pointer, mask, NULL, align);
}

V op_load_or(const struct build *m, T type, V pointer, V mask, V otherwise, uint32_t align)
{
    if (!mask) {
        V x = LLVMBuildLoad2(m->b, type, pointer, "");
        LLVMSetAlignment(x, align);
        return x;
    }
    T types[2] = {type, type_ptr(m)};
    V args[4] = {pointer, const_int(m, 32, align), mask, otherwise ? otherwise : LLVMConstNull(type)};
    return call_intrinsic(m, "llvm.masked.load", types, 2, args, 4);
}

void op_store(const struct build *m, V value, V pointer, V mask, uint32_t align)
{
    if (!mask) {
        LLVMSetAlignment(LLVMBuildStore(m->b, value, pointer), align);
        return;
    }
    T types[2] = {LLVMTypeOf(value), type_ptr(m)};
    V args[4] = {value, pointer, const_int(m, 32, align), mask};
    call_intrinsic(m, "llvm.masked.store", types, 2, args, 4);
}

T type_of(const struct build *m, enum ktype type)
{
    if (type == KT_F32)
        return type_f32(m);
    if (type == KT_F64)
        return type_f64(m);
    return type_int(m, type == KT_BOOL ? 1 : 8 * (uint32_t)ktype_size(type));
}

T storage_type(const struct build *m, dtype type)
{
    return dtype_is_low_precision(type) ? type_int(m, 16) : type_of(m, ktype_of(type));
}

V const_scalar(const struct build *m, enum ktype type, union scalar bits)
{
    if (type == KT_F32) /* through the bits, to keep a NaN's */
        return LLVMConstBitCast(const_int(m, 32, bits.i32), type_f32(m));
    if (type == KT_F64)
        return LLVMConstBitCast(const_int(m, 64, bits.i64), type_f64(m));
    if (type == KT_BOOL)
        return const_int(m, 1, bits.u8 != 0);
    uint32_t size = (uint32_t)ktype_size(type);
    return const_int(m, 8 * size, size == 1 ? bits.i8 : size == 4 ? bits.i32 : bits.i64);
}
