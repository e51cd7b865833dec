/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Implements MLGraphBuilder without its operators, and MLOperand. */
#include <string.h>

#include "frontend/python/context.h"

/* ---- state ---- */

struct object *builder_begin(PyObject *self)
{
    struct object *o = (struct object *)self;

    if (!o->busy)
        return o;
    PyErr_SetString(module_of(self)->errors[WNNStatus_InvalidStateError], "the builder is building on another thread");
    return NULL;
}

PyObject *operand_create(struct object *builder, WNNOperand operand, PyObject *name)
{
    PyObject *result;

    wnnOperandAddRef(operand);
    result = object_create(module_of((PyObject *)builder), TYPE_OPERAND, operand, NULL);
    if (result && name)
        ((struct object *)result)->text = Py_NewRef(name);
    builder->operand_count++;
    return result;
}

/** Returns the object of an operand that a call of the builder returned, or sets the exception of its error. */
static PyObject *operand_result(struct object *builder, WNNOperand operand, PyObject *name)
{
    WNNStringView message;
    WNNStatus status;

    if (!wnnOperandIsError(operand))
        return operand_create(builder, operand, name);
    status = wnnGraphBuilderGetError(builder->native.builder, &message);
    status_check(module_of((PyObject *)builder), status ? status : WNNStatus_UnknownError, message);
    /* What has been raised is no reason to refuse the build. */
    wnnGraphBuilderClearError(builder->native.builder);
    return NULL;
}

/* ---- inputs and constants ---- */

static PyObject *builder_input(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"name", "shape", "data_type", NULL};
    WNNOperandDescriptor descriptor = {WNNOperandDataType_Float32, 0, NULL, NULL};
    struct object *builder = builder_begin(self);
    PyObject *name, *sizes, *type = NULL, *result = NULL;
    WNNDimension dimensions[RANK_LIMIT] = {0};
    WNNStringView text;
    struct shape shape = {0};

    if (!builder || !PyArg_ParseTupleAndKeywords(args, keywords, "OO|O:input", names, &name, &sizes, &type) ||
        !convert_text(name, "name", &text))
        return NULL;
    /* A list keeps the names of dimensions. */
    sizes = PyUnicode_Check(sizes) || !PySequence_Check(sizes) ? Py_NewRef(sizes) : PySequence_List(sizes);
    descriptor.shape = shape.sizes;
    descriptor.dimensions = dimensions;
    if (sizes && convert_shape(sizes, "shape", &shape, dimensions) &&
        (!type || convert_data_type(type, "data_type", &descriptor.dataType))) {
        descriptor.rank = shape.rank;
        result = operand_result(builder, wnnGraphBuilderInput(builder->native.builder, text, &descriptor), name);
    }
    Py_XDECREF(sizes);
    return result;
}

bool number_of(PyObject *value, const char *what, WNNNumber *out)
{
    PyObject *number = PyIndex_Check(value)                               ? PyNumber_Index(value)
                       : PyNumber_Check(value) && !PyUnicode_Check(value) ? PyNumber_Float(value)
                                                                          : NULL;
    int overflow = 0;
    long long i;

    if (!number) {
        PyErr_Clear();
        return refuse_type(what, value, "a number");
    }
    if (PyFloat_Check(number)) {
        *out = wnnNumber(PyFloat_AsDouble(number));
    } else {
        i = PyLong_AsLongLongAndOverflow(number, &overflow);
        *out = wnnNumberInt64(i);
        if (overflow > 0)
            *out = wnnNumberUint64(PyLong_AsUnsignedLongLong(number));
        /* Beyond 64 bits it becomes the double nearest to it, which every data type treats alike. */
        if (overflow && (overflow < 0 || PyErr_Occurred())) {
            PyErr_Clear();
            *out = wnnNumber(PyLong_AsDouble(number));
        }
    }
    Py_DECREF(number);
    return !PyErr_Occurred();
}

