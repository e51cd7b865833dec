/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Facts of contractions that schedules for processors and for devices share: which kernels are contractions
 * (schedule_matmul.c), and which of them multiply integers of 8 bits, or 4 (schedule_bytes.c).
 */
#pragma once

#include "ir/kernel/kernel.h"

/** Returns the only reduction of a kernel if it is a dot whose iterations all count and are one phase, and KEXPR_NONE for all
 * other kernels. */
uint32_t find_contraction(const struct kernel *k);
/** Returns how many iterations the loops over the REDUCED variables [from, to), counted from the first one, have together. */
int64_t iterations_of(const struct kernel *k, uint32_t from, uint32_t to);
/** Marks the expressions that one is computed from, itself included, and no others. */
void mark_below(const struct kernel *k, uint32_t expr, bool *used);

/** Says where a sum is split into blocks. */
struct sum_split {
    uint32_t var;   /* the REDUCED variable, counted from the first one; KEXPR_NONE: nowhere */
    uint32_t steps; /* of that variable, in a block */
};
/** Returns where to split sums so that no accumulator takes more than so many steps; the innermost variable goes in vectors. */
struct sum_split choose_split(const struct kernel *k, uint32_t steps, uint32_t lanes);

enum { BYTE_WORD = 4 /* bytes of a word, whose products one instruction adds to a sum */ };

/**
 * Says that a contraction multiplies bytes: A is a_factor times unsigned bytes less a zero point, and B is b_factor times one
 * of
 *
 *   signed bytes (whole)   The innermost REDUCED variable, of 4 values, runs over the four of a word, and neighbours along the
 *                          columns' variable are neighbouring words.
 *   numbers of 4 bits      They are unsigned, less a zero point.  The two innermost REDUCED variables, of 2 and 4 values, run
 *                          over the eight numbers of a word: bits 4 * (2 j + i) of it belong to step (i, j).
 *
 * Factors and zero points change only from block to block of K.  The sum of a block is one of integers, which is exact.  A code
 * generator adds four products to a sum at a time: those of a word, or of 4-bit numbers for i and all j.
 *
 * Where instructions multiply unsigned by signed bytes, one operand's zero point is taken off before and the other's after the
 * sum, times a sum of the one: columns of B, which all rows share, or rows of A, which all vectors share.  Where both operands
 * are signed, 128 is taken off A, so that only zero points that are no constants are left.
 */
struct byte_products {
    uint32_t a;      /* the K_LOAD of A's bytes; KEXPR_NONE: it does not */
    uint32_t a_zero; /* A's zero point: the K_LOAD of a single byte; KEXPR_NONE: it is the next member */
    int32_t a_number;
    uint32_t words;              /* the K_LOAD of B's words, or of its bytes */
    uint32_t a_factor, b_factor; /* KEXPR_NONE: 1 */
    uint32_t zero;               /* B's; KEXPR_NONE: there is none */
    bool whole;                  /* B has signed bytes */
    bool both_signed;            /* what is multiplied are signed bytes of either operand */
    bool narrow;  /* all sums of a block fit 16 bits: instructions that add products up by twos need not make 32 of them */
    bool columns; /* B is signed bytes, or a constant zero point is taken off it, and columns are summed; otherwise A
                      becomes signed, whole bytes of B unsigned (but for both_signed), and rows are summed */
};

/**
 * Finds out whether a contraction, whose columns are a PARALLEL variable, multiplies bytes, and how many loops over REDUCED
 * variables change the factors and zero points: what lies inside of these loops is a block.  out->columns, both_signed and
 * narrow are left false. Returns false if it does not, and then sets out->a alone.
 */
bool byte_products_find(const struct kernel *k, const struct kexpr *dot, uint32_t column, struct byte_products *out,
                        uint32_t *depth);
/** Returns whether A's bytes less their zero point are all signed bytes: it is 128. */
bool byte_products_a_is_signed(const struct byte_products *p);
/** Returns how many REDUCED variables, the innermost ones, run over the numbers of a word of B, of which a step takes all. */
uint32_t byte_products_word_vars(const struct byte_products *p);
/** Returns whether B has no zero point, or one that is a constant and that leaves signed bytes of numbers of 4 bits. */
bool byte_products_zero_is_small(const struct kernel *k, const struct byte_products *p);
