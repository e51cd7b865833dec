/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Implements the module webnn._webnn: its state, its objects' life, its errors. */

#include "frontend/python/context.h"

/* ---- objects ---- */

/** Gives a reference of a native object back. */
static void release(enum type type, void *native)
{
    static void (*const functions[TYPE_COUNT])(void *) = {
        [TYPE_CONTEXT] = (void (*)(void *))wnnContextRelease,
        [TYPE_BUILDER] = (void (*)(void *))wnnGraphBuilderRelease,
        [TYPE_OPERAND] = (void (*)(void *))wnnOperandRelease,
        [TYPE_GRAPH] = (void (*)(void *))wnnGraphRelease,
        [TYPE_TENSOR] = (void (*)(void *))wnnTensorRelease,
        [TYPE_MODEL] = (void (*)(void *))wnnDynamicModelRelease,
        [TYPE_CANCELLATION] = (void (*)(void *))wnnCancellationRelease,
    };

    if (native)
        functions[type](native);
}

PyObject *object_create(struct module *m, enum type type, void *native, PyObject *owner)
{
    PyObject *self = m->types[type] ? PyType_GenericAlloc((PyTypeObject *)m->types[type], 0) : NULL;
    struct object *o = (struct object *)self;

    if (!self) {
        release(type, native);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    o->type = type;
    o->native.any = native;
    o->owner = Py_XNewRef(owner);
    return self;
}

PyObject *object_show_ports(PyObject *self)
{
    PyObject *inputs = PyObject_GetAttrString(self, "inputs"),
             *outputs = inputs ? PyObject_GetAttrString(self, "outputs") : NULL,
             *name = outputs ? PyType_GetName(Py_TYPE(self)) : NULL, *text = NULL;

    if (name)
        text = PyUnicode_FromFormat("<webnn.%U inputs=%R outputs=%R>", name, inputs, outputs);
    Py_XDECREF(inputs);
    Py_XDECREF(outputs);
    Py_XDECREF(name);
    return text;
}

void object_free(PyObject *self)
{
    struct object *o = (struct object *)self;
    PyTypeObject *type = Py_TYPE(self);

    release(o->type, o->native.any);
    Py_XDECREF(o->owner);
    Py_XDECREF(o->text);
    Py_XDECREF(o->constants);
    PyObject_Free(self);
    Py_DECREF(type);
}

struct object *object_require(struct module *m, PyObject *value, enum type type, const char *what)
{
    static const char *const names[TYPE_COUNT] = {"ML",       "MLContext", "MLGraphBuilder", "MLOperand", "MLGraph",
                                                  "MLTensor", "MLModel",   "Cancellation",   "Array"};

    if (m->types[type] && PyObject_TypeCheck(value, (PyTypeObject *)m->types[type]))
        return (struct object *)value;
    refuse_type(what, value, names[type]);
    return NULL;
}

/** Finds numpy.asarray, once. */
static PyObject *as_array(struct module *m)
{
    if (!m->sought_numpy) {
        PyObject *numpy = PyImport_ImportModule("numpy");

        m->as_array = numpy ? PyObject_GetAttrString(numpy, "asarray") : NULL;
        Py_XDECREF(numpy);
        PyErr_Clear();
        m->sought_numpy = true;
    }
    return m->as_array;
}

PyObject *array_present(struct module *m, PyObject *array)
{
    PyObject *function = as_array(m), *result;

    if (!array || !function)
        return array;
    result = PyObject_CallFunctionObjArgs(function, array, NULL);
    Py_DECREF(array);
    return result;
}

PyObject *numpy_array(struct module *m, PyObject *value, PyObject *data_type)
{
    PyObject *function = as_array(m);

    return function ? PyObject_CallFunctionObjArgs(function, value, data_type, NULL) : NULL;
}

/* ---- errors ---- */

bool status_check(struct module *m, WNNStatus status, WNNStringView message)
{
    PyObject *text, *error;

    if (status == WNNStatus_Success)
        return true;
    error = status <= WNNStatus_DataError ? m->errors[status] : NULL;
    text = text_of(message);
    if (text)
        PyErr_SetObject(error ? error : PyExc_RuntimeError, text);
    Py_XDECREF(text);
    return false;
}

bool succeeded(struct module *m, WNNStatus status)
{
    return status_check(m, status, status ? wnnGetLastErrorMessage() : WNN_STRING_VIEW_INIT);
}

/** Makes a class of exceptions that is also one of Python's own, and adds it to the module. */
static PyObject *new_error(PyObject *module, PyObject *base, const char *name, PyObject *builtin, const char *doc)
{
    PyObject *full = PyUnicode_FromFormat("webnn.%s", name),
             *bases = PyTuple_Pack(base ? 2 : 1, base ? base : builtin, builtin);
    PyObject *error = NULL;

    if (full && bases)
        error = PyErr_NewExceptionWithDoc(PyUnicode_AsUTF8AndSize(full, NULL), doc, bases, NULL);
    if (error && PyModule_AddObjectRef(module, name, error))
        Py_CLEAR(error);
    Py_XDECREF(full);
    Py_XDECREF(bases);
    return error;
}

static bool make_errors(PyObject *module, struct module *m)
{
    const struct {
        WNNStatus status;
        const char *name;
        PyObject *builtin;
        const char *doc;
    } rows[] = {
        {WNNStatus_InvalidStateError, "InvalidStateError", PyExc_RuntimeError,
         "An object is lost, destroyed or already built."},
        {WNNStatus_OperationError, "OperationError", PyExc_RuntimeError, "A build failed."},
        {WNNStatus_UnknownError, "UnknownError", PyExc_RuntimeError, "Out of memory, or another external failure."},
        {WNNStatus_NotSupportedError, "NotSupportedError", PyExc_RuntimeError,
         "The options or the operation are not supported."},
        {WNNStatus_DataError, "DataError", PyExc_ValueError, "A file is not what it should be."},
    };
    PyObject *base = new_error(module, NULL, "Error", PyExc_Exception, "The base of the module's exceptions.");

    for (size_t i = 0; base && i < sizeof(rows) / sizeof(rows[0]); i++) {
        m->errors[rows[i].status] = new_error(module, base, rows[i].name, rows[i].builtin, rows[i].doc);
        if (!m->errors[rows[i].status])
            Py_CLEAR(base);
    }
    /* What the specification calls a TypeError is a wrong value here. */
    m->errors[WNNStatus_TypeError] = Py_NewRef(PyExc_ValueError);
    Py_XDECREF(base);
    return base;
}

/* ---- the module ---- */

static int module_exec(PyObject *self)
{
    static PyType_Spec *const specs[TYPE_COUNT] = {&ml_spec,     &context_spec, &builder_spec,      &operand_spec, &graph_spec,
                                                   &tensor_spec, &model_spec,   &cancellation_spec, &array_spec};
    struct module *m = PyModule_GetState(self);

    for (size_t i = 0; i < TYPE_COUNT; i++) {
        m->types[i] = PyType_FromModuleAndSpec(self, specs[i], NULL);
        if (!m->types[i] || PyModule_AddType(self, (PyTypeObject *)m->types[i]))
            return -1;
    }
    return make_errors(self, m) ? PyModule_AddStringConstant(self, "__version__", wnnGetVersion()) : -1;
}

static int module_traverse(PyObject *self, visitproc visit, void *arg)
{
    struct module *m = PyModule_GetState(self);

    for (size_t i = 0; i < TYPE_COUNT; i++)
        Py_VISIT(m->types[i]);
    for (size_t i = 0; i <= WNNStatus_DataError; i++)
        Py_VISIT(m->errors[i]);
    Py_VISIT(m->context);
    Py_VISIT(m->as_array);
    return 0;
}

static int module_clear(PyObject *self)
{
    struct module *m = PyModule_GetState(self);

    for (size_t i = 0; i < TYPE_COUNT; i++)
        Py_CLEAR(m->types[i]);
    for (size_t i = 0; i <= WNNStatus_DataError; i++)
        Py_CLEAR(m->errors[i]);
    Py_CLEAR(m->context);
    Py_CLEAR(m->as_array);
    return 0;
}

static void module_free(void *self)
{
    module_clear(self);
}

static PyMethodDef module_methods[] = {
    {"load", (PyCFunction)(void (*)(void))module_load, METH_VARARGS | METH_KEYWORDS,
     "load($module, path, context=None, *, dimensions=None, shapes=None, constants=None, weights=None, folder=None, "
     "graph_limit=16, outputs=None, folder_limit=0)\n--\n\nOpens a model: the path of a file or folder (ONNX, .webnn text or "
     "JSON, manifest), or its bytes.\n\ndimensions, {name: size}, and shapes, {input: sizes}, fix sizes, constants, {input: "
     "array}, inputs;\noutputs names the requested results; folder keeps compiled graphs, up to folder_limit bytes."},
    {"devices", module_devices, METH_NOARGS,
     "devices($module)\n--\n\nReturns a dict for each device that create_context(engine='gpu', device=...) takes."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, module_exec}, {0, NULL}};

static struct PyModuleDef module_definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "webnn._webnn",
    .m_doc = "The native part of webnn.",
    .m_size = sizeof(struct module),
    .m_methods = module_methods,
    .m_slots = module_slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
    .m_free = module_free,
};

PyMODINIT_FUNC PyInit__webnn(void)
{
    return PyModuleDef_Init(&module_definition);
}
