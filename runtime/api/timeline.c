/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Implements the queue and the thread of a timeline.
 *
 * `busy` is the turn: it is held by the thread while that runs a task, or by a caller between timeline_try_begin and
 * timeline_end.  No caller gets it while a task is suspended.
 *
 * The last reference to a context can go inside a task; timeline_free is then called on the timeline's own thread, which cannot
 * join itself.  So the struct belongs to context and thread together, and the last of the two frees it.
 *
 * Waking a sleeping thread costs its caller a call of the system and an interrupt of another core: 2 to 5 us on plain machines,
 * tens inside of virtual ones.  Most work comes soon after the last, so the thread looks out for more for a while (`spin` of
 * struct call_facts) before it sleeps, and a thread that submits meanwhile just changes memory.  It offers its core to others
 * all along, ends at once when a caller computes by itself (timeline_is_idle), and never spins on a single core or if
 * OMP_WAIT_POLICY is passive, which asks the same of libgomp's threads.
 */
#define _GNU_SOURCE
#include "runtime/api/timeline.h"

#include <sched.h>
#include <stdlib.h>
#include <strings.h>

#include "ir/support/clock.h"
#include "ir/support/environment.h"
#include "ir/target/target.h"
#include "runtime/host/own_thread.h"

enum { SPIN_LOOKS = 32 /* between two looks at the clock */ };

struct timeline {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct task *first, *last;
    struct task *ended; /* suspended tasks whose work has ended, the latest first */
    unsigned suspended; /* tasks that are, or are being finished */
    pthread_t thread;
    unsigned owners;     /* context, thread */
    atomic_uint changes; /* written under the lock: counts what the spinning thread has to look at */
    bool started, busy, stop, threadless;
    bool spins;    /* allowed to */
    bool sleeping; /* waits for `wake`, which is not signalled yet */
};

/* This is the innermost of what the calling thread is inside of, or NULL. */
static _Thread_local const struct timeline_scope *timeline_innermost;

/* Returns whether a second thread can spin without being in the way of the first. */
static bool timeline_may_spin(bool ignore_environment)
{
    const char *policy = ignore_environment ? NULL : environment_get("OMP_WAIT_POLICY");
    cpu_set_t cores;

    if (policy && !strcasecmp(policy, "passive"))
        return false;
    /* It fails where there are more cores than the set has bits. */
    return sched_getaffinity(0, sizeof cores, &cores) != 0 || CPU_COUNT(&cores) > 1;
}

struct timeline *timeline_create(bool ignore_environment, bool threadless)
{
    struct timeline *tl = calloc(1, sizeof *tl);

    if (!tl || pthread_mutex_init(&tl->lock, NULL) != 0 || pthread_cond_init(&tl->wake, NULL) != 0) {
        free(tl); /* locks hold nothing, nor do they fail where threads exist at all */
        return NULL;
    }
    atomic_init(&tl->changes, 0);
    tl->owners = 1;
    tl->threadless = threadless;
    tl->spins = timeline_may_spin(ignore_environment);
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

/* Returns the suspended task whose work ended first. */
static struct task *timeline_pop_ended(struct timeline *tl)
{
    struct task **at = &tl->ended;

    while ((*at)->next)
        at = &(*at)->next;

