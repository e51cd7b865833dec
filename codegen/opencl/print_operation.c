/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Prints the loop language in OpenCL C: what codegen/lower makes of values, loads and stores, and the functions that operations
 * call.  A value is written where it is first needed, an effect where it stands.  This decides nothing but how an operation is
 * written.
 *
 * Integers of the loop language have no sign: they are unsigned here, and an operation says where it takes them otherwise.
 * Indices have one, so that compilers know that their sums do not wrap.
 * Conditions are ints, 0 or 1.  Conditions of vectors are vectors of int, 0 or -1; those of elements that have another width
 * are converted where they are made and where they select.
 */
#include "codegen/lower/operation.h"
#include "codegen/opencl/internal.h"

#include <inttypes.h>
#include <string.h>

static const char lane_names[] = "0123456789abcdef";

/* ---- types and constants ---- */

static const char *type_text(struct printer *p, loop_type type, bool is_signed)
{
    static const char *const names[2][LOOP_ELEMENTS] = {{"", "int", "uchar", "ushort", "uint", "ulong", "float", "double"},
                                                        {"", "int", "char", "short", "int", "long", "float", "double"}};
    const enum loop_element element = loop_type_element(type);

    if (loop_type_lanes(type) > 1)
        return text_of(p, "%s%u", names[is_signed][element], loop_type_lanes(type));
    return element == LOOP_F64 ? "f64" : names[is_signed][element];
}

const char *opencl_lane_type(struct printer *p, enum ktype t, uint32_t lanes)
{
    return type_text(p, type_lanes(type_of(t), lanes), ktype_is_signed(t));
}

const char *opencl_value_type(struct printer *p, enum ktype t)
{
    return opencl_lane_type(p, t, 1);
}

