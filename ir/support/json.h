/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Prints strings of JSON.  It is used for traces, models and the tools' tables. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/** The treatment of bytes that are not UTF-8. */
enum json_bytes {
    JSON_REPLACE_BYTES, /* they become U+FFFD, which every parser accepts */
    JSON_KEEP_BYTES     /* they become \xHH, which this library's reader accepts */
};

/** Prints text in quotes.  Characters that escape_text escapes, and "<", are escaped as \uHHHH (two of them above U+FFFF). */
void json_print_string(FILE *out, const char *text, size_t length, enum json_bytes bytes);
