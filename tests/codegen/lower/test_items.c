/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What work-items of a device compute, in the interpreter of the loop language, against that of graphs: points, rows that a
 * group shares, transposes in blocks, tiles of contractions.  A failure of random graphs prints its seed: ITEMS_SEED=n runs
 * that graph alone.
 */
#include "support/attention_bounds.h"
#include "support/device_run.h"
#include "support/matrix_cases.h"
#include "support/shape_cases.h"
#include "support/winograd.h"

/** Every shape is right at its edges, on processors and GPUs, whether numbers are parameters or constants. */
TEST(shapes_agree)
{
    for (int kind = 0; kind < 4; kind++) {
        const bool is_processor = kind % 2;
        const struct shape_runner runner = {device_run, &device.choice, is_processor ? &device.last : NULL};
        device.facts = *target_gpu_facts(is_processor);
        device.literals = kind / 2;
        assert_int_equal(shapes_failed(&runner, false), 0);
        assert_int_equal(shared_tiles_failed(&runner, &device.facts, false), 0);
    }
}

/** So are tiles of matrix instructions, however operands come to the group's memory. */
TEST(matrix_instructions_agree)
{
    device.literals = false;
    for (uint32_t i = 0; i < MATRIX_CASES; i++) {
        OWNED(graph) struct graph *g = parse_body(matrix_cases[i].body);
        device.facts = matrix_facts();
        device.choice = (struct gpu_choice){.matrix_form = matrix_cases[i].form};
        kernels_cluster_nodes(g, kernels_can_join_all(g, NULL));
        random_seed(42);
        if (!kernels_check_graph(g, NULL, matrix_cases[i].nasty, device_run) || !device.last_matrix)
            fail_msg("%s", matrix_cases[i].name);
    }
}

/** So are kernels of stages: attentions, and convolutions that are transformed, of one item and of many that share everything.
 */
TEST(stages_agree)
{
    for (int kind = 0; kind < 3; kind++) {
        const bool is_processor = kind == 1;
        struct target t = {.isa.vector_bits = 32,
                           .facts = target_device_facts(is_processor),
                           .thread_count = 1,
                           .cache_bytes = 1 << 20,
                           .device = &device.facts};
        device.facts = *target_gpu_facts(is_processor);
        device.facts.stage_items = is_processor ? device.facts.stage_items : 8;
        device.choice = (struct gpu_choice){.rows_shape = kind == 0, .scratch = kind == 2};
        for (int i = 0; i < 2; i++)
            attention_check(attention_bodies[i], &t, false, 0, device_run);
        attention_check(bounded_attention_bodies[1], &t, false, 1, device_run);
        winograd_check(winograd_bodies[0], &t, false, true, device_run);
        assert_int_equal(device.last, GPU_STAGES);
    }
}

/** So are random graphs, whose groups share rows in every third one. */
TEST(random_graphs_agree)
{
    const char *seed_text = getenv("ITEMS_SEED");
    const uint64_t first = seed_text ? strtoull(seed_text, NULL, 0) : 1, count = seed_text ? 1 : 150;
    uint32_t failed = 0;

    device.kernels = 0;
    for (uint64_t seed = first; seed < first + count; seed++) {
        for (int mode = 0; mode < 4; mode++) {
            random_seed(seed);
            device.facts = *target_gpu_facts(mode % 2);
            device.choice = (struct gpu_choice){.no_tiles = seed % 2, .rows_shape = seed % 3 == 0};
            device.literals = seed % 5 == 0;
            OWNED(graph) struct graph *g = random_graph();
            if (mode / 2)
                cluster_greedily(g);
            else
                kernels_cluster_nodes(g, false);
            if (!kernels_check_graph(g, NULL, seed % 3 == 0, device_run)) {
                print_error("ITEMS_SEED=%llu (mode %d)\n", (unsigned long long)seed, mode);
                failed++;
            }
        }
    }
    assert_int_equal(failed, 0);
    assert_true(seed_text || device.kernels > 1000);
}
