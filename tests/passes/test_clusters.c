/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* drop-dead, separate-outputs, finish-clusters, and collecting clusters. */
#include "pass_support.h"

static enum cluster_kind kind_of(struct graph *g, const char *name)
{
    struct value *v = value_named(g, name);

    assert_non_null(v);
    assert_non_null(v->producer->cluster);
    return v->producer->cluster->kind;
}

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

static void drops_dead_nodes(void **state)
{
    (void)state;
    struct graph *g =
        parse_body("inputs { x: f32[4]; } consts { k: f32[4] @scalar(2); }"
                   "nodes { d = exp(x); e = mul(d, k); y = relu(x); [s, t] = split(x, splits=[1, 3]); z = neg(t); }"
                   "outputs { y; z; }");
    struct value *k = value_named(g, "k");

    assert_true(check_pass(g, pass_drop_dead, true));
    assert_int_equal(count_nodes(g, OP_EXP) + count_nodes(g, OP_MUL), 0);
    assert_int_equal(count_nodes(g, OP_SPLIT), 1); /* one result of two is read */
    assert_null(k->constant);
    graph_free(g);
}

static void gives_outputs_bytes_of_their_own(void **state)
{
    (void)state;
    struct graph *g = parse_body("inputs { x: f32[4]; } consts { k: f32[4] @scalar(2); }"
                                 "nodes { y = relu(x); } outputs { y; \"again\" = y; \"in\" = x; \"const\" = k; }");

    assert_true(check_pass(g, pass_separate_outputs, true));
    assert_int_equal(count_nodes(g, OP_IDENTITY), 3);
    for (uint32_t i = 0; i < g->output_count; i++) {
        assert_int_equal(g->outputs[i].value->kind, VALUE_RESULT);
        assert_int_equal(g->outputs[i].value->output_uses, 1);
    }
    assert_true(check_pass(g, pass_finish_clusters, true));
    graph_for_each (g, n)
        assert_int_equal(n->cluster->kind, CLUSTER_KERNEL); /* copies, not views */
    graph_free(g);
}

static void makes_views(void **state)
{
    (void)state;
    struct graph *g =
        parse_body("inputs { x: f32[1, 6, 4]; }"
                   "nodes { a = relu(x); b = reshape(a, newShape=[4, 6]); c = slice(a, starts=[0, 2, 0], sizes=[1, 3, 4]);"
                   "  d = slice(a, starts=[0, 0, 1], sizes=[1, 6, 2]); e = transpose(a, permutation=[1, 0, 2]);"
                   "  f = transpose(a, permutation=[0, 2, 1]); [g, h] = split(a, splits=[2, 4], axis=1);"
                   "  i = exp(b); j = exp(c); k = exp(d); l = exp(e); m = exp(f); n = exp(g); o = exp(h); }"
                   "outputs { i; j; k; l; m; n; o; }");

    assert_true(check_pass(g, pass_finish_clusters, true));
    assert_arranged(g);
    assert_int_equal(kind_of(g, "b"), CLUSTER_VIEW);
    assert_int_equal(kind_of(g, "c"), CLUSTER_VIEW);
    assert_int_equal(kind_of(g, "d"), CLUSTER_KERNEL); /* rows are cut */
    assert_int_equal(kind_of(g, "e"), CLUSTER_VIEW);   /* a dimension of size 1 moves nothing */
    assert_int_equal(kind_of(g, "f"), CLUSTER_KERNEL);
    assert_int_equal(kind_of(g, "g"), CLUSTER_VIEW);
    graph_free(g);
}

static void views_that_are_outputs(void **state)
{
    (void)state;
    struct graph *g = parse_body("inputs { x: f32[2, 6]; }"
                                 "nodes { a = relu(x); b = reshape(a, newShape=[12]); c = reshape(a, newShape=[3, 4]);"
                                 "  d = slice(a, starts=[1, 0], sizes=[1, 6]); e = reshape(x, newShape=[12]);"
                                 "  f = exp(x); h = reshape(f, newShape=[12]); }"
                                 "outputs { b; c; d; e; f; h; }");

    assert_true(check_pass(g, pass_finish_clusters, true));
    assert_arranged(g);
    assert_int_equal(kind_of(g, "b"), CLUSTER_VIEW);   /* relu writes into the output */
    assert_int_equal(kind_of(g, "c"), CLUSTER_KERNEL); /* a second output of the same bytes */
    assert_int_equal(kind_of(g, "d"), CLUSTER_KERNEL); /* a part */
    assert_int_equal(kind_of(g, "e"), CLUSTER_KERNEL); /* of an input */
    assert_int_equal(kind_of(g, "h"), CLUSTER_KERNEL); /* of an output */
    graph_free(g);
}

