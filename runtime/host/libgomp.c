/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Runs parallel regions on libgomp's pool.
 *
 * gcc -fopenmp would compile `#pragma omp parallel` into calls of libgomp, clang -fopenmp into calls of libomp: a second pool
 * next to the one that oneDNN brings along.  Calling GOMP_parallel by its name has one result with either compiler.
 *
 * libgomp keeps a team per calling thread, created by its first region and kept until that thread ends.  A region that asks for
 * fewer threads than the last one makes the others exit, and the next larger one creates them again: so every region here uses
 * the whole team, also if there is not work for all.  What a region may use (omp_set_num_threads, omp_set_dynamic) belongs to
 * the calling thread as well, so that setting and restoring it disturbs no other thread.
 */
#define _GNU_SOURCE
#include "runtime/host/libgomp.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ir/support/clock.h"
#include "ir/support/environment.h"
#include "runtime/host/float_mode.h"
#include "runtime/host/own_thread.h"

/* This is libgomp's interface: what <omp.h> declares, and the entry point that gcc compiles a parallel region into. */
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

/* Returns how many threads can be alive besides those that are, up to `wanted`. */
static uint32_t trial_run(uint32_t wanted)
{
    struct trial trial = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
    struct trial_thread *threads = calloc(wanted, sizeof *threads);
    pthread_attr_t attributes;
    uint32_t count = 0;

    if (!threads || pthread_attr_init(&attributes) != 0) {
        free(threads);
        return 0;
    }
    trial_set_stack(&attributes);
    for (; count < wanted; count++) {
        threads[count].trial = &trial;
        if (!own_thread_start(&threads[count].thread, &attributes, trial_main, &threads[count]))
            break;
    }
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

uint32_t libgomp_ready(uint32_t count)
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
        struct libgomp_settings saved = libgomp_enter(count);

        GOMP_parallel(nothing, NULL, 0, 0);
        libgomp_leave(saved);
    }
    return team = count;
}

/* ---- regions ---- */

struct libgomp_settings libgomp_enter(uint32_t count)
{
    int caller = omp_get_max_threads(), dynamic = omp_get_dynamic();
    struct libgomp_settings saved = {0, false};

    /* A caller's setting is put back only if it was changed: the first omp_set_... on a thread makes libgomp allocate. */
    if (caller != (int)count) {
        omp_set_num_threads((int)count);
        saved.count = (uint32_t)caller;
    }
    if (dynamic) {
        omp_set_dynamic(0); /* a smaller team than primitives were made for would be wrong, not just slow */
        saved.dynamic = true;
    }
    return saved;
}

void libgomp_leave(struct libgomp_settings saved)
{
    if (saved.count)
        omp_set_num_threads((int)saved.count);
    if (saved.dynamic)
        omp_set_dynamic(1);
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
    int mode = float_mode_set_default();
    for (uint32_t part = (uint32_t)omp_get_thread_num(); part < r->parts; part += step)
        r->body(r->user, part, r->parts);
    float_mode_restore(mode);
    REGION_RELEASE(r);
}

void libgomp_run(uint32_t parts, void (*body)(void *user, uint32_t part, uint32_t parts), void *user)
{
    struct region r = {body, user, parts};

    REGION_RELEASE(&r);
    GOMP_parallel(region_body, &r, 0 /* libgomp_enter's number */, 0);
    REGION_ACQUIRE(&r);
}
