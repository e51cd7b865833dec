/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Pieces of the printer that the parser and the verifier share. */
#ifndef WEBNN_IR_PRINT_H_
#define WEBNN_IR_PRINT_H_

#include "ir/ir.h"

enum {
    NUMBER_TEXT_MAX = 48,
    NUMBER_LENGTH_MAX = 1100 /* of a number that is read: the exact decimal form of the smallest double has 1074 digits */
};

/** The shortest decimal digits that read back as the same double; NaN, Infinity, -Infinity; bits of an unusual NaN. */
const char *double_print(char buf[NUMBER_TEXT_MAX], double d);
/** Likewise for one element of a tensor. */
const char *scalar_print(char buf[NUMBER_TEXT_MAX], union scalar s, dtype t);
/** A number of an option: how it is written shows its type (6.0, 6, 6u). */
const char *number_print(char buf[NUMBER_TEXT_MAX], WNNNumber n);
/** The double with the fewest digits that is d once it is rounded to t. */
double double_shorten(double d, dtype t);
/** A number token (digits, '.', exponent; no sign) as a double, correctly rounded in every locale. */
double digits_to_double(const char *text, size_t length);
/** The cluster mark's word: kernel, library, view. */
const char *cluster_kind_name(enum cluster_kind kind);
/** The node that a library cluster is built around unless it says otherwise. */
bool is_default_anchor(const struct node *n);

/**
 * Prints one statement without its line end, values named by what they are called or v<index>; takes nothing for granted, so
 * that the verifier can show broken nodes.
 */
void node_print_plain(const struct node *n, FILE *out);

#endif
