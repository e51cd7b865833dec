/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Steps of oneDNN on the device.
 *
 * In: library clusters, and steps that were made of them.  Out: commands in the engine's queue, between those of the kernels.
 *
 * Kernels get a buffer and an offset, oneDNN a memory object.  One that begins inside a buffer is a sub-buffer where the device
 * lets one begin there, which in arenas is everywhere (target.storage_alignment); parts of a concat, slices, and steps of a
 * loop may begin anywhere, and are copied from and to a memory object of their own.  An invocation keeps these objects and
 * the sub-buffers of its own memory; runs use them one after another, since the queue is in order.  Sub-buffers of the caller's
 * tensors are made for every run and released with it: they would keep the buffers of tensors alive that are gone.
 */
#include "runtime/engine/opencl/opencl_executable.h"

#include <stdlib.h>

#include "runtime/engine/onednn/gpu/library_gpu.h"

_Static_assert((int)OPENCL_SCRATCH_AREAS >= (int)LIBRARY_GPU_SCRATCH_MAX, "scratch areas of a step");

/* ---- start ---- */

static void let_target_ask(struct engine_opencl *o)
{
    struct target *t = &o->target;

    t->takes_node = library_takes_node;
    t->takes_operand = library_takes_operand;
    t->takes_epilogue = library_takes_epilogue;
    t->takes_quantized = library_takes_quantized;
    t->user = o->base.library;
    t->prefers_nhwc = true; /* oneDNN's convolutions of floats read no plain nchw but by reference implementations */
    t->storage_alignment = (int64_t)o->device.part_alignment;
}

void opencl_library_start(struct engine_opencl *o)
{
    const uint32_t flags = o->base.debug->flags;
    const struct library_gpu_options options = {.owner = &o->base,
                                                .context = o->context,
                                                .device = o->device.id,
                                                .isa = o->base.debug->isa,
                                                .references = (flags & DEBUG_REFERENCE_LIBRARY) != 0};

    pthread_mutex_lock(&o->library.lock);
    /* oneDNN calls the system's OpenCL, which knows no objects of another one. */
    if (!o->library.started && !(flags & DEBUG_NO_LIBRARY) && opencl_api_is_the_systems()) {
        o->base.library = library_gpu_create(&options);
        if (o->base.library)
            let_target_ask(o);
    }
    o->library.started = true;
    pthread_mutex_unlock(&o->library.lock);
}

/* ---- making steps ---- */

static bool step_finish(struct library_step *s, struct error *e)
{
    return library_step_finish(s, e) && library_gpu_upload(s, e);
}

const struct engine_library opencl_library = {
    .step_may_share = library_may_share,
    .step_create = library_step_prepare,
    .step_finish = step_finish,
    .step_info = library_step_info,
    .step_free = library_gpu_step_free,
};

/* ---- saved steps ---- */

struct library_step *opencl_step_load(struct library *l, struct stream_reader *in, uint32_t location_count,
                                      const struct location *locations, struct error *e)
{
    struct library_step *s = library_step_load(l, in, location_count, locations, e);

    if (!s || library_gpu_upload(s, e))
        return s;
    library_gpu_step_free(s);
    return NULL;
}

bool opencl_library_facts(struct engine *en, struct library_facts *out, struct error *e)
{
    struct engine_opencl *o = opencl_of(en);

    opencl_library_start(o);
    if (!o->base.library)
        return error_set(e, WNNStatus_NotSupportedError,
                         "the compiled graph uses oneDNN on a GPU, which this build, this context or the OpenCL device %s has "
                         "not; compile the model again here, or save it from a context with the debug switch no-library",
                         o->device.name);
    *out = library_get_facts(o->base.library);
    return true;
}

/* ---- what an invocation has ---- */

/* The memory object of an operand that does not change from run to run, NULL: it does. */
static cl_mem fixed_memory(const struct opencl_run *run, const struct library_gpu_operand *operand)
{
    const struct engine_buffer *b = operand->source == LIBRARY_GPU_CONSTANT  ? operand->buffer
                                    : operand->source == LIBRARY_GPU_SCRATCH ? run->scratch[operand->index]
                                                                             : NULL;

    return b ? ((const struct opencl_buffer *)b)->memory : NULL;
}

