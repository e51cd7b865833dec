/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Generated models: small models with valid and with extreme operands and attributes, each of which is read, built and computed
 * in a child process under limits of time and memory, and compared with the reference interpreter if it is valid.
 *
 *   model.c     a model as plain data; printing, saving and loading it
 *   catalog.c   the operators of both dialects, from the ONNX reader's tables and from ir/graph/ops.def, and what is learnt of
 * each: attributes that its importer asks for, words that it compares them with onnx.c      a model as an ONNX file calls.c a
 * model as builder calls by name, and as .webnn text hints.c     what a refusal mentions mutate.c    random changes: small
 * ones, which often keep a model valid, and extreme ones check.c     everything that is asked of one model unit.c searching
 * valid models of some operators, then checking many variants of them worker.c    child processes and their limits shrink.c
 * making a failing model small main.c      generated-models: options, counts, reports
 *
 * There is no list of operators or of their rules here.  The search starts with random operands and changes them, led by what
 * the reader says: a refusal that was not seen before is as good a start for more changes as a valid model, and the numbers,
 * types and names in its message are the first to be tried.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "frontend/readers/onnx/onnx.h"
#include "random/random.h"

/* ---- models ---- */

enum {
    GEN_TENSORS = 40,
    GEN_NODES = 5,
    GEN_INPUTS = 12,
    GEN_OUTPUTS = 6,
    GEN_ATTRIBUTES = 10,
    GEN_RANK = 10,
    GEN_VALUES = 16,
    GEN_TEXT = 40,
    GEN_NAME = 48,
    GEN_ELEMENTS = 1 << 16, /* the most that is written of a constant */
};

enum gen_dialect { GEN_ONNX, GEN_CALLS, GEN_TEXTUAL, GEN_DIALECTS };

enum gen_source { GEN_INPUT, GEN_CONSTANT, GEN_RESULT };

/** A tensor; its name is t and its index.  Elements repeat the values. */
struct gen_tensor {
    uint8_t type; /* enum onnx_type, in every dialect */
    uint8_t rank;
    uint8_t source;
    bool hidden; /* a result that is not an output of the model */
    uint32_t count;
    int64_t dims[GEN_RANK];     /* of a result: as computed, or 0 */
    int64_t values[GEN_VALUES]; /* bits of doubles if the type is a floating-point one */
};

/** What an attribute holds: the numbers of ONNX's AttributeType, and one more for calls. */
enum gen_kind {
    GEN_FLOAT = 1,
    GEN_INT = 2,
    GEN_STRING = 3,
    GEN_TENSOR = 4,
    GEN_GRAPH = 5,
    GEN_FLOATS = 6,
    GEN_INTS = 7,
    GEN_STRINGS = 8,
    GEN_BOOL = 32,
};

struct gen_attribute {
    char name[GEN_NAME];
    uint8_t kind;
    uint8_t count;   /* of values; those of a list repeat up to its length */
    uint32_t length; /* of a list */
    int64_t values[GEN_VALUES];
    char text[GEN_TEXT];      /* of GEN_STRINGS: words between blanks */
    struct gen_tensor tensor; /* GEN_TENSOR */
};
/* A GEN_GRAPH has values[0] inputs and values[1] outputs; output i is input values[2 + i] of the body, or, beyond those, an
 * input of the node, passed on or doubled. */

struct gen_node {
    char domain[GEN_NAME], op[GEN_NAME];
    uint8_t input_count, output_count, attribute_count;
    int8_t inputs[GEN_INPUTS]; /* -1: absent */
    int8_t outputs[GEN_OUTPUTS];
    struct gen_attribute attributes[GEN_ATTRIBUTES];
};

/** Plain data: copied, compared and saved as bytes. */
struct gen_model {
    char magic[8];
    uint8_t dialect, tensor_count, node_count;
    int16_t version; /* of the operator set ai.onnx */
    struct gen_tensor tensors[GEN_TENSORS];
    struct gen_node nodes[GEN_NODES];
};

