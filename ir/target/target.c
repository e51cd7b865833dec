/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Holds the table of facts and costs, which has one row for each kind of machine, and finds the row of a target.
 * docs/contractions.md and docs/winograd.md say how the numbers of contractions were measured, and on which machines.  What was
 * measured on one kind only is the same in all rows.
 */
#include "ir/target/target.h"

#include <stddef.h>

#include "ir/kernel/kernel.h"

/* ---- what was measured once: all rows have it ---- */

#define CALL_FACTS                                                                                                             \
    {.wake = 2.0,                                                                                                              \
     .thread_work = 15.0,                                                                                                      \
     .kernel_call = 0.02,                                                                                                      \
     .spin = 100,                                                                                                              \
     .team_call = 1.0,                                                                                                         \
     .warm_operations = 5e7,                                                                                                   \
     .warm_bytes = 1e7}

#define OPERATION_FACTS                                                                                                        \
    {.cost = {[OPERATION_NONE] = 0,                                                                                            \
              [OPERATION_SIMPLE] = 1,                                                                                          \
              [OPERATION_EXTREME] = 1,                                                                                         \
              [OPERATION_DIVISION] = 4,                                                                                        \
              [OPERATION_WHOLE_DIVISION] = 16,                                                                                 \
              [OPERATION_ROUNDING] = 4,                                                                                        \
              [OPERATION_EXPONENTIAL] = 16,                                                                                    \
              [OPERATION_TRIGONOMETRIC] = 64,                                                                                  \
              [OPERATION_POWER] = 64},                                                                                         \
     .lane_sum = 24,                                                                                                           \
     .per_byte = 4,                                                                                                            \
     .normalization = 8,                                                                                                       \
     .lookup = 4}

#define LOOP_FACTS                                                                                                             \
    {.vector_block = 4096,                                                                                                     \
     .vector_block_least = 64,                                                                                                 \
     .units_wanted = 16,                                                                                                       \
     .run_least = KERNEL_RUN_LEAST,                                                                                            \
     .assumed_lanes = 16,                                                                                                      \
     .row_lanes = 16,                                                                                                          \
     .sum_vectors = 4,                                                                                                         \
     .few_rows = 4,                                                                                                            \
     .strided_most = 4,                                                                                                        \
     .permuted_most = 4,                                                                                                       \
     .shuffle_cost = 2,                                                                                                        \
     .repeat_most = 8,                                                                                                         \
     .unroll_points = 16,                                                                                                      \
     .window_slack = 16,                                                                                                       \
     .window_separate = 2,                                                                                                     \
     .single_points = 4,                                                                                                       \
     .heavy_exponentials = 2,                                                                                                  \
     .heaviest_exponentials = 3,                                                                                               \
     .recompute_cost = 8,                                                                                                      \
     .copied_cost = 6,                                                                                                         \
     .transposed_cost = 48}

#define FUSION_FACTS {.repeat_dear = 1.5, .repeat_cheap = 4, .b_caches = 2}

/* ---- what differs ---- */

/* preferred, rows and rows_second say what 32 registers of 512 bits allow, and what fewer or narrower ones do; unrolled is
 * unrolled_steps. */
#define CONTRACTION_FACTS(preferred, rows, rows_second, unrolled)                                                              \
    {.tile = {.accumulators = 32,                                                                                              \
              .vectors_most = 8,                                                                                               \
              .vectors_most_tall = 4,                                                                                          \
              .m_block = 84,                                                                                                   \
              .m_block_even = 96,                                                                                              \
              .m_block_padded = 112,                                                                                           \
              .padded_rows = {(rows), (rows_second)}},                                                                         \
     .panel = {.vectors = 2,                                                                                                   \
               .vectors_preferred = (preferred),                                                                               \
               .vectors_short = 3,                                                                                             \
               .vectors_few = 4,                                                                                               \
               .vectors_most = 8,                                                                                              \
               .piece_least = 16},                                                                                             \
     .chains = 8,                                                                                                              \
     .chained_sums = 4,                                                                                                        \
     .unrolled_steps = (unrolled),                                                                                             \
     .row_pointers = 8,                                                                                                        \
     .few_rows = 6,                                                                                                            \
     .recurrent_rows = 1,                                                                                                      \
     .tall_rows = 14,                                                                                                          \
     .compact_bytes = 1 << 17,                                                                                                 \
     .zeros_most = 4096,                                                                                                       \
     .float64_multiplies = 2048,                                                                                               \
     .code = 0.02,                                                                                                             \
     .narrow = 1.15,                                                                                                           \
     .short_tile = 1.05,                                                                                                       \
     .split_near = 1.12,                                                                                                       \
     .split_far = 1.3,                                                                                                         \
     .empty_lanes = 1.5}

