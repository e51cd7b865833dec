/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * This is what an execution engine implements: describing itself, memory, library steps, and programs.
 *
 * An engine loads a program, the engine-neutral form of a compiled graph (ir/program.h), into an executable that computes on
 * bound inputs and outputs.  runtime/engine/cpu and runtime/engine/opencl are engines; everything above (context, tensors,
 * timeline, compile) uses only the functions here, so that another engine is another folder.  Code shared by engines is in
 * runtime/program: executables, invocations, profiles and the serialized form.  docs/extending.md walks through adding one.
 *
 * The life of a graph in an engine:
 *
 *   target()                              facts for passes and lowering
 *   schedule()                            how each kernel runs on the machine
 *   library->step_create() per cluster    library primitives, weights packed
 *   load(program)                         machine code, addresses resolved       -> executable
 *   run(executable, bindings)             any number at the same time
 *   submit(executable, bindings, done)    the same, without waiting for the end
 */
#pragma once

#include <stdatomic.h>

#include "ir/support/debug.h"
#include "ir/graph/ir.h"
#include "ir/program.h"
#include "ir/target/target.h"
#include "runtime/engine/library_info.h"

struct engine;
struct library;
/** Holds a loaded program, which does not change.  Any number of its computations may run at the same time. */
struct executable;
struct webnn_object_parallel;

/* runtime/program/serialized.h has the types of serialized programs. */
struct stream_reader;
struct stream_writer;
struct serialized_source;
struct serialized_view;
struct graph_binding;

/* ---- memory ---- */

/**
 * An opaque address in an engine's memory: a pointer of the host or of a device, or a handle in the high bits and an offset.
 * Others may only add to it: the byte n further on in the same buffer has the address plus n.  Words may alias anything, since
 * the CPU's kernels take arrays of them as arrays of pointers.
 */
typedef uintptr_t __attribute__((may_alias)) engine_address;

/** Holds memory of a tensor or an invocation.  Engines append their own members. */
struct engine_buffer {
    engine_address address; /* of the first byte */
    size_t bytes;
    size_t charged; /* counted against the limit (runtime/program/memory_limit.h) */
};

/* ---- running ---- */

/** An input or output of a computation is a buffer of the engine's or, with buffer NULL and only if the engine computes on it,
 * host memory. */
struct engine_binding {
    struct engine_buffer *buffer;
    void *host;       /* inputs are not written */
    bool is_unwanted; /* of an output: its memory is undefined afterwards, and steps that only it needs may be skipped */
};

/** Describes which flags end a computation when they become true; flags that are NULL do not. */
struct engine_stop {
    const atomic_bool *lost, *cancelled;
};

static inline bool engine_stops(const struct engine_stop *stop)
{
    return stop && ((stop->lost && atomic_load_explicit(stop->lost, memory_order_relaxed)) ||
                    (stop->cancelled && atomic_load_explicit(stop->cancelled, memory_order_relaxed)));
}

/** Describes that a submitted computation has ended, with success or with *e, which is valid until this returns. */
typedef void (*engine_done)(void *user, bool ok, const struct error *e);

/** Describes a program that does not come from the engine: a function of the application on host memory. */
struct engine_foreign {
    uint32_t input_count, output_count;
    /** Computes, perhaps on several threads at the same time.  Returns false after an error in *e. */
    bool (*run)(void *user, const void *const *inputs, void *const *outputs, struct error *e);
    void (*free)(void *user);
    void *user;
};

/* ---- the library for convolutions and contractions ---- */

/**
 * Holds the library's part in building.  runtime/engine/onednn/library.h describes the functions of the same names, which are
 * called with engine->library, and only for nodes that struct target accepts.
 */
struct engine_library {
    bool (*step_may_share)(struct library *l, struct node *const *nodes, uint32_t count, const struct value *input);
    struct library_step *(*step_create)(struct library *l, struct node *const *nodes, uint32_t count,
                                        bool (*shares_output)(void *user, const struct value *v), void *user, struct error *e);
    /** Packs weights after all steps were created, one step after the other, so that their constants can go one by one. */
    bool (*step_finish)(struct library_step *s, struct error *e);
    void (*step_info)(const struct library_step *s, struct library_step_info *out);
    void (*step_free)(struct library_step *s);
};

/* ---- saved programs ---- */

/** Saves and loads the library's steps.  runtime/engine/onednn/library.h describes the first three. */
struct engine_saved_steps {
    bool (*step_save)(const struct library_step *s, bool unpacked, struct stream_writer *o);
    bool (*step_is_packed)(const struct library_step *s);
    struct library_step *(*step_load)(struct library *l, struct stream_reader *in, uint32_t location_count,
                                      const struct location *locations, struct error *e);
    /** Returns false, with *e, if there is no library. */
    bool (*library_facts)(struct engine *en, struct library_facts *out, struct error *e);
};

