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

enum { IMAGE_VERSION = 1, IMAGE_ALIGN = 64, IMAGE_PAGE = 4096 };

/** An input or output of the graph. */
struct image_binding {
    const char *name; /* ends with a NUL, may hold others */
    size_t name_length;
    struct tensor_type type;
    uint32_t slot; /* of the program; inputs that nothing reads may be left out */
};

/** What is not in the program. */
struct image_facts {
    const char *triple, *features; /* of the code: LLVM's names; features: only those with + count */
    uint32_t thread_count;         /* primitives were made for */
    uint32_t input_count, output_count;
    const struct image_binding *inputs, *outputs;
};

/* ---- making ---- */

/** The plan, and where the bytes of the data section come from. */
struct image;

/**
 * Describes p: numbers kernels (equal functions get one index: functions[i] is what the i-th STEP_KERNEL runs, any pointer that
 * tells one function from another), writes the plan.  The image refers to the bytes of p's constants and of its library steps,
 * which must outlive it.  With plain_weights, weights are written as the graph has them and packed when the image is loaded: for
 * other machines than this one.  The engine must have been asked to keep them (engine->keep_weights) before p was compiled.
 * NULL: e.
 */
struct image *image_create(const struct program *p, const void *const *functions, const struct image_facts *facts,
                           bool plain_weights, struct error *e);
void image_free(struct image *i);

/** Kernels that the table of functions must have, and for each the index among the program's kernel steps of its first user. */
uint32_t image_kernel_count(const struct image *i);
uint32_t image_kernel_step(const struct image *i, uint32_t kernel);

/** Machine code of an image: position-independent bytes without relocations, a function's start for each kernel. */
struct image_code {
    const void *bytes;
    size_t size;
    const uint64_t *offsets; /* by kernel */
};

/** Gets the pieces of an image in order, also padding.  False stops (the sink knows why). */
typedef bool (*image_sink)(void *user, const void *data, size_t bytes);

/**
 * Writes the whole: header, plan, code (NULL: the functions come as a table), and data, unless data_apart.  False: the sink
 * stopped.
 */
bool image_write(const struct image *i, const struct image_code *code, bool data_apart, image_sink sink, void *user);
/** Writes the data section alone: the file or symbol that goes with an image with data_apart. */
bool image_write_data(const struct image *i, image_sink sink, void *user);
/** Bytes that the two write. */
size_t image_size(const struct image *i, const struct image_code *code, bool data_apart);
size_t image_data_size(const struct image *i);

/* ---- loading ---- */

/** An image in memory that was checked. */
struct image_view {
    struct image_facts facts; /* strings and arrays in the program's arena */
    uint32_t kernel_count;
    const void *code; /* NULL: none */
    size_t code_bytes;
    size_t code_offset;      /* from the image's start */
    const uint64_t *offsets; /* by kernel, into the code */
};

/** Where an image lies.  data NULL: in the image. */
struct image_source {
    const void *image;
    size_t bytes;
    const void *data;
    size_t data_bytes;
    /* Called for every constant that refers to the memory above, and when one goes: keep it mapped.  May be NULL. */
    void (*retain)(void *user);
    void (*release)(void *user);
    void *user;
};

/**
 * Reads an image into a program for en, creating library steps.  Every number is checked against what it refers to, so that a
 * damaged or hostile image is refused with DataError and neither crashes nor lets a plan leave its buffers; the code is trusted.
 * NotSupportedError: made for another library, processor or number of threads.  p's steps have no kernels' IR; step kernels'
 * `run.function` are indices into the table of functions.  False: e, and *p is empty.
 */
bool image_load(const struct image_source *source, struct engine *en, struct program *p, struct image_view *view,
                struct error *e);

/** The checksum of images. */
uint64_t image_checksum(const void *data, size_t bytes);

#endif
