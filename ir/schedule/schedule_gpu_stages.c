/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Schedules kernels of stages for devices with work-groups: how the items of a group share each stage, and where local tensors
 * lie.
 *
 * A stage is scheduled like a kernel whose index space is one group: a contraction in register tiles, anything else
 * in vectors of points.  Where a stage has fewer points than the group has items, and long rows, several items share a row.
 */
#include "ir/kernel/kernel_internal.h"
#include "ir/schedule/schedule_gpu_internal.h"

/* ---- one stage ---- */

/* Returns whether the items that share a row can combine a reduction: local memory has 32 bits for each item. */
static bool can_be_shared(const struct kexpr *e, const struct kernel *k)
{
    return e->op != K_REDUCE || (e->reduce != KR_ARG_MIN && e->reduce != KR_ARG_MAX && e->reduce != KR_PRODUCT &&
                                 ktype_size(e->type) == 4 && ktype_size(k->exprs[e->args[0]].type) == 4);
}

/* Returns how many items share the iterations of a point: 1 if there are points enough for all. */
static uint32_t share_rows(const struct gpu_context *c)
{
    const struct kernel *k = c->k;
    const int64_t iterations = iterations_of(k, 0, k->reduced_count);
    const int64_t points = (int64_t)kernel_points(k, KVAR_PARALLEL) / kernel_macro_tiles(k);
    uint32_t items = 1;

    for (uint32_t i = 0; i < k->expr_count; i++)
        if (!can_be_shared(&k->exprs[i], k))
            return 1;
    if (!k->reduced_count || gpu_has_order(k) || (!c->choice.rows_shape && iterations < c->device->row_iterations))
        return 1;
    while (items * 2 * points <= c->stage_items && iterations >= (int64_t)items * 2 * c->device->item_iterations)
        items *= 2;
    return items;
}

static void schedule_stage(const struct gpu_context *c, struct gpu_stage *out)
{
    struct gpu_schedule s = {
        .kernel = c->k, .shape = GPU_POINTS, .lane_var = KEXPR_NONE, .lanes = 1, .sum_split = KEXPR_NONE, .kept = KEXPR_NONE};

    s.row_items = share_rows(c);
    if (c->choice.no_tiles || !gpu_choose_tile(c, &s)) {
        if (s.row_items > 1)
            s.shape = GPU_ROWS;
        else
            gpu_choose_lanes(c, gpu_is_row(c->k, c->device), &s);
        gpu_choose_split(c->k, SUM_STEPS, s.lane_var != KEXPR_NONE && s.lane_var >= c->k->parallel_count ? s.lanes : 1, &s);
    }
    *out = s.own;
}

/* ---- local tensors ---- */

static int64_t local_bytes(const struct kernel *k, uint32_t local)
{
    return target_align(k->locals[local].elements * (int64_t)dtype_size(k->locals[local].type));
}

/* Puts local tensors into local memory, the smallest first, as long as they fit there next to the elements that items combine
 * in it. */
static void place_locals(const struct gpu_context *c, struct gpu_schedule *s)
{
    const struct kernel *k = c->k;
    int64_t room = (int64_t)(c->device->stage_local_share * c->device->local_bytes) - (int64_t)(s->local[0] * sizeof(float));
    int64_t offset = 0;

    while (!c->choice.scratch) {
        uint32_t smallest = UINT32_MAX;

        for (uint32_t i = 0; i < k->local_count; i++)
            if (!s->locals[i].in_local_memory && (smallest == UINT32_MAX || local_bytes(k, i) < local_bytes(k, smallest)))
                smallest = i;
        if (smallest == UINT32_MAX || local_bytes(k, smallest) > room)
            break;
        s->locals[smallest].in_local_memory = true;
        room -= local_bytes(k, smallest);
    }
    for (uint32_t i = 0; i < k->local_count; i++) {
        if (s->locals[i].in_local_memory)
            continue;
        s->locals[i].offset = offset;
        offset += local_bytes(k, i);
    }
    s->group_scratch_bytes = offset;
}

void gpu_schedule_stages(const struct gpu_context *c, struct gpu_schedule *s)
{
    const struct kernel *k = c->k;
    const struct gpu_facts *device = c->device;
    const int64_t tiles = kernel_macro_tiles(k->stages[0].kernel);
    const int64_t most = (int64_t)device->compute_units * device->stage_groups;
    const int64_t groups = tiles < most ? tiles : most;

    s->shape = GPU_STAGES;
    s->local[0] = gpu_power_of_two(device->stage_items, device->group_items);
    s->global[0] = groups * s->local[0];
    place_locals(c, s);
    s->scratch_bytes = groups * s->group_scratch_bytes;
    for (uint32_t i = 0; i < k->stage_count; i++) {
        const struct gpu_context stage = {k->stages[i].kernel, device, c->choice, s->local[0]};

        s->wide |= gpu_needs_wide(stage.k);
        schedule_stage(&stage, &s->stages[i]);
    }
}
