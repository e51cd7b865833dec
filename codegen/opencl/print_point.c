/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Prints a point, or as many neighbouring ones as vectors have lanes: phases, loops over the REDUCED variables, stores.
 *
 * The code is straight: it computes the values that do not vary, then phase after phase runs a nest of loops over the REDUCED
 * variables with what varies in it.  Where a work-group shares a row (GPU_ROWS) the loop of each item takes every n-th
 * iteration, and what the items have reduced is combined in local memory.
 */
#include "codegen/opencl/internal.h"

#include <inttypes.h>

/* ---- variables ---- */

void put_size(struct printer *p, uint32_t var)
{
    if (p->k->vars[var].bounded)
        fputs("bound", p->out);
    else
        put_number(p, p->starts.vars[var]);
}

const char *opencl_first_of(const struct printer *p, uint32_t var)
{
    return p->k->vars[var].bounded ? "first" : "0";
}

void put_end(struct printer *p, uint32_t var)
{
    fputs(p->k->vars[var].bounded ? "first + " : "", p->out);
    put_size(p, var);
}

void put_product(struct printer *p, const struct gpu_vars *vars)
{
    if (!vars->count)
        fputc('1', p->out);
    for (uint32_t i = 0; i < vars->count; i++) {
        fputs(i ? " * " : "", p->out);
        put_size(p, vars->vars[i]);
    }
}

void put_decode(struct printer *p, const struct gpu_vars *vars, const char *from, const char *suffix)
{
    for (uint32_t i = vars->count; i-- > 0;) {
        fprintf(p->out, "%*sconst %s x%" PRIu32 "%s = %s%s", (int)p->indent * 2, "", opencl_index_type(p), vars->vars[i],
                suffix, p->k->vars[vars->vars[i]].bounded ? "first + " : "", from);
        for (uint32_t j = i + 1; j < vars->count; j++) {
            fputs(" / ", p->out);
            put_size(p, vars->vars[j]);
        }
        if (i) {
            fputs(" % ", p->out);
            put_size(p, vars->vars[i]);
        }
        fputs(";\n", p->out);
    }
}

/* ---- stores ---- */

/* Stores one element, of a value that is a scalar here. */
static void put_scalar_store(struct printer *p, uint32_t store, const char *value)
{
    const struct kstore *s = &p->k->stores[store];
    const struct ktensor *t = &p->k->tensors[s->tensor];
    const uint32_t start = p->starts.stores[store];

    fprintf(p->out, "%*s", (int)p->indent * 2, "");
    if (s->guard_count) {
        fputs("if (", p->out);
        put_guards(p, start + 1 + s->index.count, s->guard_count, s->guards);
        fputs(") ", p->out);
    }
    if (t->type == WNNOperandDataType_Float16) {
        fprintf(p->out, "vstore_half_rte(%s, ", value);
        put_form(p, start, s->index);
        fputs(", ", p->out);
        put_tensor(p, s->tensor);
        fputs(");\n", p->out);
        return;
    }
    put_tensor(p, s->tensor);
    fputc('[', p->out);
    put_form(p, start, s->index);
    fprintf(p->out, t->type == DTYPE_BFLOAT16 ? "] = to_bf16(%s);\n" : "] = (%s)%s;\n",
            t->type == DTYPE_BFLOAT16 ? value : opencl_storage_type(t->type), value);
}

/* Stores a vector into neighbouring elements. */
static void put_vector_store(struct printer *p, uint32_t store)
{
    const struct kstore *s = &p->k->stores[store];
    const struct ktensor *t = &p->k->tensors[s->tensor];
    const struct operand_text value = operand_of(p, s->expr, true);
    const enum ktype type = p->k->exprs[s->expr].type;
    const uint32_t start = p->starts.stores[store];

    fprintf(p->out, "%*s", (int)p->indent * 2, "");
    if (s->guard_count) {
        fputs("if (", p->out);
        put_guards(p, start + 1 + s->index.count, s->guard_count, s->guards);
        fputs(") ", p->out);
    }
    const bool half = t->type == WNNOperandDataType_Float16;
    const char *stored = half ? "ushort" : opencl_storage_type(t->type);

    const char *space = opencl_space_of(p, s->tensor);

    fprintf(p->out, "STORE_VECTOR(%s, %s, %" PRIu32 ", ", space, stored, p->lanes);
    if (half)
        fprintf(p->out, "to_f16_v(%s)", value.text);
    else if (t->type == DTYPE_BFLOAT16)
        fprintf(p->out, "to_bf16_v(%s)", value.text);
    else
        fprintf(p->out, "convert_%s%" PRIu32 "(%s%s)", stored, p->lanes, value.text, type == KT_BOOL ? " & 1" : "");
    fputs(", ", p->out);
    if (half)
        fprintf(p->out, "(%s ushort *)", space);
    fputc('(', p->out);
    put_tensor(p, s->tensor);
    fputs(") + ", p->out);
    put_form(p, start, s->index);
    fputs(");\n", p->out);
}