#define WINOGRAD_ROW(direct, planar, planar_more, matmul, input, output)                                                       \
    {.tiles_most = 104,                                                                                                        \
     .tiles_least = 16,                                                                                                        \
     .channel_block = 32,                                                                                                      \
     .channels_least = 16,                                                                                                     \
     .direct_speed = (direct),                                                                                                 \
     .planar_speed = (planar),                                                                                                 \
     .planar_tile = (planar_more),                                                                                             \
     .direct_weight = 20,                                                                                                      \
     .matmul_speed = (matmul),                                                                                                 \
     .input_tile = (input),                                                                                                    \
     .input_vector = 5,                                                                                                        \
     .output_tile = (output),                                                                                                  \
     .weight_first = 16,                                                                                                       \
     .weight_far = 7,                                                                                                          \
     .weight_near = 3,                                                                                                         \
     .macro_tile = 3000,                                                                                                       \
     .scratch_share = 0.8,                                                                                                     \
     .special = 1.03,                                                                                                          \
     .worth = 0.9}
#define WINOGRAD_FACTS WINOGRAD_ROW(0.92, 0.92, 0, 0.90, 230, 190)

/* most, least, few, bounded and tile_rows are vectors_most, scores_least, few_rows_best, bounded_rows and tile. */
#define ATTENTION_ROW(most, least, few, bounded, tile_rows)                                                                    \
    {.vectors_most = (most),                                                                                                   \
     .rows_least = 16,                                                                                                         \
     .few_rows = 15,                                                                                                           \
     .rows_at_once = 7,                                                                                                        \
     .few_rows_best = (few),                                                                                                   \
     .bounded_rows = (bounded),                                                                                                \
     .keys_least = 8,                                                                                                          \
     .scores_least = (least),                                                                                                  \
     .scores_share = 0.5,                                                                                                      \
     .block_share = 1.0,                                                                                                       \
     .block_least = 32,                                                                                                        \
     .bounded_keys = 64,                                                                                                       \
     .tile = (tile_rows),                                                                                                      \
     .guarded_keys = 40,                                                                                                       \
     .guarded_mask = 0.25}
#define ATTENTION_FACTS(scores) ATTENTION_ROW(6, scores, 2, 8, 0.5)

#define CACHE_FACTS(between_calls)                                                                                             \
    {.l1_way_bytes = 4096,                                                                                                     \
     .l1_ways = 8,                                                                                                             \
     .row_bytes = 1 << 16,                                                                                                     \
     .l2_bytes = 1 << 20,                                                                                                      \
     .streams = 24,                                                                                                            \
     .l2_hot_share = 0.25,                                                                                                     \
     .l2_reused_share = 0.5,                                                                                                   \
     .l2_paired_share = 0.75,                                                                                                  \
     .l2_between_calls = (between_calls)}

#define RATE_FACTS(l2, memory)                                                                                                 \
    {.kernel_operations = 8e3,                                                                                                 \
     .kernel_bytes = 10e3,                                                                                                     \
     .l2_bytes = (l2),                                                                                                         \
     .memory_bytes = (memory),                                                                                                 \
     .converted_bytes = 35e3,                                                                                                  \
     .bfloat16_tiles = 8,                                                                                                      \
     .bfloat16_dot = 2,                                                                                                        \
     .bfloat16_dot_slow = 0.5}

