/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Counts what a kernel executes by its schedule: how often each expression, with how many lanes, and how many loads and stores
 * those are, which may be of whole vectors, gathered, or shared by a register tile.  Addresses, guards, and what later phases
 * compute again are left out.
 */

#include "ir/schedule/schedule_internal.h"

static double vector_iterations(const struct schedule *s)
{
    const int64_t size = s->kernel->vars[s->vector_var].size, lanes = s->lanes;

    return (double)(size / lanes + (s->edges.masked_tail ? size % lanes > 0 : size % lanes));
}

/*
 * Returns how often something is executed that depends on these variables.  All PARALLEL variables are loops around it, but for
 * the vector variable, which it can be in front of, and REDUCED ones down to the last that it depends on.  `lanes` says that it
 * is done for a vector at a time.
 */
static double executions(const struct schedule *s, uint64_t vars, bool lanes)
{
    const struct kernel *k = s->kernel;
    double n = 1;

    for (uint32_t i = 0; i < k->parallel_count + k->reduced_count; i++) {
        const double size = (double)k->vars[i].size;

        if (i == s->vector_var)
            n *= !depends_on(vars, i) ? 1 : lanes ? vector_iterations(s) : size;
        else if (i < k->parallel_count || vars >> i)
            n *= size;
    }
    return n;
}

static double accesses(const struct schedule *s, uint64_t vars, const struct kaffine *index)
{
    const double n = executions(s, vars, true);
    bool derived = false;

    if (!depends_on(vars, s->vector_var) || transpose_takes(s, index))
        return n;
    for (uint32_t i = 0; i < index->count; i++)
        derived |= index->terms[i].var != s->vector_var && s->var_lanes[index->terms[i].var];
    return !derived && kaffine_coefficient(*index, s->vector_var) == 1 ? n : n * s->lanes;
}

static double loads_of(const struct schedule *s, uint64_t vars, uint32_t id)
{
    const struct kexpr *x = &s->kernel->exprs[id];
    const struct schedule_expr *by = &s->exprs[id];
    const struct register_tile *tile = &s->tile;
    double n = executions(s, vars, true);

    if (by->load == LOAD_STRIDED || by->load == LOAD_PERMUTED)
        n *= by->count;
    else if (!by->short_row && by->load != LOAD_REPEATED)
        n = accesses(s, vars, &x->index);
    if (!s->tiled || !tile_is_operand(x))
        return n;
    if (tile->m_var != KEXPR_NONE && !depends_on(vars, tile->m_var)) /* all rows share it */
        n /= fmin(tile->mr, (double)s->kernel->vars[tile->m_var].size) * (tile->window.row.neighbours ? tile->window.lines : 1);
    if (!depends_on(vars, s->vector_var)) /* all vectors of a row share it */
        n *= ceil(vector_iterations(s) / tile->vectors);
    return n;
}

static double count_loops(const struct schedule *s)
{
    const struct kernel *k = s->kernel;
    const struct short_rows *rows = &s->row_buffers.short_rows;
    double sum = 0;

    for (uint32_t i = 0; i < k->expr_count; i++) {
        const struct kexpr *x = &k->exprs[i];
        uint64_t vars = x->vars;
        bool lanes = s->exprs[i].lanes;

        for (uint32_t n = 0; n < 3 && x->args[n] != KEXPR_NONE; n++) {
            vars |= k->exprs[x->args[n]].vars;   /* of a REDUCE, too: each iteration is executed */
            lanes |= s->exprs[x->args[n]].lanes; /* vectors are summed, whichever variable they run along */
        }
        if (x->op == K_LOAD)
            sum += loads_of(s, vars, i);
        else if (x->op != K_CONST && x->op != K_INDEX)
            sum += executions(s, vars, lanes) * expr_cost(s, x);
    }
    for (uint32_t i = 0; i < k->store_count; i++) {
        const uint64_t vars = kaffine_vars(k, k->stores[i].index);

        sum += rows->size && rows->stores[i] >= 0 ? executions(s, vars, true) : accesses(s, vars, &k->stores[i].index);
    }
    return sum;
}

double schedule_work_of(const struct schedule *s)
{
    double sum = s->kernel->stage_count ? 0 : count_loops(s);

    for (uint32_t i = 0; i < s->kernel->stage_count; i++)
        if (s->kernel->stages[i].when != KSTAGE_NOT_BELOW) /* seldom */
            sum += schedule_work_of(s->stages[i]);
    return sum;
}
