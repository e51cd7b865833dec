/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * ONNX files that ask for what no size can hold, whose numbers are none, or whose types do not fit: all are refused with a
 * message, or computed.  The sanitizers see what else they do.  Files that are long are in test_linear.c; hostile/hostile.c
 * runs whole files of both kinds.
 */
#include <math.h>

#include "readers/onnx/net.h"

enum { U8 = 2, I32 = 6 };
enum { HUGE = INT32_MAX };

/* ---- windows ---- */

/** Refuses a MaxPool of a picture of 2 x 2 that tells indices, with these attributes. */
static void pool(const char *list, const char *reason)
{
    start(t, 17);
    input(t, "x", F32, "1 1 2 2");
    output(t, "i");
    attributes(t, node(t, "MaxPool", "x", "y i"), list);
    refused(t, NULL, reason);
}

TEST(windows_whose_elements_wrap_around_are_refused)
{
    /* 2^16 results and window elements on each side: 2^64 elements */
    pool("kernel_shape [65536 65536], pads [65535 65535 65534 65534]", "does not fit 64 bits");
    /* too many, although their number is none too large */
    pool("kernel_shape [4096 4096], pads [4095 4095 4095 4095]", "indices of");
}

TEST(results_of_2_to_the_32_are_refused)
{
    pool("kernel_shape [1 1], pads [2147483647 0 2147483647 0]", "pads of 2147483647 and 2147483647: 4294967296 results");
    pool("kernel_shape [2 2], dilations [2147483647 2147483647], pads [2147483647 2147483647 2147483647 2147483647]",
         "kernel_shape 2 with dilations 2147483647 makes a window of more than");
    pool("kernel_shape [9223372036854775807 9223372036854775807]", "kernel_shape is 9223372036854775807");
}

TEST(transposed_convolutions_beyond_any_size_are_refused)
{
    static const int64_t numbers[] = {HUGE, INT64_MAX, INT64_C(1) << 62, 65536};

    for (size_t i = 0; i < 256; i++) {
        const int64_t a = numbers[i % 4], b = numbers[i / 4 % 4], c = numbers[i / 16 % 4], d = numbers[i / 64];
        const float w = 1;

        start(t, 17);
        input(t, "x", F32, "1 1 2 2");
        initializer(t, tensor(t, "w", F32, 4, (int64_t[]){1, 1, 1, 1}, &w, sizeof w));
        Onnx__NodeProto *n = node(t, "ConvTranspose", "x w", "y");
        INTS(t, n, "strides", a, a);
        INTS(t, n, "dilations", b, b);
        INTS(t, n, "output_padding", c, c);
        if (i % 2)
            INTS(t, n, "output_shape", d, d);
        else
            INTS(t, n, "pads", d, d, d, d);
        refused(t, NULL, "ConvTranspose");
    }
}

/* ---- numbers that are none ---- */

TEST(resize_without_places_is_refused)
{
    static const float ends[] = {NAN, INFINITY, -INFINITY, 3e38f};
    const float scales[] = {2, 2};

    for (size_t i = 0; i < 16; i++) {
        const float roi[] = {ends[i % 4], 0, ends[i / 4], 1};

        start(t, 17);
        input(t, "x", F32, "2 2");
        initializer(t, tensor(t, "roi", F32, 1, (int64_t[]){4}, roi, sizeof roi));
        initializer(t, tensor(t, "scales", F32, 1, (int64_t[]){2}, scales, sizeof scales));
        Onnx__NodeProto *n =
            nodes_in(t, &t->graph, "y = Resize x roi scales, coordinate_transformation_mode tf_crop_and_resize");
        attribute_text(t, n, "mode", i % 2 ? "linear" : "cubic");
        if (isfinite(roi[0]) && isfinite(roi[2])) /* everything lies outside: extrapolated */
            reads(t, NULL);
        else
            refused(t, NULL, "roi has a region from");
    }
    for (size_t i = 0; i < 4; i++) {
        const float bad[] = {ends[i], 1};

        net(17, "x 2 2", "y = Resize x - scales");
        initializer(t, tensor(t, "scales", F32, 1, (int64_t[]){2}, bad, sizeof bad));
        refused(t, NULL, "a scale of");
    }
}

/** Axes, trip counts and diagonals of floating-point type that are no whole numbers. */
TEST(indices_that_are_no_numbers_are_refused)
{
    static const float numbers[] = {NAN, INFINITY, -INFINITY, 1e30f, -1e30f};

    for (size_t i = 0; i < 5; i++) {
        net(17, "x 2 2", "y = CumSum x k");
        number(t, "k", numbers[i]);
        refused(t, NULL, "the axis is");

        net(20, "x 1 2 1", "y = DFT x - k");
        number(t, "k", numbers[i]);
        refused(t, NULL, "the axis is");

        net(5, "x 2 2", "y = Tile x tiles k");
        number(t, "tiles", 2);
        number(t, "k", numbers[i]);
        refused(t, NULL, "the axis is");

        net(17, "x 2 2", "y = Trilu x k");
        number(t, "k", numbers[i]);
        if (isnan(numbers[i]))
            refused(t, NULL, "k is nan");
        else
            reads(t, NULL);
    }
    start(t, 17);
    input(t, "x", F32, "2");
    number(t, "trips", NAN);
    attribute_graph(t, node(t, "Loop", "trips - x", "y"), "body");
    refused(t, NULL, "Loop");
}

/* ---- types that an operator does not have ---- */

