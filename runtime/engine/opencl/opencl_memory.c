/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Implements buffers of the device.
 *
 * An address is the number of a buffer above an offset in it, so that kernels get a buffer and an offset and no buffer needs
 * parts of its own (whose starts devices would want aligned).  Numbers begin with 1: 0 is the address of nothing.
 */
#include "runtime/engine/opencl/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    OFFSET_BITS = 40,
    BUFFERS_MAX = 1 << 20,
    BUFFER_ALIGN = 16,
    STAGED_MAX = 64 << 20 /* bytes of copies at the same time: beyond that a write waits */
};

/* ---- addresses ---- */

static engine_address number_buffer(struct engine_opencl *o, struct opencl_buffer *b)
{
    uint32_t number = 0;

    pthread_mutex_lock(&o->lock);
    while (number < o->memory.count && o->memory.buffers[number])
        number++;
    if (number == o->memory.count && number < BUFFERS_MAX &&
        array_reserve(NULL, &o->memory.buffers, &o->memory.room, number + 1, sizeof(struct opencl_buffer *)))
        o->memory.count++;
    bool good = number < o->memory.count;
    if (good)
        o->memory.buffers[number] = b;
    pthread_mutex_unlock(&o->lock);
    return good ? (engine_address)number + 1 : 0;
}

cl_mem opencl_resolve(struct engine_opencl *o, engine_address a, cl_ulong *offset)
{
    const size_t number = a >> OFFSET_BITS;

    const struct opencl_buffer *b = number && number <= o->memory.count ? o->memory.buffers[number - 1] : NULL;

    *offset = (a & (((engine_address)1 << OFFSET_BITS) - 1)) + (b ? b->offset : 0);
    return b ? b->memory : NULL;
}

/* ---- creating ---- */

/* Says that there is no memory for so many bytes, while others have `used`, and returns false. */
static bool out_of_memory(struct engine_opencl *o, size_t bytes, uint64_t used, const char *why, struct error *e)
{
    return error_set(e, WNNStatus_OperationError,
                     "the OpenCL device %s has no memory for %zu bytes (%s): it has %" PRIu64 " bytes, %" PRIu64
                     " of them in use, and %" PRIu64 " for one buffer at most",
                     o->device.name, bytes, why, o->device.memory_bytes, used, o->device.buffer_bytes);
}

/* Counts the bytes of a buffer.  Drivers give memory when it is first used, where an error would be a kernel's, or take the
 * host's: so what cannot fit is refused here. */
static bool count_bytes(struct engine_opencl *o, size_t bytes, struct error *e)
{
    pthread_mutex_lock(&o->lock);
    const uint64_t used = o->memory.used;
    const char *why = o->device.buffer_bytes && bytes > o->device.buffer_bytes ? "more than one buffer can have"
                      : o->device.memory_bytes &&
                              bytes > o->device.memory_bytes - (used < o->device.memory_bytes ? used : o->device.memory_bytes)
                          ? "more than is left"
                          : NULL;
    if (!why)
        o->memory.used += bytes;
    pthread_mutex_unlock(&o->lock);
    return !why || out_of_memory(o, bytes, used, why, e);
}

static uint64_t uncount_bytes(struct engine_opencl *o, size_t bytes)
{
    pthread_mutex_lock(&o->lock);
    const uint64_t used = o->memory.used -= bytes;
    pthread_mutex_unlock(&o->lock);
    return used;
}

/* Creates a buffer of zeros.  Returns NULL if that fails; *call and *code say why. */
static cl_mem create_zeros(struct engine_opencl *o, size_t bytes, const char **call, cl_int *code)
{
    const cl_uint zeros[4] = {0};
    cl_event event = NULL;

    *code = CL_SUCCESS;
    *call = "clCreateBuffer";
    cl_mem memory = o->api->CreateBuffer(o->context, CL_MEM_READ_WRITE, bytes, NULL, code);
    if (*code != CL_SUCCESS)
        return NULL;
    *call = "clEnqueueFillBuffer";
    *code =
        o->api->EnqueueFillBuffer(o->queue, memory, zeros, sizeof zeros, 0, bytes, 0, NULL, opencl_traces(o) ? &event : NULL);
    if (event)
        opencl_watch_transfer(o, OPENCL_FILL, event);
    if (*code == CL_SUCCESS)
        return memory;
    o->api->ReleaseMemObject(memory);
    return NULL;
}

