/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Prints numbers, affine forms, variables and expressions.  Every value becomes a constant of its own name, x<variable> or
 * v<expression>, declared once in the scope in which it is the same.
 */
#include "codegen/opencl/internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers ---- */

const char *opencl_index_type(const struct printer *p)
{
    return p->s->wide ? "long" : "int";
}

void put_line(struct printer *p, const char *format, ...)
{
    va_list args;

    fprintf(p->out, "%*s", (int)p->indent * 2, "");
    va_start(args, format);
    vfprintf(p->out, format, args);
    va_end(args);
    fputc('\n', p->out);
}

void put_number(struct printer *p, uint32_t number)
{
    const struct knumber *n = &p->numbers.items[number];

    if (n->slot >= 0 && !p->literals)
        fprintf(p->out, "p%" PRIu32, p->first_param + (uint32_t)n->slot);
    else
        fprintf(p->out, n->value < 0 ? "(%" PRId64 ")" : "%" PRId64, n->value);
}

/* ---- forms and guards ---- */

static void need_var(struct printer *p, uint32_t var);

void need_form(struct printer *p, struct kaffine form)
{
    for (uint32_t i = 0; i < form.count; i++)
        need_var(p, form.terms[i].var);
}

void put_form(struct printer *p, uint32_t start, struct kaffine form)
{
    const struct knumber *numbers = &p->numbers.items[start];

    fputc('(', p->out);
    if (!form.count || numbers[0].slot >= 0 || numbers[0].value)
        put_number(p, start);
    else
        fputc('0', p->out);
    for (uint32_t i = 0; i < form.count; i++) {
        const struct knumber *c = &numbers[1 + i];
        if (c->slot < 0 && (c->value == 1 || c->value == -1)) {
            fprintf(p->out, " %c x%" PRIu32, c->value == 1 ? '+' : '-', form.terms[i].var);
            continue;
        }
        fputs(" + ", p->out);
        put_number(p, start + 1 + i);
        fprintf(p->out, " * x%" PRIu32, form.terms[i].var);
    }
    fputc(')', p->out);
}

void need_guards(struct printer *p, uint32_t count, const struct kguard *guards)
{
    for (uint32_t i = 0; i < count; i++)
        need_form(p, guards[i].form);
}

void put_guards(struct printer *p, uint32_t start, uint32_t count, const struct kguard *guards)
{
    const char *type = p->s->wide ? "ulong" : "uint"; /* one comparison: what is negative is large */

    for (uint32_t i = 0; i < count; i++) {
        fprintf(p->out, "%s((%s)", i ? " & " : "", type);
        put_form(p, start, guards[i].form);
        fprintf(p->out, " < (%s)", type);
        start += form_numbers(guards[i].form);
        put_number(p, start++);
        fputc(')', p->out);
    }
}

/* ---- variables ---- */

static void need_var(struct printer *p, uint32_t var)
{
    const struct kvar *v = &p->k->vars[var];
    const uint32_t start = p->starts.vars[var];

    if (v->kind == KVAR_PARALLEL || v->kind == KVAR_REDUCED || p->var_known[var])
        return;
    if (v->kind == KVAR_DIVMOD) {
        need_form(p, v->base);
        fprintf(p->out, "%*sconst %s x%" PRIu32 " = ", (int)p->indent * 2, "", opencl_index_type(p), var);
        put_form(p, start, v->base);
        if (v->divide != 1)
            fprintf(p->out, " / %" PRId64, v->divide);
        if (v->modulo)
            fprintf(p->out, " %% %" PRId64, v->modulo);
        fputs(";\n", p->out);
    } else {
        need_expr(p, v->expr);
        fprintf(p->out, "%*sconst %s x%" PRIu32 " = (%s)clamp_index(", (int)p->indent * 2, "", opencl_index_type(p), var,
                opencl_index_type(p));
        if (p->k->exprs[v->expr].type == KT_U64)
            fprintf(p->out, "(long)min(v%" PRIu32 ", 0x7ffffffffffffffful), ", v->expr);
        else
            fprintf(p->out, "(long)v%" PRIu32 ", ", v->expr);
        put_number(p, start);
        fputs(");\n", p->out);
    }
    p->var_known[var] = true;
}

