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

/** Returns whether generated kernels for t multiply bytes, so that weights of 8 bits are worth keeping as they are. */
bool target_multiplies_bytes(const struct target *t);
/**
 * Returns whether a kernel generated for t multiplies the operands of the contraction n as bytes: both are dequantized from 8
 * bits, A with one scale and zero point, B from constants with a scale and zero point for all of it or for each output channel,
 * or from what is computed at run time with one, if many rows read it.  Images must be in nhwc.
 */
bool node_multiplies_bytes(const struct node *n, const struct target *t);
/** Returns unsigned bytes of v as signed ones that are 128 less, or signed ones as unsigned ones that are 128 more.  Returns
 * NULL if memory runs out. */
struct value *flip_sign_bits(struct graph *g, struct node *before, struct value *v);
/**
 * Rewrites operands of such a contraction so that its kernel multiplies bytes: A as (cast(bytes) - zero point) * scale, or for
 * pairs cast(int16(bytes) - zero point) * scale, and B from signed bytes in panels of `panel` output channels, [N / P][K / 4]
 * [P][4] or [N / P][K / 2][P][2].  Images with too few channels for words are padded.  Returns the contraction, which n may
 * have been replaced by, or NULL after an error in g->error.
 */
struct node *pack_byte_operands(struct graph *g, struct node *n, const struct weight_order *o, int64_t panel,
                                const struct target *t);
