/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Timelines and futures: order of work, which call or thread calls back in each mode, what destroy ends and how, and that
 * nothing deadlocks or outlives its owner when callbacks destroy, release and wait.
 */
#include "fake_engine.h"

static const float values[4] = {1, 2, 3, 4};

struct report {
    atomic_int calls;
    WNNStatus status;
    char message[300];
    pthread_t thread;
    WNNContext context; /* what a callback needs */
    WNNTensor tensor;
    WNNFuture future;
    float data[4];
};

static void report_set(struct report *r, WNNStatus status, WNNStringView message)
{
    r->status = status;
    r->thread = pthread_self();
    snprintf(r->message, sizeof r->message, "%.*s", (int)message.length, message.data);
    atomic_fetch_add(&r->calls, 1);
}

static void on_read(WNNStatus status, WNNStringView message, void *userdata1, void *userdata2)
{
    assert_ptr_equal(userdata2, (void *)7);
    report_set(userdata1, status, message);
}

static void on_tensor(WNNStatus status, WNNTensor tensor, WNNStringView message, void *userdata1, void *userdata2)
{
    (void)userdata2;
    ((struct report *)userdata1)->tensor = tensor;
    report_set(userdata1, status, message);
}

static WNNReadTensorCallbackInfo read_info(struct report *r, WNNCallbackMode mode)
{
    return (WNNReadTensorCallbackInfo){mode, on_read, r, (void *)7};
}

static WNNFuture read_async(WNNContext c, WNNTensor t, struct report *r, WNNCallbackMode mode)
{
    return r->future = wnnContextReadTensorAsync(c, t, r->data, sizeof r->data, read_info(r, mode));
}

static void wait_for_calls(struct report *r, int count)
{
    for (int i = 0; i < 10000 && atomic_load(&r->calls) < count; i++)
        usleep(1000);
    assert_int_equal(atomic_load(&r->calls), count);
}

/* A dispatch of `g` from a to x. */
static void dispatch(WNNContext c, WNNGraph g, WNNTensor a, WNNTensor x)
{
    assert_int_equal(wnnContextDispatch(c, g, 1, &(WNNNamedTensor){WNN_STR("a"), a}, 1, &(WNNNamedTensor){WNN_STR("x"), x}),
                     WNNStatus_Success);
}

/* ---- order ---- */

/* Every write, dispatch and read sees exactly what was submitted before it. */
static void timeline_order(void **state)
{
    (void)state;
    struct gate gate = GATE_INIT;
    WNNContext c = fake_context(NULL);
    WNNGraph slow = fake_graph(c, 1, 1, fake_double, &gate), fast = fake_graph(c, 1, 1, fake_double, NULL);
    WNNTensor a = fake_tensor(c, true, true), x = fake_tensor(c, true, true);
    struct report first = {0}, second = {0};
    float data[4] = {10, 20, 30, 40};

    assert_int_equal(wnnContextWriteTensor(c, a, values, 16), WNNStatus_Success);
    dispatch(c, slow, a, x);
    gate_wait_arrived(&gate, 1); /* dispatch has not waited */
    read_async(c, x, &first, WNNCallbackMode_AllowSpontaneous);
    assert_int_equal(wnnContextWriteTensor(c, a, data, 16), WNNStatus_Success);
    memset(data, 0, sizeof data); /* was copied */
    dispatch(c, fast, a, x);
    dispatch(c, fast, x, a);
    read_async(c, a, &second, WNNCallbackMode_AllowSpontaneous);
    assert_int_equal(first.calls, 0);
    gate_open(&gate);
    assert_int_equal(wnnContextReadTensor(c, x, data, 16), WNNStatus_Success); /* behind all of it */
    assert_int_equal(first.status, WNNStatus_Success);
    assert_true(data[2] == 60 && first.data[2] == 6 && second.data[2] == 120);
    wnnTensorRelease(a);
    wnnTensorRelease(x);
    wnnGraphRelease(slow);
    wnnGraphRelease(fast);
    wnnContextRelease(c);
}

/* compute waits for its turn behind a running dispatch, but uses none of the tensors. */
static void compute_behind_dispatch(void **state)
{
    (void)state;
    struct gate gate = GATE_INIT;
    WNNContext c = fake_context(NULL);
    WNNGraph slow = fake_graph(c, 1, 1, fake_double, &gate), fast = fake_graph(c, 1, 1, fake_double, NULL);
    WNNTensor a = fake_tensor(c, true, true), x = fake_tensor(c, true, true);
    float in[4] = {1, 2, 3, 4}, out[4];

    dispatch(c, slow, a, x);
    gate_wait_arrived(&gate, 1);
    gate_open(&gate);
    assert_int_equal(
        wnnGraphCompute(fast, 1, &(WNNNamedBuffer){WNN_STR("a"), in, 16}, 1, &(WNNNamedBuffer){WNN_STR("x"), out, 16}),
        WNNStatus_Success);
    assert_true(out[3] == 8);
    wnnTensorRelease(a);
    wnnTensorRelease(x);
    wnnGraphRelease(slow);
    wnnGraphRelease(fast);
    wnnContextRelease(c);
}

