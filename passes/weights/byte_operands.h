/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares the handling of contractions of 8-bit operands, which generated kernels multiply as bytes
 * (docs/contractions.md, "8 bits").
 */
#pragma once

#include "passes/support.h"

/** The dimensions of a contraction's B: that of output channels (N), and the others (K), slowest first. */
struct weight_order {
    uint32_t results, count;
    uint8_t others[RANK_MAX];
    int64_t group; /* output channels that read the same part of A: a panel must not have more */
    int64_t rows;  /* M: points that read all of B */
    int64_t inner; /* K: multiply-adds for one result */
};

/** The weights of a contraction before they are dequantized: element i of output channel n along dimension d is at
 * sum of strides. */
struct byte_weights {
    const struct value *numbers, *zero;
    const struct constant *constant;
    int64_t strides[RANK_MAX];
    bool zero_each; /* there is a zero point for each output channel */
};
/** Finds the constant weights that a dequantizeLinear unpacks, whose output channels are along that dimension.  Returns false
 * if there are none. */
bool byte_weights_find(const struct node *unpacking, uint32_t results, struct byte_weights *w);
/** Returns a byte of a constant. */
static inline int byte_at(const struct value *v, int64_t at)
{
    const void *data = v->constant->data;

    return v->type.type == WNNOperandDataType_Int8 ? ((const int8_t *)data)[at] : ((const uint8_t *)data)[at];
}
/** Returns the weight at a sum of strides less its output channel's zero point. */
static inline int byte_weight_at(const struct byte_weights *w, int64_t at, int64_t channel)
{
    return byte_at(w->numbers, at) - byte_at(w->zero, w->zero_each ? channel : 0);
}

/** Returns whether generated kernels for t multiply bytes, so that weights of 8 bits are worth keeping as they are. */
bool target_multiplies_bytes(const struct target *t);
/**
 * Returns whether a kernel generated for t multiplies the operands of the contraction n as bytes: both are dequantized from 8
 * bits, A with one scale and zero point, B from constants with a scale and zero point for all of it or for each output channel,
 * or from what is computed at run time with one, if many rows read it.  Images must be in nhwc.
 */
bool node_multiplies_bytes(const struct node *n, const struct target *t);
/** Folds the scale of a quantizeLinear after such a contraction into that one's.  Returns whether it did. */
bool fold_byte_scale(struct graph *g, struct node *q, const struct target *t);
/** Returns unsigned bytes of v as signed ones that are 128 less, or signed ones as unsigned ones that are 128 more.  Returns
 * NULL if memory runs out. */
struct value *flip_sign_bits(struct graph *g, struct node *before, struct value *v);
/** Rewrites operand A of such a contraction as cast(int16(bytes) - zero point) * scale.  Returns false after an error in
 * g->error. */
bool separate_byte_operand(struct graph *g, struct node *n);
/**
 * Rewrites operands of such a contraction so that its kernel multiplies bytes: A as (cast(bytes) - zero point) * scale, or for
 * pairs that do not fit 16 bits cast(int16(bytes) - zero point) * scale, and B from signed bytes in panels of `panel` output
 * channels, [N / P][K / 4] [P][4] or [N / P][K / 2][P][2].  Images with too few channels for words are padded.  Returns the
 * contraction, which n may have been replaced by, or NULL after an error in g->error.
 */
struct node *pack_byte_operands(struct graph *g, struct node *n, const struct weight_order *o, int64_t panel,
                                const struct target *t);
