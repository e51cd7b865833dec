/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The graph IR has tensor values in SSA form and the nodes that compute them.  It can say everything that the user can, and
 * nothing about backends.
 *
 * Builder calls (frontend/) and the textual form (ir/text/parse.c) become graphs, which passes/ rewrite, and codegen/ and
 * runtime/ consume.  Read ir/graph/ops.def first, then this file, then ir/graph/graph.c.
 *
 * - A graph owns an arena; values, nodes, names and option structs live in it until graph_free.
 * - Nodes form a list in an order in which every value is defined before it is used.
 * - Layout is not a property of a value: a tensor is dense and row-major in its shape, and every change of layout is a visible
 *   transpose.  A convolution says by its own options whether it wants nchw or nhwc.
 * - Only graph_..., node_... and value_... functions change links; they keep the use lists right.
 * - Allocation failure makes a function return NULL/false and sets graph->error; nothing is half-linked then.
 */
#pragma once

#include <stdatomic.h>
#include <stdio.h>

#include "ir/graph/op.h"
#include "ir/support/arena.h"
#include "ir/support/budget.h"
#include "ir/support/error.h"
#include "ir/support/number.h"

/* ---- tensor types ---- */

struct tensor_type {
    dtype type;
    uint32_t rank;
    uint32_t dims[RANK_MAX]; /* sizes; in a builder's graph also open ones (dims.h) */
};

/** Returns the number of elements (1 for a scalar).  Types in a graph are checked, so that it fits an int32_t. */
int64_t type_elements(const struct tensor_type *t);
/** Returns the bytes of all elements. */
int64_t type_bytes(const struct tensor_type *t);
/** Returns whether two types have the same data type and dimensions. */
bool type_equal(const struct tensor_type *a, const struct tensor_type *b);
/** Returns whether two types have the same dimensions. */
bool type_same_dims(const struct tensor_type *a, const struct tensor_type *b);
/** Computes row-major strides in elements. */
void type_strides(const struct tensor_type *t, int64_t strides[RANK_MAX]);
/** Writes "f32[2, 3]" or the like; returns buf. */
const char *type_print(char *buf, size_t size, const struct tensor_type *t);
/** Does the specification's "check dimensions" with the library's limits; what, such as "input [x]", names the operand. */
bool type_check(const struct tensor_type *t, const char *what, struct error *e);

/* ---- constants ---- */

/** The bytes of a constant, which are copied or lent, and shared by an atomic reference count. */
struct constant {
    atomic_uint references;
    bool ours;                  /* constant_create or constant_pool_place allocated the bytes */
    atomic_uchar refused_tiles; /* kinds of Winograd tiles that lose too much accuracy with these weights, by bit */
    size_t bytes;
    const void *data;                     /* row-major; aligned to 64 bytes when owned, as the lender has it when lent */
    WNNBufferReleaseCallbackInfo release; /* callback NULL: the bytes are in one block with this */
    struct constant_entry *entry;         /* in the pool that knows the constant (constant_pool.h), or NULL */
    uint64_t id;                          /* no other constant of the process ever has it */
};

/** Creates a constant of so many bytes, aligned to 64, which are copied from data, or uninitialised if that is NULL.  Its
 * reference count is 1.  Returns NULL if memory runs out. */
struct constant *constant_create(const void *data, size_t bytes);
/** Creates a constant of lent data; release runs when the last reference goes, and before this returns NULL. */
struct constant *constant_lend(const void *data, size_t bytes, WNNBufferReleaseCallbackInfo release);
/** Adds a reference and returns c. */
struct constant *constant_retain(struct constant *c);
/** Drops a reference; the last one frees the constant, or gives the bytes back to their lender. */
void constant_release(struct constant *c);

/* ---- values and nodes ---- */

struct graph;
struct node;
struct value;
struct cluster;
struct dims;

