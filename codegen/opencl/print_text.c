/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Writes text.
 */
#define _GNU_SOURCE
#include "codegen/opencl/internal.h"

#include <stdlib.h>

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
