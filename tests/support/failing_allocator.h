/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * An allocator that fails once when told to: puts malloc's functions before the C library's.  Only allocations that the program
 * itself makes (our libraries are linked into it) fail: LLVM ends the process when one of its own does.  The sanitizers replace
 * the allocator themselves, and other C libraries offer no way back to their own: there CAN_FAIL_ALLOCATIONS is not defined.
 *
 *   for (long n = 0; !done; n++) {
 *       allocations_fail_after(n);
 *       ... what is to be tested, on any threads ...
 *       done = allocations_stop_failing();
 *   }
 *
 * Included by one file of a program.
 */
#ifndef WEBNN_TESTS_SUPPORT_FAILING_ALLOCATOR_H_
#define WEBNN_TESTS_SUPPORT_FAILING_ALLOCATOR_H_

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#if !defined(WEBNN_SANITIZE) && !defined(__SANITIZE_THREAD__) && defined(__GLIBC__)
#define CAN_FAIL_ALLOCATIONS 1

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern char __executable_start, etext;

static atomic_long allocations_until_failure = -1; /* negative: never */
static atomic_bool allocation_failed;

static bool allocation_fails(const void *caller)
{
    if ((const char *)caller < &__executable_start || (const char *)caller >= &etext ||
        atomic_load(&allocations_until_failure) < 0)
        return false;
    if (atomic_fetch_sub(&allocations_until_failure, 1) > 0)
        return false;
    atomic_store(&allocation_failed, true); /* once: the next one is granted again */
    return true;
}

void *malloc(size_t size)
{
    return allocation_fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return allocation_fails(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    return allocation_fails(__builtin_return_address(0)) ? NULL : __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return allocation_fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    *memory = allocation_fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size);
    return *memory ? 0 : ENOMEM;
}

/** The next n allocations succeed, the one after them fails, all others succeed. */
static inline void allocations_fail_after(long n)
{
    atomic_store(&allocation_failed, false);
    atomic_store(&allocations_until_failure, n);
}

/** All allocations succeed.  Returns what allocations_resume needs. */
static inline long allocations_pause(void)
{
    return atomic_exchange(&allocations_until_failure, -1);
}

static inline void allocations_resume(long paused)
{
    atomic_store(&allocations_until_failure, paused);
}

/** All allocations succeed again.  True if there were too few for one to fail. */
static inline bool allocations_stop_failing(void)
{
    return allocations_pause() >= 0;
}

/** Whether one has failed since the last question. */
static inline bool allocation_has_failed(void)
{
    return atomic_exchange(&allocation_failed, false);
}

#endif

/** What main returns where allocations cannot be made to fail. */
static inline int skip_failing_allocations(void)
{
    puts("skipped: the allocator cannot be replaced here");
    return 77;
}

#endif
