/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Tensors without elements, which WebNN does not have: an empty cache vanishes where it meets a tensor with elements, and what
 * is computed of nothing is nothing, or known.
 */
#include "readers/onnx/net.h"

static const struct model_dim nothing[] = {{"n", 0}}, two[] = {{"n", 2}};
static const struct model_options empty = {.dim_count = 1, .dims = nothing}, filled = {.dim_count = 1, .dims = two};

/** Reads with n = 0 and expects one input, x, and an output that is x itself. */
static void expect_identity(struct net *t, size_t count)
{
    float x[64], y[64] = {0};

    for (size_t i = 0; i < count; i++)
        x[i] = (float)i - 3;
    reads(t, &empty);
    assert_int_equal(t->read.input_count, 1);
    assert_string_equal(t->read.inputs[0].name, "x");
    assert_non_null(strstr(t->read.notes, "input 'past' has no elements"));
    compute(t, x, count * sizeof *x, y, count * sizeof *y);
    assert_memory_equal(x, y, count * sizeof *x);
}

TEST(a_cache_that_is_empty_vanishes_in_a_concat)
{
    inputs_of(t, F32, "past 1 2 n 4; x 1 2 1 4");
    nodes_in(t, &t->graph, "present = Concat past x, axis 2; y = Identity present");
    expect_identity(t, 8);
    reads(t, &filled); /* with two steps in the cache it is an input */
    assert_int_equal(t->read.input_count, 2);
    expect_shape(t, SHAPE(1, 2, 3, 4));
}

TEST(what_is_computed_of_nothing_is_nothing)
{
    inputs_of(t, F32, "past n 4; x 3 4");
    initializer(t, tensor(t, "scale", F32, 1, (const int64_t[]){4}, (const float[]){1, 2, 3, 4}, 16));
    nodes_in(t, &t->graph, "a = Mul past scale; b = Sigmoid a; c = Greater b a; d = Where c a b; e = Cast d, to 1");
    nodes_in(t, &t->graph,
             "f = Transpose e; g = Transpose f; h = Softmax g, axis 1; i = Concat h e, axis 0; y = Concat i x, axis 0");
    expect_identity(t, 12);
}

TEST(sizes_of_what_is_empty_are_known)
{
    int64_t y[3];

    net(17, "past 1 n 4", "both = Concat past past, axis 2; y = Shape both");
    reads(t, &empty);
    compute(t, NULL, 0, y, sizeof y);
    assert_true(y[0] == 1 && y[1] == 0 && y[2] == 8);
}

TEST(results_of_no_turns_have_the_shape_that_the_body_tells)
{
    const float x[2] = {3, -5};
    Onnx__GraphProto *body;
    float y[2] = {0};

    for (int known = 1; known >= 0; known--) {
        net(20, "x 1 2", "s rows = Loop none - x");
        integer(t, "none", 0);
        integers(t, "axes", 1, &(int64_t){0});
        body = loop_body(t, t->graph.node[0], "s", "1 2");
        node_in(t, body, "Add", "s s", "t");
        outputs_in(t, body, "go t");
        body->output[body->n_output++] = port(t, "t", F32, known ? "1 2" : NULL);
        attribute_int(t, node(t, "ReduceMax", "rows axes", "top"), "keepdims", 0); /* minus infinity */
        node(t, "Max", "top s", "y");
        if (known) {
            computes(x, y);
            assert_true(y[0] == 3 && y[1] == -5);
        } else {
            refused(t, NULL, "of a shape that is not known");
        }
    }
}

