/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Loads graphs into the CPU engine: an executable with the code that it runs.
 *
 * A graph comes from a program, whose kernels are compiled; from a serialized program, whose code is mapped; or from a foreign
 * function.  It says what the engine's table says of executables.
 */

#include <stdlib.h>
#include <string.h>

#include "ir/target/processor.h"
#include "runtime/engine/cpu/kernel_cache.h"
#include "runtime/program/invocation.h"

struct cpu_graph {
    struct cpu_executable run; /* what everybody else sees of it; all zeros if the function is foreign */
    struct engine_cpu *cpu;
    struct program program; /* for saving, less its library steps, which are the executable's */
    /* Either the code was compiled, now or earlier: */
    struct graph_code compiled;
    bool is_variant;
    /* or it is in a serialized program: */
    struct code_mapping code;
    void (*release)(void *user);
    void *release_user;
    /* or it is a foreign function, whose `run` is not NULL: */
    struct engine_foreign foreign;
};

static struct cpu_graph *graph_of(const struct executable *x)
{
    return (struct cpu_graph *)x; /* which run.base is the beginning of */
}

/* ---- programs ---- */

static void cpu_dump_program(struct engine_cpu *cpu, const struct program *p)
{
    struct debug_dump dump;

    debug_dump_begin(&dump, cpu->base.debug, "program-%u.txt", atomic_fetch_add(&cpu->programs, 1));
    program_print(p, dump.out);
    debug_dump_end(&dump, cpu->base.debug);
}

void cpu_code_free(struct engine_cpu *cpu, struct graph_code *code)
{
    if (code->unit)
        codegen_kernels_free(code->unit);
    for (uint32_t i = 0; i < code->place_count; i++)
        kernel_cache_give_back(cpu->kernels, code->places[i].cached);
    free(code->places);
}

/* Keeps the code of a freed variant, until as many others have followed, or the engine is freed. */
static void leave_code(struct engine_cpu *cpu, const struct graph_code *code)
{
    pthread_mutex_lock(&cpu->lock);
    struct graph_code *place = &cpu->left[cpu->left_next++ % VARIANT_CODES], oldest = *place;
    *place = *code;
    pthread_mutex_unlock(&cpu->lock);
    cpu_code_free(cpu, &oldest);
}

static void cpu_graph_free(struct cpu_graph *x)
{
    program_drop_kernels(&x->program);
    cpu_executable_clear(&x->run);
    if (x->is_variant)
        leave_code(x->cpu, &x->compiled);
    else
        cpu_code_free(x->cpu, &x->compiled);
    code_unmap(&x->code);
    if (x->release)
        x->release(x->release_user);
    if (x->foreign.free)
        x->foreign.free(x->foreign.user);
    free(x);
}

void cpu_unload(struct executable *x)
{
    cpu_graph_free(graph_of(x));
}

/* Lists the schedules of the kernel steps; one that runs the kernel of another has none. */
static uint32_t program_schedules(const struct program *p, struct schedule **schedules)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < p->step_count; i++)
        if (p->steps[i].kind == STEP_KERNEL)
            schedules[count++] = p->steps[i].schedule;
    return count;
}

/* Gives steps that run the kernels of earlier ones the functions of those. */
static bool take_functions(const struct program *p, kernel_function *functions)
{
    uint32_t *numbers = calloc((size_t)p->step_count + 1, sizeof *numbers), count = 0; /* by step: of its function */

    for (uint32_t i = 0; numbers && i < p->step_count; i++) {
        const struct program_step *s = &p->steps[i];

        if (s->kind != STEP_KERNEL)
            continue;
        numbers[i] = count;
        if (s->like)
            functions[count] = functions[numbers[s->like - 1]];
        count++;
    }
    const bool ok = numbers != NULL;
    free(numbers);
    return ok;
}

/* Keeps what was compiled, each structure once: kernels that share one have the same function. */
static void cpu_keep(struct kernel_cache *cache, struct codegen_kernels *unit, uint32_t count,
                     struct schedule *const *schedules, const kernel_function *functions)
{
    struct table kept = {0};
    struct error ignored = {0};

