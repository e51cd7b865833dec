/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Implements webnn.load and MLModel: a model file whose open dimensions are those of the arrays that it is given. */

#include "frontend/python/compute.h"
#include "frontend/python/context.h"

/* ---- webnn.load ---- */

/** Holds what the options of one load point to. */
struct options {
    WNNModelOptions model;
    WNNDynamicModelOptions all;
    struct pairs dimensions, shapes, constants, bounds;
    struct shape *sizes;               /* of the shapes */
    struct constant *values;           /* of the constants */
    PyObject *outputs;                 /* a list of names */
    WNNStringView *names;              /* of the outputs */
    PyObject *weights, *folder, *path; /* bytes objects; the last one is the model's */
};

/** Takes the pairs of a dict; one that is NULL or None has none. */
static bool open_dict(struct pairs *pairs, PyObject *dict, const char *what, size_t size)
{
    return !dict || dict == Py_None || pairs_open(pairs, dict, what, size);
}

static bool convert_dimensions(struct options *o, PyObject *dict)
{
    if (!open_dict(&o->dimensions, dict, "dimensions", sizeof(WNNModelDimension)))
        return false;
    for (size_t i = 0; i < o->dimensions.count; i++) {
        WNNModelDimension *to = (WNNModelDimension *)o->dimensions.room + i;
        PyObject *value = pairs_get(&o->dimensions, i, &to->name);

        if (!value || !convert_size(value, to->name.data, &to->size))
            return false;
    }
    o->model.dimensionCount = o->dimensions.count;
    o->model.dimensions = o->dimensions.room;
    return true;
}

static bool convert_shapes(struct options *o, PyObject *dict)
{
    if (!open_dict(&o->shapes, dict, "shapes", sizeof(WNNModelShape)))
        return false;
    o->sizes = PyMem_Calloc(o->shapes.count + 1, sizeof(*o->sizes));
    for (size_t i = 0; o->sizes && i < o->shapes.count; i++) {
        WNNModelShape *to = (WNNModelShape *)o->shapes.room + i;
        PyObject *value = pairs_get(&o->shapes, i, &to->name);

        if (!value || !convert_shape(value, to->name.data, &o->sizes[i], NULL))
            return false;
        to->rank = o->sizes[i].rank;
        to->shape = o->sizes[i].sizes;
    }
    o->model.shapeCount = o->shapes.count;
    o->model.shapes = o->shapes.room;
    return o->sizes || PyErr_NoMemory();
}

/** Converts {name: (least, greatest size)}. */
static bool convert_bounds(struct options *o, PyObject *dict)
{
    struct shape sizes;

    if (!open_dict(&o->bounds, dict, "names", sizeof(WNNDimension)))
        return false;
    for (size_t i = 0; i < o->bounds.count; i++) {
        WNNDimension *to = (WNNDimension *)o->bounds.room + i;
        PyObject *value = pairs_get(&o->bounds, i, &to->name);

        if (!value || !convert_shape(value, to->name.data, &sizes, NULL))
            return false;
        if (sizes.rank != 2)
            return PyErr_Format(PyExc_ValueError, "%s has %zu bounds, not 2", to->name.data, (size_t)sizes.rank);
        to->minSize = sizes.sizes[0];
        to->maxSize = sizes.sizes[1];
    }
    o->model.nameCount = o->bounds.count;
    o->model.names = o->bounds.room;
    return true;
}

static bool convert_constants(struct module *m, struct options *o, PyObject *dict)
{
    if (!open_dict(&o->constants, dict, "constants", sizeof(WNNModelConstant)))
        return false;
    o->values = PyMem_Calloc(o->constants.count + 1, sizeof(*o->values));
    for (size_t i = 0; o->values && i < o->constants.count; i++) {
        WNNModelConstant *to = (WNNModelConstant *)o->constants.room + i;
        PyObject *value = pairs_get(&o->constants, i, &to->name);
        const struct place place = {"load", "constant", value ? to->name.data : ""};

        if (!value || !constant_open_value(m, &place, value, NULL, NULL, &o->values[i]))
            return false;
        to->descriptor = o->values[i].descriptor;
        to->data = o->values[i].source.data;
        to->byteLength = o->values[i].source.bytes;
    }
    o->model.constantCount = o->constants.count;
    o->model.constants = o->constants.room;
    return o->values || PyErr_NoMemory();
}

