/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Holds the table of facts and costs, which has one row for each kind of machine, and finds the row of a target.
 * docs/contractions.md and docs/winograd.md say how the numbers of contractions were measured, and on which machines.  What was
 * measured on one kind only is the same in all rows.
 */
#include "ir/target/target.h"

#include "ir/kernel/kernel.h"
#include "ir/target/prices.h"

/* ---- what was measured once: all rows have it, and name what differs ---- */

#define CALL_FACTS                                                                                                             \
    .wake = 2.0, .thread_work = 15.0, .kernel_call = 0.02, .spin = 100, .team_call = 1.0, .warm_operations = 5e7,              \
    .warm_bytes = 1e7

#define OPERATION_COSTS                                                                                                        \
    [OPERATION_NONE] = 0, [OPERATION_SIMPLE] = 1, [OPERATION_EXTREME] = 1, [OPERATION_DIVISION] = 4,                           \
    [OPERATION_WHOLE_DIVISION] = 16, [OPERATION_ROUNDING] = 4, [OPERATION_EXPONENTIAL] = 16, [OPERATION_TRIGONOMETRIC] = 64,   \
    [OPERATION_POWER] = 64
#define OPERATION_FACTS .cost = {OPERATION_COSTS}, .lane_sum = 24, .per_byte = 4, .normalization = 8, .lookup = 4

#define LOOP_FACTS                                                                                                             \
    .vector_block = 4096, .vector_block_least = 64, .units_wanted = 16, .run_least = KERNEL_RUN_LEAST, .assumed_lanes = 16,    \
    .row_lanes = 16, .sum_vectors = 4, .few_rows = 4, .strided_most = 4, .permuted_most = 4, .shuffle_cost = 2,                \
    .repeat_most = 8, .unroll_points = 16, .window_slack = 16, .window_separate = 2, .single_points = 4,                       \
    .heavy_exponentials = 2, .heaviest_exponentials = 3, .recompute_cost = 8, .copied_cost = 6, .transposed_cost = 48,         \
    .common_most = 64

#define FUSION_FACTS {.repeat_expensive = 1.5, .repeat_cheap = 4, .more_work = 1.25, .b_caches = 2}

/* Rows differ here by what their registers hold. */
#define TILE_FACTS .accumulators = 32, .vectors_most = 8, .vectors_most_tall = 4, .m_block = 84, .m_block_padded = 112
#define PANEL_FACTS .vectors = 2, .vectors_short = 3, .vectors_few = 4, .vectors_most = 8, .piece_least = 16
#define WINDOW_FACTS(multiplies) {.steps = 4, .unrolled = multiplies}
#define CONTRACTION_FACTS                                                                                                      \
    .chains = 8, .chained_sums = 4, .row_pointers = 8, .few_rows = 6, .recurrent_rows = 1, .tall_rows = 14,                    \
    .compact_bytes = 1 << 17, .zeros_most = 4096, .float64_multiplies = 2048, .code = 0.02, .empty_lanes = 1.5

#define WINOGRAD_FACTS .tiles_most = 104, .channel_block = 32, .scratch_share = 0.8, .spill = 1.4, .special = 1.03, .worth = 0.9
#define ATTENTION_FACTS(share)                                                                                                 \
    .vectors_vary = 4, .rows_least = 16, .bounded_least = 5, .few_rows = 15, .rows_at_once = 7, .keys_least = 8,               \
    .scores_share = 0.5, .block_share = (share), .block_least = 32, .bounded_keys = 64, .guarded_keys = 40,                    \
    .guarded_mask = 0.25
#define CACHE_FACTS                                                                                                            \
    .l1_way_bytes = 4096, .l1_ways = 8, .row_bytes = 1 << 16, .l2_bytes = 1 << 20, .streams = 24, .ahead_bytes = 2048,         \
    .l2_hot_share = 0.25, .l2_reused_share = 0.5, .l2_paired_share = 0.75
#define RATE_FACTS                                                                                                             \
    .kernel_operations = 8e3, .kernel_bytes = 10e3, .converted_bytes = 35e3, .bfloat16_tiles = 8, .bfloat16_dot = 2,           \
    .bfloat16_dot_slow = 0.5
#define MULTIPLICATION_FACTS                                                                                                   \
    .compile = 5000, .compile_shared = 1500, .worth_bfloat16 = 0.8, .long_filter_width = 13, .long_filter_channels = 8,        \
    .one_channel = 0.2, .late_filter_results = 48, .ordered_columns = 512

/* ---- what several rows have ---- */

