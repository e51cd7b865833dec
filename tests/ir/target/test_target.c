/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The table of facts and costs (ir/target/target.c): every fact of every row is in a plausible range, none was forgotten (0),
 * and a target finds its row.
 */
#include "ir/schedule/schedule.h"
#include "support/test.h"

/** A fact and between which values it lies on any machine, both included. */
struct range {
    const char *name;
    enum { INT64, UINT32, DOUBLE } kind;
    size_t offset, size;
    double low, high;
};

#define RANGE(kind, type, member, low, high) {#member, kind, offsetof(struct target_facts, member), sizeof(type), low, high}

static const struct range ranges[] = {
    RANGE(INT64, int64_t, cache.l1_way_bytes, 1 << 10, 1 << 16),
    RANGE(INT64, int64_t, cache.l1_ways, 2, 32),
    RANGE(INT64, int64_t, cache.row_bytes, 1 << 12, 1 << 20),
    RANGE(INT64, int64_t, cache.l2_bytes, 1 << 17, 1 << 26),
    RANGE(INT64, int64_t, cache.streams, 4, 128),
    RANGE(INT64, int64_t, cache.ahead_bytes, 256, 4096),
    RANGE(DOUBLE, double, cache.l2_hot_share, 0.05, 1),
    RANGE(DOUBLE, double, cache.l2_reused_share, 0.05, 1),
    RANGE(DOUBLE, double, cache.l2_paired_share, 0.05, 1),
    RANGE(DOUBLE, double, cache.l2_between_calls, 0.05, 1),
    RANGE(DOUBLE, double, rate.kernel_operations, 1e2, 1e8),
    RANGE(DOUBLE, double, rate.kernel_bytes, 1e2, 1e7),
    RANGE(DOUBLE, double, rate.l2_bytes, 1e3, 1e7),
    RANGE(DOUBLE, double, rate.memory_bytes, 1e3, 1e7),
    RANGE(DOUBLE, double, rate.converted_bytes, 1e3, 1e7),
    RANGE(DOUBLE, double, rate.bfloat16_tiles, 1, 64),
    RANGE(DOUBLE, double, rate.bfloat16_dot, 1, 64),
    RANGE(DOUBLE, double, rate.bfloat16_dot_slow, 0.1, 4),
    RANGE(DOUBLE, double, call.wake, 0.1, 1e3),
    RANGE(DOUBLE, double, call.thread_work, 0.1, 1e4),
    RANGE(DOUBLE, double, call.kernel_call, 1e-3, 1e2),
    RANGE(DOUBLE, double, call.spin, 1, 1e4),
    RANGE(DOUBLE, double, call.team_call, 0.1, 1e3),
    RANGE(DOUBLE, double, call.warm_operations, 1e5, 1e9),
    RANGE(DOUBLE, double, call.warm_bytes, 1e5, 1e9),
    RANGE(DOUBLE, double, operation.lane_sum, 2, 100),
    RANGE(DOUBLE, double, operation.per_byte, 0.1, 1e3),
    RANGE(UINT32, uint32_t, operation.normalization, 2, 100),
    RANGE(UINT32, uint32_t, operation.lookup, 1, 100),
    RANGE(INT64, int64_t, loop.vector_block, 512, 1 << 16),
    RANGE(INT64, int64_t, loop.vector_block_least, 16, 512),
    RANGE(INT64, int64_t, loop.units_wanted, 2, 256),
    RANGE(INT64, int64_t, loop.run_least, 2, 64),
    RANGE(UINT32, uint32_t, loop.assumed_lanes, 2, 64),
    RANGE(UINT32, uint32_t, loop.row_lanes, 1, 64),
    RANGE(UINT32, uint32_t, loop.sum_vectors, 1, SCHEDULE_SUM_VECTORS_MAX),
    RANGE(UINT32, uint32_t, loop.few_rows, 1, SCHEDULE_INTERLEAVE_MAX),
    RANGE(INT64, int64_t, loop.strided_most, 1, 8),
    RANGE(INT64, int64_t, loop.permuted_most, 0, SCHEDULE_PERMUTED_MAX),
    RANGE(INT64, int64_t, loop.common_most, 1, 1 << 16),
    RANGE(DOUBLE, double, loop.shuffle_cost, 1, 8),
    RANGE(INT64, int64_t, loop.repeat_most, 1, 64),
    RANGE(UINT32, uint32_t, loop.unroll_points, 1, 256),
    RANGE(UINT32, uint32_t, loop.window_slack, 1, 1024),
    RANGE(INT64, int64_t, loop.window_separate, 1, 64),
    RANGE(INT64, int64_t, loop.single_points, 1, 64),
    RANGE(DOUBLE, double, loop.heavy_exponentials, 1, 10),
    RANGE(DOUBLE, double, loop.heaviest_exponentials, 1, 10),
    RANGE(DOUBLE, double, loop.recompute_cost, 1, 100),
    RANGE(DOUBLE, double, loop.copied_cost, 1, 100),
    RANGE(DOUBLE, double, loop.transposed_cost, 4, 1000),
    RANGE(DOUBLE, double, fusion.repeat_expensive, 1, 4),
    RANGE(DOUBLE, double, fusion.repeat_cheap, 1, 64),
    RANGE(DOUBLE, double, fusion.more_work, 1, 64),
    RANGE(DOUBLE, double, fusion.b_caches, 0.1, 16),
    RANGE(UINT32, uint32_t, contraction.tile.accumulators, 4, SCHEDULE_VECTORS_MAX),
    RANGE(UINT32, uint32_t, contraction.tile.vectors_most, 1, 32),
    RANGE(UINT32, uint32_t, contraction.tile.vectors_most_tall, 1, 16),
    RANGE(UINT32, uint32_t, contraction.tile.m_block, 8, 1024),
    RANGE(UINT32, uint32_t, contraction.tile.m_block_padded, 8, 1024),
    RANGE(UINT32, uint32_t, contraction.tile.padded_rows[0], 1, 32),
    RANGE(UINT32, uint32_t, contraction.tile.padded_rows[1], 0, 32), /* 0: there is no second */
    RANGE(UINT32, uint32_t, contraction.panel.vectors, 1, 8),
    RANGE(UINT32, uint32_t, contraction.panel.vectors_compact, 1, 8),
    RANGE(UINT32, uint32_t, contraction.panel.vectors_short, 1, 8),
    RANGE(UINT32, uint32_t, contraction.panel.vectors_few, 1, 16),
    RANGE(UINT32, uint32_t, contraction.panel.vectors_most, 1, 32),
    RANGE(UINT32, uint32_t, contraction.panel.piece_least, 4, 256),
    RANGE(UINT32, uint32_t, contraction.chains, 2, 64),
    RANGE(UINT32, uint32_t, contraction.chained_sums, 1, 8),
    RANGE(UINT32, uint32_t, contraction.unrolled_steps, 1, 4096),
    RANGE(UINT32, uint32_t, contraction.window.steps, 1, 64),
    RANGE(UINT32, uint32_t, contraction.window.unrolled, 1, 4096),
    RANGE(UINT32, uint32_t, contraction.row_pointers, 2, 32),
    RANGE(UINT32, uint32_t, contraction.few_rows, 1, 64),
    RANGE(UINT32, uint32_t, contraction.recurrent_rows, 1, 64),
    RANGE(UINT32, uint32_t, contraction.tall_rows, 4, 64),
    RANGE(UINT32, uint32_t, contraction.zeros_most, 64, 1 << 16),
    RANGE(UINT32, uint32_t, contraction.float64_multiplies, 16, 1 << 20),
    RANGE(DOUBLE, double, contraction.code, 0.001, 0.2),
    RANGE(DOUBLE, double, multiplication.tile.work, 0.05, 1),
    RANGE(DOUBLE, double, multiplication.tile.step, 0.01, 1),
    RANGE(DOUBLE, double, contraction.empty_lanes, 1, 4),
    RANGE(DOUBLE, double, multiplication.worth, 0.5, 1),
    RANGE(DOUBLE, double, multiplication.compile, 0, 1e5),
    RANGE(DOUBLE, double, multiplication.compile_shared, 0, 1e5),
    RANGE(DOUBLE, double, multiplication.worth_bfloat16, 0.5, 1),
    RANGE(INT64, int64_t, multiplication.long_filter_width, 1, 1024),
    RANGE(INT64, int64_t, multiplication.long_filter_channels, 1, 1024),
    RANGE(DOUBLE, double, multiplication.one_channel, 0, 10),
    RANGE(INT64, int64_t, multiplication.late_filter_results, 1, 4096),
    RANGE(INT64, int64_t, multiplication.ordered_columns, 1, INT32_MAX),
    RANGE(INT64, int64_t, contraction.compact_bytes, 1 << 10, 1 << 24),
    RANGE(INT64, int64_t, winograd.kinds, 1, 4),
    RANGE(INT64, int64_t, winograd.tiles_most, 16, 1024),
    RANGE(INT64, int64_t, winograd.channel_block, 4, 256),
    RANGE(DOUBLE, double, winograd.scratch_share, 0.05, 1),
    RANGE(DOUBLE, double, winograd.spill, 0, 16),
    RANGE(DOUBLE, double, winograd.special, 1, 2),
    RANGE(DOUBLE, double, winograd.worth, 0.5, 1),
    RANGE(INT64, int64_t, attention.vectors_most, 1, 64),
    RANGE(INT64, int64_t, attention.vectors_tiled, 1, 8),
    RANGE(INT64, int64_t, attention.vectors_vary, 1, 64),
    RANGE(INT64, int64_t, attention.rows_least, 1, 64),
    RANGE(INT64, int64_t, attention.few_rows, 1, 64),
    RANGE(INT64, int64_t, attention.rows_at_once, 1, 8),
    RANGE(INT64, int64_t, attention.few_rows_best, 1, 64),
    RANGE(INT64, int64_t, attention.bounded_rows, 1, 64),
    RANGE(INT64, int64_t, attention.bounded_least, 1, 64),
    RANGE(INT64, int64_t, attention.keys_least, 1, 4096),
    RANGE(DOUBLE, double, attention.scores_least, 1, 1 << 30),
    RANGE(DOUBLE, double, attention.scores_whole, 1, 1 << 30),
    RANGE(DOUBLE, double, attention.scores_share, 0.05, 1),
    RANGE(INT64, int64_t, attention.packed_tiles, 0, 1 << 20),
    RANGE(DOUBLE, double, attention.block_share, 0.05, 8),
    RANGE(INT64, int64_t, attention.block_least, 1, 4096),
    RANGE(INT64, int64_t, attention.bounded_keys, 1, 4096),
    RANGE(DOUBLE, double, attention.tile, 0.1, 1e3),
    RANGE(DOUBLE, double, attention.guarded_keys, 1e-4, 1e3),
    RANGE(DOUBLE, double, attention.guarded_mask, 1e-4, 1e3),
};
enum { RANGE_COUNT = sizeof ranges / sizeof *ranges };

