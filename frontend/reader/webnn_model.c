/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Implements webnn_model.h over the readers of frontend/model: checks and copies options, keeps messages, counts references.
 */
#include "webnn/webnn_model.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/io/file.h"
#include "frontend/model/model.h"

struct WNNModelImpl {
    atomic_size_t references;
    struct model model;
};

/* This is a plain buffer, as the library's own is, so that there is nothing to free when a thread ends. */
static _Thread_local char last_message[4096];

WNNStringView wnnModelGetLastErrorMessage(void)
{
    return (WNNStringView){last_message, strlen(last_message)};
}

static WNNStatus fail(WNNStatus status, const char *message)
{
    snprintf(last_message, sizeof last_message, "%s", message);
    return status;
}

/** Fails with a message that the readers made, and frees it; without one, memory ran out. */
static WNNStatus fail_with(WNNStatus status, char *message)
{
    status = message ? fail(status, message) : fail(WNNStatus_UnknownError, "out of memory");
    free(message);
    return status;
}

/* ---- options ---- */

/** Holds the options as the readers take them; names are copied, since theirs end with a NUL. */
struct request {
    struct model_options options;
    struct model_dim *dims;
    struct model_shape *shapes;
    struct model_constant *constants;
    struct npy_array *arrays; /* of the constants; their elements are the caller's */
    size_t name_count;
    char **names; /* room for all dims, shapes and constants */
};

static void request_free(struct request *r)
{
    for (size_t i = 0; i < r->name_count; i++)
        free(r->names[i]);
    free(r->names);
    free(r->dims);
    free(r->shapes);
    free(r->constants);
    free(r->arrays);
}

static WNNStatus check_size(const WNNModelOptions *o)
{
    const unsigned char *bytes = (const unsigned char *)o;

    if (o->structSize && o->structSize < sizeof *o)
        return fail(WNNStatus_TypeError, "model options: structSize is smaller than any WNNModelOptions has been; begin with "
                                         "WNN_MODEL_OPTIONS_INIT");
    for (size_t i = sizeof *o; i < o->structSize; i++)
        if (bytes[i])
            return fail(WNNStatus_TypeError,
                        "model options: a member is set that this version of libwebnn_model does not know");
    if ((o->dimensionCount && !o->dimensions) || (o->shapeCount && !o->shapes) || (o->constantCount && !o->constants))
        return fail(WNNStatus_TypeError, "model options: a list has a count but no elements (NULL)");
    return WNNStatus_Success;
}

static WNNStatus copy_name(struct request *r, WNNStringView view, const char **name)
{
    size_t length = view.length == WNN_STRLEN && view.data ? strlen(view.data) : view.length;
    char *copy;

    if (!view.data || !length || memchr(view.data, 0, length))
        return fail(WNNStatus_TypeError, "model options: a name is empty or holds a NUL byte");
    copy = strndup(view.data, length);
    if (!copy)
        return fail(WNNStatus_UnknownError, "out of memory");
    *name = r->names[r->name_count++] = copy;
    return WNNStatus_Success;
}

static WNNStatus copy_shape(const char *name, size_t rank, const uint32_t *from, uint32_t *to)
{
    char text[200], shown[64];

    if (rank > NPY_RANK_MAX || (rank && !from)) {
        snprintf(text, sizeof text, "model options: the shape given for input \"%s\" has rank %zu, up to %d is possible",
                 escape_text(shown, sizeof shown, name, strlen(name)), rank, NPY_RANK_MAX);
        return fail(WNNStatus_TypeError, rank > NPY_RANK_MAX ? text : "model options: a shape has a rank but no sizes (NULL)");
    }
    if (rank)
        memcpy(to, from, rank * sizeof *to);
    return WNNStatus_Success;
}

/** Returns the bytes of all elements, or SIZE_MAX if that is more than a size can say. */
static size_t byte_length(const WNNOperandDescriptor *d)
{
    size_t bytes = wnnOperandDataTypeGetByteSize(d->dataType);

    for (size_t i = 0; i < d->rank; i++)
        if (__builtin_mul_overflow(bytes, d->shape[i], &bytes))
            return SIZE_MAX;
    return bytes;
}

