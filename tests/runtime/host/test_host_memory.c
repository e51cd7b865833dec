/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Out of memory anywhere in the runtime: in a session with the real engine every allocation that our own code makes fails in
 * turn. The call that needed it must say so, every callback must still run once, nothing may crash, and the same call must work
 * when memory is there again.  (Leaks: the sanitizer builds of the other tests, whose error paths are the same.)
 */
#include "ir/graph/ir.h"
#include "runtime/api/runtime.h"
#include "support/failing_allocator.h"
#include "support/test.h"

/* ---- one session ---- */

/* Makes the call; if it failed for lack of memory, again. */
#define TRY(status, wanted)                                                                                                    \
    do {                                                                                                                       \
        WNNStatus s_ = (status);                                                                                               \
        if (s_ != WNNStatus_Success) {                                                                                         \
            assert_true(allocation_has_failed());                                                                              \
            assert_int_equal(s_, wanted);                                                                                      \
            assert_int_equal((status), WNNStatus_Success);                                                                     \
        }                                                                                                                      \
    } while (0)

/* y = matmul(relu(x) + k, w): a kernel, a library step, a constant that is read, one that is packed. */
static struct graph *new_graph(void)
{
    static const float zeros[16 * 16];
    struct tensor_type row = {.type = WNNOperandDataType_Float32, .rank = 2, .dims = {3, 16}};
    struct tensor_type matrix = {.type = WNNOperandDataType_Float32, .rank = 2, .dims = {16, 16}};
    struct error e = {0};
    long paused = allocations_pause(); /* the builder's allocations have their own test */
    struct graph *g = graph_create();
    struct value *x = graph_add_input(g, "x", 1, &row);
    struct value *k = graph_add_constant(g, &row, constant_create(zeros, 3 * 16 * 4));
    struct value *w = graph_add_constant(g, &matrix, constant_create(zeros, sizeof zeros));
    struct node *relu = node_create(g, NULL, OP_RELU, "", 1, &x, NULL, NULL, &e);
    struct node *sum = node_create(g, NULL, OP_ADD, "", 2, (struct value *[]){relu->results[0], k}, NULL, NULL, &e);
    struct node *matmul = node_create(g, NULL, OP_MATMUL, "", 2, (struct value *[]){sum->results[0], w}, NULL, NULL, &e);

    assert_true(graph_add_output(g, "y", 1, matmul->results[0]));
    allocations_resume(paused);
    return g;
}

static WNNStatus build(WNNContext c, WNNGraph *graph)
{
    struct error e;

    e.status = WNNStatus_Success;
    e.message[0] = '\0';
    return runtime_build(c, new_graph(), graph, &e);
}

struct end {
    int calls;
    WNNStatus status;
    void *result;
};

static void on_built(WNNStatus status, WNNGraph graph, WNNStringView message, void *userdata1, void *userdata2)
{
    *(struct end *)userdata1 = (struct end){((struct end *)userdata1)->calls + 1, status, graph};
}

static void on_tensor(WNNStatus status, WNNTensor tensor, WNNStringView message, void *userdata1, void *userdata2)
{
    *(struct end *)userdata1 = (struct end){((struct end *)userdata1)->calls + 1, status, tensor};
}

static void on_read(WNNStatus status, WNNStringView message, void *userdata1, void *userdata2)
{
    *(struct end *)userdata1 = (struct end){((struct end *)userdata1)->calls + 1, status, NULL};
}

/* Waits for the end of an asynchronous call; without memory for a future it has come already. */
static WNNStatus wait_end(WNNContext c, WNNFuture f, struct end *end)
{
    if (f.id != 0)
        assert_int_equal(wnnContextWaitAny(c, 1, &f, UINT64_MAX), WNNStatus_Success);
    assert_int_equal(end->calls, 1);
    WNNStatus status = end->status;
    end->calls = 0;
    return status;
}

static WNNTensorDescriptor descriptor = {
    .dataType = WNNOperandDataType_Float32, .rank = 2, .shape = (uint32_t[]){3, 16}, .readable = true, .writable = true};

static WNNStatus create_async(WNNContext c, struct end *end)
{
    return wait_end(c,
                    wnnContextCreateTensorAsync(
                        c, &descriptor, (WNNCreateTensorCallbackInfo){WNNCallbackMode_WaitAnyOnly, on_tensor, end, NULL}),
                    end);
}