static double value_of(const struct target_facts *f, const struct range *r)
{
    const char *at = (const char *)f + r->offset;
    union {
        int64_t i64;
        uint32_t u32;
        double f64;
    } v = {0};

    memcpy(&v, at, r->size);
    return r->kind == INT64 ? (double)v.i64 : r->kind == UINT32 ? (double)v.u32 : v.f64;
}

TEST(facts_are_plausible)
{
    uint32_t count = 0;

    for (const struct target_facts *f; (f = target_facts_at(count)) != NULL; count++) {
        assert_non_null(f->name);
        for (uint32_t before = 0; before < count; before++)
            assert_string_not_equal(target_facts_at(before)->name, f->name);
        for (uint32_t i = 0; i < RANGE_COUNT; i++) {
            const double v = value_of(f, &ranges[i]);

            if (!(v >= ranges[i].low && v <= ranges[i].high))
                fail_msg("%s of %s is %g, not between %g and %g", ranges[i].name, f->name, v, ranges[i].low, ranges[i].high);
        }
    }
    assert_true(count >= 4);
}

/* A fact that is added to these structs has to be added to the ranges as well. */
TEST(every_fact_has_a_range)
{
    static const struct {
        size_t offset, size;
    } parts[] = {
#define PART(member) {offsetof(struct target_facts, member), sizeof(((struct target_facts *)NULL)->member)}
        PART(cache), PART(rate), PART(call), PART(loop), PART(fusion), PART(contraction), PART(winograd), PART(attention),
    };

    for (uint32_t p = 0; p < sizeof parts / sizeof *parts; p++) {
        size_t covered = 0;

        for (uint32_t i = 0; i < RANGE_COUNT; i++)
            if (ranges[i].offset - parts[p].offset < parts[p].size)
                covered += ranges[i].size;
        assert_int_equal(covered, parts[p].size);
    }
}