static bool is_out_of_memory(cl_int code)
{
    return code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_RESOURCES || code == CL_OUT_OF_HOST_MEMORY ||
           code == CL_INVALID_BUFFER_SIZE;
}

struct engine_buffer *opencl_buffer_create(struct engine *en, size_t bytes, struct error *e)
{
    struct engine_opencl *o = opencl_of(en);
    const size_t size = bytes ? (bytes + BUFFER_ALIGN - 1) & ~(size_t)(BUFFER_ALIGN - 1) : BUFFER_ALIGN;
    const char *call = "";
    char name[24], text[64];
    cl_int code = CL_SUCCESS;

    if (!opencl_is_usable(o, e) || !count_bytes(o, size, e))
        return NULL;
    struct opencl_buffer *b = calloc(1, sizeof *b);
    if (b && (b->memory = create_zeros(o, size, &call, &code))) {
        b->counted = size;
        b->base = (struct engine_buffer){number_buffer(o, b) << OFFSET_BITS, bytes, 0};
        if (b->base.address)
            return &b->base;
        o->api->ReleaseMemObject(b->memory);
    }
    const uint64_t used = uncount_bytes(o, size);
    free(b);
    if (is_out_of_memory(code)) {
        snprintf(text, sizeof text, "%s: %s", call, opencl_error_name(code, name));
        out_of_memory(o, size, used, text, e);
    } else if (code != CL_SUCCESS) {
        opencl_failed(o, call, code, e);
    }
    error_set(e, WNNStatus_UnknownError, "there is no memory for %zu bytes", bytes); /* unless it is known why */
    return NULL;
}

/* Whether memory is a buffer of the engine's context, with room for so many bytes. */
static bool check_memory(struct engine_opencl *o, cl_mem memory, size_t offset, size_t bytes, struct error *e)
{
    cl_context context = NULL;
    cl_mem_object_type type = 0;
    size_t size = 0;

    if (offset % BUFFER_ALIGN)
        return error_set(e, WNNStatus_TypeError, "byteOffset is %zu, which is not a multiple of %d", offset, BUFFER_ALIGN);
    if (o->api->GetMemObjectInfo(memory, CL_MEM_TYPE, sizeof type, &type, NULL) != CL_SUCCESS ||
        o->api->GetMemObjectInfo(memory, CL_MEM_CONTEXT, sizeof context, &context, NULL) != CL_SUCCESS ||
        o->api->GetMemObjectInfo(memory, CL_MEM_SIZE, sizeof size, &size, NULL) != CL_SUCCESS)
        return error_set(e, WNNStatus_TypeError, "memory is no memory object of OpenCL's");
    if (type != CL_MEM_OBJECT_BUFFER || context != o->context)
        return error_set(e, WNNStatus_TypeError, "memory is not a buffer of the context's openclContext");
    return (offset <= size && bytes <= size - offset) ||
           error_set(e, WNNStatus_TypeError, "memory has %zu bytes, the tensor needs %zu from byte %zu on", size, bytes,
                     offset);
}

struct engine_buffer *opencl_buffer_wrap(struct engine *en, void *memory, size_t offset, size_t bytes, struct error *e)
{
    struct engine_opencl *o = opencl_of(en);

    if (!o->shared)
        return error_null(e, WNNStatus_NotSupportedError, "the context has no openclContext of the application's");
    if (!opencl_is_usable(o, e) || !check_memory(o, memory, offset, bytes, e))
        return NULL;
    struct opencl_buffer *b = calloc(1, sizeof *b);
    if (!b)
        return error_null_memory(e);
    cl_int code = o->api->RetainMemObject(memory);
    if (code == CL_SUCCESS) {
        b->memory = memory;
        b->offset = offset;
        b->base = (struct engine_buffer){number_buffer(o, b) << OFFSET_BITS, bytes, 0};
        if (b->base.address)
            return &b->base;
        o->api->ReleaseMemObject(memory);
        error_out_of_memory(e);
    } else {
        opencl_failed(o, "clRetainMemObject", code, e);
    }
    free(b);
    return NULL;
}

