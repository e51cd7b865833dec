/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Prints scalar operations and constants in OpenCL C, and the functions that they need.
 *
 * Integers wrap, so their arithmetic is done on unsigned types.  Conditions are ints, 0 or 1.
 */
#include "codegen/opencl/internal.h"
#include "codegen/opencl/float64.h"

#include <inttypes.h>

const char opencl_options[] = "-w -cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt";

#define INTEGER_FUNCTIONS(T, U)                                                                                                \
    "static " T " divide_" T "(" T " a, " T " b) { return b == 0 ? 0 : b == (" T ")-1 && (" T ")-1 < 0 ? (" T ")(0 - (" U      \
    ")a) : a / b; }\n"                                                                                                         \
    "static " T " power_" T "(" T " a, " T " b) {\n"                                                                           \
    "  " U " r = 1, q = (" U ")a; ulong n = (ulong)b;\n"                                                                       \
    "  if ((" T ")-1 < 0 && b < 0) return a == 1 ? 1 : a == (" T ")-1 ? (b & 1 ? (" T ")-1 : 1) : 0;\n"                        \
    "  for (; n; n >>= 1) { if (n & 1) r = (" U ")(r * q); q = (" U ")(q * q); }\n"                                            \
    "  return (" T ")r;\n"                                                                                                     \
    "}\n"

#define FLOAT_FUNCTIONS(T, U)                                                                                                  \
    "static " T " min_" T "(" T " a, " T " b) {\n"                                                                             \
    "  " T " r = a < b ? a : b; r = a == b ? as_" T "(as_" U "(a) | as_" U "(b)) : r;\n"                                       \
    "  r = a != a ? a : r; return b != b ? b : r;\n"                                                                           \
    "}\n"                                                                                                                      \
    "static " T " max_" T "(" T " a, " T " b) {\n"                                                                             \
    "  " T " r = a > b ? a : b; r = a == b ? as_" T "(as_" U "(a) & as_" U "(b)) : r;\n"                                       \
    "  r = a != a ? a : r; return b != b ? b : r;\n"                                                                           \
    "}\n" /* A sum and what rounding lost of it (Knuth's TwoSum); infinite sums have lost nothing that counts. */              \
    "static void add_" T "(" T " *s, " T " *c, " T " x) {\n"                                                                   \
    "  const " T " t = *s + x, b = t - *s; *c += (*s - (t - b)) + (x - b); *s = t;\n"                                          \
    "}\n"                                                                                                                      \
    "static " T " total_" T "(" T " s, " T " c) { return c - c == 0 ? s + c : s; }\n"

const char opencl_prelude[] =
    "#pragma OPENCL FP_CONTRACT OFF\n"
    "#ifdef cl_khr_fp64\n"
    "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
    "#endif\n" INTEGER_FUNCTIONS("char", "uchar") INTEGER_FUNCTIONS("uchar", "uchar") INTEGER_FUNCTIONS("int", "uint")
        INTEGER_FUNCTIONS("uint", "uint") INTEGER_FUNCTIONS("long", "ulong") INTEGER_FUNCTIONS("ulong", "ulong")
            FLOAT_FUNCTIONS("float", "uint") OPENCL_FLOAT64
    "static float round_f16(float x) { ushort h; vstore_half_rte(x, 0, (half *)&h); return vload_half(0, (const half *)&h); }\n"
    "static ushort to_bf16(float x) {\n"
    "  uint u = as_uint(x);\n"
    "  return x != x ? (ushort)(u >> 16 | 0x40u) : (ushort)((u + 0x7fffu + (u >> 16 & 1u)) >> 16);\n"
    "}\n"
    "static float from_bf16(ushort h) { return as_float((uint)h << 16); }\n"
    "static float round_bf16(float x) { return from_bf16(to_bf16(x)); }\n"
    "static float number_of_key(int i) { return as_float(i ^ (i >> 31 & 0x7fffffff)); }\n"
    "static float sign_of(float x) { return x > 0 ? 1.0f : x < 0 ? -1.0f : x; }\n"
    "static long clamp_index(long i, long size) { i = i < -size ? -size : i >= size ? size - 1 : i; "
    "return i < 0 ? i + size : i; }\n"
    "static float sigmoid_of(float x) { return 1.0f / (1.0f + exp(-x)); }\n"
    "#ifndef DOT4\n"
    "static int dot4_plain(int a, int b, int c) {\n"
    "  const char4 x = as_char4(a), y = as_char4(b);\n"
    "  return c + x.s0 * y.s0 + x.s1 * y.s1 + x.s2 * y.s2 + x.s3 * y.s3;\n"
    "}\n"
    "#define DOT4(a, b, c) dot4_plain(a, b, c)\n"
    "#endif\n";

