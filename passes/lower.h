/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Lowering of kernel clusters, inside: from graph nodes to kernel IR.
 *
 * The method: choose an iteration space (struct lowering: variables of the kernel), say where in it each output's elements are
 * stored (a map), and evaluate the outputs backwards: lower_value(value, map) is the expression of that value's element at that
 * map. Element-wise operators evaluate their operands at broadcast maps, movement operators change the map, reductions evaluate
 * their operand over the kernel's REDUCED variables.  A value is evaluated once per map.
 *
 * Files: lower.c (spaces, outputs, lower_cluster, lower_can_join), lower_map.c (maps), lower_value.c (evaluation and its
 * memory), lower_elementwise.c, lower_movement.c, lower_reduce.c, lower_product.c, lower_gather.c (one family of operators
 * each), lower_winograd.c (one algorithm).
 */
#ifndef WEBNN_PASSES_LOWER_H_
#define WEBNN_PASSES_LOWER_H_

#include "passes/passes.h"

/** Which element of a value, as affine forms over the kernel's variables. */
struct map {
    bool linear;   /* forms[0] is the row-major index; else one form per dimension */
    uint32_t rank; /* of the value */
    struct kaffine forms[RANK_MAX];
    uint32_t guard_count; /* the element is needed only where these hold; elsewhere it may lie outside the value */
    const struct kguard *guards;
};

/** The nodes of a cluster, numbered. */
struct node_table {
    uint32_t count, mask;
    struct node *const *nodes;
    const struct node **slots;
    uint32_t *positions;
};

struct lower_memo;
struct place;

/** One kernel being made. */
struct lowering {
    struct kernel *k;
    struct arena scratch; /* of this attempt */
    const struct node_table *table;
    const struct node *anchor; /* whose REDUCED variables the kernel has; NULL: none */
    struct kaffine reduced;    /* the row-major index over the REDUCED variables */
    int64_t reduced_points, parallel_points;
    /* Where in the space two values are; every output's place follows from theirs (lower.c). */
    const struct value *base_values[2];
    struct map bases[2];
    uint32_t base_count;
    struct place *places; /* by node position: of its first result */
    double *evaluated;    /* by node position: points at which the node is evaluated */
    uint32_t memo_mask, memo_count;
    struct lower_memo **memo;
    bool unfusable; /* these nodes do not make one kernel */
};

/* ---- lower.c ---- */

/** Begins an attempt at a kernel of nodes of t.  False: out of memory; lower_end all the same. */
bool lower_begin(struct lowering *l, const struct node_table *t);
/** Frees all but the kernel, which it returns if keep. */
struct kernel *lower_end(struct lowering *l, bool keep);
/** Says where the space has a value's elements: at most two values. */
void lower_add_base(struct lowering *l, const struct value *v, const struct map *m);
void lower_forget_bases(struct lowering *l);
/** Where the space has an output's elements: as follows from the base values, or because it has the shape of one, and both are then
 * walked together. */
bool lower_place_output(struct lowering *l, const struct value *v, struct map *m);

/* ---- lower_winograd.c ---- */

/**
 * The kernel of stages, not finished, of nodes among which n is a convolution with transformed weights (passes/winograd.h).
 * NULL: these nodes make none, or out of memory.
 */
struct kernel *lower_winograd(const struct target *target, const struct node_table *t, const struct node *n,
                              uint32_t output_count, struct value *const *outputs);

/* ---- lower_map.c ---- */

/** Records failure to allocate; returns false. */
bool lower_no_memory(struct lowering *l);
struct map map_like(const struct map *m, uint32_t rank); /* m's guards, no forms yet */
/** The same place, one form per dimension. */
struct map map_spread(struct lowering *l, const struct map *m, const struct tensor_type *t);
/** The same place, as a row-major index. */
struct kaffine map_linear(struct lowering *l, const struct map *m, const struct tensor_type *t);
/** The same row-major place in a type of as many elements. */
struct map map_reshape(struct lowering *l, const struct map *m, const struct tensor_type *from, const struct tensor_type *to);
/** Where an operand broadcast to `result` is read for the result's element at m. */
struct map map_broadcast(struct lowering *l, const struct map *m, const struct tensor_type *result,
                         const struct tensor_type *operand);
