/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What tests of saved graphs share: graphs with every kind of step, running a graph on the same inputs as another one, a folder
 * for files, and the expectation that a file is refused.  Included by one file of a program, before anything else.
 */
#pragma once

#include <dirent.h>
#include <pthread.h>
#include <math.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ir/text/text.h"
#include "runtime/api/context.h"
#include "runtime/program/serialized_format.h"
#include "runtime/api/runtime.h"
#include "support/processor.h"
#include "support/test.h"

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
    {"matmuls",
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
    {"contractions of bytes computed while the graph runs",
     "inputs { a: u8[2, 9, 16]; b: u8[2, 16, 12]; s: f32[1, 1, 1]; z: u8[1, 1, 1]; c: i8[2, 12, 16]; "
     "p: u8[1, 7, 7, 8]; f: i8[16, 3, 3, 8]; g: i8[16, 20]; h: i8[12, 16]; } "
     "consts { t: f32[1, 1, 1] @scalar(0.02); v: i8[1, 1, 1] @scalar(-3); m: f32[1, 1] @scalar(0.04); n: i8[1, 1] @scalar(5); "
     "ps: f32[1, 1, 1, 1] @scalar(0.03); pz: u8[1, 1, 1, 1] @scalar(99); fz: i8[1, 1, 1, 1] @scalar(0); } "
     "nodes { ad = dequantizeLinear(a, s, z); bd = dequantizeLinear(b, s, z); y = matmul(ad, bd); "
     "cd = dequantizeLinear(c, t, v); ct = transpose(cd, permutation=[0, 2, 1]); e = quantizeLinear(ct, t, v); "
     "ed = dequantizeLinear(e, t, v); x = matmul(ad, ed); r = relu(x); "
     "pd = dequantizeLinear(p, ps, pz); fd = dequantizeLinear(f, ps, fz); "
     "q = conv2d(pd, fd, padding=[1, 1, 1, 1], inputLayout=\"nhwc\", filterLayout=\"ohwi\"); "
     "gd = dequantizeLinear(g, m, n); hd = dequantizeLinear(h, m, n); "
     "k = gemm(gd, hd, aTranspose=true, bTranspose=true, alpha=0.5); } outputs { y; r; q; k; }"},
};

enum { GRAPH_COUNT = sizeof graphs / sizeof *graphs };

static uint32_t noise_state;

static inline float noise(void)
{
    noise_state = noise_state * 1664525u + 1013904223u;
    return (float)(noise_state >> 8) / (float)(1 << 23) - 1;
}

/* Values from -1 to 1 in units of the type's; integers a few around zero. */
static inline void fill(void *data, const struct tensor_type *t)
{
    size_t size = dtype_size(t->type);

    for (int64_t i = 0; i < type_elements(t); i++) {
        union scalar s = number_cast(wnnNumber(dtype_is_float(t->type) ? noise() : noise() * 3 + 3), t->type);
        memcpy((char *)data + (size_t)i * size, &s, size);
    }
}

static inline bool make_weights(void *user, const char *key, const struct tensor_type *type, struct constant **constant,
                                struct error *e)
{
    *constant = constant_create(NULL, (size_t)type_bytes(type));
    if (!*constant)
        return error_out_of_memory(e);
    fill((void *)(*constant)->data, type); /* ours alone so far */
    return true;
}

static WNNPrecision precision; /* of contexts to come, as is the engine */
static WNNEngine engine;

static inline WNNContext new_context(uint32_t threads, const char *debug)
{
    WNNContextOptions o = WNN_CONTEXT_OPTIONS_INIT;
    WNNContext c;

    o.threadCount = threads;
    o.precision = precision;
    o.engine = engine;
    o.debug = WNN_STR(debug);
    assert_int_equal(wnnCreateContext(&o, &c), WNNStatus_Success);
    return c;
}

static inline WNNGraph build(WNNContext c, const char *body)
{
    struct error e = {0};
    WNNGraph graph;
    OWNED(memory) char *text = malloc(strlen(body) + 64);

    assert_non_null(text);
    sprintf(text, "webnn_graph \"test\" v1 { %s }", body);
    noise_state = 7;
    struct graph *g = graph_parse(text, strlen(text), make_weights, NULL, &e);
    assert_works(g, &e);
    assert_works(!runtime_build(c, g, &graph, &e), &e);
    return graph;
}

/* ---- running ---- */

struct results {
    uint32_t count;
    size_t bytes[16];
    void *data[16];
};

static inline size_t descriptor_bytes(const WNNNamedOperandDescriptor *d)
{
    struct tensor_type t = {.type = d->descriptor.dataType, .rank = (uint32_t)d->descriptor.rank};

    memcpy(t.dims, d->descriptor.shape, d->descriptor.rank * sizeof *t.dims);
    return (size_t)type_bytes(&t);
}

static inline WNNStatus compute(WNNGraph g, struct results *r)
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

static inline void results_free(struct results *r)
{
    for (uint32_t i = 0; i < r->count; i++)
        free(r->data[i]);
}

static inline void expect_results(WNNGraph g, const struct results *expected)
{
    SCOPED(results_free) struct results r = {0};

    assert_success(compute(g, &r));
    assert_int_equal(r.count, expected->count);
    for (uint32_t i = 0; i < r.count; i++) {
        assert_int_equal(r.bytes[i], expected->bytes[i]);
        assert_memory_equal(r.data[i], expected->data[i], r.bytes[i]);
    }
}

static inline WNNGraph load(WNNContext c, const char *path)
{
    WNNGraph g;

    assert_success(wnnContextLoadGraph(c, path, &g));
    return g;
}

static inline void expect_refusal(WNNContext c, const char *path, WNNStatus status, const char *why)
{
    WNNGraph g = (WNNGraph)1;
    WNNStatus got = wnnContextLoadGraph(c, path, &g);

    if (got != status || g != NULL || !strstr(wnnGetLastErrorMessage().data, why))
        fail_msg("%s instead of %s with \"%s\": %s", wnnStatusGetName(got), wnnStatusGetName(status), why,
                 got ? wnnGetLastErrorMessage().data : "");
}

/* ---- files ---- */

static char folder[] = "/tmp/webnn-load-XXXXXX", file_a[64], file_b[64];

static inline int make_folder(void **state)
{
    if (!mkdtemp(folder))
        return -1;
    snprintf(file_a, sizeof file_a, "%s/a.webnnc", folder);
    snprintf(file_b, sizeof file_b, "%s/b.webnnc", folder);
    return 0;
}

/* Nothing but the two files was left behind. */
static inline int remove_folder(void **state)
{
    unlink(file_a);
    unlink(file_b);
    return rmdir(folder);
}

static inline unsigned char *read_all(const char *path, size_t *bytes)
{
    OWNED(file) FILE *f = fopen(path, "rb");
    struct stat s;

    assert_non_null(f);
    assert_int_equal(fstat(fileno(f), &s), 0);
    *bytes = (size_t)s.st_size;
    unsigned char *data = aligned_alloc(64, (*bytes + 63) / 64 * 64);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, *bytes, f), *bytes);
    return data;
}

static inline void write_all(const char *path, const void *data, size_t bytes)
{
    FILE *f = fopen(path, "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, bytes, f), bytes);
    assert_int_equal(fclose(f), 0);
}