const char *opencl_element_type(struct printer *p, loop_type type)
{
    return type_text(p, type, false);
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

const char *constant_text(struct printer *p, enum ktype type, union scalar bits)
{
    const uint64_t number = type == KT_BOOL         ? bits.u8 != 0
                            : ktype_size(type) == 1 ? bits.u8
                            : ktype_size(type) == 4 ? bits.u32
                                                    : bits.u64;

    return lanes_text(p, type_of(type), ktype_is_signed(type), number);
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

/* Returns whether a value is an index: a scalar that is computed of indices, which no operation takes out of its type. */
static bool is_index(const struct loop_value *v)
{
    const bool computed = is_sum(v) || v->op == LOOP_UDIV || v->op == LOOP_UREM || v->op == LOOP_NEG || v->op == LOOP_SMIN ||
                          v->op == LOOP_SMAX || v->op == LOOP_SELECT;

    if (!computed || loop_type_lanes(v->type) > 1 || !loop_element_is_int(loop_type_element(v->type)))
        return v->op == LOOP_NUMBER || v->serial == INDEX_NAME;
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

/* Returns the index that a scalar is loaded from where a guard holds, if v is that element there, else a constant: a load in a
 * branch is cheaper on processors than one of element 0.  Else returns NULL. */
static V guarded_index(const struct loop_value *v)
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

static const char *value_text(struct printer *p, V v, bool is_signed);

static const char *index_text_of(struct printer *p, V v)
{
    int64_t value;

    if (!is_int_constant(v, &value))
        return value_text(p, v, true);
    return text_of(p, value < 0 ? "(%" PRId64 ")" : "%" PRId64, value);
}

/* A name has the signs of what it was declared as: integers of the kernel's variables, numbers, and what is computed of them
 * alone; all others are unsigned. */
static const char *value_text(struct printer *p, V v, bool is_signed)
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
    const bool is = v->op == LOOP_NUMBER || v->serial;
    const char *name = v->op == LOOP_NUMBER ? text_of(p, "p%u", p->first_param + (uint32_t)v->number) : v->user;
    if (v->op == LOOP_PARAMETER && !name)
        name = text_of(p, "a%u", (uint32_t)v->number);
    return is == is_signed || !loop_element_is_int(loop_type_element(v->type)) || loop_type_element(v->type) == LOOP_I1
               ? name
               : reinterpreted(p, v->type, is_signed, name);
}

static const char *address_text(struct printer *p, V v)
{
    switch (v->op) {
    case LOOP_TENSOR:
        return tensor_text(p, (uint32_t)v->number);
    case LOOP_ADDRESS:
        return text_of(p, "%s + %s", value_text(p, v->args[0], false), index_text_of(p, v->args[1]));
    case LOOP_OPAQUE:
        return value_text(p, v->args[0], false);
    default:
        return v->user;
    }
}

/* Returns the address space that an address lies in. */
static const char *space_text(const struct printer *p, V v)
{
    while (v->op == LOOP_ADDRESS || v->op == LOOP_OPAQUE)
        v = v->args[0];
    return v->op == LOOP_TENSOR ? opencl_space_of(p, (uint32_t)v->number) : "__private";
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
    [LOOP_SQRT] = {NULL, "sqrt($a)", NULL},
    [LOOP_FLOOR] = {NULL, "floor($a)", NULL},
    [LOOP_CEIL] = {NULL, "ceil($a)", NULL},
    [LOOP_ROUND_EVEN] = {NULL, "rint($a)", NULL},
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

static void put_load(struct printer *p, const struct loop_value *v)
{
    const uint32_t lanes = loop_type_lanes(v->type);
    const char *address = value_text(p, v->args[0], false), *space = space_text(p, v->args[0]);

    if (lanes == 1)
        put(p, "*(%s)", address);
    else if (!strcmp(space, "__private"))
        put(p, "vload%u(0, %s)", lanes, address);
    else
        put(p, "LOAD_VECTOR(%s, %s, %u, %s)", space, type_text(p, element_type((V)v), false), lanes, address);
}

/* Declares the elements whose lanes of the mask hold, else a constant: a loop of which clang makes a masked load. */
static void put_masked_load(struct printer *p, const struct loop_value *v)
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

static void put_store(struct printer *p, V v)
{
    V value = v->args[0], address = v->args[1];
    const uint32_t lanes = loop_type_lanes(value->type);
    const char *what = value_text(p, value, false), *space = space_text(p, address);

    if (v->op == LOOP_STORE && lanes == 1) {
        put_line(p, "*(%s) = %s;", value_text(p, address, false), what);
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

/* Writes an operation as an expression.  A scalar of fewer than 32 bits has the width of an int until it is converted. */
static void put_expression(struct printer *p, const struct loop_value *v)
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
    if (v->serial && v->op == LOOP_SELECT) {
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

/* ---- statements ---- */

static const char *function_name(struct printer *p, const struct loop_function *f)
{
    char *name = arena_string(p->arena, f->name, strlen(f->name));

    for (char *c = name; c && *c; c++)
        *c = *c == '.' ? '_' : *c;
    p->failed |= !name;
    return name ? name : "";
}

/* Makes the function of scalars that devices without float64 call for each lane of a function of vectors. */
static void make_scalar_function(struct printer *p, const struct loop_function *f)
{
    const char *end = strrchr(f->name, '.');
    enum kop op = 0;

    while (op < K_OP_COUNT && (strncmp(kop_name(op), f->name, (size_t)(end - f->name)) || kop_name(op)[end - f->name]))
        op++;
    if (op < K_OP_COUNT)
        emit_operation(&p->e->m, op, KT_F32, KT_F32, const_zero(&p->e->m, type_f32), const_zero(&p->e->m, type_f32), NULL);
}

static void put_value(struct printer *p, const struct loop_value *v)
{
    if (v->op != LOOP_CALL) {
        put_expression(p, v);
        return;
    }
    if (loop_type_lanes(v->type) > 1 && p->e)
        make_scalar_function(p, v->callee);
    for (uint32_t i = 0; i < v->arg_count; i++)
        put(p, "%s%s", i ? ", " : text_of(p, "%s(", function_name(p, v->callee)), value_text(p, v->args[i], false));
    put(p, ")");
}

/* Returns whether an operation is written where it stands, whatever reads it. */
static bool has_effect(const struct loop_value *v)
{
    return loop_op_rows[v->op].result == LOOP_RESULT_NONE || v->op == LOOP_SLOT || v->op == LOOP_GET || v->op == LOOP_FOR;
}

static void put_statements(struct printer *p, V v);

/* Remembers that a value's name is declared here. */
static void name_value(struct printer *p, V v, const char *name)
{
    struct printed *printed = arena_alloc(p->arena, sizeof *printed);

    v->user = (void *)name;
    p->failed |= !printed;
    if (!printed)
        return;
    *printed = (struct printed){v, p->printed};
    p->printed = printed;
}

void forget_printed(struct printer *p, struct printed *last)
{
    for (; p->printed != last; p->printed = p->printed->before)
        p->printed->value->user = NULL;
}

/* Returns whether a value is written where it is used instead of having a name. */
static bool is_inline(const struct loop_value *v)
{
    return v->op == LOOP_CONST || v->op == LOOP_NUMBER || v->op == LOOP_PARAMETER || is_index_sum(v) ||
           loop_type_element(v->type) == LOOP_PTR;
}

static void put_statement(struct printer *p, V v, const char *name);

/* Declares what the operands of an operation are computed from. */
static void put_operands(struct printer *p, V v)
{
    for (uint32_t i = 0; i < v->arg_count; i++) {
        V of = i == 1 && guarded_index(v) ? guarded_index(v) : v->args[i];
        if (is_inline(of))
            put_operands(p, of);
        else if (!of->user)
            put_statement(p, of, NULL);
    }
}

static void put_region(struct printer *p, const struct loop_region *region)
{
    struct printed *last = p->printed;

    put_statements(p, region->first);
    forget_printed(p, last);
}

/* Writes an operation, whose value gets that name, or a new one (NULL). */
static void put_statement(struct printer *p, V v, const char *name)
{
    put_operands(p, v);
    if (is_inline(v) || v->user)
        return;
    if (loop_op_rows[v->op].result != LOOP_RESULT_NONE)
        name_value(p, v, name ? name : text_of(p, "op%u", p->operations->values++));
    v->serial = is_index(v) ? INDEX_NAME : UNSIGNED_NAME;
    switch (v->op) {
    case LOOP_SLOT:
        put_line(p, "%s %s;", type_text(p, v->type, false), (const char *)v->user);
        break;
    case LOOP_SET:
        put_line(p, "%s = %s;", value_text(p, v->args[0], false), value_text(p, v->args[1], false));
        break;
    case LOOP_FOR:
        put_line(p, "%s %s = %s;", type_text(p, v->type, false), (const char *)v->user, value_text(p, v->args[0], false));
        put_line(p, "while (%s < %s) {", reinterpreted(p, v->type, true, v->user), value_text(p, v->args[1], true));
        put_region(p, &v->regions[0]);
        put_line(p, "}");
        break;
    case LOOP_NEXT:
        put_line(p, "%s += %s;", (const char *)v->region->owner->user, value_text(p, v->args[0], false));
        break;
    case LOOP_IF:
        put_line(p, "if (%s) {", value_text(p, v->args[0], false));
        put_region(p, &v->regions[0]);
        if (v->region_count > 1) {
            put_line(p, "} else {");
            put_region(p, &v->regions[1]);
        }
        put_line(p, "}");
        break;
    case LOOP_RETURN:
        put_line(p, "return %s;", value_text(p, v->args[0], false));
        break;
    case LOOP_PREFETCH: /* where an item's next row lies says nothing of the group's */
        break;
    case LOOP_STORE:
    case LOOP_STORE_MASKED:
    case LOOP_SCATTER:
        put_store(p, v);
        break;
    case LOOP_LOAD_MASKED:
        put_masked_load(p, v);
        break;
    default:
        put(p, "const %s %s = ", type_text(p, v->type, v->serial), (const char *)v->user);
        put_value(p, v);
        put_line(p, ";");
    }
}

/* Writes the effects of an operation and of those after it in its region, with what they depend on. */
static void put_statements(struct printer *p, V v)
{
    for (; v && !p->failed; v = v->next)
        if (has_effect(v))
            put_statement(p, v, NULL);
}

/* ---- values where they are needed ---- */

void put_effects(struct printer *p)
{
    struct loop_region *body = &p->builder.function->body;

    put_statements(p, p->effects ? p->effects->next : body->first);
    p->effects = body->last;
}

const char *text_of_value(struct printer *p, V v, bool is_signed)
{
    put_effects(p);
    if (is_inline(v))
        put_operands(p, v);
    else if (!v->user)
        put_statement(p, v, NULL);
    return value_text(p, v, is_signed);
}

void put_declaration(struct printer *p, V v, const char *name, bool is_signed)
{
    put_effects(p);
    if (!is_inline(v) && !v->user && !is_signed) {
        put_statement(p, v, name);
        return;
    }
    const char *value = text_of_value(p, v, is_signed);
    put_line(p, "const %s %s = %s;", type_text(p, v->type, is_signed), name, value);
}

/* ---- operations of kernels ---- */

/* Vectors of float64 are in elementary functions only, and integers are divided one by one. */
const struct isa opencl_isa = {.vector_bits = 128,
                               .fma = true,
                               .f16 = true,
                               .rounding = true,
                               .registers = 32,
                               .wide_division = true,
                               .f64 = true,
                               .address_spaces = true,
                               .slow_conversions = true};

void put_operation(struct printer *p, const char *target, uint32_t lanes, enum kop op, enum ktype type, enum ktype from,
                   const char *const args[3])
{
    V v[3] = {NULL};

    for (uint32_t i = 0; i < kop_arity(op); i++) {
        const enum ktype of = i && op == K_SELECT ? type : from;
        v[i] = named_value(p, type_lanes(type_of(of), lanes), ktype_is_signed(of) ? SIGNED_NAME : UNSIGNED_NAME, args[i]);
    }
    V result = emit_operation(&p->e->m, op, type, from, v[0], v[1], v[2]);
    put_effects(p);
    if (is_inline(result) || result->user || ktype_is_signed(type)) {
        put_line(p, "%s = %s;", target, text_of_value(p, result, ktype_is_signed(type)));
        return;
    }
    put_operands(p, result);
    put(p, "%s = ", target);
    put_value(p, result);
    put_line(p, ";");
}

/* ---- functions ---- */

static void put_function_head(struct printer *p, const struct loop_function *f)
{
    put(p, "static %s %s(", type_text(p, f->result, false), function_name(p, f));
    for (uint32_t i = 0; i < f->param_count; i++)
        put(p, "%sconst %s a%u", i ? ", " : "", type_text(p, f->params[i], false), i);
    put_line(p, ") {");
}

/* Writes a function of vectors as calls of the scalar one, lane by lane. */
static void put_by_lanes(struct printer *p, const struct loop_function *f)
{
    const char *name = function_name(p, f);

    put_function_head(p, f);
    put(p, "return (%s)(", type_text(p, f->result, false));
    for (uint32_t lane = 0; lane < loop_type_lanes(f->result); lane++) {
        put(p, "%s%.*s1(", lane ? ", " : "", (int)(strrchr(name, 'v') + 1 - name), name);
        for (uint32_t i = 0; i < f->param_count; i++)
            put(p, "%sa%u.s%c", i ? ", " : "", i, lane_names[lane]);
        put(p, ")");
    }
    put_line(p, ");\n}");
}

/* Writes a function once for all kernels of a program.  What computes vectors in float64 does so where the device has it. */
static void put_function(struct printer *p, const struct loop_function *f)
{
    const bool vector = loop_type_lanes(f->result) > 1 && loop_type_element(f->result) == LOOP_F32;
    const char *name = function_name(p, f);

    put_line(p, "#ifndef HAS_%s\n#define HAS_%s%s", name, name, vector ? "\n#ifdef cl_khr_fp64" : "");
    put_function_head(p, f);
    put_statements(p, f->body.first);
    put_line(p, "}");
    if (vector) {
        put_line(p, "#else");
        put_by_lanes(p, f);
        put_line(p, "#endif");
    }
    put_line(p, "#endif");
}

void put_functions(struct printer *p)
{
    for (int vectors = 0; vectors < 2; vectors++)
        for (const struct loop_function *f = p->operations->module.first; f; f = f->next)
            if (f->internal && (loop_type_lanes(f->result) > 1) == vectors)
                put_function(p, f);
}
