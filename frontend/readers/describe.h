/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Describes a model without building it: its inputs and outputs as the file declares them, the dimensions that it leaves open,
 * and what it says about itself.  No weights are read and no context is needed.
 */
#pragma once

#include "frontend/readers/model.h"
#include "ir/support/arena.h"
#include "ir/support/name_map.h"
#include "webnn/webnn_model.h"

/** Describes a model.  One of zeros is empty; everything in it is in its memory. */
struct model_description {
    struct arena memory;
    const char *format; /* "onnx", "webnn", "json" or "manifest" */
    const char *name;   /* "" if the file names none */
    size_t input_count, output_count, free_count, metadata_count;
    WNNModelDeclaration *inputs, *outputs;
    bool *defaults; /* by input: the file has a value for it; NULL: for none, as in a description that was requested */
    WNNModelFreeDimension *free;
    WNNModelMetadata *metadata;
    size_t file_count;                           /* files of weights that the model names */
    const char **files;                          /* their paths */
    struct name_map free_by_name, files_by_path; /* while it is filled in */
};

/**
 * Lets batches be of one: adds to the dimensions of the options those that inputs have first, and that are open and named
 * there. Returns false if memory runs out; else *dims, of *count, are of the description's memory.
 */
bool model_single_batch(struct model_description *d, const struct model_options *options, size_t *count,
                        const struct model_dim **dims);
/** Frees what a description holds and leaves it empty. */
void model_description_free(struct model_description *description);

/* ---- for readers; these return false or NULL if memory runs out ---- */

/** Copies a text, which may hold any bytes, into the description. */
bool describe_text(struct model_description *d, const char *text, size_t length, WNNStringView *out);
/** Makes room for so many inputs and outputs, with that many dimensions that may be free. */
bool describe_reserve(struct model_description *d, size_t inputs, size_t outputs, size_t dimensions);
/** Fills in a declaration's name and room for its dimensions. */
bool describe_declaration(struct model_description *d, WNNModelDeclaration *out, const char *name, size_t length, size_t rank,
                          WNNModelDimension **dimensions);
/** Notes a dimension of an input that is open.  Of one that is there already the smaller bound counts. */
bool describe_free(struct model_description *d, WNNStringView name, uint32_t largest);
/** Notes a file of weights next to the model at path, which counts once. */
bool describe_file(struct model_description *d, const char *path, const char *name);
/** Ends a description that failed with a message, which may be NULL if memory ran out.  Returns false. */
bool describe_failed(struct model_description *d, const char *path, const char *reason, struct error *e);

/* The readers, by kind; they return as model_source_describe does. */
bool model_describe_onnx(const char *path, const void *bytes, size_t length, struct model_description *d, struct error *e);
bool model_describe_text(const char *path, const char *bytes, size_t length, struct model_description *d, struct error *e);
bool model_describe_json(const char *path, const char *bytes, size_t length, struct model_description *d, struct error *e);
bool model_describe_manifest(const char *folder, struct model_description *d, struct error *e);
