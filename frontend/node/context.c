/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Implements ML and MLContext. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/node/convert.h"
#include "frontend/node/mailbox.h"

/* ---- loss ---- */

/** Holds what the library's callbacks of one context need.  It is freed when the context is gone. */
struct watch {
    struct environment *environment;
    struct mailbox *mailbox;
    uint64_t id;              /* of the context */
    struct pending *creating; /* the promise of the context, while it is created */
    struct pending *lost;     /* the notice; NULL once it has been sent */
    bool begun;               /* on_gone is to come */
};

/** Returns the object of a context, or NULL if it is gone. */
static napi_value find_context(struct environment *e, uint64_t id)
{
    napi_value value;

    for (struct object *o = e->objects; o; o = o->next)
        if (o->interface == INTERFACE_CONTEXT && o->id == id)
            return napi_get_reference_value(e->env, o->wrapper, &value) == napi_ok ? value : NULL;
    return NULL;
}

/** Resolves the promise of MLContext.lost, on the environment's thread, if the object still exists. */
static napi_value settle_lost(struct environment *e, struct pending *p)
{
    napi_value arguments[2] = {find_context(e, p->number)};

    return arguments[0] &&
                   napi_create_string_utf8(e->env, p->message ? p->message : "", NAPI_AUTO_LENGTH, &arguments[1]) == napi_ok
               ? intrinsic_call(e, INTRINSIC_SET_LOST, 2, arguments)
               : NULL;
}

/** Hands a message of a level to the program's function, whose exceptions are its own. */
static void log_message(struct environment *e, napi_value context, size_t level, const char *message)
{
    napi_value arguments[3] = {context}, error;

    if (napi_create_uint32(e->env, (uint32_t)level, &arguments[1]) == napi_ok &&
        napi_create_string_utf8(e->env, message ? message : "", NAPI_AUTO_LENGTH, &arguments[2]) == napi_ok &&
        !intrinsic_call(e, INTRINSIC_LOG, 3, arguments))
        napi_get_and_clear_last_exception(e->env, &error);
}

static napi_value settle_log(struct environment *e, struct pending *p)
{
    napi_value context = find_context(e, p->number);

    if (context)
        log_message(e, context, p->byte_length, p->message);
    return NULL;
}

/** Runs on any thread.  A message while the context is created waits for its object; there is one at most. */
static void on_log(WNNLogLevel level, WNNStringView message, void *userdata1, void *userdata2)
{
    struct watch *w = userdata1;
    struct pending *p = w->creating;

    (void)userdata2;
    if (p) {
        free(p->bytes);
        p->bytes = strdup(message.data);
    } else {
        p = notice_create(w->environment, settle_log, w->id);
    }
    if (!p)
        return;
    p->byte_length = (size_t)level;
    if (!w->creating)
        pending_report(p, WNNStatus_Success, message, NULL);
}

/** Holds a computation that has ended, until the environment's thread tells of it. */
struct computation {
    WNNGraph graph; /* to be found, not to be used */
    WNNComputationTimes times;
};

static napi_value settle_computed(struct environment *e, struct pending *p)
{
    const struct computation *computation = p->bytes;
    const uint64_t times[] = {computation->times.submitted, computation->times.begun, computation->times.ended};
    napi_value arguments[5] = {find_context(e, p->number)}, error;
    struct object *o = e->objects;

    while (o && (o->interface != INTERFACE_GRAPH || o->native.graph != computation->graph))
        o = o->next;
    bool ok = arguments[0] && o && napi_get_reference_value(e->env, o->wrapper, &arguments[1]) == napi_ok && arguments[1];
    for (int i = 0; ok && i < 3; i++)
        ok = napi_create_double(e->env, (double)times[i] * 1e-6, &arguments[2 + i]) == napi_ok;
    if (ok && !intrinsic_call(e, INTRINSIC_COMPUTED, 5, arguments))
        napi_get_and_clear_last_exception(e->env, &error); /* the program's own */
    return NULL;
}

/** Runs on any thread. */
static void on_computed(WNNGraph graph, WNNComputationTimes const *times, void *userdata1, void *userdata2)
{
    struct watch *w = userdata1;
    struct pending *p = notice_create(w->environment, settle_computed, w->id);
    struct computation *computation = p ? malloc(sizeof(*computation)) : NULL;

    (void)userdata2;
    if (!computation) {
        free(p);
        return;
    }
    *computation = (struct computation){graph, *times};
    p->bytes = computation;
    pending_report(p, WNNStatus_Success, WNN_STRING_VIEW_INIT, NULL);
}

