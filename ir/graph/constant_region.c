/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A region is one mapping that is filled from its beginning.  Pages take memory only when they are written, so that a region
 * that is not full takes no more than a huge page too much.
 */
#define _GNU_SOURCE
#include "ir/graph/constant_region.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ir/support/number.h"

/* Mapped memory has no red zones: sanitizer builds take everything from malloc. */
#if !defined(WEBNN_SANITIZE) && defined(MADV_HUGEPAGE)

enum { REGION_BYTES = 16 * TARGET_HUGE_PAGE_BYTES, HOLE_BYTES_LEAST = 64 << 10 };

struct constant_region {
    pthread_mutex_t lock;
    uint32_t references; /* of those who place constants, and of these */
    char *mapping, *begin;
    size_t used, touched; /* touched: bytes from the beginning that may have pages */
};

static struct constant_region *region_create(void)
{
    struct constant_region *r = calloc(1, sizeof *r);
    const size_t size = REGION_BYTES + TARGET_HUGE_PAGE_BYTES; /* the alignment included */

    if (!r)
        return NULL;
    r->mapping = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (r->mapping == MAP_FAILED || pthread_mutex_init(&r->lock, NULL)) {
        if (r->mapping != MAP_FAILED)
            munmap(r->mapping, size);
        free(r);
        return NULL;
    }
    r->begin = r->mapping + (-(uintptr_t)r->mapping & (TARGET_HUGE_PAGE_BYTES - 1));
    (void)madvise(r->begin, REGION_BYTES, MADV_HUGEPAGE); /* advice: the answer does not matter */
    r->references = 1;
    return r;
}

/* Gives the pages of a hole back: it is used again when all constants of the region are gone. */
static void empty(const struct constant_region *r, size_t begin, size_t end)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const bool large = end - begin >= HOLE_BYTES_LEAST;

    begin = ceil_div(begin, page) * page;
    end = end / page * page;
    if (large && end > begin)
        (void)madvise(r->begin + begin, end - begin, MADV_DONTNEED); /* advice: the answer does not matter */
}

/* Drops a reference, and the memory of a constant: `begin` to `end`, which are equal for none. */
static void drop(struct constant_region *r, size_t begin, size_t end)
{
    pthread_mutex_lock(&r->lock);
    if (r->used == end)
        r->used = begin;
    else
        empty(r, begin, end);
    bool last = --r->references == 0;
    if (r->references == 1 && r->touched > TARGET_HUGE_PAGE_BYTES) { /* perhaps nothing is placed again: one page stays */
        empty(r, TARGET_HUGE_PAGE_BYTES, r->touched);
        r->touched = TARGET_HUGE_PAGE_BYTES;
    }
    pthread_mutex_unlock(&r->lock);
    if (!last)
        return;
    pthread_mutex_destroy(&r->lock);
    munmap(r->mapping, REGION_BYTES + TARGET_HUGE_PAGE_BYTES);
    free(r);
}

static void release(const void *data, size_t bytes, void *region, void *unused)
{
    struct constant_region *r = region;
    const size_t begin = (size_t)((const char *)data - r->begin);

    (void)unused;
    drop(r, begin, begin + (size_t)target_align((int64_t)bytes));
}

/* Takes memory for a constant, and adds its reference.  Returns NULL if there is no room. */
static char *take(struct constant_region *r, size_t bytes)
{
    const size_t size = (size_t)target_align((int64_t)bytes);
    char *at = NULL;

    pthread_mutex_lock(&r->lock);
    if (r->references == 1) /* all constants are gone */
        r->used = 0;
    if (size <= REGION_BYTES - r->used) {
        at = r->begin + r->used;
        r->used += size;
        r->touched = r->used > r->touched ? r->used : r->touched;
        r->references++;
    }
    pthread_mutex_unlock(&r->lock);
    return at;
}

struct constant *constant_region_place(struct constant_region **region, size_t bytes)
{
    char *at = *region ? take(*region, bytes) : NULL;

    if (!at) {
        struct constant_region *r = region_create();
        if (!r)
            return NULL;
        constant_region_release(*region);
        *region = r;
        at = take(r, bytes);
    }
    struct constant *c = constant_lend(at, bytes, (WNNBufferReleaseCallbackInfo){release, *region, NULL});
    if (c)
        c->ours = true;
    return c;
}

void constant_region_release(struct constant_region *r)
{
    if (r)
        drop(r, 0, 0);
}

#else

struct constant *constant_region_place(struct constant_region **region, size_t bytes)
{
    (void)region;
    (void)bytes;
    return NULL;
}

void constant_region_release(struct constant_region *r)
{
    (void)r;
}

#endif
