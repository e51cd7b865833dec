/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Runs one file of the validation data: builder calls (and a few on contexts, graphs, tensors) with the outcome that the
 * specification demands.  In: a JSON file (format: README.md beside the data).  Out: counts and every case that differs; exit
 * status 1 if one does, 77 if the file is not there.
 *
 * Plays the part of a JavaScript binding on top of the public C functions: converts values as Web IDL does (webnn/webnn_call.h),
 * compares typed arrays with data types, keeps promises as futures.
 */
#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "webnn/webnn_call.h"

enum {
    CONTEXTS_MAX = 8,
    BUILDERS_MAX = 8,
    OPERANDS_MAX = 64,
    TENSORS_MAX = 16,
    GRAPHS_MAX = 8,
    VALUES_MAX = 16384,
    PENDING_MAX = 4
};

/** What a call came to. */
struct outcome {
    WNNStatus status;
    bool is_promise;
    size_t operand_count; /* results of an operator */
    WNNOperand operands[OPERANDS_MAX];
    void *data; /* of a read */
    size_t bytes;
    WNNTensor tensor;
    WNNGraph graph;
    char message[1024];
    /* a promise that is not settled yet */
    WNNContext context;
    WNNFuture future;
    bool settled;
};

struct run {
    WNNContext context; /* of builders that no call makes: one for the whole file */
    WNNContext contexts[CONTEXTS_MAX];
    WNNGraphBuilder builders[BUILDERS_MAX];
    WNNOperand operands[OPERANDS_MAX];
    WNNTensor tensors[TENSORS_MAX];
    WNNGraph graphs[GRAPHS_MAX];
    WNNMethodValue values[VALUES_MAX]; /* of the call being made */
    size_t value_count;
};

static int passed, failed, disputed_agree, disputed_differ, limit_refused, limit_accepted;

static void *allocate(size_t size)
{
    void *p = calloc(1, size ? size : 1);

    if (!p) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return p;
}

/* ---- JSON ---- */

/* cJSON's strings end at a NUL, but names in the data contain some: the reader puts a private-use character in their place,
 * which here becomes a NUL again. */
#define NUL_MARK "\xEE\x80\x80"

static char *read_text(const char *path)
{
    FILE *f = fopen(path, "rb");
    char *text, *at;
    long size;

    if (!f)
        return NULL;
    fseek(f, 0, SEEK_END);
    size = ftell(f);
    rewind(f);
    text = allocate((size_t)size + 1);
    if (fread(text, 1, (size_t)size, f) != (size_t)size)
        text[0] = 0;
    fclose(f);
    for (at = text; (at = strstr(at, "\\u0000")); at += 6)
        at[2] = 'e';
    return text;
}

/** A string or member name as a view; buf receives it. */
static WNNStringView view(const char *text, char *buf, size_t size)
{
    size_t length = 0;

    while (*text && length + 1 < size)
        if (!strncmp(text, NUL_MARK, 3)) {
            buf[length++] = 0;
            text += 3;
        } else {
            buf[length++] = *text++;
        }
    buf[length] = 0;
    return (WNNStringView){buf, length};
}

