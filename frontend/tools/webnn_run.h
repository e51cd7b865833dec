/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * webnn-run runs a model file on arrays and pictures, and prints, saves and checks the outputs.
 *
 * It reads the command line (webnn_run_options.c), writes text on stdout and files, and exits with 0, with 1 for a failure or a
 * mismatch, or with 2 for wrong usage.  Read webnn_run.c (the sequence of steps), then webnn_run_input.c and
 * webnn_run_output.c.  Functions that return bool return false after a message on stderr, unless they say otherwise.
 */
#pragma once

#include "frontend/readers/batch/batch.h"
#include "frontend/readers/files/npy.h"
#include "frontend/readers/files/picture.h"
#include "frontend/readers/source.h"
#include "frontend/tools/arguments.h"

/** Holds the arguments of --each: files, folders and lists of them, of which each is computed. */
struct run_each {
    struct argument_pairs paths, lists;
    const char *save; /* a folder for the outputs; NULL: none */
};

struct run_options {
    const char *model, *labels, *trace, *report, *debug, *save, *device;
    struct argument_pairs inputs, outputs, compares, states, sizes;
    struct model_options model_options;
    /* These say how pictures become numbers. */
    struct picture_form form;
    bool resize, resize_auto; /* if neither is set, pictures keep their size */
    uint32_t width, height;
    double output_scale;
    /* These say what to print and to check. */
    uint64_t top, first, repeat, seed;
    double atol, rtol;
    bool random, profile, quiet, deterministic;
    uint32_t threads;
    WNNPrecision precision;
    WNNWeightFormat quantize;
    WNNEngine engine;
    struct run_each each;
};

/** Returns whether there are many inputs: then only lines of JSON go to stdout. */
static inline bool is_each(const struct run_options *o)
{
    return o->each.paths.count + o->each.lists.count > 0;
}

/** Holds the states that the options name; names are those of the model's ports. */
struct run_states {
    size_t count;
    WNNNamedState *items; /* from malloc */
};
/** Finds the states of --state in a model and appends them.  Returns false after a message. */
bool states_find(const struct run_options *o, const struct model *m, struct run_states *s);
/** Binds inputs that are states to the memory of their outputs, which get the inputs' data. */
void states_bind(const struct run_states *s, WNNNamedBuffer *inputs, size_t input_count, WNNNamedBuffer *outputs,
                 size_t output_count);

/** Reads the command line.  Returns false if the program is to exit with *status, which is 0 after --help. */
bool run_options_parse(int argc, char **argv, struct run_options *o, int *status);
/** Frees what the options hold. */
void run_options_free(struct run_options *o);

/* ---- progress (webnn_run_progress.c) ---- */

/**
 * Begins to show the current step and its duration on a terminal, once that is half a second.  `what` stays with the caller
 * until progress_end, which must come before anything else is begun or printed.
 */
void progress_begin(const struct run_options *o, const char *what);
/** Ends it and removes the line.  Does nothing if nothing was begun. */
void progress_end(void);

/* ---- inputs (webnn_run_input.c, webnn_run_model.c) ---- */

enum source_kind { SOURCE_ARRAY, SOURCE_PICTURE, SOURCE_RAW };

/** Holds the argument of an --input option. */
struct source {
    char *name; /* owned */
    const char *path;
    enum source_kind kind;
    struct npy_array array; /* of SOURCE_ARRAY; the others get theirs with the model's type and shape */
    char *member;           /* of an archive, owned: the array has no elements until an input takes them; else NULL */
    struct picture picture;
    void *raw;
    size_t raw_length;
    bool used;
    bool is_constant; /* its value was needed while reading, so it is not an input */
};

struct sources {
    size_t count;
    struct source *items;
};

/** Reads every file that an --input option names. */
bool sources_read(const struct run_options *o, struct sources *s);
/** Reads one more file. */
bool source_read(struct sources *s, const struct argument_pair *pair);
/** Frees what the sources from number `count` on hold, and forgets them. */
void sources_shrink(struct sources *s, size_t count);
/** Frees what the sources hold. */
void sources_free(struct sources *s);
/**
 * Finds the size of a picture when it gets to the model.  Returns false, without a message, if the model determines it.
 */
bool picture_size(const struct run_options *o, const struct source *s, uint32_t *width, uint32_t *height);
/** Finds channels, height and width of a picture's tensor.  Returns false if the shape is none. */
bool picture_dims(bool nhwc, size_t rank, const uint32_t *shape, uint32_t *channels, uint32_t *height, uint32_t *width);
/** Makes a model with a graph's ports but without a builder, and names a source that has no name. */
bool graph_model(WNNGraph graph, struct sources *s, struct model *model);
/** Checks that every source is for an input of a file, or, if that is NULL, of a graph, and names one that has no name. */
bool sources_check(const struct run_options *o, struct sources *s, const struct model_source *source, WNNGraph graph);
/** Returns false, after a message, if options are given that come too late for a compiled graph: among them those of sizes, by
 * these names, if `late` holds. */
