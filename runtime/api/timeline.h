/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A timeline runs tasks one after the other, in the order in which they were submitted, on a thread that is started when the
 * first task needs it.  A caller may also run work itself if nothing is waiting or running.  A
 * timeline without a thread runs a task inside the call that submits it, or, if another thread has the turn, on that thread,
 * after its own work.
 *
 * The work of a task may go on elsewhere, in the queue of an engine: the task is suspended then, and the thread is free.  Tasks
 * after it wait until it has ended, but for those that overlap, whose work the same queue keeps in order.
 */
#pragma once

#include <stdbool.h>

struct timeline;

struct task {
    struct task *next;
    void (*run)(struct task *t);    /* runs on the timeline; frees the task, unless it is suspended */
    void (*finish)(struct task *t); /* runs there once a suspended task's work has ended; frees the task */
    bool overlaps;                  /* may run while tasks before it are suspended */
};

/**
 * Creates a timeline.  With ignore_environment OMP_WAIT_POLICY is not read.  `threadless` says that it never starts its
 * thread; no task may be suspended then.  Returns NULL if memory runs out.
 */
struct timeline *timeline_create(bool ignore_environment, bool threadless);
/**
 * Frees a timeline that has no task left, without waiting for any; tl may be NULL.  May be called from the timeline's own
 * thread.
 */
void timeline_free(struct timeline *tl);

/** Appends a task.  Returns false if the thread could not be started; the task stays the caller's then. */
bool timeline_submit(struct timeline *tl, struct task *t);

/** Says, inside a task, that the task's work continues elsewhere and ends with timeline_resume. */
void timeline_suspend(struct timeline *tl);
/**
 * Says that the work of suspended t has ended, from any thread, also inside the task's run.  t->finish runs on the timeline.
 */
void timeline_resume(struct timeline *tl, struct task *t);

/** Returns whether nothing runs or waits, asked by a caller who then computes by itself. */
bool timeline_is_idle(struct timeline *tl);
/**
 * Takes an idle timeline for the calling thread: tasks submitted meanwhile run after timeline_end.  Returns false if it is not
 * idle.
 */
bool timeline_try_begin(struct timeline *tl);
/** Releases the timeline. */
void timeline_end(struct timeline *tl);

/** Describes that a thread is inside a task of a timeline, perhaps inside one of another timeline. */
struct timeline_scope {
    const struct timeline *timeline;
    bool computes;
    const struct timeline_scope *outer;
};

/** Notes that the calling thread is inside a task until timeline_exit; `computes` if it is amid the task's own work. */
void timeline_enter(struct timeline_scope *scope, const struct timeline *tl, bool computes);
void timeline_exit(const struct timeline_scope *scope);
/** Returns whether the calling thread is inside one of the timeline's tasks: a wait there runs the next ones. */
bool timeline_is_current(const struct timeline *tl);
/** Returns whether it is inside a task's own work, for which later tasks wait: waiting there would deadlock. */
bool timeline_is_computing(const struct timeline *tl);
/**
 * Runs the next task, inside the running one, or finishes a suspended one.  Returns false if there is
 * none that can run.
 */
bool timeline_run_next(struct timeline *tl);
