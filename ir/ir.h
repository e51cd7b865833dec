/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Graph IR: tensor values in SSA form and the nodes that compute them.  Everything the user can say, nothing about backends.
 *
 * In: builder calls (frontend/), textual form (ir/parse.c).  Out: what passes/ rewrite and codegen/ and runtime/ consume.
 * Read ir/ops.def first, then this file, then ir/graph.c.
 *
 * - A graph owns an arena; values, nodes, names and option structs live in it until graph_free.
 * - Nodes form a list in an order in which every value is defined before it is used.
 * - Layout is not a property of a value: a tensor is dense and row-major in its shape, and every change of layout is a visible
 *   transpose.  A convolution says by its own options whether it wants nchw or nhwc.
 * - Only graph_..., node_... and value_... functions change links; they keep the use lists right.
 * - Allocation failure makes a function return NULL/false and sets graph->error; nothing is half-linked then.
 */
#ifndef WEBNN_IR_IR_H_
#define WEBNN_IR_IR_H_

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

#include "ir/op.h"

/* ---- errors ---- */

/** A status and its message.  Messages end with no newline and are escaped already. */
struct error {
    WNNStatus status;
    char message[1024];
};

#if defined(__GNUC__)
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))
#else
#define PRINTF_LIKE(f, a)
#endif

/** Sets e unless it holds an error already (the first one counts).  Returns false, so that checks can end with it. */
bool error_set(struct error *e, WNNStatus status, const char *format, ...) PRINTF_LIKE(3, 4);
/** UnknownError "out of memory". */
bool error_out_of_memory(struct error *e);
/** Makes e's message the calling thread's last error (wnnGetLastErrorMessage) and returns its status. */
WNNStatus error_publish(const struct error *e);
/** Writes text escaped (control, bidirectional and other invisible characters as \u{...}) to buf; returns buf. */
const char *escape_text(char *buf, size_t size, const char *text, size_t length);

/* ---- memory ---- */

/** Memory that is freed as a whole.  Zero-initialised is empty. */
struct arena {
    struct arena_block *blocks;
    size_t used, total; /* bytes in the newest block; bytes handed out altogether */
};

/** size bytes of zeros, aligned for any type; NULL if memory ran out or size is absurd. */
void *arena_alloc(struct arena *a, size_t size);
/** count * size with an overflow check. */
void *arena_array(struct arena *a, size_t count, size_t size);
void *arena_copy(struct arena *a, const void *data, size_t size);
/** A NUL-terminated copy. */
char *arena_string(struct arena *a, const char *text, size_t length);
void arena_free(struct arena *a);

/* ---- tensor types ---- */

struct tensor_type {
    dtype type;
    uint32_t rank;
    uint32_t dims[RANK_MAX];
};

/** Number of elements (1 for a scalar).  Types in a graph are checked, so that it fits an int32_t. */
int64_t type_elements(const struct tensor_type *t);
int64_t type_bytes(const struct tensor_type *t);
bool type_equal(const struct tensor_type *a, const struct tensor_type *b);
/** Row-major strides in elements. */
void type_strides(const struct tensor_type *t, int64_t strides[RANK_MAX]);
/** "f32[2, 3]"; returns buf. */
const char *type_print(char *buf, size_t size, const struct tensor_type *t);
/** The specification's "check dimensions" with the library's limits; what = "input [x]" or so names the operand. */
bool type_check(const struct tensor_type *t, const char *what, struct error *e);

/* ---- constants ---- */

/** Bytes of a constant, shared by reference count (atomic); copied or lent. */
struct constant {
    atomic_uint references;
    size_t bytes;
    const void *data; /* row-major; aligned to 64 bytes when owned, as the lender has it when lent */
    WNNBufferReleaseCallbackInfo release; /* callback NULL: data was allocated by constant_create */
};

/** bytes uninitialised (data NULL) or copied, 64-byte aligned.  Reference count 1.  NULL: out of memory. */
struct constant *constant_create(const void *data, size_t bytes);
/** Lends data; release runs when the last reference goes.  On failure (NULL) release has been called. */
struct constant *constant_lend(const void *data, size_t bytes, WNNBufferReleaseCallbackInfo release);
struct constant *constant_retain(struct constant *c);
void constant_release(struct constant *c);

/* ---- values and nodes ---- */

struct graph;
struct node;
struct value;
struct cluster;