/* ---- constants ---- */

void put_constant(FILE *out, enum ktype type, union scalar bits)
{
    switch (type) {
    case KT_F32:
        fprintf(out, "as_float(0x%08" PRIx32 "u)", bits.u32);
        return;
    case KT_F64:
        fprintf(out, "as_f64(0x%016" PRIx64 "ul)", bits.u64);
        return;
    case KT_BOOL:
        fprintf(out, "%d", bits.u8 != 0);
        return;
    case KT_I8:
        fprintf(out, "(char)%d", bits.i8);
        return;
    case KT_U8:
        fprintf(out, "(uchar)%u", bits.u8);
        return;
    case KT_I32:
        fprintf(out, "(int)0x%08" PRIx32 "u", bits.u32);
        return;
    case KT_U32:
        fprintf(out, "0x%08" PRIx32 "u", bits.u32);
        return;
    case KT_I64:
        fprintf(out, "(long)0x%016" PRIx64 "ul", bits.u64);
        return;
    case KT_U64:
        fprintf(out, "0x%016" PRIx64 "ul", bits.u64);
        return;
    case KT_COUNT:
        return;
    }
}

/* ---- operations ---- */

const char *opencl_unsigned_type(enum ktype t)
{
    switch (t) {
    case KT_I8:
    case KT_U8:
        return "uchar";
    case KT_I32:
    case KT_U32:
        return "uint";
    default:
        return "ulong";
    }
}

static void put_cast(FILE *out, enum ktype type, enum ktype from, uint32_t a)
{
    static const char *const saturating[KT_COUNT] = {
        [KT_I8] = "char", [KT_U8] = "uchar", [KT_I32] = "int", [KT_U32] = "uint", [KT_I64] = "long", [KT_U64] = "ulong"};

    if (type == from)
        fprintf(out, "v%" PRIu32, a);
    else if (type == KT_F64)
        fprintf(out, "f64_of_%s(v%" PRIu32 ")", from == KT_F32 ? "float" : from == KT_U64 ? "ulong" : "long", a);
    else if (from == KT_F64 && type == KT_F32)
        fprintf(out, "float_of_f64(v%" PRIu32 ")", a);
    else if (from == KT_F64) /* the number rounded to float32 */
        fprintf(out, "(f64_ne(v%" PRIu32 ", v%" PRIu32 ") ? 0 : convert_%s_sat_rtz(float_of_f64(v%" PRIu32 ")))", a, a,
                saturating[type], a);
    else if (type == KT_F32 && !ktype_is_float(from))
        fprintf(out, "convert_float_rte(v%" PRIu32 ")", a);
    else if (ktype_is_float(from))
        fprintf(out, "(v%" PRIu32 " != v%" PRIu32 " ? 0 : convert_%s_sat_rtz(v%" PRIu32 "))", a, a, saturating[type], a);
    else
        fprintf(out, "(%s)v%" PRIu32, opencl_value_type(type), a);
}

const char *opencl_function_of(enum kop op)
{
    switch (op) {
    case K_ABS:
        return "fabs";
    case K_SIGN:
        return "sign_of";
    case K_FLOOR:
        return "floor";
    case K_CEIL:
        return "ceil";
    case K_ROUND_EVEN:
        return "rint";
    case K_SQRT:
        return "sqrt";
    case K_ROUND_F16:
        return "round_f16";
    case K_ROUND_BF16:
        return "round_bf16";
    default:
        return NULL;
    }
}

