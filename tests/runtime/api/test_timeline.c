/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Timelines: work is done in the order in which it was submitted, whichever thread does it. */
#include "runtime/api/future_support.h"
#include "support/release.h"

/* ---- order ---- */

/* Every write, dispatch and read sees exactly what was submitted before it. */
TEST(timeline_order)
{
    struct gate gate = GATE_INIT;
    WNNGraph slow = fake_graph(context, 1, 1, fake_double, &gate), fast = fake_graph(context, 1, 1, fake_double, NULL);
    WNNTensor a = fake_tensor(context, true, true), x = fake_tensor(context, true, true);
    struct report first = {0}, second = {0};
    float data[4] = {10, 20, 30, 40};

    assert_int_equal(wnnContextWriteTensor(context, a, values, 16), WNNStatus_Success);
    dispatch(context, slow, a, x);
    gate_wait_arrived(&gate, 1); /* dispatch has not waited */
    read_async(context, x, &first, WNNCallbackMode_AllowSpontaneous);
    assert_int_equal(wnnContextWriteTensor(context, a, data, 16), WNNStatus_Success);
    memset(data, 0, sizeof data); /* was copied */
    dispatch(context, fast, a, x);
    dispatch(context, fast, x, a);
    read_async(context, a, &second, WNNCallbackMode_AllowSpontaneous);
    assert_int_equal(first.calls, 0);
    gate_open(&gate);
    assert_int_equal(wnnContextReadTensor(context, x, data, 16), WNNStatus_Success); /* after all of it */
    assert_int_equal(first.status, WNNStatus_Success);
    assert_true(data[2] == 60 && first.data[2] == 6 && second.data[2] == 120);
    release_with_tensors(slow, a, x);
    wnnGraphRelease(fast);
}

/* compute waits for a running dispatch, but uses none of the tensors. */
TEST(compute_waits_for_dispatches_before_it)
{
    struct gate gate = GATE_INIT;
    WNNGraph slow = fake_graph(context, 1, 1, fake_double, &gate), fast = fake_graph(context, 1, 1, fake_double, NULL);
    WNNTensor a = fake_tensor(context, true, true), x = fake_tensor(context, true, true);
    float in[4] = {1, 2, 3, 4}, out[4];

    dispatch(context, slow, a, x);
    gate_wait_arrived(&gate, 1);
    gate_open(&gate);
    assert_int_equal(
        wnnGraphCompute(fast, 1, &(WNNNamedBuffer){WNN_STR("a"), in, 16}, 1, &(WNNNamedBuffer){WNN_STR("x"), out, 16}),
        WNNStatus_Success);
    assert_true(out[3] == 8);
    release_with_tensors(slow, a, x);
    wnnGraphRelease(fast);
}

static bool note_thread(void *user, unsigned char *const *inputs, unsigned char *const *outputs)
{
    *(pthread_t *)user = pthread_self();
    return fake_double(NULL, inputs, outputs);
}

/* A dispatch that takes less time than waking a thread is done when the call returns, unless something is before it. */
TEST(a_brief_dispatch_is_done_when_the_call_returns)
{
    struct gate gate = GATE_INIT;
    pthread_t thread = 0;
    WNNGraph slow = fake_graph(context, 1, 1, fake_double, &gate), brief = fake_graph(context, 1, 1, note_thread, &thread);
    WNNTensor a = fake_tensor(context, true, true), x = fake_tensor(context, true, true);
    float data[4];

    brief->executable->brief = true;
    assert_int_equal(wnnContextWriteTensor(context, a, values, 16), WNNStatus_Success);
    dispatch(context, brief, a, x);
    assert_true(pthread_equal(thread, pthread_self()));
    thread = 0;
    dispatch(context, slow, x, a);
    gate_wait_arrived(&gate, 1);
    dispatch(context, brief, a, x); /* returns while the gate is closed */
    gate_open(&gate);
    assert_int_equal(wnnContextReadTensor(context, x, data, 16), WNNStatus_Success);
    assert_true(data[2] == 24);
    assert_false(pthread_equal(thread, pthread_self()));
    release_with_tensors(slow, a, x);
    wnnGraphRelease(brief);
}