TEST(operations_are_ordered)
{
    for (uint32_t i = 0; target_facts_at(i); i++) {
        const double *cost = target_facts_at(i)->operation.cost;

        assert_true(cost[OPERATION_NONE] == 0 && cost[OPERATION_SIMPLE] == 1);
        for (int c = OPERATION_EXTREME; c < OPERATION_CLASSES; c++)
            assert_true(cost[c] >= 1 && cost[c] <= 1000);
        assert_true(cost[OPERATION_DIVISION] > cost[OPERATION_SIMPLE]);
        assert_true(cost[OPERATION_EXPONENTIAL] > cost[OPERATION_DIVISION]);
        assert_true(cost[OPERATION_TRIGONOMETRIC] >= cost[OPERATION_EXPONENTIAL]);
        assert_true(cost[OPERATION_POWER] >= cost[OPERATION_EXPONENTIAL]);
    }
}

static void check_way(const struct contraction_prices *p, double product_high)
{
    assert_true(p->call >= 0 && p->call < 1e5 && p->matrix >= 0 && p->matrix < 1e5);
    assert_true(p->product > 1 && p->product < product_high);
    assert_true(p->ragged >= 0 && p->ragged < p->product && p->window >= 0 && p->window < 1e3);
    assert_true(p->near > 0 && p->far >= p->near && p->far < 1e3);
}