void gen_model_init(struct gen_model *m, enum gen_dialect dialect);
void gen_model_print(const struct gen_model *m, FILE *out);
bool gen_model_save(const struct gen_model *m, const char *path);
bool gen_model_load(struct gen_model *m, const char *path);
/** Drops tensors that no node has. */
void gen_model_compact(struct gen_model *m);
static inline bool gen_type_is_float(unsigned type)
{
    return type == ONNX_FLOAT || type == ONNX_FLOAT16 || type == ONNX_DOUBLE || type == ONNX_BFLOAT16;
}
/** 1 if the type has none that is known. */
size_t gen_type_size(unsigned type);
/** Elements of a tensor that are written: those that it should have, up to GEN_ELEMENTS. */
size_t gen_tensor_written(const struct gen_tensor *t);
/** Stores the first count elements. */
void gen_tensor_fill(const struct gen_tensor *t, size_t count, void *data);
int64_t gen_bits(double value);
double gen_double(int64_t bits);

/* ---- random numbers ---- */

struct gen_random {
    uint64_t state;
};

uint64_t gen_next(struct gen_random *r);
/** 0 to below - 1. */
static inline uint32_t gen_below(struct gen_random *r, uint32_t below)
{
    return below ? (uint32_t)((gen_next(r) >> 32) * below >> 32) : 0;
}
static inline bool gen_chance(struct gen_random *r, uint32_t percent)
{
    return gen_below(r, 100) < percent;
}

/* ---- the catalog ---- */

enum { GEN_NOTES = 16, GEN_WORDS = 16 };

/** What was learnt of an attribute. */
struct gen_note {
    char name[GEN_NAME];
    uint8_t kind;
    uint8_t word_count;
    char words[GEN_WORDS][GEN_TEXT]; /* of a string: what it may be */
};

struct gen_row {
    const char *domain, *name;
    int since, until;
    unsigned min_inputs, max_inputs, max_outputs;
    const char *operands[GEN_INPUTS]; /* names that messages have; NULL: not known */
    bool refused;                     /* the table says that it cannot be expressed */
    size_t note_count;
    struct gen_note notes[GEN_NOTES];
};

/** All rows of a dialect's table. */
struct gen_row *gen_rows(enum gen_dialect dialect, size_t *count);
struct gen_row *gen_find_row(const struct gen_model *m, const struct gen_node *n);
/** Notes that an importer asked for an attribute, or compared it with a word (NULL: only asked). */
void gen_learn(struct gen_row *row, const char *attribute, enum gen_kind kind, const char *word);

/** To be called before a model is read. */
void gen_listen(void);
/** How many things the importers asked for since, until one refused: how far the reader came. */
unsigned gen_steps(void);

/* ---- writing and reading ---- */

/** Makes a model file of the dialect (not GEN_CALLS); the caller frees it. */
char *gen_onnx_write(const struct gen_model *m, size_t *length);
char *gen_text_write(const struct gen_model *m, size_t *length);
bool gen_calls_read(const struct gen_model *m, WNNContext context, struct model *out, struct error *e);
/** Reads the model the way of its dialect. */
bool gen_read(const struct gen_model *m, WNNContext context, struct model *out, struct error *e);

/* ---- mutations ---- */

/** What a message mentions: tried first. */
struct gen_hints {
    uint32_t number_count, type_count, shape_count;
    uint32_t tensor; /* an operand's index */
    int64_t numbers[12];
    struct {
        uint32_t rank;
        int64_t dims[GEN_RANK];
    } shapes[4]; /* lists in brackets */
    uint8_t types[4];
    char attribute[GEN_NAME]; /* "" : none */
};

void gen_hints_read(const struct gen_model *m, const char *message, struct gen_hints *hints);
/** A random application of the row in a model of its own. */
void gen_start(struct gen_random *r, enum gen_dialect dialect, const struct gen_row *row, struct gen_model *m);
void gen_mutate(struct gen_random *r, struct gen_model *m, const struct gen_hints *hints);
void gen_mutate_extreme(struct gen_random *r, struct gen_model *m);
/** Appends b's nodes, fed by a's results where the shapes agree.  False: there is no room, or no common version. */
bool gen_append(struct gen_random *r, struct gen_model *a, const struct gen_model *b);

