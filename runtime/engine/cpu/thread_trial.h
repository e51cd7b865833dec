/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Measures whether the runs of a graph are faster on several threads or on the caller's thread alone.
 *
 * The cost model chooses the number of parts of a step.  It does not know the cost of moving data between the cores: cores that
 * share a cache exchange a line in a fraction of the time of others, a virtual machine's processors migrate, and a thread that
 * sleeps between two runs has to be woken.  That dominates for graphs of microseconds.  So a few runs are timed each way, the
 * faster way is taken, and it is tried again later.  The parts do not depend on the thread that computes them, and neither do
 * the bits of the results.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { TRIAL_RUNS = 5 /* that are timed each way */ };

/** Holds the state of one graph.  Any number of threads may run the graph at once. */
struct thread_trial {
    atomic_bool alone;    /* how the next run is to be computed */
    pthread_mutex_t lock; /* guards the rest; no thread waits for it */
    enum { TRIAL_TOGETHER, TRIAL_ALONE, TRIAL_SETTLED } phase;
    bool timed[2];      /* which ways this trial has timed: together, alone */
    bool settled_alone; /* result of the last trial */
    uint32_t seen;      /* runs of this phase; the first of a trial's is not timed, since it changes what threads do */
    uint32_t interval;  /* runs until the next trial */
    uint64_t nanoseconds[2][TRIAL_RUNS]; /* together, alone */
};

/** Begins a trial, with runs of the caller alone if `alone` holds: that is best for graphs that finish before woken threads
 * begin. */
void thread_trial_init(struct thread_trial *t, bool alone);
static inline void thread_trial_destroy(struct thread_trial *t)
{
    pthread_mutex_destroy(&t->lock);
}
/** Returns whether the run uses the caller's thread alone. */
static inline bool thread_trial_begin(struct thread_trial *t)
{
    return atomic_load_explicit(&t->alone, memory_order_relaxed);
}
/** Records the time of a run, for which thread_trial_begin returned `alone`. */
void thread_trial_end(struct thread_trial *t, bool alone, uint64_t nanoseconds);
