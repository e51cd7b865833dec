/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Imports QuantizeLinear, DequantizeLinear and QLinearConcat by quantizeLinear and dequantizeLinear, whose scales have the rank
 * of the input.
 */
#include "frontend/readers/onnx/compose.h"
#include "ir/support/number.h"

/* Scales of blocks whose size does not divide the axis evenly are repeated for every element. */
static WNNOperand fit_blocks(struct onnx_node *n, WNNOperand x, WNNOperand scale, uint32_t axis, int64_t block)
{
    struct onnx_dims dims = onnx_dims_of(n, x), have = onnx_dims_of(n, scale);
    uint32_t size = dims.at[axis];

    if (have.rank != dims.rank || block < 1 || block > INT32_MAX || ceil_div(size, block) != have.at[axis])
        return onnx_refuse_operand(n, "block_size %lld on an axis of %u elements with %u scales", (long long)block, size,
                                   have.at[axis]);
    if (size % block == 0)
        return scale;
    int32_t *indices = onnx_alloc(n, size, sizeof *indices);
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
    size_t rank = onnx_dims_of(n, x).rank, scale_rank = onnx_dims_of(n, *scale).rank;

    *axis = 0;
    if (n->refused)
        return false;
    if (!scale_rank || (scale_rank == 1 && onnx_dims_of(n, *scale).at[0] == 1)) /* one for all: the axis means nothing */
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

bool onnx_import_quantize(struct onnx_node *n)
{
    WNNOperand x = onnx_operand(n, 0), scale = onnx_operand(n, 1), zero = onnx_operand_optional(n, 2), y;
    enum onnx_type wanted = (enum onnx_type)onnx_int(n, "output_dtype", ONNX_UNDEFINED), type = ONNX_UINT8;
    enum onnx_type precision = (enum onnx_type)onnx_int(n, "precision", ONNX_UNDEFINED);
    WNNOperandDataType compute = wnnOperandGetDataType(scale);
    uint32_t axis;

    const bool saturate = onnx_int(n, "saturate", 1) != 0; /* of 8-bit floating point only */
    if (n->refused)
        return false;
    if (onnx_input(n, 2))
        type = onnx_input(n, 2)->type;
    else if (wanted != ONNX_UNDEFINED)
        type = wanted;
    if (wanted != ONNX_UNDEFINED && type != wanted)
        return onnx_refuse(n, "output_dtype is %s, the zero point's type %s", onnx_type_name(wanted), onnx_type_name(type));
    if ((!onnx_format_of(type) || type == ONNX_BOOL) && type != ONNX_UINT8 && type != ONNX_INT8 && type != ONNX_INT32 &&
        type != ONNX_UINT32)
        return onnx_refuse(n, "quantisation to %s, which WebNN does not have", onnx_type_name(type));
    if (precision != ONNX_UNDEFINED && precision != ONNX_FLOAT && precision != ONNX_FLOAT16 && precision != ONNX_BFLOAT16)
        return onnx_refuse(n, "precision %s", onnx_type_name(precision));
    if (precision != ONNX_UNDEFINED)
        compute = onnx_data_type(precision);
    x = onnx_cast(n, x, compute);
    scale = onnx_cast(n, scale, compute);
    if (!read_blocks(n, x, &scale, &zero, &axis))
        return false;
    if (!zero) {
        struct onnx_dims dims = onnx_dims_of(n, scale);
        zero = onnx_expand(n, onnx_scalar(n, onnx_data_type(type), 0), dims);
    }
    y = onnx_quantize(n, x, scale, zero, axis);
    if (onnx_format_of(type))
        y = onnx_narrow(n, y, type, saturate || !onnx_type_is_float(type));
    return onnx_output_as(n, 0, y, type);
}

/* Returns input 0.  A matrix of integers of fewer than 8 bits that lies in a file stays packed; if they have a sign, the middle
 * of their range is added to them and to *zero, which is then set. */
static WNNOperand read_packed(struct onnx_node *n, WNNOperand scale, WNNOperand *zero)
{
    const struct onnx_value *v = n->inputs[0], *z = onnx_input(n, 2);
    const uint32_t bits = onnx_type_bits(v->type), middle = onnx_type_is_signed(v->type) && bits ? 1u << (bits - 1) : 0;

    if (!v->raw || !bits || v->rank != 2 || (z && (z->type != v->type || (middle && !onnx_is_constant(n, 2)))))
        return onnx_operand(n, 0);
    if (middle && z) {
        const struct onnx_dims dims = onnx_dims_of(n, *zero);
        const int8_t *from = onnx_constant(n, 2)->data;
        uint8_t *numbers = onnx_alloc(n, (size_t)onnx_elements(z), 1);

        for (int64_t i = 0; numbers && i < onnx_elements(z); i++)
            numbers[i] = (uint8_t)(from[i] + (int)middle);
        *zero =
            numbers ? onnx_constant_operand(n, WNNOperandDataType_Uint8, dims.rank, dims.at, numbers) : onnx_error_operand(n);
    } else if (middle) {
        *zero = onnx_expand(n, onnx_scalar(n, WNNOperandDataType_Uint8, middle), onnx_dims_of(n, scale));
    }
    return onnx_lend_packed(n, v, v->raw, bits, middle, (const uint32_t[]){(uint32_t)v->dims[0], (uint32_t)v->dims[1]});
}

bool onnx_import_dequantize(struct onnx_node *n)
{
    WNNOperand scale = onnx_operand(n, 1), zero = onnx_operand_optional(n, 2), x = read_packed(n, scale, &zero), y;
    enum onnx_type wanted = (enum onnx_type)onnx_int(n, "output_dtype", ONNX_UNDEFINED);
    uint32_t axis;

    if (n->inputs[0]->type == ONNX_FLOAT)
        return onnx_refuse(n, "its input is of type float32, which is not quantised");
    if (!read_blocks(n, x, &scale, &zero, &axis))
        return false;
    if (wanted != ONNX_UNDEFINED && wanted != ONNX_FLOAT && wanted != ONNX_FLOAT16 && wanted != ONNX_BFLOAT16)
        return onnx_refuse(n, "output_dtype %s, which WebNN does not have", onnx_type_name(wanted));
    WNNOperandDataType type = wanted == ONNX_UNDEFINED ? wnnOperandGetDataType(scale) : onnx_data_type(wanted);
    y = onnx_dequantize(n, x, scale, zero, axis);
    if (!onnx_output(n, 0, onnx_cast(n, y, type)))
        return false;
    /* A matmul in float16 multiplies by weights that are not rounded once more, and stay as small as they are. */
    if (n->inputs[0]->is_static && n->inputs[0]->rank == 2 && type == WNNOperandDataType_Float16 && n->outputs[0])
        n->outputs[0]->wide = onnx_dequantize(n, x, onnx_cast(n, scale, WNNOperandDataType_Float32), zero, axis);
    return !n->refused;
}

bool onnx_import_qlinear_concat(struct onnx_node *n)
{
    const size_t count = (n->input_count - 1) / 3; /* the last zero point may be absent */
    WNNOperand *parts = onnx_alloc(n, count, sizeof *parts), scale, zero, y;
    const int64_t along = onnx_int(n, "axis", 0);
    uint32_t axis;

    if (!parts)
        return false;
    if (n->input_count % 3 == 0)
        return onnx_refuse(n, "%zu inputs; tensors come with scales and zero points", n->input_count);
    for (size_t i = 0; i < count; i++) {
        const WNNOperand x = onnx_operand(n, 2 + 3 * i);
        const size_t rank = onnx_dims_of(n, x).rank;

        parts[i] = onnx_dequantize(n, x, onnx_operand(n, 3 + 3 * i), onnx_operand_optional(n, 4 + 3 * i),
                                   rank ? (uint32_t)rank - 1 : 0);
    }
    if (n->refused || !onnx_axis(n, along, onnx_dims_of(n, parts[0]).rank, &axis))
        return false;
    y = onnx_concat(n, count, parts, axis);
    scale = onnx_operand(n, 0);
    zero = onnx_input(n, 1) ? onnx_operand(n, 1) : onnx_scalar(n, wnnOperandGetDataType(onnx_operand(n, 2)), 0);
    return onnx_output(n, 0, onnx_quantize(n, y, scale, zero, 0));
}
