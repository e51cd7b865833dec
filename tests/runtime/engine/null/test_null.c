/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Contexts over the null engine (engine_null.h): networks against the interpreter's bounds, computed from host memory and
 * by dispatches, and the order of submissions.  The random graphs have a variant over the same engine.
 */
#include <math.h>
#include <unistd.h>

#include "ir/interpret/interpret.h"
#include "runtime/api/context.h"
#include "runtime/api/runtime.h"
#include "runtime/engine/null/engine_null.h"
#include "support/graphs.h"
#include "support/release.h"

enum { OPERANDS_MAX = 8 };

static WNNContext new_context(void)
{
    WNNContext context;

    assert_int_equal(context_create(NULL, engine_null_create, &context), WNNStatus_Success);
    return context;
}

/* ---- networks ---- */

static const char *const networks[] = {
    /* a convolution with what surrounds it, through every kind of data movement */
    ("inputs { x: f32[1, 3, 10, 10]; } consts { w: f32[8, 3, 3, 3] @scalar(0.05); b: f32[8] @scalar(-0.1); m: f32[8, 5] "
     "@scalar(0.3); } nodes { c = conv2d(x, w, bias=b, padding=[1, 1, 1, 1]); r = relu(c); p = maxPool2d(r, "
     "windowDimensions=[2, 2], strides=[2, 2]); t = transpose(p, permutation=[0, 2, 3, 1]); f = reshape(t, [25, 8]); g = "
     "matmul(f, m); y = softmax(g, 1); } outputs { y; p; }"),
    /* attention, with normalisation */
    ("inputs { x: f32[6, 16]; } consts { q: f32[16, 16] @scalar(0.1); k: f32[16, 16] @scalar(-0.05); v: f32[16, 16] "
     "@scalar(0.2); "
     "one: f32[16] @scalar(1.5); } nodes { a = layerNormalization(x, scale=one, axes=[1]); qx = matmul(a, q); kx = matmul(a, "
     "k); "
     "vx = matmul(a, v); kt = transpose(kx); s = matmul(qx, kt); w = softmax(s, 1); o = matmul(w, vx); y = add(o, x); } "
     "outputs { y; }"),
    /* loops of steps */
    ("inputs { x: f32[7, 1, 4]; h0: f32[2, 1, 5]; } consts { w: f32[2, 20, 4] @scalar(0.2); r: f32[2, 20, 5] @scalar(-0.1); b: "
     "f32[2, 20] @scalar(0.05); } nodes { [h, c, s] = lstm(x, w, r, 7, 5, direction=both, bias=b, returnSequence=true, "
     "initialHiddenState=h0); y = tanh(s); } outputs { y; h; c; }"),
    /* integers, indices, float16; an input and a constant that are outputs at once */
    ("inputs { x: f32[4, 6]; i: i32[3]; } consts { k: f16[2] @values([1, 2]); } nodes { m = argMax(x, 1); g = gather(x, i, "
     "axis=1); h = cast(g, \"float16\"); s = add(h, h); n = reduceSum(s, axes=[1]); } outputs { m; s; n; k; z = x; }"),
};

struct network {
    struct graph *reference;
    WNNGraph graph;
    uint32_t input_count, output_count;
    void *inputs[OPERANDS_MAX], *want[OPERANDS_MAX], *got[OPERANDS_MAX];
    double *bounds[OPERANDS_MAX];
};

static size_t input_bytes(const struct network *n, uint32_t i)
{
    return (size_t)type_bytes(&n->reference->inputs[i]->type);
}

static size_t output_bytes(const struct network *n, uint32_t i)
{
    return (size_t)type_bytes(&n->reference->outputs[i].value->type);
}

