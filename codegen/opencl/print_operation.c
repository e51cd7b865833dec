/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Prints operations of the loop language in OpenCL C.  This decides nothing but how an operation is written.
 *
 * Integers of the loop language have no sign: they are unsigned here, and an operation says where it takes them otherwise.
 * Indices have one, so that compilers know that their sums do not wrap.  Conditions are ints, 0 or 1.  Conditions of vectors
 * are vectors of int, 0 or -1; those of elements that have another width are converted where they are made and where they
 * select.
 */
#define _GNU_SOURCE
#include "codegen/lower/scalar.h"
#include "codegen/opencl/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char lane_names[] = "0123456789abcdef";

/* ---- text ---- */

const char *text_of(struct printer *p, const char *format, ...)
{
    char *text = NULL;
    int length;

    WITH_ARGUMENTS(format, length = vasprintf(&text, format, arguments));
    const char *kept = length < 0 ? NULL : arena_string(p->arena, text, (size_t)length);
    if (length >= 0)
        free(text);
    p->failed |= !kept;
    return kept ? kept : "";
}

void put(struct printer *p, const char *format, ...)
{
    if (p->new_line)
        fprintf(p->out, "%*s", 2 * (int)p->depth, "");
    p->new_line = false;
    WITH_ARGUMENTS(format, vfprintf(p->out, format, arguments));
}

/* ---- types and constants ---- */

const char *type_text(struct printer *p, loop_type type, bool is_signed)
{
    static const char *const names[2][LOOP_ELEMENTS] = {{"", "int", "uchar", "ushort", "uint", "ulong", "float", "double"},
                                                        {"", "int", "char", "short", "int", "long", "float", "double"}};
    const enum loop_element element = loop_type_element(type);

    if (loop_type_lanes(type) > 1)
        return text_of(p, "%s%u", names[is_signed][element], loop_type_lanes(type));
    return element == LOOP_F64 ? "f64" : names[is_signed][element];
}

/* Returns a constant whose lanes are all alike. */
static const char *lanes_text(struct printer *p, loop_type type, bool is_signed, uint64_t bits)
{
    static const char *const forms[LOOP_ELEMENTS] = {[LOOP_I1] = "%s%" PRIu64,
                                                     [LOOP_I64] = "%s0x%" PRIx64 "ul",
                                                     [LOOP_F32] = "%sas_float(0x%08" PRIx64 "u)",
                                                     [LOOP_F64] = "%sas_f64(0x%016" PRIx64 "ul)"};
    const enum loop_element element = loop_type_element(type);
    const bool vector = loop_type_lanes(type) > 1;
    const char *form = forms[element] ? forms[element] : "%s0x%" PRIx64 "u",
               *one = text_of(p, form, vector && element == LOOP_I1 ? "-" : "", bits);

    return vector || is_signed || loop_type_bits(type) % 32 > 1 ? text_of(p, "(%s)(%s)", type_text(p, type, is_signed), one)
                                                                : one;
}

/* Returns a text of another type with as many bits. */
static const char *reinterpreted(struct printer *p, loop_type type, bool is_signed, const char *text)
{
    return text_of(p, loop_type_lanes(type) > 1 ? "as_%s(%s)" : "((%s)%s)", type_text(p, type, is_signed), text);
}

static const char *vector_constant(struct printer *p, V v)
{
    const char *text = NULL;

    for (uint32_t i = 0; i < loop_type_lanes(v->type); i++) {
        const char *lane = lanes_text(p, element_type(v), false, v->bits[i]);
        text = text ? text_of(p, "%s, %s", text, lane) : lane;
    }
    return text_of(p, "((%s)(%s)%s", type_text(p, v->type, false), text, loop_type_bits(v->type) == 1 ? " * -1)" : ")");
}

static bool is_sum(const struct loop_value *v)
{
    return v->op == LOOP_ADD || v->op == LOOP_SUB || v->op == LOOP_MUL;
}

