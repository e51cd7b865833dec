/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Prints a module of the loop language as LLVM IR, an operation as an instruction or a few.  It decides nothing but what an
 * operation is called.  Slots are on the stack; a pass turns them into registers.
 */
#include <string.h>

#include "codegen/llvm/llvm_build.h"

typedef LLVMValueRef V;
typedef LLVMTypeRef T;

struct printer {
    struct llvm_build m;
    bool kernel;                  /* the function is one */
    V tensors, numbers, scratch;  /* of its arguments */
    uint32_t numbers_used, loops; /* by the function so far; around the operation */
};

static T element_type(const struct printer *p, loop_type type)
{
    switch (loop_type_element(type)) {
    case LOOP_F32:
        return LLVMFloatTypeInContext(p->m.context);
    case LOOP_F64:
        return LLVMDoubleTypeInContext(p->m.context);
    case LOOP_PTR:
        return llvm_ptr(&p->m);
    case LOOP_NONE:
        return LLVMVoidTypeInContext(p->m.context);
    default:
        return llvm_int(&p->m, loop_type_bits(type));
    }
}

static T type_of(const struct printer *p, loop_type type)
{
    const uint32_t lanes = loop_type_lanes(type);

    return lanes > 1 ? LLVMVectorType(element_type(p, type), lanes) : element_type(p, type);
}

static T int_lanes(const struct printer *p, uint32_t bits, uint32_t lanes)
{
    return LLVMVectorType(llvm_int(&p->m, bits), lanes);
}

static V constant(const struct printer *p, const struct loop_value *v)
{
    const uint32_t lanes = loop_type_lanes(v->type), bits = loop_type_bits(v->type);
    V all[LOOP_LANES_MAX];

    for (uint32_t i = 0; i < lanes; i++) {
        all[i] = LLVMConstInt(llvm_int(&p->m, bits), v->bits[i], false);
        if (loop_element_is_float(loop_type_element(v->type))) /* through the bits, to keep a NaN's */
            all[i] = LLVMConstBitCast(all[i], element_type(p, v->type));
    }
    return lanes > 1 ? LLVMConstVector(all, lanes) : all[0];
}

static V value(const struct printer *p, struct loop_value *v)
{
    if (v->op == LOOP_CONST && !v->user)
        v->user = constant(p, v);
    return v->user;
}

static bool is_float(const struct loop_value *v)
{
    return loop_element_is_float(loop_type_element(v->args[0]->type));
}

static V intrinsic(const struct printer *p, const char *name, const V *args, uint32_t count)
{
    T type = LLVMTypeOf(args[0]);
    return call_intrinsic(&p->m, name, &type, 1, (V *)args, count);
}

/* Calls an instruction of a processor, which is overloaded on nothing. */
static V instruction(const struct printer *p, const char *name, const V *args, uint32_t count)
{
    return call_intrinsic(&p->m, name, NULL, 0, (V *)args, count);
}

/* Calls an instruction of AVX-512 on all lanes, with the current rounding.  control is its immediate number, or -1. */
static V avx512(const struct printer *p, const struct loop_value *v, const char *name, const V *args, int control)
{
    const uint32_t lanes = loop_type_lanes(v->type);
    uint32_t count = v->arg_count;
    char full[64];
    V all[6];

    snprintf(full, sizeof full, "llvm.x86.avx512.%s.ps.%u", name, 32 * lanes);
    memcpy(all, args, count * sizeof *all);
    if (control >= 0)
        all[count++] = llvm_number(&p->m, 32, control);
    all[count++] = LLVMConstNull(LLVMTypeOf(args[0])); /* what lanes get that are masked: none */
    all[count++] = LLVMConstAllOnes(llvm_int(&p->m, lanes < 8 ? 8 : lanes));
    if (lanes == 16 && (v->arg_count == 2 || control >= 0))
        all[count++] = llvm_number(&p->m, 32, 4);
    return instruction(p, full, all, count);
}

/* ---- arithmetic ---- */

