/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Prints numbers, affine forms, variables and expressions.  Every value becomes a constant of its own name, x<variable> or
 * v<expression>, declared once in the scope in which it is the same.
 */
#include "codegen/opencl/internal.h"
#include "ir/schedule/dependence.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- the state and its parameters ---- */

bool printer_number(struct printer *p, struct arena *a)
{
    const struct kernel *k = p->k;

    p->expr_known = arena_array(a, k->expr_count + 1, sizeof(bool));
    p->var_known = arena_array(a, k->var_count + 1, sizeof(bool));
    p->expr_lanes = arena_array(a, k->expr_count + 1, sizeof(bool));
    p->var_lanes = arena_array(a, k->var_count + 1, sizeof(bool));
    const uint64_t *exprs = kernel_dependences(k, a);
    if (!p->expr_known || !p->var_known || !p->expr_lanes || !p->var_lanes || !exprs ||
        !kernel_numbers(k, KEXPR_NONE, a, &p->numbers))
        return false;
    p->arena = a;
    p->lanes = 1;
    for (uint32_t i = 0; i < k->expr_count; i++)
        p->expr_lanes[i] = depends_on(exprs[i], p->s->lane_var);
    for (uint32_t i = 0; i < k->var_count; i++)
        p->var_lanes[i] = depends_on(var_dependences(k, exprs, i), p->s->lane_var);
    return true;
}

bool printer_append_params(struct opencl_source *out, const struct knumbers *numbers)
{
    const uint32_t count = out->param_count + numbers->param_count;
    int64_t *params = realloc(out->params, (count + 1) * sizeof *params);

    if (!params)
        return false;
    if (numbers->param_count)
        memcpy(params + out->param_count, numbers->params, numbers->param_count * sizeof *params);
    out->params = params;
    out->param_count = count;
    return true;
}

/* ---- text ---- */

static const char *format_text(struct printer *p, const char *format, va_list args)
{
    va_list again;

    va_copy(again, args);
    const int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = length < 0 ? NULL : arena_alloc(p->arena, (size_t)length + 1);
    p->failed |= !text;
    if (text)
        vsnprintf(text, (size_t)length + 1, format, args);
    return text ? text : "";
}

const char *text_of(struct printer *p, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    const char *text = format_text(p, format, args);
    va_end(args);
    return text;
}

void put(struct printer *p, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vfprintf(p->out, format, args);
    va_end(args);
}

void put_line(struct printer *p, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vfprintf(p->out, format, args);
    va_end(args);
    fputc('\n', p->out);
}

/* A group of one item needs no barrier, and PoCL 6.0 (LLVM 18) takes loops after a barrier there for endless ones. */
void put_barrier(struct printer *p)
{
    const uint32_t *local = p->s->local;

    if (local[0] * local[1] * local[2] != 1)
        put_line(p, "barrier(CLK_LOCAL_MEM_FENCE);");
}

const char *number_text(struct printer *p, uint32_t number)
{
    const struct knumber *n = &p->numbers.items[number];

    if (n->slot >= 0 && !p->literals)
        return text_of(p, "p%u", p->first_param + (uint32_t)n->slot);
    return text_of(p, n->value < 0 ? "(%" PRId64 ")" : "%" PRId64, n->value);
}

/* ---- forms and guards ---- */

static void need_var(struct printer *p, uint32_t var);

void need_form(struct printer *p, struct kaffine form)
{
    for (uint32_t i = 0; i < form.count; i++)
        need_var(p, form.terms[i].var);
}

const char *form_text(struct printer *p, uint32_t start, struct kaffine form)
{
    const char *text = number_text(p, start);

    for (uint32_t i = 0; i < form.count; i++) {
        const struct knumber *c = &p->numbers.items[start + 1 + i];
        if (c->slot < 0 && (c->value == 1 || c->value == -1))
            text = text_of(p, "%s %c x%u", text, c->value == 1 ? '+' : '-', form.terms[i].var);
        else
            text = text_of(p, "%s + %s * x%u", text, number_text(p, start + 1 + i), form.terms[i].var);
    }
    return text_of(p, "(%s)", text);
}

void need_guards(struct printer *p, uint32_t count, const struct kguard *guards)
{
    for (uint32_t i = 0; i < count; i++)
        need_form(p, guards[i].form);
}

