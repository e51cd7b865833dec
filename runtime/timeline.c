/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The queue and the thread of a timeline.
 *
 * `busy` is the turn: held by the thread while it runs a task, or by a caller between timeline_try_begin and timeline_end.
 * The last reference to a context can go inside a task; timeline_free is then called on the timeline's own thread, which
 * cannot join itself.  So the struct belongs to context and thread together, and the last of the two frees it.
 */
#define _GNU_SOURCE
#include "runtime/timeline.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

struct timeline {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct task *first, *last;
    pthread_t thread;
    unsigned owners; /* context, thread */
    bool started, busy, stop;
};

/* Which timeline the calling thread is, if any. */
static _Thread_local const struct timeline *timeline_current;

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
    tl->owners = 1;
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

static void *timeline_main(void *data)
{
    struct timeline *tl = data;

    timeline_current = tl;
    pthread_mutex_lock(&tl->lock);
    for (;;) {
        while (!tl->stop && (tl->busy || !tl->first))
            pthread_cond_wait(&tl->wake, &tl->lock);
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
    pthread_cond_signal(&tl->wake);
    pthread_mutex_unlock(&tl->lock);
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
        if (!tl->busy)
            pthread_cond_signal(&tl->wake);
    }
    pthread_mutex_unlock(&tl->lock);
    return ok;
}

bool timeline_is_idle(struct timeline *tl)
{
    pthread_mutex_lock(&tl->lock);
    bool idle = !tl->busy && !tl->first;
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
        pthread_cond_signal(&tl->wake);
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
