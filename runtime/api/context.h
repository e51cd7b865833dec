/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * This header declares the objects of WNNContext, WNNTensor, WNNGraph and WNNFuture, and internal functions for them.
 *
 * The public calls become work on the context's timeline (runtime/api/timeline.h) and on its engine (runtime/engine/engine.h).
 *
 * Ownership
 * - Tensors, graphs, builders and queued tasks hold a reference on their context.  When the last one is dropped, nothing is
 *   queued and no thread can wait any more: futures that were never observed end then, with InvalidStateError.
 * - A tensor or graph that a future carries to its callback takes its reference on the context when it is handed over, so that
 *   results that were not fetched do not keep their context alive.
 * - Work uses the memory of a tensor and the code of a graph under a pin.  destroy() marks; the memory goes with the last
 *   pin, which is after the work already submitted.  So destroy never waits.
 *
 * Locking
 * - WNNContextImpl.lock guards everything below that is not atomic or constant after creation.  It is held briefly: never while
 *   computing, copying, compiling or calling back.
 * - Callbacks run without any lock.  Code that settles futures under the lock collects the callbacks in a struct after,
 *   and passes it to after_run after the lock is released.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "ir/support/debug.h"
#include "ir/support/list.h"
#include "ir/support/table.h"
#include "ir/graph/ir.h"
#include "ir/support/suggest.h"
#include "ir/support/text.h"
#include "runtime/engine/engine.h"
#include "runtime/program/serialized.h"
#include "runtime/api/timeline.h"

/* ---- futures ---- */

enum future_kind { FUTURE_GRAPH, FUTURE_TENSOR, FUTURE_READ };

enum future_state {
    FUTURE_PENDING, /* its work is not done */
    FUTURE_READY,   /* settled, not observed */
    FUTURE_RUNNING, /* observed: its callback runs */
    FUTURE_DONE     /* it has returned; the future has left the context's table */
};

/** Describes how far the work for a future is. */
struct future_work {
    bool started;          /* it runs: waiting for the future inside that work would deadlock */
    bool copying;          /* the caller's buffer is being written: only the copying thread may settle the future */
    atomic_bool cancelled; /* it should stop; the future's error has the reason */
    pthread_t runner;      /* FUTURE_RUNNING: the thread inside the callback */
};

/** Says whom a future calls back; the member is NULL if there is no callback. */
struct future_target {
    union {
        WNNBuildCallback graph;
        WNNCreateTensorCallback tensor;
        WNNReadTensorCallback read;
    };
    void *userdata1, *userdata2;
};

struct future {
    uint64_t id; /* 0 for a synchronous call, which holds the future itself */
    enum future_kind kind;
    enum future_state state;
    uint32_t references; /* the table's, the task's, the synchronous call's */
    WNNCallbackMode mode;
    struct future_target target;
    struct error error;
    void *result;                             /* WNNGraph or WNNTensor, a reference */
    WNNTensor tensor;                         /* READ: holds no reference; NULL once it was observed or the tensor has gone */
    struct future *read_next, *read_previous; /* the tensor's list */
    struct future_work work;
    uint64_t order;                 /* of settling */
    struct future *next, *previous; /* all futures of the context that are not DONE */
    struct future *after_next;
    void *dropped; /* a result that came too late or was not observed in time */
    struct future *drop_next;
};

/** Collects the work to do once the context's lock is free. */
struct after {
    struct future *first, *last; /* callbacks to run, claimed by this thread */
    struct future *drop;         /* futures whose result is dropped; a reference each */
    bool lost;                   /* call the lost callback */
};

/* ---- context ---- */

struct WNNContextImpl {
    atomic_uint references;
    WNNPowerPreference power_preference;
    WNNBudget budget; /* of every graph builder */
    bool knows_draft; /* data types of the draft (webnn_draft.h) may be named */
    struct debug_options debug;
    struct engine *engine;
    struct webnn_object_parallel parallel; /* the engine's, if it has one */
    struct timeline *timeline;
    WNNContextLostCallbackInfo lost_info;
    WNNComputedCallbackInfo computed;
    WNNLogCallbackInfo log;
    atomic_flag told;        /* whether the precision has an effect was checked */
    atomic_bool lost;        /* written under the lock */
    struct error lost_error; /* why; does not change once lost is set */

    pthread_mutex_t lock;
    pthread_cond_t changed; /* a future was settled or has run, or a waiting caller's task is done */
    bool lost_undelivered;  /* lost, and the callback waits for wnnContextProcessEvents */
    uint64_t next_id, next_order, next_mark;
    struct future *first_future;
    struct table futures; /* by id */
    struct WNNTensorImpl *first_tensor;
    struct WNNGraphImpl *first_graph;
};