static bool note_thread(void *user, unsigned char *const *inputs, unsigned char *const *outputs)
{
    *(pthread_t *)user = pthread_self();
    return fake_double(NULL, inputs, outputs);
}

/* A dispatch that takes less time than waking a thread is done when the call returns, unless something is before it. */
static void brief_dispatch(void **state)
{
    (void)state;
    struct gate gate = GATE_INIT;
    pthread_t thread = 0;
    WNNContext c = fake_context(NULL);
    WNNGraph slow = fake_graph(c, 1, 1, fake_double, &gate), brief = fake_graph(c, 1, 1, note_thread, &thread);
    WNNTensor a = fake_tensor(c, true, true), x = fake_tensor(c, true, true);
    float data[4];

    brief->executable->brief = true;
    assert_int_equal(wnnContextWriteTensor(c, a, values, 16), WNNStatus_Success);
    dispatch(c, brief, a, x);
    assert_true(pthread_equal(thread, pthread_self()));
    thread = 0;
    dispatch(c, slow, x, a);
    gate_wait_arrived(&gate, 1);
    dispatch(c, brief, a, x); /* returns while the gate is closed */
    gate_open(&gate);
    assert_int_equal(wnnContextReadTensor(c, x, data, 16), WNNStatus_Success);
    assert_true(data[2] == 24);
    assert_false(pthread_equal(thread, pthread_self()));
    wnnTensorRelease(a);
    wnnTensorRelease(x);
    wnnGraphRelease(slow);
    wnnGraphRelease(brief);
    wnnContextRelease(c);
}

/* Work that comes while the thread runs, looks out for more, falls asleep or sleeps: none is forgotten. */
static void submit_under(const char *policy)
{
    const char *before = getenv("OMP_WAIT_POLICY");
    char *kept = before ? strdup(before) : NULL;

    setenv("OMP_WAIT_POLICY", policy, 1);
    WNNContext c = fake_context(NULL);
    WNNGraph g = fake_graph(c, 1, 1, fake_double, NULL);
    WNNTensor a = fake_tensor(c, true, true), x = fake_tensor(c, true, true);

    if (kept)
        setenv("OMP_WAIT_POLICY", kept, 1);
    else
        unsetenv("OMP_WAIT_POLICY");
    free(kept);
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
    wnnTensorRelease(a);
    wnnTensorRelease(x);
    wnnGraphRelease(g);
    wnnContextRelease(c);
}

static void submit_at_any_time(void **state)
{
    (void)state;
    submit_under("active");
    submit_under("passive");
}

/* ---- modes ---- */

static void mode_wait_any_only(void **state)
{
    (void)state;
    WNNContext c = fake_context(NULL);
    WNNTensor t = fake_tensor(c, true, true);
    struct report r = {0};
    WNNFuture f = read_async(c, t, &r, WNNCallbackMode_WaitAnyOnly);

    assert_true(f.id != 0);
    float data[4];
    assert_int_equal(wnnContextReadTensor(c, t, data, 16), WNNStatus_Success); /* f is complete after this */
    wnnContextProcessEvents(c);
    assert_int_equal(r.calls, 0);
    assert_int_equal(wnnContextWaitAny(c, 1, &f, 0), WNNStatus_Success);
    assert_int_equal(r.calls, 1);
    assert_true(pthread_equal(r.thread, pthread_self()));
    assert_int_equal(r.status, WNNStatus_Success);
    assert_string_equal(r.message, "");
    /* Again: it has completed and its callback has run. */
    assert_int_equal(wnnContextWaitAny(c, 1, &f, 0), WNNStatus_Success);
    assert_int_equal(r.calls, 1);
    wnnTensorRelease(t);
    wnnContextRelease(c);
}

