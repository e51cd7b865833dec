/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What an execution engine implements: describing itself, memory, library steps, and programs.
 *
 * In: a program, the engine-neutral form of a compiled graph (runtime/compile.c makes it).  Out: an executable that computes on
 * bound inputs and outputs.  runtime/engine_cpu.c is the first engine; everything above (context, tensors, timeline, compile)
 * goes through the functions here and knows no other way, so that a GPU engine is a second file beside it.
 *
 * The way of a graph through an engine:
 *
 *   target()                       facts for passes and lowering
 *   step_create() per cluster      library primitives, weights packed
 *   load(program)                  machine code, buffers resolved             -> executable
 *   run(executable, bindings)      any number at the same time
 */
#ifndef WEBNN_RUNTIME_ENGINE_H_
#define WEBNN_RUNTIME_ENGINE_H_

#include <stdatomic.h>

#include "ir/debug.h"
#include "ir/ir.h"
#include "ir/kernel.h"
#include "ir/target.h"
#include "runtime/library.h"

struct engine;
/** Memory of a tensor, in the engine's own form. */
struct engine_buffer;
/** A loaded program.  Immutable; any number of computations may run at the same time. */
struct executable;

/* Of program images (runtime/image.h). */
struct image_source;
struct image_view;
struct image_binding;

/* ---- programs ---- */

/** Where a step finds the bytes of a tensor. */
enum place_kind { PLACE_ARENA, PLACE_INPUT, PLACE_OUTPUT, PLACE_CONSTANT };

struct place {
    enum place_kind kind;
    uint32_t slot;  /* INPUT, OUTPUT: which binding; CONSTANT: index into program->constants */
    int64_t offset; /* bytes from the start of the arena, binding or constant */
    int64_t bytes;
};

enum step_kind {
    STEP_KERNEL,  /* places in the order of the kernel's tensors */
    STEP_LIBRARY, /* places: the step's inputs, then its output */
    STEP_COPY     /* places: from, to */
};

/** KERNEL: what running it takes.  Made from its IR by program_describe, or read from an image, where there is no IR. */
struct step_run {
    uint32_t function; /* from an image: index into the table of functions */
    uint32_t param_count;
    const int64_t *params; /* in the order of kernel_numbers */
    int64_t units, scratch_bytes;
    double flops, bytes;
    const bool *written; /* by place */
};

struct program_step {
    enum step_kind kind;
    char name[80];         /* for plans and profiles */
    struct kernel *kernel; /* KERNEL: the program's; NULL: only `run` is known */
    struct step_run run;
    struct library_step *library; /* LIBRARY: the program's until load succeeds */
    uint32_t place_count;
    struct place *places;
};

/** Steps that run several times, one iteration after the other.  Loops neither overlap nor nest. */
struct program_loop {
    uint32_t first, count; /* steps */
    uint32_t iterations;
};

/**
 * A place of a step in a loop that moves: iteration i finds it i * stride bytes further.  With has_first, iteration 0 finds it
 * at `first`, iteration i at (i - 1) * stride from where the step says.
 */
struct program_move {
    uint32_t step, place;
    int64_t stride;
    bool has_first;
    struct place first;
};

struct program {
    struct arena arena;
    struct engine *engine;
    uint32_t step_count;
    struct program_step *steps;
    uint32_t loop_count;
    struct program_loop *loops; /* in the order of their steps */
    uint32_t move_count;
    struct program_move *moves; /* in the order of steps and places */
    uint32_t constant_count;
    struct constant **constants;        /* a reference each */
    uint32_t input_count, output_count; /* bindings that run needs */
    int64_t arena_bytes, arena_lower_bound;
};

/** Whether a step writes one of its places. */
bool step_writes(const struct program_step *s, uint32_t place);
/** Fills in `run` of every kernel step that has IR, unless it is.  False: out of memory. */
bool program_describe(struct program *p);
void program_free(struct program *p);
/** Steps, places and sizes, for the dump-plan switch. */
void program_print(const struct program *p, FILE *out);

/* ---- running ---- */

/** One input or output of a computation: a buffer of the engine's, or (buffer NULL) host memory. */
struct engine_binding {
    struct engine_buffer *buffer;
    void *host; /* inputs are not written */
};

/** A program that is none of the engine's: somebody else's function on host memory. */
struct engine_foreign {
    uint32_t input_count, output_count;
    /** May run on several threads at the same time.  False: e. */
    bool (*run)(void *user, const void *const *inputs, void *const *outputs, struct error *e);
    void (*free)(void *user);
    void *user;
};

/* ---- what is known of an executable, for tools ---- */

struct executable_facts {
    int64_t arena_bytes, arena_lower_bound;
    uint32_t step_count;
    double runs, nanoseconds; /* of all runs since `measure` */
};

