/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Implements WNNTensor: creation and destruction.  tensor_access.c has reading and writing.
 *
 * A descriptor becomes memory of the engine's whose contents change on the timeline only.
 */
#include "ir/support/struct_size.h"
#include "runtime/api/context.h"
#include "runtime/api/runtime.h"
#include "runtime/program/memory_limit.h"

#include <stdlib.h>

/* ---- lifetime ---- */

/* Makes a tensor without memory that is not in the context's list yet, with one reference for the caller. */
static WNNTensor tensor_create(WNNContext context, const struct tensor_type *type, struct error *e)
{
    WNNTensor t = calloc(1, sizeof *t);

    if (!t)
        return error_null_memory(e);
    atomic_init(&t->references, 1);
    t->context = context;
    t->type = *type;
    t->bytes = (size_t)type_bytes(type);
    return t;
}

static void tensor_free_memory(WNNTensor t)
{
    struct engine *en = t->context->engine;

    if (t->buffer)
        memory_buffer_free(en, t->buffer);
    constant_release(t->data);
    t->buffer = NULL;
    t->data = NULL;
}

void wnnTensorAddRef(WNNTensor tensor)
{
    if (tensor)
        atomic_fetch_add_explicit(&tensor->references, 1, memory_order_relaxed);
}

void wnnTensorRelease(WNNTensor tensor)
{
    if (!tensor || atomic_fetch_sub_explicit(&tensor->references, 1, memory_order_acq_rel) != 1)
        return;
    WNNContext context = tensor->context;

    pthread_mutex_lock(&context->lock);
    LIST_REMOVE(context->first_tensor, tensor, next, previous);
    /* Reads that were copied but not observed keep their success; the tensor is not needed for it. */
    for (struct future *f = tensor->reads; f; f = f->read_next)
        f->tensor = NULL;
    pthread_mutex_unlock(&context->lock);
    tensor_free_memory(tensor);
    bool holds_context = tensor->holds_context;
    free(tensor);
    if (holds_context)
        wnnContextRelease(context);
}

void tensor_pin(WNNTensor t)
{
    wnnTensorAddRef(t);
    t->pins++;
}

void tensor_unpin(WNNTensor t)
{
    struct engine_buffer *buffer = NULL;
    WNNContext context = t->context;

    pthread_mutex_lock(&context->lock);
    if (--t->pins == 0 && t->destroyed) {
        buffer = t->buffer;
        t->buffer = NULL;
    }
    pthread_mutex_unlock(&context->lock);
    if (buffer)
        memory_buffer_free(context->engine, buffer);
    wnnTensorRelease(t);
}

void tensor_destroy_locked(WNNTensor t, const struct error *e, struct after *after, struct engine_buffer **buffer,
                           struct constant **data)
{
    *buffer = NULL;
    *data = t->data;
    t->data = NULL;
    t->destroyed = true;
    futures_cancel_reads(t->context, t, e, after);
    if (t->pins == 0) {
        *buffer = t->buffer;
        t->buffer = NULL;
    }
}

void wnnTensorDestroy(WNNTensor tensor)
{
    struct after after = {0};
    struct engine_buffer *buffer = NULL;
    struct constant *data = NULL;
    struct error e = {0};

    if (!tensor)
        return;
    WNNContext context = tensor->context;
    error_set(&e, WNNStatus_InvalidStateError, "readTensor: the tensor was destroyed before the read was observed");
    wnnContextAddRef(context);
    pthread_mutex_lock(&context->lock);
    if (!tensor->destroyed)
        tensor_destroy_locked(tensor, &e, &after, &buffer, &data);
    pthread_mutex_unlock(&context->lock);
    if (buffer)
        memory_buffer_free(context->engine, buffer);
    constant_release(data);
    after_run(context, &after);
    wnnContextRelease(context);
}

/* ---- creation ---- */

static WNNTensor tensor_from_descriptor(WNNContext context, const char *call, WNNOperandDataType data_type, size_t rank,
                                        uint32_t const *shape, struct error *e)
{
    struct tensor_type type;
    char what[64];

    if (!context)
        return error_null(e, WNNStatus_TypeError, "%s: context is NULL", call);
    if (atomic_load(&context->lost))
        return error_null(e, WNNStatus_InvalidStateError, "%s: the context is lost", call);
    snprintf(what, sizeof what, "%s: descriptor", call);
    if (dtype_is_draft(data_type) && !type_check_data_type(data_type, context->knows_draft, what, e))
        return NULL;
    return type_from_descriptor(data_type, rank, shape, what, &type, e) ? tensor_create(context, &type, e) : NULL;
}

