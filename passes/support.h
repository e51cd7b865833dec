/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares predicates and small constructions for several passes.  Predicates depend on one node and its types only.
 */
#pragma once

#include "passes/passes.h"

/* ---- predicates about memory ---- */

/** Returns whether permuting the dimensions of t moves any element (dimensions of size 1 do not matter). */
bool permutation_moves(const struct tensor_type *t, const uint32_t *permutation);

/**
 * Returns whether all results of n are contiguous parts of its input 0: reshape, identity, a transpose that moves
 * nothing, a slice or split along the outermost dimension that is not 1, and the like.
 */
bool node_is_view(const struct node *n);
/** Returns where a result of such a node starts in the input, in bytes. */
int64_t node_view_offset(const struct node *n, uint32_t result);
/** Returns whether a concat's inputs are contiguous in its output: every dimension before the axis is 1. */
bool concat_is_contiguous(const struct node *n);

/** Returns the node that computes v if it is of that operator; v may be NULL. */
static inline struct node *producer_of(const struct value *v, enum op op)
{
    return v && v->producer && v->producer->op == op ? v->producer : NULL;
}
/** Returns the input slot that reads v, if it is the only one and v is not an output, and NULL if there are others, or none. */
static inline const struct use *value_only_use(const struct value *v)
{
    return v->output_uses || !v->uses || v->uses->next ? NULL : v->uses;
}

/* ---- constants ---- */

/** Frees the bytes of a constant that nothing reads any more (v->constant is NULL then). */
void value_drop_constant(struct value *v);
/** Removes the node that computes v alone unless something reads v, and then likewise what only it read, constants included. */
void value_drop_unread(struct value *v);

/** Returns whether v is a constant of one element, or of equal elements (bit for bit); *s is that element. */
bool value_is_splat(const struct value *v, union scalar *s);
/** Does likewise with the element as a double, which is exact for every type but the largest 64-bit integers. */
bool value_splat_number(const struct value *v, double *number);

bool value_is_integer(const struct value *v);
/** Returns whether the elements of v are the integers 0, 1, 2 ... in their order, whatever its shape is. */
bool value_counts(const struct value *v);

/** Returns whether all inputs are constants, and there are any. */
bool node_is_constant(const struct node *n);
/** Replaces such a node by the constants that it computes.  Returns false if memory runs out or computing failed, which is
 * noted in g. */
bool node_fold(struct graph *g, struct node *n);
/** Returns whether n dequantizes a value that is only operand B of contractions that t's library may compute in integers. */
bool node_is_quantized_weight(const struct node *n, const struct target *t);

/* ---- constructions: NULL with the graph's error set if memory ran out ---- */

/** Makes a node before `before` and returns its first result.  The node takes the label of `origin`, from which it is
 * derived. */
struct value *make_node(struct graph *g, struct node *before, enum op op, const struct node *origin, uint32_t input_count,
                        struct value *const *inputs, const void *options, const union op_args *args);
/** Return the result of a new transpose, reshape, slice of one dimension (v if it is all of v) or cast of v, which is made
 * likewise. */
struct value *make_transpose(struct graph *g, struct node *before, const struct node *origin, struct value *v,
                             const uint32_t *permutation);
struct value *make_reshape(struct graph *g, struct node *before, const struct node *origin, struct value *v, uint32_t rank,
                           const uint32_t *dims);
struct value *make_slice(struct graph *g, struct node *before, const struct node *origin, struct value *v, uint32_t axis,
                         uint32_t start, uint32_t size);
struct value *make_cast(struct graph *g, struct node *before, const struct node *origin, struct value *v, dtype type);

/** Casts n's inputs of a type (Undefined: of any) before n, and stores them with those that stay in `inputs`, which has room
 * for all.  Returns false if memory ran out. */
bool make_casts(struct graph *g, struct node *n, dtype from, dtype to, struct value **inputs);
/** Makes n of inputs that are cast so, with its results cast back in place of n's.  Returns NULL if memory ran out. */
struct node *node_widen(struct graph *g, struct node *n, dtype from, dtype to);
/** Returns a scalar constant of v's type. */
struct value *make_number(struct graph *g, const struct value *v, double number);
/** Returns a new operator of two operands, neither of which may be NULL: then it returns NULL. */
struct value *make_binary(struct graph *g, struct node *n, enum op op, struct value *a, struct value *b);

/** Removes the nodes made before n since `mark`, the node that was before n then (NULL: n was the first). */
static inline void nodes_undo(struct node *n, const struct node *mark)
{
    while (n->prev != mark)
        node_remove(n->prev);
}
/** Replaces the only result of n by v and removes n. */
void node_replace(struct node *n, struct value *v);
