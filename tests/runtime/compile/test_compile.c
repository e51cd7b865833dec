/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * From graphs to executables on the real CPU engine, compared with the reference interpreter: with and without library, passes
 * and wide vectors, with a library that refuses what it promised, inside a caller's parallel region, with constants at odd
 * addresses, and with a context that is lost in the middle.
 *
 * All data are small integers, so that float sums are exact in any order and results must be equal.
 */
#include <pthread.h>

#include "ir/interpret/interpret.h"
#include "runtime/compile/compile.h"
#include "runtime/api/context.h"
#include "runtime/api/runtime.h"
#include "runtime/program/executable.h"
#include "support/graphs.h"
#include "support/processor.h"
#include "support/release.h"

void GOMP_parallel(void (*body)(void *data), void *data, unsigned count, unsigned flags);

/* Convolutions with bias, activation, residual sum, depthwise; both layouts; matmuls; movement, reduction,
 * broadcasting. */
static const char network[] =
    "inputs { x: f32[1, 4, 6, 6]; r: f32[5]; unused: f32[3]; }"
    "consts { w: f32[8, 4, 3, 3] @scalar(1); b: f32[8] @scalar(-30); w2: f32[8, 8, 1, 1] @scalar(2); dw: f32[8, 1, 3, 3] "
    "@scalar(1);"
    " m: f32[288, 5] @scalar(1); six: f32[1] @scalar(6); }"
    "nodes { c = conv2d(x, w, bias=b, padding=[1, 1, 1, 1]); a = relu(c); d = conv2d(a, w2); s = add(d, a); p = relu(s);"
    " e = conv2d(p, dw, groups=8, padding=[1, 1, 1, 1]); f = clamp(e, minValue=0, maxValue=1000);"
    " t = transpose(f, permutation=[0, 2, 3, 1]); h = reshape(t, newShape=[1, 288]); y = matmul(h, m); z = add(y, r);"
    " q = reduceMax(t, axes=[3]); u = mul(q, six); n = neg(x); }"
    "outputs { z; u; n; \"again\" = n; }";

struct results {
    float *data[8];
    size_t bytes[8];
};

static void results_free(struct results *r)
{
    for (int i = 0; i < 8; i++)
        free(r->data[i]);
}

static float *test_data(size_t count, int seed)
{
    float *data = malloc(count * sizeof *data);

    assert_non_null(data);
    for (size_t i = 0; i < count; i++)
        data[i] = (float)((int)((i * 7 + (size_t)seed) % 11) - 5);
    return data;
}

/* Returns what the reference interpreter makes of a body. */
static struct results expected(const char *body, int seed)
{
    struct results r = {{0}, {0}};
    OWNED(graph) struct graph *g = parse_body(body);
    float *inputs[8] = {0};

    for (uint32_t i = 0; i < g->input_count; i++)
        inputs[i] = test_data((size_t)type_elements(&g->inputs[i]->type), seed + (int)i);
    for (uint32_t i = 0; i < g->output_count; i++) {
        r.bytes[i] = (size_t)type_bytes(&g->outputs[i].value->type);
        r.data[i] = malloc(r.bytes[i]);
    }
    assert_done(graph_interpret(g, (const void *const *)inputs, (void *const *)r.data, &e));
    for (int i = 0; i < 8; i++)
        free(inputs[i]);
    return r;
}

/* Computes with a built graph and compares. */
static void check(WNNGraph graph, const char *body, int seed)
{
    SCOPED(results_free) struct results want = expected(body, seed);
    WNNNamedBuffer inputs[8], outputs[8];
    size_t input_count = wnnGraphGetInputCount(graph), output_count = wnnGraphGetOutputCount(graph);
    WNNNamedOperandDescriptor d;

    for (size_t i = 0; i < input_count; i++) {
        size_t count = 1;
        assert_int_equal(wnnGraphGetInput(graph, i, &d), WNNStatus_Success);
        for (size_t k = 0; k < d.descriptor.rank; k++)
            count *= d.descriptor.shape[k];
        inputs[i] = (WNNNamedBuffer){d.name, test_data(count, seed + (int)graph->inputs[i].slot), count * 4};
    }
    for (size_t i = 0; i < output_count; i++) {
        assert_int_equal(wnnGraphGetOutput(graph, i, &d), WNNStatus_Success);
        outputs[i] = (WNNNamedBuffer){d.name, malloc(want.bytes[i]), want.bytes[i]};
    }
    assert_int_equal(wnnGraphCompute(graph, input_count, inputs, output_count, outputs), WNNStatus_Success);
    for (size_t i = 0; i < output_count; i++) {
        const float *got = outputs[i].data;
        for (size_t k = 0; k < want.bytes[i] / 4; k++)
            if (got[k] != want.data[i][k])
                fail_msg("output %zu[%zu] is %g, should be %g", i, k, (double)got[k], (double)want.data[i][k]);
        free(outputs[i].data);
    }
    for (size_t i = 0; i < input_count; i++)
        free(inputs[i].data);
}

