/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Prints what operations on vectors need in OpenCL C: types, loads, stores and functions.  print_operation.c prints the
 * operations.
 */
#include "codegen/opencl/internal.h"

const char *opencl_lane_type(enum ktype t, uint32_t lanes)
{
    /* Vectors of float64 are in elementary functions only, and only where the device has it (print_function.c). */
    static const char *const names[KT_COUNT][5] = {
        [KT_BOOL] = {"int", "int2", "int4", "int8", "int16"},
        [KT_F32] = {"float", "float2", "float4", "float8", "float16"},
        [KT_F64] = {"f64", "double2", "double4", "double8", "double16"},
        [KT_I8] = {"char", "char2", "char4", "char8", "char16"},
        [KT_U8] = {"uchar", "uchar2", "uchar4", "uchar8", "uchar16"},
        [KT_I32] = {"int", "int2", "int4", "int8", "int16"},
        [KT_U32] = {"uint", "uint2", "uint4", "uint8", "uint16"},
        [KT_I64] = {"long", "long2", "long4", "long8", "long16"},
        [KT_U64] = {"ulong", "ulong2", "ulong4", "ulong8", "ulong16"},
    };

    return names[t][__builtin_ctz(lanes)];
}

const char *opencl_value_type(enum ktype t)
{
    return opencl_lane_type(t, 1);
}

/* ---- the prelude ---- */

/* Loads and stores of vectors whose elements alone are aligned for sure.  PoCL's vloadn and vstoren of 8 and 16 bits move
 * element after element; vectors that are declared with their elements' alignment, as clang takes them, are moved as a whole on
 * a processor.  GPUs have instructions for whole vectors that are aligned, which most are: the address tells.  The other way is
 * made of scalars, because compilers make one load of two that are alike, and that one would not be aligned.  Tests define
 * CHECKED_VECTORS to have that on a processor. */
static const char vector_accesses[] =
    "#if defined(__clang__) && !defined(CHECKED_VECTORS) && (defined(__x86_64__) || defined(__i386__) || \\\n"
    "    defined(__aarch64__) || defined(__arm__) || defined(__powerpc__) || defined(__riscv))\n"
    "#define UNALIGNED_VECTORS\n"
    "#define LOAD_VECTOR(s, t, n, p) (*(s const unaligned_##t##n *)(p))\n"
    "#define STORE_VECTOR(s, t, n, v, p) (*(s unaligned_##t##n *)(p) = (v))\n"
    "#else\n"
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
    } types[] = {{"float", 4}, {"int", 4}, {"uint", 4}, {"char", 1}, {"uchar", 1}, {"long", 8}, {"ulong", 8}, {"ushort", 2}};

    fprintf(out, "#ifndef LOAD_VECTOR\n%s#endif\n#ifdef UNALIGNED_VECTORS\n", vector_accesses);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        fprintf(out, "typedef %s%u unaligned_%s%u __attribute__((aligned(%u)));\n", types[i].name, lanes, types[i].name, lanes,
                types[i].size);
    fputs("#endif\n", out);
}

void put_lane_names(FILE *out, uint32_t lanes)
{
    static const char *const names[] = {"min",     "max",      "add",    "total",     "to_bf16", "from_bf16", "round_bf16",
                                        "sign_of", "from_f16", "to_f16", "round_f16", "min_key", "max_key",   "number_of_key"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        fprintf(out, "#undef %s_v\n#define %s_v %s_v%u\n", names[i], names[i], names[i], lanes);
}

void put_lane_functions(FILE *out, uint32_t lanes)
{
    static const char text[] =
        "#define F VECTOR(float)\n#define U VECTOR(uint)\n#define H VECTOR(ushort)\n#define I VECTOR(int)\n"
        "static F min_v(F a, F b) {\n"
        "  F r = a < b ? a : b; r = a == b ? AS(float)(AS(uint)(a) | AS(uint)(b)) : r;\n"
        "  r = a != a ? a : r; return b != b ? b : r;\n"
        "}\n"
        "static F max_v(F a, F b) {\n"
        "  F r = a > b ? a : b; r = a == b ? AS(float)(AS(uint)(a) & AS(uint)(b)) : r;\n"
        "  r = a != a ? a : r; return b != b ? b : r;\n"
        "}\n"
        "static I min_key_v(F x) { const I i = AS(int)(x); return x != x ? (I)(INT_MIN) : i ^ (i >> 31 & 0x7fffffff); }\n"
        "static I max_key_v(F x) { const I i = AS(int)(x); return x != x ? (I)(INT_MAX) : i ^ (i >> 31 & 0x7fffffff); }\n"
        "static F number_of_key_v(I i) { return AS(float)(i ^ (i >> 31 & 0x7fffffff)); }\n"
        "static void add_v(F *s, F *c, F x) { const F t = *s + x, b = t - *s; *c += (*s - (t - b)) + (x - b); *s = t; }\n"
        "static F total_v(F s, F c) { return c - c == (F)(0) ? s + c : s; }\n"
        "static H to_bf16_v(F x) {\n"
        "  const U u = AS(uint)(x), r = (u + 0x7fffu + (u >> 16 & 1u)) >> 16, n = u >> 16 | 0x40u;\n"
        "  return CONVERT(ushort)(x != x ? n : r);\n"
        "}\n"
        "static F from_bf16_v(H h) { return AS(float)(CONVERT(uint)(h) << 16); }\n"
        "static F round_bf16_v(F x) { return from_bf16_v(to_bf16_v(x)); }\n"
        "static F sign_of_v(F x) { return x > (F)(0) ? (F)(1) : x < (F)(0) ? (F)(-1) : x; }\n";

    put_lane_names(out, lanes);
    fprintf(out,
            "#ifndef LANES_%u\n#define LANES_%u\n#define VECTOR(t) t##%u\n#define AS(t) as_##t##%u\n#define CONVERT(t) "
            "convert_##t##%u\n%s",
            lanes, lanes, lanes, lanes, lanes, text);
    put_vector_types(out, lanes);
    /* This goes through a vector of bits, because a device may take half numbers for aligned like vectors of them. */
    fprintf(out,
            "static F from_f16_v(H h) { return vload_half%u(0, (const half *)&h); }\n"
            "static H to_f16_v(F x) { H h; vstore_half%u_rte(x, 0, (half *)&h); return h; }\n"
            "static F round_f16_v(F x) { return from_f16_v(to_f16_v(x)); }\n",
            lanes, lanes);
    fputs("#undef F\n#undef U\n#undef H\n#undef I\n#undef VECTOR\n#undef AS\n#undef CONVERT\n#endif\n", out);
}

/* ---- operations ---- */

bool lane_operation_exists(enum kop op, enum ktype type, enum ktype from)
{
    const enum ktype types[] = {type, from};

    if (op == K_INDEX || op == K_LOAD || op == K_REDUCE || op == K_SCAN)
        return false;
    for (int i = 0; i < 2; i++)
        if (types[i] != KT_F32 && types[i] != KT_BOOL && types[i] != KT_I32 && types[i] != KT_U32 && types[i] != KT_I8 &&
            types[i] != KT_U8)
            return false;
    return type == KT_F32 || (op != K_DIV && op != K_POW && op != K_SIGN);
}
