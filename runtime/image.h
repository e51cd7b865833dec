/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Program images: struct program as bytes.
 *
 * In: a compiled program (runtime/engine.h).  Out: bytes that are a program again in another process, with kernels as indices
 * into a table of functions.  Three users: files of wnnGraphSave (with machine code behind the plan), objects of webnnc (the
 * image in read-only data, kernels as symbols), and libwebnn_rt, which runs those.  docs/compiled-graphs.md has the format.
 *
 *   struct image_header | plan | code | data          every section at a multiple of IMAGE_PAGE
 *
 * The plan is a stream of numbers; data are constants and packed weights at multiples of IMAGE_ALIGN, used where they lie; data
 * may be in a file of their own.  Numbers have the byte order of the machine that the program is for.
 */
#ifndef WEBNN_RUNTIME_IMAGE_H_
#define WEBNN_RUNTIME_IMAGE_H_

#include "codegen/kernel_abi.h"
#include "runtime/engine.h"

enum { IMAGE_VERSION = 3, IMAGE_ALIGN = 64, IMAGE_PAGE = 4096 };

/** An input or output of the graph. */
struct image_binding {
    const char *name; /* ends with a NUL, may hold others */
    size_t name_length;
    struct tensor_type type;
    uint32_t slot; /* of the program; inputs that nothing reads may be left out */
};

/** What is not in the program. */
struct image_facts {
    const char *triple, *features; /* of the code: LLVM's names, "+avx2,+fma"; features with - do not count */
    uint32_t input_count, output_count;
    const struct image_binding *inputs, *outputs;
};

/* ---- making ---- */

/** The plan, and where the bytes of the data section come from. */
struct image;

/**
 * Describes p (complete, but not loaded yet): numbers kernels (equal functions get one index: functions[i] is what the i-th
 * STEP_KERNEL runs, any pointer that tells one function from another), writes the plan.  The image refers to the bytes of p's
 * constants and of its library steps, which must outlive it; p itself need not.  With plain_weights, weights are written as the
 * graph has them and packed when the image is loaded: for other machines, instruction sets and numbers of threads than this
 * one's. The engine must have been asked to keep them (engine->keep_weights) before p was compiled.  NULL: e.
 */
struct image *image_create(struct program *p, const void *const *functions, bool plain_weights, struct error *e);
void image_free(struct image *i);

/** Kernels that the table of functions must have, and for each the index among the program's kernel steps of its first user. */
uint32_t image_kernel_count(const struct image *i);
const uint32_t *image_kernel_steps(const struct image *i);

/** Machine code of an image: position-independent bytes without relocations, a function's start for each kernel. */
struct image_code {
    const void *bytes;
    size_t size;
    const uint64_t *offsets; /* by kernel */
};

/** Gets the pieces of an image in order, also padding.  False stops (the sink knows why). */
typedef bool (*image_sink)(void *user, const void *data, size_t bytes);

/**
 * Writes the whole: header, plan, code (NULL: the functions come as a table), and data, unless data_apart.  False: e, or the
 * sink stopped (then e is as it was).
 */
bool image_write(const struct image *i, const struct image_facts *facts, const struct image_code *code, bool data_apart,
                 image_sink sink, void *user, struct error *e);
/** Writes the data section alone: the file or symbol that goes with an image with data_apart. */
bool image_write_data(const struct image *i, image_sink sink, void *user);
/** The data section's size. */
size_t image_data_size(const struct image *i);

/* ---- loading ---- */

/** What is in an image besides its program.  Zero-initialised is empty. */
struct image_view {
    struct arena arena; /* of the facts */
    struct image_facts facts;
    uint32_t input_slots; /* of the program */
    uint32_t kernel_count;
    size_t code_offset, code_bytes; /* from the image's start; 0, 0: the functions come as a table */
    const uint64_t *offsets;        /* by kernel, into the code */
    double checksum_ms, library_ms; /* what checksums and the library's primitives took */
};

/** Where an image lies: at a multiple of IMAGE_ALIGN.  data NULL: in the image. */
struct image_source {
    const void *image;
    size_t bytes;
    const void *data;
    size_t data_bytes;
    int file; /* image is a mapping of this file's beginning, open only while the image is loaded; -1: it is not */
};

/** Whether these bytes begin like an image. */
bool image_is(const void *bytes, size_t size);

/**
 * Reads an image into a program for en, creating library steps.  Every number is checked against what it refers to, so that a
 * damaged or hostile image is refused with DataError and neither crashes nor lets a plan leave its buffers; the code is
 * trusted. NotSupportedError: made for another version of this library or of oneDNN, another processor or number of threads.
 * features: what the processor has, in LLVM's form; triple likewise (NULL: not checked).  p's steps have no kernels' IR;
 * `run.function` of its kernel steps are indices into the table of functions.  The source must outlive the program and what is
 * made of it.  False: e, and *p and *view are empty.
 */
bool image_load(const struct image_source *source, struct engine *en, const char *triple, const char *features,
                struct program *p, struct image_view *view, struct error *e);
void image_view_free(struct image_view *view);

/**
 * Whether the processor that we run on has the features of a list, "+avx2,+fma", as far as they change what vector code may
 * use; all others come with processors that have these.  NotSupportedError with the first that it lacks.
 */
bool image_processor_has(const char *features, struct error *e);

/** The checksum of images; also for other files that belong to compiled objects. */
uint64_t image_checksum(const void *data, size_t bytes);
/** Puts right the checksums of an image that was altered: for tests of what comes behind them. */
void image_sign(void *image, size_t bytes);

#endif
