/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A model file turned into builder calls: what every reader makes and every tool starts from.
 *
 * In: an ONNX file, a graph in .webnn text or its JSON twin (with .weights + .manifest.json or .safetensors beside it), or a folder
 * with a manifest.json.  Out: a graph builder that holds the whole network, its inputs and its outputs; not built yet, so that
 * callers can build it, write it in another form, or compile it ahead of time.
 *
 * Readers use the public API only, so that every rule is checked in one place, and never trust a size, offset or count in a
 * file before it is held against the file.  Everything that is wrong with a file is said in one message (which may have
 * several lines: one per node that cannot be expressed).
 */
#ifndef WEBNN_FRONTEND_MODEL_MODEL_H_
#define WEBNN_FRONTEND_MODEL_MODEL_H_

#include "frontend/io/npy.h"
#include "webnn/webnn.h"

struct file_map; /* frontend/io/map.h */

/** One input or output of a model.  Operands live as long as the builder. */
struct model_port {
    char *name; /* owned; UTF-8 as the file has it, without NUL bytes */
    WNNOperand operand;
    WNNOperandDescriptor descriptor; /* its shape points into the operand */
    bool is_boolean; /* the file calls it bool; here it is uint8 of 0 and 1 */
};

struct model {
    char *name; /* owned; "" if the file names none */
    WNNGraphBuilder builder;
    size_t input_count, output_count;
    struct model_port *inputs, *outputs; /* in the file's order */
};

/** A symbolic dimension's size: --dim batch=1. */
struct model_dim {
    const char *name;
    uint32_t size;
};

/** The shape of an input: --shape x=1x3x224x224.  Must agree with the dimensions that the file fixes. */
struct model_shape {
    const char *name;
    size_t rank;
    uint32_t dims[NPY_RANK_MAX];
};

/** An input that becomes a constant, because its value decides shapes or other things a static graph needs: --constant x=FILE. */
struct model_constant {
    const char *name;
    const struct npy_array *array; /* copied */
};

struct model_options {
    size_t dim_count, shape_count, constant_count;
    const struct model_dim *dims;
    const struct model_shape *shapes;
    const struct model_constant *constants;
    const char *weights; /* file with the weights of a .webnn text or JSON; NULL: NAME.weights or NAME.safetensors beside it */
};

/**
 * Reads a model of any kind; what kind is told by its contents, then by its ending.  options may be NULL.
 * False: *message says why (malloc'ed, the caller frees it; NULL if memory ran out), *model is empty.
 */
bool model_read(WNNContext context, const char *path, const struct model_options *options, struct model *model, char **message);
/** Builds it.  The builder is used up then; ports stay readable. */
WNNStatus model_build(const struct model *model, WNNGraph *graph, char **message);
void model_free(struct model *model);

/* ---- for readers ---- */

/** A printf into a fresh *message (a message that is there already stays).  Returns false. */
bool model_error(char **message, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Appends a port (name copied, descriptor taken from the operand).  False: out of memory. */
bool model_add_input(struct model *model, const char *name, WNNOperand operand, bool is_boolean);
bool model_add_output(struct model *model, const char *name, WNNOperand operand, bool is_boolean);

/* The readers themselves, by kind.  bytes need not end with a NUL; path tells where files beside it lie and names it in messages. */
bool model_read_onnx(WNNContext context, const char *path, const void *bytes, size_t length, const struct model_options *options,
                     struct model *model, char **message);
/** The same from a mapped file, whose large tensors are lent to the builder: the map lives as long as they are needed. */
bool model_read_onnx_map(WNNContext context, const char *path, struct file_map *map, const struct model_options *options,
                         struct model *model, char **message);
bool model_read_text(WNNContext context, const char *path, const char *bytes, size_t length, const struct model_options *options,
                     struct model *model, char **message);
bool model_read_json(WNNContext context, const char *path, const char *bytes, size_t length, const struct model_options *options,
                     struct model *model, char **message);
bool model_read_manifest(WNNContext context, const char *folder, const struct model_options *options, struct model *model,
                         char **message);

#endif
