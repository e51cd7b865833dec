/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The internals of the ONNX reader: the functions that importers of operators call, and what an importer has to do.
 *
 * An ONNX model, which protobuf-c parses by our own schema (onnx.proto), comes in.  Calls of the public builder go out.
 *
 * reader.c (opsets, inputs, initializers, outputs, messages) -> walk.c (scopes, order of nodes, functions, constants) ->
 * the row of the operator (operators.def): a term (term.h), or an importer in C (operators_*.c).  value.c and attribute.c are
 * what importers call.  Read docs/model.md first.
 *
 * An importer gets a node and makes builder calls, like
 * `return onnx_output(n, 0, wnnGraphBuilderRelu(n->builder, onnx_operand(n, 0), n->options));`.
 *
 * - What it cannot express it refuses: `return onnx_refuse(n, "group %lld is not ...", ...)`.  The message is the reason alone;
 *   node and operator are added.  The first refusal counts, later ones do nothing, so helpers that failed need no check
 *   before the end: onnx_operand then returns an error operand, which every builder call refuses.  (Its rank is 0: look at
 *   n->refused before indexing its shape.)
 * - Errors of builder calls need no check either: what the builder says becomes the reason.
 * - Attributes that no importer asked for are refused after it succeeded: nothing is ignored silently.  onnx_ignore names those
 *   that mean nothing here.
 * - Results of nodes whose inputs are all constant are computed at once if they are small (walk.c), so importers need no code
 *   of their own for constants.  Host code is only for what the builder cannot say: empty tensors, int64 index lists, float64.
 * - Attributes and inputs are numbers of any size: the functions under "sizes" add, multiply and convert them.
 * - Everything allocated by onnx_alloc and everything these functions return stays valid as long as the reader; nothing is
 * freed by importers.
 */
#pragma once

#include "frontend/readers/model.h"
#include "onnx.pb-c.h"

enum { ONNX_RANK_MAX = NPY_RANK_MAX, ONNX_OPSET_NEWEST = 28, ONNX_TEXT_MAX = 200 };

/** The numbers of TensorProto.DataType. */
enum onnx_type {
    ONNX_UNDEFINED = 0,
    ONNX_FLOAT = 1,
    ONNX_UINT8 = 2,
    ONNX_INT8 = 3,
    ONNX_UINT16 = 4, /* int32 of 0 to 65535 */
    ONNX_INT16 = 5,  /* int32 of -32768 to 32767 */
    ONNX_INT32 = 6,
    ONNX_INT64 = 7,
    ONNX_STRING = 8, /* refused */
    ONNX_BOOL = 9,   /* uint8 of 0 and 1 */
    ONNX_FLOAT16 = 10,
    ONNX_DOUBLE = 11, /* constants only */
    ONNX_UINT32 = 12,
    ONNX_UINT64 = 13,
    ONNX_BFLOAT16 = 16, /* float32, as all floating-point types of 8 and 4 bits; stored in 16 and 8 bits where large */
    ONNX_FLOAT8E4M3FN = 17,
    ONNX_FLOAT8E5M2 = 19,
    ONNX_UINT4 = 21,      /* uint8 of 0 to 15, one per element */
    ONNX_INT4 = 22,       /* int8 of -8 to 7, one per element */
    ONNX_FLOAT8E8M0 = 24, /* float32; constants only */
};

/** Returns the name as ONNX writes it in type constraints, such as "float16", or "an unknown type".  It is never freed. */
const char *onnx_type_name(enum onnx_type type);
/** Returns the operand data type that holds it, Undefined if there is none. */
WNNOperandDataType onnx_data_type(enum onnx_type type);
/** Returns the type of an operand of this data type, which is never a boolean. */
enum onnx_type onnx_type_of(WNNOperandDataType type);
/** Returns the bytes per element in onnx_value.data, 0 for types that are not kept. */
size_t onnx_type_size(enum onnx_type type);
/** Returns whether the type is a floating-point one. */
bool onnx_type_is_float(enum onnx_type type);
/** Returns whether the type is one of signed integers. */
bool onnx_type_is_signed(enum onnx_type type);

