/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares arrays that double, bytes among them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "ir/support/error.h"

struct arena;

/** Does array_reserve's work where there is no room. */
bool array_grow(struct arena *a, void *items, size_t *capacity, size_t needed, size_t size);
/**
 * Makes room for `needed` items of `size` bytes in an array, which may move.  `items` is the address of its pointer; the array
 * lies in the arena, or on the heap if a is NULL, and new items have any value.  Returns false if memory runs out, and nothing
 * has changed.
 */
static inline bool array_reserve(struct arena *a, void *items, size_t *capacity, size_t needed, size_t size)
{
    return needed <= *capacity || array_grow(a, items, capacity, needed, size);
}
/** Makes room for one item after `count` ones in an array on the heap that grows by this function only. */
bool array_extend(void *items, size_t count, size_t size);

/** Holds bytes that grow.  One of zeros is empty; the owner frees data. */
struct bytes {
    char *data;
    size_t length, capacity;
};

/** Appends bytes, or zeros if data is NULL.  Returns false if memory runs out, and nothing has changed. */
bool bytes_append(struct bytes *b, const void *data, size_t length);
/** Appends to a text on the heap, NULL being an empty one.  Returns false if memory runs out, and nothing has changed. */
bool text_append(char **text, const char *format, ...) PRINTF_LIKE(2, 3);
