/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Asks a device to compute something: compiles a text and runs its kernel once on known numbers.  That takes the driver's
 * compiler a moment, so that it happens when a graph is built first, or when a saved one needs it.
 *
 * A device may list an extension, or take an instruction, and yet compute something else, which a probe finds out.
 * Anything that goes wrong means that it does not: a program that does not build, a call that fails.  Nothing is said about
 * why, and the context stays usable.
 */
#include "runtime/engine/opencl/internal.h"

static cl_kernel build_kernel(const struct engine_opencl *o, const struct opencl_probe *p)
{
    const char *parts[] = {p->definitions, opencl_prelude, p->text};
    cl_int code = CL_SUCCESS;
    cl_kernel kernel = NULL;
    cl_program program = o->api->CreateProgramWithSource(o->context, 3, parts, NULL, &code);

    if (code != CL_SUCCESS)
        return NULL;
    if (o->api->BuildProgram(program, 1, &o->device.id, opencl_options, NULL, NULL) == CL_SUCCESS) {
        kernel = o->api->CreateKernel(program, "webnn_probe", &code);
        kernel = code == CL_SUCCESS ? kernel : NULL;
    }
    o->api->ReleaseProgram(program); /* the kernel keeps it */
    return kernel;
}

static cl_mem make_buffer(const struct engine_opencl *o, size_t bytes)
{
    cl_int code = CL_SUCCESS;
    cl_mem memory = o->api->CreateBuffer(o->context, CL_MEM_READ_WRITE, bytes, NULL, &code);

    return code == CL_SUCCESS ? memory : NULL;
}

static bool run_kernel(const struct engine_opencl *o, const struct opencl_probe *p, cl_command_queue queue, cl_kernel kernel,
                       void *got)
{
    const struct opencl_api *api = o->api;
    const size_t items = p->items;
    const cl_ulong offset = 0;
    cl_mem in = make_buffer(o, p->in_bytes), out = make_buffer(o, p->out_bytes);
    const bool good = in && out && api->SetKernelArg(kernel, 0, sizeof in, &in) == CL_SUCCESS &&
                      api->SetKernelArg(kernel, 1, sizeof offset, &offset) == CL_SUCCESS &&
                      api->SetKernelArg(kernel, 2, sizeof out, &out) == CL_SUCCESS &&
                      api->SetKernelArg(kernel, 3, sizeof offset, &offset) == CL_SUCCESS &&
                      api->EnqueueWriteBuffer(queue, in, CL_TRUE, 0, p->in_bytes, p->in, 0, NULL, NULL) == CL_SUCCESS &&
                      api->EnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, &items, 0, NULL, NULL) == CL_SUCCESS &&
                      api->EnqueueReadBuffer(queue, out, CL_TRUE, 0, p->out_bytes, got, 0, NULL, NULL) == CL_SUCCESS;

    if (in)
        api->ReleaseMemObject(in);
    if (out)
        api->ReleaseMemObject(out);
    return good;
}

bool opencl_probe_run(const struct engine_opencl *o, const struct opencl_probe *p, void *out)
{
    cl_kernel kernel = build_kernel(o, p);
    cl_int code = CL_SUCCESS;
    bool good = false;

    if (!kernel)
        return false;
    /* A queue of its own: the engine's may be the application's, whose work the probe must not wait for. */
    cl_command_queue queue = o->api->CreateCommandQueue(o->context, o->device.id, 0, &code);
    if (code == CL_SUCCESS) {
        good = run_kernel(o, p, queue, kernel, out);
        o->api->ReleaseCommandQueue(queue);
    }
    o->api->ReleaseKernel(kernel);
    return good;
}

void opencl_probe_instructions(struct engine_opencl *o)
{
    pthread_mutex_lock(&o->library.lock);
    if (!o->probed) {
        opencl_find_matrix(o);
        o->probed = true;
    }
    pthread_mutex_unlock(&o->library.lock);
}
