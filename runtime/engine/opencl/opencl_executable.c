/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes executables of the OpenCL engine: kernels with their parameters, and how a step is put into the queue.
 */
#include "runtime/engine/opencl/opencl_executable.h"

#include <stdlib.h>

#include "ir/schedule/program_schedule.h"

/* ---- running a step ---- */

/* Steps of one run follow one another in the queue, and a kernel's arguments belong to one run at a time. */
static bool begin(struct invocation *i, struct error *e)
{
    struct engine_opencl *o = opencl_of(i->executable->engine);

    if (!opencl_is_usable(o, e))
        return false;
    pthread_mutex_lock(&o->lock);
    return true;
}

static void end(struct invocation *i, bool ok)
{
    (void)ok;
    struct engine_opencl *o = opencl_of(i->executable->engine);

    o->api->Flush(o->queue); /* a failure shows when the queue is waited for */
    pthread_mutex_unlock(&o->lock);
    opencl_times_end(i);
}

bool opencl_step_failed(struct invocation *i, const char *call, cl_int code)
{
    struct error e = {.status = WNNStatus_Success};

    opencl_failed(opencl_of(i->executable->engine), call, code, &e);
    snprintf(i->failure, sizeof i->failure, "%.*s", (int)sizeof i->failure - 1, e.message);
    return false;
}

static bool set_argument(struct invocation *i, cl_kernel kernel, cl_uint argument, size_t bytes, const void *value)
{
    const cl_int code = opencl_of(i->executable->engine)->api->SetKernelArg(kernel, argument, bytes, value);

    return code == CL_SUCCESS || opencl_step_failed(i, "clSetKernelArg", code);
}

static bool set_address(struct invocation *i, cl_kernel kernel, cl_uint argument, engine_address address)
{
    cl_ulong offset;
    cl_mem memory = opencl_resolve(opencl_of(i->executable->engine), address, &offset);

    return set_argument(i, kernel, argument, sizeof memory, &memory) &&
           set_argument(i, kernel, argument + 1, sizeof offset, &offset);
}

static bool run_kernel(struct invocation *i, uint32_t step)
{
    const struct opencl_executable *x = (const struct opencl_executable *)i->executable;
    const struct opencl_step *s = &x->steps[step];
    const struct opencl_launch *l = &s->launch;
    struct engine_opencl *o = opencl_of(x->base.engine);
    cl_event event = NULL;

    for (uint32_t k = 0; k < l->tensors; k++)
        if (!set_address(i, s->kernel, 2 * k, i->addresses[x->base.steps[step].first + k]))
            return false;
    if (l->scratch && !set_address(i, s->kernel, 2 * l->tensors, i->memory->address + x->scratch_offset))
        return false;
    cl_int code = o->api->EnqueueNDRangeKernel(o->queue, s->kernel, GPU_DIMENSIONS, NULL, l->global, l->local, 0, NULL,
                                               opencl_times_steps(&x->base) ? &event : NULL);
    if (event)
        opencl_times_add(i, step, NULL, event);
    return code == CL_SUCCESS || opencl_step_failed(i, "clEnqueueNDRangeKernel", code);
}

static bool run_copy(struct invocation *i, uint32_t step)
{
    const struct executable_step *s = &i->executable->steps[step];
    struct engine_opencl *o = opencl_of(i->executable->engine);
    cl_ulong from_offset, to_offset;
    cl_mem from = opencl_resolve(o, i->addresses[s->first], &from_offset);
    cl_mem to = opencl_resolve(o, i->addresses[s->first + 1], &to_offset);
    cl_event event = NULL;

    if (from == to && from_offset == to_offset) /* a state that stays where it is */
        return true;
    const cl_int code = o->api->EnqueueCopyBuffer(o->queue, from, to, from_offset, to_offset, s->copy_bytes, 0, NULL,
                                                  opencl_times_steps(i->executable) ? &event : NULL);

    if (event)
        opencl_times_add(i, step, NULL, event);
    return code == CL_SUCCESS || opencl_step_failed(i, "clEnqueueCopyBuffer", code);
}

static void destroy(struct invocation *i)
{
    if (!i->data)
        return;
    opencl_library_unbind(i);
    free(i->data);
    i->data = NULL;
}

static bool create(struct invocation *i, struct error *e)
{
    i->data = calloc(1, sizeof(struct opencl_run));
    return i->data ? opencl_library_bind(i, e) : error_out_of_memory(e);
}

