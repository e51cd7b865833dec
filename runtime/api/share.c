/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What an application shares with a context: its buffers as tensors, and the order of its commands and ours in one queue.
 */
#include "runtime/api/context.h"

/* ---- buffers ---- */

static WNNTensor tensor_prepare_shared(WNNContext context, WNNTensorDescriptor const *d, void *memory, size_t offset,
                                       struct error *e)
{
    WNNTensor t = tensor_prepare(context, d, e);
    struct error why = {.status = WNNStatus_Success};

    if (!t)
        return NULL;
    const struct engine_functions *f = context->engine->functions;
    if (!memory)
        error_set(e, WNNStatus_TypeError, "createTensor: memory is NULL");
    else if (!f->optional.buffer_wrap)
        error_set(e, WNNStatus_NotSupportedError, "createTensor: the context's engine is not for OpenCL");
    else if ((t->buffer = f->optional.buffer_wrap(context->engine, memory, offset, t->bytes, &why)))
        return t;
    else
        error_set(e, why.status ? why.status : WNNStatus_UnknownError, "createTensor: %s", why.message);
    wnnTensorRelease(t);
    return NULL;
}

WNNStatus wnnContextCreateTensorFromOpenCL(WNNContext context, WNNTensorDescriptor const *descriptor, void *memory,
                                           size_t byteOffset, WNNTensor *tensor)
{
    struct error e;

    if (!tensor_check_result(tensor, "createTensor", &e))
        return error_publish(&e);
    return tensor_complete(tensor_prepare_shared(context, descriptor, memory, byteOffset, &e), tensor, &e);
}

/* ---- order ---- */

static void nothing(void *user)
{
    (void)user;
}

WNNStatus wnnContextFlush(WNNContext context)
{
    struct error e = {0};

    if (!context)
        return error_fail(&e, WNNStatus_TypeError, "flush: context is NULL");
    /* For the timeline's thread a dispatch is over once it is in the engine's queue: what overlaps with it goes on then. */
    if (!timeline_is_idle(context->timeline) &&
        (!context_may_wait(context, "flush", &e) ||
         !context_run_in_turn(context, context->engine->functions->optional.keeps_order, nothing, NULL, &e)))
        return error_publish(&e);
    if (atomic_load(&context->lost))
        return error_fail(&e, WNNStatus_InvalidStateError, "flush: the context is lost");
    return WNNStatus_Success;
}
