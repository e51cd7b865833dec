/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Cancellations end computations that are under way or wait for their turn, and nothing else. */
#include <pthread.h>
#include <time.h>

#include "support/api.h"
#include "support/context.h"

enum { N = 64, BYTES = N * N * sizeof(float) };

static const uint32_t shape[2] = {N, N};
static const WNNOperandDescriptor square = {WNNOperandDataType_Float32, 2, shape, NULL};
static float zeros[N * N], ones[N * N];

/** Returns a graph that takes far longer than any test: x times itself, for hours. */
static WNNGraph endless(void)
{
    WNNGraphBuilder b = builder_of(context);
    WNNOperand x = wnnGraphBuilderInput(b, WNN_STR("x"), &square), turn, y;

    assert_success(wnnGraphBuilderBeginLoop(b, 1u << 30, 1, &x, 0, NULL, &turn));
    turn = wnnGraphBuilderSoftmax(b, wnnGraphBuilderMatmul(b, turn, x, NULL), 1, NULL);
    assert_success(wnnGraphBuilderEndLoop(b, WNN_STR("forever"), 1, &turn, 0, NULL, &y));
    return build_y(b, y);
}

static WNNGraph doubles(void)
{
    WNNGraphBuilder b = builder_of(context);
    WNNOperand x = wnnGraphBuilderInput(b, WNN_STR("x"), &square);

    return build_y(b, wnnGraphBuilderAdd(b, x, x, NULL));
}

static WNNCancellation new_cancellation(void)
{
    WNNCancellation c;

    assert_success(wnnCreateCancellation(&c));
    assert_false(wnnCancellationIsCancelled(c));
    return c;
}

static WNNStatus compute(WNNGraph g, WNNCancellation c, float *y)
{
    return wnnGraphComputeCancellable(g, 1, &(WNNNamedBuffer){WNN_STR("x"), ones, BYTES}, 1,
                                      &(WNNNamedBuffer){WNN_STR("y"), y, BYTES}, c);
}

static WNNStatus dispatch(WNNGraph g, WNNCancellation c, WNNTensor x, WNNTensor y)
{
    return wnnContextDispatchCancellable(context, g, 1, &(WNNNamedTensor){WNN_STR("x"), x}, 1,
                                         &(WNNNamedTensor){WNN_STR("y"), y}, c);
}

static void wait_milliseconds(long n)
{
    nanosleep(&(struct timespec){0, n * 1000000}, NULL);
}

static void *cancel_soon(void *cancellation)
{
    wait_milliseconds(30);
    wnnCancellationCancel(cancellation);
    return NULL;
}

static void expect_cancelled(WNNStatus status)
{
    assert_int_equal(status, WNNStatus_OperationError);
    assert_string_equal(wnnGetLastErrorMessage().data, "compute: it was cancelled");
}

static void expect_doubled(WNNGraph g, WNNCancellation c)
{
    static float y[N * N];

    assert_success(compute(g, c, y));
    assert_true(y[0] == 2 && y[N * N - 1] == 2);
}

TEST(what_was_cancelled_does_not_begin)
{
    WNNCancellation c = new_cancellation();
    OWNED(compiled) WNNGraph g = doubles();
    static float y[N * N];

    expect_doubled(g, c); /* as often as one likes */
    expect_doubled(g, c);
    wnnCancellationCancel(c);
    wnnCancellationCancel(c);
    assert_true(wnnCancellationIsCancelled(c));
    memcpy(y, zeros, BYTES);
    expect_cancelled(compute(g, c, y));
    assert_memory_equal(y, zeros, BYTES);
    WNNTensor x = tensor_of(context, 2, shape), z = tensor_of(context, 2, shape);
    assert_int_equal(dispatch(g, c, x, z), WNNStatus_OperationError);
    assert_string_equal(wnnGetLastErrorMessage().data, "dispatch: it was cancelled");
    wnnTensorRelease(x);
    wnnTensorRelease(z);
    wnnCancellationRelease(c);
    wnnCancellationRelease(NULL);
    expect_doubled(g, NULL);
}

