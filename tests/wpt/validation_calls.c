/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Calls of the validation data, made through the public C functions as a JavaScript binding would make them: typed arrays are
 * compared with data types, promises are kept as futures.
 */
#include "wpt/validation.h"
#include "support/scoped.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- calls ---- */

static void set_error(struct outcome *o, WNNStatus status, const char *message)
{
    o->status = status;
    snprintf(o->message, sizeof(o->message), "%s", message);
}

/** Takes a failed call's message from the library. */
static void set_status(struct outcome *o, WNNStatus status)
{
    WNNStringView message = wnnGetLastErrorMessage();

    o->status = status;
    if (status)
        snprintf(o->message, sizeof(o->message), "%.*s", (int)message.length, message.data);
}

static void lost(WNNContext context, WNNStringView message, void *flag, void *unused)
{
    *(bool *)flag = true;
}

static bool context_lost[CONTEXTS_MAX];

static void call_create_context(struct run *r, const cJSON *call, struct outcome *o)
{
    const cJSON *options = cJSON_GetArrayItem(member(call, "args"), 0);
    const char *power = text_of(options, "powerPreference");
    WNNContextOptions c = WNN_CONTEXT_OPTIONS_INIT;
    int id = index_of(call, "id", CONTEXTS_MAX, CONTEXTS_MAX - 1);

    o->is_promise = o->settled = true;
    c.lost.callback = lost;
    c.lost.userdata1 = &context_lost[id];
    context_lost[id] = false;
    if (!strcmp(power, "high-performance"))
        c.powerPreference = WNNPowerPreference_HighPerformance;
    else if (!strcmp(power, "low-power"))
        c.powerPreference = WNNPowerPreference_LowPower;
    else if (*power && strcmp(power, "default")) {
        set_error(o, WNNStatus_TypeError, "powerPreference is none of its values");
        return;
    }
    set_status(o, wnnCreateContext(&c, &r->contexts[id]));
}

/** builder n; one that no call made is made now. */
static WNNGraphBuilder builder_of(struct run *r, const cJSON *call)
{
    int n = index_of(call, "builder", BUILDERS_MAX, 0);

    if (!r->builders[n] && wnnContextCreateGraphBuilder(r->context, &r->builders[n])) {
        fprintf(stderr, "no builder: %s\n", wnnGetLastErrorMessage().data);
        exit(1);
    }
    return r->builders[n];
}

/** The result of a call that made one operand. */
static void set_operand(WNNGraphBuilder builder, WNNOperand operand, struct outcome *o)
{
    if (wnnOperandIsError(operand)) {
        /* The builder keeps its first error; every failed call here is the builder's first, or it has been cleared. */
        set_status(o, wnnGraphBuilderGetError(builder, NULL));
        wnnGraphBuilderClearError(builder);
    } else {
        o->operand_count = 1;
        o->operands[0] = operand;
    }
}

static void call_input_or_constant(struct run *r, const cJSON *call, struct outcome *o)
{
    const cJSON *descriptor = member(call, "descriptor"), *buffer = member(call, "buffer");
    WNNOperandDescriptor d = WNN_OPERAND_DESCRIPTOR_INIT;
    WNNGraphBuilder builder = builder_of(r, call);
    uint32_t shape[64];
    char name[256];

    d.dataType = data_type(text_of(descriptor, "dataType"));
    d.shape = shape;
    if (!to_shape(member(descriptor, "shape"), shape, &d.rank)) {
        set_error(o, WNNStatus_TypeError, "a dimension is no unsigned long");
        return;
    }
    if (!buffer) {
        set_operand(builder, wnnGraphBuilderInput(builder, view(text_of(call, "name"), name, sizeof(name)), &d), o);
    } else if (!view_fits(text_of(buffer, "type"), text_of(descriptor, "dataType"))) {
        set_error(o, WNNStatus_TypeError, "the view's type is not that of the descriptor");
    } else {
        size_t bytes;
        OWNED(memory) void *p = buffer_bytes(buffer, &bytes);

        set_operand(builder, wnnGraphBuilderConstant(builder, &d, p, bytes), o);
        if (member(call, "then"))
            memset(p, 0x41, bytes); /* overwritten or detached: either way the library must have its own copy */
    }
}