const char *guards_text(struct printer *p, uint32_t start, uint32_t count, const struct kguard *guards)
{
    const char *type = p->s->wide ? "ulong" : "uint", *text = ""; /* one comparison: a negative number is large */

    for (uint32_t i = 0; i < count; i++) {
        const uint32_t bound = start + form_numbers(guards[i].form);
        text = text_of(p, "%s%s((%s)%s < (%s)%s)", text, i ? " & " : "", type, form_text(p, start, guards[i].form), type,
                       number_text(p, bound));
        start = bound + 1;
    }
    return text;
}

/* ---- variables ---- */

static void need_var(struct printer *p, uint32_t var)
{
    const struct kvar *v = &p->k->vars[var];
    const uint32_t start = p->numbers.vars[var];

    if (v->kind == KVAR_PARALLEL || v->kind == KVAR_REDUCED || p->var_known[var])
        return;
    if (v->kind == KVAR_DIVMOD) {
        need_form(p, v->base);
        put(p, "const $i x%u = %s", var, form_text(p, start, v->base));
        if (v->divide != 1)
            put(p, " / %" PRId64, v->divide);
        if (v->modulo)
            put(p, " %% %" PRId64, v->modulo);
        put_line(p, ";");
    } else {
        const bool is_u64 = p->k->exprs[v->expr].type == KT_U64;
        need_expr(p, v->expr);
        put_line(p, "const $i x%u = ($i)clamp_index((long)%sv%u%s, %s);", var, is_u64 ? "min(" : "", v->expr,
                 is_u64 ? ", 0x7ffffffffffffffful)" : "", number_text(p, start));
    }
    p->var_known[var] = true;
}

/* ---- tensors ---- */

const char *opencl_storage_type(struct printer *p, dtype t)
{
    return t == WNNOperandDataType_Float16 ? "half" : t == DTYPE_BFLOAT16 ? "ushort" : opencl_value_type(p, ktype_of(t));
}

const char *tensor_text(struct printer *p, uint32_t tensor)
{
    const uint32_t name = p->tensor_names ? p->tensor_names[tensor] : tensor;

    return name < KERNEL_TENSORS_MAX ? text_of(p, "t%u", name) : text_of(p, "local%u", name - KERNEL_TENSORS_MAX);
}

const char *opencl_space_of(const struct printer *p, uint32_t tensor)
{
    const uint32_t name = p->tensor_names ? p->tensor_names[tensor] : tensor;

    return name >= KERNEL_TENSORS_MAX && p->s->locals[name - KERNEL_TENSORS_MAX].in_local_memory ? "__local" : "__global";
}

const char *lanes_suffix(struct printer *p, enum ktype t, uint32_t lanes)
{
    return t == KT_F64 ? "f64" : text_of(p, "v%u", lanes);
}

/* ---- blocks and lanes ---- */

void scope_enter(struct printer *p, struct scope *s)
{
    s->exprs = arena_array(p->arena, (size_t)p->k->expr_count + 1, sizeof(bool));
    s->vars = arena_array(p->arena, (size_t)p->k->var_count + 1, sizeof(bool));
    s->lanes = p->lanes;
    s->lane_by_lane = p->lane_by_lane;
    if (!s->exprs || !s->vars) {
        p->failed = true;
        return;
    }
    memcpy(s->exprs, p->expr_known, p->k->expr_count * sizeof(bool));
    memcpy(s->vars, p->var_known, p->k->var_count * sizeof(bool));
}

void open_scope(struct printer *p, struct scope *s, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vfprintf(p->out, format, args);
    va_end(args);
    fputc('\n', p->out);
    scope_enter(p, s);
}

void scope_leave(struct printer *p, const struct scope *s)
{
    p->lanes = s->lanes;
    p->lane_by_lane = s->lane_by_lane;
    if (p->failed)
        return;
    memcpy(p->expr_known, s->exprs, p->k->expr_count * sizeof(bool));
    memcpy(p->var_known, s->vars, p->k->var_count * sizeof(bool));
}

void close_scope(struct printer *p, const struct scope *s)
{
    put_line(p, "}");
    scope_leave(p, s);
}

