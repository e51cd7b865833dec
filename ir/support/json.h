/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Prints strings of JSON.  This is the one place that quotes them, for traces, models and the tools' tables. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/** Says what becomes of bytes that are no UTF-8. */
enum json_bytes {
    JSON_REPLACE_BYTES, /* bytes that are no UTF-8 become U+FFFD: every parser takes it */
    JSON_KEEP_BYTES     /* they become \xHH: our own reader gives them back */
};

/** Prints text in quotes.  Characters that escape_text escapes, and "<", are escaped as \uHHHH (two of them above U+FFFF). */
void json_print_string(FILE *out, const char *text, size_t length, enum json_bytes bytes);
