/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The entry points of an OpenCL layer for tests: it reports its properties and starts with the functions of the next layer.  A
 * source that includes this defines LAYER_NAME and layer_replace().
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

/* The functions of the next layer. */
static const struct _cl_icd_dispatch *below;

/** Puts the layer's own functions into the table, which has those of the next layer. */
static void layer_replace(struct _cl_icd_dispatch *table);

CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t room, void *out, size_t *size)
{
    const cl_layer_api_version version = CL_LAYER_API_VERSION_100;

    switch (what) {
    case CL_LAYER_API_VERSION:
        return layer_answer(&version, sizeof version, room, out, size);
    case CL_LAYER_NAME:
        return layer_answer(LAYER_NAME, sizeof LAYER_NAME, room, out, size);
    default:
        return CL_INVALID_VALUE;
    }
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint entries, const struct _cl_icd_dispatch *target, cl_uint *count,
                                            const struct _cl_icd_dispatch **out)
{
    static struct _cl_icd_dispatch table;
    const size_t most = sizeof table / sizeof(void *);

    if (!target || !count || !out)
        return CL_INVALID_VALUE;
    memcpy(&table, target, (entries < most ? entries : most) * sizeof(void *));
    below = target;
    layer_replace(&table);
    *count = (cl_uint)most;
    *out = &table;
    return CL_SUCCESS;
}
