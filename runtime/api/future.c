/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Implements futures: pending completions, when they are settled, and which thread calls back.
 *
 * Work that ends settles a future (future_settle), destroying an object cancels some (futures_cancel_...), and callers wait or
 * process events.  Every callback comes once, in the place that its mode allows.
 *
 *   PENDING --settle--> READY --claim--> RUNNING --callback returned--> DONE
 *
 * A spontaneous future is claimed by the thread that settles it; others by wnnContextWaitAny or wnnContextProcessEvents.  Until
 * a future is claimed its end is not observed: destroying its tensor or context still turns success into failure.
 */
#include "runtime/api/context.h"

#include <stdlib.h>

#include "runtime/host/own_thread.h"

/* ---- the table ---- */

struct future *future_create(WNNContext context, enum future_kind kind, WNNCallbackMode mode,
                             const struct future_target *target)
{
    struct future *f = calloc(1, sizeof *f);

    if (!f)
        return NULL;
    f->kind = kind;
    f->mode = mode;
    if (target)
        f->target = *target; /* before another thread sees f, and may end it */
    f->references = 2;       /* the table, the caller */
    atomic_init(&f->work.cancelled, false);
    pthread_mutex_lock(&context->lock);
    if (target && !table_reserve(&context->futures, NULL, context->futures.count + 1)) {
        pthread_mutex_unlock(&context->lock);
        free(f);
        return NULL;
    }
    if (target) {
        f->id = context->next_id++;
        table_put(&context->futures, table_next(&context->futures, f->id, NULL), f->id, f);
    }
    LIST_ADD(context->first_future, f, next, previous);
    pthread_mutex_unlock(&context->lock);
    return f;
}

static void future_call(struct future *f)
{
    WNNStringView message = {f->error.message, strlen(f->error.message)};
    void *result = f->result;

    f->result = NULL;
    switch (f->kind) {
    case FUTURE_GRAPH:
        if (f->target.graph)
            f->target.graph(f->error.status, result, message, f->target.userdata1, f->target.userdata2);
        else
            wnnGraphRelease(result);
        break;
    case FUTURE_TENSOR:
        if (f->target.tensor)
            f->target.tensor(f->error.status, result, message, f->target.userdata1, f->target.userdata2);
        else
            wnnTensorRelease(result);
        break;
    case FUTURE_READ:
        if (f->target.read)
            f->target.read(f->error.status, message, f->target.userdata1, f->target.userdata2);
        break;
    }
}

struct future *future_open(WNNContext context, enum future_kind kind, WNNCallbackMode mode, struct future_target target,
                           struct error *e)
{
    wnnContextAddRef(context);
    struct future *f = context ? future_create(context, kind, mode, &target) : NULL;
    if (f)
        return f;
    error_out_of_memory(e);
    struct future failed = {.kind = kind, .target = target, .error = *e};
    future_call(&failed);
    error_publish(e);
    return NULL;
}

/** Gives back a reference; the last one frees f.  This and the functions up to futures_cancel_reads need the lock. */
static void future_release(struct future *f)
{
    if (--f->references == 0)
        free(f);
}

static void future_leave_tensor(struct future *f)
{
    if (!f->tensor)
        return;
    LIST_REMOVE(f->tensor->reads, f, read_next, read_previous);
    f->tensor = NULL;
}

static void future_finish(WNNContext context, struct future *f)
{
    f->state = FUTURE_DONE;
    if (f->id != 0)
        table_remove(&context->futures, f->id, f);
    LIST_REMOVE(context->first_future, f, next, previous);
    pthread_cond_broadcast(&context->changed);
    future_release(f);
}

/* ---- results ---- */

static void result_release(enum future_kind kind, void *result)
{
    if (kind == FUTURE_TENSOR)
        wnnTensorRelease(result);
    else if (kind == FUTURE_GRAPH)
        wnnGraphRelease(result);
}

