/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * webnnc, the ahead-of-time compiler: what its files share.
 *
 *   webnnc_options.c   the command line
 *   webnnc.c           main: reads the model, decides what is compiled for what, hands it to one of the following
 *   webnnc_model.c     reading
 *   webnnc_object.c    struct program -> codegen/object.h -> bytes
 *   webnnc_header.c    names that are C identifiers, and the C header
 *   webnnc_dot.c       Graphviz
 *   webnnc_link.c      shared objects and programs, by the system's C compiler
 *   webnnc_output.c    files that are there whole or not at all
 *
 * Links the compiler's static libraries, since it needs their insides.
 */
#ifndef WEBNN_FRONTEND_TOOLS_WEBNNC_H_
#define WEBNN_FRONTEND_TOOLS_WEBNNC_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "codegen/object.h"
#include "frontend/model/model.h"
#include "frontend/text/write.h"
#include "runtime/compile.h"

enum { EXIT_USAGE = 2 };

enum emit_kind {
    EMIT_UNKNOWN,
    EMIT_OBJ,
    EMIT_ASM,
    EMIT_LLVM_IR,
    EMIT_BC,
    EMIT_SO,
    EMIT_EXE,
    EMIT_IR,
    EMIT_WEBNN,
    EMIT_JSON,
    EMIT_DOT
};

enum library_kind { LIBRARY_DEFAULT, LIBRARY_NONE, LIBRARY_ONEDNN };

struct options {
    const char *input, *output, *header, *name;
    enum emit_kind emit;
    enum library_kind library;
    const char *triple, *cpu, *features;
    const char *weights;          /* where constants go */
    const char *model_weights;    /* where the model's come from */
    const char *cc;               /* NULL: cc */
    enum text_weights weights_as; /* of a .webnn text or JSON */
    bool legal_names;
    uint32_t threads; /* 0: default */
    WNNPrecision precision;
    bool verbose, quiet;
    char *debug;          /* switches for the context */
    char *default_output; /* what output points to if it was not given */
    struct model_options model;
    struct model_dim *dims;
    struct model_shape *shapes;
    struct model_constant *constants;
    struct npy_array *arrays; /* of constants */
};

/** False: said why on stderr, or (*status is 0 then) did what --help and the like ask for. */
bool options_parse(int argc, char **argv, struct options *o, int *status);
void options_free(struct options *o);

/** "webnnc: ..." on stderr.  Returns false. */
bool complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** What is compiled, on the way to its outputs. */
struct compilation {
    const struct options *options;
    WNNContext context;
    struct model model;
    struct graph *graph;
    struct target target;
    bool with_library;
    char *prefix;
    char **input_names, **output_names; /* C identifiers of graph inputs and outputs */
    struct program program;
    struct arena arena;
};

/* ---- webnnc_model.c ---- */

bool read_model(struct compilation *c);
bool take_graph(struct compilation *c);

/* ---- webnnc_header.c ---- */

/** Whether text can be the prefix: a C identifier that is no keyword. */
bool name_is_identifier(const char *text);
/** The prefix from a path: its last part without ending.  NULL: out of memory. */
char *name_from_path(const char *path);
/** Unique identifiers for all inputs and outputs of the graph.  False: out of memory. */
bool names_create(struct compilation *c);
void names_free(struct compilation *c);
/** The header's text, malloc'ed.  False: out of memory. */
bool header_create(const struct compilation *c, char **text, size_t *length);

/* ---- webnnc_object.c ---- */

/** Compiles c->graph to c->program. */
bool compile_program(struct compilation *c);
/** The program as a file of one of codegen's kinds, and the file of weights if there is to be one (else *weights is NULL). */
bool object_bytes_create(struct compilation *c, enum object_kind kind, bool shared, void **bytes, size_t *length,
                         void **weights, size_t *weights_length);

/* ---- webnnc_dot.c ---- */

bool dot_create(struct compilation *c, char **text, size_t *length);

/* ---- webnnc_link.c ---- */

struct output;

/** Links object code to what becomes OUT: a shared object, or a program that runs the model.  NULL: said why. */
struct output *link_output(const struct compilation *c, bool shared, const void *object, size_t length);

/* ---- webnnc_output.c ---- */

/** A temporary file beside path.  NULL: said why.  The name stays registered for signals until committed. */
struct output *output_begin(const char *path, bool executable);
/** Its path, for tools that write it themselves. */
const char *output_temporary(const struct output *f);
/** One with these data in it.  "-" (standard output), pipes and the like get them when it is committed: they must last. */
struct output *output_prepare(const char *path, const void *data, size_t length, bool executable);
/** Moves it to where it belongs.  False: said why, nothing is left.  Frees f. */
bool output_commit(struct output *f);
void output_abandon(struct output *f);
/** Both at once. */
bool output_file(const char *path, const void *data, size_t length, bool executable);
/** A folder for intermediate files; removed with what is in it by folder_remove, or by a signal.  NULL: said why. */
const char *folder_create(void);
/** A path in it (malloc'ed), registered for removal.  NULL: out of memory or too many. */
const char *folder_path(const char *name);
void folder_remove(void);
void output_handle_signals(void);

/* ---- progress ---- */

/** What is being done now, on a terminal; NULL: nothing any more.  total 0: no count. */
void progress_show(const struct options *o, const char *what, uint32_t done, uint32_t total);

#endif
