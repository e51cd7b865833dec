/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads the system's monotonic clock. */
#include "ir/support/clock.h"

#include <time.h>

uint64_t nanoseconds_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

double milliseconds_now(void)
{
    return (double)nanoseconds_now() * 1e-6;
}