/** Describes what the largest exponents of a floating-point type, or its second zero, stand for. */
enum onnx_special {
    ONNX_INFINITE, /* infinities and NaN */
    ONNX_FINITE,   /* numbers, but for NaN, which has all bits */
    ONNX_ONE_ZERO, /* numbers; NaN is what would be -0 */
    ONNX_NUMBERS,  /* numbers */
    ONNX_POWERS    /* there are no signs and fractions; the largest is NaN */
};
/** Describes the elements of a type that operands have not, and which are kept as those of a wider one. */
struct onnx_format {
    uint8_t bits; /* of an element, in files */
    uint8_t mantissa, bias;
    enum onnx_special special;
    float top; /* the largest finite number */
};
/** Returns the data type of the draft (webnn_draft.h) whose elements are those in files, Undefined if there is none. */
WNNOperandDataType onnx_draft_type(enum onnx_type type);
/** Returns how many bits an integer of fewer than 8 has in files, 0 for other types. */
uint32_t onnx_type_bits(enum onnx_type type);
/** Returns the format of such a type, NULL of others. */
const struct onnx_format *onnx_format_of(enum onnx_type type);

struct onnx_reader;
struct onnx_scope;

/**
 * A tensor is an operand, or a constant on the host, or both.  Its sizes are always known, because the graph is static; of one
 * that depends on the data the greatest one is (counted.h).
 * Importers read it; they make one by onnx_output and its like.
 */
struct onnx_value {
    enum onnx_type type;
    size_t rank;
    /* Only constants have sizes of 0.  Each is below 2^31, and so is the product of those that are not 0, or open (open.h). */
    int64_t dims[ONNX_RANK_MAX];
    WNNOperand operand; /* NULL until it is made; ask onnx_operand */
    WNNOperand sums;    /* of an int32 contraction of bytes: the same numbers as float32 (onnx_output_sums); else NULL */
    WNNOperand wide;    /* of constants dequantized to float16: the same numbers as float32, not rounded yet; else NULL */
    /*
     * These are the elements of a constant in C order.  data is NULL if it is computed at run time, or if it is constant but
     * not computed yet, which onnx_constant does.
     */
    const void *data;
    /*
     * These are the same elements in a mapped file, which outlives the reading, at any address.  file is NULL if no file has
     * them in this form.
     */
    const void *file;
    /* Or they are there in the form of their onnx_format, which is a data type of the draft or has fewer than 8 bits; data are
     * made of them if need be. */
    const void *raw;
    struct file_map *map;
    bool is_static;   /* depends on constants only */
    WNNOperand count; /* int32 scalar: so many elements of dimension `counted` count (counted.h); NULL: all of them */
    uint32_t counted;
    /* Of numbers that are made of such counts (sizes.c): data are upper bounds, low the lower ones, and exact is known at run
     * time.  Else NULL. */
    WNNOperand exact;
    const void *low;
    WNNOperand line; /* the numbers whose bounds differ are this count, or grow (or fall) evenly with it; NULL: not known */
    bool falls;
    struct onnx_value **items; /* of a sequence of tensors (operators_sequence.c), whose refusal is not NULL; else NULL */
    size_t item_count;
    double cost;         /* about how many operations computing the data takes, if it is constant but not computed */
    const char *depends; /* the name of an input of the model that it depends on, if one is known; else NULL */
    const char *empty; /* of a value without elements: which dimension of which input of the model is 0, if known; else NULL */
    const char *refusal; /* NULL if it is usable, "" for a result of a refused node, which was reported, else the reason */
};

/** Writes "float32 [1, 3]". */
const char *onnx_value_text(char text[ONNX_TEXT_MAX], const struct onnx_value *v);
/** Returns the number of elements of a value, which is below 2^31; open sizes (open.h) count as 1. */
int64_t onnx_elements(const struct onnx_value *v);
/** Returns element i of v->data as a number, the nearest one for 64-bit integers. */
double onnx_element(const struct onnx_value *v, size_t i);
/** Returns element i of v->data as an integer; floats truncate and saturate. */
int64_t onnx_element_int(const struct onnx_value *v, size_t i);
/** Returns element i of v->data as a number for options of the builder: 64-bit integers stay exact. */
WNNNumber onnx_element_number(const struct onnx_value *v, size_t i);
/** Converts a number and stores it as element i of data that onnx_output_constant returned. */
void onnx_store(enum onnx_type type, void *data, size_t i, double value);
void onnx_store_int(enum onnx_type type, void *data, size_t i, int64_t value);

