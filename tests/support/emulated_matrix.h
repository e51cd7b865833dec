/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Matrix instructions (opencl_matrix_functions in codegen/opencl/opencl.h) as functions of OpenCL C, for devices without them.
 *
 * The items of a group hand each other registers through local memory, between barriers, according to the PTX ISA's chapters on
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
 * once, as numbers of 24 + EMULATED_BITS bits below the largest one's first bit, without what lies below, and so is the result
 * of what lies below 24 bits.
 */
#pragma once

static const char emulated_matrix[] =
    "#ifndef MATRIX_MULTIPLY\n"
    "#define MATRIX_UNROLL _Pragma(\"nounroll\")\n" /* compilers of processors would take minutes for all copies */
    "#define MATRIX_MEMORY __local uint emulated[256 * 6]; __local ulong emulated_rows[256];\n"
    "#define MATRIX_LOAD(f, p) emulated_load(emulated_rows, f, p, 0)\n"
    "#define MATRIX_LOAD_TRANSPOSED(f, p) emulated_load(emulated_rows, f, p, 1)\n"
    "#define MATRIX_MULTIPLY(c, a, b) emulated_multiply(emulated, c, a, b)\n"
    "static void emulated_load(__local ulong *rows, uint *f, __local ushort *p, int transposed) {\n"
    "  const int item = (int)get_local_id(0), lane = item % 32, first = item - lane;\n"
    "  rows[item] = (ulong)p;\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  MATRIX_UNROLL for (int i = 0; i < 4; i++) {\n"
    "    ushort h[2];\n"
    "    MATRIX_UNROLL for (int e = 0; e < 2; e++) {\n"
    "      const int row = transposed ? lane % 4 * 2 + e : lane / 4, column = transposed ? lane / 4 : lane % 4 * 2 + e;\n"
    "      h[e] = ((__local const ushort *)rows[first + 8 * i + row])[column];\n"
    "    }\n"
    "    f[i] = h[0] | (uint)h[1] << 16;\n"
    "  }\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
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
    "  MATRIX_UNROLL for (int i = 0; i <= n; i++) {\n"
    "    const float v = i < n ? x[i] : c;\n"
    "    if (i < n) { plain += v; finite &= isfinite(v); }\n"
    "    if (v != 0 && isfinite(v)) top = max(top, ilogb(v));\n"
    "  }\n"
    "  if (!finite || top == -1000) return plain;\n"
    "  MATRIX_UNROLL for (int i = 0; i <= n; i++) sum += convert_long_rtz(ldexp(i < n ? x[i] : c, 23 + EMULATED_BITS - top));\n"
    "  while (abs(sum) >= 1 << 24) { sum /= 2; places++; }\n"
    "  return ldexp((float)sum, top - 23 - EMULATED_BITS + places);\n"
    "}\n"
    "static void emulated_multiply(__local uint *words, float *c, const uint *a, const uint *b) {\n"
    "  const int item = (int)get_local_id(0), lane = item % 32, first = item - lane;\n"
    "  MATRIX_UNROLL for (int i = 0; i < 4; i++) words[item * 6 + i] = a[i];\n"
    "  MATRIX_UNROLL for (int i = 0; i < 2; i++) words[item * 6 + 4 + i] = b[i];\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  MATRIX_UNROLL for (int i = 0; i < 4; i++) {\n"
    "    const int row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;\n"
    "    float products[16];\n"
    "    MATRIX_UNROLL for (int k = 0; k < 16; k++) {\n"
    "      const int of_a = first + row % 8 * 4 + k % 8 / 2, of_b = first + column * 4 + k % 8 / 2;\n"
    "      products[k] = emulated_half(words[of_a * 6 + row / 8 + k / 8 * 2], k % 2) *\n"
    "                    emulated_half(words[of_b * 6 + 4 + k / 8], k % 2);\n"
    "    }\n"
    "    MATRIX_UNROLL for (int k = 0; k < 16; k += EMULATED_TERMS) c[i] = emulated_sum(c[i], products + k, EMULATED_TERMS);\n"
    "  }\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "}\n"
    "#endif\n";