/** Runs on any thread when the context is lost. */
static void on_lost(WNNContext context, WNNStringView message, void *userdata1, void *userdata2)
{
    struct watch *w = userdata1;
    struct pending *notice = w->lost;

    (void)context;
    (void)userdata2;
    w->lost = NULL;
    if (notice)
        pending_report(notice, WNNStatus_Success, message, NULL);
}

/** Runs on any thread when the context and the work of its timeline are gone. */
static void on_gone(WNNStatus status, WNNTensor tensor, WNNStringView message, void *userdata1, void *userdata2)
{
    struct watch *w = userdata1;
    struct mailbox *m = w->mailbox;

    (void)status;
    (void)tensor;
    (void)message;
    (void)userdata2;
    if (w->begun) {
        free(w->lost);
        free(w);
    }
    mailbox_end(m);
}

/** Lets mailbox_close wait until the context is gone: a future without a waiter is called back then.  The future is that
 * of a tensor without a data type, so that it takes no memory and no thread. */
static void watch_begin(WNNContext context, struct watch *w)
{
    WNNTensorDescriptor nothing = WNN_TENSOR_DESCRIPTOR_INIT;
    WNNCreateTensorCallbackInfo gone = {WNNCallbackMode_WaitAnyOnly, on_gone, w, NULL};

    mailbox_begin(w->mailbox);
    w->begun = wnnContextCreateTensorAsync(context, &nothing, gone).id != 0; /* else it has been called already */
}

/* ---- ML.createContext ---- */

/** Describes a creation that a thread of Node's pool runs. */
struct creation {
    WNNContextOptions options;
    struct pending *pending;
    struct watch *watch;
    char text[]; /* the strings of the options: those of the call end with it */
};

/** Runs on a thread of the pool. */
static void creation_run(void *user)
{
    struct creation *creation = user;
    WNNContext context = NULL;
    WNNStatus status = wnnCreateContext(&creation->options, &context);

    creation->watch->creating = NULL;
    if (status == WNNStatus_Success) {
        watch_begin(context, creation->watch);
    } else {
        free(creation->watch->lost);
        free(creation->watch);
    }
    pending_report(creation->pending, status, status == WNNStatus_Success ? WNN_STRING_VIEW_INIT : wnnGetLastErrorMessage(),
                   context);
}

static void drop_context(void *result)
{
    wnnContextDestroy(result);
    wnnContextRelease(result);
}

/** Gives the context of an object a function of the program's, if there is one. */
static bool set_callback(struct environment *e, napi_value context, const char *name, napi_ref function)
{
    napi_value arguments[3] = {context};

    return !function || (succeeded(e->env, napi_create_string_utf8(e->env, name, NAPI_AUTO_LENGTH, &arguments[1])) &&
                         succeeded(e->env, napi_get_reference_value(e->env, function, &arguments[2])) &&
                         intrinsic_call(e, INTRINSIC_SET_CALLBACK, 3, arguments));
}

static napi_value settle_context(struct environment *e, struct pending *p)
{
    napi_value value = object_create(e, INTERFACE_CONTEXT, p->result, 0, NULL);
    struct object *o = value ? object_of(e, value, INTERFACE_CONTEXT) : NULL;

    if (o)
        o->id = p->number;
    if (o && (!set_callback(e, value, "log", p->kept[KEPT_LOG]) || !set_callback(e, value, "computed", p->kept[KEPT_COMPUTED])))
        return NULL;
    if (o && p->kept[KEPT_LOG]) {
        o->has_log = true;
        if (p->bytes)
            log_message(e, value, p->byte_length, p->bytes);
    }
    return value;
}

bool convert_context_options(struct call *c, napi_value value, WNNContextOptions *out)
{
    static const char *const preferences[] = {"default", "high-performance", "low-power", NULL}; /* as WNNPowerPreference */
    napi_value member;
    size_t preference;

    *out = WNN_CONTEXT_OPTIONS_INIT;
    if (!dictionary_check(c, value, "options") || !dictionary_member(c, value, "accelerated", &member) ||
        (member && !convert_boolean(c, member, &out->accelerated)) || !dictionary_member(c, value, "powerPreference", &member))
        return false;
    if (!member)
        return true;
    if (!convert_enumeration(c, member, "powerPreference", preferences, &preference))
        return false;
    out->powerPreference = (WNNPowerPreference)preference;
    return true;
}

