/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Chooses a GPU schedule: the shape, the index space, the width of indices.
 */
#include "ir/kernel/kernel_internal.h"
#include "ir/schedule/schedule_gpu_internal.h"

#include <string.h>

enum { INDEX_LIMIT = INT32_MAX /* of what 32-bit index arithmetic may reach */ };

/* ---- the width of indices ---- */

/* Returns the largest magnitude that computing a form can reach, partial sums included. */
static double form_reach(const struct kernel *k, struct kaffine a)
{
    double reach = (double)(a.offset < 0 ? -a.offset : a.offset);

    for (uint32_t i = 0; i < a.count; i++) {
        double c = (double)a.terms[i].coefficient;
        reach += (c < 0 ? -c : c) * (double)(k->vars[a.terms[i].var].size);
    }
    return reach;
}

bool gpu_needs_wide(const struct kernel *k)
{
    double reach = fmax(kernel_points(k, KVAR_PARALLEL), kernel_points(k, KVAR_REDUCED));
    struct kform_walk w = {0};

    for (uint32_t i = 0; i < k->var_count; i++)
        reach = k->vars[i].kind == KVAR_DIVMOD ? reach : fmax(reach, (double)k->vars[i].size);
    while (kernel_next_form(k, &w))
        reach = fmax(reach, fmax(form_reach(k, *w.form), (double)w.bound));
    return 2 * reach > INDEX_LIMIT;
}

/* ---- the shape ---- */

bool gpu_has_order(const struct kernel *k)
{
    for (uint32_t i = 0; i < k->expr_count; i++)
        if (k->exprs[i].op == K_SCAN)
            return true;
    return kernel_stores_in_order(k);
}

bool gpu_is_row(const struct kernel *k, const struct gpu_facts *device)
{
    const uint32_t row = k->parallel_count + k->reduced_count - 1, column = k->parallel_count - 1;
    uint32_t along = 0, across = 0;

    if (!k->reduced_count || gpu_has_order(k))
        return false;
    for (uint32_t i = 0; i < k->expr_count; i++) {
        if (k->exprs[i].op != K_LOAD)
            continue;
        along += kaffine_coefficient(k->exprs[i].index, row) == 1;
        across += k->parallel_count && kaffine_coefficient(k->exprs[i].index, column) == 1;
    }
    return along > across || kernel_points(k, KVAR_PARALLEL) < (double)device->compute_units * device->lanes;
}

/* ---- the index space ---- */

uint64_t gpu_reduced_vars(const struct kernel *k)
{
    return kvars_from(k->parallel_count, k->reduced_count);
}

int64_t gpu_vars_points(const struct kernel *k, uint64_t vars)
{
    int64_t points = 1;

    for (; vars; vars &= vars - 1)
        points *= k->vars[__builtin_ctzll(vars)].size;
    return points;
}

uint32_t gpu_power_of_two(int64_t at_least, uint32_t at_most)
{
    uint32_t n = 1;

    while (n < at_least && n * 2 <= at_most)
        n *= 2;
    return n;
}

/* Returns the items of a group along a dimension of that many points: a divisor if there is a large one, so that no item is
 * beyond the end. */
static uint32_t group_of(int64_t points, uint32_t most, bool *partial)
{
    *partial = false;
    if (points <= most)
        return (uint32_t)points;
    for (uint32_t n = most; n * 2 > most; n--)
        if (points % n == 0)
            return n;
    *partial = true;
    return gpu_power_of_two(points, most);
}

uint32_t gpu_across_of(const struct kernel *k, const struct kexpr *e)
{
    const uint32_t last = k->parallel_count - 1;
    const int64_t step = e->op == K_LOAD ? kaffine_coefficient(e->index, last) : 0;

    for (uint32_t v = 0; step != 0 && step != 1 && v < last; v++)
        if (kaffine_coefficient(e->index, v) == 1)
            return v;
    return KEXPR_NONE;
}

/* Returns that variable of a load which makes the kernel a transpose, or KEXPR_NONE if there is none. */
static uint32_t transposed_var(const struct kernel *k)
{
    uint32_t var = KEXPR_NONE;

    for (uint32_t i = 0; i < k->expr_count && var == KEXPR_NONE; i++)
        var = gpu_across_of(k, &k->exprs[i]);
    return var;
}

void gpu_enumerate_transpose(struct gpu_schedule *s, uint32_t across)
{
    const uint32_t last = s->kernel->parallel_count - 1;

    s->dimensions[0] = kvars_from(last, 1);
    s->dimensions[1] = kvars_from(across, 1);
    s->dimensions[2] = kvars_from(0, last) & ~s->dimensions[1];
}