static WNNStatus copy_constant(const WNNModelConstant *from, const char *name, struct npy_array *array)
{
    WNNStatus status = copy_shape(name, from->descriptor.rank, from->descriptor.shape, array->shape);
    char text[200], shown[64];

    if (status)
        return status;
    if (!wnnOperandDataTypeGetByteSize(from->descriptor.dataType))
        return fail(WNNStatus_TypeError, "model options: a constant has an unknown data type");
    array->dataType = from->descriptor.dataType;
    array->rank = from->descriptor.rank;
    array->byteLength = byte_length(&from->descriptor);
    array->data = (void *)from->data;
    if (from->data && array->byteLength && array->byteLength != SIZE_MAX && array->byteLength == from->byteLength)
        return WNNStatus_Success;
    snprintf(text, sizeof text, "model options: the constant given for input \"%s\" has %zu bytes, its descriptor says %zu",
             escape_text(shown, sizeof shown, name, strlen(name)), from->data ? from->byteLength : 0, array->byteLength);
    return fail(WNNStatus_TypeError, text);
}

static WNNStatus request_fill(struct request *r, const WNNModelOptions *o)
{
    WNNStatus status = WNNStatus_Success;

    for (size_t i = 0; !status && i < o->dimensionCount; i++) {
        r->dims[i].size = o->dimensions[i].size;
        status = o->dimensions[i].size
                     ? copy_name(r, o->dimensions[i].name, &r->dims[i].name)
                     : fail(WNNStatus_TypeError, "model options: a dimension has size 0, which no tensor has");
    }
    for (size_t i = 0; !status && i < o->shapeCount; i++) {
        r->shapes[i].rank = o->shapes[i].rank;
        status = copy_name(r, o->shapes[i].name, &r->shapes[i].name);
        if (!status)
            status = copy_shape(r->shapes[i].name, o->shapes[i].rank, o->shapes[i].shape, r->shapes[i].dims);
    }
    for (size_t i = 0; !status && i < o->constantCount; i++) {
        r->constants[i].array = &r->arrays[i];
        status = copy_name(r, o->constants[i].name, &r->constants[i].name);
        if (!status)
            status = copy_constant(&o->constants[i], r->constants[i].name, &r->arrays[i]);
    }
    return status;
}

/** Makes the readers' options; request_free gives them back in any case. */
static WNNStatus request_make(struct request *r, const WNNModelOptions *o)
{
    WNNStatus status = check_size(o);
    size_t names;

    if (status)
        return status;
    if (__builtin_add_overflow(o->dimensionCount, o->shapeCount, &names) ||
        __builtin_add_overflow(names, o->constantCount, &names) || names == SIZE_MAX)
        return fail(WNNStatus_TypeError, "model options: the counts of the lists overflow");
    r->names = calloc(names + 1, sizeof *r->names);
    r->dims = calloc(o->dimensionCount + 1, sizeof *r->dims);
    r->shapes = calloc(o->shapeCount + 1, sizeof *r->shapes);
    r->constants = calloc(o->constantCount + 1, sizeof *r->constants);
    r->arrays = calloc(o->constantCount + 1, sizeof *r->arrays);
    if (!r->names || !r->dims || !r->shapes || !r->constants || !r->arrays)
        return fail(WNNStatus_UnknownError, "out of memory");
    r->options = (struct model_options){.dim_count = o->dimensionCount,
                                        .shape_count = o->shapeCount,
                                        .constant_count = o->constantCount,
                                        .dims = r->dims,
                                        .shapes = r->shapes,
                                        .constants = r->constants,
                                        .weights = o->weightsPath,
                                        .budget = o->budget};
    return request_fill(r, o);
}

/* ---- reading ---- */

/** Says where a model comes from: the file at path, or, if bytes is not NULL, memory, with path beside which its files lie. */
struct source {
    const char *path;
    const void *bytes;
    size_t length;
};