/* From here on the result keeps its context alive, as every handle of a user's does. */
static void result_hand_over(WNNContext context, struct future *f)
{
    if (!f->result)
        return;
    atomic_fetch_add_explicit(&context->references, 1, memory_order_relaxed);
    if (f->kind == FUTURE_TENSOR)
        ((WNNTensor)f->result)->holds_context = true;
    else
        ((WNNGraph)f->result)->holds_context = true;
}

static void future_drop_result(struct future *f, void *result, struct after *after)
{
    if (!result)
        return;
    f->references++;
    f->dropped = result;
    f->drop_next = after->drop;
    after->drop = f;
}

/* ---- settling ---- */

/* The calling thread will run f's callback; nothing can change its end any more. */
static void future_claim(WNNContext context, struct future *f)
{
    f->state = FUTURE_RUNNING;
    f->work.runner = pthread_self();
    future_leave_tensor(f);
    result_hand_over(context, f);
}

void future_settle(WNNContext context, struct future *f, const struct error *e, void *result, struct after *after)
{
    if (f->state != FUTURE_PENDING) {
        future_drop_result(f, result, after);
        return;
    }
    if (e)
        f->error = *e;
    f->result = result;
    f->state = FUTURE_READY;
    f->order = context->next_order++;
    if (f->mode == WNNCallbackMode_AllowSpontaneous && f->id != 0) {
        future_claim(context, f);
        if (after->last)
            after->last->after_next = f;
        else
            after->first = f;
        after->last = f;
    }
    pthread_cond_broadcast(&context->changed);
}

static void future_cancel(WNNContext context, struct future *f, const struct error *e, struct after *after)
{
    if (f->state == FUTURE_PENDING && f->work.copying) {
        /* Its thread stops at the next chunk and settles; reporting earlier would let it write into the caller's buffer after.
         */
        if (!atomic_load(&f->work.cancelled))
            f->error = *e;
        atomic_store(&f->work.cancelled, true);
    } else if (f->state == FUTURE_PENDING) {
        future_settle(context, f, e, NULL, after);
    } else if (f->state == FUTURE_READY && f->error.status == WNNStatus_Success) {
        f->error = *e;
        future_drop_result(f, f->result, after);
        f->result = NULL;
    }
}

void futures_cancel_all(WNNContext context, const struct error *e, struct after *after)
{
    for (struct future *f = context->first_future; f; f = f->next)
        future_cancel(context, f, e, after);
}

void futures_cancel_reads(WNNContext context, WNNTensor tensor, const struct error *e, struct after *after)
{
    for (struct future *f = tensor->reads, *next; f; f = next) {
        next = f->read_next; /* claiming f takes it off the list */
        future_cancel(context, f, e, after);
    }
}

/* ---- calling back ---- */

static void future_run(WNNContext context, struct future *f)
{
    future_call(f);
    pthread_mutex_lock(&context->lock);
    future_finish(context, f);
    pthread_mutex_unlock(&context->lock);
}

/** Calls the lost callback. */
static void context_report_lost(WNNContext context)
{
    WNNContextLostCallbackInfo *info = &context->lost_info;

    if (info->callback)
        info->callback(context, WNN_STR(context->lost_error.message), info->userdata1, info->userdata2);
}

void after_run(WNNContext context, struct after *after)
{
    if (!after->first && !after->drop && !after->lost)
        return;
    wnnContextAddRef(context); /* a callback may give back the last reference that its caller knows of */
    if (after->lost)
        context_report_lost(context);
    for (struct future *f = after->first, *next; f; f = next) {
        next = f->after_next;
        future_run(context, f);
    }
    for (struct future *f = after->drop, *next; f; f = next) {
        next = f->drop_next;
        result_release(f->kind, f->dropped);
        pthread_mutex_lock(&context->lock);
        future_release(f);
        pthread_mutex_unlock(&context->lock);
    }
    *after = (struct after){0};
    wnnContextRelease(context);
}