static WNNStatus build_async(WNNContext c, struct end *end)
{
    return wait_end(
        c, runtime_build_async(c, new_graph(), (WNNBuildCallbackInfo){WNNCallbackMode_WaitAnyOnly, on_built, end, NULL}), end);
}

static WNNStatus read_async(WNNContext c, WNNTensor t, float *data, struct end *end)
{
    return wait_end(c,
                    wnnContextReadTensorAsync(c, t, data, 192,
                                              (WNNReadTensorCallbackInfo){WNNCallbackMode_WaitAnyOnly, on_read, end, NULL}),
                    end);
}

static WNNStatus compute(WNNGraph g, float *x, float *y)
{
    return wnnGraphCompute(g, 1, &(WNNNamedBuffer){WNN_STR("x"), x, 192}, 1, &(WNNNamedBuffer){WNN_STR("y"), y, 192});
}

/* Returns whether the context survived: a dispatch that fails on the timeline loses it. */
static bool session(const WNNContextOptions *options)
{
    OWNED(context) WNNContext c = NULL;
    OWNED(compiled) WNNGraph g = NULL, h = NULL;
    OWNED(tensor) WNNTensor t = NULL, u = NULL, k = NULL;
    WNNOperandDescriptor cd = {WNNOperandDataType_Float32, 2, descriptor.shape, NULL};
    struct end end = {0};
    float x[48] = {0}, y[48];

    TRY(wnnCreateContext(options, &c), WNNStatus_UnknownError);
    TRY(build(c, &g), WNNStatus_OperationError);
    TRY(compute(g, x, y), WNNStatus_UnknownError);
    TRY(wnnContextCreateTensor(c, &descriptor, &t), WNNStatus_UnknownError);
    TRY(wnnContextCreateConstantTensor(c, &cd, x, 192, &k), WNNStatus_UnknownError);
    TRY(create_async(c, &end), WNNStatus_UnknownError);
    u = end.result;
    TRY(wnnContextWriteTensor(c, t, x, 192), WNNStatus_UnknownError);
    TRY(build_async(c, &end), end.status == WNNStatus_OperationError ? WNNStatus_OperationError : WNNStatus_UnknownError);
    h = end.result;
    TRY(wnnContextDispatch(c, h, 1, &(WNNNamedTensor){WNN_STR("x"), t}, 1, &(WNNNamedTensor){WNN_STR("y"), u}),
        WNNStatus_UnknownError);
    WNNStatus status = read_async(c, u, y, &end);
    bool survived = !wnnContextIsLost(c);
    if (!survived) {
        assert_true(allocation_has_failed());
        assert_int_equal(status, WNNStatus_InvalidStateError);
    } else {
        if (status != WNNStatus_Success)
            assert_int_equal(status, WNNStatus_UnknownError);
        allocation_has_failed();
        TRY(wnnContextReadTensor(c, u, y, 192), WNNStatus_UnknownError);
    }
    return survived;
}

/* Lets every allocation of a session fail, one after the other, and returns how many contexts were lost. */
static int fail_every_allocation(const WNNContextOptions *options)
{
    long n = 0;
    int lost = 0;

    for (;; n++) {
        allocations_fail_after(n);
        lost += !session(options);
        if (allocations_stop_failing())
            break; /* the session needed fewer allocations than that */
    }
    print_message("%ld allocations failed, one after the other\n", n);
    assert_true(n > 50);
    return lost;
}

static void run_in_order(void *user, uint32_t parts, void (*part)(void *data, uint32_t i, uint32_t parts), void *data)
{
    for (uint32_t i = 0; i < parts; i++)
        part(data, i, parts);
}

TEST(every_allocation_may_fail)
{
    static const struct webnn_object_parallel parallel = {3, run_in_order, NULL};
    WNNContextOptions cold = WNN_CONTEXT_OPTIONS_INIT, led = WNN_CONTEXT_OPTIONS_INIT;

    cold.debug = (WNNStringView)WNN_STR("no-warm-up");
    assert_true(fail_every_allocation(&cold) >= 1); /* the first dispatch makes an invocation */
    (void)fail_every_allocation(NULL);
    led.parallel = &parallel;
    led.debug = (WNNStringView)WNN_STR("prefer-library");
    (void)fail_every_allocation(&led);
}
