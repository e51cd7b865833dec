/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Implements libwebnn_rt (webnn/webnn_rt.h), which runs programs of compiled objects.
 *
 * A serialized program and a table of kernels become an executable of the CPU (runtime/engine/cpu/cpu_executable.h) with
 * oneDNN's primitives.  It is an engine of the fewest functions, which loads and runs and knows no compiler.  The switches of
 * WEBNN_DEBUG that concern running (profile, isa) hold here, too.
 */
#define _GNU_SOURCE
#include "webnn/webnn_rt.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ir/support/text.h"
#include "ir/target/processor.h"
#include "runtime/program/serialized.h"
#include "runtime/engine/cpu/cpu_executable.h"
#include "runtime/program/invocation.h"
#include "runtime/host/threads.h"
#include "webnn/webnn_object.h"

enum { THREADS_MAX = 1024 };

struct webnn_rt_model {
    struct engine base;
    struct debug_options debug;
    struct cpu_executable executable;
    uint32_t input_count, output_count;
    uint32_t input_slots;
    uint32_t *slots; /* of inputs, then of outputs */
    void *weights;   /* a mapped file */
    size_t weights_bytes;
};

static _Thread_local char last_message[1024];

const char *webnn_rt_message(void)
{
    return last_message;
}

static webnn_rt_status publish(const struct error *e)
{
    snprintf(last_message, sizeof last_message, "%s", e->message);
    switch (e->status) {
    case WNNStatus_TypeError:
        return WEBNN_OBJECT_BAD_ARGUMENT;
    case WNNStatus_UnknownError:
        return WEBNN_OBJECT_NO_MEMORY;
    case WNNStatus_NotSupportedError:
        return WEBNN_OBJECT_UNSUPPORTED;
    case WNNStatus_DataError:
        return WEBNN_OBJECT_BAD_WEIGHTS;
    default:
        return WEBNN_OBJECT_LIBRARY_FAILED;
    }
}

/* ---- the engine ---- */

static bool rt_library_facts(struct engine *en, struct library_facts *out, struct error *e)
{
    struct webnn_rt_model *m = (struct webnn_rt_model *)en;

    if (!m->base.library)
        m->base.library = library_create(m->debug.isa, en->thread_count, NULL, e);
    if (m->base.library) {
        library_allow(m->base.library, WNNPrecision_Float32, m->debug.flags & DEBUG_PREFER_BFLOAT16);
        *out = library_get_facts(m->base.library);
    }
    return m->base.library != NULL;
}

static const struct engine_library rt_library = {
    .step_info = library_step_info,
    .step_free = library_step_free,
};

static const struct engine_saved_steps rt_saved_steps = {
    .step_load = library_step_load,
    .library_facts = rt_library_facts,
};

static const struct engine_serialization rt_serialization = {
    .steps = &rt_saved_steps,
};

/* It only loads compiled objects, so it omits the functions for building, tools and contexts. */
static const struct engine_functions rt_functions = {
    .name = "rt",
    .host_memory = true,
    .buffer_create = cpu_buffer_create,
    .buffer_free = cpu_buffer_free,
    .optional = {.library = &rt_library, .serialization = &rt_serialization},
};

/* ---- creating ---- */

static bool map_weights(struct webnn_rt_model *m, const char *path, struct error *e)
{
    char text[512];
    struct stat s;
    int file = open(path, O_RDONLY | O_CLOEXEC), why = errno;
    void *p = MAP_FAILED;

    if (file >= 0 && fstat(file, &s) == 0 && S_ISREG(s.st_mode) && s.st_size > 0) {
        p = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
        why = errno;
    } else if (file >= 0) {
        why = EINVAL;
    }
    if (file >= 0)
        close(file);
    if (p == MAP_FAILED)
        return error_set(e, WNNStatus_DataError, "weights in %s: %s", escape_text(text, sizeof text, path, strlen(path)),
                         strerror(why));
    m->weights = p;
    m->weights_bytes = (size_t)s.st_size;
    return true;
}

static bool note_slots(struct webnn_rt_model *m, const struct serialized_view *view, struct error *e)
{
    const struct serialized_facts *f = &view->facts;

    m->input_count = f->input_count;
    m->output_count = f->output_count;
    m->input_slots = view->input_slots;
    m->slots = calloc((size_t)f->input_count + f->output_count + 1, sizeof *m->slots);
    if (!m->slots)
        return error_out_of_memory(e);
    for (uint32_t i = 0; i < f->input_count; i++)
        m->slots[i] = f->inputs[i].slot;
    for (uint32_t i = 0; i < f->output_count; i++)
        m->slots[f->input_count + i] = f->outputs[i].slot;
    return true;
}

static bool make_executable(struct webnn_rt_model *m, const struct webnn_rt_program *from, struct program *p, struct error *e)
{
    kernel_function *functions = calloc((size_t)p->step_count + 1, sizeof *functions);

    if (!functions)
        return error_out_of_memory(e);
    for (uint32_t i = 0, kernel = 0; i < p->step_count; i++)
        if (p->steps[i].kind == STEP_KERNEL)
            functions[kernel++] = from->kernels[p->steps[i].run.function];
    bool ok = cpu_executable_init(&m->executable, &m->base, p, functions, e);
    free(functions);
    return ok;
}

