/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Implements Array, which holds a result: memory with a shape, by the buffer protocol and by DLPack. */
#include <stdlib.h>
#include <string.h>

#include "frontend/python/source.h"

enum { ARRAY_ALIGNMENT = 64 };

struct array {
    PyObject base;
    void *data;
    size_t bytes;
    WNNOperandDataType type;
    int rank;
    Py_ssize_t layout[2 * RANK_LIMIT]; /* the shape, then the strides in bytes */
};

PyObject *array_create(struct module *m, const WNNOperandDescriptor *d)
{
    size_t bytes = descriptor_bytes(d), room;
    Py_ssize_t stride = (Py_ssize_t)wnnOperandDataTypeGetByteSize(d->dataType);
    struct array *a;

    if (d->rank > RANK_LIMIT || bytes > PY_SSIZE_T_MAX - ARRAY_ALIGNMENT)
        return PyErr_NoMemory();
    a = (struct array *)PyType_GenericAlloc((PyTypeObject *)m->types[TYPE_ARRAY], 0);
    if (!a)
        return NULL;
    room = (bytes + ARRAY_ALIGNMENT) / ARRAY_ALIGNMENT * ARRAY_ALIGNMENT;
    a->data = aligned_alloc(ARRAY_ALIGNMENT, room);
    if (!a->data) {
        Py_DECREF(a);
        return PyErr_NoMemory();
    }
    a->bytes = bytes;
    a->type = d->dataType;
    a->rank = (int)d->rank;
    for (int i = a->rank - 1; i >= 0; i--) {
        a->layout[i] = d->shape[i];
        a->layout[RANK_LIMIT + i] = stride;
        stride *= d->shape[i];
    }
    return (PyObject *)a;
}

void *array_data(PyObject *array)
{
    return ((struct array *)array)->data;
}

void array_cut(PyObject *array, size_t d, size_t count)
{
    struct array *a = (struct array *)array;
    Py_ssize_t *shape = a->layout, *strides = a->layout + RANK_LIMIT;

    if (d >= (size_t)a->rank || count >= (size_t)shape[d])
        return;
    const size_t inner = (size_t)strides[d], block = inner * (size_t)shape[d], blocks = block ? a->bytes / block : 0;

    for (size_t i = 0; i < blocks; i++)
        memmove((char *)a->data + i * count * inner, (char *)a->data + i * block, count * inner);
    shape[d] = (Py_ssize_t)count;
    a->bytes = blocks * count * inner;
    for (size_t i = d; i-- > 0;)
        strides[i] = strides[i + 1] * shape[i + 1];
}

static void array_free(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    free(((struct array *)self)->data);
    PyObject_Free(self);
    Py_DECREF(type);
}

static int array_get_buffer(PyObject *self, Py_buffer *view, int flags)
{
    static const char *const formats[] = {"",  "f", "e", "i", "I", "q",
                                          "Q", "b", "B", "H", "B", "B"}; /* by WNNOperandDataType */
    struct array *a = (struct array *)self;

    if (PyBuffer_FillInfo(view, self, a->data, (Py_ssize_t)a->bytes, 0, flags))
        return -1;
    view->itemsize = (Py_ssize_t)wnnOperandDataTypeGetByteSize(a->type);
    if (flags & PyBUF_FORMAT)
        view->format = (char *)formats[a->type];
    if (flags & PyBUF_ND) {
        view->ndim = a->rank;
        view->shape = a->layout;
        view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? a->layout + RANK_LIMIT : NULL;
    }
    return 0;
}

/* ---- DLPack ---- */

struct exported {
    struct dlpack_managed managed;
    int64_t layout[2 * RANK_LIMIT];
};

/** Lets the array of an exported tensor go; any thread may call it. */
static void exported_free(struct dlpack_managed *managed)
{
    PyGILState_STATE gil = PyGILState_Ensure();

    Py_DECREF((PyObject *)managed->context);
    PyMem_Free(managed);
    PyGILState_Release(gil);
}

/** Frees a tensor that no consumer took over. */
static void capsule_free(PyObject *capsule)
{
    struct dlpack_managed *managed = PyCapsule_IsValid(capsule, "dltensor") ? PyCapsule_GetPointer(capsule, "dltensor") : NULL;

    if (managed)
        managed->deleter(managed);
}