static void call_operator(struct run *r, const cJSON *call, struct outcome *o)
{
    OWNED(call) WNNMethodCall c = wnnMethodCallCreate(WNN_STR(text_of(call, "method")));
    const cJSON *item;
    WNNStatus status = WNNStatus_Success;
    size_t i = 0;

    if (!c) {
        set_status(o, WNNStatus_TypeError);
        return;
    }
    r->value_count = 0;
    cJSON_ArrayForEach(item, member(call, "args"))
    {
        if (!status && i < wnnMethodCallArgumentCount(c)) /* JavaScript ignores arguments that the method does not have */
            status = wnnMethodCallArgument(c, i, to_value(r, item));
        i++;
    }
    cJSON_ArrayForEach(item, member(call, "options")) if (!status)
    {
        WNNMethodValue v = strcmp(item->string, "label") ? to_value(r, item) : wnnMethodValueString(WNN_STR(item->valuestring));

        status = wnnMethodCallOption(c, WNN_STR(item->string), v, true);
    }
    if (!status)
        status = wnnMethodCallInvoke(c, builder_of(r, call));
    set_status(o, status);
    o->operand_count = status ? 0 : wnnMethodCallResultCount(c);
    for (i = 0; i < o->operand_count && i < OPERANDS_MAX; i++)
        o->operands[i] = wnnMethodCallResult(c, i);
}

/* ---- promises ---- */

static void settle(struct outcome *o, WNNStatus status, WNNStringView message)
{
    o->status = status;
    o->settled = true;
    snprintf(o->message, sizeof(o->message), "%.*s", (int)message.length, message.data ? message.data : "");
}

static void built(WNNStatus status, WNNGraph graph, WNNStringView message, void *o, void *unused)
{
    settle(o, status, message);
    ((struct outcome *)o)->graph = graph;
}

static void created(WNNStatus status, WNNTensor tensor, WNNStringView message, void *o, void *unused)
{
    settle(o, status, message);
    ((struct outcome *)o)->tensor = tensor;
}

static void was_read(WNNStatus status, WNNStringView message, void *o, void *unused)
{
    settle(o, status, message);
}

void await(struct outcome *o)
{
    if (!o->is_promise || o->settled || !o->context)
        return;
    WNNStatus status = wnnContextWaitAny(o->context, 1, &o->future, UINT64_MAX);
    if (status || !o->settled)
        set_error(o, WNNStatus_UnknownError, "the promise was never settled");
}

static void call_build(struct run *r, const cJSON *call, struct outcome *o)
{
    WNNNamedOperand outputs[OPERANDS_MAX];
    static char names[OPERANDS_MAX][256];
    WNNGraphBuilder builder = builder_of(r, call);
    const cJSON *item;
    size_t count = 0;

    cJSON_ArrayForEach(item, member(call, "outputs"))
    {
        outputs[count].name = view(item->string, names[count], sizeof(names[count]));
        outputs[count].operand = r->operands[index_of(item, "operand", OPERANDS_MAX, 0)];
        count++;
    }
    o->is_promise = true;
    o->context = r->contexts[0] ? r->contexts[0] : r->context;
    o->future =
        wnnGraphBuilderBuildAsync(builder, count, outputs, (WNNBuildCallbackInfo){WNNCallbackMode_WaitAnyOnly, built, o, NULL});
}

static void call_create_tensor(WNNContext context, const cJSON *descriptor, struct outcome *o)
{
    WNNTensorDescriptor d = WNN_TENSOR_DESCRIPTOR_INIT;
    uint32_t shape[64];

    d.dataType = data_type(text_of(descriptor, "dataType"));
    d.shape = shape;
    d.readable = cJSON_IsTrue(member(descriptor, "readable"));
    d.writable = cJSON_IsTrue(member(descriptor, "writable"));
    o->is_promise = true;
    o->context = context;
    if (!to_shape(member(descriptor, "shape"), shape, &d.rank))
        exit(1);
    o->future =
        wnnContextCreateTensorAsync(context, &d, (WNNCreateTensorCallbackInfo){WNNCallbackMode_WaitAnyOnly, created, o, NULL});
}

static void call_read_tensor(WNNContext context, WNNTensor tensor, struct outcome *o)
{
    o->is_promise = true;
    o->context = context;
    o->bytes = wnnTensorGetByteLength(tensor);
    o->data = allocate(o->bytes);
    o->future = wnnContextReadTensorAsync(context, tensor, o->data, o->bytes,
                                          (WNNReadTensorCallbackInfo){WNNCallbackMode_WaitAnyOnly, was_read, o, NULL});
}

