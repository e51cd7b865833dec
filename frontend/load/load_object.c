/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes graphs of shared objects that webnnc made: they describe themselves, and are called through libffi with their own
 * prototypes.
 *
 * The graph's executable calls PREFIX_run, or PREFIX_run_with on the context's threads.  The description has to be of this
 * version and consistent.  Whether its functions are what it says cannot be checked: opening a shared object runs it.
 */
#include "frontend/load/load.h"

#include <dlfcn.h>
#include <ffi.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "ir/graph/constant.h"
#include "ir/support/text.h"
#include "ir/target/processor.h"
#include "runtime/api/context.h"
#include "runtime/api/runtime.h"
#include "runtime/host/threads.h"
#include "webnn/webnn_object.h"

enum { TENSORS_MAX = 4096 };

struct loaded_object {
    void *handle;
    const struct webnn_object *object;
    uint32_t threads;
    const struct webnn_object_parallel *parallel; /* the context's, or NULL */
    void *model;                                  /* WEBNN_OBJECT_HAS_MODEL */
    ffi_cif cif;                                  /* of run or run_with */
    ffi_type **types;
    size_t workspace_bytes;
    _Atomic(struct constant *) workspace; /* of the last run, for the next */
};

/* ---- running ---- */

/* Runs the parts of the object's parallel-for on the context's threads. */
static void run_parts(void *user, uint32_t count, void (*part)(void *data, uint32_t i, uint32_t parts), void *data)
{
    (void)user;
    threads_run(count, part, data);
}

/* Calls run(first..., inputs, outputs): every argument is a pointer. */
static int call(struct loaded_object *o, webnn_object_function function, uint32_t first_count, void **first,
                const void *const *inputs, void *const *outputs)
{
    uint32_t ins = o->object->input_count, outs = o->object->output_count, n = 0;
    void *local[64], **args = first_count + ins + outs <= 64 ? local : calloc(first_count + ins + outs, sizeof *args);
    ffi_arg result = 0;

    if (!args)
        return WEBNN_OBJECT_NO_MEMORY;
    for (uint32_t i = 0; i < first_count; i++)
        args[n++] = &first[i];
    for (uint32_t i = 0; i < ins; i++)
        args[n++] = (void *)&inputs[i];
    for (uint32_t i = 0; i < outs; i++)
        args[n++] = (void *)&outputs[i];
    ffi_call(&o->cif, function, &result, args);
    if (args != local)
        free(args);
    return (int)result;
}

static int run_alone(struct loaded_object *o, const void *const *inputs, void *const *outputs)
{
    struct constant *workspace = atomic_exchange(&o->workspace, NULL);
    struct webnn_object_parallel parallel = {o->threads, run_parts, NULL};

    if (!workspace)
        workspace = constant_create(NULL, o->workspace_bytes);
    if (!workspace)
        return WEBNN_OBJECT_NO_MEMORY;

    void *first[] = {(void *)workspace->data, &parallel};
    struct threads_saved saved = threads_enter(threads_ready(o->threads, o->parallel), o->parallel);
    int code = call(o, o->object->run_with, 2, first, inputs, outputs);
    threads_leave(saved);
    constant_release(atomic_exchange(&o->workspace, workspace));
    return code;
}

static bool object_run(void *user, const void *const *inputs, void *const *outputs, struct error *e)
{
    struct loaded_object *o = user;
    int code = o->model ? call(o, o->object->run, 1, &o->model, inputs, outputs) : run_alone(o, inputs, outputs);

    return code == WEBNN_OBJECT_OK ||
           error_set(e, WNNStatus_OperationError, "%.80s_run: %s", o->object->prefix, webnn_object_status_text(code));
}

static void object_free(void *user)
{
    struct loaded_object *o = user;

    if (o->model)
        ((void (*)(void *))o->object->destroy)(o->model);
    constant_release(atomic_load(&o->workspace));
    if (o->handle)
        dlclose(o->handle);
    free(o->types);
    free(o);
}

/* ---- opening ---- */

static bool open_object(struct loaded_object *o, const char *path, struct error *e)
{
    char text[512];
    size_t length = strlen(path);
    char *there = malloc(length + 3); /* a name without a slash would be looked for elsewhere */

    if (!there)
        return error_out_of_memory(e);
    snprintf(there, length + 3, "%s%s", strchr(path, '/') ? "" : "./", path);
    o->handle = dlopen(there, RTLD_NOW | RTLD_LOCAL);
    free(there);
    if (!o->handle) {
        const char *why = dlerror();
        return error_set(e, WNNStatus_DataError, "loading a graph: %s", escape_text(text, sizeof text, why, strlen(why)));
    }
    o->object = dlsym(o->handle, WEBNN_OBJECT_SYMBOL);
    escape_text(text, sizeof text, path, length);
    if (!o->object)
        return error_set(e, WNNStatus_DataError, "loading a graph: %s is not a shared object of webnnc: it has no %s", text,
                         WEBNN_OBJECT_SYMBOL);
    if (o->object->magic == WEBNN_OBJECT_MAGIC && o->object->version == WEBNN_OBJECT_SIZES_VERSION)
        return error_set(
            e, WNNStatus_NotSupportedError,
            "loading a graph: %s was compiled for several sizes, which programs give its functions themselves; compile "
            "it for one (webnnc --dim)",
            text);
    if (o->object->magic != WEBNN_OBJECT_MAGIC || o->object->version != WEBNN_OBJECT_VERSION ||
        o->object->bytes != sizeof *o->object)
        return error_set(e, WNNStatus_NotSupportedError,
                         "loading a graph: %s has version %u of the description, this library reads %d", text,
                         o->object->version, WEBNN_OBJECT_VERSION);
    return true;
}

