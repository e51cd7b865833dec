/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares attention for pass fuse-attention and the lowering: its nodes, and its macro-tiles.
 * docs/attention.md explains the method.
 */
#pragma once

#include "passes/passes.h"

enum {
    ATTENTION_CHAIN_MAX = 8,       /* element-wise nodes between the scores and the softmax */
    ATTENTION_CONDITIONS_MAX = 12, /* nodes of masks, before those */
    ATTENTION_EDGES_MAX = 4,       /* comparisons among these */
    ATTENTION_CASTS_MAX = 4,       /* casts next to the chain */
    ATTENTION_BATCH_MAX = 3,       /* dimensions of a batch that are not 1 */
    ATTENTION_MASKS_MAX = 2
};

/** A comparison of the keys' indices with a value known at run time.  All of them hold for unmasked keys. */
struct attention_edge {
    const struct value *at; /* integers, broadcast to the softmax's operand with one key */
    bool is_first;          /* a lower bound of unmasked keys, else an upper one */
    bool is_inside;         /* the key of that index is unmasked */
};

/** A node of a mask. */
struct attention_condition {
    const struct node *node;
    const struct node *mask; /* the node of the chain that applies it */
};

/**
 * The bounds of unmasked keys.  The last nodes of the chain make the scores of all others so small that their exponentials are
 * 0.  The comparisons alone determine the keys of a row, or a row without keys is all NaN.
 */
struct attention_bound {
    uint32_t edge_count; /* 0: all keys may be unmasked */
    struct attention_edge edges[ATTENTION_EDGES_MAX];
    uint32_t node_count;
    struct attention_condition nodes[ATTENTION_CONDITIONS_MAX]; /* in the order in which they are computed, for each mask */
};

/**
 * Names the nodes of softmax(chain(Q K^T)) V: batches of matrices Q [rows][depth], K^T [depth][keys] and V [keys][width].
 *
 * All of it is float32 or float16, with casts between these anywhere.  float16 values are rounded as in the graph.
 *
 * Where several heads of Q share a head of K and V, their rows may be stacked in one matrix of the matmuls: then the
 * scores, [..., heads, group * rows, keys], are reshaped to [..., heads * group, rows, keys] for the chain and the softmax, and
 * back.
 */
struct attention {
    const struct node *scores;  /* the matmul of Q and K^T */
    const struct node *softmax; /* along the keys */
    const struct node *product; /* the matmul of the softmax and V */
    const struct node *ungroup; /* the reshape of the scores, NULL if there is none */
    const struct node *regroup; /* the reshape back */
    const struct node *stack;   /* that of Q right before the matmul, NULL if there is none */
    const struct value *apart;  /* the result after a reshape like the scores', NULL if that does not follow */
    uint32_t chain_count;
    const struct node *chain[ATTENTION_CHAIN_MAX]; /* from the softmax's operand back to the scores */
    uint32_t cast_count;
    const struct node *casts[ATTENTION_CASTS_MAX]; /* from the scores to `ungroup`, and from the softmax to the product */
    bool rounds;                                   /* the softmax's result is float16 on its way to the product */
    uint32_t mask_count;
    const struct value *masks[ATTENTION_MASKS_MAX]; /* operands of the chain that differ from row to row and from key to key */
    struct attention_bound bound;
    uint32_t batch_count;
    uint32_t batch[ATTENTION_BATCH_MAX]; /* the dimensions of the product that are batches and not 1 */
    int64_t batches, group, rows, keys, depth, width;
};

/**
 * Finds the attention around a softmax.  Its inner values have no other readers, except those of the bound.  Returns
 * false if there is none.
 */
bool attention_find(const struct node *softmax, struct attention *a);
/** Finds the bounds of unmasked keys of an attention whose other members except the masks are set. */
void attention_find_bound(struct attention *a);
/** Returns the operand of node i of the chain that carries the scores. */
const struct value *attention_carried(const struct attention *a, uint32_t i);
/**
 * Returns whether there are so few rows that vectors run along keys and columns: K is transposed then, block by block.  With
 * more they run along rows, and only Q is transposed.
 */
bool attention_has_few_rows(const struct attention *a, const struct target *t);
/** Returns how many rows a macro-tile has: all of them if they are few, else whole vectors, whose scores stay in the
 * L2 cache. */
int64_t attention_tile_rows(const struct attention *a, const struct target *t);
/** Returns the keys of a block, which the matmul with V takes at a time and which a bound skips: a divisor of all of them. */
int64_t attention_block_keys(const struct attention *a, const struct target *t, int64_t tile_rows);
/** Returns how many of few rows are computed at once, so that their sums fit into registers: a divisor of all. */
int64_t attention_rows_at_once(const struct target *t, int64_t rows);
/** Returns how many kernel clusters of a graph are attentions. */
uint32_t attention_count(const struct graph *g);
