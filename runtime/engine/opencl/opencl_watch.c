/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Waits for the device, on a separate thread that is started on demand.
 *
 * The queue is in order, so events are waited for in the order in which they were given.  Callbacks of OpenCL would need no
 * thread, but come from threads of the driver that may do little, and drivers differ in whether they come after an error.
 */
#include "runtime/engine/opencl/internal.h"

#include "runtime/host/own_thread.h"

static bool await(struct engine_opencl *o, cl_event event, struct error *e)
{
    cl_int status = CL_COMPLETE, code;
    const char *call = "clWaitForEvents";

    if (!opencl_is_usable(o, e))
        return false;
    code = o->api->WaitForEvents(1, &event);
    if (code == CL_SUCCESS) {
        call = "clGetEventInfo";
        code = o->api->GetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    }
    if (code == CL_SUCCESS && status < 0) {
        call = "a command in the queue";
        code = status;
    }
    if (code == CL_SUCCESS)
        return true;
    o->api->Finish(o->queue); /* what comes next frees memory that the device may still read */
    return opencl_wait_failed(o, call, code, e);
}

static void watch_one(struct engine_opencl *o, struct opencl_watched *w)
{
    struct error e = {.status = WNNStatus_Success};
    cl_event event = w->event;
    bool ok = await(o, event, &e);

    w->done(&o->base, w, ok, &e);
    o->api->ReleaseEvent(event);
}

static void *watch_main(void *user)
{
    struct engine_opencl *o = user;

    pthread_mutex_lock(&o->watch.lock);
    for (;;) {
        while (!o->watch.first && !o->watch.stop)
            pthread_cond_wait(&o->watch.changed, &o->watch.lock);
        struct opencl_watched *w = o->watch.first;
        if (!w)
            break;
        o->watch.first = w->next;
        pthread_mutex_unlock(&o->watch.lock);
        watch_one(o, w);
        pthread_mutex_lock(&o->watch.lock);
        if (--o->watch.pending == 0)
            pthread_cond_broadcast(&o->watch.idle);
    }
    pthread_mutex_unlock(&o->watch.lock);
    return NULL;
}

void opencl_watch(struct engine_opencl *o, struct opencl_watched *w)
{
    w->next = NULL;
    pthread_mutex_lock(&o->watch.lock);
    if (!o->watch.started)
        o->watch.started = own_thread_start(&o->watch.thread, NULL, watch_main, o);
    const bool good = o->watch.started;
    if (good) {
        if (o->watch.first)
            o->watch.last->next = w;
        else
            o->watch.first = w;
        o->watch.last = w;
        o->watch.pending++;
        pthread_cond_signal(&o->watch.changed);
    }
    pthread_mutex_unlock(&o->watch.lock);
    if (!good)
        watch_one(o, w);
}

void opencl_watch_drain(struct engine_opencl *o)
{
    pthread_mutex_lock(&o->watch.lock);
    while (o->watch.pending)
        pthread_cond_wait(&o->watch.idle, &o->watch.lock);
    pthread_mutex_unlock(&o->watch.lock);
}

void opencl_watch_stop(struct engine_opencl *o)
{
    pthread_mutex_lock(&o->watch.lock);
    o->watch.stop = true;
    pthread_cond_signal(&o->watch.changed);
    bool started = o->watch.started;
    pthread_mutex_unlock(&o->watch.lock);
    if (started)
        pthread_join(o->watch.thread, NULL);
}