static void mode_process_events(void **state)
{
    (void)state;
    WNNContext c = fake_context(NULL);
    WNNTensor t = fake_tensor(c, true, true);
    struct report r[3] = {{0}}, only = {0};

    for (int i = 0; i < 3; i++)
        read_async(c, t, &r[i], WNNCallbackMode_AllowProcessEvents);
    read_async(c, t, &only, WNNCallbackMode_WaitAnyOnly);
    assert_int_equal(wnnContextWaitAny(c, 1, &r[1].future, UINT64_MAX),
                     WNNStatus_Success); /* this mode may be waited for, too */
    assert_int_equal(r[1].calls, 1);
    assert_int_equal(wnnContextWaitAny(c, 1, &only.future, UINT64_MAX), WNNStatus_Success);
    assert_int_equal(r[0].calls + r[2].calls, 0);
    wnnContextProcessEvents(c);
    assert_int_equal(r[0].calls + r[2].calls, 2);
    assert_true(pthread_equal(r[0].thread, pthread_self()));
    wnnContextProcessEvents(c);
    assert_int_equal(r[0].calls + r[1].calls + r[2].calls, 3);
    wnnTensorRelease(t);
    wnnContextRelease(c);
}

static void mode_spontaneous(void **state)
{
    (void)state;
    struct gate gate = GATE_INIT;
    WNNContext c = fake_context(NULL);
    WNNGraph g = fake_graph(c, 1, 1, fake_double, &gate);
    WNNTensor a = fake_tensor(c, true, true), x = fake_tensor(c, true, true);
    struct report r = {0}, failed = {0};

    dispatch(c, g, a, x);
    read_async(c, x, &r, WNNCallbackMode_AllowSpontaneous);
    usleep(1000);
    assert_int_equal(r.calls, 0);
    gate_open(&gate);
    wait_for_calls(&r, 1);
    assert_false(pthread_equal(r.thread, pthread_self())); /* on the timeline's thread */
    /* What fails at once calls back inside the call. */
    WNNFuture f = wnnContextReadTensorAsync(c, x, failed.data, 3, read_info(&failed, WNNCallbackMode_AllowSpontaneous));
    assert_int_equal(failed.calls, 1);
    assert_int_equal(failed.status, WNNStatus_TypeError);
    assert_non_null(strstr(failed.message, "3 bytes"));
    assert_int_equal(wnnContextWaitAny(c, 1, &f, 0), WNNStatus_Success);
    wnnTensorRelease(a);
    wnnTensorRelease(x);
    wnnGraphRelease(g);
    wnnContextRelease(c);
}

static void wait_any(void **state)
{
    (void)state;
    struct gate gate = GATE_INIT;
    WNNContext c = fake_context(NULL), other = fake_context(NULL);
    WNNGraph g = fake_graph(c, 1, 1, fake_double, &gate);
    WNNTensor a = fake_tensor(c, true, true), x = fake_tensor(c, true, true);
    struct report r[2] = {{0}};
    struct timespec before, after;

    assert_int_equal(wnnContextWaitAny(c, 0, NULL, 0), WNNStatus_TypeError);
    assert_int_equal(wnnContextWaitAny(c, 1, &(WNNFuture){0}, 0), WNNStatus_TypeError);
    assert_int_equal(wnnContextWaitAny(c, 1, &(WNNFuture){12345}, 0), WNNStatus_TypeError);
    MESSAGE_HAS("waitAny", "futures[0]", "12345");

    read_async(c, a, &r[0], WNNCallbackMode_WaitAnyOnly);
    assert_int_equal(wnnContextWaitAny(other, 1, &r[0].future, 0), WNNStatus_TypeError);
    dispatch(c, g, a, x);
    read_async(c, x, &r[1], WNNCallbackMode_WaitAnyOnly);
    /* Any of the two. */
    WNNFuture both[2] = {r[1].future, r[0].future};
    assert_int_equal(wnnContextWaitAny(c, 2, both, UINT64_MAX), WNNStatus_Success);
    assert_int_equal(r[0].calls, 1);
    assert_int_equal(r[1].calls, 0);
    assert_int_equal(wnnContextWaitAny(c, 1, &r[1].future, 0), WNNStatus_TimedOut);
    clock_gettime(CLOCK_MONOTONIC, &before);
    assert_int_equal(wnnContextWaitAny(c, 1, &r[1].future, 20000000), WNNStatus_TimedOut);
    clock_gettime(CLOCK_MONOTONIC, &after);
    double waited = (double)(after.tv_sec - before.tv_sec) + (double)(after.tv_nsec - before.tv_nsec) * 1e-9;
    assert_true(waited >= 0.0199 && waited < 5);
    gate_open(&gate);
    assert_int_equal(wnnContextWaitAny(c, 1, &r[1].future, UINT64_MAX - 1), WNNStatus_Success);
    assert_int_equal(r[1].calls, 1);
    wnnTensorRelease(a);
    wnnTensorRelease(x);
    wnnGraphRelease(g);
    wnnContextRelease(other);
    wnnContextRelease(c);
}

