/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * libwebnn_rt: what compiled objects with oneDNN call.  The program's steps, its loops, its threads and oneDNN's primitives,
 * without compiler and without LLVM.  Applications do not call it: webnnc emits the calls (PREFIX_create, PREFIX_run,
 * PREFIX_destroy).
 *
 * In: a program image (docs/compiled-graphs.md) in read-only data, the object's kernels as a table of functions.  Out: a model
 * that runs on pointers.  Stands alone: <stddef.h>, <stdint.h>.
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

/** Changes whenever a struct or function below changes. */
#define WEBNN_RT_VERSION 1

/** The kernels' own argument (codegen/kernel_abi.h); of no concern to callers. */
struct kernel_args;

/** A generated kernel: computes units begin .. end-1 of its work. */
typedef void (*webnn_rt_kernel)(const struct kernel_args *args, int64_t begin, int64_t end);

/** What the object holds.  Everything lives, unchanged, as long as any model made of it. */
struct webnn_rt_program {
    uint32_t version;               /**< WEBNN_RT_VERSION */
    uint32_t kernel_count;          /**< as many as the image names */
    const webnn_rt_kernel *kernels; /**< by the image's index */
    const void *image;              /**< aligned to 64 bytes */
    size_t image_bytes;
    const void *weights; /**< the image's data where it lies by itself, aligned to 64 bytes; NULL: in the image, or in a file */
    size_t weights_bytes;
};

struct webnn_rt_options {
    uint32_t threads;         /**< threads of one run; 0: as many as the OpenMP run-time gives by default */
    const char *weights_path; /**< a file with the image's data, which is mapped; NULL: none */
};

/** A program with its primitives.  Immutable: any number of threads may run it at the same time. */
struct webnn_rt_model;

/** What create and run return: the numbers of webnn_object.h (WEBNN_OBJECT_OK is 0). */
typedef int webnn_rt_status;

/**
 * Makes a model.  Checks versions, checksums, the processor's features and every number of the image.
 * options: NULL stands for zeros.  Not 0: *model is NULL, and webnn_rt_message says why.
 */
WEBNN_RT_EXPORT webnn_rt_status webnn_rt_create(const struct webnn_rt_program *program, const struct webnn_rt_options *options,
                                                struct webnn_rt_model **model);

/**
 * Runs it.  inputs and outputs: in the order of the image's (graph's) inputs and outputs, each of its exact size, aligned for
 * its type; no output may overlap anything.  Not 0: outputs are undefined.
 */
WEBNN_RT_EXPORT webnn_rt_status webnn_rt_run(struct webnn_rt_model *model, const void *const *inputs, void *const *outputs);

/** No run may be under way.  NULL is fine. */
WEBNN_RT_EXPORT void webnn_rt_destroy(struct webnn_rt_model *model);

/** What the last failed call on this thread said; never NULL, valid until the thread's next call. */
WEBNN_RT_EXPORT const char *webnn_rt_message(void);

#ifdef __cplusplus
}
#endif

#endif