    struct task *t = *at;
    *at = NULL;
    return t;
}

/* Returns whether the first task may run now, if the turn is free. */
static bool timeline_may_run(const struct timeline *tl)
{
    return tl->first && (tl->suspended == 0 || tl->first->overlaps);
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

/* Waits until `changes` differs from `seen`, or some time has gone.  The lock, which orders what changed, is not held. */
static void timeline_spin(struct timeline *tl, unsigned seen)
{
    uint64_t end = nanoseconds_now() + (uint64_t)(1000 * target_facts_everywhere()->call.spin);

    do {
        for (int i = 0; i < SPIN_LOOKS; i++) {
            if (atomic_load_explicit(&tl->changes, memory_order_relaxed) != seen)
                return;
            pause_briefly();
        }
        sched_yield();
    } while (nanoseconds_now() < end);
}

/* Returns with a task that the thread may run or finish, or `stop`.  The lock is held, and released meanwhile. */
static void timeline_await(struct timeline *tl)
{
    bool spin = tl->spins;

    while (!tl->stop && !tl->ended && (tl->busy || !timeline_may_run(tl))) {
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

/* ---- running ---- */

/* Runs the first task, whose turn it is.  The lock is held, and released meanwhile. */
static void timeline_run_first(struct timeline *tl)
{
    struct task *t = timeline_pop(tl);

    tl->busy = true;
    pthread_mutex_unlock(&tl->lock);
    t->run(t);
    pthread_mutex_lock(&tl->lock);
    tl->busy = false;
}

/*
 * Runs on the calling thread what a timeline without a thread has to do, unless another one is at it and will do it.  The lock
 * is held, and released.
 */
static void timeline_drain(struct timeline *tl)
{
    struct timeline_scope scope;

    tl->owners++; /* a task may give back the context's last reference */
    timeline_enter(&scope, tl, false);
    while (!tl->busy && timeline_may_run(tl))
        timeline_run_first(tl);
    timeline_exit(&scope);
    timeline_leave(tl);
}

/* Finishes a suspended task whose work has ended.  The lock is held, and released meanwhile. */
static void timeline_finish_next(struct timeline *tl)
{
    struct task *t = timeline_pop_ended(tl);

    pthread_mutex_unlock(&tl->lock);
    t->finish(t);
    pthread_mutex_lock(&tl->lock);
    tl->suspended--;
}

static void *timeline_main(void *data)
{
    struct timeline *tl = data;
    struct timeline_scope scope;

    timeline_enter(&scope, tl, false);
    pthread_mutex_lock(&tl->lock);
    for (;;) {
        timeline_await(tl);
        if (tl->ended) {
            timeline_finish_next(tl);
            continue;
        }
        if (tl->stop)
            break;
        timeline_run_first(tl);
    }
    timeline_leave(tl);
    return NULL;
}

static bool timeline_start(struct timeline *tl)
{
    tl->started = own_thread_start(&tl->thread, NULL, timeline_main, tl);
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
    t->next = NULL;
    pthread_mutex_lock(&tl->lock);
    bool ok = tl->threadless || tl->started || timeline_start(tl);
    if (ok) {
        if (tl->last)
            tl->last->next = t;
        else
            tl->first = t;
        tl->last = t;
    }
    if (tl->threadless)
        timeline_drain(tl);
    else if (ok && !tl->busy)
        timeline_unlock_changed(tl);
    else
        pthread_mutex_unlock(&tl->lock);
    return ok;
}

void timeline_suspend(struct timeline *tl)
{
    pthread_mutex_lock(&tl->lock);
    tl->suspended++;
    pthread_mutex_unlock(&tl->lock);
}

void timeline_resume(struct timeline *tl, struct task *t)
{
    pthread_mutex_lock(&tl->lock);
    t->next = tl->ended;
    tl->ended = t;
    atomic_fetch_add_explicit(&tl->changes, 1, memory_order_relaxed);
    /*
     * The thread is signalled under the lock: without it the timeline could be gone, since the task that kept it may be
     * finished at once.
     */
    if (tl->sleeping)
        pthread_cond_signal(&tl->wake);
    tl->sleeping = false;
    pthread_mutex_unlock(&tl->lock);
}

bool timeline_is_idle(struct timeline *tl)
{
    pthread_mutex_lock(&tl->lock);
    bool idle = !tl->busy && !tl->first && !tl->suspended;
    if (idle) /* the thread stops spinning, which leaves its core to the caller's team */
        atomic_fetch_add_explicit(&tl->changes, 1, memory_order_relaxed);
    pthread_mutex_unlock(&tl->lock);
    return idle;
}

bool timeline_try_begin(struct timeline *tl)
{
    pthread_mutex_lock(&tl->lock);
    bool taken = !tl->busy && !tl->first && !tl->suspended;
    if (taken)
        tl->busy = true;
    pthread_mutex_unlock(&tl->lock);
    return taken;
}

void timeline_end(struct timeline *tl)
{
    pthread_mutex_lock(&tl->lock);
    tl->busy = false;
    if (tl->threadless)
        timeline_drain(tl);
    else if (tl->first)
        timeline_unlock_changed(tl);
    else
        pthread_mutex_unlock(&tl->lock);
}

void timeline_enter(struct timeline_scope *scope, const struct timeline *tl, bool computes)
{
    *scope = (struct timeline_scope){tl, computes, timeline_innermost};
    timeline_innermost = scope;
}

void timeline_exit(const struct timeline_scope *scope)
{
    timeline_innermost = scope->outer;
}

static bool timeline_is_inside(const struct timeline *tl, bool computes)
{
    const struct timeline_scope *scope = timeline_innermost;

    while (scope && (scope->timeline != tl || scope->computes < computes))
        scope = scope->outer;
    return scope;
}

bool timeline_is_current(const struct timeline *tl)
{
    return timeline_is_inside(tl, false);
}

bool timeline_is_computing(const struct timeline *tl)
{
    return timeline_is_inside(tl, true);
}

bool timeline_run_next(struct timeline *tl)
{
    pthread_mutex_lock(&tl->lock);
    bool ended = tl->ended != NULL;
    if (ended)
        timeline_finish_next(tl);
    struct task *t = !ended && timeline_may_run(tl) ? timeline_pop(tl) : NULL;
    pthread_mutex_unlock(&tl->lock);
    if (t)
        t->run(t);
    return ended || t;
}
