/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Implements the CPU engine: kernels by codegen/, convolutions and matmuls by the library, both on libgomp's threads.
 *
 * Its table of functions is what everything above computes by.  Creating the engine only asks what the processor is; the code
 * generator and the library start when the first graph is built, for serialized programs only the library.
 */

#include <stdlib.h>
#include <unistd.h>

#include "ir/graph/constant_pool.h"
#include "ir/schedule/program_schedule.h"
#include "ir/target/processor.h"
#include "runtime/engine/cpu/kernel_cache.h"
#include "runtime/host/threads.h"

/* Switches that ask for code of their own, or to see how code is made. */
enum {
    UNKEPT = DEBUG_TIME_PASSES | DEBUG_VERIFY | DEBUG_DUMP_LLVM | DEBUG_DUMP_ASM | DEBUG_DUMP_KERNELS | DEBUG_PERF | DEBUG_GDB |
             DEBUG_SANITIZE
};

/* ---- lifetime ---- */

static void cpu_free(struct engine *en)
{
    struct engine_cpu *cpu = cpu_of(en);
    struct engine_buffer *spare = atomic_load(&en->spare_memory);

    if (spare)
        cpu_buffer_free(en, spare);
    for (uint32_t i = 0; i < VARIANT_CODES; i++)
        cpu_code_free(cpu, &cpu->left[i]);
    if (cpu->codegen)
        codegen_free(cpu->codegen);
    kernel_cache_free(cpu->kernels);
    library_free(cpu->base.library);
    constant_pool_release(cpu->target.pool);
    pthread_mutex_destroy(&cpu->lock);
    free(cpu);
}

/* Primitives and kernels are made for the threads that there can be; what passes decide may have to be independent of them. */
static void cpu_fit_threads(struct engine_cpu *cpu)
{
    cpu->base.thread_count = threads_ready(cpu->base.thread_count, cpu->base.parallel);
    cpu->target.thread_count = cpu->base.deterministic ? 1 : cpu->base.thread_count;
    cpu->target.compile_threads = cpu->base.parallel ? 1 : cpu->base.thread_count;
    cpu->fitted = true;
}

/* A building thread creates primitives and packs weights on its own team. */
static bool cpu_check_threads(struct engine_cpu *cpu, struct error *e)
{
    if (!cpu->fitted)
        cpu_fit_threads(cpu);
    if (cpu->base.debug->flags & DEBUG_NO_LIBRARY)
        return true;
    uint32_t wanted = cpu->base.thread_count, threads = threads_ready(wanted, cpu->base.parallel);

    return threads == wanted ||
           error_set(
               e, WNNStatus_OperationError,
               "the context has %u threads, but the system lets this thread have only %u: raise the limit on threads or lower "
               "threadCount",
               wanted, threads);
}

/* ---- the library, which starts when a node is there that it may take ---- */

static bool cpu_start_library(struct engine_cpu *cpu, struct error *e)
{
    if (cpu->base.library)
        return true;
    struct library *l = library_create(cpu->base.debug->isa, cpu->base.thread_count, cpu->base.parallel, e);
    if (!l)
        return false;
    library_allow(l, cpu->base.precision == WNNPrecision_Int8 ? WNNPrecision_Float32 : cpu->base.precision,
                  cpu->base.debug->flags & DEBUG_PREFER_BFLOAT16);
    library_share_weights(l, cpu->target.pool);
    if (cpu->base.keep_weights)
        library_keep_weights(l);
    if (cpu->base.deterministic)
        library_take_integers_only(l);
    cpu->base.library = l;
    return true;
}

/* Starts the library and tells it of the processor, as what builds graphs needs it. */
static bool cpu_start_choice(struct engine_cpu *cpu, struct error *e)
{
    if (cpu->chooses)
        return true;
    if (!cpu_start_library(cpu, e))
        return false;
    struct target compared = cpu->target; /* which other builds may be reading */
    compared.bfloat16_rate = library_bfloat16_rate(cpu->base.library);
    if (cpu->base.debug->bfloat16_rate > 0 && compared.bfloat16_rate > 0)
        compared.bfloat16_rate = cpu->base.debug->bfloat16_rate;
    library_compare(cpu->base.library, &compared);
    return cpu->chooses = true;
}

/* Says why the library did not start for the build that this thread is at: other builds of the engine may have better luck. */
static _Thread_local struct error library_error;

/* Returns the library for a question of passes; NULL after an error. */
static struct library *library_of(void *user)
{
    struct engine_cpu *cpu = user;

    pthread_mutex_lock(&cpu->lock);
    struct library *l = cpu_start_choice(cpu, &library_error) ? cpu->base.library : NULL;
    pthread_mutex_unlock(&cpu->lock);
    return l;
}

