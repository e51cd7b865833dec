/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits the micro-kernel of contractions: one register tile, MR x NR.
 */
#pragma once

#include "codegen/lower/emitter.h"

/** Allocates row pointers.  Returns false if memory runs out. */
bool microkernel_prepare(struct emitter *e);
/** Makes the zeros that rows in the padding read.  The position is in the function's first basic block. */
void microkernel_enter_function(struct emitter *e);
/** Describes where a register tile is, and how large. */
struct tile_at {
    V row, column; /* its first point: of M (NULL: there is no such variable) and of the vector variable */
    V high;        /* the vector variable's end */
    V whole;       /* whether the last row exists, a bit; NULL: it does */
    uint32_t rows, vectors, lanes, lines;
    bool masked;          /* the last vector of a row may go beyond the end */
    const V *column_sums; /* what emit_column_sums has made for all rows; NULL: nothing */
};
/** Emits the initial values of sums of bytes of these columns, for all their tiles, into new slots, one for each vector. */
void emit_column_sums(struct emitter *e, const struct context *cx, const struct tile_at *at, V *slots);
/** Emits one tile, from clearing its accumulators to storing its results. */
void emit_microkernel(struct emitter *e, const struct context *cx, const struct tile_at *at);
