/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Keeps the positions in the frame of loops.
 */
#include "codegen/lower/frame.h"

struct loop_place *frame_at(struct frame *f, uint32_t level)
{
    struct loop_place *here = f->m->b->at;

    frame_here(f);
    for (; level <= f->inner_level; level++) {
        if (f->levels[level].entered) {
            f->m->b->at = &f->levels[level].place;
            break;
        }
    }
    return here;
}

bool frame_is_here(const struct frame *f, uint32_t level)
{
    for (; level <= f->inner_level; level++)
        if (f->levels[level].entered)
            return false;
    return true;
}

void frame_open(struct frame *f, uint32_t level)
{
    f->levels[level].serial = ++f->serial;
    f->levels[level].entered = false;
}

void frame_enter(struct frame *f, uint32_t level, V condition)
{
    struct loop_region *region = f->m->b->tail.region;

    f->levels[level].entered = true;
    f->levels[level].place = (struct loop_place){.region = region, .after = region->last};
    if (condition)
        loop_if_begin(f->m->b, condition);
    else
        loop_scope_begin(f->m->b);
}

void frame_leave(struct frame *f, uint32_t level)
{
    f->levels[level].entered = false;
    loop_end(f->m->b);
}
