/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Imports QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear as quantizeLinear and dequantizeLinear, whose scales have
 * the rank of the input.
 */
#include "frontend/readers/onnx/operators.h"
#include "frontend/readers/onnx/quantized.h"

/* Scales of blocks whose size does not divide the axis evenly are repeated for every element. */
static WNNOperand fit_blocks(struct onnx_node *n, WNNOperand x, WNNOperand scale, uint32_t axis, int64_t block)
{
    struct onnx_dims dims = onnx_dims_of(x), have = onnx_dims_of(scale);
    uint32_t size = dims.at[axis];
    int32_t *indices;

    if (have.rank != dims.rank || block < 1 || block > INT32_MAX || (size + block - 1) / block != have.at[axis]) {
        onnx_refuse(n, "block_size %lld on an axis of %u elements with %u scales", (long long)block, size, have.at[axis]);
        return onnx_error_operand(n);
    }
    if (size % block == 0)
        return scale;
    indices = onnx_alloc(n, size, sizeof *indices);
    if (!indices)
        return onnx_error_operand(n);
    for (uint32_t i = 0; i < size; i++)
        indices[i] = (int32_t)(i / block);
    return onnx_gather_constant(n, scale, axis, size, indices);
}

/* Reads axis and block_size, and brings scale and zero point (which may be NULL) into shape. */
static bool read_blocks(struct onnx_node *n, WNNOperand x, WNNOperand *scale, WNNOperand *zero, uint32_t *axis)
{
    int64_t along = onnx_int(n, "axis", 1), block = onnx_int(n, "block_size", 0);
    size_t rank = onnx_dims_of(x).rank, scale_rank = onnx_dims_of(*scale).rank;

    *axis = 0;
    if (n->refused)
        return false;
    if (!scale_rank || (scale_rank == 1 && onnx_dims_of(*scale).at[0] == 1)) /* one for all: the axis means nothing */
        return true;
    if (!onnx_axis(n, along, rank, axis))
        return false;
    if (block) {
        *scale = fit_blocks(n, x, *scale, *axis, block);
        if (*zero)
            *zero = fit_blocks(n, x, *zero, *axis, block);
    }
    return !n->refused;
}

static bool import_quantize(struct onnx_node *n)
{
    WNNOperand x = onnx_operand(n, 0), scale = onnx_operand(n, 1), zero = onnx_operand_optional(n, 2), y;
    enum onnx_type wanted = (enum onnx_type)onnx_int(n, "output_dtype", ONNX_UNDEFINED), type = ONNX_UINT8;
    enum onnx_type precision = (enum onnx_type)onnx_int(n, "precision", ONNX_UNDEFINED);
    WNNOperandDataType compute = wnnOperandGetDataType(scale);
    uint32_t axis;

    onnx_ignore(n, "saturate"); /* of 8-bit floating point only */
    if (n->refused)
        return false;
    if (onnx_input(n, 2))
        type = onnx_input(n, 2)->type;
    else if (wanted != ONNX_UNDEFINED)
        type = wanted;
    if (wanted != ONNX_UNDEFINED && type != wanted)
        return onnx_refuse(n, "output_dtype is %s, the zero point's type %s", onnx_type_name(wanted), onnx_type_name(type));
    if (type != ONNX_UINT8 && type != ONNX_INT8 && type != ONNX_INT32 && type != ONNX_UINT32 && type != ONNX_INT4 &&
        type != ONNX_UINT4)
        return onnx_refuse(n, "quantisation to %s, which WebNN does not have", onnx_type_name(type));
    if (precision != ONNX_UNDEFINED && precision != ONNX_FLOAT && precision != ONNX_FLOAT16)
        return onnx_refuse(n, "precision %s", onnx_type_name(precision));
    if (precision != ONNX_UNDEFINED)
        compute = onnx_data_type(precision);
    x = onnx_cast(n, x, compute);
    scale = onnx_cast(n, scale, compute);
    if (!read_blocks(n, x, &scale, &zero, &axis))
        return false;
    if (!zero) {
        struct onnx_dims dims = onnx_dims_of(scale);
        zero = onnx_expand(n, onnx_scalar(n, onnx_data_type(type), 0), dims);
    }
    y = onnx_quantize(n, x, scale, zero, axis);
    if (type == ONNX_INT4)
        y = onnx_clamp(n, y, -8, 7);
    if (type == ONNX_UINT4)
        y = onnx_clamp(n, y, 0, 15);
    return onnx_output_as(n, 0, y, type);
}

