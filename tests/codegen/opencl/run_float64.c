/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The prelude's float64 of integers (codegen/opencl/float64.h) on the first OpenCL device, which is told that it has no
 * float64, against the processor's: the same bits for numbers of every kind.
 */
#include "support/opencl.h"

#include <math.h>

enum { RESULTS = 16, RANDOM_PAIRS = 20000 };

static const char kernel_text[] =
    "__kernel void operate(__global const ulong *in, __global ulong *out)\n"
    "{\n"
    "  const size_t i = get_global_id(0);\n"
    "  const f64 a = as_f64(in[2 * i]), b = as_f64(in[2 * i + 1]);\n"
    "  __global ulong *o = out + 16 * i;\n"
    "  o[0] = as_ulong(f64_add(a, b)); o[1] = as_ulong(f64_sub(a, b));\n"
    "  o[2] = as_ulong(f64_mul(a, b)); o[3] = as_ulong(f64_div(a, b));\n"
    "  o[4] = (ulong)(f64_eq(a, b) | f64_ne(a, b) << 1 | f64_lt(a, b) << 2 | f64_le(a, b) << 3 | f64_is_infinite(a) << 4);\n"
    "  o[5] = as_uint(float_of_f64(a)); o[6] = as_ulong(f64_of_float(as_float((uint)in[2 * i])));\n"
    "  o[7] = as_ulong(f64_of_long((long)in[2 * i])); o[8] = as_ulong(f64_of_ulong(in[2 * i]));\n"
    "  o[9] = as_ulong(f64_copy_sign(f64_abs(f64_neg(a)), b));\n"
    "  o[10] = f64_ne(a, a) ? 0 : (ulong)long_of_f64(a); o[11] = f64_ne(a, a) ? 0 : ulong_of_f64(a);\n"
    "  o[12] = as_ulong(f64_sqrt(a)); o[13] = as_ulong(f64_floor(a));\n"
    "  o[14] = as_ulong(f64_ceil(a)); o[15] = as_ulong(f64_rint(a));\n"
    "}\n";

