/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Saved graphs: every kind of step survives saving and loading bit by bit, in the same context and in others, and so do graphs
 * in shared objects.
 */
#include "frontend/load/load_support.h"
#include "support/release.h"

/* ---- round trips ---- */

static void round_trip(const char *body, uint32_t threads, const char *debug)
{
    WNNContext c = new_context(threads, debug), other = new_context(threads, debug);
    WNNGraph g = build(c, body), loaded, again;
    SCOPED(results_free) struct results expected = {0};

    assert_int_equal(compute(g, &expected), WNNStatus_Success);
    assert_int_equal(wnnGraphSave(g, file_a), WNNStatus_Success);
    expect_results(g, &expected);
    release_graph(c, g);

    loaded = load(other, file_a);
    assert_int_equal(wnnGraphSave(loaded, file_b), WNNStatus_Success);
    unlink(file_a); /* the mapping stays */
    expect_results(loaded, &expected);
    again = load(other, file_b);
    wnnGraphRelease(loaded);
    expect_results(again, &expected);
    expect_results(again, &expected);
    wnnContextRelease(other); /* the graph keeps it */
    expect_results(again, &expected);
    wnnGraphRelease(again);
}

TEST(every_kind_of_step_is_saved)
{
    for (uint32_t i = 0; i < GRAPH_COUNT; i++) {
        printf("  %s\n", graphs[i].name);
        round_trip(graphs[i].body, 1, "");
        round_trip(graphs[i].body, 3, "");
        round_trip(graphs[i].body, 2, "no-library");
    }
}

/*
 * Blocks of packed weights may depend on the number of threads, those of pointwise convolutions above all.  Elements are small
 * integers, so that every order of additions gives the same.
 */
TEST(graphs_run_on_another_number_of_threads)
{
    static const char body[] =
        "inputs { x: f32[1, 14, 14, 64]; y: f32[1, 14, 14, 384]; z: f32[1, 640]; } consts { a: f32[384, 1, 1, 64] "
        "@weights(\"a\"); "
        "b: f32[64, 1, 1, 384] @weights(\"b\"); c: f32[96, 1, 1, 384] @weights(\"c\"); d: f32[640, 500] @weights(\"d\"); "
        "s: f32[] @scalar(8); } nodes { x8 = mul(x, s); xr = roundEven(x8); y8 = mul(y, s); yr = roundEven(y8); z8 = mul(z, "
        "s); "
        "zr = roundEven(z8); a8 = mul(a, s); ar = roundEven(a8); b8 = mul(b, s); br = roundEven(b8); c8 = mul(c, s); "
        "cr = roundEven(c8); d8 = mul(d, s); dr = roundEven(d8); p = conv2d(xr, ar, inputLayout=\"nhwc\", "
        "filterLayout=\"ohwi\"); q = conv2d(yr, br, inputLayout=\"nhwc\", filterLayout=\"ohwi\"); r = conv2d(yr, cr, "
        "inputLayout=\"nhwc\", filterLayout=\"ohwi\"); t = matmul(zr, dr); } outputs { p; q; r; t; }";

    engine = WNNEngine_Cpu;
    for (uint32_t made = 1; made <= 3; made++) {
        WNNContext c = new_context(made, "");
        WNNGraph g = build(c, body);
        SCOPED(results_free) struct results expected = {0};

        assert_int_equal(compute(g, &expected), WNNStatus_Success);
        assert_int_equal(wnnGraphSave(g, file_a), WNNStatus_Success);
        release_graph(c, g);
        for (uint32_t threads = 1; threads <= 8; threads++) {
            c = new_context(threads, "");
            g = load(c, file_a);
            expect_results(g, &expected);
            release_graph(c, g);
        }
    }
}

/** Returns what fmax does, whose reductions of float32 gcc 12 for aarch64 fails to compile. */
static double greater(double a, double b)
{
    return b > a ? b : a;
}

/* A graph keeps the precision that it was compiled with, whatever that of the context which loads it.  Devices compute in
 * float32, as the API allows. */
