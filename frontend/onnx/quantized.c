/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Expresses quantisation as ONNX has it (quantized.h). */
#include "frontend/onnx/quantized.h"

#include <math.h>

/* Returns a scale or zero point in x's rank: single, along the axis, per block (repeated where blocks do not divide evenly). */
static WNNOperand fit_scale(struct onnx_node *n, WNNOperand x, WNNOperand scale, uint32_t axis)
{
    struct onnx_dims have = onnx_dims_of(scale), dims = onnx_dims_of(x);
    struct onnx_dims fitted = {dims.rank, {1, 1, 1, 1, 1, 1, 1, 1}};

    if (onnx_dims_product(n, &have, 0, have.rank) == 1)
        return onnx_reshape_to(n, scale, fitted);
    if (have.rank == 1 && dims.rank > 1) {
        if (axis >= dims.rank || have.at[0] != dims.at[axis])
            onnx_refuse(n, "%u scales along axis %u of a tensor of rank %zu", have.at[0], axis, dims.rank);
        return onnx_along_axis(n, scale, dims.rank, axis < dims.rank ? axis : 0);
    }
    return scale; /* the builder checks it */
}

/* Returns zeros of a data type in an operand's shape. */
static WNNOperand zeros_like(struct onnx_node *n, WNNOperand like, WNNOperandDataType type)
{
    struct onnx_dims dims = onnx_dims_of(like);
    void *data = onnx_alloc(n, onnx_dims_product(n, &dims, 0, dims.rank), wnnOperandDataTypeGetByteSize(type));

    return data && type ? onnx_constant_operand(n, type, dims.rank, dims.at, data) : onnx_error_operand(n);
}

/* Brings scale and zero point into one shape. */
static bool fit_pair(struct onnx_node *n, WNNOperand x, WNNOperand *scale, WNNOperand *zero, WNNOperandDataType type,
                     uint32_t axis)
{
    struct onnx_dims a, b;

    *scale = fit_scale(n, x, *scale, axis);
    *zero = *zero ? fit_scale(n, x, *zero, axis) : zeros_like(n, *scale, type);
    if (n->refused)
        return false;
    a = onnx_dims_of(*scale);
    b = onnx_dims_of(*zero);
    for (size_t i = 0; i < a.rank && a.rank == b.rank; i++)
        a.at[i] = b.at[i] = a.at[i] > b.at[i] ? a.at[i] : b.at[i]; /* one of them may be single */
    *scale = onnx_expand(n, *scale, a);
    *zero = onnx_expand(n, *zero, b);
    return true;
}

WNNOperand onnx_dequantize(struct onnx_node *n, WNNOperand x, WNNOperand scale, WNNOperand zero, uint32_t axis)
{
    if (!fit_pair(n, x, &scale, &zero, wnnOperandGetDataType(x), axis))
        return onnx_error_operand(n);
    return wnnGraphBuilderDequantizeLinear(n->builder, x, scale, zero, n->options);
}

WNNOperand onnx_quantize(struct onnx_node *n, WNNOperand x, WNNOperand scale, WNNOperand zero, uint32_t axis)
{
    if (!fit_pair(n, x, &scale, &zero, WNNOperandDataType_Uint8, axis))
        return onnx_error_operand(n);
    return wnnGraphBuilderQuantizeLinear(n->builder, x, scale, zero, n->options);
}

/* ---- exact contractions of integers ---- */

