/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Matrix instructions as macros.
 *
 * The layout of fragments is that of the PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type", and of
 * "ldmatrix": lane l has of each matrix of 8 x 8 the elements 2 (l % 4) and the next one of row l / 4, of four matrices in four
 * registers; the address of a row of matrix i comes from lane 8 i + row.
 */
#include "codegen/opencl/opencl.h"

const char opencl_matrix_functions[] =
    "#ifndef MATRIX_MULTIPLY\n"
    "#define MATRIX_MEMORY\n"
    "#define MATRIX_LOAD_BY(name, f, p) do { uint f0, f1, f2, f3; __asm__ volatile(name \" {%0, %1, %2, %3}, [%4];\" \\\n"
    "  : \"=r\"(f0), \"=r\"(f1), \"=r\"(f2), \"=r\"(f3) : \"r\"((uint)(size_t)(p)) : \"memory\"); \\\n"
    "  f = (uint4)(f0, f1, f2, f3); } while (0)\n"
    "#define MATRIX_LOAD(f, p) MATRIX_LOAD_BY(\"ldmatrix.sync.aligned.m8n8.x4.shared.b16\", f, p)\n"
    "#define MATRIX_LOAD_TRANSPOSED(f, p) MATRIX_LOAD_BY(\"ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16\", f, p)\n"
    "#define MATRIX_MULTIPLY(c, a, b0, b1) do { float c0 = (c).s0, c1 = (c).s1, c2 = (c).s2, c3 = (c).s3; __asm__ volatile( "
    "\\\n"
    "  \"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\" "
    "\\\n"
    "  : \"+f\"(c0), \"+f\"(c1), \"+f\"(c2), \"+f\"(c3) \\\n"
    "  : \"r\"((a).s0), \"r\"((a).s1), \"r\"((a).s2), \"r\"((a).s3), \"r\"(b0), \"r\"(b1)); \\\n"
    "  c = (float4)(c0, c1, c2, c3); } while (0)\n"
    "#endif\n";
