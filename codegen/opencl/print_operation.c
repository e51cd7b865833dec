/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Prints operations in OpenCL C: codegen/lower makes operations of the loop language of each, and the functions that they call,
 * and this prints those, an operation as an expression.  It decides nothing but how an operation is written.
 *
 * Integers of the loop language have no sign: they are unsigned here, and an operation says where it takes them otherwise.
 * Conditions are ints, 0 or 1.  Conditions of vectors are vectors of int, 0 or -1; those of elements that have another width
 * are converted where they are made and where they select.
 */
#include "codegen/lower/operation.h"
#include "codegen/opencl/internal.h"

#include <inttypes.h>
#include <string.h>

typedef struct loop_value *V;

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

/* An operand that a kernel's variable is has the signs of its type; all others are unsigned. */
static const char *value_text(struct printer *p, V v, bool is_signed)
{
    const bool is = v->op == LOOP_PARAMETER && v->serial;

    if (v->op == LOOP_CONST)
        return lanes_text(p, v->type, is_signed && loop_type_element(v->type) != LOOP_I1, v->bits[0]);
    return is == is_signed || !loop_element_is_int(loop_type_element(v->type)) || loop_type_element(v->type) == LOOP_I1
               ? v->user
               : reinterpreted(p, v->type, is_signed, v->user);
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

/* Writes an operation as an expression.  A scalar of fewer than 32 bits has the width of an int until it is converted. */
static void put_expression(struct printer *p, const struct loop_value *v)
{
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

static void put_value(struct printer *p, const struct loop_value *v)
{
    if (v->op != LOOP_CALL) {
        put_expression(p, v);
        return;
    }
    for (uint32_t i = 0; i < v->arg_count; i++)
        put(p, "%s%s", i ? ", " : text_of(p, "%s(", function_name(p, v->callee)), value_text(p, v->args[i], false));
    put(p, ")");
}

static void put_statements(struct printer *p, V v, const struct loop_value *end);

/* Writes an operation, whose value gets a name. */
static void put_statement(struct printer *p, V v)
{
    if (v->op == LOOP_PARAMETER) {
        v->user = v->user ? v->user : (void *)text_of(p, "a%u", (uint32_t)v->number);
        return;
    }
    if (loop_op_rows[v->op].result != LOOP_RESULT_NONE)
        v->user = (void *)text_of(p, "op%u", p->operations->values++);
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
        put_statements(p, v->regions[0].first, NULL);
        put_line(p, "}");
        break;
    case LOOP_NEXT:
        put_line(p, "%s += %s;", (const char *)v->region->owner->user, value_text(p, v->args[0], false));
        break;
    case LOOP_IF:
        put_line(p, "if (%s) {", value_text(p, v->args[0], false));
        put_statements(p, v->regions[0].first, NULL);
        put_line(p, "}");
        break;
    case LOOP_RETURN:
        put_line(p, "return %s;", value_text(p, v->args[0], false));
        break;
    default:
        put(p, "const %s %s = ", type_text(p, v->type, false), (const char *)v->user);
        put_value(p, v);
        put_line(p, ";");
    }
}

/* Writes an operation and those after it in its region, up to `end`. */
static void put_statements(struct printer *p, V v, const struct loop_value *end)
{
    for (; v && v != end && !p->failed; v = v->next)
        put_statement(p, v);
}

/* ---- operations of kernels ---- */

/* Vectors of float64 are in elementary functions only, and integers are divided one by one. */
const struct isa opencl_isa = {
    .vector_bits = 128, .fma = true, .f16 = true, .rounding = true, .registers = 32, .wide_division = true, .f64 = true};

/* Makes a function of an operation, whose operands have those texts. */
static V lower_operation(struct printer *p, uint32_t lanes, enum kop op, enum ktype type, enum ktype from,
                         const char *const args[3], struct loop_function **function)
{
    struct loop_module *module = &p->operations->module;
    struct loop_builder b;
    loop_type types[3];
    V v[3] = {NULL};

    for (uint32_t i = 0; i < kop_arity(op); i++)
        types[i] = type_lanes(type_of(i && op == K_SELECT ? type : from), lanes);
    *function = loop_function_add(module, "", types, kop_arity(op), type_lanes(type_of(type), lanes));
    if (!loop_builder_begin(&b, module, *function))
        return NULL;
    for (uint32_t i = 0; i < kop_arity(op); i++) {
        v[i] = loop_parameter(&b, i);
        v[i]->user = (void *)args[i];
        v[i]->serial = ktype_is_signed(i && op == K_SELECT ? type : from);
    }
    V result = emit_operation(&(struct build){&b, &opencl_isa}, op, type, from, v[0], v[1], v[2]);
    return module->failed ? NULL : result;
}

void put_operation(struct printer *p, const char *target, uint32_t lanes, enum kop op, enum ktype type, enum ktype from,
                   const char *const args[3])
{
    struct loop_function *f;
    V result = lower_operation(p, lanes, op, type, from, args, &f);

    if (result && result->op == LOOP_CALL && lanes > 1) { /* devices without float64 call the scalar function */
        struct loop_function *scalar;
        p->failed |= !lower_operation(p, 1, op, type, from, args, &scalar);
    }
    p->failed |= !result;
    if (p->failed)
        return;
    const bool last = result == f->body.last && result->op != LOOP_PARAMETER;
    put_statements(p, f->body.first, last ? result : NULL);
    put(p, "%s = ", target);
    if (!last) {
        put_line(p, "%s;", value_text(p, result, ktype_is_signed(type)));
        return;
    }
    if (ktype_is_signed(type))
        put(p, lanes > 1 ? "as_%s(" : "(%s)(", type_text(p, result->type, true));
    put_value(p, result);
    put_line(p, ktype_is_signed(type) ? ");" : ";");
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
    static const char digits[] = "0123456789abcdef";
    const char *name = function_name(p, f);

    put_function_head(p, f);
    put(p, "return (%s)(", type_text(p, f->result, false));
    for (uint32_t lane = 0; lane < loop_type_lanes(f->result); lane++) {
        put(p, "%s%.*s1(", lane ? ", " : "", (int)(strrchr(name, 'v') + 1 - name), name);
        for (uint32_t i = 0; i < f->param_count; i++)
            put(p, "%sa%u.s%c", i ? ", " : "", i, digits[lane]);
        put(p, ")");
    }
    put_line(p, ");\n}");
}

/* Writes a function once for all kernels of a program.  What computes vectors in float64 does so where the device has it. */
static void put_function(struct printer *p, const struct loop_function *f)
{
    const bool vector = loop_type_lanes(f->result) > 1;
    const char *name = function_name(p, f);

    put_line(p, "#ifndef HAS_%s\n#define HAS_%s%s", name, name, vector ? "\n#ifdef cl_khr_fp64" : "");
    put_function_head(p, f);
    put_statements(p, f->body.first, NULL);
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