/* ---- tensors ---- */

const char *opencl_storage_type(dtype t)
{
    switch ((unsigned)t) {
    case WNNOperandDataType_Float32:
        return "float";
    case WNNOperandDataType_Float16:
        return "half";
    case DTYPE_BFLOAT16:
        return "ushort";
    case DTYPE_FLOAT64:
        return "f64";
    case WNNOperandDataType_Int32:
        return "int";
    case WNNOperandDataType_Uint32:
        return "uint";
    case WNNOperandDataType_Int64:
        return "long";
    case WNNOperandDataType_Uint64:
        return "ulong";
    case WNNOperandDataType_Int8:
        return "char";
    default:
        return "uchar";
    }
}

const char *opencl_value_type(enum ktype t)
{
    static const char *const names[KT_COUNT] = {
        [KT_BOOL] = "int", [KT_F32] = "float", [KT_F64] = "f64",  [KT_I8] = "char",  [KT_U8] = "uchar",
        [KT_I32] = "int",  [KT_U32] = "uint",  [KT_I64] = "long", [KT_U64] = "ulong"};

    return names[t];
}

void put_tensor(struct printer *p, uint32_t tensor)
{
    const uint32_t name = p->tensor_names ? p->tensor_names[tensor] : tensor;

    if (name < KERNEL_TENSORS_MAX)
        fprintf(p->out, "t%" PRIu32, name);
    else
        fprintf(p->out, "local%" PRIu32, name - KERNEL_TENSORS_MAX);
}

const char *opencl_space_of(const struct printer *p, uint32_t tensor)
{
    const uint32_t name = p->tensor_names ? p->tensor_names[tensor] : tensor;

    return name >= KERNEL_TENSORS_MAX && p->s->locals[name - KERNEL_TENSORS_MAX].in_local_memory ? "__local" : "__global";
}

/* ---- blocks and lanes ---- */

void scope_enter(struct printer *p, struct scope *s)
{
    s->exprs = arena_array(p->arena, (size_t)p->k->expr_count + 1, sizeof(bool));
    s->vars = arena_array(p->arena, (size_t)p->k->var_count + 1, sizeof(bool));
    s->lanes = p->lanes;
    s->lane_by_lane = p->lane_by_lane;
    p->indent++;
    if (!s->exprs || !s->vars) {
        p->failed = true;
        return;
    }
    memcpy(s->exprs, p->expr_known, p->k->expr_count * sizeof(bool));
    memcpy(s->vars, p->var_known, p->k->var_count * sizeof(bool));
}

void scope_leave(struct printer *p, const struct scope *s)
{
    p->indent--;
    p->lanes = s->lanes;
    p->lane_by_lane = s->lane_by_lane;
    if (p->failed)
        return;
    memcpy(p->expr_known, s->exprs, p->k->expr_count * sizeof(bool));
    memcpy(p->var_known, s->vars, p->k->var_count * sizeof(bool));
}

bool has_lanes(const struct printer *p, uint32_t expr)
{
    return p->lanes > 1 && p->expr_lanes[expr];
}

struct operand_text operand_of(const struct printer *p, uint32_t expr, bool lanes)
{
    struct operand_text text;
    const enum ktype type = p->k->exprs[expr].type;

    if (lanes && !has_lanes(p, expr))
        snprintf(text.text, sizeof text.text, "(%s)(%sv%" PRIu32 ")", opencl_lane_type(type, p->lanes).text,
                 type == KT_BOOL ? "-" : "", expr);
    else
        snprintf(text.text, sizeof text.text, "v%" PRIu32, expr);
    return text;
}

