/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Expresses ONNX's quantization by dequantizeLinear and quantizeLinear, which want scales and zero points of the
 * input's rank, and types that WebNN lacks by wider ones.
 */
#pragma once

#include "frontend/readers/onnx/compose.h"

/**
 * Applies dequantizeLinear or quantizeLinear.  scale and zero are single numbers, lie along axis, or have x's rank in blocks; a
 * zero of NULL stands for 0.  Of floating-point numbers of few bits, or to such (which onnx_narrow is yet to round), both are
 * composed.
 */
WNNOperand onnx_dequantize(struct onnx_node *n, WNNOperand x, WNNOperand scale, WNNOperand zero, uint32_t axis);
WNNOperand onnx_quantize(struct onnx_node *n, WNNOperand x, WNNOperand scale, WNNOperand zero, uint32_t axis);

/**
 * Returns a matrix of numbers of so many bits, at most 4, as a constant of bytes that has as many bits to the builder: lent
 * where `from` lies in v's file, else, or if `middle`, 1 << (bits - 1), is to be added to integers with a sign, copied.
 */
WNNOperand onnx_lend_packed(struct onnx_node *n, const struct onnx_value *v, const void *from, uint32_t bits, uint32_t middle,
                            const uint32_t dims[2]);

/**
 * Returns x of any type as a type that is kept as a wider one.  Integers saturate or, if they do not, keep their low bits;
 * floating-point numbers are rounded to the nearest, and beyond the largest one they saturate, or become infinite or NaN.
 */
WNNOperand onnx_narrow(struct onnx_node *n, WNNOperand x, enum onnx_type type, bool saturate);

/** Holds an integer operand of a contraction, as float32 less its zero point. */
struct onnx_integer_operand {
    WNNOperand operand;
    double largest; /* largest absolute value of an element */
};
/**
 * Returns input `input` of the node as such an operand.  Its zero point is input `zero`, which may be absent; both lie along
 * axis.
 */
struct onnx_integer_operand onnx_dequantize_input(struct onnx_node *n, size_t input, size_t zero, uint32_t axis);

typedef WNNOperand (*onnx_multiply)(struct onnx_node *n, WNNOperand a, WNNOperand b, const void *context);
/**
 * Makes output 0 an int32 matmul or convolution of integers (`multiply` makes it of float32 operands), each of its sums having
 * that many terms.  It is computed in float32, which is exact up to 2^24; where that is not enough, an operand is split by
 * bits, and the contractions of its parts are added in int32.  A Cast to floating point, which is all that most models do with
 * the sums, reads one float32 contraction that is not split: passes recognise it as one of integers (docs/operators.md).
 */
bool onnx_output_sums(struct onnx_node *n, struct onnx_integer_operand a, struct onnx_integer_operand b, uint32_t terms,
                      onnx_multiply multiply, const void *context);
