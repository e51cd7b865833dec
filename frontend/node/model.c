/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Implements what lib/model.js makes its interface of: descriptions of model files, models read into a builder, open models
 * whose graphs are built for the sizes that are asked for, and builds that a program may end.
 */
#include <stdlib.h>
#include <string.h>

#include "frontend/node/convert.h"
#include "frontend/node/mailbox.h"

/* ---- what a program gives ---- */

/** Names a model: a path, or bytes of a file. */
struct model_argument {
    const char *path; /* NULL: the bytes */
    struct buffer_source bytes;
};

static bool convert_model(struct call *c, napi_value value, struct model_argument *out)
{
    napi_valuetype type = napi_undefined;

    *out = (struct model_argument){0};
    napi_typeof(c->env, value, &type);
    return type == napi_string ? convert_path(c, value, "model", &out->path)
                               : convert_buffer_source(c, value, "model, which is no path,", &out->bytes);
}

/** Finds where the bytes of a model are, once nothing else is converted. */
static bool model_bytes(struct call *c, struct model_argument *m)
{
    return m->path || (buffer_bytes(c->environment, m->bytes.value, &m->bytes) &&
                       (m->bytes.data || throw_type(c, "model is detached: its memory has been transferred")));
}

/** Throws what the last call of webnn_model.h on this thread came to; returns true for success. */
static bool throw_model(struct call *c, WNNStatus status)
{
    return throw_status(c, status, wnnModelGetLastErrorMessage());
}

/** Converts a member that is a record; *count is 0 if it is absent. */
static bool record_member(struct call *c, napi_value options, const char *name, enum interface interface,
                          struct record_entry **entries, size_t *count)
{
    napi_value member;

    *count = 0;
    return dictionary_member(c, options, name, &member) &&
           (!member || convert_record(c, member, interface, name, entries, count));
}

static bool convert_dimensions(struct call *c, napi_value options, WNNModelDimension const **out, size_t *count)
{
    struct record_entry *entries;
    WNNModelDimension *list;

    if (!record_member(c, options, "dimensions", RECORD_OF_VALUES, &entries, count) ||
        !(list = call_allocate(c, *count + 1, sizeof(*list))))
        return false;
    for (size_t i = 0; i < *count; i++) {
        list[i].name = entries[i].name;
        if (!convert_unsigned_long(c, entries[i].value, entries[i].name.data, RANGE_ENFORCE, &list[i].size))
            return false;
    }
    *out = list;
    return true;
}

static bool convert_shapes(struct call *c, napi_value options, WNNModelShape const **out, size_t *count)
{
    struct record_entry *entries;
    struct unsigned_longs sizes;
    WNNModelShape *list;

    if (!record_member(c, options, "shapes", RECORD_OF_VALUES, &entries, count) ||
        !(list = call_allocate(c, *count + 1, sizeof(*list))))
        return false;
    for (size_t i = 0; i < *count; i++) {
        if (!convert_unsigned_longs(c, entries[i].value, entries[i].name.data, RANGE_ENFORCE, &sizes))
            return false;
        list[i] = (WNNModelShape){entries[i].name, sizes.count, sizes.items};
    }
    *out = list;
    return true;
}

/** Converts the record of names, each [minSize, maxSize]. */
static bool convert_bounds(struct call *c, napi_value options, WNNModelOptions *out)
{
    struct record_entry *entries;
    struct unsigned_longs sizes;
    WNNDimension *list;

    if (!record_member(c, options, "names", RECORD_OF_VALUES, &entries, &out->nameCount) ||
        !(list = call_allocate(c, out->nameCount + 1, sizeof(*list))))
        return false;
    for (size_t i = 0; i < out->nameCount; i++) {
        if (!convert_unsigned_longs(c, entries[i].value, entries[i].name.data, RANGE_ENFORCE, &sizes))
            return false;
        if (sizes.count != 2)
            return throw_type(c, "names['%.64s'] has %zu bounds, not 2", entries[i].name.data, sizes.count);
        list[i] = (WNNDimension){entries[i].name, sizes.items[0], sizes.items[1]};
    }
    out->names = list;
    return true;
}