const char *opencl_infix_of(enum kop op)
{
    static const char *const signs[K_OP_COUNT] = {
        [K_ADD] = "+", [K_SUB] = "-", [K_MUL] = "*", [K_DIV] = "/", [K_AND] = "&", [K_OR] = "|",
        [K_XOR] = "^", [K_EQ] = "==", [K_NE] = "!=", [K_LT] = "<",  [K_LE] = "<="};

    return signs[op];
}

const char *opencl_float64_function(enum kop op)
{
    static const char *const names[K_OP_COUNT] = {[K_ADD] = "f64_add",
                                                  [K_SUB] = "f64_sub",
                                                  [K_MUL] = "f64_mul",
                                                  [K_DIV] = "f64_div",
                                                  [K_MIN] = "min_f64",
                                                  [K_MAX] = "max_f64",
                                                  [K_NEG] = "f64_neg",
                                                  [K_FMA] = "f64_fma",
                                                  [K_ABS] = "f64_abs",
                                                  [K_EQ] = "f64_eq",
                                                  [K_NE] = "f64_ne",
                                                  [K_LT] = "f64_lt",
                                                  [K_LE] = "f64_le",
                                                  [K_COPY_SIGN] = "f64_copy_sign",
                                                  [K_IS_INFINITE] = "f64_is_infinite"};

    return names[op];
}

/* Float64 has arithmetic only: the rest is float32's, of the rounded argument. */
static void put_float64(FILE *out, enum kop op, const uint32_t v[3])
{
    const char *name = opencl_float64_function(op), *rounded = opencl_function_of(op);

    if (op == K_RECIPROCAL) {
        fprintf(out, "f64_div(f64_of_float(1), v%" PRIu32 ")", v[0]);
    } else if (op == K_IS_NAN) {
        fprintf(out, "f64_ne(v%" PRIu32 ", v%" PRIu32 ")", v[0], v[0]);
    } else if (name) {
        fprintf(out, "%s(v%" PRIu32, name, v[0]);
        for (uint32_t i = 1; i < kop_arity(op); i++)
            fprintf(out, ", v%" PRIu32, v[i]);
        fputc(')', out);
    } else if (opencl_is_function(op, KT_F64)) {
        fprintf(out, "f64_of_float(f_%s(float_of_f64(v%" PRIu32 ")", kop_name(op), v[0]);
        if (op == K_POW)
            fprintf(out, ", float_of_f64(v%" PRIu32 ")", v[1]);
        fputs("))", out);
    } else {
        fprintf(out, "f64_of_float(%s(float_of_f64(v%" PRIu32 ")))", rounded ? rounded : "", v[0]);
    }
}

static void put_float(FILE *out, enum kop op, const uint32_t v[3])
{
    const char *function = opencl_function_of(op);

    if (opencl_is_function(op, KT_F32)) {
        fprintf(out, "f_%s(v%" PRIu32, kop_name(op), v[0]);
        if (op == K_POW)
            fprintf(out, ", v%" PRIu32, v[1]);
        fputc(')', out);
        return;
    }
    switch (op) {
    case K_ADD:
    case K_SUB:
    case K_MUL:
    case K_DIV:
        fprintf(out, "v%" PRIu32 " %s v%" PRIu32, v[0], opencl_infix_of(op), v[1]);
        return;
    case K_MIN:
    case K_MAX:
        fprintf(out, "%s_float(v%" PRIu32 ", v%" PRIu32 ")", op == K_MIN ? "min" : "max", v[0], v[1]);
        return;
    case K_NEG:
        fprintf(out, "-v%" PRIu32, v[0]);
        return;
    case K_RECIPROCAL:
        fprintf(out, "1.0f / v%" PRIu32, v[0]);
        return;
    case K_FMA:
        fprintf(out, "fma(v%" PRIu32 ", v%" PRIu32 ", v%" PRIu32 ")", v[0], v[1], v[2]);
        return;
    case K_ABS:
        fprintf(out, "fabs(v%" PRIu32 ")", v[0]);
        return;
    case K_COPY_SIGN:
        fprintf(out, "copysign(v%" PRIu32 ", v%" PRIu32 ")", v[0], v[1]);
        return;
    default:
        fprintf(out, "%s(v%" PRIu32 ")", function ? function : "", v[0]);
        return;
    }
}

