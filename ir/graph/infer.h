/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Infers shapes of single operators and validates them, with one function per kind of operator, named in ir/graph/ops.def.
 *
 * call_infer (ir/graph/infer.c) checks arity, data types and ranks from the row first, then calls the row's function, which
 * follows the specification's steps for that method, fills in option defaults that depend on the inputs (strides, padding, axes
 * ...), and writes c->results and c->result_count.
 */
#pragma once

#include "ir/graph/ir.h"

/* clang-format off */
#define INFER_LIST(X)                                                                                                          \
    X(arg_min_max) X(batch_normalization) X(broadcast) X(cast) X(clamp) X(concat) X(conv2d) X(conv_transpose2d)                \
    X(cumulative_sum) X(expand) X(gather) X(gather_elements) X(gather_nd) X(gemm) X(gru)                                       \
    X(gru_cell) X(instance_normalization) X(layer_normalization) X(with_options) X(lstm) X(lstm_cell)                          \
    X(matmul) X(pad) X(pool2d) X(quantization) X(reduce) X(resample2d) X(reshape) X(reverse) X(scatter_elements)               \
    X(scatter_nd) X(slice) X(softmax) X(split) X(tile) X(transpose) X(triangular) X(unary) X(where)
/* clang-format on */

/* clang-format off */
#define INFER_DRAFT_LIST(X)                                                                                                    \
    X(expand_dynamic) X(pad_dynamic) X(range) X(resample2d_dynamic) X(reshape_dynamic) X(reshape_to_2d) X(shape)               \
    X(slice_dynamic) X(split_dynamic) X(squeeze) X(tile_dynamic) X(unsqueeze)
/* clang-format on */

#define DECLARE_INFER(name) bool infer_##name(struct call *c);
INFER_LIST(DECLARE_INFER)
INFER_DRAFT_LIST(DECLARE_INFER)
#undef DECLARE_INFER
bool infer_loop(struct call *c);
bool infer_scatter_reduce(struct call *c);

/** Do the specification's broadcasting algorithms.  They return false, and set no error, for shapes that are not broadcastable,
 * whatever open dimensions of the graph are. */
bool shape_broadcast(struct graph *g, const struct tensor_type *a, const struct tensor_type *b, struct tensor_type *out);
bool shape_broadcasts_to(struct graph *g, const struct tensor_type *from, const struct tensor_type *to);
bool shape_broadcasts_blockwise(const struct tensor_type *from, const struct tensor_type *to);