/* Stores a vector element by element. */
static void put_scattered_store(struct printer *p, uint32_t store)
{
    const struct kstore *s = &p->k->stores[store];
    const bool vector = has_lanes(p, s->expr);
    struct scope scope;
    char value[32];

    put_line(p, "{");
    p->indent++;
    if (vector)
        put_spill(p, s->expr);
    open_lanes(p, &scope);
    need_form(p, s->index);
    need_guards(p, s->guard_count, s->guards);
    snprintf(value, sizeof value, vector ? "lanes%" PRIu32 "[lane]" : "v%" PRIu32, s->expr);
    put_scalar_store(p, store, value);
    close_lanes(p, &scope);
    p->indent--;
    put_line(p, "}");
}

/* Returns whether a store writes a vector.  float64 has no vectors here: it may be emulated, in a scalar of 64 bits. */
static bool is_vector_store(const struct printer *p, const struct kstore *s)
{
    if (p->k->exprs[s->expr].type == KT_F64)
        return false;
    for (uint32_t g = 0; g < s->guard_count; g++)
        if (form_has_lanes(p, s->guards[g].form, false))
            return false;
    return is_side_by_side(p, s->index);
}

static void put_store(struct printer *p, uint32_t store)
{
    const struct kstore *s = &p->k->stores[store];
    char value[24];

    if (p->lanes == 1 || (!has_lanes(p, s->expr) && !form_has_lanes(p, s->index, false))) {
        snprintf(value, sizeof value, "v%" PRIu32, s->expr);
        put_scalar_store(p, store, value);
    } else if (is_vector_store(p, s)) {
        put_vector_store(p, store);
    } else {
        put_scattered_store(p, store);
    }
}

static void need_store(struct printer *p, const struct kstore *s)
{
    need_expr(p, s->expr);
    if (p->lanes > 1 && !is_vector_store(p, s) && (has_lanes(p, s->expr) || form_has_lanes(p, s->index, false)))
        return; /* its loop over the lanes declares the address */
    need_form(p, s->index);
    need_guards(p, s->guard_count, s->guards);
}

void put_stores(struct printer *p, bool varying, uint32_t phase)
{
    const struct kernel *k = p->k;

    for (uint32_t i = 0; i < k->store_count; i++)
        if (k->stores[i].varying == varying && k->stores[i].phase == phase)
            need_store(p, &k->stores[i]);
    for (uint32_t i = 0; i < k->store_count; i++)
        if (k->stores[i].varying == varying && k->stores[i].phase == phase)
            put_store(p, i);
}

/* ---- phases ---- */

static bool runs_in(const struct kexpr *e, uint32_t phase)
{
    return e->op == K_REDUCE && e->phase == phase;
}

void put_invariants(struct printer *p, uint32_t phase)
{
    for (uint32_t i = 0; i < p->k->expr_count; i++) {
        const struct kexpr *e = &p->k->exprs[i];
        if (!e->varying && e->op != K_REDUCE && e->phase <= phase)
            need_expr(p, i);
    }
}

static void put_iteration(struct printer *p, uint32_t phase)
{
    const struct kernel *k = p->k;

    for (uint32_t i = 0; i < k->expr_count; i++) /* running sums count every iteration */
        if (k->exprs[i].op == K_SCAN && k->exprs[i].phase <= phase)
            need_expr(p, i);
    for (uint32_t i = 0; i < k->expr_count; i++) {
        const struct kexpr *e = &k->exprs[i];
        if (!runs_in(e, phase))
            continue;
        need_expr(p, e->args[0]);
        if (e->reduce == KR_DOT)
            need_expr(p, e->args[1]);
        put_step(p, i, "iteration");
    }
    put_stores(p, true, phase);
}

