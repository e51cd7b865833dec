/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes builder calls of model files: every reader makes a struct model, and every tool starts from one.
 *
 * A model is an ONNX file, a graph in .webnn text or its JSON form (with .weights + .manifest.json or .safetensors next to it),
 * or a folder with a manifest.json.  It becomes a graph builder that holds the whole network, its inputs and its outputs.  It
 * is not built yet, so that callers can build it, write it in another form, or compile it ahead of time.
 *
 * Readers use the public API only, so that every rule is checked in one place.  They compare every size, offset and count in a
 * file with the file before they use it.  One message says everything that is wrong with a file; it may have several lines, one
 * per node that cannot be expressed.
 */
#pragma once

#include "frontend/readers/files/npy.h"
#include "ir/support/error.h"
#include "webnn/webnn.h"

struct file_map; /* frontend/readers/files/map.h */

/** Describes one input or output of a model.  Operands live as long as the builder. */
struct model_port {
    char *name; /* owned; UTF-8 as the file has it, without NUL bytes */
    WNNOperand operand;
    WNNOperandDescriptor descriptor; /* its shape points into the operand */
    bool is_boolean;                 /* the file calls it bool; here it is uint8 of 0 and 1 */
    WNNOperand count;                /* of an output: number of valid elements of dimension `counted`; NULL: all */
    uint32_t counted;
};

struct model {
    char *name; /* owned; "" if the file names none */
    WNNGraphBuilder builder;
    size_t input_count, output_count;
    struct model_port *inputs, *outputs; /* in the file's order */
    bool lends_builder;                  /* the builder is the caller's, and so is its budget */
    WNNBudget budget;                    /* as it was requested */
    uint64_t source_bytes;               /* of its files so far */
    char *notes;                         /* owned; lines about deviations from the model; NULL: none */
};

/** Gives a symbolic dimension's size: --dim batch=1. */
struct model_dim {
    const char *name;
    uint32_t size;
};

/** Gives the shape of an input: --shape x=1x3x224x224.  It must agree with the dimensions that the file fixes. */
struct model_shape {
    const char *name;
    size_t rank;
    uint32_t dims[NPY_RANK_MAX];
    const char *file; /* that has this shape, for messages; NULL: an option says it */
};

/** Makes an input a constant, because its value decides shapes or other things a static graph needs: --constant x=FILE. */
struct model_constant {
    const char *name;
    const struct npy_array *array; /* copied, and converted to the type of the input */
    bool literal;                  /* numbers of a command line, without a shape: they take that of the input */
};

/** Replaces an input by an operand of the caller's builder. */
struct model_binding {
    const char *name;
    WNNOperand operand;
};

struct model_options {
    size_t dim_count, shape_count, constant_count, binding_count;
    const struct model_dim *dims;
    const struct model_shape *shapes;
    const struct model_constant *constants;
    const struct model_binding *bindings;
    size_t output_count;        /* 0: all outputs */
    const char *const *outputs; /* those that are wanted, in this order */
    bool named;                 /* dimensions that an ONNX file names and that have no size stay names */
    size_t name_count;          /* or these stay names, and no others */
    const WNNDimension *names;
    bool command; /* messages name options of the command line (--dim), not those of WNNModelOptions */
    char *
        *needed; /* NULL, or NULL there: gets the name (malloc'ed) of an input whose value was requested and is not constant */
    WNNGraphBuilder builder; /* the caller's, to read into; NULL for a builder of the model's own.  Its budget stays */
    const char *weights;     /* file of weights of a .webnn text or JSON; NULL: NAME.weights or NAME.safetensors next to it */
    /** Called with name and type of every node of an ONNX file; may be NULL. */
    void (*told)(void *user, const char *name, const char *type);
    void *told_user;
    WNNBudget budget; /* of this model; a member that is 0 is the context's, or the default for the size of its files */
};

/**
 * Reads a model of any kind; what kind it is, its contents tell, then its ending.  options may be NULL.  Returns false after an
 * error in *e; *model is empty then.
 */
bool model_read(WNNContext context, const char *path, const struct model_options *options, struct model *model,
                struct error *e);
/**
 * Does the same with an ONNX file, .webnn text or JSON in memory, which has to stay until the call is over.  path locates files
 * next to the model and names it in messages.
 */
bool model_read_memory(WNNContext context, const char *path, const void *bytes, size_t length,
                       const struct model_options *options, struct model *model, struct error *e);
/**
 * Builds the model, whose builder is used up then; ports stay readable.  Returns the status; *e says why it is not Success.
 */