static void network_open(struct network *n, WNNContext context, const char *body, uint32_t seed)
{
    struct error e = {0};

    memset(n, 0, sizeof *n);
    n->reference = parse_body(body);
    n->input_count = n->reference->input_count;
    n->output_count = n->reference->output_count;
    assert_true(n->input_count <= OPERANDS_MAX && n->output_count <= OPERANDS_MAX);
    for (uint32_t i = 0; i < n->input_count; i++) {
        const struct tensor_type *t = &n->reference->inputs[i]->type;

        n->inputs[i] = malloc(input_bytes(n, i));
        for (int64_t k = 0; k < type_elements(t); k++) {
            seed = seed * 1664525u + 1013904223u;
            union scalar s = number_cast(wnnNumber((double)(seed >> 8) / (1 << 22) - 2), t->type);
            memcpy((char *)n->inputs[i] + (size_t)k * dtype_size(t->type), &s, dtype_size(t->type));
        }
    }
    for (uint32_t i = 0; i < n->output_count; i++) {
        n->want[i] = malloc(output_bytes(n, i));
        n->got[i] = malloc(output_bytes(n, i));
        n->bounds[i] = malloc((size_t)type_elements(&n->reference->outputs[i].value->type) * sizeof(double));
        memset(n->got[i], 0xA5, output_bytes(n, i));
    }
    assert_true(graph_interpret_bounds(n->reference, (const void *const *)n->inputs, n->want, n->bounds, &e));
    if (runtime_build(context, parse_body(body), &n->graph, &e) != WNNStatus_Success)
        fail_msg("%s: %s", e.message, body);
}

static void network_close(struct network *n)
{
    wnnGraphRelease(n->graph);
    for (uint32_t i = 0; i < n->input_count; i++)
        free(n->inputs[i]);
    for (uint32_t i = 0; i < n->output_count; i++) {
        free(n->want[i]);
        free(n->got[i]);
        free(n->bounds[i]);
    }
    graph_free(n->reference);
}

static void network_check(struct network *n)
{
    for (uint32_t i = 0; i < n->output_count; i++) {
        const struct tensor_type *t = &n->reference->outputs[i].value->type;
        size_t size = dtype_size(t->type);

        for (int64_t k = 0; k < type_elements(t); k++) {
            union scalar want, got;
            memcpy(&want, (char *)n->want[i] + (size_t)k * size, size);
            memcpy(&got, (char *)n->got[i] + (size_t)k * size, size);
            double w = scalar_to_double(want, t->type), g = scalar_to_double(got, t->type);
            if (!(fabs(w - g) <= n->bounds[i][k]))
                fail_msg("output %s, element %lld: %.9g, not %.9g (%.2g)", n->reference->outputs[i].name, (long long)k, g, w,
                         n->bounds[i][k]);
        }
        memset(n->got[i], 0xA5, output_bytes(n, i));
    }
}

/* From host memory, which the engine does not compute on. */
static void network_compute(struct network *n)
{
    WNNNamedBuffer in[OPERANDS_MAX], out[OPERANDS_MAX];

    for (uint32_t i = 0; i < n->input_count; i++)
        in[i] = (WNNNamedBuffer){WNN_STR(n->reference->inputs[i]->name), n->inputs[i], input_bytes(n, i)};
    for (uint32_t i = 0; i < n->output_count; i++)
        out[i] = (WNNNamedBuffer){WNN_STR(n->reference->outputs[i].name), n->got[i], output_bytes(n, i)};
    assert_success(wnnGraphCompute(n->graph, n->input_count, in, n->output_count, out));
}

static WNNTensor new_tensor(WNNContext context, const struct tensor_type *t)
{
    WNNTensorDescriptor d = WNN_TENSOR_DESCRIPTOR_INIT;
    WNNTensor tensor;

    d.dataType = t->type;
    d.rank = t->rank;
    d.shape = t->dims;
    d.readable = d.writable = true;
    assert_int_equal(wnnContextCreateTensor(context, &d, &tensor), WNNStatus_Success);
    return tensor;
}

