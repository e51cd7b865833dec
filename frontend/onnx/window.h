/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The windows of convolutions and pools.  In: the attributes kernel_shape, strides, dilations, pads and auto_pad of a node with
 * one or two spatial dimensions.  Out: two dimensions always (a missing first one is 1 long), paddings explicit.
 */
#ifndef WEBNN_FRONTEND_ONNX_WINDOW_H_
#define WEBNN_FRONTEND_ONNX_WINDOW_H_

#include "frontend/onnx/compose.h"

enum onnx_auto_pad { ONNX_PAD_EXPLICIT, ONNX_PAD_SAME_UPPER, ONNX_PAD_SAME_LOWER, ONNX_PAD_VALID };

struct onnx_window {
    size_t rank; /* of the file's: 1 or 2 */
    enum onnx_auto_pad auto_pad;
    uint32_t in[2], kernel[2], strides[2], dilations[2];
    uint32_t before[2], after[2]; /* not settled by auto_pad SAME for transposed convolutions */
};

/** kernel: the filter's spatial sizes, which kernel_shape must repeat; NULL: kernel_shape is required.  x: the input as in the
 * file. */
bool onnx_window_read(struct onnx_node *n, WNNOperand x, const uint32_t *kernel, struct onnx_window *w);
/** Paddings for auto_pad SAME: as many results as strides fit into the input. */
void onnx_window_pad_same(struct onnx_window *w);
/** Size of the dilated window in dimension d. */
int64_t onnx_window_extent(const struct onnx_window *w, int d);
/** [N, C, W] becomes [N, C, 1, W]; rank 4 stays. */
WNNOperand onnx_to_2d(struct onnx_node *n, WNNOperand x);
/** And back to as many dimensions as the file has. */
WNNOperand onnx_from_2d(struct onnx_node *n, const struct onnx_window *w, WNNOperand y);

#endif
