/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * From a graph to a program for an engine.  In: a graph that has passed build's checks.  Out: struct program
 * (runtime/engine.h).
 */
#ifndef WEBNN_RUNTIME_COMPILE_H_
#define WEBNN_RUNTIME_COMPILE_H_

#include "runtime/engine.h"

/** Milliseconds per stage, for the time-passes switch. */
struct compile_times {
    double passes, library, lower, storage, load;
};

/**
 * Runs the passes on g, lowers its clusters, creates library steps, places every value.  g stays the caller's, but is of no use
 * for anything else afterwards: constants that nothing needs any more are gone.  False: e; out is empty then.
 */
bool compile_graph(struct engine *en, struct graph *g, bool (*cancelled)(void *user), void *user, struct program *out,
                   struct compile_times *times, struct error *e);
/** The same for other facts than the engine's own. */
bool compile_for_target(struct engine *en, const struct target *t, struct graph *g, bool (*cancelled)(void *user), void *user,
                        struct program *out, struct compile_times *times, struct error *e);

#endif
