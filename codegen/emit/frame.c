/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Keeps the positions in the frame of loops.
 */
#include "codegen/emit/frame.h"

void frame_here(const struct frame *f)
{
    LLVMPositionBuilderAtEnd(f->m->b, f->tail);
}

void frame_at(const struct frame *f, uint32_t level)
{
    for (; level <= f->inner_level; level++) {
        if (f->levels[level].child) {
            LLVMPositionBuilderBefore(f->m->b, f->levels[level].child);
            return;
        }
    }
    frame_here(f);
}

bool frame_is_here(const struct frame *f, uint32_t level)
{
    for (; level <= f->inner_level; level++)
        if (f->levels[level].child)
            return false;
    return true;
}

void frame_continue(struct frame *f, LLVMBasicBlockRef block)
{
    f->tail = block;
    frame_here(f);
}

void frame_open(struct frame *f, uint32_t level)
{
    f->levels[level].serial = ++f->serial;
    f->levels[level].child = NULL;
}

void frame_enter(struct frame *f, uint32_t level, const char *name)
{
    frame_here(f);
    f->levels[level].child = block_enter(f->m, name);
    f->tail = LLVMGetInsertBlock(f->m->b);
}

void frame_leave(struct frame *f, uint32_t level)
{
    f->levels[level].child = NULL;
}
