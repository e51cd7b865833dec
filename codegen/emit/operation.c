/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits the kernel IR's scalar operations as instructions.
 */
#include "codegen/emit/operation.h"

#include "codegen/emit/convert.h"
#include "codegen/emit/expand.h"
#include "codegen/emit/native.h"

static V round_to(const struct build *m, dtype type, V a)
{
    return widen_float(m, narrow_float(m, a, type), type);
}

/* Computes an operation on float64 as float32's, of the rounded operands. */
static V by_float32(const struct build *m, enum kop op, V a, V b, V c)
{
    V args[3] = {a, b, c};

    for (uint32_t i = 0; i < 3 && args[i]; i++)
        args[i] = LLVMBuildFPTrunc(m->b, args[i], type_like(type_f32(m), a), "");
    V r = emit_operation(m, op, KT_F32, KT_F32, args[0], args[1], args[2]);
    return LLVMBuildFPExt(m->b, r, type_like(type_f64(m), a), "");
}

V emit_operation(const struct build *m, enum kop op, enum ktype type, enum ktype from, V a, V b, V c)
{
    if (type == KT_F64 && !kop_has_f64(op))
        return by_float32(m, op, a, b, c);
    if (type == KT_F32) {
        const struct expansion_target target = expansion_target_of(m, a);

        if (op == K_ROUND_F16 || op == K_ROUND_BF16)
            return round_to(m, op == K_ROUND_F16 ? WNNOperandDataType_Float16 : DTYPE_BFLOAT16, a);
        if (expansion_exists(op, &target))
            return emit_expansion(m, op, (V[3]){a, b, c});
    }
    return emit_native(m, op, type, from, a, b, c);
}
