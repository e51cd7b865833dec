/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Implements what the C API has beyond the specification: options of contexts, devices, states and quantized weights of graphs,
 * saved graphs, and what drafts add: names in shapes, computeShapes, low precision's data types. */
#include <stdlib.h>
#include <string.h>

#include "frontend/node/convert.h"
#include "frontend/node/mailbox.h"

static const char *const engines[] = {"auto", "cpu", "gpu", NULL}; /* as WNNEngine */

/* ---- createContext ---- */

/** Converts the options that are not part of MLContextOptions, by name. */
static bool convert_own_options(struct call *c, napi_value value, WNNContextOptions *out)
{
    static const char *const precisions[] = {"float32", "bf16x2", "bf16", "int8", NULL}; /* as WNNPrecision */
    napi_value member;
    size_t index;

    if (!dictionary_member(c, value, "deterministic", &member) ||
        (member && !convert_boolean(c, member, &out->deterministic)) ||
        !dictionary_member(c, value, "draftDataTypes", &member) ||
        (member && !convert_boolean(c, member, &out->draftDataTypes)) || !dictionary_member(c, value, "cache", &member) ||
        (member && !convert_string(c, member, &out->cache)) || !dictionary_member(c, value, "device", &member) ||
        (member && !convert_string(c, member, &out->device)) || !dictionary_member(c, value, "memoryLimit", &member) ||
        (member && !convert_bytes(c, member, "memoryLimit", &out->memoryLimit)) ||
        !dictionary_member(c, value, "engine", &member))
        return false;
    if (member) {
        if (!convert_enumeration(c, member, "engine", engines, &index))
            return false;
        out->engine = (WNNEngine)index;
    }
    if (!dictionary_member(c, value, "precision", &member))
        return false;
    if (member) {
        if (!convert_enumeration(c, member, "precision", precisions, &index))
            return false;
        out->precision = (WNNPrecision)index;
    }
    return dictionary_member(c, value, "threadCount", &member) &&
           (!member || convert_unsigned_long(c, member, "threadCount", RANGE_ENFORCE, &out->threadCount));
}

/** Finds a member that is a function; *out is NULL if it is absent. */
static bool function_member(struct call *c, napi_value options, const char *name, napi_value *out)
{
    napi_valuetype type = napi_undefined;

    return dictionary_member(c, options, name, out) &&
           (!*out || (napi_typeof(c->env, *out, &type) == napi_ok && type == napi_function) ||
            throw_type(c, "%s is not a function", name));
}

static napi_value extension_create_context(struct call *c, struct object *none)
{
    static const char *const known[] = {
        "accelerated", "cache", "computed",    "deterministic",   "device",    "deviceType",  "draftDataTypes",
        "engine",      "log",   "memoryLimit", "powerPreference", "precision", "threadCount", NULL};
    struct context_callbacks callbacks = {0};
    WNNContextOptions options;
    napi_value older;

    (void)none;
    if (!dictionary_has_only(c, c->arguments[0], known) || !convert_context_options(c, c->arguments[0], &options) ||
        !convert_own_options(c, c->arguments[0], &options) || !function_member(c, c->arguments[0], "log", &callbacks.log) ||
        !function_member(c, c->arguments[0], "computed", &callbacks.computed) ||
        !dictionary_member(c, c->arguments[0], "deviceType", &older))
        return NULL;
    if (callbacks.log && older)
        callbacks.warning = "createContext: there is no option \"deviceType\", it is ignored: it is of an older draft, "
                            "accelerated and powerPreference say what is wanted";
    return create_context(c, &options, &callbacks);
}

/* ---- devices ---- */

/** Returns {kind, name, platform, lacks, memoryBytes, bufferBytes}. */
static napi_value describe_device(struct call *c, const WNNDeviceInfo *device)
{
    static const char *const kinds[] = {"other", "cpu", "gpu", "accelerator"}; /* as WNNDeviceKind */
    napi_value object;

    if (!succeeded(c->env, napi_create_object(c->env, &object)) ||
        !property_set_string(c, object, "kind", WNN_STR(kinds[device->kind])) ||
        !property_set_string(c, object, "name", WNN_STR(device->name)) ||
        !property_set_string(c, object, "platform", WNN_STR(device->platform)) ||
        !property_set_string(c, object, "lacks", WNN_STR(device->lacks)) ||
        !property_set_number(c, object, "memoryBytes", device->memoryBytes) ||
        !property_set_number(c, object, "bufferBytes", device->bufferBytes))
        return NULL;
    return object;
}