bool constant_open_value(struct module *m, const struct place *place, PyObject *value, PyObject *sizes, PyObject *type,
                         struct constant *out)
{
    WNNOperandDescriptor *d = &out->descriptor;
    struct source *s = &out->source;

    if (type == Py_None)
        type = NULL;
    if (PyList_Check(value) || PyTuple_Check(value)) {
        out->value = numpy_array(m, value, type);
        if (!out->value)
            return PyErr_Occurred() ? false : refuse_type(place->role, value, "an array: lists need NumPy");
    } else {
        out->value = Py_NewRef(value);
    }
    if (!source_open(out->value, place, false, s) || (type && !convert_data_type(type, "data_type", &d->dataType)))
        return false;
    if (!type)
        d->dataType = s->type;
    if (!d->dataType) {
        PyErr_Format(PyExc_TypeError, "%s: %s%s%s%s has elements of %s, which WebNN does not have; astype('float32') converts",
                     place->call, place->role, *place->name ? " '" : "", place->name, *place->name ? "'" : "", s->type_name);
        return false;
    }
    out->shape.rank = s->rank;
    memcpy(out->shape.sizes, s->sizes, sizeof(s->sizes));
    if (sizes && sizes != Py_None) {
        if (!convert_shape(sizes, "shape", &out->shape, NULL))
            return false;
        /* The array is taken as its elements in order, whatever its own shape. */
        s->sizes[0] = s->type ? (uint32_t)(s->bytes / wnnOperandDataTypeGetByteSize(s->type)) : 0;
        s->rank = 1;
    }
    d->rank = out->shape.rank;
    d->shape = out->shape.sizes;
    return source_fits(s, place, d, "the constant");
}

bool constant_open(struct module *m, const char *call, PyObject *args, PyObject *keywords, struct constant *out)
{
    static char *names[] = {"value", "shape", "data_type", NULL};
    const struct place place = {call, "value", ""};
    PyObject *value, *sizes = NULL, *type = NULL;

    return PyArg_ParseTupleAndKeywords(args, keywords, "O|OO", names, &value, &sizes, &type) &&
           constant_open_value(m, &place, value, sizes, type, out);
}

void constant_close(struct constant *constant)
{
    source_close(&constant->source);
    Py_CLEAR(constant->value);
}

/** Is constant(number, data_type=...). */
static PyObject *constant_of_number(struct object *builder, PyObject *value, PyObject *sizes, PyObject *type)
{
    WNNOperandDataType data_type;
    WNNNumber number;

    if (!type || type == Py_None || (sizes && sizes != Py_None && PyObject_Size(sizes))) {
        PyErr_SetString(PyExc_TypeError, "constant: value is a number, which needs a data_type and has no shape");
        return NULL;
    }
    if (!convert_data_type(type, "data_type", &data_type) || !number_of(value, "value", &number))
        return NULL;
    return operand_result(builder, wnnGraphBuilderConstantScalar(builder->native.builder, data_type, number), NULL);
}

static PyObject *builder_constant(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"value", "shape", "data_type", NULL};
    struct object *builder = builder_begin(self), *tensor;
    PyObject *value, *sizes = NULL, *type = NULL, *result = NULL;
    struct module *m = module_of(self);
    struct constant constant = {0};

    if (!builder || !PyArg_ParseTupleAndKeywords(args, keywords, "O|OO:constant", names, &value, &sizes, &type))
        return NULL;
    if (PyFloat_Check(value) || PyLong_Check(value))
        return constant_of_number(builder, value, sizes, type);
    if (PyObject_TypeCheck(value, (PyTypeObject *)m->types[TYPE_TENSOR])) {
        tensor = (struct object *)value;
        return operand_result(builder, wnnGraphBuilderConstantTensor(builder->native.builder, tensor->native.tensor), NULL);
    }
    /* Opening an array may run code of the program's, which may call the builder, too. */
    if (constant_open(m, "constant", args, keywords, &constant) && builder_begin(self))
        result = operand_result(
            builder,
            wnnGraphBuilderConstant(builder->native.builder, &constant.descriptor, constant.source.data, constant.source.bytes),
            NULL);
    constant_close(&constant);
    return result;
}