WNNStatus model_build(const struct model *model, WNNGraph *graph, struct error *e);
/**
 * Leaves the outputs that the options name, in their order.  Returns false after an error in *e, which is there for a name that
 * is not an output, or is given twice.
 */
bool model_choose_outputs(struct model *model, const struct model_options *options, struct error *e);
/** Returns the outputs as the builder takes them, to be freed, or NULL if memory runs out. */
WNNNamedOperand *model_outputs(const struct model *model);
/** Returns whether a file holds a compiled graph (wnnGraphSave, a shared object of webnnc), told by its first bytes. */
bool model_is_compiled(const char *path);
/** Frees what a model holds and leaves it empty. */
void model_free(struct model *model);

/* ---- for readers ---- */

enum model_option { MODEL_DIMENSIONS, MODEL_SHAPES, MODEL_CONSTANTS };

/**
 * Makes the model's builder, with the budget that options, context or the bytes of the model's files say, or takes the one that
 * options name, whose budget stays unless options have one.  Returns false after an error in *e.
 */
bool model_create_builder(WNNContext context, const struct model_options *options, uint64_t bytes, struct model *model,
                          struct error *e);
/** Adds a file of that many bytes to the model, which raises its budget of work. */
void model_add_source(struct model *model, uint64_t bytes);
/** Charges memory and work of a reader to the model's budget.  Returns false after an error in *e. */
bool model_spend(const struct model *model, const char *what, uint64_t operations, uint64_t bytes, struct error *e);
/**
 * Makes the array of a constant, which the caller frees, for an input of this type.  rank is SIZE_MAX if the model says no
 * shape; sizes of 0 are open, with the names for messages that model_dims_text takes.  Returns false after an error in *e.
 */
bool model_constant_fit(struct model *model, const struct model_constant *constant, WNNOperandDataType type, size_t rank,
                        const uint32_t *dims, const char *const *names, struct npy_array *array, struct error *e);
/** Returns the operand that is bound to an input of that name, or NULL if none is. */
WNNOperand model_bound(const struct model_options *options, const char *name, size_t length);
/** Returns the bounds that the options give for a dimension that stays a name, or NULL. */
const WNNDimension *model_name(const struct model_options *options, WNNStringView name);
/**
 * Checks that an operand may stand for an input of this type; rank, dims and names are as in model_constant_fit.  Returns false
 * after an error in *e.
 */
bool model_binding_fit(const char *name, WNNOperand operand, WNNOperandDataType type, size_t rank, const uint32_t *dims,
                       const char *const *names, struct error *e);
/** Returns what has a shape, for messages: a file, whose name is written to buf, or "the shape given for it". */
const char *model_shape_origin(const struct model_shape *shape, char *buf, size_t size);
/** Writes "[2, batch]" into buf and returns it.  Where names is not NULL, a size of 0 is open: its name is written, or "?". */
const char *model_dims_text(char *buf, size_t size, size_t rank, const uint32_t *dims, const char *const *names);
/** Returns how a message calls the option for sizes of dimensions, for shapes of inputs, or for constants. */
const char *model_option_name(const struct model_options *options, enum model_option option);
/** Appends a line to the model's notes, or does nothing if memory runs out. */
void model_note(struct model *model, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Appends a port (name copied, descriptor taken from the operand).  Returns false if memory runs out. */
bool model_add_input(struct model *model, const char *name, WNNOperand operand, bool is_boolean);
/** Does the same for an output. */
bool model_add_output(struct model *model, const char *name, WNNOperand operand, bool is_boolean);
/**
 * Appends an output NAME.shape[D], an int32 scalar: how many elements of dimension D of output i count, which is called NAME.
 * Returns false if memory runs out.
 */
bool model_add_count(struct model *model, size_t i, uint32_t d, WNNOperand count);

/*
 * The readers themselves, by kind, which return as model_read does.  bytes need not end with a NUL.  path locates files
 * next to the model and names it in messages.
 */
bool model_read_onnx(WNNContext context, const char *path, const void *bytes, size_t length,
                     const struct model_options *options, struct model *model, struct error *e);
/** Does the same from a mapped file, whose large tensors are lent to the builder, which keeps a reference to the map. */
bool model_read_onnx_map(WNNContext context, const char *path, struct file_map *map, const struct model_options *options,
                         struct model *model, struct error *e);
bool model_read_text(WNNContext context, const char *path, const char *bytes, size_t length,
                     const struct model_options *options, struct model *model, struct error *e);
bool model_read_json(WNNContext context, const char *path, const char *bytes, size_t length,
                     const struct model_options *options, struct model *model, struct error *e);
bool model_read_manifest(WNNContext context, const char *folder, const struct model_options *options, struct model *model,
                         struct error *e);