#define ALL_ROWS .call = {CALL_FACTS}, .operation = {OPERATION_FACTS}, .loop = {LOOP_FACTS}, .fusion = FUSION_FACTS
#define PROCESSOR_ATTENTION(tiled, share)                                                                                      \
    ATTENTION_FACTS(share), .vectors_most = 6, .vectors_tiled = (tiled), .few_rows_best = 2, .bounded_rows = 8, .tile = 0.5
/* What fewer or narrower registers allow than 32 of 512 bits. */
#define NARROW_TILE {TILE_FACTS, .padded_rows = {4, 0}}
#define NARROW_CONTRACTION                                                                                                     \
    {CONTRACTION_FACTS, .tile = NARROW_TILE, .panel = {PANEL_FACTS, .vectors_compact = 2}, .window = WINDOW_FACTS(400),        \
     .unrolled_steps = 144}
#define WIDE_CONTRACTION                                                                                                       \
    {CONTRACTION_FACTS, .tile = {TILE_FACTS, .padded_rows = {8, 7}}, .panel = {PANEL_FACTS, .vectors_compact = 3},             \
     .window = WINDOW_FACTS(400), .unrolled_steps = 288}

/* This was measured with vectors of 512 bits on processors where one such multiply-add begins in a cycle.  Narrower vectors
 * take as much longer as they have fewer lanes: rows name the share of the operations that comes of it. */
#define HALF_RATE_ROW                                                                                                          \
    ALL_ROWS, .cache = {CACHE_FACTS, .l2_between_calls = 1.0}, .rate = {RATE_FACTS, .l2_bytes = 90e3, .memory_bytes = 34e3}
#define UNMEASURED_MULTIPLICATION(share, library_share) MULTIPLICATION_FACTS, SLOWER_PRICES(share, library_share), .worth = 0.9

enum { FULL_RATE, HALF_RATE, AVX2, BASELINE, NEON, WEBASSEMBLY, DEVICE, DEVICE_PROCESSOR, ROW_COUNT };

