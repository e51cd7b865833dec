/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Chooses square blocks of points for transposes.
 *
 * A kernel that reads along one PARALLEL variable and writes along another touches, item by item, a line of memory for each
 * element of one side.  In a block both sides go along lines: the load is made along its own variable, for as many values of
 * the other one as the block has, and the block is transposed before the rest is computed.  Where local memory costs more than
 * it saves an item turns vectors over in registers, else a work-group goes through local memory.
 */
#include "ir/schedule/schedule_gpu_internal.h"

enum {
    LANES_MIN = 4,         /* fewer are not worth a vector */
    REGISTER_EXPRS = 16,   /* which are printed for each line of a block in registers, at most */
    REGISTER_GROUP = 16,   /* blocks in registers that follow each other in a group, at most */
    LINES_AT_ONCE = 8,     /* lines of a block in local memory that a group's items move at the same time, at most */
    LOCAL_SHARE = 4,       /* of local memory for a block: several groups have to be under way */
    ELEMENT_BYTES_MOST = 4 /* of what blocks are made of */
};

/* Finds the one load that has to be transposed, with its variable.  Returns false if there is none, or another access that is
 * no line along the last variable either. */
static bool find_transposed(const struct kernel *k, struct gpu_block *b)
{
    const uint32_t last = k->parallel_count - 1;
    const struct gpu_accesses along = gpu_accesses_along(k, last);

    b->transposed = KEXPR_NONE;
    for (uint32_t i = 0; i < k->expr_count; i++) {
        const uint32_t across = k->exprs[i].guard_count ? KEXPR_NONE : gpu_across_of(k, &k->exprs[i]);

        if (across == KEXPR_NONE)
            continue;
        if (b->transposed != KEXPR_NONE)
            return false;
        b->transposed = i;
        b->across = across;
    }
    return b->transposed != KEXPR_NONE && along.computable && along.scattered == 1;
}

/* Enumerates the variables and the groups; an item, or a group, has so many points along the first two dimensions. */
static void lay_blocks(struct gpu_schedule *s, const int64_t points[2], const uint32_t local[2])
{
    gpu_enumerate_transpose(s, s->block.across);
    for (uint32_t d = 0; d < 2; d++) {
        const int64_t items = ceil_div(points[d], s->block.side);

        s->local[d] = local[d];
        s->global[d] = s->block.local_memory ? items * local[d] : ceil_div(items, local[d]) * local[d];
    }
    s->global[2] = gpu_vars_points(s->kernel, s->dimensions[2]);
}

static bool lay_registers(const struct gpu_context *c, const int64_t points[2], struct gpu_schedule *s)
{
    const int64_t shortest = points[0] < points[1] ? points[0] : points[1];
    uint32_t lanes = c->choice.lanes ? c->choice.lanes : c->device->vector_lanes;

    while (lanes > shortest)
        lanes /= 2;
    if (lanes < LANES_MIN || c->k->expr_count > REGISTER_EXPRS || c->choice.no_lanes)
        return false;
    s->lanes = s->block.side = lanes;
    s->lane_var = c->k->parallel_count - 1;
    s->lane_tail = points[0] % lanes || points[1] % lanes;
    const uint32_t most = c->device->group_items < REGISTER_GROUP ? c->device->group_items : REGISTER_GROUP;
    lay_blocks(s, points, (const uint32_t[2]){gpu_power_of_two(ceil_div(points[0], lanes), most), 1});
    return true;
}

/* Chooses blocks that a group transposes in local memory, as wide as what runs in lockstep. */
static bool lay_local_memory(const struct gpu_context *c, const int64_t points[2], struct gpu_schedule *s)
{
    const struct gpu_facts *device = c->device;
    uint32_t side = device->lanes;

    while (side > device->group_items || side * (side + 1) * ELEMENT_BYTES_MOST * LOCAL_SHARE > device->local_bytes)
        side /= 2;
    if (side < LANES_MIN || points[0] < LANES_MIN || points[1] < LANES_MIN)
        return false;
    s->block.local_memory = true;
    s->block.side = side;
    const uint32_t lines = gpu_power_of_two(side, device->group_items / side);
    lay_blocks(s, points, (const uint32_t[2]){side, lines < LINES_AT_ONCE ? lines : LINES_AT_ONCE});
    return true;
}

bool gpu_choose_block(const struct gpu_context *c, struct gpu_schedule *s)
{
    const struct kernel *k = c->k;
    const enum gpu_memory memory = c->choice.tile_memory;
    const bool local = memory == GPU_MEMORY_ANY ? c->device->tile_iterations > 0 : memory == GPU_MEMORY_LOCAL;

    if (k->parallel_count < 2 || k->reduced_count || gpu_has_order(k) || !find_transposed(k, &s->block) ||
        kaffine_derives(k, k->exprs[s->block.transposed].index, s->block.across) ||
        kaffine_derives(k, k->exprs[s->block.transposed].index, k->parallel_count - 1))
        return false;
    const int64_t points[2] = {k->vars[k->parallel_count - 1].size, k->vars[s->block.across].size};
    if (!(local ? lay_local_memory(c, points, s) : lay_registers(c, points, s)))
        return false;
    s->shape = GPU_BLOCKS;
    return true;
}