bool form_has_lanes(const struct printer *p, struct kaffine form, bool derived)
{
    for (uint32_t i = 0; i < form.count; i++)
        if (p->var_lanes[form.terms[i].var] && (!derived || form.terms[i].var != p->s->lane_var))
            return true;
    return false;
}

bool is_side_by_side(const struct printer *p, struct kaffine form)
{
    return !form_has_lanes(p, form, true) && kaffine_coefficient(form, p->s->lane_var) == 1;
}

void put_spill(struct printer *p, uint32_t expr)
{
    put_line(p, "%s lanes%" PRIu32 "[%" PRIu32 "]; vstore%" PRIu32 "(v%" PRIu32 ", 0, lanes%" PRIu32 ");",
             opencl_value_type(p->k->exprs[expr].type), expr, p->lanes, p->lanes, expr, expr);
}

void open_lanes(struct printer *p, struct scope *s)
{
    const char *type = opencl_index_type(p);

    put_line(p, "for (int lane = 0; lane < %" PRIu32 "; lane++) {", p->lanes);
    scope_enter(p, s);
    put_line(p, "const %s lane_at = x%" PRIu32 " + lane;", type, p->s->lane_var);
    put_line(p, "{ const %s x%" PRIu32 " = lane_at;", type, p->s->lane_var);
    p->lanes = 1;
    p->lane_by_lane = true;
    for (uint32_t i = 0; i < p->k->expr_count; i++)
        p->expr_known[i] = p->expr_known[i] && !p->expr_lanes[i];
    for (uint32_t i = 0; i < p->k->var_count; i++)
        p->var_known[i] = p->var_known[i] && !p->var_lanes[i];
}

void close_lanes(struct printer *p, const struct scope *s)
{
    scope_leave(p, s);
    put_line(p, "} }");
}

/* ---- expressions ---- */

/* Returns how many elements lie from one lane's to the next one's, if a vector of them can be loaded, or 0. */
static int64_t stride_of(const struct printer *p, struct kaffine form)
{
    const int64_t step = kaffine_coefficient(form, p->s->lane_var);

    return form_has_lanes(p, form, true) || step < 1 || step > (p->s->strides ? GPU_STRIDE_MAX : 1) ? 0 : step;
}

/* Writes a load, with the address between its beginning and its end; with lanes 1 it is a scalar one. */
static void put_load_at(struct printer *p, const struct kexpr *e, uint32_t start, uint32_t lanes, int64_t step, bool guarded)
{
    const dtype t = p->k->tensors[e->tensor].type;
    const bool half = t == WNNOperandDataType_Float16, bfloat = t == DTYPE_BFLOAT16;

    if (lanes > 1) {
        const char *space = opencl_space_of(p, e->tensor), *stored = half ? "ushort" : opencl_storage_type(t);
        fputs(half ? "from_f16_v(" : bfloat ? "from_bf16_v(" : "", p->out);
        if (step > 1)
            fprintf(p->out, "LOAD_EVERY_%" PRId64 "_%" PRIu32 "(%s, %s, ", step, lanes, space, stored);
        else
            fprintf(p->out, "LOAD_VECTOR(%s, %s, %" PRIu32 ", ", space, stored, lanes);
        if (half)
            fprintf(p->out, "(%s const ushort *)", space);
        fputc('(', p->out);
        put_tensor(p, e->tensor);
        fputs(") + ", p->out);
        put_form(p, start, e->index);
        fputs(half || bfloat ? "))" : ")", p->out);
        return;
    }
    if (half)
        fputs("vload_half(", p->out);
    else if (bfloat)
        fputs("from_bf16(", p->out);
    if (!half) {
        put_tensor(p, e->tensor);
        fputc('[', p->out);
    }
    if (guarded)
        fprintf(p->out, "g%" PRIu32 " ? ", (uint32_t)(e - p->k->exprs));
    put_form(p, start, e->index);
    if (guarded)
        fputs(" : 0", p->out);
    if (half) {
        fputs(", ", p->out);
        put_tensor(p, e->tensor);
        fputc(')', p->out);
    } else {
        fputs(bfloat ? "])" : "]", p->out);
    }
}

