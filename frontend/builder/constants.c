/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Implements the builder's constant methods: operands whose values are bytes of the program's, copied or lent, numbers, or
 * constant tensors.
 */
#include "frontend/builder/builder.h"

#include "runtime/api/runtime.h"
#include "webnn/webnn_draft.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "packed numbers lie in bytes and are read as words");

/** Connects a constant whose bytes are there, and takes over the reference.  Returns NULL after an error in *e. */
static WNNOperand add_constant(WNNGraphBuilder b, const struct tensor_type *type, struct constant *c, struct error *e)
{
    if (!c)
        return error_null_memory(e);
    WNNOperand operand = builder_operand(b, type, e);
    if (!operand) {
        constant_release(c);
        return NULL;
    }
    operand->value = graph_add_constant(b->graph, type, c);
    if (!operand->value)
        return error_null_memory(e);
    budget_grow(&b->graph->budget, (uint64_t)type_bytes(type));
    return operand;
}

/** Checks that a constant has as many bytes as it must have. */
static bool check_bytes(void const *data, size_t byteLength, int64_t expected, struct error *e)
{
    if ((uint64_t)expected != byteLength)
        return error_set(e, WNNStatus_TypeError, "constant: the buffer has %zu bytes, the descriptor needs %lld", byteLength,
                         (long long)expected);
    if (!data)
        return error_set(e, WNNStatus_TypeError, "constant: data is NULL");
    return true;
}

/** Makes the checks of constant(descriptor, buffer). */
static bool check_constant(WNNGraphBuilder b, WNNOperandDescriptor const *descriptor, void const *data, size_t byteLength,
                           struct tensor_type *type, struct error *e)
{
    return builder_can_build(b, "constant", e) && builder_descriptor(b, descriptor, "constant", type, e) &&
           check_bytes(data, byteLength, type_bytes(type), e);
}

WNNOperand wnnGraphBuilderConstant(WNNGraphBuilder b, WNNOperandDescriptor const *descriptor, void const *data,
                                   size_t byteLength)
{
    struct error e = {0};
    struct tensor_type type;
    WNNOperand operand = NULL;

    if (check_constant(b, descriptor, data, byteLength, &type, &e))
        operand = add_constant(b, &type, constant_create(data, byteLength), &e);
    return operand ? operand : builder_fail(b, &e);
}

WNNOperand wnnGraphBuilderConstantLent(WNNGraphBuilder b, WNNOperandDescriptor const *descriptor, void const *data,
                                       size_t byteLength, WNNBufferReleaseCallbackInfo release)
{
    struct error e = {0};
    struct tensor_type type;
    WNNOperand operand = NULL;

    if (check_constant(b, descriptor, data, byteLength, &type, &e)) {
        /* From here on the constant calls release, whatever happens. */
        operand = add_constant(b, &type, constant_lend(data, byteLength, release), &e);
    } else if (release.callback) {
        release.callback(data, byteLength, release.userdata1, release.userdata2);
    }
    return operand ? operand : builder_fail(b, &e);
}

/** Makes the checks of a constant of numbers of so many bits, and turns *type into what it is in the graph. */
static bool check_packed(WNNGraphBuilder b, WNNOperandDescriptor const *descriptor, uint32_t bits, void const *data,
                         size_t byteLength, struct tensor_type *type, struct error *e)
{
    if (!builder_can_build(b, "constant", e) || !builder_descriptor(b, descriptor, "constant", type, e))
        return false;
    if (!dtype_packed(bits))
        return error_set(e, WNNStatus_TypeError, "constant: numbers have %u bits; give 4, 2 or 1", bits);
    if (type->type != WNNOperandDataType_Uint8)
        return error_set(e, WNNStatus_TypeError, "constant: numbers of %u bits are read as uint8, not as %s", bits,
                         dtype_name(type->type));
    if (!check_bytes(data, byteLength, (type_elements(type) * bits + 7) / 8, e))
        return false;
    type->type = dtype_packed(bits);
    return true;
}

WNNOperand wnnGraphBuilderConstantUint4Lent(WNNGraphBuilder b, WNNOperandDescriptor const *descriptor, void const *data,
                                            size_t byteLength, WNNBufferReleaseCallbackInfo release)
{
    return wnnGraphBuilderConstantPackedLent(b, descriptor, 4, data, byteLength, release);
}

