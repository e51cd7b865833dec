/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Finds out by trying whether the runs of a graph are faster on several threads or on the caller's thread alone.
 *
 * The cost model says into how many parts a step is cut.  What it cannot know is what handing parts over costs where the
 * threads run: cores that share a cache exchange a line in a fraction of the time that others take, a virtual machine's
 * processors move from one kind of place to the other, and a thread that sleeps between two runs has to be woken.  For graphs
 * that take microseconds this decides.  So a few runs are timed each way, the faster way is taken, and it is tried again later.
 * The parts stay the same whichever thread computes them, and so do all bits of the results.
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
    bool settled_alone; /* what the last trial came to */
    uint32_t seen;      /* runs of this phase; the first of a trial's is not timed, since it changes what threads do */
    uint32_t interval;  /* runs until the next trial */
    uint64_t nanoseconds[2][TRIAL_RUNS]; /* together, alone */
};

/** Begins a trial, with runs of the caller alone if `alone` holds: that is best for graphs whose first runs threads come late
 * to. */
void thread_trial_init(struct thread_trial *t, bool alone);
void thread_trial_destroy(struct thread_trial *t);
/** Returns whether the run that begins is the caller's alone. */
bool thread_trial_begin(struct thread_trial *t);
/** Says how long a run took, which thread_trial_begin said `alone` of. */
void thread_trial_end(struct thread_trial *t, bool alone, uint64_t nanoseconds);
