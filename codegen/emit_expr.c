/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Expressions: evaluation on demand at the level where they belong, and the scalar operations as instructions.
 *
 * No fast-math flags and no contraction: every operation rounds as IEEE says.  Nothing traps.
 */
#include "codegen/emit.h"

bool ktype_is_signed(enum ktype t)
{
    return t == KT_I8 || t == KT_I32 || t == KT_I64;
}

bool expr_is_vector(const struct emitter *e, uint32_t expr)
{
    return e->lanes > 1 && e->expr_lanes[expr];
}

/* ---- operations ---- */

static V float_sign(const struct build *m, V a)
{
    V zero = const_f_like(m, a, 0);
    V less = LLVMBuildFCmp(m->b, LLVMRealOLT, a, zero, ""), more = LLVMBuildFCmp(m->b, LLVMRealOGT, a, zero, "");
    a = LLVMBuildSelect(m->b, less, const_f_like(m, a, -1), a, "");
    return LLVMBuildSelect(m->b, more, const_f_like(m, a, 1), a, "");
}

/* LLVM 19 makes the minimum of two numbers that came from float16 one of float16, which without instructions for that is slow
 * and wrong: maximum(NaN, 0) is 0.  The fence keeps it from seeing where an operand came from. */
static V float_extreme(const struct build *m, bool largest, V a, V b)
{
    V one;
    if (op_extreme(m, largest, a, b, &one))
        return one;
    if (m->isa->f16 && LLVMIsConstant(a))
        b = op_intrinsic1(m, "llvm.arithmetic.fence", b);
    else if (m->isa->f16)
        a = op_intrinsic1(m, "llvm.arithmetic.fence", a);
    return op_intrinsic2(m, largest ? "llvm.maximum" : "llvm.minimum", a, b);
}

static V float_operation(const struct build *m, enum kop op, V a, V b, V c)
{
    switch (op) {
    case K_ADD:
        return LLVMBuildFAdd(m->b, a, b, "");
    case K_SUB:
        return LLVMBuildFSub(m->b, a, b, "");
    case K_MUL:
        return LLVMBuildFMul(m->b, a, b, "");
    case K_DIV:
        return LLVMBuildFDiv(m->b, a, b, "");
    case K_MIN:
        return float_extreme(m, false, a, b);
    case K_MAX:
        return float_extreme(m, true, a, b);
    case K_POW:
        return math_pow(m, a, b);
    case K_NEG:
        return LLVMBuildFNeg(m->b, a, "");
    case K_ABS:
        return op_fabs(m, a);
    case K_SIGN:
        return float_sign(m, a);
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
    case K_EXP:
        return math_exp(m, a);
    case K_EXPM1:
        return math_expm1(m, a);
    case K_LOG:
        return math_log(m, a);
    case K_LOG1P:
        return math_log1p(m, a);
    case K_SIN:
        return math_sin(m, a);
    case K_COS:
        return math_cos(m, a);
    case K_TAN:
        return math_tan(m, a);
    case K_TANH:
        return math_tanh(m, a);
    case K_ERF:
        return math_erf(m, a);
    case K_SIGMOID:
        return math_sigmoid(m, a);
    case K_FMA:
        return math_fma(m, a, b, c);
    case K_ROUND_F16:
        return widen_float(m, narrow_float(m, a, WNNOperandDataType_Float16), WNNOperandDataType_Float16);
    case K_ROUND_BF16:
        return widen_float(m, narrow_float(m, a, DTYPE_BFLOAT16), DTYPE_BFLOAT16);
    default:
        return a;
    }
}

static V int_operation(const struct build *m, enum kop op, bool is_signed, V a, V b, V c)
{
    V zero = LLVMConstNull(LLVMTypeOf(a));
    switch (op) {
    case K_ADD:
        return LLVMBuildAdd(m->b, a, b, "");
    case K_SUB:
        return LLVMBuildSub(m->b, a, b, "");
    case K_MUL:
        return LLVMBuildMul(m->b, a, b, "");
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
    case K_AND:
        return LLVMBuildAnd(m->b, a, b, "");
    case K_OR:
        return LLVMBuildOr(m->b, a, b, "");
    case K_XOR:
        return LLVMBuildXor(m->b, a, b, "");
    case K_NOT:
        return LLVMBuildNot(m->b, a, "");
    default: /* rounding an integer changes nothing */
        return a;
    }
}