/** Converts the record of constants, each {dataType, shape, data}.  Their bytes are located last. */
static bool convert_constants(struct call *c, napi_value options, WNNModelConstant const **out, size_t *count)
{
    struct record_entry *entries;
    struct buffer_source *data;
    WNNModelConstant *list;
    napi_value member;

    if (!record_member(c, options, "constants", RECORD_OF_VALUES, &entries, count) ||
        !(list = call_allocate(c, *count + 1, sizeof(*list))) || !(data = call_allocate(c, *count + 1, sizeof(*data))))
        return false;
    for (size_t i = 0; i < *count; i++) {
        list[i].name = entries[i].name;
        if (!convert_operand_descriptor(c, entries[i].value, &list[i].descriptor) ||
            !dictionary_member(c, entries[i].value, "data", &member))
            return false;
        if (!member)
            return throw_type(c, "constants['%.64s'] has no member data", entries[i].name.data);
        if (!convert_buffer_source(c, member, "data", &data[i]))
            return false;
    }
    for (size_t i = 0; i < *count; i++) {
        if (!buffer_bytes(c->environment, data[i].value, &data[i]) ||
            !buffer_check(c, &data[i], "data", list[i].descriptor.dataType))
            return false;
        list[i].data = data[i].data;
        list[i].byteLength = data[i].length;
    }
    *out = list;
    return true;
}

/** Holds names while they are converted. */
struct names {
    WNNStringView *items;
    size_t count, capacity;
};

static bool take_name(struct call *c, napi_value item, const char *what, void *user)
{
    struct names *list = user;

    (void)what;
    list->items = call_room(c, list->items, list->count, &list->capacity, sizeof(*list->items));
    return list->items && convert_string(c, item, &list->items[list->count++]);
}

static bool convert_outputs(struct call *c, napi_value options, WNNModelOptions *out)
{
    struct names names = {0};
    napi_value member;

    if (!dictionary_member(c, options, "outputs", &member) ||
        (member && !convert_sequence(c, member, "outputs", take_name, &names)))
        return false;
    out->outputCount = names.count;
    out->outputs = names.items;
    return true;
}

static bool convert_operands(struct call *c, napi_value options, WNNNamedOperand **list, size_t *count)
{
    struct record_entry *entries;

    if (!record_member(c, options, "operands", INTERFACE_OPERAND, &entries, count) ||
        !(*list = call_allocate(c, *count + 1, sizeof(**list))))
        return false;
    for (size_t i = 0; i < *count; i++)
        (*list)[i] = (WNNNamedOperand){entries[i].name, entries[i].object->native.operand};
    return true;
}

static bool path_member(struct call *c, napi_value options, const char *name, const char **path)
{
    napi_value member;

    return dictionary_member(c, options, name, &member) && (!member || convert_path(c, member, name, path));
}

/** Reads a member that counts bytes or items; without it *count stays. */
static bool bytes_member(struct call *c, napi_value options, const char *name, size_t *count)
{
    napi_value member;

    return dictionary_member(c, options, name, &member) && (!member || convert_bytes(c, member, name, count));
}

/** Converts ModelOptions.  No JavaScript may run from then on: it could move the bytes of constants, which are found last. */
static bool convert_model_options(struct call *c, napi_value value, WNNModelOptions *out)
{
    static const char *const known[] = {"constants", "dimensions", "folder", "folderLimit", "graphLimit", "names",
                                        "operands",  "outputs",    "path",   "shapes",      "weights",    NULL};

    *out = (WNNModelOptions)WNN_MODEL_OPTIONS_INIT;
    return dictionary_has_only(c, value, known) && convert_dimensions(c, value, &out->dimensions, &out->dimensionCount) &&
           convert_shapes(c, value, &out->shapes, &out->shapeCount) && path_member(c, value, "weights", &out->weightsPath) &&
           path_member(c, value, "path", &out->path) && convert_outputs(c, value, out) && convert_bounds(c, value, out) &&
           convert_constants(c, value, &out->constants, &out->constantCount);
}

/* ---- descriptions ---- */

