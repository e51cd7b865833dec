/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Holds the state of emitting one kernel's function: the schedule and facts about the kernel, which do not change, the frame of
 * loops, and the values that have been emitted.  The elements for which code is emitted are in a context (context.h).
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

/** A value that has been emitted. */
struct cached {
    V value;
    uint32_t serial; /* of its level; 0: empty */
};

/** A form's part without the vector variable, added to a tensor's address. */
struct row_pointer {
    V tensor, row, pointer;
    uint32_t serial;      /* of the level that it was emitted at; 0: empty */
    V groups[ROW_GROUPS]; /* in a whole transposed tile: of every fourth row */
    uint32_t groups_serial;
};

/** The accumulators of one REDUCE or SCAN: stack slots, by part. */
struct accumulator {
    V value[PARTS], index[PARTS]; /* index: of arg-min and arg-max */
    V nan[PARTS];                 /* of vectors of extremes whose instruction ignores NaN: whether one was found, by lane */
    V first;                      /* the last even copy's operand: one comparison tests it together with the next */
    V total[PARTS], rest[PARTS];  /* long float sums: the total of earlier blocks, and its rounding error */
};

/** The function's arguments (struct kernel_args), and zeros on its stack. */
struct arguments {
    V scratch;
    V *params;                     /* by slot; NULL: not loaded yet */
    uint32_t first_number;         /* of the params among the numbers of the function */
    V first, end;                  /* between which the bounded variable's values count; NULL: not loaded yet */
    V tensors[KERNEL_TENSORS_MAX]; /* the same */
    V zero_vector;                 /* 64 zero lanes that may be read instead of a tensor; NULL: not made yet */
    V zero_row;                    /* tile.zeros of the schedule */
};

/** These values have been emitted and hold as long as the serial number of their level. */
struct caches {
    struct cached *forms;             /* [form * LEVELS_MAX + level] */
    struct row_pointer *row_pointers; /* by form */
    struct cached *exprs, *splats;    /* [expr * COPIES_MAX + copy] */
    struct cached *vars;              /* [var * COPIES_MAX + copy]: derived variables */
};

/** Says how the items of a device's group share the iterations of a point, and where they combine what they have reduced. */
struct sharing {
    V item;         /* which of them this is */
    uint32_t items; /* how many there are, a power of two */
    V has_point;    /* whether this item has a point at all; NULL: it has */
    V memory;       /* of the group, with room for a value of each item; */
    V places;       /* and for an i32 of each; NULL: nothing needs it */
    V first;        /* the number of the first of them there */
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
    const struct sharing *sharing;    /* NULL: a point is computed by one */
    V chosen_by; /* selections by this condition, which the code is in a branch of, are their operand `chosen`; or NULL */
    uint32_t chosen;
    V *store_values; /* [store * COPIES_MAX + copy] */
    V *row_pointers; /* what a context of a register tile refers to */
    /** Returns the value of an expression in a context, with `lanes` lanes: expr_value_lanes.  Indices may be data, so that
     * index.c needs expressions, which need loads, which need indices; this pointer is the only upward call between the
     * layers. */
    V (*expr_value)(struct emitter *e, const struct context *cx, uint32_t expr, uint32_t lanes);
};

/** Returns whether an expression differs from lane to lane here. */
static inline bool expr_is_vector(const struct emitter *e, const struct context *cx, uint32_t expr)
{
    return cx->lanes > 1 && e->s->exprs[expr].lanes;
}
/** Says what an expression's value is in a copy where code is being emitted. */
static inline void expr_know(struct emitter *e, uint32_t expr, uint32_t copy, V value)
{
    e->cache.exprs[expr * COPIES_MAX + copy] = (struct cached){value, e->frame.levels[e->info.expr_level[expr]].serial};
}
