/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Runs parallel regions on libgomp's pool.
 *
 * gcc -fopenmp would compile `#pragma omp parallel` into calls of libgomp, clang -fopenmp into calls of libomp: a second pool
 * beside the one that oneDNN brings along.  Calling GOMP_parallel by its name has one result with either compiler.
 *
 * libgomp keeps a team per calling thread, created by its first region and kept until that thread ends.  A region that asks for
 * fewer threads than the last one makes the others exit, and the next larger one creates them anew: so every region here uses
 * the whole team, also if there is not work for all.  What a region may use (omp_set_num_threads, omp_set_dynamic) belongs to
 * the calling thread as well, so that setting and restoring it disturbs nobody else.
 */
#define _GNU_SOURCE
#include "runtime/host/threads.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ir/support/clock.h"

#include "ir/support/environment.h"

#if defined(__x86_64__) || defined(__i386__)
#include <xmmintrin.h>
#endif

/* This is libgomp's interface: what <omp.h> declares, and the entry point that gcc compiles a parallel region into. */
int omp_get_max_threads(void);
int omp_get_num_procs(void);
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

/*
 * These pack what threads_enter hands to threads_leave: the caller's number of threads (0 if it is unchanged), dynamic flag,
 * floating-point mode.
 */
enum { SAVED_COUNT_MASK = (1 << 20) - 1, SAVED_MODE_SHIFT = 20, SAVED_DYNAMIC = 1 << 24 };

uint32_t threads_default_count(bool ignore_environment)
{
    int count = ignore_environment || environment_is_ignored() ? omp_get_num_procs() : omp_get_max_threads();

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

/* ---- whether threads can be created ---- */

/*
 * libgomp calls exit when pthread_create fails.  It creates threads when a calling thread opens its first region, and again
 * whenever a region wants more of them than the last one had: oneDNN's regions do, for small pieces of work, and the threads
 * that are not needed exit meanwhile.  So the trial creates twice the threads of a team, keeps all of them alive at once, and
 * lets them go; then the team is created.  Between the two another thread or process can take what was there: that much remains
 * (docs/failures.md).
 *
 * Where the trial fails the limit is near.  A quarter of what it got leaves room for the teams of the timeline and of two other
 * calling threads.
 */
enum { TRIAL_FACTOR = 2, SCARCE_SHARE = 4, GONE_NANOSECONDS = 50000000 };

struct trial {
    pthread_mutex_t lock;
    pthread_cond_t change;
    bool over;
};

struct trial_thread {
    struct trial *trial;
    pthread_t thread;
    atomic_int id; /* the kernel's; 0: not known yet */
};

static void *trial_main(void *data)
{
    struct trial_thread *t = data;

    atomic_store(&t->id, (int)syscall(SYS_gettid));
    pthread_mutex_lock(&t->trial->lock);
    while (!t->trial->over)
        pthread_cond_wait(&t->trial->change, &t->trial->lock);
    pthread_mutex_unlock(&t->trial->lock);
    return NULL;
}

/* Gives a trial's threads the stack that libgomp gives its own: OMP_STACKSIZE, in KiB unless a letter says otherwise. */
static void trial_set_stack(pthread_attr_t *attributes)
{
    const char *text = environment_of_libgomp("OMP_STACKSIZE");
    char *end = NULL;
    unsigned long long size = text ? strtoull(text, &end, 10) : 0;

    if (size == 0 || size > (unsigned long long)1 << 32)
        return;
    while (*end == ' ')
        end++;
    size <<= *end == 'b' || *end == 'B' ? 0 : *end == 'm' || *end == 'M' ? 20 : *end == 'g' || *end == 'G' ? 30 : 10;
    pthread_attr_setstacksize(attributes, (size_t)size); /* an invalid one is refused, here as by libgomp */
}

/* Waits until the kernel has forgotten threads that were joined, since they count for the limits until then. */
static void trial_await_gone(const struct trial_thread *threads, uint32_t count)
{
    uint64_t end = nanoseconds_now() + GONE_NANOSECONDS;

    for (uint32_t i = 0; i < count; i++)
        while (syscall(SYS_tgkill, getpid(), atomic_load(&threads[i].id), 0) == 0 && nanoseconds_now() < end)
            sched_yield();
}

/* Returns how many threads can be alive beside those that are, up to `wanted`. */
static uint32_t trial_run(uint32_t wanted)
{
    struct trial trial = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
    struct trial_thread *threads = calloc(wanted, sizeof *threads);
    pthread_attr_t attributes;
    sigset_t all, before;
    uint32_t count = 0;

    if (!threads || pthread_attr_init(&attributes) != 0) {
        free(threads);
        return 0;
    }
    trial_set_stack(&attributes);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the application's business */
    for (; count < wanted; count++) {
        threads[count].trial = &trial;
        if (pthread_create(&threads[count].thread, &attributes, trial_main, &threads[count]) != 0)
            break;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_mutex_lock(&trial.lock);
    trial.over = true;
    pthread_cond_broadcast(&trial.change);
    pthread_mutex_unlock(&trial.lock);
    for (uint32_t i = 0; i < count; i++)
        pthread_join(threads[i].thread, NULL);
    trial_await_gone(threads, count);
    pthread_attr_destroy(&attributes);
    free(threads);
    return count;
}

static void nothing(void *data)
{
    (void)data;
}

uint32_t threads_ready(uint32_t count)
{
    static _Thread_local uint32_t team; /* what the calling thread has had */

    if (count <= 1 || count <= team || omp_in_parallel())
        return count;
    uint32_t wanted = TRIAL_FACTOR * (count - 1), got = trial_run(wanted);
    if (got < wanted)
        count = got / SCARCE_SHARE + 1;
    if (count <= team)
        return team;
    if (count > 1) {
        int saved = threads_enter(count);

        GOMP_parallel(nothing, NULL, 0, 0);
        threads_leave(saved);
    }
    return team = count;
}

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

/*
 * Runs on one thread of the team.  The team may be smaller than asked for (a limit, or a region inside a region): parts then
 * take turns.
 */
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