/* Facts that depend on each other do so in the same way on every machine. */
TEST(facts_agree)
{
    for (uint32_t i = 0; target_facts_at(i); i++) {
        const struct target_facts *f = target_facts_at(i);

        assert_true(f->cache.l2_hot_share <= f->cache.l2_reused_share && f->cache.l2_reused_share <= f->cache.l2_paired_share);
        assert_true(f->rate.memory_bytes <= f->rate.l2_bytes && f->rate.kernel_bytes <= f->rate.memory_bytes);
        assert_true(f->call.kernel_call < f->call.team_call && f->call.wake < f->call.thread_work);
        assert_true(f->multiplication.tile.split_near <= f->multiplication.tile.split_far);
        assert_int_equal(f->loop.vector_block & (f->loop.vector_block - 1), 0); /* units are counted by shifts */
        assert_int_equal(f->loop.vector_block_least & (f->loop.vector_block_least - 1), 0);
        assert_true(f->contraction.panel.vectors <= f->contraction.panel.vectors_compact);
        assert_true(f->contraction.panel.vectors_compact <= f->contraction.panel.vectors_short);
        assert_true(f->contraction.panel.vectors_short <= f->contraction.panel.vectors_most);
        assert_true(f->contraction.tile.vectors_most_tall <= f->contraction.tile.vectors_most);
        assert_true(f->contraction.tile.padded_rows[1] < f->contraction.tile.padded_rows[0]);
        for (uint32_t r = 0; r < 2 && f->contraction.tile.padded_rows[r]; r++)
            assert_int_equal(f->contraction.tile.m_block_padded % f->contraction.tile.padded_rows[r], 0);
        const struct winograd_prices *w = &f->multiplication.winograd;
        assert_true(w->product > 1 && w->near <= w->far && w->far <= w->memory);
        check_way(&f->multiplication.library, 300);
        check_way(&f->multiplication.packed, 100);
        check_way(&f->multiplication.unpacked, 1000);
        assert_true(f->multiplication.unpacked.product > f->multiplication.packed.product);
    }
}

