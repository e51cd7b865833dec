/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The frame of loops says where code goes: which levels (analysis.h) are open, and where loop-invariant code of each goes.
 *
 * Code is emitted on demand: the first use of a value emits it at the end of its level's straight-line code, just before the
 * branch (`child`) into the loop that is being filled.  A level's serial number changes with every new iteration that code is
 * emitted for, which makes cached values of the level and of the levels inside it invalid.  Expressions are emitted without
 * control flow of their own, so that this works.
 */
#ifndef WEBNN_CODEGEN_EMIT_FRAME_H_
#define WEBNN_CODEGEN_EMIT_FRAME_H_

#include "codegen/emit/analysis.h"
#include "codegen/emit/build.h"

struct level {
    V child; /* the branch into the loop that is being filled; NULL: code goes to the end */
    uint32_t serial;
};

struct frame {
    const struct build *m;
    uint32_t inner_level;   /* the innermost level that the kernel has */
    LLVMBasicBlockRef tail; /* the basic block at whose end code of the innermost open level goes */
    struct level levels[LEVELS_MAX];
    uint32_t serial;              /* the last one given */
    V var_value[KERNEL_VARS_MAX]; /* loop variables, in the current iteration */
};

/** Moves the position to the end of the innermost code. */
void frame_here(const struct frame *f);
/** Moves the position to the end of a level's straight-line code. */
void frame_at(const struct frame *f, uint32_t level);
/** Returns whether code of a level goes to the end of the innermost code, so that it may have blocks of its own. */
bool frame_is_here(const struct frame *f, uint32_t level);
/** Lets the innermost code go on in a new basic block, where the position moves to. */
void frame_continue(struct frame *f, LLVMBasicBlockRef block);
/** Opens a level for a new iteration. */
void frame_open(struct frame *f, uint32_t level);
/** Ends the straight-line code of a level by a branch into a loop, whose first block gets that name. */
void frame_enter(struct frame *f, uint32_t level, const char *name);
/** Lets the straight-line code of a level go on after the loop that frame_enter began. */
void frame_leave(struct frame *f, uint32_t level);

#endif
