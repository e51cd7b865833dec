/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * webnn-bench measures how long graphs take to build and to run, through the public API.
 *
 * Each case is a graph in the textual form (bench/cases.txt, bench/networks.c), or a folder with a manifest.  The results are
 * printed as a table or as JSON.  `webnn-bench --check` compares the same cases with the reference interpreter, so that nothing
 * is timed that is not right.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "frontend/readers/model.h"
#include "webnn/webnn.h"

struct graph;

/* ---- the command line (options.c) ---- */

enum { BENCH_MODELS_MAX = 16, BENCH_SIZES_MAX = 64 };

struct manifest_case;

/** Tasks instead of measuring cases; one of these at most. */
struct bench_instead {
    bool peaks, overhead, memory, steps, tune;
};

struct bench_options {
    const char *levels, *pattern, *file, *debug, *print;
    const char *models[BENCH_MODELS_MAX];
    int model_count;
    struct model_options model;
    uint32_t threads;
    WNNPrecision precision;
    WNNBudget budget;
    double seconds;
    bool json, check, same_bits, deterministic, list, peaks, tensors;
    struct bench_instead instead;
    const struct manifest_case *given; /* the inputs of the model that is next; NULL for noise */
};

/**
 * Reads the command line.  Returns false if the program is to end with *status, and has said why.  o points into argv.
 */
bool bench_options_parse(int argc, char **argv, struct bench_options *o, int *status);
/** Frees what o holds. */
void bench_options_free(struct bench_options *o);

/* ---- cases (bench_case.c) ---- */

/** Is a case: a graph as text. */
struct bench_case {
    char level[16]; /* "kernel", "operator" or "model" */
    char name[64];
    char *text; /* owned */
};

struct bench_cases {
    size_t count;
    struct bench_case *items;
};

/** Reads a file of lines "LEVEL NAME: inputs {...} nodes {...} outputs {...}"; # starts a comment line.  Returns false
 * after an error in *e. */
bool bench_cases_read(const char *path, struct bench_cases *cases, struct error *e);
/** Adds a case and takes over text.  Returns false if memory runs out. */
bool bench_cases_add(struct bench_cases *cases, const char *level, const char *name, char *text);
/** Frees the cases. */
void bench_cases_free(struct bench_cases *cases);

/** Parses a case, in which @weights("n") is noise with the variance 1 / n.  The caller frees the graph.  Returns NULL after an
 * error in *e. */
struct graph *bench_case_parse(const struct bench_case *c, struct error *e);
/** Lists the contractions of a graph as its builder has it. */
struct bench_contractions {
    uint32_t count;
    double *flops; /* owned; by number */
};

/**
 * Numbers a graph's contractions, in labels that its steps will carry ("#12 label"), and notes how many operations each has.
 * Returns false if memory runs out.
 */
bool bench_label_contractions(struct graph *g, struct bench_contractions *out);
/** Returns the number in the name of a step, or -1 if it is no contraction's. */
int64_t bench_contraction_number(const char *step);

/** Makes the builder calls that g describes, labels contractions if they are asked for (not NULL), and builds. */
WNNStatus bench_case_build(struct graph *g, WNNContext context, struct bench_contractions *contractions, WNNGraph *graph,
                           struct error *e);
/** Counts two operations for a multiply-add and one for each element of other operators' results, and the bytes of inputs,
 * weights and outputs once. */
void bench_case_cost(const struct graph *g, double *flops, double *bytes);
/** Fills data with deterministic noise between -1 and 1; integers become 0 or 1. */
void bench_noise(WNNOperandDataType type, size_t bytes, uint32_t seed, void *data);

/* ---- networks (networks.c) ---- */

/** These are the names of the networks whose ONNX twins ONNX Runtime is timed with; NULL follows the last. */
extern const char *const bench_network_names[];
/** Returns a network as text, which the caller owns, or NULL if there is none of that name or memory runs out. */
char *bench_network_text(const char *name);

/* ---- measuring (measure.c) ---- */

struct bench_times {
    size_t runs;
    double median, p10, p90, min; /* milliseconds */
};

/** Returns the seconds of a clock that only goes forward. */
double bench_now(void);
/** Calls run(user) to warm up, then for that many seconds and at least 5 times.  Returns false if run failed. */
bool bench_measure(bool (*run)(void *user), void *user, double seconds, struct bench_times *out);
/** Returns the peak resident memory of the process in MiB. */
double bench_peak_rss(void);

/* ---- output (json.c) ---- */

/** Prints a JSON string. */
void bench_print_quoted(const char *text);

/* ---- the machine's peaks (peaks.c) ---- */

enum { BENCH_LEVELS = 5 };

/** Lists kinds of arithmetic: for each, processors have units of their own, or instructions that do more at once. */
enum bench_rate_kind { BENCH_FLOAT32, BENCH_BFLOAT16, BENCH_INT8, BENCH_RATES };

