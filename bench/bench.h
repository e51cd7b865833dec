/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * webnn-bench: how long graphs take to build and to run, through the public API.
 *
 * In: cases, each a graph in the textual form (bench/cases.txt, bench/networks.c), or a folder with a manifest.  Out: a table
 * or JSON.  The same cases are what `webnn-bench --check` holds against the reference interpreter, so that nothing is timed
 * that is not right.
 */
#ifndef WEBNN_BENCH_BENCH_H_
#define WEBNN_BENCH_BENCH_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "frontend/model/model.h"
#include "webnn/webnn.h"

struct graph;

/* ---- the command line (options.c) ---- */

enum { BENCH_MODELS_MAX = 16, BENCH_SIZES_MAX = 64 };

struct manifest_case;

struct bench_options {
    const char *levels, *pattern, *file, *debug, *print;
    const char *models[BENCH_MODELS_MAX];
    int model_count;
    struct model_options model; /* dims and shapes below */
    struct model_dim dims[BENCH_SIZES_MAX];
    struct model_shape shapes[BENCH_SIZES_MAX];
    uint32_t threads;
    WNNPrecision precision;
    double seconds;
    bool json, check, list, peaks, only_peaks, overhead, plans, steps;
    const struct manifest_case *given; /* the inputs of the model that is next; NULL: noise */
};

/** False: the program is to end with *status, and has said why.  o points into itself and argv. */
bool bench_options_parse(int argc, char **argv, struct bench_options *o, int *status);
void bench_options_free(struct bench_options *o);

/* ---- cases (bench_case.c) ---- */

/** A graph as text. */
struct bench_case {
    char level[16]; /* "kernel", "operator" or "model" */
    char name[64];
    char *text; /* owned */
};

struct bench_cases {
    size_t count, capacity;
    struct bench_case *items;
};

/** Reads a file of lines "LEVEL NAME: inputs {...} nodes {...} outputs {...}"; # starts a comment line.  False: message. */
bool bench_cases_read(const char *path, struct bench_cases *cases, char *message, size_t size);
/** Takes over text. */
bool bench_cases_add(struct bench_cases *cases, const char *level, const char *name, char *text);
void bench_cases_free(struct bench_cases *cases);

/** Parses a case; @weights("n") is noise with the variance 1 / n.  NULL: message. */
struct graph *bench_case_parse(const struct bench_case *c, char *message, size_t size);
/** The convolutions and matrix products of a graph as its builder has it. */
struct bench_products {
    uint32_t count;
    double *flops; /* owned; by number */
};

/**
 * Numbers a graph's products, in labels that its steps will carry ("#12 label"), and notes what each computes.  False: out of
 * memory.
 */
bool bench_label_products(struct graph *g, struct bench_products *out);
/** The number in the name of a step; -1: it is no product's. */
int64_t bench_product_number(const char *step);

/** Makes the builder calls that g describes, labels products if they are asked for (not NULL), and builds. */
WNNStatus bench_case_build(struct graph *g, WNNContext context, struct bench_products *products, WNNGraph *graph, char *message,
                           size_t size);
/** Multiply-adds count two, other operators one for each element of their results; bytes: inputs, weights and outputs once. */
void bench_case_cost(const struct graph *g, double *flops, double *bytes);
/** Deterministic noise between -1 and 1 (integers: 0 or 1). */
void bench_noise(WNNOperandDataType type, size_t bytes, uint32_t seed, void *data);

/* ---- networks (networks.c) ---- */

/** The networks whose ONNX twins ONNX Runtime is timed with, as text; NULL after the last. */
extern const char *const bench_network_names[];
/** Owned by the caller; NULL: no such network, or no memory. */
char *bench_network_text(const char *name);

/* ---- measuring (measure.c) ---- */

struct bench_times {
    size_t runs;
    double median, p10, p90, min; /* milliseconds */
};

/** Seconds of a clock that only goes forward. */
double bench_now(void);
/** Calls run(user) at least `warm` times, then for that many seconds and at least 5 times.  False: run failed. */
bool bench_measure(bool (*run)(void *user), void *user, double seconds, struct bench_times *out);
/** Peak resident memory of the process in MiB. */
double bench_peak_rss(void);

