/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Implements MLGraph and MLTensor. */
#include <errno.h>
#include <string.h>

#include "frontend/python/compute.h"

/* ---- MLGraph: what it is ---- */

/** Returns {name: {"data_type": ..., "shape": [...]}} of the inputs, or of the outputs if `outputs` is not NULL. */
static PyObject *graph_get_ports(PyObject *self, void *outputs)
{
    WNNGraph graph = ((struct object *)self)->native.graph;
    size_t count = outputs ? wnnGraphGetOutputCount(graph) : wnnGraphGetInputCount(graph);
    PyObject *all = PyDict_New();

    for (size_t i = 0; all && i < count; i++) {
        WNNNamedOperandDescriptor port;

        (outputs ? wnnGraphGetOutput : wnnGraphGetInput)(graph, i, &port);
        dict_add(&all, port.name,
                 Py_BuildValue("{s:s,s:N}", "data_type", wnnOperandDataTypeGetName(port.descriptor.dataType), "shape",
                               list_of_dimensions(port.descriptor.rank, port.descriptor.shape, port.descriptor.dimensions)));
    }
    return all;
}

static PyObject *names(PyObject *dict)
{
    PyObject *list = dict ? PyDict_Keys(dict) : NULL;

    Py_XDECREF(dict);
    return list;
}

static PyObject *graph_get_input_names(PyObject *self, PyObject *Py_UNUSED(unused))
{
    return names(graph_get_ports(self, NULL));
}

static PyObject *graph_get_output_names(PyObject *self, PyObject *Py_UNUSED(unused))
{
    return names(graph_get_ports(self, self));
}

static PyObject *graph_get_count(PyObject *self, void *operations)
{
    struct object *o = (struct object *)self;

    return PyLong_FromSize_t(operations ? o->operation_count : o->operand_count);
}

static PyObject *graph_get_quantized_weights(PyObject *self, void *Py_UNUSED(unused))
{
    WNNQuantizedWeights w;

    wnnGraphGetQuantizedWeights(((struct object *)self)->native.graph, &w);
    return Py_BuildValue("{s:K,s:K,s:K}", "matrices", (unsigned long long)w.matrices, "bytes_before",
                         (unsigned long long)w.bytesBefore, "bytes_after", (unsigned long long)w.bytesAfter);
}

/* ---- MLGraph: what it does ---- */

static PyObject *graph_compute(PyObject *self, struct bindings *inputs)
{
    return compute(module_of(self), ((struct object *)self)->native.graph, inputs, NULL);
}

static PyObject *graph_call(PyObject *self, PyObject *args, PyObject *keywords)
{
    return compute_call(self, "graph", args, keywords, graph_compute);
}

static PyObject *graph_save(PyObject *self, PyObject *value)
{
    PyObject *path = NULL;
    WNNStatus status;
    int why;

    if (!PyUnicode_FSConverter(value, &path))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    errno = 0;
    status = wnnGraphSave(((struct object *)self)->native.graph, PyBytes_AsString(path));
    why = errno;
    Py_END_ALLOW_THREADS;
    errno = why;
    if (status == WNNStatus_UnknownError && why && why != ENOMEM)
        PyErr_SetFromErrnoWithFilename(PyExc_OSError, PyBytes_AsString(path));
    else
        succeeded(module_of(self), status);
    Py_DECREF(path);
    return status ? NULL : Py_NewRef(Py_None);
}

static PyObject *graph_compute_shapes(PyObject *self, PyObject *dict)
{
    WNNGraph graph = ((struct object *)self)->native.graph;
    const size_t count = wnnGraphGetOutputCount(graph);
    WNNNamedShape *outputs = PyMem_Calloc(count + 1, sizeof(*outputs));
    struct pairs pairs = {0};
    PyObject *result = NULL;
    struct shape shape;
    bool ok = outputs ? pairs_open(&pairs, dict, "shapes", sizeof(WNNNamedShape)) : PyErr_NoMemory() != NULL;

    for (size_t i = 0; ok && i < pairs.count; i++) {
        WNNNamedShape *to = (WNNNamedShape *)pairs.room + i;
        PyObject *value = pairs_get(&pairs, i, &to->name);

        ok = value && convert_shape(value, to->name.data, &shape, NULL);
        to->rank = ok ? shape.rank : 0; /* no input has more than there is room for */
        memcpy(to->shape, shape.sizes, sizeof(*to->shape) * (to->rank < WNN_RANK_MAX ? to->rank : WNN_RANK_MAX));
    }
    if (ok && succeeded(module_of(self), wnnGraphComputeShapes(graph, pairs.count, pairs.room, count, outputs)))
        result = PyDict_New();
    for (size_t i = 0; result && i < count; i++)
        dict_add(&result, outputs[i].name, list_of_sizes(outputs[i].rank, outputs[i].shape));
    pairs_close(&pairs);
    PyMem_Free(outputs);
    return result;
}

static PyObject *graph_get_variant_counts(PyObject *self, void *Py_UNUSED(unused))
{
    WNNGraphVariantCounts counts;

    wnnGraphGetVariantCounts(((struct object *)self)->native.graph, &counts);
    return Py_BuildValue("{s:K,s:K,s:K,s:K}", "built", (unsigned long long)counts.built, "found",
                         (unsigned long long)counts.found, "evicted", (unsigned long long)counts.evicted, "held",
                         (unsigned long long)counts.held);
}