bool is_index(const struct loop_value *v)
{
    const bool computed = is_sum(v) || v->op == LOOP_UDIV || v->op == LOOP_UREM || v->op == LOOP_NEG || v->op == LOOP_SMIN ||
                          v->op == LOOP_SMAX || v->op == LOOP_SELECT;

    if (!computed || loop_type_lanes(v->type) > 1 || !loop_element_is_int(loop_type_element(v->type)))
        return v->op == LOOP_NUMBER || v->op == LOOP_ITEM || v->op == LOOP_GROUP || v->op == LOOP_FOR ||
               v->op == LOOP_STOPPED || name_kind(v) == INDEX_NAME;
    for (uint32_t i = v->op == LOOP_SELECT; i < v->arg_count; i++)
        if (is_index(v->args[i]))
            return true;
    return false;
}

/* Returns whether a value is a sum or product of indices, which is written where it is used. */
static bool is_index_sum(const struct loop_value *v)
{
    return is_sum(v) && is_index(v);
}

bool is_inline(const struct loop_value *v)
{
    return v->op == LOOP_CONST || v->op == LOOP_NUMBER || v->op == LOOP_PARAMETER || is_index_sum(v) ||
           loop_type_element(v->type) == LOOP_PTR;
}

V guarded_index(const struct loop_value *v)
{
    const struct loop_value *load = v->op == LOOP_SELECT ? v->args[1] : NULL;

    if (!load || load->op != LOOP_LOAD || load->user || loop_type_lanes(v->type) > 1 || load->args[0]->op != LOOP_ADDRESS ||
        load->args[0]->args[0]->op != LOOP_TENSOR)
        return NULL;
    const struct loop_value *index = load->args[0]->args[1];
    return index->op == LOOP_SELECT && index->args[0] == v->args[0] ? index->args[1] : NULL;
}

/* Returns where a value of type ptr points to, whose name is no variable. */
static const char *address_text(struct printer *p, V v);

const char *index_text_of(struct printer *p, V v)
{
    int64_t value;

    if (!is_int_constant(v, &value))
        return value_text(p, v, true);
    return text_of(p, value < 0 ? "(%" PRId64 ")" : "%" PRId64, value);
}

/* A name has the signs of what it was declared as: integers of the kernel's variables, numbers, and what is computed of them
 * alone; all others are unsigned. */
const char *value_text(struct printer *p, V v, bool is_signed)
{
    uint64_t bits;

    if (v->op == LOOP_CONST && !loop_is_splat(v, &bits))
        return is_signed ? reinterpreted(p, v->type, true, vector_constant(p, v)) : vector_constant(p, v);
    if (v->op == LOOP_CONST)
        return lanes_text(p, v->type, is_signed && loop_type_element(v->type) != LOOP_I1, bits);
    if (v->type == type_ptr)
        return address_text(p, v);
    if (is_index_sum(v)) {
        const char *sum = text_of(p, "(%s %c %s)", index_text_of(p, v->args[0]),
                                  v->op == LOOP_ADD   ? '+'
                                  : v->op == LOOP_SUB ? '-'
                                                      : '*',
                                  index_text_of(p, v->args[1]));
        return is_signed ? sum : reinterpreted(p, v->type, false, sum);
    }
    const bool is = v->op == LOOP_NUMBER || name_kind(v);
    const char *name = v->op == LOOP_NUMBER ? text_of(p, "p%u", (uint32_t)v->number) : v->user;
    if (v->op == LOOP_PARAMETER && !name)
        name = text_of(p, "a%u", (uint32_t)v->number);
    return is == is_signed || !loop_element_is_int(loop_type_element(v->type)) || loop_type_element(v->type) == LOOP_I1
               ? name
               : reinterpreted(p, v->type, is_signed, name);
}

/* Returns the address space that an address lies in. */
static const char *space_text(V v)
{
    while (v->op == LOOP_ADDRESS || v->op == LOOP_OPAQUE)
        v = v->args[0];
    return v->op == LOOP_TENSOR || v->op == LOOP_SCRATCH ? "__global" : v->op == LOOP_ARRAY ? "__private" : "__local";
}