/** Copies the text of a view to *at, which moves on, and lets the view refer to it. */
static void string_keep(WNNStringView *view, char **at)
{
    if (view->length)
        memcpy(*at, view->data, view->length);
    view->data = *at;
    *at += view->length + 1;
}

/** Returns what a context's creation works on, without its promise, or NULL if memory runs out. */
static struct creation *creation_create(struct environment *e, const WNNContextOptions *options)
{
    struct creation *creation = calloc(1, sizeof(*creation) + options->device.length + options->cache.length + 2);
    struct watch *watch = calloc(1, sizeof(*watch));

    if (!creation || !watch || !(watch->lost = notice_create(e, settle_lost, ++e->next_context))) {
        free(watch);
        free(creation);
        return NULL;
    }
    watch->environment = e;
    watch->mailbox = e->mailbox;
    watch->id = e->next_context;
    creation->watch = watch;
    creation->options = *options;
    char *at = creation->text;
    string_keep(&creation->options.device, &at);
    string_keep(&creation->options.cache, &at);
    return creation;
}

/** Keeps a function of the program's until the context is there. */
static bool keep_callback(struct call *c, napi_value function, struct pending *p, int which)
{
    return !function || succeeded(c->env, napi_create_reference(c->env, function, 1, &p->kept[which]));
}

napi_value create_context(struct call *c, const WNNContextOptions *options, const struct context_callbacks *callbacks)
{
    struct creation *creation = creation_create(c->environment, options);
    napi_value promise = NULL;

    if (!creation)
        return throw_memory(c);
    struct watch *watch = creation->watch;
    struct pending *p = creation->pending = pending_create(c, settle_context, drop_context, &promise);
    creation->options.lost = (WNNContextLostCallbackInfo){WNNCallbackMode_AllowSpontaneous, on_lost, watch, NULL};
    if (callbacks->log)
        creation->options.log = (WNNLogCallbackInfo){on_log, watch, NULL};
    if (callbacks->computed)
        creation->options.computed = (WNNComputedCallbackInfo){on_computed, watch, NULL};
    if (p) {
        p->number = watch->id;
        p->bytes = callbacks->warning ? strdup(callbacks->warning) : NULL;
        p->byte_length = WNNLogLevel_Warning;
        watch->creating = p;
    }
    if (p && keep_callback(c, callbacks->log, p, KEPT_LOG) && keep_callback(c, callbacks->computed, p, KEPT_COMPUTED) &&
        run_in_pool(c, "WebNN createContext", creation_run, creation))
        return promise;
    if (p)
        pending_reject(c->environment, p);
    free(watch->lost);
    free(watch);
    free(creation);
    return promise;
}

/** Says in *out whether value is a GPUDevice of a WebGPU implementation that the program has. */
static bool convert_is_gpu_device(struct call *c, napi_value value, bool *out)
{
    *out = false;
    if (!is_object(c, value))
        return true;
    napi_value answer = intrinsic_call(c->environment, INTRINSIC_IS_GPU_DEVICE, 1, &value);
    return answer && convert_boolean(c, answer, out);
}

napi_value ml_create_context(struct call *c, struct object *ml)
{
    WNNContextOptions options;
    bool is_gpu_device;

    (void)ml;
    if (!convert_is_gpu_device(c, c->arguments[0], &is_gpu_device))
        return NULL;
    if (is_gpu_device) {
        throw_status(c, WNNStatus_NotSupportedError, WNN_STR("createContext: contexts on a GPUDevice are not supported"));
    } else if (convert_context_options(c, c->arguments[0], &options)) { /* Node-API fills absent ones with undefined */
        options.draftDataTypes = c->member->flags & MEMBER_DRAFT;
        return create_context(c, &options, &(struct context_callbacks){0});
    }
    return NULL;
}

/* ---- attributes, destroy ---- */

static napi_value context_accelerated(struct call *c, struct object *o)
{
    napi_value result;

    return succeeded(c->env, napi_get_boolean(c->env, wnnContextGetAccelerated(o->native.context), &result)) ? result : NULL;
}

static napi_value context_lost(struct call *c, struct object *o)
{
    (void)o;
    return intrinsic_call(c->environment, INTRINSIC_GET_LOST, 1, &c->receiver);
}