/* This was measured with vectors of 512 bits on processors where one such multiply-add begins in a cycle.  Narrower vectors
 * take as much longer as they have fewer lanes; width is their share of 512 bits. */
#define HALF_RATE_ROW(kind, width, contraction_facts, winograd_facts, attention_facts)                                         \
    {.name = (kind),                                                                                                           \
     .cache = CACHE_FACTS(1.0),                                                                                                \
     .rate = RATE_FACTS(90e3, 34e3),                                                                                           \
     .call = CALL_FACTS,                                                                                                       \
     .operation = OPERATION_FACTS,                                                                                             \
     .loop = LOOP_FACTS,                                                                                                       \
     .fusion = FUSION_FACTS,                                                                                                   \
     .contraction = contraction_facts,                                                                                         \
     .multiplication =                                                                                                         \
         {.library =                                                                                                           \
              {.call = 0.6, .matrix = 0.15, .alone = 0.0, .operations = 117e3 * (width), .speed = 0.75, .exposed = 0.50},      \
          .packed =                                                                                                            \
              {.call = 0.1, .matrix = 0.0, .alone = 30.0, .operations = 111e3 * (width), .speed = 1.00, .exposed = 0.25},      \
          .unpacked =                                                                                                          \
              {.call = 0.1, .matrix = 0.0, .alone = 30.0, .operations = 10e3 * (width), .speed = 0.75, .exposed = 1.00},       \
          .worth = 0.9,                                                                                                        \
          .worth_tall = 5.0,                                                                                                   \
          .worth_bfloat16 = 0.8,                                                                                               \
          .long_filter_width = 13,                                                                                             \
          .long_filter_channels = 8,                                                                                           \
          .late_filter_results = 48},                                                                                          \
     .winograd = winograd_facts,                                                                                               \
     .attention = attention_facts}

enum { FULL_RATE, HALF_RATE, AVX2, BASELINE, WEBASSEMBLY, DEVICE, DEVICE_PROCESSOR, ROW_COUNT };