static WNNContext new_context_on(WNNEngine engine, const char *debug, uint32_t threads)
{
    WNNContextOptions o = WNN_CONTEXT_OPTIONS_INIT;
    WNNContext c;

    o.engine = engine;
    o.debug = WNN_STR(debug);
    o.threadCount = threads;
    assert_int_equal(wnnCreateContext(&o, &c), WNNStatus_Success);
    return c;
}

static WNNContext new_context(const char *debug, uint32_t threads)
{
    return new_context_on(WNNEngine_Auto, debug, threads);
}

static WNNGraph build(WNNContext c, const char *body)
{
    WNNGraph graph;

    assert_done(!runtime_build(c, parse_body(body), &graph, &e));
    return graph;
}

TEST(all_ways_compute_the_same)
{
    static const char *const debug[] = {
        "", "no-library", "no-passes", "no-passes,no-library", "isa=avx2", "isa=baseline", "isa=baseline,no-library", "verify"};

    for (size_t i = 0; i < sizeof debug / sizeof *debug; i++)
        for (uint32_t threads = 1; threads <= 3; threads += 2) {
            OWNED(context) WNNContext c = new_context(debug[i], threads);
            OWNED(compiled) WNNGraph graph = build(c, network);
            assert_int_equal(wnnGraphGetInputCount(graph), 2);
            check(graph, network, 1);
            check(graph, network, 2);
        }
}

/* ---- a library that changes its mind ---- */

static struct engine_functions hooked;
static struct engine_library hooked_library;
static const struct engine_functions *hooked_base;
static int hook_calls, hook_refuse_from, hook_refuse_count;
static WNNContext hook_context;

static struct library_step *hooked_step_create(struct library *l, struct node *const *nodes, uint32_t count,
                                               bool (*shares_output)(void *user, const struct value *v), void *user,
                                               struct error *e)
{
    int call = hook_calls++;

    if (hook_context) {
        WNNContext c = hook_context;
        hook_context = NULL;
        wnnContextDestroy(c);
    }
    if (call >= hook_refuse_from && call < hook_refuse_from + hook_refuse_count) {
        error_set(e, WNNStatus_OperationError, "refused by the test");
        return NULL;
    }
    return hooked_base->optional.library->step_create(l, nodes, count, shares_output, user, e);
}

/* Of the processor, where the library takes the network's convolutions and matmuls for sure. */
static WNNContext new_hooked_context(int refuse_from, int refuse_count)
{
    WNNContext c = new_context_on(WNNEngine_Cpu, "", 1);

    hooked_base = c->engine->functions;
    hooked = *hooked_base;
    hooked_library = *hooked_base->optional.library;
    hooked_library.step_create = hooked_step_create;
    hooked.optional.library = &hooked_library;
    hook_calls = 0;
    hook_refuse_from = refuse_from;
    hook_refuse_count = refuse_count;
    hook_context = NULL;
    c->engine->functions = &hooked;
    return c;
}

TEST(library_refuses)
{
    /* One after the other, and all. */
    for (int from = 0; from < 5 && library_has_code(); from++) {
        OWNED(context) WNNContext c = new_hooked_context(from, from == 4 ? 1000 : 1);
        if (from == 4)
            hook_refuse_from = 0;
        OWNED(compiled) WNNGraph graph = build(c, network);
        assert_true(hook_calls > 0);
        check(graph, network, 3);
    }
}