/* ---- output (json.c) ---- */

/** A JSON string. */
void bench_print_quoted(const char *text);

/* ---- the machine's peaks (peaks.c) ---- */

enum { BENCH_LEVELS = 5 };

/** What processors have units of their own for, or instructions that do more at once. */
enum bench_rate_kind { BENCH_FLOAT32, BENCH_BFLOAT16, BENCH_INT8, BENCH_DIVISION, BENCH_RATES };

/** An instruction in a loop that nothing else holds up (peaks_arithmetic.c). */
struct bench_unit {
    enum bench_rate_kind rate;
    const char *name;
    bool (*has)(void);            /* whether this processor and this system have it */
    double (*run)(int64_t times); /* returns operations: 2 per multiply-add, 1 per division */
    int64_t times;                /* so that it takes a millisecond or so */
};
/** The last one has no name. */
extern const struct bench_unit bench_units[];

/** The fastest unit of a kind: 10^9 operations a second of all threads together, and which one; 0 and NULL: there is none. */
struct bench_rate {
    double peak;
    const char *by;
};

/** GB/s over so much memory, of all threads together; a copy is from one half to the other and counts both directions. */
struct bench_bandwidth {
    uint32_t kib;
    double copy, read;
};

struct bench_peaks {
    struct bench_rate rates[BENCH_RATES];
    struct bench_bandwidth levels[BENCH_LEVELS];
    char processor[96];
};

/** What the machine can do right now.  False, after a message: not all was measured, and what was not is 0. */
bool bench_measure_peaks(uint32_t threads, struct bench_peaks *out);
void bench_print_peaks(const struct bench_peaks *p);
/** Members of a JSON object, without the processor. */
void bench_print_peaks_json(const struct bench_peaks *p);

/* ---- compiled graphs (inspect.c) ---- */

void bench_plan_header(void);
/** One line about the memory of a graph's intermediate values.  False: more than 10 % above the bound that liveness gives. */
bool bench_plan_report(const char *name, WNNGraph graph);
/**
 * Times the steps of a graph, of which run(user) computes one run, and the library alone on the products among them.
 * by_library: the same graph with products left to the library; both have labelled products.  False: run failed, or a product
 * would be held against one of other size (message).
 */
bool bench_steps_report(const char *name, WNNGraph graph, WNNGraph by_library, const struct bench_products *products,
                        bool (*run)(void *user), void *user, double seconds, char *message, size_t size);
/** The same as one line that is a JSON object, without the library alone: what each step does and how long it takes.  The graph
 * is of a context with the debug switch keep-kernels. */
bool bench_steps_json(const char *name, WNNGraph graph, bool (*run)(void *user), void *user, double seconds);

/* ---- overhead (overhead.c) ---- */

/** Microseconds. */
struct bench_overhead {
    double compute, step;                  /* a computation of one tiny step; each further one */
    double dispatch_brief;                 /* a dispatch of one tiny step */
    double dispatch_idle, dispatch_asleep; /* until a dispatch of more returns, a moment after the last work and long after */
    double dispatch_queued;                /* the same, with work before it */
};

/** False: wnnGetLastErrorMessage. */
bool bench_measure_overhead(uint32_t threads, struct bench_overhead *out);
/** Measures and prints; returns the exit status. */
int bench_overhead_report(uint32_t threads, bool json);

/* ---- growth (scale.c) ---- */

enum { BENCH_SCALE_SIZES = 5 };

/** A kind of graph, and how large it is built; kind NULL after the last. */
struct bench_scale {
    const char *kind;
    uint32_t nodes[BENCH_SCALE_SIZES];
};
extern const struct bench_scale bench_scales[];

/** Milliseconds from a new context to the built graph.  False: wnnGetLastErrorMessage. */
bool bench_scale_time(const char *kind, uint32_t nodes, uint32_t threads, const char *debug, double *ms);
/** Whether no kind whose name contains pattern takes clearly more than linear time. */
bool bench_scale_check(uint32_t threads, const char *pattern, const char *debug);
/** Times and prints all whose kind contains pattern (NULL: all); returns the exit status. */
int bench_scale_report(uint32_t threads, const char *pattern, const char *debug, bool json);

#endif
