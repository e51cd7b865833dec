/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits the micro-kernel of contractions: one register tile, MR x NR.
 */
#pragma once

#include "codegen/lower/emitter.h"

/** Makes room for row pointers.  Returns false if memory runs out. */
bool microkernel_prepare(struct emitter *e);
/** Makes the zeros that rows in the padding read.  The position is in the function's first basic block. */
void microkernel_enter_function(struct emitter *e);
/** Says where a register tile is, and how large. */
struct tile_at {
    V row, column; /* its first point: of M (NULL: there is no such variable) and of the vector variable */
    V high;        /* the vector variable's end */
    uint32_t rows, vectors, lanes;
    bool masked; /* the last vector of a row may go beyond the end */
};
/** Emits one tile, from clearing its accumulators to storing its results.  store_values is as for emit_point. */
void emit_microkernel(struct emitter *e, const struct context *cx, const struct tile_at *at, V *store_values);
