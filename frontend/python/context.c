/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Implements ML, MLContext, and what says which devices there are. */
#include <string.h>
#include <unistd.h>

#include "frontend/python/compute.h"
#include "frontend/python/context.h"
#include "webnn/webnn_draft.h"

/* ---- devices ---- */

static PyObject *describe_device(const WNNDeviceInfo *d)
{
    static const char *const kinds[] = {"other", "cpu", "gpu", "accelerator"}; /* as WNNDeviceKind */

    return Py_BuildValue("{s:s,s:s,s:s,s:s,s:K,s:K}", "kind", kinds[d->kind], "name", d->name, "platform", d->platform, "lacks",
                         d->lacks, "memory_bytes", (unsigned long long)d->memoryBytes, "buffer_bytes",
                         (unsigned long long)d->bufferBytes);
}

PyObject *module_devices(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(unused))
{
    PyObject *list = PyList_New(0);
    WNNDeviceInfo device;

    for (uint32_t i = 0; list && wnnGetDevice(i, &device); i++)
        list_add(&list, describe_device(&device));
    return list;
}

/* ---- ML.create_context ---- */

static const char *const preferences[] = {"default", "high-performance", "low-power", NULL}; /* as WNNPowerPreference */

/** Converts those options that are texts, numbers and objects; those that are true or false are in place. */
static bool convert_options(PyObject *const *values, WNNContextOptions *o)
{
    static const char *const engines[] = {"auto", "cpu", "gpu", NULL};                   /* as WNNEngine */
    static const char *const precisions[] = {"float32", "bf16x2", "bf16", "int8", NULL}; /* as WNNPrecision */
    static const char *const types[] = {"auto", "cpu", "gpu", "npu", NULL};
    size_t preference = 0, type = 0, engine = 0, precision = 0;
    uint64_t bytes = 0;

    if (!convert_choice(values[0], "power_preference", preferences, &preference) ||
        !convert_choice(values[1], "device_type", types, &type) || !convert_choice(values[2], "engine", engines, &engine) ||
        !convert_choice(values[3], "precision", precisions, &precision) ||
        (values[4] && !convert_text(values[4], "device", &o->device)) ||
        (values[5] && !convert_text(values[5], "cache", &o->cache)) ||
        (values[6] && !convert_text(values[6], "debug", &o->debug)) ||
        (values[7] && !convert_size(values[7], "threads", &o->threadCount)) ||
        (values[8] && !convert_integer(values[8], "memory_limit", SIZE_MAX, &bytes)))
        return false;
    o->memoryLimit = (size_t)bytes;
    o->powerPreference = (WNNPowerPreference)preference;
    o->precision = (WNNPrecision)precision;
    /* device_type is a wish, of which only "cpu" can always be met; engine is an order. */
    o->engine = engine || type != 1 ? (WNNEngine)engine : WNNEngine_Cpu;
    return true;
}

static PyObject *ml_create_context(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {
        "power_preference", "accelerated",  "device_type",   "engine",  "precision",        "device", "cache", "debug",
        "threads",          "memory_limit", "deterministic", "profile", "draft_data_types", NULL};
    int accelerated = 1, deterministic = 0, profile = 0, draft = 0;
    WNNContextOptions options = WNN_CONTEXT_OPTIONS_INIT;
    struct module *m = module_of(self);
    PyObject *v[9] = {NULL}, *result;
    struct profile *kept = NULL;
    WNNContext context = NULL;
    WNNStatus status;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|OpO$OOOOOOOppp:create_context", names, &v[0], &accelerated, &v[1], &v[2],
                                     &v[3], &v[4], &v[5], &v[6], &v[7], &v[8], &deterministic, &profile, &draft) ||
        !convert_options(v, &options))
        return NULL;
    options.accelerated = accelerated;
    options.deterministic = deterministic;
    options.draftDataTypes = draft;
    if (profile && !(kept = profile_create(&options)))
        return NULL;
    WITHOUT_GIL(status = wnnCreateContext(&options, &context));
    if (!succeeded(m, status)) {
        profile_free(kept);
        return NULL;
    }
    if (kept)
        profile_entrust(kept, context);
    result = object_create(m, TYPE_CONTEXT, context, NULL);
    if (result)
        ((struct object *)result)->profile = kept;
    return result;
}

