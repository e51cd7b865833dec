/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Common parts of OpenCL layers for tests: they report their properties and start with the functions of the next layer.
 */
#pragma once

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl_layer.h>
#include <string.h>

/** Answers an OpenCL query: the value if there is room for it, its size if requested. */
static inline cl_int layer_answer(const void *value, size_t bytes, size_t room, void *out, size_t *size)
{
    if (out && room < bytes)
        return CL_INVALID_VALUE;
    if (out)
        memcpy(out, value, bytes);
    if (size)
        *size = bytes;
    return CL_SUCCESS;
}

/** Implements clGetLayerInfo of a layer of that name. */
static inline cl_int layer_info(const char *name, cl_layer_info what, size_t room, void *out, size_t *size)
{
    const cl_layer_api_version version = CL_LAYER_API_VERSION_100;

    switch (what) {
    case CL_LAYER_API_VERSION:
        return layer_answer(&version, sizeof version, room, out, size);
    case CL_LAYER_NAME:
        return layer_answer(name, strlen(name) + 1, room, out, size);
    default:
        return CL_INVALID_VALUE;
    }
}

/** Returns the layer's table, filled in with the functions below it, or NULL if clInitLayer was called wrongly.  The layer puts
 * its own functions in. */
static inline struct _cl_icd_dispatch *layer_begin(cl_uint entries, const struct _cl_icd_dispatch *target, cl_uint *count,
                                                   const struct _cl_icd_dispatch **out)
{
    static struct _cl_icd_dispatch table;
    const size_t most = sizeof table / sizeof(void *);

    if (!target || !count || !out)
        return NULL;
    memcpy(&table, target, (entries < most ? entries : most) * sizeof(void *));
    *count = (cl_uint)most;
    *out = &table;
    return &table;
}
