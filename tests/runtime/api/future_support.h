/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What tests of timelines and futures share: a record of what a callback was told, reads whose callback fills it in, and a
 * dispatch of one input and one output.
 */
#pragma once

#include "runtime/engine/fake_engine.h"

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

static inline void report_set(struct report *r, WNNStatus status, WNNStringView message)
{
    r->status = status;
    r->thread = pthread_self();
    snprintf(r->message, sizeof r->message, "%.*s", (int)message.length, message.data);
    atomic_fetch_add(&r->calls, 1);
}

static inline void on_read(WNNStatus status, WNNStringView message, void *userdata1, void *userdata2)
{
    assert_ptr_equal(userdata2, (void *)7);
    report_set(userdata1, status, message);
}

static inline void on_tensor(WNNStatus status, WNNTensor tensor, WNNStringView message, void *userdata1, void *userdata2)
{
    ((struct report *)userdata1)->tensor = tensor;
    report_set(userdata1, status, message);
}

static inline WNNReadTensorCallbackInfo read_info(struct report *r, WNNCallbackMode mode)
{
    return (WNNReadTensorCallbackInfo){mode, on_read, r, (void *)7};
}

static inline WNNFuture read_async(WNNContext c, WNNTensor t, struct report *r, WNNCallbackMode mode)
{
    return r->future = wnnContextReadTensorAsync(c, t, r->data, sizeof r->data, read_info(r, mode));
}

static inline void wait_for_calls(struct report *r, int count)
{
    for (int i = 0; i < 10000 && atomic_load(&r->calls) < count; i++)
        usleep(1000);
    assert_int_equal(atomic_load(&r->calls), count);
}

/* A dispatch of `g` from a to x. */
static inline void dispatch(WNNContext c, WNNGraph g, WNNTensor a, WNNTensor x)
{
    assert_success(wnnContextDispatch(c, g, 1, &(WNNNamedTensor){WNN_STR("a"), a}, 1, &(WNNNamedTensor){WNN_STR("x"), x}));
}