static napi_value context_destroy(struct call *c, struct object *o)
{
    (void)c;
    wnnContextDestroy(o->native.context);
    return NULL;
}

/* ---- creating tensors ---- */

static void drop_tensor(void *result)
{
    wnnTensorRelease(result);
}

static void on_tensor(WNNStatus status, WNNTensor tensor, WNNStringView message, void *userdata1, void *userdata2)
{
    (void)userdata2;
    pending_report(userdata1, status, message, tensor);
}

static napi_value settle_tensor(struct environment *e, struct pending *p)
{
    return object_create(e, INTERFACE_TENSOR, p->result, (int64_t)wnnTensorGetByteLength(p->result), NULL);
}

static napi_value context_create_tensor(struct call *c, struct object *o)
{
    napi_value promise = NULL;
    WNNTensorDescriptor descriptor;
    struct pending *p;

    if (convert_tensor_descriptor(c, c->arguments[0], &descriptor) &&
        (p = pending_create(c, settle_tensor, drop_tensor, &promise))) {
        WNNCreateTensorCallbackInfo callback = {WNNCallbackMode_AllowSpontaneous, on_tensor, p, NULL};

        wnnContextCreateTensorAsync(o->native.context, &descriptor, callback);
    }
    return promise;
}

static napi_value context_create_constant_tensor(struct call *c, struct object *o)
{
    napi_value promise = NULL;
    WNNOperandDescriptor descriptor;
    struct buffer_source data;
    struct pending *p;

    if (!convert_operand_descriptor(c, c->arguments[0], &descriptor) ||
        !convert_buffer_source(c, c->arguments[1], "inputData", &data) || !buffer_bytes(c->environment, data.value, &data))
        return NULL;
    if ((wnnContextIsLost(o->native.context) || buffer_check(c, &data, "inputData", descriptor.dataType)) &&
        (p = pending_create(c, settle_tensor, drop_tensor, &promise))) {
        WNNCreateTensorCallbackInfo callback = {WNNCallbackMode_AllowSpontaneous, on_tensor, p, NULL};

        wnnContextCreateConstantTensorAsync(o->native.context, &descriptor, data.data, data.length, callback);
    }
    return promise;
}

/* ---- WebGPU: no GPUDevice has memory that this library could share, so no tensor is exportable ---- */

/** Throws what comes first in both methods: the context is lost. */
static bool require_live(struct call *c, const struct object *context)
{
    char text[64];

    snprintf(text, sizeof(text), "%s: the context is lost", c->name);
    return !wnnContextIsLost(context->native.context) || throw_status(c, WNNStatus_InvalidStateError, WNN_STR(text));
}

static napi_value context_create_exportable_tensor(struct call *c, struct object *o)
{
    WNNTensorDescriptor descriptor;
    bool is_gpu_device;

    if (!convert_tensor_descriptor(c, c->arguments[0], &descriptor) ||
        !convert_is_gpu_device(c, c->arguments[1], &is_gpu_device))
        return NULL;
    if (!is_gpu_device)
        throw_type(c, "gpuDevice is not a GPUDevice");
    else if (require_live(c, o))
        throw_status(c, WNNStatus_NotSupportedError,
                     WNN_STR("createExportableTensor: tensors on a GPUDevice are not supported; createTensor makes others"));
    return NULL;
}

static napi_value context_export_to_gpu(struct call *c, struct object *o)
{
    if (object_require(c, c->arguments[0], INTERFACE_TENSOR, "tensor") && require_live(c, o))
        throw_type(c, "tensor was not created by createExportableTensor of this context");
    return NULL;
}

/* ---- reading and writing tensors ---- */

static void on_read(WNNStatus status, WNNStringView message, void *userdata1, void *userdata2)
{
    (void)userdata2;
    pending_report(userdata1, status, message, NULL);
}

/** Returns the object that a read keeps. */
static struct object *kept_object(struct environment *e, struct pending *p, int which, enum interface interface)
{
    napi_value value;

    return napi_get_reference_value(e->env, p->kept[which], &value) == napi_ok ? object_of(e, value, interface) : NULL;
}

/**
 * Returns whether a read that has succeeded still counts: a promise is pending until the program hears of it, and is rejected
 * if the tensor is destroyed earlier, by itself or with its context.  Returns false with an exception.
 */