/** An input slot of a node is a link in the use list of its value. */
struct use {
    struct value *value; /* NULL: optional operand that is absent */
    struct node *node;
    uint32_t slot;
    struct use *next, *prev; /* other uses of the same value */
};

enum value_kind { VALUE_INPUT, VALUE_CONSTANT, VALUE_RESULT };

struct value {
    enum value_kind kind;
    struct tensor_type type;
    uint32_t index;            /* dense: below graph->value_count, never reused */
    const char *name;          /* an input's name (as the user gave it), or a name for printing; may be NULL */
    size_t name_length;        /* of an input's name, which may hold NUL bytes */
    struct node *producer;     /* results */
    uint32_t result;           /* which of the producer's results */
    struct constant *constant; /* may be released and NULL once nothing uses the value */
    struct graph *graph;
    struct value *next_constant; /* all constants of the graph, in the order they were made */
    struct use *uses;
    uint32_t output_uses; /* how many graph outputs are this value */
    bool kept;            /* a constant that is read though it has no uses: some node's `transformed` */
    void *scratch;        /* for the running pass only */
};

struct node {
    enum op op;
    uint32_t index;    /* dense: below graph->node_count, never reused */
    const char *label; /* as the user gave it, "" if none */
    uint32_t input_count;
    struct use *inputs; /* as many as the row has operands (variadic: as many as given) */
    uint32_t result_count;
    struct value **results;
    const void *options; /* the operator's option struct, lists in the arena, defaults that depend on the inputs filled in;
                            its operand members and label are zero: operands are inputs, the label is above */
    union op_args args;
    struct cluster *cluster;   /* set by the clustering passes */
    struct value *transformed; /* a constant that the lowering reads instead of the weights (pass winograd); it has no uses */
    struct graph *graph;
    struct node *next, *prev; /* execution order */
    void *scratch;            /* for the running pass only */
};

struct graph_output {
    const char *name; /* as the user gave it; may hold NUL bytes, ends with one */
    size_t name_length;
    struct value *value;
    const struct value *state; /* an input in whose memory the output may lie, because it is what the input becomes; or NULL */
};

/** A cluster becomes one piece of executable code. */
enum cluster_kind {
    CLUSTER_KERNEL,  /* generated kernels */
    CLUSTER_LIBRARY, /* a library primitive: anchor plus an epilogue of element-wise nodes */
    CLUSTER_LOOP,    /* one recurrent node of several steps: a body that is compiled once and run once per step */
    CLUSTER_VIEW     /* no code: results are other views of an input's bytes (reshape, identity, some slices) */
};

struct cluster {
    enum cluster_kind kind;
    uint32_t index;      /* in execution order */
    struct node *anchor; /* CLUSTER_LIBRARY: the convolution or matmul */
    struct node *first;  /* first of its node_count nodes, which follow each other; set by pass_finish_clusters, NULL before */
    uint32_t node_count;
    struct cluster *next;
};

/**
 * This is what a loop (OP_LOOP) does in each of its iterations: a graph.  Its inputs are the carried values, a slice of each
 * scanned operand (without the first dimension), and the invariant operands; its outputs are the carried values after the
 * iteration, and a slice of each stacked result.  The node's inputs and results are the same, with initial and last carried
 * values.
 */
struct loop_body {
    struct graph *graph; /* NULL once the loop is compiled: its program has taken what it needs */
    uint32_t iterations; /* at least 1 */
    uint32_t carried, scanned, stacked;
    uint32_t stop; /* 1 + the number of the carried value that says when later iterations may be left out; 0: none does */
    const bool *scanned_backward, *stacked_backward; /* iteration 0 takes or gives the last slice */
    struct loop_body *next;                          /* of all loops of the graph */
};

