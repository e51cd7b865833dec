/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Compiled graphs in files: every kind of step survives saving and loading bit by bit, in the same context and in others; files
 * that do not fit or were altered are refused with a message, and nothing else happens.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/context.h"
#include "runtime/image_format.h"
#include "runtime/runtime.h"

/* ---- graphs ---- */

/* Every kind of step and of operand that steps have. */
static const struct {
    const char *name, *body;
} graphs[] = {
    {"convolutions",
     "inputs { x: f32[1, 12, 12, 8]; } consts { w: f32[16, 3, 3, 8] @weights(\"w\"); b: f32[16] @weights(\"b\"); "
     "d: f32[1, 3, 3, 16] @weights(\"d\"); v: f32[16, 16, 2, 2] @weights(\"v\"); m: f32[16, 10] @weights(\"m\"); } "
     "nodes { c = conv2d(x, w, bias=b, padding=[1, 1, 1, 1], inputLayout=\"nhwc\", filterLayout=\"ohwi\"); r = relu(c); "
     "e = conv2d(r, d, padding=[1, 1, 1, 1], groups=16, inputLayout=\"nhwc\", filterLayout=\"ihwo\"); s = add(e, r); "
     "t = transpose(s, permutation=[0, 3, 1, 2]); u = convTranspose2d(t, v, strides=[2, 2]); g = averagePool2d(u); "
     "f = reshape(g, [1, 16]); p = matmul(f, m); y = softmax(p, 1); } outputs { y; s; }"},
    {"products",
     "inputs { x: f32[6, 40]; k: f32[40, 24]; a: f32[2, 5, 40]; h: f32[1, 1024]; rows: f32[6, 1]; c: f32[24]; } "
     "consts { w: f32[40, 24] @weights(\"w\"); big: f32[1024, 1024] @weights(\"big\"); r: f32[6, 1] @weights(\"r\"); "
     "b: f32[24] @weights(\"b\"); } "
     "nodes { y0 = matmul(x, k); y1 = gemm(x, w, c=rows, beta=0.5); y2 = gemm(x, w, c=c, alpha=0.25, beta=2.0); "
     "y3 = gemm(x, w, c=r); y4 = matmul(a, w); y5 = matmul(h, big); y6 = gemm(x, w, c=b, beta=3.0); "
     "z = tanh(y6); } outputs { y0; y1; y2; y3; y4; y5; z; }"},
    {"integers",
     "inputs { x: f32[1, 4, 8, 8]; v: u8[3, 16]; } consts { w: i8[4, 4, 3, 3] @weights(\"w\"); b: f32[4] @weights(\"b\"); "
     "ws: f32[4, 1, 1, 1] @values([0.01, 0.02, 0.015, 0.03]); wz: i8[4, 1, 1, 1] @scalar(0); s: f32[1, 1, 1, 1] @scalar(0.05); "
     "z: u8[1, 1, 1, 1] @scalar(120); m: i8[16, 8] @weights(\"m\"); ms: f32[1, 1] @scalar(0.02); mz: i8[1, 1] @scalar(0); "
     "vz: u8[1, 1] @scalar(128); } "
     "nodes { q = quantizeLinear(x, s, z); t = dequantizeLinear(q, s, z); wd = dequantizeLinear(w, ws, wz); "
     "c = conv2d(t, wd, bias=b, padding=[1, 1, 1, 1]); r = relu(c); y = quantizeLinear(r, s, z); "
     "vd = dequantizeLinear(v, ms, vz); md = dequantizeLinear(m, ms, mz); p = matmul(vd, md); } outputs { y; p; }"},
    {"loops", "inputs { x: f32[7, 2, 12]; h: f32[2, 2, 9]; } consts { w: f32[2, 27, 12] @weights(\"w\"); r: f32[2, 27, 9] "
              "@weights(\"r\"); "
              "l: f32[1, 36, 12] @weights(\"l\"); k: f32[1, 36, 9] @weights(\"k\"); } "
              "nodes { [a, s] = gru(x, w, r, 7, 9, direction=\"both\", initialHiddenState=h, returnSequence=true); "
              "[e, f, i] = lstm(x, l, k, 7, 9, returnSequence=true); } outputs { a; s; e; f; i; }"},
    {"kernels", "inputs { x: f32[33, 70]; h: f16[5, 9]; i: i64[4]; u: u8[3, 3]; unused: f32[2]; n: i32[6]; } "
                "consts { k: f32[33, 70] @weights(\"k\"); c: f32[3] @values([1, 2, 3]); } "
                "nodes { a = sub(x, k); b = exp(a); s = reduceSum(b, axes=[1], keepDimensions=true); d = div(b, s); g = "
                "gather(x, i, axis=0); "
                "e = gelu(h); t = transpose(x, permutation=[1, 0]); q = cast(u, \"float32\"); r = mul(q, c); m = argMax(x, 1); "
                "o = cumulativeSum(n, 0); z = slice(x, [2, 3], [4, 5]); y = concat([z, z], 1); w = identity(x); v = pad(u, [1, "
                "1], [1, 1]); "
                "dead = neg(unused); } outputs { d; g; e; t; r; m; o; y; w; v; c; copy = n; }"},
    {"scalars", "inputs { x: f32[]; } consts { c: f32[] @scalar(2); } nodes { y = add(x, c); } outputs { y; c; }"},
};

