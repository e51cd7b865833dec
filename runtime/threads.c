/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Parallel regions on libgomp's pool.  In: a body and a number of parts.  Out: all parts done.
 *
 * gcc -fopenmp would compile `#pragma omp parallel` into calls of libgomp, clang -fopenmp into calls of libomp: a second pool
 * beside the one that oneDNN brings along.  Calling GOMP_parallel by its name has one result with either compiler.
 *
 * libgomp keeps a team per calling thread, created by its first region and kept until that thread ends.  A region that asks for
 * fewer threads than the last one makes the others exit, and the next larger one creates them anew: so every region here uses
 * the whole team, also if there is not work for all.  What a region may use (omp_set_num_threads, omp_set_dynamic) belongs to
 * the calling thread as well, so that setting and restoring it disturbs nobody else.
 */
#include "runtime/threads.h"

#include <stddef.h>

#if defined(__x86_64__) || defined(__i386__)
#include <xmmintrin.h>
#endif

/* libgomp's interface: what <omp.h> declares, and the entry point that gcc compiles a parallel region into. */
int omp_get_max_threads(void);
int omp_get_num_threads(void);
int omp_get_thread_num(void);
int omp_in_parallel(void);
int omp_get_dynamic(void);
void omp_set_num_threads(int count);
void omp_set_dynamic(int dynamic);
void GOMP_parallel(void (*body)(void *data), void *data, unsigned count, unsigned flags);

/* The thread sanitizer does not see libgomp's own synchronisation: say what a region's start and end order. */
#if defined(__SANITIZE_THREAD__)
void __tsan_acquire(void *address);
void __tsan_release(void *address);
#define REGION_ACQUIRE(address) __tsan_acquire(address)
#define REGION_RELEASE(address) __tsan_release(address)
#else
#define REGION_ACQUIRE(address) ((void)(address))
#define REGION_RELEASE(address) ((void)(address))
#endif

/* What threads_enter hands to threads_leave: the caller's number of threads (0: unchanged), dynamic flag, floating-point mode.
 */
enum { SAVED_COUNT_MASK = (1 << 20) - 1, SAVED_MODE_SHIFT = 20, SAVED_DYNAMIC = 1 << 24 };

uint32_t threads_default_count(void)
{
    int count = omp_get_max_threads();

    return count > 1 ? (uint32_t)count : 1;
}

bool threads_in_region(void)
{
    return omp_in_parallel() != 0;
}

/* ---- floating-point mode ---- */

/*
 * A caller linked with -ffast-math runs with subnormals flushed to zero, and threads inherit that.  Results must not depend on
 * it. The bits that matter (flush to zero, denormals are zero, rounding) are packed into four: FTZ, DAZ, two of rounding.
 */
#if defined(__x86_64__) || defined(__i386__)

enum { MXCSR_FLUSH = 1 << 15, MXCSR_ZEROS = 1 << 6, MXCSR_ROUND_SHIFT = 13, MXCSR_ROUND = 3 << MXCSR_ROUND_SHIFT };

static int mode_set_default(void)
{
    unsigned mode = _mm_getcsr(), wrong = mode & (MXCSR_FLUSH | MXCSR_ZEROS | MXCSR_ROUND);

    if (wrong == 0)
        return 0;
    _mm_setcsr(mode & ~wrong);
    return (wrong & MXCSR_FLUSH ? 1 : 0) | (wrong & MXCSR_ZEROS ? 2 : 0) |
           (int)((wrong & MXCSR_ROUND) >> MXCSR_ROUND_SHIFT) << 2;
}

static void mode_restore(int saved)
{
    if (saved != 0)
        _mm_setcsr(_mm_getcsr() | (saved & 1 ? MXCSR_FLUSH : 0) | (saved & 2 ? MXCSR_ZEROS : 0) |
                   (unsigned)(saved >> 2) << MXCSR_ROUND_SHIFT);
}

#elif defined(__aarch64__)

enum { FPCR_FLUSH_SHIFT = 24, FPCR_ROUND_SHIFT = 22 };

static int mode_set_default(void)
{
    uint64_t mode, wrong;

    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    wrong = mode & ((uint64_t)7 << FPCR_ROUND_SHIFT);
    if (wrong == 0)
        return 0;
    __asm__ volatile("msr fpcr, %0" : : "r"(mode & ~wrong));
    return (int)(wrong >> FPCR_ROUND_SHIFT);
}

static void mode_restore(int saved)
{
    uint64_t mode;

    if (saved == 0)
        return;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    __asm__ volatile("msr fpcr, %0" : : "r"(mode | (uint64_t)saved << FPCR_ROUND_SHIFT));
}

#else

static int mode_set_default(void)
{
    return 0;
}

static void mode_restore(int saved)
{
    (void)saved;
}

#endif

/* ---- regions ---- */

int threads_enter(uint32_t count)
{
    int caller = omp_get_max_threads(), dynamic = omp_get_dynamic(), saved = 0;

    /* A caller's setting is put back only if it was changed: the first omp_set_... on a thread makes libgomp allocate. */
    if (count > 0 && caller != (int)count) {
        omp_set_num_threads((int)count);
        saved |= caller & SAVED_COUNT_MASK;
    }
    if (count > 0 && dynamic) {
        omp_set_dynamic(0); /* a smaller team than primitives were made for would be wrong, not just slow */
        saved |= SAVED_DYNAMIC;
    }
    return saved | mode_set_default() << SAVED_MODE_SHIFT;
}

void threads_leave(int saved)
{
    if (saved & SAVED_COUNT_MASK)
        omp_set_num_threads(saved & SAVED_COUNT_MASK);
    if (saved & SAVED_DYNAMIC)
        omp_set_dynamic(1);
    mode_restore(saved >> SAVED_MODE_SHIFT & 15);
}

struct region {
    void (*body)(void *user, uint32_t part, uint32_t parts);
    void *user;
    uint32_t parts;
};

/* One thread of the team.  The team may be smaller than asked for (a limit, or a region inside a region): parts then take
 * turns. */
static void region_body(void *data)
{
    struct region *r = data;
    uint32_t step = (uint32_t)omp_get_num_threads();

    REGION_ACQUIRE(r);
    int mode = mode_set_default();
    for (uint32_t part = (uint32_t)omp_get_thread_num(); part < r->parts; part += step)
        r->body(r->user, part, r->parts);
    mode_restore(mode);
    REGION_RELEASE(r);
}

void threads_run(uint32_t parts, void (*body)(void *user, uint32_t part, uint32_t parts), void *user)
{
    struct region r = {body, user, parts};

    if (parts <= 1) {
        body(user, 0, 1);
        return;
    }
    REGION_RELEASE(&r);
    GOMP_parallel(region_body, &r, 0 /* threads_enter's number */, 0);
    REGION_ACQUIRE(&r);
}
