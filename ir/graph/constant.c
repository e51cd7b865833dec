/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Holds the bytes of constants, which are copied or lent, and shared by reference count between graphs, folded copies and
 * compiled programs.  The last reference frees the memory or gives it back to its lender.  Large ones lie in huge pages: a
 * matmul of one row is as fast as its weights are read, and with small pages one core reads half as fast
 * (docs/contractions.md).
 */
#define _GNU_SOURCE
#include "ir/graph/constant_pool.h"
#include "ir/support/align.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { CONSTANT_ALIGN = TARGET_ALIGNMENT, HUGE_PAGE_BYTES = TARGET_HUGE_PAGE_BYTES };
_Static_assert(sizeof(struct constant) <= CONSTANT_ALIGN, "the bytes start one alignment unit after the header");

static uint64_t next_id(void)
{
    static atomic_uint_fast64_t last;

    return atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
}

/* Mapped memory has no red zones: sanitizer builds take everything from malloc. */
#if !defined(WEBNN_SANITIZE) && defined(MADV_HUGEPAGE)

static void unmap(const void *data, size_t bytes, void *start, void *size)
{
    (void)data;
    (void)bytes;
    munmap(start, (size_t)(uintptr_t)size);
}

/*
 * Makes a mapping that has a multiple of the huge page's size inside.  Only whole huge pages are advised, so that the rest of
 * the bytes takes no more memory than it needs.
 */
static struct constant *create_in_huge_pages(const void *data, size_t bytes)
{
    size_t size = bytes + HUGE_PAGE_BYTES, used = bytes / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
    char *start = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *aligned;

    if (start == MAP_FAILED)
        return NULL;
    aligned = start + (-(uintptr_t)start & (HUGE_PAGE_BYTES - 1));
    (void)madvise(aligned, used, MADV_HUGEPAGE); /* advice: the answer does not matter */
    if (data)
        memcpy(aligned, data, bytes);
    struct constant *c = constant_lend(aligned, bytes, (WNNBufferReleaseCallbackInfo){unmap, start, (void *)(uintptr_t)size});
    if (c)
        c->ours = true;
    return c;
}

#else

static struct constant *create_in_huge_pages(const void *data, size_t bytes)
{
    (void)data;
    (void)bytes;
    return NULL;
}

#endif

struct constant *constant_create(const void *data, size_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        return NULL;
    if (bytes >= HUGE_PAGE_BYTES) {
        struct constant *c = create_in_huge_pages(data, bytes);
        if (c)
            return c;
    }

    /* Header and bytes are in one block, which ends with the bytes, for sanitizers. */
    void *block;
    if (posix_memalign(&block, CONSTANT_ALIGN, CONSTANT_ALIGN + bytes))
        return NULL;

    struct constant *c = memset(block, 0, sizeof *c);
    atomic_init(&c->references, 1);
    c->id = next_id();
    c->ours = true;
    c->bytes = bytes;
    c->data = (char *)block + CONSTANT_ALIGN;
    if (data && bytes)
        memcpy((char *)block + CONSTANT_ALIGN, data, bytes);
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
    c->id = next_id();
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
    if (c->entry)
        constant_pool_forget(c->entry);
    if (c->release.callback)
        c->release.callback(c->data, c->bytes, c->release.userdata1, c->release.userdata2);
    free(c);
}