/* Returns the most items of a group: where they are few, all units get groups, of at least one vector of the unit. */
static uint32_t group_limit(const struct gpu_schedule *s, const struct gpu_facts *device)
{
    const struct kernel *k = s->kernel;
    double items = 1;

    for (uint32_t i = 0; i < k->parallel_count; i++)
        items *= (double)(i == s->lane_var ? ceil_div(k->vars[i].size, s->lanes) : k->vars[i].size);
    const double each = items / ((double)device->compute_units * device->groups_per_unit);
    return gpu_power_of_two(
        (int64_t)(each < device->group_items ? each > device->lanes ? each : device->lanes : device->group_items),
        device->group_items);
}

static void lay_points(struct gpu_schedule *s, const struct gpu_facts *device)
{
    const struct kernel *k = s->kernel;
    const uint32_t n = k->parallel_count;
    const bool vectors = n && s->lane_var == n - 1;
    const uint32_t transposed = n > 1 && s->lanes == 1 && !k->reduced_count ? transposed_var(k) : KEXPR_NONE;
    uint32_t most = group_limit(s, device);

    if (transposed != KEXPR_NONE) { /* groups are squares: the lines that one row of items reads serve the next rows */
        gpu_enumerate_transpose(s, transposed);
        for (most = 1; most * most * 4 <= device->group_items;)
            most *= 2;
    } else if (vectors || (n > 1 && k->vars[n - 1].size >= (int64_t)device->lanes)) {
        s->dimensions[0] = kvars_from(n - 1, 1);
        s->dimensions[1] = n > 1 ? kvars_from(n - 2, 1) : 0;
        s->dimensions[2] = n > 2 ? kvars_from(0, n - 2) : 0;
    } else {
        s->dimensions[0] = kvars_from(0, n);
    }
    for (uint32_t d = 0; d < GPU_DIMENSIONS; d++) {
        int64_t points = gpu_vars_points(k, s->dimensions[d]);
        if (!d && vectors)
            points = ceil_div(points, s->lanes);
        s->local[d] = d == 2 ? 1 : group_of(points, most, &s->partial[d]);
        most /= transposed == KEXPR_NONE ? s->local[d] : 1;
        s->global[d] = ceil_div(points, s->local[d]) * s->local[d];
    }
}

static void lay_rows(struct gpu_schedule *s, const struct gpu_facts *device)
{
    const struct kernel *k = s->kernel;

    s->dimensions[0] = kvars_from(0, k->parallel_count);
    s->local[0] =
        gpu_power_of_two(ceil_div(iterations_of(k, 0, k->reduced_count), device->item_iterations), device->group_items);
    s->global[0] = gpu_vars_points(k, s->dimensions[0]) * s->local[0];
}

/* ---- the schedule ---- */

static void schedule_points(const struct gpu_context *c, struct gpu_schedule *s)
{
    const bool row = gpu_is_row(c->k, c->device);
    const bool is_long = (double)iterations_of(c->k, 0, c->k->reduced_count) >= c->device->row_iterations;

    if (row && (c->choice.rows_shape || is_long)) {
        s->shape = GPU_ROWS;
        lay_rows(s, c->device);
        return;
    }
    s->shape = GPU_POINTS;
    gpu_choose_lanes(c, row, s);
    gpu_choose_split(c->k, SUM_STEPS, s->lane_var >= c->k->parallel_count ? s->lanes : 1, s);
    gpu_choose_kept(c, s);
    lay_points(s, c->device);
}

void schedule_gpu_choose(const struct kernel *k, const struct gpu_facts *device, const struct gpu_choice *choice,
                         struct gpu_schedule *out)
{
    const struct gpu_context c = {.k = k, .device = device, .choice = choice ? *choice : (struct gpu_choice){0}};

    memset(out, 0, sizeof *out);
    out->kernel = k;
    out->lane_var = out->sum_split = out->kept = KEXPR_NONE;
    out->lanes = 1;
    out->strides = device->vector_strides;
    out->sum_steps = SUM_STEPS;
    for (uint32_t d = 0; d < GPU_DIMENSIONS; d++)
        out->global[d] = out->local[d] = 1;
    if (k->stage_count) {
        gpu_schedule_stages(&c, out);
        return;
    }
    out->wide = gpu_needs_wide(k);
    if (!c.choice.no_tiles && gpu_choose_tile(&c, out))
        return;
    if (!c.choice.no_tiles && gpu_choose_block(&c, out))
        return;
    schedule_points(&c, out);
}

void schedule_gpu(const struct kernel *k, const struct gpu_facts *device, struct gpu_schedule *out)
{
    schedule_gpu_choose(k, device, NULL, out);
}