bool future_begin(WNNContext context, struct future *f)
{
    pthread_mutex_lock(&context->lock);
    bool wanted = f->state == FUTURE_PENDING;
    f->work.started = true;
    f->work.copying = wanted && f->kind == FUTURE_READ;
    pthread_mutex_unlock(&context->lock);
    return wanted;
}

void future_end(WNNContext context, struct future *f, const struct error *e, void *result)
{
    struct after after = {0};

    pthread_mutex_lock(&context->lock);
    future_settle(context, f, e, result, &after);
    pthread_mutex_unlock(&context->lock);
    after_run(context, &after);
}

void future_submit(WNNContext context, struct future *f, struct context_task *t)
{
    struct error e;

    error_clear(&e);
    pthread_mutex_lock(&context->lock);
    f->references++;
    pthread_mutex_unlock(&context->lock);
    if (!context_submit(context, t, &e))
        future_fail(context, f, &e);
}

void future_give_back(WNNContext context, struct future *f)
{
    pthread_mutex_lock(&context->lock);
    future_release(f);
    pthread_mutex_unlock(&context->lock);
}

WNNFuture future_close(WNNContext context, struct future *f)
{
    const WNNFuture result = {f ? f->id : 0};

    if (f)
        future_give_back(context, f);
    wnnContextRelease(context);
    return result;
}

void futures_abandon(WNNContext context)
{
    for (struct future *f; (f = context->first_future) != NULL;) {
        /* A result's own reference is all that is left of it: its context is going, so it cannot be handed out. */
        if (f->error.status == WNNStatus_Success)
            error_set(&f->error, WNNStatus_InvalidStateError, "the context was released before this was waited for");
        result_release(f->kind, f->result);
        f->result = NULL;
        future_leave_tensor(f);
        f->state = FUTURE_RUNNING;
        f->work.runner = pthread_self();
        future_run(context, f);
    }
    if (context->lost_undelivered && context->lost_info.callback)
        context->lost_info.callback(NULL, WNN_STR(context->lost_error.message), context->lost_info.userdata1,
                                    context->lost_info.userdata2);
}

/* ---- waiting ---- */

bool context_may_wait(WNNContext context, const char *call, struct error *e)
{
    return !timeline_is_computing(context->timeline) ||
           error_set(e, WNNStatus_InvalidStateError,
                     "%s: it is called during a dispatch of this context, by the parallel-for or by a callback that must not "
                     "wait, and would wait for itself",
                     call);
}

bool context_wait(WNNContext context, const struct timespec *deadline)
{
    if (!timeline_is_current(context->timeline)) {
        if (!deadline)
            return pthread_cond_wait(&context->changed, &context->lock) == 0;
        return pthread_cond_timedwait(&context->changed, &context->lock, deadline) == 0;
    }
    /* This thread is the one that would do the work: do it now. */
    pthread_mutex_unlock(&context->lock);
    bool ran = timeline_run_next(context->timeline);
    pthread_mutex_lock(&context->lock);
    const struct timespec now = steady_time_after(0), until = steady_time_after(1000000);
    if (deadline && (now.tv_sec > deadline->tv_sec || (now.tv_sec == deadline->tv_sec && now.tv_nsec >= deadline->tv_nsec)))
        return false;
    if (ran)
        return true;
    /* Another thread is calling back, or about to submit: look again soon. */
    pthread_cond_timedwait(&context->changed, &context->lock, &until);
    return true;
}

WNNStatus future_take(WNNContext context, struct future *f, void **result, struct error *e)
{
    pthread_mutex_lock(&context->lock);
    while (f->state == FUTURE_PENDING)
        context_wait(context, NULL);
    future_claim(context, f);
    *e = f->error;
    if (result)
        *result = f->result;
    f->result = NULL;
    f->references--; /* the caller's; the table's goes with the end */
    future_finish(context, f);
    pthread_mutex_unlock(&context->lock);
    return e->status;
}

/* ---- public functions ---- */

/* Says what one look at the futures of a wnnContextWaitAny found. */
struct wait_look {
    bool completed; /* one has completed and its callback has run */
    bool hopeless;  /* all others are work that this very thread is in the middle of */
};