static WNNStatus read_source(WNNContext context, const struct source *from, const WNNModelOptions *options, WNNModel *model)
{
    static const WNNModelOptions none = WNN_MODEL_OPTIONS_INIT;
    struct WNNModelImpl *made = calloc(1, sizeof *made);
    struct request r = {0};
    char *message = NULL;
    WNNStatus status = made ? request_make(&r, options ? options : &none) : fail(WNNStatus_UnknownError, "out of memory");

    if (!status) {
        struct model *into = &made->model;
        bool ok = from->bytes ? model_read_memory(context, from->path, from->bytes, from->length, &r.options, into, &message)
                              : model_read(context, from->path, &r.options, into, &message);

        if (!ok)
            status = fail_with(WNNStatus_DataError, message);
    }
    request_free(&r);
    if (status) {
        free(made);
        return status;
    }
    atomic_init(&made->references, 1);
    *model = made;
    return WNNStatus_Success;
}

WNNStatus wnnModelRead(WNNContext context, char const *path, WNNModelOptions const *options, WNNModel *model)
{
    *model = NULL;
    if (!path)
        return fail(WNNStatus_TypeError, "wnnModelRead: there is no path (NULL)");
    return read_source(context, &(struct source){.path = path}, options, model);
}

WNNStatus wnnModelReadMemory(WNNContext context, void const *data, size_t byteLength, WNNModelOptions const *options,
                             WNNModel *model)
{
    /* No folder can be at this path, so that a model without a place of its own opens no file. */
    const char *path = options && options->path ? options->path : "/dev/null/memory";

    *model = NULL;
    if (!data)
        return fail(WNNStatus_TypeError, "wnnModelReadMemory: there are no bytes (NULL)");
    return read_source(context, &(struct source){path, data, byteLength}, options, model);
}

/* ---- what was read ---- */

void wnnModelAddRef(WNNModel model)
{
    atomic_fetch_add_explicit(&model->references, 1, memory_order_relaxed);
}

void wnnModelRelease(WNNModel model)
{
    if (!model || atomic_fetch_sub_explicit(&model->references, 1, memory_order_acq_rel) > 1)
        return;
    model_free(&model->model);
    free(model);
}

static WNNStringView text_view(const char *text)
{
    return text ? (WNNStringView){text, strlen(text)} : (WNNStringView){"", 0};
}

WNNStringView wnnModelGetName(WNNModel model)
{
    return text_view(model->model.name);
}

WNNStringView wnnModelGetNotes(WNNModel model)
{
    return text_view(model->model.notes);
}

size_t wnnModelGetInputCount(WNNModel model)
{
    return model->model.input_count;
}

size_t wnnModelGetOutputCount(WNNModel model)
{
    return model->model.output_count;
}

static WNNStatus describe(const char *what, const struct model_port *ports, size_t count, size_t index, WNNModelPort *port)
{
    char text[120];

    if (index >= count) {
        snprintf(text, sizeof text, "the model has %zu %s, number %zu is asked for (the first is 0)", count, what, index);
        return fail(WNNStatus_TypeError, text);
    }
    *port =
        (WNNModelPort){text_view(ports[index].name), ports[index].operand, ports[index].descriptor, ports[index].is_boolean};
    return WNNStatus_Success;
}

WNNStatus wnnModelGetInput(WNNModel model, size_t index, WNNModelPort *port)
{
    return describe("inputs", model->model.inputs, model->model.input_count, index, port);
}

WNNStatus wnnModelGetOutput(WNNModel model, size_t index, WNNModelPort *port)
{
    return describe("outputs", model->model.outputs, model->model.output_count, index, port);
}

WNNGraphBuilder wnnModelGetBuilder(WNNModel model)
{
    return model->model.builder;
}

WNNStatus wnnModelBuild(WNNModel model, WNNGraph *graph)
{
    char *message = NULL;
    WNNStatus status = model_build(&model->model, graph, &message);

    return status ? fail_with(status, message) : WNNStatus_Success;
}
