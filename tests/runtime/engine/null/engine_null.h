/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The null engine is the smallest second engine, for tests.
 *
 * Its executables compute by the interpreter of kernels.  It differs from the CPU's in whatever an engine may differ in: its
 * addresses are handles, its memory is its own, it has no library, no schedules, no saved programs and nothing to say to
 * tools, and it computes on a thread of its own.  So it shows that nothing outside an engine relies on more.  It is also the
 * example of docs/extending.md.
 */
#pragma once

#include "runtime/engine/engine.h"

/** Creates a null engine, as an engine_create_function does; thread_count is ignored. */
struct engine *engine_null_create(uint32_t thread_count, const struct debug_options *debug, struct error *e);

/** Returns how many computations were submitted to the engine so far. */
uint32_t engine_null_submissions(struct engine *en);
/** Holds back submissions while `hold` is true, for tests of what happens meanwhile. */
void engine_null_hold(struct engine *en, bool hold);
