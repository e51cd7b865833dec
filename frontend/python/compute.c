/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Computes graphs on arrays of programs. */
#include "frontend/python/compute.h"

#include <string.h>

/* ---- arrays by name ---- */

bool bindings_open(struct bindings *b, PyObject *dict, bool writable)
{
    if (!pairs_open(&b->pairs, dict, writable ? "outputs" : "inputs", sizeof(*b->list)))
        return false;
    b->list = b->pairs.room;
    for (; b->count < b->pairs.count; b->count++) {
        struct binding *to = &b->list[b->count];
        PyObject *value = pairs_get(&b->pairs, b->count, &to->name);
        const struct place place = {b->call, b->role, value ? to->name.data : ""};

        if (!value || !source_open(value, &place, writable, &to->source))
            return false;
    }
    return true;
}

void bindings_close(struct bindings *b)
{
    for (size_t i = 0; i < b->count; i++)
        source_close(&b->list[i].source);
    b->count = 0;
    pairs_close(&b->pairs);
}

struct binding *bindings_find(struct bindings *b, WNNStringView name)
{
    for (size_t i = 0; i < b->count; i++)
        if (b->list[i].name.length == name.length && !memcmp(b->list[i].name.data, name.data, name.length))
            return &b->list[i];
    return NULL;
}

/* ---- matching them with a graph ---- */

typedef WNNStatus (*port_function)(WNNGraph graph, size_t index, WNNNamedOperandDescriptor *port);

/** Returns a list of the names of a graph's inputs or outputs. */
static PyObject *list_ports(WNNGraph graph, port_function get, size_t count)
{
    PyObject *list = PyList_New(0);

    for (size_t i = 0; list && i < count; i++) {
        WNNNamedOperandDescriptor port;

        get(graph, i, &port);
        list_add(&list, text_of(port.name));
    }
    return list;
}

static bool refuse_name(const struct bindings *b, WNNStringView name, const char *wrong, WNNGraph graph, port_function get,
                        size_t count)
{
    PyObject *text = text_of(name), *ports = text ? list_ports(graph, get, count) : NULL;

    if (ports)
        PyErr_Format(b->error, "%s: %s %R %s; the graph has %R", b->call, b->role, text, wrong, ports);
    Py_XDECREF(text);
    Py_XDECREF(ports);
    return false;
}

/** Describes an input or output; shapes, unless it is NULL, has the shape that it has in place of the graph's. */
static void get_port(WNNGraph graph, port_function get, size_t index, const WNNNamedShape *shapes,
                     WNNNamedOperandDescriptor *port)
{
    get(graph, index, port);
    if (!shapes)
        return;
    port->descriptor.shape = shapes[index].shape;
    port->descriptor.dimensions = NULL;
}

/**
 * Finds the array of each of a graph's inputs or outputs and checks it; no array may be left over, unless it is empty.
 * *matched gets the number of buffers.
 */
static bool match(struct bindings *b, WNNGraph graph, port_function get, size_t count, const WNNNamedShape *shapes,
                  WNNNamedBuffer *buffers, size_t *matched)
{
    *matched = 0;
    for (size_t i = 0; i < count; i++) {
        struct place place = {b->call, b->role, NULL};
        WNNNamedOperandDescriptor port;
        struct binding *found;

        get_port(graph, get, i, shapes, &port);
        found = bindings_find(b, port.name);
        if (!found && b->may_lack)
            continue;
        if (!found)
            return refuse_name(b, port.name, "is missing", graph, get, count);
        place.name = found->name.data;
        if (!source_fits(&found->source, &place, &port.descriptor, "the graph"))
            return false;
        found->used = true;
        buffers[(*matched)++] = (WNNNamedBuffer){port.name, found->source.data, found->source.bytes};
    }
    for (size_t i = 0; i < b->count; i++)
        if (!b->list[i].used && b->list[i].source.bytes && !b->may_exceed)
            return refuse_name(b, b->list[i].name, "is not one of the graph's", graph, get, count);
    return true;
}

/* ---- computing ---- */

