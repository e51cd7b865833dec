/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Bytes that grow, and where UTF-8 characters end. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/** Holds bytes that grow at their end.  Once memory has run out, `failed` is set and nothing is added any more. */
struct text {
    char *data;
    size_t length, capacity;
    bool failed;
};

/** Adds bytes, which must not be of the same text. */
void text_add(struct text *t, const char *data, size_t length);
/** Frees the bytes, so that the text is empty. */
void text_free(struct text *t);
/** Returns how many of the first bytes are whole UTF-8 characters; what begins none, or ends one too early, counts as whole. */
size_t text_whole_characters(const char *data, size_t length);