static void create_async(void **state)
{
    (void)state;
    WNNContext c = fake_context(NULL);
    WNNTensorDescriptor d = {WNNOperandDataType_Float32, 1, (uint32_t[]){4}, true, true};
    WNNOperandDescriptor cd = {WNNOperandDataType_Float32, 1, (uint32_t[]){4}};
    struct report r = {0}, constant = {0}, bad = {0}, nobody = {0};
    WNNCreateTensorCallbackInfo info = {WNNCallbackMode_WaitAnyOnly, on_tensor, &r, NULL};
    float data[4] = {9, 9, 9, 9};

    WNNFuture f = wnnContextCreateTensorAsync(c, &d, info);
    assert_int_equal(wnnContextWaitAny(c, 1, &f, UINT64_MAX), WNNStatus_Success);
    assert_int_equal(r.status, WNNStatus_Success);
    assert_int_equal(wnnContextReadTensor(c, r.tensor, data, 16), WNNStatus_Success);
    assert_true(data[0] == 0 && data[3] == 0);

    info.userdata1 = &constant;
    info.mode = WNNCallbackMode_AllowSpontaneous;
    f = wnnContextCreateConstantTensorAsync(c, &cd, values, 16, info);
    wait_for_calls(&constant, 1);
    assert_true(wnnTensorGetConstant(constant.tensor));

    info.userdata1 = &bad;
    f = wnnContextCreateConstantTensorAsync(c, &cd, values, 15, info);
    assert_int_equal(bad.calls, 1);
    assert_int_equal(bad.status, WNNStatus_TypeError);
    assert_null(bad.tensor);

    /* Nobody to call: the tensor goes. */
    info = (WNNCreateTensorCallbackInfo){WNNCallbackMode_WaitAnyOnly, NULL, &nobody, NULL};
    f = wnnContextCreateTensorAsync(c, &d, info);
    assert_int_equal(wnnContextWaitAny(c, 1, &f, UINT64_MAX), WNNStatus_Success);

    atomic_store(&fake_out_of_memory, true);
    info = (WNNCreateTensorCallbackInfo){WNNCallbackMode_WaitAnyOnly, on_tensor, &bad, NULL};
    f = wnnContextCreateTensorAsync(c, &d, info);
    assert_int_equal(wnnContextWaitAny(c, 1, &f, UINT64_MAX), WNNStatus_Success);
    assert_int_equal(bad.status, WNNStatus_UnknownError);
    wnnTensorRelease(r.tensor);
    wnnTensorRelease(constant.tensor);
    wnnContextRelease(c);
}

/* ---- destroying ---- */

static void destroy_tensor_ends_reads(void **state)
{
    (void)state;
    struct gate gate = GATE_INIT;
    WNNContext c = fake_context(NULL);
    WNNGraph g = fake_graph(c, 1, 1, fake_double, &gate);
    WNNTensor a = fake_tensor(c, true, true), x = fake_tensor(c, true, true);
    struct report pending = {0}, waiting = {0}, unobserved = {0}, survives = {0};
    float data[4];

    read_async(c, x, &unobserved, WNNCallbackMode_WaitAnyOnly);
    read_async(c, a, &survives, WNNCallbackMode_WaitAnyOnly);
    assert_int_equal(wnnContextReadTensor(c, a, data, 16), WNNStatus_Success); /* both are copied, but not observed */
    dispatch(c, g, a, x);
    gate_wait_arrived(&gate, 1);
    read_async(c, x, &pending, WNNCallbackMode_AllowSpontaneous);
    read_async(c, x, &waiting, WNNCallbackMode_AllowProcessEvents);
    wnnTensorDestroy(x); /* the dispatch that writes x runs: destroy does not wait for it */
    assert_int_equal(pending.calls, 1);
    assert_int_equal(pending.status, WNNStatus_InvalidStateError);
    assert_true(pthread_equal(pending.thread, pthread_self())); /* the call that settled it */
    assert_int_equal(waiting.calls, 0);
    wnnContextProcessEvents(c);
    assert_int_equal(waiting.status, WNNStatus_InvalidStateError);
    assert_int_equal(wnnContextWaitAny(c, 1, &unobserved.future, 0), WNNStatus_Success);
    assert_int_equal(unobserved.status, WNNStatus_InvalidStateError);
    assert_int_equal(atomic_load(&fake_buffers), 2); /* x's memory is still needed */
    gate_open(&gate);
    assert_int_equal(wnnContextReadTensor(c, a, data, 16), WNNStatus_Success);
    for (int i = 0; i < 2000 && atomic_load(&fake_buffers) > 1; i++)
        usleep(1000);
    assert_int_equal(atomic_load(&fake_buffers), 1); /* gone behind the work, the handle still lives */
    assert_int_equal(wnnContextWaitAny(c, 1, &survives.future, 0), WNNStatus_Success);
    assert_int_equal(survives.status, WNNStatus_Success);
    wnnTensorRelease(x);
    wnnTensorRelease(a);
    wnnGraphRelease(g);
    wnnContextRelease(c);
}

