/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Prints the values of a kernel: codegen/lower makes operations of the loop language of loads, indices, guards, expressions and
 * stores, and print_operation.c prints them where they are needed.  What loops around them declare has names: x<variable>, and
 * v<expression> for what several of them use.
 */
#include "codegen/lower/expression.h"
#include "codegen/lower/guard.h"
#include "codegen/lower/memory.h"
#include "codegen/lower/operation.h"
#include "codegen/opencl/internal.h"
#include "ir/schedule/dependence.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- the state and its parameters ---- */

/* Returns how a load's lanes are loaded: where they are a few elements apart, out of that many vectors. */
static void choose_load(const struct printer *p, const uint64_t *exprs, uint32_t expr, struct schedule_expr *by)
{
    const struct kexpr *e = &p->k->exprs[expr];
    const uint32_t var = p->s->lane_var;
    const int64_t step = e->op == K_LOAD && var != KEXPR_NONE ? kaffine_coefficient(e->index, var) : 0;
    bool strided = p->s->strides && step >= 2 && step <= GPU_STRIDE_MAX;

    by->lanes = depends_on(exprs[expr], var);
    by->row_buffer = expr == p->s->kept ? 0 : -1;
    by->phase = p->s->kept_phase;
    strided = strided && !form_derives_along(p->k, exprs, &e->index, var);
    for (uint32_t g = 0; strided && g < e->guard_count; g++) {
        const int64_t by_lane = kaffine_coefficient(e->guards[g].form, var);
        strided = (by_lane == 0 || by_lane == step) && !form_derives_along(p->k, exprs, &e->guards[g].form, var);
    }
    by->load = strided ? LOAD_STRIDED : LOAD_BY_INDEX;
    by->count = (uint32_t)step;
}

/* Makes what codegen/lower asks for of a device's schedule.  Returns NULL if memory runs out. */
static struct schedule *schedule_values(const struct printer *p, const uint64_t *exprs)
{
    const struct kernel *k = p->k;
    struct schedule *s = arena_alloc(p->arena, sizeof *s);

    if (!s)
        return NULL;
    *s = (struct schedule){.kernel = k,
                           .vector_var = p->s->lane_var,
                           .lanes = p->s->lanes,
                           .unroll_from = k->reduced_count,
                           .edges.far_guards = p->s->wide,
                           .transpose.var = KEXPR_NONE,
                           .row_buffers = {.count = 1, .element_bytes = sizeof(float), .lanes = 1},
                           .var_lanes = arena_array(p->arena, (size_t)k->var_count + 1, sizeof(bool)),
                           .exprs = arena_array(p->arena, (size_t)k->expr_count + 1, sizeof *s->exprs)};
    if (!s->var_lanes || !s->exprs)
        return NULL;
    for (uint32_t i = 0; i < k->expr_count; i++)
        choose_load(p, exprs, i, &s->exprs[i]);
    for (uint32_t i = 0; i < k->var_count; i++)
        s->var_lanes[i] = depends_on(var_dependences(k, exprs, i), p->s->lane_var);
    return s;
}

/* Makes everything that is emitted belong to one level, because loops are not emitted: it goes where it is asked for. */
static void flatten_levels(struct emitter *e)
{
    struct analysis *a = &e->info;

    memset(a->var_level, LEVEL_UNIT, sizeof a->var_level);
    memset(a->expr_level, LEVEL_UNIT, e->k->expr_count);
    for (uint32_t i = 0; i < a->form_count; i++)
        a->forms[i].level = LEVEL_UNIT;
    a->inner_level = a->point_level = a->reduced_level = a->vector_level = e->frame.inner_level = LEVEL_UNIT;
    frame_open(&e->frame, LEVEL_UNIT);
}

V named_value(struct printer *p, loop_type type, uint32_t kind, const char *name)
{
    struct loop_value *v = arena_alloc(p->arena, sizeof *v);

    if (v)
        *v = (struct loop_value){.op = LOOP_PARAMETER, .type = type, .serial = kind, .user = (void *)name};
    p->failed |= !v;
    return v;
}

void set_variable(struct printer *p, uint32_t var, const char *name)
{
    p->e->frame.var_value[var] = named_value(p, type_index(&p->e->m), INDEX_NAME, name);
}

bool printer_number(struct printer *p, struct arena *a)
{
    const struct kernel *k = p->k;
    const struct build m = {&p->builder, &opencl_isa, p->s->wide ? 64 : 32};
    struct loop_module *module = &p->operations->module;

    p->arena = a;
    p->lanes = 1;
    const uint64_t *exprs = kernel_dependences(k, a);
    struct schedule *s = exprs ? schedule_values(p, exprs) : NULL;
    p->expr_known = arena_array(a, (size_t)k->expr_count + 1, sizeof(bool));
    p->e = arena_alloc(a, sizeof *p->e);
    if (!s || !p->expr_known || !p->e || !loop_builder_begin(&p->builder, module, loop_function_add(module, "", NULL, 0, 0)))
        return false;
    memset(p->e, 0, sizeof *p->e);
    if (!values_prepare(p->e, &m, s)) {
        arena_free(&p->e->arena);
        return false;
    }
    flatten_levels(p->e);
    for (uint32_t i = 0; i < p->e->info.numbers.count && p->literals; i++)
        p->e->info.numbers.items[i].slot = -1;
    for (uint32_t i = 0; i < k->var_count; i++)
        set_variable(p, i, text_of(p, "x%u", i));
    p->e->args.scratch = named_value(p, type_ptr, UNSIGNED_NAME, "kept");
    return !p->failed;
}

