/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares conversions of numbers to text and back, bit by bit.
 */
#pragma once

#include "ir/support/number.h"

enum {
    NUMBER_TEXT_MAX = 48,
    NUMBER_LENGTH_MAX = 1100 /* of a number that is read: the exact decimal form of the smallest double has 1074 digits */
};

/** Writes the shortest decimal digits that read back as the same double; or NaN, Infinity, -Infinity; or the bits of an unusual
 * NaN.  Returns buf. */
const char *double_print(char buf[NUMBER_TEXT_MAX], double d);
/** Does the same for one element of a tensor. */
const char *scalar_print(char buf[NUMBER_TEXT_MAX], union scalar s, dtype t);
/** Writes a number of an option in a way that shows its type (6.0, 6, 6u).  Returns buf. */
const char *number_print(char buf[NUMBER_TEXT_MAX], WNNNumber n);
/** Returns the double with the fewest digits that is d once it is rounded to t. */
double double_shorten(double d, dtype t);
/** Returns a number token (digits, '.', exponent; no sign) as a double, correctly rounded in every locale. */
double digits_to_double(const char *text, size_t length);
