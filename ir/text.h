/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * UTF-8 as messages and the textual form need it: which characters must not be shown as they are, and escaping them.
 */
#ifndef WEBNN_IR_TEXT_H_
#define WEBNN_IR_TEXT_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Bytes of the well-formed character at text (1 to 4), its code point in *code; 0 if the bytes are not UTF-8. */
size_t utf8_decode(const char *text, size_t length, uint32_t *code);
/** Writes code as UTF-8, returns the number of bytes (0: not a Unicode scalar value). */
size_t utf8_encode(char out[4], uint32_t code);

enum { ESCAPE_MAX = 16 };
/**
 * Writes one character of text, escaped if it must be, to out; returns the bytes consumed, *written those written.
 * quote: also escape the double quote.
 */
size_t escape_character(char out[ESCAPE_MAX], size_t *written, const char *text, size_t length, bool quote);

#endif
