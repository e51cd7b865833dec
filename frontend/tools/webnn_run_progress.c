/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Shows on a terminal that webnn-run reads or builds a model, if that takes long.  The library does not tell how far it is, so
 * a separate thread prints the current step and its seconds.
 */
#include <pthread.h>
#include <unistd.h>

#include "frontend/tools/webnn_run.h"

/* What takes less is over before it could be read; from then on the line changes twice a second. */
enum { PERIOD_MS = 500 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* stop was set */
    pthread_t thread;
    const char *what;
    bool running, stop;
} progress = {.lock = PTHREAD_MUTEX_INITIALIZER};

/** Waits for PERIOD_MS, or until stop is set, which it returns.  The lock is held. */
static bool wait_for_stop(void)
{
    struct timespec until;
    int result = 0;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += PERIOD_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    while (!progress.stop && !result)
        result = pthread_cond_timedwait(&progress.changed, &progress.lock, &until);
    return progress.stop;
}

static void *show(void *user)
{
    const double start = milliseconds_now();
    bool shown = false;

    (void)user;
    pthread_mutex_lock(&progress.lock);
    while (!wait_for_stop()) {
        fprintf(stderr, "\r\033[Kwebnn-run: %s, %.0f s", progress.what, (milliseconds_now() - start) / 1e3);
        fflush(stderr);
        shown = true;
    }
    pthread_mutex_unlock(&progress.lock);
    if (shown)
        fputs("\r\033[K", stderr);
    return NULL;
}

void progress_begin(const struct run_options *o, const char *what)
{
    pthread_condattr_t attributes;

    if (o->quiet || o->debug || !isatty(STDERR_FILENO))
        return; /* stderr is not a terminal, or it would come between the lines of something else */
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&progress.changed, &attributes);
    pthread_condattr_destroy(&attributes);
    progress.what = what;
    progress.stop = false;
    progress.running = !pthread_create(&progress.thread, NULL, show, NULL);
    if (!progress.running) /* then it is not shown */
        pthread_cond_destroy(&progress.changed);
}

void progress_end(void)
{
    if (!progress.running)
        return;
    pthread_mutex_lock(&progress.lock);
    progress.stop = true;
    pthread_cond_signal(&progress.changed);
    pthread_mutex_unlock(&progress.lock);
    pthread_join(progress.thread, NULL);
    pthread_cond_destroy(&progress.changed);
    progress.running = false;
}