struct codegen *cpu_start_codegen(struct engine_cpu *cpu, struct error *e)
{
    pthread_mutex_lock(&cpu->lock);
    if (!cpu->codegen)
        cpu->codegen = codegen_create(&cpu->target, cpu->base.debug, e);
    struct codegen *codegen = cpu->codegen;
    pthread_mutex_unlock(&cpu->lock);
    return codegen;
}

bool cpu_library_is_well(struct error *e)
{
    if (library_error.status)
        *e = library_error;
    return !library_error.status;
}

static bool takes_node(void *user, const struct node *n)
{
    struct library *l = library_of(user);

    return l && (((struct engine_cpu *)user)->base.debug->flags & DEBUG_PREFER_LIBRARY ? library_takes_node(l, n)
                                                                                       : library_wants_node(l, n));
}

static bool takes_low_precision(void *user, const struct node *n)
{
    struct library *l = ((struct engine_cpu *)user)->base.precision != WNNPrecision_Float32 ? library_of(user) : NULL;

    return l && library_takes_low_precision(l, n);
}

static bool takes_low_precision_input(void *user, const struct node *n, uint32_t slot)
{
    struct library *l = library_of(user);

    return l && library_takes_low_precision_input(l, n, slot);
}

static bool takes_operand(void *user, const struct node *n, uint32_t slot, struct node *const *data_movement, uint32_t count)
{
    struct library *l = library_of(user);

    return l && library_takes_operand(l, n, slot, data_movement, count);
}

static bool takes_epilogue(void *user, struct node *const *nodes, uint32_t count, const struct node *next, uint32_t carried)
{
    struct library *l = library_of(user);

    return l && library_takes_epilogue(l, nodes, count, next, carried);
}

static bool takes_quantized(void *user, struct node *const *nodes, uint32_t count)
{
    struct library *l = library_of(user);

    return l && library_has_exact_integers(l) && library_takes_quantized(l, nodes, count);
}

/* Returns why the precision that was asked for changes nothing, or NULL if it may. */
static const char *unused_precision(const struct engine_cpu *cpu)
{
    if (cpu->base.deterministic)
        return "the context is deterministic";
    if (cpu->base.precision == WNNPrecision_Int8)
        return cpu->target.rounds_operands ? NULL : "generated code for this processor multiplies no bytes: it has no AVX2";
    if (!cpu->base.library)
        return "the context has no library";
    return library_bfloat16_rate(cpu->base.library) > 0 ? NULL : "the library has no arithmetic of bfloat16 on this processor";
}

static bool cpu_start(struct engine_cpu *cpu, struct error *e)
{
    cpu->target.rounds_operands = target_may_round(&cpu->target, cpu->base.precision, cpu->base.deterministic);
    if (!(cpu->base.debug->flags & DEBUG_NO_LIBRARY)) {
        if (cpu->base.precision != WNNPrecision_Float32 && !cpu_start_choice(cpu, e)) /* whose precisions are told */
            return false;
        cpu->target.takes_node = takes_node;
        cpu->target.takes_low_precision = takes_low_precision;
        cpu->target.takes_low_precision_input = takes_low_precision_input;
        cpu->target.takes_operand = takes_operand;
        cpu->target.takes_epilogue = takes_epilogue;
        cpu->target.takes_quantized = takes_quantized;
        cpu->target.user = cpu;
    }
    cpu->base.exact = unused_precision(cpu);
    return true;
}

static const struct target *cpu_target(struct engine *en, struct error *e)
{
    struct engine_cpu *cpu = cpu_of(en);

    library_error = (struct error){0};
    pthread_mutex_lock(&cpu->lock);
    bool ok = cpu_check_threads(cpu, e);
    if (ok && !cpu->started)
        ok = cpu->started = cpu_start(cpu, e);
    pthread_mutex_unlock(&cpu->lock);
    return ok ? &cpu->target : NULL;
}

static void cpu_describe(struct engine *en, WNNDeviceInfo *out)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

    (void)en;
    out->kind = WNNDeviceKind_Cpu;
    processor_name(out->name, sizeof out->name);
    if (pages > 0 && page > 0)
        out->memoryBytes = out->bufferBytes = (uint64_t)pages * (uint64_t)page;
}

double engine_cpu_operations(struct engine *en)
{
    return 2e6 / target_facts(&cpu_of(en)->target)->multiplication.library.product * en->thread_count;
}

static bool cpu_is_left(struct engine *en)
{
    struct engine_cpu *cpu = cpu_of(en);

    pthread_mutex_lock(&cpu->lock);
    bool left = cpu->codegen && codegen_is_abandoned(cpu->codegen);
    pthread_mutex_unlock(&cpu->lock);
    return left;
}

