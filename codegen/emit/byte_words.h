/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits the arithmetic of words of four bytes: dot products by the instructions that a processor has for them (enum
 * byte_arithmetic in ir/target/target.h).  All of them are exact.
 */
#ifndef WEBNN_CODEGEN_EMIT_BYTE_WORDS_H_
#define WEBNN_CODEGEN_EMIT_BYTE_WORDS_H_

#include "codegen/emit/build.h"

/** So many vectors at most hold a vector of words in the form in which they are multiplied, and so many words of each operand
 * are multiplied together. */
enum { BYTE_PARTS = 2, BYTE_WORDS_MOST = 2 };

/** Says how words are multiplied. */
struct byte_form {
    enum byte_arithmetic by; /* BYTES_NONE: by shifts and multiplications of 32 bits */
    uint32_t lanes;
    bool both_signed; /* the first operand is signed, too */
    bool pairs_fit;   /* two products and the two of the other word fit 16 bits */
    bool narrow;      /* sums have twice as many lanes of 16 bits, in vectors of the same size */
};

/** These are words as they are multiplied. */
struct byte_words {
    V part[BYTE_PARTS];
};

/** Returns how words of so many lanes are multiplied on the machine.  pairs_fit and narrow are what the numbers allow, and
 * count where products are added up by twos. */
struct byte_form byte_form_of(const struct build *m, uint32_t lanes, bool both_signed, bool pairs_fit, bool narrow);
/** Emits what makes words of a vector of 32-bit lanes ready to be multiplied. */
struct byte_words byte_words_of(const struct build *m, const struct byte_form *f, V lanes);
/** Emits the addition of products of a's bytes and b's, which are signed, to a sum: vectors of 32-bit lanes in a slot. */
void byte_words_add(const struct build *m, const struct byte_form *f, V slot, const struct byte_words *a,
                    const struct byte_words *b, uint32_t count);
/** Emits and returns a sum's 32-bit lanes. */
V byte_sum_value(const struct build *m, const struct byte_form *f, V slot);

#endif
