/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* finish-clusters on random graphs, what it refuses, and collecting clusters (tests/passes/cluster/finish-clusters has the
 * rest). */
#include "passes/pass_support.h"

/* Every node in a cluster, clusters dense and contiguous, everything read is computed by an earlier cluster. */
static void assert_arranged(struct graph *g)
{
    uint32_t clusters = 0;
    struct node *n = g->first;

    for (struct cluster *c = g->first_cluster; c; c = c->next) {
        assert_int_equal(c->index, clusters++);
        assert_ptr_equal(c->first, n);
        assert_true(c->node_count > 0);
        for (uint32_t i = 0; i < c->node_count; i++, n = n->next) {
            assert_ptr_equal(n->cluster, c);
            for (uint32_t k = 0; k < n->input_count; k++) {
                const struct value *v = n->inputs[k].value;
                if (v && v->producer && v->producer->cluster != c)
                    assert_true(v->producer->cluster->index < c->index);
            }
        }
        if (c->kind == CLUSTER_LIBRARY)
            assert_ptr_equal(c->anchor->cluster, c);
    }
    assert_null(n);
    assert_int_equal(clusters, g->cluster_count);
}

/* Whatever the fusing passes make of a graph has an order. */
TEST(random_graphs_have_an_order)
{
    for (int round = 0; round < 200; round++) {
        OWNED(graph) struct graph *g = graph_create();
        struct value *values[128];
        uint32_t count = 0;
        struct tensor_type t = {WNNOperandDataType_Float32, 2, {16, 16}};

        values[count++] = graph_add_input(g, "x", 1, &t);
        values[count++] = graph_add_input(g, "y", 1, &t);
        while (count < 100) {
            struct value *in[2] = {values[count - 1 - random_bits() % (count < 8 ? count : 8)],
                                   values[count - 1 - random_bits() % (count < 30 ? count : 30)]};
            static const enum op ops[] = {OP_ADD, OP_MUL, OP_SUB, OP_EXP, OP_TRANSPOSE, OP_SOFTMAX, OP_MATMUL, OP_ADD};
            enum op op = ops[random_bits() % 8];
            union op_args args;

            memset(&args, 0, sizeof args);
            struct node *n = node_create(g, NULL, op, "", op_positional_inputs(op), in, NULL, &args, &g->error);
            assert_non_null(n);
            values[count++] = n->results[0];
        }
        for (uint32_t i = 0; i < 3; i++)
            graph_add_output(g, &"abc"[i], 1, values[count - 1 - random_bits() % 20]);
        pass_drop_dead(g, &fake_options);
        pass_separate_outputs(g, &fake_options);
        pass_fuse_epilogues(g, &fake_options);
        assert_false(pass_fuse_epilogues(g, &fake_options));
        pass_fuse_kernels(g, &fake_options);
        assert_false(pass_fuse_kernels(g, &fake_options));
        pass_finish_clusters(g, &fake_options);
        if (g->error.status)
            fail_msg("%s", g->error.message);
        assert_verifies(g);
        assert_arranged(g);
    }
}

TEST(reports_clusters_that_need_each_other)
{
    OWNED(graph) struct graph *g =
        parse_body("inputs { x: f32[4]; } nodes { a = exp(x); b = sin(a); y = add(a, b); } outputs { y; }");
    struct cluster *ay = cluster_create(g, CLUSTER_KERNEL);

    value_named(g, "a")->producer->cluster = ay;
    value_named(g, "y")->producer->cluster = ay;
    pass_finish_clusters(g, &fake_options);
    assert_int_equal(g->error.status, WNNStatus_UnknownError);
}

TEST(collects_boundaries)
{
    OWNED(graph) struct graph *g =
        parse_body("inputs { x: f32[4]; z: f32[4]; } consts { k: f32[4] @scalar(2); }"
                   "nodes { a = add(x, k); b = mul(a, a); c = add(b, x); d = exp(a); } outputs { c; d; }");
    struct cluster *abc = cluster_create(g, CLUSTER_KERNEL);
    struct cluster_nodes nodes;
    SCOPED(arena_free) struct arena arena = {0};

    value_named(g, "a")->producer->cluster = abc;
    value_named(g, "b")->producer->cluster = abc;
    value_named(g, "c")->producer->cluster = abc;
    for (int finished = 0; finished < 2; finished++) {
        assert_true(cluster_collect(g, abc, &arena, &nodes));
        assert_int_equal(nodes.count, 3);
        assert_int_equal(nodes.input_count, 2); /* x once, k */
        assert_ptr_equal(nodes.inputs[0], value_named(g, "x"));
        assert_ptr_equal(nodes.inputs[1], value_named(g, "k"));
        assert_int_equal(nodes.output_count, 2);
        assert_ptr_equal(nodes.outputs[0], value_named(g, "a"));
        assert_ptr_equal(nodes.outputs[1], value_named(g, "c"));
        pass_finish_clusters(g, &fake_options);
    }
}
