/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The text before all kernels of a program: functions and macros that they call, matrix instructions among them.
 */
#include "codegen/opencl/float64.h"
#include "codegen/opencl/internal.h"

const char opencl_options[] = "-w -cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt";

/* ---- functions of floats, of one lane or of more ---- */

/* The names of these end with the number of lanes, as N writes them. */
#define LANE_FUNCTIONS                                                                                                         \
    "#define F VECTOR(float)\n#define U VECTOR(uint)\n#define H VECTOR(ushort)\n"                                              \
    "static F N(min)(F a, F b) {\n"                                                                                            \
    "  F r = a < b ? a : b; r = a == b ? AS(float)(AS(uint)(a) | AS(uint)(b)) : r;\n"                                          \
    "  r = a != a ? a : r; return b != b ? b : r;\n"                                                                           \
    "}\n"                                                                                                                      \
    "static F N(max)(F a, F b) {\n"                                                                                            \
    "  F r = a > b ? a : b; r = a == b ? AS(float)(AS(uint)(a) & AS(uint)(b)) : r;\n"                                          \
    "  r = a != a ? a : r; return b != b ? b : r;\n"                                                                           \
    "}\n"

/* These go through bits, because a device may take half numbers for aligned like vectors of them. */
#define FLOAT16_FUNCTIONS(lanes)                                                                                               \
    "static F N(from_f16)(H h) { return vload_half" lanes "(0, (const half *)&h); }\n"                                         \
    "static H N(to_f16)(F x) { H h; vstore_half" lanes "_rte(x, 0, (half *)&h); return h; }\n"                                 \
    "#undef F\n#undef U\n#undef H\n#undef N\n#undef VECTOR\n#undef AS\n"

const char opencl_prelude[] =
    "#pragma OPENCL FP_CONTRACT OFF\n"
    "#define UNROLLED _Pragma(\"unroll\")\n"
    "#ifdef cl_khr_fp64\n"
    "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
    "#endif\n"
    "#define N(f) f##_v1\n#define VECTOR(t) t\n#define AS(t) as_##t\n" LANE_FUNCTIONS FLOAT16_FUNCTIONS("") OPENCL_FLOAT64;

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
            "as_##t##%1$u\n%2$s",
            lanes, LANE_FUNCTIONS);
    put_vector_types(out, lanes);
    fprintf(out, FLOAT16_FUNCTIONS("%1$u") "#endif\n", lanes);
}

/* ---- matrix instructions ---- */

/*
 * The layout of fragments is that of the PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type", and of
 * "ldmatrix": lane l has of each matrix of 8 x 8 the elements 2 (l % 4) and the next one of row l / 4, of four matrices in four
 * registers; the address of a row of matrix i comes from lane 8 i + row.
 */
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
