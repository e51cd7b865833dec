/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The graph IR has tensor values in SSA form and the nodes that compute them.  It can express every graph of the API, and
 * nothing about backends.
 *
 * Builder calls (frontend/) and the textual form (ir/text/parse.c) become graphs, which passes/ rewrite, and codegen/ and
 * runtime/ consume.  Read ir/graph/ops.def first, then this file, then ir/graph/graph.c.
 *
 * - A graph owns an arena; values, nodes, names and option structs live in it until graph_free.
 * - Nodes form a list in an order in which every value is defined before it is used.
 * - Layout is not a property of a value: a tensor is dense and row-major in its shape, and every change of layout is a visible
 *   transpose.  A convolution's options say whether it uses nchw or nhwc.
 * - Only graph_..., node_... and value_... functions change links; they keep the use lists right.
 * - Allocation failure makes a function return NULL/false and sets graph->error; links are then consistent.
 */
#pragma once

#include <stdio.h>

#include "ir/graph/attr.h"
#include "ir/graph/constant.h"
#include "ir/graph/type.h"
#include "ir/support/arena.h"
#include "ir/support/budget.h"
#include "ir/support/number.h"

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
    uint32_t result;           /* index among the producer's results */
    struct constant *constant; /* may be released and NULL once nothing uses the value */
    struct graph *graph;
    struct value *next_constant; /* all constants of the graph, in the order they were made */
    const uint32_t *sizes;       /* elements that are made of shapes and constants, as expressions (dims_values.c), else NULL */
    struct use *uses;
    uint32_t output_uses; /* number of graph outputs that are this value */
    bool kept;            /* a constant that is read though it has no uses: some node's `transformed` */
    bool counts;          /* an input of data (origin.data) whose elements are 0, 1, 2 ... at all sizes */
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
    struct kept_stage *kept; /* of a plan's graph (passes/passes.h), NULL of others */
    struct cluster *next;
};

/**
 * This is what a loop (OP_LOOP) does in each of its iterations: a graph.  Its inputs are the carried values, a slice of each
 * scanned operand (without the first dimension), and the invariant operands; its outputs are the carried values after the
 * iteration, and a slice of each stacked result.  The node has the same inputs and results, with initial and last carried
 * values.
 */
struct loop_body {
    struct graph *graph; /* NULL once the loop is compiled, unless plans keep it: its program has taken what it needs */
    uint32_t iterations; /* 0: as many as the first scanned operand has slices, where names say how many */
    uint32_t carried, scanned, stacked;
    uint32_t stop; /* 1 + the number of the carried value that says when later iterations may be left out; 0: none does */
    const bool *scanned_backward, *stacked_backward; /* iteration 0 takes or gives the last slice */
    const struct node *of;                           /* a recurrent node that this is a part of; NULL: it is a loop node's */
    struct loop_body *next;                          /* of all loops of the graph */
};

enum graph_role {
    GRAPH_OF_PROGRAM,
    GRAPH_VARIANT, /* of one with named dimensions (graph_at_sizes): other sizes should share its code, and inputs
                      that no output needs are inputs of the program all the same */
    GRAPH_BODY     /* of a loop: no loop is within it */
};

/** The purpose of a graph, and of a variant, its sizes. */
struct graph_origin {
    enum graph_role role;
    bool is_clustered;     /* the passes have run */
    const uint32_t *sizes; /* of the names */
    uint64_t *reached;     /* by value: what is known of the outputs that need it (runtime/api/graph.c), NULL: nothing */
    struct plans *plans;   /* who takes the graph over once it is compiled (runtime/compile/plans.h) */
    bool differs; /* a value is not what its expression says, as where an integer has overflowed: other sizes tell nothing */
    /* The last inputs have values computed of sizes, which the library fills and passes cannot read. */
    struct constant **data;
    uint32_t data_count;
    size_t data_capacity;
};

