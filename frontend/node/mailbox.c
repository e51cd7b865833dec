/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "frontend/node/mailbox.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct mailbox {
    struct environment *environment; /* used on its thread only */
    napi_threadsafe_function wake;
    uint32_t waiting; /* promises; on the environment's thread */

    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint32_t under_way; /* reports that are still to come */
    bool woken;         /* the environment's thread will look */
    bool closed;
    struct pending *first, **last;
};

static void pending_free(struct pending *p)
{
    for (int i = 0; i < KEPT_MAX; i++)
        if (p->kept[i])
            napi_delete_reference(p->mailbox->environment->env, p->kept[i]);
    free(p->bytes);
    free(p->message);
    free(p);
}

/* ---- settling ---- */

/** Takes away and returns the exception that is pending, or undefined if there is none. */
static napi_value take_exception(napi_env env)
{
    napi_value error = NULL;
    bool is_pending = false;

    napi_is_exception_pending(env, &is_pending);
    if (is_pending)
        napi_get_and_clear_last_exception(env, &error);
    else
        napi_get_undefined(env, &error);
    return error;
}

static void reject(struct environment *e, napi_deferred deferred, napi_value error)
{
    if (!error)
        error = take_exception(e->env);
    napi_reject_deferred(e->env, deferred, error);
}

static void pending_settle(struct environment *e, struct pending *p)
{
    napi_handle_scope scope;

    if (napi_open_handle_scope(e->env, &scope) != napi_ok)
        return;
    if (!p->deferred) {
        p->settle(e, p);
        take_exception(e->env); /* no promise can be rejected with it */
    } else if (p->status != WNNStatus_Success) {
        WNNStringView message = {p->message, p->message ? strlen(p->message) : 0};

        reject(e, p->deferred, error_create(e, p->status, message));
    } else {
        napi_value value = p->settle(e, p);

        if (value)
            napi_resolve_deferred(e->env, p->deferred, value);
        else
            reject(e, p->deferred, NULL);
    }
    napi_close_handle_scope(e->env, scope);
}

/** The mailbox's promise is settled: after the last one Node.js may end. */
static void stop_waiting(struct mailbox *m)
{
    if (--m->waiting == 0)
        napi_unref_threadsafe_function(m->environment->env, m->wake);
}

/** Runs on the environment's thread, after a report. */
static void look(napi_env env, napi_value callback, void *context, void *data)
{
    struct mailbox *m = context;
    struct pending *list, *next;

    (void)callback;
    (void)data;
    if (!env)
        return;
    pthread_mutex_lock(&m->lock);
    list = m->first;
    m->first = NULL;
    m->last = &m->first;
    m->woken = false;
    pthread_mutex_unlock(&m->lock);
    for (struct pending *p = list; p; p = next) {
        bool is_promise = p->deferred;

        next = p->next;
        pending_settle(m->environment, p);
        pending_free(p);
        if (is_promise)
            stop_waiting(m);
    }
}

/* ---- life ---- */

/** Runs once the thread-safe function is gone, after mailbox_close. */
static void mailbox_free(napi_env env, void *data, void *hint)
{
    struct mailbox *m = data;

    (void)env;
    (void)hint;
    pthread_cond_destroy(&m->changed);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

bool mailbox_open(struct environment *e)
{
    struct mailbox *m = calloc(1, sizeof(*m));
    napi_value name;

    if (!m) {
        napi_throw_error(e->env, NULL, "out of memory");
        return false;
    }
    m->environment = e;
    m->last = &m->first;
    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->changed, NULL);
    if (!succeeded(e->env, napi_create_string_utf8(e->env, "WebNN", NAPI_AUTO_LENGTH, &name)) ||
        !succeeded(e->env,
                   napi_create_threadsafe_function(e->env, NULL, NULL, name, 0, 1, m, mailbox_free, m, look, &m->wake))) {
        mailbox_free(e->env, m, NULL);
        return false;
    }
    e->mailbox = m;
    return succeeded(e->env, napi_unref_threadsafe_function(e->env, m->wake));
}

