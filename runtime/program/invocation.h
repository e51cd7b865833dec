/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * An invocation runs an executable on the caller's bindings: the engine's functions run its steps in order.
 *
 * Everything that can be decided once is decided when the executable is made (which function, which parameters, how many
 * threads) or when an invocation is made (every address in its arena and in constants, the library's memory objects).  A run
 * only stores the caller's addresses for the steps, and runs the steps.  Nothing is allocated, locked or looked up per step.
 *
 * An invocation belongs to one run at a time and is kept for the next; the pool's lock is held while one is acquired or
 * released, never while a step runs.
 */
#pragma once

#include "runtime/program/executable.h"

/** Holds the state of one run.  Engines read it in their step functions. */
struct invocation {
    struct invocation *next; /* in the pool */
    struct executable *executable;
    struct engine_buffer *memory; /* executable->memory_bytes: the arena, then what the engine added */
    bool borrows;                 /* that memory was counted with the executable */
    bool is_odd;                  /* an iteration of a loop with an odd number is running */
    engine_address *addresses;    /* of the tensors of all steps: those of step s begin at steps[s].first */
    bool *chosen, *skipped; /* by output, by step: what was wanted last, and left out for it (wanted.h); NULL: never asked */
    void *data;             /* the engine's */
    char failure[512];      /* the engine's reason of a failed step, or "" */
};

/** Computes, as engine_functions.run says. */
bool executable_run(struct executable *x, const struct engine_binding *inputs, const struct engine_binding *outputs,
                    const struct engine_stop *stop, struct error *e);

/**
 * Computes once on zeros, so that the caller's first run finds its memory, its threads and its code ready.  Results and errors
 * are discarded; nothing is done if inputs and outputs take more than bytes_most.  It is for engines that compute on host
 * memory.
 */
void executable_warm(struct executable *x, size_t bytes_most);

/** Frees the invocations that are kept for the next runs. */
void invocation_free_all(struct executable *x);
/** Frees the engine's spare memory if it has the size of this executable's. */
void invocation_free_spare(struct executable *x);
