/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Runs printed kernels on the first OpenCL device, whatever kind it is.
 */
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "codegen/opencl/opencl.h"
#include "support/kernels.h"

static struct {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    struct gpu_facts facts;
    struct gpu_choice choice; /* what schedules must be like */
    enum gpu_shape last;      /* shape of the kernel that ran last */
    bool last_matrix;         /* it had tiles of matrix instructions */
    const char *before;       /* text that goes before kernels, or NULL */
    /* Programs are kept by their source: kernels of one structure are built once. */
    struct opencl_program {
        char *source;
        cl_program program;
    } *programs;
    size_t program_count;
} opencl;

/** Finds the device.  Returns false if there is none. */
GRAPHS_UNUSED static bool opencl_start(void)
{
    cl_platform_id platform;
    cl_uint count = 0, units = 1;
    size_t items = 1;
    cl_int error;

    if (clGetPlatformIDs(1, &platform, &count) != CL_SUCCESS || !count ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &opencl.device, &count) != CL_SUCCESS || !count)
        return false;
    opencl.context = clCreateContext(NULL, 1, &opencl.device, NULL, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    opencl.queue = clCreateCommandQueue(opencl.context, opencl.device, 0, &error);
    assert_int_equal(error, CL_SUCCESS);
    clGetDeviceInfo(opencl.device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL);
    clGetDeviceInfo(opencl.device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof items, &items, NULL);
    opencl.facts = *target_gpu_facts(true);
    opencl.facts.compute_units = units;
    if (items < opencl.facts.group_items)
        opencl.facts.group_items = (uint32_t)items;
    return true;
}

/** Frees what opencl_start made, and the programs. */
GRAPHS_UNUSED static void opencl_end(void)
{
    for (size_t i = 0; i < opencl.program_count; i++) {
        clReleaseProgram(opencl.programs[i].program);
        free(opencl.programs[i].source);
    }
    free(opencl.programs);
    clReleaseCommandQueue(opencl.queue);
    clReleaseContext(opencl.context);
}

/** Is the main function of tests on a device; with the argument `shapes` it returns what that function does. */
GRAPHS_UNUSED static int opencl_main(int argc, char **argv, int (*shapes)(void))
{
    if (!opencl_start()) {
        puts("skipped: there is no OpenCL device");
        return 77;
    }
    const int result = shapes && argc == 2 && !strcmp(argv[1], "shapes") ? shapes() : tests_main(argc, argv);
    opencl_end();
    return result;
}