WNNTensor tensor_prepare(WNNContext context, WNNTensorDescriptor const *d, struct error *e)
{
    static const WNNTensorDescriptor defaults = WNN_TENSOR_DESCRIPTOR_INIT;
    static const struct known_struct known = {sizeof defaults, STRUCT_FIRST_SIZE(WNNTensorDescriptor, writable), &defaults,
                                              "WNN_TENSOR_DESCRIPTOR_INIT"};
    WNNTensorDescriptor read = defaults;
    char text[300];

    if (context && !d)
        return error_null(e, WNNStatus_TypeError, "createTensor: descriptor is NULL");
    const char *wrong = d ? struct_read(&read, d, &known, text, sizeof text) : NULL;
    if (wrong)
        return error_null(e, WNNStatus_TypeError, "createTensor: descriptor.%s", wrong);
    WNNTensor t = tensor_from_descriptor(context, "createTensor", read.dataType, read.rank, read.shape, e);
    if (t) {
        t->readable = read.readable;
        t->writable = read.writable;
    }
    return t;
}

static WNNTensor tensor_prepare_constant(WNNContext context, WNNOperandDescriptor const *d, void const *data, size_t bytes,
                                         struct error *e)
{
    if (context && !d)
        return error_null(e, WNNStatus_TypeError, "createConstantTensor: descriptor is NULL");
    WNNTensor t = tensor_from_descriptor(context, "createConstantTensor", d ? d->dataType : WNNOperandDataType_Undefined,
                                         d ? d->rank : 0, d ? d->shape : NULL, e);
    if (!t)
        return NULL;
    if (!data)
        error_set(e, WNNStatus_TypeError, "createConstantTensor: data is NULL");
    else if (bytes != t->bytes)
        error_set(e, WNNStatus_TypeError, "createConstantTensor: data has %zu bytes, descriptor needs %zu", bytes, t->bytes);
    else if (!(t->data = constant_create(data, bytes)))
        error_out_of_memory(e);
    t->constant = true;
    if (e->status == WNNStatus_Success)
        return t;
    wnnTensorRelease(t);
    return NULL;
}

/* Gives a prepared tensor its memory and makes it known.  Returns false after an error in *e, and the tensor has no memory. */
static bool tensor_materialize(WNNTensor t, struct error *e)
{
    WNNContext context = t->context;
    struct engine *en = context->engine;
    struct error why = {.status = WNNStatus_Success};

    if (!t->constant && !t->buffer && !(t->buffer = memory_buffer_create(en, t->bytes, &why))) {
        context_check_engine(context);
        return error_set(e, WNNStatus_UnknownError, "createTensor: %s", why.message); /* the specification's */
    }
    pthread_mutex_lock(&context->lock);
    bool lost = atomic_load(&context->lost);
    if (!lost)
        LIST_ADD(context->first_tensor, t, next, previous);
    pthread_mutex_unlock(&context->lock);
    return !lost || error_set(e, WNNStatus_InvalidStateError, "createTensor: the context was lost meanwhile");
}

/* Allocation needs no order with other work: the synchronous forms do it on the calling thread. */
WNNStatus tensor_complete(WNNTensor t, WNNTensor *tensor, struct error *e)
{
    if (!t)
        return error_publish(e);
    if (!tensor_materialize(t, e)) {
        wnnTensorRelease(t);
        return error_publish(e);
    }
    wnnContextAddRef(t->context);
    t->holds_context = true;
    *tensor = t;
    return WNNStatus_Success;
}

bool tensor_check_result(WNNTensor *tensor, const char *call, struct error *e)
{
    error_clear(e);
    if (!tensor)
        return error_set(e, WNNStatus_TypeError, "%s: tensor is NULL", call);
    *tensor = NULL;
    return true;
}

WNNStatus wnnContextCreateTensor(WNNContext context, WNNTensorDescriptor const *descriptor, WNNTensor *tensor)
{
    struct error e;

    if (!tensor_check_result(tensor, "createTensor", &e))
        return error_publish(&e);
    return tensor_complete(tensor_prepare(context, descriptor, &e), tensor, &e);
}

WNNStatus wnnContextCreateConstantTensor(WNNContext context, WNNOperandDescriptor const *descriptor, void const *data,
                                         size_t byteLength, WNNTensor *tensor)
{
    struct error e;

    if (!tensor_check_result(tensor, "createConstantTensor", &e))
        return error_publish(&e);
    return tensor_complete(tensor_prepare_constant(context, descriptor, data, byteLength, &e), tensor, &e);
}