static const struct target_facts rows[ROW_COUNT] = {
    /* This begins two multiply-adds of 512 bits in a cycle: Intel's server processors, Zen 5. */
    [FULL_RATE] =
        {.name = "avx512-full-rate",
         .cache = CACHE_FACTS(0.25),
         .rate = RATE_FACTS(120e3, 28e3),
         .call = CALL_FACTS,
         .operation = OPERATION_FACTS,
         .loop = LOOP_FACTS,
         .fusion = FUSION_FACTS,
         .contraction = CONTRACTION_FACTS(3, 8, 7, 288),
         .multiplication =
             {.library = {.call = 0.6, .matrix = 0.15, .alone = 0.0, .operations = 163e3, .speed = 0.75, .exposed = 1.00},
              .packed = {.call = 0.1, .matrix = 0.0, .alone = 30.0, .operations = 165e3, .speed = 1.00, .exposed = 0.20},
              .unpacked = {.call = 0.1, .matrix = 0.0, .alone = 30.0, .operations = 15e3, .speed = 0.75, .exposed = 1.00},
              .worth = 0.94,
              .worth_tall = 5.0,
              .worth_bfloat16 = 0.8,
              .long_filter_width = 13,
              .long_filter_channels = 8,
              .late_filter_results = 48,
              .convolutions = true,
              .dense_batches = true},
         .winograd = WINOGRAD_FACTS,
         .attention = ATTENTION_FACTS(1)},
    [HALF_RATE] = HALF_RATE_ROW("avx512-half-rate", 1, CONTRACTION_FACTS(3, 8, 7, 288), WINOGRAD_FACTS, ATTENTION_FACTS(1)),
    [AVX2] = HALF_RATE_ROW("avx2", 0.5, CONTRACTION_FACTS(2, 4, 0, 288), WINOGRAD_FACTS, ATTENTION_FACTS(16 << 20)),
    /* This has vectors of 128 bits: the first x86-64, and other architectures. */
    [BASELINE] = HALF_RATE_ROW("baseline", 0.25, CONTRACTION_FACTS(2, 4, 0, 288), WINOGRAD_FACTS, ATTENTION_FACTS(64 << 20)),
    /* An engine loads all operands of unrolled steps first: what the registers do not hold goes to the stack and back. */
    [WEBASSEMBLY] =
        HALF_RATE_ROW("webassembly", 0.25, CONTRACTION_FACTS(2, 4, 0, 8), WINOGRAD_FACTS, ATTENTION_FACTS(64 << 20)),
    /* Local memory of a GPU holds the transformed inputs and products of two tiles or so: those of a macro-tile pass through
     * the last cache, which reads a number in the time of some twenty multiply-adds, and matmuls of stages read it there, too.
     * Direct convolutions come through local memory.  So none is expected to gain. A GPU's matmuls from local memory are
     * expected to be faster than those of stages, until the scores leave its last cache between one kernel and the next.  64
     * rows have 64 multiply-adds for each number of K and V that is read. */
    [DEVICE] = HALF_RATE_ROW("device", 0.25, CONTRACTION_FACTS(2, 4, 0, 288), WINOGRAD_ROW(0.8, 0.8, 0, 0.4, 640, 640),
                             ATTENTION_ROW(16, 32 << 20, 15, 15, 4)),
    /* On PoCL transformed convolutions take what the model says of a processor, and direct ones, whose tiles read both operands
     * for every window element, reach a smaller share of the peak.  Of channels that lie one behind the other the transforms
     * gather and scatter.
     * Attention in one kernel was faster there, or at most 4 % slower, from 185 KiB of scores on and for all numbers of few
     * rows, and it saves the memory; with 48 KiB it was slower. */
    [DEVICE_PROCESSOR] = HALF_RATE_ROW("processor-as-device", 0.25, CONTRACTION_FACTS(2, 4, 0, 288),
                                       WINOGRAD_ROW(0.31, 0.6, 1500, 0.90, 230, 190), ATTENTION_ROW(6, 128 << 10, 15, 15, 0.5)),
};

const struct target_facts *target_facts(const struct target *t)
{
    return !t                          ? &rows[BASELINE]
           : t->facts                  ? t->facts
           : t->isa.loads_first        ? &rows[WEBASSEMBLY]
           : t->isa.vector_bits >= 512 ? &rows[t->full_rate ? FULL_RATE : HALF_RATE]
           : t->isa.vector_bits >= 256 ? &rows[AVX2]
                                       : &rows[BASELINE];
}