static const struct step_functions opencl_steps = {
    .run = {[STEP_KERNEL] = run_kernel, [STEP_LIBRARY] = opencl_run_library, [STEP_COPY] = run_copy},
    .create = create,
    .destroy = destroy,
    .begin = begin,
    .end = end,
    .counts_steps = true,
};

/* ---- submissions ---- */

struct submission {
    struct opencl_watched base;
    engine_done done;
    void *user;
};

static void submission_done(struct engine *en, struct opencl_watched *w, bool ok, const struct error *e)
{
    struct submission *s = (struct submission *)w;

    (void)en;
    s->done(s->user, ok, e);
    free(s);
}

bool opencl_submit(struct executable *x, const struct engine_binding *inputs, const struct engine_binding *outputs,
                   const struct engine_stop *stop, engine_done done, void *user, struct error *e)
{
    struct engine_opencl *o = opencl_of(x->engine);
    struct submission *s = calloc(1, sizeof *s);
    cl_int code;

    if (!s)
        return error_out_of_memory(e);
    s->base.done = submission_done;
    s->done = done;
    s->user = user;
    if (executable_run(x, inputs, outputs, stop, e)) {
        code = o->api->EnqueueMarkerWithWaitList(o->queue, 0, NULL, &s->base.event);
        if (code == CL_SUCCESS) {
            opencl_watch(o, &s->base);
            return true;
        }
        opencl_failed(o, "clEnqueueMarkerWithWaitList", code, e);
    } else if (engine_stops(stop)) {
        o->api->Finish(o->queue); /* what was put into the queue still uses what the caller lets go */
    }
    free(s);
    return false;
}

/* ---- executables ---- */

struct opencl_executable *opencl_executable_create(struct engine *en, struct program *p, struct error *e)
{
    struct opencl_executable *x = calloc(1, sizeof *x);

    if (!x)
        return error_null_memory(e);
    if (!executable_init(&x->base, en, &opencl_steps, p, e)) {
        free(x);
        return NULL;
    }
    x->scratch_offset = ((size_t)p->arena_bytes + TARGET_LINE_BYTES - 1) & ~(size_t)(TARGET_LINE_BYTES - 1);
    x->base.memory_bytes = x->scratch_offset;
    x->steps = arena_array(&x->base.arena, (size_t)p->step_count + 1, sizeof *x->steps);
    if (x->steps)
        return x;
    error_out_of_memory(e);
    opencl_unload(&x->base);
    return NULL;
}

void opencl_unload(struct executable *executable)
{
    struct opencl_executable *x = (struct opencl_executable *)executable;
    struct engine_opencl *o = opencl_of(x->base.engine);

    if (opencl_times_steps(&x->base))
        opencl_watch_drain(o); /* measurements under way still count */
    for (uint32_t i = 0; x->steps && i < x->base.step_count; i++)
        if (x->steps[i].kernel)
            o->api->ReleaseKernel(x->steps[i].kernel);
    serialized_free(x->serialized);
    executable_clear(&x->base);
    if (x->release)
        x->release(x->release_user);
    free(x);
}

static bool set_params(struct engine_opencl *o, const struct opencl_step *s, struct error *e)
{
    const struct opencl_launch *l = &s->launch;
    const cl_uint first = 2 * l->tensors + (l->scratch ? 2 : 0);

    for (uint32_t i = 0; i < l->param_count; i++) {
        const cl_long value = l->params[i];
        const cl_int small = (cl_int)value;
        const cl_int code = l->wide ? o->api->SetKernelArg(s->kernel, first + i, sizeof value, &value)
                                    : o->api->SetKernelArg(s->kernel, first + i, sizeof small, &small);
        if (code != CL_SUCCESS)
            return opencl_failed(o, "clSetKernelArg", code, e);
    }
    return true;
}

static bool create_kernel(struct opencl_executable *x, struct opencl_step *s, const struct opencl_wanted *wanted,
                          struct error *e)
{
    struct engine_opencl *o = opencl_of(x->base.engine);
    const size_t end = x->scratch_offset + (size_t)s->launch.scratch_bytes;
    cl_int code = CL_SUCCESS;
    char name[32];

    if (end > x->base.memory_bytes)
        x->base.memory_bytes = end;
    s->program = wanted->program;
    s->number = wanted->number;
    snprintf(name, sizeof name, "webnn_kernel_%u", wanted->number);
    s->kernel = o->api->CreateKernel(s->program->program, name, &code);
    if (code == CL_SUCCESS)
        return set_params(o, s, e);
    s->kernel = NULL;
    return opencl_failed(o, "clCreateKernel", code, e);
}