static void put_integer(FILE *out, enum kop op, enum ktype type, const uint32_t v[3])
{
    const char *t = opencl_value_type(type), *u = opencl_unsigned_type(type);

    switch (op) {
    case K_ADD:
    case K_SUB:
    case K_MUL:
        fprintf(out, "(%s)((%s)v%" PRIu32 " %s (%s)v%" PRIu32 ")", t, u, v[0], opencl_infix_of(op), u, v[1]);
        return;
    case K_FMA:
        fprintf(out, "(%s)((%s)v%" PRIu32 " * (%s)v%" PRIu32 " + (%s)v%" PRIu32 ")", t, u, v[0], u, v[1], u, v[2]);
        return;
    case K_DIV:
        fprintf(out, "divide_%s(v%" PRIu32 ", v%" PRIu32 ")", t, v[0], v[1]);
        return;
    case K_POW:
        fprintf(out, "power_%s(v%" PRIu32 ", v%" PRIu32 ")", t, v[0], v[1]);
        return;
    case K_MIN:
    case K_MAX:
        fprintf(out, "%s(v%" PRIu32 ", v%" PRIu32 ")", op == K_MIN ? "min" : "max", v[0], v[1]);
        return;
    case K_NEG:
        fprintf(out, "(%s)(0 - (%s)v%" PRIu32 ")", t, u, v[0]);
        return;
    case K_ABS:
        if (ktype_is_signed(type))
            fprintf(out, "(v%" PRIu32 " < 0 ? (%s)(0 - (%s)v%" PRIu32 ") : v%" PRIu32 ")", v[0], t, u, v[0], v[0]);
        else
            fprintf(out, "v%" PRIu32, v[0]);
        return;
    case K_SIGN:
        fprintf(out, "(%s)(v%" PRIu32 " > 0 ? 1 : v%" PRIu32 " == 0 ? 0 : -1)", t, v[0], v[0]);
        return;
    case K_AND:
    case K_OR:
    case K_XOR:
        fprintf(out, "(%s)(v%" PRIu32 " %s v%" PRIu32 ")", t, v[0], opencl_infix_of(op), v[1]);
        return;
    case K_NOT:
        fprintf(out, "!v%" PRIu32, v[0]);
        return;
    case K_SHL:
        fprintf(out, "(%s)((%s)v%" PRIu32 " << v%" PRIu32 ")", t, u, v[0], v[1]);
        return;
    case K_SHR:
        fprintf(out, "v%" PRIu32 " >> v%" PRIu32, v[0], v[1]);
        return;
    default: /* rounding an integer changes nothing */
        fprintf(out, "v%" PRIu32, v[0]);
        return;
    }
}

void put_operation(FILE *out, enum kop op, enum ktype type, enum ktype from, const uint32_t v[3])
{
    const bool moves = op == K_CAST || op == K_BITCAST || op == K_SELECT;

    if (!moves && (type == KT_F64 || from == KT_F64)) {
        put_float64(out, op, v);
        return;
    }
    switch (op) {
    case K_CAST:
        put_cast(out, type, from, v[0]);
        return;
    case K_BITCAST:
        fprintf(out, "as_%s(v%" PRIu32 ")", opencl_value_type(type), v[0]);
        return;
    case K_CAST_IN_RANGE:
        fprintf(out, "(int)v%" PRIu32, v[0]);
        return;
    case K_EQ:
    case K_NE:
    case K_LT:
    case K_LE:
        fprintf(out, "v%" PRIu32 " %s v%" PRIu32, v[0], opencl_infix_of(op), v[1]);
        return;
    case K_IS_NAN:
        fprintf(out, "v%" PRIu32 " != v%" PRIu32, v[0], v[0]);
        return;
    case K_IS_INFINITE:
        fprintf(out, "fabs(v%" PRIu32 ") == INFINITY", v[0]);
        return;
    case K_SELECT:
        fprintf(out, "v%" PRIu32 " ? v%" PRIu32 " : v%" PRIu32, v[0], v[1], v[2]);
        return;
    default:
        if (ktype_is_float(type))
            put_float(out, op, v);
        else
            put_integer(out, op, type, v);
    }
}
