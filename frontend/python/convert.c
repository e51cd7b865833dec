/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Converts texts, numbers, shapes and dicts from Python and to it.  Arrays are in source.c. */
#include <stdio.h>
#include <string.h>

#include "frontend/python/module.h"

bool refuse_type(const char *what, PyObject *value, const char *wanted)
{
    PyObject *name = PyType_GetName(Py_TYPE(value));

    if (name)
        PyErr_Format(PyExc_TypeError, "%s is of type %U, not %s", what, name, wanted);
    Py_XDECREF(name);
    return false;
}

bool convert_text(PyObject *value, const char *what, WNNStringView *out)
{
    Py_ssize_t length;

    if (!PyUnicode_Check(value))
        return refuse_type(what, value, "str");
    out->data = PyUnicode_AsUTF8AndSize(value, &length);
    out->length = (size_t)length;
    return out->data;
}

bool convert_choice(PyObject *value, const char *what, const char *const *choices, size_t *out)
{
    PyObject *list = NULL;
    WNNStringView text;

    if (!value)
        return true;
    if (!convert_text(value, what, &text))
        return false;
    for (size_t i = 0; choices[i]; i++)
        if (strlen(choices[i]) == text.length && !memcmp(choices[i], text.data, text.length)) {
            *out = i;
            return true;
        }
    list = PyList_New(0);
    for (size_t i = 0; choices[i]; i++)
        list_add(&list, PyUnicode_FromString(choices[i]));
    if (list)
        PyErr_Format(PyExc_ValueError, "%s is %R; it is one of %R", what, value, list);
    Py_XDECREF(list);
    return false;
}

bool convert_data_type(PyObject *value, const char *what, WNNOperandDataType *out)
{
    static const char *const names[] = {"float32", "float16", "int32",    "uint32",     "int64",      "uint64",
                                        "int8",    "uint8",   "bfloat16", "float8e4m3", "float8e5m2", NULL};
    PyObject *name = NULL;
    size_t index = 0;
    bool ok;

    /* A numpy.dtype has a name, and so has a scalar's class such as numpy.float32. */
    if (!PyUnicode_Check(value)) {
        name = PyObject_GetAttrString(value, PyType_Check(value) ? "__name__" : "name");
        if (!name || !PyUnicode_Check(name)) {
            PyErr_Clear();
            Py_XDECREF(name);
            return refuse_type(what, value, "a data type such as 'float32'");
        }
        value = name;
    }
    ok = convert_choice(value, what, names, &index);
    *out = (WNNOperandDataType)(index + WNNOperandDataType_Float32);
    Py_XDECREF(name);
    return ok;
}

bool convert_integer(PyObject *value, const char *what, uint64_t most, uint64_t *out)
{
    PyObject *index = PyIndex_Check(value) ? PyNumber_Index(value) : NULL;

    if (!index)
        return PyErr_Occurred() ? false : refuse_type(what, value, "int");
    *out = PyLong_AsUnsignedLongLong(index);
    if (PyErr_Occurred() ? PyErr_ExceptionMatches(PyExc_OverflowError) : *out > most)
        PyErr_Format(PyExc_ValueError, "%s is %S, which is not from 0 to %llu", what, index, (unsigned long long)most);
    Py_DECREF(index);
    return !PyErr_Occurred();
}

bool convert_size(PyObject *value, const char *what, uint32_t *out)
{
    uint64_t number = 0;

    if (convert_integer(value, what, UINT32_MAX, &number))
        *out = (uint32_t)number;
    return !PyErr_Occurred();
}

bool convert_shape(PyObject *value, const char *what, struct shape *out, WNNDimension *dimensions)
{
    PyObject *list;
    Py_ssize_t count;
    bool ok = true;

    if (PyUnicode_Check(value) || !PySequence_Check(value))
        return refuse_type(what, value, "a sequence of int");
    list = PySequence_List(value);
    if (!list)
        return false;
    count = PyList_Size(list);
    out->rank = (size_t)count;
    if (count > RANK_LIMIT) {
        PyErr_Format(PyExc_ValueError, "%s has %zd dimensions; %d are the most", what, count, (int)RANK_LIMIT);
        ok = false;
    }
    for (Py_ssize_t i = 0; ok && i < count && i < PyList_Size(list); i++) {
        PyObject *item = PyList_GetItem(list, i);
        char name[64];

        snprintf(name, sizeof(name), "%.40s[%zd]", what, i);
        if (dimensions && PyUnicode_Check(item))
            ok = convert_text(item, name, &dimensions[i].name);
        else
            ok = convert_size(item, name, &out->sizes[i]);
    }
    Py_DECREF(list);
    return ok;
}

bool pairs_open(struct pairs *pairs, PyObject *dict, const char *what, size_t size)
{
    if (!PyDict_Check(dict))
        return refuse_type(what, dict, "dict");
    /* A copy, because converting values may run code of the program's. */
    pairs->items = PyDict_Items(dict);
    if (!pairs->items)
        return false;
    pairs->count = (size_t)PyList_Size(pairs->items);
    pairs->room = PyMem_Calloc(pairs->count + 1, size);
    return pairs->room || PyErr_NoMemory();
}

PyObject *pairs_get(const struct pairs *pairs, size_t index, WNNStringView *name)
{
    PyObject *pair = PyList_GetItem(pairs->items, (Py_ssize_t)index);

    return convert_text(PyTuple_GetItem(pair, 0), "a name", name) ? PyTuple_GetItem(pair, 1) : NULL;
}

void pairs_close(struct pairs *pairs)
{
    PyMem_Free(pairs->room);
    Py_CLEAR(pairs->items);
    *pairs = (struct pairs){0};
}

PyObject *list_of_dimensions(size_t rank, const uint32_t *sizes, const WNNDimension *dimensions)
{
    PyObject *list = PyList_New(0);

    for (size_t i = 0; list && i < rank; i++)
        list_add(&list,
                 dimensions && dimensions[i].name.data ? text_of(dimensions[i].name) : PyLong_FromUnsignedLong(sizes[i]));
    return list;
}

PyObject *text_of(WNNStringView text)
{
    size_t length = text.length == WNN_STRLEN ? strlen(text.data) : text.length;

    return PyUnicode_DecodeUTF8(text.data ? text.data : "", (Py_ssize_t)length, "replace");
}

size_t descriptor_bytes(const WNNOperandDescriptor *d)
{
    size_t bytes = wnnOperandDataTypeGetByteSize(d->dataType);

    for (size_t i = 0; i < d->rank; i++)
        if (__builtin_mul_overflow(bytes, (size_t)d->shape[i], &bytes))
            return SIZE_MAX;
    return bytes;
}

void list_add(PyObject **list, PyObject *value)
{
    if (*list && (!value || PyList_Append(*list, value)))
        Py_CLEAR(*list);
    Py_XDECREF(value);
}

void dict_add(PyObject **dict, WNNStringView name, PyObject *value)
{
    PyObject *key = value ? text_of(name) : NULL;

    if (*dict && (!key || PyDict_SetItem(*dict, key, value)))
        Py_CLEAR(*dict);
    Py_XDECREF(key);
    Py_XDECREF(value);
}
