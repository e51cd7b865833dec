/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * This header declares the description and functions of objects that webnnc makes.  It is self-contained: it needs C99 or C++,
 * <stddef.h> and <stdint.h>, and no library.
 *
 * Every object exports its description as PREFIX_object, and a shared object also exports it under the fixed name
 * WEBNN_OBJECT_SYMBOL, so that wnnContextLoadGraph and other programs find it with dlsym.
 *
 * The functions have plain C prototypes.  With inputs of types T1..Tn and outputs of types U1..Um (float for
 * float32, uint16_t for the bits of float16, intN_t and uintN_t) and `prefix_model` an incomplete struct of the object:
 *
 *   objects with WEBNN_OBJECT_HAS_MODEL (--library onednn: a model holds primitives and memory)
 *     int  prefix_create(const struct webnn_object_options *options, prefix_model **model);
 *     void prefix_destroy(prefix_model *model);
 *     int  prefix_run(prefix_model *model, const T1 *input1, ..., const Tn *inputn, U1 *output1, ..., Um *outputm);
 *
 *   objects without (--library none)
 *     int prefix_run(const T1 *input1, ..., const Tn *inputn, U1 *output1, ..., Um *outputm);
 *     size_t prefix_workspace_size(uint32_t threads);
 *     int prefix_run_with(void *workspace, const struct webnn_object_parallel *parallel,
 *                         const T1 *input1, ..., const Tn *inputn, U1 *output1, ..., Um *outputm);
 *     PREFIX_WORKSPACE_BYTES(threads), PREFIX_WEIGHTS_BYTES: macros of the header, for static memory
 *   and if they were compiled for several sizes (WEBNN_OBJECT_SIZES_VERSION), `uint32_t` for each size before the tensors
 *   and if their weights are in a separate file (WEBNN_OBJECT_NEEDS_WEIGHTS)
 *     int prefix_set_weights(const void *file, size_t bytes);   takes the file's bytes, aligned to 64, which must stay
 *     int prefix_load_weights(const char *path);    maps it, or if NULL the file where webnnc wrote it; else the first run does
 *
 * All of them are thread-safe and re-entrant; a model may run on several threads at the same time.  Functions that return int
 * return WEBNN_OBJECT_OK or one of the codes below, whose text PREFIX_status_text of the header returns.  Inputs and outputs
 * are dense and row-major, aligned for their type; outputs overlap nothing.
 */
#ifndef WEBNN_WEBNN_OBJECT_H_
#define WEBNN_WEBNN_OBJECT_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * This changes whenever anything below changes its meaning or position.  Loaders of objects refuse versions
 * that are not WEBNN_OBJECT_VERSION.  Of the structs passed between a caller and an object the options have a size, so
 * that later versions may append members and keep this number.  The others have none: the version covers all of them.
 */
#define WEBNN_OBJECT_VERSION 2
/** The version of objects whose functions take sizes: their description is a struct webnn_object_sizes. */
#define WEBNN_OBJECT_SIZES_VERSION 4

/** "WNNO" in the byte order of the target, the first member, to detect other data. */
#define WEBNN_OBJECT_MAGIC 0x4F4E4E57u

/** The symbol of a shared object's description in all versions: extern const struct webnn_object webnn_object_v1. */
#define WEBNN_OBJECT_SYMBOL "webnn_object_v1"

/** The values that functions return. */
enum {
    WEBNN_OBJECT_OK = 0,
    WEBNN_OBJECT_NO_MEMORY = 1,      /**< out of memory */
    WEBNN_OBJECT_UNSUPPORTED = 2,    /**< this processor lacks instructions that the code uses */
    WEBNN_OBJECT_BAD_WEIGHTS = 3,    /**< the file with weights is missing, or not the one that was written with the object */
    WEBNN_OBJECT_LIBRARY_FAILED = 4, /**< libwebnn_rt does not fit, or oneDNN failed */
    WEBNN_OBJECT_BAD_ARGUMENT = 5,   /**< a required pointer is NULL, or the value of an option is invalid */
    WEBNN_OBJECT_BAD_SIZE = 6        /**< the object was not compiled for these sizes */
};

/** Returns an English description of a status, with static storage. */
static inline const char *webnn_object_status_text(int status)
{
    switch (status) {
    case WEBNN_OBJECT_OK:
        return "success";
    case WEBNN_OBJECT_NO_MEMORY:
        return "out of memory";
    case WEBNN_OBJECT_UNSUPPORTED:
        return "this processor lacks instructions that the code uses";
    case WEBNN_OBJECT_BAD_WEIGHTS:
        return "the file with weights is missing, or not the one that was written with the object";
    case WEBNN_OBJECT_LIBRARY_FAILED:
        return "libwebnn_rt does not fit, or oneDNN failed";
    case WEBNN_OBJECT_BAD_ARGUMENT:
        return "a required pointer is NULL, or the value of an option is invalid";
    case WEBNN_OBJECT_BAD_SIZE:
        return "the object was not compiled for these sizes";
    }
    return "unknown status";
}

