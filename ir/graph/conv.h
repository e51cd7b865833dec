/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Defines the order of dimensions of images and filters, and a common view of conv2d and convTranspose2d.  Layouts of the
 * specification become permutations, and both option structs of validated convolutions get one view.
 */
#pragma once

#include "ir/graph/ir.h"

/* Places in what the functions below return: of images in nchw, of filters in oihw. */
enum { AXIS_BATCH = 0, AXIS_CHANNEL = 1, AXIS_OUTPUT = 0, AXIS_INPUT = 1, AXIS_HEIGHT = 2, AXIS_WIDTH = 3 };

/** Returns the dimensions of an image that are batch, channel, height and width: the permutation that makes nchw of it. */
const uint32_t *image_axes(WNNInputOperandLayout layout);

/**
 * Returns the dimensions of a filter that are output channel, input channel, height and width.  Of all groups together are the
 * output channels of conv2d and the input channels of convTranspose2d; the others are those of one group.
 */
const uint32_t *conv2d_filter_axes(WNNConv2dFilterOperandLayout layout);
const uint32_t *conv_transpose2d_filter_axes(WNNConvTranspose2dFilterOperandLayout layout);

/** One view of conv2d and convTranspose2d.  Its pointers belong to the node or are never freed. */
struct conv_view {
    bool transposed;
    const uint32_t *image, *filter; /* axes, as above; the result is laid out like the input */
    uint32_t groups;
    const uint32_t *padding; /* before and after, in height, then in width */
    const uint32_t *strides, *dilations;
};

/** Returns the view of a node, which is conv2d or convTranspose2d. */
struct conv_view conv_view(const struct node *n);

/**
 * Refuses what the specification's steps let through, the public suite expects the builder to accept, and nothing can compute:
 * transposed convolutions whose channels cannot be divided among their groups.  Returns false after an OperationError in *e.
 */
bool graph_check_groups(const struct graph *g, struct error *e);

/** Returns how many of the results along the last dimension a reshape after n keeps contiguous, as the width of a head, if they
 * are `least` or more; else `results`. */
int64_t node_piece(const struct node *n, int64_t results, int64_t least);
