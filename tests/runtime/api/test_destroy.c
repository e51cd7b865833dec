/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Destroying, releasing and losing: which work and which callbacks end then and how, that each callback runs once, and that
 * threads which use an object while another destroys it see one of the two.
 */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "runtime/api/future_support.h"
#include "support/release.h"

/* ---- destroying ---- */

TEST(destroy_tensor_ends_reads)
{
    struct gate gate = GATE_INIT;
    WNNGraph g = fake_graph(context, 1, 1, fake_double, &gate);
    WNNTensor a = fake_tensor(context, true, true), x = fake_tensor(context, true, true);
    struct report pending = {0}, waiting = {0}, unobserved = {0}, survives = {0};
    float data[4];

    read_async(context, x, &unobserved, WNNCallbackMode_WaitAnyOnly);
    read_async(context, a, &survives, WNNCallbackMode_WaitAnyOnly);
    assert_int_equal(wnnContextReadTensor(context, a, data, 16), WNNStatus_Success); /* both are copied, but not observed */
    dispatch(context, g, a, x);
    gate_wait_arrived(&gate, 1);
    read_async(context, x, &pending, WNNCallbackMode_AllowSpontaneous);
    read_async(context, x, &waiting, WNNCallbackMode_AllowProcessEvents);
    wnnTensorDestroy(x); /* the dispatch that writes x runs: destroy does not wait for it */
    assert_int_equal(pending.calls, 1);
    assert_int_equal(pending.status, WNNStatus_InvalidStateError);
    assert_true(pthread_equal(pending.thread, pthread_self())); /* the call that settled it */
    assert_int_equal(waiting.calls, 0);
    wnnContextProcessEvents(context);
    assert_int_equal(waiting.status, WNNStatus_InvalidStateError);
    assert_int_equal(wnnContextWaitAny(context, 1, &unobserved.future, 0), WNNStatus_Success);
    assert_int_equal(unobserved.status, WNNStatus_InvalidStateError);
    assert_int_equal(atomic_load(&fake_buffers), 2); /* x's memory is still needed */
    gate_open(&gate);
    assert_int_equal(wnnContextReadTensor(context, a, data, 16), WNNStatus_Success);
    for (int i = 0; i < 10000 && atomic_load(&fake_buffers) > 1; i++)
        usleep(1000);
    assert_int_equal(atomic_load(&fake_buffers), 1); /* it went after the work, and the handle still lives */
    assert_int_equal(wnnContextWaitAny(context, 1, &survives.future, 0), WNNStatus_Success);
    assert_int_equal(survives.status, WNNStatus_Success);
    release_with_tensors(g, x, a);
}

/* A tensor given back by its user is not destroyed: what was asked of it completes. */
TEST(release_is_not_destroy)
{
    struct gate gate = GATE_INIT;
    WNNGraph g = fake_graph(context, 1, 1, fake_double, &gate);
    WNNTensor a = fake_tensor(context, true, true), x = fake_tensor(context, true, true);
    struct report r = {0}, done = {0};

    read_async(context, x, &done, WNNCallbackMode_WaitAnyOnly);
    assert_int_equal(wnnContextWriteTensor(context, a, values, 16), WNNStatus_Success);
    dispatch(context, g, a, x);
    read_async(context, x, &r, WNNCallbackMode_AllowSpontaneous);
    release_with_tensors(g, a, x);
    gate_open(&gate);
    wait_for_calls(&r, 1);
    assert_int_equal(r.status, WNNStatus_Success);
    assert_true(r.data[1] == 4);
    assert_int_equal(wnnContextWaitAny(context, 1, &done.future, UINT64_MAX), WNNStatus_Success);
    assert_int_equal(done.status, WNNStatus_Success);
}

/* destroy() while the bytes are being copied: the end is reported once nothing writes any more, and then as a failure. */
TEST(destroy_waits_for_a_copy_and_fails_it)
{
    static struct gate gate = GATE_INIT;
    enum { BYTES = 1 << 20 };
    WNNTensorDescriptor d = {
        .dataType = WNNOperandDataType_Uint8, .rank = 1, .shape = (uint32_t[]){BYTES}, .readable = true, .writable = true};
    OWNED(tensor) WNNTensor t = NULL;
    struct report r = {0};
    unsigned char *data = malloc(BYTES);

    assert_int_equal(wnnContextCreateTensor(context, &d, &t), WNNStatus_Success);
    memset(data, 0xAA, BYTES);
    fake_read_gate = &gate;
    WNNFuture f = wnnContextReadTensorAsync(context, t, data, BYTES, read_info(&r, WNNCallbackMode_AllowSpontaneous));
    gate_wait_arrived(&gate, 1); /* inside the first chunk */
    wnnTensorDestroy(t);         /* does not wait */
    assert_int_equal(r.calls, 0);
    gate_open(&gate);
    assert_int_equal(wnnContextWaitAny(context, 1, &f, UINT64_MAX), WNNStatus_Success);
    assert_int_equal(r.status, WNNStatus_InvalidStateError);
    assert_int_equal(gate.arrived, 1); /* the rest was not copied */
    assert_int_equal(data[BYTES - 1], 0xAA);
    free(data);
}