TEST(precision_stays)
{
    engine = WNNEngine_Cpu;
    static const char body[] = "inputs { x: f32[40, 72]; i: f32[1, 9, 9, 24]; a: f32[3, 8, 20]; b: f32[3, 20, 33]; } "
                               "consts { w: f32[72, 48] @weights(\"w\"); f: f32[32, 3, 3, 12] @weights(\"f\"); } "
                               "nodes { p = matmul(x, w); y = relu(p); q = matmul(a, b); "
                               "c = conv2d(i, f, groups=2, inputLayout=\"nhwc\", filterLayout=\"ohwi\"); } "
                               "outputs { y; q; c; }";
    static const WNNPrecision precisions[] = {WNNPrecision_Float32, WNNPrecision_Bf16x2, WNNPrecision_Bf16};
    double worst[3] = {0};
    struct results r[3];

    for (int k = 0; k < 3; k++) {
        precision = precisions[k];
        WNNContext c = new_context(2, "prefer-library,prefer-bfloat16"), plain = new_context(2, "prefer-library");
        precision = WNNPrecision_Float32;
        OWNED(context) WNNContext other = new_context(2, "prefer-library,prefer-bfloat16");
        WNNGraph g = build(c, body), usual = build(plain, body);

        assert_int_equal(compute(g, &r[k]), WNNStatus_Success);
        assert_int_equal(wnnGraphSave(g, file_a), WNNStatus_Success);
        WNNGraph loaded = load(other, file_a);
        expect_results(loaded, &r[k]);
        assert_int_equal(wnnGraphSave(loaded, file_b), WNNStatus_Success);
        WNNGraph again = load(other, file_b);
        expect_results(again, &r[k]);
        if (precisions[k] == WNNPrecision_Float32)
            expect_results(usual, &r[k]);
        for (uint32_t i = 0; i < r[k].count; i++)
            for (size_t e = 0; e < r[k].bytes[i] / sizeof(float); e++)
                worst[k] = greater(worst[k], fabs(((float *)r[k].data[i])[e] - ((float *)r[0].data[i])[e]));
        wnnGraphRelease(g);
        wnnGraphRelease(usual);
        wnnGraphRelease(loaded);
        release_graph(c, again);
        wnnContextRelease(plain);
    }
    engine = WNNEngine_Auto;
    printf("  differences: bf16x2 %g, bf16 %g\n", worst[1], worst[2]);
    if (processor_has_bfloat16())
        assert_true(worst[1] > 0 && worst[2] > 20 * worst[1]);
    else
        assert_true(worst[1] == 0 && worst[2] == 0);
    for (int k = 0; k < 3; k++)
        results_free(&r[k]);
}

/* Values that lie in memory as bfloat16 are in files like that, and are the numbers that each contraction would
 * have made itself. */
TEST(bfloat16_values_are_saved)
{
    static const char body[] =
        "inputs { x: f32[40, 72]; i: f32[1, 9, 9, 24]; } "
        "consts { w: f32[72, 48] @weights(\"w\"); v: f32[48, 64] @weights(\"v\"); f: f32[32, 3, 3, 24] @weights(\"f\"); "
        "h: f32[32, 1, 1, 32] @weights(\"h\"); } "
        "nodes { p = matmul(x, w); y = relu(p); q = matmul(y, v); r = softmax(q, 1); t = reshape(r, [40, 2, 32]); "
        "a = transpose(t, permutation=[1, 0, 2]); b = transpose(t, permutation=[1, 2, 0]); m = matmul(a, b); "
        "c = conv2d(i, f, inputLayout=\"nhwc\", filterLayout=\"ohwi\"); d = relu(c); "
        "e = conv2d(d, h, inputLayout=\"nhwc\", filterLayout=\"ohwi\"); s = add(e, d); z = relu(s); "
        "k = conv2d(z, h, inputLayout=\"nhwc\", filterLayout=\"ohwi\"); } outputs { m; q; k; }";
    struct results stored, apart;

    precision = WNNPrecision_Bf16;
    WNNContext c = new_context(2, "prefer-library,prefer-bfloat16"),
               each = new_context(2, "prefer-library,prefer-bfloat16,skip=low-precision-inputs");
    precision = WNNPrecision_Float32;
    WNNContext other = new_context(2, ""); /* has nothing to choose any more */
    WNNGraph g = build(c, body), h = build(each, body);

    assert_int_equal(compute(g, &stored), WNNStatus_Success);
    assert_int_equal(compute(h, &apart), WNNStatus_Success);
    for (uint32_t i = 0; i < stored.count; i++) {
        const float *x = stored.data[i], *y = apart.data[i];
        double largest = 0, difference = 0;

        for (size_t e = 0; e < stored.bytes[i] / sizeof(float); e++) {
            largest = greater(largest, fabs((double)y[e]));
            difference = greater(difference, fabs((double)x[e] - y[e]));
        }
        assert_true(difference <= 0x1p-8 * largest); /* a sum in another order may round to the next bfloat16 */
    }
    assert_int_equal(wnnGraphSave(g, file_a), WNNStatus_Success);
    WNNGraph loaded = load(other, file_a);
    expect_results(loaded, &stored);
    assert_int_equal(wnnGraphSave(loaded, file_b), WNNStatus_Success);
    WNNGraph again = load(other, file_b);
    expect_results(again, &stored);
    wnnGraphRelease(g);
    wnnGraphRelease(h);
    wnnGraphRelease(loaded);
    release_graph(c, again);
    wnnContextRelease(each);
    wnnContextRelease(other);
    results_free(&stored);
    results_free(&apart);
}

