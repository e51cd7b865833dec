/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Expresses quantisation as ONNX has it (compose.h). */

#include "frontend/readers/onnx/open.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/readers/onnx/term.h"

/* Returns a scale or zero point in x's rank: single, along the axis, per block (repeated where blocks do not divide evenly). */
static WNNOperand fit_scale(struct onnx_node *n, WNNOperand x, WNNOperand scale, uint32_t axis)
{
    struct onnx_dims have = onnx_dims_of(n, scale), dims = onnx_dims_of(n, x);
    struct onnx_dims fitted = {dims.rank, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}};

    if (onnx_dims_product(n, &have, 0, have.rank) == 1)
        return onnx_reshape_to(n, scale, fitted);
    if (have.rank == 1 && dims.rank > 1 && axis < dims.rank && (onnx_is_open(have.at[0]) || onnx_is_open(dims.at[axis])))
        return onnx_along_axis(n, scale, dims.rank, axis); /* the builder compares them */
    if (have.rank == 1 && dims.rank > 1) {
        if (axis >= dims.rank || have.at[0] != dims.at[axis])
            onnx_refuse(n, "%u scales along axis %u of a tensor of rank %zu", have.at[0], axis, dims.rank);
        return onnx_along_axis(n, scale, dims.rank, axis < dims.rank ? axis : 0);
    }
    return scale; /* the builder checks it */
}

static WNNOperand zeros_like(struct onnx_node *n, WNNOperand like, WNNOperandDataType type)
{
    struct onnx_dims dims = onnx_dims_of(n, like);
    const uint32_t bytes = (uint32_t)wnnOperandDataTypeGetByteSize(type);

    if (!bytes)
        return onnx_refuse_operand(n, "float64 is not quantized");
    void *data = onnx_alloc(n, onnx_dims_product(n, &dims, 0, dims.rank), bytes);

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
    a = onnx_dims_of(n, *scale);
    b = onnx_dims_of(n, *zero);
    for (size_t i = 0; i < a.rank && a.rank == b.rank; i++)
        a.at[i] = b.at[i] = a.at[i] > b.at[i] ? a.at[i] : b.at[i]; /* one of them may be single */
    *scale = onnx_expand(n, *scale, a);
    *zero = onnx_expand(n, *zero, b);
    return true;
}

/* Returns scales of blocks, which must be whole ones, repeated for every element of x. */
static WNNOperand spread(struct onnx_node *n, WNNOperand scale, WNNOperand x)
{
    const struct onnx_dims have = onnx_dims_of(n, scale), dims = onnx_dims_of(n, x);

    if (have.rank != dims.rank)
        return onnx_refuse_operand(n, "scales of rank %zu for a tensor of rank %zu", have.rank, dims.rank);
    for (uint32_t axis = 0; axis < dims.rank; axis++) {
        const uint32_t some = have.at[axis], all = dims.at[axis];

        if (some == 1 || some == all || onnx_is_open(some) || onnx_is_open(all)) /* the builder compares the latter */
            continue;
        if (!some || all % some)
            return onnx_refuse_operand(n, "%u scales along axis %u of %u elements", some, axis, all);
        int32_t *at = onnx_alloc(n, all, sizeof *at);
        for (uint32_t i = 0; at && i < all; i++)
            at[i] = (int32_t)(i / (all / some));
        scale = at ? onnx_gather_constant(n, scale, axis, all, at) : onnx_error_operand(n);
    }
    return scale;
}

WNNOperand onnx_dequantize(struct onnx_node *n, WNNOperand x, WNNOperand scale, WNNOperand zero, uint32_t axis)
{
    if (!fit_pair(n, x, &scale, &zero, wnnOperandGetDataType(x), axis))
        return onnx_error_operand(n);
    if (wnnOperandGetDataType(x) == WNNOperandDataType_Float32)
        return onnx_mul(n, onnx_sub(n, x, spread(n, zero, x)), onnx_cast(n, spread(n, scale, x), WNNOperandDataType_Float32));
    return wnnGraphBuilderDequantizeLinear(n->builder, x, scale, zero, n->options);
}

WNNOperand onnx_quantize(struct onnx_node *n, WNNOperand x, WNNOperand scale, WNNOperand zero, uint32_t axis)
{
    if (!fit_pair(n, x, &scale, &zero, WNNOperandDataType_Uint8, axis))
        return onnx_error_operand(n);
    if (wnnOperandGetDataType(zero) == WNNOperandDataType_Float32) {
        x = wnnGraphBuilderDiv(n->builder, x, spread(n, scale, x), n->options);
        return onnx_add(n, onnx_cast(n, x, WNNOperandDataType_Float32), spread(n, zero, x));
    }
    return wnnGraphBuilderQuantizeLinear(n->builder, x, scale, zero, n->options);
}

/* ---- types that operands do not have ---- */

/* Returns the low bits of integers. */
static WNNOperand wrap(struct onnx_node *n, WNNOperand x, enum onnx_type type, double values)
{
    const double below = onnx_type_is_signed(type) ? values / 2 : 0;
    WNNOperand y = onnx_cast(n, onnx_cast(n, x, WNNOperandDataType_Int32), WNNOperandDataType_Uint32), size, high;

    y = onnx_add(n, y, onnx_scalar_like(n, y, below));
    size = onnx_scalar_like(n, y, values);
    high = wnnGraphBuilderDiv(n->builder, y, size, n->options);
    y = onnx_cast(n, onnx_sub(n, y, onnx_mul(n, high, size)), onnx_data_type(type));
    return onnx_sub(n, y, onnx_scalar_like(n, y, below));
}

