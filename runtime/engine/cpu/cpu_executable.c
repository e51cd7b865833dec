/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Implements the CPU's executables: threads, scratch memory, and what the library needs for its primitives.
 */
#include "runtime/engine/cpu/cpu_executable.h"

#include <stdlib.h>
#include <string.h>

#include "ir/graph/constant_pool.h"
#include "ir/graph/constant_region.h"
#include "ir/support/trace.h"
#include "runtime/host/threads.h"
#include "runtime/program/invocation.h"

#if defined(__SANITIZE_ADDRESS__)
#define CPU_POISON 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CPU_POISON 1
#endif
#endif
#if defined(CPU_POISON)
#include <sanitizer/asan_interface.h>
#endif

_Static_assert(sizeof(engine_address) == sizeof(void *), "kernels take arrays of addresses as arrays of pointers");

/* ---- memory ---- */

/* Is memory of the host.  Some hundred kilobytes, such as caches of keys and values, share huge pages with packed weights: what
 * reads all of them is bound by TLB misses otherwise.  More has huge pages of its own, which take memory when they are touched.
 */
struct cpu_buffer {
    struct engine_buffer base;
    struct constant *memory;
};
enum { SHARING_LEAST = 64 << 10 }; /* what is freed of less is not given back before the rest of the pages */

struct engine_buffer *cpu_buffer_place(struct constant_pool *pool, size_t bytes, struct error *e)
{
    struct cpu_buffer *b = malloc(sizeof *b);
    struct constant *memory = b ? constant_pool_place(bytes < SHARING_LEAST ? NULL : pool, bytes) : NULL;

    if (!memory) {
        free(b);
        return error_null(e, WNNStatus_UnknownError, "there is no memory for %zu bytes", bytes);
    }
    void *data = (void *)memory->data;
    if (bytes < REGION_CONSTANT_MOST || !memory->release.callback) /* pages of its own are zeros */
        memset(data, 0, bytes);
    *b = (struct cpu_buffer){{(engine_address)data, bytes, 0}, memory};
    return &b->base;
}

struct engine_buffer *cpu_buffer_create(struct engine *en, size_t bytes, struct error *e)
{
    (void)en;
    return cpu_buffer_place(NULL, bytes, e);
}

void cpu_buffer_free(struct engine *en, struct engine_buffer *b)
{
    (void)en;
    constant_release(((struct cpu_buffer *)b)->memory);
    free(b);
}

bool cpu_buffer_write(struct engine *en, struct engine_buffer *b, size_t offset, const void *data, size_t bytes,
                      struct error *e)
{
    (void)en;
    (void)e;
    memcpy((char *)cpu_pointer(b->address) + offset, data, bytes);
    return true;
}

bool cpu_buffer_read(struct engine *en, struct engine_buffer *b, size_t offset, void *data, size_t bytes, struct error *e)
{
    (void)en;
    (void)e;
    memcpy(data, (const char *)cpu_pointer(b->address) + offset, bytes);
    return true;
}

/* ---- invocations ---- */

/* Holds what an invocation has besides memory and addresses. */
struct cpu_invocation {
    struct threads_saved saved; /* of threads_enter, while it runs */
    uint64_t start;             /* of the run, where the executable tries */
    bool alone;
    struct library_bindings *bindings[];
};

static struct cpu_executable *executable_of(const struct invocation *i)
{
    return (struct cpu_executable *)i->executable;
}

static bool invocation_create(struct invocation *i, struct error *e)
{
    struct cpu_executable *x = executable_of(i);
    struct cpu_invocation *data = calloc(1, sizeof *data + x->binding_count * sizeof(struct library_bindings *));

    i->data = data;
    if (!data)
        return error_out_of_memory(e);
    for (uint32_t s = 0; s < x->base.step_count; s++) {
        const struct executable_step *step = &x->base.steps[s];
        uint32_t binding = x->steps[s].binding;

        if (step->kind == STEP_LIBRARY && !(data->bindings[binding] = library_bindings_create(step->library, e)))
            return false;
    }
    return true;
}