static const cJSON *member(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static const char *text_of(const cJSON *object, const char *name)
{
    const cJSON *m = member(object, name);

    return cJSON_IsString(m) ? m->valuestring : "";
}

/** A member that is a small number, such as {"operand": 3}. */
static int index_of(const cJSON *object, const char *name, int count, int missing)
{
    const cJSON *m = member(object, name);

    if (!m)
        return missing;
    if (!cJSON_IsNumber(m) || m->valuedouble < 0 || m->valuedouble >= count) {
        fprintf(stderr, "\"%s\" is out of the range that this program has room for\n", name);
        exit(1);
    }
    return m->valueint;
}

static bool special_number(const char *text, double *value)
{
    static const struct {
        const char *name;
        double value;
    } names[] = {{"NaN", NAN}, {"Infinity", INFINITY}, {"-Infinity", -INFINITY}, {"-0", -0.0}};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (!strcmp(text, names[i].name)) {
            *value = names[i].value;
            return true;
        }
    return false;
}

static WNNNumber bigint(const char *text)
{
    return text[0] == '-' ? wnnNumberInt64(strtoll(text, NULL, 10)) : wnnNumberUint64(strtoull(text, NULL, 10));
}

static WNNMethodValue to_value(struct run *r, const cJSON *json)
{
    double number;

    if (cJSON_IsNumber(json))
        return wnnMethodValueNumber(wnnNumber(json->valuedouble));
    if (cJSON_IsBool(json))
        return wnnMethodValueBool(cJSON_IsTrue(json));
    if (cJSON_IsString(json))
        return special_number(json->valuestring, &number) ? wnnMethodValueNumber(wnnNumber(number))
                                                          : wnnMethodValueString(WNN_STR(json->valuestring));
    if (cJSON_IsArray(json)) {
        size_t count = (size_t)cJSON_GetArraySize(json), first = r->value_count, i = 0;
        const cJSON *item;

        if (count > VALUES_MAX - first) {
            fprintf(stderr, "a list is too long for this program\n");
            exit(1);
        }
        r->value_count += count;
        cJSON_ArrayForEach(item, json) r->values[first + i++] = to_value(r, item);
        return wnnMethodValueList(count, &r->values[first]);
    }
    if (member(json, "operand"))
        return wnnMethodValueOperand(r->operands[index_of(json, "operand", OPERANDS_MAX, 0)]);
    if (member(json, "bigint"))
        return wnnMethodValueNumber(bigint(text_of(json, "bigint")));
    return wnnMethodValueString((WNNStringView){"[object Object]", 15}); /* {"object": ...}: not what any argument is */
}

/* ---- types ---- */

static WNNOperandDataType data_type(const char *name)
{
    for (int t = 1; t <= 8; t++)
        if (!strcmp(wnnOperandDataTypeGetName((WNNOperandDataType)t), name))
            return (WNNOperandDataType)t;
    return WNNOperandDataType_Undefined;
}

/** The shape, converted with [EnforceRange].  False: out of range. */
static bool to_shape(const cJSON *list, uint32_t shape[64], size_t *rank)
{
    const cJSON *item;

    *rank = 0;
    cJSON_ArrayForEach(item, list)
    {
        if (*rank == 64 || !cJSON_IsNumber(item) || item->valuedouble < 0 || item->valuedouble > UINT32_MAX)
            return false;
        shape[(*rank)++] = (uint32_t)item->valuedouble;
    }
    return true;
}

static bool matches(const cJSON *expect, WNNOperandDataType type, const uint32_t *shape, size_t rank)
{
    uint32_t expected[64];
    size_t count;

    return !strcmp(text_of(expect, "dataType"), wnnOperandDataTypeGetName(type)) &&
           to_shape(member(expect, "shape"), expected, &count) && count == rank &&
           (!count || !memcmp(expected, shape, count * sizeof(*shape)));
}

/* ---- buffers ---- */

static const struct {
    const char *view, *type;
} views[] = {{"Float32Array", "float32"}, {"Float16Array", "float16"},  {"Int32Array", "int32"}, {"Uint32Array", "uint32"},
             {"BigInt64Array", "int64"},  {"BigUint64Array", "uint64"}, {"Int8Array", "int8"},   {"Uint8Array", "uint8"}};

/** The specification's "validate buffer with descriptor", the half about views: float16 may come as integers of 16 bits, since
 * not every engine has a Float16Array. */
static bool view_fits(const char *buffer, const char *type)
{
    if (!strcmp(buffer, "ArrayBuffer") || !strcmp(buffer, "SharedArrayBuffer"))
        return true;
    if (!strcmp(buffer, "Uint16Array"))
        return !strcmp(type, "float16");
    for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++)
        if (!strcmp(buffer, views[i].view))
            return !strcmp(type, views[i].type);
    return false;
}

static double number_of(const cJSON *json)
{
    double value = cJSON_IsNumber(json) ? json->valuedouble : 0;

    if (cJSON_IsString(json))
        special_number(json->valuestring, &value);
    return value;
}

/** The bytes of {"type", "byteLength", "fill" or "data"}.  Only float32 and bytes of 0 have contents in the data. */
static void *buffer_bytes(const cJSON *buffer, size_t *bytes)
{
    const cJSON *fill = member(buffer, "fill"), *data = member(buffer, "data"), *item;
    size_t i = 0;
    void *p;

    *bytes = (size_t)number_of(member(buffer, "byteLength"));
    p = allocate(*bytes);
    if (!strcmp(text_of(buffer, "type"), "Float32Array")) {
        for (size_t k = 0; fill && k < *bytes / sizeof(float); k++)
            ((float *)p)[k] = (float)number_of(fill);
        cJSON_ArrayForEach(item, data) if (i < *bytes / sizeof(float))((float *)p)[i++] = (float)number_of(item);
    } else if ((fill && number_of(fill) != 0) || data) {
        fprintf(stderr, "contents of a %s are not implemented\n", text_of(buffer, "type"));
        exit(1);
    }
    return p;
}

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
    (void)context, (void)message, (void)unused;
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
        void *p = buffer_bytes(buffer, &bytes);

        set_operand(builder, wnnGraphBuilderConstant(builder, &d, p, bytes), o);
        if (member(call, "then"))
            memset(p, 0x41, bytes); /* overwritten or detached: either way the library must have its own copy */
        free(p);
    }
}

