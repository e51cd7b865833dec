/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The objects behind WNNContext, WNNTensor, WNNGraph and WNNFuture, and what the runtime's files share about them.
 *
 * In: the public calls.  Out: work on the context's timeline (runtime/timeline.h) and on its engine (runtime/engine.h).
 *
 * Ownership
 * - Tensors, graphs, builders and queued tasks hold a reference on their context.  When the last one goes, nothing is queued
 * and nobody can wait any more: futures that were never observed end then, with InvalidStateError.
 * - A tensor or graph that a future carries to its callback takes its reference on the context when it is handed over, so that
 *   results that nobody fetched do not keep their context alive.
 * - Work uses the memory of a tensor and the code of a graph under a pin.  destroy() marks; the memory goes with the last
 *   pin, which is "behind the work already submitted".  So destroy never waits.
 *
 * Locking
 * - WNNContextImpl.lock guards everything below that is not atomic or constant after creation.  It is held for moments only:
 *   never while computing, copying, compiling or calling back.
 * - Callbacks run without any lock.  Code that settles futures under the lock collects what is to be called in a struct after,
 *   and hands it to after_run when the lock is free again.
 */
#ifndef WEBNN_RUNTIME_CONTEXT_H_
#define WEBNN_RUNTIME_CONTEXT_H_

#include <pthread.h>
#include <stdatomic.h>

#include "ir/debug.h"
#include "ir/ir.h"
#include "runtime/engine.h"
#include "runtime/image.h"
#include "runtime/timeline.h"

/* ---- futures ---- */

enum future_kind { FUTURE_GRAPH, FUTURE_TENSOR, FUTURE_READ };

enum future_state {
    FUTURE_PENDING, /* its work is not done */
    FUTURE_READY,   /* settled, not observed */
    FUTURE_RUNNING, /* observed: its callback runs */
    FUTURE_DONE     /* and has returned; no longer in the context's table */
};

struct future {
    uint64_t id; /* 0: of a synchronous call, which holds the future itself */
    enum future_kind kind;
    enum future_state state;
    uint32_t references; /* the table's, the task's, the synchronous call's */
    WNNCallbackMode mode;
    union {
        WNNBuildCallback graph;
        WNNCreateTensorCallback tensor;
        WNNReadTensorCallback read;
    } callback; /* NULL: nobody to call */
    void *userdata1, *userdata2;
    struct error error;
    void *result;                             /* WNNGraph or WNNTensor, a reference */
    WNNTensor tensor;                         /* READ: not a reference; NULL once observed or the tensor has gone */
    struct future *read_next, *read_previous; /* the tensor's list */
    bool started;                             /* its work runs: whoever waits for it inside that work waits for itself */
    bool copying;                             /* the caller's buffer is being written: only the copying thread may settle */
    atomic_bool cancelled;                    /* and shall stop; error says why */
    pthread_t runner;                         /* RUNNING: the thread inside the callback */
    uint64_t order;                           /* of settling */
    struct future *next, *previous;           /* all futures of the context that are not DONE */
    struct future *bucket_next;               /* in the table of ids */
    struct future *after_next;
    void *dropped; /* a result that came too late or was not observed in time */
    struct future *drop_next;
};

/** What is to be done once the context's lock is free. */
struct after {
    struct future *first, *last; /* callbacks to run, claimed by this thread */
    struct future *drop;         /* futures whose result nobody will get; a reference each */
    bool lost;                   /* call the lost callback */
};

enum { FUTURE_BUCKETS = 64 };

/* ---- context ---- */

struct WNNContextImpl {
    atomic_uint references;
    WNNPowerPreference power_preference;
    bool accelerated;
    struct debug_options debug;
    struct engine *engine;
    struct timeline *timeline;
    WNNContextLostCallbackInfo lost_info;
    atomic_bool lost;        /* written under the lock */
    struct error lost_error; /* why; does not change any more once lost is set */

    pthread_mutex_t lock;
    pthread_cond_t changed; /* a future was settled or has run, or a waiting caller's task is done */
    bool lost_undelivered;  /* lost, and the callback waits for wnnContextProcessEvents */
    uint64_t next_id, next_order, next_mark;
    struct future *first_future;
    struct future *buckets[FUTURE_BUCKETS];
    struct WNNTensorImpl *first_tensor;
    struct WNNGraphImpl *first_graph;
};

static inline void error_clear(struct error *e)
{
    e->status = WNNStatus_Success;
    e->message[0] = '\0';
}

/** A task of a context: runs with the context kept alive. */
struct context_task {
    struct task task;
    WNNContext context; /* a reference */
    /** No lock held.  The context may be lost: skip the work then. */
    void (*run)(struct context_task *t);
    /** Frees what t holds (not t). */
    void (*release)(struct context_task *t);
};

/** Submits t (from malloc), which belongs to the timeline from then on.  False (e): t was released and freed. */
bool context_submit(WNNContext context, struct context_task *t, struct error *e);

/** Loses the context (the specification's "lose"), unless it is lost. */
void context_lose(WNNContext context, const char *message);