static napi_value extension_list_devices(struct call *c, struct object *none)
{
    napi_value result = NULL, object;
    WNNDeviceInfo device;

    (void)none;
    if (!succeeded(c->env, napi_create_array(c->env, &result)))
        return NULL;
    for (uint32_t i = 0; wnnGetDevice(i, &device); i++)
        if (!(object = describe_device(c, &device)) || !succeeded(c->env, napi_set_element(c->env, result, i, object)))
            return NULL;
    return result;
}

static napi_value extension_get_device(struct call *c, struct object *context)
{
    WNNDeviceInfo device;

    wnnContextGetDevice(context->native.context, &device);
    return describe_device(c, &device);
}

/* ---- what a builder is told before it builds ---- */

static napi_value extension_set_states(struct call *c, struct object *builder)
{
    struct record_entry *entries;
    WNNNamedState *states;
    size_t count;

    if (!convert_record(c, c->arguments[1], RECORD_OF_STRINGS, "states", &entries, &count) ||
        !(states = call_allocate(c, count + 1, sizeof(*states))))
        return NULL;
    for (size_t i = 0; i < count; i++)
        states[i] = (WNNNamedState){entries[i].name, entries[i].text};
    throw_last(c, wnnGraphBuilderSetStates(builder->native.builder, count, states));
    return NULL;
}

static napi_value extension_quantize_weights(struct call *c, struct object *builder)
{
    static const char *const formats[] = {"none", "int8", "int4", NULL}; /* as WNNWeightFormat */
    size_t index;

    if (convert_enumeration(c, c->arguments[1], "format", formats, &index))
        throw_last(c, wnnGraphBuilderQuantizeWeights(builder->native.builder, (WNNWeightFormat)index));
    return NULL;
}

static napi_value extension_get_quantized_weights(struct call *c, struct object *graph)
{
    static const char *const names[] = {"matrices", "bytesBefore", "bytesAfter"};
    WNNQuantizedWeights w;

    wnnGraphGetQuantizedWeights(graph->native.graph, &w);
    return numbers_create(c, 3, names, (uint64_t[]){w.matrices, w.bytesBefore, w.bytesAfter});
}

/* ---- variants of graphs with named dimensions ---- */

static napi_value extension_get_variant_counts(struct call *c, struct object *graph)
{
    static const char *const names[] = {"built", "found", "evicted", "held"};
    WNNGraphVariantCounts counts;

    wnnGraphGetVariantCounts(graph->native.graph, &counts);
    return numbers_create(c, 4, names, (uint64_t[]){counts.built, counts.found, counts.evicted, counts.held});
}

static napi_value extension_set_variant_limit(struct call *c, struct object *graph)
{
    uint32_t limit;

    if (convert_unsigned_long(c, c->arguments[1], "limit", RANGE_ENFORCE, &limit))
        wnnGraphSetVariantLimit(graph->native.graph, limit);
    return NULL;
}

/* ---- saved graphs ---- */

/** Describes a graph that a thread of Node's pool writes to a file. */
struct saving {
    struct pending *pending;
    WNNGraph graph; /* a reference */
    char path[];
};

/** Runs on a thread of the pool. */
static void saving_run(void *user)
{
    struct saving *saving = user;
    WNNStatus status = wnnGraphSave(saving->graph, saving->path);

    wnnGraphRelease(saving->graph);
    pending_report(saving->pending, status, status ? wnnGetLastErrorMessage() : WNN_STRING_VIEW_INIT, NULL);
}

static napi_value settle_saving(struct environment *e, struct pending *p)
{
    napi_value undefined;

    (void)p;
    return succeeded(e->env, napi_get_undefined(e->env, &undefined)) ? undefined : NULL;
}

static napi_value extension_save_graph(struct call *c, struct object *graph)
{
    struct saving *saving;
    napi_value promise;
    const char *path;

    if (!convert_path(c, c->arguments[1], "path", &path))
        return NULL;
    if (!(saving = calloc(1, sizeof(*saving) + strlen(path) + 1)))
        return throw_memory(c);
    strcpy(saving->path, path);
    if (!(saving->pending = pending_create(c, settle_saving, NULL, &promise))) {
        free(saving);
        return NULL;
    }
    saving->graph = graph->native.graph;
    wnnGraphAddRef(saving->graph);
    if (!run_in_pool(c, "WebNN saveGraph", saving_run, saving)) {
        wnnGraphRelease(saving->graph);
        pending_reject(c->environment, saving->pending);
        free(saving);
    }
    return promise;
}

static napi_value extension_load_graph(struct call *c, struct object *context)
{
    napi_value promise = NULL;
    struct pending *p;
    const char *path;

    if (convert_path(c, c->arguments[1], "path", &path) && (p = pending_create(c, settle_graph, drop_graph, &promise))) {
        WNNBuildCallbackInfo callback = {WNNCallbackMode_AllowSpontaneous, report_graph, p, NULL};

        wnnContextLoadGraphAsync(context->native.context, path, callback);
    }
    return promise;
}