/** This is the code of a kernel, which belongs to somebody else. */
struct engine_kernel {
    const char *structure; /* what it computes (schedule_structure) */
    const void *code;
    size_t bytes;
    uint64_t offset; /* of the function in the code */
};

/** Saves the kernels of graphs whose program is not saved. */
struct engine_saved_kernels {
    /** Returns what code depends on besides its structure, or NULL if code is neither given nor taken. */
    const char *(*identity)(const struct engine *en);
    /** Calls `visit` for kernels of an executable, those whose code was kept, until it returns false, which this returns. */
    bool (*each)(struct executable *x, bool (*visit)(void *user, const struct engine_kernel *kernel), void *user);
    /** Copies a kernel, whose identity is the engine's, for all graphs that are built later. */
    void (*take)(struct engine *en, const struct engine_kernel *kernel);
};

/** Saves, loads and runs programs that were compiled elsewhere or earlier (runtime/program/serialized.h). */
struct engine_serialization {
    /**
     * Loads a serialized program.  `release`, which may be NULL, frees the source's memory with the executable, but not if
     * loading fails.  *view receives the rest of the source.  Returns NULL after an error in *e.
     */
    struct executable *(*load)(struct engine *en, const struct serialized_source *source, void (*release)(void *user),
                               void *user, struct serialized_view *view, struct error *e);
    /** Writes the serialized program of an executable.  Returns false after an error in *e, or when the sink stopped. */
    bool (*save)(struct executable *x, uint32_t input_count, const struct graph_binding *inputs, uint32_t output_count,
                 const struct graph_binding *outputs, bool (*sink)(void *user, const void *data, size_t bytes), void *user,
                 struct error *e);

    /* An engine may have these, else they are NULL. */
    const struct engine_saved_steps *steps;     /* where it has a library */
    const struct engine_saved_kernels *kernels; /* where kernels are compiled by the host */
    /** Makes an executable of a foreign function, which is freed with it.  Returns NULL after an error in *e; then the function
     * is not freed.  Only engines that compute on host memory have it. */
    struct executable *(*wrap)(struct engine *en, const struct engine_foreign *f, struct error *e);
};

/* ---- facts about an executable, for tools ---- */

struct executable_facts {
    int64_t arena_bytes, arena_lower_bound;
    uint32_t step_count;
    double runs, nanoseconds; /* of all runs since `measure` */
};

struct step_facts {
    const char *name, *implementation;
    double flops, bytes;                /* of all its calls in a run */
    double distinct_bytes;              /* the same, with data of several calls counted once */
    double weight_bytes;                /* of those, constants */
    enum arithmetic arithmetic;         /* of the operations */
    double operations;                  /* of all calls: flops, and three times as many for bf16x2 */
    uint32_t calls;                     /* in a run */
    double nanoseconds, least;          /* of all runs since `measure`; of the shortest call */
    bool moves;                         /* copies or changes layout, and computes nothing */
    const struct library_step *library; /* the executable's; NULL if it is not the library's step */
};

/** Changes the facts for schedules of kernels, and keeps them. */
struct engine_tuning {
    /** Returns the facts for schedules of kernels, which a tuner may change between builds within the limits of
     * target_gpu_tunable. */
    struct gpu_facts *(*device_facts)(struct engine *en);
    /** Keeps these facts for all contexts that find the same device, driver and folder from then on.  Returns false after an
     * error in *e. */
    bool (*keep_facts)(struct engine *en, struct error *e);
};

struct engine_tools {
    /** Begins to time steps; no run may be in progress. */
    void (*measure)(struct executable *x);
    void (*facts)(const struct executable *x, struct executable_facts *out);
    /** Describes a step, which is below the facts' step_count. */
    void (*step_facts)(const struct executable *x, uint32_t step, struct step_facts *out);
    /** Prints a table of steps and the time that each took so far, if the profile switch is on. */
    void (*print_profile)(struct executable *x, FILE *out);

    /* An engine may have these, else they are NULL. */
    /** Like library_step_standalone, if steps can be timed alone. */
    double (*step_standalone)(const struct library_step *s, bool cold, double seconds);
    const struct engine_tuning *tuning; /* of devices */
};

/* ---- the interface ---- */

