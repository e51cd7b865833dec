/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * This allocator fails once on request. It interposes malloc's functions, also between the program and the sanitizers' own,
 * which find leaks on error paths.  Only allocations that the program itself makes (our libraries are linked into it) fail;
 * tests/faults has the others.  C libraries but glibc offer no way back to their own functions: there the program's tests are
 * skipped.
 *
 *   for (long n = 0; !done; n++) {
 *       allocations_fail_after(n);
 *       ... what is to be tested, on any threads ...
 *       done = allocations_stop_failing();
 *   }
 *
 * One file of a program includes it.
 */
#pragma once

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

static atomic_long allocations_until_failure = -1; /* negative if none is to fail */
static atomic_bool allocation_failed;

static inline bool allocation_fails(void)
{
    if (atomic_load(&allocations_until_failure) < 0 || atomic_fetch_sub(&allocations_until_failure, 1) > 0)
        return false;
    atomic_store(&allocation_failed, true); /* once: the next one is granted again */
    return true;
}

#if defined(FAILING_ALLOCATOR_WRAPS) || (!defined(WEBNN_SANITIZE) && !defined(__SANITIZE_THREAD__) && defined(__GLIBC__))
#if defined(FAILING_ALLOCATOR_WRAPS)

/* The linker (--wrap, tests/CMakeLists.txt) sends the calls of everything that is linked into the program here. */
extern void *__real_malloc(size_t size);
extern void *__real_calloc(size_t count, size_t size);
extern void *__real_realloc(void *memory, size_t size);
extern void *__real_aligned_alloc(size_t alignment, size_t size);
extern int __real_posix_memalign(void **memory, size_t alignment, size_t size);
extern char *__real_strdup(const char *text);
extern char *__real_strndup(const char *text, size_t length);
#define FAILS() allocation_fails()
#define REPLACED(name) __wrap_##name
#define REAL_MALLOC __real_malloc
#define REAL_CALLOC __real_calloc
#define REAL_REALLOC __real_realloc
#define REAL_ALIGNED_ALLOC __real_aligned_alloc

#else

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern char __executable_start, etext;

static bool called_by_program(const void *caller)
{
    return (const char *)caller >= &__executable_start && (const char *)caller < &etext;
}

#define FAILS() (called_by_program(__builtin_return_address(0)) && allocation_fails())
#define REPLACED(name) name
#define REAL_MALLOC __libc_malloc
#define REAL_CALLOC __libc_calloc
#define REAL_REALLOC __libc_realloc
#define REAL_ALIGNED_ALLOC __libc_memalign

#endif

void *REPLACED(malloc)(size_t size);
void *REPLACED(calloc)(size_t count, size_t size);
void *REPLACED(realloc)(void *memory, size_t size);
void *REPLACED(aligned_alloc)(size_t alignment, size_t size);
int REPLACED(posix_memalign)(void **memory, size_t alignment, size_t size);
char *REPLACED(strdup)(const char *text);
char *REPLACED(strndup)(const char *text, size_t length);

void *REPLACED(malloc)(size_t size)
{
    return FAILS() ? NULL : REAL_MALLOC(size);
}

void *REPLACED(calloc)(size_t count, size_t size)
{
    return FAILS() ? NULL : REAL_CALLOC(count, size);
}

void *REPLACED(realloc)(void *memory, size_t size)
{
    return FAILS() ? NULL : REAL_REALLOC(memory, size);
}

void *REPLACED(aligned_alloc)(size_t alignment, size_t size)
{
    return FAILS() ? NULL : REAL_ALIGNED_ALLOC(alignment, size);
}

int REPLACED(posix_memalign)(void **memory, size_t alignment, size_t size)
{
    if (FAILS())
        return ENOMEM;
#if defined(FAILING_ALLOCATOR_WRAPS)
    return __real_posix_memalign(memory, alignment, size);
#else
    *memory = REAL_ALIGNED_ALLOC(alignment, size);
    return *memory ? 0 : ENOMEM;
#endif
}

char *REPLACED(strndup)(const char *text, size_t length)
{
    if (FAILS())
        return NULL;
#if defined(FAILING_ALLOCATOR_WRAPS)
    return __real_strndup(text, length);
#else
    size_t count = strnlen(text, length);
    char *copy = REAL_MALLOC(count + 1);

    if (copy) {
        memcpy(copy, text, count);
        copy[count] = '\0';
    }
    return copy;
#endif
}

char *REPLACED(strdup)(const char *text)
{
    if (FAILS())
        return NULL;
#if defined(FAILING_ALLOCATOR_WRAPS)
    return __real_strdup(text);
#else
    size_t size = strlen(text) + 1;
    char *copy = REAL_MALLOC(size);

    return copy ? memcpy(copy, text, size) : NULL;
#endif
}

#else
TESTS_SKIPPED("the allocator cannot be replaced here")
#endif

/** Makes the allocation after the next n fail.  Those n and all later ones succeed. */
static inline void allocations_fail_after(long n)
{
    atomic_store(&allocation_failed, false);
    atomic_store(&allocations_until_failure, n);
}

/** Makes all allocations succeed.  Returns what allocations_resume needs. */
static inline long allocations_pause(void)
{
    return atomic_exchange(&allocations_until_failure, -1);
}

/** Continues after allocations_pause. */
static inline void allocations_resume(long paused)
{
    atomic_store(&allocations_until_failure, paused);
}

/** Makes all allocations succeed again.  Returns true if there were too few for one to fail. */
static inline bool allocations_stop_failing(void)
{
    return allocations_pause() >= 0;
}

/** Returns whether one has failed since the last question. */
static inline bool allocation_has_failed(void)
{
    return atomic_exchange(&allocation_failed, false);
}
