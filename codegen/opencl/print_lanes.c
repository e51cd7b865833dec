/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Prints operations on vectors in OpenCL C.
 *
 * Conditions of vectors are vectors of int, 0 or -1; those of elements that have another width are converted where they are
 * made and where they select.  Everything else is what print_operation.c writes for scalars, in every lane.
 */
#include "codegen/opencl/internal.h"

#include <inttypes.h>

/* Vectors of float64 are in elementary functions only, and only where the device has it (print_function.c). */
static const char *element_type(enum ktype t)
{
    return t == KT_F64 ? "double" : opencl_value_type(t);
}

struct type_text opencl_lane_type(enum ktype t, uint32_t lanes)
{
    struct type_text text;

    if (lanes > 1)
        snprintf(text.text, sizeof text.text, "%s%" PRIu32, element_type(t), lanes);
    else
        snprintf(text.text, sizeof text.text, "%s", opencl_value_type(t));
    return text;
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
        fprintf(out, "typedef %s%" PRIu32 " unaligned_%s%" PRIu32 " __attribute__((aligned(%" PRIu32 ")));\n", types[i].name,
                lanes, types[i].name, lanes, types[i].size);
    fputs("#endif\n", out);
}

void put_lane_names(FILE *out, uint32_t lanes)
{
    static const char *const names[] = {"min",     "max",      "add",    "total",     "to_bf16", "from_bf16", "round_bf16",
                                        "sign_of", "from_f16", "to_f16", "round_f16", "min_key", "max_key",   "number_of_key"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        fprintf(out, "#undef %s_v\n#define %s_v %s_v%" PRIu32 "\n", names[i], names[i], names[i], lanes);
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
            "#ifndef LANES_%" PRIu32 "\n#define LANES_%" PRIu32 "\n#define VECTOR(t) t##%" PRIu32
            "\n#define AS(t) as_##t##%" PRIu32 "\n#define CONVERT(t) convert_##t##%" PRIu32 "\n%s",
            lanes, lanes, lanes, lanes, lanes, text);
    put_vector_types(out, lanes);
    /* This goes through a vector of bits, because a device may take half numbers for aligned like vectors of them. */
    fprintf(out,
            "static F from_f16_v(H h) { return vload_half%" PRIu32 "(0, (const half *)&h); }\n"
            "static H to_f16_v(F x) { H h; vstore_half%" PRIu32 "_rte(x, 0, (half *)&h); return h; }\n"
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

/* Returns the integer type whose vectors are the conditions of a type's vectors. */
static const char *condition_type(enum ktype t)
{
    const size_t size = t == KT_BOOL ? 4 : ktype_size(t);

    return size == 8 ? "long" : size == 1 ? "char" : "int";
}

static void put_lane_cast(FILE *out, uint32_t n, enum ktype type, enum ktype from, const char *a)
{
    const char *t = element_type(type);

    if (type == from)
        fputs(a, out);
    else if (from == KT_BOOL)
        fprintf(out, "convert_%s%" PRIu32 "(%s & 1)", t, n, a);
    else if (ktype_is_float(type)) /* bytes become floats without rounding, which PoCL has functions for */
        fprintf(out, "convert_%s%" PRIu32 "%s(%s)", t, n, ktype_is_float(from) || ktype_size(from) == 1 ? "" : "_rte", a);
    else if (ktype_is_float(from))
        fprintf(out, "select(convert_%s%" PRIu32 "_sat_rtz(%s), (%s%" PRIu32 ")(0), convert_%s%" PRIu32 "(%s != %s))", t, n, a,
                t, n, condition_type(type), n, a, a);
    else
        fprintf(out, "convert_%s%" PRIu32 "(%s)", t, n, a);
}

/* Writes a comparison as a vector of int. */
static void put_condition(FILE *out, uint32_t n, enum ktype from, const char *a, const char *sign, const char *b)
{
    if (ktype_size(from) == 4 || from == KT_BOOL)
        fprintf(out, "%s %s %s", a, sign, b);
    else
        fprintf(out, "convert_int%" PRIu32 "(%s %s %s)", n, a, sign, b);
}

static void put_lane_select(FILE *out, uint32_t n, enum ktype type, const struct operand_text v[3])
{
    const char *c = condition_type(type);

    if (ktype_size(type) == 4 || type == KT_BOOL)
        fprintf(out, "%s ? %s : %s", v[0].text, v[1].text, v[2].text);
    else
        fprintf(out, "convert_%s%" PRIu32 "(%s) ? %s : %s", c, n, v[0].text, v[1].text, v[2].text);
}

static void put_lane_float(FILE *out, uint32_t n, enum kop op, enum ktype type, const struct operand_text v[3])
{
    const struct type_text t = opencl_lane_type(type, n);
    const char *function = opencl_function_of(op);

    if (opencl_is_function(op, type)) {
        fprintf(out, "fv_%s(%s", kop_name(op), v[0].text);
        fprintf(out, op == K_POW ? ", %s)" : ")", v[1].text);
        return;
    }
    switch (op) {
    case K_ADD:
    case K_SUB:
    case K_MUL:
    case K_DIV:
        fprintf(out, "%s %s %s", v[0].text, opencl_infix_of(op), v[1].text);
        return;
    case K_MIN:
    case K_MAX:
        fprintf(out, "%s_v(%s, %s)", op == K_MIN ? "min" : "max", v[0].text, v[1].text);
        return;
    case K_NEG:
        fprintf(out, "-%s", v[0].text);
        return;
    case K_RECIPROCAL:
        fprintf(out, "(%s)(1) / %s", t.text, v[0].text);
        return;
    case K_FMA:
        fprintf(out, "fma(%s, %s, %s)", v[0].text, v[1].text, v[2].text);
        return;
    case K_COPY_SIGN:
        fprintf(out, "copysign(%s, %s)", v[0].text, v[1].text);
        return;
    case K_SIGN:
    case K_ROUND_F16:
    case K_ROUND_BF16:
        fprintf(out, "%s_v(%s)", function, v[0].text);
        return;
    default:
        fprintf(out, "%s(%s)", function ? function : "", v[0].text);
        return;
    }
}

static void put_lane_integer(FILE *out, uint32_t n, enum kop op, enum ktype type, const struct operand_text v[3])
{
    const char *t = opencl_value_type(type), *u = opencl_unsigned_type(type);

    switch (op) {
    case K_ADD:
    case K_SUB:
    case K_MUL:
        fprintf(out, "as_%s%" PRIu32 "(as_%s%" PRIu32 "(%s) %s as_%s%" PRIu32 "(%s))", t, n, u, n, v[0].text,
                opencl_infix_of(op), u, n, v[1].text);
        return;
    case K_FMA:
        fprintf(out, "as_%s%" PRIu32 "(as_%s%" PRIu32 "(%s) * as_%s%" PRIu32 "(%s) + as_%s%" PRIu32 "(%s))", t, n, u, n,
                v[0].text, u, n, v[1].text, u, n, v[2].text);
        return;
    case K_MIN:
    case K_MAX:
        fprintf(out, "%s(%s, %s)", op == K_MIN ? "min" : "max", v[0].text, v[1].text);
        return;
    case K_NEG:
        fprintf(out, "as_%s%" PRIu32 "((%s%" PRIu32 ")(0) - as_%s%" PRIu32 "(%s))", t, n, u, n, u, n, v[0].text);
        return;
    case K_ABS:
        if (ktype_is_signed(type))
            fprintf(out, "as_%s%" PRIu32 "(abs(%s))", t, n, v[0].text);
        else
            fputs(v[0].text, out);
        return;
    case K_SHL:
        fprintf(out, "as_%s%" PRIu32 "(as_%s%" PRIu32 "(%s) << as_%s%" PRIu32 "(%s))", t, n, u, n, v[0].text, u, n, v[1].text);
        return;
    case K_SHR:
        fprintf(out, "%s >> %s", v[0].text, v[1].text);
        return;
    default: /* rounding an integer changes nothing */
        fputs(v[0].text, out);
        return;
    }
}

void put_lane_operation(FILE *out, uint32_t n, enum kop op, enum ktype type, enum ktype from, const struct operand_text v[3])
{
    switch (op) {
    case K_CAST:
        put_lane_cast(out, n, type, from, v[0].text);
        return;
    case K_BITCAST:
        fprintf(out, "as_%s%" PRIu32 "(%s)", element_type(type), n, v[0].text);
        return;
    case K_CAST_IN_RANGE:
        fprintf(out, "convert_int%" PRIu32 "_rtz(%s)", n, v[0].text);
        return;
    case K_EQ:
    case K_NE:
    case K_LT:
    case K_LE:
        put_condition(out, n, from, v[0].text, opencl_infix_of(op), v[1].text);
        return;
    case K_IS_NAN:
        put_condition(out, n, from, v[0].text, "!=", v[0].text);
        return;
    case K_IS_INFINITE:
        fprintf(out, "fabs(%s) == (%s)(INFINITY)", v[0].text, opencl_lane_type(from, n).text);
        return;
    case K_SELECT:
        put_lane_select(out, n, type, v);
        return;
    case K_AND:
    case K_OR:
    case K_XOR:
        fprintf(out, "%s %s %s", v[0].text, opencl_infix_of(op), v[1].text);
        return;
    case K_NOT:
        fprintf(out, "~%s", v[0].text);
        return;
    default:
        if (ktype_is_float(type))
            put_lane_float(out, n, op, type, v);
        else
            put_lane_integer(out, n, op, type, v);
    }
}
