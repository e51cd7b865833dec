/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Determines whether the device multiplies matrices of float16 by instructions (struct gpu_facts): one kernel runs on known
 * numbers (codegen/opencl/matrix_probe.c).  That takes the driver's compiler a moment, so that it happens when a graph is built
 * first, or when a saved one needs it.
 *
 * Only devices of makers whose compilers take these instructions are asked.  A device may take one and yet compute something
 * else.  Anything that goes wrong means that there are none: a program that does not build, a call that fails.  Nothing is said
 * about why, and the context stays usable.
 */
#include "runtime/engine/opencl/internal.h"

enum { SUBGROUP = 32 };

static cl_kernel build_kernel(const struct engine_opencl *o)
{
    const char *parts[] = {opencl_matrix_functions, opencl_prelude, opencl_matrix_probe};
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

static bool run_kernel(const struct engine_opencl *o, cl_command_queue queue, cl_kernel kernel)
{
    const struct opencl_api *api = o->api;
    const size_t items = SUBGROUP;
    const cl_ulong offset = 0;
    uint16_t halves[OPENCL_PROBE_HALVES];
    float sums[OPENCL_PROBE_SUMS];
    cl_mem in = make_buffer(o, sizeof halves), out = make_buffer(o, sizeof sums);

    opencl_matrix_probe_fill(halves);
    const bool good = in && out && api->SetKernelArg(kernel, 0, sizeof in, &in) == CL_SUCCESS &&
                      api->SetKernelArg(kernel, 1, sizeof offset, &offset) == CL_SUCCESS &&
                      api->SetKernelArg(kernel, 2, sizeof out, &out) == CL_SUCCESS &&
                      api->SetKernelArg(kernel, 3, sizeof offset, &offset) == CL_SUCCESS &&
                      api->EnqueueWriteBuffer(queue, in, CL_TRUE, 0, sizeof halves, halves, 0, NULL, NULL) == CL_SUCCESS &&
                      api->EnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, &items, 0, NULL, NULL) == CL_SUCCESS &&
                      api->EnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof sums, sums, 0, NULL, NULL) == CL_SUCCESS &&
                      opencl_matrix_probe_right(sums);

    if (in)
        api->ReleaseMemObject(in);
    if (out)
        api->ReleaseMemObject(out);
    return good;
}

static bool probe(const struct engine_opencl *o)
{
    cl_kernel kernel = build_kernel(o);
    cl_int code = CL_SUCCESS;
    bool good = false;

    if (!kernel)
        return false;
    /* A queue of its own: the engine's may be the application's, whose work the probe must not wait for. */
    cl_command_queue queue = o->api->CreateCommandQueue(o->context, o->device.id, 0, &code);
    if (code == CL_SUCCESS) {
        good = run_kernel(o, queue, kernel);
        o->api->ReleaseCommandQueue(queue);
    }
    o->api->ReleaseKernel(kernel);
    return good;
}

void opencl_probe_instructions(struct engine_opencl *o)
{
    const uint32_t vendor = (uint32_t)opencl_device_number(&o->device, CL_DEVICE_VENDOR_ID);
    const bool asks = o->device.kind == WNNDeviceKind_Gpu && target_gpu_maker(vendor)->takes_ptx &&
                      !(o->base.debug->flags & DEBUG_NO_MATRIX_INSTRUCTIONS);

    pthread_mutex_lock(&o->library.lock);
    if (asks && !o->probed && probe(o))
        o->device.facts.matrix_items = SUBGROUP;
    o->probed = true;
    pthread_mutex_unlock(&o->library.lock);
}
