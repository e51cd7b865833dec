/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The code context describes the elements for which code is being emitted.  It is passed to all emitters and never changed: for
 * another one, a copy is made.
 *
 * A value depends on the vector variable (then it has `lanes` lanes) or not (then it is a scalar, which is broadcast when
 * combined with a vector).  Loops may do several vectors per iteration: `copies`, each with its own values.
 */
#pragma once

#include "codegen/lower/build.h"
#include "ir/schedule/schedule.h"

enum { COPIES_MAX = SCHEDULE_VECTORS_MAX };

/** A tile that is transposed in registers.  Its copies, which are its rows, lie along the variable transpose.var of the
 * schedule. */
struct transposed_tile {
    V base;        /* that variable's value in the first row */
    V rows, lanes; /* how many rows and lanes exist, i64; NULL: all */
};

/** This is a register tile, MR x NR.  Its copies are its rows times the vectors of a row, row by row, line by line. */
struct micro_tile {
    uint32_t rows, vectors, lines; /* rows: of a line */
    V whole;                       /* whether the last row exists, which the one before stands for otherwise; NULL: it does */
    V mask;                        /* lanes of a row's last vector that exist; NULL: all */
    V prefetch, prefetch_step;     /* where it prefetches from (NULL: nowhere), and how many bytes that moves in a step of K */
};

struct context {
    uint32_t phase;
    uint32_t lanes;                           /* of vectors; 1: single elements */
    uint32_t copies, copy;                    /* number of vectors of an iteration, and the current one */
    V mask;                                   /* lanes of that vector that exist, NULL: all */
    V left;                                   /* in the remainder of a row: how many lanes that are, i64 */
    const V *vector_base;                     /* by copy: the vector variable's value in the first lane, i64 */
    const struct transposed_tile *transposed; /* NULL: nothing is transposed */
    const struct micro_tile *tile;            /* NULL: this is no register tile */
    const V
        *row_pointers; /* [expr * COPIES_MAX + row]: where an operand's row begins (operand.c); NULL: rows have no pointers */
    bool guards_hold;  /* guards of operands are known to hold */
    bool line_holds;   /* those that do not depend on a tile's rows */
    bool steps_hold;   /* those that do */
    V line;    /* address of the first element of a line of A, or of a window's B, that a tile reads; NULL: it is not known */
    V element; /* and where the one to load is, counted in elements of the tensor */
    bool rows_inside;  /* guards that are the same for all lanes are known to hold */
    bool lanes_inside; /* and so are all others */
};

/** Returns the same context for another copy. */
static inline struct context context_of_copy(const struct context *cx, uint32_t copy)
{
    struct context of = *cx;
    of.copy = copy;
    if (cx->tile) /* only the last vector of a row is masked */
        of.mask = copy % cx->tile->vectors == cx->tile->vectors - 1 ? cx->tile->mask : NULL;
    return of;
}
