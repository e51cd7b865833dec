/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Files whose dimensions have names, read without sizes: what they compute of shapes becomes sizes of one graph, which gives
 * the bits of the file read for numbers.
 */
#include "readers/onnx/net.h"

static const struct model_options open_sizes = {.named = true};

static void list(const char *name, int64_t number)
{
    integers(t, name, 1, &number);
}

/** Begins a model of x [b, n, 6] and constants: i0 to i2 are scalars, l0 to l6 and m1 (-1) lists. */
static void begin(const char *nodes)
{
    start(t, 17);
    input(t, "x", F32, "b n 6");
    integer(t, "i0", 0);
    integer(t, "i1", 1);
    integer(t, "i2", 2);
    list("l0", 0);
    list("l1", 1);
    list("l2", 2);
    list("l6", 6);
    list("m1", -1);
    list("last", INT64_MAX);
    integers(t, "l02", 2, (int64_t[]){0, 2});
    integers(t, "ones", 3, (int64_t[]){1, 1, 1});
    nodes_in(t, &t->graph, nodes);
}

static WNNGraph build_read(void)
{
    WNNGraph graph;

    assert_done(!model_build(&t->read, &graph, &e));
    return graph;
}

static size_t output_bytes(WNNGraph graph)
{
    WNNNamedOperandDescriptor d;

    assert_int_equal(wnnGraphGetOutput(graph, 0, &d), WNNStatus_Success);
    return wnnOperandDescriptorGetByteLength(&d.descriptor);
}

static WNNStatus variant_of(WNNGraph graph, uint32_t b, uint32_t n, WNNGraph *variant)
{
    const WNNNamedSize sizes[] = {{WNN_STR("b"), b}, {WNN_STR("n"), n}};

    return wnnGraphGetVariant(graph, 2, sizes, variant);
}

static void compute_graph(WNNGraph graph, uint32_t b, uint32_t n, void *y, size_t bytes)
{
    float x[200];

    for (uint32_t i = 0; i < b * n * 6; i++)
        x[i] = (float)i / 8 - 3;
    const WNNNamedBuffer in = {WNN_STR("x"), x, b * n * 6 * sizeof *x}, out = {WNN_STR("y"), y, bytes};
    assert_success(wnnGraphCompute(graph, 1, &in, 1, &out));
}

TEST(shapes_become_sizes_of_one_graph)
{
    static const char *const models[] = {
        "s = Shape x; n = Gather s i1; r = Range i0 n i1; c = Cast r, to 1; u = Unsqueeze c l02; y = Add x u",
        "s = Shape x; n = Slice s l1 l2; m = Mul n l2; z = Concat l0 m m1, axis 0; y = Reshape x z",
        "s = Shape x; n = Slice s l1 l2; h = Div n l2; m = Add h l1; q = Slice x l0 m l1; y = Sigmoid q",
        "q = Slice x m1 last l1; y = Sigmoid q",
        "s = Shape x; f = ConstantOfShape s; y = Add x f",
        "s = Shape x; b = Slice s l0 l1; z = Concat b m1 l6, axis 0; q = Equal z m1; w = Where q ones z; y = Expand x w",
        "s = Shape x; n = Slice s l1 l2; r = Concat l1 l1 n, axis 0; y = Tile x r",
        "f = Flatten x, axis 2; y = Softmax f",
        "q = Slice x l0 l1 l0; s = Shape q; b = Slice s l0 l1; z = Concat b m1, axis 0; r = Reshape q z; y = Squeeze r l0",
        "z = Size x; c = Cast z, to 1; y = Mul x c",
        "s = Shape x; n = Gather s m1; r = Squeeze n; d = Cast r, to 1; y = Div x d",
        "t = Transpose x; q = Reshape t m1; y = Relu q",
        "s = Shape x; b = Gather s l0; q = Sub b m1; h = Min q b; z = Concat h m1, axis 0; y = Reshape x z",
    };
    static const uint32_t sizes[][2] = {{1, 2}, {3, 5}, {2, 1}};

    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        begin(models[i]);
        reads(t, &open_sizes);
        WNNGraph graph = build_read(), variant, fixed;

        for (size_t k = 0; k < 3; k++) {
            const uint32_t b = sizes[k][0], n = sizes[k][1];
            const struct model_dim dims[] = {{"b", b}, {"n", n}};
            char got[4000], want[4000];

            if (variant_of(graph, b, n, &variant))
                fail_msg("%s: %s", models[i], wnnGetLastErrorMessage().data);
            reads(t, &(struct model_options){.dim_count = 2, .dims = dims});
            fixed = build_read();
            const size_t bytes = output_bytes(fixed);
            assert_int_equal(output_bytes(variant), bytes);
            compute_graph(variant, b, n, got, bytes);
            compute_graph(fixed, b, n, want, bytes);
            if (memcmp(got, want, bytes) != 0)
                fail_msg("%s: other bits for b = %u, n = %u", models[i], b, n);
            wnnGraphRelease(variant);
            wnnGraphRelease(fixed);
        }
        wnnGraphRelease(graph);
    }
}

