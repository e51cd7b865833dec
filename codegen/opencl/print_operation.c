/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Prints operations and constants in OpenCL C, and the functions that they need.
 *
 * Integers wrap, so their arithmetic is done on unsigned types.  Conditions are ints, 0 or 1.  Conditions of vectors are
 * vectors of int, 0 or -1; those of elements that have another width are converted where they are made and where they select.
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

struct constant_text constant_text(enum ktype type, union scalar bits)
{
    static const char *const forms_of_8[] = {[KT_BOOL] = "%d", [KT_I8] = "(char)%d", [KT_U8] = "(uchar)%d"};
    static const char *const forms_of_32[] = {[KT_F32] = "as_float(0x%08xu)", [KT_I32] = "(int)0x%08xu", [KT_U32] = "0x%08xu"};
    static const char *const forms_of_64[] = {
        [KT_F64] = "as_f64(0x%016" PRIx64 "ul)", [KT_I64] = "(long)0x%016" PRIx64 "ul", [KT_U64] = "0x%016" PRIx64 "ul"};
    struct constant_text t;

    if (ktype_size(type) == 1)
        snprintf(t.text, sizeof t.text, forms_of_8[type], type == KT_BOOL ? bits.u8 != 0 : type == KT_I8 ? bits.i8 : bits.u8);
    else if (ktype_size(type) == 4)
        snprintf(t.text, sizeof t.text, forms_of_32[type], bits.u32);
    else
        snprintf(t.text, sizeof t.text, forms_of_64[type], bits.u64);
    return t;
}

/* ---- operations ---- */

const char *opencl_unsigned_type(enum ktype t)
{
    return ktype_size(t) == 1 ? "uchar" : ktype_size(t) == 4 ? "uint" : "ulong";
}

/*
 * Holds the texts of operations.  $a, $b and $c are the operands, $t the result's type (of a comparison: the operands'), $u the
 * unsigned type of its width and $k the integer type of a condition that selects values of it.  Types are those of the lanes.
 */
struct forms {
    const char *number, *integer;   /* of floats, but scalars of float64; of integers; NULL: the operand */
    const char *f64;                /* of scalars of float64; NULL: float32's, of the rounded operand */
    const char *numbers, *integers; /* of vectors; NULL: as of a scalar */
};

static const struct forms forms[K_OP_COUNT] = {
    [K_ADD] = {.number = "$a + $b",
               .integer = "($t)(($u)$a + ($u)$b)",
               .f64 = "f64_add($a, $b)",
               .integers = "as_$t(as_$u($a) + as_$u($b))"},
    [K_SUB] = {.number = "$a - $b",
               .integer = "($t)(($u)$a - ($u)$b)",
               .f64 = "f64_sub($a, $b)",
               .integers = "as_$t(as_$u($a) - as_$u($b))"},
    [K_MUL] = {.number = "$a * $b",
               .integer = "($t)(($u)$a * ($u)$b)",
               .f64 = "f64_mul($a, $b)",
               .integers = "as_$t(as_$u($a) * as_$u($b))"},
    [K_DIV] = {.number = "$a / $b", .integer = "divide_$t($a, $b)", .f64 = "f64_div($a, $b)"},
    [K_MIN] = {.number = "min_float($a, $b)", .integer = "min($a, $b)", .f64 = "min_f64($a, $b)", .numbers = "min_v($a, $b)"},
    [K_MAX] = {.number = "max_float($a, $b)", .integer = "max($a, $b)", .f64 = "max_f64($a, $b)", .numbers = "max_v($a, $b)"},
    [K_POW] = {.integer = "power_$t($a, $b)"},
    [K_NEG] = {.number = "-$a", .integer = "($t)(0 - ($u)$a)", .f64 = "f64_neg($a)", .integers = "as_$t(($u)(0) - as_$u($a))"},
    [K_ABS] = {.number = "fabs($a)",
               .integer = "($a < 0 ? ($t)(0 - ($u)$a) : $a)",
               .f64 = "f64_abs($a)",
               .integers = "as_$t(abs($a))"},
    [K_SIGN] = {.number = "sign_of($a)", .integer = "($t)($a > 0 ? 1 : $a == 0 ? 0 : -1)", .numbers = "sign_of_v($a)"},
    [K_COPY_SIGN] = {.number = "copysign($a, $b)", .f64 = "f64_copy_sign($a, $b)"},
    [K_FLOOR] = {.number = "floor($a)"},
    [K_CEIL] = {.number = "ceil($a)"},
    [K_ROUND_EVEN] = {.number = "rint($a)"},
    [K_SQRT] = {.number = "sqrt($a)"},
    [K_RECIPROCAL] = {.number = "1.0f / $a", .f64 = "f64_div(f64_of_float(1), $a)", .numbers = "($t)(1) / $a"},
    [K_FMA] = {.number = "fma($a, $b, $c)",
               .integer = "($t)(($u)$a * ($u)$b + ($u)$c)",
               .f64 = "f64_fma($a, $b, $c)",
               .integers = "as_$t(as_$u($a) * as_$u($b) + as_$u($c))"},
    [K_ROUND_F16] = {.number = "round_f16($a)", .numbers = "round_f16_v($a)"},
    [K_ROUND_BF16] = {.number = "round_bf16($a)", .numbers = "round_bf16_v($a)"},
    [K_BITCAST] = {.number = "as_$t($a)", .integer = "as_$t($a)"},
    [K_CAST_IN_RANGE] = {.integer = "(int)$a", .integers = "convert_$t_rtz($a)"},
    [K_SHL] = {.integer = "($t)(($u)$a << $b)", .integers = "as_$t(as_$u($a) << as_$u($b))"},
    [K_SHR] = {.integer = "$a >> $b"},
    [K_EQ] = {.number = "$a == $b", .integer = "$a == $b", .f64 = "f64_eq($a, $b)"},
    [K_NE] = {.number = "$a != $b", .integer = "$a != $b", .f64 = "f64_ne($a, $b)"},
    [K_LT] = {.number = "$a < $b", .integer = "$a < $b", .f64 = "f64_lt($a, $b)"},
    [K_LE] = {.number = "$a <= $b", .integer = "$a <= $b", .f64 = "f64_le($a, $b)"},
    [K_IS_NAN] = {.number = "$a != $a", .f64 = "f64_ne($a, $a)"},
    [K_IS_INFINITE] = {.number = "fabs($a) == INFINITY", .f64 = "f64_is_infinite($a)", .numbers = "fabs($a) == ($t)(INFINITY)"},
    [K_AND] = {.integer = "($t)($a & $b)", .integers = "$a & $b"},
    [K_OR] = {.integer = "($t)($a | $b)", .integers = "$a | $b"},
    [K_XOR] = {.integer = "($t)($a ^ $b)", .integers = "$a ^ $b"},
    [K_NOT] = {.integer = "!$a", .integers = "~$a"},
    [K_SELECT] = {.number = "$a ? $b : $c", .integer = "$a ? $b : $c"},
};

