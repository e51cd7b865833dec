/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Finds out whether the device multiplies matrices of float16 by instructions of its own (struct gpu_matrix_facts).
 *
 * Only devices of makers whose compilers take these instructions are asked: a small program that has them is built and run
 * once, in a queue of its own, on numbers that are known (codegen/opencl/matrix_probe.c).  Whatever goes wrong means that there
 * are none; that is no error.
 */
#ifdef WEBNN_OPENCL
#include "runtime/opencl/internal.h"

#include <stdlib.h>
#include <string.h>

enum { SUBGROUP = 32 };

/* Returns the program, as any other one that the engine builds, or NULL. */
static cl_program build(struct engine_opencl *o, uint32_t *number)
{
    struct opencl_wanted wanted = {.step = "matrix instructions"};
    struct error ignored = {.status = WNNStatus_Success};
    const size_t first = strlen(opencl_matrix_functions);
    char *text = malloc(first + strlen(opencl_matrix_probe) + 1);

    if (!text)
        return NULL;
    strcpy(strcpy(text, opencl_matrix_functions) + first, opencl_matrix_probe);
    wanted.text = text;
    const bool built = opencl_programs_build(o, 1, &wanted, &ignored);
    free(text);
    *number = wanted.number;
    return built ? opencl_program_handle(wanted.program) : NULL;
}

/* Runs the kernel and reads what it gives. */
static bool run(const struct engine_opencl *o, cl_command_queue queue, cl_kernel kernel, cl_mem in, cl_mem out,
                float sums[OPENCL_PROBE_SUMS])
{
    const struct opencl_api *api = o->api;
    const size_t items = SUBGROUP;
    const cl_ulong offset = 0;
    uint16_t halves[OPENCL_PROBE_HALVES];

    opencl_matrix_probe_fill(halves);
    return api->EnqueueWriteBuffer(queue, in, CL_TRUE, 0, sizeof halves, halves, 0, NULL, NULL) == CL_SUCCESS &&
           api->SetKernelArg(kernel, 0, sizeof in, &in) == CL_SUCCESS &&
           api->SetKernelArg(kernel, 1, sizeof offset, &offset) == CL_SUCCESS &&
           api->SetKernelArg(kernel, 2, sizeof out, &out) == CL_SUCCESS &&
           api->SetKernelArg(kernel, 3, sizeof offset, &offset) == CL_SUCCESS &&
           api->EnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, &items, 0, NULL, NULL) == CL_SUCCESS &&
           api->EnqueueReadBuffer(queue, out, CL_TRUE, 0, OPENCL_PROBE_SUMS * sizeof *sums, sums, 0, NULL, NULL) == CL_SUCCESS;
}

/* Returns the error of a product, or 0 if the device has no such instructions. */
static double probe(struct engine_opencl *o)
{
    const struct opencl_api *api = o->api;
    float sums[OPENCL_PROBE_SUMS];
    uint32_t number = 0;
    cl_int code = CL_SUCCESS;
    char name[32];
    cl_program program = build(o, &number);
    double error = 0;

    if (!program)
        return 0;
    snprintf(name, sizeof name, "webnn_kernel_%u", number);
    cl_command_queue queue = api->CreateCommandQueue(o->context, o->device.id, 0, &code);
    cl_kernel kernel = code == CL_SUCCESS ? api->CreateKernel(program, name, &code) : NULL;
    cl_mem in = code == CL_SUCCESS
                    ? api->CreateBuffer(o->context, CL_MEM_READ_ONLY, OPENCL_PROBE_HALVES * sizeof(uint16_t), NULL, &code)
                    : NULL;
    cl_mem out = code == CL_SUCCESS ? api->CreateBuffer(o->context, CL_MEM_READ_WRITE, sizeof sums, NULL, &code) : NULL;
    if (code == CL_SUCCESS && run(o, queue, kernel, in, out, sums))
        error = opencl_matrix_probe_error(sums);
    if (out)
        api->ReleaseMemObject(out);
    if (in)
        api->ReleaseMemObject(in);
    if (kernel)
        api->ReleaseKernel(kernel);
    if (queue)
        api->ReleaseCommandQueue(queue);
    return error;
}

void opencl_matrix_start(struct engine_opencl *o)
{
    cl_uint vendor = 0;

    o->api->GetDeviceInfo(o->device.id, CL_DEVICE_VENDOR_ID, sizeof vendor, &vendor, NULL);
    if (o->device.kind != WNNDeviceKind_Gpu || !target_gpu_maker(vendor)->takes_ptx ||
        o->base.debug->flags & DEBUG_NO_MATRIX_INSTRUCTIONS)
        return;
    const double error = probe(o);
    if (error > 0) {
        o->device.facts.matrix.items = SUBGROUP;
        o->device.facts.matrix.error = error;
    }
}
#endif
