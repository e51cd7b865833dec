/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Implements trials: timed runs on all threads, timed runs alone, then a number of runs the faster way.
 */
#include "runtime/engine/cpu/thread_trial.h"

#include <stdlib.h>

enum {
    INTERVAL_FIRST = 64,       /* runs until the second trial; twice as many after each that confirms the one before it */
    INTERVAL_MAX = 4096,       /* so that trials, of which half the runs are the slower way, cost nothing that counts */
    LONG_NANOSECONDS = 2000000 /* for as long a run the cost model is right, and one that takes twice as long is noticed */
};

static const double GAIN = 0.97; /* of the time together: alone must be that much faster, lest noise decides */

static void enter(struct thread_trial *t, int phase, bool alone)
{
    t->phase = phase;
    t->seen = 0;
    atomic_store_explicit(&t->alone, alone, memory_order_relaxed);
}

void thread_trial_init(struct thread_trial *t, bool alone)
{
    *t = (struct thread_trial){.interval = INTERVAL_FIRST};
    pthread_mutex_init(&t->lock, NULL);
    enter(t, alone ? TRIAL_ALONE : TRIAL_TOGETHER, alone);
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static double median(uint64_t times[TRIAL_RUNS])
{
    qsort(times, TRIAL_RUNS, sizeof *times, compare);
    return (double)times[TRIAL_RUNS / 2];
}

static void settle(struct thread_trial *t, bool alone)
{
    const bool confirmed = alone == t->settled_alone;

    t->interval = !confirmed ? INTERVAL_FIRST : t->interval < INTERVAL_MAX ? t->interval * 2 : INTERVAL_MAX;
    t->settled_alone = alone;
    t->timed[false] = t->timed[true] = false;
    enter(t, TRIAL_SETTLED, alone);
}

static void count_run(struct thread_trial *t, bool alone, uint64_t nanoseconds)
{
    if (t->phase == TRIAL_SETTLED) {
        if (++t->seen >= t->interval)
            enter(t, TRIAL_TOGETHER, false);
        return;
    }
    if (alone != (t->phase == TRIAL_ALONE)) /* it began before the phase did */
        return;
    if (t->seen > 0)
        t->nanoseconds[alone][t->seen - 1] = nanoseconds;
    if (t->seen++ < TRIAL_RUNS)
        return;
    t->timed[alone] = true;
    if (t->timed[!alone])
        settle(t, median(t->nanoseconds[true]) < GAIN * median(t->nanoseconds[false]));
    else if (alone)
        enter(t, TRIAL_TOGETHER, false);
    else if (median(t->nanoseconds[false]) < LONG_NANOSECONDS)
        enter(t, TRIAL_ALONE, true);
    else
        settle(t, false);
}

void thread_trial_end(struct thread_trial *t, bool alone, uint64_t nanoseconds)
{
    if (pthread_mutex_trylock(&t->lock) != 0)
        return;
    count_run(t, alone, nanoseconds);
    pthread_mutex_unlock(&t->lock);
}