TEST(carried_values_share_storage_with_the_next_ones)
{
    OWNED(context) WNNContext c = new_context_on(WNNEngine_Cpu, "", 1);
    struct graph *g = parse_body("inputs { x: f32[3]; y: f32[3]; } nodes { } outputs { }");
    struct loop_body body = {.graph = parse_body("inputs { a: f32[3]; b: f32[3]; } nodes { n = add(a, b); } outputs { n; }")};
    float x[3] = {1, 2, 3}, y[3] = {10, 20, 30}, z[3];
    const WNNNamedBuffer in[2] = {{WNN_STR("x"), x, sizeof x}, {WNN_STR("y"), y, sizeof y}}, out = {WNN_STR("z"), z, sizeof z};
    struct error e = {0};
    OWNED(compiled) WNNGraph graph = NULL;

    body.carried = 1;
    body.iterations = 4;
    graph_add_output(g, "z", 1,
                     node_create(g, NULL, OP_LOOP, "", 2, g->inputs, NULL, &(union op_args){.loop = {&body}}, &e)->results[0]);
    assert_int_equal(runtime_build(c, g, &graph, &e), WNNStatus_Success);
    assert_int_equal(graph->executable->step_count, 1); /* nothing is copied */
    assert_int_equal(wnnGraphCompute(graph, 2, in, 1, &out), WNNStatus_Success);
    for (int i = 0; i < 3; i++)
        assert_true(z[i] == x[i] + 4 * y[i]);
}

TEST(building_fails_when_the_context_is_lost)
{
    if (!library_has_code()) /* whose first step calls the hook */
        skip();
    OWNED(context) WNNContext c = new_hooked_context(0, 0);
    WNNGraph graph = (WNNGraph)1;
    struct error e = {0};

    hook_context = c;
    assert_int_equal(runtime_build(c, parse_body(network), &graph, &e), WNNStatus_InvalidStateError);
    assert_null(graph);
    assert_int_equal(hook_calls, 1); /* cancelled: the other steps were not made */
    assert_int_equal(runtime_build(c, parse_body(network), &graph, &e), WNNStatus_InvalidStateError);
    assert_int_equal(hook_calls, 1);
}

TEST(a_bad_switch_is_refused)
{
    OWNED(context) WNNContext c = new_context("skip=no-such-pass", 1);
    WNNGraph graph;
    struct error e = {0};

    assert_int_equal(runtime_build(c, parse_body(network), &graph, &e), WNNStatus_OperationError);
    assert_non_null(strstr(e.message, "no-such-pass"));
}

/* ---- callers of all kinds ---- */

struct inside {
    WNNGraph graph;
    WNNStatus status[2];
    float out[2][4];
    atomic_int next;
};

static void compute_inside(void *data)
{
    struct inside *in = data;
    int i = atomic_fetch_add(&in->next, 1);
    float x[4] = {-1, 2, -3, (float)i};

    in->status[i] = wnnGraphCompute(in->graph, 1, &(WNNNamedBuffer){WNN_STR("x"), x, 16}, 1,
                                    &(WNNNamedBuffer){WNN_STR("y"), in->out[i], 16});
}

TEST(a_callers_parallel_region_may_compute)
{
    WNNContext c = new_context("", 2);
    struct inside in = {.graph = build(c, "inputs { x: f32[4]; } consts { w: f32[4, 4] @scalar(1); }"
                                          "nodes { a = relu(x); b = reshape(a, newShape=[1, 4]); m = matmul(b, w);"
                                          " y = reshape(m, newShape=[4]); } outputs { y; }")};

    GOMP_parallel(compute_inside, &in, 2, 0);
    assert_int_equal(in.next, 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(in.status[i], WNNStatus_Success);
        assert_true(in.out[i][0] == 2 + (float)i);
    }
    release_graph(c, in.graph);
}

struct many {
    WNNGraph graph;
    int seed;
};

static void *compute_many(void *data)
{
    struct many *m = data;

    for (int i = 0; i < 20; i++)
        check(m->graph, network, m->seed + i);
    return NULL;
}

TEST(many_threads_share_one_graph)
{
    OWNED(context) WNNContext c = new_context("", 2);
    OWNED(compiled) WNNGraph graph = build(c, network);
    struct many many[6];

    for (int i = 0; i < 6; i++)
        many[i] = (struct many){graph, i * 5};
    run_on_threads(6, compute_many, many, sizeof *many);
}

/* ---- constants ---- */

static int released;

static void on_release(void const *data, size_t bytes, void *userdata1, void *userdata2)
{
    released++;
}

/* Lent bytes at an odd address, read by a kernel at run time; and lent weights, which are packed and given back at build.  A
 * device has copies of both. */