WNNOperand wnnGraphBuilderConstantPackedLent(WNNGraphBuilder b, WNNOperandDescriptor const *descriptor, uint32_t bits,
                                             void const *data, size_t byteLength, WNNBufferReleaseCallbackInfo release)
{
    struct error e = {0};
    struct tensor_type type;
    WNNOperand operand = NULL;
    const bool good = check_packed(b, descriptor, bits, data, byteLength, &type, &e);

    if (good && (size_t)type_bytes(&type) == byteLength) {
        operand = add_constant(b, &type, constant_lend(data, byteLength, release), &e);
    } else {
        struct constant *c = NULL;
        if (good && (c = constant_create(NULL, (size_t)type_bytes(&type))) != NULL) {  /* the graph has whole words */
            memset((char *)(uintptr_t)c->data + byteLength, 0, c->bytes - byteLength); /* ours alone so far */
            memcpy((void *)(uintptr_t)c->data, data, byteLength);
        }
        if (good)
            operand = add_constant(b, &type, c, &e);
        if (release.callback)
            release.callback(data, byteLength, release.userdata1, release.userdata2);
    }
    if (!operand)
        return builder_fail(b, &e);
    return builder_apply(b, OP_CAST, NULL, &(union op_args){.cast = {WNNOperandDataType_Uint8}}, 1, &operand);
}

WNNOperand wnnGraphBuilderConstantCastLent(WNNGraphBuilder b, WNNOperandDescriptor const *descriptor, WNNOperandDataType stored,
                                           void const *data, size_t byteLength, WNNBufferReleaseCallbackInfo release)
{
    struct error e = {0};
    struct tensor_type type;
    WNNOperand operand = NULL;
    bool good = builder_can_build(b, "constant", &e) && builder_descriptor(b, descriptor, "constant", &type, &e);

    if (good && !dtype_is_port(stored))
        good = error_set(&e, WNNStatus_TypeError, "constant: stored %u is not an operand data type", (unsigned)stored);
    if (good) {
        type.type = stored;
        good = check_bytes(data, byteLength, type_bytes(&type), &e);
    }
    if (good)
        operand = add_constant(b, &type, constant_lend(data, byteLength, release), &e);
    else if (release.callback)
        release.callback(data, byteLength, release.userdata1, release.userdata2);
    if (!operand)
        return builder_fail(b, &e);
    return builder_apply(b, OP_CAST, NULL, &(union op_args){.cast = {descriptor->dataType}}, 1, &operand);
}

WNNOperand wnnGraphBuilderConstantScalar(WNNGraphBuilder b, WNNOperandDataType dataType, WNNNumber value)
{
    struct error e = {0};
    struct tensor_type type;
    WNNOperand operand = NULL;

    if (builder_can_build(b, "constant", &e) &&
        builder_descriptor(b, &(WNNOperandDescriptor){dataType, 0, NULL, NULL}, "constant", &type, &e)) {
        if (value.type == WNNNumberType_Undefined || (unsigned)value.type > WNNNumberType_Uint64) {
            error_set(&e, WNNStatus_TypeError, "constant: value is not a number");
        } else {
            union scalar s = number_cast(value, dataType);

            operand = add_constant(b, &type, constant_create(&s, dtype_size(dataType)), &e);
        }
    }
    return operand ? operand : builder_fail(b, &e);
}

WNNOperand wnnGraphBuilderConstantTensor(WNNGraphBuilder b, WNNTensor tensor)
{
    struct error e = {0};
    struct tensor_type type;
    struct constant *c = NULL;
    WNNOperand operand = NULL;

    if (!b)
        return builder_missing("constant");
    /* Here the specification checks the tensor before the builder. */
    if (!tensor)
        error_set(&e, WNNStatus_TypeError, "constant: tensor is NULL");
    else
        c = runtime_tensor_constant(b->context, tensor, &type, &e);
    if (c && !builder_can_build(b, "constant", &e)) {
        constant_release(c);
    } else if (c) {
        struct constant_tensor *link = arena_alloc(&b->arena, sizeof(*link));

        if (!link) {
            constant_release(c);
            error_out_of_memory(&e);
        } else {
            operand = add_constant(b, &type, c, &e);
        }
        if (operand) {
            wnnTensorAddRef(tensor);
            *link = (struct constant_tensor){operand->value, tensor, b->constant_tensors};
            b->constant_tensors = link;
        }
    }
    return operand ? operand : builder_fail(b, &e);
}
