/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Implements MLTensor, MLGraph and MLOperand: attributes and destroy(). */
#include "frontend/node/addon.h"

static napi_value string(struct call *c, const char *text)
{
    napi_value value;

    return string_create(c->env, WNN_STR(text), &value) ? value : NULL;
}

static napi_value boolean(struct call *c, bool b)
{
    napi_value value;

    return succeeded(c->env, napi_get_boolean(c->env, b, &value)) ? value : NULL;
}

/** Defines an attribute's function. */
#define ATTRIBUTE(name, value)                                                                                                 \
    static napi_value name(struct call *c, struct object *o)                                                                   \
    {                                                                                                                          \
        return value;                                                                                                          \
    }

/* ---- MLTensor ---- */

ATTRIBUTE(tensor_type, string(c, wnnOperandDataTypeGetName(wnnTensorGetDataType(o->native.tensor))))
ATTRIBUTE(tensor_shape, shape_get(c, o, wnnTensorGetRank(o->native.tensor), wnnTensorGetShape(o->native.tensor), NULL))
ATTRIBUTE(tensor_readable, boolean(c, wnnTensorGetReadable(o->native.tensor)))
ATTRIBUTE(tensor_writable, boolean(c, wnnTensorGetWritable(o->native.tensor)))
ATTRIBUTE(tensor_constant, boolean(c, wnnTensorGetConstant(o->native.tensor)))

static napi_value tensor_destroy(struct call *c, struct object *o)
{
    (void)c;
    wnnTensorDestroy(o->native.tensor);
    o->destroyed = true;
    object_set_bytes(o, 0);
    return NULL;
}

/* ---- MLGraph ---- */

static napi_value graph_destroy(struct call *c, struct object *o)
{
    (void)c;
    wnnGraphDestroy(o->native.graph);
    object_set_bytes(o, 0);
    return NULL;
}

/* ---- MLOperand ---- */

ATTRIBUTE(operand_type, string(c, wnnOperandDataTypeGetName(wnnOperandGetDataType(o->native.operand))))

static napi_value operand_shape(struct call *c, struct object *o)
{
    WNNDimension dimensions[WNN_RANK_MAX] = {0};
    const size_t rank = wnnOperandGetRank(o->native.operand);

    for (size_t i = 0; i < rank; i++)
        dimensions[i].name = wnnOperandGetDimensionName(o->native.operand, i);
    return shape_get(c, o, rank, wnnOperandGetShape(o->native.operand), dimensions);
}

const struct member object_members[] = {
    {"dataType", INTERFACE_TENSOR, 0, MEMBER_ATTRIBUTE, tensor_type, NULL},
    {"shape", INTERFACE_TENSOR, 0, MEMBER_ATTRIBUTE, tensor_shape, NULL},
    {"readable", INTERFACE_TENSOR, 0, MEMBER_ATTRIBUTE, tensor_readable, NULL},
    {"writable", INTERFACE_TENSOR, 0, MEMBER_ATTRIBUTE, tensor_writable, NULL},
    {"constant", INTERFACE_TENSOR, 0, MEMBER_ATTRIBUTE, tensor_constant, NULL},
    {"destroy", INTERFACE_TENSOR, 0, 0, tensor_destroy, NULL},
    {"destroy", INTERFACE_GRAPH, 0, 0, graph_destroy, NULL},
    {"dataType", INTERFACE_OPERAND, 0, MEMBER_ATTRIBUTE, operand_type, NULL},
    {"shape", INTERFACE_OPERAND, 0, MEMBER_ATTRIBUTE, operand_shape, NULL},
    {0},
};
