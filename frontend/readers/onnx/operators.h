/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares the operator tables, one per operators_*.c file; operators.c joins them.
 */
#ifndef WEBNN_FRONTEND_READERS_ONNX_OPERATORS_H_
#define WEBNN_FRONTEND_READERS_ONNX_OPERATORS_H_

#include "frontend/readers/onnx/onnx.h"

/** Defines a table; operators_x.c says ONNX_TABLE(onnx_x_operators, rows). */
#define ONNX_TABLE(name, rows) const struct onnx_operator_table name = {rows, sizeof(rows) / sizeof((rows)[0])}

extern const struct onnx_operator_table onnx_elementwise_operators; /* unary, binary, comparisons, logic */
extern const struct onnx_operator_table onnx_activation_operators;  /* Relu, Clip, Gelu, ... */
extern const struct onnx_operator_table
    onnx_constant_operators; /* Constant, Shape, Range, Cast and what else shapes are made of */
extern const struct onnx_operator_table onnx_shape_operators;   /* Reshape, Transpose, Concat, Slice, ... */
extern const struct onnx_operator_table onnx_gather_operators;  /* Gather..., Scatter..., OneHot */
extern const struct onnx_operator_table onnx_pad_operators;     /* Pad, CenterCropPad */
extern const struct onnx_operator_table onnx_reduce_operators;  /* Reduce..., ArgMax, CumSum */
extern const struct onnx_operator_table onnx_control_operators; /* If, Loop, Scan */

extern const struct onnx_operator_table onnx_signal_operators;  /* windows, DFT, STFT */
extern const struct onnx_operator_table onnx_refused_operators; /* what cannot be expressed, with reasons */

extern const struct onnx_operator_table onnx_convolution_operators; /* Conv, ConvTranspose, ConvInteger, QLinearConv, ... */
extern const struct onnx_operator_table onnx_pool_operators;        /* pools and global pools */
extern const struct onnx_operator_table onnx_matmul_operators;      /* Gemm, MatMul, MatMulInteger, QLinearMatMul */
extern const struct onnx_operator_table onnx_quantize_operators;  /* QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear */
extern const struct onnx_operator_table onnx_normalize_operators; /* ...Normalization, LRN, Softmax, LogSoftmax */
extern const struct onnx_operator_table onnx_einsum_operators;    /* Einsum */
extern const struct onnx_operator_table onnx_resize_operators;    /* Resize, Upsample */
extern const struct onnx_operator_table onnx_recurrent_operators; /* LSTM, GRU, RNN */
extern const struct onnx_operator_table onnx_attention_operators; /* Attention, RotaryEmbedding, TensorScatter */
extern const struct onnx_operator_table onnx_select_operators;    /* GridSample */
extern const struct onnx_operator_table onnx_top_k_operators;     /* TopK */
extern const struct onnx_operator_table onnx_language_operators;  /* of ONNX Runtime: MatMulNBits, GroupQueryAttention, ... */
extern const struct onnx_operator_table onnx_transformer_operators; /* of ONNX Runtime: MultiHeadAttention, ... */
extern const struct onnx_operator_table onnx_microsoft_operators;   /* of ONNX Runtime: QLinearAdd, FusedMatMul, ... */
extern const struct onnx_operator_table onnx_nchwc_operators;       /* of ONNX Runtime: ReorderInput, ReorderOutput */

#endif
