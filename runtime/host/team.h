/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Runs parallel regions on threads of this library.
 *
 * A team is a calling thread and some workers.  Regions are cut into parts; part 0 is the caller's, the others belong to the
 * thread that claims them first.  A caller that has finished its part claims parts that no worker has begun, so that it never
 * waits for a thread that is not scheduled: a late worker finds none left.  Waiting is spinning for a bounded time, then
 * yielding, then sleeping.  If workers are preempted in the middle of their parts, as on a busy machine, the caller computes
 * alone for a while.
 *
 * A team may also have no threads and call an application's parallel-for (webnn/webnn_object.h), whose tasks claim parts like
 * workers.  They may run one after the other, on any thread: a thread at a barrier begins remaining parts on separate stacks,
 * and switches between them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct team;
struct webnn_object_parallel;

/** Computes part `part` of `parts`. */
typedef void team_body(void *user, uint32_t part, uint32_t parts);

/**
 * Returns a team with `workers` workers for the calling thread alone, one that was released before if there is one.  It has
 * fewer workers if the system gives no more threads; NULL if there is no memory.  Every thread may call it.  With `parallel`,
 * which stays as long as the team is acquired, it has no threads but calls that.
 */
struct team *team_acquire(uint32_t workers, const struct webnn_object_parallel *parallel);
/** Releases it on the thread that acquired it.  The last ones are kept with their threads asleep, the others end. */
void team_release(struct team *t);
uint32_t team_workers(const struct team *t);
/**
 * Returns whether the calling thread, which has acquired t, can use it for `workers` and that parallel-for.  While a
 * parallel-for runs it cannot: a callback would begin a region inside another.
 */
bool team_serves(const struct team *t, uint32_t workers, const struct webnn_object_parallel *parallel);

/**
 * Calls body(user, part, parts) for every part, part 0 on the calling thread, which has acquired t.  Returns when all are done.
 * From inside a part, or where t is NULL, the calling thread computes all parts one after the other.
 *
 * `synchronizes` says that parts may call team_barrier.  `stays` asks for all parts to be the calling thread's, unless one
 * calls team_barrier.
 */
void team_run(struct team *t, uint32_t parts, bool synchronizes, bool stays, team_body *body, void *user);

/** The part that the calling thread computes and the parts of its region: 0 and 1 outside of regions. */
uint32_t team_part(void);
uint32_t team_parts(void);
/** Returns the `user` of the region that the calling thread computes a part of by `body`, or NULL. */
void *team_user(team_body *body);

/**
 * Waits until every part of the calling thread's region reaches the barrier.  Parts that no thread has begun are begun.
 * Returns at once if one thread computes all parts, because the team has fewer threads than parts.
 */
void team_barrier(void);