void put_loaded_vector(struct printer *p, uint32_t expr, uint32_t lanes, const char *name, uint32_t number)
{
    const struct kexpr *e = &p->k->exprs[expr];

    need_form(p, e->index);
    fprintf(p->out, "%*s%s%" PRIu32 " = ", (int)p->indent * 2, "", name, number);
    put_load_at(p, e, p->starts.exprs[expr], lanes, 1, false);
    fputs(";\n", p->out);
}

static bool is_plain(const struct kernel *k, struct kaffine form)
{
    for (uint32_t i = 0; i < form.count; i++)
        if (k->vars[form.terms[i].var].kind != KVAR_PARALLEL && k->vars[form.terms[i].var].kind != KVAR_REDUCED)
            return false;
    return true;
}

bool has_window_guards(const struct kernel *k, const struct kexpr *e)
{
    for (uint32_t g = 0; g < e->guard_count; g++)
        if (!is_plain(k, e->guards[g].form))
            return false;
    return e->guard_count > 0;
}

/* Returns how many guards of a load are still to be tested. */
static uint32_t guards_of(const struct printer *p, const struct kexpr *e)
{
    return p->inside && has_window_guards(p->k, e) ? 0 : e->guard_count;
}

/* Writes a scalar load.  Where a guard fails element 0 is read instead and not used: selecting a value is cheaper than a
 * branch. */
static void put_load(struct printer *p, uint32_t expr)
{
    const struct kexpr *e = &p->k->exprs[expr];
    const bool guarded = guards_of(p, e) > 0;

    if (guarded)
        fprintf(p->out, "g%" PRIu32 " ? ", expr);
    put_load_at(p, e, p->starts.exprs[expr], 1, 1, guarded);
    if (guarded) {
        fputs(" : ", p->out);
        put_constant(p->out, e->type, e->bits);
    }
}

static void need_load(struct printer *p, uint32_t expr)
{
    const struct kexpr *e = &p->k->exprs[expr];

    need_form(p, e->index);
    if (!guards_of(p, e))
        return;
    need_guards(p, e->guard_count, e->guards);
    fprintf(p->out, "%*sconst int g%" PRIu32 " = ", (int)p->indent * 2, "", expr);
    put_guards(p, p->starts.exprs[expr] + form_numbers(e->index), e->guard_count, e->guards);
    fputs(";\n", p->out);
}

/* Fills the declared vector v<expr> lane after lane, because vectors do not have the operation, or because its elements are no
 * neighbours. */
static void put_lane_by_lane(struct printer *p, uint32_t expr)
{
    const struct kexpr *e = &p->k->exprs[expr];
    struct scope s;

    put_line(p, "{");
    p->indent++;
    for (uint32_t i = 0; i < expr; i++)
        if (p->expr_known[i] && p->expr_lanes[i] && p->k->exprs[i].op == K_REDUCE)
            put_spill(p, i);
    put_line(p, "%s all[%" PRIu32 "];", opencl_value_type(e->type), p->lanes);
    open_lanes(p, &s);
    p->expr_known[expr] = false;
    need_expr(p, expr);
    put_line(p, "all[lane] = %sv%" PRIu32 ";", e->type == KT_BOOL ? "-" : "", expr);
    close_lanes(p, &s);
    put_line(p, "v%" PRIu32 " = vload%" PRIu32 "(0, all);", expr, p->lanes);
    p->indent--;
    put_line(p, "}");
}

/* Returns whether all lanes pass the guards if the first and the last do. */
static bool guards_are_straight(const struct printer *p, const struct kexpr *e)
{
    for (uint32_t g = 0; g < e->guard_count; g++)
        if (form_has_lanes(p, e->guards[g].form, true))
            return false;
    return true;
}