/** Makes an object without a prototype, in which any name of a file is a property like others. */
static bool create_record(struct call *c, napi_value *record)
{
    napi_value null;

    return succeeded(c->env, napi_get_null(c->env, &null)) &&
           (*record = intrinsic_call(c->environment, INTRINSIC_CREATE, 1, &null));
}

/** Sets the size of a dimension: a number, a name, or null where it is open without one. */
static bool set_dimension(struct call *c, napi_value shape, size_t i, const WNNModelDimension *d)
{
    napi_value value;

    return (d->size          ? succeeded(c->env, napi_create_uint32(c->env, d->size, &value))
            : d->name.length ? string_create(c->env, d->name, &value)
                             : succeeded(c->env, napi_get_null(c->env, &value))) &&
           succeeded(c->env, napi_set_element(c->env, shape, (uint32_t)i, value));
}

/** Describes an input or output as {name, dataType, boolean, shape}; what the file does not say is absent. */
static bool set_declaration(struct call *c, napi_value list, size_t index, const WNNModelDeclaration *d)
{
    napi_value port, shape, boolean;

    if (!succeeded(c->env, napi_create_object(c->env, &port)) || !property_set_string(c, port, "name", d->name) ||
        !succeeded(c->env, napi_get_boolean(c->env, d->boolean, &boolean)) || !property_set(c, port, "boolean", boolean))
        return false;
    if (d->dataType && !property_set_string(c, port, "dataType", WNN_STR(wnnOperandDataTypeGetName(d->dataType))))
        return false;
    if (d->hasShape) {
        if (!succeeded(c->env, napi_create_array_with_length(c->env, d->rank, &shape)))
            return false;
        for (size_t i = 0; i < d->rank; i++)
            if (!set_dimension(c, shape, i, &d->dimensions[i]))
                return false;
        if (!property_set(c, port, "shape", shape))
            return false;
    }
    return succeeded(c->env, napi_set_element(c->env, list, (uint32_t)index, port));
}

static bool set_declarations(struct call *c, napi_value object, const char *name, WNNModelInfo info, size_t count,
                             WNNStatus (*get)(WNNModelInfo, size_t, WNNModelDeclaration *))
{
    napi_value list;
    bool ok = succeeded(c->env, napi_create_array_with_length(c->env, count, &list));

    for (size_t i = 0; ok && i < count; i++) {
        WNNModelDeclaration declaration;

        ok = throw_model(c, get(info, i, &declaration)) && set_declaration(c, list, i, &declaration);
    }
    return ok && property_set(c, object, name, list);
}

static bool set_free_dimensions(struct call *c, napi_value object, WNNModelInfo info)
{
    const size_t count = wnnModelInfoGetFreeDimensionCount(info);
    napi_value record, largest;
    bool ok = create_record(c, &record);

    for (size_t i = 0; ok && i < count; i++) {
        WNNModelFreeDimension d;

        ok = throw_model(c, wnnModelInfoGetFreeDimension(info, i, &d)) &&
             succeeded(c->env, napi_create_uint32(c->env, d.largest, &largest)) &&
             property_set_view(c, record, d.name, largest);
    }
    return ok && property_set(c, object, "dimensions", record);
}

static bool set_metadata(struct call *c, napi_value object, WNNModelInfo info)
{
    const size_t count = wnnModelInfoGetMetadataCount(info);
    napi_value record, value;
    bool ok = create_record(c, &record);

    for (size_t i = 0; ok && i < count; i++) {
        WNNModelMetadata m;

        ok = throw_model(c, wnnModelInfoGetMetadata(info, i, &m)) && string_create(c->env, m.value, &value) &&
             property_set_view(c, record, m.key, value);
    }
    return ok && property_set(c, object, "metadata", record);
}

static napi_value describe_info(struct call *c, WNNModelInfo info)
{
    napi_value object;

    return succeeded(c->env, napi_create_object(c->env, &object)) &&
                   property_set_string(c, object, "name", wnnModelInfoGetName(info)) &&
                   property_set_string(c, object, "format", wnnModelInfoGetFormat(info)) &&
                   set_declarations(c, object, "inputs", info, wnnModelInfoGetInputCount(info), wnnModelInfoGetInput) &&
                   set_declarations(c, object, "outputs", info, wnnModelInfoGetOutputCount(info), wnnModelInfoGetOutput) &&
                   set_free_dimensions(c, object, info) && set_metadata(c, object, info)
               ? object
               : NULL;
}