static bool create_scratch(struct invocation *i, struct error *e)
{
    const struct executable *x = i->executable;
    struct library_gpu_operand operands[LIBRARY_GPU_OPERANDS_MAX];
    int64_t bytes[OPENCL_SCRATCH_AREAS] = {0};

    for (uint32_t step = 0; step < x->step_count; step++) {
        const uint32_t count = x->steps[step].kind == STEP_LIBRARY ? library_gpu_operands(x->steps[step].library, operands) : 0;

        for (uint32_t k = 0; k < count; k++)
            if (operands[k].source == LIBRARY_GPU_SCRATCH && operands[k].index >= OPENCL_SCRATCH_AREAS)
                return error_set(e, WNNStatus_OperationError, "internal error: a step of oneDNN wants too many scratch areas");
            else if (operands[k].source == LIBRARY_GPU_SCRATCH && operands[k].bytes > bytes[operands[k].index])
                bytes[operands[k].index] = operands[k].bytes;
    }
    for (uint32_t k = 0; k < OPENCL_SCRATCH_AREAS; k++)
        if (bytes[k] && !(opencl_run_of(i)->scratch[k] = opencl_buffer_create(x->engine, (size_t)bytes[k], e)))
            return false;
    return true;
}

static bool has_library_steps(const struct executable *x)
{
    for (uint32_t step = 0; step < x->step_count; step++)
        if (x->steps[step].kind == STEP_LIBRARY)
            return true;
    return false;
}

bool opencl_library_bind(struct invocation *i, struct error *e)
{
    const struct executable *x = i->executable;
    struct opencl_run *run = opencl_run_of(i);
    struct library_gpu_operand operands[LIBRARY_GPU_OPERANDS_MAX];
    void *memory[LIBRARY_GPU_OPERANDS_MAX];

    if (!has_library_steps(x))
        return true;
    run->bindings = calloc(x->step_count, sizeof(struct library_gpu_bindings *));
    run->parts = calloc((size_t)x->address_count + 1, sizeof *run->parts);
    if (!run->bindings || !run->parts)
        return error_out_of_memory(e);
    if (!create_scratch(i, e))
        return false;
    for (uint32_t step = 0; step < x->step_count; step++) {
        if (x->steps[step].kind != STEP_LIBRARY)
            continue;
        const uint32_t count = library_gpu_operands(x->steps[step].library, operands);
        for (uint32_t k = 0; k < count; k++)
            memory[k] = fixed_memory(run, &operands[k]);
        run->bindings[step] = library_gpu_bindings_create(x->steps[step].library, memory, e);
        if (!run->bindings[step])
            return false;
    }
    return true;
}

static void release_parts(struct invocation *i)
{
    const struct opencl_api *api = opencl_of(i->executable->engine)->api;
    const struct opencl_run *run = opencl_run_of(i);

    for (uint32_t k = 0; run->parts && k < i->executable->address_count; k++) {
        if (run->parts[k].part)
            api->ReleaseMemObject(run->parts[k].part);
        if (run->parts[k].copy)
            api->ReleaseMemObject(run->parts[k].copy);
    }
}

void opencl_library_unbind(struct invocation *i)
{
    struct opencl_run *run = opencl_run_of(i);

    for (uint32_t step = 0; run->bindings && step < i->executable->step_count; step++)
        library_gpu_bindings_free(run->bindings[step]);
    free(run->bindings);
    release_parts(i);
    free(run->parts);
    for (uint32_t k = 0; k < OPENCL_SCRATCH_AREAS; k++)
        if (run->scratch[k])
            opencl_buffer_free(i->executable->engine, run->scratch[k]);
}

/* ---- running ---- */

/* A value that a step reads or writes, as a memory object. */
struct operand_memory {
    cl_mem whole;
    cl_ulong offset;
    size_t bytes;
    cl_mem part; /* NULL: it is the whole */
    bool owned;  /* whether the part is released after the run; else the invocation keeps it */
    bool copied; /* part is not a part of the whole, but has a copy of its bytes */
};