static PyMethodDef ml_methods[] = {
    {"create_context", (PyCFunction)(void (*)(void))ml_create_context, METH_VARARGS | METH_KEYWORDS,
     "create_context($self, power_preference='default', accelerated=True, device_type='auto', *, engine='auto', "
     "precision='float32', device='', cache='', debug='', threads=0, memory_limit=0, deterministic=False, profile=False, "
     "draft_data_types=False)"
     "\n--\n\nCreates a context, in which graphs are built and computed."},
    {NULL, NULL, 0, NULL},
};

DEFINE_TYPE(ml, "ML", struct object, 0, {Py_tp_doc, "ML()\n--\n\nThe entry: it makes contexts."}, {Py_tp_dealloc, object_free},
            {Py_tp_methods, ml_methods})

/* ---- MLContext: what it is ---- */

static WNNContext native(PyObject *self)
{
    return ((struct object *)self)->native.context;
}

GETTER(context_get_accelerated, PyBool_FromLong(wnnContextGetAccelerated(native(self))))
GETTER(context_get_power_preference, PyUnicode_FromString(preferences[wnnContextGetPowerPreference(native(self))]))
GETTER(context_get_lost, PyBool_FromLong(wnnContextIsLost(native(self))))
static PyObject *context_get_device(PyObject *self, void *Py_UNUSED(unused))
{
    WNNDeviceInfo device;

    wnnContextGetDevice(native(self), &device);
    return describe_device(&device);
}

static PyObject *context_profile(PyObject *self, PyObject *Py_UNUSED(unused))
{
    struct profile *profile = ((struct object *)self)->profile;

    if (profile)
        return profile_take(profile);
    PyErr_SetString(module_of(self)->errors[WNNStatus_InvalidStateError],
                    "profile: the context was created without profile=True");
    return NULL;
}

/* ---- support limits ---- */

/** Adds {"dataTypes": [...], "rankRange": {...}} of an operand to a dict. */
static void add_limits(PyObject **dict, const WNNTensorLimits *limits)
{
    PyObject *types = PyList_New(0);

    for (int t = WNNOperandDataType_Float32; types && t <= (int)WNNOperandDataType_Float8E5M2; t++)
        if (limits->dataTypes & WNN_DATA_TYPE_BIT(t))
            list_add(&types, PyUnicode_FromString(wnnOperandDataTypeGetName((WNNOperandDataType)t)));
    dict_add(dict, WNN_STR(limits->name),
             Py_BuildValue("{s:N,s:{s:I,s:I}}", "dataTypes", types, "rankRange", "min", (unsigned)limits->rankRange.min, "max",
                           (unsigned)limits->rankRange.max));
}

static PyObject *operator_limits(struct module *m, WNNContext context, const char *name)
{
    WNNTensorLimits limits[WNN_TENSOR_LIMITS_MAX];
    PyObject *one = PyDict_New();
    size_t count = 0;

    if (!succeeded(m, wnnContextGetOperatorSupportLimits(context, WNN_STR(name), WNN_TENSOR_LIMITS_MAX, limits, &count)))
        Py_CLEAR(one);
    for (size_t i = 0; one && i < count; i++)
        add_limits(&one, &limits[i]);
    return one;
}

static PyObject *context_op_support_limits(PyObject *self, PyObject *Py_UNUSED(unused))
{
    struct module *m = module_of(self);
    WNNOpSupportLimits top;
    PyObject *all;

    if (!succeeded(m, wnnContextGetOpSupportLimits(native(self), &top)))
        return NULL;
    all = Py_BuildValue("{s:s,s:K}", "preferredInputLayout",
                        top.preferredInputLayout == WNNInputOperandLayout_Nhwc ? "nhwc" : "nchw", "maxTensorByteLength",
                        (unsigned long long)top.maxTensorByteLength);
    for (size_t i = 0; all && i < 3; i++)
        add_limits(&all, i == 0 ? &top.input : i == 1 ? &top.constant : &top.output);
    for (size_t i = 0; all && i < wnnGetOperatorCount(); i++)
        dict_add(&all, WNN_STR(wnnGetOperatorName(i)), operator_limits(m, native(self), wnnGetOperatorName(i)));
    return all;
}