/* Work that comes while the thread runs, looks out for more, falls asleep or sleeps: none is forgotten. */
static void submit_under(const char *policy)
{
    const char *before = getenv("OMP_WAIT_POLICY");
    OWNED(memory) char *kept = before ? strdup(before) : NULL;

    setenv("OMP_WAIT_POLICY", policy, 1);
    WNNContext c = fake_context(NULL);
    WNNGraph g = fake_graph(c, 1, 1, fake_double, NULL);
    WNNTensor a = fake_tensor(c, true, true), x = fake_tensor(c, true, true);

    if (kept)
        setenv("OMP_WAIT_POLICY", kept, 1);
    else
        unsetenv("OMP_WAIT_POLICY");
    for (unsigned i = 0; i < 400; i++) {
        struct report r = {0};

        dispatch(c, g, a, x);
        if (i % 3 == 0)
            usleep(i % 7); /* often the thread has just begun to look out */
        WNNFuture f = read_async(c, x, &r, WNNCallbackMode_WaitAnyOnly);
        assert_int_equal(wnnContextWaitAny(c, 1, &f, UINT64_C(20000000000)), WNNStatus_Success);
        assert_int_equal(r.calls, 1);
        usleep(i % 30 * 8); /* up to twice as long as it looks out */
    }
    release_all(c, g, a, x);
}

TEST(work_is_submitted_at_any_time)
{
    submit_under("active");
    submit_under("passive");
}

/* ---- with a parallel-for of the application ---- */

static void run_nothing(void *user, uint32_t parts, void (*part)(void *data, uint32_t i, uint32_t parts), void *data)
{
}

struct sender {
    WNNContext context;
    WNNGraph graph;
    WNNTensor a, x;
};

static void *send(void *user)
{
    const struct sender *s = user;

    dispatch(s->context, s->graph, s->a, s->x);
    return NULL;
}

static const WNNTensorDescriptor scalar = {.dataType = WNNOperandDataType_Float32};

/* Inside of a task of this context comes one of another, and a wait for this one in that. */
static void created(WNNStatus status, WNNTensor tensor, WNNStringView message, void *user, void *other)
{
    const struct sender *s = user;
    float out[4];

    assert_true(status == WNNStatus_Success && message.length == 0);
    wnnTensorRelease(tensor);
    if (other)
        wnnContextCreateTensorAsync(other, &scalar,
                                    (WNNCreateTensorCallbackInfo){WNNCallbackMode_AllowSpontaneous, created, user, NULL});
    else
        assert_int_equal(wnnContextReadTensor(s->context, s->x, out, 16), WNNStatus_Success);
}

/* Who has the turn also runs what others submit meanwhile; compute needs no turn. */
TEST(callers_run_a_timeline_without_a_thread)
{
    const struct webnn_object_parallel parallel = {1, run_nothing, NULL};
    WNNContextOptions o = WNN_CONTEXT_OPTIONS_INIT;
    struct gate gate = GATE_INIT;
    struct report report = {0};
    pthread_t first = 0, second = 0, sender;
    float out[4];

    o.parallel = &parallel;
    WNNContext c = fake_context(&o), other = fake_context(&o);
    WNNGraph slow = fake_graph(c, 1, 1, fake_double, &gate), queued = fake_graph(c, 1, 1, note_thread, &first),
             computed = fake_graph(c, 1, 1, note_thread, &second);
    WNNTensor a = fake_tensor(c, true, true), x = fake_tensor(c, true, true);
    struct sender s = {c, slow, a, x};

    assert_int_equal(wnnContextWriteTensor(c, a, values, 16), WNNStatus_Success);
    assert_int_equal(pthread_create(&sender, NULL, send, &s), 0);
    gate_wait_arrived(&gate, 1);
    dispatch(c, queued, x, a);
    read_async(c, a, &report, WNNCallbackMode_AllowSpontaneous);
    assert_true(!first && atomic_load(&report.calls) == 0);
    assert_success(wnnGraphCompute(computed, 1, &(WNNNamedBuffer){WNN_STR("a"), (void *)(uintptr_t)values, 16}, 1,
                                   &(WNNNamedBuffer){WNN_STR("x"), out, 16}));
    assert_true(out[3] == 8 && pthread_equal(second, pthread_self()));
    gate_open(&gate);
    pthread_join(sender, NULL);
    assert_true(pthread_equal(first, sender) && atomic_load(&report.calls) == 1 && report.data[3] == 16);
    dispatch(c, computed, a, x); /* the turn is free: done when the call returns */
    read_async(c, x, &report, WNNCallbackMode_AllowSpontaneous);
    assert_true(atomic_load(&report.calls) == 2 && report.data[3] == 32 && pthread_equal(report.thread, pthread_self()));
    wnnContextCreateTensorAsync(c, &scalar,
                                (WNNCreateTensorCallbackInfo){WNNCallbackMode_AllowSpontaneous, created, &s, other});
    wnnContextRelease(other);
    release_with_tensors(slow, a, x);
    wnnGraphRelease(queued);
    release_graph(c, computed);
}

TEST_EACH(create_fake_context, release_fake_context)
