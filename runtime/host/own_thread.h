/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Starts the library's own threads, with waits on the monotonic clock. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/**
 * Starts a thread with all of the application's signals blocked, except its own faults.  attributes may be
 * NULL.  Returns false if the system gives no thread.
 */
bool own_thread_start(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *user), void *user);
/** Makes a condition variable whose deadlines are those of the monotonic clock.  Returns false if that fails. */
bool steady_condition_init(pthread_cond_t *c);
/** Returns the monotonic clock's time in so many nanoseconds. */
struct timespec steady_time_after(uint64_t nanoseconds);
