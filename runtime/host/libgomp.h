/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Runs parallel regions on libgomp's pool, if oneDNN's regions cannot be redirected to teams (openmp.h): both then use one
 * pool.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/** Holds settings of the calling thread that libgomp_enter changed. */
struct libgomp_settings {
    uint32_t count; /* 0: unchanged */
    bool dynamic;
};

/**
 * Prepares the calling thread's team.  libgomp ends the process when a thread cannot be created, so this checks first whether
 * they can.  Returns how many threads the thread's regions can have: count, or fewer (1 at least) if the system gives no more.
 * Further calls on the same thread are free.  It must be called before libgomp_enter(count).
 */
uint32_t libgomp_ready(uint32_t count);
/** Makes the calling thread's parallel regions use count threads, 1 at least. */
struct libgomp_settings libgomp_enter(uint32_t count);
/** Restores what libgomp_enter returned, on the same thread. */
void libgomp_leave(struct libgomp_settings saved);
/** Calls body(user, part, parts) for every part below `parts`, part 0 on the calling thread, on its team. */
void libgomp_run(uint32_t parts, void (*body)(void *user, uint32_t part, uint32_t parts), void *user);
