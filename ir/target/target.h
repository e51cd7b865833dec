/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Describes the machine and the library to passes, schedules and codegen: features of the instruction set, facts and costs, and
 * function pointers.  The runtime fills it in, so that these do not include headers of oneDNN, OpenCL or LLVM.
 *
 * Five headers have a subject each: isa.h, cache.h, cost.h (models of what generated code takes), library.h (how fast the
 * library is against that) and device.h (devices with work-groups, and the choice between them and processors).
 *
 * Facts and costs (struct target_facts) stand in one table, ir/target/target.c, with a row for each kind of machine.  Every
 * heuristic reads them there: a number that a measurement or a manual gave belongs into the table, and what a heuristic does
 * with it into the heuristic.  An engine for another kind of machine has its own row, to which target.facts points.
 */
#pragma once

#include "ir/graph/ir.h"
#include "ir/support/align.h"
#include "ir/target/cache.h"
#include "ir/target/cost.h"
#include "ir/target/device.h"
#include "ir/target/isa.h"
#include "ir/target/library.h"

/** Holds the facts and costs of one kind of machine, which were measured or come from its maker's manuals.  Only costs that do
 * not exist are 0 (tests/ir/target/test_target.c). */
struct target_facts {
    const char *name; /* of the kind: "avx512-full-rate" */
    struct cache_facts cache;
    struct rate_facts rate;
    struct call_facts call;
    struct operation_facts operation;
    struct loop_facts loop;
    struct fusion_facts fusion;
    struct contraction_facts contraction;
    struct multiplication_facts multiplication;
    struct winograd_facts winograd;
    struct attention_facts attention;
};

/* ---- the target ---- */

/** Describes how weights stay compact. */
struct compact_choice {
    bool unpacks;           /* kernels of matmuls unpack weights of 4, 8 or 16 bits in registers, so that such weights stay */
    bool small;             /* small ones do, too, for tests */
    uint32_t panel_columns; /* of a panel, at most, on a device with work-groups; 0: as a tile has (schedule_panel) */
};

/** Describes the machine that is compiled for.  The code that fills it in owns everything that it points at. */
struct target {
    /* The processor is given to codegen as an LLVM triple, CPU name and feature string.  NULL stands for the host's. */
    const char *triple, *cpu, *features;
    struct isa isa;                   /* of that processor */
    bool full_rate;                   /* two multiply-adds of 512 bits start every cycle */
    const struct target_facts *facts; /* of that processor; NULL: target_facts finds them by isa and full_rate */
    double bfloat16_rate;             /* ratio of bfloat16 to float32 multiplications per second; 0: none */
    uint32_t thread_count;            /* threads that one computation uses, as decisions see it */
    uint32_t compile_threads; /* threads that compile at the same time; 0: thread_count. It decides nothing about the code */
    int64_t cache_bytes;      /* of one core, for deciding which values are worth keeping in scratch rows */
    bool sizes_vary;          /* graphs of other sizes should share code: choices are few, and the same for most sizes */

