/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Implements the profile of a context. */
#include "frontend/python/context.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* So many are kept; older ones are forgotten, so that a program that never asks does not grow. */
enum { TIMES_MAX = 4096 };

struct profile {
    pthread_mutex_t mutex;
    uint64_t count; /* since the last call that took them */
    WNNComputationTimes times[TIMES_MAX];
    bool entrusted; /* the context frees it */
};

/** Runs on any thread. */
static void on_computed(WNNGraph graph, WNNComputationTimes const *times, void *userdata1, void *userdata2)
{
    struct profile *p = userdata1;

    (void)graph;
    (void)userdata2;
    pthread_mutex_lock(&p->mutex);
    p->times[p->count++ % TIMES_MAX] = *times;
    pthread_mutex_unlock(&p->mutex);
}

struct profile *profile_create(WNNContextOptions *options)
{
    struct profile *p = calloc(1, sizeof(*p));

    if (!p || pthread_mutex_init(&p->mutex, NULL)) {
        free(p);
        PyErr_NoMemory();
        return NULL;
    }
    options->computed = (WNNComputedCallbackInfo){on_computed, p, NULL};
    return p;
}

void profile_free(struct profile *p)
{
    if (p)
        pthread_mutex_destroy(&p->mutex);
    free(p);
}

/** Runs on any thread when the context and the work of its timeline are gone. */
static void on_gone(WNNStatus status, WNNTensor tensor, WNNStringView message, void *userdata1, void *userdata2)
{
    struct profile *p = userdata1;

    (void)status;
    (void)tensor;
    (void)message;
    (void)userdata2;
    if (p->entrusted)
        profile_free(p);
}

void profile_entrust(struct profile *p, WNNContext context)
{
    /* A future without a waiter is called back when its context goes.  This one is that of a tensor without a data type, so
     * that it takes neither memory nor a thread.  If memory for it is missing it is called back at once, and the profile stays
     * for good. */
    WNNTensorDescriptor nothing = WNN_TENSOR_DESCRIPTOR_INIT;
    WNNCreateTensorCallbackInfo gone = {WNNCallbackMode_WaitAnyOnly, on_gone, p, NULL};

    p->entrusted = wnnContextCreateTensorAsync(context, &nothing, gone).id != 0;
}

PyObject *profile_take(struct profile *p)
{
    WNNComputationTimes *copy = PyMem_Malloc(sizeof(p->times));
    PyObject *list = copy ? PyList_New(0) : PyErr_NoMemory();
    uint64_t count = 0;

    if (list) {
        pthread_mutex_lock(&p->mutex);
        count = p->count;
        memcpy(copy, p->times, sizeof(p->times));
        p->count = 0;
        pthread_mutex_unlock(&p->mutex);
    }
    for (uint64_t i = count > TIMES_MAX ? count - TIMES_MAX : 0; list && i < count; i++) {
        const WNNComputationTimes *t = &copy[i % TIMES_MAX];

        list_add(&list, Py_BuildValue("{s:K,s:K,s:K}", "submitted", (unsigned long long)t->submitted, "begun",
                                      (unsigned long long)t->begun, "ended", (unsigned long long)t->ended));
    }
    PyMem_Free(copy);
    return list;
}