static double f64_of(uint64_t bits)
{
    double x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint64_t bits_of(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static float f32_of(uint64_t bits)
{
    const uint32_t low = (uint32_t)bits;
    float x;

    memcpy(&x, &low, sizeof x);
    return x;
}

/* What the kernel does, in double. */
static void expect(uint64_t x, uint64_t y, uint64_t *o)
{
    const double a = f64_of(x), b = f64_of(y);
    const float narrow = (float)a;
    uint32_t low;

    memcpy(&low, &narrow, sizeof low);
    o[0] = bits_of(a + b);
    o[1] = bits_of(a - b);
    o[2] = bits_of(a * b);
    o[3] = bits_of(a / b);
    o[4] = (uint64_t)((a == b) | (a != b) << 1 | (a < b) << 2 | (a <= b) << 3 | (isinf(a) != 0) << 4);
    o[5] = low;
    o[6] = bits_of((double)f32_of(x));
    o[7] = bits_of((double)(int64_t)x);
    o[8] = bits_of((double)x);
    o[9] = bits_of(copysign(fabs(-a), b));
    o[10] = (uint64_t)number_cast(wnnNumber(trunc(a)), WNNOperandDataType_Int64).i64;
    o[11] = number_cast(wnnNumber(trunc(a)), WNNOperandDataType_Uint64).u64;
    o[12] = bits_of(sqrt(a));
    o[13] = bits_of(floor(a));
    o[14] = bits_of(ceil(a));
    o[15] = bits_of(rint(a));
}

static bool is_float64(uint32_t result)
{
    return result != 4 && result != 5 && result != 10 && result != 11;
}

static bool agree(uint32_t result, uint64_t got, uint64_t wanted)
{
    if (result == 5 && isnan(f32_of(wanted)))
        return isnan(f32_of(got));
    return got == wanted || (is_float64(result) && isnan(f64_of(got)) && isnan(f64_of(wanted)));
}

static const uint64_t edges[] = {
    0,
    1,
    2,
    0x3FF0000000000000, /* 1 */
    0x3FF0000000000001,
    0xBFF0000000000000,
    0x3FEFFFFFFFFFFFFF,
    0x3FE0000000000000, /* 0.5 */
    0x4004000000000000, /* 2.5 */
    0x432FFFFFFFFFFFFF, /* 2^52 - 0.5 */
    0x4330000000000000, /* 2^52 */
    0x4340000000000001,
    0x000FFFFFFFFFFFFF, /* subnormal */
    0x0010000000000000, /* the smallest normal number */
    0x0008000000000001,
    0x7FEFFFFFFFFFFFFF, /* the largest number */
    0x7FF0000000000000,
    0x7FF8000000000000,
    0x7FF0000000000001,
    0x36A0000000000000, /* 2^-149, the smallest float */
    0x3690000000000000, /* half of it */
    0x3690000000000001,
    0x380FFFFFFFFFFFFF, /* rounds to the smallest normal float */
    0x47EFFFFFE0000000, /* the largest float */
    0x47EFFFFFF0000000, /* rounds to infinity */
    0x3FF0000010000000, /* halfway between two floats */
    0x3FF0000030000000,
    0x43E0000000000000, /* 2^63 */
    0xC3E0000000000000,
    0x43DFFFFFFFFFFFFF,
    0xC3DFFFFFFFFFFFFF,
    0x43F0000000000000, /* 2^64 */
    0x43EFFFFFFFFFFFFF,
    0xC1E0000000300000, /* -2147483649.5 */
    0x4170000010000000, /* 16777217 */
    0x7FFFFFFFFFFFFFFF,
    0x00000000007FFFFF,
    0x000000007F800001,
};

/* Writes pairs of every two edges, with all signs, then random ones: any bits, and bits whose exponents are close. */
static size_t make_pairs(uint64_t *pairs)
{
    const size_t n = sizeof edges / sizeof *edges;
    const uint64_t sign = UINT64_C(1) << 63;
    size_t count = 0;

    for (size_t i = 0; i < 4 * n * n; i++, count++) {
        pairs[2 * count] = edges[i / 4 / n] ^ (i & 1 ? sign : 0);
        pairs[2 * count + 1] = edges[i / 4 % n] ^ (i & 2 ? sign : 0);
    }
    for (size_t i = 0; i < RANDOM_PAIRS; i++, count++) {
        const uint64_t a = random_bits(), b = random_bits(), near = (a >> 52 & 0x7FF) + b % 120;

        pairs[2 * count] = a;
        pairs[2 * count + 1] = i % 2 ? b : (b & 0x800FFFFFFFFFFFFF) | (near > 60 ? near - 60 : 0) % 2047 << 52;
    }
    return count;
}

TEST(float64_of_integers_has_the_processors_bits)
{
    const char *parts[] = {"#undef cl_khr_fp64\n", opencl_prelude, kernel_text};
    const size_t n = sizeof edges / sizeof *edges, most = 4 * n * n + RANDOM_PAIRS;
    uint64_t *pairs = calloc(2 * most, sizeof *pairs), *got = calloc(RESULTS * most, sizeof *got), wanted[RESULTS];
    cl_int error;

    assert_true(pairs && got);
    const size_t count = make_pairs(pairs);
    cl_program program = clCreateProgramWithSource(opencl.context, 3, parts, NULL, &error);
    assert_int_equal(clBuildProgram(program, 1, &opencl.device, opencl_options, NULL, NULL), CL_SUCCESS);
    opencl_map(program, "operate", count, 16 * count, pairs, 8 * RESULTS * count, got);
    for (size_t i = 0; i < count; i++) {
        expect(pairs[2 * i], pairs[2 * i + 1], wanted);
        for (uint32_t r = 0; r < RESULTS; r++)
            if (!agree(r, got[RESULTS * i + r], wanted[r]))
                fail_msg("result %u of %016llx and %016llx is %016llx, not %016llx", r, (unsigned long long)pairs[2 * i],
                         (unsigned long long)pairs[2 * i + 1], (unsigned long long)got[RESULTS * i + r],
                         (unsigned long long)wanted[r]);
    }
    clReleaseProgram(program);
    free(pairs);
    free(got);
}

int main(int argc, char **argv)
{
    return opencl_main(argc, argv, NULL);
}