static bool cpu_schedule(struct engine *en, const struct target *t, struct program_step *s, struct error *e)
{
    (void)en;
    step_set_schedule(s, schedule_cpu(s->kernel, t));
    return s->schedule != NULL || error_out_of_memory(e);
}

/* ---- library steps ---- */

static bool cpu_library_facts(struct engine *en, struct library_facts *out, struct error *e)
{
    struct engine_cpu *cpu = cpu_of(en);

    if (en->debug->flags & DEBUG_NO_LIBRARY)
        return error_set(e, WNNStatus_NotSupportedError, "the compiled graph uses oneDNN, which this context has switched off");
    pthread_mutex_lock(&cpu->lock);
    bool ok = cpu_check_threads(cpu, e) && cpu_start_library(cpu, e);
    pthread_mutex_unlock(&cpu->lock);
    if (ok)
        *out = library_get_facts(cpu->base.library);
    return ok;
}

/* ---- creation ---- */

static struct engine_buffer *create_buffer(struct engine *en, size_t bytes, struct error *e)
{
    return cpu_buffer_place(cpu_of(en)->target.pool, bytes, e);
}

static const struct engine_library cpu_library = {
    .step_may_share = library_may_share,
    .step_create = library_step_prepare,
    .step_finish = library_step_finish,
    .step_info = library_step_info,
    .step_free = library_step_free,
};

static const struct engine_saved_steps cpu_saved_steps = {
    .step_save = library_step_save,
    .step_is_packed = library_step_is_packed,
    .step_load = library_step_load,
    .library_facts = cpu_library_facts,
};

static const struct engine_saved_kernels cpu_saved_kernels = {
    .identity = cpu_kernels_identity,
    .each = cpu_each_kernel,
    .take = cpu_take_kernel,
};

static const struct engine_serialization cpu_serialization = {
    .steps = &cpu_saved_steps,
    .kernels = &cpu_saved_kernels,
    .load = cpu_load_serialized,
    .save = cpu_save,
    .wrap = cpu_wrap,
};

static const struct engine_tools cpu_tools = {
    .measure = executable_measure,
    .facts = executable_get_facts,
    .step_facts = executable_get_step_facts,
    .step_standalone = library_step_standalone,
    .print_profile = cpu_print_profile,
};

static const struct engine_functions cpu_functions = {
    .name = "cpu",
    .free = cpu_free,
    .target = cpu_target,
    .host_memory = true,
    .buffer_create = create_buffer,
    .buffer_free = cpu_buffer_free,
    .buffer_write = cpu_buffer_write,
    .buffer_read = cpu_buffer_read,
    .load = cpu_load,
    .unload = cpu_unload,
    .run = cpu_run,
    .optional = {.is_left = cpu_is_left,
                 .describe = cpu_describe,
                 .schedule = cpu_schedule,
                 .is_ready = cpu_is_ready,
                 .is_brief = cpu_is_brief,
                 .library = &cpu_library,
                 .serialization = &cpu_serialization,
                 .tools = &cpu_tools},
};

void engine_cpu_keep_kernels(struct engine *en, const char *folder, bool ignore_environment)
{
    struct engine_cpu *cpu = cpu_of(en);

    if (!(en->debug->flags & UNKEPT))
        cpu->kernels = kernel_cache_create(&cpu->target, folder, ignore_environment, &en->warning);
}

struct engine *engine_cpu_create(uint32_t thread_count, const struct debug_options *debug, struct error *e)
{
    struct engine_cpu *cpu = calloc(1, sizeof *cpu);

    if (!cpu || pthread_mutex_init(&cpu->lock, NULL) != 0) {
        free(cpu);
        return error_null_memory(e);
    }
    cpu->base =
        (struct engine){.functions = &cpu_functions, .debug = debug, .thread_count = thread_count, .kind = WNNEngine_Cpu};
    atomic_init(&cpu->programs, 0);
    if (!processor_target(&cpu->target, debug->isa, e)) {
        cpu_free(&cpu->base);
        return NULL;
    }
    long cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
    cpu->target.cache_bytes = cache > 0 ? cache : target_facts(&cpu->target)->cache.l2_bytes;
    cpu->target.thread_count = thread_count;
    cpu->target.prefers_nhwc = true;
    cpu->target.compact.unpacks = true;
    cpu->target.reads_unaligned = true;
    cpu->target.pool = constant_pool_create(); /* without memory for one nothing is shared */
    cpu->target.compact.small = debug->flags & DEBUG_PREFER_COMPACT;
    return &cpu->base;
}