struct graph {
    struct arena arena;
    struct loop_body *loops; /* bodies of all its loop nodes, also of removed ones, which the graph owns */
    struct node *first, *last;
    uint32_t value_count, node_count;
    uint32_t input_count; /* every input ever made, in order; some may be unused */
    size_t input_capacity;
    struct value **inputs;
    struct dims *dims; /* what open dimensions mean (dims.h), for loops' bodies, too, unless theirs is NULL: there are none */
    struct value *first_constant, *last_constant;
    uint32_t output_count;
    struct graph_output *outputs;
    struct cluster *first_cluster, *last_cluster;
    uint32_t cluster_count;
    struct budget budget;                  /* of a builder's graph */
    struct budget *account;                /* computations for this graph are charged to it; NULL: no limits */
    WNNBuildProgressCallbackInfo progress; /* of a builder's graph: called while it is built */
    struct {
        WNNWeightFormat format;     /* the program's request */
        WNNQuantizedWeights counts; /* statistics of pass quantize-weights */
    } quantized;
    struct graph_origin origin;
    struct error error; /* sticky: allocation failures and internal errors */
};

/** Makes an empty graph.  Returns NULL if memory runs out. */
struct graph *graph_create(void);
/** Frees a graph with everything in it, and drops its references of constants.  NULL does nothing. */
void graph_free(struct graph *g);

/** Adds an input.  The type must have passed type_check.  name is copied. */
struct value *graph_add_input(struct graph *g, const char *name, size_t name_length, const struct tensor_type *type);
/** Adds an input whose data is known at these sizes, and not to the passes (origin.data); takes over the caller's reference of
 * c, also on failure. */
struct value *graph_add_data(struct graph *g, const struct tensor_type *type, struct constant *c);
/** Makes a value that stands for an input of a loop's body while the body's nodes are still among the graph's: it is none of
 * the graph's inputs.  Returns NULL if memory runs out. */
struct value *graph_add_parameter(struct graph *g, const struct tensor_type *type);
/**
 * Makes a loop of the nodes that depend on parameters: they become the body, and a node at the end of the graph runs it.  Other
 * operands of the nodes become invariant operands, and constants are copied to the body.
 *
 *   body         everything but the graph is filled in; lists are copied
 *   parameters   body->carried, then body->scanned of them
 *   operands     what the first ones begin with, and what the others are slices of
 *   outputs      body->carried values after an iteration, then body->stacked slices
 *
 * Values of the body then belong to its graph.  Returns NULL after an error in *e; the graph does not change then.
 */
struct node *graph_close_loop(struct graph *g, const struct loop_body *body, const char *label, struct value *const *parameters,
                              struct value *const *operands, struct value *const *outputs, struct error *e);
/**
 * Makes a loop of one iteration, before `before`, that has copies of nodes and does not begin if `stop`, a uint8 scalar, is not
 * 0.  Its results are that value, and then `outputs`, values of those nodes, with a leading dimension of 1.  Nothing
 * reads them yet, and the nodes stay.
 *
 *   inside  by the index of a node
 *
 * Returns NULL after an error in *e.
 */
struct node *graph_make_branch(struct graph *g, struct node *before, const bool *inside, struct value *stop, uint32_t count,
                               struct value *const *outputs, struct error *e);

/** Returns the iterations of a loop with these operands, in a builder's graph perhaps an open dimension; 0: there are none. */
static inline uint32_t loop_iterations(const struct loop_body *l, struct value *const *operands)
{
    return l->iterations || !l->scanned ? l->iterations : operands[l->carried]->type.dims[0];
}

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
 * graph is unchanged then except for arena memory.
 */
bool call_infer(struct call *c);

/** Writes "<op> [<label>]", or "<op>" if the label is empty, escaped, to buf, and returns it; also of a node or a call. */
const char *op_title(enum op op, WNNStringView label, char *buf, size_t size);
#define node_title(n, buf, size) op_title((n)->op, WNN_STR((n)->label), buf, size)
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

/** Checks every invariant listed at the top of ir/graph/verify.c.  All violations go to out, which may be NULL.  Returns false
 * if there was one. */
bool graph_verify(struct graph *g, FILE *out);
/** Checks one of them: that inference gives the types that a node's results have. */
bool node_verify_types(const struct node *n);
