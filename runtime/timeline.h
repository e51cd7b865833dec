/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A timeline: tasks that run one after the other, in the order in which they were submitted, on a thread that is started when
 * the first task needs it.  A caller may also run a piece of work itself, in its turn, if nothing is waiting or running.
 */
#ifndef WEBNN_RUNTIME_TIMELINE_H_
#define WEBNN_RUNTIME_TIMELINE_H_

#include <stdbool.h>

struct timeline;

struct task {
    struct task *next;
    void (*run)(struct task *t); /* on the timeline; frees the task */
};

struct timeline *timeline_create(void);
/** To be called when no task is left; may be called from the timeline's own thread.  Waits for no task. */
void timeline_free(struct timeline *tl);

/** Appends a task.  False: the thread could not be started; the task stays the caller's. */
bool timeline_submit(struct timeline *tl, struct task *t);

/** Whether nothing runs or waits, asked by a caller who then computes by itself. */
bool timeline_is_idle(struct timeline *tl);
/** Takes an idle timeline for the calling thread: tasks submitted meanwhile run after timeline_end.  False: it is not idle. */
bool timeline_try_begin(struct timeline *tl);
void timeline_end(struct timeline *tl);

/** Whether the caller is the timeline's thread, inside a task: waiting there would wait for itself. */
bool timeline_is_current(const struct timeline *tl);
/** On the timeline's thread: runs the next task now, inside the running one.  False: there is none. */
bool timeline_run_next(struct timeline *tl);

#endif