/* The description's target is triple, processor and, if there are any, features. */
static bool check_processor(const struct webnn_object *d, struct error *e)
{
    const char *cpu = d->target ? strchr(d->target, ' ') : NULL, *features = cpu ? strchr(cpu + 1, ' ') : NULL;

    return !features || processor_has_features(features + 1, e);
}

static bool check_functions(const struct webnn_object *d, struct error *e)
{
    bool model = (d->flags & WEBNN_OBJECT_HAS_MODEL) != 0;

    if (d->prefix && d->input_count <= TENSORS_MAX && d->output_count <= TENSORS_MAX && (d->inputs || !d->input_count) &&
        (d->outputs || !d->output_count) && d->run && (model ? d->create && d->destroy : d->workspace_size && d->run_with))
        return true;
    return error_set(e, WNNStatus_DataError, "loading a graph: the object's description is not complete");
}

static bool describe(const char *what, uint32_t count, const struct webnn_object_tensor *tensors, struct arena *a,
                     const struct graph_binding **out, struct error *e)
{
    struct graph_binding *b = arena_array(a, count, sizeof *b);

    if (!b)
        return error_out_of_memory(e);
    for (uint32_t i = 0; i < count; i++) {
        const struct webnn_object_tensor *t = &tensors[i];
        char label[64];

        snprintf(label, sizeof label, "loading a graph: %s %u of the object", what, i);
        if (!t->name || t->rank > RANK_MAX || (t->rank > 0 && !t->shape) || !dtype_is_public((dtype)t->type))
            return error_set(e, WNNStatus_DataError, "%s is not described", label);
        b[i] = (struct graph_binding){.name = t->name, .name_length = strlen(t->name), .slot = i};
        if (!type_from_descriptor((WNNOperandDataType)t->type, t->rank, t->shape, label, &b[i].type, e))
            return false;
        if ((uint64_t)type_bytes(&b[i].type) != t->bytes)
            return error_set(e, WNNStatus_DataError, "%s has %llu bytes, its shape has %lld", label,
                             (unsigned long long)t->bytes, (long long)type_bytes(&b[i].type));
    }
    *out = b;
    return true;
}

static bool prepare_call(struct loaded_object *o, struct error *e)
{
    uint32_t first = o->object->flags & WEBNN_OBJECT_HAS_MODEL ? 1 : 2;
    uint32_t count = first + o->object->input_count + o->object->output_count;

    o->types = calloc(count, sizeof *o->types);
    if (!o->types)
        return error_out_of_memory(e);
    for (uint32_t i = 0; i < count; i++)
        o->types[i] = &ffi_type_pointer;
    return ffi_prep_cif(&o->cif, FFI_DEFAULT_ABI, count, &ffi_type_sint, o->types) == FFI_OK ||
           error_set(e, WNNStatus_UnknownError, "loading a graph: libffi cannot call functions with %u arguments", count);
}

static bool prepare_state(struct loaded_object *o, struct error *e)
{
    if (!(o->object->flags & WEBNN_OBJECT_HAS_MODEL)) {
        o->workspace_bytes = ((size_t (*)(uint32_t))o->object->workspace_size)(o->threads);
        return true;
    }
    struct webnn_object_options options = WEBNN_OBJECT_OPTIONS_INIT;
    options.threads = o->parallel ? 1 : o->threads; /* a model has its own threads */
    int code = ((int (*)(const struct webnn_object_options *, void **))o->object->create)(&options, &o->model);
    if (code == WEBNN_OBJECT_OK && o->model)
        return true;
    o->model = NULL;
    return error_set(e, WNNStatus_NotSupportedError, "loading a graph: %.80s_create: %s", o->object->prefix,
                     webnn_object_status_text(code));
}

/* Objects compute in the memory of the host. */
static bool can_wrap(WNNContext context, const char *path, struct error *e)
{
    const struct engine_functions *f = context->engine->functions;
    char text[512], what[sizeof text + 24];

    snprintf(what, sizeof what, "loading a graph: %s", escape_text(text, sizeof text, path, strlen(path)));
    return (f->optional.serialization && f->optional.serialization->wrap) ||
           serialized_is_for_other(what, WNNEngine_Cpu, context->engine, e);
}

WNNGraph load_object(WNNContext context, const char *path, struct error *e)
{
    struct loaded_object *o = calloc(1, sizeof *o);
    struct serialized_facts facts = {0};
    struct arena arena = {0};
    WNNGraph graph = NULL;

    if (!o)
        return error_null_memory(e);
    if (!can_wrap(context, path, e)) {
        free(o);
        return NULL;
    }
    atomic_init(&o->workspace, NULL);
    o->threads = context->engine->thread_count;
    o->parallel = context->engine->parallel;
    bool ok = open_object(o, path, e) && check_processor(o->object, e) && check_functions(o->object, e) &&
              describe("input", o->object->input_count, o->object->inputs, &arena, &facts.inputs, e) &&
              describe("output", o->object->output_count, o->object->outputs, &arena, &facts.outputs, e) &&
              prepare_call(o, e) && prepare_state(o, e);
    if (ok) {
        facts.input_count = o->object->input_count;
        facts.output_count = o->object->output_count;
        struct engine_foreign foreign = {facts.input_count, facts.output_count, object_run, object_free, o};
        struct executable *x = context->engine->functions->optional.serialization->wrap(context->engine, &foreign, e);
        if (x)
            o = NULL; /* its executable's */
        graph = x ? runtime_graph_of(context, x, facts.input_count, &facts, e) : NULL;
    }
    if (o)
        object_free(o);
    arena_free(&arena);
    return graph;
}
