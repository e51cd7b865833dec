/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A program is a compiled graph: a sequence of steps over an arena, inputs, outputs and constants.
 *
 * runtime/compile/compile.c assembles programs from kernels, library steps and locations, or they are read from their
 * serialized form.  An engine loads and runs them, codegen/object/object.c writes them into objects, and
 * runtime/program/serialized.c serializes them.  A program does not point into its graph, and does not assume that memory is
 * the host's.
 */
#pragma once

#include <stdio.h>

#include "ir/graph/constant.h"
#include "ir/kernel/kernel.h"

/** A primitive of the engine's library with its packed weights, opaque except to the engine. */
struct library_step;
struct engine;

/** The memory that holds a tensor of a step. */
enum location_kind { LOCATION_ARENA, LOCATION_INPUT, LOCATION_OUTPUT, LOCATION_CONSTANT };

struct location {
    enum location_kind kind;
    uint32_t slot;  /* INPUT, OUTPUT: which binding; CONSTANT: index into program->constants */
    int64_t offset; /* bytes from the start of the arena, binding or constant */
    int64_t bytes;
};

enum step_kind {
    STEP_KERNEL,  /* locations in the order of the kernel's tensors */
    STEP_LIBRARY, /* locations: the step's inputs, then its output */
    STEP_COPY     /* locations: from, to */
};

/** Describes the launch of a kernel step.  program_describe makes it from the kernel's IR, or it is read from a serialized
 * program, where there is no IR. */
struct step_run {
    uint32_t function; /* from a serialized program: index into the table of functions */
    uint32_t param_count;
    const int64_t *params; /* in the order of the schedule's numbers */
    int64_t units, scratch_bytes;
    double flops, bytes;
    bool multiplies_bytes; /* flops are of integers; not in serialized programs */
    const bool *written;   /* by location */
};

/** Functions of an engine's schedule for a kernel (ir/schedule/program_schedule.h). */
struct schedule_kind {
    /** Fills in parameters, units, scratch and estimates of a step's `run`, in the arena.  Returns false if memory runs out. It
     * is NULL if only the engine computes them; then the kernel's cost is the estimate. */
    bool (*describe)(const void *schedule, struct arena *a, struct step_run *run);
    /** Returns the bytes of scratch that a run on so many threads takes. */
    double (*scratch_bytes)(const void *schedule, uint32_t thread_count);
    void (*print)(const void *schedule, FILE *out);
    void (*free)(void *schedule);
};

/** One step of a program, which owns everything in it. */
struct program_step {
    enum step_kind kind;
    char name[80]; /* for dumps and profiles */
    /* kernel belongs to the program.  It is NULL where only `run` is known. */
    struct kernel *kernel;
    /* 1 + the number of an earlier kernel step whose kernel this one runs on its own locations; 0: none. */
    uint32_t like;
    /* How the kernel runs, as the engine's function `schedule` chose it, opaque except to the engine.  It belongs to
     * the program.  Both are NULL if the engine needs none. */
    void *schedule;
    const struct schedule_kind *schedule_kind;
    struct step_run run;
    struct library_step *library; /* LIBRARY: it belongs to the program until an engine has loaded it */
    uint32_t location_count;
    struct location *locations;
};

/** These steps run several times, one iteration after the other.  Loops neither overlap nor nest. */
struct program_loop {
    uint32_t first, count; /* steps */
    uint32_t iterations;
    /* 1 + the number of a step that copies: the loop may end before an iteration if the first byte that it, or a step before
     * the loop, wrote is not 0.  0: none. */
    uint32_t stop;
};

/**
 * The stride of a location of a step in a loop: in iteration i it is i * stride bytes further.  With has_first, it is `first`
 * in iteration 0, and (i - 1) * stride bytes after the step's location in iteration i.
 */
struct program_move {
    uint32_t step, location;
    int64_t stride;
    bool has_first;
    struct location first;
};

/** A compiled graph.  It owns what it points at, except the engine and shared constants. */
struct program {
    struct arena arena;
    struct engine *engine; /* which made the library steps; used by the runtime only */
    void (*free_library)(struct library_step *s);
    uint32_t step_count;
    struct program_step *steps;
    uint32_t loop_count;
    struct program_loop *loops; /* in the order of their steps */
    uint32_t move_count;
    struct program_move *moves; /* in the order of steps and locations */
    uint32_t constant_count;
    struct constant **constants;        /* a reference each */
    uint32_t input_count, output_count; /* bindings that run needs */
    int64_t arena_bytes, arena_lower_bound;
    bool is_lent;            /* steps and constants are a plan's, which keeps them: arena and kernels are freed */
    bool is_variant;         /* of a graph with named dimensions: it may reuse the memory of another one */
    const char *description; /* operators and steps as JSON (runtime/compile/describe.h), for the switch steps; else NULL */
    /** Is asked while an engine loads the program: returns whether to stop.  NULL: it never stops. */
    bool (*cancelled)(void *user, uint32_t done, uint32_t total);
    void *cancelled_user;
};

/** Returns whether a step writes one of its locations. */
bool step_writes(const struct program_step *s, uint32_t location);
/** Fills in `run` of every kernel step that has IR, unless it is.  Returns false if memory runs out. */
bool program_describe(struct program *p);
/** Frees the IR and the schedules of a program that program_describe described. */
void program_drop_kernels(struct program *p);
/** Frees everything that a program owns, and clears it. */
void program_free(struct program *p);
/** Prints steps, their schedules, locations and sizes, for the dump-program switch. */
void program_print(const struct program *p, FILE *out);

/**
 * Returns how many threads are worthwhile for a kernel: at most its units and thread_count, at least 1.  flops and bytes are
 * struct schedule's estimates.  Objects and executables both call it, so that they divide a step alike.
 */
uint32_t program_kernel_parts(double flops, double bytes, int64_t units, uint32_t thread_count);
/**
 * Returns the bytes from one thread's scratch to the next one's, for kernels that need up to scratch_bytes each.  There is a
 * gap between them, so that the adjacent-line prefetcher of one core does not fetch lines that another core writes.
 */
int64_t program_scratch_stride(int64_t scratch_bytes);
