/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Objects: a whole compiled graph as one file for any target.
 *
 * In: what the program does, in the terms of this header (frontend/tools/webnnc_object.c fills it in from struct program). Out:
 * the bytes of an object file, assembly, LLVM IR or bitcode.  docs/webnnc.md describes what the file exports
 * (webnn/webnn_object.h).
 *
 * Two kinds.  Standalone: the steps themselves are code, calls of kernels one after the other, and nothing is needed beyond
 * malloc and free in PREFIX_run.  With a run-time library: kernels, an image of the program, and calls of libwebnn_rt.
 * Kernels come out of the same emitter and passes as those of the JIT.
 */
#ifndef WEBNN_CODEGEN_OBJECT_H_
#define WEBNN_CODEGEN_OBJECT_H_

#include "codegen/codegen.h"

/** Where a step of a standalone object finds a tensor. */
enum object_memory { OBJECT_WORKSPACE, OBJECT_INPUT, OBJECT_OUTPUT, OBJECT_CONSTANT };

struct object_place {
    enum object_memory memory;
    uint32_t slot;  /* which input or output */
    int64_t offset; /* bytes from the start of that, the workspace or all constants */
};

/** A place of a step in a loop, as struct program_move has it. */
struct object_move {
    uint32_t place;
    int64_t stride;
    bool has_first;
    struct object_place first;
};

struct object_step {
    const struct kernel *kernel; /* NULL: a copy from places[0] to places[1] */
    int64_t copy_bytes;
    uint32_t parts; /* threads that pay, at most */
    uint32_t place_count;
    const struct object_place *places;
    uint32_t move_count;
    const struct object_move *moves;
};

struct object_loop {
    uint32_t first, count, iterations;
};

struct object_tensor {
    const char *name; /* as the model has it; ends with a NUL */
    struct tensor_type type;
};

/** Bytes that become read-only data. */
struct object_data {
    const void *bytes;
    size_t length;
};

struct object_program {
    const char *prefix, *producer; /* a C identifier; "webnnc 0.1.0" */
    uint32_t input_count, output_count;
    const struct object_tensor *inputs, *outputs;
    bool shared; /* for a shared object: exports the description under its fixed name, too */

    uint32_t step_count; /* with an image: those that run kernels, in the order of its table of functions */
    const struct object_step *steps;
    uint32_t loop_count;
    const struct object_loop *loops;
    int64_t workspace_bytes, scratch_bytes; /* of a run, and of each thread */

    struct object_data constants; /* all of them, each at a multiple of 64 */
    const char *weights_path; /* constants are in this file instead (behind OBJECT_WEIGHTS_HEADER bytes); NULL: in the
                                object, or there are none */
    uint64_t weights_checksum;

    struct object_data image; /* with a run-time library; else NULL */
};

/** A file of weights begins with struct object_weights, then zeros up to this. */
enum { OBJECT_WEIGHTS_HEADER = 64 };
#define OBJECT_WEIGHTS_MAGIC "WNNWGHT1"
struct object_weights {
    char magic[8];
    uint64_t bytes, checksum; /* of the constants */
};

enum object_kind { OBJECT_CODE, OBJECT_ASSEMBLY, OBJECT_LLVM_IR, OBJECT_BITCODE };

/** Called as work proceeds: done of total kernels emitted; once done is total, LLVM optimises and generates code. */
typedef void (*object_progress)(void *user, uint32_t done, uint32_t total);

struct object_options {
    enum object_kind kind;
    object_progress progress; /* may be NULL */
    void *user;
    struct codegen_times *times; /* may be NULL */
};

/**
 * The processor that code is made for.  triple NULL: this machine's.  cpu: a name of LLVM's (x86-64 levels are among them),
 * "native", or NULL for the portable baseline of the triple.  features: LLVM's list, "+a,-b", on top of that, or NULL.  Fills
 * triple, cpu, features and vector_bits; strings live in a.  False: e.
 */
bool object_target(struct target *t, const char *triple, const char *cpu, const char *features, struct arena *a,
                   struct error *e);
/** Whether objects for t link with libraries of this machine. */
bool object_target_is_native(const struct target *t);

/** *bytes: malloc'ed.  False: e. */
bool object_create(const struct target *t, const struct debug_options *d, const struct object_program *p,
                   const struct object_options *o, void **bytes, size_t *length, struct error *e);

#endif
