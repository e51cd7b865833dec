/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads and writes tensors: checks a call, and copies on the timeline, or at once if that is as fast.
 */
#include "runtime/api/context.h"

#include <stdlib.h>

enum {
    /* A read gives way to destroy() between chunks: some tens of microseconds of copying. */
    READ_CHUNK_BYTES = 256 << 10,
    /* A small copy is as fast as passing the work to another thread, so it is done at once. */
    READ_NOW_BYTES = 64 << 10,
};

/* ---- reading ---- */

/*
 * Takes the method's steps up to the enqueuing, with the lock held: wrong context, (lost context: InvalidStateError, see
 * docs/semantics.md), destroyed, access, byte length.
 */
static bool tensor_check_access(WNNContext context, WNNTensor tensor, const char *call, bool allowed, const char *access,
                                const void *data, size_t bytes, struct error *e)
{
    if (tensor->context != context)
        return error_set(e, WNNStatus_TypeError, "%s: the tensor belongs to another context", call);
    if (atomic_load(&context->lost))
        return error_set(e, WNNStatus_InvalidStateError, "%s: the context is lost", call);
    if (tensor->destroyed)
        return error_set(e, WNNStatus_TypeError, "%s: the tensor is destroyed", call);
    if (!allowed)
        return error_set(e, WNNStatus_TypeError, "%s: the tensor is not %s", call, access);
    if (!data)
        return error_set(e, WNNStatus_TypeError, "%s: data is NULL", call);
    if (bytes != tensor->bytes)
        return error_set(e, WNNStatus_TypeError, "%s: data has %zu bytes, the tensor %zu", call, bytes, tensor->bytes);
    return true;
}

static bool tensor_check_handles(WNNContext context, WNNTensor tensor, const char *call, struct error *e)
{
    if (!context || !tensor)
        return error_set(e, WNNStatus_TypeError, "%s: %s is NULL", call, context ? "tensor" : "context");
    return true;
}

struct read_task {
    struct context_task base;
    struct future *future;
    WNNTensor tensor; /* pinned */
    void *data;
};

/* Copies until it is cancelled. */
static bool read_copy(struct read_task *t, struct error *e)
{
    struct engine *en = t->base.context->engine;
    size_t bytes = t->tensor->bytes;

    for (size_t at = 0; at < bytes; at += READ_CHUNK_BYTES) {
        size_t chunk = bytes - at < READ_CHUNK_BYTES ? bytes - at : READ_CHUNK_BYTES;
        if (atomic_load_explicit(&t->future->work.cancelled, memory_order_relaxed))
            return true; /* future->error has the reason */
        if (!en->functions->buffer_read(en, t->tensor->buffer, at, (char *)t->data + at, chunk, e))
            return false;
    }
    return true;
}

/* Copies and settles the future.  taken: the timeline, if the calling thread has taken it, or NULL; it is given back before a
 * callback runs, which may wait for other work. */
static void read_run(struct read_task *t, struct timeline *taken)
{
    WNNContext context = t->base.context;
    struct future *f = t->future;
    struct after after = {0};
    struct error e, why = {.status = WNNStatus_Success};

    error_clear(&e);
    bool begun = future_begin(context, f), ok = !begun || read_copy(t, &why);
    if (taken)
        timeline_end(taken);
    if (!begun)
        return;
    pthread_mutex_lock(&context->lock);
    f->work.copying = false;
    if (atomic_load(&f->work.cancelled))
        e = f->error;
    else if (!ok)
        error_set(&e, WNNStatus_UnknownError, "readTensor: the engine could not copy the tensor's bytes: %s", why.message);
    future_settle(context, f, e.status ? &e : NULL, NULL, &after);
    pthread_mutex_unlock(&context->lock);
    after_run(context, &after);
    if (!ok)
        context_check_engine(context);
}

static void read_task_run(struct context_task *base)
{
    read_run((struct read_task *)base, NULL);
}

static void read_task_release(struct context_task *base)
{
    struct read_task *t = (struct read_task *)base;

    tensor_unpin(t->tensor);
    future_give_back(base->context, t->future);
}

/* Runs and frees a task on the calling thread, if nothing is before it.  False: the task is as it was. */
static bool read_now(struct read_task *t)
{
    WNNContext context = t->base.context;

    if (!timeline_try_begin(context->timeline))
        return false;
    read_run(t, context->timeline);
    read_task_release(&t->base);
    free(t);
    return true;
}

/* Returns a task that reads into data and ends f, if all is as the specification demands, else NULL after an error in *e. */
static struct read_task *read_prepare(WNNContext context, WNNTensor tensor, void *data, size_t bytes, struct future *f,
                                      struct error *e)
{
    struct read_task *t = calloc(1, sizeof *t);