/* Returns whether an address counts other elements than what it is counted from. */
static bool is_cast(const struct loop_value *v)
{
    const struct loop_value *from = v->args[0];

    return from->op == LOOP_ARRAY || from->op == LOOP_GROUP_ARRAY || from->op == LOOP_SCRATCH ||
           (from->op == LOOP_ADDRESS && from->of != v->of);
}

static const char *address_text(struct printer *p, V v)
{
    switch (v->op) {
    case LOOP_TENSOR:
        return text_of(p, "t%u", (uint32_t)v->number);
    case LOOP_SCRATCH:
        return "(bs + os)";
    case LOOP_ADDRESS:
        return text_of(p, is_cast(v) ? "(%3$s %4$s *)(%1$s) + %2$s" : "%1$s + %2$s", value_text(p, v->args[0], false),
                       index_text_of(p, v->args[1]), space_text(v->args[0]), type_text(p, v->of, false));
    case LOOP_OPAQUE:
        return value_text(p, v->args[0], false);
    default:
        return v->user;
    }
}

/* ---- operations ---- */

/*
 * These are the texts of operations on integers, on floats and on scalars of float64.  $a, $b and $c are the operands, $A and
 * $B the same as signed integers; $t is the result's type, $s that with a sign, $n the number of lanes.
 */
static const struct {
    const char *ints, *floats, *f64;
} forms[LOOP_OP_COUNT] = {
    [LOOP_ADD] = {"$a + $b", "$a + $b", "f64_add($a, $b)"},
    [LOOP_SUB] = {"$a - $b", "$a - $b", "f64_sub($a, $b)"},
    [LOOP_MUL] = {"$a * $b", "$a * $b", "f64_mul($a, $b)"},
    [LOOP_DIV] = {NULL, "$a / $b", "f64_div($a, $b)"},
    [LOOP_SDIV] = {"$A / $B", NULL, NULL},
    [LOOP_UDIV] = {"$a / $b", NULL, NULL},
    [LOOP_UREM] = {"$a % $b", NULL, NULL},
    [LOOP_NEG] = {"-$a", "-$a", "f64_neg($a)"},
    [LOOP_ABS] = {"abs($A)", "fabs($a)", "f64_abs($a)"},
    [LOOP_SMIN] = {"min($A, $B)", NULL, NULL},
    [LOOP_SMAX] = {"max($A, $B)", NULL, NULL},
    [LOOP_UMIN] = {"min($a, $b)", NULL, NULL},
    [LOOP_UMAX] = {"max($a, $b)", NULL, NULL},
    [LOOP_AND] = {"$a & $b", NULL, NULL},
    [LOOP_OR] = {"$a | $b", NULL, NULL},
    [LOOP_XOR] = {"$a ^ $b", NULL, NULL},
    [LOOP_SHL] = {"$a << $b", NULL, NULL},
    [LOOP_LSHR] = {"$a >> $b", NULL, NULL},
    [LOOP_ASHR] = {"$A >> $B", NULL, NULL},
    [LOOP_MINIMUM] = {NULL, "min_v$n($a, $b)", NULL},
    [LOOP_MAXIMUM] = {NULL, "max_v$n($a, $b)", NULL},
    [LOOP_COPY_SIGN] = {NULL, "copysign($a, $b)", "f64_copy_sign($a, $b)"},
    [LOOP_SQRT] = {NULL, "sqrt($a)", "f64_sqrt($a)"},
    [LOOP_FLOOR] = {NULL, "floor($a)", "f64_floor($a)"},
    [LOOP_CEIL] = {NULL, "ceil($a)", "f64_ceil($a)"},
    [LOOP_ROUND_EVEN] = {NULL, "rint($a)", "f64_rint($a)"},
    [LOOP_FMA] = {NULL, "fma($a, $b, $c)", "f64_fma($a, $b, $c)"},
    [LOOP_EQ] = {"$a == $b", "$a == $b", "f64_eq($a, $b)"},
    [LOOP_NE] = {"$a != $b", "$a != $b", "f64_ne($a, $b)"},
    [LOOP_LT] = {"$A < $B", "$a < $b", "f64_lt($a, $b)"},
    [LOOP_LE] = {"$A <= $B", "$a <= $b", "f64_le($a, $b)"},
    [LOOP_GT] = {"$A > $B", "$a > $b", "f64_lt($b, $a)"},
    [LOOP_GE] = {"$A >= $B", "$a >= $b", "f64_le($b, $a)"},
    [LOOP_ULT] = {"$a < $b", NULL, NULL},
    [LOOP_ULE] = {"$a <= $b", NULL, NULL},
    [LOOP_UGE] = {"$a >= $b", NULL, NULL},
    [LOOP_UNORDERED] = {NULL, "$a != $a | $b != $b", "f64_ne($a, $a) | f64_ne($b, $b)"},
    [LOOP_ANY] = {"any($a)", NULL, NULL},
    [LOOP_EXTRACT] = {"$a.s$l", "$a.s$l", "$a.s$l"},
    [LOOP_SELECT] = {"$a ? $b : $c", "$a ? $b : $c", "$a ? $b : $c"},
    [LOOP_FPTRUNC] = {NULL, "convert_$t($a)", "float_of_f64($a)"},
    [LOOP_FROM_F16] = {"from_f16_v$n($a)", NULL, NULL},
    [LOOP_TO_F16] = {NULL, "to_f16_v$n($a)", NULL},
    [LOOP_BITCAST] = {"as_$t($a)", "as_$t($a)", "as_$t($a)"},
    [LOOP_GET] = {"$a", "$a", "$a"},
};

