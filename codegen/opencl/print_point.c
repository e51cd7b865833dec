/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Prints a point, or as many neighbouring ones as vectors have lanes: phases, loops over the REDUCED variables, stores.
 *
 * The code is straight: it computes the values that do not vary, then phase after phase runs a nest of loops over the REDUCED
 * variables with what varies in it.  Where a work-group shares a row (GPU_ROWS) the loop of each item takes every n-th
 * iteration, and what the items have reduced is combined in local memory.
 */
#include "codegen/lower/guard.h"
#include "codegen/opencl/internal.h"

/* ---- variables ---- */

const char *size_text(struct printer *p, uint32_t var)
{
    return p->k->vars[var].bounded ? "bound" : number_text(p, p->e->info.numbers.vars[var]);
}

static const char *first_text(const struct printer *p, uint32_t var)
{
    return p->k->vars[var].bounded ? "first" : "0";
}

static const char *end_text(struct printer *p, uint32_t var)
{
    return p->k->vars[var].bounded ? "first + bound" : size_text(p, var);
}

const char *product_text(struct printer *p, const struct gpu_vars *vars)
{
    const char *text = vars->count ? size_text(p, vars->vars[0]) : "1";

    for (uint32_t i = 1; i < vars->count; i++)
        text = text_of(p, "%s * %s", text, size_text(p, vars->vars[i]));
    return text;
}

void put_decode(struct printer *p, const struct gpu_vars *vars, const char *from, const char *suffix)
{
    for (uint32_t i = vars->count; i-- > 0;) {
        const uint32_t var = vars->vars[i];

        put(p, "const $i x%u%s = %s%s", var, suffix, p->k->vars[var].bounded ? "first + " : "", from);
        for (uint32_t j = i + 1; j < vars->count; j++)
            put(p, " / %s", size_text(p, vars->vars[j]));
        put_line(p, "%s;", i ? text_of(p, " %% %s", size_text(p, var)) : "");
    }
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
    for (uint32_t i = 0; i < k->expr_count; i++)
        if (runs_in(&k->exprs[i], phase))
            put_step(p, i);
    put_kept(p);
    put_stores(p, true, phase);
}

/* ---- loops ---- */

/* Writes the loop over the iterations of one item of a group that shares a row, in blocks whose sums are added up. */
static void put_shared_loop(struct printer *p, uint32_t phase)
{
    const uint32_t step = p->s->local[0];
    const struct gpu_vars vars = gpu_reduced_vars(p->k);
    struct scope scope;

    put_line(p, "const $i iterations = %s%s;", p->tensor_names ? "!has_point ? 0 : " : "", product_text(p, &vars));
    put_line(p, "for ($i block = item; block < iterations; block += %u) {", SUM_STEPS * step);
    put_line(p, "const $i end = min(iterations, block + ($i)%u);", SUM_STEPS * step);
    put_block(p, phase, true);
    open_scope(p, &scope, "for ($i iteration = block; iteration < end; iteration += %u) {", step);
    put_decode(p, &vars, "iteration", "");
    put_iteration(p, phase);
    close_scope(p, &scope);
    put_block(p, phase, false);
    put_line(p, "}");
}

static void put_nest(struct printer *p, uint32_t phase, uint32_t level);

/* Writes a loop over iterations [from, to) of a REDUCED variable, with everything in it. */
static void put_loop(struct printer *p, uint32_t phase, uint32_t level, const char *from, const char *to, uint32_t step)
{
    const uint32_t var = p->k->parallel_count + level;
    struct scope scope;

    open_scope(p, &scope, "for ($i x%u = %s; x%u < %s; x%u += %u) {", var, from, var, to, var, step);
    if (level + 1 < p->k->reduced_count)
        put_nest(p, phase, level + 1);
    else
        put_iteration(p, phase);
    close_scope(p, &scope);
}

/* Writes the loops from a level on.  Along the lane variable there is one over vectors and a scalar one over the rest.  Where
 * sums are split a loop consists of blocks of iterations, whose sums are added up. */
static void put_nest(struct printer *p, uint32_t phase, uint32_t level)
{
    const uint32_t var = p->k->parallel_count + level, lanes = p->lanes;
    const bool split = level == p->s->sum_split, vectors = lanes > 1 && var == p->s->lane_var;
    const uint32_t step = vectors ? lanes : 1, block = p->s->sum_steps * step;
    const char *first = first_text(p, var), *end = end_text(p, var);

    put_line(p, "{");
    if (split || vectors)
        put_line(p, "const $i whole = %s%s;", end, vectors ? text_of(p, " / %u * %u", lanes, lanes) : "");
    if (split) {
        put_line(p, "for ($i block = %s; block < whole; block += %u) {", first, block);
        put_line(p, "const $i end = min(whole, block + ($i)%u);", block);
        put_block(p, phase, true);
        put_loop(p, phase, level, "block", "end", step);
        put_block(p, phase, false);
        put_line(p, "}");
    } else {
        put_loop(p, phase, level, first, vectors ? "whole" : end, step);
    }
    if (vectors && p->s->lane_tail) {
        p->lanes = 1;
        put_line(p, split ? "{" : "");
        if (split)
            put_block(p, phase, true);
        put_loop(p, phase, level, "whole", end, 1);
        if (split)
            put_block(p, phase, false);
        put_line(p, split ? "}" : "");
        p->lanes = lanes;
    }
    put_line(p, "}");
}