/* ---- loops ---- */

static void reduced_vars(const struct kernel *k, struct gpu_vars *out)
{
    out->count = k->reduced_count;
    for (uint32_t i = 0; i < k->reduced_count; i++)
        out->vars[i] = k->parallel_count + i;
}

/* Writes the loop over the iterations of one item of a group that shares a row, in blocks whose sums are added up. */
static void put_shared_loop(struct printer *p, uint32_t phase)
{
    const uint32_t step = p->s->local[0];
    const char *type = opencl_index_type(p);
    struct gpu_vars vars;
    struct scope scope;

    reduced_vars(p->k, &vars);
    fprintf(p->out, "%*sconst %s iterations = %s", (int)p->indent * 2, "", type, p->tensor_names ? "!has_point ? 0 : " : "");
    put_product(p, &vars);
    fputs(";\n", p->out);
    put_line(p, "for (%s block = item; block < iterations; block += %u) {", type, SUM_STEPS * step);
    p->indent++;
    put_line(p, "const %s end = min(iterations, block + (%s)%u);", type, type, SUM_STEPS * step);
    put_block(p, phase, true);
    put_line(p, "for (%s iteration = block; iteration < end; iteration += %" PRIu32 ") {", type, step);
    scope_enter(p, &scope);
    put_decode(p, &vars, "iteration", "");
    put_iteration(p, phase);
    scope_leave(p, &scope);
    put_line(p, "}");
    put_block(p, phase, false);
    p->indent--;
    put_line(p, "}");
}

/* Declares the row-major number of an iteration, where a phase asks for it. */
static void put_number_of_iteration(struct printer *p, uint32_t phase)
{
    const struct kernel *k = p->k;
    bool asked = false;

    for (uint32_t i = 0; i < k->expr_count; i++)
        asked |= runs_in(&k->exprs[i], phase) && kexpr_is_place(&k->exprs[i]);
    if (!asked)
        return;
    fprintf(p->out, "%*sconst %s iteration = ", (int)p->indent * 2, "", opencl_index_type(p));
    for (uint32_t i = 1; i < k->reduced_count; i++)
        fputc('(', p->out);
    fprintf(p->out, "x%" PRIu32, k->parallel_count);
    for (uint32_t i = 1; i < k->reduced_count; i++) {
        fputs(") * ", p->out);
        put_size(p, k->parallel_count + i);
        fprintf(p->out, " + x%" PRIu32, k->parallel_count + i);
    }
    fputs(";\n", p->out);
}

static void put_nest(struct printer *p, uint32_t phase, uint32_t level);

/* Writes one loop, of which `head` is the "for". */
static void put_body(struct printer *p, uint32_t phase, uint32_t level)
{
    struct scope scope;

    scope_enter(p, &scope);
    if (level + 1 < p->k->reduced_count) {
        put_nest(p, phase, level + 1);
    } else {
        put_number_of_iteration(p, phase);
        put_iteration(p, phase);
    }
    scope_leave(p, &scope);
    put_line(p, "}");
}

/* Writes the loop over iterations [from, to) of a variable. */
static void put_for(struct printer *p, uint32_t var, const char *from, const char *to, uint32_t step)
{
    fprintf(p->out, "%*sfor (%s x%" PRIu32 " = %s; x%" PRIu32 " < ", (int)p->indent * 2, "", opencl_index_type(p), var, from,
            var);
    if (to)
        fputs(to, p->out);
    else
        put_end(p, var);
    fprintf(p->out, "; x%" PRIu32 " += %" PRIu32 ") {\n", var, step);
}

/* Writes a loop over vectors along the last REDUCED variable, and a scalar one over what is left. */
static void put_lane_loop(struct printer *p, uint32_t phase, uint32_t level, const char *from, const char *to)
{
    const uint32_t var = p->k->parallel_count + level, lanes = p->lanes;
    const bool split = from != NULL;

    if (!split) {
        fprintf(p->out, "%*sconst %s whole = ", (int)p->indent * 2, "", opencl_index_type(p));
        put_size(p, var);
        fprintf(p->out, " / %" PRIu32 " * %" PRIu32 ";\n", lanes, lanes);
    }
    put_for(p, var, split ? from : "0", split ? to : "whole", lanes);
    put_body(p, phase, level);
    if (split || !p->s->lane_tail)
        return;
    p->lanes = 1;
    put_for(p, var, "whole", NULL, 1);
    put_body(p, phase, level);
    p->lanes = lanes;
}

