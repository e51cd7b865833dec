/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Futures: which call or thread calls back in each mode, what waiting returns, and that nothing deadlocks or outlives its owner
 * when callbacks destroy, release and wait.
 */
#include "runtime/api/future_support.h"
#include "support/release.h"

/* ---- modes ---- */

TEST(mode_wait_any_only)
{
    OWNED(tensor) WNNTensor t = fake_tensor(context, true, true);
    struct report r = {0};
    WNNFuture f = read_async(context, t, &r, WNNCallbackMode_WaitAnyOnly);

    assert_true(f.id != 0);
    float data[4];
    assert_int_equal(wnnContextReadTensor(context, t, data, 16), WNNStatus_Success); /* f is complete after this */
    wnnContextProcessEvents(context);
    assert_int_equal(r.calls, 0);
    assert_int_equal(wnnContextWaitAny(context, 1, &f, 0), WNNStatus_Success);
    assert_int_equal(r.calls, 1);
    assert_true(pthread_equal(r.thread, pthread_self()));
    assert_int_equal(r.status, WNNStatus_Success);
    assert_string_equal(r.message, "");
    /* Again: it has completed and its callback has run. */
    assert_int_equal(wnnContextWaitAny(context, 1, &f, 0), WNNStatus_Success);
    assert_int_equal(r.calls, 1);
}

TEST(process_events_calls_back)
{
    OWNED(tensor) WNNTensor t = fake_tensor(context, true, true);
    struct report r[3] = {{0}}, only = {0};

    for (int i = 0; i < 3; i++)
        read_async(context, t, &r[i], WNNCallbackMode_AllowProcessEvents);
    read_async(context, t, &only, WNNCallbackMode_WaitAnyOnly);
    assert_success(wnnContextWaitAny(context, 1, &r[1].future, UINT64_MAX)); /* this mode may be waited for, too */
    assert_int_equal(r[1].calls, 1);
    assert_int_equal(wnnContextWaitAny(context, 1, &only.future, UINT64_MAX), WNNStatus_Success);
    assert_int_equal(r[0].calls + r[2].calls, 0);
    wnnContextProcessEvents(context);
    assert_int_equal(r[0].calls + r[2].calls, 2);
    assert_true(pthread_equal(r[0].thread, pthread_self()));
    wnnContextProcessEvents(context);
    assert_int_equal(r[0].calls + r[1].calls + r[2].calls, 3);
}

TEST(spontaneous_callbacks_come_by_themselves)
{
    struct gate gate = GATE_INIT;
    WNNGraph g = fake_graph(context, 1, 1, fake_double, &gate);
    WNNTensor a = fake_tensor(context, true, true), x = fake_tensor(context, true, true);
    struct report r = {0}, failed = {0};

    dispatch(context, g, a, x);
    read_async(context, x, &r, WNNCallbackMode_AllowSpontaneous);
    usleep(1000);
    assert_int_equal(r.calls, 0);
    gate_open(&gate);
    wait_for_calls(&r, 1);
    assert_false(pthread_equal(r.thread, pthread_self())); /* on the timeline's thread */
    /* What fails at once calls back inside the call. */
    WNNFuture f = wnnContextReadTensorAsync(context, x, failed.data, 3, read_info(&failed, WNNCallbackMode_AllowSpontaneous));
    assert_int_equal(failed.calls, 1);
    assert_int_equal(failed.status, WNNStatus_TypeError);
    assert_non_null(strstr(failed.message, "3 bytes"));
    assert_int_equal(wnnContextWaitAny(context, 1, &f, 0), WNNStatus_Success);
    release_with_tensors(g, a, x);
}