void printer_end(struct printer *p)
{
    if (p->e)
        arena_free(&p->e->arena);
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
    const struct knumber *n = &p->e->info.numbers.items[number];

    if (n->slot >= 0)
        return text_of(p, "p%u", p->first_param + (uint32_t)n->slot);
    return text_of(p, n->value < 0 ? "(%" PRId64 ")" : "%" PRId64, n->value);
}

/* ---- tensors ---- */

const char *opencl_storage_type(struct printer *p, dtype t)
{
    return opencl_element_type(p, storage_type(t));
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

/* ---- blocks ---- */

/* Copies what has been emitted to `saved`, or back. */
static void copy_caches(struct printer *p, struct cached *saved, bool back)
{
    struct caches *c = &p->e->cache;
    const uint32_t exprs = p->k->expr_count;
    const struct {
        struct cached *first;
        uint32_t count, step;
    } parts[] = {{c->forms + LEVEL_UNIT, p->e->info.form_count, LEVELS_MAX},
                 {c->exprs, exprs, COPIES_MAX},
                 {c->splats, exprs, COPIES_MAX},
                 {c->vars, p->k->var_count, COPIES_MAX}};

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        for (uint32_t j = 0; j < parts[i].count; j++, saved++)
            if (back)
                parts[i].first[j * parts[i].step] = *saved;
            else
                *saved = parts[i].first[j * parts[i].step];
}

void scope_enter(struct printer *p, struct scope *s)
{
    const size_t exprs = p->k->expr_count, values = p->e->info.form_count + 2 * exprs + p->k->var_count;

    *s = (struct scope){.exprs = arena_array(p->arena, exprs + 1, sizeof(bool)),
                        .values = arena_array(p->arena, values + 1, sizeof *s->values),
                        .printed = p->printed,
                        .serial = p->e->frame.levels[LEVEL_UNIT].serial,
                        .lanes = p->lanes};
    if (!s->exprs || !s->values) {
        p->failed = true;
        return;
    }
    memcpy(s->exprs, p->expr_known, exprs * sizeof(bool));
    memcpy(s->vars, p->e->frame.var_value, sizeof s->vars);
    copy_caches(p, s->values, false);
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
    forget_printed(p, s->printed);
    if (p->failed)
        return;
    memcpy(p->expr_known, s->exprs, p->k->expr_count * sizeof(bool));
    copy_caches(p, s->values, true);
    memcpy(p->e->frame.var_value, s->vars, sizeof s->vars);
    p->e->frame.levels[LEVEL_UNIT].serial = s->serial;
}

void close_scope(struct printer *p, const struct scope *s)
{
    put_line(p, "}");
    scope_leave(p, s);
}

/* ---- expressions ---- */

bool has_lanes(const struct printer *p, uint32_t expr)
{
    return p->lanes > 1 && p->e->s->exprs[expr].lanes;
}

/* Returns the context of what is computed here, in so many lanes. */
static struct context context_of(const struct printer *p, uint32_t lanes)
{
    const uint32_t var = p->s->lane_var;

    return (struct context){.phase = p->phase,
                            .lanes = lanes,
                            .copies = 1,
                            .vector_base = var == KEXPR_NONE ? NULL : &p->e->frame.var_value[var],
                            .rows_inside = p->inside,
                            .lanes_inside = p->inside};
}

V named_expr(struct printer *p, uint32_t expr, const char *name)
{
    const enum ktype type = p->k->exprs[expr].type;
    const loop_type lanes = type_lanes(type_of(type), has_lanes(p, expr) ? p->lanes : 1);

    return named_value(p, lanes, ktype_is_signed(type) ? SIGNED_NAME : UNSIGNED_NAME, name);
}

void know_value(struct printer *p, uint32_t expr, V value)
{
    p->e->cache.exprs[expr * COPIES_MAX] = (struct cached){value, p->e->frame.levels[LEVEL_UNIT].serial};
}

void know_expr(struct printer *p, uint32_t expr)
{
    p->expr_known[expr] = true;
    know_value(p, expr, named_expr(p, expr, text_of(p, "v%u", expr)));
}

/* Adds v<addend> to the running sum s<sum>.  Of a float, c<sum> keeps what rounding loses. */
static void put_accumulate(struct printer *p, uint32_t sum, uint32_t addend)
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

    need_expr(p, e->args[0]);
    if (!exclusive)
        put_accumulate(p, expr, e->args[0]);
    if (ktype_is_float(e->type))
        put_line(p, "const %s v%u = total_%s(s%u, c%u);", type, expr, lanes_suffix(p, e->type, 1), expr, expr);
    else
        put_line(p, "const %s v%u = s%u;", type, expr, expr);
    if (exclusive)
        put_accumulate(p, expr, e->args[0]);
    know_expr(p, expr);
}