/** Describes the node that is being imported. */
struct onnx_node {
    struct onnx_reader *reader;
    struct onnx_scope *scope;
    const Onnx__NodeProto *proto;
    const struct onnx_operator *row;
    int64_t version; /* of the operator set that the node belongs to */
    WNNGraphBuilder builder;
    WNNStringView label;               /* the node's name: for option structs */
    const WNNOperatorOptions *options; /* just the label: for calls without options of their own */
    size_t input_count;                /* as in the file; trailing absent ones cut off */
    struct onnx_value **inputs;        /* NULL if absent (its name is "") */
    size_t output_count;
    struct onnx_value **outputs; /* set by onnx_output...; all must be, but those that onnx_wants denies */
    WNNOperand count;            /* of the results (counted.h), and the dimension; NULL if the importer says nothing of it */
    uint32_t counted;
    uint32_t open;     /* 1 + the size of a Reshape's shape that is known at run time only (sizes.c); 0: none */
    uint32_t extended; /* 1 + the axis of input 0 that has one more slice than in the model (counted.c); 0: none */
    bool refused;
    bool is_static;           /* all inputs depend on constants only, so that what onnx_output gets will, too */
    uint64_t attributes_read; /* bit per attribute of proto; those beyond 63 are refused by the walk */
};

/** Says why this node cannot be expressed.  The first reason counts.  Returns false. */
bool onnx_refuse(struct onnx_node *n, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Returns zeros that live as long as the reader.  Refuses, and returns NULL, if memory runs out. */
void *onnx_alloc(struct onnx_node *n, size_t count, size_t size);

/*
 * ---- attributes (attribute.c) ----
 * An attribute of another type than asked for refuses the node; the fallback is returned then.  References to attributes of an
 * enclosing function are resolved.
 */
/** Returns whether the node has the attribute, which does not count as reading it. */
bool onnx_has(struct onnx_node *n, const char *name);
/** These return a number, or the fallback if the attribute is absent. */
int64_t onnx_int(struct onnx_node *n, const char *name, int64_t fallback);
double onnx_float(struct onnx_node *n, const char *name, double fallback);
/** Returns a text that ends with a NUL, or the fallback if the attribute is absent. */
const char *onnx_string(struct onnx_node *n, const char *name, const char *fallback);
/** These return *count numbers, or NULL with *count 0 if the attribute is absent.  An empty list is not NULL. */
const int64_t *onnx_ints(struct onnx_node *n, const char *name, size_t *count);
const float *onnx_floats(struct onnx_node *n, const char *name, size_t *count);
/** Returns *count strings, each NUL-terminated, or NULL if the attribute is absent. */
const char *const *onnx_strings(struct onnx_node *n, const char *name, size_t *count);
/** Returns the value of a tensor attribute, whose data is there, or NULL if it is absent or refused. */
struct onnx_value *onnx_tensor(struct onnx_node *n, const char *name);
/** Returns a graph attribute, or NULL after refusing if it is absent. */
const Onnx__GraphProto *onnx_graph(struct onnx_node *n, const char *name);
/** Notes that an attribute, if present, means nothing here. */
void onnx_ignore(struct onnx_node *n, const char *name);

/* ---- sizes (support.c) ----
 * What does not fit refuses the node with a message that has `what` and the numbers.  The result is then within bounds, but
 * means nothing. */
/** Returns a + b of any 64-bit numbers. */
int64_t onnx_sum(struct onnx_node *n, const char *what, int64_t a, int64_t b);
/** Returns a * b of any 64-bit numbers. */
int64_t onnx_times(struct onnx_node *n, const char *what, int64_t a, int64_t b);
/** Returns the number as a size for builder calls, 0 to 2^31 - 1. */
uint32_t onnx_size(struct onnx_node *n, const char *what, int64_t number);
/** Returns a floating-point number without its fraction.  Refuses NaN, infinities, and numbers outside of low to high. */
int64_t onnx_whole(struct onnx_node *n, const char *what, double number, int64_t low, int64_t high);

/* ---- inputs (value.c) ---- */
/** Returns input i, or NULL if it is absent. */
struct onnx_value *onnx_input(struct onnx_node *n, size_t i);
/** Returns the operand of input i; constants become operands here.  Refuses (and returns an error operand) if it is absent,
 * empty, or of a type that WebNN does not have. */
WNNOperand onnx_operand(struct onnx_node *n, size_t i);
/** Returns the same for an optional operand of an option struct, or NULL if the input is absent. */
WNNOperand onnx_operand_optional(struct onnx_node *n, size_t i);
/** Returns the operand of a value, which becomes one here if it is a constant.  Refuses as onnx_operand does. */
WNNOperand onnx_value_operand(struct onnx_node *n, struct onnx_value *v);
/** Returns input i with its data.  Refuses, and returns NULL, if it is absent or depends on an input of the model. */
const struct onnx_value *onnx_constant(struct onnx_node *n, size_t i);
/** Returns the name, escaped, of an input of the model that input i depends on, or NULL if none is known.  It is for saying
 * that a value has to be known, which the options may want to know, too. */
const char *onnx_depends(struct onnx_node *n, size_t i);
/** Returns whether input i is there and constant; then its data is computed. */
bool onnx_is_constant(struct onnx_node *n, size_t i);
/** Returns whether a value is constant; then its data is computed. */
bool onnx_value_is_known(struct onnx_node *n, struct onnx_value *v);
/** Returns a constant input of any shape and an integer type as integers, or NULL after refusing. */
const int64_t *onnx_integers(struct onnx_node *n, size_t i, size_t *count);
/** Returns a constant input of one element as a number, or fallback if it is absent. */
double onnx_number(struct onnx_node *n, size_t i, double fallback);
/** Brings an axis that may be negative into 0 to rank - 1; refuses others. */
bool onnx_axis(struct onnx_node *n, int64_t axis, size_t rank, uint32_t *result);
/** Returns the same for a list without duplicates: `count` elements in the given order.  Returns NULL after refusing. */
const uint32_t *onnx_axes(struct onnx_node *n, const int64_t *axes, size_t count, size_t rank);

/* ---- outputs (value.c) ---- */
/** Returns whether the model names output i. */
static inline bool onnx_wants(const struct onnx_node *n, size_t i)
{
    return i < n->proto->n_output && n->proto->output[i] && *n->proto->output[i];
}
/** Makes output i this operand.  Returns false if it is an error operand (the builder's message is the reason) or the node was
 * refused.  Outputs without a name are dropped. */
bool onnx_output(struct onnx_node *n, size_t i, WNNOperand operand);
/** Does the same for types that the data type does not tell, which have an onnx_format. */
bool onnx_output_as(struct onnx_node *n, size_t i, WNNOperand operand, enum onnx_type type);
/** Makes output i a value that is there already: nothing is computed. */
bool onnx_output_value(struct onnx_node *n, size_t i, struct onnx_value *v);
/** Makes output i a constant and returns its data, zeros that the caller fills in, or NULL after refusing. */
void *onnx_output_constant(struct onnx_node *n, size_t i, enum onnx_type type, size_t rank, const int64_t *dims);

/** Makes output i the constant v, whose data is there, in another shape with as many elements.  Nothing is copied. */
bool onnx_output_view(struct onnx_node *n, size_t i, const struct onnx_value *v, size_t rank, const int64_t *dims);

/* ---- builder calls that importers need often (value.c) ---- */
/** Returns a scalar constant operand of this data type. */
WNNOperand onnx_scalar(struct onnx_node *n, WNNOperandDataType type, double value);
/** Returns a scalar constant operand of the data type of `like`. */
static inline WNNOperand onnx_scalar_like(struct onnx_node *n, WNNOperand like, double value)
{
    return wnnOperandIsError(like) ? like : onnx_scalar(n, wnnOperandGetDataType(like), value);
}
/** Returns a constant operand with a copy of data. */
WNNOperand onnx_constant_operand(struct onnx_node *n, WNNOperandDataType type, size_t rank, const uint32_t *dims,
                                 const void *data);
/** Reshapes an operand. */
WNNOperand onnx_reshape(struct onnx_node *n, WNNOperand operand, size_t rank, const uint32_t *dims);
/** Transposes an operand of that rank; an operand of another rank is refused. */
WNNOperand onnx_transpose(struct onnx_node *n, WNNOperand operand, size_t rank, const uint32_t *permutation);
/** Returns x[..., start : start + size, ...] along one axis. */
WNNOperand onnx_slice_axis(struct onnx_node *n, WNNOperand operand, uint32_t axis, uint32_t start, uint32_t size);
/** Casts an operand unless it has that data type already. */
WNNOperand onnx_cast(struct onnx_node *n, WNNOperand operand, WNNOperandDataType type);
/** Returns half precision in single, for values on the way to a result that its range may not hold. */
WNNOperand onnx_wide(struct onnx_node *n, WNNOperand x);
/** Returns an operand that every builder call refuses, for use after onnx_refuse; onnx_refuse_operand is both. */
WNNOperand onnx_error_operand(struct onnx_node *n);
#define onnx_refuse_operand(n, ...) (onnx_refuse(n, __VA_ARGS__), onnx_error_operand(n))

/* ---- graphs within nodes (walk.c) ---- */
/**
 * Imports a body in a scope of its own below n's: its inputs are bound to `inputs` (as many as the body names), and what it
 * captures is found in n's scope.  outputs receives the body's outputs (as many as it names).  Returns false if n is refused,
 * or nodes of the body, which have then been reported.
 */
bool onnx_import_body(struct onnx_node *n, const Onnx__GraphProto *body, size_t input_count, struct onnx_value *const *inputs,
                      struct onnx_value **outputs);

/** Describes how much has been refused: an attempt that fails may be followed by another. */
struct onnx_refusals {
    size_t count, length;
};

/** Returns how much has been refused so far. */
struct onnx_refusals onnx_refusals(const struct onnx_node *n);
/** Takes back what was refused since then, of n and of bodies within it.  Returns false if the reader failed. */
bool onnx_forgive(struct onnx_node *n, struct onnx_refusals before);

/**
 * Imports a branch that may or may not be taken, as onnx_import_body does with a body without inputs.  What cannot be expressed
 * in it is not reported: *reason, which is NULL else, is the line that it would have been, and n is not refused.
 */
bool onnx_import_branch(struct onnx_node *n, const Onnx__GraphProto *body, struct onnx_value **outputs, const char **reason);

/* ---- the table (operators.c) ---- */

/** Describes an operator in one range of operator set versions: a row of operators.def. */
struct onnx_operator {
    const char *name;
    const char *domain;             /* NULL for ai.onnx */
    int since, until;               /* versions of the operator set; until is 0 if it reaches to the newest */
    uint8_t min_inputs, max_inputs; /* 255 stands for any number */
    uint8_t max_outputs;
    uint32_t flags;   /* of the enumeration below, and how it takes counted values: an onnx_counting */
    const char *note; /* for docs/onnx.md, what is composed or refused; "" if it is one operator of WebNN */
    bool (*import)(struct onnx_node *n);
    const char *term; /* what onnx_import_term makes of a node (term.h); NULL if an importer in C does it */
};

enum {
    ONNX_KEEP = 1,         /* not computed while reading when constant: passes want to see the operator (DequantizeLinear) */
    ONNX_HEAVY = 2,        /* multiplies: costs about inputs times outputs when computed while reading (MatMul, Conv, LSTM) */
    ONNX_REFUSED = 4,      /* cannot be expressed: the note is the reason */
    ONNX_MAKES_SIZES = 8,  /* of sizes that are known at run time only makes others, none smaller for larger inputs (sizes.c) */
    ONNX_MOVES_SIZES = 16, /* the same, where only input 0 is such sizes */
    ONNX_TAKES_SIZES = 32, /* takes such sizes for the shape of its result */
    ONNX_COUNTING_SHIFT = 8
};

/** Lists the rules by which results have a dimension of an input whose size is known at run time only (counted.c): the names in
 * the table of operators, and the functions.  Operators without a rule refuse such inputs. */
#define ONNX_COUNTINGS(F)                                                                                                      \
    F(ELEMENTS, elements), F(LIKE, like), F(SAME, same), F(ACROSS, across), F(SPLIT, split), F(ABOVE, above), F(BATCH, batch), \
        F(ROWS, rows), F(GEMM, gemm), F(GATHER, gather), F(GATHER_ELEMENTS, gather_elements), F(GATHER_ND, gather_nd),         \
        F(TRANSPOSED, transposed), F(RESHAPED, reshaped), F(CONCAT, concat), F(SLICED, sliced), F(SCATTERED, scattered),       \
        F(REDUCED, reduced), F(TOP_K, top_k), F(CUMULATED, cumulated), F(OWN, own), F(ROIS, rois)
enum onnx_counting {
    ONNX_COUNTING_NONE,
#define COUNTING(NAME, rule) ONNX_COUNTING_##NAME
    ONNX_COUNTINGS(COUNTING)
#undef COUNTING
};

/** Returns all rows, and their number in *count.  Rows of one operator follow each other by `since`. */
const struct onnx_operator *onnx_operators(size_t *count);
/** Returns the row of an operator, or NULL if there is none in that version. */
const struct onnx_operator *onnx_find_operator(const char *domain, const char *name, int64_t version);
