/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Internals of the writer. */
#pragma once

#include "frontend/readers/text/write.h"
#include "ir/text/print.h"

/** Writes text as a JSON string.  Bytes that are not UTF-8 become \xHH, which our reader accepts. */
void json_write_string(FILE *out, const char *text, size_t length);
/** Writes the graph's file as JSON.  Returns false if the stream has an error, or if memory ran out. */
bool json_write_graph(const struct graph *g, const struct print_options *options, FILE *out);