static void on_lost(WNNContext context, WNNStringView message, void *userdata1, void *userdata2)
{
    struct report *r = userdata1;
    r->context = context;
    report_set(r, WNNStatus_Success, message);
}

TEST(destroying_a_context_loses_it)
{
    struct gate gate = GATE_INIT;
    struct report lost = {0}, created = {0}, spontaneous = {0}, waited = {0}, unobserved = {0};
    WNNContextOptions o = WNN_CONTEXT_OPTIONS_INIT;

    o.lost = (WNNContextLostCallbackInfo){WNNCallbackMode_AllowSpontaneous, on_lost, &lost, NULL};
    WNNContext c = fake_context(&o);
    WNNGraph g = fake_graph(c, 1, 1, fake_double, &gate);
    WNNTensor a = fake_tensor(c, true, true), x = fake_tensor(c, true, true);
    WNNTensorDescriptor d = {
        .dataType = WNNOperandDataType_Float32, .rank = 1, .shape = (uint32_t[]){4}, .readable = true, .writable = true};

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
    release_all(c, g, a, x);
    fake_nothing_left(NULL);
    assert_int_equal(gate.arrived, 1); /* the second dispatch was dropped */
}

/* Without a future to wait for, the other modes of `lost` are delivered by wnnContextProcessEvents. */
TEST(process_events_delivers_the_loss)
{
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
    return false;
}

/* A dispatch that fails has no one to tell but the context. */
TEST(failed_dispatch_loses)
{
    struct report lost = {0}, read = {0};
    WNNContextOptions o = WNN_CONTEXT_OPTIONS_INIT;

    o.lost = (WNNContextLostCallbackInfo){WNNCallbackMode_AllowSpontaneous, on_lost, &lost, NULL};
    WNNContext c = fake_context(&o);
    WNNGraph g = fake_graph(c, 1, 1, fails, NULL);
    WNNTensor a = fake_tensor(c, true, true), x = fake_tensor(c, true, true);
    float data[4];

    REFUSED(wnnGraphCompute(g, 1, &(WNNNamedBuffer){WNN_STR("a"), data, 16}, 1, &(WNNNamedBuffer){WNN_STR("x"), read.data, 16}),
            WNNStatus_OperationError, "fake engine failed");
    assert_false(wnnContextIsLost(c));
    dispatch(c, g, a, x);
    read_async(c, x, &read, WNNCallbackMode_AllowSpontaneous);
    wait_for_calls(&read, 1);
    assert_int_equal(read.status, WNNStatus_InvalidStateError);
    wait_for_calls(&lost, 1);
    assert_string_equal(lost.message, "the context was lost: a dispatch failed: the fake engine failed");
    release_all(c, g, a, x);
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

    b->calls++;
    /* Its turn on the timeline is the dispatch's still: nothing here may wait for that. */
    assert_int_equal(wnnContextReadTensor(context, b->x, data, 16), WNNStatus_InvalidStateError);
    assert_int_equal(
        wnnGraphCompute(b->graph, 1, &(WNNNamedBuffer){WNN_STR("a"), data, 16}, 1, &(WNNNamedBuffer){WNN_STR("x"), data, 16}),
        WNNStatus_InvalidStateError);
    wnnTensorRelease(b->a);
    wnnTensorRelease(b->x);
    release_graph(b->context, b->graph);
}