WNNOperand onnx_narrow(struct onnx_node *n, WNNOperand x, enum onnx_type type, bool saturate)
{
    const struct onnx_format *f = onnx_format_of(type);
    const double values = ldexp(1, f->bits), below = onnx_type_is_signed(type) ? values / 2 : 0;
    const bool infinite = f->special == ONNX_INFINITE;

    if (f->special == ONNX_POWERS)
        return onnx_refuse_operand(n, "it makes %s of numbers, which are read as constants only", onnx_type_name(type));
    if (saturate && wnnOperandGetDataType(x) == WNNOperandDataType_Float16) /* which does not hold the greatest ones */
        x = onnx_cast(n, x, WNNOperandDataType_Float32);
    if (!onnx_type_is_float(type))
        return saturate ? onnx_cast(n, onnx_clamp(n, x, -below, values - below - 1), onnx_data_type(type))
                        : wrap(n, x, type, values);
    const double over = saturate && type != ONNX_BFLOAT16 ? (double)f->top : infinite ? (double)INFINITY : (double)NAN;
    const double numbers[] = {ldexp(1, f->mantissa),
                              ldexp(1, 1 - f->bias),
                              (double)f->top,
                              over,
                              f->special == ONNX_ONE_ZERO ? (double)NAN : over,
                              f->special == ONNX_ONE_ZERO};

    return onnx_term_of(n, term_find_function("rounded", strlen("rounded")), onnx_cast(n, x, WNNOperandDataType_Float32),
                        sizeof numbers / sizeof *numbers, numbers);
}

/* ---- exact contractions of integers ---- */

struct range {
    int32_t low, high;
};

/* Returns the least and the greatest element of bytes, or those of their type where the elements are not at hand. */
static struct range range_of(const struct onnx_value *x)
{
    const bool is_signed = x->type == ONNX_INT8;
    const unsigned char *at = x->data ? x->data : x->file; /* a large tensor stays in its file */
    const unsigned char flip = is_signed ? 128 : 0;        /* so that the order is that of unsigned bytes */
    const int64_t count = onnx_elements(x);
    unsigned char low = 255, high = 0;

    if (!at || !count)
        return is_signed ? (struct range){-128, 127} : (struct range){0, 255};
    for (int64_t i = 0; i < count; i++) {
        const unsigned char byte = at[i] ^ flip;

        low = byte < low ? byte : low;
        high = byte > high ? byte : high;
    }
    return (struct range){low - flip, high - flip};
}

/* Returns how far x - zero can be from 0, by the known bounds of both. */
static double largest_of(struct onnx_node *n, size_t input, size_t zero)
{
    const struct onnx_value *z = onnx_input(n, zero);
    const struct range x = range_of(onnx_input(n, input)), around = z ? range_of(z) : (struct range){0, 0};

    return fmax(abs(x.low - around.high), abs(x.high - around.low));
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

/* Returns the sums as int32 numbers, exact: in parts if they may be beyond what float32 holds. */
static WNNOperand contract(struct onnx_node *n, struct onnx_integer_operand a, struct onnx_integer_operand b, uint32_t terms,
                           onnx_multiply multiply, const void *context)
{
    const double limit = 0x1p24;
    const bool splits_b = a.largest < 2; /* nothing left to split; it is about as small as it gets on the other side, too */
    const struct onnx_integer_operand x = splits_b ? b : a;

    if (n->refused)
        return onnx_error_operand(n);
    if (a.largest * b.largest * terms <= limit)
        return onnx_cast(n, multiply(n, a.operand, b.operand, context), WNNOperandDataType_Int32);
    if (splits_b && b.largest < 2)
        return onnx_refuse_operand(n, "sums of %u terms of integers", terms);
    const double unit = exp2(ceil(log2(x.largest + 1) / 2));
    WNNOperand step = onnx_floor(n, onnx_linear(n, x.operand, 1 / unit, 0));
    const struct onnx_integer_operand high = {step, ceil(x.largest / unit)};
    const struct onnx_integer_operand low = {onnx_sub(n, x.operand, onnx_linear(n, step, unit, 0)), unit - 1};
    WNNOperand parts[2];
    parts[0] = splits_b ? contract(n, a, high, terms, multiply, context) : contract(n, high, b, terms, multiply, context);
    parts[1] = splits_b ? contract(n, a, low, terms, multiply, context) : contract(n, low, b, terms, multiply, context);
    return onnx_add(n, onnx_mul(n, parts[0], onnx_scalar(n, WNNOperandDataType_Int32, unit)), parts[1]);
}

bool onnx_output_sums(struct onnx_node *n, struct onnx_integer_operand a, struct onnx_integer_operand b, uint32_t terms,
                      onnx_multiply multiply, const void *context)
{
    if (n->refused || !onnx_output(n, 0, contract(n, a, b, terms, multiply, context)))
        return false;
    if (n->outputs[0])
        n->outputs[0]->sums = multiply(n, a.operand, b.operand, context);
    return !n->refused;
}