    if (!t)
        return error_null_memory(e);
    pthread_mutex_lock(&context->lock);
    bool ok = tensor_check_access(context, tensor, "readTensor", tensor->readable, "readable", data, bytes, e);
    if (ok) {
        tensor_pin(tensor);
        f->references++; /* the task's */
        f->tensor = tensor;
        LIST_ADD(tensor->reads, f, read_next, read_previous);
    }
    pthread_mutex_unlock(&context->lock);
    if (!ok) {
        free(t);
        return NULL;
    }
    t->base.run = read_task_run;
    t->base.release = read_task_release;
    t->base.task.overlaps = context->engine->functions->optional.keeps_order;
    t->base.context = context;
    t->future = f;
    t->tensor = tensor;
    t->data = data;
    return t;
}

WNNStatus wnnContextReadTensor(WNNContext context, WNNTensor tensor, void *data, size_t byteLength)
{
    struct error e;

    error_clear(&e);
    if (!tensor_check_handles(context, tensor, "readTensor", &e) || !context_may_wait(context, "readTensor", &e))
        return error_publish(&e);
    struct future *f = future_create(context, FUTURE_READ, WNNCallbackMode_WaitAnyOnly, NULL);
    if (!f)
        return error_fail_memory(&e);
    struct read_task *t = read_prepare(context, tensor, data, byteLength, f, &e);
    if (!t || (!read_now(t) && !context_submit(context, &t->base, &e)))
        future_fail(context, f, &e);
    error_clear(&e);
    return future_take(context, f, NULL, &e) ? error_publish(&e) : WNNStatus_Success;
}

WNNFuture wnnContextReadTensorAsync(WNNContext context, WNNTensor tensor, void *data, size_t byteLength,
                                    WNNReadTensorCallbackInfo callbackInfo)
{
    const struct future_target target = {{.read = callbackInfo.callback}, callbackInfo.userdata1, callbackInfo.userdata2};
    struct error e;

    error_clear(&e);
    const bool handles = tensor_check_handles(context, tensor, "readTensor", &e);
    struct future *f = future_open(context, FUTURE_READ, callbackInfo.mode, target, &e);
    struct read_task *t = f && handles ? read_prepare(context, tensor, data, byteLength, f, &e) : NULL;
    /* An engine that computes asynchronously may have to be waited for. */
    bool is_quick = t && tensor->bytes <= READ_NOW_BYTES && !context->engine->functions->optional.submit;
    if (f && (!t || (!(is_quick && read_now(t)) && !context_submit(context, &t->base, &e)))) {
        error_publish(&e);
        future_fail(context, f, &e);
    }
    return future_close(context, f);
}

/* ---- writing ---- */

struct write_task {
    struct context_task base;
    WNNTensor tensor; /* pinned */
    unsigned char data[];
};

static void write_task_run(struct context_task *base)
{
    struct write_task *t = (struct write_task *)base;
    WNNContext context = base->context;
    struct engine *en = context->engine;
    struct error e = {.status = WNNStatus_Success};
    char message[sizeof e.message + 80];

    if (atomic_load(&context->lost) || en->functions->buffer_write(en, t->tensor->buffer, 0, t->data, t->tensor->bytes, &e))
        return;
    snprintf(message, sizeof message, "the context was lost: the engine could not write to a tensor: %s", e.message);
    context_lose(context, message);
}

static void write_task_release(struct context_task *base)
{
    tensor_unpin(((struct write_task *)base)->tensor);
}

/* Writes on the calling thread, whose turn it is: no copy of the caller's bytes is needed. */
static WNNStatus write_now(WNNContext context, WNNTensor tensor, void const *data, struct error *e)
{
    struct engine *en = context->engine;
    struct error why = {.status = WNNStatus_Success};
    bool ok = en->functions->buffer_write(en, tensor->buffer, 0, data, tensor->bytes, &why);

    timeline_end(context->timeline);
    tensor_unpin(tensor);
    if (ok)
        return WNNStatus_Success;
    context_check_engine(context);
    return error_fail(e, WNNStatus_UnknownError, "writeTensor: the engine could not write to the tensor: %s", why.message);
}

WNNStatus wnnContextWriteTensor(WNNContext context, WNNTensor tensor, void const *data, size_t byteLength)
{
    struct error e;

    error_clear(&e);
    if (!tensor_check_handles(context, tensor, "writeTensor", &e))
        return error_publish(&e);
    pthread_mutex_lock(&context->lock);
    bool ok = tensor_check_access(context, tensor, "writeTensor", tensor->writable, "writable", data, byteLength, &e);
    if (ok)
        tensor_pin(tensor);
    pthread_mutex_unlock(&context->lock);
    if (!ok)
        return error_publish(&e);
    if (timeline_try_begin(context->timeline))
        return write_now(context, tensor, data, &e);

    struct write_task *t = malloc(sizeof *t + byteLength);
    if (!t) {
        tensor_unpin(tensor);
        return error_fail_memory(&e);
    }
    t->base = (struct context_task){.run = write_task_run, .release = write_task_release};
    t->base.task.overlaps = context->engine->functions->optional.keeps_order;
    t->tensor = tensor;
    __builtin_memcpy(t->data, data, byteLength);
    return context_submit(context, &t->base, &e) ? WNNStatus_Success : error_publish(&e);
}
