/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * This header declares the launches of an executable's steps, for loading and saving.
 */
#pragma once

#include "runtime/engine/opencl/internal.h"
#include "runtime/program/executable.h"
#include "runtime/program/invocation.h"
#include "runtime/program/serialized.h"

/** Areas of scratch memory that a step of oneDNN may have. */
enum { OPENCL_SCRATCH_AREAS = 4 };

/** The launch of a kernel. */
struct opencl_launch {
    uint32_t tensors;
    bool scratch, wide; /* whether it has scratch memory; whether its parameters are long */
    int64_t scratch_bytes;
    size_t global[GPU_DIMENSIONS], local[GPU_DIMENSIONS];
    uint32_t param_count;
    const int64_t *params; /* the executable's */
};

struct opencl_step {
    cl_kernel kernel; /* its parameters are set */
    const struct opencl_program *program;
    uint32_t number; /* of the kernel in the program */
    struct opencl_launch launch;
};

struct opencl_times;

/** Memory objects that an invocation keeps for one address of a step of oneDNN (opencl_library.c); NULL: there is none yet. */
struct opencl_parts {
    cl_mem part; /* a part of the invocation's own memory, which begins at `address` */
    engine_address address;
    cl_mem copy; /* a separate object, to and from which the value is copied */
};

/** The engine's data of an invocation (invocation.data). */
struct opencl_run {
    struct opencl_times *times;                          /* of the run that is being put into the queue (opencl_profile.c) */
    struct library_gpu_bindings **bindings;              /* by step; NULL where it is not oneDNN's (opencl_library.c) */
    struct opencl_parts *parts;                          /* by address; NULL if no step is oneDNN's */
    struct engine_buffer *scratch[OPENCL_SCRATCH_AREAS]; /* that steps of oneDNN share */
};

static inline struct opencl_run *opencl_run_of(const struct invocation *i)
{
    return i->data;
}

struct opencl_executable {
    struct executable base;
    struct opencl_step *steps;
    size_t scratch_offset;                 /* in the memory of an invocation, after the arena */
    struct serialized_program *serialized; /* for saving; refers to the constants */
    void (*release)(void *user);           /* gives back the file that it was loaded from; NULL if it was not */
    void *release_user;
};

/** Sets the invocation's reason of a failed step.  Returns false. */
bool opencl_step_failed(struct invocation *i, const char *call, cl_int code);

/**
 * Creates an executable without launches; opencl_unload frees it.  Returns NULL after an error
 * in *e.
 */
struct opencl_executable *opencl_executable_create(struct engine *en, struct program *p, struct error *e);
/**
 * Builds and sets up the launches of all steps, with a program for every kernel step, in order.  Then takes p
 * over.  Returns false after an error in *e.
 */
bool opencl_executable_finish(struct opencl_executable *x, struct program *p, struct opencl_wanted *wanted, struct error *e);