struct WNNCancellationImpl {
    atomic_uint references;
    atomic_bool cancelled;
};

/** Makes an engine with that many threads.  debug must outlive it.  Returns NULL after an error in *e. */
typedef struct engine *(*engine_create_function)(uint32_t thread_count, const struct debug_options *debug, struct error *e);

/**
 * Does what wnnCreateContext does, over the engine that `create` makes, or that the options choose if it is NULL
 * (runtime/api/engine_choice.h).
 */
WNNStatus context_create(WNNContextOptions const *options, engine_create_function create, WNNContext *context);

/** Clears e to success. */
static inline void error_clear(struct error *e)
{
    e->status = WNNStatus_Success;
    e->message[0] = '\0';
}

/** A context's task, which keeps the context alive while it runs. */
struct context_task {
    struct task task;
    WNNContext context; /* a reference */
    /** Does the work, with no lock held.  The context may be lost; then it skips the work. */
    void (*run)(struct context_task *t);
    /** Frees what t holds (not t). */
    void (*release)(struct context_task *t);
    /** Runs on the timeline once the work of a task that context_suspend was called for has ended. */
    void (*finish)(struct context_task *t);
    bool suspended;
};

/**
 * Called inside t->run: the work continues elsewhere and ends with timeline_resume.  Then t->finish runs, and after it
 * t->release.
 */
void context_suspend(struct context_task *t);

/**
 * Submits t (from malloc), which belongs to the timeline from then on.  Returns false after an error in *e; then t was released
 * and freed.
 */
bool context_submit(WNNContext context, struct context_task *t, struct error *e);

/**
 * Calls run(user) in its turn on the timeline, and returns once it has run.  `overlaps` is struct task's.  Returns false after
 * an error in *e.
 */
bool context_run_in_turn(WNNContext context, bool overlaps, void (*run)(void *user), void *user, struct error *e);

/** Loses the context (the specification's "lose"), unless it is lost already. */
void context_lose(WNNContext context, const char *message);
/** Loses the context if its engine's device is lost.  It is called, without locks, after the engine has failed. */
void context_check_engine(WNNContext context);

/**
 * Waits for something to change, in a loop around the condition.  The lock is held when this is called and when it returns.  On
 * the timeline's own thread, waiting means running the next task.  Returns false once `deadline` has passed; if that is NULL,
 * it never does.
 */
bool context_wait(WNNContext context, const struct timespec *deadline);
/** Refuses to wait on a thread that is inside a dispatch of the context, which would deadlock: false after an error. */
bool context_may_wait(WNNContext context, const char *call, struct error *e);

/* ---- future.c ---- */

/** Creates a future with one reference for the caller, in the context's table unless it is a synchronous call's, which has no
 * target.  Returns NULL if memory runs out. */
struct future *future_create(WNNContext context, enum future_kind kind, WNNCallbackMode mode,
                             const struct future_target *target);
/**
 * Creates the future of an asynchronous call.  Without one there is nothing to wait for: then the callback runs at once with
 * *e, which is set unless it has an error already, and NULL is returned.  context may be NULL if *e says so.  Until
 * future_close it keeps the context alive: a callback on another thread may give back the last reference before.
 */
struct future *future_open(WNNContext context, enum future_kind kind, WNNCallbackMode mode, struct future_target target,
                           struct error *e);
/** Ends f with *e (NULL means success) and takes over result.  Only the first end of a future counts. */
void future_settle(WNNContext context, struct future *f, const struct error *e, void *result, struct after *after);
/** Ends all pending futures with *e, and fails unobserved ones. */
void futures_cancel_all(WNNContext context, const struct error *e, struct after *after);
/** Does the same for the reads of one tensor. */
void futures_cancel_reads(WNNContext context, WNNTensor tensor, const struct error *e, struct after *after);
/**
 * Waits, without the lock, until f is settled, and takes its end for a synchronous call: *e and, unless result is NULL, *result
 * receive it.  Drops the caller's reference and returns the status.
 */
WNNStatus future_take(WNNContext context, struct future *f, void **result, struct error *e);

/* The following functions are called without the lock. */
/** Begins the work for f.  Returns false if f has ended already. */
bool future_begin(WNNContext context, struct future *f);
/** Settles f as future_settle does, and runs the callbacks that this calls for. */
void future_end(WNNContext context, struct future *f, const struct error *e, void *result);
/** Ends f with the error *e. */
static inline void future_fail(WNNContext context, struct future *f, const struct error *e)
{
    future_end(context, f, e, NULL);
}
/**
 * Submits t, which ends f and gets a reference on it for that (its release drops it).  If it cannot be
 * submitted, f fails.
 */
