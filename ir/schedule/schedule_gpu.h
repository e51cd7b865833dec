/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Decides how a kernel is computed on a device with work-groups, as schedule_cpu (ir/schedule/schedule.h) does for processors.
 *
 * schedule_gpu takes a finished kernel and facts about the device (ir/target/target.h).  It makes a struct gpu_schedule, which
 * the printer (codegen/opencl) follows.  There are five shapes:
 *
 *   points   One work-item computes one point of the PARALLEL variables, or as many neighbouring ones as a vector has
 *            lanes, and goes through all REDUCED iterations one after the other.  The last PARALLEL variable is dimension 0 of
 *            the index space, so that
 *            neighbouring items touch neighbouring elements.
 *   rows     One work-group computes one point: its items share the REDUCED iterations and combine in local memory what each of
 *            them has reduced.  This suits long rows that are contiguous along the REDUCED variables.
 *   tiles    One work-item computes MR rows times NR columns of a contraction, whose sums stay in registers.  Its operands come
 *            from global memory, or a work-group brings tiles of them to local memory first.
 *   stages   One work-group computes one macro-tile of a kernel of stages after the other; barriers separate the stages.  Its
 *            items share the points of a stage, or its tiles, or its rows.  Local tensors are in local memory, or in a part of
 *            the scratch buffer that belongs to the group.
 *   blocks   One work-item, or one work-group, computes a square of points of a transpose, which it turns over in registers or
 * in local memory (schedule_gpu_block.c).
 *
 * Where sub-groups multiply matrices of float16 by one instruction, tiles in local memory may be computed by those
 * (schedule_gpu_local.c).
 *
 * Values may be vectors whose lanes are neighbouring values of one variable (schedule_gpu_lanes.c chooses it).
 * schedule_gpu_tile.c has the register tiles and their cost model.
 */
#pragma once

#include "ir/kernel/kernel.h"
#include "ir/schedule/contraction.h"
#include "ir/target/target.h"

/** Names the five shapes, in the order of the list above. */
enum gpu_shape { GPU_POINTS, GPU_ROWS, GPU_TILES, GPU_STAGES, GPU_BLOCKS };

/* Variables of a set (kvar_vars) are enumerated together, the last one fastest. */
enum { GPU_DIMENSIONS = 3, GPU_STRIDE_MAX = 4 /* of loads that are extracted from whole vectors */ };

/** The number of neighbouring 32-bit elements that items load from local memory at once. */
enum { GPU_LOCAL_VECTOR = 4 };

/** Sizes of a matrix instruction, and how operands are in local memory: in chunks of contiguous elements, with one chunk of
 * padding after each row, so that rows begin in different banks; one buffer is filled while the other one is multiplied. */
enum { GPU_MATRIX_ROWS = 16, GPU_MATRIX_COLUMNS = 8, GPU_MATRIX_STEPS = 16, GPU_MATRIX_CHUNK = 8, GPU_MATRIX_BUFFERS = 2 };

/**
 * Describes the register tile of a contraction.  M are the variables of its rows, N those of its columns.  Where operands come
 * from global memory, N is the lane variable alone, so that columns are vectors.  Where they come from local memory, N is every
 * variable that only the other operand has.  Where sub-groups multiply tiles in local memory by matrix instructions, each of
 * them has rows times columns, and the numbers of items are those of sub-groups.
 */
struct gpu_tile {
    uint32_t dot; /* the REDUCE expression */
    uint64_t m, n;
    uint32_t rows, vectors;     /* of an item; from local memory, vectors are single columns */
    bool local_memory;          /* tiles of both operands come to local memory first */
    bool matrix;                /* and are multiplied by matrix instructions */
    bool along_k[2];            /* of an operand: contiguous along K */
    uint32_t operand_m, k_tile; /* the dot's operand that depends on M; iterations whose operands are copied at once */
    uint32_t items_m, items_n;  /* of a work-group, for tiles in local memory */
    uint32_t k_items;           /* items that share the iterations of one tile (few rows); 1: they do not */
    /* Weights that are unpacked in registers.  Where the columns' operand is `unscaled` times `factor`, and factor changes with
     * the first factor_depth REDUCED variables only, the sum inside their loops is multiplied by it (KEXPR_NONE: there is no
     * factor).  unpacked: the operand is computed from loaded values. */
    uint32_t factor, unscaled, factor_depth;
    bool unpacked;
};

/** Describes the square of points of a transpose: values of the last PARALLEL variable times values of another one. */
struct gpu_block {
    uint32_t transposed, across; /* the load that is transposed, and the variable along which its elements are neighbours */
    uint32_t side;               /* of the square; in registers it is the number of lanes */
    bool local_memory;
};