static void invocation_destroy(struct invocation *i)
{
    struct cpu_executable *x = executable_of(i);
    struct cpu_invocation *data = i->data;

#if defined(CPU_POISON)
    if (i->memory)
        ASAN_UNPOISON_MEMORY_REGION(cpu_pointer(i->memory->address), i->memory->bytes);
#endif
    for (uint32_t k = 0; data && k < x->binding_count; k++)
        if (data->bindings[k])
            library_bindings_free(data->bindings[k]);
    free(data);
}

static bool begin(struct invocation *i, struct error *e)
{
    struct cpu_executable *x = executable_of(i);
    struct cpu_invocation *data = i->data;
    /* Primitives need the threads that they were made for; of kernels a thread can do several parts. */
    uint32_t threads = x->needs_team ? threads_ready(x->thread_count, x->base.engine->parallel) : 0;

    /* An executable of small kernels needs no team; the floating-point mode is part of the same call. */
    data->saved = threads_enter(x->binding_count > 0 ? x->thread_count : threads, x->base.engine->parallel);
    if (x->binding_count == 0 || (threads == x->thread_count && threads_team() == threads)) {
        if (x->tries) {
            data->alone = thread_trial_begin(&x->trial);
            data->start = nanoseconds_now();
        }
        if (x->tries && data->alone)
            threads_stay();
        return true;
    }
    threads_leave(data->saved);
    if (x->base.engine->parallel)
        return error_out_of_memory(e); /* for the team: it needs no threads */
    return error_set(
        e, WNNStatus_OperationError,
        "the graph runs on %u threads, but the system lets this thread have only %u: raise the limit on threads or "
        "lower the context's threadCount",
        x->thread_count, threads < x->thread_count ? threads : 1);
}

static void end(struct invocation *i, bool ok)
{
    struct cpu_executable *x = executable_of(i);
    const struct cpu_invocation *data = i->data;

    threads_leave(data->saved);
    if (x->tries && ok)
        thread_trial_end(&x->trial, data->alone, nanoseconds_now() - data->start);
}

/* ---- steps ---- */

/* Only what the step may touch stays readable and writable: a wrong address in generated code is caught where it happens.
 * Costs little in a build where the rest is instrumented anyway. */
static void poison_around(const struct invocation *i, uint32_t step)
{
#if defined(CPU_POISON)
    const struct cpu_executable *x = executable_of(i);
    const struct executable_step *s = &x->base.steps[step];

    ASAN_POISON_MEMORY_REGION(cpu_pointer(i->memory->address), x->library_scratch);
    for (uint32_t k = s->first; k < s->first + s->count; k++)
        if (i->addresses[k] - i->memory->address < x->library_scratch) /* of a loop: now in the arena */
            ASAN_UNPOISON_MEMORY_REGION(cpu_pointer(i->addresses[k]), (size_t)x->base.locations[k].bytes);
#else
    (void)i;
    (void)step;
#endif
}

/* Units that turn are computed in about so many calls. */
enum { TURN_CALLS = 16 };

/*
 * Computes units.  If iterations of a loop read more than the L2 cache holds, such as weights of a recurrent step, the part
 * that the one before read last is still there: odd ones begin with it and go backward.
 */
static void run_units(const struct cpu_step *s, const struct kernel_args *args, int64_t begin, int64_t end, bool is_odd)
{
    const int64_t most = is_odd && s->turns ? (end - begin + TURN_CALLS - 1) / TURN_CALLS : end - begin;

    for (int64_t high = end, low; high > begin; high = low) {
        low = high - begin > most ? high - most : begin;
        s->function(args, low, high);
    }
}

struct kernel_run {
    const struct cpu_executable *x;
    const struct cpu_step *step;
    bool is_odd;
    void *const *tensors;
    char *scratch; /* of part 0 */
};

