/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The CPU engine: kernels by codegen/, convolutions and products by the library, both on libgomp's threads.
 *
 * In: programs.  Out: plans (runtime/plan.c).  Creating the engine only asks what the processor is; the code generator and the
 * library start when the first graph is built.
 */
#include "runtime/engine.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codegen/codegen.h"
#include "runtime/compile.h"
#include "runtime/memory.h"
#include "runtime/plan.h"

/* Without an answer from the system: what most cores have at least. */
enum { CACHE_BYTES_DEFAULT = 1 << 20 };

struct engine_cpu {
    struct engine base;
    struct arena arena; /* the target's strings */
    struct target target;
    pthread_mutex_t lock; /* of the lazy start */
    bool started;
    struct codegen *codegen;
    struct library *library;
    atomic_uint plans; /* numbers dumps */
};

struct executable {
    struct plan *plan;
    struct codegen_unit *unit;
};

static struct engine_cpu *cpu_of(struct engine *en)
{
    return (struct engine_cpu *)en;
}

/* ---- lifetime ---- */

static void cpu_free(struct engine *en)
{
    struct engine_cpu *cpu = cpu_of(en);

    if (cpu->codegen)
        codegen_free(cpu->codegen);
    if (cpu->library)
        library_free(cpu->library);
    pthread_mutex_destroy(&cpu->lock);
    arena_free(&cpu->arena);
    free(cpu);
}

static bool never_takes_node(void *user, const struct node *n)
{
    (void)user;
    (void)n;
    return false;
}

static bool never_takes_epilogue(void *user, struct node *const *nodes, uint32_t count, const struct node *next,
                                 uint32_t carried)
{
    (void)user;
    (void)nodes;
    (void)count;
    (void)next;
    (void)carried;
    return false;
}

static bool cpu_start(struct engine_cpu *cpu, struct error *e)
{
    if (!cpu->codegen)
        cpu->codegen = codegen_create(&cpu->target, cpu->base.debug, e);
    if (!cpu->codegen)
        return false;
    if (!cpu->library && !(cpu->base.debug->flags & DEBUG_NO_LIBRARY)) {
        cpu->library = library_create(cpu->base.debug->isa, cpu->base.thread_count, e);
        if (!cpu->library)
            return false;
        cpu->target.takes_node = library_takes_node;
        cpu->target.takes_operand = library_takes_operand;
        cpu->target.takes_epilogue = library_takes_epilogue;
        cpu->target.takes_quantized = library_has_exact_integers(cpu->library) ? library_takes_quantized : NULL;
        cpu->target.user = cpu->library;
    }
    return true;
}

static const struct target *cpu_target(struct engine *en, struct error *e)
{
    struct engine_cpu *cpu = cpu_of(en);

    pthread_mutex_lock(&cpu->lock);
    if (!cpu->started)
        cpu->started = cpu_start(cpu, e);
    bool ok = cpu->started;
    pthread_mutex_unlock(&cpu->lock);
    return ok ? &cpu->target : NULL;
}

static dtype_set cpu_types(struct engine *en, enum op op, uint32_t slot, dtype_set row)
{
    (void)en;
    (void)op;
    (void)slot;
    return row; /* nothing is narrowed */
}

/* ---- memory ---- */

static struct engine_buffer *cpu_buffer_create(struct engine *en, size_t bytes)
{
    struct engine_buffer *b = malloc(sizeof *b);

    (void)en;
    if (!b)
        return NULL;
    b->bytes = bytes;
    b->data = memory_create(bytes);
    if (!b->data) {
        free(b);
        return NULL;
    }
    return b;
}

static void cpu_buffer_free(struct engine *en, struct engine_buffer *b)
{
    (void)en;
    memory_free(b->data, b->bytes);
    free(b);
}

static bool cpu_buffer_write(struct engine *en, struct engine_buffer *b, size_t offset, const void *data, size_t bytes)
{
    (void)en;
    memcpy((char *)b->data + offset, data, bytes);
    return true;
}

static bool cpu_buffer_read(struct engine *en, struct engine_buffer *b, size_t offset, void *data, size_t bytes)
{
    (void)en;
    memcpy(data, (const char *)b->data + offset, bytes);
    return true;
}

/* ---- library steps ---- */

static bool cpu_step_may_share(struct engine *en, struct node *const *nodes, uint32_t count, const struct value *input)
{
    return library_may_share(cpu_of(en)->library, nodes, count, input);
}

static struct library_step *cpu_step_create(struct engine *en, struct node *const *nodes, uint32_t count,
                                            bool (*shares_output)(void *user, const struct value *v), void *user,
                                            struct error *e)
{
    return library_step_create(cpu_of(en)->library, nodes, count, shares_output, user, e);
}

/* ---- programs ---- */

