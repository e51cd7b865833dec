/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Holds the names and sizes of data types. */
#include "ir/support/dtype.h"

#include "ir/support/text.h"

static const struct {
    const char *name, *short_name;
    size_t size;
} dtypes[DTYPE_END] = {
    [WNNOperandDataType_Undefined] = {"undefined", "undefined", 0},
    [WNNOperandDataType_Float32] = {"float32", "f32", 4},
    [WNNOperandDataType_Float16] = {"float16", "f16", 2},
    [WNNOperandDataType_Int32] = {"int32", "i32", 4},
    [WNNOperandDataType_Uint32] = {"uint32", "u32", 4},
    [WNNOperandDataType_Int64] = {"int64", "i64", 8},
    [WNNOperandDataType_Uint64] = {"uint64", "u64", 8},
    [WNNOperandDataType_Int8] = {"int8", "i8", 1},
    [WNNOperandDataType_Uint8] = {"uint8", "u8", 1},
    [DTYPE_BFLOAT16] = {"bfloat16", "bf16", 2},
    [DTYPE_FLOAT8E4M3] = {"float8e4m3", "f8e4m3", 1},
    [DTYPE_FLOAT8E5M2] = {"float8e5m2", "f8e5m2", 1},
    [DTYPE_FLOAT64] = {"float64", "f64", 8},
    [DTYPE_UINT4] = {"uint4", "u4", 1},
    [DTYPE_UINT2] = {"uint2", "u2", 1},
    [DTYPE_UINT1] = {"uint1", "u1", 1},
    [DTYPE_INT16] = {"int16", "i16", 2},
};

size_t dtype_size(dtype t)
{
    return (unsigned)t < DTYPE_END ? dtypes[t].size : 0;
}

const char *dtype_name(dtype t)
{
    return dtypes[(unsigned)t < DTYPE_END ? t : WNNOperandDataType_Undefined].name;
}

const char *dtype_short_name(dtype t)
{
    return dtypes[(unsigned)t < DTYPE_END ? t : WNNOperandDataType_Undefined].short_name;
}

dtype dtype_parse(const char *text, size_t length)
{
    for (unsigned i = WNNOperandDataType_Undefined + 1; i < DTYPE_END; i++)
        if (text_is(dtypes[i].name, text, length) || text_is(dtypes[i].short_name, text, length))
            return (dtype)i;
    return WNNOperandDataType_Undefined;
}