static napi_value describe_model(struct call *c, struct object *none)
{
    struct object *open = object_of(c->environment, c->arguments[0], INTERFACE_MODEL);
    struct model_argument m;
    napi_value result = NULL;
    WNNModelInfo info = NULL;

    (void)none;
    if (open)
        return (result = describe_info(c, wnnDynamicModelGetInfo(open->native.model))) &&
                       property_set_string(c, result, "notes", wnnDynamicModelGetNotes(open->native.model))
                   ? result
                   : NULL;
    if (convert_model(c, c->arguments[0], &m) && model_bytes(c, &m) &&
        throw_model(c, m.path ? wnnModelDescribe(m.path, &info) : wnnModelDescribeMemory(m.bytes.data, m.bytes.length, &info)))
        result = describe_info(c, info);
    wnnModelInfoRelease(info);
    return result;
}

/* ---- reading into a builder ---- */

static bool set_ports(struct call *c, napi_value object, const char *name, WNNModel model, size_t count,
                      WNNStatus (*get)(WNNModel, size_t, WNNModelPort *))
{
    napi_value record;
    bool ok = create_record(c, &record);

    for (size_t i = 0; ok && i < count; i++) {
        napi_value operand;
        WNNModelPort port;

        ok = throw_model(c, get(model, i, &port));
        if (ok) {
            wnnOperandAddRef(port.operand);
            operand = object_create(c->environment, INTERFACE_OPERAND, port.operand, 0, NULL);
            ok = operand && property_set_view(c, record, port.name, operand);
        }
    }
    return ok && property_set(c, object, name, record);
}

/** Is readModel(builder, model, options): {name, notes, inputs, outputs}, whose operands are the builder's. */
static napi_value read_model(struct call *c, struct object *builder)
{
    struct model_argument m;
    WNNNamedOperand *operands;
    WNNModelOptions options;
    WNNModel model = NULL;
    napi_value object = NULL;
    size_t operand_count;

    if (!convert_model(c, c->arguments[1], &m) || !convert_operands(c, c->arguments[2], &operands, &operand_count) ||
        !convert_model_options(c, c->arguments[2], &options) || !model_bytes(c, &m))
        return NULL;
    options.operands = operands;
    options.operandCount = operand_count;
    options.builder = builder->native.builder;
    if (throw_model(c, m.path ? wnnModelRead(builder->context, m.path, &options, &model)
                              : wnnModelReadMemory(builder->context, m.bytes.data, m.bytes.length, &options, &model)) &&
        (!succeeded(c->env, napi_create_object(c->env, &object)) ||
         !property_set_string(c, object, "name", wnnModelGetName(model)) ||
         !property_set_string(c, object, "notes", wnnModelGetNotes(model)) ||
         !set_ports(c, object, "inputs", model, wnnModelGetInputCount(model), wnnModelGetInput) ||
         !set_ports(c, object, "outputs", model, wnnModelGetOutputCount(model), wnnModelGetOutput)))
        object = NULL;
    wnnModelRelease(model);
    return object;
}

/* ---- open models ---- */

/** Is the flag of the graph that this thread builds: a model has one progress callback for all of them. */
static _Thread_local const int32_t *building_flag;

static bool go_on(WNNBuildStage stage, uint32_t done, uint32_t total, void *userdata1, void *userdata2)
{
    (void)userdata1, (void)userdata2;
    return flag_is_down(stage, done, total, (void *)building_flag, NULL);
}