static napi_value extension_get_file_engine(struct call *c, struct object *none)
{
    napi_value result;
    WNNEngine engine;
    const char *path;

    (void)none;
    return convert_path(c, c->arguments[0], "path", &path) && throw_last(c, wnnGetFileEngine(path, &engine)) &&
                   string_create(c->env, WNN_STR(engines[engine]), &result)
               ? result
               : NULL;
}

/** Is buildGraph(builder, outputs, flag): build, with a flag that ends it. */
static napi_value extension_build_graph(struct call *c, struct object *builder)
{
    return begin_build(c, builder, c->arguments[1], c->arguments[2]);
}

const struct member extension_members[] = {
    {"createContext", INTERFACE_COUNT, 0, MEMBER_FUNCTION | MEMBER_PROMISE, extension_create_context, NULL},
    {"buildGraph", INTERFACE_BUILDER, 2, MEMBER_FUNCTION | MEMBER_PROMISE, extension_build_graph, NULL},
    {"setStates", INTERFACE_BUILDER, 2, MEMBER_FUNCTION, extension_set_states, NULL},
    {"quantizeWeights", INTERFACE_BUILDER, 2, MEMBER_FUNCTION, extension_quantize_weights, NULL},
    {"getQuantizedWeights", INTERFACE_GRAPH, 1, MEMBER_FUNCTION, extension_get_quantized_weights, NULL},
    {"getVariantCounts", INTERFACE_GRAPH, 1, MEMBER_FUNCTION, extension_get_variant_counts, NULL},
    {"setVariantLimit", INTERFACE_GRAPH, 2, MEMBER_FUNCTION, extension_set_variant_limit, NULL},
    {"listDevices", INTERFACE_COUNT, 0, MEMBER_FUNCTION, extension_list_devices, NULL},
    {"getDevice", INTERFACE_CONTEXT, 1, MEMBER_FUNCTION, extension_get_device, NULL},
    {"saveGraph", INTERFACE_GRAPH, 2, MEMBER_FUNCTION | MEMBER_PROMISE, extension_save_graph, NULL},
    {"loadGraph", INTERFACE_CONTEXT, 2, MEMBER_FUNCTION | MEMBER_PROMISE, extension_load_graph, NULL},
    {"getFileEngine", INTERFACE_COUNT, 1, MEMBER_FUNCTION, extension_get_file_engine, NULL},
    {0},
};

/* ---- what drafts add to interfaces, but for their operators ---- */

/** Converts MLNamedShapes. */
static bool convert_shapes(struct call *c, napi_value value, WNNNamedShape **shapes, size_t *count)
{
    struct record_entry *entries;
    struct unsigned_longs list;

    if (!convert_record(c, value, RECORD_OF_VALUES, "inputShapes", &entries, count) ||
        !(*shapes = call_allocate(c, *count + 1, sizeof(**shapes))))
        return false;
    for (size_t i = 0; i < *count; i++) {
        WNNNamedShape *shape = &(*shapes)[i];

        if (!convert_unsigned_longs(c, entries[i].value, "a shape of inputShapes", RANGE_ENFORCE, &list))
            return false;
        shape->name = entries[i].name;
        shape->rank = list.count; /* no input has more than there is room for */
        memcpy(shape->shape, list.items, (list.count < WNN_RANK_MAX ? list.count : WNN_RANK_MAX) * sizeof(*list.items));
    }
    return true;
}

static napi_value graph_compute_shapes(struct call *c, struct object *o)
{
    const size_t output_count = wnnGraphGetOutputCount(o->native.graph);
    WNNNamedShape *inputs, *outputs = call_allocate(c, output_count + 1, sizeof(*outputs));
    napi_value result, shape;
    size_t count;

    if (!outputs || !convert_shapes(c, c->arguments[0], &inputs, &count) ||
        !throw_last(c, wnnGraphComputeShapes(o->native.graph, count, inputs, output_count, outputs)) ||
        !succeeded(c->env, napi_create_object(c->env, &result)))
        return NULL;
    for (size_t i = 0; i < output_count; i++)
        if (!sizes_create(c, outputs[i].rank, outputs[i].shape, NULL, &shape) ||
            !property_set_view(c, result, outputs[i].name, shape))
            return NULL;
    return result;
}

const struct member draft_members[] = {
    {"createContext", INTERFACE_ML, 0, MEMBER_PROMISE | MEMBER_DRAFT, ml_create_context, NULL},
    {"input", INTERFACE_BUILDER, 2, MEMBER_DRAFT, builder_input, NULL},
    {"computeShapes", INTERFACE_GRAPH, 1, MEMBER_DRAFT, graph_compute_shapes, NULL},
    {0},
};