enum { GRAPH_COUNT = sizeof graphs / sizeof *graphs };

static uint32_t noise_state;

static float noise(void)
{
    noise_state = noise_state * 1664525u + 1013904223u;
    return (float)(noise_state >> 8) / (float)(1 << 23) - 1;
}

/* Values from -1 to 1 in units of the type's; integers a few around zero. */
static void fill(void *data, const struct tensor_type *t)
{
    size_t size = dtype_size(t->type);

    for (int64_t i = 0; i < type_elements(t); i++) {
        union scalar s = number_cast(wnnNumber(dtype_is_float(t->type) ? noise() : noise() * 3 + 3), t->type);
        memcpy((char *)data + (size_t)i * size, &s, size);
    }
}

static bool make_weights(void *user, const char *key, const struct tensor_type *type, struct constant **constant,
                         struct error *e)
{
    (void)user;
    (void)key;
    *constant = constant_create(NULL, (size_t)type_bytes(type));
    if (!*constant)
        return error_out_of_memory(e);
    fill((void *)(*constant)->data, type); /* ours alone so far */
    return true;
}

static WNNPrecision precision; /* of contexts to come */

static WNNContext new_context(uint32_t threads, const char *debug)
{
    WNNContextOptions o = WNN_CONTEXT_OPTIONS_INIT;
    WNNContext c;

    o.threadCount = threads;
    o.precision = precision;
    o.debug = WNN_STR(debug);
    assert_int_equal(wnnCreateContext(&o, &c), WNNStatus_Success);
    return c;
}

static WNNGraph build(WNNContext c, const char *body)
{
    struct error e = {0};
    WNNGraph graph;
    char *text = malloc(strlen(body) + 64);

    assert_non_null(text);
    sprintf(text, "webnn_graph \"test\" v1 { %s }", body);
    noise_state = 7;
    struct graph *g = graph_parse(text, strlen(text), make_weights, NULL, &e);
    if (!g)
        fail_msg("%s", e.message);
    free(text);
    if (runtime_build(c, g, &graph, &e))
        fail_msg("%s", e.message);
    return graph;
}

/* ---- running ---- */

struct results {
    uint32_t count;
    size_t bytes[16];
    void *data[16];
};

static size_t descriptor_bytes(const WNNNamedOperandDescriptor *d)
{
    struct tensor_type t = {.type = d->descriptor.dataType, .rank = (uint32_t)d->descriptor.rank};

    memcpy(t.dims, d->descriptor.shape, d->descriptor.rank * sizeof *t.dims);
    return (size_t)type_bytes(&t);
}

