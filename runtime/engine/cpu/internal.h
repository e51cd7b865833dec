/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * This header declares internals of the CPU engine: the engine (engine_cpu.c) and its loaded graphs (cpu_graph.c).
 */
#pragma once

#include "codegen/codegen.h"
#include "runtime/engine/cpu/cpu_executable.h"
#include "runtime/engine/cpu/engine_cpu.h"
#include "runtime/program/serialized.h"

/** The code of a kernel. */
struct kernel_place {
    struct cached_kernel *cached; /* NULL: in the unit, if is_compiled; else it is that of another step */
    bool is_compiled;
    uint32_t compiled; /* its number in the unit */
};

/** Holds the code of a graph's kernels, by their numbers. */
struct graph_code {
    struct codegen_kernels *unit;
    uint32_t place_count;
    struct kernel_place *places;
};

/** The number of freed variants of graphs with named dimensions whose code is kept for later ones. */
enum { VARIANT_CODES = 64 };

struct engine_cpu {
    struct engine base;
    struct target target;
    pthread_mutex_t lock;         /* guards the lazy start */
    bool fitted;                  /* thread counts are limited to those of the system */
    bool started;                 /* codegen exists, and the target is complete */
    bool chooses;                 /* the library exists, and has the target */
    struct kernel_cache *kernels; /* NULL: none are kept */
    struct codegen *codegen;      /* NULL until a kernel is compiled */
    atomic_uint programs;         /* numbers dumps */
    uint32_t left_next;           /* which of these is the oldest */
    struct graph_code left[VARIANT_CODES];
};

/** Casts an engine to the CPU engine. */
static inline struct engine_cpu *cpu_of(struct engine *en)
{
    return (struct engine_cpu *)en;
}

/* ---- engine_cpu.c ---- */

/** Returns the compiler, which is created at the first call.  Returns NULL after an error in *e. */
struct codegen *cpu_start_codegen(struct engine_cpu *cpu, struct error *e);
/** Returns whether the library was available to this thread's build, which began with cpu_target; if not, *e has the reason. */
bool cpu_library_is_well(struct error *e);

/** Gives code back. */
void cpu_code_free(struct engine_cpu *cpu, struct graph_code *code);

/* ---- code.c ---- */

struct code_mapping {
    void *bytes; /* NULL: nothing is mapped */
    size_t size;
};

/**
 * Maps `size` bytes of code, which begin at `offset` in the serialized program; a size of 0 maps nothing.  Returns false after
 * an error in *e.
 */
bool code_map(const struct serialized_source *source, size_t offset, size_t size, struct code_mapping *out, struct error *e);
/** Unmaps the code; the mapping may be empty. */
void code_unmap(struct code_mapping *m);

/* ---- cpu_graph.c ---- */

/** These implement the functions of the same names in struct engine_functions, engine_serialization and engine_tools. */
struct executable *cpu_load(struct engine *en, struct program *p, struct error *e);
struct executable *cpu_load_serialized(struct engine *en, const struct serialized_source *source, void (*release)(void *user),
                                       void *user, struct serialized_view *view, struct error *e);
struct executable *cpu_wrap(struct engine *en, const struct engine_foreign *f, struct error *e);
bool cpu_save(struct executable *x, uint32_t input_count, const struct graph_binding *inputs, uint32_t output_count,
              const struct graph_binding *outputs, bool (*sink)(void *user, const void *data, size_t bytes), void *user,
              struct error *e);
void cpu_unload(struct executable *x);
const char *cpu_kernels_identity(const struct engine *en);
void cpu_take_kernel(struct engine *en, const struct engine_kernel *kernel);
bool cpu_each_kernel(struct executable *x, bool (*visit)(void *user, const struct engine_kernel *kernel), void *user);
bool cpu_run(struct executable *x, const struct engine_binding *inputs, const struct engine_binding *outputs,
             const struct engine_stop *stop, struct error *e);
bool cpu_is_ready(const struct executable *x);
bool cpu_is_brief(const struct executable *x);
void cpu_print_profile(struct executable *x, FILE *out);