static bool convert_outputs(struct options *o, PyObject *sequence)
{
    if (!sequence || sequence == Py_None)
        return true;
    o->outputs = PyUnicode_Check(sequence) ? NULL : PySequence_List(sequence);
    if (!o->outputs)
        return !PyErr_Occurred() && PyErr_Format(PyExc_TypeError, "outputs is a str, not a sequence of names");
    o->model.outputCount = (size_t)PyList_Size(o->outputs);
    o->model.outputs = o->names = PyMem_Calloc(o->model.outputCount + 1, sizeof(*o->names));
    if (!o->names)
        return PyErr_NoMemory();
    for (size_t i = 0; i < o->model.outputCount; i++)
        if (!convert_text(PyList_GetItem(o->outputs, (Py_ssize_t)i), "an output", &o->names[i]))
            return false;
    return true;
}

static void options_free(struct options *o)
{
    Py_XDECREF(o->outputs);
    PyMem_Free(o->names);
    for (size_t i = 0; o->values && i < o->constants.count; i++)
        constant_close(&o->values[i]);
    pairs_close(&o->dimensions);
    pairs_close(&o->shapes);
    pairs_close(&o->constants);
    pairs_close(&o->bounds);
    PyMem_Free(o->sizes);
    PyMem_Free(o->values);
    Py_XDECREF(o->weights);
    Py_XDECREF(o->folder);
    Py_XDECREF(o->path);
}

/** Opens a path, or a model that is an array of bytes, without the GIL. */
static WNNStatus open_model(WNNContext context, struct options *o, const struct source *source, WNNDynamicModel *model)
{
    const char *path = o->path ? PyBytes_AsString(o->path) : NULL;
    WNNStatus status;

    WITHOUT_GIL(status = path ? wnnDynamicModelCreate(context, path, &o->all, model)
                              : wnnDynamicModelCreateFromMemory(context, source->data, source->bytes, &o->all, model));
    return status;
}

/** Returns a new reference to the context of that argument, or to the module's own one, which is made when it is needed. */
static PyObject *choose_context(struct module *m, PyObject *value)
{
    PyObject *ml;

    if (value && value != Py_None)
        return object_require(m, value, TYPE_CONTEXT, "context") ? Py_NewRef(value) : NULL;
    if (!m->context) {
        ml = object_create(m, TYPE_ML, NULL, NULL);
        value = ml ? PyObject_CallMethod(ml, "create_context", NULL) : NULL;
        Py_XDECREF(ml);
        if (!value)
            return NULL;
        Py_XDECREF(m->context); /* which another thread has made meanwhile */
        m->context = value;
    }
    return Py_NewRef(m->context);
}

static PyObject *load(struct module *m, PyObject *context, PyObject *path, struct options *o, PyObject *constants)
{
    static const struct place place = {"load", "path", ""};
    WNNDynamicModel model = NULL;
    struct source source = {0};
    PyObject *result = NULL;

    if ((PyObject_CheckBuffer(path) ? source_open(path, &place, false, &source)
                                    : PyUnicode_FSConverter(path, &o->path) && check_readable(o->path)) &&
        model_succeeded(m, open_model(((struct object *)context)->native.context, o, &source, &model)))
        result = object_create(m, TYPE_MODEL, model, context);
    source_close(&source);
    if (result)
        ((struct object *)result)->is_partial = o->model.outputCount > 0;
    if (result && constants && constants != Py_None && !(((struct object *)result)->constants = PyDict_Copy(constants)))
        Py_CLEAR(result);
    return result;
}

PyObject *module_load(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"path",   "context",     "dimensions", "shapes",       "constants", "weights",
                            "folder", "graph_limit", "outputs",    "folder_limit", "names",     NULL};
    PyObject *path, *context = NULL, *dimensions = NULL, *shapes = NULL, *constants = NULL, *weights = NULL, *folder = NULL,
                    *outputs = NULL, *bounds = NULL;
    struct options o = {.model = WNN_MODEL_OPTIONS_INIT, .all = WNN_DYNAMIC_MODEL_OPTIONS_INIT};
    struct module *m = PyModule_GetState(self);
    PyObject *graph_limit = NULL, *folder_limit = NULL, *result = NULL;
    uint64_t most_graphs = 0;

    if (PyArg_ParseTupleAndKeywords(args, keywords, "O|O$OOOOOOOOO:load", names, &path, &context, &dimensions, &shapes,
                                    &constants, &weights, &folder, &graph_limit, &outputs, &folder_limit, &bounds) &&
        (context = choose_context(m, context))) {
        if (convert_dimensions(&o, dimensions) && convert_shapes(&o, shapes) && convert_constants(m, &o, constants) &&
            convert_bounds(&o, bounds) && convert_outputs(&o, outputs) &&
            (!weights || weights == Py_None || PyUnicode_FSConverter(weights, &o.weights)) &&
            (!folder || folder == Py_None || PyUnicode_FSConverter(folder, &o.folder)) &&
            (!graph_limit || convert_integer(graph_limit, "graph_limit", SIZE_MAX, &most_graphs)) &&
            (!folder_limit || convert_integer(folder_limit, "folder_limit", UINT64_MAX, &o.all.folderLimit))) {
            o.model.weightsPath = o.weights ? PyBytes_AsString(o.weights) : NULL;
            o.all.model = &o.model;
            o.all.folder = o.folder ? PyBytes_AsString(o.folder) : NULL;
            o.all.graphLimit = (size_t)most_graphs;
            o.all.progress.callback = cancellation_permits;
            result = load(m, context, path, &o, constants);
        }
        Py_DECREF(context);
    }
    options_free(&o);
    return result;
}