    /* The rest is about the library for convolutions and matmuls.  Functions that are NULL accept nothing. */
    bool prefers_nhwc;         /* convolutions want channels-last */
    int64_t storage_alignment; /* of the offsets of values in an arena, a power of two; 0: TARGET_ALIGNMENT */
    struct compact_choice compact;
    /** Kernels read lent constants in place, also if they are not aligned to their elements. */
    bool reads_unaligned;
    /** The packed weights of all graphs of a context, for sharing.  NULL: nothing is shared.
     */
    struct constant_pool *pool;
    /** Says that the other operand of a matmul with such weights of 4 or 8 bits may be rounded to 8 bits, block by block, and
     * that the processor multiplies bytes (isa.byte_products). */
    bool rounds_operands;
    /** Describes the device with work-groups that kernels run on.  NULL: a processor. */
    const struct gpu_facts *device;
    /** Returns whether a correct and fast primitive for node n exists (no reference implementation).  user is
     * the member below. */
    bool (*takes_node)(void *user, const struct node *n);
    /** Returns whether the library computes n, a node it takes, from narrower numbers, which was requested and is faster. */
    bool (*takes_low_precision)(void *user, const struct node *n);
    /**
     * Returns whether it then reads input `slot`, which is computed while the graph runs, as bfloat16, so that the input may
     * are in memory like that: as the operand of a cast to float32 that n reads, which takes_operand accepts.
     */
    bool (*takes_low_precision_input)(void *user, const struct node *n, uint32_t slot);
    /**
     * Returns whether the library reads input `slot` of n, a node it takes, through these nodes (transposes, by strides; a cast
     * that takes_low_precision_input asked for; in execution order, the last one is the producer of that input), so that they
     * may join n's cluster.
     */
    bool (*takes_operand)(void *user, const struct node *n, uint32_t slot, struct node *const *data_movement, uint32_t count);
    /**
     * Returns whether `next`, an element-wise node, can become an epilogue of library cluster `c` whose nodes (anchor first)
     * are nodes[0..count-1]; carried is the input slot of `next` that receives the cluster's result so far.
     */
    bool (*takes_epilogue)(void *user, struct node *const *nodes, uint32_t count, const struct node *next, uint32_t carried);
    /**
     * Returns whether the library computes these nodes in integer arithmetic that is exact.  In execution order they are
     * dequantizeLinear of an 8-bit input and of constant 8-bit weights, the node that multiplies them, what follows element by
     * element, and perhaps a quantizeLinear at the end.
     */
    bool (*takes_quantized)(void *user, struct node *const *nodes, uint32_t count);
    void *user;
};

/** Returns the row of the table for a target, or the baseline's for NULL.  The result is never NULL and is never freed. */
const struct target_facts *target_facts(const struct target *t);
/** Returns the row of a kind of device, as target_gpu_facts does, for what passes decide. */
const struct target_facts *target_device_facts(bool is_processor);
/** Makes a target one for graphs of any size: where generated code is as fast as the library, which makes a primitive for each
 * size, it computes everything of float32. */
void target_vary_sizes(struct target *t, WNNPrecision precision);
/** Returns the facts of a target that has little room for code: loops are not unrolled, and no kernel is there for speed alone.
 */
struct target_facts target_facts_for_size(const struct target *t);
/**
 * Returns the row for whatever must not depend on the machine.  How many threads divide a kernel of a serialized program, and
 * which precision its library steps have, were decided where it was compiled and have to come out alike where it is loaded.
 */
const struct target_facts *target_facts_everywhere(void);
/** Returns about how many microseconds that much work takes on one thread. */
double target_microseconds(double operations, double bytes);
/** Returns the i-th row, or NULL after the last one, for tests and tools. */
const struct target_facts *target_facts_at(uint32_t i);
/** Returns whether operands of matmuls may be rounded to 8 bits on that processor, where this precision was requested. */
static inline bool target_may_round(const struct target *t, WNNPrecision precision, bool deterministic)
{
    return precision == WNNPrecision_Int8 && !deterministic && t->isa.byte_products != BYTES_NONE;
}
/** Returns the lanes of a float32 vector, which are at least 1. */
static inline int64_t target_lanes(const struct target *t)
{
    return t->isa.vector_bits >= 64 ? t->isa.vector_bits / 32 : 1;
}
/** Returns the lanes of the vectors that kernels of stages compute: those of a device's items, or target_lanes. */
static inline int64_t target_stage_lanes(const struct target *t)
{
    return t->device ? (int64_t)t->device->vector_lanes : target_lanes(t);
}
/** Returns how many macro-tiles run at the same time. */
static inline int64_t target_stage_threads(const struct target *t)
{
    return t->device ? (int64_t)t->device->compute_units : t->thread_count ? (int64_t)t->thread_count : 1;
}
/** Returns the bytes of the L2 cache: t->cache_bytes, or the table's. */
static inline double target_l2_bytes(const struct target *t)
{
    return t->cache_bytes > 0 ? (double)t->cache_bytes : (double)target_facts(t)->cache.l2_bytes;
}
