/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Declares facts about devices with work-groups, their makers, and the choice of an engine. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GPU_LANES_MAX = 16 }; /* of vectors in OpenCL C */

/** Says what local memory costs, in multiply-adds of an item. */
struct gpu_local_facts {
    double bring; /* copying an element there: its load, address and store */
    double wait;  /* latency of loads and barriers of a group's step */
};

/** Describes devices with work-groups, for schedule_gpu (ir/schedule/schedule_gpu.h). */
struct gpu_facts {
    const char *name; /* of the kind: "gpu" */
    /* Reported by the device; the table's row has the assumptions about one that does not report them. */
    uint32_t compute_units; /* work-groups that run at the same time */
    uint32_t lanes;         /* items that run in lockstep: a sub-group, or a vector of an OpenCL device of type CPU */
    uint32_t group_items;   /* items of a work-group, at most */
    uint32_t local_bytes;   /* local memory of a work-group */
    /* Schedules assume these of the kind. */
    uint32_t row_iterations;  /* rows of fewer iterations are computed by one item */
    uint32_t item_iterations; /* iterations of a shared row that an item has at least, so that combining is seldom */
    uint32_t groups_per_unit; /* groups that are in flight for each compute unit */
    uint32_t stage_groups;    /* the same of kernels of stages, each of which has scratch of its own */
    uint32_t stage_items;     /* items that share a macro-tile */
    double stage_local_share; /* share of local memory that local tensors of a macro-tile may fill; 0: it is memory like any
                                 other */
    bool vector_strides;      /* loads of every second to fourth element are whole vectors, separated by shuffles */
    uint32_t vector_lanes;    /* numbers of 32 bits that an item loads, stores and computes at once; GPU_LANES_MAX at most */
    uint32_t tile_numbers;    /* sums of a register tile that an item keeps in registers */
    double tile_load;         /* loading a number or a vector from the cache, in multiply-adds of one */
    double tile_gather;       /* loading a vector's lane from an address of its own, in the same unit */
    uint32_t tile_iterations; /* iterations of a contraction whose operands a group brings to local memory at once, at most; 0:
                                 local memory costs more than it saves */
    uint32_t tile_chains;     /* multiply-adds that must be in progress at once for full speed: latency times units */
    uint32_t tile_items;      /* items of a work-group along M and along N that share those */
    struct gpu_local_facts local; /* of tiles from local memory */
    double tile_unpack;           /* making a vector of floats of compact weights, in multiply-adds of one */
    uint32_t panel_columns;       /* contiguous compact weights for each step of a sum, at most */
    uint32_t kept_bytes;          /* of a row that an item keeps instead of computing it again; 0: arithmetic is cheaper */
    /* Items of a sub-group that multiply matrices of float16 which all of them together hold in registers, with sums of
     * float32, by an instruction: 16 rows times 8 columns of 16 products (mma.sync of NVIDIA's PTX).  0: there is none, or its
     * sums are less exact than those of float32. */
    uint32_t matrix_items;
};

/**
 * Decides whether a context whose program leaves the choice open computes on a GPU (runtime/api/engine_choice.c).  These
 * numbers weigh estimates: OpenCL tells neither how much arithmetic a compute unit does nor how fast memory is.
 */
struct engine_facts {
    double gpu_share;      /* share of a GPU's peak that generated kernels are expected to reach */
    double worth;          /* least speed-up over the CPU at which offloading pays */
    double worth_fast;     /* the same if the program requests speed */
    double worth_low;      /* the same if it requests low power, for GPUs without dedicated memory */
    uint64_t memory_least; /* bytes of a GPU's memory: less is too small for networks */
};

/** Describes the GPUs of one maker. */
struct gpu_maker {
    uint32_t vendor; /* its number in OpenCL (CL_DEVICE_VENDOR_ID); 0 stands for all others */
    const char *name;
    uint32_t unit_multiplies; /* multiply-adds of float32 that a compute unit begins in a cycle, on the least of its GPUs */
    bool takes_ptx;           /* its compiler takes PTX among OpenCL C, so that matrix instructions are asked for */
};

/** Describes a fact of struct gpu_facts that a tuner may choose for a device. */
struct gpu_tunable {
    const char *name;
    size_t offset;      /* of the uint32_t */
    uint32_t values[6]; /* all of which are right on every device */
    uint32_t value_count;
};

/** Returns the row of a kind of device: of a GPU, or of an OpenCL device of type CPU.  The numbers
 * are those that makers' guides recommend; those of tiles from local memory were fitted to times of an NVIDIA H200
 * (bench/results/gpu-h200.tsv).  The result is never NULL and is never freed. */
const struct gpu_facts *target_gpu_facts(bool is_processor);
/** Returns the i-th fact that a tuner may choose, or NULL after the last one. */
const struct gpu_tunable *target_gpu_tunable(uint32_t i);
/** Returns the facts for choosing between engines.  The result is never NULL and is never freed. */
const struct engine_facts *target_engine_facts(void);
/** Returns the row of a maker of GPUs, or that of all others.  The result is never NULL and is never freed. */
const struct gpu_maker *target_gpu_maker(uint32_t vendor);
/** Returns the i-th row of makers, or NULL after the last one, for tests. */
const struct gpu_maker *target_gpu_maker_at(uint32_t i);