TEST(a_size_that_is_given_is_a_number)
{
    const struct model_dim b = {"b", 2};
    WNNNamedOperandDescriptor d;

    begin("y = Relu x");
    reads(t, &(struct model_options){.named = true, .dim_count = 1, .dims = &b});
    OWNED(compiled) WNNGraph graph = build_read();
    assert_int_equal(wnnGraphGetInput(graph, 0, &d), WNNStatus_Success);
    assert_int_equal(d.descriptor.shape[0], 2);
    assert_null(d.descriptor.dimensions[0].name.data);
    assert_int_equal(d.descriptor.dimensions[1].name.length, 1);
}

TEST(what_must_know_a_size_is_refused)
{
    begin("q = LpNormalization x; r = EyeLike q; e = EyeLike m; y = Add r e");
    input(t, "m", F32, "b n");
    refused(t, &open_sizes, "\"n_e\" (EyeLike): it must know a size that the file names");
    begin("s = Shape x; d = DepthToSpace x, blocksize 2; y = Relu d");
    t->graph.input[0] = port(t, "x", F32, "1 c n n");
    refused(t, &open_sizes, "(DepthToSpace): it must know a size that the file names");
    begin("w = ConstantOfShape ones; v = Unsqueeze w l02; y = ConvTranspose x v");
    t->graph.input[0] = port(t, "x", F32, "1 1 n n n");
    refused(t, &open_sizes, "(ConvTranspose): it must know a size that the file names");
}

TEST(numbers_are_no_sizes)
{
    static const int64_t numbers[] = {INT64_C(1) << 31, (INT64_C(1) << 31) + 1, UINT32_MAX, INT64_C(1) << 32, INT64_MAX};

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        begin("z = Concat m1 big, axis 0; y = Reshape x z");
        list("big", numbers[i]);
        refused(t, &open_sizes, "(Reshape): dimension 1 of the shape is");
        refused(t, &(struct model_options){.dim_count = 2, .dims = (struct model_dim[]){{"b", 1}, {"n", 1}}},
                "(Reshape): dimension 1 of the shape is");
        begin("s = Shape x; z = Mul s big; y = Expand x z");
        list("big", numbers[i]);
        assert_false(read_net(t, &open_sizes));
    }
}

TEST(sizes_beyond_all_bounds_are_refused)
{
    static const uint32_t sizes[][2] = {{0, 1}, {UINT32_MAX, 1}, {INT32_MAX, INT32_MAX}, {1 << 20, 1 << 20}};

    begin("s = Shape x; n = Slice s l1 l2; m = Mul n n; k = Mul m m; r = Concat l1 k l1, axis 0; y = Tile x r");
    reads(t, &open_sizes);
    OWNED(compiled) WNNGraph graph = build_read(), variant = NULL;
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(variant_of(graph, sizes[i][0], sizes[i][1], &variant), WNNStatus_TypeError);
        assert_null(variant);
    }
    assert_int_equal(variant_of(graph, 1, 100, &variant), WNNStatus_TypeError); /* 10^10 elements */
    assert_int_equal(variant_of(graph, 2, 3, &variant), WNNStatus_Success);
}

/* A Reshape of which only the shape is read is refused where the sizes do not divide, as one whose elements are. */
TEST(sizes_that_do_not_divide_are_refused)
{
    static const char *const models[] = {"q = Reshape x z; y = Shape q", "q = Reshape x z; s = Shape q; y = Expand i1 s"};

    for (size_t i = 0; i < 2; i++) {
        begin(models[i]);
        integers(t, "z", 2, (int64_t[]){-1, 4});
        reads(t, &open_sizes);
        OWNED(compiled) WNNGraph graph = build_read(), variant = NULL;

        assert_int_equal(variant_of(graph, 1, 3, &variant), WNNStatus_TypeError); /* 18 elements */
        assert_int_equal(variant_of(graph, 1, 2, &variant), WNNStatus_Success);
        assert_int_equal(output_bytes(variant), i ? 3 * 4 * 8 : 2 * 8);
    }
}

TEST(damaged_files_are_refused)
{
    size_t size;

    begin("s = Shape x; n = Slice s l1 l2; m = Mul n l2; z = Concat l0 m m1, axis 0; q = Reshape x z; r = Tile q ones; h = "
          "Div n l2; y = Slice r l0 h l1");
    reads(t, &open_sizes);
    OWNED(memory) uint8_t *bytes = pack(t, &size);
    for (size_t i = 0; i < size * 8; i++) {
        struct error e = {0};
        struct model m;

        bytes[i / 8] ^= (uint8_t)(1 << i % 8);
        if (model_read_onnx(context, "damaged.onnx", bytes, size, &open_sizes, &m, &e))
            model_free(&m);
        else
            assert_true(*e.message);
        bytes[i / 8] ^= (uint8_t)(1 << i % 8);
    }
}

TEST_GROUP(create_context, release_context)