/* Prints an operation that is an instruction of LLVM's with one name.  Returns false if there is none. */
static bool simple(const struct printer *p, struct loop_value *v, const V *args, V *out)
{
    static const uint8_t ints[LOOP_OP_COUNT] = {
        [LOOP_ADD] = LLVMAdd,   [LOOP_SUB] = LLVMSub,   [LOOP_MUL] = LLVMMul,   [LOOP_SDIV] = LLVMSDiv,
        [LOOP_UDIV] = LLVMUDiv, [LOOP_UREM] = LLVMURem, [LOOP_AND] = LLVMAnd,   [LOOP_OR] = LLVMOr,
        [LOOP_XOR] = LLVMXor,   [LOOP_SHL] = LLVMShl,   [LOOP_LSHR] = LLVMLShr, [LOOP_ASHR] = LLVMAShr};
    static const uint8_t floats[LOOP_OP_COUNT] = {
        [LOOP_ADD] = LLVMFAdd, [LOOP_SUB] = LLVMFSub, [LOOP_MUL] = LLVMFMul, [LOOP_DIV] = LLVMFDiv};
    static const uint8_t conversions[LOOP_OP_COUNT] = {
        [LOOP_TRUNC] = LLVMTrunc,   [LOOP_ZEXT] = LLVMZExt,      [LOOP_SEXT] = LLVMSExt,     [LOOP_FPTRUNC] = LLVMFPTrunc,
        [LOOP_FPEXT] = LLVMFPExt,   [LOOP_SITOFP] = LLVMSIToFP,  [LOOP_UITOFP] = LLVMUIToFP, [LOOP_FPTOSI] = LLVMFPToSI,
        [LOOP_FPTOUI] = LLVMFPToUI, [LOOP_BITCAST] = LLVMBitCast};
    static const char *const intrinsics[LOOP_OP_COUNT] = {[LOOP_SMIN] = "llvm.smin",
                                                          [LOOP_SMAX] = "llvm.smax",
                                                          [LOOP_UMIN] = "llvm.umin",
                                                          [LOOP_UMAX] = "llvm.umax",
                                                          [LOOP_ADD_SATURATED] = "llvm.sadd.sat",
                                                          [LOOP_MINIMUM] = "llvm.minimum",
                                                          [LOOP_MAXIMUM] = "llvm.maximum",
                                                          [LOOP_COPY_SIGN] = "llvm.copysign",
                                                          [LOOP_SQRT] = "llvm.sqrt",
                                                          [LOOP_FLOOR] = "llvm.floor",
                                                          [LOOP_CEIL] = "llvm.ceil",
                                                          [LOOP_ROUND_EVEN] = "llvm.roundeven",
                                                          [LOOP_FMA] = "llvm.fma",
                                                          [LOOP_RELAXED_FMA] = "llvm.wasm.relaxed.madd",
                                                          [LOOP_OPAQUE] = "llvm.strip.invariant.group"};
    static const uint8_t ordered[LOOP_OP_COUNT] = {
        [LOOP_EQ] = LLVMRealOEQ, [LOOP_NE] = LLVMRealUNE, [LOOP_LT] = LLVMRealOLT,       [LOOP_LE] = LLVMRealOLE,
        [LOOP_GT] = LLVMRealOGT, [LOOP_GE] = LLVMRealOGE, [LOOP_UNORDERED] = LLVMRealUNO};
    static const uint8_t predicates[LOOP_OP_COUNT] = {
        [LOOP_EQ] = LLVMIntEQ,   [LOOP_NE] = LLVMIntNE,   [LOOP_LT] = LLVMIntSLT,
        [LOOP_LE] = LLVMIntSLE,  [LOOP_GT] = LLVMIntSGT,  [LOOP_GE] = LLVMIntSGE,
        [LOOP_ULT] = LLVMIntULT, [LOOP_ULE] = LLVMIntULE, [LOOP_UGE] = LLVMIntUGE};
    const uint8_t operation = v->arg_count == 2 ? (is_float(v) ? floats : ints)[v->op] : 0;

    if (operation)
        *out = LLVMBuildBinOp(p->m.b, (LLVMOpcode)operation, args[0], args[1], "");
    else if (conversions[v->op])
        *out = LLVMBuildCast(p->m.b, (LLVMOpcode)conversions[v->op], args[0], type_of(p, v->type), "");
    else if (intrinsics[v->op])
        *out = intrinsic(p, intrinsics[v->op], args, v->arg_count);
    else if (v->arg_count == 2 && is_float(v) && ordered[v->op])
        *out = LLVMBuildFCmp(p->m.b, (LLVMRealPredicate)ordered[v->op], args[0], args[1], "");
    else if (v->arg_count == 2 && !is_float(v) && predicates[v->op])
        *out = LLVMBuildICmp(p->m.b, (LLVMIntPredicate)predicates[v->op], args[0], args[1], "");
    else
        return false;
    return true;
}