/* An error is told as any other end is: by the callback's mode.  Without a context nothing could wait for it. */
TEST(a_read_without_a_tensor_reports)
{
    OWNED(context) WNNContext c = fake_context(NULL);
    struct report waited = {0}, none = {0};

    WNNFuture f = read_async(c, NULL, &waited, WNNCallbackMode_WaitAnyOnly);
    assert_int_not_equal(f.id, 0);
    assert_int_equal(waited.calls, 0);
    assert_int_equal(wnnContextWaitAny(c, 1, &f, 0), WNNStatus_Success);
    assert_int_equal(waited.calls, 1);
    assert_int_equal(waited.status, WNNStatus_TypeError);
    assert_non_null(strstr(waited.message, "tensor is NULL"));
    assert_int_equal(read_async(NULL, NULL, &none, WNNCallbackMode_WaitAnyOnly).id, 0);
    assert_int_equal(none.calls, 1);
    assert_int_equal(none.status, WNNStatus_TypeError);
    assert_non_null(strstr(none.message, "context is NULL"));
}

/* Reads again, which must not wait for the read that called back. */
static void on_read_read(WNNStatus status, WNNStringView message, void *userdata1, void *userdata2)
{
    struct report *r = userdata1;
    float data[4];

    assert_int_equal(wnnContextReadTensor(r->context, r->tensor, data, sizeof data), WNNStatus_Success);
    report_set(r, status, message);
}

/* With nothing before it, a short read is done by the caller. */
TEST(short_read)
{
    OWNED(tensor) WNNTensor x = fake_tensor(context, true, true);
    struct report r = {.context = context, .tensor = x}, polled = {0};
    WNNReadTensorCallbackInfo info = {WNNCallbackMode_AllowSpontaneous, on_read_read, &r, NULL};

    assert_int_equal(wnnContextWriteTensor(context, x, values, sizeof values), WNNStatus_Success);
    wnnContextReadTensorAsync(context, x, r.data, sizeof r.data, info);
    assert_int_equal(r.calls, 1);
    assert_int_equal(r.status, WNNStatus_Success);
    assert_true(pthread_equal(r.thread, pthread_self()));
    assert_memory_equal(r.data, values, sizeof values);
    /* Other modes keep the callback for later. */
    WNNFuture f = read_async(context, x, &polled, WNNCallbackMode_WaitAnyOnly);
    assert_int_equal(polled.calls, 0);
    assert_int_equal(wnnContextWaitAny(context, 1, &f, 0), WNNStatus_Success);
    assert_int_equal(polled.calls, 1);
    assert_memory_equal(polled.data, values, sizeof values);
}

TEST(wait_any)
{
    struct gate gate = GATE_INIT;
    WNNContext other = fake_context(NULL);
    WNNGraph g = fake_graph(context, 1, 1, fake_double, &gate);
    WNNTensor a = fake_tensor(context, true, true), x = fake_tensor(context, true, true);
    struct report r[2] = {{0}};
    struct timespec before, after;

    assert_int_equal(wnnContextWaitAny(context, 0, NULL, 0), WNNStatus_TypeError);
    REFUSED(wnnContextWaitAny(context, SIZE_MAX, &(WNNFuture){0}, 0), WNNStatus_TypeError, "waitAny", "futures, more than");
    assert_int_equal(wnnContextWaitAny(context, 1, &(WNNFuture){0}, 0), WNNStatus_TypeError);
    REFUSED(wnnContextWaitAny(context, 1, &(WNNFuture){12345}, 0), WNNStatus_TypeError, "waitAny", "futures[0]", "12345");

    read_async(context, a, &r[0], WNNCallbackMode_WaitAnyOnly);
    assert_int_equal(wnnContextWaitAny(other, 1, &r[0].future, 0), WNNStatus_TypeError);
    dispatch(context, g, a, x);
    read_async(context, x, &r[1], WNNCallbackMode_WaitAnyOnly);
    /* Any of the two. */
    WNNFuture both[2] = {r[1].future, r[0].future};
    assert_int_equal(wnnContextWaitAny(context, 2, both, UINT64_MAX), WNNStatus_Success);
    assert_int_equal(r[0].calls, 1);
    assert_int_equal(r[1].calls, 0);
    assert_int_equal(wnnContextWaitAny(context, 1, &r[1].future, 0), WNNStatus_TimedOut);
    clock_gettime(CLOCK_MONOTONIC, &before);
    assert_int_equal(wnnContextWaitAny(context, 1, &r[1].future, 20000000), WNNStatus_TimedOut);
    clock_gettime(CLOCK_MONOTONIC, &after);
    double waited = (double)(after.tv_sec - before.tv_sec) + (double)(after.tv_nsec - before.tv_nsec) * 1e-9;
    assert_true(waited >= 0.0199);
    gate_open(&gate);
    assert_int_equal(wnnContextWaitAny(context, 1, &r[1].future, UINT64_MAX - 1), WNNStatus_Success);
    assert_int_equal(r[1].calls, 1);
    release_all(other, g, a, x);
}

