/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * NumPy .npz files: zip archives of .npy files, one for each array, called NAME.npy.  Stored or deflated, through libzip.
 *
 * In: a file.  Out: arrays by name.  A member's size is held against what its .npy header says before memory is asked for.
 */
#ifndef WEBNN_FRONTEND_IO_NPZ_H_
#define WEBNN_FRONTEND_IO_NPZ_H_

#include "frontend/io/npy.h"

struct npz_entry {
    char *name; /* without .npy */
    struct npy_array array;
};

/** Whether a path ends in .npz. */
bool npz_is_path(const char *path);
/** Reads all arrays, in the order of the archive.  False: message says why, *entries is NULL. */
bool npz_read(const char *path, struct npz_entry **entries, size_t *count, char *message, size_t size);
/** Reads one array.  name NULL: the archive must hold exactly one. */
bool npz_read_array(const char *path, const char *name, struct npy_array *array, char *message, size_t size);
/** Writes an archive, stored; a file that could not be written whole does not appear. */
bool npz_write(const char *path, const struct npz_entry *entries, size_t count, char *message, size_t size);
void npz_free(struct npz_entry *entries, size_t count);

#endif