static V cast(const struct build *m, enum ktype to, enum ktype from, V a)
{
    uint32_t bits = to == KT_BOOL ? 1 : 8 * (uint32_t)ktype_size(to);
    if (to == from)
        return a;
    if (to == KT_F32) {
        T type = type_like(type_f32(m), a);
        return ktype_is_signed(from) ? LLVMBuildSIToFP(m->b, a, type, "") : LLVMBuildUIToFP(m->b, a, type, "");
    }
    if (from == KT_F32)
        return float_to_int(m, a, bits, ktype_is_signed(to));
    return LLVMBuildIntCast2(m->b, a, type_like(type_int(m, bits), a), ktype_is_signed(from), "");
}

static V compare(const struct build *m, enum kop op, enum ktype type, V a, V b)
{
    if (type == KT_F32) {
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

V emit_operation(const struct build *m, enum kop op, enum ktype type, enum ktype from, V a, V b, V c)
{
    switch (op) {
    case K_CAST:
        return cast(m, type, from, a);
    case K_EQ:
    case K_NE:
    case K_LT:
    case K_LE:
        return compare(m, op, from, a, b);
    case K_IS_NAN:
        return LLVMBuildFCmp(m->b, LLVMRealUNO, a, a, "");
    case K_IS_INFINITE: {
        V infinity = op_bits(m, const_i32_for(m, a, 0x7F800000), type_f32(m));
        return LLVMBuildFCmp(m->b, LLVMRealOEQ, op_fabs(m, a), infinity, "");
    }
    case K_SELECT:
        return LLVMBuildSelect(m->b, a, b, c, "");
    default:
        break;
    }
    return type == KT_F32 ? float_operation(m, op, a, b, c) : int_operation(m, op, ktype_is_signed(type), a, b, c);
}

/* ---- evaluation ---- */

static V compute(struct emitter *e, uint32_t expr)
{
    const struct kexpr *x = &e->k->exprs[expr];
    uint32_t lanes = expr_is_vector(e, expr) ? e->lanes : 1;
    V args[3] = {NULL, NULL, NULL};

    if (x->keep >= 0 && e->phase > x->phase)
        return emit_row_load(e, expr);
    switch (x->op) {
    case K_CONST:
        return const_scalar(e, x->type, x->bits);
    case K_LOAD:
        return emit_load(e, expr);
    case K_SCAN:
        return emit_scan(e, expr);
    case K_INDEX: {
        struct place p = form_place(e, e->expr_form[expr]);
        emit_at(e, e->expr_level[expr]);
        return place_value(e, &p);
    }
    default:
        break;
    }
    for (uint32_t i = 0; i < 3 && x->args[i] != KEXPR_NONE; i++)
        args[i] = expr_value_lanes(e, x->args[i], lanes);
    emit_at(e, e->expr_level[expr]);
    enum ktype from = x->args[0] != KEXPR_NONE ? e->k->exprs[x->args[0]].type : x->type;
    return emit_operation(&e->m, x->op, x->type, from, args[0], args[1], args[2]);
}

/* Where the current copy's value is cached. */
static uint32_t cache_index(const struct emitter *e, uint32_t expr)
{
    if (e->blocked) {
        uint32_t row = e->expr_rows[expr] ? e->copy / e->tile_vectors : 0;
        return expr * COPIES_MAX + row * e->tile_vectors + (expr_is_vector(e, expr) ? e->copy % e->tile_vectors : 0);
    }
    bool by_copy = expr_is_vector(e, expr) || (e->tile && e->expr_level[expr] >= e->vector_level);
    return expr * COPIES_MAX + (by_copy ? e->copy : 0);
}

V expr_value(struct emitter *e, uint32_t expr)
{
    struct cached *c = &e->expr_cache[cache_index(e, expr)];
    uint32_t serial = e->levels[e->expr_level[expr]].serial;
    if (c->serial != serial && tile_turns_load(e, expr)) {
        V values[COPIES_MAX];
        tile_load(e, expr, values);
        for (uint32_t i = 0; i < e->copies; i++)
            e->expr_cache[expr * COPIES_MAX + i] = (struct cached){values[i], serial};
    } else if (c->serial != serial) {
        V value = compute(e, expr);
        *c = (struct cached){value, serial};
    }
    return c->value;
}

V expr_value_lanes(struct emitter *e, uint32_t expr, uint32_t lanes)
{
    V value = expr_value(e, expr);
    if (lanes_of(value) == lanes || lanes == 1)
        return value;
    struct cached *c = &e->splat_cache[cache_index(e, expr)];
    uint32_t level = e->expr_level[expr], serial = e->levels[level].serial;
    if (c->serial != serial || lanes_of(c->value) != lanes) {
        emit_at(e, level);
        *c = (struct cached){splat(&e->m, value, lanes), serial};
    }
    return c->value;
}