    for (uint32_t i = 0; kernel_cache_is_kept(cache) && table_reserve(&kept, NULL, count) && i < count; i++) {
        const void *function = (const void *)(uintptr_t)functions[i];
        const uint64_t hash = hash_mix(0, (uintptr_t)function);
        struct table_entry *place = table_next(&kept, hash, NULL);
        uint64_t offset;
        void *bytes;
        size_t size;

        while (place->item && place->item != function)
            place = table_next(&kept, hash, place);
        if (place->item)
            continue;
        table_put(&kept, place, hash, function);
        if (codegen_kernels_flatten(unit, NULL, 1, &i, &bytes, &size, &offset, &ignored)) {
            kernel_cache_put(cache, schedules[i], bytes, size, offset);
            free(bytes);
        }
    }
    free(kept.entries);
}

/*
 * Compiles the kernels and reports what the code of one program cost, for the time-passes switch; other builds of the context
 * at the same time count, too.
 */
static bool cpu_compile(struct engine_cpu *cpu, const struct program *p, uint32_t count, struct schedule *const *schedules,
                        struct codegen_kernels **unit, kernel_function *functions, struct error *e)
{
    struct codegen_times before, after;

    if (count == 0)
        return true;
    struct codegen *c = cpu_start_codegen(cpu, e);
    if (!c)
        return false;
    codegen_get_times(c, &before);
    if (!codegen_compile(c, count, schedules, p->cancelled, p->cancelled_user, unit, functions, e))
        return false;
    cpu_keep(cpu->kernels, *unit, count, schedules, functions);
    if (!(cpu->base.debug->flags & DEBUG_TIME_PASSES))
        return true;
    codegen_get_times(c, &after);
    fprintf(stderr, "# %u kernels, %u structures compiled: emit %.3f ms, LLVM passes %.3f ms, LLVM code %.3f ms\n",
            after.kernels - before.kernels, after.structures - before.structures, after.emit_ms - before.emit_ms,
            after.passes_ms - before.passes_ms, after.codegen_ms - before.codegen_ms);
    return true;
}

/* Takes kernels from the cache, and compiles the others. */
static bool cpu_find_kernels(struct cpu_graph *x, const struct program *p, uint32_t count, struct schedule *const *schedules,
                             kernel_function *functions, struct error *e)
{
    struct schedule **missing = calloc((size_t)count + 1, sizeof *missing);
    kernel_function *made = calloc((size_t)count + 1, sizeof *made);
    uint32_t missing_count = 0;

    x->compiled.places = calloc((size_t)count + 1, sizeof *x->compiled.places);
    bool ok = (missing && made && x->compiled.places) || error_out_of_memory(e);
    for (uint32_t i = 0; ok && i < count; i++) {
        struct kernel_place *place = &x->compiled.places[x->compiled.place_count++];

        if (!schedules[i])
            continue;
        *place = (struct kernel_place){kernel_cache_take(x->cpu->kernels, schedules[i]), false, missing_count};
        place->is_compiled = !place->cached;
        if (!place->cached)
            missing[missing_count++] = schedules[i];
    }
    ok = ok && cpu_compile(x->cpu, p, missing_count, missing, &x->compiled.unit, made, e);
    for (uint32_t i = 0; ok && i < count; i++)
        if (schedules[i])
            functions[i] = x->compiled.places[i].cached ? cached_kernel_function(x->compiled.places[i].cached)
                                                        : made[x->compiled.places[i].compiled];
    ok = ok && (take_functions(p, functions) || error_out_of_memory(e));
    free(missing);
    free(made);
    return ok;
}

/* Takes what saving needs and the executable lacks from a program; both lists of steps share what the executable has.  Under
 * the sanitizer kernels are kept: code that can be saved is compiled when a graph is saved. */
static bool cpu_take_program(struct cpu_graph *x, struct program *p, struct error *e)
{
    struct executable *run = &x->run.base;
    struct program own = *p;

    own.arena = (struct arena){0};
    own.constants = run->constants;
    own.steps = arena_copy(&run->arena, p->steps, p->step_count * sizeof *p->steps);
    own.loops = arena_copy(&run->arena, p->loops, p->loop_count * sizeof *p->loops);
    own.moves = arena_copy(&run->arena, p->moves, p->move_count * sizeof *p->moves);
    own.description = NULL;
    own.cancelled = NULL;
    if (!own.steps || !own.loops || !own.moves)
        return error_out_of_memory(e);
    for (uint32_t i = 0; i < p->step_count; i++) {
        struct program_step *lacks = x->cpu->base.debug->flags & DEBUG_SANITIZE ? &p->steps[i] : &own.steps[i];

        own.steps[i].locations = run->locations + run->steps[i].first;
        own.steps[i].run.written = run->written + run->steps[i].first;
        own.steps[i].run.params = x->run.steps[i].params;
        lacks->kernel = NULL;
        lacks->schedule = NULL;
    }
    x->program = own;
    return true;
}

