/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Runs a program's steps on the CPU: kernels as functions on a team of threads, primitives of the library, memmove.
 *
 * A program and a function for each of its kernels become an executable.  These files do not depend on LLVM or contexts:
 * libwebnn_rt uses them like the CPU engine, and tests use hand-written kernels.
 */
#pragma once

#include "codegen/kernel_abi.h"
#include "runtime/engine/cpu/thread_trial.h"
#include "runtime/engine/onednn/cpu/library_cpu.h"
#include "runtime/program/executable.h"

/** The CPU engine's data of a step; `function`, `params`, `units` and `parts` belong to kernels. */
struct cpu_step {
    kernel_function function;
    const int64_t *params;
    int64_t units;
    uint32_t parts;   /* threads that divide the units */
    uint32_t binding; /* LIBRARY: index of its library_bindings in an invocation */
    bool turns;       /* odd iterations of a loop compute the last units first */
};

struct cpu_executable {
    struct executable base;
    struct cpu_step *steps;
    uint32_t thread_count;
    uint32_t binding_count; /* steps of the library */
    bool needs_team;        /* some step runs on several threads */
    bool brief;
    bool tries;                /* whether several threads are faster is measured at run time */
    struct thread_trial trial; /* if so */
    /*
     * These say where scratch memory is after the arena, in bytes: first the library's, then each thread's, at this
     * distance.
     */
    size_t library_scratch, thread_scratch, scratch_stride;
};

/**
 * Loads p for en, with functions[i] for its i-th STEP_KERNEL (in step order), which must outlive x.  Takes over library steps
 * and references to constants; the kernels stay p's.  Returns false after an error in *e; then p keeps everything, and x is as
 * after cpu_executable_clear.
 */
bool cpu_executable_init(struct cpu_executable *x, struct engine *en, struct program *p, const kernel_function *functions,
                         struct error *e);
/** Runs x once if it is so small that building it takes much longer, so that its first run is like the next ones. */
void cpu_executable_warm(struct cpu_executable *x);
/** Frees what x holds, but not x, which may be all zeros.  No run may be in progress. */
void cpu_executable_clear(struct cpu_executable *x);

/** The CPU's engine_options.is_ready and is_brief. */
bool cpu_executable_is_ready(const struct cpu_executable *x);
static inline bool cpu_executable_is_brief(const struct cpu_executable *x)
{
    return x->brief;
}

/** Returns the pointer of a CPU engine's address. */
static inline void *cpu_pointer(engine_address a)
{
    return (void *)a;
}

/** Returns a binding's pointer on the CPU. */
static inline void *cpu_binding_pointer(const struct engine_binding *b)
{
    return b->buffer ? cpu_pointer(b->buffer->address) : b->host;
}

/** Creates a buffer in pages that a pool's constants share, or in memory of its own.  The pool may be NULL. */
struct engine_buffer *cpu_buffer_place(struct constant_pool *pool, size_t bytes, struct error *e);
/** The memory functions of struct engine_functions for host memory; they do not use en. */
struct engine_buffer *cpu_buffer_create(struct engine *en, size_t bytes, struct error *e);
void cpu_buffer_free(struct engine *en, struct engine_buffer *b);
bool cpu_buffer_write(struct engine *en, struct engine_buffer *b, size_t offset, const void *data, size_t bytes,
                      struct error *e);
bool cpu_buffer_read(struct engine *en, struct engine_buffer *b, size_t offset, void *data, size_t bytes, struct error *e);