/* ---- graphs ---- */

static PyObject *context_create_graph_builder(PyObject *self, PyObject *Py_UNUSED(unused))
{
    WNNGraphBuilder builder = NULL;

    return succeeded(module_of(self), wnnContextCreateGraphBuilder(native(self), &builder))
               ? object_create(module_of(self), TYPE_BUILDER, builder, self)
               : NULL;
}

static PyObject *context_compute(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"graph", "inputs", "outputs", NULL};
    struct bindings inputs = {.call = "compute", .role = "input", .error = PyExc_ValueError};
    PyObject *value, *in, *out = NULL, *result = NULL;
    struct module *m = module_of(self);
    struct object *graph;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO|O:compute", names, &value, &in, &out) ||
        !(graph = object_require(m, value, TYPE_GRAPH, "graph")))
        return NULL;
    if (graph->owner != self)
        PyErr_SetString(PyExc_ValueError, "compute: graph is of another context");
    else if (bindings_open(&inputs, in, false))
        result = compute(m, graph->native.graph, &inputs, out);
    bindings_close(&inputs);
    return result;
}

/** Converts {name: MLTensor}. */
static bool convert_tensors(struct module *m, PyObject *dict, const char *what, struct pairs *pairs)
{
    if (!pairs_open(pairs, dict, what, sizeof(WNNNamedTensor)))
        return false;
    for (size_t i = 0; i < pairs->count; i++) {
        WNNNamedTensor *to = (WNNNamedTensor *)pairs->room + i;
        PyObject *value = pairs_get(pairs, i, &to->name);
        struct object *tensor = value ? object_require(m, value, TYPE_TENSOR, to->name.data) : NULL;

        if (!tensor)
            return false;
        to->tensor = tensor->native.tensor;
    }
    return true;
}

/** Returns whether a tensor has another data type than the graph's input or output of its name. */
static bool has_other_type(const struct pairs *pairs, WNNGraph graph, size_t count,
                           WNNStatus (*get)(WNNGraph, size_t, WNNNamedOperandDescriptor *))
{
    WNNNamedOperandDescriptor port;

    for (size_t i = 0; i < pairs->count; i++)
        for (size_t k = 0; k < count; k++) {
            const WNNNamedTensor *t = (WNNNamedTensor *)pairs->room + i;

            get(graph, k, &port);
            if (t->name.length == port.name.length && !memcmp(t->name.data, port.name.data, t->name.length) &&
                wnnTensorGetDataType(t->tensor) != port.descriptor.dataType)
                return true;
        }
    return false;
}

static PyObject *context_dispatch(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"graph", "inputs", "outputs", NULL};
    struct pairs inputs = {0}, outputs = {0};
    struct module *m = module_of(self);
    PyObject *value, *in, *out;
    struct object *graph;
    WNNStatus status;
    bool ok;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOO:dispatch", names, &value, &in, &out) ||
        !(graph = object_require(m, value, TYPE_GRAPH, "graph")))
        return NULL;
    ok = convert_tensors(m, in, "inputs", &inputs) && convert_tensors(m, out, "outputs", &outputs);
    if (ok) {
        WITHOUT_GIL(status = wnnContextDispatchCancellable(native(self), graph->native.graph, inputs.count, inputs.room,
                                                           outputs.count, outputs.room, cancellation_current()));
        ok = succeeded(m, status);
        if (status == WNNStatus_TypeError &&
            (has_other_type(&inputs, graph->native.graph, wnnGraphGetInputCount(graph->native.graph), wnnGraphGetInput) ||
             has_other_type(&outputs, graph->native.graph, wnnGraphGetOutputCount(graph->native.graph), wnnGraphGetOutput)))
            PyErr_SetString(PyExc_TypeError, wnnGetLastErrorMessage().data);
    }
    pairs_close(&inputs);
    pairs_close(&outputs);
    return ok ? Py_NewRef(Py_None) : NULL;
}

bool check_readable(PyObject *path)
{
    if (!access(PyBytes_AsString(path), R_OK))
        return true;
    PyErr_SetFromErrnoWithFilename(PyExc_OSError, PyBytes_AsString(path));
    return false;
}