/* Returns the text of a conversion, or NULL for any other operation. */
static const char *conversion_form(const struct loop_value *v, enum loop_element from)
{
    const bool vector = loop_type_lanes(v->type) > 1, is_f64 = !vector && loop_type_element(v->type) == LOOP_F64;

    switch (v->op) {
    case LOOP_TRUNC:
        return loop_type_element(v->type) == LOOP_I1 ? "$a & 1" : vector ? "convert_$t($a)" : "$a";
    case LOOP_ZEXT:
        return !vector ? "$a" : from == LOOP_I1 ? "convert_$t($a & 1)" : "convert_$t($a)";
    case LOOP_SEXT:
        return vector ? "convert_$s($A)" : "$A";
    case LOOP_FPEXT:
        return is_f64 ? "f64_of_float($a)" : "convert_$t($a)";
    case LOOP_SITOFP:
        return is_f64 ? "f64_of_long($A)" : vector && loop_element_bits(from) == 8 ? "convert_$t($A)" : "convert_$t_rte($A)";
    case LOOP_UITOFP: /* bytes become floats without rounding, which PoCL has functions for */
        return is_f64                                   ? "f64_of_ulong($a)"
               : vector && from == LOOP_I1              ? "convert_$t($a & 1)"
               : vector && loop_element_bits(from) == 8 ? "convert_$t($a)"
                                                        : "convert_$t_rte($a)";
    case LOOP_FPTOSI:
        return !vector && from == LOOP_F64 ? "long_of_f64($a)" : vector ? "as_$t(convert_$s_rtz($a))" : "($s)$a";
    case LOOP_FPTOUI:
        return !vector && from == LOOP_F64 ? "ulong_of_f64($a)" : vector ? "convert_$t_rtz($a)" : "$a";
    case LOOP_SPLAT:
        return from == LOOP_I1 ? "($t)(-$a)" : "($t)($a)";
    default:
        return NULL;
    }
}

static void put_form(struct printer *p, const struct loop_value *v, const char *form)
{
    const uint32_t lanes = loop_type_lanes(v->type);

    for (; *form; form++) {
        if (*form != '$')
            fputc(*form, p->out);
        else if (*++form == 'n')
            put(p, "%u", lanes);
        else if (*form == 'l')
            put(p, "%c", lane_names[v->args[1]->bits[0]]);
        else if (*form == 't' || *form == 's')
            put(p, "%s", type_text(p, v->type, *form == 's'));
        else if (*form == 'a' && v->op == LOOP_SELECT && loop_type_lanes(v->args[0]->type) > 1 && loop_type_bits(v->type) != 32)
            put(p, "convert_%s(%s)", type_text(p, type_lanes(type_int(loop_type_bits(v->type)), lanes), true),
                value_text(p, v->args[0], false));
        else if (*form <= 'C')
            put(p, "%s", value_text(p, v->args[*form - 'A'], true));
        else
            put(p, "%s", value_text(p, v->args[*form - 'a'], false));
    }
}

