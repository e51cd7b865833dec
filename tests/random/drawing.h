/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * One application of an operator while it is drawn: what the generate_<family>.c share.  Each family's function for an operator
 * fills inputs, options and arguments; generate_operator.c says which it is and makes the node.
 */
#pragma once

#include <stddef.h>
#include <string.h>

#include "generate.h"

/** An operator that is being drawn. */
struct drawing {
    struct generator *r;
    enum op op;
    union { /* an option struct of any operator */
        max_align_t align;
        char bytes[512];
        WNNArgMinMaxOptions arg;
        WNNBatchNormalizationOptions batch;
        WNNConv2dOptions conv;
        WNNConvTranspose2dOptions transposed;
        WNNGatherOptions gather;
        WNNGemmOptions gemm;
        WNNInstanceNormalizationOptions instance;
        WNNLayerNormalizationOptions layer;
        WNNPool2dOptions pool;
        WNNReduceOptions reduce;
        WNNResample2dOptions resample;
        WNNReverseOptions reverse;
        WNNScatterOptions scatter;
        WNNSliceOptions slice;
        WNNSplitOptions split;
        WNNTransposeOptions transpose;
        WNNTriangularOptions triangular;
        WNNClampOptions clamp;
        WNNPadOptions pad;
        WNNGruOptions gru;
        WNNLstmOptions lstm;
    } o;
    union op_args args;
    uint32_t count;
    struct value *inputs[OP_OPERANDS_MAX];
    uint32_t lists[6][RANK_MAX]; /* what options point to */
    float scales[2];
};

static inline const struct tensor_type *type0(const struct drawing *d)
{
    return &d->inputs[0]->type;
}

/** Operand 0 as the row allows it. */
bool draw_first(struct drawing *d, uint32_t rank_min);
/** A leaf or existing value of operand 0's type. */
struct value *draw_like(struct drawing *d, uint32_t rank, const uint32_t *dims, enum content content);
/** Some axes of operand 0 in any order, maybe none.  Returns how many. */
size_t draw_axes(struct drawing *d, uint32_t *axes);
/** The options that the row describes completely: flags, numbers, enumerations. */
void draw_simple_options(struct drawing *d);

/** Draws all that the node needs.  False: it did not work out. */
typedef bool draw_function(struct drawing *d);

draw_function draw_batch_normalization, draw_instance_normalization, draw_layer_normalization, draw_axis, draw_reduce;
draw_function draw_concat, draw_expand, draw_pad, draw_reshape, draw_reverse, draw_slice, draw_split, draw_tile, draw_transpose;
draw_function draw_gather, draw_elements, draw_nd;
draw_function draw_conv2d, draw_conv_transpose2d, draw_pool2d, draw_resample2d;
draw_function draw_matmul, draw_gemm, draw_recurrent;