static void cpu_dump_plan(struct engine_cpu *cpu, const struct program *p)
{
    char path[4096];
    FILE *out = NULL;
    unsigned number = atomic_fetch_add(&cpu->plans, 1);

    if (cpu->base.debug->dump_dir &&
        snprintf(path, sizeof path, "%s/plan-%u.txt", cpu->base.debug->dump_dir, number) < (int)sizeof path)
        out = fopen(path, "w");
    program_print(p, out ? out : stderr);
    if (out)
        fclose(out);
}

static void cpu_unload(struct executable *x)
{
    plan_free(x->plan);
    if (x->unit)
        codegen_unit_free(x->unit);
    free(x);
}

/* The program's kernels, in step order. */
static uint32_t program_kernels(const struct program *p, struct kernel **kernels)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < p->step_count; i++)
        if (p->steps[i].kind == STEP_KERNEL)
            kernels[count++] = p->steps[i].kernel;
    return count;
}

/* What the code of one program cost, for the time-passes switch; other builds of the context at the same time count, too. */
static bool cpu_compile(struct engine_cpu *cpu, uint32_t count, struct kernel *const *kernels, struct codegen_unit **unit,
                        kernel_function *functions, struct error *e)
{
    struct codegen_times before, after;

    if (count == 0)
        return true;
    codegen_get_times(cpu->codegen, &before);
    bool ok = codegen_compile(cpu->codegen, count, kernels, unit, functions, e);
    if (!ok || !(cpu->base.debug->flags & DEBUG_TIME_PASSES))
        return ok;
    codegen_get_times(cpu->codegen, &after);
    fprintf(stderr, "# %u kernels, %u structures compiled: emit %.3f ms, LLVM passes %.3f ms, LLVM code %.3f ms\n",
            after.kernels - before.kernels, after.structures - before.structures, after.emit_ms - before.emit_ms,
            after.passes_ms - before.passes_ms, after.codegen_ms - before.codegen_ms);
    return true;
}

static struct executable *cpu_load(struct engine *en, struct program *p, struct error *e)
{
    struct engine_cpu *cpu = cpu_of(en);
    struct executable *x = calloc(1, sizeof *x);
    struct kernel **kernels = calloc((size_t)p->step_count + 1, sizeof(struct kernel *));
    kernel_function *functions = calloc((size_t)p->step_count + 1, sizeof *functions);
    bool ok = x && kernels && functions;

    if (en->debug->flags & DEBUG_DUMP_PLAN)
        cpu_dump_plan(cpu, p);
    if (!ok)
        error_out_of_memory(e);
    if (ok) {
        uint32_t count = program_kernels(p, kernels);
        ok = cpu_compile(cpu, count, kernels, &x->unit, functions, e);
    }
    if (ok) {
        x->plan = plan_create(p, functions, en->thread_count, en->debug, e);
        ok = x->plan != NULL;
    }
    free(kernels);
    free(functions);
    if (ok)
        return x;
    if (x)
        cpu_unload(x);
    return NULL;
}

static bool cpu_run(struct executable *x, const struct engine_binding *inputs, const struct engine_binding *outputs,
                    const atomic_bool *stop, struct error *e)
{
    return plan_run(x->plan, inputs, outputs, stop, e);
}

static void cpu_print_profile(struct executable *x, FILE *out)
{
    plan_print_profile(x->plan, out);
}

/* ---- creation ---- */

static const struct engine_functions cpu_functions = {
    .name = "cpu",
    .free = cpu_free,
    .types = cpu_types,
    .target = cpu_target,
    .buffer_create = cpu_buffer_create,
    .buffer_free = cpu_buffer_free,
    .buffer_write = cpu_buffer_write,
    .buffer_read = cpu_buffer_read,
    .step_may_share = cpu_step_may_share,
    .step_create = cpu_step_create,
    .step_info = library_step_info,
    .step_free = library_step_free,
    .load = cpu_load,
    .unload = cpu_unload,
    .run = cpu_run,
    .print_profile = cpu_print_profile,
};

struct engine *engine_cpu_create(uint32_t thread_count, const struct debug_options *debug, struct error *e)
{
    struct engine_cpu *cpu = calloc(1, sizeof *cpu);

    if (!cpu || pthread_mutex_init(&cpu->lock, NULL) != 0) {
        free(cpu);
        error_out_of_memory(e);
        return NULL;
    }
    cpu->base = (struct engine){.functions = &cpu_functions, .debug = debug, .thread_count = thread_count};
    atomic_init(&cpu->plans, 0);
    if (!codegen_host_target(&cpu->target, debug->isa, &cpu->arena, e)) {
        cpu_free(&cpu->base);
        return NULL;
    }
    long cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
    cpu->target.cache_bytes = cache > 0 ? cache : CACHE_BYTES_DEFAULT;
    cpu->target.thread_count = thread_count;
    cpu->target.prefers_nhwc = true;
    cpu->target.takes_node = never_takes_node;
    cpu->target.takes_epilogue = never_takes_epilogue;
    return &cpu->base;
}
