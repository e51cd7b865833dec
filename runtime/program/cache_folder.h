/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Caches compiled code on disk for later processes: a device's programs, kernels of the processor.
 *
 * The key of a file is its whole identity (processor or device, versions, options, source).
 *
 * The folder is the user's own: it is used only if it belongs to this user and no other user can access it.  A file has the
 * hash of the identity as its name and the whole identity in it, with a checksum over everything, so that a damaged file, or
 * another identity with the same hash, is ignored and replaced.  Files are written under temporary names and then renamed, so
 * that no process sees a partial one.  Each use of a file sets its time of modification, by which trim_folder knows what to
 * remove first.
 */
#pragma once

#include <stdatomic.h>
#include <stddef.h>

#include "ir/support/error.h"

/** The limit of files of one suffix, and the number of new bytes between checks. */
enum { CACHE_BYTES = 256 << 20, CACHE_STEP = 16 << 20 };

/**
 * Finds the cache's folder, or makes it: `folder`, or if that is empty the variable WEBNN_CACHE's, or one below XDG_CACHE_HOME
 * or the user's home; *named says that it is not the last.  Returns its path, for free(), or NULL if there is no cache: the
 * folder is "off", or others can get into it, which *warning says in terms of its contents ("kernels").
 */
char *cache_folder_open(const char *folder, bool ignore_environment, const char *what, bool *named, struct error *warning);
/** Returns the contents for an identity in a file with that suffix, for free().  Returns NULL if it is not there or
 * damaged, or if the folder is NULL. */
unsigned char *cache_read(const char *folder, const char *identity, const char *suffix, size_t *size);
/** Writes the bytes of an identity.  Returns false if that is not possible. */
bool cache_write(const char *folder, const char *identity, const char *suffix, const void *bytes, size_t size);
/** Notes that so many bytes were written, and removes files at the first of them, and then from time to time. */
void cache_trim(const char *folder, const char *suffix, atomic_ullong *written, size_t bytes);