/* Returns false where none can be made: at most offsets, and in memory of the application's that is a sub-buffer itself. */
static bool make_sub_buffer(struct invocation *i, uint32_t address, struct operand_memory *m)
{
    struct engine_opencl *o = opencl_of(i->executable->engine);
    struct opencl_parts *kept = &opencl_run_of(i)->parts[address];
    const bool own = m->whole == ((const struct opencl_buffer *)i->memory)->memory;
    const cl_buffer_region region = {(size_t)m->offset, m->bytes};
    cl_int code = CL_SUCCESS;

    if (!o->device.part_alignment || m->offset % o->device.part_alignment != 0)
        return false;
    if (own && kept->part && kept->address == i->addresses[address]) {
        m->part = kept->part;
        return true;
    }
    cl_mem part = o->api->CreateSubBuffer(m->whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
    if (code != CL_SUCCESS)
        return false;
    m->part = part;
    m->owned = !own;
    if (!own)
        return true;
    if (kept->part) /* of another iteration of a loop; commands in the queue keep what they use */
        o->api->ReleaseMemObject(kept->part);
    kept->part = part;
    kept->address = i->addresses[address];
    return true;
}

static bool make_copy(struct invocation *i, uint32_t address, struct operand_memory *m)
{
    struct engine_opencl *o = opencl_of(i->executable->engine);
    struct opencl_parts *kept = &opencl_run_of(i)->parts[address];
    cl_int code = CL_SUCCESS;

    if (!kept->copy) {
        cl_mem made = o->api->CreateBuffer(o->context, CL_MEM_READ_WRITE, m->bytes, NULL, &code);
        if (code != CL_SUCCESS)
            return opencl_step_failed(i, "clCreateBuffer", code);
        kept->copy = made;
    }
    m->part = kept->copy;
    m->copied = true;
    return true;
}

static bool make_part(struct invocation *i, uint32_t address, struct operand_memory *m)
{
    return !m->offset || make_sub_buffer(i, address, m) || make_copy(i, address, m);
}

static bool copy(struct invocation *i, const struct operand_memory *m, bool back)
{
    struct engine_opencl *o = opencl_of(i->executable->engine);
    const cl_int code = back ? o->api->EnqueueCopyBuffer(o->queue, m->part, m->whole, 0, m->offset, m->bytes, 0, NULL, NULL)
                             : o->api->EnqueueCopyBuffer(o->queue, m->whole, m->part, m->offset, 0, m->bytes, 0, NULL, NULL);

    return code == CL_SUCCESS || opencl_step_failed(i, "clEnqueueCopyBuffer", code);
}

/* The queue that the library was told of is another one once times are noted. */
static bool use_queue(struct invocation *i)
{
    struct engine_opencl *o = opencl_of(i->executable->engine);

    if (o->library.queue == o->queue)
        return true;
    if (!library_gpu_use_queue(o->base.library, o->queue)) {
        snprintf(i->failure, sizeof i->failure, "oneDNN does not accept the queue of the OpenCL device %s", o->device.name);
        return false;
    }
    o->library.queue = o->queue;
    return true;
}

static bool run_on(struct invocation *i, uint32_t step, const struct operand_memory *values)
{
    const struct executable_step *s = &i->executable->steps[step];
    const struct opencl_run *run = opencl_run_of(i);
    struct engine_opencl *o = opencl_of(i->executable->engine);
    struct library_gpu_operand operands[LIBRARY_GPU_OPERANDS_MAX];
    void *memory[LIBRARY_GPU_OPERANDS_MAX];
    const uint32_t count = library_gpu_operands(s->library, operands);
    const char *why;

    for (uint32_t k = 0; k < count; k++) {
        const struct operand_memory *v = operands[k].source == LIBRARY_GPU_INPUT    ? &values[operands[k].index]
                                         : operands[k].source == LIBRARY_GPU_OUTPUT ? &values[s->count - 1]
                                                                                    : NULL;
        memory[k] = !v ? fixed_memory(run, &operands[k]) : v->part ? v->part : v->whole;
    }
    if (!use_queue(i))
        return false;
    if (library_gpu_run(s->library, run->bindings[step], memory, &why))
        return true;
    snprintf(i->failure, sizeof i->failure, "oneDNN on the OpenCL device %s: %s", o->device.name, why);
    return false;
}

static bool run_values(struct invocation *i, uint32_t step, struct operand_memory *values)
{
    const struct executable_step *s = &i->executable->steps[step];

    for (uint32_t k = 0; k < s->count; k++) {
        struct operand_memory *m = &values[k];

        m->whole = opencl_resolve(opencl_of(i->executable->engine), i->addresses[s->first + k], &m->offset);
        m->bytes = (size_t)i->executable->locations[s->first + k].bytes;
        /* An output may have a residual in it. */
        if (!make_part(i, s->first + k, m) || (m->copied && !copy(i, m, false)))
            return false;
    }
    return run_on(i, step, values) && (!values[s->count - 1].copied || copy(i, &values[s->count - 1], true));
}

static cl_event mark(struct engine_opencl *o)
{
    cl_event event = NULL;

    return o->api->EnqueueMarkerWithWaitList(o->queue, 0, NULL, &event) == CL_SUCCESS ? event : NULL;
}

/* Times are those between two markers: the library says nothing of its commands.  A step without markers has no time. */
bool opencl_run_library(struct invocation *i, uint32_t step)
{
    struct engine_opencl *o = opencl_of(i->executable->engine);
    struct operand_memory values[LIBRARY_GPU_OPERANDS_MAX] = {0};
    const bool timed = opencl_times_steps(i->executable);
    cl_event before = timed ? mark(o) : NULL;
    const bool good = run_values(i, step, values);
    cl_event after = before ? mark(o) : NULL;

    if (after)
        opencl_times_add(i, step, before, after);
    else if (before)
        o->api->ReleaseEvent(before);
    for (uint32_t k = 0; k < i->executable->steps[step].count; k++)
        if (values[k].owned)
            o->api->ReleaseMemObject(values[k].part);
    return good;
}