/* ---- memory ---- */

/* Writes the vector of elements at addresses. */
static void put_gather(struct printer *p, const struct loop_value *v)
{
    V address = v->args[0];
    const char *base = value_text(p, address->args[0], false), *index = value_text(p, address->args[1], false);

    for (uint32_t i = 0; i < loop_type_lanes(v->type); i++)
        put(p, "%s(%s)[(int)%s.s%c]", i ? ", " : text_of(p, "(%s)(", type_text(p, v->type, false)), base, index, lane_names[i]);
    put(p, ")");
}

/* Writes the vector of elements of one or two others: clang makes better code of its own function than of a list. */
static void put_shuffle(struct printer *p, const struct loop_value *v)
{
    const char *a = value_text(p, v->args[0], false), *b = value_text(p, v->args[v->arg_count - 1], false), *list = "";
    const uint32_t first = loop_type_lanes(v->args[0]->type);

    put(p, "SHUFFLE(__builtin_shufflevector(%s, %s", a, b);
    for (uint32_t i = 0; i < loop_type_lanes(v->type); i++) {
        const uint32_t from = v->lanes[i] == LOOP_ANY_LANE ? 0 : v->lanes[i];
        put(p, ", %u", from);
        list = text_of(p, "%s%s%s.s%c", list, i ? ", " : "", from < first ? a : b, lane_names[from % first]);
    }
    put(p, "), (%s)(%s))", type_text(p, v->type, false), list);
}

/* Returns the address of a scalar of that type. */
static const char *scalar_address(struct printer *p, V address, loop_type type)
{
    const char *text = value_text(p, address, false);

    return address->op != LOOP_ADDRESS || address->of == type
               ? text
               : text_of(p, "(%s %s *)(%s)", space_text(address), type_text(p, type, false), text);
}

/* Returns whether an access of a vector is aligned as one. */
static bool is_aligned(const struct loop_value *v, loop_type type)
{
    return v->number * 8 >= (int64_t)loop_type_lanes(type) * loop_type_bits(type);
}

static void put_load(struct printer *p, const struct loop_value *v)
{
    const uint32_t lanes = loop_type_lanes(v->type);
    const char *address = value_text(p, v->args[0], false), *space = space_text(v->args[0]);

    if (lanes == 1)
        put(p, "*(%s)", scalar_address(p, v->args[0], v->type));
    else if (is_aligned(v, v->type))
        put(p, "*(%s const %s *)(%s)", space, type_text(p, v->type, false), address);
    else if (!strcmp(space, "__private"))
        put(p, "vload%u(0, %s)", lanes, address);
    else
        put(p, "LOAD_VECTOR(%s, %s, %u, %s)", space, type_text(p, element_type((V)v), false), lanes, address);
}

void put_masked_load(struct printer *p, const struct loop_value *v)
{
    const uint32_t lanes = loop_type_lanes(v->type);
    const char *name = v->user, *type = type_text(p, element_type((V)v), false);
    uint64_t otherwise = 0;

    p->failed |= !loop_is_splat(v->args[2], &otherwise);
    put_line(p, "%s %s;", type_text(p, v->type, false), name);
    put_line(p, "{ const int%u mask = %s;", lanes, value_text(p, v->args[1], false));
    put_line(p, "LANE_LOOP(%u)\nfor (int lane = 0; lane < %u; lane++)", lanes, lanes);
    put_line(p, "((%s *)&%s)[lane] = ((const int *)&mask)[lane] ? (%s)[lane] : %s; }", type, name,
             value_text(p, v->args[0], false), lanes_text(p, element_type((V)v), false, otherwise));
}