static const char *scalar_cast(enum ktype type, enum ktype from)
{
    if (type == KT_F64)
        return from == KT_F32 ? "f64_of_float($a)" : from == KT_U64 ? "f64_of_ulong($a)" : "f64_of_long($a)";
    if (from == KT_F64)
        return type == KT_F32   ? "float_of_f64($a)"
               : type == KT_U64 ? "(f64_ne($a, $a) ? 0 : ulong_of_f64($a))"
                                : "(f64_ne($a, $a) ? 0 : convert_$t_sat(long_of_f64($a)))";
    if (type == KT_F32)
        return "convert_float_rte($a)";
    return from == KT_F32 ? "($a != $a ? 0 : convert_$t_sat_rtz($a))" : "($t)$a";
}

static const char *vector_cast(enum ktype type, enum ktype from)
{
    if (from == KT_BOOL)
        return "convert_$t($a & 1)";
    if (ktype_is_float(type)) /* bytes become floats without rounding, which PoCL has functions for */
        return ktype_is_float(from) || ktype_size(from) == 1 ? "convert_$t($a)" : "convert_$t_rte($a)";
    return ktype_is_float(from) ? "select(convert_$t_sat_rtz($a), ($t)(0), convert_$k($a != $a))" : "convert_$t($a)";
}

/* Returns whether the conditions of a type's vectors are not the vectors of int that conditions are. */
static bool needs_condition(enum ktype t)
{
    return ktype_size(t) != 4 && t != KT_BOOL;
}

static const char *form_of(enum kop op, enum ktype type, enum ktype from, bool vector)
{
    const struct forms *f = &forms[op];
    const bool is_float = ktype_is_float(type);
    const char *of_vectors = is_float ? f->numbers : f->integers, *of_scalars = is_float ? f->number : f->integer;

    if (op == K_CAST)
        return type == from ? "$a" : vector ? vector_cast(type, from) : scalar_cast(type, from);
    if (op == K_SELECT && vector && needs_condition(type))
        return "convert_$k($a) ? $b : $c";
    if (op == K_ABS && !is_float && !ktype_is_signed(type))
        return "$a";
    if (opencl_is_function(op, type))
        return NULL;
    return vector && of_vectors ? of_vectors : of_scalars ? of_scalars : "$a";
}

/* Writes a form; `argument` is how an operand is written. */
static void put_text_with(FILE *out, const char *form, uint32_t lanes, enum ktype type, const char *argument,
                          const char *const v[3])
{
    static const enum ktype conditions[] = {[1] = KT_I8, [4] = KT_I32, [8] = KT_I64};
    const enum ktype unsigned_type = ktype_size(type) == 1 ? KT_U8 : ktype_size(type) == 4 ? KT_U32 : KT_U64;

    for (; *form; form++) {
        if (*form != '$')
            fputc(*form, out);
        else if (*++form == 't')
            fputs(opencl_lane_type(type, lanes), out);
        else if (*form == 'u')
            fputs(opencl_lane_type(unsigned_type, lanes), out);
        else if (*form == 'k')
            fputs(opencl_lane_type(conditions[ktype_size(type)], lanes), out);
        else
            fprintf(out, argument, v[*form - 'a']);
    }
}

void put_operation(FILE *out, uint32_t lanes, enum kop op, enum ktype type, enum ktype from, const char *const v[3])
{
    const bool vector = lanes > 1;
    const enum ktype of = type == KT_BOOL ? from : type; /* comparisons are those of their operands' type */
    const bool converts = vector && type == KT_BOOL && needs_condition(of);
    const bool f64 = !vector && of == KT_F64 && op != K_CAST && op != K_BITCAST && op != K_SELECT,
               rounds = f64 && !forms[op].f64;
    const char *form = f64 && !rounds ? forms[op].f64 : form_of(op, of, from, vector);

    if (converts)
        fprintf(out, "convert_int%u(", lanes);
    fputs(rounds ? "f64_of_float(" : "", out);
    if (!form) {
        fprintf(out, vector ? "fv_%s(" : "f_%s(", kop_name(op));
        form = op == K_POW ? "$a, $b)" : "$a)";
    }
    put_text_with(out, form, lanes, of, rounds ? "float_of_f64(%s)" : "%s", v);
    fputs(converts || rounds ? ")" : "", out);
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
