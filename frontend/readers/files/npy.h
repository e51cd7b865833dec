/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads and writes NumPy .npy files, which hold one array with its data type and shape.  Versions 1 to 3 are read,
 * little-endian, with
 * booleans as uint8 and float64 as float32.  Arrays in Fortran order are read, too; arrays in memory and written ones are
 * row-major.  Every size in a file is checked against the file before it is trusted.  Functions that can fail return false, and
 * write into message, if it is not NULL, at most `size` bytes that say why.
 */
#pragma once

#include "ir/support/error.h"
#include "webnn/webnn.h"

enum { NPY_RANK_MAX = 12 };

/** Holds an array in memory.  data is owned (npy_free), row-major, and has byteLength bytes. */
struct npy_array {
    WNNOperandDataType dataType;
    size_t rank;
    uint32_t shape[NPY_RANK_MAX];
    size_t byteLength;
    void *data;
    bool from_float64; /* the file has float64, which WebNN does not have: the elements were rounded to float32 */
};

/** Reads a file.  If that fails, *array is empty. */
bool npy_read(const char *path, struct npy_array *array, struct error *e);
/** Does the same with a file that a model in the folder names (frontend/readers/files/named_file.h), where float64 is refused:
 * the model says another type. */
bool npy_read_named(const char *folder, const char *name, struct npy_array *array, struct error *e);
/** Does the same from memory; name only appears in messages. */
bool npy_parse(const void *bytes, size_t length, const char *name, struct npy_array *array, struct error *e);
/* These do the same in steps, for arrays that are decompressed on the way: only requested bytes are read. */
enum { NPY_HEAD_MIN = 12, NPY_HEAD_MAX = 1 << 16 };
/** Finds how many bytes stand before the elements, from the first NPY_HEAD_MIN bytes. */
bool npy_head_length(const void *bytes, size_t length, const char *name, size_t *head, struct error *e);
/** Reads those: *array gets its type, shape and byteLength, which is the file's, but no data. */
bool npy_parse_head(const void *bytes, size_t head, const char *name, struct npy_array *array, bool *fortran, struct error *e);
/** Makes an array of zeros.  If that fails, it is empty. */
bool npy_create(const WNNOperandDescriptor *d, struct npy_array *array, struct error *e);
/** Allocates the elements.  If that fails, *array is empty. */
bool npy_alloc(struct npy_array *array, const char *name, struct error *e);
/** Puts elements, which are in the file's order, into row-major order, and makes float32 of float64.  If that fails,
 * *array is empty. */
bool npy_order(struct npy_array *array, bool fortran, const char *name, struct error *e);
/** Writes a version 1 file.  A file that could not be written whole is removed. */
bool npy_write(const char *path, const struct npy_array *array, struct error *e);
/** Makes the bytes of that file in malloc'ed memory; name only appears in messages. */
bool npy_format(const struct npy_array *array, const char *name, void **bytes, size_t *length, struct error *e);
/** Frees the elements and leaves the array empty. */
void npy_free(struct npy_array *array);
/**
 * Converts the elements to another data type: floats are rounded, integers must be numbers that the type has.  If that fails,
 * the array stays as it was.
 */
bool npy_convert(struct npy_array *array, WNNOperandDataType type, struct error *e);
/** Leaves the first `count` elements along dimension d, if there are that many. */
void npy_cut(struct npy_array *array, size_t d, size_t count);
/** Returns the number of elements. */
size_t npy_elements(const struct npy_array *array);
/** Returns the descriptor of the array, whose shape pointer is the array's. */
WNNOperandDescriptor npy_descriptor(const struct npy_array *array);
