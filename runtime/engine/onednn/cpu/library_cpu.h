/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Runs steps of the library on the CPU, on row-major tensors in host memory.
 *
 * Each invocation of an executable owns one library_bindings per step, made with the invocation, so that runs of one step on
 * several threads never share a memory object; library_step_run then only stores pointers and calls the primitive.
 */
#pragma once

#include "runtime/engine/onednn/library.h"

/** Holds the library's memory objects for one step.  One thread at a time uses it, and it must not outlive its step. */
struct library_bindings;

/** Creates a step's memory objects for one invocation.  Returns NULL after an error in *e. */
struct library_bindings *library_bindings_create(const struct library_step *s, struct error *e);
/** Frees b, which may be NULL. */
void library_bindings_free(struct library_bindings *b);

/**
 * Runs a step on the calling thread's OpenMP team, which must have the library's thread count (threads_enter).  inputs are in
 * the order of the step's info, and scratch has its scratch_bytes.  Returns false if the library failed, which no valid step
 * does.
 */
bool library_step_run(const struct library_step *s, struct library_bindings *b, const void *const *inputs, void *output,
                      void *scratch);

/**
 * Measures a primitive for a step's problem, alone, with operands in whatever layouts it prefers (or the step's own, if that is
 * faster).  With `cold` its weights are in no near cache.  Returns the microseconds of the best of many runs, which take some
 * `seconds`, or 0 if there is no such primitive.
 */
double library_step_standalone(const struct library_step *s, bool cold, double seconds);
