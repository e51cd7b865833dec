/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * NumPy .npy files: one array with its data type and shape.  Versions 1 to 3, little-endian; booleans read as uint8.
 * Arrays in Fortran order are read, too; what is in memory and what is written is row-major.
 * Every size in a file is checked against the file before it is trusted.
 */
#ifndef WEBNN_FRONTEND_IO_NPY_H_
#define WEBNN_FRONTEND_IO_NPY_H_

#include "webnn/webnn.h"

enum { NPY_RANK_MAX = 8 };

/** An array in memory.  data is owned (npy_free), row-major, byteLength bytes. */
struct npy_array {
    WNNOperandDataType dataType;
    size_t rank;
    uint32_t shape[NPY_RANK_MAX];
    size_t byteLength;
    void *data;
};

/** Reads a file.  False: message (if not NULL, of size bytes) says why, *array is empty. */
bool npy_read(const char *path, struct npy_array *array, char *message, size_t size);
/** The same from memory; name only appears in messages. */
bool npy_parse(const void *bytes, size_t length, const char *name, struct npy_array *array, char *message, size_t size);
/** Writes a version 1 file; a file that could not be written whole is removed. */
bool npy_write(const char *path, const struct npy_array *array, char *message, size_t size);
/** The bytes of that file in malloc'ed memory; name only appears in messages. */
bool npy_format(const struct npy_array *array, const char *name, void **bytes, size_t *length, char *message, size_t size);
void npy_free(struct npy_array *array);
/** Number of elements. */
size_t npy_elements(const struct npy_array *array);
/** The descriptor of the array; its shape pointer is the array's. */
WNNOperandDescriptor npy_descriptor(const struct npy_array *array);

#endif