/** One input slot of a node, a link in the use list of its value. */
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
    uint32_t index;        /* dense: below graph->value_count, never reused */
    const char *name;      /* an input's name (as the user gave it), or a name for printing; may be NULL */
    size_t name_length;    /* of an input's name, which may hold NUL bytes */
    struct node *producer; /* results */
    uint32_t result;       /* which of the producer's results */
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
    uint32_t index; /* dense: below graph->node_count, never reused */
    const char *label; /* as the user gave it, "" if none */
    uint32_t input_count;
    struct use *inputs; /* as many as the row has operands (variadic: as many as given) */
    uint32_t result_count;
    struct value **results;
    const void *options; /* the operator's option struct, lists in the arena, defaults that depend on the inputs filled in;
                            its operand members and label are zero: operands are inputs, the label is above */
    union op_args args;
    struct cluster *cluster; /* set by the clustering passes */
    struct value *transformed; /* a constant that the lowering reads instead of the weights (pass winograd); it has no uses */
    struct graph *graph;
    struct node *next, *prev; /* execution order */
    void *scratch;            /* for the running pass only */
};

struct graph_output {
    const char *name;   /* as the user gave it; may hold NUL bytes, ends with one */
    size_t name_length;
    struct value *value;
};

/** What becomes one piece of executable code. */
enum cluster_kind {
    CLUSTER_KERNEL,  /* generated kernels */
    CLUSTER_LIBRARY, /* a library primitive: anchor plus an epilogue of element-wise nodes */
    CLUSTER_LOOP,    /* one recurrent node of several steps: a body that is compiled once and run once per step */
    CLUSTER_VIEW     /* no code: results are other views of an input's bytes (reshape, identity, some slices) */
};

struct cluster {
    enum cluster_kind kind;
    uint32_t index;      /* in execution order */
    struct node *anchor; /* CLUSTER_LIBRARY: the convolution or matrix product */
    struct node *first;  /* first of its node_count nodes, which follow each other; set by pass_finish_clusters, NULL before */
    uint32_t node_count;
    struct cluster *next;
};

struct graph {
    struct arena arena;
    struct node *first, *last;
    uint32_t value_count, node_count;
    uint32_t input_count; /* every input ever made, in order; some may be unused */
    uint32_t input_capacity;
    struct value **inputs;
    struct value *first_constant, *last_constant;
    uint32_t output_count;
    struct graph_output *outputs;
    struct cluster *first_cluster, *last_cluster;
    uint32_t cluster_count;
    struct error error; /* sticky: allocation failures and internal errors */
};

struct graph *graph_create(void);
void graph_free(struct graph *g);

/** Adds an input.  The type must have passed type_check.  name is copied. */
struct value *graph_add_input(struct graph *g, const char *name, size_t name_length, const struct tensor_type *type);
/** Adds a constant; takes over the caller's reference of c, also on failure. */
struct value *graph_add_constant(struct graph *g, const struct tensor_type *type, struct constant *c);
/** A scalar-filled constant: value cast to type as the specification casts numbers. */
struct value *graph_add_scalar(struct graph *g, const struct tensor_type *type, WNNNumber value);
/** Makes v an output under name (copied).  The same value may be several outputs. */
bool graph_add_output(struct graph *g, const char *name, size_t name_length, struct value *v);

/**
 * One operator application that is not a node yet: what the builder, the parser and the passes fill in.
 * call_infer copies nothing; node_create copies what it keeps.
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
 * Validates a call as the specification's method steps do, in their order (types, ranks and everything in the row's infer),
 * fills in option defaults that depend on the inputs and the results' types.  False: c->error says why, and the graph is
 * unchanged but for arena memory.
 */
bool call_infer(struct call *c);

/** A WNNStatus_TypeError "<op> [<label>]: <text>" in c->error.  Returns false. */
bool call_error(struct call *c, const char *format, ...) PRINTF_LIKE(2, 3);

/**
 * Infers and appends a node (before `before`, or at the end if that is NULL).  options may be NULL for all defaults.
 * NULL: error says why.
 */
struct node *node_create(struct graph *g, struct node *before, enum op op, const char *label, uint32_t input_count,
                         struct value *const *inputs, const void *options, const union op_args *args, struct error *error);
/** Appends the node that an inferred call describes.  NULL: out of memory. */
struct node *node_create_inferred(struct call *c, struct node *before);
/** Replaces one input. */
void node_set_input(struct node *n, uint32_t slot, struct value *v);
/** Unlinks a node whose results have no uses. */
void node_remove(struct node *n);
/** Moves a node in the execution order. */
void node_move_before(struct node *n, struct node *before);
/** Makes every use and output of `from` one of `to` (same type). */
void value_replace_uses(struct value *from, struct value *to);
/** Number of uses by nodes plus uses as an output. */
uint32_t value_use_count(const struct value *v);

