/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares arenas.
 */
#pragma once

#include <stddef.h>

/** This is memory that is freed as a whole.  An arena of zeros is empty. */
struct arena {
    struct arena_block *blocks;
    size_t used, total; /* bytes in the newest block; bytes allocated in all */
};

/** Returns size bytes of zeros, aligned for any type, or NULL if memory runs out or size is absurd. */
void *arena_alloc(struct arena *a, size_t size);
/** Returns size bytes that begin with old_size others, and go on with any.  NULL if memory runs out. */
void *arena_grow(struct arena *a, const void *old, size_t old_size, size_t size);
/** Returns count * size bytes of zeros, or NULL, also if that overflows. */
void *arena_array(struct arena *a, size_t count, size_t size);
/** Returns a copy of size bytes, or NULL if memory runs out. */
void *arena_copy(struct arena *a, const void *data, size_t size);
/** Returns a NUL-terminated copy, or NULL if memory runs out. */
char *arena_string(struct arena *a, const char *text, size_t length);
/** Frees all allocations, and empties the arena. */
void arena_free(struct arena *a);