static V fence(const struct printer *p, const struct loop_value *v, V x)
{
    const uint32_t bits = loop_type_lanes(v->type) * loop_type_bits(v->type);

    if (is_float(v))
        return intrinsic(p, "llvm.arithmetic.fence", &x, 1);
    T floats = LLVMVectorType(LLVMFloatTypeInContext(p->m.context), bits / 32);
    x = LLVMBuildBitCast(p->m.b, x, floats, "");
    return LLVMBuildBitCast(p->m.b, intrinsic(p, "llvm.arithmetic.fence", &x, 1), type_of(p, v->type), "");
}

/* LLVM computes what it can with numbers that came from float16 in float16 itself: it takes their magnitudes, compares them
 * with numbers, and finds the smallest and the largest.  Without instructions for that it is done lane by lane, and LLVM 19
 * takes maximum(NaN, 0) for 0.  The fence keeps it from seeing where the number came from. */
static V half(const struct printer *p, const struct loop_value *v, V x)
{
    const uint32_t lanes = loop_type_lanes(v->type);
    T one = LLVMHalfTypeInContext(p->m.context), type = lanes > 1 ? LLVMVectorType(one, lanes) : one;

    if (v->op == LOOP_TO_F16)
        return LLVMBuildBitCast(p->m.b, LLVMBuildFPTrunc(p->m.b, x, type, ""), type_of(p, v->type), "");
    x = LLVMBuildFPExt(p->m.b, LLVMBuildBitCast(p->m.b, x, type, ""), type_of(p, v->type), "");
    return intrinsic(p, "llvm.arithmetic.fence", &x, 1);
}

static V shuffle(const struct printer *p, const struct loop_value *v, const V *args)
{
    const uint32_t lanes = loop_type_lanes(v->type);
    T i32 = llvm_int(&p->m, 32);
    V at[LOOP_LANES_MAX], other = v->arg_count == 2 ? args[1] : LLVMGetPoison(LLVMTypeOf(args[0]));

    for (uint32_t i = 0; i < lanes; i++)
        at[i] = v->lanes[i] == LOOP_ANY_LANE ? LLVMGetPoison(i32) : LLVMConstInt(i32, v->lanes[i], false);
    V result = LLVMBuildShuffleVector(p->m.b, args[0], other, LLVMConstVector(at, lanes), "");
    return lanes > 1 ? result : LLVMBuildExtractElement(p->m.b, result, llvm_number(&p->m, 64, 0), "");
}

static V splat(const struct printer *p, const struct loop_value *v, V x)
{
    T vector = type_of(p, v->type);
    V one = LLVMBuildInsertElement(p->m.b, LLVMGetPoison(vector), x, llvm_number(&p->m, 64, 0), "");

    return LLVMBuildShuffleVector(p->m.b, one, LLVMGetPoison(vector), LLVMConstNull(int_lanes(p, 32, loop_type_lanes(v->type))),
                                  "");
}

static V any(const struct printer *p, const struct loop_value *v, V condition)
{
    V bits = LLVMBuildBitCast(p->m.b, condition, llvm_int(&p->m, loop_type_lanes(v->args[0]->type)), "");

    return LLVMBuildICmp(p->m.b, LLVMIntNE, bits, LLVMConstNull(LLVMTypeOf(bits)), "");
}

/* ---- instructions of processors ---- */

static V dot_s8(const struct printer *p, const struct loop_value *v, const V *args)
{
    T types[2] = {LLVMTypeOf(args[0]), int_lanes(p, 8, 4 * loop_type_lanes(v->type))};
    V bytes[3] = {args[0], LLVMBuildBitCast(p->m.b, args[1], types[1], ""), LLVMBuildBitCast(p->m.b, args[2], types[1], "")};

    return call_intrinsic(&p->m, "llvm.aarch64.neon.sdot", types, 2, bytes, 3);
}

