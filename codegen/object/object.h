/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Writes a whole compiled graph as one object file, for any target.
 *
 * The input is a program (ir/program.h) or its serialized form, and what the object's functions are called.  The output is the
 * bytes of an object file, assembly, LLVM IR or bitcode.  docs/webnnc.md describes what the file exports
 * (webnn/webnn_object.h).
 *
 * There are two kinds.  In a standalone object the steps are a table (runtime/code.h), and only PREFIX_run needs
 * malloc and free.  An object with a run-time library holds kernels, the serialized program, and calls of libwebnn_rt.  Kernels
 * use the same lowering and passes as those of the JIT.
 */
#pragma once

#include "codegen/codegen.h"
#include "codegen/object/runtime/code.h"
#include "ir/program.h"

/** Describes an input or an output of the model. */
struct object_tensor {
    const char *name;        /* as the model has it; ends with a NUL */
    struct tensor_type type; /* a dimension that is not the same at all sizes is 0 */
};

/** Holds the program for one combination of sizes, or the only one. */
struct object_variant {
    const uint32_t *sizes;
    const struct program *program;
    const int64_t *constant_offsets; /* where each of the program's constants begins in `constants` */
};

/** Bytes that become read-only data. */
struct object_data {
    const void *bytes;
    size_t length;
};

/** Describes how an object's kernels are computed on one kind of processor. */
struct object_level {
    const struct target *target;
    struct schedule *const *kernels; /* standalone: of the kernel steps of all variants, in their order; with a serialized
                                        program: in the order of its table of functions */
    struct object_data serialized;   /* with a run-time library: the program with these schedules' numbers; else NULL */
};

/** An object holds code for so many kinds of processors at most, and for so many combinations of so many sizes. */
enum { OBJECT_LEVELS_MAX = 4, OBJECT_VARIANTS_MAX = 64, OBJECT_SIZES_MAX = 16 };

/** Describes what an object is made of.  Everything stays the caller's. */
struct object_program {
    const char *prefix, *producer; /* a C identifier; "webnnc 0.2.0" */
    uint32_t input_count, output_count;
    const struct object_tensor *inputs, *outputs;
    bool shared; /* for a shared object: exports the description under its fixed name, too */

    uint32_t kernel_count; /* of each level */
    uint32_t level_count;  /* at least 1; several ones as object_levels names them, the lowest first */
    const struct object_level *levels;
    uint32_t size_count;           /* standalone: what functions take before tensors */
    const char *const *size_names; /* of the model's dimensions */
    uint32_t variant_count;        /* standalone: at least 1; several ones differ in sizes; with a serialized program: 0 */
    const struct object_variant *variants;

    struct object_data constants; /* standalone: all of them, each at a multiple of 64; with serialized programs: their data, if
                                     they are written without it */
    const char *weights_path;     /* constants are in this file instead (after OBJECT_WEIGHTS_HEADER bytes); NULL: in the
                                    object, or there are none */
    uint64_t weights_checksum;
};

/** A file of weights begins with this, and zeros up to OBJECT_WEIGHTS_HEADER. */
#define OBJECT_WEIGHTS_MAGIC "WNNWGHT1"
struct object_weights {
    char magic[8];
    uint64_t bytes, checksum; /* of the constants */
};

enum object_kind { OBJECT_CODE, OBJECT_ASSEMBLY, OBJECT_LLVM_IR, OBJECT_BITCODE };

/** Is called as work proceeds, when `done` of `total` kernels are emitted.  Once done is total, LLVM optimises and generates
 * code. */
typedef void (*object_progress)(void *user, uint32_t done, uint32_t total);

struct object_options {
    enum object_kind kind;
    bool for_size;            /* LLVM makes small code rather than fast code */
    object_progress progress; /* may be NULL */
    void *user;
    struct codegen_times *times; /* may be NULL */
};

/**
 * Fills triple, cpu, features and isa of the processor that code is made for; the strings live in a.  triple is NULL for this
 * machine's.  cpu is a name of LLVM's (x86-64 levels are among them), "native", or NULL for the portable baseline of the
 * triple.  features is LLVM's list, "+a,-b", which is applied on top of that, or NULL.  Returns false after an error in *e.
 */
bool object_target(struct target *t, const char *triple, const char *cpu, const char *features, struct arena *a,
                   struct error *e);
/**
 * Determines for which processors an object is to hold code, and stores what object_target takes as their cpu: the levels of
 * x86-64 in a list like "x86-64,x86-64-v3", the default ones for an x86-64 triple without cpu and features, else cpu itself.
 * Returns how many there are, or 0 after an error in *e.
 */
uint32_t object_levels(const char *triple, const char *cpu, const char *features, const char *names[OBJECT_LEVELS_MAX],
                       struct error *e);
/** Returns whether objects for t link with libraries of this machine. */
bool object_target_is_native(const struct target *t);
/** Returns whether the target is a machine without an operating system, for which people link ELF objects to firmware. */
bool object_target_is_bare(const struct target *t);

/** Describes how large a workspace PREFIX_workspace_size asks for: fixed + threads * per_thread bytes. */
struct object_workspace {
    int64_t fixed, per_thread;
};

struct object_workspace object_workspace(const struct object_program *p);
/** Returns the bytes of a standalone object's arena, of the variant that has the largest. */
int64_t object_workspace_bytes(const struct object_program *p);
/** Returns the bytes of each thread's scratch in a standalone object. */
int64_t object_scratch_bytes(const struct object_program *p);

/** Makes an object and stores its bytes, which the caller frees with free().  Returns false after an error in *e. */
bool object_create(const struct debug_options *d, const struct object_program *p, const struct object_options *o, void **bytes,
                   size_t *length, struct error *e);