/* A tensor given back by its user is not destroyed: what was asked of it completes. */
static void release_is_not_destroy(void **state)
{
    (void)state;
    struct gate gate = GATE_INIT;
    WNNContext c = fake_context(NULL);
    WNNGraph g = fake_graph(c, 1, 1, fake_double, &gate);
    WNNTensor a = fake_tensor(c, true, true), x = fake_tensor(c, true, true);
    struct report r = {0}, done = {0};

    read_async(c, x, &done, WNNCallbackMode_WaitAnyOnly);
    assert_int_equal(wnnContextWriteTensor(c, a, values, 16), WNNStatus_Success);
    dispatch(c, g, a, x);
    read_async(c, x, &r, WNNCallbackMode_AllowSpontaneous);
    wnnTensorRelease(a);
    wnnTensorRelease(x);
    wnnGraphRelease(g);
    gate_open(&gate);
    wait_for_calls(&r, 1);
    assert_int_equal(r.status, WNNStatus_Success);
    assert_true(r.data[1] == 4);
    assert_int_equal(wnnContextWaitAny(c, 1, &done.future, UINT64_MAX), WNNStatus_Success);
    assert_int_equal(done.status, WNNStatus_Success);
    wnnContextRelease(c);
}

/* destroy() while the bytes are being copied: the end is reported once nothing writes any more, and then as a failure. */
static void destroy_while_copying(void **state)
{
    (void)state;
    static struct gate gate = GATE_INIT;
    enum { BYTES = 1 << 20 };
    WNNContext c = fake_context(NULL);
    WNNTensorDescriptor d = {WNNOperandDataType_Uint8, 1, (uint32_t[]){BYTES}, true, true};
    WNNTensor t;
    struct report r = {0};
    unsigned char *data = malloc(BYTES);

    assert_int_equal(wnnContextCreateTensor(c, &d, &t), WNNStatus_Success);
    memset(data, 0xAA, BYTES);
    fake_read_gate = &gate;
    WNNFuture f = wnnContextReadTensorAsync(c, t, data, BYTES, read_info(&r, WNNCallbackMode_AllowSpontaneous));
    gate_wait_arrived(&gate, 1); /* inside the first chunk */
    wnnTensorDestroy(t);         /* does not wait */
    assert_int_equal(r.calls, 0);
    gate_open(&gate);
    assert_int_equal(wnnContextWaitAny(c, 1, &f, UINT64_MAX), WNNStatus_Success);
    assert_int_equal(r.status, WNNStatus_InvalidStateError);
    assert_int_equal(gate.arrived, 1); /* the rest was not copied */
    assert_int_equal(data[BYTES - 1], 0xAA);
    free(data);
    wnnTensorRelease(t);
    wnnContextRelease(c);
}

static void on_lost(WNNContext context, WNNStringView message, void *userdata1, void *userdata2)
{
    (void)userdata2;
    struct report *r = userdata1;
    r->context = context;
    report_set(r, WNNStatus_Success, message);
}

static void lose_context(void **state)
{
    (void)state;
    struct gate gate = GATE_INIT;
    struct report lost = {0}, created = {0}, spontaneous = {0}, waited = {0}, unobserved = {0};
    WNNContextOptions o = WNN_CONTEXT_OPTIONS_INIT;

    o.lost = (WNNContextLostCallbackInfo){WNNCallbackMode_AllowSpontaneous, on_lost, &lost, NULL};
    WNNContext c = fake_context(&o);
    WNNGraph g = fake_graph(c, 1, 1, fake_double, &gate);
    WNNTensor a = fake_tensor(c, true, true), x = fake_tensor(c, true, true);
    WNNTensorDescriptor d = {WNNOperandDataType_Float32, 1, (uint32_t[]){4}, true, true};

    WNNFuture f = wnnContextCreateTensorAsync(
        c, &d, (WNNCreateTensorCallbackInfo){WNNCallbackMode_WaitAnyOnly, on_tensor, &unobserved, NULL});
    float data[4];
    assert_int_equal(wnnContextReadTensor(c, a, data, 16), WNNStatus_Success); /* the creation is done */
    dispatch(c, g, a, x);
    dispatch(c, g, a, x);
    gate_wait_arrived(&gate, 1);
    wnnContextCreateTensorAsync(c, &d,
                                (WNNCreateTensorCallbackInfo){WNNCallbackMode_AllowSpontaneous, on_tensor, &created, NULL});
    read_async(c, x, &spontaneous, WNNCallbackMode_AllowSpontaneous);
    read_async(c, x, &waited, WNNCallbackMode_WaitAnyOnly);
    assert_int_equal(lost.calls, 0);
    wnnContextDestroy(c);
    assert_int_equal(lost.calls, 1);
    assert_ptr_equal(lost.context, c);
    assert_true(strlen(lost.message) > 0);
    assert_true(wnnContextIsLost(c));
    assert_int_equal(created.status, WNNStatus_InvalidStateError);
    assert_null(created.tensor);
    assert_int_equal(spontaneous.status, WNNStatus_InvalidStateError);
    wnnContextDestroy(c);
    assert_int_equal(lost.calls, 1);
    WNNFuture both[2] = {waited.future, f};
    assert_int_equal(wnnContextWaitAny(c, 2, both, 0), WNNStatus_Success);
    assert_int_equal(waited.status, WNNStatus_InvalidStateError);
    assert_int_equal(unobserved.status, WNNStatus_InvalidStateError);
    assert_null(unobserved.tensor);
    gate_open(&gate);
    wnnTensorRelease(a);
    wnnTensorRelease(x);
    wnnGraphRelease(g);
    wnnContextRelease(c);
    fake_nothing_left(NULL);
    assert_int_equal(gate.arrived, 1); /* the second dispatch was dropped */
}