static const struct target_facts rows[ROW_COUNT] = {
    /* This begins two multiply-adds of 512 bits in a cycle: Intel's server processors, Zen 5. */
    [FULL_RATE] = {.name = "avx512-full-rate",
                   ALL_ROWS,
                   .cache = {CACHE_FACTS, .l2_between_calls = 0.25},
                   .rate = {RATE_FACTS, .l2_bytes = 120e3, .memory_bytes = 28e3},
                   .contraction = WIDE_CONTRACTION,
                   .multiplication = {MULTIPLICATION_FACTS, FULL_RATE_PRICES, .worth = 0.94, .convolutions = true,
                                      .depthwise = true, .dense_batches = true, .fixed_sizes = true, .bytes = true},
                   .winograd = {WINOGRAD_FACTS, .kinds = 4},
                   .attention = {PROCESSOR_ATTENTION(1, 4), .scores_least = 1, .scores_whole = 1}},
    [HALF_RATE] = {.name = "avx512-half-rate",
                   HALF_RATE_ROW,
                   .contraction = WIDE_CONTRACTION,
                   /* Of depthwise convolutions half the time was measured with these vectors on another processor. */
                   .multiplication = {MULTIPLICATION_FACTS, HALF_RATE_PRICES, .worth = 0.9, .depthwise = true,
                                      .fixed_sizes = true},
                   .winograd = {WINOGRAD_FACTS, .kinds = 4},
                   .attention = {PROCESSOR_ATTENTION(1, 1), .scores_least = 1, .scores_whole = 1}},
    [AVX2] = {.name = "avx2",
              HALF_RATE_ROW,
              .contraction = NARROW_CONTRACTION,
              .multiplication = {MULTIPLICATION_FACTS, AVX2_PRICES, .worth = 0.98, .library_results = 16, .convolutions = true,
                                 .groups = true, .depthwise = true, .fixed_sizes = true},
              .winograd = {WINOGRAD_FACTS, .kinds = 4},
              .attention = {PROCESSOR_ATTENTION(2, 1), .packed_tiles = 8, .scores_least = 16 << 20, .scores_whole = 512 << 10}},
    /* This has vectors of 128 bits in 16 registers: the first x86-64.  There larger tiles of Winograd were slower. */
    [BASELINE] = {.name = "baseline",
                  HALF_RATE_ROW,
                  .contraction = NARROW_CONTRACTION,
                  .multiplication = {UNMEASURED_MULTIPLICATION(0.25, 0.25), .depthwise = true},
                  .winograd = {WINOGRAD_FACTS, .kinds = 1},
                  .attention = {PROCESSOR_ATTENTION(1, 1), .scores_least = 64 << 20, .scores_whole = 64 << 20}},
    /* This has them in 32 registers: aarch64, and others.  Nothing was measured there.  The numbers are the baseline's, but
     * that oneDNN 2.6 has only portable C for it, which is taken to reach a quarter of what its code for x86-64 does. */
    [NEON] = {.name = "neon",
              HALF_RATE_ROW,
              .contraction = NARROW_CONTRACTION,
              .multiplication = {UNMEASURED_MULTIPLICATION(0.25, 0.0625), .depthwise = true},
              .winograd = {WINOGRAD_FACTS, .kinds = 1},
              .attention = {PROCESSOR_ATTENTION(1, 1), .scores_least = 64 << 20, .scores_whole = 64 << 20}},
    /* An engine loads all operands of unrolled steps first: what the registers do not hold goes to the stack and back. */
    [WEBASSEMBLY] = {.name = "webassembly",
                     HALF_RATE_ROW,
                     .contraction = {CONTRACTION_FACTS, .tile = NARROW_TILE, .panel = {PANEL_FACTS, .vectors_compact = 2},
                                     .window = WINDOW_FACTS(8), .unrolled_steps = 8},
                     .multiplication = {UNMEASURED_MULTIPLICATION(0.25, 0.25)},
                     .winograd = {WINOGRAD_FACTS, .kinds = 1},
                     .attention = {PROCESSOR_ATTENTION(1, 1), .scores_least = 64 << 20, .scores_whole = 64 << 20}},
    /* Local memory of a GPU holds the transformed inputs and products of two tiles or so: those of a macro-tile pass through
     * the last cache, which reads a number in the time of some twenty multiply-adds, and matmuls of stages read it there, too.
     * Direct convolutions come through local memory.  So none is expected to gain. A GPU's matmuls from local memory are
     * expected to be faster than those of stages, until the scores leave its last cache between one kernel and the next.  64
     * rows have 64 multiply-adds for each number of K and V that is read. */
    [DEVICE] = {.name = "device",
                HALF_RATE_ROW,
                .contraction = NARROW_CONTRACTION,
                .multiplication = {MULTIPLICATION_FACTS, DEVICE_PRICES, .worth = 0.9},
                .winograd = {WINOGRAD_FACTS, .kinds = 1},
                .attention = {ATTENTION_FACTS(1), .vectors_most = 16, .vectors_tiled = 1, .scores_least = 32 << 20,
                              .scores_whole = 32 << 20, .few_rows_best = 15, .bounded_rows = 15, .tile = 4}},
    /* On PoCL transformed convolutions take what the model says of a processor, and direct ones, whose tiles read both operands
     * for every window element, reach a smaller share of the peak.  Of channels that lie one after the other the transforms
     * gather and scatter.
     * Attention in one kernel was faster there, or at most 4 % slower, from 185 KiB of scores on and for all numbers of few
     * rows, and it saves the memory; with 48 KiB it was slower. */
    [DEVICE_PROCESSOR] = {.name = "processor-as-device",
                          HALF_RATE_ROW,
                          .contraction = NARROW_CONTRACTION,
                          .multiplication = {MULTIPLICATION_FACTS, DEVICE_PROCESSOR_PRICES, .worth = 0.9},
                          .winograd = {WINOGRAD_FACTS, .kinds = 1},
                          .attention = {ATTENTION_FACTS(1), .vectors_most = 6, .vectors_tiled = 1, .scores_least = 128 << 10,
                                        .scores_whole = 128 << 10, .few_rows_best = 15, .bounded_rows = 15, .tile = 0.5}},
};

const struct target_facts *target_facts(const struct target *t)
{
    return !t                                                   ? &rows[BASELINE]
           : t->facts                                           ? t->facts
           : t->isa.loads_first                                 ? &rows[WEBASSEMBLY]
           : t->isa.vector_bits >= 512                          ? &rows[t->full_rate ? FULL_RATE : HALF_RATE]
           : t->isa.vector_bits >= 256                          ? &rows[AVX2]
           : t->isa.vector_bits >= 128 && t->isa.registers > 16 ? &rows[NEON]
                                                                : &rows[BASELINE];
}

const struct target_facts *target_device_facts(bool is_processor)
{
    return &rows[is_processor ? DEVICE_PROCESSOR : DEVICE];
}

struct target_facts target_facts_for_size(const struct target *t)
{
    struct target_facts facts = *target_facts(t);

    facts.loop.unroll_points = facts.contraction.unrolled_steps = 1;
    facts.winograd.worth = 0;
    return facts;
}

void target_vary_sizes(struct target *t, WNNPrecision precision)
{
    t->sizes_vary = true;
    if (target_facts(t)->multiplication.fixed_sizes && precision == WNNPrecision_Float32 && !t->device)
        t->takes_node = NULL;
}

