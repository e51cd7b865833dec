/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Quantisation as ONNX has it, on dequantizeLinear and quantizeLinear, which want scales and zero points of the input's rank.
 */
#ifndef WEBNN_FRONTEND_ONNX_QUANTIZED_H_
#define WEBNN_FRONTEND_ONNX_QUANTIZED_H_

#include "frontend/onnx/compose.h"

/** scale and zero point: single numbers, along axis, or of x's rank in blocks.  zero NULL: 0. */
WNNOperand onnx_dequantize(struct onnx_node *n, WNNOperand x, WNNOperand scale, WNNOperand zero, uint32_t axis);
WNNOperand onnx_quantize(struct onnx_node *n, WNNOperand x, WNNOperand scale, WNNOperand zero, uint32_t axis);

/** An integer factor as float32 less its zero point (input zero of the node, which may be absent). */
struct onnx_factor {
    WNNOperand operand;
    double largest; /* no element is farther from 0 */
};
struct onnx_factor onnx_dequantize_input(struct onnx_node *n, size_t input, size_t zero, uint32_t axis);

typedef WNNOperand (*onnx_multiply)(struct onnx_node *n, WNNOperand a, WNNOperand b, const void *context);
/**
 * An int32 product of integers, each of its sums having that many terms: computed in float32, which is exact up to 2^24;
 * factors for which that is not enough are split by bits into several products.
 */
WNNOperand onnx_integer_product(struct onnx_node *n, struct onnx_factor a, struct onnx_factor b, uint32_t terms,
                                onnx_multiply multiply, const void *context);

#endif
