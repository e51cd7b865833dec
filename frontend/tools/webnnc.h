/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The files of webnnc, the ahead-of-time compiler, share this header:
 *
 *   webnnc_options.c   reads the command line
 *   webnnc.c           has main, which decides what to compile for which machine, and hands it to one of the following
 *   webnnc_model.c     reads the model, for several sizes if need be
 *   webnnc_object.c    makes bytes of a struct program by codegen/object/object.h
 *   webnnc_header.c    makes names that are C identifiers, and the C header
 *   webnnc_dot.c       writes Graphviz
 *   webnnc_link.c      makes shared objects and programs by the system's C compiler, and WebAssembly modules by wasm-ld
 *   webnnc_script.c    makes the JavaScript module that loads one of these
 *   webnnc_output.c    writes files atomically
 *
 * webnnc links the compiler's static libraries, since it needs their internals.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "codegen/object/object.h"
#include "frontend/readers/model.h"
#include "frontend/readers/text/write.h"
#include "frontend/tools/arguments.h"
#include "runtime/compile/compile.h"

enum { EXIT_USAGE = 2 };

enum emit_kind {
    EMIT_UNKNOWN,
    EMIT_OBJ,
    EMIT_ASM,
    EMIT_LLVM_IR,
    EMIT_BC,
    EMIT_SO,
    EMIT_EXE,
    EMIT_WASM,
    EMIT_IR,
    EMIT_WEBNN,
    EMIT_JSON,
    EMIT_DOT
};

/** Returns whether a linker makes OUT. */
static inline bool is_linked(enum emit_kind kind)
{
    return kind == EMIT_SO || kind == EMIT_EXE || kind == EMIT_WASM;
}

enum library_kind { LIBRARY_DEFAULT, LIBRARY_NONE, LIBRARY_ONEDNN };

enum optimize_for { OPTIMIZE_SPEED, OPTIMIZE_SIZE };

struct options {
    const char *input, *output, *header, *name;
    enum emit_kind emit;
    enum library_kind library;
    enum optimize_for optimize;
    const char *triple, *cpu, *features;
    const char *weights;      /* where constants go */
    const char *cc;           /* NULL for cc */
    const char *wasm_ld;      /* NULL for LLVM's */
    struct text_options text; /* weights and names of .webnn text and JSON */
    uint32_t threads;         /* 0 for the default */
    WNNPrecision precision;
    WNNWeightFormat quantize;
    bool deterministic;
    bool verbose, quiet;
    char *debug;                 /* switches for the context */
    char *default_output;        /* what output points to if it was not given */
    char *script;                /* the JavaScript module next to a WebAssembly module */
    struct model_options model;  /* whose weights come from --model-weights */
    struct argument_pairs sizes; /* of dimensions, which functions of the object take, and sums of these */
};

/** Returns false after a message on stderr, or, with *status 0, after --help and the like. */
bool options_parse(int argc, char **argv, struct options *o, int *status);
/** Frees what the options hold. */
void options_free(struct options *o);

/** The kernels of a program at one level of an object, in their order. */
struct level_kernels {
    uint32_t count;
    struct schedule **schedules; /* of the highest level: the program's; NULL where it runs an earlier one's kernel */
};

/** A program whose kernels the table of an object refers to. */
struct part {
    struct program program;
    struct level_kernels levels[OBJECT_LEVELS_MAX];
};

/** What a standalone object is made of. */
struct parts {
    struct object_table table, ports; /* of kernels; with sizes: of inputs and outputs, one class */
    uint32_t count, slot_count, kept_count;
    struct constant **constants; /* of all programs */
    int64_t *offsets, total;     /* where they begin */
    uint32_t *slots;             /* by slot of the last program: which of them */
    struct part *kept;
};

/** Holds the state of a compilation, from the model to the outputs. */
struct compilation {
    const struct options *options;
    WNNContext context;
    struct model model;
    struct graph *graph; /* with sizes that functions take: with names, or at one of them */
    uint32_t size_count;
    struct object_size sizes[OBJECT_SIZES_MAX]; /* what functions take */
    struct parts parts;
    uint32_t level_count; /* processors that an object has kernels for, the lowest first */
    struct target levels[OBJECT_LEVELS_MAX];
    bool with_library;
    char *prefix;
    char **port_names; /* C identifiers of the graph's inputs, then of its outputs, then of the sizes */
    struct program program;
    struct object_workspace workspace; /* of a standalone object, once it is made */
    size_t weights_bytes;              /* of its file with weights; 0: there is none */
    struct arena arena;
};

/** Describes an input or output. */
struct port {
    const char *name; /* the model's */
    size_t length;
    struct tensor_type type; /* 0 in dimensions that differ between sizes */
    const char *identifier;  /* in C; NULL before names_create */
    uint32_t word;           /* of its elements in the rows of parts.ports; its dimensions follow */
};