TEST(lent_constants_are_read_or_given_back)
{
    OWNED(context) WNNContext c = new_context_on(WNNEngine_Cpu, "", 1);
    struct tensor_type vector = {.type = WNNOperandDataType_Float32, .rank = 1, .dims = {4}};
    struct tensor_type matrix = {.type = WNNOperandDataType_Float32, .rank = 2, .dims = {32, 32}};
    struct graph *g = graph_create();
    struct error e = {0};
    WNNBufferReleaseCallbackInfo info = {on_release, NULL, NULL};
    char bytes[4 * 4 + 1];
    float in[4] = {1, 2, 3, 4}, out[4], *weights = test_data(32 * 32, 1), big[32] = {1}, result[32];

    memcpy(bytes + 1, in, 16);
    released = 0;
    struct value *x = graph_add_input(g, "x", 1, &vector);
    struct value *k = graph_add_constant(g, &vector, constant_lend(bytes + 1, 16, info));
    struct node *sum = node_create(g, NULL, OP_ADD, "", 2, (struct value *[]){x, k}, NULL, NULL, &e);
    assert_true(graph_add_output(g, "y", 1, sum->results[0]));
    WNNGraph graph;
    assert_int_equal(runtime_build(c, g, &graph, &e), WNNStatus_Success);
    assert_int_equal(released, 0); /* the kernel reads the lender's bytes, there is no copy */
    assert_ptr_equal(graph->executable->constants[0]->data, bytes + 1);
    assert_int_equal(
        wnnGraphCompute(graph, 1, &(WNNNamedBuffer){WNN_STR("x"), in, 16}, 1, &(WNNNamedBuffer){WNN_STR("y"), out, 16}),
        WNNStatus_Success);
    assert_true(out[3] == 8);
    wnnGraphRelease(graph);
    assert_int_equal(released, 1);

    g = graph_create();
    struct tensor_type row = {.type = WNNOperandDataType_Float32, .rank = 2, .dims = {1, 32}};
    x = graph_add_input(g, "x", 1, &row);
    k = graph_add_constant(g, &matrix, constant_lend(weights, 32 * 32 * 4, info));
    struct node *mul = node_create(g, NULL, OP_MATMUL, "", 2, (struct value *[]){x, k}, NULL, NULL, &e);
    assert_true(graph_add_output(g, "y", 1, mul->results[0]));
    assert_int_equal(runtime_build(c, g, &graph, &e), WNNStatus_Success);
    assert_int_equal(
        wnnGraphCompute(graph, 1, &(WNNNamedBuffer){WNN_STR("x"), big, 128}, 1, &(WNNNamedBuffer){WNN_STR("y"), result, 128}),
        WNNStatus_Success);
    assert_memory_equal(result, weights, 128);
    wnnGraphRelease(graph);
    assert_int_equal(released, 2);
    free(weights);
}

/* Returns how many constants of two graphs are the same, and how many large ones the first has. */
static uint32_t count_shared(WNNGraph a, WNNGraph b, uint32_t *large)
{
    uint32_t shared = 0;

    *large = 0;
    for (uint32_t i = 0; i < a->executable->constant_count; i++) {
        const struct constant *c = a->executable->constants[i];

        *large += c->bytes >= 4096;
        for (uint32_t k = 0; k < b->executable->constant_count; k++)
            if (c->bytes >= 4096 && c == b->executable->constants[k]) {
                shared++;
                break;
            }
    }
    return shared;
}

/* Weights of 4 bits for one row and for many are packed alike, and lie in memory once. */
TEST(graphs_share_packed_weights)
{
    static const char body[] = "inputs { x: f32[%d, 512]; }"
                               "consts { q: u8[512, 512] @scalar(3); s: f32[16, 512] @scalar(2); z: u8[16, 512] @scalar(1); }"
                               "nodes { w = dequantizeLinear(q, s, z); y = matmul(x, w); } outputs { y; }";
    char text[2][sizeof body + 16];
    WNNGraph graphs[2];
    uint32_t large;

    for (int i = 0; i < 2; i++)
        snprintf(text[i], sizeof text[i], body, i ? 40 : 1);
    OWNED(context) WNNContext c = new_context("", 1);
    for (int i = 0; i < 2; i++)
        graphs[i] = build(c, text[i]);
    assert_true(count_shared(graphs[0], graphs[1], &large) > 0);
    assert_int_equal(count_shared(graphs[0], graphs[1], &large), large);
    wnnGraphRelease(graphs[0]); /* what it shares stays */
    check(graphs[1], text[1], 1);
    wnnGraphRelease(graphs[1]);
}
