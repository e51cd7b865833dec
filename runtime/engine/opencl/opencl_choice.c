/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Finds the GPU that is expected to be the fastest, for contexts whose programs name no device.
 *
 * OpenCL tells how many compute units a GPU has and how fast their clock is; what a unit does in a cycle is a fact about its
 * maker (ir/target/target.c).  Accelerators, whose units may be anything, and processors are never chosen so: programs name
 * them.
 */
#include "runtime/engine/opencl/internal.h"

#include <unistd.h>

enum { RENDER_FIRST = 128, RENDER_COUNT = 64 /* the kernel numbers its render nodes so */ };

/*
 * Returns whether this process may open a GPU: drivers reach theirs through a file.  Loading OpenCL takes some drivers a tenth
 * of a second, and makes others start threads, which a program that never asked for a GPU should not pay for.
 */
static bool has_gpu_file(void)
{
    static const char *const files[] = {"/dev/nvidiactl", "/dev/kfd", "/dev/mali0", "/dev/kgsl-3d0", "/dev/dxg"};
    char path[32];

    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (access(files[i], R_OK | W_OK) == 0)
            return true;
    for (int i = RENDER_FIRST; i < RENDER_FIRST + RENDER_COUNT; i++) {
        snprintf(path, sizeof path, "/dev/dri/renderD%d", i);
        if (access(path, R_OK | W_OK) == 0)
            return true;
    }
    return false;
}

/* Returns float32 operations in a microsecond, or 0 if the device does not say what they are computed from. */
static double peak_of(const struct opencl_device *d)
{
    const uint32_t vendor = (uint32_t)opencl_device_number(d, CL_DEVICE_VENDOR_ID);

    return 2.0 * (double)opencl_device_number(d, CL_DEVICE_MAX_COMPUTE_UNITS) *
           (double)opencl_device_number(d, CL_DEVICE_MAX_CLOCK_FREQUENCY) * target_gpu_maker(vendor)->unit_multiplies;
}

bool engine_opencl_fastest(bool shared_memory, struct opencl_estimate *out)
{
    struct error ignored = {.status = WNNStatus_Success};
    const struct opencl_api *api = !opencl_api_is_of_tests() && !has_gpu_file() ? NULL : opencl_api_get(&ignored);
    struct opencl_device d;

    *out = (struct opencl_estimate){0};
    for (uint32_t i = 0; api && opencl_device_at(api, i, &d); i++) {
        const double operations = peak_of(&d);

        if (d.kind != WNNDeviceKind_Gpu || *opencl_device_lacks(&d) || d.memory_bytes < target_engine_facts()->memory_least ||
            (shared_memory && !opencl_device_number(&d, CL_DEVICE_HOST_UNIFIED_MEMORY)))
            continue;
        if (operations > out->operations)
            *out = (struct opencl_estimate){i, operations};
    }
    return out->operations > 0;
}