static WNNStatus compute(WNNGraph g, struct results *r)
{
    WNNNamedBuffer in[16], out[16];
    size_t inputs = wnnGraphGetInputCount(g), outputs = wnnGraphGetOutputCount(g);

    assert_true(inputs <= 16 && outputs <= 16);
    noise_state = 99;
    for (size_t i = 0; i < inputs; i++) {
        WNNNamedOperandDescriptor d;
        assert_int_equal(wnnGraphGetInput(g, i, &d), WNNStatus_Success);
        struct tensor_type t = {.type = d.descriptor.dataType, .rank = (uint32_t)d.descriptor.rank};
        memcpy(t.dims, d.descriptor.shape, d.descriptor.rank * sizeof *t.dims);
        in[i] = (WNNNamedBuffer){d.name, malloc((size_t)type_bytes(&t)), (size_t)type_bytes(&t)};
        assert_non_null(in[i].data);
        fill(in[i].data, &t);
    }
    r->count = (uint32_t)outputs;
    for (size_t i = 0; i < outputs; i++) {
        WNNNamedOperandDescriptor d;
        assert_int_equal(wnnGraphGetOutput(g, i, &d), WNNStatus_Success);
        r->bytes[i] = descriptor_bytes(&d);
        r->data[i] = calloc(1, r->bytes[i]);
        assert_non_null(r->data[i]);
        out[i] = (WNNNamedBuffer){d.name, r->data[i], r->bytes[i]};
    }
    WNNStatus status = wnnGraphCompute(g, inputs, in, outputs, out);
    for (size_t i = 0; i < inputs; i++)
        free(in[i].data);
    return status;
}

static void results_free(struct results *r)
{
    for (uint32_t i = 0; i < r->count; i++)
        free(r->data[i]);
}

static void expect_results(WNNGraph g, const struct results *expected)
{
    struct results r;

    if (compute(g, &r))
        fail_msg("%s", wnnGetLastErrorMessage().data);
    assert_int_equal(r.count, expected->count);
    for (uint32_t i = 0; i < r.count; i++) {
        assert_int_equal(r.bytes[i], expected->bytes[i]);
        assert_memory_equal(r.data[i], expected->data[i], r.bytes[i]);
    }
    results_free(&r);
}

static WNNGraph load(WNNContext c, const char *path)
{
    WNNGraph g;

    if (wnnContextLoadGraph(c, path, &g))
        fail_msg("%s", wnnGetLastErrorMessage().data);
    return g;
}

static void expect_refusal(WNNContext c, const char *path, WNNStatus status, const char *why)
{
    WNNGraph g = (WNNGraph)1;
    WNNStatus got = wnnContextLoadGraph(c, path, &g);

    if (got != status || g != NULL || !strstr(wnnGetLastErrorMessage().data, why))
        fail_msg("%s instead of %s with \"%s\": %s", wnnStatusGetName(got), wnnStatusGetName(status), why,
                 got ? wnnGetLastErrorMessage().data : "");
}

/* ---- files ---- */

static char folder[] = "/tmp/webnn-load-XXXXXX", file_a[64], file_b[64];

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(file_a, sizeof file_a, "%s/a.webnnc", folder);
    snprintf(file_b, sizeof file_b, "%s/b.webnnc", folder);
    return 0;
}

/* Nothing but the two files was left behind. */
static int remove_folder(void **state)
{
    (void)state;
    unlink(file_a);
    unlink(file_b);
    return rmdir(folder);
}

static unsigned char *read_all(const char *path, size_t *bytes)
{
    FILE *f = fopen(path, "rb");
    struct stat s;

    assert_non_null(f);
    assert_int_equal(fstat(fileno(f), &s), 0);
    *bytes = (size_t)s.st_size;
    unsigned char *data = aligned_alloc(64, (*bytes + 63) / 64 * 64);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, *bytes, f), *bytes);
    fclose(f);
    return data;
}

static void write_all(const char *path, const void *data, size_t bytes)
{
    FILE *f = fopen(path, "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, bytes, f), bytes);
    assert_int_equal(fclose(f), 0);
}

/* ---- round trips ---- */

static void round_trip(const char *body, uint32_t threads, const char *debug)
{
    WNNContext c = new_context(threads, debug), other = new_context(threads, debug);
    WNNGraph g = build(c, body), loaded, again;
    struct results expected;

    assert_int_equal(compute(g, &expected), WNNStatus_Success);
    assert_int_equal(wnnGraphSave(g, file_a), WNNStatus_Success);
    expect_results(g, &expected);
    wnnGraphRelease(g);
    wnnContextRelease(c);

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
    results_free(&expected);
}

static void every_kind_of_step(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < GRAPH_COUNT; i++) {
        printf("  %s\n", graphs[i].name);
        round_trip(graphs[i].body, 1, "");
        round_trip(graphs[i].body, 3, "");
        round_trip(graphs[i].body, 2, "no-library");
    }
}