/* ---- what a builder is told before it builds ---- */

static PyObject *builder_set_states(PyObject *self, PyObject *dict)
{
    struct object *builder = builder_begin(self);
    struct pairs pairs = {0};
    bool ok = builder && pairs_open(&pairs, dict, "states", sizeof(WNNNamedState));

    for (size_t i = 0; ok && i < pairs.count; i++) {
        WNNNamedState *state = (WNNNamedState *)pairs.room + i;
        PyObject *output = pairs_get(&pairs, i, &state->input);

        ok = output && convert_text(output, "the name of an output", &state->output);
    }
    ok = ok && succeeded(module_of(self), wnnGraphBuilderSetStates(builder->native.builder, pairs.count, pairs.room));
    pairs_close(&pairs);
    return ok ? Py_NewRef(Py_None) : NULL;
}

static PyObject *builder_quantize_weights(PyObject *self, PyObject *format)
{
    static const char *const formats[] = {"none", "int8", "int4", NULL}; /* as WNNWeightFormat */
    struct object *builder = builder_begin(self);
    size_t index = 0;

    if (!builder || !convert_choice(format, "format", formats, &index))
        return NULL;
    return succeeded(module_of(self), wnnGraphBuilderQuantizeWeights(builder->native.builder, (WNNWeightFormat)index))
               ? Py_NewRef(Py_None)
               : NULL;
}

/* ---- build ---- */

static PyObject *build(struct object *builder, const struct pairs *pairs)
{
    struct module *m = module_of((PyObject *)builder);
    WNNNamedOperand *outputs = pairs->room;
    WNNGraph graph = NULL;
    PyObject *result;
    WNNStatus status;

    for (size_t i = 0; i < pairs->count; i++) {
        PyObject *value = pairs_get(pairs, i, &outputs[i].name);
        struct object *operand = value ? object_require(m, value, TYPE_OPERAND, outputs[i].name.data) : NULL;

        if (!operand)
            return NULL;
        outputs[i].operand = operand->native.operand;
    }
    /* It fails for a builder that has built, which the build says, too. */
    status =
        wnnGraphBuilderSetProgress(builder->native.builder, (WNNBuildProgressCallbackInfo){cancellation_permits, NULL, NULL});
    (void)status;
    builder->busy = true;
    WITHOUT_GIL(status = wnnGraphBuilderBuild(builder->native.builder, pairs->count, outputs, &graph));
    builder->busy = false;
    if (!succeeded(m, status))
        return NULL;
    result = object_create(m, TYPE_GRAPH, graph, builder->owner);
    if (result) {
        ((struct object *)result)->operand_count = builder->operand_count;
        ((struct object *)result)->operation_count = builder->operation_count;
    }
    return result;
}

static PyObject *builder_build(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"outputs", NULL};
    struct object *builder = builder_begin(self);
    PyObject *dict, *result = NULL;
    struct pairs pairs = {0};

    if (builder && PyArg_ParseTupleAndKeywords(args, keywords, "O:build", names, &dict) &&
        pairs_open(&pairs, dict, "outputs", sizeof(WNNNamedOperand)))
        result = build(builder, &pairs);
    pairs_close(&pairs);
    return result;
}

static PyObject *builder_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"context", NULL};
    struct module *m = PyType_GetModuleState(type);
    PyObject *context;

    return PyArg_ParseTupleAndKeywords(args, keywords, "O:MLGraphBuilder", names, &context) &&
                   object_require(m, context, TYPE_CONTEXT, "context")
               ? PyObject_CallMethod(context, "create_graph_builder", NULL)
               : NULL;
}

