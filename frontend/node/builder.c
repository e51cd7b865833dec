/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Implements MLGraphBuilder without its operators: the constructor, input, constant, build. */

#include "frontend/node/convert.h"
#include "frontend/node/mailbox.h"

napi_value builder_construct(struct call *c, struct object *none)
{
    WNNGraphBuilder builder;
    struct object *context, *made;

    (void)none;
    context = object_require(c, c->arguments[1], INTERFACE_CONTEXT, "context");
    if (context && throw_last(c, wnnContextCreateGraphBuilder(context->native.context, &builder)))
        object_create(c->environment, INTERFACE_BUILDER, builder, 0, c->arguments[0]);
    if (context && (made = object_of(c->environment, c->arguments[0], INTERFACE_BUILDER)))
        made->has_log = context->has_log, made->context = context->native.context;
    return NULL;
}

/* ---- operands ---- */

/** Returns the object of an operand that a builder call returned, or throws its exception. */
static napi_value operand_result(struct call *c, struct object *builder, WNNOperand operand)
{
    WNNStringView message;

    if (!wnnOperandIsError(operand)) {
        wnnOperandAddRef(operand);
        return object_create(c->environment, INTERFACE_OPERAND, operand, 0, NULL);
    }
    WNNStatus status = wnnGraphBuilderGetError(builder->native.builder, &message);
    throw_status(c, status ? status : WNNStatus_UnknownError, message);
    /* What has been thrown is no reason to refuse the build. */
    wnnGraphBuilderClearError(builder->native.builder);
    return NULL;
}

napi_value builder_input(struct call *c, struct object *builder)
{
    WNNOperandDescriptor descriptor;
    WNNStringView name;

    return convert_string(c, c->arguments[0], &name) && convert_operand_descriptor(c, c->arguments[1], &descriptor)
               ? operand_result(c, builder, wnnGraphBuilderInput(builder->native.builder, name, &descriptor))
               : NULL;
}

/** Is constant(descriptor, buffer). */
static napi_value constant_of_buffer(struct call *c, struct object *builder)
{
    WNNOperandDescriptor descriptor;
    struct buffer_source buffer;

    if (!convert_operand_descriptor(c, c->arguments[0], &descriptor) ||
        !convert_buffer_source(c, c->arguments[1], "buffer", &buffer) || !buffer_bytes(c->environment, buffer.value, &buffer))
        return NULL;
    bool fits = buffer.data && buffer_fits_type(&buffer, descriptor.dataType);
    /* A detached buffer or a view of the wrong class is an error after those that the library finds, so the library is called
     * with no bytes. */
    WNNOperand operand = wnnGraphBuilderConstant(builder->native.builder, &descriptor, buffer.data, fits ? buffer.length : 0);
    if (wnnOperandIsError(operand) && !fits && wnnGraphBuilderGetError(builder->native.builder, NULL) == WNNStatus_TypeError) {
        wnnGraphBuilderClearError(builder->native.builder);
        buffer_check(c, &buffer, "buffer", descriptor.dataType);
        return NULL;
    }
    if (!wnnOperandIsError(operand))
        object_set_bytes(builder, builder->bytes + (int64_t)buffer.length);
    return operand_result(c, builder, operand);
}

/** Is constant(dataType, value). */
static napi_value constant_of_number(struct call *c, struct object *builder)
{
    WNNOperandDataType type;
    WNNNumber number;

    if (!convert_data_type(c, c->arguments[0], "dataType", &type) || !convert_number(c, c->arguments[1], &number))
        return NULL;
    return operand_result(c, builder, wnnGraphBuilderConstantScalar(builder->native.builder, type, number));
}

/** Is constant(tensor). */
static napi_value constant_of_tensor(struct call *c, struct object *builder)
{
    struct object *tensor = object_of(c->environment, c->arguments[0], INTERFACE_TENSOR);
    char given[GIVEN_MAX];

    if (!tensor) {
        throw_type(c, "tensor is %s: it takes (tensor), (descriptor, buffer) or (dataType, value)",
                   object_describe(c, c->arguments[0], given));
        return NULL;
    }
    return operand_result(c, builder, wnnGraphBuilderConstantTensor(builder->native.builder, tensor->native.tensor));
}

