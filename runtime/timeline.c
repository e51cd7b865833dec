/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The queue and the thread of a timeline.
 *
 * `busy` is the turn: held by the thread while it runs a task, or by a caller between timeline_try_begin and timeline_end.
 * The last reference to a context can go inside a task; timeline_free is then called on the timeline's own thread, which
 * cannot join itself.  So the struct belongs to context and thread together, and the last of the two frees it.
 *
 * Waking a sleeping thread costs its caller a call of the system and an interrupt of another core: 2 to 5 us on plain machines,
 * tens inside of virtual ones.  Most work comes soon after the last, so the thread looks out for more for SPIN_NANOSECONDS
 * before it sleeps, and whoever submits meanwhile just changes memory.  It offers its core to others all along, ends at once
 * when a caller computes by itself (timeline_is_idle), and never spins on a single core or if OMP_WAIT_POLICY is passive,
 * which asks the same of libgomp's threads.
 */
#define _GNU_SOURCE
#include "runtime/timeline.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <strings.h>

#include "ir/clock.h"

enum { SPIN_NANOSECONDS = 100000, SPIN_LOOKS = 32 /* between two looks at the clock */ };

struct timeline {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct task *first, *last;
    pthread_t thread;
    unsigned owners;     /* context, thread */
    atomic_uint changes; /* written under the lock: whatever the spinning thread has to look at */
    bool started, busy, stop;
    bool spins;    /* allowed to */
    bool sleeping; /* waits for `wake`, and nobody has signalled it yet */
};

/* Which timeline the calling thread is, if any. */
static _Thread_local const struct timeline *timeline_current;

/* Whether a second thread can spin without being in the way of the first. */
static bool timeline_may_spin(void)
{
    const char *policy = getenv("OMP_WAIT_POLICY");
    cpu_set_t cores;

    if (policy && !strcasecmp(policy, "passive"))
        return false;
    /* It fails where there are more cores than the set has bits. */
    return sched_getaffinity(0, sizeof cores, &cores) != 0 || CPU_COUNT(&cores) > 1;
}

struct timeline *timeline_create(void)
{
    struct timeline *tl = calloc(1, sizeof *tl);

    if (!tl)
        return NULL;
    if (pthread_mutex_init(&tl->lock, NULL) != 0) {
        free(tl);
        return NULL;
    }
    if (pthread_cond_init(&tl->wake, NULL) != 0) {
        pthread_mutex_destroy(&tl->lock);
        free(tl);
        return NULL;
    }
    atomic_init(&tl->changes, 0);
    tl->owners = 1;
    tl->spins = timeline_may_spin();
    return tl;
}

/* Gives back one owner's share; the lock is held and released. */
static void timeline_leave(struct timeline *tl)
{
    bool last = --tl->owners == 0;

    pthread_mutex_unlock(&tl->lock);
    if (!last)
        return;
    pthread_cond_destroy(&tl->wake);
    pthread_mutex_destroy(&tl->lock);
    free(tl);
}

static struct task *timeline_pop(struct timeline *tl)
{
    struct task *t = tl->first;

    if (t) {
        tl->first = t->next;
        if (!tl->first)
            tl->last = NULL;
        t->next = NULL;
    }
    return t;
}

/* ---- waking and sleeping ---- */

/* Says that the thread has something to look at, and releases the lock; signalled after that, it does not wake to wait for it.
 */
static void timeline_unlock_changed(struct timeline *tl)
{
    bool sleeping = tl->sleeping;

    tl->sleeping = false;
    atomic_fetch_add_explicit(&tl->changes, 1, memory_order_relaxed);
    pthread_mutex_unlock(&tl->lock);
    if (sleeping)
        pthread_cond_signal(&tl->wake);
}

static void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

/* Until `changes` is no longer `seen`, or some time has gone.  The lock, which orders what changed, is not held. */
static void timeline_spin(struct timeline *tl, unsigned seen)
{
    uint64_t end = nanoseconds_now() + SPIN_NANOSECONDS;

    do {
        for (int i = 0; i < SPIN_LOOKS; i++) {
            if (atomic_load_explicit(&tl->changes, memory_order_relaxed) != seen)
                return;
            pause_briefly();
        }
        sched_yield();
    } while (nanoseconds_now() < end);
}

