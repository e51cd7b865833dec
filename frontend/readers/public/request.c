/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Keeps messages, and checks and copies the options that programs give (frontend/readers/public/reader.h). */
#include "frontend/readers/public/reader.h"

#include "frontend/readers/files/file.h"
#include "ir/support/struct_size.h"

/* ---- messages ---- */

/* This is a plain buffer, as the library's own is, so that there is nothing to free when a thread ends. */
static _Thread_local struct error last;

WNNStringView wnnModelGetLastErrorMessage(void)
{
    return (WNNStringView){last.message, strlen(last.message)};
}

WNNStatus reader_publish(const struct error *e)
{
    if (e->status)
        last = *e;
    return e->status;
}

WNNStatus reader_refuse(const char *format, ...)
{
    WITH_ARGUMENTS(format, vsnprintf(last.message, sizeof last.message, format, arguments));
    return last.status = WNNStatus_TypeError;
}

WNNStatus reader_no_memory(void)
{
    last = (struct error){WNNStatus_UnknownError, "out of memory"};
    return last.status;
}

WNNStringView reader_view(const char *text)
{
    return text ? (WNNStringView){text, strlen(text)} : (WNNStringView){"", 0};
}

/* ---- options ---- */

/** Reads the options of a program of any version into *out, and checks that lists are there. */
static WNNStatus read_options(WNNModelOptions *out, const WNNModelOptions *given)
{
    static const WNNModelOptions defaults = WNN_MODEL_OPTIONS_INIT;
    static const struct known_struct known = {sizeof defaults, STRUCT_FIRST_SIZE(WNNModelOptions, budget), &defaults,
                                              "WNN_MODEL_OPTIONS_INIT"};
    char text[400];
    const char *wrong = struct_read(out, given ? given : &defaults, &known, text, sizeof text);

    if (wrong)
        return reader_refuse("model options: %s", wrong);
    if ((out->dimensionCount && !out->dimensions) || (out->shapeCount && !out->shapes) ||
        (out->constantCount && !out->constants) || (out->operandCount && !out->operands) ||
        (out->outputCount && !out->outputs) || (out->nameCount && !out->names))
        return reader_refuse("model options: a list has a count but no elements (NULL)");
    if (out->operandCount && !out->builder)
        return reader_refuse("model options: operands take the place of inputs, but there is no builder that "
                             "they belong to");
    return WNNStatus_Success;
}

static WNNStatus copy_name(struct request *r, WNNStringView view, const char **name)
{
    const size_t length = view_length(view);

    if (!length || memchr(view.data, 0, length))
        return reader_refuse("model options: a name is empty or holds a NUL byte");
    *name = arena_string(&r->memory, view.data, length);
    return *name ? WNNStatus_Success : reader_no_memory();
}

static WNNStatus copy_shape(const char *name, size_t rank, const uint32_t *from, uint32_t *to)
{
    if (rank > NPY_RANK_MAX)
        return reader_refuse("model options: the shape given for input \"%s\" has rank %zu, up to %d is possible",
                             NAME_SHOWN(name), rank, NPY_RANK_MAX);
    if (rank && !from)
        return reader_refuse("model options: a shape has a rank but no sizes (NULL)");
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

    if (status)
        return status;
    if (!wnnOperandDataTypeGetByteSize(from->descriptor.dataType))
        return reader_refuse("model options: a constant has an unknown data type");
    array->dataType = from->descriptor.dataType;
    array->rank = from->descriptor.rank;
    array->byteLength = byte_length(&from->descriptor);
    array->data = (void *)(from->data || array->byteLength ? from->data : ""); /* without elements there need be no data */
    if (array->data && array->byteLength != SIZE_MAX && array->byteLength == from->byteLength)
        return WNNStatus_Success;
    return reader_refuse("model options: the constant given for input \"%s\" has %zu bytes, its descriptor says %zu",
                         NAME_SHOWN(name), from->data ? from->byteLength : 0, array->byteLength);
}