static void call_operator(struct run *r, const cJSON *call, struct outcome *o)
{
    WNNMethodCall c = wnnMethodCallCreate(WNN_STR(text_of(call, "method")));
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
        WNNMethodValue v =
            strcmp(item->string, "label") ? to_value(r, item) : wnnMethodValueString(WNN_STR(item->valuestring));

        status = wnnMethodCallOption(c, WNN_STR(item->string), v, true);
    }
    if (!status)
        status = wnnMethodCallInvoke(c, builder_of(r, call));
    set_status(o, status);
    o->operand_count = status ? 0 : wnnMethodCallResultCount(c);
    for (i = 0; i < o->operand_count && i < OPERANDS_MAX; i++)
        o->operands[i] = wnnMethodCallResult(c, i);
    wnnMethodCallDestroy(c);
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
    (void)unused;
    settle(o, status, message);
    ((struct outcome *)o)->graph = graph;
}

static void created(WNNStatus status, WNNTensor tensor, WNNStringView message, void *o, void *unused)
{
    (void)unused;
    settle(o, status, message);
    ((struct outcome *)o)->tensor = tensor;
}

static void was_read(WNNStatus status, WNNStringView message, void *o, void *unused)
{
    (void)unused;
    settle(o, status, message);
}

static void await(struct outcome *o)
{
    WNNStatus status;

    if (!o->is_promise || o->settled || !o->context)
        return;
    status = wnnContextWaitAny(o->context, 1, &o->future, UINT64_MAX);
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

/** Makes one call; its results get the numbers that the data give them. */
static void make_call(struct run *r, const cJSON *call, struct outcome *o)
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
        void *p = buffer_bytes(cJSON_GetArrayItem(args, 1), &bytes);

        set_status(o, wnnContextWriteTensor(context, r->tensors[index_of(first, "tensor", TENSORS_MAX, 0)], p, bytes));
        free(p);
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

/** After a promise has settled: graphs and tensors get their numbers. */
static void take_results(struct run *r, const cJSON *call, struct outcome *o)
{
    if (o->graph)
        r->graphs[index_of(call, "id", GRAPHS_MAX, GRAPHS_MAX - 1)] = o->graph;
    if (o->tensor)
        r->tensors[index_of(call, "id", TENSORS_MAX, TENSORS_MAX - 1)] = o->tensor;
}

/* ---- expectations ---- */

static bool check_data(const cJSON *expect, const struct outcome *o)
{
    const cJSON *data = member(expect, "data"), *item;
    size_t i = 0;

    cJSON_ArrayForEach(item, data)
    {
        if ((i + 1) * sizeof(float) > o->bytes || ((const float *)o->data)[i] != (float)number_of(item))
            return false;
        i++;
    }
    return !data || i * sizeof(float) == o->bytes;
}

/** Whether the outcome is the expected one; else why not. */
static bool agrees(const cJSON *expect, const struct outcome *o, char *why, size_t size)
{
    const cJSON *throws = member(expect, "throws"), *rejects = member(expect, "rejects"),
                *resolves = member(expect, "resolves");
    const cJSON *outputs = member(expect, "outputs"), *item;
    size_t i = 0;

    if (throws || rejects) {
        const char *wanted = (throws ? throws : rejects)->valuestring;

        snprintf(why, size, "expected %s, got %s (%s)", wanted, wnnStatusGetName(o->status), o->message);
        return !strcmp(wnnStatusGetName(o->status), wanted);
    }
    snprintf(why, size, "%s: %s", wnnStatusGetName(o->status), o->message);
    if (o->status)
        return false;
    if (member(expect, "succeeds") || cJSON_IsBool(resolves))
        return true;
    if (resolves) {
        snprintf(why, size, "the values read are not the expected ones");
        return check_data(resolves, o);
    }
    snprintf(why, size, "%zu results instead of %d", o->operand_count, outputs ? cJSON_GetArraySize(outputs) : 1);
    if (o->operand_count != (outputs ? (size_t)cJSON_GetArraySize(outputs) : 1))
        return false;
    snprintf(why, size, "data type or shape differ");
    if (!outputs)
        return matches(expect, wnnOperandGetDataType(o->operands[0]), wnnOperandGetShape(o->operands[0]),
                       wnnOperandGetRank(o->operands[0]));
    cJSON_ArrayForEach(item, outputs)
    {
        if (!matches(item, wnnOperandGetDataType(o->operands[i]), wnnOperandGetShape(o->operands[i]),
                     wnnOperandGetRank(o->operands[i])))
            return false;
        i++;
    }
    return true;
}

/** A refused call's message names the label, if it was given one. */
static bool check_label(const cJSON *call, const struct outcome *o, char *why, size_t size)
{
    const char *label = text_of(member(call, "options"), "label");
    char bracketed[256];

    snprintf(bracketed, sizeof(bracketed), "[%s]", label);
    if (!*label || strstr(o->message, bracketed))
        return true;
    snprintf(why, size, "the message does not name the label %s: %s", bracketed, o->message);
    return false;
}

/** What the last call, or one with an expectation of its own, came to. */
static bool check_outcome(const cJSON *test, const cJSON *call, const cJSON *expect, const struct outcome *o, char *why,
                          size_t size)
{
    bool limit = cJSON_IsTrue(member(test, "limit_dependent"));

    if (limit && !o->status) {
        /* This library's limits are wider than those of the implementation that the data come from. */
        limit_accepted++;
        expect = member(test, "if_accepted");
        if (!expect) {
            snprintf(why, size, "accepted, though not even a dimension is valid");
            return false;
        }
    } else if (limit) {
        limit_refused++;
    }
    if (!agrees(expect, o, why, size))
        return false;
    return o->status != WNNStatus_TypeError || member(test, "idl_conversion") || check_label(call, o, why, size);
}

static void clean(struct run *r)
{
    for (int i = 0; i < GRAPHS_MAX; i++)
        wnnGraphRelease(r->graphs[i]);
    for (int i = 0; i < TENSORS_MAX; i++)
        wnnTensorRelease(r->tensors[i]);
    for (int i = 0; i < BUILDERS_MAX; i++)
        wnnGraphBuilderRelease(r->builders[i]);
    for (int i = 0; i < CONTEXTS_MAX; i++)
        wnnContextRelease(r->contexts[i]);
    memset(r->graphs, 0, sizeof(r->graphs));
    memset(r->tensors, 0, sizeof(r->tensors));
    memset(r->builders, 0, sizeof(r->builders));
    memset(r->contexts, 0, sizeof(r->contexts));
    memset(r->operands, 0, sizeof(r->operands));
}

/** Runs one case.  False with the reason if it differs. */
static bool run_case(struct run *r, const cJSON *test, char *why, size_t size)
{
    static struct outcome last, pending[PENDING_MAX];
    const cJSON *pending_calls[PENDING_MAX], *call;
    int pending_count = 0;
    bool ok = true;

    cJSON_ArrayForEach(call, member(test, "builder_calls"))
    {
        const cJSON *expect = member(call, "expect");
        struct outcome *o = &last;

        if (!ok)
            break;
        if (expect && pending_count < PENDING_MAX) {
            o = &pending[pending_count];
            pending_calls[pending_count++] = call;
        }
        make_call(r, call, o);
        if (expect)
            continue; /* looked at after the last call */
        await(o);
        take_results(r, call, o);
        if (!call->next) {
            ok = check_outcome(test, call, member(test, "expect"), o, why, size);
        } else if (o->status) {
            ok = false;
            snprintf(why, size, "an earlier call, %s, failed: %s", text_of(call, "method"), o->message);
        }
        free(o->data);
        o->data = NULL;
    }
    for (int i = 0; i < pending_count; i++) {
        await(&pending[i]);
        take_results(r, pending_calls[i], &pending[i]);
        ok = ok && check_outcome(test, pending_calls[i], member(pending_calls[i], "expect"), &pending[i], why, size);
        free(pending[i].data);
    }
    clean(r);
    return ok;
}

int main(int argc, char **argv)
{
    static struct run r;
    static char why[2048];
    const cJSON *test;
    cJSON *root;
    char *text;

    if (argc != 2) {
        fprintf(stderr, "usage: %s validation/NAME.json\n", argv[0]);
        return 2;
    }
    text = read_text(argv[1]);
    if (!text) {
        printf("%s is not there: skipped\n", argv[1]);
        return 77;
    }
    root = cJSON_Parse(text);
    free(text);
    if (!root || !cJSON_IsArray(member(root, "cases"))) {
        fprintf(stderr, "%s is not JSON of the expected form\n", argv[1]);
        return 1;
    }
    if (wnnCreateContext(NULL, &r.context)) {
        fprintf(stderr, "no context: %s\n", wnnGetLastErrorMessage().data);
        return 1;
    }
    cJSON_ArrayForEach(test, member(root, "cases"))
    {
        if (run_case(&r, test, why, sizeof(why))) {
            passed++;
        } else {
            failed++;
            printf("differs: %s %s: %s\n", text_of(test, "id"), text_of(test, "name"), why);
        }
    }
    cJSON_ArrayForEach(test, member(root, "disputed"))
    {
        if (run_case(&r, test, why, sizeof(why)))
            disputed_agree++;
        else
            disputed_differ++;
    }
    printf("%d passed, %d differ; of those that depend on limits %d refused and %d accepted", passed, failed, limit_refused,
           limit_accepted);
    if (disputed_agree + disputed_differ)
        printf("; disputed: %d as the suite has it, %d as the text has it", disputed_agree, disputed_differ);
    printf("\n");
    wnnContextRelease(r.context);
    cJSON_Delete(root);
    return failed || !passed;
}