const struct target_facts *target_device_facts(bool is_processor)
{
    return &rows[is_processor ? DEVICE_PROCESSOR : DEVICE];
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

bool target_may_round(const struct target *t, WNNPrecision precision, bool deterministic)
{
    return precision == WNNPrecision_Int8 && !deterministic && t->isa.byte_products != BYTES_NONE;
}

int64_t target_lanes(const struct target *t)
{
    return t->isa.vector_bits >= 64 ? t->isa.vector_bits / 32 : 1;
}

int64_t target_stage_lanes(const struct target *t)
{
    return t->device ? (int64_t)t->device->vector_lanes : target_lanes(t);
}

int64_t target_stage_threads(const struct target *t)
{
    return t->device ? (int64_t)t->device->compute_units : t->thread_count ? (int64_t)t->thread_count : 1;
}

double target_l2_bytes(const struct target *t)
{
    return t->cache_bytes > 0 ? (double)t->cache_bytes : (double)target_facts(t)->cache.l2_bytes;
}

/* ---- devices with work-groups ---- */

/* No device has these instructions until a probe has found them (runtime/engine/opencl/opencl_matrix.c).  The numbers are those
 * of NVIDIA's data sheets for units of compute capability 8.0 and 9.0, and its guides' for the time that memory takes. */
#define MATRIX_FACTS                                                                                                           \
    {.items = 0,                                                                                                               \
     .error = 1,                                                                                                               \
     .products = 1024,                                                                                                         \
     .plain_products = 32,                                                                                                     \
     .local_bytes = 128,                                                                                                       \
     .global_bytes = 32,                                                                                                       \
     .latency = 700,                                                                                                           \
     .iterations = 32,                                                                                                         \
     .sums = 64}

const struct gpu_facts *target_gpu_facts(bool is_processor)
{
    static const struct gpu_facts gpu = {.name = "gpu",
                                         .compute_units = 16,
                                         .lanes = 32,
                                         .group_items = 256,
                                         .local_bytes = 32 << 10,
                                         .row_iterations = 64,
                                         .item_iterations = 4,
                                         .groups_per_unit = 8,
                                         .stage_groups = 2,
                                         .stage_items = 128,
                                         .stage_local_share = 0.5,
                                         .vector_lanes = 4,
                                         .tile_numbers = 64,
                                         .tile_load = 1,
                                         .tile_gather = 1,
                                         .tile_iterations = 8,
                                         .tile_chains = 8,
                                         .tile_items = 16,
                                         .tile_bring = 4,
                                         .tile_unpack = 4,
                                         .panel_columns = UINT32_MAX /* neighbouring items read neighbouring words */,
                                         .kept_bytes = 0,
                                         .matrix = MATRIX_FACTS};
    static const struct gpu_facts processor = {.name = "processor as a device",
                                               .compute_units = 2,
                                               .lanes = 16,
                                               .group_items = 256,
                                               .local_bytes = 32 << 10,
                                               .row_iterations = UINT32_MAX, /* a group's items run one by one */
                                               .item_iterations = 4,
                                               .groups_per_unit = 8,
                                               .stage_groups = 4,
                                               .stage_items = 1, /* barriers would cost, and save nothing */
                                               .stage_local_share = 0,
                                               .vector_strides = true,
                                               .vector_lanes = 16,
                                               .tile_numbers = 16 * 16,
                                               .tile_load = 1,
                                               .tile_gather = 1.5,
                                               .tile_iterations = 0,
                                               .tile_chains = 8,
                                               .tile_items = 1 /* groups of one size share code */,
                                               .tile_bring = 4,
                                               .tile_unpack = 4,
                                               .panel_columns = 64,
                                               .kept_bytes = 16 << 10,
                                               .matrix = MATRIX_FACTS};

    return is_processor ? &processor : &gpu;
}

/* What the schedules of contractions and of points turn on (ir/schedule/schedule_gpu_tile.c, schedule_gpu_lanes.c). */
static const struct gpu_tunable tunables[] = {
    {"tile_numbers", offsetof(struct gpu_facts, tile_numbers), {16, 32, 64, 128, 256}, 5, false},
    {"vector_lanes", offsetof(struct gpu_facts, vector_lanes), {4, 8, 16}, 3, false},
    {"tile_items", offsetof(struct gpu_facts, tile_items), {1, 2, 4, 8, 16}, 5, false},
    {"tile_iterations", offsetof(struct gpu_facts, tile_iterations), {0, 8, 16, 32}, 4, false},
    {"item_iterations", offsetof(struct gpu_facts, item_iterations), {1, 2, 4, 8, 16}, 5, false},
    {"matrix_iterations", offsetof(struct gpu_facts, matrix.iterations), {16, 32, 64, 128}, 4, true},
    {"matrix_sums", offsetof(struct gpu_facts, matrix.sums), {16, 32, 64, 128}, 4, true}};

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
static const struct gpu_maker makers[] = {{0x10DE, "NVIDIA", 64, GPU_DOTS_PTX, true},
                                          {0x1002, "AMD", 64, GPU_DOTS_NONE, false},
                                          {0x8086, "Intel", 8, GPU_DOTS_NONE, false},
                                          {0, "others", 16, GPU_DOTS_NONE, false}};

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
