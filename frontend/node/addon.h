/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * This header declares what the files of the Node.js addon share: the state of one environment (a main thread or a worker), the
 * platform objects, one call from JavaScript, errors.
 *
 * Functions that return bool return false with a JavaScript exception pending, and their caller returns at once.  So do
 * functions that return a pointer or a value, with NULL.  Everything here runs on the environment's thread unless it says
 * otherwise. docs/node.md describes the whole.
 */
#pragma once

#define NAPI_VERSION 8
#include <node_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "webnn/webnn_model.h"

/** Lists the interfaces of the IDL, in the order in which frontend/node/lib/interfaces.js gives their prototypes. */
enum interface {
    INTERFACE_ML,
    INTERFACE_CONTEXT,
    INTERFACE_TENSOR,
    INTERFACE_GRAPH,
    INTERFACE_OPERAND,
    INTERFACE_BUILDER,
    INTERFACE_MODEL, /* an open model file, which lib/model.js keeps from the program, as it does the next */
    INTERFACE_CANCELLATION,
    INTERFACE_COUNT /* stands for none */
};

/** Lists what interfaces.js takes from the realm before any program can change it, in the order of its array. */
enum intrinsic {
    INTRINSIC_DOM_EXCEPTION,   /* the constructor */
    INTRINSIC_TYPE_ERROR,      /* the constructor */
    INTRINSIC_ITERATOR,        /* Symbol.iterator */
    INTRINSIC_CREATE,          /* prototype -> object */
    INTRINSIC_FREEZE,          /* object -> object */
    INTRINSIC_OWN_KEYS,        /* object -> array of strings and symbols */
    INTRINSIC_IS_ENUMERABLE,   /* object, key -> whether it has an own, enumerable property */
    INTRINSIC_TO_NUMERIC,      /* value -> number or BigInt */
    INTRINSIC_DESCRIBE_BUFFER, /* value -> undefined, or [name of its class, Uint8Array over its bytes, resizable] */
    INTRINSIC_IS_GPU_DEVICE,   /* value -> boolean */
    INTRINSIC_GET_LOST,        /* MLContext -> its promise */
    INTRINSIC_SET_LOST,        /* MLContext, message: resolves that promise */
    INTRINSIC_SET_CALLBACK,    /* MLContext, "log" or "computed", the program's function */
    INTRINSIC_LOG,             /* MLContext, WNNLogLevel, message: calls log */
    INTRINSIC_COMPUTED,        /* MLContext, MLGraph, three times in milliseconds: calls computed */
    INTRINSIC_COUNT
};

struct mailbox;
struct pending;

/** Holds the state of one environment of Node's.  It is freed with its last object. */
struct environment {
    napi_env env;
    uint32_t references;
    napi_ref intrinsics; /* an array, by enum intrinsic */
    napi_ref prototypes; /* an array, by enum interface */
    struct mailbox *mailbox;
    struct object *objects; /* all that live */
    uint64_t next_context;
};

/** Holds the native side of a platform object.  The garbage collector's finalizer frees it. */
struct object {
    enum interface interface;
    struct environment *environment;
    struct object *next, *previous;
    WNNContext context; /* that a builder was made with, which it keeps alive */
    union {
        void *any;
        WNNContext context;
        WNNTensor tensor;
        WNNGraph graph;
        WNNOperand operand;
        WNNGraphBuilder builder;
        WNNDynamicModel model;
        WNNCancellation cancellation;
    } native;         /* one reference; NULL once the environment is being torn down */
    int64_t bytes;    /* reported to the garbage collector */
    napi_ref shape;   /* the frozen array of a tensor or operand, once it has been requested */
    napi_ref wrapper; /* a weak reference to the JavaScript object of a context or graph */
    bool destroyed;   /* destroy() of a tensor has been called */
    bool has_log;     /* the context, also that of a builder, has a function for its log */
    uint64_t id;      /* of a context in this environment, never used again */
};

