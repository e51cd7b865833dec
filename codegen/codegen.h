/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Generates native code from kernel IR, through LLVM's C API.  This folder is the only one that includes LLVM headers; this
 * header includes none.
 *
 * It takes kernels with their schedules (ir/schedule/schedule.h) and returns kernel_function pointers (JIT).  Objects and
 * assembly, which codegen/object/object.h makes ahead of time, share everything up to the finished module.  Read
 * codegen/lower/lower.c first.
 */
#pragma once

#include "codegen/kernel_abi.h"
#include "ir/support/debug.h"
#include "ir/schedule/schedule.h"
#include "ir/target/target.h"

/** A compiler for one target, with its JIT and its cache of compiled structures.  Each context has one.  It may be used
 * by several threads at the same time. */
struct codegen;
/** References to the code of one graph's kernels.  Code that no graph uses any more stays for a while. */
struct codegen_kernels;

/** Fills in cpu and features of a target if they are the host's; the strings live in a.  Returns false after an error in *e. */
bool codegen_name_processor(struct target *t, struct arena *a, struct error *e);
/** Makes a compiler for the target, whose cpu and features are LLVM's names of the host's if they are NULL.  The strings of t,
 * and d, must outlive the result, which the caller frees.  Returns NULL after an error in *e. */
struct codegen *codegen_create(const struct target *t, const struct debug_options *d, struct error *e);
/** Frees a compiler whose kernels have all been freed.  NULL does nothing. */
void codegen_free(struct codegen *c);

/** Returns whether a call of LLVM was abandoned, for lack of memory or after a fatal error.  Then nothing can be compiled any
 * more, but existing code runs. */
bool codegen_is_abandoned(struct codegen *c);

/** Compiles kernels: each distinct structure once, and structures that were compiled earlier not at all.  functions[i] then
 * runs the kernel of schedules[i] with its numbers as parameters.  *kernels keeps the code alive until the caller
 * frees it.  `cancelled`, which may be NULL, is called on the calling thread between structures; if it returns true, this fails
 * with an OperationError.  Returns false after an error in *e, and nothing is kept. */
bool codegen_compile(struct codegen *c, uint32_t count, struct schedule *const *schedules,
                     bool (*cancelled)(void *user, uint32_t done, uint32_t total), void *user, struct codegen_kernels **kernels,
                     kernel_function *functions, struct error *e);
/** Releases the code.  NULL does nothing. */
void codegen_kernels_free(struct codegen_kernels *k);

/**
 * Copies the machine code of compiled kernels as bytes that run when mapped at any multiple of 4096 (codegen/llvm/flatten.c).
 * It copies the kernels with the numbers which[0..count-1]; offsets[i] becomes the start of the function of the i-th one.
 * schedules are those that were compiled; they are needed only under the sanitize switch, where code is compiled again without
 * it, and are NULL otherwise.  The caller frees *bytes with free().  Returns false after an error in *e.
 */
bool codegen_kernels_flatten(struct codegen_kernels *k, struct schedule *const *schedules, uint32_t count,
                             const uint32_t *which, void **bytes, size_t *size, uint64_t *offsets, struct error *e);

/** Returns the structure of the kernel of that number (schedule_structure), which lives as long as k. */
const char *codegen_kernels_structure(const struct codegen_kernels *k, uint32_t kernel);

/** Counts the milliseconds spent so far (emitting IR, LLVM's passes, instruction selection and linking), and the modules
 * compiled. */
struct codegen_times {
    double emit_ms, passes_ms, codegen_ms;
    uint32_t structures, kernels;
};
/** Stores the times of everything that c has compiled so far. */
void codegen_get_times(struct codegen *c, struct codegen_times *out);
