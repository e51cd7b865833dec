/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads and writes NumPy .npz files, which are zip archives of .npy files, one for each array, called NAME.npy.  libzip reads
 * them, stored or deflated.
 *
 * A member's size is compared with what its .npy header says before memory is requested, and the members' sizes with the
 * file's: overlapping members are refused.  Functions that can fail return false after a message
 * (frontend/readers/files/npy.h).
 */
#pragma once

#include "frontend/readers/files/npy.h"

struct npz_entry {
    char *name; /* without .npy */
    struct npy_array array;
};

/** Returns whether a path ends in .npz. */
bool npz_is_path(const char *path);
/** Reads all arrays, in the order of the archive, which npz_free frees.  If that fails, *entries is NULL. */
bool npz_read(const char *path, struct npz_entry **entries, size_t *count, struct error *e);
/** Does the same, but with types and shapes only: array.data is NULL, and no element is decompressed. */
bool npz_read_heads(const char *path, struct npz_entry **entries, size_t *count, struct error *e);
/** Reads one array.  If name is NULL, the archive must hold exactly one. */
bool npz_read_array(const char *path, const char *name, struct npy_array *array, struct error *e);
/** Writes an archive, stored.  A file that could not be written whole does not appear. */
bool npz_write(const char *path, const struct npz_entry *entries, size_t count, struct error *e);
/** Frees entries, which may be NULL. */
void npz_free(struct npz_entry *entries, size_t count);
