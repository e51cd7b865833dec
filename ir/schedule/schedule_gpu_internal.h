/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares internals of GPU schedules.
 */
#pragma once

#include "ir/schedule/schedule_gpu.h"

/** Holds the facts that a schedule begins with, and the device. */
struct gpu_context {
    const struct kernel *k;
    const struct gpu_facts *device;
    struct gpu_choice choice;
    uint32_t stage_items; /* that share the kernel, which is a stage; 0: it is not a stage */
};

/** Returns whether 32-bit indices are not enough for a kernel without stages. */
bool gpu_needs_wide(const struct kernel *k);
/** Returns whether rows are contiguous along the REDUCED variables, or there are too few points to fill a device. */
bool gpu_is_row(const struct kernel *k, const struct gpu_facts *device);
/** Returns a power of two that is at_least so much, but not more than at_most. */
uint32_t gpu_power_of_two(int64_t at_least, uint32_t at_most);

/** Returns whether the order of REDUCED iterations matters: it does for running sums, and for stores at addresses that are
 * data. */
bool gpu_has_order(const struct kernel *k);

/** Returns the variable along which a load's elements are neighbours, although those along the last variable are not, or
 * KEXPR_NONE. */
uint32_t gpu_across_of(const struct kernel *k, const struct kexpr *e);
/** Makes the last variable, that one and all others the dimensions of the index space. */
void gpu_enumerate_transpose(struct gpu_schedule *s, uint32_t across);

/* ---- lanes (schedule_gpu_lanes.c) ---- */

/** Counts kinds of accesses of a kernel along a variable. */
struct gpu_accesses {
    uint32_t side_by_side; /* neighbouring values are contiguous in memory */
    uint32_t scattered;    /* anything else that depends on the variable */
    uint32_t strided;      /* of those: loads of every n-th element, up to GPU_STRIDE_MAX */
    bool computable;       /* vectors have every operation that is computed with lanes */
};
/** Counts the accesses of a kernel along a variable. */
struct gpu_accesses gpu_accesses_along(const struct kernel *k, uint32_t var);
/** Chooses lane_var, lanes and lane_tail of the points shape, along REDUCED variables only if `rows` holds. */
void gpu_choose_lanes(const struct gpu_context *c, bool rows, struct gpu_schedule *s);
/** Chooses where sums are split, so that no accumulator takes more than so many steps. */
void gpu_choose_split(const struct kernel *k, uint32_t steps, uint32_t lanes, struct gpu_schedule *s);

/* ---- kept values (schedule_gpu_kept.c) ---- */

/** Chooses the expression whose values an item keeps from phase to phase. */
void gpu_choose_kept(const struct gpu_context *c, struct gpu_schedule *s);

/* ---- tiles (schedule_gpu_tile.c) ---- */

/** Makes s a schedule of register tiles, with its index space.  Returns false if the kernel is no contraction that gains by
 * them. */
bool gpu_choose_tile(const struct gpu_context *c, struct gpu_schedule *s);

/* ---- tiles from local memory (schedule_gpu_local.c) ---- */

/** Lays out the index space of a tile in local memory, and chooses its size and whether matrix instructions compute it.  s has
 * the rest of the tile. */
void gpu_lay_local_tile(const struct gpu_context *c, struct gpu_schedule *s);

/* ---- blocks (schedule_gpu_block.c) ---- */

/** Makes s a schedule of blocks, with its index space.  Returns false if the kernel is not a transpose that gains by them. */
bool gpu_choose_block(const struct gpu_context *c, struct gpu_schedule *s);

/* ---- stages (schedule_gpu_stages.c) ---- */

/** Makes s, which is empty, the schedule of a kernel of stages. */
void gpu_schedule_stages(const struct gpu_context *c, struct gpu_schedule *s);