struct user {
    WNNGraph graph;
    const float *x, *expected;
    size_t bytes;
    bool ok;
};

static void *use(void *user)
{
    struct user *u = user;

    u->ok = true;
    for (int i = 0; i < 20; i++) {
        OWNED(memory) float *y = malloc(u->bytes);
        WNNNamedBuffer in = {WNN_STR("x"), (void *)u->x, u->bytes}, out = {WNN_STR("y"), y, u->bytes};

        u->ok &= y && wnnGraphCompute(u->graph, 1, &in, 1, &out) == WNNStatus_Success && !memcmp(y, u->expected, u->bytes);
    }
    return NULL;
}

/* One file in two contexts, each graph run by several threads, and saved meanwhile. */
TEST(many_threads_use_one_file)
{
    static const char body[] = "inputs { x: f32[64, 64]; } consts { w: f32[64, 64] @weights(\"w\"); } "
                               "nodes { p = matmul(x, w); y = gelu(p); } outputs { y; }";
    WNNContext c = new_context(2, ""), d = new_context(2, "");
    WNNGraph g = build(c, body), one, two;
    pthread_t threads[6];
    struct user users[6];
    float x[64 * 64], y[64 * 64];

    for (int i = 0; i < 64 * 64; i++)
        x[i] = noise();
    assert_int_equal(
        wnnGraphCompute(g, 1, &(WNNNamedBuffer){WNN_STR("x"), x, sizeof x}, 1, &(WNNNamedBuffer){WNN_STR("y"), y, sizeof y}),
        WNNStatus_Success);
    assert_int_equal(wnnGraphSave(g, file_a), WNNStatus_Success);
    one = load(c, file_a);
    two = load(d, file_a);
    for (int i = 0; i < 6; i++) {
        users[i] = (struct user){i % 3 == 0 ? g : i % 3 == 1 ? one : two, x, y, sizeof x, false};
        assert_int_equal(pthread_create(&threads[i], NULL, use, &users[i]), 0);
    }
    for (int i = 0; i < 5; i++) {
        assert_int_equal(wnnGraphSave(one, file_b), WNNStatus_Success);
        wnnGraphRelease(load(d, file_b));
    }
    for (int i = 0; i < 6; i++) {
        pthread_join(threads[i], NULL);
        assert_true(users[i].ok);
    }
    wnnGraphRelease(g);
    wnnGraphRelease(one);
    release_graph(c, two);
    wnnContextRelease(d);
}

/* Dispatched after other work, on tensors. */
TEST(loaded_graphs_are_dispatched)
{
    OWNED(context) WNNContext c = new_context(2, "");
    WNNGraph g = build(c, graphs[5].body), loaded;
    WNNTensorDescriptor d = {.dataType = WNNOperandDataType_Float32, .rank = 0, .readable = true, .writable = true};
    OWNED(tensor) WNNTensor x = NULL, y = NULL, z = NULL;
    float value = 3, result = 0;

    assert_int_equal(wnnGraphSave(g, file_a), WNNStatus_Success);
    loaded = load(c, file_a);
    wnnGraphRelease(g);
    assert_int_equal(wnnContextCreateTensor(c, &d, &x), WNNStatus_Success);
    assert_int_equal(wnnContextCreateTensor(c, &d, &y), WNNStatus_Success);
    assert_int_equal(wnnContextCreateTensor(c, &d, &z), WNNStatus_Success);
    assert_int_equal(wnnContextWriteTensor(c, x, &value, sizeof value), WNNStatus_Success);
    for (int i = 0; i < 3; i++) {
        WNNNamedTensor in = {WNN_STR("x"), i % 2 ? y : x}, out[2] = {{WNN_STR("y"), i % 2 ? x : y}, {WNN_STR("c"), z}};
        assert_int_equal(wnnContextDispatch(c, loaded, 1, &in, 2, out), WNNStatus_Success);
    }
    wnnGraphDestroy(loaded); /* after the work */
    assert_int_equal(wnnContextReadTensor(c, y, &result, sizeof result), WNNStatus_Success);
    assert_true(result == 9);
    assert_int_equal(wnnGraphSave(loaded, file_b), WNNStatus_InvalidStateError);
    wnnGraphRelease(loaded);
}

