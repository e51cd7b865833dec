/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Expresses the kernel IR's types and constants as LLVM's.
 */
#include "codegen/emit/type.h"

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
