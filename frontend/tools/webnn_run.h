/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * webnn-run: runs a model file on arrays and pictures, prints, saves and checks what comes out.
 *
 * In: the command line (webnn_run_options.c).  Out: text on stdout, files, and an exit status: 0, 1 for a failure or a
 * mismatch, 2 for wrong usage.  Read webnn_run.c (the order of things), then webnn_run_input.c and webnn_run_output.c.
 */
#ifndef WEBNN_FRONTEND_TOOLS_WEBNN_RUN_H_
#define WEBNN_FRONTEND_TOOLS_WEBNN_RUN_H_

#include "frontend/io/npy.h"
#include "frontend/io/picture.h"
#include "frontend/model/model.h"
#include "frontend/tools/arguments.h"

/** A list of NAME=FILE (name NULL: a file alone). */
struct run_pairs {
    size_t count;
    struct argument_pair *items;
};

struct run_options {
    const char *model, *weights, *labels, *trace, *debug, *save;
    struct run_pairs inputs, outputs, compares, constants;
    size_t dim_count, shape_count;
    struct model_dim *dims;
    struct model_shape *shapes;
    /* pictures */
    struct picture_form form;
    bool resize, resize_auto; /* neither: pictures keep their size */
    uint32_t width, height;
    double output_scale;
    /* what to print and to check */
    uint64_t top, first, repeat, seed;
    double atol, rtol;
    bool random, profile, quiet;
    uint32_t threads;
    WNNPrecision precision;
};

/** False: *status is what to exit with (0 after --help). */
bool run_options_parse(int argc, char **argv, struct run_options *o, int *status);
void run_options_free(struct run_options *o);

/** A message to stderr, "webnn-run: " before it.  Returns false. */
bool run_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- inputs (webnn_run_input.c, webnn_run_model.c) ---- */

enum source_kind { SOURCE_ARRAY, SOURCE_PICTURE, SOURCE_RAW };

/** What an --input option brought. */
struct source {
    char *name; /* owned */
    const char *path;
    enum source_kind kind;
    struct npy_array array; /* ARRAY; the others get theirs when the model says type and shape */
    struct picture picture;
    void *raw;
    size_t raw_length;
    bool used;
};

struct sources {
    size_t count;
    struct source *items;
};

/** Reads every file named by --input. */
bool sources_read(const struct run_options *o, struct sources *s);
void sources_free(struct sources *s);
/** The size of a picture when it gets to the model; false: whatever the model wants. */
bool picture_size(const struct run_options *o, const struct source *s, uint32_t *width, uint32_t *height);
/** Whether a file holds a compiled graph (wnnGraphSave, a shared object), told by its first bytes. */
bool is_compiled(const char *path);
/** A compiled graph, and a model with its ports but without a builder. */
bool load_compiled(const struct run_options *o, struct sources *s, WNNContext context, struct model *model, WNNGraph *graph);
/** Reads the model with the shapes that the sources and options give. */
bool sources_read_model(const struct run_options *o, struct sources *s, WNNContext context, struct model *model);
/**
 * The array for one input of the model: from its source, or made (random or zeros).  *note (of size bytes) says where it comes
 * from.  The array is the caller's.
 */
bool sources_take(const struct run_options *o, struct sources *s, const struct model_port *port, struct npy_array *array,
                  char *note, size_t size);
/** False, with a message, if a source was for no input of the model. */
bool sources_all_used(const struct sources *s, const struct model *model);

/* ---- outputs (webnn_run_output.c, webnn_run_compare.c) ---- */

/** A computed output; data is array.data. */
struct result {
    const char *name;
    struct npy_array array;
};

/** Labels, one per line of a file. */
struct labels {
    char *text;
    size_t count;
    const char **lines;
};

bool labels_read(const char *path, struct labels *l);
void labels_free(struct labels *l);
/** Labels that fit no output are said, and forgotten. */
void labels_check(const struct run_options *o, struct labels *l, size_t count, const struct result *results);

void result_print(const struct run_options *o, const struct labels *l, const struct result *r);
/** Every --output option. */
bool results_save(const struct run_options *o, size_t count, const struct result *results);
/** Every --compare option; false if one does not hold or cannot be read. */
bool results_compare(const struct run_options *o, size_t count, const struct result *results);
/** The result of that name; NULL after a message that lists the names there are. */
const struct result *result_find(size_t count, const struct result *results, const char *name, const char *option);

/** "float32 [1, 3, 224, 224]" in buf. */
const char *describe_type(char *buf, size_t size, WNNOperandDataType type, size_t rank, const uint32_t *shape);

#endif