static PyObject *context_load_graph(PyObject *self, PyObject *value)
{
    struct module *m = module_of(self);
    PyObject *path = NULL, *result = NULL;
    WNNGraph graph = NULL;
    WNNStatus status;

    if (!PyUnicode_FSConverter(value, &path))
        return NULL;
    if (check_readable(path)) {
        WITHOUT_GIL(status = wnnContextLoadGraph(native(self), PyBytes_AsString(path), &graph));
        if (succeeded(m, status))
            result = object_create(m, TYPE_GRAPH, graph, self);
    }
    Py_DECREF(path);
    return result;
}

/* ---- tensors ---- */

static PyObject *context_create_tensor(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"shape", "data_type", "readable", "writable", "exportable_to_gpu", NULL};
    WNNTensorDescriptor descriptor = WNN_TENSOR_DESCRIPTOR_INIT;
    int readable = 1, writable = 1, exportable = 0;
    struct module *m = module_of(self);
    PyObject *sizes, *type = NULL;
    WNNTensor tensor = NULL;
    struct shape shape;
    WNNStatus status;

    descriptor.dataType = WNNOperandDataType_Float32;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|Oppp:create_tensor", names, &sizes, &type, &readable, &writable,
                                     &exportable) ||
        !convert_shape(sizes, "shape", &shape, NULL) || (type && !convert_data_type(type, "data_type", &descriptor.dataType)))
        return NULL;
    if (exportable) {
        PyErr_SetString(m->errors[WNNStatus_NotSupportedError],
                        "create_tensor: exportable_to_gpu is True; there is no WebGPU device to export to");
        return NULL;
    }
    descriptor.rank = shape.rank;
    descriptor.shape = shape.sizes;
    descriptor.readable = readable;
    descriptor.writable = writable;
    WITHOUT_GIL(status = wnnContextCreateTensor(native(self), &descriptor, &tensor));
    return succeeded(m, status) ? object_create(m, TYPE_TENSOR, tensor, self) : NULL;
}

static PyObject *context_create_constant_tensor(PyObject *self, PyObject *args, PyObject *keywords)
{
    struct constant constant = {0};
    PyObject *result = NULL;
    WNNTensor tensor = NULL;
    WNNStatus status;

    if (constant_open(module_of(self), "create_constant_tensor", args, keywords, &constant)) {
        WITHOUT_GIL(status = wnnContextCreateConstantTensor(native(self), &constant.descriptor, constant.source.data,
                                                            constant.source.bytes, &tensor));
        if (succeeded(module_of(self), status))
            result = object_create(module_of(self), TYPE_TENSOR, tensor, self);
    }
    constant_close(&constant);
    return result;
}

static WNNOperandDescriptor describe_tensor(WNNTensor tensor)
{
    return (WNNOperandDescriptor){wnnTensorGetDataType(tensor), wnnTensorGetRank(tensor), wnnTensorGetShape(tensor), NULL};
}

/** Copies a tensor to a buffer if `reads`, else a buffer to it.  Returns false with an exception set. */
static bool copy_tensor(PyObject *self, WNNTensor tensor, const struct place *place, PyObject *buffer, bool reads)
{
    const WNNOperandDescriptor descriptor = describe_tensor(tensor);
    struct source source = {0};
    WNNStatus status;
    bool ok = source_open(buffer, place, reads, &source) && source_fits(&source, place, &descriptor, "the tensor");

    if (ok) {
        WITHOUT_GIL(status = reads ? wnnContextReadTensor(native(self), tensor, source.data, source.bytes)
                                   : wnnContextWriteTensor(native(self), tensor, source.data, source.bytes));
        ok = succeeded(module_of(self), status);
    }
    source_close(&source);
    return ok;
}

static PyObject *context_read_tensor(PyObject *self, PyObject *args, PyObject *keywords)
{
    static const struct place place = {"read_tensor", "output", ""};
    static char *names[] = {"tensor", "output", NULL};
    PyObject *value, *output = Py_None, *result;
    struct module *m = module_of(self);
    struct object *object;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|O:read_tensor", names, &value, &output) ||
        !(object = object_require(m, value, TYPE_TENSOR, "tensor")))
        return NULL;
    const WNNTensor tensor = object->native.tensor;
    const WNNOperandDescriptor descriptor = describe_tensor(tensor);
    result = output == Py_None ? array_create(m, &descriptor) : Py_NewRef(output);
    if (result && !copy_tensor(self, tensor, &place, result, true))
        Py_CLEAR(result);
    return result && output == Py_None ? array_present(m, result) : result;
}

