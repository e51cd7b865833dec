/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Constants on the device, over an OpenCL without one (support/fake_opencl.h): how many bytes weights of 4 bits take there, and
 * that graphs with equal constants share buffers, whichever goes first and whatever fails.
 */
#include "runtime/engine/opencl/opencl_support.h"
#include "support/compact_graphs.h"

enum { K = 512, COLUMNS = 256, BLOCKS = K / 32, WEIGHTS = K * COLUMNS / 2, SCALES = BLOCKS * COLUMNS * 4 };

/* Weights of 4 bits between normalisations, as a language model has them, for some rows; b is no compact weight. */
static struct graph *model(uint32_t rows)
{
    char body[600];

    snprintf(body, sizeof body,
             "inputs { x: f32[%u, %d]; } consts { q: u8[%d, %d] @scalar(1); s: f32[%d, %d] @scalar(1); z: u8[%d, %d] "
             "@scalar(1); b: f32[%d, 4] @scalar(1); } nodes { w = dequantizeLinear(q, s, z); m = matmul(x, w); "
             "n = softmax(m, 1); y = matmul(n, b); } outputs { y; }",
             rows, K, K, COLUMNS, BLOCKS, COLUMNS, BLOCKS, COLUMNS, COLUMNS);
    random_seed(1); /* the same constants each time */
    struct graph *g = compact_parse(body, 0, 16);
    compact_narrow(g, 0, 4);
    return g;
}

static WNNStatus try_build(WNNContext context, uint32_t rows, WNNGraph *graph)
{
    const WNNStatus status = runtime_build(context, model(rows), graph, &(struct error){0});

    if (status != WNNStatus_Success)
        *graph = NULL;
    return status;
}

static WNNGraph build_model(WNNContext context, uint32_t rows)
{
    WNNGraph graph;

    assert_int_equal(try_build(context, rows, &graph), WNNStatus_Success);
    return graph;
}

/* Released constants go when the device is done with them. */
static void wait_for_bytes(size_t bytes)
{
    for (int i = 0; fake->bytes() != bytes && i < 10000; i++)
        usleep(1000);
    assert_int_equal(fake->bytes(), bytes);
}

/* Zero points are float32 numbers like scales.  Unpacked, they would take eight times the bytes of the weights. */
TEST(test_weights_of_4_bits_take_half_a_byte)
{
    OWNED(context) WNNContext context = new_context();
    const size_t before = fake->bytes();
    OWNED(compiled) WNNGraph graph = build_model(context, 1);
    const size_t bytes = fake->bytes() - before;

    assert_true(bytes >= WEIGHTS + 2 * SCALES);
    assert_true(bytes < WEIGHTS + 2 * SCALES + 16384); /* b */
}

/* A graph for a prompt and one for a token have one copy of their weights, until the last of them goes. */
TEST(test_graphs_share_constants)
{
    OWNED(context) WNNContext context = new_context();
    const size_t before = fake->bytes();
    WNNGraph prompt = build_model(context, 64);
    const size_t one = fake->bytes() - before;
    WNNGraph token = build_model(context, 1);

    assert_int_equal(fake->bytes() - before, one);
    wnnGraphRelease(prompt);
    assert_int_equal(fake->bytes() - before, one);
    prompt = build_model(context, 3); /* the rest serves others */
    assert_int_equal(fake->bytes() - before, one);
    wnnGraphRelease(token);
    assert_int_equal(fake->bytes() - before, one);
    wnnGraphRelease(prompt);
    wait_for_bytes(before);
}

/* Other contexts have other devices as far as anybody knows, and other constants are others. */
TEST(test_nothing_else_is_shared)
{
    WNNContext context = new_context(), other = new_context();
    const size_t before = fake->bytes();
    WNNGraph a = build_model(context, 1);
    const size_t one = fake->bytes() - before;
    WNNGraph b = build_model(other, 1);
    struct graph *changed = model(1);
    WNNGraph c;

    assert_int_equal(fake->bytes() - before, 2 * one);
    for (const struct value *v = changed->first_constant; v; v = v->next_constant)
        if (v->type.type == DTYPE_UINT4)
            *(uint8_t *)(uintptr_t)v->constant->data ^= 1;
    assert_int_equal(runtime_build(context, changed, &c, &(struct error){0}), WNNStatus_Success);
    assert_true(fake->bytes() - before >= 2 * one + WEIGHTS);
    assert_true(fake->bytes() - before < 3 * one);
    wnnGraphRelease(a);
    wnnGraphRelease(b);
    release_graph(context, c);
    wnnContextRelease(other);
}

/* A loaded graph's constants lie in its file, which is unmapped with it: later ones must not be compared with them. */
TEST(test_loaded_graphs_share_nothing)
{
    char path[] = "/tmp/webnn-constants-XXXXXX";
    WNNContext context = new_context();
    const size_t before = fake->bytes();
    WNNGraph graph = build_model(context, 1), loaded[3];
    struct error e;

    make_file(path);
    assert_int_equal(wnnGraphSave(graph, path), WNNStatus_Success);
    wnnGraphRelease(graph);
    wait_for_bytes(before);
    assert_non_null(loaded[0] = load_graph(context, path, &e));
    size_t one = fake->bytes() - before;
    assert_non_null(loaded[1] = load_graph(context, path, &e));
    assert_int_equal(fake->bytes() - before, 2 * one);
    wnnGraphRelease(loaded[0]);
    wait_for_bytes(before + one);
    assert_non_null(loaded[2] = load_graph(context, path, &e));
    wnnGraphRelease(loaded[1]);
    graph = build_model(context, 1);
    wnnGraphRelease(loaded[2]);
    release_graph(context, graph);
    assert_int_equal(unlink(path), 0);
}

TEST(test_every_call_may_fail_once)
{
    bool failed = true;

    for (long n = 0; failed; n++) {
        WNNGraph prompt = NULL, token = NULL;

        fake->fail_after(n, CL_OUT_OF_RESOURCES, false);
        WNNContext context = try_context(NULL, NULL);
        if (context) {
            try_build(context, 64, &prompt);
            try_build(context, 1, &token);
        }
        wnnGraphRelease(prompt);
        wnnGraphRelease(token);
        if (context)
            wnnContextRelease(context);
        failed = fake->has_failed();
        const char *call = fake->failed_call();
        fake->fail_after(-1, 0, false);
        assert_nothing_is_left(call);
    }
}

TEST_EACH(NULL, nothing_is_left)
TEST_GROUP(start, NULL)