/* ---- checking ---- */

enum gen_verdict { GEN_REFUSED, GEN_ACCEPTED, GEN_COMPUTED, GEN_COMPARED, GEN_WRONG };

struct gen_checker; /* contexts of a process */
struct gen_checker *gen_checker_create(void);
void gen_checker_free(struct gen_checker *c);
/** Reads only; notes the shapes of results.  message: of a refusal. */
enum gen_verdict gen_check_reading(struct gen_checker *c, struct gen_model *m, char *message, size_t size);
/** Everything.  seed chooses among the variants of computing.  message: of a refusal, or what is wrong. */
enum gen_verdict gen_check(struct gen_checker *c, const struct gen_model *m, uint32_t seed, char *message, size_t size);

/* ---- units and workers ---- */

enum { GEN_ROWS_MAX = 512, GEN_MESSAGE = 1024 };

/** What a worker and its parent share. */
struct gen_shared {
    struct gen_model model; /* at work */
    uint32_t check_seed;
    bool busy;         /* a model is at work */
    bool learning;     /* it is only read */
    bool check_leaks;  /* after every model */
    uint32_t serial;   /* counts models at work */
    uint64_t base_rss; /* of the process before this model, in bytes */
    uint64_t read, checked, accepted, computed, compared;
    uint32_t tried[GEN_DIALECTS][GEN_ROWS_MAX], taken[GEN_DIALECTS][GEN_ROWS_MAX]; /* of models of one node */
    char message[GEN_MESSAGE];
};

struct gen_limits {
    double cpu_seconds; /* of one model */
    uint64_t memory;    /* bytes above what the process has */
};

enum gen_failure { GEN_PASSED, GEN_FAILED_WRONG, GEN_FAILED_TIME, GEN_FAILED_MEMORY, GEN_FAILED_CRASH, GEN_FAILED_LEAK };
const char *gen_failure_name(enum gen_failure failure);

/** A unit of work, deterministic by seed and number: some operators, and models of them. */
struct gen_unit {
    uint64_t seed, number;
    uint32_t models;
    const char *only; /* an operator; NULL: all */
};

/** Runs in the child. */
void gen_unit_run(struct gen_shared *shared, const struct gen_unit *unit, const struct gen_limits *limits);
/** Searches valid models of one row and prints what came of it: in the child. */
void gen_unit_learn(struct gen_shared *shared, const struct gen_unit *unit, enum gen_dialect dialect, size_t row, FILE *out);
/** Checks shared->model, in the child. */
enum gen_verdict gen_unit_check(struct gen_shared *shared, const struct gen_limits *limits);

struct gen_worker {
    int pid;
    struct gen_shared *shared;
    char log[64]; /* what it printed */
    struct gen_unit unit;
    uint32_t serial;
    double changed; /* when serial did last */
    bool killed_for_memory, killed_for_time;
};

bool gen_worker_init(struct gen_worker *w);
void gen_worker_free(struct gen_worker *w);
/** Starts a child that runs the unit, or, if it is NULL, checks shared->model. */
void gen_worker_start(struct gen_worker *w, const struct gen_unit *unit, const struct gen_limits *limits);
/** Prints what is learnt of every operator (only NULL), or of one, each in a child of its own. */
void gen_worker_learn(struct gen_worker *w, uint64_t seed, const char *only);
/** False while the child runs. */
bool gen_worker_poll(struct gen_worker *w, const struct gen_limits *limits, enum gen_failure *failure);
/** Checks one model in a child of its own. */
enum gen_failure gen_worker_check(struct gen_worker *w, const struct gen_model *m, uint32_t check_seed, bool leaks,
                                  const struct gen_limits *limits);
/** Memory of a process that is resident; 0 if that is not known. */
uint64_t gen_resident_bytes(int pid);

/** Makes a failing model smaller for about that many seconds. */
void gen_shrink(struct gen_worker *w, struct gen_model *m, uint32_t check_seed, enum gen_failure failure,
                const struct gen_limits *limits, double seconds);
