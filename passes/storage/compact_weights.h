/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares what passes do with compact weights, which lie in memory in 4, 8 or 16 bits and are multiplied as float32
 * (docs/compact-weights.md): which ones stay compact, and how they are packed.
 */
#ifndef WEBNN_PASSES_STORAGE_COMPACT_WEIGHTS_H_
#define WEBNN_PASSES_STORAGE_COMPACT_WEIGHTS_H_

#include "passes/support.h"

/** Returns whether n makes float32 numbers of constants of 8 or 16 bits (dequantizeLinear, or a cast from float16) that only
 * contractions on this target read as B, and that are large enough to be worth unpacking there.  Constant folding leaves n. */
bool node_is_compact_weight(const struct node *n, const struct target *t);
/** Returns whether the library computes the contraction n.  It reads no compact weights. */
bool library_computes(const struct node *n, const struct target *t);
/** Returns the node that unpacks operand B of the contraction n, or NULL if B is not compact. */
struct node *compact_weights_of(const struct node *n, const struct target *t);
/**
 * Returns operand B of the contraction n as it was, unpacked from constants in panels of so many output channels, by nodes
 * before n, which read these constants.  `results` is the dimension of B with the output channels.  Returns NULL after an error
 * in g->error.
 */
struct value *compact_weights_pack(struct graph *g, struct node *n, const struct node *unpacking, uint32_t results,
                                   int64_t panel);

#endif
