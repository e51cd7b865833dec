/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The one thread pool: libgomp's, which oneDNN uses, too.  The only module with parallel regions; it calls libgomp's entry points
 * directly, so that it ends up there with gcc and clang alike.
 */
#ifndef WEBNN_RUNTIME_THREADS_H_
#define WEBNN_RUNTIME_THREADS_H_

#include <stdint.h>

/** Threads that OMP_NUM_THREADS or the machine gives. */
uint32_t threads_default_count(void);

/** Makes the calling thread's parallel regions (oneDNN's included) use count threads until threads_leave restores the caller's
 * setting.  Returns what threads_leave needs. */
int threads_enter(uint32_t count);
void threads_leave(int saved);

/** Calls body(user, part, parts) on `parts` threads, part 0 on the calling one; returns when all are done. */
void threads_run(uint32_t parts, void (*body)(void *user, uint32_t part, uint32_t parts), void *user);

#endif