/* Writes the loop at which sums are split: blocks of iterations, whose sums are added up. */
static void put_split_loop(struct printer *p, uint32_t phase, uint32_t level)
{
    const uint32_t var = p->k->parallel_count + level, lanes = p->lanes;
    const bool vectors = lanes > 1 && var == p->s->lane_var;
    const uint32_t step = p->s->sum_steps * (vectors ? lanes : 1);
    const char *type = opencl_index_type(p);

    fprintf(p->out, "%*sconst %s whole = ", (int)p->indent * 2, "", type);
    put_end(p, var);
    if (vectors)
        fprintf(p->out, " / %" PRIu32 " * %" PRIu32, lanes, lanes);
    fputs(";\n", p->out);
    put_line(p, "for (%s block = %s; block < whole; block += %" PRIu32 ") {", type, opencl_first_of(p, var), step);
    p->indent++;
    put_line(p, "const %s end = min(whole, block + (%s)%" PRIu32 ");", type, type, step);
    put_block(p, phase, true);
    if (vectors) {
        put_lane_loop(p, phase, level, "block", "end");
    } else {
        put_for(p, var, "block", "end", 1);
        put_body(p, phase, level);
    }
    put_block(p, phase, false);
    p->indent--;
    put_line(p, "}");
    if (!vectors || !p->s->lane_tail)
        return;
    put_line(p, "{");
    p->indent++;
    p->lanes = 1;
    put_block(p, phase, true);
    put_for(p, var, "whole", NULL, 1);
    put_body(p, phase, level);
    put_block(p, phase, false);
    p->lanes = lanes;
    p->indent--;
    put_line(p, "}");
}

static void put_nest(struct printer *p, uint32_t phase, uint32_t level)
{
    const uint32_t var = p->k->parallel_count + level;

    put_line(p, "{");
    p->indent++;
    if (level == p->s->sum_split) {
        put_split_loop(p, phase, level);
    } else if (p->lanes > 1 && var == p->s->lane_var) {
        put_lane_loop(p, phase, level, NULL, NULL);
    } else {
        put_for(p, var, opencl_first_of(p, var), NULL, 1);
        put_body(p, phase, level);
    }
    p->indent--;
    put_line(p, "}");
}

/* Writes the loops over the REDUCED variables of one phase. */
static void put_loop(struct printer *p, uint32_t phase)
{
    const bool block = p->s->sum_split == KEXPR_NONE; /* one for all iterations */

    put_line(p, "{");
    p->indent++;
    if (p->s->shape == GPU_ROWS) {
        put_shared_loop(p, phase);
    } else {
        if (block)
            put_block(p, phase, true);
        put_nest(p, phase, 0);
        if (block)
            put_block(p, phase, false);
    }
    p->indent--;
    put_line(p, "}");
}

/* ---- a point ---- */

void put_point(struct printer *p)
{
    const struct kernel *k = p->k;
    struct scope scope;

    if (p->s->kept != KEXPR_NONE)
        put_line(p, "float kept[%" PRIu32 "];", p->s->kept_elements);
    for (uint32_t phase = 0; phase < k->phase_count; phase++) {
        p->phase = phase;
        put_invariants(p, phase);
        for (uint32_t i = 0; i < k->expr_count; i++)
            if (runs_in(&k->exprs[i], phase))
                put_initial(p, i);
        put_line(p, "{");
        p->indent++;
        for (uint32_t i = 0; i < k->expr_count; i++)
            if (k->exprs[i].op == K_SCAN && k->exprs[i].phase <= phase)
                put_initial(p, i);
        put_loop(p, phase);
        p->indent--;
        put_line(p, "}");
        for (uint32_t i = 0; i < k->expr_count; i++)
            if (runs_in(&k->exprs[i], phase))
                put_result(p, i);
    }
    put_invariants(p, k->phase_count);
    if (p->s->shape == GPU_ROWS) {
        put_line(p, "if (item == 0%s) {", p->tensor_names ? " && has_point" : "");
        scope_enter(p, &scope);
        put_stores(p, false, k->phase_count);
        scope_leave(p, &scope);
        put_line(p, "}");
    } else {
        put_stores(p, false, k->phase_count);
    }
}

