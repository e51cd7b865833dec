/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Implements buffers, kernels, the queue and its events (fake_opencl.h). */
#include "support/fake_opencl_internal.h"

#include <time.h>

static void drop_mem(cl_mem m)
{
    if (m && fake_drop(&m->references)) {
        fake.bytes -= m->bytes;
        free(m->data);
        free(m);
    }
}

static void drop_event(cl_event e)
{
    if (e && fake_drop(&e->references))
        free(e);
}

/* ---- the queue ---- */

/* The device's clock is the host's, but it ticks between any two looks at it, which clocks of some hosts do not: a kernel takes
 * time on every machine.  The caller holds the lock. */
static cl_ulong now(void)
{
    static cl_ulong last;
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    cl_ulong time = (cl_ulong)t.tv_sec * 1000000000u + (cl_ulong)t.tv_nsec;
    return last = time > last ? time : last + 1;
}

static void execute(const struct command *c)
{
    unsigned char *to = c->to ? c->to->data + c->to_offset : c->host_to;
    const unsigned char *from = c->from ? c->from->data + c->from_offset : c->host_from;

    if (c->kind == COMMAND_FILL)
        memset(to, 0, c->bytes);
    else if (c->kind == COMMAND_KERNEL)
        for (size_t i = 0; i < c->bytes; i++)
            to[i] = from[i] ^ 1;
    else if (c->kind != COMMAND_MARKER)
        memmove(to, from, c->bytes);
}

void fake_execute_all(void)
{
    while (fake.first && !fake.held) {
        struct command *c = fake.first;

        fake.first = c->next;
        if (c->event)
            c->event->times[2] = now();
        execute(c);
        if (c->event) {
            c->event->times[3] = now();
            c->event->status = CL_COMPLETE;
        }
        drop_mem(c->from);
        drop_mem(c->to);
        drop_event(c->event);
        free(c);
    }
    pthread_cond_broadcast(&fake.changed);
}

void fake_await_queue(void)
{
    while (fake.first)
        pthread_cond_wait(&fake.changed, &fake.lock);
}

static cl_mem retain(cl_mem m)
{
    if (m)
        m->references++;
    return m;
}

/* Puts a command into the queue, between fake_enter and fake_leave. */
cl_int fake_enqueue(struct command command, cl_bool wait, cl_event *event)
{
    struct command *c = malloc(sizeof *c);

    *c = command;
    c->next = NULL;
    retain(c->from);
    retain(c->to);
    if (event) {
        *event = c->event = calloc(1, sizeof *c->event);
        c->event->references = 2;
        c->event->status = CL_QUEUED;
        c->event->times[0] = c->event->times[1] = now();
        fake.alive++;
    }
    if (fake.first)
        fake.last->next = c;
    else
        fake.first = c;
    fake.last = c;
    fake_execute_all();
    if (wait)
        fake_await_queue();
    return CL_SUCCESS;
}

/* ---- buffers ---- */

cl_mem clCreateBuffer(cl_context c, cl_mem_flags flags, size_t bytes, void *host, cl_int *error)
{
    cl_mem m = fake_create("CreateBuffer", sizeof *m, error);

    if (m) {
        m->context = c;
        m->bytes = bytes;
        m->data = malloc(bytes);
        memset(m->data, 0xEE, bytes);
        pthread_mutex_lock(&fake.lock);
        fake.bytes += bytes;
        pthread_mutex_unlock(&fake.lock);
    }
    return m;
}

/* Only steps of oneDNN want parts of buffers, and there is no oneDNN over this OpenCL. */
cl_mem clCreateSubBuffer(cl_mem m, cl_mem_flags flags, cl_buffer_create_type type, const void *what, cl_int *error)
{
    *error = CL_INVALID_OPERATION;
    return NULL;
}

cl_int clRetainMemObject(cl_mem m)
{
    return fake_retain("RetainMemObject", &m->references);
}

cl_int clReleaseMemObject(cl_mem m)
{
    cl_int code = fake_enter("ReleaseMemObject");

    drop_mem(m);
    return fake_leave(code);
}

cl_int clGetMemObjectInfo(cl_mem m, cl_mem_info what, size_t room, void *out, size_t *size)
{
    cl_mem_object_type type = CL_MEM_OBJECT_BUFFER;

    if (what == CL_MEM_SIZE)
        return fake_give("GetMemObjectInfo", &m->bytes, sizeof m->bytes, room, out, size);
    if (what == CL_MEM_CONTEXT)
        return fake_give("GetMemObjectInfo", &m->context, sizeof m->context, room, out, size);
    return fake_give("GetMemObjectInfo", &type, sizeof type, room, out, size);
}