/* Without a future to wait for, the other modes of `lost` are delivered by wnnContextProcessEvents. */
static void lost_by_process_events(void **state)
{
    (void)state;
    struct report lost = {0};
    WNNContextOptions o = WNN_CONTEXT_OPTIONS_INIT;

    o.lost = (WNNContextLostCallbackInfo){WNNCallbackMode_AllowProcessEvents, on_lost, &lost, NULL};
    WNNContext c = fake_context(&o);
    wnnContextDestroy(c);
    assert_int_equal(lost.calls, 0);
    wnnContextProcessEvents(c);
    assert_int_equal(lost.calls, 1);
    wnnContextProcessEvents(c);
    assert_int_equal(lost.calls, 1);
    wnnContextRelease(c);
    assert_int_equal(lost.calls, 1);

    c = fake_context(&o);
    wnnContextDestroy(c);
    wnnContextRelease(c);
    assert_int_equal(lost.calls, 2);
    assert_null(lost.context);

    c = fake_context(&o); /* never lost, only released */
    wnnContextRelease(c);
    assert_int_equal(lost.calls, 2);
}

static bool fails(void *user, unsigned char *const *inputs, unsigned char *const *outputs)
{
    (void)user;
    (void)inputs;
    (void)outputs;
    return false;
}

/* A dispatch that fails has no one to tell but the context. */
static void failed_dispatch_loses(void **state)
{
    (void)state;
    struct report lost = {0}, read = {0};
    WNNContextOptions o = WNN_CONTEXT_OPTIONS_INIT;

    o.lost = (WNNContextLostCallbackInfo){WNNCallbackMode_AllowSpontaneous, on_lost, &lost, NULL};
    WNNContext c = fake_context(&o);
    WNNGraph g = fake_graph(c, 1, 1, fails, NULL);
    WNNTensor a = fake_tensor(c, true, true), x = fake_tensor(c, true, true);
    float data[4];

    assert_int_equal(
        wnnGraphCompute(g, 1, &(WNNNamedBuffer){WNN_STR("a"), data, 16}, 1, &(WNNNamedBuffer){WNN_STR("x"), read.data, 16}),
        WNNStatus_OperationError);
    MESSAGE_HAS("fake engine failed");
    assert_false(wnnContextIsLost(c));
    dispatch(c, g, a, x);
    read_async(c, x, &read, WNNCallbackMode_AllowSpontaneous);
    wait_for_calls(&read, 1);
    assert_int_equal(read.status, WNNStatus_InvalidStateError);
    wait_for_calls(&lost, 1);
    assert_string_equal(lost.message, "the context was lost: a dispatch failed: the fake engine failed");
    wnnTensorRelease(a);
    wnnTensorRelease(x);
    wnnGraphRelease(g);
    wnnContextRelease(c);
}

struct belongings {
    WNNContext context;
    WNNGraph graph;
    WNNTensor a, x;
    int calls;
};

static void give_back_all(WNNContext context, WNNStringView message, void *userdata1, void *userdata2)
{
    struct belongings *b = userdata1;
    float data[4];

    (void)message;
    (void)userdata2;
    b->calls++;
    /* Its turn on the timeline is the dispatch's still: nothing here may wait for that. */
    assert_int_equal(wnnContextReadTensor(context, b->x, data, 16), WNNStatus_InvalidStateError);
    assert_int_equal(
        wnnGraphCompute(b->graph, 1, &(WNNNamedBuffer){WNN_STR("a"), data, 16}, 1, &(WNNNamedBuffer){WNN_STR("x"), data, 16}),
        WNNStatus_InvalidStateError);
    wnnTensorRelease(b->a);
    wnnTensorRelease(b->x);
    wnnGraphRelease(b->graph);
    wnnContextRelease(b->context);
}