TEST(integer_matmuls_of_other_types_are_refused)
{
    const float infinite = INFINITY, w[] = {1, 2, 3, 4};
    const int32_t wide[] = {INT32_MIN, INT32_MAX, 0, 1};
    const uint8_t bytes[] = {1, 2, 3, 4};

    input(t, "x", U8, "2 2");
    initializer(t, tensor(t, "w", F32, 2, (int64_t[]){2, 2}, w, sizeof w));
    node(t, "MatMulInteger", "x w", "y");
    refused(t, NULL, "input 1 is of type float32, it must be int8 or uint8");

    start(t, 17);
    input(t, "x", I32, "2 2");
    initializer(t, tensor(t, "w", I32, 2, (int64_t[]){2, 2}, wide, sizeof wide));
    node(t, "MatMulInteger", "x w", "y");
    refused(t, NULL, "input 0 is of type int32");

    start(t, 17);
    input(t, "x", U8, "1 1 2 2");
    initializer(t, tensor(t, "w", U8, 4, (int64_t[]){1, 1, 2, 2}, bytes, sizeof bytes));
    initializer(t, tensor(t, "zero", F32, 0, NULL, &infinite, sizeof infinite));
    node(t, "ConvInteger", "x w zero", "y");
    refused(t, NULL, "the zero point, input 2, is of type float32, input 0 of type uint8");
}

/** The state of an LSTM that is composed step by step, with too few dimensions. */
TEST(recurrent_states_of_too_few_dimensions_are_refused)
{
    const float zeros[16] = {0};
    const char *const states[] = {"1", "1 1", ""};

    for (size_t i = 0; i < 3; i++) {
        net(17, "x 1 1 1", "y = LSTM x w w - - state, clip 1.0");
        initializer(t, tensor(t, "w", F32, 3, (int64_t[]){1, 4, 1}, zeros, 16));
        initializer(t, tensor(t, "state", F32, strlen(states[i]) / 2 + (states[i][0] != 0), (int64_t[]){1, 1}, zeros, 4));
        if (i == 1) /* the directions may be left out where there is one */
            read_net(t, NULL);
        else
            refused(t, NULL, "LSTM");
    }
}

/** Operands that come batch first are exchanged before their ranks are looked at. */
TEST(recurrent_operands_of_too_many_dimensions_are_refused)
{
    const char *const operators[] = {"RNN", "GRU", "LSTM"};

    for (size_t i = 0; i < 3; i++) {
        start(t, 14);
        inputs_of(t, F32, "x 1 1 1 1 1 1 1 1; w 1 1 1");
        attribute_int(t, node(t, operators[i], "x w w", "y"), "layout", 1);
        refused(t, NULL, "X, W and R of ranks 8, 3, 3");
    }
}

/* ---- shapes ---- */

/** Tensors without elements can have sizes, too, and products of some of them that fit nowhere. */
TEST(empty_tensors_of_huge_shapes_are_refused)
{
    const int64_t huge[] = {HUGE, HUGE, HUGE, 0}, minimum = INT64_MIN;

    net(17, "x 1", "f = Flatten z, axis 3; y = Cos x");
    initializer(t, tensor(t, "z", F32, 4, huge, "", 0));
    refused(t, NULL, "initializer \"z\": its shape");

    net(17, "x 1", "z = ConstantOfShape shape; f = Flatten z, axis 3; y = Cos f");
    integers(t, "shape", 4, huge);
    refused(t, NULL, "2^31 elements and more");

    net(17, "x 1 1", "e = Expand x shape; y = Squeeze e one, axis 1");
    integers(t, "one", 1, (int64_t[]){0});
    integers(t, "shape", 3, (int64_t[]){0, HUGE, HUGE});
    refused(t, NULL, "2^31 elements and more");

    net(18, "x 2 2", "y = CenterCropPad x shape");
    integers(t, "shape", 2, (int64_t[]){minimum, 2});
    refused(t, NULL, "is -9223372036854775808");

    start(t, 17);
    input(t, "x", F32, "0 2");
    t->graph.n_input = 0;
    initializer(t, tensor(t, "x", F32, 2, (int64_t[]){0, HUGE}, "", 0));
    integers(t, "repeats", 2, (int64_t[]){1, HUGE});
    node(t, "Tile", "x repeats", "y");
    refused(t, NULL, "a dimension of the result is 4611686014132420609");

    start(t, 17);
    input(t, "x", F32, "2 2");
    integers(t, "lengths", 2, (int64_t[]){1, 1});
    attribute_int(t, node(t, "ReverseSequence", "x lengths", "y"), "time_axis", INT64_MAX);
    refused(t, NULL, "time_axis is 9223372036854775807 and batch_axis 1");
}

/** A rank that no operand has, where it is written, and where it comes to be. */
TEST(ranks_beyond_twelve_are_refused)
{
    const float one = 1;
    const int64_t ones[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    Onnx__AttributeProto *a;

    input(t, "x", F32, "1");
    integers(t, "shape", 1, ones);
    a = attribute(t, node(t, "ConstantOfShape", "shape", "c"), "value", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR);
    a->t = tensor(t, "", F32, 13, ones, &one, sizeof one);
    node(t, "Add", "x c", "y");
    refused(t, NULL, "more dimensions than an operand may have");

    for (int view = 0; view < 2; view++) {
        start(t, 17);
        input(t, "x", F32, "1 1 1 1 1 1 1 1 1 1 1 1");
        integers(t, "shape", 13, ones);
        node(t, view ? "Reshape" : "Expand", "x shape", "y");
        refused(t, NULL, "the result would have 13 dimensions, an operand has at most 12");
    }
}

/* A node that is refused for one thing is read to its end, and the rest of it may be wrong, too. */
TEST(an_operand_of_another_rank_is_not_transposed)
{
    inputs_of(t, I32, "a 1 1 2 3 1 2; b 2 2");
    nodes_in(t, &t->graph, "y = Gemm a b, beta one, transA 1, transB 1");
    refused(t, NULL, "beta");
}

TEST_GROUP(create_context, release_context)
