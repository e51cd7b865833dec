/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Analyses of contractions for the schedules of processors and devices: which kernels are contractions
 * (schedule_matmul.c), and which of them multiply integers of 8 bits or fewer (schedule_bytes.c).
 */
#pragma once

#include "ir/kernel/kernel.h"

/** Returns the only reduction of a kernel if it is a dot of one phase without bounds, and KEXPR_NONE for all other kernels. */
uint32_t find_contraction(const struct kernel *k);
/** Returns how many iterations the loops over the REDUCED variables [from, to), counted from the first one, have together. */
int64_t iterations_of(const struct kernel *k, uint32_t from, uint32_t to);
/** Marks an expression and all that it is computed from, and no others. */
void mark_below(const struct kernel *k, uint32_t expr, bool *used);

/** Describes where a sum is split into blocks. */
struct sum_split {
    uint32_t var;   /* the REDUCED variable, counted from the first one; KEXPR_NONE: nowhere */
    uint32_t steps; /* of that variable, in a block */
};
/** Returns where to split sums so that no accumulator takes more than so many steps; the innermost variable goes in vectors. */
struct sum_split choose_split(const struct kernel *k, uint32_t steps, uint32_t lanes);

/** Splits a product into a factor that fewer loops over REDUCED variables change than the rest, as they do the scale of
 * quantised weights.  Returns how many, or UINT32_MAX if there is no such product. */
uint32_t find_block_factor(const struct kernel *k, const struct kexpr *x, uint32_t *factor, uint32_t *rest);

/* Bytes of a word, whose products one instruction adds to a sum, and those of one whose A has numbers of 16 bits. */
enum { BYTE_WORD = 4, BYTE_WIDE_WORD = 2 };

/**
 * Says that a contraction multiplies bytes: A is a_factor times bytes less a zero point, and B is b_factor times one of
 *
 *   signed bytes (whole)   The innermost REDUCED variable, of 4 values (wide: 2), runs over those of a word, and neighbours
 *                          along the columns' variable are neighbouring words.
 *   numbers of b bits      b is 4, 2 or 1.  They are unsigned, less a zero point.  The two innermost REDUCED variables, of
 *                          n = 8 / b and 4 values, run over the numbers of a word: bits b * (n j + i) of it belong to step
 *                          (i, j).
 *
 * Factors and zero points change only from block to block of K.  The sum of a block is one of integers, which is exact.  A code
 * generator adds four products to a sum at a time: those of a word, or of numbers of b bits for i and all j.
 *
 * If instructions multiply unsigned by signed bytes, one operand's zero point is subtracted before and the other's after the
 * sum, times a sum of the one: columns of B, which all rows share, or rows of A, which all vectors share.  Where both operands
 * are signed, 128 is subtracted from unsigned bytes of A; otherwise it is added to signed ones.
 */
struct byte_products {
    uint32_t a;      /* the K_LOAD of A's bytes; KEXPR_NONE: it does not */
    uint32_t a_zero; /* A's zero point: the K_LOAD of a single byte; KEXPR_NONE: it is the next member */
    int32_t a_number;
    bool a_signed;               /* A's bytes are signed */
    bool wide;                   /* A has numbers of 16 bits, bytes less their zero point, and words have two bytes, or two
                                    such numbers, and sums stay integers */
    bool own;                    /* every column has its own A (a depthwise convolution): there are no words */
    uint32_t words;              /* the K_LOAD of B's words, or of its bytes */
    uint32_t a_factor, b_factor; /* KEXPR_NONE: 1 */
    uint32_t zero;               /* B's; KEXPR_NONE: there is none */
    uint32_t bits;               /* of B's numbers */
    bool whole;                  /* B has signed bytes: bits is 8 */
    bool both_signed;            /* both operands' bytes are signed */
    bool fits;                   /* sums of two products of neighbours fit 16 bits */
    bool narrow;  /* all sums of a block fit 16 bits: instructions that add products up by twos need not make 32 of them */
    bool columns; /* B is signed bytes, or a constant zero point is subtracted from it, and columns are summed; otherwise A
                      becomes signed, whole bytes of B unsigned (but for both_signed), and rows are summed */
};

/**
 * Determines whether a contraction, whose columns are a PARALLEL variable, multiplies bytes, and how many loops over REDUCED
 * variables change the factors and zero points: a block is the code inside these loops.  out->columns, both_signed and
 * narrow are left false. Returns false if it does not, and then sets out->a alone.
 */
bool byte_products_find(const struct kernel *k, const struct kexpr *dot, uint32_t column, struct byte_products *out,
                        uint32_t *depth);
/** Returns whether A's zero point is subtracted from numbers wider than bytes before they are multiplied, so that nothing is
 * corrected, and the padding is 0: columns have bytes of their own, and words of these are not multiplied. */
static inline bool byte_products_are_less_zero(const struct byte_products *p)
{
    return p->own && !p->columns;
}
/** Returns the number of elements of a word of B, divided by four. */
static inline uint32_t byte_products_parts(const struct byte_products *p)
{
    return 8 / p->bits;
}
