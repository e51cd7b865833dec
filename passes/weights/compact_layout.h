/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares how the numbers of compact weights are put into the order in which kernels read them (docs/compact-weights.md).  All
 * functions return a new constant of the graph, or NULL after an error in g->error.
 */
#ifndef WEBNN_PASSES_WEIGHTS_COMPACT_LAYOUT_H_
#define WEBNN_PASSES_WEIGHTS_COMPACT_LAYOUT_H_

#include "passes/support.h"

/* Says where the numbers of B are, and how they are cut. */
struct compact_layout {
    const struct value *constant;       /* which has B's numbers */
    int64_t n, k, panel, blocks, inner; /* inner: steps of K in a block */
    int64_t n_stride, k_stride;         /* of the constant */
    bool paired;                        /* words as kernels want them that multiply bytes */
    struct constant_pool *pool;         /* where constants are placed, or NULL */
};

/** Adds a constant of that type and shape; *data is where its bytes are to be written. */
struct value *compact_constant_add(struct graph *g, struct constant_pool *pool, dtype type, uint32_t rank, const uint32_t *dims,
                                   void **data);
/** Finds the range of weights of 8 bits. */
void compact_range(const struct value *q, int *low, int *high);
/** Packs numbers of 8 bits, less `low`, that all fit into 4 then: uint4 [N / P, blocks, K / blocks / 8, P, 8], or
 * [N / P, blocks, K / blocks / 8, P, 4, 2] in pairs. */
struct value *compact_nibbles(struct graph *g, const struct compact_layout *p, int low);
/** Packs numbers that have 4 bits already in the same way. */
struct value *compact_uint4(struct graph *g, const struct compact_layout *p);
/** Packs bytes, from which `flip` is flipped: int8 [N / P, blocks, K / blocks / 4, P, 4]. */
struct value *compact_words(struct graph *g, const struct compact_layout *p, uint8_t flip);
/** Packs elements of one byte, from which `flip` is flipped, or of two: [N / P, blocks, K / blocks, P]. */
struct value *compact_elements(struct graph *g, const struct compact_layout *p, dtype type, uint8_t flip);

#endif