/** Throws away what has been reported; the lock is held but for what dropping does, which may report again. */
static void drop_reports(struct mailbox *m)
{
    struct pending *p;

    while ((p = m->first)) {
        m->first = p->next;
        if (!m->first)
            m->last = &m->first;
        pthread_mutex_unlock(&m->lock);
        if (p->result && p->drop)
            p->drop(p->result);
        pending_free(p);
        pthread_mutex_lock(&m->lock);
    }
}

void mailbox_close(struct environment *e)
{
    struct mailbox *m = e->mailbox;

    pthread_mutex_lock(&m->lock);
    m->closed = true;
    for (;;) {
        /* Results keep their contexts, whose ends are waited for, too. */
        drop_reports(m);
        if (!m->under_way)
            break;
        pthread_cond_wait(&m->changed, &m->lock);
    }
    pthread_mutex_unlock(&m->lock);
}

void mailbox_begin(struct mailbox *m)
{
    pthread_mutex_lock(&m->lock);
    m->under_way++;
    pthread_mutex_unlock(&m->lock);
}

void mailbox_end(struct mailbox *m)
{
    pthread_mutex_lock(&m->lock);
    m->under_way--;
    pthread_cond_broadcast(&m->changed);
    pthread_mutex_unlock(&m->lock);
}

/* ---- work under way ---- */

struct pending *pending_create(struct call *c, settle_function settle, void (*drop)(void *), napi_value *promise)
{
    struct mailbox *m = c->environment->mailbox;
    struct pending *p = calloc(1, sizeof(*p));

    if (!p)
        return throw_memory(c);
    p->mailbox = m;
    p->settle = settle;
    p->drop = drop;
    if (!succeeded(c->env, napi_create_promise(c->env, &p->deferred, promise))) {
        free(p);
        return NULL;
    }
    if (m->waiting++ == 0)
        napi_ref_threadsafe_function(c->env, m->wake);
    mailbox_begin(m);
    return p;
}

void pending_reject(struct environment *e, struct pending *p)
{
    reject(e, p->deferred, NULL);
    mailbox_end(p->mailbox);
    stop_waiting(p->mailbox);
    pending_free(p);
}

/** Describes work that a thread of Node's pool does. */
struct pool_work {
    napi_async_work work;
    void (*run)(void *user);
    void *user;
};

static void pool_run(napi_env env, void *data)
{
    struct pool_work *w = data;

    (void)env;
    w->run(w->user);
}

static void pool_end(napi_env env, napi_status status, void *data)
{
    struct pool_work *w = data;

    (void)status;
    napi_delete_async_work(env, w->work);
    free(w->user);
    free(w);
}

bool run_in_pool(struct call *c, const char *name, void (*run)(void *user), void *user)
{
    struct pool_work *w = calloc(1, sizeof(*w));
    napi_value text;

    if (!w)
        return throw_status(c, WNNStatus_UnknownError, WNN_STR("out of memory"));
    w->run = run;
    w->user = user;
    if (!succeeded(c->env, napi_create_string_utf8(c->env, name, NAPI_AUTO_LENGTH, &text)) ||
        !succeeded(c->env, napi_create_async_work(c->env, NULL, text, pool_run, pool_end, w, &w->work))) {
        free(w);
        return false;
    }
    if (succeeded(c->env, napi_queue_async_work(c->env, w->work)))
        return true;
    napi_delete_async_work(c->env, w->work);
    free(w);
    return false;
}

struct pending *notice_create(struct environment *e, settle_function settle, uint64_t number)
{
    struct pending *p = calloc(1, sizeof(*p));

    if (p) {
        p->mailbox = e->mailbox;
        p->settle = settle;
        p->number = number;
    }
    return p;
}

void pending_report(struct pending *p, WNNStatus status, WNNStringView message, void *result)
{
    struct mailbox *m = p->mailbox;
    size_t length = message.length == WNN_STRLEN ? strlen(message.data) : message.length;

    p->status = status;
    p->result = result;
    p->message = message.data ? strndup(message.data, length) : NULL;
    p->next = NULL;
    pthread_mutex_lock(&m->lock);
    *m->last = p;
    m->last = &p->next;
    if (!m->woken && !m->closed)
        m->woken = napi_call_threadsafe_function(m->wake, NULL, napi_tsfn_nonblocking) == napi_ok;
    if (p->deferred)
        m->under_way--;
    pthread_cond_broadcast(&m->changed);
    pthread_mutex_unlock(&m->lock);
}