/* Through tensors: written, dispatched, read, each after the one before. */
static void network_dispatch(struct network *n, WNNContext context)
{
    WNNNamedTensor in[OPERANDS_MAX], out[OPERANDS_MAX];

    for (uint32_t i = 0; i < n->input_count; i++) {
        const struct value *v = n->reference->inputs[i];
        in[i] = (WNNNamedTensor){WNN_STR(v->name), new_tensor(context, &v->type)};
        assert_int_equal(wnnContextWriteTensor(context, in[i].tensor, n->inputs[i], input_bytes(n, i)), WNNStatus_Success);
    }
    for (uint32_t i = 0; i < n->output_count; i++)
        out[i] = (WNNNamedTensor){WNN_STR(n->reference->outputs[i].name),
                                  new_tensor(context, &n->reference->outputs[i].value->type)};
    assert_int_equal(wnnContextDispatch(context, n->graph, n->input_count, in, n->output_count, out), WNNStatus_Success);
    for (uint32_t i = 0; i < n->output_count; i++)
        assert_int_equal(wnnContextReadTensor(context, out[i].tensor, n->got[i], output_bytes(n, i)), WNNStatus_Success);
    for (uint32_t i = 0; i < n->input_count; i++)
        wnnTensorRelease(in[i].tensor);
    for (uint32_t i = 0; i < n->output_count; i++)
        wnnTensorRelease(out[i].tensor);
}

TEST(networks_are_right)
{
    OWNED(context) WNNContext context = new_context();
    uint32_t submitted = engine_null_submissions(context->engine);

    for (uint32_t i = 0; i < sizeof networks / sizeof *networks; i++) {
        SCOPED(network_close) struct network n = {0};

        network_open(&n, context, networks[i], i);
        network_compute(&n);
        network_check(&n);
        network_dispatch(&n, context);
        network_check(&n);
        assert_int_equal(engine_null_submissions(context->engine), ++submitted);
    }
}

/* ---- submissions ---- */

static const char doubles[] = "inputs { x: f32[4]; } nodes { y = add(x, x); } outputs { y; }";
static const struct tensor_type four = {.type = WNNOperandDataType_Float32, .rank = 1, .dims = {4}};

static WNNGraph build_doubles(WNNContext context)
{
    WNNGraph graph;

    assert_int_equal(runtime_build(context, parse_body(doubles), &graph, &(struct error){0}), WNNStatus_Success);
    return graph;
}

static void dispatch(WNNContext context, WNNGraph graph, WNNTensor from, WNNTensor to)
{
    assert_int_equal(
        wnnContextDispatch(context, graph, 1, &(WNNNamedTensor){WNN_STR("x"), from}, 1, &(WNNNamedTensor){WNN_STR("y"), to}),
        WNNStatus_Success);
}

static void wait_for_submissions(WNNContext context, uint32_t count)
{
    for (int i = 0; i < 10000 && engine_null_submissions(context->engine) < count; i++)
        usleep(1000);
    assert_int_equal(engine_null_submissions(context->engine), count);
}

/* Dispatches do not wait for each other before they are submitted; what follows waits for all of them. */
TEST(submissions_keep_their_order)
{
    WNNContext context = new_context();
    WNNGraph graph = build_doubles(context);
    WNNTensor a = new_tensor(context, &four), b = new_tensor(context, &four);
    float data[4] = {1, -2, 3, 0.5f}, after[4] = {9, 9, 9, 9}, got[4];
    const uint32_t before = engine_null_submissions(context->engine);

    assert_int_equal(wnnContextWriteTensor(context, a, data, sizeof data), WNNStatus_Success);
    engine_null_hold(context->engine, true);
    for (int i = 0; i < 5; i++) {
        dispatch(context, graph, a, b);
        dispatch(context, graph, b, a);
    }
    wait_for_submissions(context, before + 10);
    assert_int_equal(wnnContextWriteTensor(context, b, after, sizeof after), WNNStatus_Success);
    dispatch(context, graph, a, b); /* after a write, which waits for the device */
    usleep(20000);
    assert_int_equal(engine_null_submissions(context->engine), before + 10);
    engine_null_hold(context->engine, false);
    assert_int_equal(wnnContextReadTensor(context, b, got, sizeof got), WNNStatus_Success);
    for (int i = 0; i < 4; i++)
        assert_true(got[i] == data[i] * 2048);
    release_all(context, graph, a, b);
}

