/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Lays out tiles of contractions whose operands come to local memory: how many rows and columns an item computes, and how many
 * iterations a group brings at once.
 */
#include "ir/schedule/schedule_gpu_internal.h"

enum { SIDE_MAX = 8 /* rows, and columns, of an item: two vectors from local memory */ };

uint32_t gpu_tile_width(const struct gpu_tile *t, bool rows)
{
    return rows ? t->items_m * t->rows : t->items_n * t->vectors;
}

uint32_t gpu_tile_stride(const struct gpu_tile *t, uint32_t operand)
{
    return gpu_tile_width(t, operand == t->operand_m) + (t->along_k[operand] ? GPU_LOCAL_VECTOR : 0);
}

static int64_t local_bytes(const struct gpu_tile *t)
{
    return ((int64_t)gpu_tile_stride(t, 0) + gpu_tile_stride(t, 1)) * t->k_tile * (int64_t)sizeof(float);
}

/* Returns the multiply-adds, or what takes as long, of one iteration on the compute unit that has the most groups. */
static double local_cost(const struct gpu_context *c, const struct gpu_schedule *s, int64_t m, int64_t n)
{
    const struct gpu_tile *t = &s->tile;
    const struct gpu_facts *d = c->device;
    const int64_t height = gpu_tile_width(t, true), width = gpu_tile_width(t, false);
    const int64_t groups = ceil_div(m, height) * ceil_div(n, width) * s->global[2];
    const double loads = (double)(ceil_div(t->rows, GPU_LOCAL_VECTOR) + ceil_div(t->vectors, GPU_LOCAL_VECTOR)) * d->tile_load;
    double cost = t->rows * t->vectors + loads + d->tile_bring * (double)(height + width) / (t->items_m * t->items_n);

    if (cost < d->tile_chains)
        cost = d->tile_chains;
    return cost * (double)ceil_div(groups, d->compute_units);
}

/* Chooses how many rows and columns an item has: many, because loads serve more products then, but not so many that compute
 * units have nothing to do. */
static void choose_sides(const struct gpu_context *c, struct gpu_schedule *s, int64_t m, int64_t n)
{
    struct gpu_schedule tried = *s;
    double least = 0;

    s->tile.rows = 0;
    for (uint32_t rows = SIDE_MAX; rows; rows /= 2)
        for (uint32_t vectors = SIDE_MAX; vectors; vectors /= 2) {
            if (rows * vectors > c->device->tile_numbers)
                continue;
            tried.tile.rows = c->choice.rows ? c->choice.rows : rows;
            tried.tile.vectors = c->choice.vectors ? c->choice.vectors : vectors;
            double cost = local_cost(c, &tried, m, n);
            if (s->tile.rows && cost >= least)
                continue;
            *s = tried;
            least = cost;
        }
}

void gpu_lay_local_tile(const struct gpu_context *c, struct gpu_schedule *s)
{
    const struct gpu_facts *d = c->device;
    struct gpu_tile *t = &s->tile;
    const int64_t m = gpu_vars_points(c->k, &t->m), n = gpu_vars_points(c->k, &t->n);

    s->lanes = 1;
    s->lane_var = KEXPR_NONE;
    s->lane_tail = false;
    t->items_m = t->items_n = d->tile_items;
    while (t->items_m * t->items_n > d->group_items) {
        t->items_m /= 2;
        t->items_n = t->items_n > 1 ? t->items_n / 2 : 1;
    }
    s->dimensions[2] = gpu_tile_batch(c->k, t);
    s->global[2] = gpu_vars_points(c->k, &s->dimensions[2]);
    choose_sides(c, s, m, n);
    t->k_tile = d->tile_iterations ? d->tile_iterations : 8;
    while (t->k_tile > 1 && local_bytes(t) > d->local_bytes)
        t->k_tile /= 2;
    s->local[0] = t->items_n;
    s->local[1] = t->items_m;
    s->global[0] = ceil_div(n, gpu_tile_width(t, false)) * t->items_n;
    s->global[1] = ceil_div(m, gpu_tile_width(t, true)) * t->items_m;
}
