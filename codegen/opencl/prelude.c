/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The text before all kernels of a program: functions and macros that they call.
 */
#include "codegen/opencl/float64.h"
#include "codegen/opencl/internal.h"

const char opencl_options[] = "-w -cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt";

/* ---- functions of floats, of one lane or of more ---- */

/* The names of these end with the number of lanes, as N writes them.  A sum comes with what rounding lost of it (Knuth's
 * TwoSum); infinite sums have lost nothing that counts. */
#define LANE_FUNCTIONS                                                                                                         \
    "#define F VECTOR(float)\n#define U VECTOR(uint)\n#define H VECTOR(ushort)\n#define I VECTOR(int)\n"                       \
    "static F N(min)(F a, F b) {\n"                                                                                            \
    "  F r = a < b ? a : b; r = a == b ? AS(float)(AS(uint)(a) | AS(uint)(b)) : r;\n"                                          \
    "  r = a != a ? a : r; return b != b ? b : r;\n"                                                                           \
    "}\n"                                                                                                                      \
    "static F N(max)(F a, F b) {\n"                                                                                            \
    "  F r = a > b ? a : b; r = a == b ? AS(float)(AS(uint)(a) & AS(uint)(b)) : r;\n"                                          \
    "  r = a != a ? a : r; return b != b ? b : r;\n"                                                                           \
    "}\n"                                                                                                                      \
    "static I N(min_key)(F x) { const I i = AS(int)(x); return x != x ? (I)(INT_MIN) : i ^ (i >> 31 & 0x7fffffff); }\n"        \
    "static I N(max_key)(F x) { const I i = AS(int)(x); return x != x ? (I)(INT_MAX) : i ^ (i >> 31 & 0x7fffffff); }\n"        \
    "static F N(number_of_key)(I i) { return AS(float)(i ^ (i >> 31 & 0x7fffffff)); }\n"                                       \
    "static void N(add)(F *s, F *c, F x) { const F t = *s + x, b = t - *s; *c += (*s - (t - b)) + (x - b); *s = t; }\n"        \
    "static F N(total)(F s, F c) { return c - c == (F)(0) ? s + c : s; }\n"

/* These go through bits, because a device may take half numbers for aligned like vectors of them. */
#define FLOAT16_FUNCTIONS(lanes)                                                                                               \
    "static F N(from_f16)(H h) { return vload_half" lanes "(0, (const half *)&h); }\n"                                         \
    "static H N(to_f16)(F x) { H h; vstore_half" lanes "_rte(x, 0, (half *)&h); return h; }\n"                                 \
    "#undef F\n#undef U\n#undef H\n#undef I\n#undef N\n#undef VECTOR\n#undef AS\n#undef CONVERT\n"

const char opencl_prelude[] =
    "#pragma OPENCL FP_CONTRACT OFF\n"
    "#ifdef cl_khr_fp64\n"
    "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
    "#endif\n"
    "#define N(f) f##_v1\n#define VECTOR(t) t\n#define AS(t) as_##t\n#define CONVERT(t) convert_##t\n" LANE_FUNCTIONS
        FLOAT16_FUNCTIONS("") OPENCL_FLOAT64 "#ifndef DOT4\n"
                                             "static int dot4_plain(int a, int b, int c) {\n"
                                             "  const char4 x = as_char4(a), y = as_char4(b);\n"
                                             "  return c + x.s0 * y.s0 + x.s1 * y.s1 + x.s2 * y.s2 + x.s3 * y.s3;\n"
                                             "}\n"
                                             "#define DOT4(a, b, c) dot4_plain(a, b, c)\n"
                                             "#endif\n";

/* ---- vectors ---- */

/* Loads and stores of vectors whose elements alone are aligned for sure.  PoCL's vloadn and vstoren of 8 and 16 bits move
 * element after element; vectors that are declared with their elements' alignment, as clang takes them, are moved as a whole on
 * a processor.  GPUs have instructions for whole vectors that are aligned, which most are: the address tells.  The other way is
 * made of scalars, because compilers make one load of two that are alike, and that one would not be aligned.  Tests define
 * CHECKED_VECTORS to have that on a processor. */
static const char vector_accesses[] =
    "#ifdef __clang__\n#define SHUFFLE(clang, other) clang\n#else\n#define SHUFFLE(clang, other) other\n#endif\n"
    "#if defined(__clang__) && !defined(CHECKED_VECTORS) && (defined(__x86_64__) || defined(__i386__) || \\\n"
    "    defined(__aarch64__) || defined(__arm__) || defined(__powerpc__) || defined(__riscv))\n"
    "#define UNALIGNED_VECTORS\n"
    "#define PRAGMA(text) _Pragma(#text)\n"
    "#define LANE_LOOP(n) PRAGMA(clang loop vectorize_width(n) unroll(disable))\n"
    "#define LOAD_VECTOR(s, t, n, p) (*(s const unaligned_##t##n *)(p))\n"
    "#define STORE_VECTOR(s, t, n, v, p) (*(s unaligned_##t##n *)(p) = (v))\n"
    "#else\n#define LANE_LOOP(n)\n"
    "#define SCALARS_4(p) (p)[0], (p)[1], (p)[2], (p)[3]\n"
    "#define SCALARS_8(p) SCALARS_4(p), SCALARS_4((p) + 4)\n"
    "#define SCALARS_16(p) SCALARS_8(p), SCALARS_8((p) + 8)\n"
    "#define IS_ALIGNED(t, p) (((ulong)(p) & (sizeof(t) - 1)) == 0)\n"
    "#define LOAD_VECTOR(s, t, n, p) (IS_ALIGNED(t##n, p) ? *(s const t##n *)(p) : (t##n)(SCALARS_##n(p)))\n"
    "#define STORE_VECTOR(s, t, n, v, p) \\\n"
    "  do { if (IS_ALIGNED(t##n, p)) *(s t##n *)(p) = (v); else vstore##n(v, 0, p); } while (0)\n"
    "#endif\n";

static void put_vector_types(FILE *out, uint32_t lanes)
{
    static const struct {
        const char *name;
        uint32_t size;
    } types[] = {{"float", 4}, {"uint", 4}, {"uchar", 1}, {"ulong", 8}, {"ushort", 2}};

    fprintf(out, "#ifndef LOAD_VECTOR\n%s#endif\n#ifdef UNALIGNED_VECTORS\n", vector_accesses);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        fprintf(out, "typedef %s%u unaligned_%s%u __attribute__((aligned(%u)));\n", types[i].name, lanes, types[i].name, lanes,
                types[i].size);
    fputs("#endif\n", out);
}

void put_lane_functions(FILE *out, uint32_t lanes)
{
    fprintf(out,
            "#ifndef LANES_%1$u\n#define LANES_%1$u\n#define N(f) f##_v%1$u\n#define VECTOR(t) t##%1$u\n#define AS(t) "
            "as_##t##%1$u\n"
            "#define CONVERT(t) convert_##t##%1$u\n%2$s",
            lanes, LANE_FUNCTIONS);
    put_vector_types(out, lanes);
    fprintf(out, FLOAT16_FUNCTIONS("%1$u") "#endif\n", lanes);
}

/* ---- DOT4: the instruction that adds four products of signed bytes to an int ---- */

/* opencl_prelude defines it in plain C unless a definition stands before the prelude, so that programs that were printed for a
 * device with the instruction mean the same on any other. */
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
