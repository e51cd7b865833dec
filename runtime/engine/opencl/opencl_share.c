/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * An engine in the application's own OpenCL context and queue.
 *
 * In: its objects.  Out: an engine that has its references on them.  What the application puts into the queue runs in the order
 * in which both put commands there; wnnContextFlush tells when the engine's are in.
 */
#include "runtime/engine/opencl/internal.h"

#include <stdlib.h>

static bool mistaken(struct error *e, const char *what)
{
    return error_set(e, WNNStatus_TypeError, "createContext: %s", what);
}

static bool has_device(const struct opencl_api *api, cl_context context, cl_device_id id)
{
    size_t bytes = 0;
    bool found = false;

    if (api->GetContextInfo(context, CL_CONTEXT_DEVICES, 0, NULL, &bytes) != CL_SUCCESS)
        return false;
    cl_device_id *ids = malloc(bytes + sizeof *ids);
    if (ids && api->GetContextInfo(context, CL_CONTEXT_DEVICES, bytes, ids, NULL) == CL_SUCCESS)
        for (size_t i = 0; i < bytes / sizeof *ids; i++)
            found |= ids[i] == id;
    free(ids);
    return found;
}

static bool check_queue(const struct opencl_api *api, const struct opencl_choice *c, struct error *e)
{
    cl_command_queue_properties properties = 0;
    cl_context context = NULL;
    cl_device_id device = NULL;

    if (api->GetCommandQueueInfo(c->queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL) != CL_SUCCESS ||
        api->GetCommandQueueInfo(c->queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL) != CL_SUCCESS ||
        api->GetCommandQueueInfo(c->queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL) != CL_SUCCESS)
        return mistaken(e, "openclQueue is not a queue of OpenCL's");
    if (context != (cl_context)c->context || device != (cl_device_id)c->id)
        return mistaken(e, "openclQueue is not of openclContext and openclDevice");
    return !(properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) || mistaken(e, "openclQueue is not in order");
}

bool opencl_share(struct engine_opencl *o, const struct opencl_choice *choice, struct error *e)
{
    if (!opencl_device_take(o->api, choice->id, &o->device, e))
        return false;
    o->api = o->device.api;
    if (!has_device(o->api, choice->context, choice->id))
        return mistaken(e, "openclDevice is not a device of openclContext");
    if (!check_queue(o->api, choice, e))
        return false;
    o->shared = true;
    cl_int code = o->api->RetainContext(choice->context);
    if (code != CL_SUCCESS)
        return opencl_failed(o, "clRetainContext", code, e);
    o->context = choice->context;
    code = o->api->RetainCommandQueue(choice->queue);
    if (code != CL_SUCCESS)
        return opencl_failed(o, "clRetainCommandQueue", code, e);
    o->queue = choice->queue;
    return true;
}