static PyMethodDef builder_methods[] = {
    {"input", (PyCFunction)(void (*)(void))builder_input, METH_VARARGS | METH_KEYWORDS,
     "input($self, name, shape, data_type='float32')\n--\n\nMakes an input; dimensions in shape may be names."},
    {"constant", (PyCFunction)(void (*)(void))builder_constant, METH_VARARGS | METH_KEYWORDS,
     "constant($self, value, shape=None, data_type=None)\n--\n\nMakes a constant of a copy of an array, of bytes, a list (with "
     "NumPy), a number or a constant tensor."},
    {"set_states", builder_set_states, METH_O,
     "set_states($self, states, /)\n--\n\nSays which output each of these inputs becomes, {input: output}: a computation may "
     "change one tensor or array in place."},
    {"quantize_weights", builder_quantize_weights, METH_O,
     "quantize_weights($self, format, /)\n--\n\nLets build store weights of matmuls in 'int8' or 'int4', or in 'none' of "
     "them."},
    {"build", (PyCFunction)(void (*)(void))builder_build, METH_VARARGS | METH_KEYWORDS,
     "build($self, outputs)\n--\n\nCompiles the graph of these outputs, {name: operand}.  A builder builds once."},
#define OPERATOR(name, python, signature, help)                                                                                \
    {#python, (PyCFunction)(void (*)(void))call_##python, METH_VARARGS | METH_KEYWORDS, help},
#include "operators.inc"
#undef OPERATOR
    {NULL, NULL, 0, NULL},
};

DEFINE_TYPE(builder, "MLGraphBuilder", struct object, 0,
            {Py_tp_doc, "MLGraphBuilder(context)\n--\n\nBuilds one graph; its operators are those of the specification."},
            {Py_tp_new, builder_new}, {Py_tp_dealloc, object_free}, {Py_tp_methods, builder_methods})

/* ---- MLOperand ---- */

GETTER(operand_get_data_type,
       PyUnicode_FromString(wnnOperandDataTypeGetName(wnnOperandGetDataType(((struct object *)self)->native.operand))))
static PyObject *operand_get_shape(PyObject *self, void *Py_UNUSED(unused))
{
    WNNOperand operand = ((struct object *)self)->native.operand;
    WNNDimension dimensions[WNN_RANK_MAX] = {0};

    for (size_t i = 0; i < wnnOperandGetRank(operand); i++)
        dimensions[i].name = wnnOperandGetDimensionName(operand, i);
    return list_of_dimensions(wnnOperandGetRank(operand), wnnOperandGetShape(operand), dimensions);
}

static PyObject *operand_get_name(PyObject *self, void *Py_UNUSED(unused))
{
    PyObject *name = ((struct object *)self)->text;

    return Py_NewRef(name ? name : Py_None);
}

static PyObject *operand_repr(PyObject *self)
{
    PyObject *shape = operand_get_shape(self, NULL), *type = shape ? operand_get_data_type(self, NULL) : NULL, *text = NULL;

    if (type)
        text = PyUnicode_FromFormat("<webnn.MLOperand %U %R>", type, shape);
    Py_XDECREF(shape);
    Py_XDECREF(type);
    return text;
}

static PyGetSetDef operand_attributes[] = {
    {"data_type", operand_get_data_type, NULL, "The data type, such as 'float32'.", NULL},
    {"shape", operand_get_shape, NULL, "The sizes, and names of dimensions, as a list.", NULL},
    {"name", operand_get_name, NULL, "The name of an input, else None.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

DEFINE_TYPE(operand, "MLOperand", struct object, Py_TPFLAGS_DISALLOW_INSTANTIATION,
            {Py_tp_doc, "A value in a graph under construction."}, {Py_tp_dealloc, object_free}, {Py_tp_repr, operand_repr},
            {Py_tp_getset, operand_attributes})