struct end {
    int calls;
    WNNStatus status;
    WNNGraph graph;
};

static void on_loaded(WNNStatus status, WNNGraph graph, WNNStringView message, void *userdata1, void *userdata2)
{
    struct end *end = userdata1;

    assert_true(status == WNNStatus_Success ? message.length == 0 || !*message.data : strstr(message.data, userdata2) != NULL);
    *end = (struct end){end->calls + 1, status, graph};
}

TEST(graphs_load_asynchronously)
{
    WNNContext c = new_context(2, "");
    WNNGraph g = build(c, graphs[0].body);
    SCOPED(results_free) struct results expected = {0};
    struct end end = {0, WNNStatus_Success, NULL};
    WNNBuildCallbackInfo info = {WNNCallbackMode_WaitAnyOnly, on_loaded, &end, "no/such"};
    char path[sizeof file_a];

    assert_int_equal(compute(g, &expected), WNNStatus_Success);
    assert_int_equal(wnnGraphSave(g, file_a), WNNStatus_Success);
    wnnGraphRelease(g);
    memcpy(path, file_a, sizeof path);
    WNNFuture f = wnnContextLoadGraphAsync(c, path, info);
    memset(path, 'x', sizeof path - 1); /* it was copied */
    assert_int_equal(wnnContextWaitAny(c, 1, &f, UINT64_MAX), WNNStatus_Success);
    assert_true(end.calls == 1 && end.graph);
    g = end.graph;
    f = wnnContextLoadGraphAsync(c, "/no/such/file", info);
    assert_int_equal(wnnContextWaitAny(c, 1, &f, UINT64_MAX), WNNStatus_Success);
    assert_true(end.calls == 2 && end.status == WNNStatus_DataError && !end.graph);
    wnnContextLoadGraphAsync(NULL, file_a,
                             (WNNBuildCallbackInfo){WNNCallbackMode_WaitAnyOnly, on_loaded, &end, "context is NULL"});
    assert_true(end.calls == 3 && end.status == WNNStatus_TypeError);
    /* One that is not waited for does not keep the context. */
    wnnContextLoadGraphAsync(c, file_a, (WNNBuildCallbackInfo){WNNCallbackMode_AllowProcessEvents, NULL, NULL, NULL});
    wnnContextRelease(c);
    expect_results(g, &expected);
    wnnGraphRelease(g);
}

/* Extreme graphs go through a file like all others. */
TEST(extreme_graphs_are_saved)
{
    enum { NAME_BYTES = 100000, INPUTS = 12, OPERANDS = 3000 };
    static const char *const bodies[] = {
        "inputs { x: f32[1, 1, 3, 3]; } consts { w: f32[1, 1, 1, 1] @scalar(2); } nodes { y = conv2d(x, w, strides=[268435457, "
        "268435457]); } outputs { y; }",
        "inputs { x: f32[1, 1, 3, 3]; } consts { w: f32[1, 1, 1, 1] @scalar(2); } nodes { y = conv2d(x, w, "
        "strides=[2147483647, 1]); } outputs { y; }",
        "inputs { x: f32[1, 1, 3, 3]; } consts { w: f32[1, 1, 1, 1] @scalar(2); } nodes { y = conv2d(x, w, "
        "dilations=[2147483647, 268435457]); } outputs { y; }",
        "inputs { x: f32[1, 1, 3, 3]; } nodes { y = maxPool2d(x, windowDimensions=[1, 1], strides=[1073741824, 268435457]); } "
        "outputs { y; }",
        "inputs { x: f32[3]; } nodes { y = slice(x, [0], [3], strides=[2147483647]); } outputs { y; }",
    };

    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        for (int library = 0; library < 2; library++)
            round_trip(bodies[i], 1, library ? "prefer-library" : "no-library");

    /* A long name, and a step with many places. */
    char *body = malloc(2 * NAME_BYTES + OPERANDS * 48), *at = body;
    assert_non_null(body);
    at += sprintf(at, "inputs { \"");
    memset(at, 'n', NAME_BYTES);
    at += NAME_BYTES;
    at += sprintf(at, "\": f32[2];");
    for (int i = 0; i < INPUTS; i++)
        at += sprintf(at, " x%d: f32[2];", i);
    at += sprintf(at, " } nodes { y = concat([\"");
    memset(at, 'n', NAME_BYTES);
    at += NAME_BYTES;
    at += sprintf(at, "\"");
    for (int i = 0; i < OPERANDS; i++)
        at += sprintf(at, ", x%d", i % INPUTS);
    sprintf(at, "], axis=0); } outputs { y; }");
    round_trip(body, 1, "");
    free(body);
}