/* Writes the loop over points from `from` on, one by one. */
static void put_points_alone(struct printer *p, const char *from, const char *to)
{
    const uint32_t var = p->s->lane_var, lanes = p->lanes;
    struct scope scope;

    fprintf(p->out, "%*sfor (%s x%" PRIu32 " = %s; x%" PRIu32 " < ", (int)p->indent * 2, "", opencl_index_type(p), var, from,
            var);
    if (to)
        fputs(to, p->out);
    else
        put_size(p, var);
    fprintf(p->out, "; x%" PRIu32 "++) {\n", var);
    scope_enter(p, &scope);
    p->lanes = 1;
    put_point(p);
    p->lanes = lanes;
    scope_leave(p, &scope);
    put_line(p, "}");
}

/* Declares where the vector of a point begins, which ends with the row at the latest. */
static void put_beginning(struct printer *p)
{
    fprintf(p->out, "%*sconst %s begin = ", (int)p->indent * 2, "", opencl_index_type(p));
    if (p->s->lane_repeats) {
        fprintf(p->out, "min(id0, (%s)(", opencl_index_type(p));
        put_size(p, p->s->lane_var);
        fprintf(p->out, " - %" PRIu32 "));\n", p->s->lanes);
    } else {
        fputs("id0;\n", p->out);
    }
}

/* Looks for the nearest place, lane_edge points away at most, where all lanes are inside, and declares how far away it is. */
static void put_search(struct printer *p)
{
    const uint32_t var = p->s->lane_var;
    const char *type = opencl_index_type(p);
    struct scope scope;

    put_line(p, "int inside = 0, shift = 0;");
    put_line(p, "for (int n = 0; n <= %" PRIu32 " && !inside; n++) {", 2 * p->s->lane_edge);
    scope_enter(p, &scope);
    put_line(p, "shift = n %% 2 ? (n + 1) / 2 : -(n / 2);");
    put_line(p, "const %s x%" PRIu32 " = begin + shift;", type, var);
    if (p->s->lane_edge) {
        fprintf(p->out, "%*sif (x%" PRIu32 " < 0 || x%" PRIu32 " > ", (int)p->indent * 2, "", var, var);
        put_size(p, var);
        fprintf(p->out, " - %" PRIu32 ") continue;\n", p->s->lanes);
    }
    put_window_guards(p);
    scope_leave(p, &scope);
    put_line(p, "}");
}

/* Writes the code for vectors whose windows are inside, which are what most of an image consists of. */
static void put_inside(struct printer *p, const char *next)
{
    const uint32_t var = p->s->lane_var, lanes = p->s->lanes;
    struct scope scope;
    char from[64], to[64];

    put_search(p);
    put_line(p, "if (inside) {");
    scope_enter(p, &scope);
    put_line(p, "{ const %s x%" PRIu32 " = begin + shift;", opencl_index_type(p), var);
    p->inside = true;
    put_point(p);
    p->inside = false;
    put_line(p, "}");
    scope_leave(p, &scope);
    scope_enter(p, &scope);
    if (p->s->lane_edge) { /* what the vector has moved away from */
        snprintf(from, sizeof from, "shift > 0 ? begin : begin + shift + %" PRIu32, lanes);
        snprintf(to, sizeof to, "(shift > 0 ? begin + shift : begin + %" PRIu32 ")", lanes);
        put_points_alone(p, from, to);
    }
    put_line(p, "%s", next);
    scope_leave(p, &scope);
    put_line(p, "}");
}

void put_vector_point(struct printer *p, const char *next)
{
    const uint32_t var = p->s->lane_var;
    struct scope scope;

    if (p->s->lane_tail) {
        fprintf(p->out, "%*sif (id0 + %" PRIu32 " > ", (int)p->indent * 2, "", p->s->lanes);
        put_size(p, var);
        fputs(") {\n", p->out);
        scope_enter(p, &scope);
        put_points_alone(p, "id0", NULL);
        put_line(p, "%s", next);
        scope_leave(p, &scope);
        put_line(p, "}");
    }
    put_beginning(p);
    p->lanes = p->s->lanes;
    if (has_windows(p))
        put_inside(p, next);
    put_line(p, "const %s x%" PRIu32 " = begin;", opencl_index_type(p), var);
    put_point(p);
}
