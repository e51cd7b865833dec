/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Matrix instructions (opencl_matrix_functions in codegen/opencl/opencl.h) as functions of OpenCL C, for devices without them.
 *
 * The items of a group exchange registers through local memory, between barriers, according to the PTX ISA's chapters on
 * "ldmatrix" and on "Matrix Fragments for mma.m16n8k16 with floating point type".  With g = lane / 4 and t = lane % 4 of the
 * 32 lanes of a sub-group:
 *   A, 16 x 16   a[0]: row g,     columns 2 t and 2 t + 1;   a[2]: row g,     columns 2 t + 8 and 2 t + 9
 *                a[1]: row g + 8, the same columns;          a[3]: row g + 8, the same columns
 *   B, 16 x 8    b[0]: rows 2 t and 2 t + 1, column g;       b[1]: rows 2 t + 8 and 2 t + 9, column g
 *   C, 16 x 8    c[0], c[1]: row g, columns 2 t, 2 t + 1;    c[2], c[3]: row g + 8, the same columns
 *   ldmatrix.x4  f[i]: of matrix i, whose row r begins at the address of lane 8 i + r, the elements 2 t and 2 t + 1 of row g;
 *                with .trans of its transpose
 *
 * Sums are those of the chips as their published tests describe them: EMULATED_TERMS products and the sum so far are added at
 * once, as numbers of 24 + EMULATED_BITS bits below the largest one's first bit, truncated below, and the result is truncated
 * to 24 bits.
 */
#pragma once

static const char emulated_matrix[] =
    "#ifndef MATRIX_MULTIPLY\n"
    "#ifndef EMULATED_TERMS\n#define EMULATED_TERMS 16\n#define EMULATED_BITS 2\n#endif\n"
    "#undef UNROLLED\n#define UNROLLED _Pragma(\"nounroll\")\n" /* compilers of processors would take minutes for all copies */
    "#define MATRIX_MEMORY __local uint emulated[256 * 6]; __local ulong emulated_rows[256];\n"
    "#define MATRIX_LOAD(f, p) f = emulated_load(emulated_rows, p, 0)\n"
    "#define MATRIX_LOAD_TRANSPOSED(f, p) f = emulated_load(emulated_rows, p, 1)\n"
    "#define MATRIX_MULTIPLY(c, a, b0, b1) c = emulated_multiply(emulated, c, a, (uint2)(b0, b1))\n"
    "static uint emulated_word(__local const ulong *rows, int lane, int transposed) {\n"
    "  const int row = transposed ? lane % 4 * 2 : lane / 4, column = transposed ? lane / 4 : lane % 4 * 2;\n"
    "  const __local ushort *next = (const __local ushort *)rows[row + transposed] + column + !transposed;\n"
    "  return ((const __local ushort *)rows[row])[column] | (uint)*next << 16;\n"
    "}\n"
    "static uint4 emulated_load(__local ulong *rows, __local ushort *p, int transposed) {\n"
    "  const int item = (int)get_local_id(0), lane = item % 32;\n"
    "  __local const ulong *own = rows + item - lane;\n"
    "  rows[item] = (ulong)p;\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  const uint4 f = (uint4)(emulated_word(own, lane, transposed), emulated_word(own + 8, lane, transposed),\n"
    "                          emulated_word(own + 16, lane, transposed), emulated_word(own + 24, lane, transposed));\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  return f;\n"
    "}\n"
    "static float emulated_half(uint word, int odd) {\n"
    "  const ushort h = (ushort)(odd ? word >> 16 : word & 0xffffu);\n"
    "  return vload_half(0, (const half *)&h);\n"
    "}\n"
    /* Adds n numbers to c. */
    "static float emulated_sum(float c, const float *x, int n) {\n"
    "  int top = -1000, finite = isfinite(c), places = 0;\n"
    "  float plain = c;\n"
    "  long sum = 0;\n"
    "  UNROLLED for (int i = 0; i <= n; i++) {\n"
    "    const float v = i < n ? x[i] : c;\n"
    "    if (i < n) { plain += v; finite &= isfinite(v); }\n"
    "    if (v != 0 && isfinite(v)) top = max(top, ilogb(v));\n"
    "  }\n"
    "  if (!finite || top == -1000) return plain;\n"
    "  UNROLLED for (int i = 0; i <= n; i++) sum += convert_long_rtz(ldexp(i < n ? x[i] : c, 23 + EMULATED_BITS - top));\n"
    "  while (abs(sum) >= 1 << 24) { sum /= 2; places++; }\n"
    "  return ldexp((float)sum, top - 23 - EMULATED_BITS + places);\n"
    "}\n"
    "static float emulated_product(__local const uint *words, float c, int lane, int i) {\n"
    "  const int row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;\n"
    "  float products[16];\n"
    "  UNROLLED for (int k = 0; k < 16; k++)\n"
    "    products[k] = emulated_half(words[(row % 8 * 4 + k % 8 / 2) * 6 + row / 8 + k / 8 * 2], k % 2) *\n"
    "                  emulated_half(words[(column * 4 + k % 8 / 2) * 6 + 4 + k / 8], k % 2);\n"
    "  UNROLLED for (int k = 0; k < 16; k += EMULATED_TERMS) c = emulated_sum(c, products + k, EMULATED_TERMS);\n"
    "  return c;\n"
    "}\n"
    "static float4 emulated_multiply(__local uint *words, float4 c, uint4 a, uint2 b) {\n"
    "  const int item = (int)get_local_id(0), lane = item % 32;\n"
    "  __local const uint *own = words + (item - lane) * 6;\n"
    "  vstore4(a, 0, words + item * 6);\n"
    "  vstore2(b, 0, words + item * 6 + 4);\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  c = (float4)(emulated_product(own, c.s0, lane, 0), emulated_product(own, c.s1, lane, 1),\n"
    "               emulated_product(own, c.s2, lane, 2), emulated_product(own, c.s3, lane, 3));\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  return c;\n"
    "}\n"
    "#endif\n";
