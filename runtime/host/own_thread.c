/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "runtime/host/own_thread.h"

#include <signal.h>
#include <stddef.h>

bool own_thread_start(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *user), void *user)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
    sigset_t others, before;

    sigfillset(&others);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&others, faults[i]);
    if (pthread_sigmask(SIG_SETMASK, &others, &before) != 0)
        return false;
    const bool started = pthread_create(thread, attributes, run, user) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

bool steady_condition_init(pthread_cond_t *c)
{
    pthread_condattr_t attributes;

    if (pthread_condattr_init(&attributes) != 0)
        return false;
    const bool good = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 && pthread_cond_init(c, &attributes) == 0;
    pthread_condattr_destroy(&attributes);
    return good;
}

struct timespec steady_time_after(uint64_t nanoseconds)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    const uint64_t rest = (uint64_t)t.tv_nsec + nanoseconds % 1000000000;
    t.tv_sec += (time_t)(nanoseconds / 1000000000 + rest / 1000000000);
    t.tv_nsec = (long)(rest % 1000000000);
    return t;
}
