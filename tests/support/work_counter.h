/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Counts how much work a piece of code is, for tests of growth: instructions that this thread executes, or, where the machine
 * does not let programs count them, the processor time of this thread.  Neither grows while other programs have the processor.
 *
 *   struct work_counter c = work_counter_open();
 *   double before = work_counter_read(&c);
 *   ... the work ...
 *   double work = work_counter_read(&c) - before;
 *   work_counter_close(&c);
 */
#pragma once

#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef __linux__
#include <linux/perf_event.h>
#include <sys/syscall.h>
#endif

struct work_counter {
    int file; /* negative if processor time is counted */
};

/** Begins to count. */
static inline struct work_counter work_counter_open(void)
{
    struct work_counter c = {-1};
#ifdef __linux__
    struct perf_event_attr attributes;

    memset(&attributes, 0, sizeof attributes);
    attributes.type = PERF_TYPE_HARDWARE;
    attributes.size = sizeof attributes;
    attributes.config = PERF_COUNT_HW_INSTRUCTIONS;
    attributes.exclude_kernel = attributes.exclude_hv = 1;
    c.file = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0);
#endif
    return c;
}

/** Returns the instructions or nanoseconds so far; only differences mean something. */
static inline double work_counter_read(const struct work_counter *c)
{
    struct timespec t;
    uint64_t count;

    if (c->file >= 0 && read(c->file, &count, sizeof count) == sizeof count)
        return (double)count;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/** Returns the name of the counter, for messages. */
static inline const char *work_counter_unit(const struct work_counter *c)
{
    return c->file >= 0 ? "instructions" : "ns of processor time";
}

/** Stops counting. */
static inline void work_counter_close(struct work_counter *c)
{
    if (c->file >= 0)
        close(c->file);
    c->file = -1;
}