/* ---- MLModel: what it is ---- */

static WNNDynamicModel native(PyObject *self)
{
    return ((struct object *)self)->native.model;
}

static WNNModelInfo info_of(PyObject *self)
{
    return wnnDynamicModelGetInfo(native(self));
}

GETTER(model_get_name, text_of(wnnModelInfoGetName(info_of(self))))
GETTER(model_get_notes, text_of(wnnDynamicModelGetNotes(native(self))))
GETTER(model_get_context, Py_NewRef(((struct object *)self)->owner))

/** Returns the shape that a file declares: sizes, names of open dimensions, and None for an open one without a name. */
static PyObject *declared_shape(const WNNModelDeclaration *d)
{
    PyObject *list = d->hasShape ? PyList_New(0) : Py_NewRef(Py_None);

    for (size_t i = 0; list && d->hasShape && i < d->rank; i++) {
        const WNNModelDimension *n = &d->dimensions[i];

        list_add(&list, n->size ? PyLong_FromUnsignedLong(n->size) : n->name.length ? text_of(n->name) : Py_NewRef(Py_None));
    }
    return list;
}

/** Returns {name: {"data_type": ..., "shape": [...]}} of the inputs, or of the outputs if `outputs` is not NULL. */
static PyObject *model_get_ports(PyObject *self, void *outputs)
{
    WNNModelInfo info = info_of(self);
    size_t count = outputs ? wnnModelInfoGetOutputCount(info) : wnnModelInfoGetInputCount(info);
    PyObject *all = PyDict_New();

    for (size_t i = 0; all && i < count; i++) {
        WNNModelDeclaration d;

        (outputs ? wnnModelInfoGetOutput : wnnModelInfoGetInput)(info, i, &d);
        dict_add(&all, d.name,
                 Py_BuildValue("{s:s,s:N}", "data_type", wnnOperandDataTypeGetName(d.dataType), "shape", declared_shape(&d)));
    }
    return all;
}

static PyObject *model_get_dimensions(PyObject *self, void *Py_UNUSED(unused))
{
    PyObject *list = PyList_New(0);

    for (size_t i = 0; list && i < wnnModelInfoGetFreeDimensionCount(info_of(self)); i++) {
        WNNModelFreeDimension dimension;

        wnnModelInfoGetFreeDimension(info_of(self), i, &dimension);
        list_add(&list, text_of(dimension.name));
    }
    return list;
}

static PyObject *model_get_counts(PyObject *self, void *Py_UNUSED(unused))
{
    WNNDynamicModelCounts c;

    wnnDynamicModelGetCounts(native(self), &c);
    return Py_BuildValue("{s:K,s:K,s:K,s:K,s:K}", "found", (unsigned long long)c.found, "built", (unsigned long long)c.built,
                         "loaded", (unsigned long long)c.loaded, "saved", (unsigned long long)c.saved, "held",
                         (unsigned long long)c.held);
}

/* ---- MLModel: what it does ---- */

static WNNStatus get_graph(PyObject *self, const struct options *o, WNNGraph *graph)
{
    WNNDynamicModel model = native(self);
    WNNStatus status;

    WITHOUT_GIL(status = wnnDynamicModelGetGraph(model, o->model.dimensionCount, o->model.dimensions, o->model.shapeCount,
                                                 o->model.shapes, graph));
    return status;
}