struct executable *cpu_load(struct engine *en, struct program *p, struct error *e)
{
    struct engine_cpu *cpu = cpu_of(en);
    struct cpu_graph *x = calloc(1, sizeof *x);
    struct schedule **schedules = calloc((size_t)p->step_count + 1, sizeof *schedules);
    kernel_function *functions = calloc((size_t)p->step_count + 1, sizeof *functions);
    bool ok = x && schedules && functions;
    uint32_t count = 0;

    if (en->debug->flags & DEBUG_DUMP_PROGRAM)
        cpu_dump_program(cpu, p);
    if (!ok)
        error_out_of_memory(e);
    ok = ok && cpu_library_is_well(e);
    if (ok) {
        x->cpu = cpu;
        x->is_variant = p->is_variant;
        count = program_schedules(p, schedules);
        if (!p->is_variant) /* whose code other sizes share */
            schedules_join(schedules, count);
        ok = cpu_find_kernels(x, p, count, schedules, functions, e);
    }
    ok = ok && cpu_executable_init(&x->run, en, p, functions, e);
    free(schedules);
    free(functions);
    if (ok && cpu_take_program(x, p, e)) {
        if (!(en->debug->flags & DEBUG_NO_WARM_UP))
            cpu_executable_warm(&x->run);
        return &x->run.base;
    }
    if (x)
        cpu_graph_free(x);
    return NULL;
}

/* ---- serialized programs ---- */

/* Returns what code that is saved may use, and code that is loaded. */
static const char *features_of(const struct engine_cpu *cpu)
{
    return cpu->target.features ? cpu->target.features : processor_features();
}

static kernel_function *serialized_functions(const struct cpu_graph *x, const struct program *p,
                                             const struct serialized_view *view)
{
    kernel_function *functions = calloc((size_t)p->step_count + 1, sizeof *functions);

    for (uint32_t i = 0, kernel = 0; functions && i < p->step_count; i++)
        if (p->steps[i].kind == STEP_KERNEL) {
            uintptr_t at = (uintptr_t)x->code.bytes + (uintptr_t)view->offsets[p->steps[i].run.function];
            functions[kernel++] = (kernel_function)at;
        }
    return functions;
}

static bool cpu_open_serialized(struct cpu_graph *x, const struct serialized_source *source, struct program *p,
                                const struct serialized_view *view, struct error *e)
{
    if (view->code_bytes == 0 && view->kernel_count > 0)
        return error_set(e, WNNStatus_DataError, "the compiled graph is part of an object and has no code of its own");
    if (!code_map(source, view->code_offset, view->code_bytes, &x->code, e))
        return false;

    kernel_function *functions = serialized_functions(x, p, view);
    if (!functions)
        return error_out_of_memory(e);
    const bool ok = cpu_executable_init(&x->run, &x->cpu->base, p, functions, e);
    free(functions);
    return ok && cpu_take_program(x, p, e);
}

struct executable *cpu_load_serialized(struct engine *en, const struct serialized_source *source, void (*release)(void *user),
                                       void *user, struct serialized_view *view, struct error *e)
{
    struct engine_cpu *cpu = cpu_of(en);
    struct cpu_graph *x = calloc(1, sizeof *x);
    struct program p;

    if (!x)
        return error_null_memory(e);
    x->cpu = cpu;
    if (!serialized_load(source, en, cpu->target.triple, features_of(cpu), &p, view, e)) {
        free(x);
        return NULL;
    }
    if (en->debug->flags & DEBUG_DUMP_PROGRAM)
        cpu_dump_program(cpu, &p);
    bool ok = cpu_open_serialized(x, source, &p, view, e);
    program_free(&p);
    if (!ok) {
        serialized_view_free(view);
        cpu_graph_free(x);
        return NULL;
    }
    x->release = release;
    x->release_user = user;
    return &x->run.base; /* not warmed: loading runs no code of a file */
}

