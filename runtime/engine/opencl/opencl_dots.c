/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Finds out how a device multiplies bytes (struct gpu_facts.dots).
 *
 * The device's maker and extensions say what may be tried; a probe on known numbers decides (opencl_probe.c).
 */
#include "runtime/engine/opencl/internal.h"

#include <string.h>

enum { ITEMS = 8 };

static const char probe_text[] =
    "__kernel void webnn_probe(__global const int *in, ulong from, __global int *out, ulong to) {\n"
    "  const int i = (int)get_global_id(0);\n"
    "  out[i] = DOT4(in[3 * i], in[3 * i + 1], in[3 * i + 2]);\n"
    "}\n";

/* Words whose bytes have every sign in every place, the largest products among them, and numbers that they are added to. */
static const uint32_t words[ITEMS][3] = {{0x80808080, 0x80808080, 0},          {0x7f7f7f7f, 0x80808080, 5},
                                         {0x01020304, 0x05f60708, 0xffffff00}, {0xff000000, 0x02000000, 0},
                                         {0x00fd0000, 0x00030000, 0x7ffffff0}, {0x00008100, 0x0000ff00, 1},
                                         {0x00000011, 0x000000ef, 2},          {0x0f0e0d0c, 0xf1f2f3f4, 0x80000000}};

/* Does what DOT4 has to do; sums wrap. */
static uint32_t dot(const uint32_t w[3])
{
    uint32_t sum = w[2];

    for (uint32_t shift = 0; shift < 32; shift += 8)
        sum += (uint32_t)((int8_t)(w[0] >> shift) * (int8_t)(w[1] >> shift));
    return sum;
}

static bool dots_agree(const struct engine_opencl *o, enum gpu_dots kind)
{
    uint32_t wanted[ITEMS], got[ITEMS];
    const struct opencl_probe p = {.definitions = opencl_dot_definition(kind),
                                   .text = probe_text,
                                   .items = ITEMS,
                                   .in = words,
                                   .in_bytes = sizeof words,
                                   .out_bytes = sizeof got};

    for (uint32_t i = 0; i < ITEMS; i++)
        wanted[i] = dot(words[i]);
    return opencl_probe_run(o, &p, got) && !memcmp(got, wanted, sizeof got);
}

/* Returns whether the extension's function for signed bytes is one instruction, and not several. */
static bool khr_is_fast(const struct engine_opencl *o)
{
#ifdef CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_4x8BIT_PACKED_KHR
    cl_device_integer_dot_product_acceleration_properties_khr p = {0};

    return opencl_device_has_extension(&o->device, "cl_khr_integer_dot_product") &&
           o->api->GetDeviceInfo(o->device.id, CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_4x8BIT_PACKED_KHR,
                                 sizeof p, &p, NULL) == CL_SUCCESS &&
           p.signed_accelerated;
#else
    (void)o;
    return false;
#endif
}

static enum gpu_dots find_dots(const struct engine_opencl *o)
{
    if (o->device.kind == WNNDeviceKind_Cpu) /* its vectors of floats are faster than words one by one */
        return GPU_DOTS_NONE;
    const enum gpu_dots own = target_gpu_maker((uint32_t)opencl_device_number(&o->device, CL_DEVICE_VENDOR_ID))->dots;
    if (own && dots_agree(o, own))
        return own;
    if (khr_is_fast(o) && dots_agree(o, GPU_DOTS_KHR))
        return GPU_DOTS_KHR;
    if (opencl_device_has_extension(&o->device, "cl_arm_integer_dot_product_int8") && dots_agree(o, GPU_DOTS_ARM))
        return GPU_DOTS_ARM;
    return GPU_DOTS_NONE;
}

void opencl_find_dots(struct engine_opencl *o)
{
    o->device.facts.dots = find_dots(o);
    if (!o->device.facts.dots && o->base.debug->flags & DEBUG_PREFER_DOTS)
        o->device.facts.dots = GPU_DOTS_PLAIN;
    o->target.rounds_operands = o->base.precision == WNNPrecision_Int8 && o->device.facts.dots && !o->base.deterministic;
    if (o->target.rounds_operands)
        o->base.exact = NULL;
}

const char *opencl_definitions_of(struct engine_opencl *o, const char *text)
{
    if (!strstr(text, "DOT4("))
        return "";
    opencl_probe_instructions(o); /* the text may be a saved graph's, before any was built */
    return opencl_dot_definition(o->device.facts.dots);
}