static PyObject *array_dlpack(PyObject *self, PyObject *args, PyObject *keywords)
{
    static const uint8_t codes[] = {
        0,           DLPACK_FLOAT, DLPACK_FLOAT, DLPACK_INT,  DLPACK_UINT,
        DLPACK_INT,  DLPACK_UINT,  DLPACK_INT,   DLPACK_UINT, /* by WNNOperandDataType; the draft's as bits */
        DLPACK_UINT, DLPACK_UINT,  DLPACK_UINT};
    struct array *a = (struct array *)self;
    struct exported *e = PyMem_Calloc(1, sizeof(*e));
    struct dlpack_tensor *t;
    PyObject *capsule;

    (void)args;
    (void)keywords; /* a stream or a version: the processor has no streams, and this is the version that all take */
    if (!e)
        return PyErr_NoMemory();
    t = &e->managed.tensor;
    t->data = a->data;
    t->device = DLPACK_CPU;
    t->rank = a->rank;
    t->code = codes[a->type];
    t->bits = (uint8_t)(8 * wnnOperandDataTypeGetByteSize(a->type));
    t->lanes = 1;
    t->shape = e->layout;
    t->strides = e->layout + RANK_LIMIT;
    for (int i = 0; i < a->rank; i++) {
        t->shape[i] = a->layout[i];
        t->strides[i] = a->layout[RANK_LIMIT + i] / (t->bits / 8);
    }
    e->managed.context = Py_NewRef(self);
    e->managed.deleter = exported_free;
    capsule = PyCapsule_New(&e->managed, "dltensor", capsule_free);
    if (!capsule)
        exported_free(&e->managed);
    return capsule;
}

static PyObject *array_dlpack_device(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(unused))
{
    return Py_BuildValue("(ii)", (int)DLPACK_CPU, 0);
}

/* ---- members ---- */

static PyObject *array_tolist(PyObject *self, PyObject *Py_UNUSED(unused))
{
    PyObject *view = PyMemoryView_FromObject(self), *list = view ? PyObject_CallMethod(view, "tolist", NULL) : NULL;

    Py_XDECREF(view);
    return list;
}

static PyObject *array_get_shape(PyObject *self, void *Py_UNUSED(unused))
{
    struct array *a = (struct array *)self;
    PyObject *list = PyList_New(0), *shape = NULL;

    for (int i = 0; list && i < a->rank; i++)
        list_add(&list, PyLong_FromSsize_t(a->layout[i]));
    shape = list ? PyList_AsTuple(list) : NULL;
    Py_XDECREF(list);
    return shape;
}

GETTER(array_get_data_type, PyUnicode_FromString(wnnOperandDataTypeGetName(((struct array *)self)->type)))

static PyObject *array_repr(PyObject *self)
{
    PyObject *shape = array_get_shape(self, NULL), *text = NULL;

    if (shape)
        text = PyUnicode_FromFormat("<webnn.Array %s %R>", wnnOperandDataTypeGetName(((struct array *)self)->type), shape);
    Py_XDECREF(shape);
    return text;
}

static PyMethodDef array_methods[] = {
    {"tolist", array_tolist, METH_NOARGS, "tolist($self)\n--\n\nReturns the elements as nested lists of numbers."},
    {"__dlpack__", (PyCFunction)(void (*)(void))array_dlpack, METH_VARARGS | METH_KEYWORDS,
     "Exports the array by DLPack, without a copy."},
    {"__dlpack_device__", array_dlpack_device, METH_NOARGS, "Returns DLPack's number of the processor."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef array_attributes[] = {
    {"shape", array_get_shape, NULL, "The sizes, as a tuple.", NULL},
    {"data_type", array_get_data_type, NULL, "The data type, such as 'float32'.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

DEFINE_TYPE(array, "Array", struct array, Py_TPFLAGS_DISALLOW_INSTANTIATION,
            {Py_tp_doc, "A result where there is no NumPy: memory that memoryview(), DLPack and NumPy read without a copy."},
            {Py_tp_dealloc, array_free}, {Py_tp_repr, array_repr}, {Py_tp_methods, array_methods},
            {Py_tp_getset, array_attributes}, {Py_bf_getbuffer, array_get_buffer})