/* Declares whether the lane that is so many lanes further on passes the guards. */
static void put_guards_at(struct printer *p, uint32_t expr, uint32_t lane)
{
    const struct kexpr *e = &p->k->exprs[expr];
    const char *type = opencl_index_type(p);

    fprintf(p->out,
            "%*sint g%" PRIu32 "_%" PRIu32 "; { const %s lane_at = x%" PRIu32 " + %" PRIu32 "; { const %s x%" PRIu32
            " = lane_at; g%" PRIu32 "_%" PRIu32 " = ",
            (int)p->indent * 2, "", expr, lane, type, p->s->lane_var, lane, type, p->s->lane_var, expr, lane);
    put_guards(p, p->starts.exprs[expr] + form_numbers(e->index), e->guard_count, e->guards);
    fputs("; } }\n", p->out);
}

/* Declares `outside`: no lane passes the guards of a load, because the first and the last one fail one on the same side. */
static void put_outside(struct printer *p, uint32_t expr)
{
    const struct kexpr *e = &p->k->exprs[expr];
    const char *type = opencl_index_type(p);
    uint32_t start = p->starts.exprs[expr] + form_numbers(e->index);

    put_line(p, "int outside = 0;");
    for (uint32_t g = 0; g < e->guard_count; g++) {
        const struct kaffine form = e->guards[g].form;

        fprintf(p->out, "%*s{ const %s first = ", (int)p->indent * 2, "", type);
        put_form(p, start, form);
        fprintf(p->out, ", last = first");
        for (uint32_t i = 0; i < form.count; i++)
            if (form.terms[i].var == p->s->lane_var) {
                fputs(" + ", p->out);
                put_number(p, start + 1 + i);
                fprintf(p->out, " * %" PRIu32, p->lanes - 1);
            }
        fputs("; outside |= max(first, last) < 0 | min(first, last) >= ", p->out);
        start += form_numbers(form);
        put_number(p, start++);
        fputs("; }\n", p->out);
    }
}

/* Declares a vector and loads it. */
static void put_vector_load(struct printer *p, uint32_t expr)
{
    const struct kexpr *e = &p->k->exprs[expr];
    const struct type_text type = opencl_lane_type(e->type, p->lanes);
    const bool guarded = guards_of(p, e) > 0;
    bool differ = false;

    put_line(p, "%s v%" PRIu32 ";", type.text, expr);
    if (!stride_of(p, e->index) || (guarded && !guards_are_straight(p, e))) {
        put_lane_by_lane(p, expr);
        return;
    }
    need_form(p, e->index);
    if (guarded) {
        need_guards(p, e->guard_count, e->guards);
        put_guards_at(p, expr, 0);
        put_guards_at(p, expr, p->lanes - 1);
        fprintf(p->out, "%*sif (g%" PRIu32 "_0 & g%" PRIu32 "_%" PRIu32 ") ", (int)p->indent * 2, "", expr, expr, p->lanes - 1);
    } else {
        fprintf(p->out, "%*s", (int)p->indent * 2, "");
    }
    fprintf(p->out, "v%" PRIu32 " = ", expr);
    put_load_at(p, e, p->starts.exprs[expr], p->lanes, stride_of(p, e->index), false);
    fputs(";\n", p->out);
    if (!guarded)
        return;
    for (uint32_t g = 0; g < e->guard_count; g++)
        differ |= form_has_lanes(p, e->guards[g].form, false);
    if (differ) {
        put_line(p, "else {");
        p->indent++;
        put_outside(p, expr);
        fprintf(p->out, "%*sif (outside) ", (int)p->indent * 2, "");
    } else {
        fprintf(p->out, "%*selse ", (int)p->indent * 2, "");
    }
    fprintf(p->out, "v%" PRIu32 " = (%s)(", expr, type.text);
    put_constant(p->out, e->type, e->bits);
    fputs(");\n", p->out);
    if (!differ)
        return;
    put_line(p, "else");
    put_lane_by_lane(p, expr);
    p->indent--;
    put_line(p, "}");
}