cl_int clEnqueueReadBuffer(cl_command_queue q, cl_mem m, cl_bool wait, size_t offset, size_t bytes, void *to, cl_uint n,
                           const cl_event *list, cl_event *event)
{
    cl_int code = fake_enter("EnqueueReadBuffer");

    if (!code)
        fake_enqueue((struct command){.kind = COMMAND_READ, .from = m, .from_offset = offset, .bytes = bytes, .host_to = to},
                     wait, event);
    return fake_leave(code);
}

cl_int clEnqueueWriteBuffer(cl_command_queue q, cl_mem m, cl_bool wait, size_t offset, size_t bytes, const void *from,
                            cl_uint n, const cl_event *list, cl_event *event)
{
    cl_int code = fake_enter("EnqueueWriteBuffer");

    if (!code)
        fake_enqueue((struct command){.kind = COMMAND_WRITE, .to = m, .to_offset = offset, .bytes = bytes, .host_from = from},
                     wait, event);
    return fake_leave(code);
}

cl_int clEnqueueFillBuffer(cl_command_queue q, cl_mem m, const void *pattern, size_t size, size_t offset, size_t bytes,
                           cl_uint n, const cl_event *list, cl_event *event)
{
    cl_int code = fake_enter("EnqueueFillBuffer");

    if (!code)
        fake_enqueue((struct command){.kind = COMMAND_FILL, .to = m, .to_offset = offset, .bytes = bytes}, CL_FALSE, event);
    return fake_leave(code);
}

cl_int clEnqueueCopyBuffer(cl_command_queue q, cl_mem from, cl_mem to, size_t from_offset, size_t to_offset, size_t bytes,
                           cl_uint n, const cl_event *list, cl_event *event)
{
    cl_int code = fake_enter("EnqueueCopyBuffer");

    if (!code)
        fake_enqueue((struct command){.kind = COMMAND_COPY,
                                      .from = from,
                                      .to = to,
                                      .from_offset = from_offset,
                                      .to_offset = to_offset,
                                      .bytes = bytes},
                     CL_FALSE, event);
    return fake_leave(code);
}

cl_int clEnqueueMarkerWithWaitList(cl_command_queue q, cl_uint n, const cl_event *list, cl_event *event)
{
    cl_int code = fake_enter("EnqueueMarkerWithWaitList");

    if (!code)
        fake_enqueue((struct command){.kind = COMMAND_MARKER}, CL_FALSE, event);
    return fake_leave(code);
}

/* ---- events ---- */

cl_int clWaitForEvents(cl_uint n, const cl_event *events)
{
    cl_int code = fake_enter("WaitForEvents");

    for (cl_uint i = 0; !code && i < n; i++)
        while (events[i]->status > CL_COMPLETE)
            pthread_cond_wait(&fake.changed, &fake.lock);
    return fake_leave(code);
}

cl_int clGetEventInfo(cl_event e, cl_event_info what, size_t room, void *out, size_t *size)
{
    return fake_give("GetEventInfo", &e->status, sizeof e->status, room, out, size);
}

cl_int clGetEventProfilingInfo(cl_event e, cl_profiling_info what, size_t room, void *out, size_t *size)
{
    return fake_give("GetEventProfilingInfo", &e->times[what - CL_PROFILING_COMMAND_QUEUED], sizeof e->times[0], room, out,
                     size);
}

cl_int clRetainEvent(cl_event e)
{
    return fake_retain("RetainEvent", &e->references);
}

cl_int clReleaseEvent(cl_event e)
{
    cl_int code = fake_enter("ReleaseEvent");

    drop_event(e);
    return fake_leave(code);
}

struct command fake_launch(cl_kernel k)
{
    struct command c = {.kind = COMMAND_KERNEL,
                        .from = k->buffers[0],
                        .to = k->buffers[1],
                        .from_offset = k->offsets[0],
                        .to_offset = k->offsets[1]};
    const size_t from = c.from->bytes - c.from_offset, to = c.to->bytes - c.to_offset;

    c.bytes = from < to ? from : to;
    return c;
}

cl_int clEnqueueNDRangeKernel(cl_command_queue q, cl_kernel k, cl_uint dims, const size_t *offset, const size_t *global,
                              const size_t *local, cl_uint n, const cl_event *list, cl_event *event)
{
    cl_int code = fake_enter("EnqueueNDRangeKernel");

    if (!code)
        fake_enqueue(fake_launch(k), CL_FALSE, event);
    return fake_leave(code);
}