/** Is loadModel(context, model, options): a Model, whose members are those of lib/model.js. */
static napi_value open_model(struct call *c, struct object *context)
{
    WNNDynamicModelOptions options = WNN_DYNAMIC_MODEL_OPTIONS_INIT;
    WNNModelOptions common;
    WNNDynamicModel model;
    struct model_argument m;
    size_t folder_limit = 0;

    if (!convert_model(c, c->arguments[1], &m) || !path_member(c, c->arguments[2], "folder", &options.folder) ||
        !bytes_member(c, c->arguments[2], "folderLimit", &folder_limit) ||
        !bytes_member(c, c->arguments[2], "graphLimit", &options.graphLimit) ||
        !convert_model_options(c, c->arguments[2], &common) || !model_bytes(c, &m))
        return NULL;
    options.model = &common;
    options.folderLimit = folder_limit;
    options.progress = (WNNBuildProgressCallbackInfo){go_on, NULL, NULL};
    return throw_model(c, m.path ? wnnDynamicModelCreate(context->native.context, m.path, &options, &model)
                                 : wnnDynamicModelCreateFromMemory(context->native.context, m.bytes.data, m.bytes.length,
                                                                   &options, &model))
               ? object_create(c->environment, INTERFACE_MODEL, model, (int64_t)m.bytes.length, NULL)
               : NULL;
}

/** Describes a graph that a thread of Node's pool asks a model for; names and shapes follow in the same memory. */
struct asking {
    struct pending *pending;
    WNNDynamicModel model; /* a reference */
    int32_t *flag;         /* that ends it, in an array that the pending keeps; or NULL */
    WNNModelOptions sizes; /* dimensions and shapes */
    char *text;            /* where the next copy goes */
};

static void *copy(struct asking *a, const void *bytes, size_t length)
{
    void *at = a->text;

    if (length)
        memcpy(at, bytes, length);
    a->text += (length + 7) / 8 * 8;
    return at;
}

/** Copies the sizes, which belong to the call; returns NULL if memory runs out. */
static struct asking *asking_create(const WNNModelOptions *sizes)
{
    size_t bytes = 0;
    struct asking *a;

    for (size_t i = 0; i < sizes->dimensionCount; i++)
        bytes += sizeof(WNNModelDimension) + sizes->dimensions[i].name.length + 8;
    for (size_t i = 0; i < sizes->shapeCount; i++)
        bytes += sizeof(WNNModelShape) + sizes->shapes[i].name.length + sizes->shapes[i].rank * sizeof(uint32_t) + 16;
    if (!(a = calloc(1, sizeof(*a) + bytes)))
        return NULL;
    a->text = (char *)(a + 1);
    a->sizes = *sizes;
    WNNModelDimension *dimensions = copy(a, sizes->dimensions, sizes->dimensionCount * sizeof(*dimensions));
    WNNModelShape *shapes = copy(a, sizes->shapes, sizes->shapeCount * sizeof(*shapes));
    for (size_t i = 0; i < sizes->dimensionCount; i++)
        dimensions[i].name.data = copy(a, dimensions[i].name.data, dimensions[i].name.length);
    for (size_t i = 0; i < sizes->shapeCount; i++) {
        shapes[i].name.data = copy(a, shapes[i].name.data, shapes[i].name.length);
        shapes[i].shape = copy(a, shapes[i].shape, shapes[i].rank * sizeof(uint32_t));
    }
    a->sizes.dimensions = dimensions;
    a->sizes.shapes = shapes;
    return a;
}

/** Runs on a thread of the pool. */
static void asking_run(void *user)
{
    struct asking *a = user;
    WNNGraph graph = NULL;

    building_flag = a->flag;
    WNNStatus status = wnnDynamicModelGetGraph(a->model, a->sizes.dimensionCount, a->sizes.dimensions, a->sizes.shapeCount,
                                               a->sizes.shapes, &graph);
    building_flag = NULL;
    wnnDynamicModelRelease(a->model);
    pending_report(a->pending, status, status ? wnnModelGetLastErrorMessage() : WNN_STRING_VIEW_INIT, graph);
}

/** Is getGraph(model, sizes, flag): a promise of the MLGraph for {dimensions, shapes}. */
static napi_value model_graph(struct call *c, struct object *model)
{
    WNNModelOptions sizes;
    struct asking *a;
    napi_value promise = NULL;

    if (!convert_model_options(c, c->arguments[1], &sizes))
        return NULL;
    if (!(a = asking_create(&sizes)))
        return throw_memory(c);
    a->pending = pending_create(c, settle_graph, drop_graph, &promise);
    if (!a->pending || !keep_flag(c, c->arguments[2], a->pending, &a->flag)) {
        if (a->pending)
            pending_reject(c->environment, a->pending);
        free(a);
        return promise;
    }
    a->model = model->native.model;
    wnnDynamicModelAddRef(a->model);
    if (!run_in_pool(c, "WebNN model", asking_run, a)) {
        wnnDynamicModelRelease(a->model);
        pending_reject(c->environment, a->pending);
        free(a);
    }
    return promise;
}

