/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Allocates host memory that is zeroed and aligned.
 *
 * Large blocks come straight from the kernel: they are zero already (nothing is touched before it is used), go back as a whole,
 * and are asked for in huge pages, which saves TLB misses in kernels that stream through them.
 */
#define _GNU_SOURCE
#include "runtime/host/memory.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "ir/target/target.h"

/* Below this, malloc is cheaper than a mapping and no huge page would fit. */
#define MEMORY_MAP_BYTES ((size_t)4 << 20)
#define HUGE_PAGE_BYTES ((size_t)TARGET_HUGE_PAGE_BYTES)

/* Mapped memory has no red zones: sanitizer builds take everything from malloc. */
static bool memory_is_mapped(size_t bytes)
{
#if defined(WEBNN_SANITIZE)
    (void)bytes;
    return false;
#else
    return bytes >= MEMORY_MAP_BYTES;
#endif
}

static size_t memory_mapped_bytes(size_t bytes)
{
    return (bytes + HUGE_PAGE_BYTES - 1) & ~(HUGE_PAGE_BYTES - 1);
}

/* Returns a mapping that starts at a multiple of the huge page size: one that is too large, trimmed. */
static void *memory_map(size_t bytes)
{
    size_t size = memory_mapped_bytes(bytes), room = size + HUGE_PAGE_BYTES;
    char *start = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (start == MAP_FAILED)
        return NULL;
    size_t before = (size_t)(-(uintptr_t)start & (HUGE_PAGE_BYTES - 1)), after = room - before - size;
    if (before > 0)
        munmap(start, before);
    if (after > 0)
        munmap(start + before + size, after);
    madvise(start + before, size, MADV_HUGEPAGE); /* advice: the answer does not matter */
    return start + before;
}

void *memory_create(size_t bytes)
{
    void *memory = NULL;

    if (bytes > SIZE_MAX - 2 * HUGE_PAGE_BYTES)
        return NULL;
    if (memory_is_mapped(bytes))
        return memory_map(bytes);
    if (posix_memalign(&memory, TARGET_ALIGNMENT, bytes > 0 ? bytes : 1) != 0)
        return NULL;
    memset(memory, 0, bytes);
    return memory;
}

void memory_free(void *memory, size_t bytes)
{
    if (memory && memory_is_mapped(bytes))
        munmap(memory, memory_mapped_bytes(bytes));
    else
        free(memory);
}