TEST(a_sum_of_no_products_is_0)
{
    const float x[6] = {1, 2, 3, 4, 5, 6};
    float y[6];

    net(17, "past 2 n; x 2 3", "transposed = Transpose past");
    integers(t, "shape", 2, (const int64_t[]){0, 3});
    node(t, "Expand", "transposed shape", "wrong"); /* [n, 2] cannot become [0, 3] */
    output(t, "wrong");
    refused(t, &empty, "cannot become");

    start(t, 17);
    inputs_of(t, F32, "past 2 n; x 2 3");
    integers(t, "from", 2, (const int64_t[]){0, 0});
    integers(t, "to", 2, (const int64_t[]){0, 3});
    node(t, "Slice", "x from to", "none"); /* [0, 3] */
    nodes_in(t, &t->graph, "zeros = MatMul past none; y = Add x zeros");
    reads(t, &empty);
    assert_int_equal(t->read.input_count, 1);
    compute(t, x, sizeof x, y, sizeof y);
    assert_memory_equal(x, y, sizeof x);
}

TEST(nothing_is_gathered_and_scattered)
{
    input(t, "past", I64, "n");
    input(t, "x", F32, "3 4");
    node(t, "Gather", "x past", "rows"); /* [0, 4] */
    node(t, "ScatterElements", "x scattered rows", "z");
    integers(t, "flat", 2, (const int64_t[]){0, 4});
    t->graph.node[1]->input[1] = text(t, "indices");
    nodes_in(t, &t->graph, "indices = Cast rows, to 7; y = Concat z rows, axis 0");
    expect_identity(t, 12);
}

TEST(an_attention_without_a_past_is_one_with_an_empty_past)
{
    float with[16], without[16], x[16];

    for (int i = 0; i < 16; i++)
        x[i] = (float)(i % 5) - 2;
    for (int past = 0; past < 2; past++) {
        Onnx__NodeProto *n;

        start(t, 23);
        if (past)
            input(t, "past", F32, "1 2 n 4");
        input(t, "x", F32, "1 2 2 4");
        n = node(t, "Attention", past ? "x x x - past past" : "x x x", past ? "y k v" : "y");
        attribute_int(t, n, "is_causal", 1);
        reads(t, past ? &empty : NULL);
        compute(t, x, sizeof x, past ? with : without, sizeof with);
    }
    assert_memory_equal(with, without, sizeof with);
}

TEST(outputs_without_elements_vanish)
{
    inputs_of(t, F32, "past n; x 2");
    nodes_in(t, &t->graph, "present = Relu past; y = Identity x");
    output(t, "present y");
    reads(t, &empty);
    assert_int_equal(t->read.output_count, 1);
    assert_non_null(strstr(t->read.notes, "output 'present' has no elements"));
    t->graph.n_output = 1;
    refused(t, &empty, "all outputs of the graph have no elements, as dimension 0 (n) of input \"past\" is 0");
}

TEST(what_has_no_elements_is_named)
{
    const struct model_shape shape = {.name = "x", .rank = 3, .dims = {1, 0, 4}};

    for (int through = 0; through < 2; through++) {
        start(t, 17);
        input(t, "x", F32, "1 n 4");
        if (through)
            node(t, "Abs", "x", "a");
        attribute_int(t, node(t, "ArgMax", through ? "a" : "x", "y"), "axis", 1);
        refused(t, &empty, "an input has no elements, as dimension 1 (n) of input \"x\" is 0; WebNN has no empty tensors");
        refused(t, &(struct model_options){.shape_count = 1, .shapes = &shape}, "dimension 1 (n) of input \"x\" is 0");
    }
}

TEST(shapes_that_differ_are_refused)
{
    inputs_of(t, F32, "past n 4; x 3 4");
    node(t, "Add", "past x", "y");
    refused(t, &empty, "cannot be broadcast");

    net(17, "past n 4; x n 4", "y = Add past x");
    refused(t,
            &(struct model_options){.dim_count = 1,
                                    .dims = nothing,
                                    .shape_count = 1,
                                    .shapes = &(struct model_shape){.name = "x", .rank = 2, .dims = {2, 4}}},
            "is given as 0 and as 2");
}

TEST_GROUP(create_context, release_context)