/**
 * Waits for something to change; the lock is held before and after.  On the timeline's own thread that means running the next
 * task.  False: `deadline` (NULL: never) has passed.  To be called in a loop around the condition.
 */
bool context_wait(WNNContext context, const struct timespec *deadline);

/* ---- future.c ---- */

/** A future in the context's table, one reference for the caller.  NULL: out of memory. */
struct future *future_create(WNNContext context, enum future_kind kind, WNNCallbackMode mode, bool synchronous);
/** All of the following need the lock. */
void future_release(struct future *f);
/** Ends f with *e (NULL: success) and takes over result; the first end counts. */
void future_settle(WNNContext context, struct future *f, const struct error *e, void *result, struct after *after);
/** Ends everything pending, turns what was not observed yet into failures. */
void futures_cancel_all(WNNContext context, const struct error *e, struct after *after);
/** The same for the reads of one tensor. */
void futures_cancel_reads(WNNContext context, WNNTensor tensor, const struct error *e, struct after *after);
/** Waits until f is settled and takes its end for a synchronous call; gives back the reference. */
WNNStatus future_take(WNNContext context, struct future *f, void **result, struct error *e);

/* Without the lock: */
/** The work for f begins.  False: f has ended already, so that nobody wants it. */
bool future_begin(WNNContext context, struct future *f);
/** future_settle, and what comes after it. */
void future_end(WNNContext context, struct future *f, const struct error *e, void *result);
void future_fail(WNNContext context, struct future *f, const struct error *e);
/** Submits t, which ends f and gets a reference on it for that (its release gives it back); else f fails. */
void future_submit(WNNContext context, struct future *f, struct context_task *t);
/** Gives back a reference. */
void future_give_back(WNNContext context, struct future *f);

/** Calls back and frees what `after` collected.  No lock held; the context may go with the last callback. */
void after_run(WNNContext context, struct after *after);
/** The last reference has gone: ends what was never observed. */
void futures_abandon(WNNContext context);
/** Calls the lost callback. */
void context_report_lost(WNNContext context);

/* ---- tensors ---- */

struct WNNTensorImpl {
    atomic_uint references;
    WNNContext context;
    bool holds_context;
    struct tensor_type type;
    size_t bytes;
    bool readable, writable, constant;
    bool destroyed;
    uint32_t pins;
    struct engine_buffer *buffer; /* NULL: constant, or freed */
    struct constant *data;        /* constant tensors */
    struct future *reads;
    uint64_t mark; /* for finding duplicates */
    struct WNNTensorImpl *next, *previous;
};

/** With the lock held: the "destroy" steps.  What must be freed outside the lock comes back through the arguments. */
void tensor_destroy_locked(WNNTensor t, const struct error *e, struct after *after, struct engine_buffer **buffer,
                           struct constant **data);
/** Takes a pin and a reference (lock held). */
void tensor_pin(WNNTensor t);
/** Gives both back (no lock held). */
void tensor_unpin(WNNTensor t);

/* ---- graphs ---- */

struct WNNGraphImpl {
    atomic_uint references;
    WNNContext context;
    bool holds_context;
    bool destroyed;
    uint32_t pins;
    struct executable *executable; /* NULL: freed */
    uint32_t input_slots;          /* bindings that the executable takes; inputs that nothing reads have none above */
    uint32_t input_count, output_count;
    struct image_binding *inputs, *outputs; /* as the user sees them; slot: of the executable */
    struct arena arena;
    struct WNNGraphImpl *next, *previous;
};

/** Describes g's inputs (those that outputs need) and outputs.  NULL: e. */
WNNGraph graph_create_object(WNNContext context, struct graph *g, struct error *e);
/** The same from descriptions, which are copied. */
WNNGraph graph_create_described(WNNContext context, uint32_t input_slots, uint32_t input_count,
                                const struct image_binding *inputs, uint32_t output_count, const struct image_binding *outputs,
                                struct error *e);
/** Makes a finished graph known to its context.  False: the context was lost meanwhile. */
bool graph_publish(WNNGraph graph);
/** With the lock held: marks; the executable comes back if it is to be unloaded now. */
struct executable *graph_destroy_locked(WNNGraph graph);
void graph_pin(WNNGraph graph);
void graph_unpin(WNNGraph graph);
/** Which of `count` bindings has that name; `hint` is tried first.  count: none. */
uint32_t graph_find_binding(const struct image_binding *bindings, uint32_t count, WNNStringView name, uint32_t hint);

/* ---- small things ---- */

static inline size_t view_length(WNNStringView v)
{
    return v.length == WNN_STRLEN ? (v.data ? __builtin_strlen(v.data) : 0) : v.length;
}

/** A tensor type from a descriptor's members; false: e, with `what` naming it.  Includes the specification's "check
 * dimensions". */
bool type_from_descriptor(WNNOperandDataType data_type, size_t rank, uint32_t const *shape, const char *what,
                          struct tensor_type *type, struct error *e);

#endif