void future_submit(WNNContext context, struct future *f, struct context_task *t);
/** Drops the reference of an asynchronous call that is over; f may be NULL.  Returns what the call returns. */
WNNFuture future_close(WNNContext context, struct future *f);
/** Drops a reference. */
void future_give_back(WNNContext context, struct future *f);

/** Calls back, and frees what `after` collected.  No lock is held; the context may go with the last callback. */
void after_run(WNNContext context, struct after *after);
/** Ends unobserved futures after the last reference on the context was dropped. */
void futures_abandon(WNNContext context);

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

/** Checks a descriptor and makes the tensor without its memory.  Returns NULL after an error in *e. */
WNNTensor tensor_prepare(WNNContext context, WNNTensorDescriptor const *d, struct error *e);
/** Allocates a prepared tensor's memory, unless it has it, and returns it to the caller; with t NULL, e has the reason. */
WNNStatus tensor_complete(WNNTensor t, WNNTensor *tensor, struct error *e);
/** Clears *e and *tensor.  Returns false after an error in *e: the pointer for the result is NULL. */
bool tensor_check_result(WNNTensor *tensor, const char *call, struct error *e);
/** Takes the "destroy" steps, with the lock held.  What must be freed outside the lock comes back through the arguments. */
void tensor_destroy_locked(WNNTensor t, const struct error *e, struct after *after, struct engine_buffer **buffer,
                           struct constant **data);
/** Takes a pin and a reference, with the lock held. */
void tensor_pin(WNNTensor t);
/** Drops both, with no lock held, and frees the memory of a destroyed tensor with its last pin. */
void tensor_unpin(WNNTensor t);

/* ---- graphs ---- */

struct WNNGraphImpl {
    atomic_uint references;
    WNNContext context;
    bool holds_context;
    bool destroyed;
    uint32_t pins;
    struct executable *executable; /* NULL: freed */
    uint32_t input_slots;          /* bindings that the executable takes; inputs that nothing reads have no slot */
    uint32_t input_count, output_count;
    struct graph_binding *inputs, *outputs;                         /* as the user sees them; slot is the executable's */
    const struct graph_binding **inputs_by_name, **outputs_by_name; /* sorted */
    WNNQuantizedWeights quantized;
    struct variants *variants; /* of named dimensions (variants.h): there is no executable; NULL: there are none */
    struct arena arena;
    struct WNNGraphImpl *next, *previous;
};

/** Makes an object that describes g's inputs (those that outputs need) and outputs.  Returns NULL after an error in *e. */
WNNGraph graph_create_object(WNNContext context, struct graph *g, struct error *e);
/** Makes the same from descriptions, which are copied.  Returns NULL after an error in *e. */
WNNGraph graph_create_described(WNNContext context, uint32_t input_slots, uint32_t input_count,
                                const struct graph_binding *inputs, uint32_t output_count, const struct graph_binding *outputs,
                                struct error *e);
/** Builds g, which is taken over, without a reference on the context.  Returns NULL after an error in *e. */
WNNGraph graph_build(WNNContext context, struct graph *g, struct error *e);
/** Registers a finished graph with its context.  Returns false if the context was lost in the meantime. */
bool graph_publish(WNNGraph graph);
/** Marks a graph as destroyed, with the lock held.  Returns the executable if it is to be unloaded at once, else NULL. */
struct executable *graph_destroy_locked(WNNGraph graph);
/** Takes a pin and a reference, with the lock held. */
void graph_pin(WNNGraph graph);
/** Drops both, with no lock held, and unloads the executable of a destroyed graph with its last pin. */
void graph_unpin(WNNGraph graph);
/** Sets *e: a call is refused, because the graph or its context is destroyed.  Returns false. */
bool graph_refuse(WNNGraph graph, const char *call, struct error *e);
/** Pins a graph, with no lock held, or returns false after graph_refuse. */
bool graph_try_pin(WNNGraph graph, const char *call, struct error *e);
/**
 * Returns which of `count` bindings has that name, trying `hint` first, or `count` if none has it.  by_name holds the same
 * bindings, sorted.
 */
uint32_t graph_find_binding(const struct graph_binding *bindings, const struct graph_binding *const *by_name, uint32_t count,
                            WNNStringView name, uint32_t hint);
/** Returns a suggestion (suggestion_list) for a name that is not among the bindings. */
struct suggestion graph_suggest_binding(const struct graph_binding *bindings, uint32_t count, WNNStringView name);

/* ---- small things ---- */

/**
 * Makes a tensor type of a descriptor's members, including the specification's "check dimensions".  Returns false after an
 * error in *e, whose message calls the tensor `what`.
 */
bool type_from_descriptor(WNNOperandDataType data_type, size_t rank, uint32_t const *shape, const char *what,
                          struct tensor_type *type, struct error *e);
