/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Writes text.
 */
#define _GNU_SOURCE
#include "codegen/opencl/internal.h"

#include <stdlib.h>

/* ---- text ---- */

const char *text_of(struct printer *p, const char *format, ...)
{
    char *text = NULL;
    va_list args;

    va_start(args, format);
    const int length = vasprintf(&text, format, args);
    va_end(args);
    const char *kept = length < 0 ? NULL : arena_string(p->arena, text, (size_t)length);
    if (length >= 0)
        free(text);
    p->failed |= !kept;
    return kept ? kept : "";
}

void put(struct printer *p, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vfprintf(p->out, format, args);
    va_end(args);
}

/* A group of one item needs no barrier, and PoCL 6.0 (LLVM 18) takes loops after a barrier there for endless ones. */
void put_barrier(struct printer *p)
{
    const uint32_t *local = p->s->local;

    if (local[0] * local[1] * local[2] != 1) /* stages have local tensors in global memory, too */
        put_line(p, "barrier(CLK_LOCAL_MEM_FENCE%s);", p->k->stage_count ? " | CLK_GLOBAL_MEM_FENCE" : "");
}

/* ---- tensors ---- */

const char *opencl_storage_type(struct printer *p, dtype t)
{
    return type_text(p, storage_type(t), false);
}