/* Puts kernels from the cache after the code of those that were compiled, each where a page begins. */
static bool append_cached(const struct cpu_graph *x, uint32_t count, const uint32_t *kernels, void **bytes, size_t *size,
                          uint64_t *offsets, struct error *e)
{
    enum { PAGE = 4096 };
    struct bytes b = {*bytes, *size, *size};

    for (uint32_t i = 0; i < count; i++) {
        const struct cached_kernel *k = x->compiled.places[kernels[i]].cached;
        if (!k)
            continue;
        if (!bytes_append(&b, NULL, ceil_div(b.length, PAGE) * PAGE - b.length) ||
            !bytes_append(&b, k->code.bytes, k->code.size)) {
            *bytes = b.data;
            return error_out_of_memory(e);
        }
        offsets[i] = b.length - k->code.size + k->offset;
    }
    *bytes = b.data;
    *size = b.length;
    return true;
}

/* Joins the code of kernels that were compiled, now or earlier.  *bytes is for free(), also after an error. */
static bool flatten_kernels(const struct cpu_graph *x, uint32_t count, const uint32_t *kernels, void **bytes, size_t *size,
                            uint64_t *offsets, struct error *e)
{
    uint32_t *which = calloc((size_t)count + 1, sizeof *which), compiled = 0;
    uint64_t *starts = calloc((size_t)count + 1, sizeof *starts);
    struct schedule **schedules = calloc((size_t)x->program.step_count + 1, sizeof *schedules);
    bool ok = (which && starts && schedules) || error_out_of_memory(e);

    if (ok)
        program_schedules(&x->program, schedules);
    for (uint32_t i = 0; ok && i < count; i++)
        if (!x->compiled.places[kernels[i]].cached)
            which[compiled++] = x->compiled.places[kernels[i]].compiled;
    ok = ok && (!compiled || codegen_kernels_flatten(x->compiled.unit, schedules, compiled, which, bytes, size, starts, e));
    for (uint32_t i = 0, next = 0; ok && i < count; i++)
        if (!x->compiled.places[kernels[i]].cached)
            offsets[i] = starts[next++];
    free(which);
    free(starts);
    free(schedules);
    return ok && append_cached(x, count, kernels, bytes, size, offsets, e);
}

/* Serializes the program.  functions become those of its kernel steps. */
static struct serialized_program *cpu_serialize(const struct cpu_graph *x, const void **functions, struct error *e)
{
    struct program p = x->program;

    p.steps = calloc((size_t)p.step_count + 1, sizeof *p.steps);
    if (!p.steps)
        return error_null_memory(e);
    for (uint32_t i = 0, kernel = 0; i < p.step_count; i++) {
        p.steps[i] = x->program.steps[i];
        if (p.steps[i].kind == STEP_LIBRARY)
            p.steps[i].library = x->run.base.steps[i].library;
        else if (p.steps[i].kind == STEP_KERNEL)
            functions[kernel++] = (const void *)(uintptr_t)x->run.steps[i].function;
    }
    struct serialized_program *s = serialized_create(&p, functions, false, e);
    free(p.steps);
    return s;
}

/* Finds where the code of a serialized program's kernels begins, in *code, which for compiled ones is new and for free(). */
static bool cpu_flatten(const struct cpu_graph *x, const struct serialized_program *s, const void *const *functions,
                        void **compiled, struct serialized_code *code, uint64_t *offsets, struct error *e)
{
    const uint32_t *steps = serialized_kernel_steps(s), count = serialized_kernel_count(s);

    *code = (struct serialized_code){x->code.bytes, x->code.size, offsets};
    for (uint32_t i = 0; i < count; i++)
        offsets[i] = (uintptr_t)functions[steps[i]] - (uintptr_t)x->code.bytes;
    if (!x->compiled.places)
        return true;
    const bool ok = flatten_kernels(x, count, steps, compiled, &code->size, offsets, e);
    code->bytes = *compiled;
    return ok;
}