#define graph_for_each(g, n) for (struct node *n = (g)->first; n; n = n->next)
/** Allows the removal of n. */
#define graph_for_each_safe(g, n) for (struct node *n = (g)->first, *n##_next = n ? n->next : NULL; n; n = n##_next, n##_next = n ? n->next : NULL)
#define value_for_each_use(v, u) for (struct use *u = (v)->uses; u; u = u->next)

/** Typed access to a node's option struct: NODE_OPTIONS(n, WNNConv2dOptions)->groups */
#define NODE_OPTIONS(n, T) ((const T *)(n)->options)

/** Pointer to an attribute's value or a list's first element (NULL: the list is absent), and a list's count (else 1), in an
 * option struct / args pair. */
const void *attr_value(const struct attr_info *a, const void *options, const union op_args *args);
size_t attr_count(const struct attr_info *a, const void *options, const union op_args *args);
/** Bytes that the attribute takes up at its offset: of a value, or of a list's pointer. */
size_t attr_bytes(const struct attr_info *a);
/** Whether two nodes of one operator agree in one attribute, bit by bit. */
bool node_same_attr(const struct node *a, const struct node *b, const struct attr_info *attr);
/** Whether two nodes have the same operator and attributes (labels aside). */
bool node_same_attrs(const struct node *a, const struct node *b);
/** Deep-copies an option struct into an arena; lists too.  NULL: out of memory. */
void *options_copy(struct arena *a, enum op op, const void *options);
bool args_copy(struct arena *a, enum op op, union op_args *args);

/* ---- numbers ---- */

/** One scalar of any data type, as its bits. */
union scalar {
    float f32;
    uint16_t f16;
    int32_t i32;
    uint32_t u32;
    int64_t i64;
    uint64_t u64;
    int8_t i8;
    uint8_t u8;
};

/** The specification's "cast" of a number (saturating, nearest even, NaN to 0). */
union scalar number_cast(WNNNumber n, dtype t);
double number_to_double(WNNNumber n);
float f16_to_f32(uint16_t h);
/** Nearest even, subnormals, infinities and NaN kept. */
uint16_t f32_to_f16(float f);
uint16_t f64_to_f16(double d);
float bf16_to_f32(uint16_t h);
/** Nearest even, infinities and NaN kept; what is subnormal as float32 becomes a zero, as by processors' instructions. */
uint16_t f64_to_bf16(double d);
/** A number as float32, rounded to a narrow type (dtype_is_narrow_float). */
float f32_round(float f, dtype t);
/** An element in memory as what is computed with: narrow floats as float32, all others as they are. */
union scalar scalar_widen(union scalar s, dtype t);
/** And back, rounded. */
union scalar scalar_narrow(union scalar s, dtype t);
double scalar_to_double(union scalar s, dtype t);

/* ---- verifying, printing, parsing, interpreting ---- */

/** Checks every invariant listed at the top of ir/verify.c.  All violations go to out (if any); false if there was one. */
bool graph_verify(struct graph *g, FILE *out);

/** Who reads a printed graph. */
enum print_style {
    PRINT_IR,    /* our parser, and people: comments, marks of clusters */
    PRINT_WEBNN, /* any program that knows .webnn text: what that has only, but for names in quotes and Infinity in options */
    PRINT_JSON   /* likewise its JSON twin (frontend/text/write_json.c) */
};

struct print_options {
    bool clusters;        /* mark the cluster of each node */
    bool constants;       /* print constants' data inline (@bytes), else large ones as @weights("name") */
    bool legal_names;     /* change names so that all are identifiers, and outputs are called like their values */
    enum print_style style;
    const char *name;     /* the graph's, which it does not know itself; NULL: "graph" */
};

/** Prints the textual form (a superset of .webnn text: docs/textual-ir.md).  What is printed parses back to the same graph.
 * options may be NULL: all false. */
void graph_print(const struct graph *g, FILE *out, const struct print_options *options);

/** Finds the bytes of a constant by its weights key; false with an error if it is not there. */
typedef bool (*weights_lookup)(void *user, const char *key, const struct tensor_type *type, struct constant **constant,
                               struct error *e);
/** Parses the textual form.  NULL: e holds the message with line and column.  lookup may be NULL. */
struct graph *graph_parse(const char *text, size_t length, weights_lookup lookup, void *user, struct error *e);

/**
 * The reference interpreter: no LLVM, no oneDNN, straight from the specification's text.  inputs and outputs are row-major
 * buffers in the order of g->inputs and g->outputs (inputs that are not reachable may be NULL).
 */
bool graph_interpret(struct graph *g, const void *const *inputs, void *const *outputs, struct error *e);
/** Computes one node from its inputs' bytes (all slots; absent NULL).  What constant folding and tests use. */
bool node_interpret(const struct node *n, const void *const *inputs, void *const *results, struct error *e);

#endif
