/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Says in words what went wrong, and whether the device is gone.
 */
#include "runtime/engine/opencl/internal.h"

/* Returns whether nothing works any more after a code; NVIDIA's driver says -9999 for an illegal access of a kernel. */
static bool is_fatal(cl_int code)
{
    return code == CL_DEVICE_NOT_AVAILABLE || code == CL_INVALID_DEVICE || code == CL_INVALID_CONTEXT ||
           code == CL_INVALID_COMMAND_QUEUE || code == -9999;
}

static void lose(struct engine_opencl *o, const char *call, cl_int code)
{
    char name[24];

    pthread_mutex_lock(&o->loss.lock);
    if (!atomic_load(&o->loss.lost)) {
        error_set(&o->loss.why, WNNStatus_OperationError, "the OpenCL device %s is lost: %s: %s", o->device.name, call,
                  opencl_error_name(code, name));
        atomic_store(&o->loss.lost, true);
    }
    pthread_mutex_unlock(&o->loss.lock);
}

bool opencl_failed(struct engine_opencl *o, const char *call, cl_int code, struct error *e)
{
    char name[24];

    if (is_fatal(code))
        return opencl_wait_failed(o, call, code, e);
    return error_set(e, WNNStatus_OperationError, "%s on the OpenCL device %s: %s", call, o->device.name,
                     opencl_error_name(code, name));
}

bool opencl_wait_failed(struct engine_opencl *o, const char *call, cl_int code, struct error *e)
{
    lose(o, call, code);
    return opencl_is_usable(o, e);
}

bool opencl_is_usable(struct engine_opencl *o, struct error *e)
{
    return !atomic_load(&o->loss.lost) || error_set(e, o->loss.why.status, "%s", o->loss.why.message);
}
