/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A small product by matrix instructions, whose numbers tell whether a device has them and how exact their sums are.
 *
 * All sums are exact in float32, whatever the order of the additions is.  The last column multiplies everything by 2^-12, and
 * one of its sums tells whether two bits below those of float32 are kept where the instruction adds: 16 products, too small for
 * a float32 of 1, are added to 1.  One row has subnormal numbers of float16, which must not be taken for zeros.
 *
 * With two bits more an addend loses less than half a unit of 2^-24 of the largest one, and the result of adding 4 products or
 * more two units: no more than a sum of float32 loses for each product.
 */
#include "codegen/opencl/opencl.h"

enum { ROWS = GPU_MATRIX_ROWS, COLUMNS = GPU_MATRIX_COLUMNS, STEPS = GPU_MATRIX_STEPS, LAST = COLUMNS - 1 };

/* Rows with a purpose; the others hold small whole numbers. */
enum { ROW_TWO_BITS = 13, ROW_SUBNORMAL, ROW_LARGEST };

/* A is 16 x 16, in rows of 24 halves in local memory, and B 16 x 8 twice, as two neighbouring parts of a tile. */
const char opencl_matrix_probe[] =
    "__kernel __attribute__((reqd_work_group_size(32, 1, 1)))\n"
    "void webnn_probe(__global uchar *b0, ulong o0, __global uchar *b1, ulong o1)\n"
    "{\n"
    "  __global const ushort *in = (__global const ushort *)(b0 + o0);\n"
    "  __global float *out = (__global float *)(b1 + o1);\n"
    "  __local uint4 memory[96];\n"
    "  MATRIX_MEMORY\n"
    "  __local ushort *a = (__local ushort *)memory, *b = a + 384;\n"
    "  const int lane = (int)get_local_id(0);\n"
    "  for (int i = lane; i < 256; i += 32) a[i / 16 * 24 + i % 16] = in[i];\n"
    "  for (int i = lane; i < 256; i += 32) b[i / 16 * 24 + i % 16] = in[256 + i / 16 * 8 + i % 8];\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  uint4 of_a, of_b;\n"
    "  const int place = (lane % 8 + lane / 8 % 2 * 8) * 24 + lane / 16 * 8;\n"
    "  MATRIX_LOAD(of_a, a + place);\n"
    "  MATRIX_LOAD_TRANSPOSED(of_b, b + place);\n"
    "  const int row = lane / 4, column = lane % 4 * 2;\n"
    "  const float one = column == 6 & row == 5 ? 1.0f : 0.0f;\n"
    "  for (int j = 0; j < 2; j++) {\n"
    "    float4 sums = (float4)(0.0f, 0.0f, 0.0f, one);\n"
    "    MATRIX_MULTIPLY(sums, of_a, j ? of_b.s2 : of_b.s0, j ? of_b.s3 : of_b.s1);\n"
    "    __global float *to = out + j * 128 + row * 8 + column;\n"
    "    to[0] = sums.s0; to[1] = sums.s1; to[64] = sums.s2; to[65] = sums.s3;\n"
    "  }\n"
    "}\n";

static double number_of_a(int row, int step)
{
    switch (row) {
    case ROW_TWO_BITS:
        return 0x1p-13;
    case ROW_SUBNORMAL:
        return 0x1p-24;
    case ROW_LARGEST:
        return 65504;
    default:
        return (row * 5 + step * 3) % 9 - 4;
    }
}

static double number_of_b(int step, int column)
{
    return column == LAST ? 0x1p-12 : (step * 7 + column * 5) % 11 - 5;
}

void opencl_matrix_probe_fill(uint16_t in[OPENCL_PROBE_HALVES])
{
    for (int i = 0; i < ROWS * STEPS; i++)
        in[i] = f32_to_f16((float)number_of_a(i / STEPS, i % STEPS));
    for (int i = 0; i < STEPS * COLUMNS; i++)
        in[ROWS * STEPS + i] = f32_to_f16((float)number_of_b(i / COLUMNS, i % COLUMNS));
}

bool opencl_matrix_probe_right(const float out[OPENCL_PROBE_SUMS])
{
    for (int i = 0; i < OPENCL_PROBE_SUMS; i++) {
        const int row = i / COLUMNS % ROWS, column = i % COLUMNS;
        double sum = column == LAST && row == ROW_TWO_BITS;
        for (int k = 0; k < STEPS; k++)
            sum += number_of_a(row, k) * number_of_b(k, column);
        if ((double)out[i] != sum)
            return false;
    }
    return true;
}
