/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Grows arrays. */
#include "ir/support/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/support/arena.h"

enum { ITEMS_LEAST = 16 };

/* Returns at least so many items as a power of two, or 0 if there is none. */
static size_t rounded_up(size_t items)
{
    size_t capacity = ITEMS_LEAST;

    while (capacity && capacity < items)
        capacity *= 2;
    return capacity;
}

bool array_grow(struct arena *a, void *items, size_t *capacity, size_t needed, size_t size)
{
    const size_t wanted = rounded_up(needed);
    void *old, *grown;

    memcpy(&old, items, sizeof old); /* whatever type it points to */
    if (!wanted || wanted > SIZE_MAX / size)
        return false;
    grown = a ? arena_grow(a, old, *capacity * size, wanted * size) : realloc(old, wanted * size);
    if (!grown)
        return false;
    memcpy(items, &grown, sizeof grown);
    *capacity = wanted;
    return true;
}

bool array_extend(void *items, size_t count, size_t size)
{
    size_t capacity = count ? rounded_up(count) : 0;

    return count < SIZE_MAX && array_reserve(NULL, items, &capacity, count + 1, size);
}

bool bytes_append(struct bytes *b, const void *data, size_t length)
{
    if (length > SIZE_MAX - b->length || !array_reserve(NULL, &b->data, &b->capacity, b->length + length, 1))
        return false;
    if (length && data)
        memcpy(b->data + b->length, data, length);
    else if (length)
        memset(b->data + b->length, 0, length);
    b->length += length;
    return true;
}

bool text_append(char **text, const char *format, ...)
{
    const size_t have = *text ? strlen(*text) : 0;
    va_list arguments, again;

    va_start(arguments, format);
    va_copy(again, arguments);
    const int more = vsnprintf(NULL, 0, format, arguments);
    char *grown = more < 0 ? NULL : realloc(*text, have + (size_t)more + 1);
    if (grown) {
        vsnprintf(grown + have, (size_t)more + 1, format, again);
        *text = grown;
    }
    va_end(again);
    va_end(arguments);
    return grown;
}
