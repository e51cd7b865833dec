/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Implements MLTensor, MLGraph and MLOperand: attributes and destroy(). */
#include "frontend/node/addon.h"

/* ---- one function for each type of attribute ---- */

static napi_value get_string(struct call *c, const char *text)
{
    napi_value value;

    return succeeded(c->env, napi_create_string_utf8(c->env, text, NAPI_AUTO_LENGTH, &value)) ? value : NULL;
}

static napi_value get_boolean(struct call *c, bool b)
{
    napi_value value;

    return succeeded(c->env, napi_get_boolean(c->env, b, &value)) ? value : NULL;
}

/** Makes a value of the native side, for an attribute's getter or a method without arguments. */
typedef napi_value (*getter)(struct call *c, struct object *o);

static napi_value get(struct call *c, enum interface interface, getter read)
{
    napi_value result = NULL;

    struct object *o = call_receiver(c, interface);
    if (o)
        result = read(c, o);
    return result;
}

/* ---- MLTensor ---- */

static napi_value read_tensor_type(struct call *c, struct object *o)
{
    return get_string(c, wnnOperandDataTypeGetName(wnnTensorGetDataType(o->native.tensor)));
}

static napi_value read_tensor_shape(struct call *c, struct object *o)
{
    return shape_get(c, o, wnnTensorGetRank(o->native.tensor), wnnTensorGetShape(o->native.tensor));
}

static napi_value read_tensor_readable(struct call *c, struct object *o)
{
    return get_boolean(c, wnnTensorGetReadable(o->native.tensor));
}

static napi_value read_tensor_writable(struct call *c, struct object *o)
{
    return get_boolean(c, wnnTensorGetWritable(o->native.tensor));
}

static napi_value read_tensor_constant(struct call *c, struct object *o)
{
    return get_boolean(c, wnnTensorGetConstant(o->native.tensor));
}

static napi_value run_tensor_destroy(struct call *c, struct object *o)
{
    (void)c;
    wnnTensorDestroy(o->native.tensor);
    o->destroyed = true;
    object_set_bytes(o, 0);
    return NULL;
}

/* ---- MLGraph ---- */

static napi_value run_graph_destroy(struct call *c, struct object *o)
{
    (void)c;
    wnnGraphDestroy(o->native.graph);
    object_set_bytes(o, 0);
    return NULL;
}

/* ---- MLOperand ---- */

static napi_value read_operand_type(struct call *c, struct object *o)
{
    return get_string(c, wnnOperandDataTypeGetName(wnnOperandGetDataType(o->native.operand)));
}

static napi_value read_operand_shape(struct call *c, struct object *o)
{
    return shape_get(c, o, wnnOperandGetRank(o->native.operand), wnnOperandGetShape(o->native.operand));
}

/* ---- what Node-API calls ---- */

#define MEMBER(name, interface, function)                                                                                      \
    static napi_value name(struct call *c)                                                                                     \
    {                                                                                                                          \
        return get(c, interface, function);                                                                                    \
    }

MEMBER(tensor_type, INTERFACE_TENSOR, read_tensor_type)
MEMBER(tensor_shape, INTERFACE_TENSOR, read_tensor_shape)
MEMBER(tensor_readable, INTERFACE_TENSOR, read_tensor_readable)
MEMBER(tensor_writable, INTERFACE_TENSOR, read_tensor_writable)
MEMBER(tensor_constant, INTERFACE_TENSOR, read_tensor_constant)
MEMBER(tensor_destroy, INTERFACE_TENSOR, run_tensor_destroy)
MEMBER(graph_destroy, INTERFACE_GRAPH, run_graph_destroy)
MEMBER(operand_type, INTERFACE_OPERAND, read_operand_type)
MEMBER(operand_shape, INTERFACE_OPERAND, read_operand_shape)

const struct member tensor_members[] = {
    {"dataType", tensor_type, 0, true, false, NULL},
    {"shape", tensor_shape, 0, true, false, NULL},
    {"readable", tensor_readable, 0, true, false, NULL},
    {"writable", tensor_writable, 0, true, false, NULL},
    {"constant", tensor_constant, 0, true, false, NULL},
    {"destroy", tensor_destroy, 0, false, false, NULL},
    {0},
};

const struct member graph_members[] = {
    {"destroy", graph_destroy, 0, false, false, NULL},
    {0},
};

const struct member operand_members[] = {
    {"dataType", operand_type, 0, true, false, NULL},
    {"shape", operand_shape, 0, true, false, NULL},
    {0},
};
