/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * libwebnn_rt runs compiled objects with oneDNN: the program's steps, its loops, its threads and oneDNN's
 * primitives, without compiler and LLVM.  Applications do not call it directly: webnnc emits the calls
 * (PREFIX_create, PREFIX_run, PREFIX_destroy).  For standalone objects they call PREFIX_run_with, and may use the threads
 * of this library (webnn_rt_parallel).
 *
 * A serialized program (docs/compiled-graphs.md) in read-only data and the object's table of kernels become a
 * model that runs on pointers.  This header is self-contained: it needs <stddef.h> and <stdint.h>.
 */
#ifndef WEBNN_WEBNN_RT_H_
#define WEBNN_WEBNN_RT_H_

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define WEBNN_RT_EXPORT __attribute__((visibility("default")))
#else
#define WEBNN_RT_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** This changes whenever a struct or function below changes. */
#define WEBNN_RT_VERSION 1

/** The argument of kernels (codegen/kernel_abi.h), opaque to callers. */
struct kernel_args;

/** A generated kernel, which computes units begin .. end-1 of its work. */
typedef void (*webnn_rt_kernel)(const struct kernel_args *args, int64_t begin, int64_t end);

/** The contents of an object.  They must not change while a model of it exists. */
struct webnn_rt_program {
    uint32_t version;               /**< WEBNN_RT_VERSION */
    uint32_t kernel_count;          /**< as many as the serialized program names */
    const webnn_rt_kernel *kernels; /**< by the serialized program's index */
    const void *image;              /**< the serialized program, aligned to 64 bytes */
    size_t image_bytes;
    const void *weights; /**< the serialized program's data if separate, aligned to 64 bytes; NULL if it is in
                          * the serialized program, or in a file */
    size_t weights_bytes;
};

/**
 * The options of running a program.  They have no structSize, unlike those of applications: only code that webnnc
 * emitted passes them, always together with a webnn_rt_program, whose version is that of both and is checked first.
 */
struct webnn_rt_options {
    uint32_t threads;         /**< threads of one run; 0 for the default of the OpenMP run-time */
    const char *weights_path; /**< a file with the serialized program's data, which is mapped; NULL for none */
};

/** Holds a program with its primitives.  It does not change: any number of threads may run it at the same time. */
struct webnn_rt_model;

/** The result of create and run: the numbers of webnn_object.h (WEBNN_OBJECT_OK is 0). */
typedef int webnn_rt_status;

/**
 * Makes a model.  Checks versions, checksums, the processor's features and every number of the serialized program.  Options of
 * NULL stand for zeros.  If it does not return 0, *model is NULL, and webnn_rt_message returns the reason.
 */
WEBNN_RT_EXPORT webnn_rt_status webnn_rt_create(const struct webnn_rt_program *program, const struct webnn_rt_options *options,
                                                struct webnn_rt_model **model);

/**
 * Runs a model.  inputs and outputs are in the order of the serialized program's (graph's) inputs and outputs, each of its
 * exact size, aligned for its type; no output may overlap anything.  If it does not return 0, outputs are undefined.
 */
WEBNN_RT_EXPORT webnn_rt_status webnn_rt_run(struct webnn_rt_model *model, const void *const *inputs, void *const *outputs);

/** Frees a model, which may be NULL.  No run may be active. */
WEBNN_RT_EXPORT void webnn_rt_destroy(struct webnn_rt_model *model);

/** Returns the message of the last failed call on this thread.  It is never NULL, and valid until the thread's next call. */
WEBNN_RT_EXPORT const char *webnn_rt_message(void);

struct webnn_object_parallel;

/**
 * Makes *parallel a parallel-for for a standalone object's kernels on `threads` threads (0: OMP_NUM_THREADS,
 * else one per processor) of a pool that all objects and models of this process share: pass it to PREFIX_run_with, with a
 * workspace of PREFIX_workspace_size(parallel->threads) bytes.  It need not be freed, does not change, and
 * may be used by any number of threads at the same time.  parallel->threads is lower if the system cannot create more.
 */
WEBNN_RT_EXPORT void webnn_rt_parallel(uint32_t threads, struct webnn_object_parallel *parallel);

#ifdef __cplusplus
}
#endif

#endif