/** Holds one call from JavaScript. */
struct call {
    struct environment *environment;
    napi_env env;
    const char *name; /* for messages */
    napi_value receiver;
    size_t count;
    napi_value *arguments;
    const struct member *member; /* that is called */
    struct scratch *scratch;     /* memory that is freed after the call */
};

enum { ARGUMENTS_MAX = 8 };

/** Drops a reference to an environment's state; the last one frees it (addon.c). */
void environment_release(struct environment *e);

/* ---- calls ---- */

/** Node-API calls this for every member, whose row is the function's data; frees the call's memory afterwards.
 */
napi_value member_call(napi_env env, napi_callback_info info);
/** Returns memory that is freed after the call. */
void *call_allocate(struct call *c, size_t count, size_t size);
/** Returns `items`, memory of the call, or a larger copy of its elements, so that there is room for one more than `count`. */
void *call_room(struct call *c, void *items, size_t count, size_t *capacity, size_t size);

/* ---- errors ---- */

/** Throws a TypeError, unless an exception is pending already.  Returns false. */
bool throw_type(struct call *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/**
 * Throws the exception of a status: a TypeError, or a DOMException of that name.  Returns true for success, without throwing.
 */
bool throw_status(struct call *c, WNNStatus status, WNNStringView message);
/** Throws an exception for a failed allocation; the value is NULL. */
#define throw_memory(c) (throw_status(c, WNNStatus_UnknownError, WNN_STR("out of memory")), NULL)
/** Does the same with the message of the library's last call on this thread. */
static inline bool throw_last(struct call *c, WNNStatus status)
{
    return status == WNNStatus_Success || throw_status(c, status, wnnGetLastErrorMessage());
}
/** Makes the error object of a status. */
napi_value error_create(struct environment *e, WNNStatus status, WNNStringView message);
/** Returns whether a Node-API call succeeded; else an exception is pending. */
bool succeeded(napi_env env, napi_status status);

/* ---- objects ---- */

/** Returns an intrinsic, or NULL if there is none. */
napi_value intrinsic_get(struct environment *e, enum intrinsic which);
/** Calls an intrinsic function. */
napi_value intrinsic_call(struct environment *e, enum intrinsic which, size_t count, const napi_value *arguments);

/**
 * Makes a platform object and takes over one reference of native, also when it fails.  receiver is the object that becomes one,
 * or NULL for a new one with the interface's prototype.  bytes is the memory that it takes outside of V8's heap.
 */
napi_value object_create(struct environment *e, enum interface interface, void *native, int64_t bytes, napi_value receiver);
/** Returns the native side of value if it is a platform object of that interface, else NULL, without an exception. */
struct object *object_of(struct environment *e, napi_value value, enum interface interface);
enum { GIVEN_MAX = 64 };
/** Writes what a value is, for messages: "1", "'text'", "undefined", "an MLTensor", "an object".  Returns text. */
const char *object_describe(struct call *c, napi_value value, char text[GIVEN_MAX]);
/**
 * Returns the native side of a value that has to be a platform object of that interface, or throws a TypeError whose message
 * calls it `what`.
 */
struct object *object_require(struct call *c, napi_value value, enum interface interface, const char *what);
/** Tells the garbage collector how much memory an object holds. */
void object_set_bytes(struct object *o, int64_t bytes);
/** Drops all native references at the end of the environment; contexts are destroyed. */
void objects_abandon(struct environment *e);

/* ---- methods that interfaces.js puts on the prototypes ---- */

enum {
    MEMBER_ATTRIBUTE = 1,
    MEMBER_PROMISE = 2 /* exceptions become rejections */,
    MEMBER_FUNCTION = 4, /* without a receiver */
    MEMBER_DRAFT = 8     /* of drafts, which the entry "draft" puts on the interface */
};

/** Describes one operation or attribute of an interface, or a function. */
struct member {
    const char *name;
    enum interface interface; /* of the receiver, or of a function's first argument; INTERFACE_COUNT if it may be anything */
    uint32_t length;          /* required arguments of the shortest overload */
    unsigned flags;
    /** Gets the receiver or first argument of that interface.  NULL stands for undefined, or for an exception. */
    napi_value (*call)(struct call *c, struct object *o);
    const void *data; /* an operator's row */
};

extern const struct member context_members[]; /* of ML, too */
extern const struct member object_members[];  /* of tensors, graphs and operands */
extern const struct member builder_members[]; /* operators come from operator_rows */
/** Extensions of the C API: functions of the package's entry "native", without a receiver. */
extern const struct member extension_members[];
extern const struct member model_functions[];
extern const struct member draft_members[];

/** Converts MLContextOptions.  All members of *out that it does not have get their defaults. */
bool convert_context_options(struct call *c, napi_value value, WNNContextOptions *out);
/** Dispatches: graph, inputs and outputs are arguments[0] to [2]; the cancellation may be NULL.  Throws what goes wrong. */
void dispatch_tensors(struct call *c, struct object *context, const napi_value *arguments, WNNCancellation cancellation);
/** Holds the callbacks of a context, NULL if absent. */
struct context_callbacks {
    napi_value log, computed; /* functions */
    const char *warning;      /* what the log gets first */
};
/** Returns the promise of a context.  What options point to is copied, and their callbacks are replaced. */
napi_value create_context(struct call *c, const WNNContextOptions *options, const struct context_callbacks *callbacks);
/** Makes the object of a graph that a promise was waiting for; p->number is the number of bytes that it holds. */
napi_value settle_graph(struct environment *e, struct pending *p);
/** A WNNBuildProgressCallback: a build continues until its flag, an int32_t that may be NULL, is not 0. */
bool flag_is_down(WNNBuildStage stage, uint32_t done, uint32_t total, void *flag, void *unused);
/** Finds the flag in an Int32Array, which the pending keeps; undefined is none. */
bool keep_flag(struct call *c, napi_value value, struct pending *p, int32_t **flag);
/** Begins a build of outputs, a record of operands, which a flag may end, and returns its promise. */
napi_value begin_build(struct call *c, struct object *builder, napi_value outputs, napi_value flag);
/** A WNNBuildCallback that reports to the pending in userdata1. */
void report_graph(WNNStatus status, WNNGraph graph, WNNStringView message, void *userdata1, void *userdata2);
/** Destroys a graph whose promise was not delivered. */
static inline void drop_graph(void *result)
{
    wnnGraphRelease(result);
}
/** The constructor of MLGraphBuilder: (receiver, context). */
napi_value builder_construct(struct call *c, struct object *none);
/** An operator's method; the data of its row is its struct operator_row. */
napi_value operator_call(struct call *c, struct object *builder);
/** Implements MLContext.opSupportLimits(). */
napi_value context_op_support_limits(struct call *c, struct object *context);
/** Makes a string of a view. */
bool string_create(napi_env env, WNNStringView text, napi_value *value);
/** Makes an array of sizes, and of names where dimensions, which may be NULL, has them. */
bool sizes_create(struct call *c, size_t rank, const uint32_t *shape, const WNNDimension *dimensions, napi_value *value);
/** Define an own property, which no setter of a prototype meets. */
bool property_set_view(struct call *c, napi_value object, WNNStringView name, napi_value value);
static inline bool property_set(struct call *c, napi_value object, const char *name, napi_value value)
{
    return property_set_view(c, object, WNN_STR(name), value);
}
bool property_set_string(struct call *c, napi_value object, const char *name, WNNStringView text);
/** Sets a number, which JavaScript's numbers hold exactly up to 2^53. */
bool property_set_number(struct call *c, napi_value object, const char *name, uint64_t number);
/** Makes an object of numbers, or returns NULL. */
napi_value numbers_create(struct call *c, size_t count, const char *const *names, const uint64_t *numbers);
/** Returns the frozen array of a tensor's or an operand's shape, made at the first call. */
napi_value shape_get(struct call *c, struct object *o, size_t rank, const uint32_t *shape, const WNNDimension *dimensions);
/** Is ML.createContext(), of contexts that know the draft's data types where it is the draft's. */
napi_value ml_create_context(struct call *c, struct object *ml);
/** Is MLGraphBuilder.input(). */
napi_value builder_input(struct call *c, struct object *builder);
