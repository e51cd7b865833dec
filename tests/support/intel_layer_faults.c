/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The part of the layer intel_layer.c that counts calls and lets one of them fail, as a driver would: those by which programs,
 * kernels and memory objects are made and commands enqueued.  Waiting never fails, since a failure there means that the device
 * is lost, which the tests over an OpenCL without a device cover.
 */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl_layer.h>
#include <stdatomic.h>
#include <stddef.h>

#include "intel_layer.h"
#include "intel_layer_faults.h"

static const struct _cl_icd_dispatch *below;
static atomic_long calls_left = -1, parts, objects;
static _Atomic(const char *) failed;

bool intel_layer_fails(const char *name)
{
    if (atomic_load(&calls_left) < 0 || atomic_fetch_sub(&calls_left, 1) != 0)
        return false;
    atomic_store(&failed, name);
    return true;
}

/* ---- calls that return a code ---- */

#define CALL(name, parameters, ...)                                                                                            \
    static cl_int CL_API_CALL name##_call parameters                                                                           \
    {                                                                                                                          \
        return intel_layer_fails(#name) ? CL_OUT_OF_RESOURCES : below->cl##name(__VA_ARGS__);                                  \
    }

CALL(BuildProgram,
     (cl_program p, cl_uint n, const cl_device_id *d, const char *o, void(CL_CALLBACK *f)(cl_program, void *), void *u), p, n,
     d, o, f, u)
CALL(SetKernelArg, (cl_kernel k, cl_uint i, size_t n, const void *v), k, i, n, v)
CALL(GetMemObjectInfo, (cl_mem m, cl_mem_info w, size_t n, void *v, size_t *s), m, w, n, v, s)
CALL(EnqueueNDRangeKernel,
     (cl_command_queue q, cl_kernel k, cl_uint d, const size_t *o, const size_t *g, const size_t *l, cl_uint n,
      const cl_event *w, cl_event *e),
     q, k, d, o, g, l, n, w, e)
CALL(EnqueueCopyBuffer,
     (cl_command_queue q, cl_mem a, cl_mem b, size_t x, size_t y, size_t s, cl_uint n, const cl_event *w, cl_event *e), q, a, b,
     x, y, s, n, w, e)
CALL(EnqueueFillBuffer,
     (cl_command_queue q, cl_mem a, const void *v, size_t x, size_t y, size_t s, cl_uint n, const cl_event *w, cl_event *e), q,
     a, v, x, y, s, n, w, e)

/* ---- calls that return an object ---- */

static bool object_fails(const char *name, cl_int *code)
{
    if (!intel_layer_fails(name))
        return false;
    if (code)
        *code = CL_OUT_OF_HOST_MEMORY;
    return true;
}

static cl_kernel CL_API_CALL create_kernel(cl_program program, const char *name, cl_int *code)
{
    return object_fails("CreateKernel", code) ? NULL : below->clCreateKernel(program, name, code);
}

static cl_mem count_object(cl_mem memory)
{
    if (memory)
        atomic_fetch_add(&objects, 1);
    return memory;
}

static cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, size_t bytes, void *host, cl_int *code)
{
    return object_fails("CreateBuffer", code) ? NULL : count_object(below->clCreateBuffer(context, flags, bytes, host, code));
}

static cl_mem CL_API_CALL create_sub_buffer(cl_mem whole, cl_mem_flags flags, cl_buffer_create_type type, const void *region,
                                            cl_int *code)
{
    if (object_fails("CreateSubBuffer", code))
        return NULL;
    atomic_fetch_add(&parts, 1);
    return count_object(below->clCreateSubBuffer(whole, flags, type, region, code));
}

static cl_int CL_API_CALL retain_memory(cl_mem memory)
{
    atomic_fetch_add(&objects, 1);
    return below->clRetainMemObject(memory);
}

static cl_int CL_API_CALL release_memory(cl_mem memory)
{
    atomic_fetch_sub(&objects, 1);
    return below->clReleaseMemObject(memory);
}

void intel_layer_add_faults(const struct _cl_icd_dispatch *target, struct _cl_icd_dispatch *table)
{
    below = target;
    table->clBuildProgram = BuildProgram_call;
    table->clSetKernelArg = SetKernelArg_call;
    table->clGetMemObjectInfo = GetMemObjectInfo_call;
    table->clEnqueueNDRangeKernel = EnqueueNDRangeKernel_call;
    table->clEnqueueCopyBuffer = EnqueueCopyBuffer_call;
    table->clEnqueueFillBuffer = EnqueueFillBuffer_call;
    table->clCreateKernel = create_kernel;
    table->clCreateBuffer = create_buffer;
    table->clCreateSubBuffer = create_sub_buffer;
    table->clRetainMemObject = retain_memory;
    table->clReleaseMemObject = release_memory;
}

/* ---- what tests ask ---- */

static void fail_after(long n)
{
    atomic_store(&failed, NULL);
    atomic_store(&calls_left, n);
}

static const char *failed_call(void)
{
    return atomic_load(&failed);
}

static long sub_buffers(void)
{
    return atomic_load(&parts);
}

static long memory_objects(void)
{
    return atomic_load(&objects);
}

const struct intel_layer *intel_layer_get(void)
{
    static const struct intel_layer layer = {fail_after, failed_call, sub_buffers, memory_objects};

    return &layer;
}