/* A graph keeps the precision that it was compiled with, whatever that of the context which loads it. */
static void precision_stays(void **state)
{
    (void)state;
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
        WNNContext other = new_context(2, "prefer-library,prefer-bfloat16");
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
                worst[k] = fmax(worst[k], fabs(((float *)r[k].data[i])[e] - ((float *)r[0].data[i])[e]));
        wnnGraphRelease(g);
        wnnGraphRelease(usual);
        wnnGraphRelease(loaded);
        wnnGraphRelease(again);
        wnnContextRelease(c);
        wnnContextRelease(plain);
        wnnContextRelease(other);
    }
    printf("  differences: bf16x2 %g, bf16 %g\n", worst[1], worst[2]);
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512bf16"))
        assert_true(worst[1] > 0 && worst[2] > 20 * worst[1]);
    else
#endif
        assert_true(worst[1] == 0 && worst[2] == 0);
    for (int k = 0; k < 3; k++)
        results_free(&r[k]);
}

/* Values that lie in memory as bfloat16 are in files like that, and are the numbers that each product would have made itself.
 */
static void narrow_values_are_saved(void **state)
{
    (void)state;
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
               each = new_context(2, "prefer-library,prefer-bfloat16,skip=narrow-inputs");
    precision = WNNPrecision_Float32;
    WNNContext other = new_context(2, ""); /* has nothing to choose any more */
    WNNGraph g = build(c, body), h = build(each, body);

    assert_int_equal(compute(g, &stored), WNNStatus_Success);
    assert_int_equal(compute(h, &apart), WNNStatus_Success);
    for (uint32_t i = 0; i < stored.count; i++) {
        const float *x = stored.data[i], *y = apart.data[i];
        double largest = 0, difference = 0;

        for (size_t e = 0; e < stored.bytes[i] / sizeof(float); e++) {
            largest = fmax(largest, fabs((double)y[e]));
            difference = fmax(difference, fabs((double)x[e] - y[e]));
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
    wnnGraphRelease(again);
    wnnContextRelease(c);
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
        float *y = malloc(u->bytes);
        WNNNamedBuffer in = {WNN_STR("x"), (void *)u->x, u->bytes}, out = {WNN_STR("y"), y, u->bytes};

        u->ok &= y && wnnGraphCompute(u->graph, 1, &in, 1, &out) == WNNStatus_Success && !memcmp(y, u->expected, u->bytes);
        free(y);
    }
    return NULL;
}

/* One file in two contexts, each graph run by several threads, and saved meanwhile. */
static void used_by_many(void **state)
{
    (void)state;
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
    wnnGraphRelease(two);
    wnnContextRelease(c);
    wnnContextRelease(d);
}

/* Dispatched behind other work, on tensors. */
static void dispatched(void **state)
{
    (void)state;
    WNNContext c = new_context(2, "");
    WNNGraph g = build(c, graphs[5].body), loaded;
    WNNTensorDescriptor d = {WNNOperandDataType_Float32, 0, NULL, true, true};
    WNNTensor x, y, z;
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
    wnnGraphDestroy(loaded); /* behind the work */
    assert_int_equal(wnnContextReadTensor(c, y, &result, sizeof result), WNNStatus_Success);
    assert_true(result == 9);
    assert_int_equal(wnnGraphSave(loaded, file_b), WNNStatus_InvalidStateError);
    wnnGraphRelease(loaded);
    wnnTensorRelease(x);
    wnnTensorRelease(y);
    wnnTensorRelease(z);
    wnnContextRelease(c);
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

static void asynchronously(void **state)
{
    (void)state;
    WNNContext c = new_context(2, "");
    WNNGraph g = build(c, graphs[0].body);
    struct results expected;
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
    /* One that nobody waits for does not keep the context. */
    wnnContextLoadGraphAsync(c, file_a, (WNNBuildCallbackInfo){WNNCallbackMode_AllowProcessEvents, NULL, NULL, NULL});
    wnnContextRelease(c);
    expect_results(g, &expected);
    wnnGraphRelease(g);
    results_free(&expected);
}

/* ---- what does not fit ---- */

static void saved_with(const char *body, uint32_t threads, unsigned char **data, size_t *bytes)
{
    WNNContext c = new_context(threads, "");
    WNNGraph g = build(c, body);

    assert_int_equal(wnnGraphSave(g, file_a), WNNStatus_Success);
    wnnGraphRelease(g);
    wnnContextRelease(c);
    *data = read_all(file_a, bytes);
}

/* An altered header, signed anew. */
static void expect_header_refusal(WNNContext c, const unsigned char *data, size_t bytes, const struct image_header *h,
                                  WNNStatus status, const char *why)
{
    unsigned char *copy = aligned_alloc(64, (bytes + 63) / 64 * 64);

    assert_non_null(copy);
    memcpy(copy, data, bytes);
    memcpy(copy, h, sizeof *h);
    image_sign(copy, bytes);
    write_all(file_b, copy, bytes);
    free(copy);
    expect_refusal(c, file_b, status, why);
}

static void other_machines(void **state)
{
    (void)state;
    unsigned char *data;
    size_t bytes;
    WNNContext c = new_context(2, "");
    struct image_header h, x;

    saved_with(graphs[0].body, 2, &data, &bytes);
    memcpy(&h, data, sizeof h);
    assert_true(h.flags & IMAGE_HAS_CODE && h.flags & IMAGE_HAS_LIBRARY && h.total_bytes == bytes);
    const bool packed = h.flags & IMAGE_IS_PACKED;
#define ALTERED(MEMBER, VALUE, STATUS, WHY)                                                                                    \
    (x = h, x.MEMBER = (VALUE), expect_header_refusal(c, data, bytes, &x, WNNStatus_##STATUS, WHY))
    ALTERED(byte_order, 0x04030201, NotSupportedError, "order of bytes");
    ALTERED(format, IMAGE_VERSION + 1, NotSupportedError, "format 4, this library reads 3");
    ALTERED(header_bytes, sizeof h + 8, NotSupportedError, "format");
    ALTERED(kernel_abi, KERNEL_ABI_VERSION + 1, NotSupportedError, "kernels have interface");
    ALTERED(library[0], '9', NotSupportedError, "was made by version 9.");
    ALTERED(library[15], 'x', NotSupportedError, "was made by version");
    ALTERED(total_bytes, bytes + 1, DataError, "should have");
    ALTERED(total_bytes, 64, DataError, "should have");
    ALTERED(plan.offset, bytes, DataError, "");
    ALTERED(plan.bytes, UINT64_MAX - 100, DataError, "outside");
    ALTERED(code.offset, UINT64_MAX - 4095, DataError, "outside");
    ALTERED(code.bytes, 0, DataError, "a kernel outside the code");
    ALTERED(data.offset, 64, DataError, "outside");
    ALTERED(data.bytes, 64, DataError, "is damaged");
    ALTERED(flags, h.flags & ~(uint32_t)IMAGE_HAS_LIBRARY, DataError, "a step of oneDNN");
    ALTERED(flags, h.flags | IMAGE_DATA_APART, DataError, "weights are missing");
    if (packed) {
        ALTERED(onednn_version, h.onednn_version + 1, NotSupportedError, "packed for oneDNN");
        ALTERED(onednn_isa, h.onednn_isa ^ 1, NotSupportedError, "another instruction set");
        ALTERED(thread_count, 3, NotSupportedError, "packed for 3 threads, the context has 2");
        WNNContext single = new_context(1, "");
        expect_refusal(single, file_a, WNNStatus_NotSupportedError, "packed for 2 threads, the context has 1");
        wnnContextRelease(single);
    }
    wnnContextRelease(c);
    c = new_context(2, "no-library");
    expect_refusal(c, file_a, WNNStatus_NotSupportedError, "oneDNN, which this context has switched off");
    wnnContextRelease(c);
    free(data);

    /* Without packed weights, the number of threads does not matter. */
    c = new_context(3, "");
    saved_with(graphs[4].body, 2, &data, &bytes);
    wnnGraphRelease(load(c, file_a));
    free(data);
    wnnContextRelease(c);
}

/* The first "+name" of the features becomes one that no processor has; then the triple another machine's. */
static void other_processors(void **state)
{
    (void)state;
    unsigned char *data;
    size_t bytes;
    WNNContext c = new_context(1, "");

    saved_with(graphs[5].body, 1, &data, &bytes);
    unsigned char *plus = memmem(data, bytes, "+", 1), *triple = memmem(data, bytes, "linux", 5);
    if (plus) {
        unsigned char was = plus[1];
        plus[1] = 'Z';
        image_sign(data, bytes);
        write_all(file_b, data, bytes);
        expect_refusal(c, file_b, WNNStatus_NotSupportedError, "code needs Z");
        plus[1] = was;
    }
    assert_non_null(triple);
    memcpy(triple, "LINUX", 5);
    image_sign(data, bytes);
    write_all(file_b, data, bytes);
    expect_refusal(c, file_b, WNNStatus_NotSupportedError, "is for");
    free(data);
    wnnContextRelease(c);
}

static void no_graphs(void **state)
{
    (void)state;
    WNNContext c = new_context(1, "");
    WNNGraph g = build(c, graphs[5].body), loaded;
    char missing[128];

    expect_refusal(c, "/nonexistent/graph", WNNStatus_DataError, "/nonexistent/graph: No such file");
    expect_refusal(c, folder, WNNStatus_DataError, folder);
    expect_refusal(c, "/proc/self/exe", WNNStatus_DataError, "");
    expect_refusal(c, "", WNNStatus_TypeError, "path is empty");
    write_all(file_a, "", 0);
    expect_refusal(c, file_a, WNNStatus_DataError, "No data");
    write_all(file_a, "webnn_graph", 11);
    expect_refusal(c, file_a, WNNStatus_DataError, "no compiled graph");
    write_all(file_a, "\177ELF and nothing else", 21);
    expect_refusal(c, file_a, WNNStatus_DataError, "loading a graph");
    assert_int_equal(wnnContextLoadGraph(NULL, file_a, &loaded), WNNStatus_TypeError);
    assert_int_equal(wnnContextLoadGraph(c, file_a, NULL), WNNStatus_TypeError);

    assert_int_equal(wnnGraphSave(NULL, file_a), WNNStatus_TypeError);
    assert_int_equal(wnnGraphSave(g, NULL), WNNStatus_TypeError);
    assert_int_equal(wnnGraphSave(g, ""), WNNStatus_TypeError);
    snprintf(missing, sizeof missing, "%s/no/such/folder", folder);
    assert_int_equal(wnnGraphSave(g, missing), WNNStatus_UnknownError);
    assert_non_null(strstr(wnnGetLastErrorMessage().data, "No such file"));
    assert_int_equal(wnnGraphSave(g, folder), WNNStatus_UnknownError); /* cannot be replaced; its temporary file goes */
    assert_int_equal(wnnGraphSave(g, file_a), WNNStatus_Success);
    wnnContextDestroy(c);
    assert_int_equal(wnnGraphSave(g, file_b), WNNStatus_InvalidStateError);
    expect_refusal(c, file_a, WNNStatus_InvalidStateError, "lost");
    wnnGraphRelease(g);
    wnnContextRelease(c);
    for (int i = 0; i < 2; i++) {
        struct dirent *entry;
        DIR *d = opendir(i ? "/tmp" : folder);
        assert_non_null(d);
        while ((entry = readdir(d)))
            if (!strncmp(entry->d_name, folder + 5, strlen(folder + 5)) || !i)
                assert_null(strstr(entry->d_name, ".tmp"));
        closedir(d);
    }
}

/* ---- damage ---- */

static WNNStatus load_bytes(WNNContext c, const void *data, size_t bytes)
{
    WNNGraph g;

    write_all(file_b, data, bytes);
    WNNStatus status = wnnContextLoadGraph(c, file_b, &g);
    wnnGraphRelease(g);
    return status;
}

static void damaged(void **state)
{
    (void)state;
    unsigned char *data;
    size_t bytes;
    WNNContext c = new_context(1, "");

    saved_with(graphs[3].body, 1, &data, &bytes);
    const struct image_header h = *(struct image_header *)data;
    assert_int_equal(load_bytes(c, data, bytes), WNNStatus_Success);
    for (size_t n = 0; n < bytes; n += n < sizeof h + 64 ? 1 : bytes / 150 + 1)
        assert_int_equal(load_bytes(c, data, n), WNNStatus_DataError);
    /* Every byte of the header, then any: but for padding between sections, which nobody reads. */
    for (size_t n = 0; n < sizeof h; n++) {
        data[n] ^= 0x41;
        assert_int_not_equal(load_bytes(c, data, bytes), WNNStatus_Success);
        data[n] ^= 0x41;
    }
    noise_state = 5;
    for (int i = 0; i < 300; i++) {
        const struct image_section *s = i % 3 == 0 ? &h.plan : i % 3 == 1 ? &h.code : &h.data;
        size_t at = (size_t)(s->offset + (uint64_t)((double)(noise() + 1) / 2 * (double)(s->bytes - 1)));
        unsigned char was = data[at];

        data[at] ^= (unsigned char)(1 << i % 8);
        assert_int_equal(load_bytes(c, data, bytes), WNNStatus_DataError);
        data[at] = was;
    }
    free(data);
    wnnContextRelease(c);
}

/* With the right checksum: whatever it says, loading comes to an end, with or without a graph, and leaks nothing. */
static void made_up(void **state)
{
    (void)state;
    uint32_t loaded = 0, refused = 0;

    for (uint32_t k = 0; k < GRAPH_COUNT; k++) {
        unsigned char *data, *copy;
        size_t bytes;
        WNNContext c = new_context(1, "");

        saved_with(graphs[k].body, 1, &data, &bytes);
        const struct image_header h = *(struct image_header *)data;
        copy = aligned_alloc(64, (bytes + 63) / 64 * 64);
        assert_non_null(copy);
        noise_state = 11 + k;
        for (int i = 0; i < 400; i++) {
            static const uint64_t words[] = {0, 1, UINT64_MAX, 1ull << 31, 1ull << 32, 1ull << 62, 0x7FFFFFFF, 64, 3};
            size_t at = (size_t)(h.plan.offset + (uint64_t)((double)(noise() + 1) / 2 * (double)(h.plan.bytes - 9)));
            size_t size = i % 2 ? 4 : 1;

            memcpy(copy, data, bytes);
            memcpy(copy + at, &words[i % 9], size);
            image_sign(copy, bytes);
            *(load_bytes(c, copy, bytes) == WNNStatus_Success ? &loaded : &refused) += 1;
        }
        free(copy);
        free(data);
        wnnContextRelease(c);
    }
    printf("  %u altered plans loaded, %u refused\n", loaded, refused);
    assert_true(refused > loaded / 4);
}

/* ---- shared objects ---- */

static void shared_object(WNNContext c, const char *path)
{
    WNNGraph g = load(c, path);
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
    wnnGraphRelease(g);
}

static void shared_objects(void **state)
{
    (void)state;
    WNNContext c = new_context(3, "");

    shared_object(c, OBJECT_ALONE);
    shared_object(c, OBJECT_MODEL);
    expect_refusal(c, OBJECT_WRONG, WNNStatus_DataError, "output 0 of the object has 24 bytes, its shape has 28");
    expect_refusal(c, "/lib/x86_64-linux-gnu/libm.so.6", WNNStatus_DataError, "");
    wnnContextRelease(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_step),
        cmocka_unit_test(precision_stays),
        cmocka_unit_test(narrow_values_are_saved),
        cmocka_unit_test(used_by_many),
        cmocka_unit_test(dispatched),
        cmocka_unit_test(asynchronously),
        cmocka_unit_test(other_machines),
        cmocka_unit_test(other_processors),
        cmocka_unit_test(no_graphs),
        cmocka_unit_test(damaged),
        cmocka_unit_test(made_up),
        cmocka_unit_test(shared_objects),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