void put_accumulate(struct printer *p, uint32_t sum, uint32_t addend)
{
    const enum ktype type = p->k->exprs[sum].type;
    const char *t = opencl_value_type(type);

    if (ktype_is_float(type))
        put_line(p, "add_%s(&s%" PRIu32 ", &c%" PRIu32 ", v%" PRIu32 ");", t, sum, sum, addend);
    else
        put_line(p, "s%" PRIu32 " = (%s)((ulong)s%" PRIu32 " + (ulong)v%" PRIu32 ");", sum, t, sum, addend);
}

/* Writes a step of the running sum s; c is what rounding has lost of it so far. */
static void put_scan(struct printer *p, uint32_t expr)
{
    const struct kexpr *e = &p->k->exprs[expr];
    const char *type = opencl_value_type(e->type);
    const bool exclusive = e->bits.u8;

    if (!exclusive)
        put_accumulate(p, expr, e->args[0]);
    if (ktype_is_float(e->type))
        put_line(p, "const %s v%" PRIu32 " = total_%s(s%" PRIu32 ", c%" PRIu32 ");", type, expr, type, expr, expr);
    else
        put_line(p, "const %s v%" PRIu32 " = s%" PRIu32 ";", type, expr, expr);
    if (exclusive)
        put_accumulate(p, expr, e->args[0]);
}

static enum ktype operand_type(const struct printer *p, const struct kexpr *e)
{
    return e->args[0] == KEXPR_NONE ? e->type : p->k->exprs[e->args[0]].type;
}

/* ---- small whole numbers ---- */

enum { MANTISSA_BITS = 0x4b000000 /* of 2^23, whose last bits count ones */ };

static bool is_mantissa(const struct kexpr *e)
{
    return e->op == K_CONST && (e->type == KT_U32 || e->type == KT_I32) && e->bits.u32 < 1 << 23;
}

/*
 * Returns the expression whose bits are a whole number below 2^23, as those of weights of 4 bits are, if expr is that number as
 * a float, or KEXPR_NONE.  Where a whole constant is subtracted from it, *less is that.  Put behind the bits of 2^23 the number
 * is a float that is too large by 2^23, which takes no conversion: those are slow on devices.
 */
static uint32_t find_whole(const struct printer *p, uint32_t expr, int32_t *less)
{
    const struct kexpr *exprs = p->k->exprs, *e = &exprs[expr];

    *less = 0;
    if (e->op == K_SUB && e->type == KT_F32 && exprs[e->args[1]].op == K_CONST) {
        const float c = exprs[e->args[1]].bits.f32;
        if (!(c >= -(1 << 22) && c <= 1 << 22) || c != (float)(int32_t)c)
            return KEXPR_NONE;
        *less = (int32_t)c;
        e = &exprs[e->args[0]];
    }
    if (e->op != K_CAST || e->type != KT_F32 || exprs[e->args[0]].op != K_AND)
        return KEXPR_NONE;
    const struct kexpr *bits = &exprs[e->args[0]];
    if (bits->type != KT_U32 || (!is_mantissa(&exprs[bits->args[0]]) && !is_mantissa(&exprs[bits->args[1]])))
        return KEXPR_NONE;
    return e->args[0];
}

/* Declares such a number.  Returns false if expr is none. */
static bool put_whole(struct printer *p, uint32_t expr)
{
    const uint32_t lanes = has_lanes(p, expr) ? p->lanes : 1;
    const struct type_text type = opencl_lane_type(KT_F32, lanes);
    int32_t less;
    const uint32_t bits = find_whole(p, expr, &less);

    if (bits == KEXPR_NONE)
        return false;
    need_expr(p, bits);
    put_line(p, "const %s v%" PRIu32 " = as_%s(v%" PRIu32 " | 0x%xu) - (%s)(%" PRId32 ".0f);", type.text, expr, type.text, bits,
             MANTISSA_BITS, type.text, (1 << 23) + less);
    return true;
}