/* One that fails on the caller's thread reports the loss from inside of the call, and everything may be given back there. */
static void failed_brief_dispatch(void **state)
{
    (void)state;
    struct belongings b = {0};
    WNNContextOptions o = WNN_CONTEXT_OPTIONS_INIT;

    o.lost = (WNNContextLostCallbackInfo){WNNCallbackMode_AllowSpontaneous, give_back_all, &b, NULL};
    b.context = fake_context(&o);
    b.graph = fake_graph(b.context, 1, 1, fails, NULL);
    b.graph->executable->brief = true;
    b.a = fake_tensor(b.context, true, true);
    b.x = fake_tensor(b.context, true, true);
    dispatch(b.context, b.graph, b.a, b.x);
    assert_int_equal(b.calls, 1);
}

/* Everything given back while work and unobserved futures remain: each callback still runs once. */
static void release_all(void **state)
{
    (void)state;
    struct gate gate = GATE_INIT;
    WNNContext c = fake_context(NULL);
    WNNGraph g = fake_graph(c, 1, 1, fake_double, &gate);
    WNNTensor a = fake_tensor(c, true, true), x = fake_tensor(c, true, true);
    WNNTensorDescriptor d = {WNNOperandDataType_Float32, 1, (uint32_t[]){4}, true, true};
    struct report spontaneous = {0}, never = {0}, tensor = {0};

    dispatch(c, g, a, x);
    read_async(c, x, &spontaneous, WNNCallbackMode_AllowSpontaneous);
    read_async(c, x, &never, WNNCallbackMode_WaitAnyOnly);
    wnnContextCreateTensorAsync(c, &d,
                                (WNNCreateTensorCallbackInfo){WNNCallbackMode_AllowProcessEvents, on_tensor, &tensor, NULL});
    wnnTensorRelease(a);
    wnnTensorRelease(x);
    wnnGraphRelease(g);
    wnnContextRelease(c);
    gate_open(&gate);
    wait_for_calls(&spontaneous, 1);
    assert_int_equal(spontaneous.status, WNNStatus_Success);
    wait_for_calls(&never, 1);
    assert_int_equal(never.status, WNNStatus_InvalidStateError);
    wait_for_calls(&tensor, 1);
    assert_int_equal(tensor.status, WNNStatus_InvalidStateError);
    assert_null(tensor.tensor);
}

/* ---- inside callbacks ---- */

static void destroy_and_release(WNNStatus status, WNNStringView message, void *userdata1, void *userdata2)
{
    struct report *r = userdata1;

    (void)userdata2;
    wnnTensorDestroy(r->tensor);
    wnnTensorRelease(r->tensor);
    wnnContextDestroy(r->context);
    wnnContextRelease(r->context); /* the last reference of the user's */
    report_set(r, status, message);
}

static void destroy_in_callback(void **state)
{
    (void)state;
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

    (void)userdata2;
    wnnTensorDestroy(r->tensor); /* already being destroyed: this is inside that call */
    wnnTensorRelease(r->tensor);
    wnnContextRelease(r->context);
    report_set(r, status, message);
}

/* The callback of a read that wnnTensorDestroy ends gives back the very objects that call works on. */
static void release_inside_destroy(void **state)
{
    (void)state;
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

    /* On the timeline's thread: what is queued behind this task must run for these to return. */
    assert_int_equal(wnnContextReadTensor(r->context, r->tensor, data, 16), WNNStatus_Success);
    assert_true(data[0] == 5);
    assert_int_equal(wnnContextWaitAny(r->context, 1, &later->future, UINT64_MAX), WNNStatus_Success);
    assert_int_equal(later->calls, 1);
    assert_int_equal(wnnContextWaitAny(r->context, 1, &r->future, UINT64_MAX), WNNStatus_Success); /* itself */
    report_set(r, status, message);
}

static void wait_in_callback(void **state)
{
    (void)state;
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
    wnnTensorRelease(a);
    wnnTensorRelease(x);
    wnnGraphRelease(g);
    wnnContextRelease(c);
}

/* ---- races ---- */

struct race {
    WNNContext context;
    WNNTensor tensor;
    atomic_int go;
};

static void *race_destroy(void *data)
{
    struct race *r = data;

    while (!atomic_load(&r->go))
        ;
    wnnTensorDestroy(r->tensor);
    return NULL;
}

/* Reads of a tensor that another thread destroys: each ends once, with Success or InvalidStateError, and the buffer may be
 * freed right after. */
