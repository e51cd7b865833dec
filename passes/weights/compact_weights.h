/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares the handling of compact weights, which are stored in 4, 8 or 16 bits and multiplied as float32
 * (docs/compact-weights.md): which ones stay compact, and how they are packed.
 */
#pragma once

#include "passes/support.h"

/** Returns whether n converts constants of 8 or 16 bits to float32 (dequantizeLinear, or a cast from float16) that only
 * contractions on this target read as B, and that are large enough to be worth unpacking there.  Constant folding skips n. */
bool node_is_compact_weight(const struct node *n, const struct target *t);
/**
 * Returns whether n, a transpose or a cast from numbers of 4 bits, is the only node between a constant and the node of
 * node_is_compact_weight that unpacks it: packing reads the constant in place, so that constant folding skips n, too.
 */
bool node_moves_compact_weight(const struct node *n, const struct target *t);
/** Returns whether the library computes the contraction n.  It reads no compact weights. */
bool library_computes(const struct node *n, const struct target *t);
/** Returns the node that unpacks operand B of the contraction n, or NULL if B is not compact. */
struct node *compact_weights_of(const struct node *n, const struct target *t);
/** Operand A is rounded in blocks of that many neighbours along K where B has one scale for all of K, or for more than
 * ROUNDED_BLOCK_MOST; else its blocks are those of B's scales. */
enum { ROUNDED_BLOCK = 32, ROUNDED_BLOCK_MOST = 256 };
/** Describes how a B is to be packed. */
struct compact_order {
    uint32_t results;           /* the dimension of B with the output channels */
    int64_t panel;              /* how many of these are contiguous, */
    int64_t packed_panel;       /* and of elements of at most 4 bits, which many rows unpack first */
    bool rounds;                /* A may be rounded: words are in the order for kernels that multiply bytes */
    struct constant_pool *pool; /* where constants are placed, or NULL */
};

/**
 * Returns operand B of the contraction n as it was, unpacked from constants in that order by nodes before n, which read these
 * constants.  *rounded_block becomes the length of the blocks along K that operand A is to be rounded in, or 0 if it is not.
 * Returns NULL after an error in g->error.
 */
struct value *compact_weights_pack(struct graph *g, struct node *n, struct node *unpacking, const struct compact_order *o,
                                   int64_t *rounded_block);
/** Folds the nodes of node_moves_compact_weight before `unpacking`, whose inputs are constants then.  Returns false after an
 * error in g->error. */
bool compact_weights_fold(struct graph *g, struct node *unpacking);