static void places_concat_inputs(void **state)
{
    (void)state;
    struct graph *g =
        parse_body("inputs { x: f32[1, 2, 4]; }"
                   "nodes { a = relu(x); b = exp(x); c = concat([a, x, b, a], axis=1); d = concat([a, b], axis=2);"
                   "  e = neg(c); }"
                   "outputs { e; d; }");

    assert_true(check_pass(g, pass_finish_clusters, true));
    assert_arranged(g);
    assert_int_equal(kind_of(g, "c"), CLUSTER_VIEW);
    assert_int_equal(kind_of(g, "d"), CLUSTER_KERNEL); /* not one behind the other */
    /* x is no result, and a can only be in one place. */
    assert_int_equal(count_nodes(g, OP_IDENTITY), 2);
    graph_free(g);
}

static void concat_of_inputs_stays_one_kernel(void **state)
{
    (void)state;
    struct graph *g =
        parse_body("inputs { x: f32[2, 4]; z: f32[1, 4]; } nodes { c = concat([x, z, x], axis=0); } outputs { c; }");

    assert_true(check_pass(g, pass_finish_clusters, true));
    assert_int_equal(kind_of(g, "c"), CLUSTER_KERNEL);
    assert_int_equal(count_nodes(g, OP_IDENTITY), 0);
    graph_free(g);
}

static void removes_dead_nodes_itself(void **state)
{
    (void)state;
    struct graph *g = parse_body("inputs { x: f32[4]; } nodes { d = exp(x); y = relu(x); } outputs { y; }");

    assert_true(check_pass(g, pass_finish_clusters, true));
    assert_int_equal(g->cluster_count, 1);
    graph_free(g);
}

/* Clusters in an order that the nodes are not in. */
static void orders_clusters(void **state)
{
    (void)state;
    struct graph *g = parse_body("inputs { x: f32[4]; }"
                                 "nodes { a = exp(x); b = sin(x); c = cos(b); y = add(a, c); z = neg(a); } outputs { y; z; }");
    struct cluster *ay = cluster_create(g, CLUSTER_KERNEL);

    value_named(g, "a")->producer->cluster = ay;
    value_named(g, "y")->producer->cluster = ay;
    assert_true(check_pass(g, pass_finish_clusters, true));
    assert_arranged(g);
    assert_ptr_equal(value_named(g, "a")->producer->next, value_named(g, "y")->producer);
    graph_free(g);
}

static void reports_clusters_that_need_each_other(void **state)
{
    (void)state;
    struct graph *g = parse_body("inputs { x: f32[4]; } nodes { a = exp(x); b = sin(a); y = add(a, b); } outputs { y; }");
    struct cluster *ay = cluster_create(g, CLUSTER_KERNEL);

    value_named(g, "a")->producer->cluster = ay;
    value_named(g, "y")->producer->cluster = ay;
    pass_finish_clusters(g, &fake_options);
    assert_int_equal(g->error.status, WNNStatus_UnknownError);
    graph_free(g);
}

static void collects_boundaries(void **state)
{
    (void)state;
    struct graph *g = parse_body("inputs { x: f32[4]; z: f32[4]; } consts { k: f32[4] @scalar(2); }"
                                 "nodes { a = add(x, k); b = mul(a, a); c = add(b, x); d = exp(a); } outputs { c; d; }");
    struct cluster *abc = cluster_create(g, CLUSTER_KERNEL);
    struct cluster_nodes nodes;
    struct arena arena = {0};

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
    arena_free(&arena);
    graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drops_dead_nodes),
        cmocka_unit_test(gives_outputs_bytes_of_their_own),
        cmocka_unit_test(makes_views),
        cmocka_unit_test(views_that_are_outputs),
        cmocka_unit_test(places_concat_inputs),
        cmocka_unit_test(concat_of_inputs_stays_one_kernel),
        cmocka_unit_test(removes_dead_nodes_itself),
        cmocka_unit_test(orders_clusters),
        cmocka_unit_test(reports_clusters_that_need_each_other),
        cmocka_unit_test(collects_boundaries),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