static V of_processor(const struct printer *p, struct loop_value *v, const V *args)
{
    /* Instructions of x86 by the bits of an operand: 128, 256 or 512. */
    static const char *const names[LOOP_OP_COUNT][3] = {
        [LOOP_TO_NEAREST] = {NULL, "avx.cvt.ps2dq.256", "avx512.mask.cvtps2dq.512"},
        [LOOP_TO_BF16] = {NULL, "avx512bf16.cvtneps2bf16.256", "avx512bf16.cvtneps2bf16.512"},
        [LOOP_PACK_S16] = {NULL, "avx2.packssdw", "avx512.packssdw.512"},
        [LOOP_PACK_S8] = {NULL, "avx2.packsswb", "avx512.packsswb.512"},
        [LOOP_PACK_U8] = {NULL, "avx2.packuswb", "avx512.packuswb.512"},
        [LOOP_PAIRS_U8_S8] = {"ssse3.pmadd.ub.sw.128", "avx2.pmadd.ub.sw", "avx512.pmaddubs.w.512"},
        [LOOP_PAIRS_S16] = {"sse2.pmadd.wd", "avx2.pmadd.wd", "avx512.pmaddw.d.512"},
        [LOOP_DOT_U8_S8] = {"avx512.vpdpbusd.128", "avx512.vpdpbusd.256", "avx512.vpdpbusd.512"},
        [LOOP_PERMUTE] = {NULL, "avx2.permd", "avx512.permvar.si.512"},
        [LOOP_PERMUTE2] = {NULL, NULL, "avx512.vpermi2var.d.512"}};
    T type = type_of(p, v->type);

    switch (v->op) {
    case LOOP_MINIMUM_NUMBER:
        return avx512(p, v, "mask.range", args, 4);
    case LOOP_MAXIMUM_NUMBER:
        return avx512(p, v, "mask.range", args, 5);
    case LOOP_SCALE:
        return avx512(p, v, "mask.scalef", args, -1);
    case LOOP_FRACTION:
        return avx512(p, v, "mask.reduce", args, 8); /* the nearest, without exceptions */
    case LOOP_ESTIMATE:
        return avx512(p, v, "rcp14", args, -1);
    case LOOP_ADD_PAIRS:
        return call_intrinsic(&p->m, "llvm.aarch64.neon.saddlp", (T[2]){type, LLVMTypeOf(args[0])}, 2, (V *)args, 1);
    case LOOP_DOT_S8:
        return dot_s8(p, v, args);
    default:
        break;
    }
    const loop_type of = v->arg_count ? v->args[0]->type : 0;
    const uint32_t bits = loop_type_lanes(of) * loop_type_bits(of), size = bits == 512 ? 2 : bits == 256;
    const char *name = v->op == LOOP_PERMUTE && size == 2 && is_float(v) ? "avx512.permvar.sf.512" : names[v->op][size];
    if (!name)
        return NULL;
    V all[4] = {args[0], v->arg_count > 1 ? args[1] : LLVMConstNull(type), v->arg_count > 2 ? args[2] : NULL, NULL};
    const bool masks = v->op == LOOP_TO_NEAREST && size == 2; /* all lanes, with the current rounding */
    if (masks) {
        all[2] = llvm_number(&p->m, 16, -1);
        all[3] = llvm_number(&p->m, 32, 4);
    }
    char full[64];
    snprintf(full, sizeof full, "llvm.x86.%s", name);
    V result = instruction(p, full, all, masks ? 4 : v->arg_count);
    return LLVMBuildBitCast(p->m.b, result, type, ""); /* later versions of LLVM say bfloat */
}

/* ---- memory ---- */

static V at(const struct printer *p, T type, V pointer, int64_t i)
{
    V index = llvm_number(&p->m, 64, i);

    return LLVMBuildInBoundsGEP2(p->m.b, type, pointer, &index, 1, "");
}

static V load_at(const struct printer *p, T type, V pointer, int64_t i)
{
    return LLVMBuildLoad2(p->m.b, type, at(p, type, pointer, i), "");
}