/* Returns with a task that the thread may run, or `stop`.  The lock is held, and released meanwhile. */
static void timeline_await(struct timeline *tl)
{
    bool spin = tl->spins;

    while (!tl->stop && (tl->busy || !tl->first)) {
        if (spin) {
            unsigned seen = atomic_load_explicit(&tl->changes, memory_order_relaxed);

            spin = false;
            pthread_mutex_unlock(&tl->lock);
            timeline_spin(tl, seen);
            pthread_mutex_lock(&tl->lock);
        } else {
            tl->sleeping = true;
            pthread_cond_wait(&tl->wake, &tl->lock);
            tl->sleeping = false;
        }
    }
}

/* ---- the thread ---- */

static void *timeline_main(void *data)
{
    struct timeline *tl = data;

    timeline_current = tl;
    pthread_mutex_lock(&tl->lock);
    for (;;) {
        timeline_await(tl);
        if (tl->stop)
            break;
        struct task *t = timeline_pop(tl);
        tl->busy = true;
        pthread_mutex_unlock(&tl->lock);
        t->run(t);
        pthread_mutex_lock(&tl->lock);
        tl->busy = false;
    }
    timeline_leave(tl);
    return NULL;
}

/* Signals are the application's business: none is delivered to our thread. */
static bool timeline_start(struct timeline *tl)
{
    sigset_t all, before;

    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return false;
    tl->started = pthread_create(&tl->thread, NULL, timeline_main, tl) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!tl->started)
        return false;
    pthread_setname_np(tl->thread, "webnn-timeline");
    tl->owners++;
    return true;
}

void timeline_free(struct timeline *tl)
{
    if (!tl)
        return;
    pthread_mutex_lock(&tl->lock);
    tl->stop = true;
    bool started = tl->started;
    pthread_t thread = tl->thread;
    timeline_unlock_changed(tl);
    if (started && timeline_is_current(tl))
        pthread_detach(thread);
    else if (started)
        pthread_join(thread, NULL);
    pthread_mutex_lock(&tl->lock);
    timeline_leave(tl);
}

bool timeline_submit(struct timeline *tl, struct task *t)
{
    bool ok;

    t->next = NULL;
    pthread_mutex_lock(&tl->lock);
    ok = tl->started || timeline_start(tl);
    if (ok) {
        if (tl->last)
            tl->last->next = t;
        else
            tl->first = t;
        tl->last = t;
    }
    if (ok && !tl->busy)
        timeline_unlock_changed(tl);
    else
        pthread_mutex_unlock(&tl->lock);
    return ok;
}

bool timeline_is_idle(struct timeline *tl)
{
    pthread_mutex_lock(&tl->lock);
    bool idle = !tl->busy && !tl->first;
    if (idle) /* the thread stops spinning, which leaves its core to the caller's team */
        atomic_fetch_add_explicit(&tl->changes, 1, memory_order_relaxed);
    pthread_mutex_unlock(&tl->lock);
    return idle;
}

bool timeline_try_begin(struct timeline *tl)
{
    pthread_mutex_lock(&tl->lock);
    bool taken = !tl->busy && !tl->first;
    if (taken)
        tl->busy = true;
    pthread_mutex_unlock(&tl->lock);
    return taken;
}

void timeline_end(struct timeline *tl)
{
    pthread_mutex_lock(&tl->lock);
    tl->busy = false;
    if (tl->first)
        timeline_unlock_changed(tl);
    else
        pthread_mutex_unlock(&tl->lock);
}

bool timeline_is_current(const struct timeline *tl)
{
    return timeline_current == tl;
}

bool timeline_run_next(struct timeline *tl)
{
    pthread_mutex_lock(&tl->lock);
    struct task *t = timeline_pop(tl);
    pthread_mutex_unlock(&tl->lock);
    if (t)
        t->run(t);
    return t != NULL;
}
