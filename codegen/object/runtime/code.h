/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Defines how an object holds the steps of its program: as numbers of 32 bits, or, if one of them does not fit, of 64.
 *
 * A step is its enum code_op + 8 * locations + a value << CODE_VALUE, the locations, then what the operation says.  A location
 * is flags + a base << CODE_BASE + an offset << base_bits; with CODE_MOVES a stride follows, times the iteration of a loop,
 * with CODE_FIRST a location that holds in iteration 0.  Bases are the arena, the constants, inputs, outputs.
 */
#pragma once

enum code_op {
    CODE_END,    /* of the program */
    CODE_KERNEL, /* value: which << CODE_PARTS + the most parts that are worth it; where its numbers begin, units */
    CODE_COPY,   /* locations: from, to; bytes */
    CODE_LOOP,   /* value: numbers of the body; iterations.  With a location, it ends before one if the byte there is not 0 */
    CODE_NEXT,   /* the end of its body */
};

enum { CODE_VALUE = 10, CODE_PARTS = 11, CODE_MOVES = 1, CODE_FIRST = 2, CODE_BASE = 2 };

/* A file of weights begins with struct object_weights, and zeros follow up to this offset. */
enum { OBJECT_WEIGHTS_HEADER = 64 };
