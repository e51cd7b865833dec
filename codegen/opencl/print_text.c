/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Writes text.
 */
#include "codegen/lower/items.h"
#include "codegen/opencl/internal.h"

#include <stdarg.h>

/* ---- text ---- */

static const char *format_text(struct printer *p, const char *format, va_list args)
{
    va_list again;

    va_copy(again, args);
    const int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = length < 0 ? NULL : arena_alloc(p->arena, (size_t)length + 1);
    p->failed |= !text;
    if (text)
        vsnprintf(text, (size_t)length + 1, format, args);
    return text ? text : "";
}

const char *text_of(struct printer *p, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    const char *text = format_text(p, format, args);
    va_end(args);
    return text;
}

void put(struct printer *p, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vfprintf(p->out, format, args);
    va_end(args);
}

void put_line(struct printer *p, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vfprintf(p->out, format, args);
    va_end(args);
    fputc('\n', p->out);
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