struct create_task {
    struct context_task base;
    struct future *future;
    WNNTensor tensor;
};

static void create_task_run(struct context_task *base)
{
    struct create_task *t = (struct create_task *)base;
    struct error e = {0};

    if (!future_begin(base->context, t->future))
        return;
    if (tensor_materialize(t->tensor, &e)) {
        WNNTensor tensor = t->tensor;
        t->tensor = NULL;
        future_end(base->context, t->future, NULL, tensor);
    } else {
        future_fail(base->context, t->future, &e);
    }
}

static void create_task_release(struct context_task *base)
{
    struct create_task *t = (struct create_task *)base;

    wnnTensorRelease(t->tensor);
    future_give_back(base->context, t->future);
}

/* Finishes the creation of a prepared tensor on the timeline.  If t is NULL, the future fails with the error *e. */
static WNNFuture tensor_complete_async(WNNContext context, WNNTensor t, WNNCreateTensorCallbackInfo info, struct error *e)
{
    const struct future_target target = {{.tensor = info.callback}, info.userdata1, info.userdata2};
    struct future *f = future_open(context, FUTURE_TENSOR, info.mode, target, e);
    struct create_task *task = f && t ? calloc(1, sizeof *task) : NULL;

    if (task) {
        *task = (struct create_task){{.run = create_task_run, .release = create_task_release}, f, t};
        future_submit(context, f, &task->base);
    } else if (f) {
        if (t)
            error_out_of_memory(e);
        future_fail(context, f, e);
        error_publish(e);
    }
    if (!task)
        wnnTensorRelease(t);
    return future_close(context, f);
}

WNNFuture wnnContextCreateTensorAsync(WNNContext context, WNNTensorDescriptor const *descriptor,
                                      WNNCreateTensorCallbackInfo callbackInfo)
{
    struct error e = {0};

    return tensor_complete_async(context, tensor_prepare(context, descriptor, &e), callbackInfo, &e);
}

WNNFuture wnnContextCreateConstantTensorAsync(WNNContext context, WNNOperandDescriptor const *descriptor, void const *data,
                                              size_t byteLength, WNNCreateTensorCallbackInfo callbackInfo)
{
    struct error e = {0};

    return tensor_complete_async(context, tensor_prepare_constant(context, descriptor, data, byteLength, &e), callbackInfo, &e);
}

/* ---- facts ---- */

WNNOperandDataType wnnTensorGetDataType(WNNTensor tensor)
{
    return tensor ? tensor->type.type : WNNOperandDataType_Undefined;
}

size_t wnnTensorGetRank(WNNTensor tensor)
{
    return tensor ? tensor->type.rank : 0;
}

uint32_t const *wnnTensorGetShape(WNNTensor tensor)
{
    return tensor ? tensor->type.dims : NULL;
}

size_t wnnTensorGetByteLength(WNNTensor tensor)
{
    return tensor ? tensor->bytes : 0;
}

bool wnnTensorGetReadable(WNNTensor tensor)
{
    return tensor && tensor->readable;
}

bool wnnTensorGetWritable(WNNTensor tensor)
{
    return tensor && tensor->writable;
}

bool wnnTensorGetConstant(WNNTensor tensor)
{
    return tensor && tensor->constant;
}

/* ---- constant operands ---- */

struct constant *runtime_tensor_constant(WNNContext context, WNNTensor tensor, struct tensor_type *type, struct error *e)
{
    struct constant *c = NULL;

    if (!tensor)
        return error_null(e, WNNStatus_TypeError, "constant: tensor is NULL");
    pthread_mutex_lock(&tensor->context->lock);
    if (tensor->context != context) {
        error_set(e, WNNStatus_TypeError, "constant: the tensor belongs to another context");
    } else if (tensor->destroyed) {
        error_set(e, WNNStatus_TypeError, "constant: the tensor is destroyed");
    } else if (!tensor->constant) {
        error_set(e, WNNStatus_TypeError, "constant: the tensor is not constant");
    } else {
        *type = tensor->type;
        c = constant_retain(tensor->data);
    }
    pthread_mutex_unlock(&tensor->context->lock);
    return c;
}

bool runtime_tensor_is_destroyed(WNNTensor tensor)
{
    pthread_mutex_lock(&tensor->context->lock);
    bool destroyed = tensor->destroyed;
    pthread_mutex_unlock(&tensor->context->lock);
    return destroyed;
}