/* Everything is released while the device still works: the last submission keeps what it needs. */
TEST(released_while_it_works)
{
    for (int round = 0; round < 50; round++) {
        WNNContext context = new_context();
        WNNGraph graph = build_doubles(context);
        WNNTensor a = new_tensor(context, &four), b = new_tensor(context, &four);

        for (int i = 0; i < 3; i++)
            dispatch(context, graph, a, b);
        release_all(context, graph, a, b);
    }
}

/* Computations under way when their context goes end, and nothing is reported twice. */
TEST(destroyed_while_it_works)
{
    for (int round = 0; round < 20; round++) {
        WNNContext context = new_context();
        WNNGraph graph = build_doubles(context);
        WNNTensor a = new_tensor(context, &four), b = new_tensor(context, &four);
        const uint32_t before = engine_null_submissions(context->engine);
        float got[4];

        engine_null_hold(context->engine, true);
        for (int i = 0; i < 3; i++)
            dispatch(context, graph, a, b);
        wait_for_submissions(context, before + 3);
        wnnContextDestroy(context);
        engine_null_hold(context->engine, false);
        assert_int_equal(wnnContextReadTensor(context, b, got, sizeof got), WNNStatus_InvalidStateError);
        release_all(context, graph, a, b);
    }
}

/* A read's callback waits for other work of the timeline whose thread it runs on. */
struct waiter {
    WNNContext context;
    WNNGraph graph;
    WNNTensor a, b;
    float first[4], second[4];
    atomic_int state; /* 1: the callback has got its own read, 2: it failed */
};

static void on_read(WNNStatus status, WNNStringView message, void *userdata1, void *userdata2)
{
    struct waiter *w = userdata1;

    bool ok = status == WNNStatus_Success && wnnContextDispatch(w->context, w->graph, 1, &(WNNNamedTensor){WNN_STR("x"), w->b},
                                                                1, &(WNNNamedTensor){WNN_STR("y"), w->a}) == WNNStatus_Success;
    ok = ok && wnnContextReadTensor(w->context, w->a, w->second, sizeof w->second) == WNNStatus_Success;
    atomic_store(&w->state, ok ? 1 : 2);
}

TEST(callbacks_wait_for_submissions)
{
    struct waiter w = {.context = new_context()};
    const float data[4] = {1, 2, 3, 4};

    w.graph = build_doubles(w.context);
    w.a = new_tensor(w.context, &four);
    w.b = new_tensor(w.context, &four);
    assert_int_equal(wnnContextWriteTensor(w.context, w.a, data, sizeof data), WNNStatus_Success);
    dispatch(w.context, w.graph, w.a, w.b);
    WNNReadTensorCallbackInfo info = {WNNCallbackMode_AllowSpontaneous, on_read, &w, NULL};
    wnnContextReadTensorAsync(w.context, w.b, w.first, sizeof w.first, info);
    for (int i = 0; i < 10000 && !atomic_load(&w.state); i++)
        usleep(1000);
    assert_int_equal(atomic_load(&w.state), 1);
    for (int i = 0; i < 4; i++)
        assert_true(w.first[i] == 2 * data[i] && w.second[i] == 4 * data[i]);
    wnnTensorRelease(w.a);
    wnnTensorRelease(w.b);
    release_graph(w.context, w.graph);
}

/* ---- what it lacks ---- */

TEST(what_it_lacks_is_refused)
{
    OWNED(context) WNNContext context = new_context();
    OWNED(compiled) WNNGraph graph = build_doubles(context);
    struct error e = {0};

    assert_null(context->engine->functions->optional.tools);
    assert_int_equal(wnnGraphSave(graph, "/dev/null"), WNNStatus_NotSupportedError);
    assert_non_null(strstr(wnnGetLastErrorMessage().data, "\"null\""));
    assert_null(runtime_load_graph(context, "/dev/null", 0, &e));
    assert_int_equal(e.status, WNNStatus_NotSupportedError);
    assert_non_null(strstr(e.message, "\"null\""));
}