/** The overload is resolved by the number of arguments, then by whether the first one can be a dictionary. */
static napi_value builder_constant(struct call *c, struct object *builder)
{
    if (c->count == 1)
        return constant_of_tensor(c, builder);
    return is_nullish(c, c->arguments[0]) || is_object(c, c->arguments[0]) ? constant_of_buffer(c, builder)
                                                                           : constant_of_number(c, builder);
}

/* ---- build ---- */

void report_graph(WNNStatus status, WNNGraph graph, WNNStringView message, void *userdata1, void *userdata2)
{
    (void)userdata2;
    pending_report(userdata1, status, message, graph);
}

napi_value settle_graph(struct environment *e, struct pending *p)
{
    return object_create(e, INTERFACE_GRAPH, p->result, (int64_t)p->number, NULL);
}

bool flag_is_down(WNNBuildStage stage, uint32_t done, uint32_t total, void *flag, void *unused)
{
    (void)stage, (void)done, (void)total, (void)unused;
    return !flag || !__atomic_load_n((const int32_t *)flag, __ATOMIC_RELAXED);
}

bool keep_flag(struct call *c, napi_value value, struct pending *p, int32_t **flag)
{
    napi_typedarray_type type = napi_int8_array;
    bool is_array = false;
    void *data = NULL;
    size_t length = 0;

    *flag = NULL;
    if (!value || is_nullish(c, value))
        return true;
    napi_is_typedarray(c->env, value, &is_array);
    if (!is_array || napi_get_typedarray_info(c->env, value, &type, &length, &data, NULL, NULL) != napi_ok ||
        type != napi_int32_array || length != 1)
        return throw_type(c, "the flag is no Int32Array of one element");
    *flag = data;
    return succeeded(c->env, napi_create_reference(c->env, value, 1, &p->kept[KEPT_BUFFER]));
}

napi_value begin_build(struct call *c, struct object *builder, napi_value outputs_value, napi_value flag_value)
{
    napi_value promise = NULL;
    struct record_entry *entries;
    WNNNamedOperand *outputs;
    struct pending *p;
    int32_t *flag;
    size_t count;

    if (!convert_record(c, outputs_value, INTERFACE_OPERAND, "outputs", &entries, &count) ||
        !(outputs = call_allocate(c, count + 1, sizeof(*outputs))) ||
        !(p = pending_create(c, settle_graph, drop_graph, &promise)))
        return NULL;
    if (!keep_flag(c, flag_value, p, &flag) ||
        (flag && !throw_last(c, wnnGraphBuilderSetProgress(builder->native.builder,
                                                           (WNNBuildProgressCallbackInfo){flag_is_down, flag, NULL})))) {
        pending_reject(c->environment, p);
        return promise;
    }
    for (size_t i = 0; i < count; i++)
        outputs[i] = (WNNNamedOperand){entries[i].name, entries[i].object->native.operand};
    /* The graph keeps the constants, packed or not. */
    p->number = (uint64_t)builder->bytes;
    WNNBuildCallbackInfo callback = {WNNCallbackMode_AllowSpontaneous, report_graph, p, NULL};
    wnnGraphBuilderBuildAsync(builder->native.builder, count, outputs, callback);
    return promise;
}

static napi_value builder_build(struct call *c, struct object *builder)
{
    return begin_build(c, builder, c->arguments[0], NULL);
}

const struct member builder_members[] = {
    {"input", INTERFACE_BUILDER, 2, 0, builder_input, NULL},
    {"constant", INTERFACE_BUILDER, 1, 0, builder_constant, NULL},
    {"build", INTERFACE_BUILDER, 1, MEMBER_PROMISE, builder_build, NULL},
    {0},
};