static bool new_outputs(struct module *m, WNNGraph graph, size_t count, const WNNNamedShape *shapes, WNNNamedBuffer *buffers,
                        PyObject **arrays)
{
    for (size_t i = 0; i < count; i++) {
        WNNNamedOperandDescriptor port;

        get_port(graph, wnnGraphGetOutput, i, shapes, &port);
        arrays[i] = array_create(m, &port.descriptor);
        if (!arrays[i])
            return false;
        buffers[i] = (WNNNamedBuffer){port.name, array_data(arrays[i]), descriptor_bytes(&port.descriptor)};
    }
    return true;
}

/** Cuts the results of which others say how much of them counts, and drops those others. */
static void cut_outputs(size_t count, const WNNNamedBuffer *buffers, PyObject **arrays)
{
    int32_t counts;
    WNNStringView of;
    size_t d;

    for (size_t i = 0; i < count; i++) {
        if (buffers[i].byteLength != sizeof(counts) || !wnnModelIsCount(buffers[i].name, &of, &d))
            continue;
        bool found = false;
        memcpy(&counts, buffers[i].data, sizeof(counts));
        for (size_t k = 0; k < count; k++)
            if (arrays[k] && buffers[k].name.length == of.length && !memcmp(buffers[k].name.data, of.data, of.length)) {
                array_cut(arrays[k], d, counts < 0 ? 0 : (size_t)counts);
                found = true;
            }
        if (found)
            Py_CLEAR(arrays[i]);
    }
}

/** Returns the results by name.  References to arrays are taken over. */
static PyObject *results(struct module *m, size_t count, const WNNNamedBuffer *buffers, PyObject **arrays)
{
    PyObject *dict = PyDict_New();

    for (size_t i = 0; dict && i < count; i++) {
        if (arrays[i])
            dict_add(&dict, buffers[i].name, array_present(m, arrays[i]));
        arrays[i] = NULL;
    }
    return dict;
}

/** Holds what the arrays of inputs say of named dimensions.  It begins as zeros. */
struct sizes {
    size_t count;
    WNNNamedSize *list;
    WNNNamedShape *outputs; /* NULL: no dimension has a name */
};

static void sizes_close(struct sizes *s)
{
    PyMem_Free(s->list);
    PyMem_Free(s->outputs);
}

/** Finds the sizes of named dimensions in arrays that have been matched, and the shapes of outputs that follow from them. */
static bool sizes_open(struct sizes *s, struct module *m, WNNGraph graph, struct bindings *inputs)
{
    const size_t in = wnnGraphGetInputCount(graph), out = wnnGraphGetOutputCount(graph);
    WNNNamedShape *shapes = PyMem_Calloc(in + 1, sizeof(*shapes));
    size_t count = 0;

    s->list = PyMem_Calloc(in * WNN_RANK_MAX + 1, sizeof(*s->list));
    s->outputs = PyMem_Calloc(out + 1, sizeof(*s->outputs));
    if (!shapes || !s->list || !s->outputs)
        PyErr_NoMemory();
    for (size_t i = 0; shapes && s->list && i < in; i++) {
        WNNNamedOperandDescriptor port;
        const struct binding *b;

        wnnGraphGetInput(graph, i, &port);
        b = bindings_find(inputs, port.name);
        if (!b || !port.descriptor.dimensions)
            continue;
        shapes[count] = (WNNNamedShape){port.name, port.descriptor.rank, {0}};
        memcpy(shapes[count++].shape, b->source.sizes, port.descriptor.rank * sizeof(*b->source.sizes));
        for (size_t k = 0; k < port.descriptor.rank; k++)
            if (port.descriptor.dimensions[k].name.data)
                s->list[s->count++] = (WNNNamedSize){port.descriptor.dimensions[k].name, b->source.sizes[k]};
    }
    const bool ok = !PyErr_Occurred() && succeeded(m, wnnGraphComputeShapes(graph, count, shapes, out, s->outputs));
    PyMem_Free(shapes);
    return ok;
}

/** Returns whether an input has named dimensions. */
static bool has_names(WNNGraph graph)
{
    WNNNamedOperandDescriptor port;

    for (size_t i = 0; i < wnnGraphGetInputCount(graph); i++)
        if (wnnGraphGetInput(graph, i, &port) == WNNStatus_Success && port.descriptor.dimensions)
            return true;
    return false;
}