static bool read_counts(struct environment *e, struct pending *p)
{
    struct object *tensor = kept_object(e, p, KEPT_TENSOR, INTERFACE_TENSOR);
    struct object *context = kept_object(e, p, KEPT_CONTEXT, INTERFACE_CONTEXT);

    if (tensor && !tensor->destroyed && context && !wnnContextIsLost(context->native.context))
        return true;
    napi_value error = error_create(e, WNNStatus_InvalidStateError, WNN_STR("readTensor: the tensor was destroyed meanwhile"));
    if (error)
        napi_throw(e->env, error);
    return false;
}

/** Returns the array buffer that the library has read into. */
static napi_value settle_read(struct environment *e, struct pending *p)
{
    napi_value buffer;

    return read_counts(e, p) && succeeded(e->env, napi_get_reference_value(e->env, p->kept[KEPT_BUFFER], &buffer)) ? buffer
                                                                                                                   : NULL;
}

/** Copies what has been read to the program's buffer, which may have changed meanwhile. */
static napi_value settle_read_into(struct environment *e, struct pending *p)
{
    struct buffer_source output;
    napi_value value, undefined;

    if (!read_counts(e, p) || !succeeded(e->env, napi_get_reference_value(e->env, p->kept[KEPT_BUFFER], &value)) ||
        !buffer_bytes(e, value, &output))
        return NULL;
    if (output.length != p->byte_length) {
        napi_value error = error_create(e, WNNStatus_TypeError, WNN_STR("readTensor: outputData has been detached"));

        if (error)
            napi_throw(e->env, error);
        return NULL;
    }
    if (output.length)
        memcpy(output.data, p->bytes, p->byte_length);
    return succeeded(e->env, napi_get_undefined(e->env, &undefined)) ? undefined : NULL;
}

/** Makes the promise of a read of the call's first argument, and what it keeps. */
static struct pending *read_create(struct call *c, settle_function settle, napi_value buffer, napi_value *promise)
{
    struct pending *p = pending_create(c, settle, NULL, promise);

    if (p && succeeded(c->env, napi_create_reference(c->env, buffer, 1, &p->kept[KEPT_BUFFER])) &&
        succeeded(c->env, napi_create_reference(c->env, c->arguments[0], 1, &p->kept[KEPT_TENSOR])) &&
        succeeded(c->env, napi_create_reference(c->env, c->receiver, 1, &p->kept[KEPT_CONTEXT])))
        return p;
    if (p)
        pending_reject(c->environment, p);
    return NULL;
}

static void read_begin(struct object *context, struct object *tensor, void *data, size_t length, struct pending *p)
{
    WNNReadTensorCallbackInfo callback = {WNNCallbackMode_AllowSpontaneous, on_read, p, NULL};

    wnnContextReadTensorAsync(context->native.context, tensor->native.tensor, data, length, callback);
}

/** Is readTensor(tensor): the library writes to an array buffer that the program does not know yet. */
static napi_value read_tensor(struct call *c, struct object *context, struct object *tensor)
{
    size_t length = wnnTensorGetByteLength(tensor->native.tensor);
    napi_value buffer, promise = NULL;
    void *data;

    if (!succeeded(c->env, napi_create_arraybuffer(c->env, length, &data, &buffer)))
        return NULL;
    struct pending *p = read_create(c, settle_read, buffer, &promise);
    if (p)
        read_begin(context, tensor, data, length, p);
    return promise;
}

/** Checks that a buffer may be read into.  In addition to the views of the specification it may be an Int8Array, which has
 * bytes as a Uint8Array has: browsers ask for no class here, and ONNX Runtime Web reads into the view that Emscripten makes of
 * its memory. */
static bool may_read_into(struct call *c, const struct buffer_source *output, WNNOperandDataType type)
{
    return (output->data && !strcmp(output->class_name, "Int8Array")) || buffer_check(c, output, "outputData", type);
}

/** Is readTensor(tensor, outputData), which goes by way of memory that stays, as the program may detach its buffer. */
static napi_value read_tensor_into(struct call *c, struct object *context, struct object *tensor, struct buffer_source *output)
{
    WNNOperandDataType type = wnnTensorGetDataType(tensor->native.tensor);
    napi_value promise = NULL;

    if (!buffer_bytes(c->environment, output->value, output))
        return NULL;
    if (!wnnContextIsLost(context->native.context) && !may_read_into(c, output, type))
        return NULL;
    struct pending *p = read_create(c, settle_read_into, output->value, &promise);
    if (!p)
        return promise;
    p->byte_length = output->length;
    p->bytes = malloc(output->length ? output->length : 1);
    if (p->bytes) {
        read_begin(context, tensor, p->bytes, p->byte_length, p);
    } else {
        throw_status(c, WNNStatus_UnknownError, WNN_STR("out of memory"));
        pending_reject(c->environment, p);
    }
    return promise;
}

