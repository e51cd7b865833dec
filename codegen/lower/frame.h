/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The frame of loops tracks insertion points: the open levels (analysis.h), and the position of loop-invariant code of each.
 *
 * Code is emitted on demand: the first use of a value emits it at the end of its level's straight-line code, just before the
 * scope that is being filled (`place`).  A level's serial number changes with every new iteration that code is emitted for,
 * which makes cached values of the level and of the levels inside it invalid.  Expressions are therefore emitted without
 * control flow.  What returns a value leaves the position where it was.
 */
#pragma once

#include "codegen/lower/analysis.h"
#include "codegen/lower/build.h"

struct level {
    bool entered;            /* a scope is being filled */
    struct loop_place place; /* then: before that scope */
    uint32_t serial;
};

struct frame {
    const struct build *m;
    uint32_t inner_level; /* the innermost level that the kernel has */
    struct level levels[LEVELS_MAX];
    uint32_t serial;              /* the last one given */
    V var_value[KERNEL_VARS_MAX]; /* loop variables, in the current iteration */
};

/** Moves the position to the end of the innermost code. */
static inline void frame_here(const struct frame *f)
{
    f->m->b->at = &f->m->b->tail;
}
/** Moves the position to the end of a level's straight-line code, and returns where it was. */
struct loop_place *frame_at(struct frame *f, uint32_t level);
/** Returns whether code of a level goes to the end of the innermost code, so that it may have loops of its own. */
bool frame_is_here(const struct frame *f, uint32_t level);
/** Opens a level for a new iteration. */
void frame_open(struct frame *f, uint32_t level);
/** Ends the straight-line code of a level by an if, or a scope where the condition is NULL, in which a loop follows. */
void frame_enter(struct frame *f, uint32_t level, V condition);
/** Ends the scope that frame_enter began, after which the straight-line code of the level continues. */
void frame_leave(struct frame *f, uint32_t level);
