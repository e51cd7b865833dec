/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * An executable is the common part of every engine's loaded programs.
 *
 * A program (ir/program.h) becomes, for an engine with its way of running a step, an array of steps in a fixed order over one
 * arena, with everything precomputed that does not depend on the caller's bindings.  invocation.h runs them.
 *
 * An engine's own struct begins with struct executable, followed by the engine's data of each step (a function, a pipeline).
 * Only engines access the struct.
 */
#pragma once

#include <pthread.h>

#include "runtime/engine/engine.h"

struct invocation;

/** Describes how an engine runs the steps of its executables.  One thread at a time calls these for an invocation. */
struct step_functions {
    /** Runs a step, by its kind.  Returns false if it failed. */
    bool (*run[STEP_COPY + 1])(struct invocation *i, uint32_t step);
    /**
     * Creates the engine's data of an invocation (i->data).  It is NULL if there is none.  Returns false
     * after an error in *e.
     */
    bool (*create)(struct invocation *i, struct error *e);
    /** Frees i->data, which may be NULL. */
    void (*destroy)(struct invocation *i);
    /**
     * Run before the first step and, if that succeeded, after the last, or after the one that failed or was stopped (`ok` is
     * false).  They are NULL if there is nothing to do.  begin returns false after an error in *e.
     */
    bool (*begin)(struct invocation *i, struct error *e);
    void (*end)(struct invocation *i, bool ok);
    /**
     * If true, the engine itself counts steps and runs (executable_count_span, executable_count_run), because running a step
     * only starts it.
     */
    bool counts_steps;
};

/** The common part of a step. */
struct executable_step {
    enum step_kind kind;
    uint32_t first, count; /* its addresses in an invocation */
    union {
        struct library_step *library; /* LIBRARY: the executable's */
        size_t copy_bytes;            /* COPY */
    };
};

/** An address that depends on the caller's bindings. */
struct address_fixup {
    uint32_t address; /* index in an invocation */
    bool output;
    uint32_t slot;
    int64_t offset;
};

enum { NO_ADDRESS = UINT32_MAX };

/**
 * Describes an address that changes from iteration to iteration.  Its start is a separate address after those of the steps, so
 * that binding and creation set it like any other, and a stopped run needs no clean-up.
 */
struct address_move {
    uint32_t address, base, first; /* first holds the address of iteration 0, or is NO_ADDRESS */
    int64_t stride;
};

struct executable_loop {
    uint32_t first, count, iterations, stop; /* as in struct program_loop */
    uint32_t move, move_count;
};

/** The profile of a step. */
struct step_profile {
    char name[80], implementation[64];
    double flops, bytes; /* of all iterations of a loop */
    enum arithmetic arithmetic;
    double operations;
    atomic_ullong nanoseconds, least; /* of all calls, of the shortest (0 if there was none yet) */
    uint32_t trace_name;              /* in the trace */
};

struct profile {
    bool measuring, printing;
    struct trace *trace;             /* the context's, or NULL */
    atomic_ullong runs, nanoseconds; /* while measuring */
    const char *description;         /* the program's, or NULL */
    struct step_profile *steps;
};

/** Holds invocations that wait for the next run. */
struct invocation_pool {
    pthread_mutex_t lock;
    struct invocation *first;
    uint32_t count;
    bool shares_memory; /* set by engines whose runs may use different memory: it is the engine's spare memory */
};

struct executable {
    struct engine *engine;
    const struct step_functions *functions;
    struct arena arena;
    uint32_t step_count, address_count, fixup_count, loop_count, move_count, constant_count;
    struct executable_step *steps;
    struct location *locations; /* of every address */
    bool *written;              /* whether its step writes to it, by address */
    struct address_fixup *fixups;
    struct executable_loop *loops;
    struct address_move *moves;
    struct constant **constants;     /* a reference each */
    struct engine_buffer **uploaded; /* the constants in the engine's memory; NULL if it computes on host memory */
    int64_t arena_bytes, arena_lower_bound;
    size_t memory_bytes; /* of an invocation: the arena, then what the engine adds */
    size_t held_bytes;   /* counted: constants, packed weights, and the memory of one invocation */
    atomic_bool lends;   /* an invocation has the memory that was counted for one */
    bool owns_library;   /* whether the executable owns the library steps */
    struct profile profile;
    struct invocation_pool pool;
};

/**
 * Fills in x from p: all but p's library steps is copied or retained.  The engine then adds its data of the steps, names their
 * implementations in x->profile.steps and raises x->memory_bytes; when nothing can fail any more it calls executable_take.
 * Returns false after an error in *e, and x is as after executable_clear.
 */
bool executable_init(struct executable *x, struct engine *en, const struct step_functions *functions, struct program *p,
                     struct error *e);
/** Takes over p's library steps: from here on they are x's. */
void executable_take(struct executable *x, struct program *p);
/** Frees what x holds, but not x, which may be all zeros.  No run may be in progress. */
void executable_clear(struct executable *x);

/** Returns how often a step runs in a run. */
uint32_t executable_step_calls(const struct executable *x, uint32_t step);
/** Returns how many inputs, or outputs, the steps touch: one more than the last slot. */
uint32_t executable_slots(const struct executable *x, bool output);

/* ---- profile.c: functions for struct engine_tools, which engines use as they are ---- */

/** Registers the steps with the trace, once their implementations have names. */
void executable_trace_steps(struct executable *x);
/** Counts a call of a step from `start` to `end`, also in the trace, as the calling thread's. */
void executable_count_span(struct executable *x, uint32_t step, uint64_t start, uint64_t end);
/** Counts a run while measuring. */
void executable_count_run(struct executable *x, uint64_t nanoseconds);
/** The functions of the same names in struct engine_tools. */
void executable_measure(struct executable *x);
void executable_get_facts(const struct executable *x, struct executable_facts *out);
void executable_get_step_facts(const struct executable *x, uint32_t step, struct step_facts *out);
void executable_print_profile(const struct executable *x, FILE *out);
/** Writes times and the program's description of its steps as JSON, for the switch steps.  Failures are reported on stderr. */
void executable_write_steps(const struct executable *x);
