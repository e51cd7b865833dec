/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Prints the loop language in OpenCL C: what codegen/lower makes of items, values, loads and stores, and the functions that
 * operations call.  What nothing needs is left out.
 */
#include "codegen/lower/scalar.h"
#include "codegen/opencl/internal.h"

#include <string.h>

static const char lane_names[] = "0123456789abcdef";

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
        emit_operation(p->m, op, KT_F32, KT_F32, const_zero(p->m, type_f32), const_zero(p->m, type_f32), NULL);
}

static void put_value(struct printer *p, const struct loop_value *v)
{
    if (v->op != LOOP_CALL) {
        put_expression(p, v);
        return;
    }
    if (loop_type_lanes(v->type) > 1 && p->m)
        make_scalar_function(p, v->callee);
    for (uint32_t i = 0; i < v->arg_count; i++)
        put(p, "%s%s", i ? ", " : text_of(p, "%s(", function_name(p, v->callee)), value_text(p, v->args[i], false));
    put(p, ")");
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

/* Forgets the names of values that were printed after one. */
static void forget_printed(struct printer *p, struct printed *last)
{
    for (; p->printed != last; p->printed = p->printed->before)
        p->printed->value->user = NULL;
}

static void put_statement(struct printer *p, V v);

/* Declares what the operands of an operation are computed from. */
static void put_operands(struct printer *p, V v)
{
    for (uint32_t i = 0; i < v->arg_count; i++) {
        V of = i == 1 && guarded_index(v) ? guarded_index(v) : v->args[i];
        if (is_inline(of))
            put_operands(p, of);
        else if (!of->user)
            put_statement(p, of);
    }
}

static void put_region(struct printer *p, const struct loop_region *region)
{
    struct printed *last = p->printed;

    p->depth++;
    put_statements(p, region->first);
    p->depth--;
    forget_printed(p, last);
}

static void put_for(struct printer *p, V v)
{
    const char *type = type_text(p, v->type, true), *name = v->user, *to = index_text_of(p, v->args[1]);
    const bool is_read_later = v->serial & IS_STOPPED, whole = v->number & LOOP_WHOLE_STEPS;

    if (v->number & LOOP_UNROLLED)
        put_line(p, "UNROLLED");
    if (is_read_later) {
        put_line(p, "%s %s = %s;", type, name, index_text_of(p, v->args[0]));
        put(p, "for (");
    } else {
        put(p, "for (%s %s = %s", type, name, index_text_of(p, v->args[0]));
    }
    if (whole)
        put_line(p, "; %s <= %s - %s;) {", name, to, index_text_of(p, v->regions[0].last->args[0]));
    else
        put_line(p, "; %s < %s;) {", name, to);
    put_region(p, &v->regions[0]);
    put_line(p, "}");
}

static void put_if(struct printer *p, V v)
{
    put_line(p, "if (%s) {", value_text(p, v->args[0], false));
    put_region(p, &v->regions[0]);
    if (v->region_count > 1) {
        put_line(p, "} else {");
        put_region(p, &v->regions[1]);
    }
    put_line(p, "}");
}

/* A group of one item needs no barrier, and PoCL 6.0 (LLVM 18) takes loops after a barrier there for endless ones. */
static void put_barrier(struct printer *p)
{
    const uint32_t *local = p->s->local;

    if (local[0] * local[1] * local[2] != 1) /* stages have local tensors in global memory, too */
        put_line(p, "barrier(CLK_LOCAL_MEM_FENCE%s);", p->k->stage_count ? " | CLK_GLOBAL_MEM_FENCE" : "");
}

/* Writes an operation. */
static void put_statement(struct printer *p, V v)
{
    put_operands(p, v);
    if (v->user || (is_inline(v) && v->op != LOOP_ARRAY && v->op != LOOP_GROUP_ARRAY))
        return;
    if (loop_op_rows[v->op].result != LOOP_RESULT_NONE)
        name_value(p, v, v->op == LOOP_STOPPED ? v->args[0]->user : text_of(p, "op%u", p->operations->values++));
    v->serial = (v->serial & ~(uint32_t)NAME_KIND) | (is_index(v) ? INDEX_NAME : UNSIGNED_NAME);
    switch (v->op) {
    case LOOP_SLOT:
        put_line(p, "%s %s;", type_text(p, v->type, false), (const char *)v->user);
        break;
    case LOOP_ARRAY:
    case LOOP_GROUP_ARRAY:
        put_line(p, "%s%s %s[%u];", v->op == LOOP_ARRAY ? "" : "__local ", type_text(p, v->of, false), (const char *)v->user,
                 (uint32_t)v->number * 8 / (loop_type_bits(v->of) * loop_type_lanes(v->of)));
        break;
    case LOOP_SET:
        put_line(p, "%s = %s;", value_text(p, v->args[0], false), value_text(p, v->args[1], false));
        break;
    case LOOP_FOR:
        put_for(p, v);
        break;
    case LOOP_NEXT:
        put_line(p, "%s += %s;", (const char *)v->region->owner->user, index_text_of(p, v->args[0]));
        break;
    case LOOP_STOPPED:
        break;
    case LOOP_SCOPE:
        put_line(p, "{");
        put_region(p, &v->regions[0]);
        put_line(p, "}");
        break;
    case LOOP_IF:
        put_if(p, v);
        break;
    case LOOP_BARRIER:
        put_barrier(p);
        break;
    case LOOP_RETURN:
        put_line(p, "return %s;", value_text(p, v->args[0], false));
        break;
    case LOOP_STORE:
    case LOOP_STORE_MASKED:
    case LOOP_SCATTER:
        put_store(p, v);
        break;
    case LOOP_LOAD_MASKED:
        put_masked_load(p, v);
        break;
    case LOOP_MATRIX_LOAD:
        put_line(p, "uint4 %s;", (const char *)v->user);
        put_line(p, "MATRIX_LOAD%s(%s, %s);", v->number ? "_TRANSPOSED" : "", (const char *)v->user,
                 value_text(p, v->args[0], false));
        break;
    case LOOP_MATRIX_MULTIPLY: {
        const char *b = value_text(p, v->args[2], false);
        put_line(p, "float4 %s = %s;", (const char *)v->user, value_text(p, v->args[0], false));
        put_line(p, "MATRIX_MULTIPLY(%s, %s, %s.s%d, %s.s%d);", (const char *)v->user, value_text(p, v->args[1], false), b,
                 v->number ? 2 : 0, b, v->number ? 3 : 1);
        break;
    }
    default:
        put(p, "const %s %s = ", type_text(p, v->type, name_kind(v)), (const char *)v->user);
        put_value(p, v);
        put_line(p, ";");
    }
}

/* Marks what the effects of an operation and of those before it in its region need. */
static void mark_live(V v)
{
    for (; v; v = v->previous) {
        /* Where an item's next row lies says nothing of the group's. */
        if ((loop_op_rows[v->op].result == LOOP_RESULT_NONE && v->op != LOOP_PREFETCH) || v->op == LOOP_FOR)
            v->serial |= IS_LIVE;
        if (!(v->serial & IS_LIVE))
            continue;
        for (uint32_t i = 0; i < v->region_count; i++)
            mark_live(v->regions[i].last);
        for (uint32_t i = 0; i < v->arg_count; i++)
            (i == 1 && guarded_index(v) ? guarded_index(v) : v->args[i])->serial |= IS_LIVE;
        if (v->op == LOOP_STOPPED)
            v->args[0]->serial |= IS_STOPPED;
    }
}

/* Writes an operation and those after it in its region, but what nothing needs. */
static void put_statements(struct printer *p, V v)
{
    for (; v && !p->failed; v = v->next)
        if (v->serial & IS_LIVE)
            put_statement(p, v);
}

void put_body(struct printer *p, const struct loop_function *f)
{
    mark_live(f->body.last);
    put_statements(p, f->body.first);
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
                               .sums_in_f32 = true,
                               .extremes_by_keys = true,
                               .slow_conversions = true};

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
    put_body(p, f);
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