/** Checks that there is an array for each input of the model that is needed and for nothing else, before anything is built. */
static bool check_names(PyObject *self, struct bindings *inputs)
{
    PyObject *constants = ((struct object *)self)->constants, *declared = model_get_ports(self, NULL);
    PyObject *names = declared ? PyDict_Keys(declared) : NULL;
    bool ok = names;

    for (size_t i = 0; ok && i < inputs->count; i++) {
        PyObject *name = text_of(inputs->list[i].name);
        int known = name ? PyDict_Contains(declared, name) : -1;

        ok = known > 0;
        if (known == 0)
            PyErr_Format(PyExc_TypeError, "%s: input %R is not one of the model's, which are %R", inputs->call, name, names);
        Py_XDECREF(name);
    }
    for (Py_ssize_t i = 0; ok && !((struct object *)self)->is_partial && i < PyList_Size(names); i++) {
        PyObject *name = PyList_GetItem(names, i);
        WNNStringView text;

        ok = convert_text(name, "a name", &text) &&
             (bindings_find(inputs, text) || (constants && PyDict_GetItemWithError(constants, name)));
        if (!ok && !PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "%s: input %R is missing; the model has %R", inputs->call, name, names);
    }
    Py_XDECREF(names);
    Py_XDECREF(declared);
    return ok;
}

/** Builds or finds the graph for the shapes of arrays and computes it. */
static PyObject *model_compute(PyObject *self, struct bindings *inputs)
{
    WNNModelShape *shapes = PyMem_Calloc(wnnModelInfoGetInputCount(info_of(self)) + 1, sizeof(*shapes));
    struct options o = {.model.shapes = shapes};
    struct module *m = module_of(self);
    PyObject *result = NULL;
    WNNModelDeclaration d;
    WNNGraph graph = NULL;

    if (!shapes)
        return PyErr_NoMemory();
    for (size_t i = 0; !wnnModelInfoGetInput(info_of(self), i, &d); i++) {
        const struct binding *b = bindings_find(inputs, d.name);

        /* Bytes say nothing of a shape, unless each is an element of a vector. */
        if (b && (!b->source.raw || (d.rank == 1 && wnnOperandDataTypeGetByteSize(d.dataType) == 1)))
            shapes[o.model.shapeCount++] = (WNNModelShape){b->name, b->source.rank, b->source.sizes};
    }
    inputs->may_exceed = true; /* inputs of the model that its graph does not need; check_names looks for others */
    inputs->cuts = true;
    if (check_names(self, inputs) && model_succeeded(m, get_graph(self, &o, &graph)))
        result = compute(m, graph, inputs, NULL);
    wnnGraphRelease(graph);
    PyMem_Free(shapes);
    return result;
}

static PyObject *model_call(PyObject *self, PyObject *args, PyObject *keywords)
{
    return compute_call(self, "model", args, keywords, model_compute);
}

static PyObject *model_graph(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"dimensions", "shapes", NULL};
    PyObject *dimensions = NULL, *shapes = NULL, *result = NULL;
    struct module *m = module_of(self);
    struct options o = {0};
    WNNGraph graph = NULL;

    if (PyArg_ParseTupleAndKeywords(args, keywords, "|OO:graph", names, &dimensions, &shapes) &&
        convert_dimensions(&o, dimensions) && convert_shapes(&o, shapes) && model_succeeded(m, get_graph(self, &o, &graph)))
        result = object_create(m, TYPE_GRAPH, graph, ((struct object *)self)->owner);
    options_free(&o);
    return result;
}

ACTION(model_clear, wnnDynamicModelClear(native(self)))

static PyMethodDef model_methods[] = {
    {"graph", (PyCFunction)(void (*)(void))model_graph, METH_VARARGS | METH_KEYWORDS,
     "graph($self, dimensions=None, shapes=None)\n--\n\nReturns the graph for these sizes, {name: size} and {input: shape}."},
    {"clear", model_clear, METH_NOARGS, "clear($self)\n--\n\nGives up the graphs that are kept, to have their memory back."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef model_attributes[] = {
    {"name", model_get_name, NULL, "The name that the file has for the model.", NULL},
    {"context", model_get_context, NULL, "The context that computes it.", NULL},
    {"inputs", model_get_ports, NULL, "Data type and shape of each input, by name; open dimensions are names.", NULL},
    {"outputs", model_get_ports, NULL, "Data type and shape of each output, as far as the file says them.", (void *)1},
    {"dimensions", model_get_dimensions, NULL, "The names of the open dimensions.", NULL},
    {"notes", model_get_notes, NULL, "Lines about values that were read differently than given, once a graph was built.", NULL},
    {"counts", model_get_counts, NULL, "How many graphs were built, loaded, saved, found again, and are held.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

DEFINE_TYPE(model, "MLModel", struct object, Py_TPFLAGS_DISALLOW_INSTANTIATION,
            {Py_tp_doc,
             "A model file.  Called with arrays by name, model(x=...), it builds a graph for their shapes, or takes the one "
             "that it has, and returns a dict of results."},
            {Py_tp_dealloc, object_free}, {Py_tp_repr, object_show_ports}, {Py_tp_call, model_call},
            {Py_tp_methods, model_methods}, {Py_tp_getset, model_attributes})
