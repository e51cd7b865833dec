/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A stand-in for the runtime, for tests that look at what the frontend hands over or asks for: contexts that can be lost,
 * constant tensors, a build that keeps the graph.  Defines the functions of runtime/api/runtime.h and the few public ones that
 * the frontend calls, so that the linker has no reason to take the real ones.  Include it in one source file of a test.
 */
#pragma once

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/api/runtime.h"

struct WNNContextImpl {
    int references;
    bool is_lost;
    dtype_set unsupported; /* by every slot */
    struct graph *built;   /* the newest graph handed over; freed with the context */
    WNNBudget budget;
    WNNStatus build_status;
    int async_builds, failed_builds;
    char logged[256]; /* the newest message */
};

struct WNNTensorImpl {
    int references;
    WNNContext context;
    struct tensor_type type;
    struct constant *constant;
    bool is_destroyed;
};

static inline struct WNNContextImpl fake_context(void)
{
    return (struct WNNContextImpl){.references = 1};
}

/** Frees what the context holds; its references must all be back but one. */
static inline void fake_context_end(struct WNNContextImpl *c)
{
    graph_free(c->built);
    c->built = NULL;
}

WNNBudget wnnContextGetBudget(WNNContext context)
{
    return context->budget;
}

bool wnnContextIsLost(WNNContext context)
{
    return context->is_lost;
}

void wnnContextAddRef(WNNContext context)
{
    context->references++;
}

void wnnContextRelease(WNNContext context)
{
    if (context)
        context->references--;
}

void wnnTensorAddRef(WNNTensor tensor)
{
    tensor->references++;
}

void wnnTensorRelease(WNNTensor tensor)
{
    if (tensor)
        tensor->references--;
}

struct constant *runtime_tensor_constant(WNNContext context, WNNTensor tensor, struct tensor_type *type, struct error *e)
{
    if (tensor->context != context)
        error_set(e, WNNStatus_TypeError, "constant: the tensor is of another context");
    else if (tensor->is_destroyed)
        error_set(e, WNNStatus_TypeError, "constant: the tensor has been destroyed");
    else if (!tensor->constant)
        error_set(e, WNNStatus_TypeError, "constant: the tensor is not constant");
    else {
        *type = tensor->type;
        return constant_retain(tensor->constant);
    }
    return NULL;
}

bool runtime_tensor_is_destroyed(WNNTensor tensor)
{
    return tensor->is_destroyed;
}

bool runtime_knows_draft(__attribute__((unused)) WNNContext context)
{
    return false;
}

dtype_set runtime_supported_types(WNNContext context, enum op op, uint32_t slot)
{
    const struct operand_info *info =
        slot < OP_OPERANDS_MAX ? &op_infos[op].ins[slot] : &op_infos[op].outs[slot - OP_OPERANDS_MAX];

    if (info->types & DT_AS_FLAG)
        return runtime_supported_types(context, op, info->types & ~DT_AS_FLAG);
    return info->types & ~context->unsupported;
}

void context_log(WNNContext context, WNNLogLevel level, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(context->logged, sizeof(context->logged), format, args);
    va_end(args);
}

WNNStatus runtime_build(WNNContext context, struct graph *g, WNNGraph *graph, struct error *e)
{
    graph_free(context->built);
    context->built = g;
    if (context->build_status) {
        error_set(e, context->build_status, "build: refused by the test");
        return context->build_status;
    }
    *graph = (WNNGraph)(void *)context; /* not to be followed */
    return WNNStatus_Success;
}

WNNFuture runtime_build_async(WNNContext context, struct graph *g, WNNBuildCallbackInfo info)
{
    graph_free(context->built);
    context->built = g;
    context->async_builds++;
    return (WNNFuture){1};
}

WNNFuture runtime_build_failed(WNNContext context, const struct error *e, WNNBuildCallbackInfo info)
{
    context->failed_builds += e->status != WNNStatus_Success;
    return (WNNFuture){2};
}
