/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares internals of the lowering of kernel clusters, from graph nodes to kernel IR.  It chooses an iteration space (struct
 * lowering: variables of the kernel), maps it to each output's elements (a map), and evaluates the outputs
 * backwards: lower_value(value, map) is the expression of that value's element at that map.  Element-wise operators evaluate
 * their operands at broadcast maps, operators of data movement change the map, reductions evaluate their operand over the
 * kernel's REDUCED variables.  A value is evaluated once per map.
 *
 * Files: lower.c (spaces, outputs, lower_cluster, lower_can_join), lower_map.c (maps), lower_value.c (evaluation and its
 * memory), lower_elementwise.c, lower_movement.c, lower_reduce.c, lower_contraction.c, lower_gather.c (one family of operators
 * each), lower_winograd.c and lower_attention.c (one algorithm each).
 */
#pragma once

#include "passes/passes.h"

/** An element of a value, by affine forms over the kernel's variables. */
struct map {
    bool linear;   /* forms[0] is the row-major index; else one form per dimension */
    uint32_t rank; /* of the value */
    struct kaffine forms[RANK_MAX];
    uint32_t guard_count; /* the element is needed only where these hold; elsewhere it may be outside the value */
    const struct kguard *guards;
};

/** A value that is stored as a part of another one, from `start` on along an axis. */
struct stored_part {
    const struct value *value, *whole; /* NULL: none is */
    uint32_t axis;
    int64_t start;
};

/** Numbers the nodes of a cluster, or those that one of its kernels needs. */
struct node_table {
    uint32_t count;
    struct node *const *nodes;
    struct table table;      /* by a node's index; items are in nodes */
    struct stored_part part; /* of a concat */
};

struct placement;

/** The state of making one kernel. */
struct lowering {
    struct kernel *k;
    struct arena scratch; /* of this attempt */
    const struct node_table *table;
    const struct node *anchor; /* whose REDUCED variables the kernel has; NULL: none */
    struct kaffine reduced;    /* the row-major index over the REDUCED variables */
    int64_t reduced_points, parallel_points;
    /* bases[i] says which element of base_values[i] each point of the space has; the outputs' maps follow from these (lower.c).
     */
    const struct value *base_values[2];
    struct map bases[2];
    uint32_t base_count;
    struct placement *placements; /* by node position: of its first result */
    double *evaluated;            /* by node position: points at which the node is evaluated */
    struct table memo;            /* of struct lower_memo */
    bool knows_operands;          /* a value from outside the cluster has a known expression (lower_know) */
    bool unfusable;               /* these nodes do not make one kernel */
};

/* ---- lower.c ---- */

/** Returns a node's position in the table, or UINT32_MAX if it is not there. */
uint32_t node_table_position(const struct node_table *t, const struct node *n);
/** Begins an attempt at a kernel of nodes of t.  Returns false if memory runs out; lower_end must be called even then. */
bool lower_begin(struct lowering *l, const struct node_table *t);
/** Frees what l owns.  Returns the kernel, which the caller then owns, if keep; else frees it, too, and returns NULL. */
struct kernel *lower_end(struct lowering *l, bool keep);
/** Makes v a base value, whose elements the space has at m.  There are at most two. */
void lower_add_base(struct lowering *l, const struct value *v, const struct map *m);
/** Removes the base values, so that others can be added. */
void lower_forget_bases(struct lowering *l);
/** Finds the map *m of an output: it follows from the base values, or the output has the shape of one, and both are then walked
 * together.  Returns false if there is none. */
bool lower_output_map(struct lowering *l, const struct value *v, struct map *m);

/* ---- stages.c ---- */

/** Returns whether nodes are to be a kernel of stages: a Winograd convolution or an attention is among them. */
bool lower_has_stages(const struct node_table *t);
/** Makes the kernel of stages of such nodes, which is not finished and the caller's.  Returns NULL if they make none, or if
 * memory runs out. */
struct kernel *lower_stages(const struct target *target, const struct node_table *t, uint32_t output_count,
                            struct value *const *outputs);

/* ---- lower_winograd.c ---- */

/** What the kernel of a convolution with transformed weights reads: of bytes numbers of 16 bits, and both scales. */
struct winograd_operands {
    const struct value *x, *scales[2];
};
/** Finds it.  Returns false if the nodes that scale bytes are not all in the table: then floats are multiplied. */
bool winograd_find_operands(const struct node_table *t, const struct node *n, struct winograd_operands *o);

/**
 * Makes the kernel of stages, which is not finished, of nodes among which n is a convolution with transformed weights
 * (passes/cluster/winograd.h).  The caller owns it.  Returns NULL if these nodes make none, or if memory runs out.
 */
struct kernel *lower_winograd(const struct target *target, const struct node_table *t, const struct node *n,
                              uint32_t output_count, struct value *const *outputs);

/* ---- lower_unpacked.c ---- */

/** Does the same of nodes one of which is a matmul of many rows with compact weights. */
struct kernel *lower_unpacked(const struct target *target, const struct node_table *t, uint32_t output_count,
                              struct value *const *outputs);

/* ---- lower_attention.c ---- */

/** Makes the kernel of stages likewise of the nodes of an attention (passes/cluster/attention.h) around n, a softmax. */
struct kernel *lower_attention(const struct target *target, const struct node_table *t, const struct node *n,
                               uint32_t output_count, struct value *const *outputs);

/* ---- lower_map.c ---- */