/** Copies the lists, which have room. */
static WNNStatus request_fill(struct request *r, const WNNModelOptions *o)
{
    WNNStatus status = WNNStatus_Success;

    for (size_t i = 0; !status && i < o->dimensionCount; i++) {
        r->dims[i].size = o->dimensions[i].size;
        status = copy_name(r, o->dimensions[i].name, &r->dims[i].name);
        if (!status && r->dims[i].size > INT32_MAX)
            status = reader_refuse("model options: dimension \"%s\" is %u, up to %d is possible", NAME_SHOWN(r->dims[i].name),
                                   r->dims[i].size, INT32_MAX);
    }
    for (size_t i = 0; !status && i < o->shapeCount; i++) {
        r->shapes[i].rank = o->shapes[i].rank;
        status = copy_name(r, o->shapes[i].name, &r->shapes[i].name);
        if (!status)
            status = copy_shape(r->shapes[i].name, o->shapes[i].rank, o->shapes[i].shape, r->shapes[i].dims);
        for (size_t d = 0; !status && d < o->shapes[i].rank; d++)
            if (r->shapes[i].dims[d] > INT32_MAX)
                status = reader_refuse("model options: dimension %zu of the shape given for input \"%s\" is %u, up to %d is "
                                       "possible",
                                       d, NAME_SHOWN(r->shapes[i].name), r->shapes[i].dims[d], INT32_MAX);
    }
    for (size_t i = 0; !status && i < o->constantCount; i++) {
        r->constants[i].array = &r->arrays[i];
        status = copy_name(r, o->constants[i].name, &r->constants[i].name);
        if (!status)
            status = copy_constant(&o->constants[i], r->constants[i].name, &r->arrays[i]);
    }
    for (size_t i = 0; !status && i < o->operandCount; i++) {
        r->bindings[i].operand = o->operands[i].operand;
        status = r->bindings[i].operand ? copy_name(r, o->operands[i].name, &r->bindings[i].name)
                                        : reader_refuse("model options: an operand is NULL");
    }
    for (size_t i = 0; !status && i < o->outputCount; i++)
        status = copy_name(r, o->outputs[i], &r->outputs[i]);
    for (size_t i = 0; !status && i < o->nameCount; i++) {
        const char *name;

        status = copy_name(r, o->names[i].name, &name);
        r->names[i] = o->names[i];
        if (!status)
            r->names[i].name = (WNNStringView){name, strlen(name)};
    }
    return status;
}

WNNStatus request_make(struct request *r, const WNNModelOptions *given)
{
    WNNModelOptions options, *o = &options;
    WNNStatus status = read_options(o, given);

    if (status)
        return status;
    r->dims = arena_array(&r->memory, o->dimensionCount, sizeof *r->dims);
    r->shapes = arena_array(&r->memory, o->shapeCount, sizeof *r->shapes);
    r->constants = arena_array(&r->memory, o->constantCount, sizeof *r->constants);
    r->arrays = arena_array(&r->memory, o->constantCount, sizeof *r->arrays);
    r->bindings = arena_array(&r->memory, o->operandCount, sizeof *r->bindings);
    r->outputs = arena_array(&r->memory, o->outputCount, sizeof *r->outputs);
    r->names = arena_array(&r->memory, o->nameCount, sizeof *r->names);
    if (!r->names || !r->outputs || !r->dims || !r->shapes || !r->constants || !r->arrays || !r->bindings)
        return reader_no_memory();
    r->options = (struct model_options){.dim_count = o->dimensionCount,
                                        .shape_count = o->shapeCount,
                                        .constant_count = o->constantCount,
                                        .dims = r->dims,
                                        .shapes = r->shapes,
                                        .constants = r->constants,
                                        .binding_count = o->operandCount,
                                        .bindings = r->bindings,
                                        .output_count = o->outputCount,
                                        .outputs = r->outputs,
                                        .builder = o->builder,
                                        .weights = o->weightsPath,
                                        .budget = o->budget,
                                        .name_count = o->nameCount,
                                        .names = r->names};
    return request_fill(r, o);
}

bool request_keep_constants(struct request *r)
{
    const char *weights = r->options.weights;
    bool ok = !weights || (r->options.weights = arena_string(&r->memory, weights, strlen(weights)));

    for (size_t i = 0; ok && i < r->options.constant_count; i++)
        ok = (r->arrays[i].data = arena_copy(&r->memory, r->arrays[i].data, r->arrays[i].byteLength));
    return ok;
}