void put_store(struct printer *p, V v)
{
    V value = v->args[0], address = v->args[1];
    const uint32_t lanes = loop_type_lanes(value->type);
    const char *what = value_text(p, value, false), *space = space_text(address);

    if (v->op == LOOP_STORE && lanes == 1) {
        put_line(p, "*(%s) = %s;", scalar_address(p, address, value->type), what);
    } else if (v->op == LOOP_STORE && is_aligned(v, value->type)) {
        put_line(p, "*(%s %s *)(%s) = %s;", space, type_text(p, value->type, false), value_text(p, address, false), what);
    } else if (v->op == LOOP_STORE && !strcmp(space, "__private")) {
        put_line(p, "vstore%u(%s, 0, %s);", lanes, what, value_text(p, address, false));
    } else if (v->op == LOOP_STORE) {
        put_line(p, "STORE_VECTOR(%s, %s, %u, %s, %s);", space, type_text(p, element_type(value), false), lanes, what,
                 value_text(p, address, false));
    } else {
        const bool scatters = v->op == LOOP_SCATTER;
        const char *mask = value_text(p, v->args[2], false),
                   *base = value_text(p, scatters ? address->args[0] : address, false),
                   *index = scatters ? value_text(p, address->args[1], false) : NULL;
        uint64_t all;
        for (uint32_t i = 0; i < lanes; i++) {
            if (!loop_is_splat(v->args[2], &all) || !all)
                put(p, "if (%s.s%c) ", mask, lane_names[i]);
            put_line(p, "(%s)[%s] = %s.s%c;", base,
                     scatters ? text_of(p, "(int)%s.s%c", index, lane_names[i]) : text_of(p, "%u", i), what, lane_names[i]);
        }
    }
}

void put_expression(struct printer *p, const struct loop_value *v)
{
    if (v->op == LOOP_LOAD) {
        put_load(p, v);
        return;
    }
    if (v->op == LOOP_GATHER || v->op == LOOP_SHUFFLE) {
        (v->op == LOOP_GATHER ? put_gather : put_shuffle)(p, v);
        return;
    }
    if (guarded_index(v)) {
        put(p, "%s ? (%s)[%s] : %s", value_text(p, v->args[0], false), value_text(p, v->args[1]->args[0]->args[0], false),
            index_text_of(p, guarded_index(v)), value_text(p, v->args[2], false));
        return;
    }
    if (v->op == LOOP_ALIGNED) {
        put(p, "((ulong)(%s) & %" PRId64 ") == 0", value_text(p, v->args[0], false), v->number - 1);
        return;
    }
    if (v->op == LOOP_ITEM || v->op == LOOP_GROUP) {
        put(p, "(%s)%s(%u)", type_text(p, v->type, true), v->op == LOOP_ITEM ? "get_local_id" : "get_group_id",
            (uint32_t)v->number);
        return;
    }
    if (name_kind(v) && v->op == LOOP_SELECT) {
        put_form(p, v, "$a ? $B : $C");
        return;
    }
    const loop_type of = v->arg_count ? v->args[v->op == LOOP_SELECT]->type : v->type;
    const enum loop_element from = loop_type_element(of), to = loop_type_element(v->type);
    const bool vector = loop_type_lanes(v->type) > 1, condition = loop_op_rows[v->op].result == LOOP_RESULT_CONDITION;
    const char *form = conversion_form(v, from);

    if (!form)
        form = !loop_element_is_float(from) ? forms[v->op].ints
               : vector || from == LOOP_F32 ? forms[v->op].floats
                                            : forms[v->op].f64;
    if (!form) {
        p->failed = true; /* codegen/lower makes no such operation for devices */
        return;
    }
    const bool narrow = vector && condition && loop_type_bits(of) != 32 && from != LOOP_I1;
    const bool integer = loop_element_is_int(to) && to != LOOP_I1, wraps = integer && (!vector || strchr(form, 'A'));
    if (narrow || wraps)
        put(p, narrow ? "convert_%s(" : vector ? "as_%s(" : "(%s)(", type_text(p, v->type, false));
    put_form(p, v, form);
    put(p, narrow || wraps ? ")" : "");
}