void opencl_buffer_free(struct engine *en, struct engine_buffer *buffer)
{
    struct engine_opencl *o = opencl_of(en);
    struct opencl_buffer *b = (struct opencl_buffer *)buffer;

    pthread_mutex_lock(&o->lock);
    const bool kept = opencl_constant_keep(o, b);
    if (!kept) {
        o->memory.buffers[(buffer->address >> OFFSET_BITS) - 1] = NULL;
        o->memory.used -= b->counted;
    }
    pthread_mutex_unlock(&o->lock);
    if (kept)
        return;
    o->api->ReleaseMemObject(b->memory); /* commands in the queue keep it until they are done */
    if (b->constant)
        constant_release(b->constant);
    free(b);
}

/* ---- reading and writing ---- */

/* Holds a copy of written bytes, until the device has read them. */
struct staged {
    struct opencl_watched base;
    size_t bytes;
    unsigned char data[];
};

/* s may be NULL: there was no memory for it. */
static void staged_free(struct engine_opencl *o, struct staged *s, size_t bytes)
{
    pthread_mutex_lock(&o->lock);
    o->memory.staged -= bytes;
    pthread_mutex_unlock(&o->lock);
    free(s);
}

static void staged_done(struct engine *en, struct opencl_watched *w, bool ok, const struct error *e)
{
    (void)e; /* the device is lost then, which the next call says */
    if (ok)
        opencl_trace_transfer(opencl_of(en), OPENCL_WRITE, w->event);
    staged_free(opencl_of(en), (struct staged *)w, ((struct staged *)w)->bytes);
}

/* Returns a copy of the data, or NULL if waiting is better, or if there is no memory for a copy. */
static struct staged *stage(struct engine_opencl *o, const void *data, size_t bytes)
{
    pthread_mutex_lock(&o->lock);
    bool fits = bytes <= STAGED_MAX && o->memory.staged <= STAGED_MAX - bytes;
    if (fits)
        o->memory.staged += bytes;
    pthread_mutex_unlock(&o->lock);
    if (!fits)
        return NULL;
    struct staged *s = malloc(sizeof *s + bytes);
    if (s) {
        s->base.done = staged_done;
        s->bytes = bytes;
        memcpy(s->data, data, bytes);
    } else {
        staged_free(o, NULL, bytes);
    }
    return s;
}

/* event: of a transfer that is over; NULL: it has none. */
static void end_transfer(struct engine_opencl *o, enum opencl_transfer kind, cl_event event)
{
    if (!event)
        return;
    opencl_trace_transfer(o, kind, event);
    o->api->ReleaseEvent(event);
}

bool opencl_buffer_write(struct engine *en, struct engine_buffer *b, size_t offset, const void *data, size_t bytes,
                         struct error *e)
{
    struct engine_opencl *o = opencl_of(en);
    cl_mem memory = ((struct opencl_buffer *)b)->memory;
    cl_event event = NULL;
    cl_int code;

    offset += ((struct opencl_buffer *)b)->offset;
    if (!opencl_is_usable(o, e))
        return false;
    if (!bytes)
        return true;
    struct staged *s = stage(o, data, bytes);
    code = o->api->EnqueueWriteBuffer(o->queue, memory, s ? CL_FALSE : CL_TRUE, offset, bytes, s ? s->data : data, 0, NULL,
                                      s                  ? &s->base.event
                                      : opencl_traces(o) ? &event
                                                         : NULL);
    end_transfer(o, OPENCL_WRITE, event);
    if (code == CL_SUCCESS) {
        if (s)
            opencl_watch(o, &s->base);
        return true;
    }
    if (s)
        staged_free(o, s, bytes);
    return s ? opencl_failed(o, "clEnqueueWriteBuffer", code, e) : opencl_wait_failed(o, "clEnqueueWriteBuffer", code, e);
}

bool opencl_buffer_read(struct engine *en, struct engine_buffer *b, size_t offset, void *data, size_t bytes, struct error *e)
{
    struct engine_opencl *o = opencl_of(en);
    cl_event event = NULL;

    offset += ((struct opencl_buffer *)b)->offset;
    if (!opencl_is_usable(o, e))
        return false;
    if (!bytes)
        return true;
    cl_int code = o->api->EnqueueReadBuffer(o->queue, ((struct opencl_buffer *)b)->memory, CL_TRUE, offset, bytes, data, 0,
                                            NULL, opencl_traces(o) ? &event : NULL);
    end_transfer(o, OPENCL_READ, event);
    return code == CL_SUCCESS || opencl_wait_failed(o, "clEnqueueReadBuffer", code, e);
}
