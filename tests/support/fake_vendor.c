/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * This is a vendor's OpenCL library, as far as tests of opencl_vendors.c need one: it has a platform with one device, "fake
 * vendor's", which has no compiler.  A build with -DVENDOR_LACKS=n lacks something (0: nothing):
 *
 *   1  the function that lists platforms
 *   2  a platform
 *   3  the function clFinish in its table
 *   4  OpenCL 1.2
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl_icd.h>
#include <string.h>

static cl_icd_dispatch table;

struct _cl_platform_id {
    const cl_icd_dispatch *table;
};

struct _cl_device_id {
    const cl_icd_dispatch *table;
};

static struct _cl_platform_id the_platform = {&table};
static struct _cl_device_id the_device = {&table};

static cl_int give(const void *value, size_t bytes, size_t room, void *out)
{
    if (out && room < bytes)
        return CL_INVALID_VALUE;
    if (out)
        memcpy(out, value, bytes);
    return CL_SUCCESS;
}

static cl_int list_platforms(cl_uint n, cl_platform_id *out, cl_uint *count)
{
    if (VENDOR_LACKS == 2)
        return CL_PLATFORM_NOT_FOUND_KHR;
    if (n)
        out[0] = &the_platform;
    if (count)
        *count = 1;
    return CL_SUCCESS;
}

static cl_int platform_info(cl_platform_id p, cl_platform_info what, size_t room, void *out, size_t *size)
{
    const char *text = what != CL_PLATFORM_VERSION ? "fake vendor" : VENDOR_LACKS == 4 ? "OpenCL 1.1 fake" : "OpenCL 3.0 fake";

    return give(text, strlen(text) + 1, room, out);
}

static cl_int device_ids(cl_platform_id p, cl_device_type type, cl_uint n, cl_device_id *out, cl_uint *count)
{
    if (n)
        out[0] = &the_device;
    if (count)
        *count = 1;
    return CL_SUCCESS;
}

static cl_int device_info(cl_device_id d, cl_device_info what, size_t room, void *out, size_t *size)
{
    static const char name[] = "fake vendor's";
    static const cl_ulong zero;
    const cl_bool yes = what == CL_DEVICE_AVAILABLE;
    const cl_device_type type = CL_DEVICE_TYPE_GPU;

    switch (what) {
    case CL_DEVICE_NAME:
        return give(name, sizeof name, room, out);
    case CL_DEVICE_TYPE:
        return give(&type, sizeof type, room, out);
    case CL_DEVICE_AVAILABLE:
    case CL_DEVICE_COMPILER_AVAILABLE:
        return give(&yes, sizeof yes, room, out);
    default:
        return give(&zero, room < sizeof zero ? room : sizeof zero, room, out);
    }
}

/* Stands for all functions that a test does not come to. */
static cl_int other(void)
{
    return CL_INVALID_OPERATION;
}

static cl_icd_dispatch table;

/* All functions of the table are there, but for the one that may be lacking. */
__attribute__((constructor)) static void fill_table(void)
{
    void (**functions)(void) = (void (**)(void))&table;

    for (size_t i = 0; i < sizeof table / sizeof *functions; i++)
        functions[i] = (void (*)(void))other;
    table.clGetPlatformInfo = platform_info;
    table.clGetDeviceIDs = device_ids;
    table.clGetDeviceInfo = device_info;
    if (VENDOR_LACKS == 3)
        table.clFinish = NULL;
}

/* Like some vendors' libraries this one tells where the function is, and does not export it. */
__attribute__((visibility("default"))) void *clGetExtensionFunctionAddress(const char *name)
{
    if (VENDOR_LACKS == 1 || strcmp(name, "clIcdGetPlatformIDsKHR") != 0)
        return NULL;
    return (void *)list_platforms;
}