/* One that fails on the caller's thread reports the loss from inside of the call, and everything may be given back there. */
TEST(a_failed_brief_dispatch_reports_inside_the_call)
{
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
TEST(callbacks_run_once_after_everything_is_released)
{
    struct gate gate = GATE_INIT;
    WNNContext c = fake_context(NULL);
    WNNGraph g = fake_graph(c, 1, 1, fake_double, &gate);
    WNNTensor a = fake_tensor(c, true, true), x = fake_tensor(c, true, true);
    WNNTensorDescriptor d = {
        .dataType = WNNOperandDataType_Float32, .rank = 1, .shape = (uint32_t[]){4}, .readable = true, .writable = true};
    struct report spontaneous = {0}, never = {0}, tensor = {0};

    dispatch(c, g, a, x);
    read_async(c, x, &spontaneous, WNNCallbackMode_AllowSpontaneous);
    read_async(c, x, &never, WNNCallbackMode_WaitAnyOnly);
    wnnContextCreateTensorAsync(c, &d,
                                (WNNCreateTensorCallbackInfo){WNNCallbackMode_AllowProcessEvents, on_tensor, &tensor, NULL});
    release_all(c, g, a, x);
    gate_open(&gate);
    wait_for_calls(&spontaneous, 1);
    assert_int_equal(spontaneous.status, WNNStatus_Success);
    wait_for_calls(&never, 1);
    assert_int_equal(never.status, WNNStatus_InvalidStateError);
    wait_for_calls(&tensor, 1);
    assert_int_equal(tensor.status, WNNStatus_InvalidStateError);
    assert_null(tensor.tensor);
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
TEST(reads_end_once_while_the_tensor_is_destroyed)
{
    enum { ROUNDS = 200, READS = 4, BYTES = 600 << 10 };
    WNNTensorDescriptor d = {
        .dataType = WNNOperandDataType_Uint8, .rank = 1, .shape = (uint32_t[]){BYTES}, .readable = true, .writable = true};

    for (int round = 0; round < ROUNDS; round++) {
        struct race race = {.context = context};
        struct report reports[READS] = {{0}};
        unsigned char *buffers[READS];
        pthread_t thread;

        assert_int_equal(wnnContextCreateTensor(context, &d, &race.tensor), WNNStatus_Success);
        assert_int_equal(pthread_create(&thread, NULL, race_destroy, &race), 0);
        for (int i = 0; i < READS; i++) {
            buffers[i] = malloc(BYTES);
            if (i == round % READS)
                atomic_store(&race.go, 1);
            reports[i].future = wnnContextReadTensorAsync(context, race.tensor, buffers[i], BYTES,
                                                          read_info(&reports[i], (WNNCallbackMode)(1 + (i + round) % 3)));
        }
        for (int i = 0; i < READS; i++) {
            assert_int_equal(wnnContextWaitAny(context, 1, &reports[i].future, UINT64_MAX), WNNStatus_Success);
            assert_int_equal(reports[i].calls, 1);
            free(buffers[i]); /* a late write is a use after free */
            assert_true(reports[i].status == WNNStatus_Success || reports[i].status == WNNStatus_InvalidStateError ||
                        (reports[i].status == WNNStatus_TypeError && strstr(reports[i].message, "destroyed")));
        }
        pthread_join(thread, NULL);
        wnnTensorRelease(race.tensor);
    }
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
TEST(threads_may_use_a_context_while_it_is_destroyed)
{
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

static _Thread_local struct {
    WNNContext context; /* destroyed when its lock is next released but `later` times */
    int later;
} destroyed;

/* Stands before the system's: what other threads may do as soon as a lock is free is done then. */
int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    int (*const unlock)(pthread_mutex_t *) = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_unlock");
    const int result = unlock(mutex);
    WNNContext c = destroyed.context;

    if (c && mutex == &c->lock && destroyed.later-- == 0) {
        destroyed.context = NULL;
        wnnContextDestroy(c);
    }
    return result;
}

TEST(callbacks_come_once_wherever_another_thread_destroys)
{
    const WNNTensorDescriptor d = {.dataType = WNNOperandDataType_Float32};
    bool reached = true;

    for (int later = 0; reached; later++) {
        struct report read = {0}, made = {0};
        WNNContext c = fake_context(NULL);
        WNNTensor t = fake_tensor(c, true, true);

        destroyed.context = c;
        destroyed.later = later;
        read_async(c, t, &read, WNNCallbackMode_AllowSpontaneous);
        wnnContextCreateTensorAsync(c, &d,
                                    (WNNCreateTensorCallbackInfo){WNNCallbackMode_AllowSpontaneous, on_tensor, &made, NULL});
        reached = !destroyed.context;
        destroyed.context = NULL;
        wait_for_calls(&read, 1);
        wait_for_calls(&made, 1);
        wnnTensorRelease(made.tensor);
        wnnTensorRelease(t);
        wnnContextRelease(c);
    }
}

TEST_EACH(create_fake_context, release_fake_context)