TEST(a_computation_ends_in_the_middle)
{
    OWNED(compiled) WNNGraph g = endless(), other = doubles();
    static float y[N * N];

    for (int again = 0; again < 2; again++) { /* the graph stays as it is */
        WNNCancellation c = new_cancellation();
        pthread_t thread;

        assert_int_equal(pthread_create(&thread, NULL, cancel_soon, c), 0);
        expect_cancelled(compute(g, c, y));
        pthread_join(thread, NULL);
        wnnCancellationRelease(c);
        assert_false(wnnContextIsLost(context));
        expect_doubled(other, NULL);
    }
}

TEST(dispatches_end_or_never_begin)
{
    WNNGraph g = endless(), other = doubles();
    WNNTensor x = tensor_of(context, 2, shape), y = tensor_of(context, 2, shape), never = tensor_of(context, 2, shape),
              last = tensor_of(context, 2, shape);
    WNNCancellation first = new_cancellation(), second = new_cancellation();
    static float got[N * N];

    assert_success(wnnContextWriteTensor(context, x, ones, BYTES));
    assert_success(wnnContextWriteTensor(context, never, ones, BYTES));
    assert_success(dispatch(g, first, x, y));
    assert_success(dispatch(other, second, x, never));
    assert_success(dispatch(other, NULL, x, last));
    wnnCancellationCancel(second);
    wnnCancellationRelease(second); /* the dispatch has a reference */
    wait_milliseconds(30);
    wnnCancellationCancel(first);
    assert_success(wnnContextReadTensor(context, last, got, BYTES));
    assert_true(got[0] == 2 && got[N * N - 1] == 2);
    assert_success(wnnContextReadTensor(context, never, got, BYTES));
    assert_true(got[0] == 1 && got[N * N - 1] == 1);
    assert_success(wnnContextWriteTensor(context, y, ones, BYTES)); /* what it holds is right from here on */
    assert_success(dispatch(other, NULL, y, last));
    assert_success(wnnContextReadTensor(context, last, got, BYTES));
    assert_true(got[0] == 2);
    assert_false(wnnContextIsLost(context));
    wnnCancellationRelease(first);
    wnnTensorRelease(x);
    wnnTensorRelease(y);
    release_with_tensors(g, never, last);
    wnnGraphRelease(other);
}

static void *destroy_soon(void *c)
{
    wait_milliseconds(30);
    wnnContextDestroy(c);
    return NULL;
}

TEST(a_lost_context_ends_what_may_be_cancelled)
{
    WNNContext before = context;
    WNNCancellation c = new_cancellation();
    static float y[N * N];
    pthread_t thread;

    context = context_with(NULL);
    WNNGraph g = endless();
    assert_int_equal(pthread_create(&thread, NULL, destroy_soon, context), 0);
    assert_int_equal(compute(g, c, y), WNNStatus_InvalidStateError);
    pthread_join(thread, NULL);
    wnnGraphRelease(g);
    wnnCancellationRelease(c);
    wnnContextRelease(context);
    context = before;
}

struct caller {
    WNNGraph graph;
    WNNCancellation cancellation;
    WNNStatus status;
    float y[N * N];
};

static void *call(void *user)
{
    struct caller *c = user;

    c->status = compute(c->graph, c->cancellation, c->y);
    return NULL;
}

TEST(one_cancellation_ends_many_callers_and_no_other)
{
    enum { CALLERS = 4 };
    static struct caller callers[CALLERS];
    WNNCancellation c = new_cancellation();
    OWNED(compiled) WNNGraph g = endless(), other = doubles();
    pthread_t threads[CALLERS];

    for (int i = 0; i < CALLERS; i++) {
        callers[i].graph = i % 2 ? g : other;
        callers[i].cancellation = i % 2 ? c : NULL;
        assert_int_equal(pthread_create(&threads[i], NULL, call, &callers[i]), 0);
    }
    cancel_soon(c);
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(callers[i].status, i % 2 ? WNNStatus_OperationError : WNNStatus_Success);
    }
    wnnCancellationAddRef(c);
    wnnCancellationRelease(c);
    wnnCancellationRelease(c);
}

static int create_all(void **state)
{
    for (int i = 0; i < N * N; i++)
        ones[i] = 1;
    return create_context(state);
}

TEST_GROUP(create_all, release_context)
