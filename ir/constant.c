/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Bytes of constants, shared by reference count between graphs, folded copies and compiled plans; copied or lent.
 *
 * In: bytes, or a size.  Out: memory whose last reference frees it or gives it back to its lender.
 */
#include "ir/ir.h"

#include <stdlib.h>
#include <string.h>

enum { CONSTANT_ALIGN = 64 };
_Static_assert(sizeof(struct constant) <= CONSTANT_ALIGN, "the bytes start one alignment unit behind the header");

struct constant *constant_create(const void *data, size_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        return NULL;

    /* Header and bytes in one block; aligned_alloc wants a multiple of the alignment. */
    size_t padded = (bytes + CONSTANT_ALIGN - 1) / CONSTANT_ALIGN * CONSTANT_ALIGN;
    char *block = aligned_alloc(CONSTANT_ALIGN, CONSTANT_ALIGN + padded);
    if (!block)
        return NULL;

    struct constant *c = (struct constant *)block;
    memset(c, 0, sizeof *c);
    atomic_init(&c->references, 1);
    c->bytes = bytes;
    c->data = block + CONSTANT_ALIGN;
    if (data && bytes)
        memcpy(block + CONSTANT_ALIGN, data, bytes);
    return c;
}

struct constant *constant_lend(const void *data, size_t bytes, WNNBufferReleaseCallbackInfo release)
{
    struct constant *c = calloc(1, sizeof *c);

    if (!c) {
        if (release.callback)
            release.callback(data, bytes, release.userdata1, release.userdata2);
        return NULL;
    }
    atomic_init(&c->references, 1);
    c->bytes = bytes;
    c->data = data;
    c->release = release;
    return c;
}

struct constant *constant_retain(struct constant *c)
{
    atomic_fetch_add_explicit(&c->references, 1, memory_order_relaxed);
    return c;
}

void constant_release(struct constant *c)
{
    if (!c || atomic_fetch_sub_explicit(&c->references, 1, memory_order_acq_rel) != 1)
        return;
    if (c->release.callback)
        c->release.callback(c->data, c->bytes, c->release.userdata1, c->release.userdata2);
    free(c);
}