static PyObject *context_write_tensor(PyObject *self, PyObject *args, PyObject *keywords)
{
    static const struct place place = {"write_tensor", "data", ""};
    static char *names[] = {"tensor", "data", NULL};
    PyObject *value, *data;
    struct object *tensor;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO:write_tensor", names, &value, &data) ||
        !(tensor = object_require(module_of(self), value, TYPE_TENSOR, "tensor")))
        return NULL;
    return copy_tensor(self, tensor->native.tensor, &place, data, false) ? Py_NewRef(Py_None) : NULL;
}

ACTION(context_destroy, wnnContextDestroy(native(self)))

static PyMethodDef context_methods[] = {
    {"create_graph_builder", context_create_graph_builder, METH_NOARGS,
     "create_graph_builder($self)\n--\n\nReturns a builder, which builds one graph."},
    {"compute", (PyCFunction)(void (*)(void))context_compute, METH_VARARGS | METH_KEYWORDS,
     "compute($self, graph, inputs, outputs=None)\n--\n\nComputes a graph on arrays by name and returns a dict of its outputs: "
     "the arrays of `outputs`, or new ones.  Other threads run meanwhile."},
    {"dispatch", (PyCFunction)(void (*)(void))context_dispatch, METH_VARARGS | METH_KEYWORDS,
     "dispatch($self, graph, inputs, outputs)\n--\n\nSubmits a computation on tensors by name, and returns without waiting."},
    {"create_tensor", (PyCFunction)(void (*)(void))context_create_tensor, METH_VARARGS | METH_KEYWORDS,
     "create_tensor($self, shape, data_type='float32', readable=True, writable=True, exportable_to_gpu=False)\n--\n\n"
     "Creates a tensor of zeros."},
    {"create_constant_tensor", (PyCFunction)(void (*)(void))context_create_constant_tensor, METH_VARARGS | METH_KEYWORDS,
     "create_constant_tensor($self, value, shape=None, data_type=None)\n--\n\nCreates a tensor for MLGraphBuilder.constant."},
    {"read_tensor", (PyCFunction)(void (*)(void))context_read_tensor, METH_VARARGS | METH_KEYWORDS,
     "read_tensor($self, tensor, output=None)\n--\n\nWaits for what was submitted before, and returns the tensor's contents, "
     "in the array `output` or a new one."},
    {"write_tensor", (PyCFunction)(void (*)(void))context_write_tensor, METH_VARARGS | METH_KEYWORDS,
     "write_tensor($self, tensor, data)\n--\n\nSubmits a copy of an array into a tensor."},
    {"load_graph", context_load_graph, METH_O, "load_graph($self, path, /)\n--\n\nReads a graph that MLGraph.save wrote."},
    {"op_support_limits", context_op_support_limits, METH_NOARGS,
     "op_support_limits($self)\n--\n\nReturns data types and ranks that operators take, by the specification's names."},
    {"profile", context_profile, METH_NOARGS,
     "profile($self)\n--\n\nReturns the times of computations since the last call, in nanoseconds "
     "(create_context(profile=True))."},
    {"destroy", context_destroy, METH_NOARGS, "destroy($self)\n--\n\nLoses the context with its graphs and tensors."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef context_attributes[] = {
    {"accelerated", context_get_accelerated, NULL, "Whether graphs run on a massively parallel device.", NULL},
    {"power_preference", context_get_power_preference, NULL, "An option of create_context.", NULL},
    {"lost", context_get_lost, NULL, "Whether the context was destroyed or lost.", NULL},
    {"device", context_get_device, NULL, "What graphs run on, as webnn.devices() describes it.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

DEFINE_TYPE(context, "MLContext", struct object, Py_TPFLAGS_DISALLOW_INSTANTIATION,
            {Py_tp_doc, "A device and the order of work on it.  Any number of threads may use it."},
            {Py_tp_dealloc, object_free}, {Py_tp_methods, context_methods}, {Py_tp_getset, context_attributes})
