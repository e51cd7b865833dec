/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Tracks asynchronous work and settles its promises on the environment's thread.
 *
 * The library reports the end of asynchronous calls on any thread.  What it reports goes into the mailbox, whose thread-safe
 * function wakes the environment's thread, which settles the promises.  The thread-safe function keeps Node.js alive only while
 * a promise waits.
 */
#pragma once

#include "frontend/node/addon.h"

struct pending;

/** Makes the value that the promise is resolved with, or returns NULL with an exception, which it is rejected with. */
typedef napi_value (*settle_function)(struct environment *e, struct pending *p);

/** Names the values that a read, or a context that is created, keeps until its end. */
enum { KEPT_BUFFER, KEPT_TENSOR, KEPT_CONTEXT, KEPT_LOG, KEPT_COMPUTED, KEPT_MAX };

/** Holds one pending promise, or one notice. */
struct pending {
    struct pending *next;
    struct mailbox *mailbox;
    napi_deferred deferred;     /* NULL in a notice without a promise */
    settle_function settle;     /* called after success; in notices, whatever the status is */
    void (*drop)(void *result); /* destroys a result that cannot be delivered */
    WNNStatus status;
    char *message;
    void *result;
    napi_ref kept[KEPT_MAX]; /* values needed to settle the promise; NULL if absent */
    void *bytes;             /* memory to read into, freed at the end */
    size_t byte_length;
    uint64_t number; /* of a context, or what else settle needs */
};

/** Opens the mailbox of an environment.  Returns false with an exception if that fails. */
bool mailbox_open(struct environment *e);
/**
 * Closes the mailbox at the end of the environment: waits until nothing is in progress, and throws away what has been reported
 * since.
 */
void mailbox_close(struct environment *e);

/** Makes a promise and what it waits for.  Returns NULL with an exception if that fails. */
struct pending *pending_create(struct call *c, settle_function settle, void (*drop)(void *), napi_value *promise);
/** Gives up before anything was begun: rejects the promise with the exception that is pending. */
void pending_reject(struct environment *e, struct pending *p);
/**
 * Calls run(user), which reports to a pending, on a thread of Node's pool.  user is freed on the environment's thread
 * afterwards; if this fails, with an exception, it is the caller's.
 */
bool run_in_pool(struct call *c, const char *name, void (*run)(void *user), void *user);
/** Reports, from any thread, that the work has ended.  It takes over result and copies message. */
void pending_report(struct pending *p, WNNStatus status, WNNStringView message, void *result);

/**
 * Makes a notice in advance: something that may be reported once without a promise, and does not keep Node.js alive.  Returns
 * NULL if memory runs out.
 */
struct pending *notice_create(struct environment *e, settle_function settle, uint64_t number);
/** Counts work that mailbox_close has to wait for.  Called on the environment's thread. */
void mailbox_begin(struct mailbox *m);
/** Reports, from any thread, that such work has ended.  m may be gone afterwards. */
void mailbox_end(struct mailbox *m);