static void kernel_part(void *user, uint32_t part, uint32_t parts)
{
    const struct kernel_run *r = user;
    const struct cpu_step *s = r->step;
    struct trace *trace = r->x->base.profile.trace;
    struct kernel_args args = {r->tensors, s->params, r->scratch + (size_t)part * r->x->scratch_stride};
    int64_t units = s->units;
    /* Parts differ by one unit at most; units are far below 2^53 and parts below 2^11. */
    int64_t each = units / parts, rest = units % parts;
    int64_t begin = each * part + (part < rest ? part : rest);

    uint64_t start = trace ? nanoseconds_now() : 0;

    run_units(s, &args, begin, begin + each + (part < rest), r->is_odd);
    if (start) /* within the step's own span: how evenly the work was cut */
        trace_add(trace, r->x->base.profile.steps[s - r->x->steps].trace_name, start, nanoseconds_now());
}

static bool run_kernel(struct invocation *i, uint32_t step)
{
    const struct cpu_executable *x = executable_of(i);
    const struct cpu_step *s = &x->steps[step];
    void *const *tensors = (void *const *)(i->addresses + x->base.steps[step].first);
    char *scratch = (char *)cpu_pointer(i->memory->address) + x->thread_scratch;

    poison_around(i, step);
    const struct cpu_invocation *data = i->data;
    if (s->parts == 1 || data->alone) { /* without the calls that a team takes */
        struct kernel_args args = {tensors, s->params, scratch};

        run_units(s, &args, 0, s->units, i->is_odd);
        return true;
    }
    struct kernel_run r = {x, s, i->is_odd, tensors, scratch};
    threads_run(s->parts, kernel_part, &r);
    return true;
}

static bool run_library(struct invocation *i, uint32_t step)
{
    const struct cpu_executable *x = executable_of(i);
    const struct executable_step *s = &x->base.steps[step];
    const struct cpu_invocation *data = i->data;
    void *const *pointers = (void *const *)(i->addresses + s->first);

    poison_around(i, step);
    return library_step_run(s->library, data->bindings[x->steps[step].binding], (const void *const *)pointers,
                            pointers[s->count - 1], (char *)cpu_pointer(i->memory->address) + x->library_scratch);
}

static bool run_copy(struct invocation *i, uint32_t step)
{
    const struct executable_step *s = &i->executable->steps[step];
    const engine_address *a = i->addresses + s->first;

    if (a[0] == a[1]) /* a state that stays where it is */
        return true;
    poison_around(i, step);
    memmove(cpu_pointer(a[1]), cpu_pointer(a[0]), s->copy_bytes); /* of a serialized program they may overlap */
    return true;
}

static const struct step_functions cpu_step_functions = {
    .run = {[STEP_KERNEL] = run_kernel, [STEP_LIBRARY] = run_library, [STEP_COPY] = run_copy},
    .create = invocation_create,
    .destroy = invocation_destroy,
    .begin = begin,
    .end = end,
};

/* ---- making ---- */

static bool add_kernel(struct cpu_executable *x, uint32_t step, const struct step_run *run, kernel_function function)
{
    struct cpu_step *s = &x->steps[step];
    struct step_profile *profile = &x->base.profile.steps[step];
    const struct cache_facts *cache = &target_facts_everywhere()->cache;

    s->function = function;
    s->params = arena_copy(&x->base.arena, run->params, run->param_count * sizeof *run->params);
    s->units = run->units;
    s->parts = program_kernel_parts(run->flops, run->bytes, run->units, x->thread_count);
    s->turns = run->bytes > cache->l2_hot_share * (double)cache->l2_bytes;
    x->needs_team |= s->parts > 1;
    strcpy(profile->implementation, "generated, 1 part"); /* steps are many, and formats take long */
    if (s->parts > 1)
        snprintf(profile->implementation, sizeof profile->implementation, "generated, %u parts", s->parts);
    return s->params != NULL || run->param_count == 0;
}