TEST(tensors_are_created_asynchronously)
{
    WNNTensorDescriptor d = {
        .dataType = WNNOperandDataType_Float32, .rank = 1, .shape = (uint32_t[]){4}, .readable = true, .writable = true};
    WNNOperandDescriptor cd = {WNNOperandDataType_Float32, 1, (uint32_t[]){4}, NULL};
    struct report r = {0}, constant = {0}, bad = {0}, silent = {0};
    WNNCreateTensorCallbackInfo info = {WNNCallbackMode_WaitAnyOnly, on_tensor, &r, NULL};
    float data[4] = {9, 9, 9, 9};

    WNNFuture f = wnnContextCreateTensorAsync(context, &d, info);
    assert_int_equal(wnnContextWaitAny(context, 1, &f, UINT64_MAX), WNNStatus_Success);
    assert_int_equal(r.status, WNNStatus_Success);
    assert_int_equal(wnnContextReadTensor(context, r.tensor, data, 16), WNNStatus_Success);
    assert_true(data[0] == 0 && data[3] == 0);

    info.userdata1 = &constant;
    info.mode = WNNCallbackMode_AllowSpontaneous;
    f = wnnContextCreateConstantTensorAsync(context, &cd, values, 16, info);
    wait_for_calls(&constant, 1);
    assert_true(wnnTensorGetConstant(constant.tensor));

    info.userdata1 = &bad;
    f = wnnContextCreateConstantTensorAsync(context, &cd, values, 15, info);
    assert_int_equal(bad.calls, 1);
    assert_int_equal(bad.status, WNNStatus_TypeError);
    assert_null(bad.tensor);

    /* Without a callback the tensor goes. */
    info = (WNNCreateTensorCallbackInfo){WNNCallbackMode_WaitAnyOnly, NULL, &silent, NULL};
    f = wnnContextCreateTensorAsync(context, &d, info);
    assert_int_equal(wnnContextWaitAny(context, 1, &f, UINT64_MAX), WNNStatus_Success);

    atomic_store(&fake_out_of_memory, true);
    info = (WNNCreateTensorCallbackInfo){WNNCallbackMode_WaitAnyOnly, on_tensor, &bad, NULL};
    f = wnnContextCreateTensorAsync(context, &d, info);
    assert_int_equal(wnnContextWaitAny(context, 1, &f, UINT64_MAX), WNNStatus_Success);
    assert_int_equal(bad.status, WNNStatus_UnknownError);
    wnnTensorRelease(r.tensor);
    wnnTensorRelease(constant.tensor);
}

/* ---- inside callbacks ---- */

static void destroy_and_release(WNNStatus status, WNNStringView message, void *userdata1, void *userdata2)
{
    struct report *r = userdata1;

    wnnTensorDestroy(r->tensor);
    wnnTensorRelease(r->tensor);
    wnnContextDestroy(r->context);
    wnnContextRelease(r->context); /* the last reference of the user's */
    report_set(r, status, message);
}