/* Prints the struct kernel_args (codegen/kernel_abi.h) of a kernel's function. */
static V arguments(const struct printer *p, const struct loop_value *v, const V *args)
{
    const uint32_t count = v->arg_count - 1; /* the last one is scratch memory */
    T ptr = llvm_ptr(&p->m);
    V tensors = LLVMBuildAlloca(p->m.b, LLVMArrayType2(ptr, count ? count : 1), "");
    V all = LLVMBuildAlloca(p->m.b, LLVMArrayType2(ptr, 3), "");

    for (uint32_t i = 0; i < count; i++)
        LLVMBuildStore(p->m.b, args[i], at(p, ptr, tensors, i));
    LLVMBuildStore(p->m.b, tensors, at(p, ptr, all, 0));
    LLVMBuildStore(p->m.b, at(p, llvm_int(&p->m, 64), p->numbers, v->number), at(p, ptr, all, 1));
    LLVMBuildStore(p->m.b, args[count], at(p, ptr, all, 2));
    return all;
}

static V array(const struct printer *p, const struct loop_value *v)
{
    const int64_t bytes = loop_type_lanes(v->of) * (int64_t)loop_type_bits(v->of) / 8;

    return LLVMBuildAlloca(p->m.b, LLVMArrayType2(type_of(p, v->of), (uint64_t)(v->number / bytes)), "");
}

static V memory(struct printer *p, struct loop_value *v, const V *args)
{
    T type = type_of(p, v->type), types[2] = {type, llvm_ptr(&p->m)};
    V align = llvm_number(&p->m, 32, v->number), x;

    switch (v->op) {
    case LOOP_NUMBER:
        p->numbers_used++;
        return load_at(p, type, p->numbers, v->number);
    case LOOP_TENSOR:
        return load_at(p, type, p->tensors, v->number);
    case LOOP_SCRATCH:
        return p->scratch;
    case LOOP_ADDRESS:
        return (v->args[0]->op == LOOP_ARRAY ? LLVMBuildInBoundsGEP2 : LLVMBuildGEP2)(p->m.b, type_of(p, v->of), args[0],
                                                                                      (V *)&args[1], 1, "");
    case LOOP_LOAD:
        x = LLVMBuildLoad2(p->m.b, type, args[0], "");
        LLVMSetAlignment(x, (unsigned)v->number);
        return x;
    case LOOP_LOAD_MASKED:
        return call_intrinsic(&p->m, "llvm.masked.load", types, 2, (V[4]){args[0], align, args[1], args[2]}, 4);
    case LOOP_GATHER:
        types[1] = LLVMTypeOf(args[0]);
        return call_intrinsic(&p->m, "llvm.masked.gather", types, 2, (V[4]){args[0], align, args[1], LLVMConstNull(type)}, 4);
    case LOOP_STORE:
        x = LLVMBuildStore(p->m.b, args[0], args[1]);
        LLVMSetAlignment(x, (unsigned)v->number);
        return x;
    case LOOP_STORE_MASKED:
    case LOOP_SCATTER:
        types[0] = LLVMTypeOf(args[0]);
        types[1] = LLVMTypeOf(args[1]);
        return call_intrinsic(&p->m, v->op == LOOP_SCATTER ? "llvm.masked.scatter" : "llvm.masked.store", types, 2,
                              (V[4]){args[0], args[1], align, args[2]}, 4);
    case LOOP_PREFETCH: /* to read, keep, data */
        return intrinsic(p, "llvm.prefetch",
                         (V[4]){args[0], llvm_number(&p->m, 32, 0), llvm_number(&p->m, 32, 3), llvm_number(&p->m, 32, 1)}, 4);
    case LOOP_ARRAY:
        return array(p, v);
    case LOOP_SLOT:
        return LLVMBuildAlloca(p->m.b, type, "");
    case LOOP_GET:
        return LLVMBuildLoad2(p->m.b, type, args[0], "");
    case LOOP_SET:
        return LLVMBuildStore(p->m.b, args[1], args[0]);
    case LOOP_ARGUMENTS:
        return arguments(p, v, args);
    default:
        return of_processor(p, v, args);
    }
}

/* ---- control ---- */

static void print_operations(struct printer *p, struct loop_value *v);

