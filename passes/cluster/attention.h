/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares what pass fuse-attention and the lowering agree on about attention: which nodes it is, and how its rows are cut.
 * docs/attention.md explains the method.
 */
#ifndef WEBNN_PASSES_CLUSTER_ATTENTION_H_
#define WEBNN_PASSES_CLUSTER_ATTENTION_H_

#include "passes/passes.h"

enum {
    ATTENTION_CHAIN_MAX = 8, /* element-wise nodes between the scores and the softmax */
    ATTENTION_BATCH_MAX = 3, /* dimensions of a batch that are not 1 */
    ATTENTION_MASKS_MAX = 2
};

/** Names the nodes of softmax(chain(Q K^T)) V: batches of matrices Q [rows][depth], K^T [depth][keys] and V [keys][width]. */
struct attention {
    const struct node *scores;  /* the matmul of Q and K^T */
    const struct node *softmax; /* along the keys */
    const struct node *product; /* the matmul of the softmax and V */
    uint32_t chain_count;
    const struct node *chain[ATTENTION_CHAIN_MAX]; /* from the softmax's operand back to the scores */
    uint32_t mask_count;
    const struct value *masks[ATTENTION_MASKS_MAX]; /* operands of the chain that differ from row to row and from key to key */
    uint32_t batch_count;
    uint32_t batch[ATTENTION_BATCH_MAX]; /* the dimensions of the product that are batches and not 1 */
    int64_t batches, rows, keys, depth, width;
};

/**
 * Finds the attention around a softmax.  Between its nodes nothing has other readers, and all of it is float32.  Returns false
 * if there is none.
 */
bool attention_find(const struct node *softmax, struct attention *a);
/** Returns how many rows a macro-tile has: whole vectors, whose scores stay in the second-level cache. */
int64_t attention_tile_rows(const struct attention *a, const struct target *t);
/** Returns how many keys the matmul with V takes at a time: a divisor of all of them. */
int64_t attention_block_keys(const struct attention *a, const struct target *t, int64_t tile_rows);
/** Returns how many kernel clusters of a graph are attentions. */
uint32_t attention_count(const struct graph *g);

#endif