/** Lists the data types by the numbers of WNNOperandDataType. */
enum webnn_object_type {
    WEBNN_OBJECT_FLOAT32 = 1,
    WEBNN_OBJECT_FLOAT16 = 2, /**< bits, in uint16_t */
    WEBNN_OBJECT_INT32 = 3,
    WEBNN_OBJECT_UINT32 = 4,
    WEBNN_OBJECT_INT64 = 5,
    WEBNN_OBJECT_UINT64 = 6,
    WEBNN_OBJECT_INT8 = 7,
    WEBNN_OBJECT_UINT8 = 8
};

/** Describes an input or output. */
struct webnn_object_tensor {
    const char *name;      /**< the model's, UTF-8 */
    uint32_t type;         /**< enum webnn_object_type */
    uint32_t rank;         /**< 0 for a scalar */
    const uint32_t *shape; /**< rank sizes; may be NULL if rank is 0 */
    uint64_t bytes;
};

/**
 * The options of creating a model.  Begin with WEBNN_OBJECT_OPTIONS_INIT; NULL and a zeroed struct stand for the defaults,
 * which are zeros.  PREFIX_create returns WEBNN_OBJECT_BAD_ARGUMENT if structSize is neither 0 nor at least that of this
 * version, or if members unknown to the object are not zero.
 */
struct webnn_object_options {
    size_t structSize;   /**< sizeof(struct webnn_object_options), or 0 */
    uint32_t threads;    /**< threads of one run; 0 for as many as the machine has processors */
    const char *weights; /**< of objects with WEBNN_OBJECT_NEEDS_WEIGHTS: path of the file; NULL for that of webnnc */
};

#define WEBNN_OBJECT_OPTIONS_INIT {sizeof(struct webnn_object_options), 0, NULL}

/**
 * A caller's parallel-for for the parts of a kernel.  run calls part(data, i, parts) once for every i below
 * parts, on any threads, at most `threads` of them at the same time, and returns when all are done.  It may call them one after
 * the other.  Several threads may be inside run at the same time.
 */
struct webnn_object_parallel {
    uint32_t threads;
    void (*run)(void *user, uint32_t parts, void (*part)(void *data, uint32_t i, uint32_t parts), void *data);
    void *user;
};

enum webnn_object_flag {
    WEBNN_OBJECT_HAS_MODEL = 1,    /**< run takes a model: see above */
    WEBNN_OBJECT_NEEDS_WEIGHTS = 2 /**< weights are in a separate file */
};

/** Any function, to be cast to its prototype. */
typedef void (*webnn_object_function)(void);

/** The description of an object.  All that it points to is read-only and valid as long as the object is loaded. */
struct webnn_object {
    uint32_t magic;       /**< WEBNN_OBJECT_MAGIC */
    uint32_t version;     /**< WEBNN_OBJECT_VERSION */
    uint32_t bytes;       /**< sizeof(struct webnn_object) */
    uint32_t flags;       /**< enum webnn_object_flag */
    const char *prefix;   /**< of the functions' names */
    const char *producer; /**< "webnnc 0.2.0" */
    const char *target;   /**< triple, processor and features, separated by blanks */
    uint32_t input_count, output_count;
    const struct webnn_object_tensor *inputs, *outputs; /**< in the order of the arguments */
    webnn_object_function run;
    webnn_object_function create, destroy;           /**< NULL without WEBNN_OBJECT_HAS_MODEL */
    webnn_object_function workspace_size, run_with;  /**< NULL with WEBNN_OBJECT_HAS_MODEL */
    webnn_object_function set_weights, load_weights; /**< NULL unless the object needs weights and has no model */
};

/** Describes a size that each function takes before the tensors. */
struct webnn_object_size {
    const char *name;       /**< the model's, of a dimension */
    uint32_t count;         /**< values that it may have, whatever the other sizes are */
    const uint32_t *values; /**< these, ascending */
};

/** Holds the description of an object that takes sizes: a dimension that depends on them is 0 in shapes, and bytes are 0 then.
 */
struct webnn_object_sizes {
    struct webnn_object object;
    uint32_t size_count;
    const struct webnn_object_size *sizes; /**< in the order of the arguments */
};

#ifdef __cplusplus
}
#endif

#endif
