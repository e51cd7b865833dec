/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Says DOT4 in OpenCL C: the instruction that adds four products of signed bytes to an int.
 *
 * opencl_prelude defines it in plain C unless a definition stands before the prelude, so that programs that were printed for a
 * device with the instruction mean the same on any other.
 */
#include "codegen/opencl/opencl.h"

static const char *const definitions[] = {
    [GPU_DOTS_NONE] = "",
    [GPU_DOTS_PLAIN] = "",
    /* Headers of compilers declare the function for OpenCL C 2.0 and newer only. */
    [GPU_DOTS_KHR] = "#pragma OPENCL EXTENSION cl_khr_integer_dot_product : enable\n"
                     "#ifndef __opencl_c_integer_dot_product_input_4x8bit_packed\n"
                     "int __attribute__((overloadable, const)) dot_4x8packed_ss_int(uint, uint);\n"
                     "#endif\n"
                     "#define DOT4(a, b, c) ((c) + dot_4x8packed_ss_int(as_uint(a), as_uint(b)))\n",
    [GPU_DOTS_ARM] = "#pragma OPENCL EXTENSION cl_arm_integer_dot_product_int8 : enable\n"
                     "#define DOT4(a, b, c) ((c) + arm_dot(as_char4(a), as_char4(b)))\n",
    [GPU_DOTS_PTX] = "static int dot4_ptx(int a, int b, int c) {\n"
                     "  int d;\n"
                     "  __asm__(\"dp4a.s32.s32 %0, %1, %2, %3;\" : \"=r\"(d) : \"r\"(a), \"r\"(b), \"r\"(c));\n"
                     "  return d;\n"
                     "}\n"
                     "#define DOT4(a, b, c) dot4_ptx(a, b, c)\n",
};

const char *opencl_dot_definition(enum gpu_dots kind)
{
    return definitions[kind];
}