bool has_lanes(const struct printer *p, uint32_t expr)
{
    return p->lanes > 1 && p->expr_lanes[expr];
}

const char *operand_of(struct printer *p, uint32_t expr, bool lanes)
{
    const enum ktype type = p->k->exprs[expr].type;

    if (!lanes || has_lanes(p, expr))
        return text_of(p, "v%u", expr);
    return text_of(p, "(%s)(%sv%u)", opencl_lane_type(p, type, p->lanes), type == KT_BOOL ? "-" : "", expr);
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
    put_line(p, "%s lanes%u[%u]; vstore%u(v%u, 0, lanes%u);", opencl_value_type(p, p->k->exprs[expr].type), expr, p->lanes,
             p->lanes, expr, expr);
}

void open_lanes(struct printer *p, struct scope *s)
{
    open_scope(p, s, "for (int lane = 0; lane < %u; lane++) {", p->lanes);
    put_line(p, "const $i lane_at = x%u + lane;", p->s->lane_var);
    put_line(p, "{ const $i x%u = lane_at;", p->s->lane_var);
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

/* Returns a scalar load.  Where a guard fails element 0 is read instead and not used: selecting a value is cheaper than a
 * branch. */
static const char *scalar_load_text(struct printer *p, uint32_t expr, bool guarded)
{
    const struct kexpr *e = &p->k->exprs[expr];
    const dtype t = p->k->tensors[e->tensor].type;
    const char *tensor = tensor_text(p, e->tensor), *index = form_text(p, p->numbers.exprs[expr], e->index), *load;

    if (guarded)
        index = text_of(p, "g%u ? %s : 0", expr, index);
    if (t == WNNOperandDataType_Float16)
        load = text_of(p, "vload_half(%s, %s)", index, tensor);
    else
        load = text_of(p, t == DTYPE_BFLOAT16 ? "from_bf16_v1(%s[%s])" : "%s[%s]", tensor, index);
    return guarded ? text_of(p, "g%u ? %s : %s", expr, load, constant_text(p, e->type, e->bits)) : load;
}

static const char *vector_load_text(struct printer *p, uint32_t expr, uint32_t lanes, int64_t step)
{
    const struct kexpr *e = &p->k->exprs[expr];
    const dtype t = p->k->tensors[e->tensor].type;
    const bool half = t == WNNOperandDataType_Float16;
    const char *space = opencl_space_of(p, e->tensor), *stored = half ? "ushort" : opencl_storage_type(p, t);
    const char *address = text_of(p, "(%s) + %s", tensor_text(p, e->tensor), form_text(p, p->numbers.exprs[expr], e->index));

    if (half)
        address = text_of(p, "(%s const ushort *)%s", space, address);
    if (step > 1)
        address = text_of(p, "LOAD_EVERY_%" PRId64 "_%u(%s, %s, %s)", step, lanes, space, stored, address);
    else
        address = text_of(p, "LOAD_VECTOR(%s, %s, %u, %s)", space, stored, lanes, address);
    return half                  ? text_of(p, "from_f16_v%u(%s)", lanes, address)
           : t == DTYPE_BFLOAT16 ? text_of(p, "from_bf16_v%u(%s)", lanes, address)
                                 : address;
}

void put_loaded_vector(struct printer *p, uint32_t expr, uint32_t lanes, const char *name)
{
    need_form(p, p->k->exprs[expr].index);
    put_line(p, "%s = %s;", name, vector_load_text(p, expr, lanes, 1));
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

static uint32_t guards_of(const struct printer *p, const struct kexpr *e)
{
    return p->inside && has_window_guards(p->k, e) ? 0 : e->guard_count;
}

static void need_load(struct printer *p, uint32_t expr)
{
    const struct kexpr *e = &p->k->exprs[expr];

    need_form(p, e->index);
    if (!guards_of(p, e))
        return;
    need_guards(p, e->guard_count, e->guards);
    put_line(p, "const int g%u = %s;", expr,
             guards_text(p, p->numbers.exprs[expr] + form_numbers(e->index), e->guard_count, e->guards));
}

/* Fills the declared vector v<expr> lane after lane, because vectors do not have the operation, or because its elements are no
 * neighbours. */
static void put_lane_by_lane(struct printer *p, uint32_t expr)
{
    const struct kexpr *e = &p->k->exprs[expr];
    struct scope s;

    put_line(p, "{");
    for (uint32_t i = 0; i < expr; i++)
        if (p->expr_known[i] && p->expr_lanes[i] && p->k->exprs[i].op == K_REDUCE)
            put_spill(p, i);
    put_line(p, "%s all[%u];", opencl_value_type(p, e->type), p->lanes);
    open_lanes(p, &s);
    p->expr_known[expr] = false;
    need_expr(p, expr);
    put_line(p, "all[lane] = %sv%u;", e->type == KT_BOOL ? "-" : "", expr);
    close_lanes(p, &s);
    put_line(p, "v%u = vload%u(0, all);", expr, p->lanes);
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
    const uint32_t var = p->s->lane_var;

    put_line(p, "int g%u_%u; { const $i lane_at = x%u + %u; { const $i x%u = lane_at; g%u_%u = %s; } }", expr, lane, var, lane,
             var, expr, lane, guards_text(p, p->numbers.exprs[expr] + form_numbers(e->index), e->guard_count, e->guards));
}

/* Declares `outside`: no lane passes the guards of a load, because the first and the last one fail one on the same side. */
static void put_outside(struct printer *p, uint32_t expr)
{
    const struct kexpr *e = &p->k->exprs[expr];
    uint32_t start = p->numbers.exprs[expr] + form_numbers(e->index);

    put_line(p, "int outside = 0;");
    for (uint32_t g = 0; g < e->guard_count; g++) {
        const struct kaffine form = e->guards[g].form;

        put(p, "{ const $i first = %s, last = first", form_text(p, start, form));
        for (uint32_t i = 0; i < form.count; i++)
            if (form.terms[i].var == p->s->lane_var)
                put(p, " + %s * %u", number_text(p, start + 1 + i), p->lanes - 1);
        start += form_numbers(form);
        put_line(p, "; outside |= max(first, last) < 0 | min(first, last) >= %s; }", number_text(p, start++));
    }
}

static void put_vector_load(struct printer *p, uint32_t expr)
{
    const struct kexpr *e = &p->k->exprs[expr];
    const char *type = opencl_lane_type(p, e->type, p->lanes);
    const bool guarded = guards_of(p, e) > 0;
    bool differ = false;

    put_line(p, "%s v%u;", type, expr);
    if (!stride_of(p, e->index) || (guarded && !guards_are_straight(p, e))) {
        put_lane_by_lane(p, expr);
        return;
    }
    need_form(p, e->index);
    if (guarded) {
        need_guards(p, e->guard_count, e->guards);
        put_guards_at(p, expr, 0);
        put_guards_at(p, expr, p->lanes - 1);
        put(p, "if (g%u_0 & g%u_%u) ", expr, expr, p->lanes - 1);
    }
    put_line(p, "v%u = %s;", expr, vector_load_text(p, expr, p->lanes, stride_of(p, e->index)));
    if (!guarded)
        return;
    for (uint32_t g = 0; g < e->guard_count; g++)
        differ |= form_has_lanes(p, e->guards[g].form, false);
    put_line(p, differ ? "else {" : "else");
    if (differ) {
        put_outside(p, expr);
        put_line(p, "if (outside)");
    }
    put_line(p, "v%u = (%s)(%s);", expr, type, constant_text(p, e->type, e->bits));
    if (!differ)
        return;
    put_line(p, "else");
    put_lane_by_lane(p, expr);
    put_line(p, "}");
}

void put_accumulate(struct printer *p, uint32_t sum, uint32_t addend)
{
    const enum ktype type = p->k->exprs[sum].type;
    const char *s = text_of(p, "s%u", sum), *x = text_of(p, "v%u", addend);

    if (ktype_is_float(type))
        put_line(p, "add_%s(&%s, &c%u, %s);", lanes_suffix(p, type, 1), s, sum, x);
    else
        put_operation(p, s, 1, K_ADD, type, type, (const char *[]){s, x, NULL});
}

/* Writes a step of the running sum s; c is what rounding has lost of it so far. */
static void put_scan(struct printer *p, uint32_t expr)
{
    const struct kexpr *e = &p->k->exprs[expr];
    const char *type = opencl_value_type(p, e->type);
    const bool exclusive = e->bits.u8;

    if (!exclusive)
        put_accumulate(p, expr, e->args[0]);
    if (ktype_is_float(e->type))
        put_line(p, "const %s v%u = total_%s(s%u, c%u);", type, expr, lanes_suffix(p, e->type, 1), expr, expr);
    else
        put_line(p, "const %s v%u = s%u;", type, expr, expr);
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
 * a float, or KEXPR_NONE.  Where a whole constant is subtracted from it, *less is that.  Appended to the bits of 2^23 the
 * number is a float that is too large by 2^23, which takes no conversion: those are slow on devices.
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
    const char *type = opencl_lane_type(p, KT_F32, lanes);
    int32_t less;
    const uint32_t bits = find_whole(p, expr, &less);

    if (bits == KEXPR_NONE)
        return false;
    need_expr(p, bits);
    put_line(p, "const %s v%u = as_%s(v%u | 0x%xu) - (%s)(%d.0f);", type, expr, type, bits, MANTISSA_BITS, type,
             (1 << 23) + less);
    return true;
}

/* Returns whether an operation is computed for vectors. */
static bool lane_operation_exists(enum kop op, enum ktype type, enum ktype from)
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

static void need_vector(struct printer *p, uint32_t expr)
{
    const struct kexpr *e = &p->k->exprs[expr];
    const char *type = opencl_lane_type(p, e->type, p->lanes);
    const char *args[3];

    if (e->op == K_LOAD) {
        put_vector_load(p, expr);
        return;
    }
    if (!lane_operation_exists(e->op, e->type, operand_type(p, e))) {
        put_line(p, "%s v%u;", type, expr);
        put_lane_by_lane(p, expr);
        return;
    }
    for (uint32_t i = 0; i < kop_arity(e->op); i++) {
        need_expr(p, e->args[i]);
        args[i] = operand_of(p, e->args[i], true);
    }
    put_operation(p, text_of(p, "const %s v%u", type, expr), p->lanes, e->op, e->type, operand_type(p, e), args);
}

/* Stores a value into what the item keeps of its row, if the other phases find it there. */
static void put_kept(struct printer *p, uint32_t expr)
{
    if (expr != p->s->kept || p->phase != p->s->kept_phase)
        return;
    if (has_lanes(p, expr))
        put_line(p, "vstore%u(v%u, 0, kept + x%u);", p->lanes, expr, p->k->parallel_count);
    else
        put_line(p, "kept[x%u] = v%u;", p->k->parallel_count, expr);
}

/* Declares a value that an earlier phase has stored.  Returns false if there is none. */
static bool take_kept(struct printer *p, uint32_t expr)
{
    if (expr != p->s->kept || p->phase <= p->s->kept_phase)
        return false;
    if (has_lanes(p, expr))
        put_line(p, "const float%u v%u = vload%u(0, kept + x%u);", p->lanes, expr, p->lanes, p->k->parallel_count);
    else
        put_line(p, "const float v%u = kept[x%u];", expr, p->k->parallel_count);
    return true;
}

void need_expr(struct printer *p, uint32_t expr)
{
    const struct kexpr *e = &p->k->exprs[expr];
    const char *args[3];

    if (p->expr_known[expr])
        return;
    p->expr_known[expr] = true;
    if (e->op == K_REDUCE && p->lane_by_lane) {
        put_line(p, "const %s v%u = lanes%u[lane];", opencl_value_type(p, e->type), expr, expr);
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
    const char *value = NULL;
    if (e->op == K_LOAD) {
        need_load(p, expr);
        value = scalar_load_text(p, expr, guards_of(p, e) > 0);
    } else if (e->op == K_INDEX) {
        need_form(p, e->index);
        value = text_of(p, "(long)%s", form_text(p, p->numbers.exprs[expr], e->index));
    } else if (e->op == K_CONST) {
        value = constant_text(p, e->type, e->bits);
    }
    const char *target = text_of(p, "const %s v%u", opencl_value_type(p, e->type), expr);
    if (value)
        put_line(p, "%s = %s;", target, value);
    else
        put_operation(p, target, 1, e->op, e->type, operand_type(p, e), args);
    put_kept(p, expr);
}
