/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Declares how arrays of programs are read: the buffer protocol and DLPack, and the arrays that results come in. */
#pragma once

#include "frontend/python/module.h"

/** Names an argument in messages: "CALL: ROLE 'NAME'"; name may be "". */
struct place {
    const char *call, *role, *name;
};

struct dlpack_managed;

/** Holds an array of a program while it is used.  It begins as zeros. */
struct source {
    WNNOperandDataType type; /* Undefined where WebNN does not have it */
    char type_name[24];      /* for messages */
    bool raw;                /* bytes in one dimension, which may stand for any data type */
    size_t rank;
    uint32_t sizes[RANK_LIMIT];
    size_t bytes;
    void *data; /* dense and row-major */
    Py_buffer view;
    struct dlpack_managed *managed;
    void *copy;
};

/**
 * Opens an array.  One that is to be written must be dense and writable; else a copy is made where it is not dense.  Its bytes
 * stay where they are until source_close.
 */
bool source_open(PyObject *value, const struct place *place, bool writable, struct source *out);
/** Lets the array go.  It does nothing with zeros. */
void source_close(struct source *source);
/**
 * Checks that an array has a descriptor's data type and shape, or as many elements in one dimension, or as many bytes;
 * `wanting` names the caller in messages.  Named dimensions may have any size.  Another data type is a TypeError, another shape
 * a ValueError.
 */
bool source_fits(const struct source *source, const struct place *place, const WNNOperandDescriptor *d, const char *wanting);

/** Makes an array with room for what a descriptor describes. */
PyObject *array_create(struct module *m, const WNNOperandDescriptor *d);
/** Returns the memory of such an array. */
void *array_data(PyObject *array);
/** Leaves the first `count` elements along dimension d, if there are that many. */
void array_cut(PyObject *array, size_t d, size_t count);

/* ---- DLPack: the structs of its stable interface ---- */

enum { DLPACK_CPU = 1, DLPACK_CUDA_HOST = 3, DLPACK_ROCM_HOST = 11 };
enum { DLPACK_INT = 0, DLPACK_UINT = 1, DLPACK_FLOAT = 2, DLPACK_BOOL = 6 };

struct dlpack_tensor {
    void *data;
    int32_t device, device_id;
    int32_t rank;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides; /* strides in elements; NULL for a dense tensor */
    uint64_t offset;
};

struct dlpack_managed {
    struct dlpack_tensor tensor;
    void *context;
    void (*deleter)(struct dlpack_managed *self);
};