void put_expr(struct printer *p, uint32_t expr, const char *name)
{
    const struct context cx = context_of(p, p->lanes);

    put_declaration(p, expr_value(p->e, &cx, expr), name, ktype_is_signed(p->k->exprs[expr].type));
}

void need_expr(struct printer *p, uint32_t expr)
{
    if (p->expr_known[expr])
        return;
    p->expr_known[expr] = true;
    if (p->k->exprs[expr].op == K_SCAN)
        put_scan(p, expr);
    else
        put_expr(p, expr, text_of(p, "v%u", expr));
}

const char *operand_of(struct printer *p, uint32_t expr, bool lanes)
{
    const struct context cx = context_of(p, p->lanes);
    V value = expr_value_lanes(p->e, &cx, expr, lanes ? p->lanes : 1);

    return text_of_value(p, value, ktype_is_signed(p->k->exprs[expr].type));
}

const char *index_text(struct printer *p, uint32_t load)
{
    const struct context cx = context_of(p, 1);

    return text_of_value(p, form_evaluate(p->e, &cx, p->e->info.expr_form[load]).base, true);
}

const char *iteration_text(struct printer *p)
{
    const struct context cx = context_of(p, p->lanes);

    return text_of_value(p, reduced_index(p->e, &cx), true);
}

const char *guards_text(struct printer *p, uint32_t load)
{
    const struct context cx = context_of(p, 1);
    V holds, lanes;

    guards_value(p->e, &cx, p->e->info.expr_form[load] + 1, p->k->exprs[load].guard_count, LEVEL_UNIT, &holds, &lanes);
    return holds ? text_of_value(p, holds, false) : "1";
}

V loaded_vector(struct printer *p, uint32_t load, uint32_t lanes)
{
    const struct kexpr *x = &p->k->exprs[load];
    const struct context cx = context_of(p, 1);
    const struct build *m = &p->e->m;
    const dtype type = p->k->tensors[x->tensor].type;
    V index = form_evaluate(p->e, &cx, p->e->info.expr_form[load]).base;
    V address = op_address(m, storage_type(type), tensor_pointer(p->e, x->tensor), index);
    V value = op_load(m, type_lanes(storage_type(type), lanes), address, NULL, tensor_alignment(p->e, x->tensor));

    return widen_float(m, value, type);
}

/* ---- windows ---- */

void put_window_guards(struct printer *p)
{
    const struct context cx = context_of(p, p->lanes);
    struct scope scope;
    V rows, lanes;

    scope_enter(p, &scope);
    window_tests(p->e, &cx, &rows, &lanes);
    put_line(p, "inside = %s;", text_of_value(p, guard_and(p->e, rows, lanes), false));
    scope_leave(p, &scope);
}

/* ---- stores ---- */

void put_kept(struct printer *p)
{
    const struct context cx = context_of(p, p->lanes);
    const uint32_t kept = p->s->kept;

    if (kept == KEXPR_NONE || p->phase != p->s->kept_phase)
        return;
    emit_row_buffer_store(p->e, &cx, 0, KT_F32, expr_value(p->e, &cx, kept));
    put_effects(p);
}

/* Declares what a store needs besides its value. */
static void need_address(struct printer *p, const struct context *cx, uint32_t store)
{
    const uint32_t form = p->e->info.store_form[store];
    struct form_value at = form_evaluate(p->e, cx, form);
    V needs[4] = {at.base, at.lanes, NULL, NULL};

    guards_value(p->e, cx, form + 1, p->k->stores[store].guard_count, LEVEL_UNIT, &needs[2], &needs[3]);
    for (uint32_t i = 0; i < 4; i++)
        if (needs[i])
            text_of_value(p, needs[i], false);
}

void put_stores(struct printer *p, bool varying, uint32_t phase)
{
    const struct kernel *k = p->k;
    struct context cx = context_of(p, p->lanes);

    cx.rows_inside = cx.lanes_inside = false; /* a window is of loads */
    for (uint32_t pass = 0; pass < 2; pass++) /* stores may change what is loaded */
        for (uint32_t i = 0; i < k->store_count; i++) {
            const struct kstore *s = &k->stores[i];
            if (s->varying != varying || s->phase != phase)
                continue;
            need_expr(p, s->expr);
            if (pass)
                emit_store(p->e, &cx, i, expr_value(p->e, &cx, s->expr));
            else
                need_address(p, &cx, i);
        }
    put_effects(p);
}
