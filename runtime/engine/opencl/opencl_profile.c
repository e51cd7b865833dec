/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Takes times of the device: of steps for profiles, of steps and transfers for traces.
 *
 * Events of commands in a queue that notes times become spans on the host's clock, counted when the device has got there
 * (opencl_watch.c), so that measuring does not wait either.
 */

#include <stdlib.h>

#include "ir/support/trace.h"
#include "runtime/engine/opencl/opencl_executable.h"

/* ---- clocks ---- */

enum { CALIBRATIONS = 3 };

/* Finds the nanoseconds of the device's clock when a command began and ended.  Returns false if there are none. */
static bool device_times(struct engine_opencl *o, cl_event event, cl_ulong *start, cl_ulong *end)
{
    return o->api->GetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof *start, start, NULL) == CL_SUCCESS &&
           o->api->GetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof *end, end, NULL) == CL_SUCCESS;
}

/* The host's clock is ahead of the device's by what lies between the end of a command and the return of the thread that waited
 * for it, and by their difference: the least of several is nearest to the latter. */
static bool calibrate(struct engine_opencl *o, cl_command_queue queue)
{
    const cl_uint zeros[4] = {0};
    cl_int code = CL_SUCCESS;
    cl_mem memory = o->api->CreateBuffer(o->context, CL_MEM_READ_WRITE, sizeof zeros, NULL, &code);
    bool good = code == CL_SUCCESS;

    for (int i = 0; good && i < CALIBRATIONS; i++) {
        cl_event event = NULL;
        cl_ulong start, end;

        good = o->api->EnqueueFillBuffer(queue, memory, zeros, sizeof zeros, 0, sizeof zeros, 0, NULL, &event) == CL_SUCCESS &&
               o->api->WaitForEvents(1, &event) == CL_SUCCESS;
        const int64_t now = (int64_t)nanoseconds_now();
        good = good && device_times(o, event, &start, &end);
        if (good && (i == 0 || now - (int64_t)end < o->times.ahead))
            o->times.ahead = now - (int64_t)end;
        if (event)
            o->api->ReleaseEvent(event);
    }
    if (memory)
        o->api->ReleaseMemObject(memory);
    return good;
}

/* before: what was before that, whose end is the start; NULL: the event has a start. */
static bool host_times(struct engine_opencl *o, cl_event before, cl_event event, uint64_t *start, uint64_t *end)
{
    cl_ulong first, last, earlier;

    if (!device_times(o, event, &first, &last) || (before && !device_times(o, before, &earlier, &first)))
        return false;
    *start = (uint64_t)((int64_t)first + o->times.ahead);
    *end = (uint64_t)((int64_t)last + o->times.ahead);
    return *end >= *start;
}

bool opencl_times_start(struct engine_opencl *o)
{
    static const char *const names[OPENCL_TRANSFERS] = {"write", "read", "fill with zeros"};
    struct trace *trace = o->base.debug->trace;
    cl_int code = CL_SUCCESS;
    cl_command_queue queue, old = o->queue;

    if (o->times.noted)
        return true;
    if (o->shared) /* no other queue can take its place */
        return false;
    queue = o->api->CreateCommandQueue(o->context, o->device.id, CL_QUEUE_PROFILING_ENABLE, &code);
    if (code != CL_SUCCESS)
        return false;
    if (!calibrate(o, queue) || (old && o->api->Finish(old) != CL_SUCCESS)) {
        o->api->ReleaseCommandQueue(queue);
        return false;
    }
    o->queue = queue;
    o->times.noted = true;
    if (old)
        o->api->ReleaseCommandQueue(old);
    for (int i = 0; trace && i < OPENCL_TRANSFERS; i++)
        o->times.names[i] = trace_register(trace, &(struct trace_name){"transfer", names[i], "", 0, 0});
    return true;
}

/* ---- transfers ---- */

void opencl_trace_transfer(struct engine_opencl *o, enum opencl_transfer kind, cl_event event)
{
    uint64_t start, end;

    if (opencl_traces(o) && host_times(o, NULL, event, &start, &end))
        trace_add(o->base.debug->trace, o->times.names[kind], start, end);
}

struct traced {
    struct opencl_watched base;
    enum opencl_transfer kind;
};

static void traced_done(struct engine *en, struct opencl_watched *w, bool ok, const struct error *e)
{
    struct traced *t = (struct traced *)w;

    (void)e;
    if (ok)
        opencl_trace_transfer(opencl_of(en), t->kind, w->event);
    free(t);
}

