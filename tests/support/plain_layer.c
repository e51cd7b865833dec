/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * An OpenCL layer for tests: it shows every device as one without float64, as many GPUs of phones and small computers are.
 * ocl-icd loads it by OPENCL_LAYERS=PATH.
 *
 * A device says that it has float64 by CL_DEVICE_DOUBLE_FP_CONFIG, and its compiler by the macro cl_khr_fp64.
 */
#include <stdlib.h>

#define LAYER_NAME "plain"
#include "opencl_layer.h"

static cl_int CL_API_CALL get_device_info(cl_device_id device, cl_device_info what, size_t room, void *out, size_t *size)
{
    const cl_int code = below->clGetDeviceInfo(device, what, room, out, size);

    if (code == CL_SUCCESS && what == CL_DEVICE_DOUBLE_FP_CONFIG && out)
        memset(out, 0, sizeof(cl_device_fp_config));
    return code;
}

static cl_program CL_API_CALL create_program(cl_context context, cl_uint count, const char **sources, const size_t *lengths,
                                             cl_int *code)
{
    const char **parts = calloc((size_t)count + 1, sizeof *parts);
    size_t *sizes = calloc((size_t)count + 1, sizeof *sizes);
    cl_program program = NULL;

    if (parts && sizes) {
        parts[0] = "#undef cl_khr_fp64\n";
        for (cl_uint i = 0; i < count; i++) {
            parts[i + 1] = sources[i];
            sizes[i + 1] = lengths ? lengths[i] : 0; /* 0: it ends with a NUL */
        }
        program = below->clCreateProgramWithSource(context, count + 1, parts, sizes, code);
    } else if (code) {
        *code = CL_OUT_OF_HOST_MEMORY;
    }
    free(parts);
    free(sizes);
    return program;
}

static void layer_replace(struct _cl_icd_dispatch *table)
{
    table->clGetDeviceInfo = get_device_info;
    table->clCreateProgramWithSource = create_program;
}