static napi_value context_read_tensor(struct call *c, struct object *context)
{
    struct object *tensor = object_require(c, c->arguments[0], INTERFACE_TENSOR, "tensor");
    struct buffer_source output;

    if (!tensor || c->count == 1)
        return tensor ? read_tensor(c, context, tensor) : NULL;
    return convert_buffer_source(c, c->arguments[1], "outputData", &output) ? read_tensor_into(c, context, tensor, &output)
                                                                            : NULL;
}

static napi_value context_write_tensor(struct call *c, struct object *context)
{
    struct object *tensor = object_require(c, c->arguments[0], INTERFACE_TENSOR, "tensor");
    struct buffer_source input;

    if (!tensor || !convert_buffer_source(c, c->arguments[1], "inputData", &input) ||
        !buffer_bytes(c->environment, input.value, &input))
        return NULL;
    WNNOperandDataType type = wnnTensorGetDataType(tensor->native.tensor);
    if (wnnContextIsLost(context->native.context) || buffer_check(c, &input, "inputData", type))
        throw_last(c, wnnContextWriteTensor(context->native.context, tensor->native.tensor, input.data, input.length));
    return NULL;
}

/* ---- dispatch ---- */

static bool convert_tensors(struct call *c, napi_value value, const char *what, WNNNamedTensor **tensors, size_t *count)
{
    struct record_entry *entries;

    if (!convert_record(c, value, INTERFACE_TENSOR, what, &entries, count))
        return false;
    *tensors = call_allocate(c, *count + 1, sizeof(**tensors));
    if (!*tensors)
        return false;
    for (size_t i = 0; i < *count; i++)
        (*tensors)[i] = (WNNNamedTensor){entries[i].name, entries[i].object->native.tensor};
    return true;
}

void dispatch_tensors(struct call *c, struct object *context, const napi_value *arguments, WNNCancellation cancellation)
{
    WNNNamedTensor *inputs, *outputs;
    size_t input_count, output_count;
    struct object *graph;

    if ((graph = object_require(c, arguments[0], INTERFACE_GRAPH, "graph")) &&
        convert_tensors(c, arguments[1], "inputs", &inputs, &input_count) &&
        convert_tensors(c, arguments[2], "outputs", &outputs, &output_count))
        throw_last(c, wnnContextDispatchCancellable(context->native.context, graph->native.graph, input_count, inputs,
                                                    output_count, outputs, cancellation));
}

static napi_value context_dispatch(struct call *c, struct object *context)
{
    dispatch_tensors(c, context, c->arguments, NULL);
    return NULL;
}

const struct member context_members[] = {
    {"createContext", INTERFACE_ML, 0, MEMBER_PROMISE, ml_create_context, NULL},
    {"accelerated", INTERFACE_CONTEXT, 0, MEMBER_ATTRIBUTE, context_accelerated, NULL},
    {"lost", INTERFACE_CONTEXT, 0, MEMBER_ATTRIBUTE | MEMBER_PROMISE, context_lost, NULL},
    {"dispatch", INTERFACE_CONTEXT, 3, 0, context_dispatch, NULL},
    {"createTensor", INTERFACE_CONTEXT, 1, MEMBER_PROMISE, context_create_tensor, NULL},
    {"createConstantTensor", INTERFACE_CONTEXT, 2, MEMBER_PROMISE, context_create_constant_tensor, NULL},
    {"createExportableTensor", INTERFACE_CONTEXT, 2, MEMBER_PROMISE, context_create_exportable_tensor, NULL},
    {"exportToGPU", INTERFACE_CONTEXT, 1, 0, context_export_to_gpu, NULL},
    {"readTensor", INTERFACE_CONTEXT, 1, MEMBER_PROMISE, context_read_tensor, NULL},
    {"writeTensor", INTERFACE_CONTEXT, 2, 0, context_write_tensor, NULL},
    {"opSupportLimits", INTERFACE_CONTEXT, 0, 0, context_op_support_limits, NULL},
    {"destroy", INTERFACE_CONTEXT, 0, 0, context_destroy, NULL},
    {0},
};
