/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Drawing: what generate.c offers to generate_operator.c.
 *
 * Every function that takes or gives a value keeps the sample evaluated, so that it is known at once whether anything can be
 * asked of a new node's results: a node of whose elements more than one in a hundred lies near a jump is taken back, and drawn
 * again with other operands.
 */
#pragma once

#include "random.h"

struct generator {
    struct sample *s;
    uint64_t state;
    int64_t budget; /* elements of a tensor, about */
    bool odd;       /* NaN, infinities, extremes may appear in inputs */
    bool in_loop;   /* this is the body of a loop, in which there are no loops */
    uint32_t count, capacity;
    struct value **values; /* all that may be used */
    struct value *hint;    /* what the next operator should use if it can; may be NULL */
    dtype wanted;          /* the data type to draw more often than not where it is allowed; Undefined: none */
};

/** Begins drawing; the caller initialises the sample, and frees r->values. */
void generator_init(struct generator *r, struct sample *draft, uint64_t seed);
uint64_t draw_bits(struct generator *r);
/** Below n (n > 0). */
static inline uint32_t draw(struct generator *r, uint32_t n)
{
    return (uint32_t)(draw_bits(r) >> 11) % n;
}
/** From low to high. */
static inline uint32_t draw_from(struct generator *r, uint32_t low, uint32_t high)
{
    return low + draw(r, high - low + 1);
}
/** True with a probability of percent. */
static inline bool chance(struct generator *r, uint32_t percent)
{
    return draw(r, 100) < percent;
}
/** From -1 to 1. */
static inline double draw_unit(struct generator *r)
{
    return (double)(draw_bits(r) >> 11) / 4503599627370496.0 - 1;
}
/** A permutation of 0 .. count - 1. */
void draw_permutation(struct generator *r, uint32_t count, uint32_t *out);
/** A divisor of n. */
uint32_t draw_divisor(struct generator *r, uint32_t n);
dtype draw_type(struct generator *r, dtype_set set);
/** Returns a size for one of `left` more dimensions, so that all together stay within elements. */
uint32_t draw_size(struct generator *r, int64_t elements);
struct tensor_type draw_shape(struct generator *r, dtype type, uint32_t rank_min, uint32_t rank_max);
/** Numbers for options. */
double draw_option(struct generator *r);
WNNNumber draw_number(struct generator *r, dtype type);

/** What a new input or constant is filled with. */
enum content {
    CONTENT_ANY,
    CONTENT_SMALL,    /* around zero: weights */
    CONTENT_POSITIVE, /* scales, variances */
    CONTENT_INDEX,    /* indices into a dimension of `range`, some beyond it */
    CONTENT_BYTES,    /* all integers of the type: quantized tensors */
    CONTENT_WEIGHTS,  /* the same, constant almost always; so are scales and zero points of quantized contractions */
    CONTENT_NIBBLES,  /* likewise, within a range of 16 */
    CONTENT_SCALE,
    CONTENT_ZERO_POINT,
    CONTENT_COUNTING, /* 0, 1, 2 ..., constant almost always */
    CONTENT_LOWEST,   /* so far below all others that its exponential next to theirs is 0, likewise */
    CONTENT_ZERO      /* 0, likewise */
};

/** Returns a new input or constant. */
struct value *draw_leaf(struct generator *r, const struct tensor_type *t, enum content content, uint32_t range);
/** Returns an input of that type. */
struct value *draw_input(struct generator *r, const struct tensor_type *t, enum content content);
/** Some value of those types and ranks: an existing one, one made to fit by a cast or a reshape, or a new leaf. */
struct value *draw_operand(struct generator *r, dtype_set types, uint32_t rank_min, uint32_t rank_max);
/** Returns a value of exactly that type: likewise. */
struct value *draw_typed(struct generator *r, const struct tensor_type *t, enum content content);
/** A value that can be broadcast with `with`, in one or both directions. */
struct value *draw_partner(struct generator *r, dtype type, const struct tensor_type *with);

/** Appends a node; its results become usable.  NULL: invalid, too large, or nothing to ask of it. */
struct node *append(struct generator *r, enum op op, uint32_t count, struct value *const *inputs, const void *options,
                    const union op_args *args);

/** Appends a contraction of dequantized tensors and what usually follows it. */
bool draw_quantized_contraction(struct generator *r);
/** Appends an attention. */
bool draw_attention(struct generator *r);
/** Appends a loop. */
bool draw_loop(struct generator *r);
/** Appends operators that often follow each other. */
void draw_steps(struct generator *r);
/** Appends one random application of op; its (random) result is the hint of the next.  False: it did not work out. */
bool draw_operator(struct generator *r, enum op op);