/* ---- shared objects ---- */

static void shared_object(WNNContext c, const char *path)
{
    OWNED(compiled) WNNGraph g = load(c, path);
    WNNNamedOperandDescriptor d;
    const float x[6] = {1, 2, 3, 4, 5, 6};
    float scale = 10, y[6] = {0}, sum = 0;
    const WNNNamedBuffer in[2] = {{WNN_STR("x"), (void *)x, sizeof x}, {WNN_STR("scale"), &scale, sizeof scale}},
                         out[2] = {{WNN_STR("y"), y, sizeof y}, {WNN_STR("sum"), &sum, sizeof sum}};

    assert_int_equal(wnnGraphGetInputCount(g), 2);
    assert_int_equal(wnnGraphGetInput(g, 0, &d), WNNStatus_Success);
    assert_true(d.descriptor.rank == 2 && d.descriptor.shape[0] == 2 && d.descriptor.shape[1] == 3);
    assert_int_equal(wnnGraphCompute(g, 2, in, 2, out), WNNStatus_Success);
    for (int i = 0; i < 6; i++)
        assert_true(y[i] == x[i] * 10);
    assert_true(sum == 21);
    assert_int_equal(wnnGraphSave(g, file_a), WNNStatus_NotSupportedError);
    scale = -1; /* what the object refuses to compute */
    assert_int_equal(wnnGraphCompute(g, 2, in, 2, out), WNNStatus_OperationError);
    assert_non_null(strstr(wnnGetLastErrorMessage().data, "hand_run"));
}

TEST(shared_objects_are_loaded)
{
    assert_int_equal(wnnGetFileEngine(OBJECT_ALONE, &engine), WNNStatus_Success);
    assert_int_equal(engine, WNNEngine_Cpu);
    OWNED(context) WNNContext c = new_context(3, "");

    engine = WNNEngine_Auto;
    shared_object(c, OBJECT_ALONE);
    shared_object(c, OBJECT_MODEL);
    expect_refusal(c, OBJECT_WRONG, WNNStatus_DataError, "output 0 of the object has 24 bytes, its shape has 28");
    expect_refusal(c, "/lib/x86_64-linux-gnu/libm.so.6", WNNStatus_DataError, "");
}

static void count_parts(void *user, uint32_t parts, void (*part)(void *data, uint32_t i, uint32_t parts), void *data)
{
    for (uint32_t i = 0; i < parts; i++, ++*(int *)user)
        part(data, i, parts);
}

/* One with a model has threads of its own, and gets one: the one made by hand computes on three only. */
TEST(shared_objects_compute_on_a_parallel_for)
{
    const float x[6] = {1, 2, 3, 4, 5, 6}, scale = 10;
    const WNNNamedBuffer in[2] = {{WNN_STR("x"), (void *)(uintptr_t)x, sizeof x},
                                  {WNN_STR("scale"), (void *)(uintptr_t)&scale, sizeof scale}};
    float sum;
    int parts = 0;
    const struct webnn_object_parallel parallel = {3, count_parts, &parts};
    WNNContextOptions o = WNN_CONTEXT_OPTIONS_INIT;
    OWNED(context) WNNContext c = NULL;

    o.parallel = &parallel;
    assert_int_equal(wnnCreateContext(&o, &c), WNNStatus_Success);
    shared_object(c, OBJECT_ALONE);
    assert_int_equal(parts, 3);
    OWNED(compiled) WNNGraph g = load(c, OBJECT_MODEL);
    assert_int_equal(wnnGraphCompute(g, 2, in, 1, &(WNNNamedBuffer){WNN_STR("sum"), &sum, sizeof sum}),
                     WNNStatus_OperationError);
    assert_int_equal(parts, 3);
}

TEST_GROUP(make_folder, remove_folder)