/* Returns how far x - zero can be from 0, by what is known of both. */
static double largest_of(struct onnx_node *n, size_t input, size_t zero)
{
    const struct onnx_value *x = onnx_input(n, input), *z = onnx_input(n, zero);
    bool is_signed = x->type == ONNX_INT8;
    double low = is_signed ? -128 : 0, high = is_signed ? 127 : 255, zero_low = 0, zero_high = 0;

    if (onnx_is_constant(n, input) && onnx_elements(x) > 0) {
        low = high = onnx_element(x, 0);
        for (size_t i = 1; i < (size_t)onnx_elements(x); i++) {
            low = fmin(low, onnx_element(x, i));
            high = fmax(high, onnx_element(x, i));
        }
    }
    if (z && onnx_is_constant(n, zero) && onnx_elements(z) > 0) {
        zero_low = zero_high = onnx_element(z, 0);
        for (size_t i = 1; i < (size_t)onnx_elements(z); i++) {
            zero_low = fmin(zero_low, onnx_element(z, i));
            zero_high = fmax(zero_high, onnx_element(z, i));
        }
    } else if (z) {
        zero_low = is_signed ? -128 : 0;
        zero_high = is_signed ? 127 : 255;
    }
    return fmax(fabs(low - zero_high), fabs(high - zero_low));
}

/* Integer operands are bytes: wider ones could not be split into parts that float32 multiplies exactly. */
static bool check_bytes(struct onnx_node *n, size_t input, size_t zero)
{
    const struct onnx_value *x = onnx_input(n, input), *z = onnx_input(n, zero);

    if (x && x->type != ONNX_INT8 && x->type != ONNX_UINT8)
        return onnx_refuse(n, "input %zu is of type %s, it must be int8 or uint8", input, onnx_type_name(x->type));
    if (x && z && z->type != x->type)
        return onnx_refuse(n, "the zero point, input %zu, is of type %s, input %zu of type %s", zero, onnx_type_name(z->type),
                           input, onnx_type_name(x->type));
    return !n->refused;
}

struct onnx_integer_operand onnx_dequantize_input(struct onnx_node *n, size_t input, size_t zero, uint32_t axis)
{
    WNNOperand x = onnx_operand(n, input);
    struct onnx_integer_operand f = {x, 0};

    if (n->refused || !check_bytes(n, input, zero))
        return f;
    f.largest = largest_of(n, input, zero);
    f.operand = onnx_dequantize(n, x, onnx_scalar(n, WNNOperandDataType_Float32, 1), onnx_operand_optional(n, zero), axis);
    return f;
}

WNNOperand onnx_integer_contraction(struct onnx_node *n, struct onnx_integer_operand a, struct onnx_integer_operand b,
                                    uint32_t terms, onnx_multiply multiply, const void *context)
{
    const double limit = 0x1p24;
    struct onnx_integer_operand high, low;
    WNNOperand parts[2], step;
    double unit;

    if (n->refused)
        return onnx_error_operand(n);
    if (a.largest * b.largest * terms <= limit)
        return onnx_cast(n, multiply(n, a.operand, b.operand, context), WNNOperandDataType_Int32);
    if (a.largest < 2) { /* nothing left to split; it is about as small as it gets on the other side, too */
        if (b.largest < 2) {
            onnx_refuse(n, "sums of %u terms of integers", terms);
            return onnx_error_operand(n);
        }
        unit = exp2(ceil(log2(b.largest + 1) / 2));
        step = onnx_floor(n, onnx_linear(n, b.operand, 1 / unit, 0));
        high = (struct onnx_integer_operand){step, ceil(b.largest / unit)};
        low = (struct onnx_integer_operand){onnx_sub(n, b.operand, onnx_linear(n, step, unit, 0)), unit - 1};
        parts[0] = onnx_integer_contraction(n, a, high, terms, multiply, context);
        parts[1] = onnx_integer_contraction(n, a, low, terms, multiply, context);
    } else {
        unit = exp2(ceil(log2(a.largest + 1) / 2));
        step = onnx_floor(n, onnx_linear(n, a.operand, 1 / unit, 0));
        high = (struct onnx_integer_operand){step, ceil(a.largest / unit)};
        low = (struct onnx_integer_operand){onnx_sub(n, a.operand, onnx_linear(n, step, unit, 0)), unit - 1};
        parts[0] = onnx_integer_contraction(n, high, b, terms, multiply, context);
        parts[1] = onnx_integer_contraction(n, low, b, terms, multiply, context);
    }
    return onnx_add(n, onnx_mul(n, parts[0], onnx_scalar(n, WNNOperandDataType_Int32, unit)), parts[1]);
}
