/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Determines whether the device multiplies matrices of float16 by instructions (struct gpu_facts).
 *
 * Only devices of makers whose compilers take these instructions are asked (opencl_probe.c), on numbers that are known
 * (codegen/opencl/matrix_probe.c).  Whatever goes wrong means that there are none; that is no error.
 */
#include "runtime/engine/opencl/internal.h"

enum { SUBGROUP = 32 };

static bool probe(const struct engine_opencl *o)
{
    uint16_t halves[OPENCL_PROBE_HALVES];
    float sums[OPENCL_PROBE_SUMS];
    const struct opencl_probe p = {.definitions = opencl_matrix_functions,
                                   .text = opencl_matrix_probe,
                                   .items = SUBGROUP,
                                   .in = halves,
                                   .in_bytes = sizeof halves,
                                   .out_bytes = sizeof sums};

    opencl_matrix_probe_fill(halves);
    return opencl_probe_run(o, &p, sums) && opencl_matrix_probe_right(sums);
}

void opencl_find_matrix(struct engine_opencl *o)
{
    const uint32_t vendor = (uint32_t)opencl_device_number(&o->device, CL_DEVICE_VENDOR_ID);

    if (o->device.kind != WNNDeviceKind_Gpu || !target_gpu_maker(vendor)->takes_ptx ||
        o->base.debug->flags & DEBUG_NO_MATRIX_INSTRUCTIONS)
        return;
    if (probe(o))
        o->device.facts.matrix_items = SUBGROUP;
}