bool cpu_save(struct executable *executable, uint32_t input_count, const struct graph_binding *inputs, uint32_t output_count,
              const struct graph_binding *outputs, serialized_sink sink, void *user, struct error *e)
{
    struct cpu_graph *x = graph_of(executable);
    const struct target *t = &x->cpu->target;
    struct serialized_facts facts = {t->triple, features_of(x->cpu), input_count, output_count, inputs, outputs};
    const size_t most = (size_t)x->program.step_count + 1;
    void *compiled = NULL;

    if (x->foreign.run)
        return error_set(e, WNNStatus_NotSupportedError, "the graph was loaded from a shared object: keep that file");
    const void **functions = calloc(most, sizeof *functions);
    uint64_t *offsets = calloc(most, sizeof *offsets);
    struct serialized_program *s = functions && offsets ? cpu_serialize(x, functions, e) : error_null_memory(e);
    struct serialized_code code;
    const bool ok = s && cpu_flatten(x, s, functions, &compiled, &code, offsets, e) &&
                    serialized_write(s, &facts, &code, false, sink, user, e);
    serialized_free(s);
    free(functions);
    free(offsets);
    free(compiled);
    return ok;
}

const char *cpu_kernels_identity(const struct engine *en)
{
    const struct kernel_cache *cache = ((const struct engine_cpu *)en)->kernels;

    return cache ? kernel_cache_identity(cache) : NULL;
}

void cpu_take_kernel(struct engine *en, const struct engine_kernel *kernel)
{
    if (cpu_of(en)->kernels)
        kernel_cache_add(cpu_of(en)->kernels, kernel);
}

bool cpu_each_kernel(struct executable *executable, bool (*visit)(void *user, const struct engine_kernel *kernel), void *user)
{
    const struct cpu_graph *x = graph_of(executable);
    struct error ignored = {0};
    bool ok = true;

    for (uint32_t i = 0; ok && i < x->compiled.place_count; i++) {
        const struct kernel_place *place = &x->compiled.places[i];
        struct engine_kernel kernel = {0};
        void *bytes = NULL;

        if (place->cached) {
            const struct cached_kernel *k = place->cached;
            kernel = (struct engine_kernel){k->structure, k->code.bytes, k->code.size, k->offset};
        } else if (place->is_compiled && codegen_kernels_flatten(x->compiled.unit, NULL, 1, &place->compiled, &bytes,
                                                                 &kernel.bytes, &kernel.offset, &ignored)) {
            kernel.structure = codegen_kernels_structure(x->compiled.unit, place->compiled);
            kernel.code = bytes;
        }
        ok = !kernel.code || visit(user, &kernel);
        free(bytes);
    }
    return ok;
}

/* ---- running ---- */

struct executable *cpu_wrap(struct engine *en, const struct engine_foreign *f, struct error *e)
{
    struct cpu_graph *x = calloc(1, sizeof *x);

    if (!x)
        return error_null_memory(e);
    x->cpu = cpu_of(en);
    x->foreign = *f;
    return &x->run.base;
}

static bool foreign_run(const struct engine_foreign *f, const struct engine_binding *inputs,
                        const struct engine_binding *outputs, struct error *e)
{
    size_t count = (size_t)f->input_count + f->output_count;
    void *local[32], **pointers = count <= 32 ? local : calloc(count, sizeof *pointers);

    if (!pointers)
        return error_out_of_memory(e);
    for (uint32_t i = 0; i < f->input_count; i++)
        pointers[i] = cpu_binding_pointer(&inputs[i]);
    for (uint32_t i = 0; i < f->output_count; i++)
        pointers[f->input_count + i] = cpu_binding_pointer(&outputs[i]);
    bool ok = f->run(f->user, (const void *const *)pointers, pointers + f->input_count, e);
    if (pointers != local)
        free(pointers);
    return ok;
}

bool cpu_run(struct executable *executable, const struct engine_binding *inputs, const struct engine_binding *outputs,
             const struct engine_stop *stop, struct error *e)
{
    struct cpu_graph *x = graph_of(executable);

    if (x->foreign.run)
        return foreign_run(&x->foreign, inputs, outputs, e);
    return executable_run(&x->run.base, inputs, outputs, stop, e);
}

bool cpu_is_ready(const struct executable *x)
{
    return graph_of(x)->foreign.run || cpu_executable_is_ready(&graph_of(x)->run);
}

bool cpu_is_brief(const struct executable *x)
{
    return cpu_executable_is_brief(&graph_of(x)->run); /* false of a foreign function, of which nothing is known */
}

/* ---- for tools: a foreign function has no steps ---- */

void cpu_print_profile(struct executable *x, FILE *out)
{
    if (!graph_of(x)->foreign.run)
        executable_print_profile(x, out);
}