/* After the loop its value is where it stopped. */
static void print_for(struct printer *p, struct loop_value *v)
{
    struct loop_value *step = v->regions[0].last->args[0];
    V values[2] = {value(p, v->args[0])}, to = value(p, v->args[1]);
    const bool whole = v->number & LOOP_WHOLE_STEPS, always = v->number & LOOP_AT_LEAST_ONCE,
               once = !always && v->number & LOOP_AT_MOST_ONCE;
    const LLVMIntPredicate holds = whole ? LLVMIntSLE : LLVMIntSLT;
    LLVMBasicBlockRef body = block_append(&p->m, "body"), after = always ? NULL : block_append(&p->m, "after"),
                      blocks[2] = {LLVMGetInsertBlock(p->m.b)};

    if (whole) /* i + step <= to */
        to = LLVMBuildSub(p->m.b, to, value(p, step), "");
    if (always)
        LLVMBuildBr(p->m.b, body);
    else
        LLVMBuildCondBr(p->m.b, LLVMBuildICmp(p->m.b, holds, values[0], to, ""), body, after);
    LLVMPositionBuilderAtEnd(p->m.b, body);
    V i = once ? values[0] : LLVMBuildPhi(p->m.b, LLVMTypeOf(values[0]), "i");
    v->user = i;
    print_operations(p, v->regions[0].first);
    values[1] = LLVMBuildAdd(p->m.b, i, value(p, step), "");
    blocks[1] = LLVMGetInsertBlock(p->m.b);
    after = always ? block_append(&p->m, "after") : after;
    if (once) {
        LLVMBuildBr(p->m.b, after);
    } else {
        LLVMBuildCondBr(p->m.b, LLVMBuildICmp(p->m.b, holds, values[1], to, ""), body, after);
        LLVMAddIncoming(i, values, blocks, 2);
    }
    LLVMPositionBuilderAtEnd(p->m.b, after);
    v->user = values[1];
    if (!always) {
        v->user = LLVMBuildPhi(p->m.b, LLVMTypeOf(values[0]), "stopped");
        LLVMAddIncoming(v->user, values, blocks, 2);
    }
}

static void print_if(struct printer *p, const struct loop_value *v)
{
    LLVMBasicBlockRef first = block_append(&p->m, "then"), second = v->region_count > 1 ? block_append(&p->m, "else") : NULL,
                      after = block_append(&p->m, "joined");

    LLVMBuildCondBr(p->m.b, value(p, v->args[0]), first, second ? second : after);
    LLVMPositionBuilderAtEnd(p->m.b, first);
    print_operations(p, v->regions[0].first);
    LLVMBuildBr(p->m.b, after);
    if (second) {
        LLVMPositionBuilderAtEnd(p->m.b, second);
        print_operations(p, v->regions[1].first);
        LLVMBuildBr(p->m.b, after);
    }
    LLVMPositionBuilderAtEnd(p->m.b, after);
}

static void print_scope(struct printer *p, const struct loop_value *v)
{
    LLVMBasicBlockRef block = block_append(&p->m, "scope");

    LLVMBuildBr(p->m.b, block);
    LLVMPositionBuilderAtEnd(p->m.b, block);
    print_operations(p, v->regions[0].first);
}

/* Says what a function is called; those that kernels share have the suffix. */
static void symbol_of(const struct printer *p, const struct loop_function *f, char symbol[192])
{
    snprintf(symbol, 192, "%s%s", f->name, f->internal && !f->kernel && p->m.suffix ? p->m.suffix : "");
}

static V function_of(const struct printer *p, const struct loop_function *f)
{
    char symbol[192];

    symbol_of(p, f, symbol);
    return LLVMGetNamedFunction(p->m.module, symbol);
}

static V call(const struct printer *p, const struct loop_value *v, const V *args)
{
    const struct loop_function *f = v->op == LOOP_CALL ? v->callee : v->args[0]->callee;
    V function = function_of(p, f);

    return LLVMBuildCall2(p->m.b, LLVMGlobalGetValueType(function), function, (V *)args, v->arg_count, "");
}

/* A function with more numbers loads them where outer loops use them and for each address, instead of spilling them first. */
enum { NUMBERS_HELD = 32 };

