/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Holds the state of emitting one kernel's function: the schedule and what is known of the kernel, which do not change, the
 * frame of loops, and the values that have been emitted.  What code is being emitted for is not here but in a context
 * (context.h).
 */
#pragma once

#include "codegen/lower/analysis.h"
#include "codegen/lower/context.h"
#include "codegen/lower/frame.h"

enum {
    SUM_COPIES = SCHEDULE_SUM_VECTORS_MAX,
    PART_SCALAR = SUM_COPIES, /* accumulators: one per copy, and one for single elements */
    PARTS = SUM_COPIES + 1,
    ROW_GROUPS = 4 /* of four rows or lines of a transposed tile */
};

/** This is a value that has been emitted. */
struct cached {
    V value;
    uint32_t serial; /* of its level; 0: empty */
};

/** This is a form's part without the vector variable, added to a tensor's address. */
struct row_pointer {
    V tensor, row, pointer;
    uint32_t serial;      /* of the level that it was emitted at; 0: empty */
    V groups[ROW_GROUPS]; /* in a whole transposed tile: of every fourth row */
    uint32_t groups_serial;
};

/** These are the accumulators of one REDUCE or SCAN: stack slots, by part. */
struct accumulator {
    V value[PARTS], index[PARTS]; /* index: of arg-min and arg-max */
    V nan[PARTS];                 /* of vectors of extremes whose instruction ignores NaN: whether there was one, by lane */
    V first;                      /* what the last even copy of them added: one comparison tests it together with the next */
    V total[PARTS], rest[PARTS];  /* long float sums: what earlier blocks added up to, and what rounding lost of it */
};

/** These are what the function is called with (struct kernel_args), and zeros on its stack. */
struct arguments {
    V scratch;
    V *params;                     /* by slot; NULL: not loaded yet */
    V first, end;                  /* between which the bounded variable's values count; NULL: not loaded yet */
    V tensors[KERNEL_TENSORS_MAX]; /* the same */
    V zero_vector;                 /* 64 lanes that may be read instead of anything else; NULL: not made yet */
    V zero_row;                    /* tile.zeros of the schedule */
};

/** These values have been emitted and hold as long as the serial number of their level. */
struct caches {
    struct cached *forms;                             /* [form * LEVELS_MAX + level] */
    struct row_pointer *row_pointers;                 /* by form */
    struct cached *exprs, *splats;                    /* [expr * COPIES_MAX + copy] */
    struct cached vars[KERNEL_VARS_MAX * COPIES_MAX]; /* derived variables */
};

struct emitter {
    struct build m;
    const struct schedule *s;
    const struct kernel *k; /* s->kernel */
    struct arena arena;
    struct analysis info;
    struct frame frame;
    struct arguments args;
    struct caches cache;
    struct accumulator *accumulators; /* by expression */
    V *row_pointers;                  /* what a context of a register tile refers to; NULL: there are no register tiles */
    /** Returns the value of an expression in a context, with `lanes` lanes: expr_value_lanes.  Indices may be data, so that
     * index.c needs expressions, which need loads, which need indices; this pointer is the one way back up the layers. */
    V (*expr_value)(struct emitter *e, const struct context *cx, uint32_t expr, uint32_t lanes);
};

/** Returns whether an expression differs from lane to lane here. */
static inline bool expr_is_vector(const struct emitter *e, const struct context *cx, uint32_t expr)
{
    return cx->lanes > 1 && e->s->exprs[expr].lanes;
}