/** Returns the program of a source, built if it is new, or NULL after printing why the compiler refuses it. */
static cl_program opencl_program(const char *source)
{
    const char *parts[] = {opencl_prelude, source};
    cl_int error;

    for (size_t i = 0; i < opencl.program_count; i++)
        if (!strcmp(opencl.programs[i].source, source))
            return opencl.programs[i].program;
    cl_program program = clCreateProgramWithSource(opencl.context, 2, parts, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    if (clBuildProgram(program, 1, &opencl.device, opencl_options, NULL, NULL) != CL_SUCCESS) {
        static char log[1 << 16];
        clGetProgramBuildInfo(program, opencl.device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
        print_error("%s%s%s\n", opencl_prelude, source, log);
        clReleaseProgram(program);
        return NULL;
    }
    opencl.programs = realloc(opencl.programs, (opencl.program_count + 1) * sizeof *opencl.programs);
    opencl.programs[opencl.program_count++] = (struct opencl_program){strdup(source), program};
    return program;
}

/** Returns the program of a kernel, with the text that goes before. */
GRAPHS_UNUSED static cl_program opencl_kernel_program(const char *source)
{
    if (!opencl.before)
        return opencl_program(source);
    char *text = malloc(strlen(opencl.before) + strlen(source) + 1);
    assert_non_null(text);
    strcat(strcpy(text, opencl.before), source);
    cl_program program = opencl_program(text);
    free(text);
    return program;
}

/** Runs a kernel of a program, whose arguments are a buffer with `in` and one for `out`, and fills in `out`. */
GRAPHS_UNUSED static void opencl_map(cl_program program, const char *name, size_t items, size_t in_bytes, const void *in,
                                     size_t out_bytes, void *out)
{
    cl_int error;
    cl_kernel kernel = clCreateKernel(program, name, &error);
    assert_int_equal(error, CL_SUCCESS);
    cl_mem from = clCreateBuffer(opencl.context, CL_MEM_READ_WRITE, in_bytes, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    cl_mem to = clCreateBuffer(opencl.context, CL_MEM_READ_WRITE, out_bytes, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);

    assert_int_equal(clSetKernelArg(kernel, 0, sizeof from, &from), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 1, sizeof to, &to), CL_SUCCESS);
    assert_int_equal(clEnqueueWriteBuffer(opencl.queue, from, CL_TRUE, 0, in_bytes, in, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueNDRangeKernel(opencl.queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueReadBuffer(opencl.queue, to, CL_TRUE, 0, out_bytes, out, 0, NULL, NULL), CL_SUCCESS);
    clReleaseMemObject(from);
    clReleaseMemObject(to);
    clReleaseKernel(kernel);
}

/** A kernel_runner, which prints, builds and runs k on copies of the tensors, and copies what it wrote back. */
GRAPHS_UNUSED static bool opencl_run(const struct kernel *k, void *const *tensors)
{
    enum { OFFSET = 64 }; /* not 0, so that offsets are tested, too */
    struct gpu_schedule s;
    struct opencl_source source;
    cl_mem buffers[KERNEL_TENSORS_MAX] = {NULL}, scratch = NULL;
    const cl_ulong offset = OFFSET;
    size_t global[GPU_DIMENSIONS], local[GPU_DIMENSIONS];
    cl_uint argument = 0;
    cl_int error;
    bool good = true;

    schedule_gpu_choose(k, &opencl.facts, &opencl.choice, &s);
    opencl.last = s.shape;
    opencl.last_matrix = s.shape == GPU_TILES && s.tile.matrix;
    assert_done(opencl_print(k, &s, "kernel_under_test", &source, &e));
    cl_program program = opencl_kernel_program(source.text);
    if (!program) {
        opencl_source_free(&source);
        return false;
    }
    cl_kernel kernel = clCreateKernel(program, "kernel_under_test", &error);
    assert_int_equal(error, CL_SUCCESS);
    for (uint32_t i = 0; i < k->tensor_count; i++) {
        size_t bytes = (size_t)k->tensors[i].elements * dtype_size(k->tensors[i].type);
        for (uint32_t j = 0; j < i && !buffers[i]; j++)
            if (tensors[j] == tensors[i]) { /* in place */
                buffers[i] = buffers[j];
                clRetainMemObject(buffers[i]);
            }
        if (!buffers[i]) {
            buffers[i] = clCreateBuffer(opencl.context, CL_MEM_READ_WRITE, OFFSET + bytes, NULL, &error);
            assert_int_equal(error, CL_SUCCESS);
            clEnqueueWriteBuffer(opencl.queue, buffers[i], CL_TRUE, OFFSET, bytes, tensors[i], 0, NULL, NULL);
        }
        good &= clSetKernelArg(kernel, argument++, sizeof(cl_mem), &buffers[i]) == CL_SUCCESS;
        good &= clSetKernelArg(kernel, argument++, sizeof offset, &offset) == CL_SUCCESS;
    }
    if (k->stage_count) {
        const cl_uchar nan = 0xFF; /* unwritten memory shows */
        scratch = clCreateBuffer(opencl.context, CL_MEM_READ_WRITE, OFFSET + (size_t)s.scratch_bytes, NULL, &error);
        good &= clEnqueueFillBuffer(opencl.queue, scratch, &nan, 1, 0, OFFSET + (size_t)s.scratch_bytes, 0, NULL, NULL) ==
                CL_SUCCESS;
        good &= clSetKernelArg(kernel, argument++, sizeof(cl_mem), &scratch) == CL_SUCCESS;
        good &= clSetKernelArg(kernel, argument++, sizeof offset, &offset) == CL_SUCCESS;
    }
    for (uint32_t i = 0; i < source.param_count; i++) {
        cl_long wide = source.params[i];
        cl_int narrow = (cl_int)wide;
        good &= clSetKernelArg(kernel, argument++, s.wide ? sizeof wide : sizeof narrow, s.wide ? (void *)&wide : &narrow) ==
                CL_SUCCESS;
    }
    for (int d = 0; d < GPU_DIMENSIONS; d++) {
        global[d] = (size_t)s.global[d];
        local[d] = s.local[d];
    }
    good =
        good && clEnqueueNDRangeKernel(opencl.queue, kernel, GPU_DIMENSIONS, NULL, global, local, 0, NULL, NULL) == CL_SUCCESS;
    for (uint32_t i = 0; i < k->tensor_count; i++) {
        if (k->tensors[i].written)
            good = clEnqueueReadBuffer(opencl.queue, buffers[i], CL_TRUE, OFFSET,
                                       (size_t)k->tensors[i].elements * dtype_size(k->tensors[i].type), tensors[i], 0, NULL,
                                       NULL) == CL_SUCCESS &&
                   good;
        clReleaseMemObject(buffers[i]);
    }
    if (scratch)
        clReleaseMemObject(scratch);
    clReleaseKernel(kernel);
    if (!good)
        print_error("the kernel does not run\n%s", source.text);
    opencl_source_free(&source);
    return good;
}