TEST(targets_find_their_rows)
{
    const struct target_facts own = {.name = "own", .cache.l2_bytes = 123};
    struct target t = {.isa.vector_bits = 512, .full_rate = true};

    assert_string_equal(target_facts(&t)->name, "avx512-full-rate");
    assert_true(target_l2_bytes(&t) == (double)target_facts(&t)->cache.l2_bytes);
    t.cache_bytes = 3 << 20;
    assert_true(target_l2_bytes(&t) == 3 << 20);
    assert_int_equal(target_lanes(&t), 16);
    t.full_rate = false;
    assert_string_equal(target_facts(&t)->name, "avx512-half-rate");
    t.isa.vector_bits = 256;
    assert_string_equal(target_facts(&t)->name, "avx2");
    t.isa.vector_bits = 128;
    assert_string_equal(target_facts(&t)->name, "baseline");
    t.isa.registers = 32;
    assert_string_equal(target_facts(&t)->name, "neon");
    t.isa.loads_first = true;
    assert_string_equal(target_facts(&t)->name, "webassembly");
    t.isa.loads_first = false;
    t.isa.vector_bits = 32;
    assert_string_equal(target_facts(&t)->name, "baseline");
    assert_int_equal(target_lanes(&t), 1);
    assert_string_equal(target_facts(NULL)->name, "baseline");
    t.facts = &own; /* an engine's */
    t.cache_bytes = 0;
    assert_ptr_equal(target_facts(&t), &own);
    assert_true(target_l2_bytes(&t) == 123);
    /* wider vectors multiply faster; NEON, WebAssembly and devices have those of the baseline */
    for (uint32_t i = 1; target_facts_at(i); i++) {
        const struct target_facts *f = target_facts_at(i), *before = target_facts_at(i - 1);
        const double price = f->multiplication.packed.product, other = before->multiplication.packed.product;
        const bool short_vectors = f == target_device_facts(false) || f == target_device_facts(true);
        assert_true(strcmp(f->name, "neon") && strcmp(f->name, "webassembly") && !short_vectors ? price > other
                                                                                                : price == other);
    }
}

/* What a tuner may choose: both rows have a value of the table, and names and places differ. */
TEST(tunables_have_the_rows_values)
{
    for (uint32_t i = 0; target_gpu_tunable(i); i++) {
        const struct gpu_tunable *t = target_gpu_tunable(i);

        assert_true(t->value_count >= 2 && t->value_count <= sizeof t->values / sizeof *t->values);
        assert_true(t->offset + sizeof(uint32_t) <= sizeof(struct gpu_facts));
        for (uint32_t k = 0; k < i; k++)
            assert_true(strcmp(target_gpu_tunable(k)->name, t->name) && target_gpu_tunable(k)->offset != t->offset);
        for (uint32_t k = 1; k < t->value_count; k++)
            assert_true(t->values[k] > t->values[k - 1]);
        assert_true(strcmp(t->name, "vector_lanes") || t->values[t->value_count - 1] <= GPU_LANES_MAX);
        for (int processor = 0; processor < 2; processor++) {
            const uint32_t value = *(const uint32_t *)((const char *)target_gpu_facts(processor) + t->offset);
            bool found = false;

            for (uint32_t k = 0; k < t->value_count; k++)
                found |= t->values[k] == value;
            assert_true(found);
        }
    }
}

/* How fast a GPU has to be is weighed by facts of its own. */
TEST(engines_are_weighed)
{
    const struct engine_facts *f = target_engine_facts();
    uint32_t last = 0;

    assert_true(f->gpu_share >= 0.05 && f->gpu_share <= 1);
    assert_true(f->worth >= 1 && f->worth <= 10);
    assert_true(f->worth_fast >= 0.5 && f->worth_fast <= f->worth);
    assert_true(f->worth_low >= 0.1 && f->worth_low <= f->worth);
    assert_true(f->memory_least >= 1 << 26 && f->memory_least <= UINT64_C(1) << 34);
    for (uint32_t i = 0; target_gpu_maker_at(i); last = i++) {
        const struct gpu_maker *m = target_gpu_maker_at(i);

        assert_ptr_equal(target_gpu_maker(m->vendor), m);
        assert_true(m->unit_multiplies >= 4 && m->unit_multiplies <= 256);
        assert_true(*m->name);
    }
    assert_int_equal(target_gpu_maker_at(last)->vendor, 0);
    assert_ptr_equal(target_gpu_maker(12345), target_gpu_maker_at(last));
}
