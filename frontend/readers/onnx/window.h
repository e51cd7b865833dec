/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Describes the windows of convolutions and pools.
 *
 * The attributes kernel_shape, strides, dilations, pads and auto_pad of a node with one or two spatial dimensions become
 * numbers of two dimensions (a missing first one is 1 long), with explicit paddings.
 */
#pragma once

#include "frontend/readers/onnx/compose.h"

enum onnx_auto_pad { ONNX_PAD_EXPLICIT, ONNX_PAD_SAME_UPPER, ONNX_PAD_SAME_LOWER, ONNX_PAD_VALID };

struct onnx_window {
    size_t rank; /* of the file's: 1 or 2 */
    enum onnx_auto_pad auto_pad;
    uint32_t in[2], kernel[2], strides[2], dilations[2];
    uint32_t extent[2];           /* of the kernel with its dilations */
    uint32_t before[2], after[2]; /* not settled by auto_pad SAME for transposed convolutions */
};

/**
 * Reads the window of input x, as the file has it.  kernel has the filter's spatial sizes, which kernel_shape must repeat; if
 * it is NULL, kernel_shape is required.  Returns false after refusing the node.
 */
bool onnx_window_read(struct onnx_node *n, WNNOperand x, const uint32_t *kernel, struct onnx_window *w);
/** Reads that of an input of three spatial dimensions in parts: the first one, as the first of two, and the others.  Paddings
 * are settled. */
bool onnx_window_read_3d(struct onnx_node *n, WNNOperand x, const uint32_t *kernel, struct onnx_window *depth,
                         struct onnx_window *plane);
/** Sets the paddings for auto_pad SAME: ceil(size / stride) results.  Returns false after refusing. */
bool onnx_window_pad_same(struct onnx_node *n, struct onnx_window *w);
/** Makes [N, C, 1, W] of [N, C, W]; rank 4 stays. */
WNNOperand onnx_to_2d(struct onnx_node *n, WNNOperand x);
/** Restores the file's number of dimensions. */
WNNOperand onnx_from_2d(struct onnx_node *n, const struct onnx_window *w, WNNOperand y);