static PyObject *graph_set_variant_limit(PyObject *self, PyObject *limit)
{
    uint32_t count;

    if (!convert_size(limit, "limit", &count))
        return NULL;
    wnnGraphSetVariantLimit(((struct object *)self)->native.graph, count);
    Py_RETURN_NONE;
}

ACTION(graph_destroy, wnnGraphDestroy(((struct object *)self)->native.graph))

static PyMethodDef graph_methods[] = {
    {"get_input_names", graph_get_input_names, METH_NOARGS, "get_input_names($self)\n--\n\nReturns the names of the inputs."},
    {"get_output_names", graph_get_output_names, METH_NOARGS,
     "get_output_names($self)\n--\n\nReturns the names of the outputs."},
    {"save", graph_save, METH_O,
     "save($self, path, /)\n--\n\nWrites the compiled graph to a file, which MLContext.load_graph reads."},
    {"compute_shapes", graph_compute_shapes, METH_O,
     "compute_shapes($self, shapes, /)\n--\n\nReturns the shapes of the outputs, by name, for these of the inputs."},
    {"set_variant_limit", graph_set_variant_limit, METH_O,
     "set_variant_limit($self, limit, /)\n--\n\nSets for how many combinations of sizes compiled code is kept (16)."},
    {"destroy", graph_destroy, METH_NOARGS, "destroy($self)\n--\n\nDestroys the graph; computations under way complete."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef graph_attributes[] = {
    {"inputs", graph_get_ports, NULL, "Data type and shape of each input, by name.", NULL},
    {"outputs", graph_get_ports, NULL, "Data type and shape of each output, by name.", (void *)1},
    {"operand_count", graph_get_count, NULL, "How many operands its builder had; 0 for a loaded graph.", NULL},
    {"operation_count", graph_get_count, NULL, "How many operators its builder had; 0 for a loaded graph.", (void *)1},
    {"variant_counts", graph_get_variant_counts, NULL, "Counts the graphs compiled for sizes of named dimensions.", NULL},
    {"quantized_weights", graph_get_quantized_weights, NULL, "The effect of MLGraphBuilder.quantize_weights.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

DEFINE_TYPE(graph, "MLGraph", struct object, Py_TPFLAGS_DISALLOW_INSTANTIATION,
            {Py_tp_doc, "A compiled graph.  Called with arrays by name, graph(x=...), it returns a dict of results."},
            {Py_tp_dealloc, object_free}, {Py_tp_repr, object_show_ports}, {Py_tp_call, graph_call},
            {Py_tp_methods, graph_methods}, {Py_tp_getset, graph_attributes})

/* ---- MLTensor ---- */

static WNNTensor tensor_of(PyObject *self)
{
    return ((struct object *)self)->native.tensor;
}

GETTER(tensor_get_data_type, PyUnicode_FromString(wnnOperandDataTypeGetName(wnnTensorGetDataType(tensor_of(self)))))
GETTER(tensor_get_shape, list_of_sizes(wnnTensorGetRank(tensor_of(self)), wnnTensorGetShape(tensor_of(self))))
static PyObject *tensor_get_size(PyObject *self, void *Py_UNUSED(unused))
{
    size_t bytes = wnnOperandDataTypeGetByteSize(wnnTensorGetDataType(tensor_of(self)));

    return PyLong_FromSize_t(wnnTensorGetByteLength(tensor_of(self)) / (bytes ? bytes : 1));
}

/** Is the getter of the attributes that are true or false; which one is the function in its data. */
static PyObject *tensor_get_flag(PyObject *self, void *which)
{
    static bool (*const flags[])(WNNTensor) = {wnnTensorGetReadable, wnnTensorGetWritable, wnnTensorGetConstant};

    return PyBool_FromLong(which && flags[(uintptr_t)which - 1](tensor_of(self)));
}

ACTION(tensor_destroy, wnnTensorDestroy(tensor_of(self)))

static PyMethodDef tensor_methods[] = {
    {"destroy", tensor_destroy, METH_NOARGS, "destroy($self)\n--\n\nDestroys the tensor and gives its memory back."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef tensor_attributes[] = {
    {"data_type", tensor_get_data_type, NULL, "The data type, such as 'float32'.", NULL},
    {"shape", tensor_get_shape, NULL, "The sizes, as a list.", NULL},
    {"size", tensor_get_size, NULL, "The number of elements.", NULL},
    {"readable", tensor_get_flag, NULL, "Whether read_tensor takes it.", (void *)1},
    {"writable", tensor_get_flag, NULL, "Whether write_tensor takes it.", (void *)2},
    {"constant", tensor_get_flag, NULL, "Whether create_constant_tensor made it.", (void *)3},
    {"exportable_to_gpu", tensor_get_flag, NULL, "False: there is no WebGPU device.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

DEFINE_TYPE(tensor, "MLTensor", struct object, Py_TPFLAGS_DISALLOW_INSTANTIATION,
            {Py_tp_doc, "Memory of a context, an input or output of graphs."}, {Py_tp_dealloc, object_free},
            {Py_tp_methods, tensor_methods}, {Py_tp_getset, tensor_attributes})