bool opencl_executable_finish(struct opencl_executable *x, struct program *p, struct opencl_wanted *wanted, struct error *e)
{
    const void **functions = calloc((size_t)p->step_count + 1, sizeof *functions); /* no two steps start alike */
    uint32_t count = 0;
    bool good = functions || error_out_of_memory(e);

    for (uint32_t i = 0; good && i < p->step_count; i++)
        if (p->steps[i].kind == STEP_KERNEL)
            functions[count++] = &x->steps[i];
    good = good && opencl_programs_build(opencl_of(x->base.engine), count, wanted,
                                         (struct opencl_progress){p->cancelled, p->cancelled_user}, e);
    for (uint32_t i = 0, k = 0; good && i < p->step_count; i++)
        if (p->steps[i].kind == STEP_KERNEL)
            good = create_kernel(x, &x->steps[i], &wanted[k++], e);
    good = good && (x->serialized = serialized_create(p, functions, false, e));
    free(functions);
    if (good)
        executable_take(&x->base, p);
    return good;
}

/* ---- loading ---- */

bool opencl_schedule(struct engine *en, const struct target *t, struct program_step *s, struct error *e)
{
    struct gpu_schedule *schedule = malloc(sizeof *schedule);

    (void)t;
    if (!schedule)
        return error_out_of_memory(e);
    schedule_gpu(s->kernel, &opencl_of(en)->device.facts, schedule);
    step_set_gpu_schedule(s, schedule);
    return true;
}

/* Prints a step's kernel into a text for free(), and notes how it is started. */
static bool print_step(struct opencl_executable *x, uint32_t step, const struct program_step *of, struct opencl_wanted *out,
                       struct error *e)
{
    const struct gpu_schedule *schedule = of->schedule;
    struct step_profile *profile = &x->base.profile.steps[step];
    struct opencl_launch *l = &x->steps[step].launch;
    struct opencl_source source;

    if (!opencl_print(of->kernel, schedule, "webnn_kernel", &source, e))
        return false;
    *l = (struct opencl_launch){.tensors = of->kernel->tensor_count,
                                .scratch = schedule->shape == GPU_STAGES,
                                .wide = schedule->wide,
                                .scratch_bytes = schedule->scratch_bytes,
                                .param_count = source.param_count};
    for (uint32_t d = 0; d < GPU_DIMENSIONS; d++) {
        l->global[d] = (size_t)schedule->global[d];
        l->local[d] = schedule->local[d];
    }
    l->params = arena_copy(&x->base.arena, source.params, source.param_count * sizeof *source.params);
    *out = (struct opencl_wanted){.text = source.text, .step = profile->name};
    source.text = NULL;
    opencl_source_free(&source);
    snprintf(profile->implementation, sizeof profile->implementation, "opencl, %s", gpu_shape_name(schedule->shape));
    return l->params || !l->param_count || error_out_of_memory(e);
}

static bool print_steps(struct opencl_executable *x, const struct program *p, struct opencl_wanted *wanted, struct error *e)
{
    for (uint32_t i = 0; i < p->step_count; i++) {
        const struct program_step *s = &p->steps[i];

        if (s->kind == STEP_KERNEL && !s->schedule)
            return error_set(e, WNNStatus_NotSupportedError, "the OpenCL engine runs no kernels without a schedule for it");
        if (s->kind == STEP_KERNEL && !print_step(x, i, s, wanted++, e))
            return false;
    }
    return true;
}

struct executable *opencl_load(struct engine *en, struct program *p, struct error *e)
{
    struct opencl_wanted *wanted = calloc((size_t)p->step_count + 1, sizeof *wanted);
    struct opencl_executable *x = wanted ? opencl_executable_create(en, p, e) : NULL;

    if (en->debug->flags & DEBUG_DUMP_PROGRAM)
        program_print(p, stderr);
    if (!wanted)
        error_out_of_memory(e);
    bool good = x && print_steps(x, p, wanted, e) && opencl_executable_finish(x, p, wanted, e);
    for (uint32_t i = 0; wanted && i < p->step_count; i++)
        free((char *)wanted[i].text);
    free(wanted);
    if (good)
        return &x->base;
    if (x)
        opencl_unload(&x->base);
    return NULL;
}
