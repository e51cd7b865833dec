/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Packs the elements of compact weights in the order in which kernels read them (docs/compact-weights.md).  All
 * functions return a new constant of the graph, or NULL after an error in g->error.
 */
#pragma once

#include "ir/graph/constant_pool.h"
#include "passes/support.h"

/* The layout of the elements of B. */
struct compact_layout {
    const struct value *constant;       /* which has B's numbers */
    int64_t n, k, panel, blocks, inner; /* inner: steps of K in a block */
    int64_t n_stride, k_stride;         /* of the constant */
    bool paired;                        /* words for kernels that multiply bytes */
    struct constant_pool *pool;         /* where constants are placed, or NULL */
};

/** Describes how the constant is made that is being written. */
struct compact_constant {
    struct constant_pool *pool;
    struct constant_recipe recipe;
    void *data; /* the memory to write; NULL: another graph has packed the same */
};

/** Begins a recipe: of the layout, the constant that is packed, the type of its elements, and a number that changes them. */
struct compact_constant compact_constant_begin(const struct compact_layout *p, const struct constant *of, dtype type,
                                               int64_t number);
/** Adds a constant of that type and shape. */
struct value *compact_constant_add(struct graph *g, struct compact_constant *c, dtype type, uint32_t rank,
                                   const uint32_t *dims);
/** Lets other graphs share it, once it is written.  Returns v, which may be NULL. */
struct value *compact_constant_end(const struct compact_constant *c, struct value *v);
/** Finds the range of weights of 8 bits. */
void compact_range(const struct value *q, int *low, int *high);
/** Packs numbers of 8 bits, less `low`, that all fit into those of a packed type then, or numbers of a packed type with as many
 * bits or fewer (low: 0).  With w numbers in a word of `type`: [N / P, blocks, K / blocks / w, P, 4, w / 4], or
 * [N / P, blocks, K / blocks / w, P, w] for 4 bits that are not paired. */
struct value *compact_packed(struct graph *g, const struct compact_layout *p, dtype type, int low);
/** Packs bytes, from which `flip` is flipped: int8 [N / P, blocks, K / blocks / 4, P, 4]. */
struct value *compact_words(struct graph *g, const struct compact_layout *p, uint8_t flip);
/** Packs elements of one byte, from which `flip` is flipped, or of two: [N / P, blocks, K / blocks, P]. */
struct value *compact_elements(struct graph *g, const struct compact_layout *p, dtype type, uint8_t flip);