struct graph {
    struct arena arena;
    struct loop_body *loops; /* what the graph owns of its loop nodes, also of those that were removed */
    struct node *first, *last;
    uint32_t value_count, node_count;
    uint32_t input_count; /* every input ever made, in order; some may be unused */
    uint32_t input_capacity;
    struct value **inputs;
    struct dims *dims; /* what open dimensions mean (dims.h); NULL: there are none */
    struct value *first_constant, *last_constant;
    uint32_t output_count;
    struct graph_output *outputs;
    struct cluster *first_cluster, *last_cluster;
    uint32_t cluster_count;
    struct budget budget;                  /* of a builder's graph */
    struct budget *account;                /* what is computed for this graph is charged to it; NULL: no limits */
    WNNBuildProgressCallbackInfo progress; /* of a builder's graph: is told while it is built */
    struct {
        WNNWeightFormat format;     /* what the program asked for */
        WNNQuantizedWeights counts; /* what pass quantize-weights has done */
    } quantized;
    bool is_variant;    /* of a graph with named dimensions (graph_at_sizes): others of other sizes are to share its code, and
                           inputs that no output needs are inputs of the program all the same */
    struct error error; /* sticky: allocation failures and internal errors */
};

/** Makes an empty graph.  Returns NULL if memory runs out. */
struct graph *graph_create(void);
/** Frees a graph with everything in it, and drops its references of constants.  NULL does nothing. */
void graph_free(struct graph *g);

/** Adds an input.  The type must have passed type_check.  name is copied. */
struct value *graph_add_input(struct graph *g, const char *name, size_t name_length, const struct tensor_type *type);
/** Makes a value that stands for an input of a loop's body while the body's nodes are still among the graph's: it is none of
 * the graph's inputs.  Returns NULL if memory runs out. */
struct value *graph_add_parameter(struct graph *g, const struct tensor_type *type);
/**
 * Makes a loop of the nodes that depend on parameters: they become the body, and a node at the end of the graph runs it.  What
 * the nodes read besides becomes invariant operands, and constants the body's own.
 *
 *   body         everything but the graph is filled in; lists are copied
 *   parameters   body->carried, then body->scanned of them
 *   operands     what the first ones begin with, and what the others are slices of
 *   outputs      body->carried values after an iteration, then body->stacked slices
 *
 * Values of the body then belong to its graph.  Returns NULL after an error in *e; the graph is as it was.
 */
struct node *graph_close_loop(struct graph *g, const struct loop_body *body, const char *label, struct value *const *parameters,
                              struct value *const *operands, struct value *const *outputs, struct error *e);

/** Adds a constant; takes over the caller's reference of c, also on failure. */
struct value *graph_add_constant(struct graph *g, const struct tensor_type *type, struct constant *c);
/** Adds a constant whose elements are all value, cast to type as the specification casts numbers. */
struct value *graph_add_scalar(struct graph *g, const struct tensor_type *type, WNNNumber value);
/** Puts a cluster, whose next is NULL, at the end of the graph's list. */
void graph_append_cluster(struct graph *g, struct cluster *c);
/** Makes v an output under name (copied).  The same value may be several outputs. */
bool graph_add_output(struct graph *g, const char *name, size_t name_length, struct value *v);

/**
 * This is an application of an operator that is not a node yet.  The builder, the parser and the passes fill it in.  call_infer
 * copies nothing; node_create copies what it keeps.
 */
struct call {
    struct graph *graph;
    enum op op;
    const char *label; /* NUL-terminated, "" if none */
    uint32_t input_count;
    struct value *const *inputs; /* in slot order, absent optional ones NULL */
    void *options;               /* writable copy of the option struct; inference fills in defaults that depend on inputs */
    union op_args args;
    uint32_t result_count;
    struct tensor_type *results; /* written by inference; room for OP_RESULTS_MAX, or for every part of a split (arena) */
    struct error *error;
};

/**
 * Validates a call as the specification's method steps do, in their order (types, ranks and everything in the row's infer), and
 * fills in option defaults that depend on the inputs, and the results' types.  Returns false after an error in c->error; the
 * graph is unchanged then but for arena memory.
 */