static void put_phase(struct printer *p, uint32_t phase)
{
    const bool block = p->s->sum_split == KEXPR_NONE; /* one for all iterations */

    put_line(p, "{");
    if (p->s->shape == GPU_ROWS) {
        put_shared_loop(p, phase);
    } else {
        if (block)
            put_block(p, phase, true);
        put_nest(p, phase, 0);
        if (block)
            put_block(p, phase, false);
    }
    put_line(p, "}");
}

/* ---- a point ---- */

void put_point(struct printer *p)
{
    const struct kernel *k = p->k;
    struct scope scope;

    if (p->s->kept != KEXPR_NONE)
        put_line(p, "float kept[%u];", p->s->kept_elements);
    for (uint32_t phase = 0; phase < k->phase_count; phase++) {
        p->phase = phase;
        put_invariants(p, phase);
        for (uint32_t i = 0; i < k->expr_count; i++)
            if (runs_in(&k->exprs[i], phase))
                put_initial(p, i);
        put_line(p, "{");
        for (uint32_t i = 0; i < k->expr_count; i++)
            if (k->exprs[i].op == K_SCAN && k->exprs[i].phase <= phase)
                put_initial(p, i);
        put_phase(p, phase);
        put_line(p, "}");
        for (uint32_t i = 0; i < k->expr_count; i++)
            if (runs_in(&k->exprs[i], phase))
                put_result(p, i);
    }
    put_invariants(p, k->phase_count);
    if (p->s->shape == GPU_ROWS) {
        open_scope(p, &scope, "if (item == 0%s) {", p->tensor_names ? " && has_point" : "");
        put_stores(p, false, k->phase_count);
        close_scope(p, &scope);
    } else {
        put_stores(p, false, k->phase_count);
    }
}

static void put_points_alone(struct printer *p, const char *from, const char *to)
{
    const uint32_t var = p->s->lane_var, lanes = p->lanes;
    struct scope scope;

    open_scope(p, &scope, "for ($i x%u = %s; x%u < %s; x%u++) {", var, from, var, to, var);
    p->lanes = 1;
    put_point(p);
    p->lanes = lanes;
    close_scope(p, &scope);
}

/* Looks for the nearest place, lane_edge points away at most, where all lanes are inside, and declares how far away it is. */
static void put_search(struct printer *p)
{
    const uint32_t var = p->s->lane_var;
    struct scope scope;

    put_line(p, "int inside = 0, shift = 0;");
    open_scope(p, &scope, "for (int n = 0; n <= %u && !inside; n++) {", 2 * p->s->lane_edge);
    put_line(p, "shift = n %% 2 ? (n + 1) / 2 : -(n / 2);");
    put_line(p, "const $i x%u = begin + shift;", var);
    if (p->s->lane_edge)
        put_line(p, "if (x%u < 0 || x%u > %s - %u) continue;", var, var, size_text(p, var), p->s->lanes);
    put_window_guards(p);
    close_scope(p, &scope);
}

/* Writes the code for vectors whose windows are inside, which are what most of an image consists of. */
static void put_inside(struct printer *p, const char *next)
{
    const uint32_t var = p->s->lane_var, lanes = p->s->lanes;
    struct scope scope;

    put_search(p);
    open_scope(p, &scope, "if (inside) {");
    put_line(p, "{ const $i x%u = begin + shift;", var);
    p->inside = true;
    put_point(p);
    p->inside = false;
    put_line(p, "}");
    scope_leave(p, &scope);
    scope_enter(p, &scope);
    if (p->s->lane_edge) /* what the vector has moved away from */
        put_points_alone(p, text_of(p, "shift > 0 ? begin : begin + shift + %u", lanes),
                         text_of(p, "(shift > 0 ? begin + shift : begin + %u)", lanes));
    put_line(p, "%s", next);
    close_scope(p, &scope);
}

void put_vector_point(struct printer *p, const char *next)
{
    const uint32_t var = p->s->lane_var;
    struct scope scope;

    if (p->s->lane_tail) {
        open_scope(p, &scope, "if (id0 + %u > %s) {", p->s->lanes, size_text(p, var));
        put_points_alone(p, "id0", size_text(p, var));
        put_line(p, "%s", next);
        close_scope(p, &scope);
    }
    if (p->s->lane_repeats) /* the vector ends with the row at the latest */
        put_line(p, "const $i begin = min(id0, ($i)(%s - %u));", size_text(p, var), p->s->lanes);
    else
        put_line(p, "const $i begin = id0;");
    p->lanes = p->s->lanes;
    if (window_is_guarded(p->e))
        put_inside(p, next);
    put_line(p, "const $i x%u = begin;", var);
    put_point(p);
}
