/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* fuse-kernels: graphs that are too large for a file of cases (tests/passes/cluster/fuse-kernels). */
#include "passes/pass_support.h"
#include "support/work_counter.h"

/* More operations than one kernel should have: several kernels, not none. */
TEST(large_groups_are_split)
{
    OWNED(graph) struct graph *g = parse_body("inputs { x: f32[64, 64]; } nodes { y = gelu(x); } outputs { y; }");
    struct value *v = g->inputs[0];

    for (int i = 0; i < 256; i++)
        v = node_create(g, NULL, OP_GELU, "", 1, &v, NULL, NULL, &g->error)->results[0];
    graph_add_output(g, "v", 1, v);
    pass_fuse_kernels(g, &fake_options);
    assert_false(pass_fuse_kernels(g, &fake_options));
    pass_finish_clusters(g, &fake_options);
    assert_true(g->cluster_count >= 256 / 64 && g->cluster_count <= 256 / 8);
}

/* Returns a chain with skips, of so many nodes; the work of the cheapest of a few runs of the pass on it. */
static double work_of_fusing(struct work_counter *counter, int nodes)
{
    double least = INFINITY;

    for (int run = 0; run < 5; run++) {
        OWNED(graph) struct graph *g = graph_create();
        struct tensor_type t = {WNNOperandDataType_Float32, 1, {1 << 16}};
        struct value *v = graph_add_input(g, "x", 1, &t), *skip = v;

        for (int i = 0; i < nodes; i++) {
            struct value *inputs[2] = {v, skip};
            v = node_create(g, NULL, i % 7 == 6 ? OP_ADD : OP_NEG, "", i % 7 == 6 ? 2 : 1, inputs, NULL, NULL, &g->error)
                    ->results[0];
            if (i % 50 == 0)
                skip = v;
        }
        graph_add_output(g, "y", 1, v);
        double before = work_counter_read(counter);
        assert_true(pass_fuse_kernels(g, &fake_options));
        least = fmin(least, work_counter_read(counter) - before);
        pass_finish_clusters(g, &fake_options);
        assert_int_equal(g->error.status, WNNStatus_Success);
    }
    return least;
}

/* Four times as many nodes are four times the work, and a little more for what no longer fits the caches; quadratic would be 16
 * times. */
TEST(work_grows_with_the_number_of_nodes)
{
    SCOPED(work_counter_close) struct work_counter counter = work_counter_open();

    const double small = work_of_fusing(&counter, 5000), large = work_of_fusing(&counter, 20000);
    print_message("5000 nodes: %.4g, 20000 nodes: %.4g %s\n", small, large, work_counter_unit(&counter));
    assert_true(large < 8 * small);
}