bool call_infer(struct call *c);

/** Sets the TypeError "<op> [<label>]: <text>" in c->error.  Returns false. */
bool call_error(struct call *c, const char *format, ...) PRINTF_LIKE(2, 3);

/**
 * Infers a node and inserts it before `before`, or at the end if that is NULL.  options may be NULL for all defaults.  Returns
 * NULL after an error in *error.
 */
struct node *node_create(struct graph *g, struct node *before, enum op op, const char *label, uint32_t input_count,
                         struct value *const *inputs, const void *options, const union op_args *args, struct error *error);
/** Inserts the node that an inferred call describes.  Returns NULL if memory runs out. */
struct node *node_create_inferred(struct call *c, struct node *before);
/** Replaces the input in a slot. */
void node_set_input(struct node *n, uint32_t slot, struct value *v);
/** Unlinks a node whose results have no uses. */
void node_remove(struct node *n);
/** Moves a node in the execution order. */
void node_move_before(struct node *n, struct node *before);
/** Makes every use and output of `from` one of `to`, which has the same type. */
void value_replace_uses(struct value *from, struct value *to);
/** Returns the number of uses by nodes plus uses as an output. */
uint32_t value_use_count(const struct value *v);

#define graph_for_each(g, n) for (struct node *n = (g)->first; n; n = n->next)
/** n may be removed in the body. */
#define graph_for_each_safe(g, n)                                                                                              \
    for (struct node *n = (g)->first, *n##_next = n ? n->next : NULL; n; n = n##_next, n##_next = n ? n->next : NULL)
#define value_for_each_use(v, u) for (struct use *u = (v)->uses; u; u = u->next)

/** Gives a node's option struct its type: NODE_OPTIONS(n, WNNConv2dOptions)->groups */
#define NODE_OPTIONS(n, T) ((const T *)(n)->options)

/** These find an attribute in an option struct / args pair: its value or a list's first element (NULL: the list is absent), and
 * a list's count (else 1). */
const void *attr_value(const struct attr_info *a, const void *options, const union op_args *args);
size_t attr_count(const struct attr_info *a, const void *options, const union op_args *args);
/** Returns whether an attribute is a list, whose items have four bytes. */
bool attr_is_list(const struct attr_info *a);
/** Returns the most items that a list of an operator may have.  What has more is refused before it is walked. */
size_t attr_count_max(enum op op, const struct attr_info *a);
/** Checks a positional list's pointer against its count, and any list's count against attr_count_max.  Returns false after an
 * error in c->error. */
bool attr_check_list(struct call *c, const struct attr_info *a);
/** Returns the bytes that the attribute takes up at its offset: those of a value, or of a list's pointer. */
size_t attr_bytes(const struct attr_info *a);
/** Returns whether two nodes of one operator agree in one attribute, bit by bit. */
bool node_same_attr(const struct node *a, const struct node *b, const struct attr_info *attr);
/** Returns whether two nodes have the same operator and attributes (labels aside). */
bool node_same_attrs(const struct node *a, const struct node *b);
/** The label lies here in every option struct. */
#define OPTIONS_LABEL offsetof(WNNOperatorOptions, label)
/**
 * Gives members that are zero in a copy of a zeroed option struct (structSize 0) their defaults.  Returns false after an error
 * in c->error if zero is also a value of a member whose default is another, since it cannot be told which is meant.
 */
bool options_fill_zeros(struct call *c, void *options);
/** Deep-copies an option struct into an arena, with its lists.  Returns NULL if memory runs out. */
void *options_copy(struct arena *a, enum op op, const void *options);
/** Copies the lists of positional arguments into an arena.  Returns false if memory runs out. */
bool args_copy(struct arena *a, enum op op, union op_args *args);

/** Checks every invariant listed at the top of ir/graph/verify.c.  All violations go to out, which may be NULL.  Returns false
 * if there was one. */
bool graph_verify(struct graph *g, FILE *out);