struct step_facts {
    const char *name, *implementation;
    double flops, bytes;                /* of all its calls in a run */
    double distinct_bytes;              /* the same, but what several calls touch counts once */
    double weight_bytes;                /* of those, what is constant */
    enum arithmetic arithmetic;         /* of the operations, 2 per multiply-add or instruction on a lane (codegen_work): */
    double operations, divisions;       /* of all calls; of kernels only under the keep-kernels switch */
    uint32_t calls;                     /* in a run */
    double nanoseconds, least;          /* of all runs since `measure`; of the shortest call */
    bool moves;                         /* copies or changes layout, and computes nothing */
    const struct library_step *library; /* the executable's; NULL: not the library's */
};

/* ---- the interface ---- */

struct engine_functions {
    const char *name;
    void (*free)(struct engine *en);

    /** Types of operand slot `slot` of `op` (results: from OP_OPERANDS_MAX on) out of `row`, what the operator table allows. */
    dtype_set (*types)(struct engine *en, enum op op, uint32_t slot, dtype_set row);
    /** Facts for passes; started lazily: creating an engine must stay cheap.  The engine's; NULL: e. */
    const struct target *(*target)(struct engine *en, struct error *e);

    /* Memory.  Callers order reads, writes and runs themselves. */
    /** bytes of zeros; NULL: out of memory. */
    struct engine_buffer *(*buffer_create)(struct engine *en, size_t bytes);
    void (*buffer_free)(struct engine *en, struct engine_buffer *b);
    bool (*buffer_write)(struct engine *en, struct engine_buffer *b, size_t offset, const void *data, size_t bytes);
    bool (*buffer_read)(struct engine *en, struct engine_buffer *b, size_t offset, void *data, size_t bytes);

    /* Library steps, see runtime/library.h. */
    bool (*step_may_share)(struct engine *en, struct node *const *nodes, uint32_t count, const struct value *input);
    struct library_step *(*step_create)(struct engine *en, struct node *const *nodes, uint32_t count,
                                        bool (*shares_output)(void *user, const struct value *v), void *user, struct error *e);
    /** Once no step is created anew: packs weights, one step after the other, so that their constants can go one by one. */
    bool (*step_finish)(struct library_step *s, struct error *e);
    void (*step_info)(const struct library_step *s, struct library_step_info *out);
    void (*step_free)(struct library_step *s);
    /* Of images (runtime/image.h): see the functions of the same names in runtime/library.h. */
    bool (*step_save)(const struct library_step *s, bool plain, struct image_out *o);
    bool (*step_is_packed)(const struct library_step *s);
    struct library_step *(*step_load)(struct engine *en, struct image_in *in, uint32_t place_count, const struct place *places,
                                      struct error *e);
    /** False: there is no library (e). */
    bool (*library_facts)(struct engine *en, struct library_facts *out, struct error *e);

    /** Takes over the program's library steps if it succeeds and copies what else it needs.  NULL: e. */
    struct executable *(*load)(struct engine *en, struct program *p, struct error *e);
    /** From an image; release (may be NULL) gives the source's memory back when the executable goes, not if loading fails. What
     * else is in the image goes to *view.  NULL: e. */
    struct executable *(*load_image)(struct engine *en, const struct image_source *source, void (*release)(void *user),
                                     void *user, struct image_view *view, struct error *e);
    /** An executable of a foreign function, which is freed with it.  NULL: e, and it is not freed. */
    struct executable *(*wrap)(struct engine *en, const struct engine_foreign *f, struct error *e);
    /** Writes the image of an executable.  False: e, or the sink stopped. */
    bool (*save)(struct executable *x, uint32_t input_count, const struct image_binding *inputs, uint32_t output_count,
                 const struct image_binding *outputs, bool (*sink)(void *user, const void *data, size_t bytes), void *user,
                 struct error *e);
    void (*unload)(struct executable *x);
    /** Computes.  stop (may be NULL) is looked at between steps: if it becomes true, outputs are left half-written.  False: e.
     */
    bool (*run)(struct executable *x, const struct engine_binding *inputs, const struct engine_binding *outputs,
                const atomic_bool *stop, struct error *e);
    /** Whether a run takes less time than handing it to another thread does.  A guess from sizes; false if nothing is known. */
    bool (*is_brief)(const struct executable *x);
    /** Steps are timed from now on; no run may be under way. */
    void (*measure)(struct executable *x);
    void (*facts)(const struct executable *x, struct executable_facts *out);
    void (*step_facts)(const struct executable *x, uint32_t step, struct step_facts *out);
    double (*step_alone)(const struct library_step *s, bool cold, double seconds);
    /** A table of steps and the time that each took so far (if the profile switch is on). */
    void (*print_profile)(struct executable *x, FILE *out);
};

struct engine {
    const struct engine_functions *functions;
    const struct debug_options *debug; /* outlives the engine */
    uint32_t thread_count;
    bool keep_weights; /* set before anything is compiled: programs can be saved for other machines (runtime/image.h) */
    WNNPrecision precision; /* likewise: of convolutions and products */
};

/** The processor.  debug must outlive it.  TypeError for an unknown isa switch. */
struct engine *engine_cpu_create(uint32_t thread_count, const struct debug_options *debug, struct error *e);

#endif
