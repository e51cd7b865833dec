/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Redirects the parallel regions of a library that was compiled for OpenMP to teams (team.h).
 *
 * Debian's oneDNN has no interface for another pool of threads: its regions are calls of libgomp, whose threads spin for
 * milliseconds and whose callers wait for every one of them, which makes small networks a thousand times slower as soon as
 * another process is busy.  So the entries for libgomp's functions in that library's own table of imported functions (its
 * global offset table) are replaced.  On a thread that has entered a team they compute there; on every other thread, such as
 * an application's that uses oneDNN itself, they call the original functions.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/**
 * Replaces the entries of the shared library that `function` belongs to.  Returns false if that cannot be done: a static
 * library, another OpenMP runtime, functions of libgomp that teams do not have, an unknown object format.  Nothing is changed
 * then.  It must be called once.
 */
bool openmp_redirect(const void *function);
