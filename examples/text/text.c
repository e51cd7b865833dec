/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "examples/text/text.h"

#include <stdlib.h>
#include <string.h>

void text_add(struct text *t, const char *data, size_t length)
{
    if (t->capacity - t->length < length && !t->failed) {
        size_t capacity = 2 * t->capacity > t->length + length ? 2 * t->capacity : t->length + length + 64;
        char *grown = realloc(t->data, capacity);

        t->failed = !grown;
        if (grown) {
            t->data = grown;
            t->capacity = capacity;
        }
    }
    if (t->failed || !length)
        return;
    memcpy(t->data + t->length, data, length);
    t->length += length;
}

void text_free(struct text *t)
{
    free(t->data);
    *t = (struct text){0};
}

size_t text_whole_characters(const char *data, size_t length)
{
    /* A character has four bytes at most: one that began in the last three may still be going on. */
    for (size_t back = 1; back <= 3 && back <= length; back++) {
        unsigned char c = (unsigned char)data[length - back];
        size_t wanted = c >= 0xf0 && c < 0xf8 ? 4 : c >= 0xe0 && c < 0xf0 ? 3 : c >= 0xc0 && c < 0xe0 ? 2 : 1;

        if (c < 0x80 || c >= 0xc0)
            return back < wanted ? length - back : length;
    }
    return length;
}
