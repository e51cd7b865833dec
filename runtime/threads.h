/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The one thread pool: libgomp's, which oneDNN uses, too.  The only module with parallel regions; it calls libgomp's entry
 * points directly, so that it ends up there with gcc and clang alike.
 */
#ifndef WEBNN_RUNTIME_THREADS_H_
#define WEBNN_RUNTIME_THREADS_H_

#include <stdbool.h>
#include <stdint.h>

/** Threads that OMP_NUM_THREADS or the machine gives. */
uint32_t threads_default_count(void);

/** Whether the calling thread is inside a parallel region of its own: regions opened from here would get one thread. */
bool threads_in_region(void);

/**
 * Makes the calling thread's parallel regions (oneDNN's included) use count threads, and its floating-point mode the default
 * one (nearest even, subnormals kept), until threads_leave restores the caller's settings.  count 0: there will be no regions.
 * Returns what threads_leave needs.
 */
int threads_enter(uint32_t count);
void threads_leave(int saved);

/** Calls body(user, part, parts) for every part below `parts`, part 0 on the calling thread, on the team that threads_enter
 * chose; returns when all are done. */
void threads_run(uint32_t parts, void (*body)(void *user, uint32_t part, uint32_t parts), void *user);

#endif
