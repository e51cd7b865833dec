/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Runs parallel regions.  No other module has any.
 *
 * They run on teams (team.h), whose callers never wait for threads that have not begun.  oneDNN's own regions are redirected to
 * the same threads (openmp.h); if that is not possible, both use libgomp's pool (libgomp.h), because two pools would compete
 * for the processors.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "runtime/host/libgomp.h"

struct webnn_object_parallel;

/** Computes part `part` of `parts`. */
typedef void threads_body(void *user, uint32_t part, uint32_t parts);

/** The threads of a thread's regions. */
struct threads_entered {
    struct team *team; /* NULL: one thread, or libgomp's */
    uint32_t count;    /* 0: there are no regions */
    bool on_libgomp, stays;
};

/** Holds what threads_leave restores. */
struct threads_saved {
    struct threads_entered entered;
    struct libgomp_settings settings;
    bool acquired; /* a team */
    int mode;
};

/**
 * Returns the number of threads that OMP_NUM_THREADS or omp_set_num_threads gives, else one per processor; one per processor if
 * the environment is ignored.
 */
uint32_t threads_default_count(bool ignore_environment);

/** Returns whether the calling thread is inside the caller's parallel region: regions opened here would get one thread. */
bool threads_in_region(void);

/**
 * Redirects the regions of the library that `function` belongs to, which was compiled for OpenMP, to threads_run's threads.
 * Returns false if that library has to stay on libgomp's threads: then all regions go there.  It is called once, before the
 * first call of that library.
 */
bool threads_lead_here(const void *function);

/**
 * Prepares the threads.  Returns how many the calling thread's regions can have: count, or fewer (1 at least) if the
 * system gives no more.  Further calls on the same thread are free.  It must be called before
 * threads_enter(count).  With an application's parallel-for there are always as many.
 */
uint32_t threads_ready(uint32_t count, const struct webnn_object_parallel *parallel);

/**
 * Makes the calling thread's parallel regions (oneDNN's included) use count threads, and its floating-point mode the default
 * one (nearest even, subnormals kept), until threads_leave restores the caller's settings.  A count of 0 says that there will
 * be no regions.  With `parallel`, which may be NULL, that computes the regions' parts, and no thread is started.  Returns what
 * threads_leave needs.
 */
struct threads_saved threads_enter(uint32_t count, const struct webnn_object_parallel *parallel);
/** Returns whether regions of the library run on this library's threads, and not on libgomp's. */
bool threads_are_own(void);
/** Makes the calling thread compute all parts of its regions until threads_leave, except on libgomp's threads. */
void threads_stay(void);
/** Restores the settings that threads_enter changed and returned as `saved`, on the same thread. */
void threads_leave(struct threads_saved saved);
/** Returns the count that the calling thread has entered with, 0 outside and where libgomp's threads compute. */
uint32_t threads_entered(void);
/** Returns how many threads there are for it, at most the count: fewer if the system gave no more since threads_ready. */
uint32_t threads_team(void);

/**
 * Calls body(user, part, parts) for every part below `parts`, part 0 on the calling thread, on the threads that threads_enter
 * chose.  Returns when all are done.  A thread may compute several parts, one after the other.
 */
void threads_run(uint32_t parts, threads_body *body, void *user);
/** Does the same on a team, with parts that may wait for each other (team_barrier). */
void threads_run_synchronized(uint32_t parts, threads_body *body, void *user);