const struct target_facts *target_facts_everywhere(void)
{
    return &rows[FULL_RATE];
}

double target_microseconds(double operations, double bytes)
{
    const struct rate_facts *rate = &target_facts_everywhere()->rate;
    const double compute = operations / rate->kernel_operations, memory = bytes / rate->kernel_bytes;

    return compute > memory ? compute : memory;
}

const struct target_facts *target_facts_at(uint32_t i)
{
    return i < ROW_COUNT ? &rows[i] : NULL;
}

/* ---- devices with work-groups ---- */

/* What both rows have. */
#define DEVICE_FACTS                                                                                                           \
    .group_items = 256, .local_bytes = 32 << 10, .item_iterations = 4, .groups_per_unit = 8, .tile_load = 1, .tile_chains = 8, \
    .tile_unpack = 4

/* A GPU's neighbouring items read neighbouring words of a panel. */
#define GPU_FACTS                                                                                                              \
    .name = "gpu", DEVICE_FACTS, .compute_units = 16, .lanes = 32, .row_iterations = 64, .stage_groups = 2,                    \
    .stage_items = 128, .stage_local_share = 0.5, .vector_lanes = 4, .tile_numbers = 64, .tile_gather = 1,                     \
    .tile_iterations = 64, .tile_items = 16, .local = {.bring = 4, .wait = 150}, .panel_columns = UINT32_MAX, .kept_bytes = 0
/* Items of a group run one by one here, so that barriers would cost, and save nothing; groups of one size share code. */
#define PROCESSOR_FACTS                                                                                                        \
    .name = "processor as a device", DEVICE_FACTS, .compute_units = 2, .lanes = 16, .row_iterations = UINT32_MAX,              \
    .stage_groups = 4, .stage_items = 1, .stage_local_share = 0, .vector_strides = true, .vector_lanes = 16,                   \
    .tile_numbers = 16 * 16, .tile_gather = 1.5, .tile_iterations = 0, .tile_items = 1, .local = {.bring = 4},                 \
    .panel_columns = 64, .kept_bytes = 16 << 10

const struct gpu_facts *target_gpu_facts(bool is_processor)
{
    static const struct gpu_facts gpu = {GPU_FACTS}, processor = {PROCESSOR_FACTS};

    return is_processor ? &processor : &gpu;
}

/* What the schedules of contractions and of points turn on (ir/schedule/schedule_gpu_tile.c, schedule_gpu_lanes.c). */
#define TUNABLE(name_, member, ...)                                                                                            \
    {.name = (name_),                                                                                                          \
     .offset = offsetof(struct gpu_facts, member),                                                                             \
     .values = {__VA_ARGS__},                                                                                                  \
     .value_count = sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)}
static const struct gpu_tunable tunables[] = {
    TUNABLE("tile_numbers", tile_numbers, 16, 32, 64, 128, 256), TUNABLE("vector_lanes", vector_lanes, 4, 8, 16),
    TUNABLE("tile_items", tile_items, 1, 2, 4, 8, 16), TUNABLE("tile_iterations", tile_iterations, 0, 8, 16, 32, 64),
    TUNABLE("item_iterations", item_iterations, 1, 2, 4, 8, 16)};

const struct gpu_tunable *target_gpu_tunable(uint32_t i)
{
    return i < sizeof tunables / sizeof *tunables ? &tunables[i] : NULL;
}

/* ---- engines ---- */

const struct engine_facts *target_engine_facts(void)
{
    static const struct engine_facts facts = {
        .gpu_share = 0.3, .worth = 1.5, .worth_fast = 1, .worth_low = 1, .memory_least = UINT64_C(1) << 30};

    return &facts;
}

/* Makers' guides say so.  The rows have the least that is in use: NVIDIA's units do 64 (Turing, A100) or 128 multiply-adds in a
 * cycle, AMD's 64, or twice as many where a driver counts them in pairs, and one of Intel's is a pair of vectors of 4. */
static const struct gpu_maker makers[] = {{.vendor = 0x10DE, .name = "NVIDIA", .unit_multiplies = 64, .takes_ptx = true},
                                          {.vendor = 0x1002, .name = "AMD", .unit_multiplies = 64},
                                          {.vendor = 0x8086, .name = "Intel", .unit_multiplies = 8},
                                          {.vendor = 0, .name = "others", .unit_multiplies = 16}};

const struct gpu_maker *target_gpu_maker_at(uint32_t i)
{
    return i < sizeof makers / sizeof *makers ? &makers[i] : NULL;
}

const struct gpu_maker *target_gpu_maker(uint32_t vendor)
{
    const struct gpu_maker *m = makers;

    while (m->vendor && m->vendor != vendor)
        m++;
    return m;
}
