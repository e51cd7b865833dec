/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The library on an OpenCL device: its engine on this engine's OpenCL context, and running steps in its queue.
 *
 * In: OpenCL's objects, as pointers without a type (cl_context and the like are pointers), and steps
 * (runtime/engine/onednn/library.h). Out: commands in the queue.  Steps are chosen and described as on the processor; the
 * engine provides a memory object for each operand.
 *
 * The library takes whole memory objects only.  Its descriptors know an offset, but as a part of the primitive, so that every
 * address would need another primitive: the engine makes sub-buffers, or copies operands at other addresses.
 *
 * There is such a library if oneDNN was built for OpenCL and accepts the device: only Intel's.
 */
#pragma once

#include "runtime/engine/engine.h"
#include "runtime/engine/onednn/library.h"

/** What a library on a device is created from. */
struct library_gpu_options {
    struct engine *owner;   /* in whose buffers constants are put; outlives the library */
    void *context, *device; /* cl_context, cl_device_id; the library keeps the context */
    const char *isa;        /* of the processor, which packs weights: as for library_create */
    bool references;        /* reference implementations are taken, too: for tests */
};

/** The library on a device, for library_free, or NULL: oneDNN was built without OpenCL, does not accept the device, or memory
 * ran out. */
struct library *library_gpu_create(const struct library_gpu_options *options);
/** Steps run in this cl_command_queue from now on, which is in order.  No step may be running.  False: the library failed. */
bool library_gpu_use_queue(struct library *l, void *queue);

/** Makes a step that is finished, or was loaded, one of the device: constants are copied to buffers of the owner, and what was
 * packed on the host is freed.  Returns false after an error in *e. */
bool library_gpu_upload(struct library_step *s, struct error *e);
/** In place of library_step_free, also for steps that were not uploaded. */
void library_gpu_step_free(struct library_step *s);

/* ---- running ---- */

enum library_gpu_source { LIBRARY_GPU_INPUT, LIBRARY_GPU_OUTPUT, LIBRARY_GPU_SCRATCH, LIBRARY_GPU_CONSTANT };
enum { LIBRARY_GPU_OPERANDS_MAX = 32, LIBRARY_GPU_SCRATCH_MAX = 4 };

/** An operand of a step, for which the engine has a memory object. */
struct library_gpu_operand {
    enum library_gpu_source source;
    uint32_t index;                     /* INPUT: as in the step's info; SCRATCH: which area, each is a memory object */
    int64_t bytes;                      /* SCRATCH: of the area */
    const struct engine_buffer *buffer; /* CONSTANT: the whole of it */
};

/** The library's memory objects for one step; used by one thread at a time.  Must not outlive its step. */
struct library_gpu_bindings;

/** Returns how many operands a step has, LIBRARY_GPU_OPERANDS_MAX at most, and describes them. */
uint32_t library_gpu_operands(const struct library_step *s, struct library_gpu_operand *out);
/** constants: a cl_mem for every operand that is one, in the order of library_gpu_operands.  Returns NULL after an error in *e.
 */
struct library_gpu_bindings *library_gpu_bindings_create(const struct library_step *s, void *const *constants, struct error *e);
void library_gpu_bindings_free(struct library_gpu_bindings *b);
/**
 * Puts a step into the queue; memory has a cl_mem for every operand, in the order of library_gpu_operands, which the caller may
 * release when this returns.  One thread at a time for each library.  False: *why is the library's name of the error, and is
 * never freed.
 */
bool library_gpu_run(const struct library_step *s, struct library_gpu_bindings *b, void *const *memory, const char **why);
