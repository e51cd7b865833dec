/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Creates the engine, with its table of functions.
 */
#ifndef WEBNN_OPENCL
#include "runtime/engine/opencl/engine_opencl.h"

struct engine *engine_opencl_create(const struct opencl_choice *choice, const struct debug_options *debug, struct error *e)
{
    (void)choice;
    (void)debug;
    return error_null(e, WNNStatus_NotSupportedError, "this library was built without OpenCL headers: it has no GPU engine");
}

bool engine_opencl_device(uint32_t number, WNNDeviceInfo *out)
{
    (void)number;
    (void)out;
    return false;
}

bool engine_opencl_fastest(bool shared_memory, struct opencl_estimate *out)
{
    (void)shared_memory;
    (void)out;
    return false;
}
#else
#include "runtime/engine/opencl/internal.h"

#include <stdlib.h>

#include "ir/graph/constant_pool.h"
#include "runtime/engine/onednn/library.h"
#include "runtime/host/own_thread.h"
#include "runtime/program/invocation.h"

static void opencl_free(struct engine *en)
{
    struct engine_opencl *o = opencl_of(en);

    opencl_watch_stop(o);
    library_free(o->base.library);
    opencl_programs_free(o);
    constant_pool_release(o->target.pool);
    free(o->memory.buffers);
    free(o->memory.constants.entries);
    free(o->folder);
    if (o->queue) {
        if (!atomic_load(&o->loss.lost))
            o->api->Finish(o->queue);
        o->api->ReleaseCommandQueue(o->queue);
    }
    if (o->context)
        o->api->ReleaseContext(o->context);
    pthread_cond_destroy(&o->watch.idle);
    pthread_cond_destroy(&o->watch.changed);
    pthread_cond_destroy(&o->programs.changed);
    pthread_mutex_destroy(&o->library.lock);
    pthread_mutex_destroy(&o->loss.lock);
    pthread_mutex_destroy(&o->watch.lock);
    pthread_mutex_destroy(&o->programs.lock);
    pthread_mutex_destroy(&o->lock);
    free(o);
}

static const struct target *opencl_target(struct engine *en, struct error *e)
{
    struct engine_opencl *o = opencl_of(en);

    (void)e;
    opencl_library_start(o);
    opencl_probe_instructions(o);
    return &o->target;
}

static void opencl_describe(struct engine *en, WNNDeviceInfo *out)
{
    const struct engine_opencl *o = opencl_of(en);

    opencl_device_info(&o->device, out);
}

static const struct engine_functions opencl_functions = {
    .name = "opencl",
    .free = opencl_free,
    .target = opencl_target,
    .buffer_create = opencl_buffer_create,
    .buffer_free = opencl_buffer_free,
    .buffer_write = opencl_buffer_write,
    .buffer_read = opencl_buffer_read,
    .load = opencl_load,
    .unload = opencl_unload,
    .run = executable_run,
    .optional = {.describe = opencl_describe,
                 .schedule = opencl_schedule,
                 .buffer_wrap = opencl_buffer_wrap,
                 .constant_create = opencl_constant_create,
                 .submit = opencl_submit,
                 .keeps_order = true,
                 .is_lost = opencl_is_lost,
                 .library = &opencl_library,
                 .serialization = &opencl_serialization,
                 .tools = &opencl_tools},
};

/* Creates the locks.  None of these calls fails where threads exist at all. */
static bool init_locks(struct engine_opencl *o)
{
    return pthread_mutex_init(&o->lock, NULL) == 0 && pthread_mutex_init(&o->programs.lock, NULL) == 0 &&
           pthread_mutex_init(&o->watch.lock, NULL) == 0 && pthread_mutex_init(&o->loss.lock, NULL) == 0 &&
           pthread_mutex_init(&o->library.lock, NULL) == 0 && steady_condition_init(&o->programs.changed) &&
           pthread_cond_init(&o->watch.changed, NULL) == 0 && pthread_cond_init(&o->watch.idle, NULL) == 0;
}

/* Passes that pack for vectors or transform for caches ask the instruction set: this one has nothing for them.  Their costs are
 * the baseline's but for those of attention: none was measured on a GPU. */
static struct target target_of_device(const struct opencl_device *d)
{
    struct target t = {.isa = {.vector_bits = 32, .registers = 16},
                       .facts = target_device_facts(d->kind == WNNDeviceKind_Cpu),
                       .thread_count = 1,
                       .compact.unpacks = true,
                       .device = &d->facts};

    t.cache_bytes = t.facts->cache.l2_bytes;
    t.pool = constant_pool_create(); /* without memory for one nothing is shared */
    return t;
}

static bool create_queue(struct engine_opencl *o, const char *device, struct error *e)
{
    const char *call = "clCreateContext";
    cl_int code = CL_SUCCESS;
    char name[24];

    if (!opencl_device_find(o->api, device, &o->device, e))
        return false;
    o->api = o->device.api;
    o->context = o->api->CreateContext(NULL, 1, &o->device.id, NULL, NULL, &code);
    if (code == CL_SUCCESS) {
        call = "clCreateCommandQueue";
        o->queue = o->api->CreateCommandQueue(o->context, o->device.id, 0, &code);
    }
    return code == CL_SUCCESS || error_set(e, WNNStatus_NotSupportedError, "the OpenCL device %s cannot be used: %s: %s",
                                           o->device.name, call, opencl_error_name(code, name));
}

struct engine *engine_opencl_create(const struct opencl_choice *choice, const struct debug_options *debug, struct error *e)
{
    struct engine_opencl *o = calloc(1, sizeof *o);

    if (!o || !init_locks(o)) {
        free(o);
        return error_null_memory(e);
    }
    o->base = (struct engine){.functions = &opencl_functions,
                              .debug = debug,
                              .thread_count = 1,
                              .kind = WNNEngine_Gpu,
                              .exact = "this device computes in float32"};
    o->api = opencl_api_get(e);
    if (o->api && (choice->context ? opencl_share(o, choice, e) : create_queue(o, choice->device, e))) {
        o->target = target_of_device(&o->device);
        o->target.compact.small = debug->flags & DEBUG_PREFER_COMPACT;
        o->base.accelerated = o->device.kind != WNNDeviceKind_Cpu;
        opencl_cache_open(o, choice->cache, choice->ignore_environment);
        opencl_tuning_load(o);
        o->target.compact.panel_columns = o->device.facts.panel_columns;
        if (debug->flags & DEBUG_PROFILE || debug->trace)
            opencl_times_start(o); /* or there are no times */
        return &o->base;
    }
    opencl_free(&o->base);
    return NULL;
}
#endif