static napi_value clear_model(struct call *c, struct object *model)
{
    (void)c;
    wnnDynamicModelClear(model->native.model);
    return NULL;
}

/* ---- built graphs ---- */

static bool set_graph_ports(struct call *c, napi_value object, const char *name, WNNGraph graph, size_t count,
                            WNNStatus (*get)(WNNGraph, size_t, WNNNamedOperandDescriptor *))
{
    napi_value record;
    bool ok = create_record(c, &record);

    for (size_t i = 0; ok && i < count; i++) {
        WNNNamedOperandDescriptor d;
        napi_value port, shape;

        ok = throw_last(c, get(graph, i, &d)) && succeeded(c->env, napi_create_object(c->env, &port)) &&
             property_set_string(c, port, "dataType", WNN_STR(wnnOperandDataTypeGetName(d.descriptor.dataType))) &&
             sizes_create(c, d.descriptor.rank, d.descriptor.shape, d.descriptor.dimensions, &shape) &&
             property_set(c, port, "shape", shape) && property_set_view(c, record, d.name, port);
    }
    return ok && property_set(c, object, name, record);
}

/** Is describeGraph(graph): {inputs, outputs}, records of {dataType, shape}. */
static napi_value describe_graph(struct call *c, struct object *o)
{
    WNNGraph g = o->native.graph;
    napi_value object;

    return succeeded(c->env, napi_create_object(c->env, &object)) &&
                   set_graph_ports(c, object, "inputs", g, wnnGraphGetInputCount(g), wnnGraphGetInput) &&
                   set_graph_ports(c, object, "outputs", g, wnnGraphGetOutputCount(g), wnnGraphGetOutput)
               ? object
               : NULL;
}

/* ---- computations that end ---- */

static napi_value create_cancellation(struct call *c, struct object *none)
{
    WNNCancellation cancellation;

    (void)none;
    return throw_last(c, wnnCreateCancellation(&cancellation))
               ? object_create(c->environment, INTERFACE_CANCELLATION, cancellation, 0, NULL)
               : NULL;
}

static napi_value cancel(struct call *c, struct object *o)
{
    (void)c;
    wnnCancellationCancel(o->native.cancellation);
    return NULL;
}

/** Is dispatchCancellable(context, graph, inputs, outputs, cancellation). */
static napi_value dispatch_cancellable(struct call *c, struct object *context)
{
    struct object *cancellation = object_require(c, c->arguments[4], INTERFACE_CANCELLATION, "cancellation");

    if (cancellation)
        dispatch_tensors(c, context, c->arguments + 1, cancellation->native.cancellation);
    return NULL;
}

const struct member model_functions[] = {
    {"describeModel", INTERFACE_COUNT, 1, MEMBER_FUNCTION, describe_model, NULL},
    {"readModel", INTERFACE_BUILDER, 2, MEMBER_FUNCTION, read_model, NULL},
    {"loadModel", INTERFACE_CONTEXT, 2, MEMBER_FUNCTION, open_model, NULL},
    {"getGraph", INTERFACE_MODEL, 1, MEMBER_FUNCTION | MEMBER_PROMISE, model_graph, NULL},
    {"createCancellation", INTERFACE_COUNT, 0, MEMBER_FUNCTION, create_cancellation, NULL},
    {"cancel", INTERFACE_CANCELLATION, 1, MEMBER_FUNCTION, cancel, NULL},
    {"dispatchCancellable", INTERFACE_CONTEXT, 5, MEMBER_FUNCTION, dispatch_cancellable, NULL},
    {"clearModel", INTERFACE_MODEL, 1, MEMBER_FUNCTION, clear_model, NULL},
    {"describeGraph", INTERFACE_GRAPH, 1, MEMBER_FUNCTION, describe_graph, NULL},
    {0},
};