static void destroy_races(void **state)
{
    (void)state;
    enum { ROUNDS = 200, READS = 4, BYTES = 600 << 10 };
    WNNContext c = fake_context(NULL);
    WNNTensorDescriptor d = {WNNOperandDataType_Uint8, 1, (uint32_t[]){BYTES}, true, true};

    for (int round = 0; round < ROUNDS; round++) {
        struct race race = {.context = c};
        struct report reports[READS] = {{0}};
        unsigned char *buffers[READS];
        pthread_t thread;

        assert_int_equal(wnnContextCreateTensor(c, &d, &race.tensor), WNNStatus_Success);
        assert_int_equal(pthread_create(&thread, NULL, race_destroy, &race), 0);
        for (int i = 0; i < READS; i++) {
            buffers[i] = malloc(BYTES);
            if (i == round % READS)
                atomic_store(&race.go, 1);
            reports[i].future = wnnContextReadTensorAsync(c, race.tensor, buffers[i], BYTES,
                                                          read_info(&reports[i], (WNNCallbackMode)(1 + (i + round) % 3)));
        }
        for (int i = 0; i < READS; i++) {
            assert_int_equal(wnnContextWaitAny(c, 1, &reports[i].future, UINT64_MAX), WNNStatus_Success);
            assert_int_equal(reports[i].calls, 1);
            free(buffers[i]); /* a late write is a use after free */
            assert_true(reports[i].status == WNNStatus_Success || reports[i].status == WNNStatus_InvalidStateError ||
                        (reports[i].status == WNNStatus_TypeError && strstr(reports[i].message, "destroyed")));
        }
        pthread_join(thread, NULL);
        wnnTensorRelease(race.tensor);
    }
    wnnContextRelease(c);
}

static void *race_use(void *data)
{
    struct race *r = data;
    float values4[4] = {0};

    while (!atomic_load(&r->go))
        ;
    for (int i = 0; i < 50; i++) {
        WNNStatus status = wnnContextWriteTensor(r->context, r->tensor, values4, 16);
        assert_true(status == WNNStatus_Success || status == WNNStatus_InvalidStateError);
        status = wnnContextReadTensor(r->context, r->tensor, values4, 16);
        assert_true(status == WNNStatus_Success || status == WNNStatus_InvalidStateError);
    }
    return NULL;
}

/* Several threads use a context while it is destroyed. */
static void lose_races(void **state)
{
    (void)state;
    enum { ROUNDS = 60, THREADS = 4 };

    for (int round = 0; round < ROUNDS; round++) {
        struct race race = {.context = fake_context(NULL)};
        pthread_t threads[THREADS];

        race.tensor = fake_tensor(race.context, true, true);
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, race_use, &race), 0);
        atomic_store(&race.go, 1);
        usleep((unsigned)(round % 8) * 50);
        wnnContextDestroy(race.context);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        wnnTensorRelease(race.tensor);
        wnnContextRelease(race.context);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(timeline_order, fake_nothing_left),
        cmocka_unit_test_teardown(compute_behind_dispatch, fake_nothing_left),
        cmocka_unit_test_teardown(brief_dispatch, fake_nothing_left),
        cmocka_unit_test_teardown(submit_at_any_time, fake_nothing_left),
        cmocka_unit_test_teardown(mode_wait_any_only, fake_nothing_left),
        cmocka_unit_test_teardown(mode_process_events, fake_nothing_left),
        cmocka_unit_test_teardown(mode_spontaneous, fake_nothing_left),
        cmocka_unit_test_teardown(wait_any, fake_nothing_left),
        cmocka_unit_test_teardown(create_async, fake_nothing_left),
        cmocka_unit_test_teardown(destroy_tensor_ends_reads, fake_nothing_left),
        cmocka_unit_test_teardown(release_is_not_destroy, fake_nothing_left),
        cmocka_unit_test_teardown(destroy_while_copying, fake_nothing_left),
        cmocka_unit_test_teardown(lose_context, fake_nothing_left),
        cmocka_unit_test_teardown(lost_by_process_events, fake_nothing_left),
        cmocka_unit_test_teardown(failed_dispatch_loses, fake_nothing_left),
        cmocka_unit_test_teardown(failed_brief_dispatch, fake_nothing_left),
        cmocka_unit_test_teardown(release_all, fake_nothing_left),
        cmocka_unit_test_teardown(destroy_in_callback, fake_nothing_left),
        cmocka_unit_test_teardown(release_inside_destroy, fake_nothing_left),
        cmocka_unit_test_teardown(wait_in_callback, fake_nothing_left),
        cmocka_unit_test_teardown(destroy_races, fake_nothing_left),
        cmocka_unit_test_teardown(lose_races, fake_nothing_left),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