void opencl_watch_transfer(struct engine_opencl *o, enum opencl_transfer kind, cl_event event)
{
    struct traced *t = calloc(1, sizeof *t);

    if (!t) {
        o->api->ReleaseEvent(event); /* one span less */
        return;
    }
    t->base.event = event;
    t->base.done = traced_done;
    t->kind = kind;
    opencl_watch(o, &t->base);
}

/* ---- steps ---- */

struct timed_step {
    uint32_t step;
    cl_event before, event; /* before: NULL unless the step has several commands */
};

/* Holds the steps of a run that is being put into the queue. */
struct opencl_times {
    uint32_t count;
    struct timed_step *steps;
};

struct timed_run {
    struct opencl_watched base;
    struct executable *executable;
    struct opencl_times times;
};

bool opencl_times_steps(const struct executable *x)
{
    return opencl_of(x->engine)->times.noted && (x->profile.measuring || x->profile.trace);
}

void opencl_times_add(struct invocation *i, uint32_t step, cl_event before, cl_event event)
{
    struct opencl_run *run = opencl_run_of(i);
    struct opencl_times *t = run->times;

    if (!t)
        t = run->times = calloc(1, sizeof *t);
    if (t && array_extend(&t->steps, t->count, sizeof *t->steps)) {
        t->steps[t->count++] = (struct timed_step){step, before, event};
        return;
    }
    if (before)
        opencl_of(i->executable->engine)->api->ReleaseEvent(before);
    opencl_of(i->executable->engine)->api->ReleaseEvent(event);
}

static void times_free(struct engine_opencl *o, struct opencl_times *t)
{
    for (uint32_t k = 0; k < t->count; k++) {
        if (t->steps[k].before)
            o->api->ReleaseEvent(t->steps[k].before);
        o->api->ReleaseEvent(t->steps[k].event);
    }
    free(t->steps);
}

static void timed_done(struct engine *en, struct opencl_watched *w, bool ok, const struct error *e)
{
    struct engine_opencl *o = opencl_of(en);
    struct timed_run *r = (struct timed_run *)w;
    uint64_t first = 0, last = 0, start, end;

    (void)e;
    for (uint32_t k = 0; ok && k < r->times.count; k++)
        if (host_times(o, r->times.steps[k].before, r->times.steps[k].event, &start, &end)) {
            executable_count_span(r->executable, r->times.steps[k].step, start, end);
            first = first ? first : start;
            last = end;
        }
    if (last)
        executable_count_run(r->executable, last - first);
    times_free(o, &r->times);
    free(r);
}

void opencl_times_end(struct invocation *i)
{
    struct engine_opencl *o = opencl_of(i->executable->engine);
    struct opencl_times *t = opencl_run_of(i)->times;
    struct timed_run *r = t && t->count ? calloc(1, sizeof *r) : NULL;

    opencl_run_of(i)->times = NULL;
    if (r) {
        r->base.event = t->steps[t->count - 1].event;
        r->base.done = timed_done;
        r->executable = i->executable;
        r->times = *t;
        if (o->api->RetainEvent(r->base.event) == CL_SUCCESS) {
            free(t);
            opencl_watch(o, &r->base);
            return;
        }
        free(r);
    }
    if (t)
        times_free(o, t);
    free(t);
}

/* ---- for tools ---- */

static void measure(struct executable *x)
{
    struct engine_opencl *o = opencl_of(x->engine);

    opencl_watch_drain(o);
    opencl_times_start(o); /* or there are no times */
    executable_measure(x);
}

static void facts(const struct executable *x, struct executable_facts *out)
{
    opencl_watch_drain(opencl_of(x->engine));
    executable_get_facts(x, out);
}

static void step_facts(const struct executable *x, uint32_t step, struct step_facts *out)
{
    opencl_watch_drain(opencl_of(x->engine));
    executable_get_step_facts(x, step, out);
}

static void print_profile(struct executable *x, FILE *out)
{
    opencl_watch_drain(opencl_of(x->engine));
    executable_print_profile(x, out);
}

static const struct engine_tuning tuning = {
    .device_facts = opencl_device_facts,
    .keep_facts = opencl_keep_facts,
};

const struct engine_tools opencl_tools = {
    .measure = measure,
    .facts = facts,
    .step_facts = step_facts,
    .print_profile = print_profile,
    .tuning = &tuning,
};