/** Returns how many inputs and outputs the graph has. */
static inline uint32_t port_count(const struct compilation *c)
{
    return c->graph->input_count + c->graph->output_count;
}

/* ---- webnnc_model.c ---- */

/** Reads the model that the options name, with options of reading.  Returns false after saying why. */
bool read_model(struct compilation *c, const struct model_options *options);
/** Takes the graph from the model's builder.  Returns false after saying why. */
bool take_graph(struct compilation *c);

/** Reads and compiles the model for all combinations of sizes.  Returns false after saying why. */
bool compile_sizes(struct compilation *c);

/* ---- webnnc_header.c ---- */

/** Returns whether text can be the prefix: a C identifier that is not a keyword. */
bool name_is_identifier(const char *text);
/** Makes the prefix from a path: its last part without ending.  The caller frees it.  Returns NULL if memory runs out. */
char *name_from_path(const char *path);
/** Makes unique identifiers for all inputs and outputs of the graph.  Returns false if memory runs out. */
bool names_create(struct compilation *c);
/** Frees those identifiers. */
void names_free(struct compilation *c);
/** Makes the header's text, which the caller frees.  Returns false if memory runs out. */
bool header_create(const struct compilation *c, char **text, size_t *length);
/** Prints the body, in C and JavaScript, of a function that stores the shape of an input or output: shape[d] of port, an index
 * into both, at sizes[k]. */
void shapes_print(FILE *out, const struct compilation *c);

/* ---- webnnc_object.c ---- */

/** Returns the highest of the processors: passes decide for it, and packed weights are in its order for all of them. */
static inline const struct target *compilation_target(const struct compilation *c)
{
    return &c->levels[c->level_count - 1];
}
/** Returns the i-th input of the graph or, from the number of inputs on, output. */
struct port port_at(const struct compilation *c, uint32_t i);
/** Compiles a graph to c->program.  Returns false after an error in *e. */
bool compile_program(struct compilation *c, struct graph *g, struct error *e);
/** What is made: what OUT becomes of, and the file of weights if there is to be one.  The caller frees both. */
struct object_files {
    void *bytes, *weights;
    size_t length, weights_length;
};
/** Makes the program as a file of the options' kind.  Returns false after saying why. */
bool object_files_create(struct compilation *c, struct object_files *f);

/** Adds c->program, which is used up, to what a standalone object is made of.  Returns false after saying why. */
bool standalone_add(struct compilation *c, uint32_t id);
/** Frees what it is made of. */
void standalone_free(struct compilation *c);

/* ---- webnnc_dot.c ---- */

/** Makes the graph's picture as text for Graphviz, which the caller frees.  Returns false after saying why. */
bool dot_create(struct compilation *c, char **text, size_t *length);

/* ---- webnnc_link.c ---- */

struct output;

/** Links object code to what becomes OUT: a shared object, a program that runs the model, or a WebAssembly module.  Returns
 * NULL after saying why. */
struct output *link_output(const struct compilation *c, const void *object, size_t length);

/* ---- webnnc_script.c ---- */

/** Returns the path of the JavaScript module that belongs to a WebAssembly module, which the caller frees; NULL if memory runs
 * out. */
char *script_path(const char *output);
/** Makes its text, which the caller frees.  Returns false after saying why. */
bool script_create(const struct compilation *c, char **text, size_t *length);

/* ---- webnnc_output.c ---- */

/** Creates a temporary file next to path.  Its name stays registered for signals until it is committed.  Returns NULL after
 * saying why. */
struct output *output_begin(const char *path, bool executable);
/** Returns its path, for tools that write it themselves. */
const char *output_temporary(const struct output *f);
/** Creates one with these data in it.  "-" (standard output), pipes and the like get them when it is committed, so the data
 * must stay valid until then. */
struct output *output_prepare(const char *path, const void *data, size_t length, bool executable);
/** Moves it to its path, and frees f.  Returns false after saying why; then nothing is left. */
bool output_commit(struct output *f);
/** Gives up an output: its temporary file is removed, and f freed. */
void output_abandon(struct output *f);
/** Does output_prepare and output_commit. */
bool output_file(const char *path, const void *data, size_t length, bool executable);
/** Creates a folder for intermediate files, which folder_remove, or a signal, removes with its files.  Returns NULL after
 * saying why. */
const char *folder_create(void);
/** Returns a path in it, registered for removal, which the caller frees.  Returns NULL if memory runs out or there are too
 * many. */
const char *folder_path(const char *name);
/** Removes the folder with its files. */
void folder_remove(void);
/** Makes signals that end the program remove its temporary files first. */
void output_handle_signals(void);

/* ---- progress ---- */

/** Shows the current step on a terminal; NULL ends that.  With total 0 it shows no count. */
void progress_show(const struct options *o, const char *what, uint32_t done, uint32_t total);