static bool import_dequantize(struct onnx_node *n)
{
    WNNOperand x = onnx_operand(n, 0), scale = onnx_operand(n, 1), zero = onnx_operand_optional(n, 2), y;
    enum onnx_type wanted = (enum onnx_type)onnx_int(n, "output_dtype", ONNX_UNDEFINED);
    WNNOperandDataType type;
    uint32_t axis;

    if (!read_blocks(n, x, &scale, &zero, &axis))
        return false;
    if (wanted != ONNX_UNDEFINED && wanted != ONNX_FLOAT && wanted != ONNX_FLOAT16)
        return onnx_refuse(n, "output_dtype %s, which WebNN does not have", onnx_type_name(wanted));
    type = wanted == ONNX_UNDEFINED ? wnnOperandGetDataType(scale) : onnx_data_type(wanted);
    y = onnx_dequantize(n, x, scale, zero, axis);
    if (!onnx_output(n, 0, onnx_cast(n, y, type)))
        return false;
    /* A matmul in float16 multiplies by weights that are not rounded once more, and stay as small as they are. */
    if (n->inputs[0]->is_static && n->inputs[0]->rank == 2 && type == WNNOperandDataType_Float16 && n->outputs[0])
        n->outputs[0]->wide = onnx_dequantize(n, x, onnx_cast(n, scale, WNNOperandDataType_Float32), zero, axis);
    return !n->refused;
}

WNNOperand onnx_dynamic_quantize(struct onnx_node *n, WNNOperand x, WNNOperand *scale, WNNOperand *zero)
{
    WNNOperand none = onnx_scalar_like(n, x, 0), smallest, largest, step;
    static const uint32_t shape[1]; /* scalars */
    WNNReduceOptions o = WNN_REDUCE_OPTIONS_INIT;

    o.label = n->label;
    smallest = onnx_min(n, wnnGraphBuilderReduceMin(n->builder, x, &o), none);
    largest = onnx_max(n, wnnGraphBuilderReduceMax(n->builder, x, &o), none);
    step = onnx_div(n, onnx_sub(n, largest, smallest), onnx_scalar_like(n, x, 255));
    *zero = onnx_round_even(n, onnx_clamp(n, onnx_div(n, onnx_sub(n, none, smallest), step), 0, 255));
    *zero = onnx_reshape(n, onnx_cast(n, *zero, WNNOperandDataType_Uint8), 0, shape);
    *scale = onnx_reshape(n, step, 0, shape);
    return onnx_quantize(n, x, *scale, *zero, 0);
}

static bool import_dynamic_quantize(struct onnx_node *n)
{
    WNNOperand scale, zero, y = onnx_dynamic_quantize(n, onnx_operand(n, 0), &scale, &zero);

    onnx_output(n, 1, scale);
    onnx_output(n, 2, zero);
    return onnx_output(n, 0, y);
}

static const struct onnx_operator rows[] = {
    {"QuantizeLinear", 10, 0, 2, 3, 1, 0, import_quantize,
     "int4 and uint4 are kept as int8 and uint8 within the graph; 16-bit integers and 8-bit floating point refused", NULL},
    {"DequantizeLinear", 10, 0, 2, 3, 1, ONNX_KEEP, import_dequantize,
     "int4 and uint4 are kept as int8 and uint8 within the graph; 16-bit integers and 8-bit floating point refused", NULL},
    {"QuantizeLinear", 1, 0, 2, 3, 1, 0, import_quantize, "as in ONNX", "com.microsoft"},
    {"DequantizeLinear", 1, 0, 2, 3, 1, ONNX_KEEP, import_dequantize, "as in ONNX", "com.microsoft"},
    {"DynamicQuantizeLinear", 11, 0, 1, 1, 3, 0, import_dynamic_quantize, "reduceMin, reduceMax, quantizeLinear", NULL},
};

ONNX_TABLE(onnx_quantize_operators, rows);