/** Describes an instruction in a loop that nothing else holds up (peaks_arithmetic.c). */
struct bench_unit {
    enum bench_rate_kind rate;
    const char *name;
    bool (*has)(void);            /* whether this processor and this system have it */
    double (*run)(int64_t times); /* returns operations: 2 per multiply-add */
    int64_t times;                /* so that it takes a millisecond or so */
};
/** Lists all such instructions.  The last one has no name. */
extern const struct bench_unit bench_units[];

/**
 * Says what the fastest unit of a kind reaches, in 10^9 operations a second of all threads together, and which one it is.  They
 * are 0 and NULL if there is none.
 */
struct bench_rate {
    double peak;
    const char *by;
};

/**
 * Gives GB/s over so much memory, of all threads together.  A copy is from one half to the other and counts both directions.
 */
struct bench_bandwidth {
    uint32_t kib;
    double copy, read;
};

struct bench_peaks {
    struct bench_rate rates[BENCH_RATES];
    struct bench_bandwidth levels[BENCH_LEVELS];
    char processor[96];
};

/** Measures the machine's peaks.  Returns false, after a message, if not all was measured; what was not is 0. */
bool bench_measure_peaks(uint32_t threads, struct bench_peaks *out);
/** Prints the peaks as a table. */
void bench_print_peaks(const struct bench_peaks *p);
/** Prints the peaks as members of a JSON object, without the processor. */
void bench_print_peaks_json(const struct bench_peaks *p);

/* ---- compiled graphs (inspect.c) ---- */

/** Prints the head of the table that bench_memory_report prints lines of. */
void bench_memory_header(void);
/** Prints one line about the memory of a graph's intermediate values.  Returns false if that is more than 10 % above the bound
 * that liveness gives. */
bool bench_memory_report(const char *name, WNNGraph graph);
/**
 * Times the steps of a graph, of which run(user) computes one run, and the library alone on the contractions among them.
 * by_library is the same graph with contractions left to the library; both have labelled contractions.  Returns false if run
 * failed, or, with a message, if a contraction would be compared with one of another size.
 */
bool bench_steps_report(const char *name, WNNGraph graph, WNNGraph by_library, const struct bench_contractions *contractions,
                        bool (*run)(void *user), void *user, double seconds, struct error *e);
/** Prints what each step does and how long it takes as one line that is a JSON object, without the library alone. */
bool bench_steps_json(const char *name, WNNGraph graph, bool (*run)(void *user), void *user, double seconds);

/* ---- tuning (tune.c) ---- */

/**
 * Finds facts about the device of --engine with which a few contractions take the least time, prints what each choice gains,
 * and keeps them.  Returns false after a message on stderr.
 */
bool bench_tune(const struct bench_options *o);

/* ---- overhead (overhead.c) ---- */

/** Holds times, all of which are microseconds. */
struct bench_overhead {
    double compute, step;                  /* a computation of one tiny step; each further one */
    double dispatch_brief;                 /* a dispatch of one tiny step */
    double dispatch_read;                  /* the same, and reading its result */
    double dispatch_idle, dispatch_asleep; /* until a dispatch of more returns, a moment after the last work and long after */
    double dispatch_queued;                /* the same, with work before it */
};

/** Measures the overhead.  Returns false after an error in wnnGetLastErrorMessage. */
bool bench_measure_overhead(uint32_t threads, struct bench_overhead *out);
/** Measures and prints; returns the exit status. */
int bench_overhead_report(uint32_t threads, bool json);

/* ---- growth (scale.c) ---- */

enum { BENCH_SCALE_SIZES = 5 };

/** Names a kind of graph and the sizes in which it is built.  kind is NULL after the last. */
struct bench_scale {
    const char *kind;
    uint32_t nodes[BENCH_SCALE_SIZES];
};
extern const struct bench_scale bench_scales[];

/** Measures the milliseconds from a new context to the built graph.  Returns false after an error in wnnGetLastErrorMessage. */
bool bench_scale_time(const char *kind, uint32_t nodes, uint32_t threads, const char *debug, double *ms);
/** Returns whether no kind whose name contains pattern takes clearly more than linear time. */
bool bench_scale_check(uint32_t threads, const char *pattern, const char *debug);
/** Times and prints all kinds whose name contains pattern, or all if it is NULL; returns the exit status. */
int bench_scale_report(uint32_t threads, const char *pattern, const char *debug, bool json);

/* ---- new sizes (sizes.c) ---- */

/** Prints the head of the table that bench_sizes_report prints lines of. */
void bench_sizes_header(void);
/** Plans and computes a network whose file names dimensions at random sizes, and prints what new ones cost.  Returns false
 * after an error in *e. */
bool bench_sizes_report(const struct bench_options *o, const char *path, struct error *e);