static void print_operation(struct printer *p, struct loop_value *v)
{
    V few[LOOP_PARAMETERS_MAX], *args = few, out = NULL;
    V many[LOOP_ARGS_MAX];

    if (v->arg_count > LOOP_PARAMETERS_MAX)
        args = many;
    for (uint32_t i = 0; i < v->arg_count; i++) {
        struct loop_value *x = v->args[i];
        const bool late = x->op == LOOP_NUMBER && p->numbers_used > NUMBERS_HELD && (p->loops < 2 || v->op == LOOP_ADDRESS);

        args[i] = late ? memory(p, x, NULL) : value(p, x);
    }
    switch (v->op) {
    case LOOP_FOR:
        p->loops++;
        print_for(p, v);
        p->loops--;
        return;
    case LOOP_EXTRACT:
        out = LLVMBuildExtractElement(p->m.b, args[0], args[1], "");
        break;
    case LOOP_IF:
        print_if(p, v);
        return;
    case LOOP_SCOPE:
        print_scope(p, v);
        return;
    case LOOP_NEXT: /* the loop does it */
        return;
    case LOOP_PARAMETER:
        out = LLVMGetParam(p->m.function, (unsigned)v->number + p->kernel);
        break;
    case LOOP_STOPPED:
        out = args[0];
        break;
    case LOOP_RETURN:
        LLVMBuildRet(p->m.b, args[0]);
        break;
    case LOOP_CALL:
    case LOOP_CALL_KERNEL:
        out = call(p, v, args);
        break;
    case LOOP_NEG:
        out = is_float(v) ? LLVMBuildFNeg(p->m.b, args[0], "") : LLVMBuildNeg(p->m.b, args[0], "");
        break;
    case LOOP_ABS:
        out = is_float(v) ? intrinsic(p, "llvm.fabs", args, 1)
                          : intrinsic(p, "llvm.abs", (V[2]){args[0], llvm_number(&p->m, 1, 0)}, 2);
        break;
    case LOOP_SELECT:
        out = LLVMBuildSelect(p->m.b, args[0], args[1], args[2], "");
        break;
    case LOOP_ANY:
        out = any(p, v, args[0]);
        break;
    case LOOP_FENCE:
        out = fence(p, v, args[0]);
        break;
    case LOOP_TO_F16:
    case LOOP_FROM_F16:
        out = half(p, v, args[0]);
        break;
    case LOOP_SHUFFLE:
        out = shuffle(p, v, args);
        break;
    case LOOP_SPLAT:
        out = splat(p, v, args[0]);
        break;
    default:
        if (!simple(p, v, args, &out))
            out = memory(p, v, args);
    }
    v->user = out;
}

/* Prints an operation and those after it in its region. */
static void print_operations(struct printer *p, struct loop_value *v)
{
    for (; v; v = v->next)
        print_operation(p, v);
}

/* ---- functions ---- */

/* Declares a function; a kernel's is a kernel_function (codegen/kernel_abi.h). */
static void declare(const struct printer *p, const struct loop_function *f)
{
    T params[LOOP_PARAMETERS_MAX + 1] = {llvm_ptr(&p->m)};
    char symbol[192];

    symbol_of(p, f, symbol);
    for (uint32_t i = 0; i < f->param_count; i++)
        params[i + f->kernel] = type_of(p, f->params[i]);
    T type = LLVMFunctionType(type_of(p, f->result), params, f->param_count + f->kernel, false);
    V function = LLVMAddFunction(p->m.module, symbol, type);
    if (f->internal)
        LLVMSetLinkage(function, LLVMInternalLinkage);
    function_set_attributes(&p->m, function);
}

static void print_function(struct printer *p, const struct loop_function *f)
{
    T ptr = llvm_ptr(&p->m);

    p->m.function = function_of(p, f);
    LLVMPositionBuilderAtEnd(p->m.b, block_append(&p->m, "entry"));
    p->kernel = f->kernel;
    p->numbers_used = 0;
    struct loop_value *v = f->body.first;
    for (; v && (v->op == LOOP_SLOT || v->op == LOOP_ARRAY || v->op == LOOP_PARAMETER); v = v->next)
        print_operation(p, v); /* what is on the stack comes first */
    if (f->kernel) {
        V args = LLVMGetParam(p->m.function, 0);
        p->tensors = load_at(p, ptr, args, 0);
        p->numbers = load_at(p, ptr, args, 1);
        p->scratch = load_at(p, ptr, args, 2);
    }
    print_operations(p, v);
    if (!f->result)
        LLVMBuildRetVoid(p->m.b);
}

void print_loop(const struct llvm_build *m, struct loop_module *loops)
{
    struct printer p = {.m = *m};

    for (const struct loop_function *f = loops->first; f; f = f->next)
        if (!function_of(&p, f)) /* else a kernel before this one in an object has brought it */
            declare(&p, f);
    for (const struct loop_function *f = loops->first; f; f = f->next)
        if (!LLVMCountBasicBlocks(function_of(&p, f)))
            print_function(&p, f);
}