/** Adds guards. */
bool map_guard(struct lowering *l, struct map *m, uint32_t count, const struct kguard *guards);
bool map_varies(const struct lowering *l, const struct map *m);
bool map_equal(const struct map *a, const struct map *b);
/** (form / divide) % modulo for a form that is negative at most where a guard fails. */
struct kaffine form_divmod(struct lowering *l, struct kaffine form, int64_t divide, int64_t modulo);

/* ---- lower_value.c ---- */

/** The expression of v's element at m.  KEXPR_NONE: l->unfusable or an error. */
uint32_t lower_value(struct lowering *l, const struct value *v, const struct map *m);
/** Says what v's element at m is, instead of evaluating its node. */
void lower_know(struct lowering *l, const struct value *v, const struct map *m, uint32_t e);
/** The same, and fill where one of these further guards fails. */
uint32_t lower_guarded(struct lowering *l, const struct value *v, const struct map *m, uint32_t count,
                       const struct kguard *guards, union scalar fill);
/** All guards hold, as a KT_BOOL expression. */
uint32_t lower_condition(struct lowering *l, uint32_t count, const struct kguard *guards);
/** The tensor argument that stands for a value. */
uint32_t lower_tensor(struct lowering *l, const struct value *v, bool written);
/** Stores e as v's element at m; false if nodes make no kernel (unfusable), or after an error. */
bool lower_store(struct lowering *l, const struct value *v, const struct map *m, uint32_t e);
/** Position of the node that computes v, if that is in the cluster; else UINT32_MAX. */
uint32_t lower_position(const struct lowering *l, const struct value *v);
/** An option cast to a data type, as a constant of its kernel type. */
uint32_t lower_number(struct lowering *l, WNNNumber n, dtype t);
union scalar lower_scalar(WNNNumber n, dtype t); /* as in an expression: float16 widened */

/* ---- operators: the element at m of a node's result, before float16 rounding ---- */

uint32_t lower_elementwise(struct lowering *l, const struct node *n, const struct map *m);
uint32_t lower_batch_normalization(struct lowering *l, const struct node *n, const struct map *m);
uint32_t lower_movement(struct lowering *l, const struct node *n, uint32_t result, const struct map *m);
uint32_t lower_triangular(struct lowering *l, const struct node *n, const struct map *m);
uint32_t lower_reduction(struct lowering *l, const struct node *n, const struct map *m);
uint32_t lower_normalization(struct lowering *l, const struct node *n, const struct map *m);
uint32_t lower_pool(struct lowering *l, const struct node *n, const struct map *m);
uint32_t lower_scan(struct lowering *l, const struct node *n, const struct map *m);
uint32_t lower_product(struct lowering *l, const struct node *n, const struct map *m);
uint32_t lower_gather(struct lowering *l, const struct node *n, const struct map *m);
uint32_t lower_resample(struct lowering *l, const struct node *n, const struct map *m);

/* ---- reducing nodes (lower_reduce.c) ---- */

/** What a node sums over. */
struct reduced_space {
    uint32_t count;
    int64_t sizes[RANK_MAX];
    int64_t points;
    uint32_t axes; /* bits: those dimensions of operand 0 (reductions, normalisations, scans) */
};

/** Whether n reduces; then *space. */
bool lower_reduces(const struct node *n, struct reduced_space *space);
/** The forms of n's reduced space over the kernel's REDUCED variables; false and unfusable if they do not fit. */
bool lower_reduced_forms(struct lowering *l, const struct reduced_space *s, struct kaffine *forms);
uint32_t lower_reduce(struct lowering *l, enum kreduce kind, uint32_t a, const struct reduced_space *s);
uint32_t lower_dot(struct lowering *l, uint32_t a, uint32_t b, const struct reduced_space *s);
/** The place of the scanned dimension at the kernel's REDUCED point. */
struct kaffine lower_scan_form(struct lowering *l, const struct node *n, struct kaffine at);

/* ---- kernels of their own (lower_gather.c) ---- */

/** Makes the second kernel of a scatter: the updates, in order, over the copy of the input that the first made. */
bool lower_scatter_updates(struct lowering *l, const struct node *n);

/**
 * Elements of a transposed convolution's window along one dimension that can reach one and the same result: every stride-th.  (With
 * strides and dilations both, all are tried.)
 */
int64_t lower_transposed_window(int64_t window, int64_t stride, int64_t dilation);

#endif
