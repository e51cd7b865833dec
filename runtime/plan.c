/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Running a plan.
 *
 * Everything that can be decided once is decided when the plan is made (which function, which parameters, how many threads) or
 * when an execution is made (every pointer into its arena and into constants, the library's memory objects).  What is left for
 * a run: storing the caller's pointers where the steps expect them, and walking the steps.
 *
 * Executions (arena, scratch, pointers) belong to one run at a time and are kept for the next; the plan's lock is held while
 * one is taken or given back, never while a step runs.
 */
#include "runtime/plan.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "ir/trace.h"
#include "runtime/memory.h"
#include "runtime/threads.h"

#if defined(__SANITIZE_ADDRESS__)
#define PLAN_POISON 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PLAN_POISON 1
#endif
#endif
#if defined(PLAN_POISON)
#include <sanitizer/asan_interface.h>
#endif

/* Executions kept for later: as many as computations usually overlap. */
enum { EXECUTIONS_KEPT = 4 };

/* Scratch of different threads keeps this distance, so that prefetching does not share lines. */
enum { SCRATCH_GAP = 128 };

/*
 * What a thread gets done, for deciding when to wake others.  Waking and joining a team takes 1 us while it still spins and
 * some 10 us when it sleeps, so a part should be worth that.
 */
#define FLOPS_PER_MICROSECOND 8e3
#define BYTES_PER_MICROSECOND 10e3
#define PART_MICROSECONDS 15.0
/* Runs below this are done by whoever dispatches them; calls of the library, which may want a team, are not guessed at. */
#define BRIEF_MICROSECONDS 2.0
#define STEP_MICROSECONDS 0.02

struct plan_step {
    enum step_kind kind;
    uint32_t first, count; /* its pointers in an execution */
    union {
        struct {
            kernel_function function;
            const int64_t *params;
            int64_t units;
            uint32_t parts;
        } kernel;
        struct {
            struct library_step *step;
            uint32_t binding; /* index of its library_bindings in an execution */
        } library;
        size_t copy_bytes;
    };
};

/* What a profile tells about a step. */
struct plan_profile {
    char name[80], implementation[64];
    double flops, bytes;
    enum arithmetic arithmetic;
    double operations;
    atomic_ullong nanoseconds, least; /* of all calls, of the shortest (0: none yet) */
    uint32_t trace_name; /* in plan->trace */
};

/* A pointer that depends on what the caller binds. */
struct plan_fixup {
    uint32_t pointer; /* index in an execution */
    bool output;
    uint32_t slot;
    int64_t offset;
};

/*
 * A pointer that moves from iteration to iteration.  Where it starts is a pointer of its own behind those of the steps, so that
 * binding and creation set it like any other, and a run that is stopped in the middle leaves nothing to put right.
 */
struct plan_move {
    uint32_t pointer, base, first; /* first: pointer of iteration 0, or NO_POINTER */
    int64_t stride;
};

struct plan_loop {
    uint32_t first, count, iterations; /* steps */
    uint32_t move, move_count;
};

enum { NO_POINTER = UINT32_MAX };

struct execution {
    struct execution *next;
    char *memory; /* arena, library scratch, one scratch per thread */
    void **pointers;
    struct library_bindings **bindings;
};

struct plan {
    struct arena arena;
    uint32_t thread_count;
    bool needs_team; /* some step runs on several threads */
    bool brief;
    uint32_t step_count, pointer_count, binding_count, fixup_count;
    struct plan_step *steps;
    struct plan_profile *profile;
    struct plan_fixup *fixups;
    struct place *places; /* of every pointer */
    uint32_t loop_count, move_count;
    struct plan_loop *loops;
    struct plan_move *moves;
    uint32_t constant_count;
    struct constant **constants;
    size_t memory_bytes, library_scratch, thread_scratch,
        scratch_stride; /* bytes; the latter three: offset, offset, distance */
    int64_t arena_bytes, arena_lower_bound;
    bool profiling, printing, poisoning;
    struct trace *trace; /* the context's; NULL: none */
    atomic_ullong runs, nanoseconds; /* while profiling */
    pthread_mutex_t lock;
    struct execution *free;
    uint32_t free_count;
};

/* ---- making ---- */

static double microseconds(double flops, double bytes)
{
    double compute = flops / FLOPS_PER_MICROSECOND, memory = bytes / BYTES_PER_MICROSECOND;

    return compute > memory ? compute : memory;
}

uint32_t plan_kernel_parts(double flops, double bytes, int64_t units, uint32_t thread_count)
{
    double parts = microseconds(flops, bytes) / PART_MICROSECONDS;

    if (parts > (double)units)
        parts = (double)units;
    if (parts >= (double)thread_count)
        return thread_count;
    return parts < 2.0 ? 1 : (uint32_t)parts;
}

static size_t align_up(size_t n, size_t alignment)
{
    return (n + alignment - 1) & ~(alignment - 1);
}

static bool plan_add_kernel(struct plan *plan, struct plan_step *s, struct plan_profile *profile, const struct step_run *run,
                            kernel_function function, size_t *scratch)
{
    s->kernel.function = function;
    s->kernel.params = arena_copy(&plan->arena, run->params, run->param_count * sizeof *run->params);
    s->kernel.units = run->units;
    s->kernel.parts = plan_kernel_parts(run->flops, run->bytes, run->units, plan->thread_count);
    plan->needs_team |= s->kernel.parts > 1;
    if ((size_t)run->scratch_bytes > *scratch)
        *scratch = (size_t)run->scratch_bytes;
    profile->flops = run->flops;
    profile->bytes = run->bytes;
    snprintf(profile->implementation, sizeof profile->implementation, "generated, %u part%s", s->kernel.parts,
             s->kernel.parts == 1 ? "" : "s");
    return s->kernel.params != NULL || run->param_count == 0;
}

static void plan_add_library(struct plan *plan, struct plan_step *s, struct plan_profile *profile, struct engine *en,
                             struct library_step *step, size_t *scratch)
{
    struct library_step_info info;

    en->functions->step_info(step, &info);
    s->library.step = step;
    s->library.binding = plan->binding_count++;
    plan->needs_team = true;
    if ((size_t)info.scratch_bytes > *scratch)
        *scratch = (size_t)info.scratch_bytes;
    profile->flops = info.flops;
    profile->bytes = info.bytes;
    profile->arithmetic = info.arithmetic;
    profile->operations = info.operations;
    snprintf(profile->implementation, sizeof profile->implementation, "%s", info.implementation ? info.implementation : "");
}

/* The place of a pointer, which the caller's binding may have to set. */
static void plan_add_place(struct plan *plan, uint32_t pointer, const struct place *place)
{
    plan->places[pointer] = *place;
    if (place->kind == PLACE_INPUT || place->kind == PLACE_OUTPUT)
        plan->fixups[plan->fixup_count++] =
            (struct plan_fixup){pointer, place->kind == PLACE_OUTPUT, place->slot, place->offset};
}

/* Pointers of program p: those of the steps, then two for each place that moves. */
static void plan_count_pointers(struct plan *plan, const struct program *p)
{
    for (uint32_t i = 0; i < p->step_count; i++)
        plan->pointer_count += p->steps[i].place_count;
    plan->pointer_count += 2 * p->move_count;
}

static void plan_add_move(struct plan *plan, const struct program *p, const struct program_move *from, uint32_t extra)
{
    struct plan_move *m = &plan->moves[plan->move_count++];

    *m = (struct plan_move){plan->steps[from->step].first + from->place, extra, NO_POINTER, from->stride};
    plan_add_place(plan, m->base, &p->steps[from->step].places[from->place]);
    if (!from->has_first)
        return;
    m->first = extra + 1;
    plan_add_place(plan, m->first, &from->first);
}

static void plan_add_loops(struct plan *plan, const struct program *p)
{
    uint32_t extra = plan->pointer_count - 2 * p->move_count;

    for (uint32_t i = 0; i < p->loop_count; i++) {
        const struct program_loop *from = &p->loops[i];
        struct plan_loop *l = &plan->loops[plan->loop_count++];

        *l = (struct plan_loop){from->first, from->count, from->iterations, plan->move_count, 0};
        for (; plan->move_count < p->move_count && p->moves[plan->move_count].step < l->first + l->count; extra += 2)
            plan_add_move(plan, p, &p->moves[plan->move_count], extra);
        l->move_count = plan->move_count - l->move;
        for (uint32_t s = l->first; s < l->first + l->count; s++) {
            plan->profile[s].flops *= l->iterations;
            plan->profile[s].bytes *= l->iterations;
            plan->profile[s].operations *= l->iterations;
        }
    }
}

static bool plan_add_steps(struct plan *plan, const struct program *p, const kernel_function *functions,
                           size_t *library_scratch, size_t *thread_scratch)
{
    for (uint32_t i = 0, kernel = 0, pointer = 0; i < p->step_count; i++) {
        const struct program_step *from = &p->steps[i];
        struct plan_step *s = &plan->steps[i];
        struct plan_profile *profile = &plan->profile[i];

        s->kind = from->kind;
        s->first = pointer;
        s->count = from->place_count;
        memcpy(profile->name, from->name, sizeof profile->name);
        for (uint32_t t = 0; t < from->place_count; t++, pointer++) {
            plan_add_place(plan, pointer, &from->places[t]);
        }
        switch (from->kind) {
        case STEP_KERNEL:
            if (!plan_add_kernel(plan, s, profile, &from->run, functions[kernel++], thread_scratch))
                return false;
            break;
        case STEP_LIBRARY:
            plan_add_library(plan, s, profile, p->engine, from->library, library_scratch);
            break;
        case STEP_COPY:
            s->copy_bytes = (size_t)from->places[0].bytes;
            profile->bytes = 2 * (double)s->copy_bytes;
            snprintf(profile->implementation, sizeof profile->implementation, "memcpy");
            break;
        }
    }
    return true;
}

static bool plan_fill(struct plan *plan, const struct program *p, const kernel_function *functions)
{
    size_t library_scratch = 0, thread_scratch = 0;

    plan_count_pointers(plan, p);
    plan->step_count = p->step_count;
    plan->steps = arena_array(&plan->arena, p->step_count, sizeof *plan->steps);
    plan->profile = arena_array(&plan->arena, p->step_count, sizeof *plan->profile);
    plan->places = arena_array(&plan->arena, plan->pointer_count, sizeof *plan->places);
    plan->fixups = arena_array(&plan->arena, plan->pointer_count, sizeof *plan->fixups);
    plan->loops = arena_array(&plan->arena, p->loop_count, sizeof *plan->loops);
    plan->moves = arena_array(&plan->arena, p->move_count, sizeof *plan->moves);
    plan->constants = arena_array(&plan->arena, p->constant_count, sizeof *plan->constants);
    if (!plan->loops || !plan->moves || !plan->steps || !plan->profile || !plan->places || !plan->fixups || !plan->constants ||
        !plan_add_steps(plan, p, functions, &library_scratch, &thread_scratch))
        return false;
    plan_add_loops(plan, p);

    plan->library_scratch = align_up((size_t)p->arena_bytes, MEMORY_ALIGNMENT);
    plan->thread_scratch = align_up(plan->library_scratch + library_scratch, MEMORY_ALIGNMENT);
    plan->scratch_stride = thread_scratch > 0 ? align_up(thread_scratch, SCRATCH_GAP) + SCRATCH_GAP : 0;
    plan->memory_bytes = plan->thread_scratch + plan->scratch_stride * plan->thread_count;
    return true;
}

/* How often a step runs in a run. */
static uint32_t step_calls(const struct plan *plan, uint32_t step)
{
    for (uint32_t k = 0; k < plan->loop_count; k++)
        if (step - plan->loops[k].first < plan->loops[k].count)
            return plan->loops[k].iterations;
    return 1;
}

/* What the spans of a step say: one of a step in a loop is of one iteration, where the profile counts them all. */
static void plan_register_trace(struct plan *plan)
{
    for (uint32_t i = 0; plan->trace && i < plan->step_count; i++) {
        struct plan_profile *s = &plan->profile[i];
        double times = step_calls(plan, i);

        s->trace_name = trace_register(
            plan->trace, &(struct trace_name){"step", s->name, s->implementation, s->flops / times, s->bytes / times});
    }
}

/* Flops and bytes of the profile are those of all iterations of a loop. */
static bool plan_guess_brief(const struct plan *plan)
{
    double sum = 0;

    for (uint32_t i = 0; i < plan->step_count && sum < BRIEF_MICROSECONDS; i++)
        sum += plan->steps[i].kind == STEP_LIBRARY
                   ? BRIEF_MICROSECONDS
                   : microseconds(plan->profile[i].flops, plan->profile[i].bytes) + STEP_MICROSECONDS * step_calls(plan, i);
    return sum < BRIEF_MICROSECONDS && !plan->needs_team;
}

struct plan *plan_create(struct program *p, const kernel_function *functions, uint32_t thread_count,
                         const struct debug_options *debug, struct error *e)
{
    struct plan *plan = calloc(1, sizeof *plan);

    if (!plan || pthread_mutex_init(&plan->lock, NULL) != 0) {
        free(plan);
        error_out_of_memory(e);
        return NULL;
    }
    plan->thread_count = thread_count;
    plan->profiling = plan->printing = (debug->flags & DEBUG_PROFILE) != 0;
    plan->arena_bytes = p->arena_bytes;
    plan->arena_lower_bound = p->arena_lower_bound;
    plan->trace = debug->trace;
#if defined(PLAN_POISON)
    plan->poisoning = true; /* what DEBUG_SANITIZE asks for costs little where the rest is instrumented anyway */
#endif
    atomic_init(&plan->runs, 0);
    atomic_init(&plan->nanoseconds, 0);
    if (!program_describe(p) || !plan_fill(plan, p, functions)) {
        arena_free(&plan->arena);
        pthread_mutex_destroy(&plan->lock);
        free(plan);
        error_out_of_memory(e);
        return NULL;
    }
    plan_register_trace(plan);
    plan->brief = plan_guess_brief(plan);
    /* From here on nothing fails: take over what the program holds. */
    for (uint32_t i = 0; i < p->constant_count; i++)
        plan->constants[i] = constant_retain(p->constants[i]);
    plan->constant_count = p->constant_count;
    for (uint32_t i = 0; i < p->step_count; i++)
        p->steps[i].library = NULL;
    return plan;
}

/* ---- executions ---- */

static void execution_free(struct plan *plan, struct execution *x)
{
    if (!x)
        return;
#if defined(PLAN_POISON)
    if (x->memory)
        ASAN_UNPOISON_MEMORY_REGION(x->memory, plan->memory_bytes);
#endif
    for (uint32_t i = 0; x->bindings && i < plan->binding_count; i++)
        if (x->bindings[i])
            library_bindings_free(x->bindings[i]);
    memory_free(x->memory, plan->memory_bytes);
    free(x->pointers);
    free(x->bindings);
    free(x);
}

/* Every pointer that does not depend on what the caller binds. */
static void execution_set_pointers(const struct plan *plan, struct execution *x)
{
    for (uint32_t i = 0; i < plan->pointer_count; i++) {
        const struct place *place = &plan->places[i];

        if (place->kind == PLACE_ARENA)
            x->pointers[i] = x->memory + place->offset;
        else if (place->kind == PLACE_CONSTANT)
            x->pointers[i] = (char *)plan->constants[place->slot]->data + place->offset; /* read only */
    }
}

static struct execution *execution_create(struct plan *plan, struct error *e)
{
    struct execution *x = calloc(1, sizeof *x);

    if (!x) {
        error_out_of_memory(e);
        return NULL;
    }
    x->memory = memory_create(plan->memory_bytes);
    x->pointers = calloc(plan->pointer_count + 1, sizeof *x->pointers);
    x->bindings = calloc(plan->binding_count + 1, sizeof(struct library_bindings *));
    if (!x->memory || !x->pointers || !x->bindings) {
        execution_free(plan, x);
        error_out_of_memory(e);
        return NULL;
    }
    for (uint32_t i = 0; i < plan->step_count; i++) {
        const struct plan_step *s = &plan->steps[i];
        if (s->kind != STEP_LIBRARY)
            continue;
        x->bindings[s->library.binding] = library_bindings_create(s->library.step, e);
        if (!x->bindings[s->library.binding]) {
            execution_free(plan, x);
            return NULL;
        }
    }
    execution_set_pointers(plan, x);
    return x;
}

static struct execution *plan_take(struct plan *plan, struct error *e)
{
    pthread_mutex_lock(&plan->lock);
    struct execution *x = plan->free;
    if (x) {
        plan->free = x->next;
        plan->free_count--;
    }
    pthread_mutex_unlock(&plan->lock);
    return x ? x : execution_create(plan, e);
}

static void plan_give(struct plan *plan, struct execution *x)
{
    pthread_mutex_lock(&plan->lock);
    bool keep = plan->free_count < EXECUTIONS_KEPT;
    if (keep) {
        x->next = plan->free;
        plan->free = x;
        plan->free_count++;
    }
    pthread_mutex_unlock(&plan->lock);
    if (!keep)
        execution_free(plan, x);
}

void plan_free(struct plan *plan)
{
    if (!plan)
        return;
    if (plan->printing)
        plan_print_profile(plan, stderr);
    for (struct execution *x = plan->free, *next; x; x = next) {
        next = x->next;
        execution_free(plan, x);
    }
    for (uint32_t i = 0; i < plan->step_count; i++)
        if (plan->steps[i].kind == STEP_LIBRARY)
            library_step_free(plan->steps[i].library.step);
    for (uint32_t i = 0; i < plan->constant_count; i++)
        constant_release(plan->constants[i]);
    pthread_mutex_destroy(&plan->lock);
    arena_free(&plan->arena);
    free(plan);
}

/* ---- running ---- */

struct kernel_run {
    const struct plan *plan;
    const struct execution *x;
    const struct plan_step *step;
};

static void kernel_part(void *user, uint32_t part, uint32_t parts)
{
    const struct kernel_run *r = user;
    const struct plan_step *s = r->step;
    struct kernel_args args = {r->x->pointers + s->first, s->kernel.params,
                               r->x->memory + r->plan->thread_scratch + (size_t)part * r->plan->scratch_stride};
    int64_t units = s->kernel.units;
    /* Parts differ by one unit at most; units are far below 2^53 and parts below 2^11. */
    int64_t each = units / parts, rest = units % parts;
    int64_t begin = each * part + (part < rest ? part : rest);

    uint64_t start = r->plan->trace && parts > 1 ? nanoseconds_now() : 0;

    s->kernel.function(&args, begin, begin + each + (part < rest));
    if (start) /* within the step's own span: how evenly the work was cut */
        trace_add(r->plan->trace, r->plan->profile[s - r->plan->steps].trace_name, start, nanoseconds_now());
}

/* Only what the step may touch stays readable and writable: a wrong address in generated code is caught where it happens. */
static void poison_around(const struct plan *plan, const struct execution *x, const struct plan_step *s)
{
#if defined(PLAN_POISON)
    ASAN_POISON_MEMORY_REGION(x->memory, plan->library_scratch);
    for (uint32_t i = s->first; i < s->first + s->count; i++)
        if ((uintptr_t)x->pointers[i] - (uintptr_t)x->memory < plan->library_scratch) /* of a loop: now in the arena */
            ASAN_UNPOISON_MEMORY_REGION(x->pointers[i], (size_t)plan->places[i].bytes);
#else
    (void)plan;
    (void)x;
    (void)s;
#endif
}

static bool step_run(const struct plan *plan, const struct execution *x, const struct plan_step *s)
{
    void **pointers = x->pointers + s->first;

    switch (s->kind) {
    case STEP_KERNEL: {
        struct kernel_run r = {plan, x, s};
        threads_run(s->kernel.parts, kernel_part, &r);
        return true;
    }
    case STEP_LIBRARY:
        return library_step_run(s->library.step, x->bindings[s->library.binding], (const void *const *)pointers,
                                pointers[s->count - 1], x->memory + plan->library_scratch);
    case STEP_COPY:
        memmove(pointers[1], pointers[0], s->copy_bytes); /* of an image they may overlap */
        return true;
    }
    return false;
}

static void profile_add(struct plan_profile *s, uint64_t nanoseconds)
{
    unsigned long long least = atomic_load_explicit(&s->least, memory_order_relaxed);

    atomic_fetch_add_explicit(&s->nanoseconds, nanoseconds, memory_order_relaxed);
    while ((!least || nanoseconds < least) &&
           !atomic_compare_exchange_weak_explicit(&s->least, &least, nanoseconds, memory_order_relaxed, memory_order_relaxed))
        ;
}

/* Steps [first, end), *start being when they begin. */
static bool run_range(struct plan *plan, struct execution *x, uint32_t first, uint32_t end, const atomic_bool *stop,
                      uint64_t *start, struct error *e)
{
    for (uint32_t i = first; i < end; i++) {
        if (stop && atomic_load_explicit(stop, memory_order_relaxed))
            return error_set(e, WNNStatus_InvalidStateError, "the computation was stopped");
        if (plan->poisoning)
            poison_around(plan, x, &plan->steps[i]);
        if (!step_run(plan, x, &plan->steps[i]))
            return error_set(e, WNNStatus_OperationError, "the library failed in step %u, %s", i, plan->profile[i].name);
        if (plan->profiling || plan->trace) {
            uint64_t now = nanoseconds_now();
            profile_add(&plan->profile[i], now - *start);
            if (plan->trace)
                trace_add(plan->trace, plan->profile[i].trace_name, *start, now);
            *start = now;
        }
    }
    return true;
}

/* Points the places that move to where iteration i finds them. */
static void loop_move(const struct plan *plan, struct execution *x, const struct plan_loop *l, uint32_t i)
{
    for (uint32_t k = l->move; k < l->move + l->move_count; k++) {
        const struct plan_move *m = &plan->moves[k];
        bool other = m->first != NO_POINTER;

        if (other && i == 0)
            x->pointers[m->pointer] = x->pointers[m->first];
        else
            x->pointers[m->pointer] = (char *)x->pointers[m->base] + m->stride * ((int64_t)i - other);
    }
}

static bool run_steps(struct plan *plan, struct execution *x, const atomic_bool *stop, struct error *e)
{
    uint64_t start = plan->profiling || plan->trace ? nanoseconds_now() : 0;
    uint32_t done = 0;

    for (uint32_t k = 0; k < plan->loop_count; k++) {
        const struct plan_loop *l = &plan->loops[k];

        if (!run_range(plan, x, done, l->first, stop, &start, e))
            return false;
        for (uint32_t i = 0; i < l->iterations; i++) {
            loop_move(plan, x, l, i);
            if (!run_range(plan, x, l->first, l->first + l->count, stop, &start, e))
                return false;
        }
        done = l->first + l->count;
    }
    return run_range(plan, x, done, plan->step_count, stop, &start, e);
}

static void bind(const struct plan *plan, struct execution *x, const struct engine_binding *inputs,
                 const struct engine_binding *outputs)
{
    for (uint32_t i = 0; i < plan->fixup_count; i++) {
        const struct plan_fixup *f = &plan->fixups[i];
        const struct engine_binding *b = f->output ? &outputs[f->slot] : &inputs[f->slot];

        x->pointers[f->pointer] = (char *)(b->buffer ? b->buffer->data : b->host) + f->offset;
    }
}

bool plan_run(struct plan *plan, const struct engine_binding *inputs, const struct engine_binding *outputs,
              const atomic_bool *stop, struct error *e)
{
    uint64_t start = plan->profiling ? nanoseconds_now() : 0;
    struct execution *x = plan_take(plan, e);
    bool ok;

    if (!x)
        return false;
    bind(plan, x, inputs, outputs);
    /* A plan of small kernels needs no team; the floating-point mode is part of the same call. */
    int saved = threads_enter(plan->needs_team ? plan->thread_count : 0);
    ok = run_steps(plan, x, stop, e);
    threads_leave(saved);
    plan_give(plan, x);
    if (plan->profiling) {
        atomic_fetch_add_explicit(&plan->runs, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&plan->nanoseconds, nanoseconds_now() - start, memory_order_relaxed);
    }
    return ok;
}

bool plan_is_brief(const struct plan *plan)
{
    return plan->brief;
}

/* ---- profile ---- */

void plan_print_profile(const struct plan *plan, FILE *out)
{
    double runs = (double)atomic_load(&plan->runs), total = 0;

    for (uint32_t i = 0; i < plan->step_count; i++)
        total += (double)atomic_load(&plan->profile[i].nanoseconds);
    fprintf(out, "profile: %.0f runs, %u steps, %.3f ms each, %u threads, %.4f ms between steps\n", runs, plan->step_count,
            runs > 0 ? total / runs * 1e-6 : 0, plan->thread_count,
            runs > 0 ? ((double)atomic_load(&plan->nanoseconds) - total) / runs * 1e-6 : 0);
    fprintf(out, "  %4s %-32s %-28s %6s %10s %6s %9s %8s\n", "step", "name", "implementation", "calls", "us", "%", "GFLOP/s",
            "GB/s");
    for (uint32_t i = 0; i < plan->step_count && runs > 0; i++) {
        const struct plan_profile *s = &plan->profile[i];
        double each = (double)atomic_load(&s->nanoseconds) / runs;

        fprintf(out, "  %4u %-32s %-28s %6u %10.2f %6.2f %9.2f %8.2f\n", i, s->name, s->implementation, step_calls(plan, i),
                each * 1e-3,
                total > 0 ? each * runs / total * 100 : 0, each > 0 ? s->flops / each : 0, each > 0 ? s->bytes / each : 0);
    }
}

/* ---- for tools ---- */

void plan_measure(struct plan *plan)
{
    plan->profiling = true;
    atomic_store(&plan->runs, 0);
    atomic_store(&plan->nanoseconds, 0);
    for (uint32_t i = 0; i < plan->step_count; i++) {
        atomic_store(&plan->profile[i].nanoseconds, 0);
        atomic_store(&plan->profile[i].least, 0);
    }
}

void plan_facts(const struct plan *plan, struct executable_facts *out)
{
    *out = (struct executable_facts){plan->arena_bytes, plan->arena_lower_bound, plan->step_count,
                                     (double)atomic_load(&plan->runs), (double)atomic_load(&plan->nanoseconds)};
}

/* Bytes of a step's place that its calls touch together. */
static double place_bytes(const struct plan *plan, uint32_t pointer, uint32_t calls)
{
    const double bytes = (double)plan->places[pointer].bytes;

    for (uint32_t i = 0; i < plan->move_count; i++) {
        const int64_t stride = plan->moves[i].stride;
        const double step = (double)(stride < 0 ? -stride : stride);

        if (plan->moves[i].pointer == pointer)
            return bytes + (step < bytes ? step : bytes) * (calls - 1);
    }
    return bytes;
}

/* A step of the library holds its weights itself: they are what it reads beside its places.  A kernel may read less than all of
 * a place, and is taken to do so evenly. */
static void count_distinct(const struct plan *plan, const struct plan_step *s, struct step_facts *f)
{
    const double once = f->bytes / f->calls;
    double all = 0;

    for (uint32_t i = s->first; i < s->first + s->count; i++) {
        const double distinct = place_bytes(plan, i, f->calls);

        all += (double)plan->places[i].bytes;
        f->distinct_bytes += distinct;
        if (plan->places[i].kind == PLACE_CONSTANT)
            f->weight_bytes += distinct;
    }
    if (all > once) {
        f->distinct_bytes *= once / all;
        f->weight_bytes *= once / all;
    } else if (s->kind == STEP_LIBRARY) {
        f->distinct_bytes += once - all;
        f->weight_bytes += once - all;
    }
    f->distinct_bytes = f->distinct_bytes < f->bytes ? f->distinct_bytes : f->bytes;
}

void plan_step_facts(const struct plan *plan, uint32_t step, struct step_facts *out)
{
    const struct plan_profile *p = &plan->profile[step];
    const struct plan_step *s = &plan->steps[step];

    *out = (struct step_facts){.name = p->name,
                               .implementation = p->implementation,
                               .flops = p->flops,
                               .bytes = p->bytes,
                               .arithmetic = p->arithmetic,
                               .operations = p->operations,
                               .calls = step_calls(plan, step),
                               .nanoseconds = (double)atomic_load(&p->nanoseconds),
                               .least = (double)atomic_load(&p->least),
                               .moves = s->kind == STEP_COPY || (s->kind == STEP_KERNEL && p->flops == 0),
                               .library = s->kind == STEP_LIBRARY ? s->library.step : NULL};
    count_distinct(plan, s, out);
}

uint32_t plan_step_kernel(const struct plan *plan, uint32_t step)
{
    uint32_t before = 0;

    for (uint32_t i = 0; i < step; i++)
        before += plan->steps[i].kind == STEP_KERNEL;
    return plan->steps[step].kind == STEP_KERNEL ? before : UINT32_MAX;
}
