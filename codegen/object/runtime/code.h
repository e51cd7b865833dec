/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Defines how an object holds the steps of its program: as numbers of 32 bits, or, if one of them does not fit, of 64.
 *
 * A step is its enum code_op + 8 * locations + a value << CODE_VALUE, the locations, then what the operation says.  A location
 * is flags + a base << CODE_BASE + an offset << base_bits; with CODE_MOVES a stride follows, times the iteration of a loop,
 * with CODE_FIRST a location that holds in iteration 0.  Bases are the arena, the constants, inputs, outputs.
 *
 * In an object for several sizes a word is twice a number, or twice the number of a value, and 1.  A class of combinations of
 * sizes shares its words, after which come those of the kernels' numbers.  For each of its values there are three numbers: the
 * value is the first plus the second times that of a table for the row, which is the number of a combination in its class.  The
 * third is the table's offset << CODE_WIDTH + the binary logarithm of its numbers' bytes.
 */
#pragma once

#include <stdint.h>

enum code_op {
    CODE_END,    /* of the program */
    CODE_KERNEL, /* value: which; the most parts that are worth it, where its numbers begin, units */
    CODE_COPY,   /* locations: from, to; bytes */
    CODE_LOOP,   /* value: numbers of the body; iterations.  With a location, it ends before one if the byte there is not 0 */
    CODE_NEXT,   /* the end of its body */
};

enum { CODE_VALUE = 10, CODE_MOVES = 1, CODE_FIRST = 2, CODE_BASE = 2 };
enum { CODE_ROW = 14, CODE_WIDTH = 2 };

struct code_class {
    uint32_t code, code_count, number_count; /* words: where they begin, of steps, of kernels' numbers */
    uint32_t numbers, value_count;           /* where those of its values begin, or without sizes the kernels' */
};

/* A file of weights begins with struct object_weights, and zeros follow up to this offset. */
enum { OBJECT_WEIGHTS_HEADER = 64 };
