/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The CPU engine: kernels by codegen/, convolutions and products by the library, both on libgomp's threads.
 *
 * In: programs, images.  Out: plans (runtime/plan.c).  Creating the engine only asks what the processor is; the code generator
 * and the library start when the first graph is built, for images only the library.
 */
#include "runtime/engine.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codegen/codegen.h"
#include "runtime/code.h"
#include "runtime/image.h"
#include "runtime/memory.h"
#include "runtime/plan.h"

/* Without an answer from the system: what most cores have at least. */
enum { CACHE_BYTES_DEFAULT = 1 << 20 };

struct engine_cpu {
    struct engine base;
    struct arena arena; /* the target's strings */
    struct target target;
    pthread_mutex_t lock; /* of the lazy start */
    bool started;         /* codegen and, unless it is switched off, library */
    struct codegen *codegen;
    struct library *library;
    atomic_uint plans; /* numbers dumps */
};

struct executable {
    struct engine_cpu *cpu;
    struct plan *plan;
    struct image *image; /* for saving; refers to what the plan holds */
    /* where the code comes from: compiled, */
    struct codegen_unit *unit;
    uint32_t kernel_count; /* under the switches sanitize (code is compiled anew when it is saved) and keep-kernels */
    struct kernel **kernels;
    /* or of an image */
    struct code_mapping code;
    uint64_t *code_offsets; /* by image's kernel */
    void (*release)(void *user);
    void *release_user;
    /* or it is not the engine's at all; run NULL: it is */
    struct engine_foreign foreign;
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

static bool cpu_start_library(struct engine_cpu *cpu, struct error *e)
{
    if (cpu->library)
        return true;
    cpu->library = library_create(cpu->base.debug->isa, cpu->base.thread_count, e);
    if (cpu->library)
        library_allow(cpu->library, cpu->base.precision, cpu->base.debug->flags & DEBUG_PREFER_BFLOAT16);
    if (cpu->library && cpu->base.keep_weights)
        library_keep_weights(cpu->library);
    return cpu->library != NULL;
}

static bool cpu_start(struct engine_cpu *cpu, struct error *e)
{
    if (!cpu->codegen)
        cpu->codegen = codegen_create(&cpu->target, cpu->base.debug, e);
    if (!cpu->codegen)
        return false;
    if (!(cpu->base.debug->flags & DEBUG_NO_LIBRARY)) {
        if (!cpu_start_library(cpu, e))
            return false;
        cpu->target.bfloat16_rate = library_bfloat16_rate(cpu->library);
        if (cpu->base.debug->bfloat16_rate > 0 && cpu->target.bfloat16_rate > 0)
            cpu->target.bfloat16_rate = cpu->base.debug->bfloat16_rate;
        library_compare(cpu->library, &cpu->target);
        cpu->target.takes_node = cpu->base.debug->flags & DEBUG_PREFER_LIBRARY ? library_takes_node : library_wants_node;
        cpu->target.narrows_node = library_narrows_node;
        cpu->target.narrows_input = library_narrows_input;
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
    return library_step_prepare(cpu_of(en)->library, nodes, count, shares_output, user, e);
}

static struct library_step *cpu_step_load(struct engine *en, struct image_in *in, uint32_t place_count,
                                          const struct place *places, struct error *e)
{
    return library_step_load(cpu_of(en)->library, in, place_count, places, e);
}

static bool cpu_library_facts(struct engine *en, struct library_facts *out, struct error *e)
{
    struct engine_cpu *cpu = cpu_of(en);

    if (en->debug->flags & DEBUG_NO_LIBRARY)
        return error_set(e, WNNStatus_NotSupportedError, "the compiled graph uses oneDNN, which this context has switched off");
    pthread_mutex_lock(&cpu->lock);
    bool ok = cpu_start_library(cpu, e);
    pthread_mutex_unlock(&cpu->lock);
    if (ok)
        *out = library_get_facts(cpu->library);
    return ok;
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
    image_free(x->image);
    if (x->unit)
        codegen_unit_free(x->unit);
    for (uint32_t i = 0; i < x->kernel_count; i++)
        kernel_free(x->kernels[i]);
    free(x->kernels);
    code_unmap(&x->code);
    free(x->code_offsets);
    if (x->release)
        x->release(x->release_user);
    if (x->foreign.free)
        x->foreign.free(x->foreign.user);
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

/* Under the sanitizer, code that can be saved is made when it is: takes over the kernels that were compiled.  In step order. */
static bool cpu_keep_kernels(struct executable *x, struct program *p, uint32_t count, struct error *e)
{
    if (!(x->cpu->base.debug->flags & (DEBUG_SANITIZE | DEBUG_KEEP_KERNELS)) || count == 0)
        return true;
    x->kernels = calloc(count, sizeof *x->kernels);
    if (!x->kernels)
        return error_out_of_memory(e);
    for (uint32_t i = 0; i < p->step_count; i++)
        if (p->steps[i].kind == STEP_KERNEL) {
            x->kernels[x->kernel_count++] = p->steps[i].kernel;
            p->steps[i].kernel = NULL;
        }
    return true;
}

static struct executable *cpu_load(struct engine *en, struct program *p, struct error *e)
{
    struct engine_cpu *cpu = cpu_of(en);
    struct executable *x = calloc(1, sizeof *x);
    struct kernel **kernels = calloc((size_t)p->step_count + 1, sizeof(struct kernel *));
    kernel_function *functions = calloc((size_t)p->step_count + 1, sizeof *functions);
    bool ok = x && kernels && functions;
    uint32_t count = 0;

    if (en->debug->flags & DEBUG_DUMP_PLAN)
        cpu_dump_plan(cpu, p);
    if (!ok)
        error_out_of_memory(e);
    if (ok) {
        x->cpu = cpu;
        count = program_kernels(p, kernels);
        ok = cpu_compile(cpu, count, kernels, &x->unit, functions, e);
    }
    ok = ok && (x->image = image_create(p, (const void *const *)functions, false, e)) != NULL;
    ok = ok && cpu_keep_kernels(x, p, count, e);
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

/* ---- images ---- */

/* A function for each kernel step of a program from an image. */
static kernel_function *image_functions(const struct executable *x, const struct program *p, const struct image_view *view)
{
    kernel_function *functions = calloc((size_t)p->step_count + 1, sizeof *functions);

    for (uint32_t i = 0, kernel = 0; functions && i < p->step_count; i++)
        if (p->steps[i].kind == STEP_KERNEL) {
            uintptr_t at = (uintptr_t)x->code.bytes + (uintptr_t)view->offsets[p->steps[i].run.function];
            functions[kernel++] = (kernel_function)at;
        }
    return functions;
}

/* Where the kernels' code starts, for saving once more. */
static bool cpu_note_offsets(struct executable *x, const kernel_function *functions, struct error *e)
{
    uint32_t count = image_kernel_count(x->image);

    x->code_offsets = calloc((size_t)count + 1, sizeof *x->code_offsets);
    if (!x->code_offsets)
        return error_out_of_memory(e);
    for (uint32_t i = 0; i < count; i++)
        x->code_offsets[i] = (uintptr_t)functions[image_kernel_steps(x->image)[i]] - (uintptr_t)x->code.bytes;
    return true;
}

/* Code, image and plan of a program from an image. */
static bool cpu_open_image(struct executable *x, const struct image_source *source, struct program *p,
                           const struct image_view *view, struct error *e)
{
    struct engine_cpu *cpu = x->cpu;

    if (view->code_bytes == 0 && view->kernel_count > 0)
        return error_set(e, WNNStatus_DataError, "the compiled graph is part of an object and has no code of its own");
    if (!code_map(source, view->code_offset, view->code_bytes, &x->code, e))
        return false;

    kernel_function *functions = image_functions(x, p, view);
    if (!functions)
        return error_out_of_memory(e);
    x->image = image_create(p, (const void *const *)functions, false, e);
    if (x->image && cpu_note_offsets(x, functions, e))
        x->plan = plan_create(p, functions, cpu->base.thread_count, cpu->base.debug, e);
    free(functions);
    return x->plan != NULL;
}

static struct executable *cpu_load_image(struct engine *en, const struct image_source *source, void (*release)(void *user),
                                         void *user, struct image_view *view, struct error *e)
{
    struct engine_cpu *cpu = cpu_of(en);
    struct executable *x = calloc(1, sizeof *x);
    struct program p;

    if (!x) {
        error_out_of_memory(e);
        return NULL;
    }
    x->cpu = cpu;
    if (!image_load(source, en, cpu->target.triple, cpu->target.features, &p, view, e)) {
        free(x);
        return NULL;
    }
    if (en->debug->flags & DEBUG_DUMP_PLAN)
        cpu_dump_plan(cpu, &p);
    bool ok = cpu_open_image(x, source, &p, view, e);
    program_free(&p);
    if (!ok) {
        image_view_free(view);
        cpu_unload(x);
        return NULL;
    }
    x->release = release;
    x->release_user = user;
    return x;
}

/* The kernels' code in the order of the image's kernels; what is new in *code is for free(). */
static bool cpu_flatten(struct executable *x, void **bytes, size_t *size, uint64_t *offsets, struct error *e)
{
    const uint32_t *steps = image_kernel_steps(x->image);
    uint32_t count = image_kernel_count(x->image);

    if (x->unit)
        return codegen_unit_flatten(x->unit, x->kernels, count, steps, bytes, size, offsets, e);
    *size = x->code.size;
    *bytes = malloc(*size ? *size : 1);
    if (!*bytes)
        return error_out_of_memory(e);
    if (*size)
        memcpy(*bytes, x->code.bytes, *size);
    if (count)
        memcpy(offsets, x->code_offsets, count * sizeof *offsets);
    return true;
}

static bool cpu_save(struct executable *x, uint32_t input_count, const struct image_binding *inputs, uint32_t output_count,
                     const struct image_binding *outputs, image_sink sink, void *user, struct error *e)
{
    const struct target *t = &x->cpu->target;
    struct image_facts facts = {t->triple, t->features, input_count, output_count, inputs, outputs};
    void *bytes = NULL;
    size_t size = 0;

    if (!x->image)
        return error_set(e, WNNStatus_NotSupportedError,
                         "the graph was loaded from a shared object, which is what is to be kept");
    uint64_t *offsets = calloc((size_t)image_kernel_count(x->image) + 1, sizeof *offsets);
    if (!offsets)
        return error_out_of_memory(e);
    bool ok = cpu_flatten(x, &bytes, &size, offsets, e);
    if (ok) {
        struct image_code code = {bytes, size, offsets};
        ok = image_write(x->image, &facts, &code, false, sink, user, e);
    }
    free(bytes);
    free(offsets);
    return ok;
}

/* ---- running ---- */

static struct executable *cpu_wrap(struct engine *en, const struct engine_foreign *f, struct error *e)
{
    struct executable *x = calloc(1, sizeof *x);

    if (!x) {
        error_out_of_memory(e);
        return NULL;
    }
    x->cpu = cpu_of(en);
    x->foreign = *f;
    return x;
}

static void *binding_pointer(const struct engine_binding *b)
{
    return b->buffer ? b->buffer->data : b->host;
}

static bool foreign_run(const struct engine_foreign *f, const struct engine_binding *inputs,
                        const struct engine_binding *outputs, struct error *e)
{
    size_t count = (size_t)f->input_count + f->output_count;
    void *local[32], **pointers = count <= 32 ? local : calloc(count, sizeof *pointers);

    if (!pointers)
        return error_out_of_memory(e);
    for (uint32_t i = 0; i < f->input_count; i++)
        pointers[i] = binding_pointer(&inputs[i]);
    for (uint32_t i = 0; i < f->output_count; i++)
        pointers[f->input_count + i] = binding_pointer(&outputs[i]);
    bool ok = f->run(f->user, (const void *const *)pointers, pointers + f->input_count, e);
    if (pointers != local)
        free(pointers);
    return ok;
}

static bool cpu_run(struct executable *x, const struct engine_binding *inputs, const struct engine_binding *outputs,
                    const atomic_bool *stop, struct error *e)
{
    if (x->foreign.run)
        return foreign_run(&x->foreign, inputs, outputs, e);
    return plan_run(x->plan, inputs, outputs, stop, e);
}

static bool cpu_is_brief(const struct executable *x)
{
    return x->plan && plan_is_brief(x->plan);
}

static void cpu_measure(struct executable *x)
{
    if (x->plan)
        plan_measure(x->plan);
}

static void cpu_facts(const struct executable *x, struct executable_facts *out)
{
    *out = (struct executable_facts){0};
    if (x->plan)
        plan_facts(x->plan, out);
}

static void cpu_step_facts(const struct executable *x, uint32_t step, struct step_facts *out)
{
    struct error ignored = {0};
    struct codegen_work work;
    uint32_t kernel = plan_step_kernel(x->plan, step);

    plan_step_facts(x->plan, step, out);
    if (kernel < x->kernel_count && codegen_count_work(x->cpu->codegen, x->kernels[kernel], &work, &ignored)) {
        out->operations = 2 * work.instructions * out->calls;
        out->divisions = work.divisions * out->calls;
    }
}

static void cpu_print_profile(struct executable *x, FILE *out)
{
    if (!x->plan)
        return;
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
    .step_finish = library_step_finish,
    .step_info = library_step_info,
    .step_free = library_step_free,
    .step_save = library_step_save,
    .step_is_packed = library_step_is_packed,
    .step_load = cpu_step_load,
    .library_facts = cpu_library_facts,
    .load = cpu_load,
    .load_image = cpu_load_image,
    .wrap = cpu_wrap,
    .save = cpu_save,
    .unload = cpu_unload,
    .run = cpu_run,
    .is_brief = cpu_is_brief,
    .measure = cpu_measure,
    .facts = cpu_facts,
    .step_facts = cpu_step_facts,
    .step_alone = library_step_alone,
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
    return &cpu->base;
}