static bool add_steps(struct cpu_executable *x, const struct program *p, const kernel_function *functions)
{
    size_t library_scratch = 0, thread_scratch = 0;
    struct library_step_info info;

    x->steps = arena_array(&x->base.arena, p->step_count, sizeof *x->steps);
    for (uint32_t i = 0, kernel = 0; x->steps && i < p->step_count; i++) {
        const struct program_step *s = &p->steps[i];
        struct step_profile *profile = &x->base.profile.steps[i];

        switch (s->kind) {
        case STEP_KERNEL:
            if ((size_t)s->run.scratch_bytes > thread_scratch)
                thread_scratch = (size_t)s->run.scratch_bytes;
            if (!add_kernel(x, i, &s->run, functions[kernel++]))
                return false;
            break;
        case STEP_LIBRARY:
            library_step_info(s->library, &info);
            if ((size_t)info.scratch_bytes > library_scratch)
                library_scratch = (size_t)info.scratch_bytes;
            x->steps[i].binding = x->binding_count++;
            x->needs_team = true;
            break;
        case STEP_COPY:
            snprintf(profile->implementation, sizeof profile->implementation, "memcpy");
            break;
        }
    }
#if !defined(CPU_POISON) /* by which memory is poisoned for one executable */
    x->base.pool.shares_memory = p->is_variant && !x->base.engine->memory_limit;
#endif
    x->library_scratch = (size_t)target_align(p->arena_bytes);
    x->thread_scratch = (size_t)target_align((int64_t)(x->library_scratch + library_scratch));
    x->scratch_stride = (size_t)program_scratch_stride((int64_t)thread_scratch);
    x->base.memory_bytes = x->thread_scratch + x->scratch_stride * x->thread_count;
    return x->steps != NULL;
}

/*
 * Returns whether running takes less time than waking another thread to do it.  Calls of the library, which may want a team,
 * are not guessed at.  Flops and bytes of the profile are those of all iterations of a loop.
 */
static bool guess_brief(const struct cpu_executable *x)
{
    const struct call_facts *call = &target_facts_everywhere()->call;
    double sum = 0;

    for (uint32_t i = 0; i < x->base.step_count && sum < call->wake; i++) {
        const struct step_profile *s = &x->base.profile.steps[i];

        sum += x->base.steps[i].kind == STEP_LIBRARY
                   ? call->wake
                   : target_microseconds(s->flops, s->bytes) + call->kernel_call * executable_step_calls(&x->base, i);
    }
    return sum < call->wake && !x->needs_team;
}

/* Returns whether running takes much less time than building does. */
static bool is_small(const struct cpu_executable *x)
{
    const struct call_facts *call = &target_facts_everywhere()->call;
    double operations = 0, bytes = 0;

    for (uint32_t i = 0; i < x->base.step_count; i++) {
        operations += x->base.profile.steps[i].flops;
        bytes += x->base.profile.steps[i].bytes;
    }
    return operations <= call->warm_operations && bytes <= call->warm_bytes;
}

bool cpu_executable_init(struct cpu_executable *x, struct engine *en, struct program *p, const kernel_function *functions,
                         struct error *e)
{
    *x = (struct cpu_executable){.thread_count = en->thread_count};
    if (!executable_init(&x->base, en, &cpu_step_functions, p, e))
        return false;
    if (!add_steps(x, p, functions)) {
        cpu_executable_clear(x);
        return error_out_of_memory(e);
    }
    x->brief = guess_brief(x);
    x->tries = x->needs_team && x->thread_count > 1;
    if (x->tries)
        thread_trial_init(&x->trial, is_small(x));
    executable_take(&x->base, p);
    return true;
}

void cpu_executable_warm(struct cpu_executable *x)
{
    /* libgomp's pool, once started, does not survive a fork, which may come between building and computing. */
    if (is_small(x) && (x->binding_count == 0 || threads_are_own()))
        executable_warm(&x->base, (size_t)target_facts_everywhere()->call.warm_bytes);
}

void cpu_executable_clear(struct cpu_executable *x)
{
    executable_clear(&x->base);
    if (x->tries)
        thread_trial_destroy(&x->trial);
    x->tries = false;
    x->steps = NULL;
}

/* ---- questions ---- */

bool cpu_executable_is_ready(const struct cpu_executable *x)
{
    return x->binding_count == 0 || threads_ready(x->thread_count, x->base.engine->parallel) == x->thread_count;
}
