/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits the kernel IR's scalar operations as instructions.
 */
#include "codegen/lower/scalar.h"

/* Converts i16 lanes to the KT_U32 ones that expansions take, or back. */
static V from_bits(const struct build *m, enum kop op, V h)
{
    V bits = op_zext(m, h, type_like(type_i32, h));
    return emit_expansion(m, op, &bits);
}

static V to_bits(const struct build *m, enum kop op, V f)
{
    return op_trunc(m, emit_expansion(m, op, &f), type_like(type_i16, f));
}

V widen_float(const struct build *m, V x, dtype type)
{
    if (type == WNNOperandDataType_Float16)
        return m->isa->f16 ? op_convert(m, LOOP_FROM_F16, x, type_like(type_f32, x)) : from_bits(m, K_FROM_F16, x);
    return type == DTYPE_BFLOAT16 ? from_bits(m, K_FROM_BF16, x) : x;
}

V narrow_float(const struct build *m, V x, dtype type)
{
    const T half = type_like(type_i16, x);

    if (type == WNNOperandDataType_Float16)
        return m->isa->f16 ? op_convert(m, LOOP_TO_F16, x, half) : to_bits(m, K_TO_F16, x);
    if (type != DTYPE_BFLOAT16)
        return x;
    const bool native = m->isa->bf16 && (lanes_of(x) == 8 || lanes_of(x) == 16);
    return native ? op_convert(m, LOOP_TO_BF16, x, half) : to_bits(m, K_TO_BF16, x);
}

/* Computes an operation on float64 as float32's, of the rounded operands. */
static V by_float32(const struct build *m, enum kop op, V a, V b, V c)
{
    V args[3] = {a, b, c};

    for (uint32_t i = 0; i < 3 && args[i]; i++)
        args[i] = op_fptrunc(m, args[i], type_like(type_f32, a));
    V r = emit_operation(m, op, KT_F32, KT_F32, args[0], args[1], args[2]);
    return op_fpext(m, r, type_like(type_f64, a));
}

V emit_operation(const struct build *m, enum kop op, enum ktype type, enum ktype from, V a, V b, V c)
{
    if (type == KT_F64 && (!kop_has_f64(op) || (op == K_SQRT && !m->isa->f64))) /* which would be a library call there */
        return by_float32(m, op, a, b, c);
    if (type == KT_F32) {
        const struct expansion_target target = expansion_target_of(m, a);
        const dtype low = op == K_ROUND_F16 ? WNNOperandDataType_Float16 : DTYPE_BFLOAT16;

        if (op == K_ROUND_F16 || op == K_ROUND_BF16)
            return widen_float(m, narrow_float(m, a, low), low);
        if (expansion_exists(op, &target))
            return emit_expansion(m, op, (V[3]){a, b, c});
    }
    return emit_native(m, op, type, from, a, b, c);
}

enum kop reduction_operation(enum kreduce reduce)
{
    static const uint8_t operations[KR_COUNT_] = {
        [KR_SUM] = K_ADD, [KR_DOT] = K_ADD,     [KR_PRODUCT] = K_MUL, [KR_MIN] = K_MIN,
        [KR_MAX] = K_MAX, [KR_ARG_MIN] = K_MIN, [KR_ARG_MAX] = K_MAX};

    return (enum kop)operations[reduce];
}

union scalar reduction_start(enum kreduce reduce, enum ktype type)
{
    const enum kop op = reduction_operation(reduce);
    const double number = op == K_ADD ? 0 : op == K_MUL ? 1 : op == K_MIN ? INFINITY : -INFINITY;
    const uint64_t smallest = ktype_is_signed(type) ? UINT64_C(1) << (8 * ktype_size(type) - 1) : 0;

    if (type == KT_F32)
        return (union scalar){.f32 = (float)number};
    if (type == KT_F64)
        return (union scalar){.f64 = number};
    return (union scalar){.u64 = op == K_ADD ? 0 : op == K_MUL ? 1 : op == K_MIN ? smallest - 1 : smallest};
}