static bool load(struct webnn_rt_model *m, const struct webnn_rt_program *from, struct error *e)
{
    struct serialized_source source = {.program = from->image, .bytes = from->image_bytes, .file = -1};
    struct serialized_view view;
    struct program p;

    source.data = m->weights ? m->weights : from->weights;
    source.data_bytes = m->weights ? m->weights_bytes : from->weights_bytes;
    if (!serialized_load(&source, &m->base, NULL, NULL, &p, &view, e))
        return false;
    bool ok = processor_has_features(view.facts.features, e);
    if (ok && (view.kernel_count != from->kernel_count || (from->kernel_count && !from->kernels)))
        ok = error_set(e, WNNStatus_DataError, "the serialized program names %u kernels, the object has %u", view.kernel_count,
                       from->kernel_count);
    ok = ok && note_slots(m, &view, e) && make_executable(m, from, &p, e);
    program_free(&p);
    serialized_view_free(&view);
    return ok;
}

static bool create(struct webnn_rt_model *m, const struct webnn_rt_program *from, const struct webnn_rt_options *options,
                   struct error *e)
{
    uint32_t threads = options && options->threads ? options->threads : threads_default_count(false);

    if (from->version != WEBNN_RT_VERSION)
        return error_set(e, WNNStatus_InvalidStateError, "the object is for version %u of libwebnn_rt's interface, this is %d",
                         from->version, WEBNN_RT_VERSION);
    if (threads > THREADS_MAX)
        return error_set(e, WNNStatus_TypeError, "%u threads are requested, at most %d are possible", threads, THREADS_MAX);
    m->base = (struct engine){.functions = &rt_functions, .debug = &m->debug, .thread_count = threads_ready(threads, NULL)};
    return debug_init(&m->debug, false, NULL, 0, e) &&
           (!options || !options->weights_path || map_weights(m, options->weights_path, e)) && load(m, from, e);
}

webnn_rt_status webnn_rt_create(const struct webnn_rt_program *program, const struct webnn_rt_options *options,
                                struct webnn_rt_model **model)
{
    struct webnn_rt_model *m = program && model ? calloc(1, sizeof *m) : NULL;
    struct error e = {.status = WNNStatus_Success};

    if (model)
        *model = NULL;
    if (!program || !model)
        error_set(&e, WNNStatus_TypeError, "webnn_rt_create: an argument is NULL");
    else if (!m)
        error_out_of_memory(&e);
    else if (create(m, program, options, &e)) {
        *model = m;
        return WEBNN_OBJECT_OK;
    }
    webnn_rt_destroy(m);
    return publish(&e);
}

void webnn_rt_destroy(struct webnn_rt_model *m)
{
    if (!m)
        return;
    cpu_executable_clear(&m->executable);
    library_free(m->base.library);
    debug_free(&m->debug);
    if (m->weights)
        munmap(m->weights, m->weights_bytes);
    free(m->slots);
    free(m);
}

/* ---- running ---- */

struct rt_run {
    struct webnn_rt_model *model;
    const struct engine_binding *inputs, *outputs;
    bool ok;
    struct error e;
};

static void *run_here(void *user)
{
    struct rt_run *r = user;

    r->ok = executable_run(&r->model->executable.base, r->inputs, r->outputs, NULL, &r->e);
    return NULL;
}

/* Regions inside a caller's region would have one thread, which primitives were not made for: a separate thread is in none.
 */
static void run_apart(struct rt_run *r)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, run_here, r) == 0)
        pthread_join(thread, NULL);
    else
        error_set(&r->e, WNNStatus_UnknownError, "no thread could be started");
}

webnn_rt_status webnn_rt_run(struct webnn_rt_model *m, const void *const *inputs, void *const *outputs)
{
    struct engine_binding local[32] = {{.host = NULL}}, *bindings = local;

    if (!m || (m->input_count && !inputs) || (m->output_count && !outputs)) {
        snprintf(last_message, sizeof last_message, "webnn_rt_run: an argument is NULL");
        return WEBNN_OBJECT_BAD_ARGUMENT;
    }
    size_t count = (size_t)m->input_slots + m->output_count;
    struct rt_run r = {.model = m, .e = {.status = WNNStatus_Success}};
    if (count > sizeof local / sizeof *local) {
        bindings = calloc(count, sizeof *bindings);
        if (!bindings) {
            error_out_of_memory(&r.e);
            return publish(&r.e);
        }
    }
    for (uint32_t i = 0; i < m->input_count; i++)
        bindings[m->slots[i]].host = (void *)inputs[i];
    for (uint32_t i = 0; i < m->output_count; i++)
        bindings[m->input_slots + m->slots[m->input_count + i]].host = outputs[i];
    r.inputs = bindings;
    r.outputs = bindings + m->input_slots;
    if (m->base.thread_count > 1 && threads_in_region())
        run_apart(&r);
    else
        run_here(&r);
    if (bindings != local)
        free(bindings);
    return r.ok ? WEBNN_OBJECT_OK : publish(&r.e);
}

/* ---- threads for standalone objects ---- */

/* `user` is the number of threads: there is nothing else to hold. */
static void object_run(void *user, uint32_t parts, void (*part)(void *data, uint32_t i, uint32_t parts), void *data)
{
    struct threads_saved saved = threads_enter(threads_ready((uint32_t)(uintptr_t)user, NULL), NULL);

    threads_run(parts, part, data);
    threads_leave(saved);
}

void webnn_rt_parallel(uint32_t threads, struct webnn_object_parallel *parallel)
{
    uint32_t wanted = threads ? threads : threads_default_count(false), got;

    got = threads_ready(wanted < THREADS_MAX ? wanted : THREADS_MAX, NULL);
    *parallel = (struct webnn_object_parallel){got, object_run, (void *)(uintptr_t)got};
}