/* Runs the callbacks of those that are ready.  The lock is held, and released meanwhile. */
static struct wait_look wait_look(WNNContext context, size_t count, WNNFuture const *futures)
{
    struct wait_look look = {false, timeline_is_current(context->timeline)};

    for (size_t i = 0; i < count; i++) {
        struct future *f = (struct future *)table_next(&context->futures, futures[i].id, NULL)->item;

        if (!f) {
            look.completed = true;
        } else if (f->state == FUTURE_READY) {
            future_claim(context, f);
            pthread_mutex_unlock(&context->lock);
            future_run(context, f);
            pthread_mutex_lock(&context->lock);
            look.completed = true;
        } else if (f->state == FUTURE_RUNNING && pthread_equal(f->work.runner, pthread_self())) {
            look.completed = true; /* called from its own callback */
        } else if (f->state == FUTURE_RUNNING || !f->work.started) {
            look.hopeless = false;
        }
    }
    return look;
}

WNNStatus wnnContextWaitAny(WNNContext context, size_t futureCount, WNNFuture const *futures, uint64_t timeoutNS)
{
    struct error e;
    struct timespec deadline;
    bool limited = timeoutNS != UINT64_MAX, expired = timeoutNS == 0;
    WNNStatus status = WNNStatus_Success;

    error_clear(&e);
    if (!context || futureCount == 0 || !futures)
        return error_fail(&e, WNNStatus_TypeError, "waitAny: %s", context ? "no futures to wait for" : "context is NULL");
    if (futureCount > SLOT_COUNT_MAX)
        return error_fail(&e, WNNStatus_TypeError, "waitAny: %zu futures, more than %d", futureCount, SLOT_COUNT_MAX);
    wnnContextAddRef(context);
    if (limited)
        deadline = steady_time_after(timeoutNS < (uint64_t)INT64_MAX ? timeoutNS : (uint64_t)INT64_MAX);
    pthread_mutex_lock(&context->lock);
    for (size_t i = 0; i < futureCount; i++)
        if (futures[i].id == 0 || futures[i].id >= context->next_id)
            error_set(&e, WNNStatus_TypeError, "waitAny: futures[%zu] with id %llu is not of this context", i,
                      (unsigned long long)futures[i].id);
    while (e.status == WNNStatus_Success) {
        struct wait_look look = wait_look(context, futureCount, futures);

        if (look.completed)
            break;
        if (expired || look.hopeless) {
            status = WNNStatus_TimedOut;
            break;
        }
        if (!context_may_wait(context, "waitAny", &e))
            break;
        if (!context_wait(context, limited ? &deadline : NULL))
            expired = true; /* one more look */
    }
    pthread_mutex_unlock(&context->lock);
    wnnContextRelease(context);
    return e.status != WNNStatus_Success ? error_publish(&e) : status;
}

void wnnContextProcessEvents(WNNContext context)
{
    if (!context)
        return;
    wnnContextAddRef(context);
    pthread_mutex_lock(&context->lock);
    uint64_t limit = context->next_order; /* what callbacks complete is for the next call */
    if (context->lost_undelivered) {
        context->lost_undelivered = false;
        pthread_mutex_unlock(&context->lock);
        context_report_lost(context);
        pthread_mutex_lock(&context->lock);
    }
    for (;;) {
        struct future *oldest = NULL;

        for (struct future *f = context->first_future; f; f = f->next)
            if (f->state == FUTURE_READY && f->mode != WNNCallbackMode_WaitAnyOnly && f->id != 0 && f->order < limit &&
                (!oldest || f->order < oldest->order))
                oldest = f;
        if (!oldest)
            break;
        future_claim(context, oldest);
        pthread_mutex_unlock(&context->lock);
        future_run(context, oldest);
        pthread_mutex_lock(&context->lock);
    }
    pthread_mutex_unlock(&context->lock);
    wnnContextRelease(context);
}
