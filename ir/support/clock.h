/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * This is the clock of reports: passes, stages of building, steps.  It is monotonic, from an arbitrary start.
 */
#pragma once

#include <stdint.h>
#include <time.h>

/** Returns the clock's nanoseconds.  Every thread may call it. */
static inline uint64_t nanoseconds_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/** Returns the same in milliseconds. */
static inline double milliseconds_now(void)
{
    return (double)nanoseconds_now() * 1e-6;
}