TEST(a_callback_may_destroy)
{
    const WNNCallbackMode modes[] = {WNNCallbackMode_AllowSpontaneous, WNNCallbackMode_AllowProcessEvents,
                                     WNNCallbackMode_WaitAnyOnly};

    for (int i = 0; i < 3; i++) {
        struct report r = {0};
        r.context = fake_context(NULL);
        r.tensor = fake_tensor(r.context, true, true);
        WNNFuture f = wnnContextReadTensorAsync(r.context, r.tensor, r.data, 16,
                                                (WNNReadTensorCallbackInfo){modes[i], destroy_and_release, &r, NULL});
        if (modes[i] == WNNCallbackMode_WaitAnyOnly)
            assert_int_equal(wnnContextWaitAny(r.context, 1, &f, UINT64_MAX), WNNStatus_Success);
        while (modes[i] == WNNCallbackMode_AllowProcessEvents && atomic_load(&r.calls) == 0)
            wnnContextProcessEvents(r.context);
        wait_for_calls(&r, 1);
        assert_int_equal(r.status, WNNStatus_Success);
    }
}

static void destroys_itself(WNNStatus status, WNNStringView message, void *userdata1, void *userdata2)
{
    struct report *r = userdata1;

    wnnTensorDestroy(r->tensor); /* already being destroyed: this is inside that call */
    wnnTensorRelease(r->tensor);
    wnnContextRelease(r->context);
    report_set(r, status, message);
}

/* The callback of a read that wnnTensorDestroy ends gives back the very objects that call works on. */
TEST(callbacks_of_destroy_may_release_its_objects)
{
    struct gate gate = GATE_INIT;
    struct report r = {0};

    r.context = fake_context(NULL);
    WNNGraph g = fake_graph(r.context, 1, 1, fake_double, &gate);
    r.tensor = fake_tensor(r.context, true, true);
    WNNTensor a = fake_tensor(r.context, true, true);
    dispatch(r.context, g, a, r.tensor);
    wnnContextReadTensorAsync(r.context, r.tensor, r.data, 16,
                              (WNNReadTensorCallbackInfo){WNNCallbackMode_AllowSpontaneous, destroys_itself, &r, NULL});
    wnnTensorRelease(a);
    wnnGraphRelease(g);
    wnnTensorDestroy(r.tensor);
    assert_int_equal(r.calls, 1);
    assert_int_equal(r.status, WNNStatus_InvalidStateError);
    gate_open(&gate);
    fake_nothing_left(NULL); /* before the gate goes */
}

static void reads_again(WNNStatus status, WNNStringView message, void *userdata1, void *userdata2)
{
    struct report *r = userdata1, *later = userdata2;
    float data[4];

    /* On the timeline's thread: later tasks must run for these to return. */
    assert_int_equal(wnnContextReadTensor(r->context, r->tensor, data, 16), WNNStatus_Success);
    assert_true(data[0] == 5);
    assert_int_equal(wnnContextWaitAny(r->context, 1, &later->future, UINT64_MAX), WNNStatus_Success);
    assert_int_equal(later->calls, 1);
    assert_int_equal(wnnContextWaitAny(r->context, 1, &r->future, UINT64_MAX), WNNStatus_Success); /* itself */
    report_set(r, status, message);
}

TEST(wait_in_callback)
{
    struct gate gate = GATE_INIT;
    struct report r = {0}, later = {0};

    WNNContext c = r.context = fake_context(NULL);
    WNNGraph g = fake_graph(c, 1, 1, fake_double, &gate);
    WNNTensor a = r.tensor = fake_tensor(c, true, true), x = fake_tensor(c, true, true);
    float five[4] = {5, 5, 5, 5};

    dispatch(c, g, a, x);
    r.future = wnnContextReadTensorAsync(
        c, a, r.data, 16, (WNNReadTensorCallbackInfo){WNNCallbackMode_AllowSpontaneous, reads_again, &r, &later});
    assert_int_equal(wnnContextWriteTensor(c, a, five, 16), WNNStatus_Success);
    read_async(c, x, &later, WNNCallbackMode_WaitAnyOnly);
    gate_open(&gate);
    wait_for_calls(&r, 1);
    assert_true(r.data[0] == 0);
    release_all(c, g, a, x);
}

TEST_EACH(create_fake_context, release_fake_context)