/** Records that memory ran out; returns false. */
static inline bool lower_no_memory(struct lowering *l)
{
    return error_out_of_memory(&l->k->error);
}
/** Returns a map with m's guards whose forms are still to be set. */
struct map map_like(const struct map *m, uint32_t rank);
/** Returns the map of the same element of a value of type t with one form per dimension. */
struct map map_spread(struct lowering *l, const struct map *m, const struct tensor_type *t);
/** Returns the row-major index of the same element. */
struct kaffine map_linear(struct lowering *l, const struct map *m, const struct tensor_type *t);
/** Returns the map of the element with the same row-major index in a type of as many elements. */
struct map map_reshape(struct lowering *l, const struct map *m, const struct tensor_type *from, const struct tensor_type *to);
/** Returns the map at which an operand that is broadcast to `result` is read for the result's element at m. */
struct map map_broadcast(struct lowering *l, const struct map *m, const struct tensor_type *result,
                         const struct tensor_type *operand);
/** Adds guards to m.  Returns false if memory runs out. */
bool map_guard(struct lowering *l, struct map *m, uint32_t count, const struct kguard *guards);
/** Returns whether a form or a guard of m has a REDUCED variable. */
bool map_varies(const struct lowering *l, const struct map *m);
/** Returns whether two maps mean the same element. */
bool map_equal(const struct map *a, const struct map *b);
/** Returns (form / divide) % modulo for a form that is negative at most where a guard fails. */
struct kaffine form_divmod(struct lowering *l, struct kaffine form, int64_t divide, int64_t modulo);

/* ---- lower_value.c ---- */

/** Returns the expression of v's element at m.  Returns KEXPR_NONE if l->unfusable is set, or after an error. */
uint32_t lower_value(struct lowering *l, const struct value *v, const struct map *m);
/** Returns an element of a value that is computed elsewhere, read from memory even if it is one constant number. */
uint32_t lower_element(struct lowering *l, const struct value *v, const struct map *m);
/** Sets the expression of v's element at m, instead of evaluating its node, or loading it if that is not in the cluster. */
void lower_know(struct lowering *l, const struct value *v, const struct map *m, uint32_t e);
/** Returns the expression of v's element at m where `count` further guards hold, and of `fill` where one of them fails. */
uint32_t lower_guarded(struct lowering *l, const struct value *v, const struct map *m, uint32_t count,
                       const struct kguard *guards, union scalar fill);
/** Returns a KT_BOOL expression that is true if all guards hold. */
uint32_t lower_condition(struct lowering *l, uint32_t count, const struct kguard *guards);
/** Returns the number of the kernel's tensor that stands for v, which is added if it is not there. */
uint32_t lower_tensor(struct lowering *l, const struct value *v, bool written);
/** Stores e as v's element at m where m's guards hold.  Returns false if the nodes make no kernel (unfusable), or after an
 * error. */
bool lower_store(struct lowering *l, const struct value *v, const struct map *m, uint32_t e);
/** Returns the position of the node that computes v if that is in the cluster, else UINT32_MAX. */
static inline uint32_t lower_position(const struct lowering *l, const struct value *v)
{
    return v->producer ? node_table_position(l->table, v->producer) : UINT32_MAX;
}
/** Returns an option's number, cast to a data type, as a constant of the kernel type. */
uint32_t lower_number(struct lowering *l, WNNNumber n, dtype t);
/** Returns the same number as bits; float16 is widened to float32, as expressions have it. */
union scalar lower_scalar(WNNNumber n, dtype t);

/* ---- operators: each returns the expression of the element at m of a node's result, before float16 rounding ---- */

/** Each of these returns the expression of the element at m of the node's result, or KEXPR_NONE as lower_value does. */
uint32_t lower_elementwise(struct lowering *l, const struct node *n, const struct map *m);
uint32_t lower_batch_normalization(struct lowering *l, const struct node *n, const struct map *m);
uint32_t lower_movement(struct lowering *l, const struct node *n, uint32_t result, const struct map *m);
uint32_t lower_triangular(struct lowering *l, const struct node *n, const struct map *m);
uint32_t lower_reduction(struct lowering *l, const struct node *n, const struct map *m);
uint32_t lower_normalization(struct lowering *l, const struct node *n, const struct map *m);
uint32_t lower_pool(struct lowering *l, const struct node *n, const struct map *m);
uint32_t lower_scan(struct lowering *l, const struct node *n, const struct map *m);
uint32_t lower_contraction(struct lowering *l, const struct node *n, const struct map *m);
uint32_t lower_gather(struct lowering *l, const struct node *n, const struct map *m);
uint32_t lower_resample(struct lowering *l, const struct node *n, const struct map *m);

/* ---- reducing nodes (lower_reduce.c) ---- */

/** Describes the points that a node reduces over. */
struct reduced_space {
    uint32_t count;
    int64_t sizes[RANK_MAX];
    int64_t points;
    uint32_t axes; /* bits: those dimensions of operand 0 (reductions, normalisations, scans) */
};

/** Returns whether n reduces; if so, it fills *space. */
bool lower_reduces(const struct node *n, struct reduced_space *space);
/** Finds the forms of n's reduced space over the kernel's REDUCED variables.  Returns false, and sets unfusable, if they do not
 * fit. */
bool lower_reduced_forms(struct lowering *l, const struct reduced_space *s, struct kaffine *forms);
/** Returns the KR_DOT of two expressions over the kernel's REDUCED variables, whose points s describes. */
uint32_t lower_dot(struct lowering *l, uint32_t a, uint32_t b, const struct reduced_space *s);
/** Returns the index along the scanned dimension at the kernel's REDUCED point. */
struct kaffine lower_scan_form(struct lowering *l, const struct node *n, struct kaffine at);

/* ---- kernels of their own (lower_gather.c) ---- */

/** Makes the second kernel of a scatter: the updates, in order, over the copy of the input that the first made. */
bool lower_scatter_updates(struct lowering *l, const struct node *n);
