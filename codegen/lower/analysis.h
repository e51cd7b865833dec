/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Analyses a kernel for the lowering: the level of each variable, form and expression, and the kernel's numbers that each of
 * them uses.
 *
 * A kernel becomes a nest of loops, each of which is a level: 0 is the function's entry, 1 a unit, then (vectors along a
 * PARALLEL variable) the vectors of that variable, then one level per REDUCED variable.  Every variable, form and expression
 * has the level of the innermost variable that it depends on, and is emitted there, outside inner loops (frame.h).
 */
#pragma once

#include "ir/schedule/schedule.h"

enum { LEVELS_MAX = KERNEL_VARS_MAX + 3, LEVEL_ENTRY = 0, LEVEL_UNIT = 1 };

/** An affine form of the kernel. */
struct form {
    const struct kaffine *affine;
    uint32_t number;     /* of its offset; those of its coefficients follow */
    uint8_t level;       /* of the whole form */
    bool derived_lanes;  /* depends on the vector variable through a derived one */
    int32_t vector_term; /* index of the vector variable's term, -1: none */
};

/** Holds what analyze determined, which never changes afterwards.  The arrays are in the arena. */
struct analysis {
    struct knumbers numbers;
    struct form *forms;
    uint32_t form_count;
    uint32_t *var_form, *expr_form, *store_form; /* the first of each, which those of guards follow */
    uint8_t var_level[KERNEL_VARS_MAX], *expr_level;
    bool *expr_rows;                      /* by expression: depends on the M variable of a register tile */
    bool vector_parallel, vector_reduced; /* what the vector variable is */
    uint32_t point_level;                 /* of a point, or of a vector of points */
    uint32_t reduced_level, inner_level;  /* of the first and the last REDUCED variable */
    uint32_t vector_level;                /* of the vector variable */
};

/** Fills *a, which the caller has set to zeros, for a finished kernel's schedule.  Returns false if memory runs out. */
bool analyze(struct analysis *a, const struct schedule *s, struct arena *arena);
/** Returns whether an expression is a load by vectors at whose edges there are branches, so that it is emitted at the end of
 * the innermost code (schedule->edges.branches). */
static inline bool load_is_branch(const struct schedule *s, uint32_t id)
{
    return s->edges.branches && s->exprs[id].lanes && s->kernel->exprs[id].op == K_LOAD && s->kernel->exprs[id].guard_count;
}
/** Returns whether a number is known when the code is emitted, and has this value. */
bool number_is(const struct analysis *a, uint32_t number, int64_t value);
