/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Compiles a graph that has passed build's checks to a program for an engine (struct program in ir/program.h). */
#pragma once

#include "runtime/engine/engine.h"

/** Holds the milliseconds that each stage took, for the time-passes switch. */
struct compile_times {
    double passes, library, lower, storage, load;
};

/**
 * Runs the passes on g, lowers its clusters, creates library steps and places every value.  g stays the caller's, but cannot be
 * used afterwards: unneeded constants are freed.  `cancelled` (may be NULL) is called between stages; true stops.  A
 * program of a plan is right until the plan makes the next one.  Returns false after an error in *e; out is empty then.
 */
bool compile_graph(struct engine *en, struct graph *g, bool (*cancelled)(void *user), void *user, struct program *out,
                   struct compile_times *times, struct error *e);
/** Does the same for another target than the engine's.  Without `keeps`, the program stays right. */
bool compile_for_target(struct engine *en, const struct target *t, struct graph *g, bool keeps, bool (*cancelled)(void *user),
                        void *user, struct program *out, struct compile_times *times, struct error *e);
