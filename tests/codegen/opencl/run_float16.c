/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The printer's conversions of float16 for vectors (codegen/opencl/prelude.c) on the first OpenCL device, for every number
 * of lanes: every half number, and floats next to and between all of them.
 */
#include "codegen/opencl/internal.h"
#include "support/elementary.h"
#include "support/opencl.h"

enum { HALVES = 1 << 16, FLOATS = 8 * HALVES };

static const char kernel_text[] =
    "#define JOIN_(a, b) a##b\n"
    "#define JOIN(a, b) JOIN_(a, b)\n"
    "__kernel void widen(__global const ushort *in, __global uint *out)\n"
    "{\n"
    "  const size_t i = get_global_id(0);\n"
    "  JOIN(vstore, LANES)(JOIN(as_uint, LANES)(JOIN(from_f16_v, LANES)(JOIN(vload, LANES)(i, in))), i, out);\n"
    "}\n"
    "__kernel void narrow(__global const uint *in, __global ushort *out)\n"
    "{\n"
    "  const size_t i = get_global_id(0);\n"
    "  JOIN(vstore, LANES)(JOIN(to_f16_v, LANES)(JOIN(as_float, LANES)(JOIN(vload, LANES)(i, in))), i, out);\n"
    "}\n";

/* Writes every half number as a float and its neighbours, the floats halfway to the next half number and their neighbours, and
 * one of any bits. */
static void make_floats(uint32_t *floats)
{
    uint32_t any = 2463534242u;

    for (uint32_t h = 0; h < HALVES; h++) {
        const uint32_t x = elementary_bits(f16_to_f32((uint16_t)h)), magnitude = h & 0x7FFF;
        const float above = f16_to_f32((uint16_t)(magnitude < 0x7BFF ? h + 1 : h));
        const uint32_t middle = magnitude < 0x7C00 ? elementary_bits((f16_to_f32((uint16_t)h) + above) / 2) : x;
        const uint32_t near[] = {x, x + 1, x - 1, middle, middle + 1, middle - 1};

        memcpy(floats + 8 * (size_t)h, near, sizeof near);
        any ^= any << 13;
        any ^= any >> 17;
        any ^= any << 5;
        floats[8 * (size_t)h + 6] = any;
        floats[8 * (size_t)h + 7] = 0x477FE000u + h; /* from the largest half number to infinity */
    }
}

static char *make_source(uint32_t lanes)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    put_lane_functions(out, lanes);
    fprintf(out, "#define LANES %u\n%s", lanes, kernel_text);
    assert_int_equal(fclose(out), 0);
    return text;
}

static bool is_nan16(uint16_t h)
{
    return (h & 0x7FFF) > 0x7C00;
}

static void convert_both_ways(uint32_t lanes)
{
    OWNED(memory) uint16_t *halves = calloc(HALVES, sizeof *halves), *narrowed = calloc(FLOATS, sizeof *narrowed);
    OWNED(memory) uint32_t *widened = calloc(HALVES, sizeof *widened), *floats = calloc(FLOATS, sizeof *floats);
    OWNED(memory) char *source = make_source(lanes);
    cl_program program = opencl_program(source);

    assert_true(halves && narrowed && widened && floats);
    assert_non_null(program);
    for (uint32_t h = 0; h < HALVES; h++)
        halves[h] = (uint16_t)h;
    make_floats(floats);
    opencl_map(program, "widen", HALVES / lanes, HALVES * sizeof *halves, halves, HALVES * sizeof *widened, widened);
    opencl_map(program, "narrow", FLOATS / lanes, FLOATS * sizeof *floats, floats, FLOATS * sizeof *narrowed, narrowed);
    for (uint32_t h = 0; h < HALVES; h++) {
        const uint32_t wanted = elementary_bits(f16_to_f32((uint16_t)h));
        if (is_nan16((uint16_t)h) ? elementary_float(widened[h]) == elementary_float(widened[h]) : widened[h] != wanted)
            fail_msg("the half number %04x became %08x, not %08x", h, widened[h], wanted);
    }
    for (uint32_t i = 0; i < FLOATS; i++) {
        const uint16_t wanted = f32_to_f16(elementary_float(floats[i]));
        if (is_nan16(wanted) ? !is_nan16(narrowed[i]) : narrowed[i] != wanted)
            fail_msg("the float %08x became %04x, not %04x", floats[i], narrowed[i], wanted);
    }
}

TEST(conversions_of_vectors_are_exact_or_round_to_even)
{
    for (uint32_t lanes = 4; lanes <= 16; lanes *= 2)
        convert_both_ways(lanes);
}

int main(int argc, char **argv)
{
    return opencl_main(argc, argv, NULL);
}
