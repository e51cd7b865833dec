/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the command lines of the tools have in common: NAME=VALUE pairs, sizes and shapes, and text from files made fit to
 * print.
 */
#ifndef WEBNN_FRONTEND_TOOLS_ARGUMENTS_H_
#define WEBNN_FRONTEND_TOOLS_ARGUMENTS_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frontend/model/model.h"

/** A list that grows by one; items of `size` bytes.  NULL: out of memory, and the list is as before. */
void *list_grow(void *items, size_t count, size_t size);

/** NAME=FILE.  name is NULL if there is no "=" (or nothing before it). */
struct argument_pair {
    char *name; /* owned */
    const char *value;
};

/** Splits at the first "=".  False: out of memory. */
bool argument_split(const char *text, struct argument_pair *pair);
/** "NAME=N" with N from 1 to 2^31-1, split at the last "=".  *name is owned.  False: not that. */
bool argument_dim(const char *text, char **name, uint32_t *size);
/** "NAME=1x3x224x224", or "NAME=scalar".  *name is owned.  False: not that. */
bool argument_shape(const char *text, char **name, struct model_shape *shape);
/** A whole number from low to high, and nothing behind it. */
bool argument_number(const char *text, uint64_t low, uint64_t high, uint64_t *number);
/** A finite number, or a fraction such as 1/255. */
bool argument_real(const char *text, double *number);
/** What argument_precision takes, for messages. */
#define ARGUMENT_PRECISIONS "float32, bf16x2 or bf16"
/** The precision of that name. */
bool argument_precision(const char *text, WNNPrecision *precision);
/** Up to 3 numbers separated by commas; one is spread over all three. */
bool argument_reals3(const char *text, double numbers[3]);

/** text in buf with everything that could confuse a terminal as \xNN, cut with "..." if it does not fit.  Returns buf. */
const char *printable(char *buf, size_t size, const char *text, size_t length);

/** Milliseconds of a clock that only goes forward. */
double clock_ms(void);

#endif