/** The optional part of an engine: NULL and false mean that it is missing. */
struct engine_options {
    /** Returns whether a build of the engine was abandoned (docs/failures.md), so that it cannot build any more. */
    bool (*is_left)(struct engine *en);
    /** Describes the engine's device: kind, names and sizes, for wnnContextGetDevice.  It is NULL if nothing is known. */
    void (*describe)(struct engine *en, WNNDeviceInfo *out);
    /** Decides how a kernel runs, on t, which may be another machine than the engine's, or on the engine's device, and sets
     * s->schedule and s->schedule_kind.  It is NULL if steps have no schedule.  Returns false after an error in *e. */
    bool (*schedule)(struct engine *en, const struct target *t, struct program_step *s, struct error *e);
    /** Returns a buffer that is memory of the application's from offset on, given by a handle of the device, or NULL after an
     * error in *e.  It is NULL if there is no such memory. */
    struct engine_buffer *(*buffer_wrap)(struct engine *en, void *memory, size_t offset, size_t bytes, struct error *e);
    /** Returns a buffer with the bytes of a constant, which graphs that have equal ones may share: it is not written to, and
     * buffer_free drops one reference.  Returns NULL after an error in *e.  It is NULL if each graph has its own buffers. */
    struct engine_buffer *(*constant_create)(struct engine *en, struct constant *c, struct error *e);
    /**
     * Starts a computation on buffers and returns.  Computations run in the order of their submission, and their effects are
     * those of running one after the other.  done is called once, from any thread, perhaps before this returns, and may not
     * call the engine; executable, bindings, buffers and stop (as for run) must live until then.  Returns false after an error
     * in *e; then done is never called.  It is NULL if there is only run.
     */
    bool (*submit)(struct executable *x, const struct engine_binding *inputs, const struct engine_binding *outputs,
                   const struct engine_stop *stop, engine_done done, void *user, struct error *e);
    /** If true, reads and writes run after everything submitted before them, even if that has not ended: callers need not
     * wait.  If false, callers wait for submitted computations before they read or write. */
    bool keeps_order;
    /** Returns whether the device is lost, so that nothing on this engine will succeed; then *e has the reason.  It is NULL if
     * devices cannot be lost. */
    bool (*is_lost)(struct engine *en, struct error *e);
    /** Returns whether the calling thread can have the threads that a run needs (runtime/host/threads.h).  It is NULL if it
     * always can. */
    bool (*is_ready)(const struct executable *x);
    /** Returns whether a run takes less time than waking another thread, estimated from sizes.  It is NULL if it never does. */
    bool (*is_brief)(const struct executable *x);
    const struct engine_library *library;
    const struct engine_serialization *serialization;
    const struct engine_tools *tools;
};

/** The required part of an engine. */
struct engine_functions {
    const char *name;
    void (*free)(struct engine *en);

    /** Returns facts for passes, which the engine owns.  They are found at the first call, so that creating an engine stays
     * cheap. Returns NULL after an error in *e. */
    const struct target *(*target)(struct engine *en, struct error *e);

    /* Callers order reads, writes and runs of memory themselves. */
    /** If true, addresses are pointers of the host, and runs use host memory and constants where they are.  If false, bindings
     * are buffers, and constants are copied to buffers when a program is loaded. */
    bool host_memory;
    /** Returns a buffer of that many bytes, all zeros, or NULL after an error in *e with that number. */
    struct engine_buffer *(*buffer_create)(struct engine *en, size_t bytes, struct error *e);
    void (*buffer_free)(struct engine *en, struct engine_buffer *b);
    /** Data may change once this returns.  Returns false after an error in *e. */
    bool (*buffer_write)(struct engine *en, struct engine_buffer *b, size_t offset, const void *data, size_t bytes,
                         struct error *e);
    /** Returns when the bytes are there, and false after an error in *e. */
    bool (*buffer_read)(struct engine *en, struct engine_buffer *b, size_t offset, void *data, size_t bytes, struct error *e);

    /** Takes over the program's library steps, or all of it, if it succeeds.  Returns NULL after an error in *e. */
    struct executable *(*load)(struct engine *en, struct program *p, struct error *e);
    void (*unload)(struct executable *x);
    /** Computes.  stop (may be NULL) is read before each step: if set, outputs are incomplete, and *e is an InvalidStateError.
     * Returns false after an error in *e. */
    bool (*run)(struct executable *x, const struct engine_binding *inputs, const struct engine_binding *outputs,
                const struct engine_stop *stop, struct error *e);

    struct engine_options optional;
};

struct engine {
    const struct engine_functions *functions;
    struct library *library;           /* set by the engine with its target or library_facts: for library steps; or NULL */
    const struct debug_options *debug; /* outlives the engine */
    uint32_t thread_count;
    const struct webnn_object_parallel *parallel; /* set before anything is compiled: the application's way of computing parts,
                                                   * which outlives the engine; NULL: threads of this library */
    WNNEngine kind;         /* set by the engine: the option that selects it; WNNEngine_Auto if none does */
    bool accelerated;       /* set by the engine: the device is massively parallel, not a processor */
    bool keep_weights;      /* set before anything is compiled: programs can be saved for other machines
                             * (runtime/program/serialized.h) */
    WNNPrecision precision; /* set likewise, for convolutions and matmuls */
    const char *exact;      /* set by the engine, with its target at the latest: why another precision than float32 changes
                             * nothing; NULL: it may change something */
    bool deterministic;     /* set likewise: no choice that affects results depends on the number of threads */
    size_t memory_limit;    /* set likewise: of runtime/program/memory_limit.h; 0: none */
    atomic_size_t memory_used;
    _Atomic(struct engine_buffer *) spare_memory; /* memory of a variant's last computation, for the next; or NULL */
    struct error warning; /* set by the engine when it is created, for the context's log; else all zeros */
};