PyObject *compute(struct module *m, WNNGraph graph, struct bindings *inputs, PyObject *outputs)
{
    const size_t in = wnnGraphGetInputCount(graph), out = wnnGraphGetOutputCount(graph);
    WNNNamedBuffer *buffers = PyMem_Calloc(in + out + 1, sizeof(*buffers));
    PyObject **arrays = PyMem_Calloc(out + 1, sizeof(*arrays)), *result = NULL;
    struct bindings given = {.call = inputs->call, .role = "output", .error = inputs->error};
    bool fresh = !outputs || outputs == Py_None, ok = buffers && arrays;
    struct sizes sizes = {0};
    size_t matched, chosen = out;
    WNNStatus status;

    if (!ok)
        PyErr_NoMemory();
    if (ok && has_names(graph)) {
        inputs->may_lack = !fresh;
        ok = match(inputs, graph, wnnGraphGetInput, in, NULL, buffers, &matched) && sizes_open(&sizes, m, graph, inputs);
    }
    if (ok && !fresh) {
        ok = bindings_open(&given, outputs, true);
        given.may_lack = given.count > 0;
        ok = ok && match(&given, graph, wnnGraphGetOutput, out, sizes.outputs, buffers + in, &chosen);
        inputs->may_lack = ok && chosen < out;
    }
    ok = ok && match(inputs, graph, wnnGraphGetInput, in, NULL, buffers, &matched) &&
         (!fresh || new_outputs(m, graph, out, sizes.outputs, buffers + in, arrays));
    if (ok) {
        WITHOUT_GIL(status = wnnGraphComputeSized(graph, sizes.count, sizes.list, matched, buffers, chosen, buffers + in,
                                                  cancellation_current()));
        if (inputs->cuts && fresh && !status)
            cut_outputs(out, buffers + in, arrays);
        if (succeeded(m, status))
            result = fresh ? results(m, out, buffers + in, arrays) : PyDict_Copy(outputs);
    }
    bindings_close(&given);
    sizes_close(&sizes);
    for (size_t i = 0; arrays && i < out; i++)
        Py_XDECREF(arrays[i]);
    PyMem_Free(arrays);
    PyMem_Free(buffers);
    return result;
}

/* ---- calls ---- */

/** Merges the arguments of a call into a dict. */
static PyObject *call_arguments(const char *call, PyObject *args, PyObject *keywords)
{
    PyObject *all;

    if (PyTuple_Size(args) > 1 || (PyTuple_Size(args) == 1 && !PyDict_Check(PyTuple_GetItem(args, 0)))) {
        PyErr_Format(PyExc_TypeError, "%s: arrays are given by name, %s(x=..., y=...), or in one dict", call, call);
        return NULL;
    }
    all = PyDict_New();
    if (all &&
        ((PyTuple_Size(args) && PyDict_Update(all, PyTuple_GetItem(args, 0))) || (keywords && PyDict_Update(all, keywords))))
        Py_CLEAR(all);
    return all;
}

/** Returns whether a graph or model has an input of that name, which is also a parameter of other calls. */
static bool has_outputs_input(PyObject *self)
{
    PyObject *inputs = PyObject_GetAttrString(self, "inputs");
    const bool has = inputs && PyDict_GetItemString(inputs, "outputs");

    Py_XDECREF(inputs);
    PyErr_Clear();
    return has;
}

PyObject *compute_call(PyObject *self, const char *call, PyObject *args, PyObject *keywords,
                       PyObject *(*function)(PyObject *self, struct bindings *inputs))
{
    struct bindings inputs = {.call = call, .role = "input", .error = PyExc_TypeError};
    PyObject *all = call_arguments(call, args, keywords), *result = NULL;

    if (all && PyDict_GetItemString(all, "outputs") && !has_outputs_input(self)) {
        PyErr_Format(PyExc_TypeError,
                     "%s: there is no input 'outputs'; outputs are chosen by "
                     "webnn.load(..., outputs=['y']), or by context.compute(graph, inputs, outputs={'y': array})",
                     call);
        Py_CLEAR(all);
    }
    if (all && bindings_open(&inputs, all, false))
        result = function(self, &inputs);
    bindings_close(&inputs);
    Py_XDECREF(all);
    return result;
}
