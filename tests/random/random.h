/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Differential random tests: graphs drawn from the operator table, run by the engine through the public API in many variants,
 * and held against the reference interpreter's values and error bounds.
 *
 *   sample.c              a graph with its inputs' data and every value computed by the interpreter; how samples are edited
 *   generate.c            drawing numbers, shapes, data and operands
 *   generate_operator.c   drawing one application of each operator; families of them: generate_movement.c,
 * generate_contraction.c, generate_reduce.c, generate_window.c; generate_quantized.c draws contractions of bytes engine.c the
 * way through the public API, in variants check.c               everything that is asked of one sample shrink.c making a
 * failing sample small main.c                random-graphs: options, counts, reports coverage.c            coverage-operators:
 * every operator with every data type of every operand
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ir/interpret/interpret.h"
#include "ir/graph/ir.h"

/** Out of memory, or a mistake of the test itself. */
_Noreturn void random_die(const char *what);
void *random_alloc(size_t count, size_t size);
double random_seconds(void);

/* ---- samples ---- */

/** A graph and what the interpreter says of each of its values, by value->index; inputs' data stand there, too. */
struct sample {
    struct graph *g;
    uint32_t capacity;
    void **data;     /* NULL: a value that is not (or no longer) defined */
    double **bounds; /* NULL: exact */
};

void sample_init(struct sample *s);
void sample_free(struct sample *s);
void sample_set_data(struct sample *s, const struct value *v, void *data, double *bounds);
/**
 * Computes a node on the sample's data.  other_bounds (by value->index; NULL: none): bounds of operands in place of the
 * sample's. Fills results and bounds with fresh memory, the caller's then.  False: the interpreter refuses, and why is printed.
 */
bool sample_compute_node(const struct sample *s, const struct node *n, double *const *other_bounds, void **results,
                         double **bounds);
/** Computes a node's results.  False if the interpreter refuses, with a message on stderr. */
bool sample_evaluate_node(struct sample *s, const struct node *n);
/** Copies the constants' data and computes all nodes of a graph whose inputs' data are set.  Returns false, with a message on
 * stderr, if the interpreter refuses a node. */
bool sample_evaluate(struct sample *s);
/** Returns the number of elements of which nothing can be asked. */
int64_t sample_unknown(const struct sample *s, const struct value *v);
/** The textual form, all data included; the caller frees it. */
char *sample_text(const struct sample *s);

enum edit_kind {
    EDIT_NONE,
    EDIT_DROP_OUTPUT,   /* output `index` */
    EDIT_DROP_DEAD,     /* nodes that no output needs */
    EDIT_CUT,           /* result `slot` of node `index` becomes an input of the same content */
    EDIT_BYPASS,        /* results of node `index` become its input `slot`, if the types agree */
    EDIT_DROP_OPERAND,  /* optional operand `slot` of node `index` */
    EDIT_PLAIN_OPTIONS, /* node `index` with default options */
    EDIT_INPUT,         /* constant number `index` becomes an input */
    EDIT_SIZE,          /* every dimension (and list item that is one) of size `from` becomes `to` */
    EDIT_ONES           /* input number `index` is filled with ones */
};

struct edit {
    enum edit_kind kind;
    uint32_t index, slot;
    uint32_t from, to;
};

/** A copy of s with one change, without unused inputs and constants.  False: the edit does not apply. */
bool sample_edit(const struct sample *s, const struct edit *e, struct sample *out);

/* ---- generating ---- */

struct generate_options {
    uint64_t seed;
    uint32_t nodes; /* about how many */
};

void sample_generate(struct sample *s, const struct generate_options *o);
/** One application of op, and little else; where data types are free, `wanted` more often than not.  o->nodes does not count.
 * False: it did not work out, another seed may. */
bool sample_generate_operator(struct sample *s, const struct generate_options *o, enum op op, dtype wanted);

/* ---- variants ---- */

/** Numbers of threads, from one on, that have to give the same bits in a deterministic variant. */
enum { VARIANT_THREADS = 4 };

struct variant {
    char name[96]; /* debug switches, threads=N, deterministic, named, engine=null, engine=gpu */
    bool named;    /* dimensions of floating-point inputs have names, equal ones for equal sizes */
    uint32_t threads;
    struct WNNContextImpl *others[VARIANT_THREADS - 1]; /* deterministic: with two threads, three ... */
    bool epilogues;                                     /* contractions may be the library's, with what follows them */
    uint64_t graphs;                                    /* run so far */
    struct WNNContextImpl *context;
};

/**
 * name is a comma-separated list of debug switches, threads=N, deterministic (one to four threads give the same bits), named,
 * and engine=null (tests/runtime/engine/null) or engine=gpu (an OpenCL device); "default" for none.
 */
void variant_init(struct variant *v, const char *name);
void variant_release(struct variant *v);

/** Builds and computes the sample, twice over the same buffers.  False with e: an error that the API reported, or two results.
 */
bool engine_run(struct variant *v, const struct sample *s, void **outputs, struct error *e);

/* ---- checking ---- */

enum { CHECK_REPORT = 512 };

struct check_counts {
    uint64_t compared;
    uint64_t unknown; /* nothing can be asked: a jump, a pole or the range's end is near */
    uint64_t exempt;  /* NaN at relu or clamp as a library epilogue */
};

/** What does not depend on a variant: verifier, print and parse, the interpreter's driver.  False: report says what. */
bool check_sample(struct sample *s, char report[CHECK_REPORT]);
/** Runs and compares.  counts may be NULL.  False: report says what. */
bool check_variant(const struct sample *s, struct variant *v, struct check_counts *counts, char report[CHECK_REPORT]);

/** Replaces s by a smaller sample that fails, too, in the variant (NULL: check_sample fails), in about that many seconds. */
void sample_shrink(struct sample *s, struct variant *v, double seconds);
