/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * This is the one thread pool: libgomp's, which oneDNN uses, too.  No other module has parallel regions.  It calls libgomp's
 * entry points directly, so that it ends up there with gcc and clang alike.
 */
#ifndef WEBNN_RUNTIME_HOST_THREADS_H_
#define WEBNN_RUNTIME_HOST_THREADS_H_

#include <stdbool.h>
#include <stdint.h>

/**
 * Returns the number of threads that OMP_NUM_THREADS or omp_set_num_threads gives, else one per processor; one per processor if
 * the environment is ignored.
 */
uint32_t threads_default_count(bool ignore_environment);

/** Returns whether the calling thread is inside a parallel region of its own: regions opened from here would get one thread. */
bool threads_in_region(void);

/**
 * Makes sure of the calling thread's team.  libgomp ends the process when a thread cannot be created, so this finds out first
 * whether they can.  Returns how many threads the thread's regions can have: count, or fewer (1 at least) if the system gives
 * no more.  Asking again costs nothing on a thread that got its answer.  It must be called before threads_enter(count).
 */
uint32_t threads_ready(uint32_t count);

/**
 * Makes the calling thread's parallel regions (oneDNN's included) use count threads, and its floating-point mode the default
 * one (nearest even, subnormals kept), until threads_leave restores the caller's settings.  A count of 0 says that there will
 * be no regions.  Returns what threads_leave needs.
 */
int threads_enter(uint32_t count);
/** Restores the settings that threads_enter changed and returned as `saved`, on the same thread. */
void threads_leave(int saved);

/**
 * Calls body(user, part, parts) for every part below `parts`, part 0 on the calling thread, on the team that threads_enter
 * chose.  Returns when all are done.
 */
void threads_run(uint32_t parts, void (*body)(void *user, uint32_t part, uint32_t parts), void *user);

#endif
