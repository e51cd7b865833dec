/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Handles UTF-8 for messages and the textual form: which characters must be escaped, and escaping them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "webnn/webnn_types.h"

/** Returns whether text of that length is name. */
static inline bool text_is(const char *name, const char *text, size_t length)
{
    return strlen(name) == length && memcmp(name, text, length) == 0;
}

/** Returns the number of bytes (1 to 4) of the well-formed character at text, with its code point in *code, or 0 if the bytes
 * are not UTF-8. */
size_t utf8_decode(const char *text, size_t length, uint32_t *code);
/** Writes code as UTF-8 and returns the number of bytes, which is 0 if code is no Unicode scalar value. */
size_t utf8_encode(char out[4], uint32_t code);

/** Returns whether a character is invisible or changes how its neighbours are displayed. */
bool text_is_deceptive(uint32_t code);
/**
 * Prints a message: deceptive characters are escaped, all but line ends; backslashes stay, so that nothing is
 * escaped twice.  Tools use it as a last resort, since messages may hold unescaped names.
 */
void text_print_safely(FILE *out, const char *text);

/**
 * Closes a stream of open_memstream, or none.  Returns whether *text is all that was printed; if memory ran out, which the C
 * library's fclose does not always say, *text is freed and NULL.
 */
bool memory_stream_close(FILE *stream, char **text);

enum { ESCAPE_MAX = 16 };
/**
 * Writes one character of text, escaped if it must be, to out; returns the bytes consumed, *written those written.  `quote`
 * says that the double quote is escaped, too.
 */
size_t escape_character(char out[ESCAPE_MAX], size_t *written, const char *text, size_t length, bool quote);

/** Writes text escaped (control, bidirectional and other invisible characters as \u{...}) to buf; returns buf. */
const char *escape_text(char *buf, size_t size, const char *text, size_t length);

/** Returns the length of a string, also for WNN_STRLEN; a NULL pointer is the empty string. */
static inline size_t view_length(WNNStringView v)
{
    return !v.data ? 0 : v.length == WNN_STRLEN ? strlen(v.data) : v.length;
}

/** Writes a string for messages, escaped, and returns buf. */
static inline const char *view_quote(char *buf, size_t size, WNNStringView v)
{
    return escape_text(buf, size, v.data ? v.data : "", view_length(v));
}
/** Appends a name, escaped and in quotes, to a list with commas that does not have it; what has no room becomes "...". */
void text_list_add(char *list, size_t size, char quote, const char *name, size_t length);