static size_t named_tensors(struct run *r, const cJSON *record, WNNNamedTensor *tensors, char names[][256])
{
    const cJSON *item;
    size_t count = 0;

    cJSON_ArrayForEach(item, record)
    {
        tensors[count].name = view(item->string, names[count], 256);
        tensors[count].tensor = r->tensors[index_of(item, "tensor", TENSORS_MAX, 0)];
        count++;
    }
    return count;
}

static void call_dispatch(struct run *r, WNNContext context, const cJSON *args, struct outcome *o)
{
    WNNNamedTensor inputs[TENSORS_MAX], outputs[TENSORS_MAX];
    static char in_names[TENSORS_MAX][256], out_names[TENSORS_MAX][256];
    size_t in = named_tensors(r, cJSON_GetArrayItem(args, 1), inputs, in_names);
    size_t out = named_tensors(r, cJSON_GetArrayItem(args, 2), outputs, out_names);
    WNNGraph graph = r->graphs[index_of(cJSON_GetArrayItem(args, 0), "graph", GRAPHS_MAX, 0)];

    set_status(o, wnnContextDispatch(context, graph, in, inputs, out, outputs));
}

void make_call(struct run *r, const cJSON *call, struct outcome *o)
{
    const char *method = text_of(call, "method");
    const cJSON *args = member(call, "args"), *first = cJSON_GetArrayItem(args, 0), *ids = member(call, "ids");
    bool on_context = member(call, "context") != NULL;
    WNNContext context = r->contexts[index_of(call, "context", CONTEXTS_MAX, 0)];

    memset(o, 0, sizeof(*o));
    if (!strcmp(method, "createContext")) {
        call_create_context(r, call, o);
    } else if (!strcmp(method, "MLGraphBuilder")) {
        set_status(o, wnnContextCreateGraphBuilder(r->contexts[index_of(first, "context", CONTEXTS_MAX, 0)],
                                                   &r->builders[index_of(call, "id", BUILDERS_MAX, BUILDERS_MAX - 1)]));
    } else if (!strcmp(method, "input") || !strcmp(method, "constant")) {
        call_input_or_constant(r, call, o);
    } else if (!strcmp(method, "build")) {
        call_build(r, call, o);
    } else if (on_context && !strcmp(method, "destroy")) {
        wnnContextDestroy(context);
    } else if (!strcmp(method, "destroy")) {
        wnnGraphDestroy(r->graphs[index_of(call, "graph", GRAPHS_MAX, 0)]);
    } else if (on_context && !strcmp(method, "lost")) {
        o->is_promise = o->settled = true;
        if (!wnnContextIsLost(context) || !context_lost[index_of(call, "context", CONTEXTS_MAX, 0)])
            set_error(o, WNNStatus_UnknownError, "the promise lost has not resolved");
    } else if (on_context && !strcmp(method, "createTensor")) {
        call_create_tensor(context, first, o);
    } else if (on_context && !strcmp(method, "readTensor")) {
        call_read_tensor(context, r->tensors[index_of(first, "tensor", TENSORS_MAX, 0)], o);
    } else if (on_context && !strcmp(method, "writeTensor")) {
        size_t bytes;
        OWNED(memory) void *p = buffer_bytes(cJSON_GetArrayItem(args, 1), &bytes);

        set_status(o, wnnContextWriteTensor(context, r->tensors[index_of(first, "tensor", TENSORS_MAX, 0)], p, bytes));
    } else if (on_context && !strcmp(method, "dispatch")) {
        call_dispatch(r, context, args, o);
    } else {
        call_operator(r, call, o);
    }
    if (o->operand_count == 1 && member(call, "id"))
        r->operands[index_of(call, "id", OPERANDS_MAX, 0)] = o->operands[0];
    for (int i = 0; ids && i < cJSON_GetArraySize(ids) && (size_t)i < o->operand_count; i++)
        r->operands[cJSON_GetArrayItem(ids, i)->valueint % OPERANDS_MAX] = o->operands[i];
}

void take_results(struct run *r, const cJSON *call, struct outcome *o)
{
    if (o->graph)
        r->graphs[index_of(call, "id", GRAPHS_MAX, GRAPHS_MAX - 1)] = o->graph;
    if (o->tensor)
        r->tensors[index_of(call, "id", TENSORS_MAX, TENSORS_MAX - 1)] = o->tensor;
}