bool compiled_takes(const struct run_options *o, const char *sizes, bool late);
/** Loads a compiled graph, at the sizes that options and sources give, and makes its model. */
bool load_compiled(const struct run_options *o, struct sources *s, WNNContext context, struct model *model, WNNGraph *graph);
/** Reads the model with the shapes that the sources and options give. */
bool sources_read_model(const struct run_options *o, struct sources *s, WNNContext context, struct model *model);
/**
 * Makes the array for one input of the model, which is the caller's: from its source, or random, or zeros.  *note, of at most
 * `size` bytes, says where it comes from.
 */
bool sources_take(const struct run_options *o, struct sources *s, const struct model_port *port, struct npy_array *array,
                  char *note, size_t size);
/** Checks that every source was for an input of the model. */
bool sources_all_used(const struct sources *s, const struct model *model);

/* ---- quantized weights (webnn_run_quantize.c) ---- */

/** Holds what the model computes with its weights as they are. */
struct reference {
    size_t count;
    WNNNamedBuffer *outputs; /* in the order of the graph's outputs */
};

/**
 * Reads the model once more, builds it with its weights as they are, and computes once on these inputs, which stay as they are.
 * Returns false after a message.
 */
bool reference_compute(const struct run_options *o, struct sources *s, WNNContext context, size_t input_count,
                       const WNNNamedBuffer *inputs, struct reference *r);
/** Frees what the reference holds. */
void reference_free(struct reference *r);

/* ---- many inputs (webnn_run_each.c) ---- */

/** Holds the files of --each, and which inputs they are for. */
struct each {
    const char *name; /* that the options give, or NULL */
    struct batch_list list;
    size_t count;
    char **names; /* of the inputs that a file is for */
};
/** Holds the built graph that --each computes. */
struct each_graph {
    WNNGraph graph;
    const struct labels *labels;
    size_t input_count, result_count;
    const struct model_port **ports; /* of the inputs */
    WNNNamedBuffer *input_buffers, *output_buffers;
    const struct result *results;
    struct result *cut; /* room for as many (results_cut) */
};

/** Makes the list. */
bool each_open(const struct run_options *o, struct each *e);
/**
 * Calls `read`, which reads the model, with the arrays of a file next to the other sources, until it fits: those that do not
 * are tried up to 16 times.  Then notes which inputs the file was for.
 */
bool each_read_model(struct sources *s, struct each *e, bool (*read)(void *user), void *user);
/** Computes every file and prints its line.  Returns false, after the others, if one failed. */
bool each_run(const struct run_options *o, const struct each *e, const struct each_graph *g);
/** Frees what it holds. */
void each_close(struct each *e);

/* ---- many sizes (webnn_run_sizes.c) ---- */

/** Computes the model at each combination of --sizes, and prints a line for it. */
bool sizes_run(const struct run_options *o, struct sources *sources, WNNContext context);
/** Returns the median of times, which are sorted (webnn_run.c). */
double median_time(double *times, size_t count);

/* ---- outputs (webnn_run_output.c, webnn_run_compare.c) ---- */

/** Holds a computed output; its data is array.data. */
struct result {
    const char *name;
    struct npy_array array;
};

/** Holds labels, one per line of a file. */
struct labels {
    char *text;
    size_t count;
    const char **lines;
};

/** Reads a file of labels, which labels_free frees. */
bool labels_read(const char *path, struct labels *l);
/** Frees what the labels hold. */
void labels_free(struct labels *l);
/** Reports and drops labels that fit no output. */
void labels_check(const struct run_options *o, struct labels *l, size_t count, const struct result *results);

/** Returns whether labels are for an output: it has as many elements in a row, or there are none. */
static inline bool labels_fit(const struct labels *l, const struct result *r)
{
    return !l->count || (r->array.rank && r->array.shape[r->array.rank - 1] == l->count);
}
/** Finds the k largest of a row, ties by the lower index; NaN is never among them.  Returns how many there are in top. */
size_t result_top(const struct npy_array *a, size_t start, size_t length, uint64_t k, size_t *top);
/** Prints an element of an integer type whose numbers a double does not hold.  Returns false, and prints nothing, for others.
 */
bool result_print_whole(FILE *out, const struct npy_array *a, size_t i);
/** Writes all results to an .npz file. */
bool results_save_all(size_t count, const struct result *results, const char *path);

/**
 * Copies results, whose data stays where it is, without those that are counts of others, and cuts the others to their valid
 * elements.  Returns how many there are.
 */
size_t results_cut(size_t count, const struct result *results, struct result *cut);
/** Prints a result as the options say. */
void result_print(const struct run_options *o, const struct labels *l, const struct result *r);
/** Prints the sizes of --quantize-weights, and the difference of each result from the reference. */
void results_print_errors(const WNNQuantizedWeights *weights, const struct reference *r, size_t count,
                          const struct result *results);
/** Writes the file of every --output option. */
bool results_save(const struct run_options *o, size_t count, const struct result *results);
/** Checks every --compare option.  Returns false, after a message, if one does not hold or cannot be read. */
bool results_compare(const struct run_options *o, size_t count, const struct result *results);
/** Returns the result of that name, or NULL after a message that lists the names there are. */
const struct result *result_find(size_t count, const struct result *results, const char *name, const char *option);

/** Writes "float32 [1, 3, 224, 224]" into buf, of `size` bytes, and returns buf. */
const char *describe_type(char *buf, size_t size, WNNOperandDataType type, size_t rank, const uint32_t *shape);