/**
 * Says how items share a kernel without stages, or how those of a group share a stage: its points, or vectors of them (points),
 * its tiles (tiles), or the iterations of each point (rows).  Lanes are neighbouring values of lane_var, which is the last
 * PARALLEL or the last REDUCED variable (KEXPR_NONE: there are no vectors); lane_tail holds if its size is not a multiple of
 * their number.  Sums are added up in blocks of at most sum_steps iterations of the loop over the REDUCED variable number
 * sum_split, of which 0 is the outermost one (KEXPR_NONE: all iterations are one block).  row_items of a stage's items share
 * the iterations of one point; the others have other points.
 */
#define GPU_STAGE_MEMBERS                                                                                                      \
    {                                                                                                                          \
        enum gpu_shape shape;                                                                                                  \
        uint32_t lane_var, lanes;                                                                                              \
        bool lane_tail;                                                                                                        \
        uint32_t sum_split, sum_steps, row_items;                                                                              \
        struct gpu_tile tile;                                                                                                  \
    }
struct gpu_stage GPU_STAGE_MEMBERS;

/** Describes where a local tensor of a kernel of stages lies. */
struct gpu_local {
    bool in_local_memory;
    int64_t offset; /* else in the group's part of scratch, bytes */
};

/** A kernel's schedule for devices.  It owns nothing. */
struct gpu_schedule {
    const struct kernel *kernel; /* outlives the schedule */
    union {                      /* of a kernel without stages; for lowering also of a stage */
        struct gpu_stage own;
        struct GPU_STAGE_MEMBERS;
    };
    bool wide; /* indices need 64 bits */
    /* Each dimension of the index space enumerates these PARALLEL variables. */
    uint64_t dimensions[GPU_DIMENSIONS];
    bool partial[GPU_DIMENSIONS]; /* the last group is partial: items beyond the end do nothing */
    int64_t global[GPU_DIMENSIONS];
    uint32_t local[GPU_DIMENSIONS];
    int64_t scratch_bytes; /* of the whole launch: the local tensors of all groups */
    bool lane_repeats;     /* some points are computed twice: the last vector of a row overlaps the one before */
    /* Loads of every n-th element along lane_var are extracted from n vectors, up to GPU_STRIDE_MAX. */
    bool strides;
    struct gpu_block block;
    /* The value of this expression is kept in an array of that many elements from the phase that computes it first (KEXPR_NONE:
     * there is none). */
    uint32_t kept, kept_phase, kept_elements;
    /* Of a kernel of stages: */
    struct gpu_stage stages[KERNEL_STAGES_MAX];
    struct gpu_local locals[KERNEL_LOCALS_MAX];
    int64_t group_scratch_bytes; /* of one group */
};

/** Forces properties of a schedule on every device, for tests and tuning.  All zeros force nothing. */
struct gpu_choice {
    enum gpu_memory { GPU_MEMORY_ANY, GPU_MEMORY_GLOBAL, GPU_MEMORY_LOCAL } tile_memory; /* of tiles, and of blocks */
    uint32_t matrix_form;          /* number from 1 of a form of tiles of matrix instructions (schedule_gpu_local.c); 0: free */
    uint32_t rows, vectors, lanes; /* of a tile in global memory, where they fit; 0: free */
    uint32_t k_items;
    bool no_tiles, no_lanes, rows_shape; /* rows_shape: the shape rows is taken whenever it is valid, at any cost */
    bool no_repeats;                     /* no point is computed twice */
    bool scratch;                        /* local tensors never be in local memory */
};

/** Chooses the schedule of a finished kernel, which must outlive it, for a device.  This cannot fail. */
void schedule_gpu(const struct kernel *k, const struct gpu_facts *device, struct gpu_schedule *out);
/** Does the same with forced choices; choice may be NULL. */
void schedule_gpu_choose(const struct kernel *k, const struct gpu_facts *device, const struct gpu_choice *choice,
                         struct gpu_schedule *out);

/* ---- for printers ---- */

/** Returns the REDUCED variables. */
uint64_t gpu_reduced_vars(const struct kernel *k);
/** Returns the product of the variables' sizes. */
int64_t gpu_vars_points(const struct kernel *k, uint64_t vars);
/** Returns the PARALLEL variables of a contraction that are neither rows nor columns of its tiles nor of the macro-tile. */
uint64_t gpu_tile_batch(const struct kernel *k, const struct gpu_tile *t);

/** Returns the rows, or the columns, of a group's tile in local memory. */
uint32_t gpu_tile_width(const struct gpu_tile *t, bool rows);
/** Returns the stride in elements between two iterations of an operand there, or between two rows (or columns) where K is
 * contiguous for matrix instructions.  It is padded to avoid bank conflicts. */
uint32_t gpu_tile_stride(const struct gpu_tile *t, uint32_t operand);
/** Returns the bytes of a tile in local memory: of the operands, or later the sums that items exchange. */
uint32_t gpu_tile_bytes(const struct gpu_tile *t);

/* ---- text, for dumps and profiles (schedule_gpu_print.c) ---- */

/** Returns the shape's name in the list above. */
const char *gpu_shape_name(enum gpu_shape shape);
/** Prints the schedule as a part of a line: shape, tile, lanes, index space. */
void gpu_schedule_print(const struct gpu_schedule *s, FILE *out);