/* Declares an expression's value as a vector. */
static void need_vector(struct printer *p, uint32_t expr)
{
    const struct kexpr *e = &p->k->exprs[expr];
    const struct type_text type = opencl_lane_type(e->type, p->lanes);
    struct operand_text args[3];

    if (e->op == K_LOAD) {
        put_vector_load(p, expr);
        return;
    }
    if (!lane_operation_exists(e->op, e->type, operand_type(p, e))) {
        put_line(p, "%s v%" PRIu32 ";", type.text, expr);
        put_lane_by_lane(p, expr);
        return;
    }
    for (uint32_t i = 0; i < kop_arity(e->op); i++) {
        need_expr(p, e->args[i]);
        args[i] = operand_of(p, e->args[i], true);
    }
    fprintf(p->out, "%*sconst %s v%" PRIu32 " = ", (int)p->indent * 2, "", type.text, expr);
    put_operation(p->out, p->lanes, e->op, e->type, operand_type(p, e), args);
    fputs(";\n", p->out);
}

/* Stores a value into what the item keeps of its row, if the other phases find it there. */
static void put_kept(struct printer *p, uint32_t expr)
{
    if (expr != p->s->kept || p->phase != p->s->kept_phase)
        return;
    if (has_lanes(p, expr))
        put_line(p, "vstore%" PRIu32 "(v%" PRIu32 ", 0, kept + x%" PRIu32 ");", p->lanes, expr, p->k->parallel_count);
    else
        put_line(p, "kept[x%" PRIu32 "] = v%" PRIu32 ";", p->k->parallel_count, expr);
}

/* Declares a value that an earlier phase has stored.  Returns false if there is none. */
static bool take_kept(struct printer *p, uint32_t expr)
{
    if (expr != p->s->kept || p->phase <= p->s->kept_phase)
        return false;
    if (has_lanes(p, expr))
        put_line(p, "const float%" PRIu32 " v%" PRIu32 " = vload%" PRIu32 "(0, kept + x%" PRIu32 ");", p->lanes, expr, p->lanes,
                 p->k->parallel_count);
    else
        put_line(p, "const float v%" PRIu32 " = kept[x%" PRIu32 "];", expr, p->k->parallel_count);
    return true;
}

void need_expr(struct printer *p, uint32_t expr)
{
    const struct kexpr *e = &p->k->exprs[expr];
    struct operand_text args[3];

    if (p->expr_known[expr])
        return;
    p->expr_known[expr] = true;
    if (e->op == K_REDUCE && p->lane_by_lane) {
        put_line(p, "const %s v%" PRIu32 " = lanes%" PRIu32 "[lane];", opencl_value_type(e->type), expr, expr);
        return;
    }
    if (take_kept(p, expr))
        return;
    if (put_whole(p, expr)) {
        put_kept(p, expr);
        return;
    }
    if (has_lanes(p, expr)) {
        need_vector(p, expr);
        put_kept(p, expr);
        return;
    }
    for (uint32_t i = 0; e->op != K_REDUCE && i < kop_arity(e->op); i++) {
        need_expr(p, e->args[i]);
        args[i] = operand_of(p, e->args[i], false);
    }
    if (e->op == K_SCAN) {
        put_scan(p, expr);
        return;
    }
    if (e->op == K_LOAD)
        need_load(p, expr);
    if (e->op == K_INDEX)
        need_form(p, e->index);
    fprintf(p->out, "%*sconst %s v%" PRIu32 " = ", (int)p->indent * 2, "", opencl_value_type(e->type), expr);
    if (e->op == K_CONST) {
        put_constant(p->out, e->type, e->bits);
    } else if (e->op == K_LOAD) {
        put_load(p, expr);
    } else if (e->op == K_INDEX) {
        fputs("(long)", p->out);
        put_form(p, p->starts.exprs[expr], e->index);
    } else {
        put_operation(p->out, 1, e->op, e->type, operand_type(p, e), args);
    }
    fputs(";\n", p->out);
    put_kept(p, expr);
}
