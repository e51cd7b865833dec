/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads arrays of programs: objects with the buffer protocol, and those with DLPack. */
#include "frontend/python/source.h"

#include <stdio.h>
#include <string.h>

#include "webnn/webnn_draft.h"

/* ---- data types ---- */

/** Describes an element type: the struct module's letter, its size, and DLPack's code. */
static const struct element {
    char letters[8];
    uint8_t size, code;
    WNNOperandDataType type;
    const char *name;
} elements[] = {
    {"f", 4, DLPACK_FLOAT, WNNOperandDataType_Float32, "float32"},
    {"e", 2, DLPACK_FLOAT, WNNOperandDataType_Float16, "float16"},
    {"il", 4, DLPACK_INT, WNNOperandDataType_Int32, "int32"},
    {"IL", 4, DLPACK_UINT, WNNOperandDataType_Uint32, "uint32"},
    {"qln", 8, DLPACK_INT, WNNOperandDataType_Int64, "int64"},
    {"QLN", 8, DLPACK_UINT, WNNOperandDataType_Uint64, "uint64"},
    {"b", 1, DLPACK_INT, WNNOperandDataType_Int8, "int8"},
    {"B", 1, DLPACK_UINT, WNNOperandDataType_Uint8, "uint8"},
    {"?", 1, DLPACK_BOOL, WNNOperandDataType_Uint8, "uint8"},
    {"d", 8, DLPACK_FLOAT, WNNOperandDataType_Undefined, "float64"},
    {"h", 2, DLPACK_INT, WNNOperandDataType_Undefined, "int16"},
    {"H", 2, DLPACK_UINT, WNNOperandDataType_Undefined, "uint16"},
};
enum { ELEMENT_COUNT = sizeof(elements) / sizeof(elements[0]) };

/** Takes over an element type; `other` is its name where the list does not have it. */
static void set_element(struct source *s, const struct element *e, const char *other)
{
    s->type = e ? e->type : WNNOperandDataType_Undefined;
    snprintf(s->type_name, sizeof(s->type_name), "%s", e ? e->name : other);
}

/** Finds the element type of a buffer's format, which is NULL for bytes. */
static void read_format(struct source *s, const char *format, Py_ssize_t size)
{
    const char *letter = format ? format : "B";
    char other[24];

    /* The byte order of this library's processors is little. */
    if (*letter == '@' || *letter == '=' || *letter == '<' || (size == 1 && (*letter == '>' || *letter == '!')))
        letter++;
    snprintf(other, sizeof(other), "format '%.10s'", format ? format : "");
    set_element(s, NULL, other);
    for (size_t i = 0; i < ELEMENT_COUNT && *letter && !letter[1]; i++)
        if (elements[i].size == size && strchr(elements[i].letters, *letter))
            set_element(s, &elements[i], other);
}

/* ---- layouts ---- */

static bool refuse(const struct place *place, PyObject *error, const char *text)
{
    PyErr_Format(error, "%s: %s%s%s%s %s", place->call, place->role, *place->name ? " '" : "", place->name,
                 *place->name ? "'" : "", text);
    return false;
}

/** Reads the view of a source: checks sizes against each other, and copies the elements if they are not dense. */
static bool read_view(struct source *s, const struct place *place, bool writable)
{
    Py_buffer *v = &s->view;
    size_t bytes;

    if (v->ndim < 0 || v->ndim > RANK_LIMIT || (v->ndim && !v->shape) || v->itemsize < 1 || v->len < 0 || (v->len && !v->buf))
        return refuse(place, PyExc_ValueError, "has no valid layout, or more than 32 dimensions");
    s->rank = (size_t)v->ndim;
    bytes = (size_t)v->itemsize;
    for (size_t i = 0; i < s->rank; i++) {
        if (v->shape[i] < 0 || v->shape[i] > UINT32_MAX || __builtin_mul_overflow(bytes, (size_t)v->shape[i], &bytes))
            return refuse(place, PyExc_ValueError, "has a dimension that is negative or too large");
        s->sizes[i] = (uint32_t)v->shape[i];
    }
    if (bytes != (size_t)v->len)
        return refuse(place, PyExc_ValueError, "has another length than its shape says");
    s->bytes = bytes;
    s->data = v->buf;
    if (!bytes || PyBuffer_IsContiguous(v, 'C'))
        return true;
    if (writable)
        return refuse(place, PyExc_ValueError, "is not contiguous, so that nothing can be written to it");
    s->data = s->copy = PyMem_Malloc(bytes);
    if (!s->copy) {
        PyErr_NoMemory();
        return false;
    }
    return !PyBuffer_ToContiguous(s->copy, v, v->len, 'C');
}

/* ---- the buffer protocol ---- */

static bool open_buffer(PyObject *value, const struct place *place, bool writable, struct source *s)
{
    if (PyObject_GetBuffer(value, &s->view, PyBUF_FULL_RO))
        return false;
    if (writable && s->view.readonly)
        return refuse(place, PyExc_ValueError, "is read-only");
    read_format(s, s->view.format, s->view.itemsize);
    s->raw = s->view.ndim == 1 && s->view.itemsize == 1 && s->type == WNNOperandDataType_Uint8;
    return read_view(s, place, writable);
}

/* ---- DLPack ---- */

/** Checks that a tensor's memory is the processor's. */
static bool check_device(PyObject *value, const struct place *place)
{
    PyObject *device = PyObject_CallMethod(value, "__dlpack_device__", NULL), *kind;
    char text[96];
    long number;

    if (!device)
        return false;
    if (!PyTuple_Check(device) || PyTuple_Size(device) != 2) {
        Py_DECREF(device);
        return refuse(place, PyExc_TypeError, "has a __dlpack_device__ that gives no pair");
    }
    /* Devices are members of an IntEnum in some libraries. */
    kind = PyNumber_Index(PyTuple_GetItem(device, 0));
    Py_DECREF(device);
    number = kind ? PyLong_AsLong(kind) : -1;
    Py_XDECREF(kind);
    if (PyErr_Occurred())
        return false;
    if (number == DLPACK_CPU || number == DLPACK_CUDA_HOST || number == DLPACK_ROCM_HOST)
        return true;
    snprintf(text, sizeof(text), "is on a device of DLPack's kind %ld, not in the processor's memory: copy it there first",
             number);
    return refuse(place, PyExc_ValueError, text);
}

/** Writes a tensor's layout into the view of the source, as the buffer protocol has it. */
static bool describe_tensor(struct source *s, const struct place *place, Py_ssize_t *room)
{
    const struct dlpack_tensor *t = &s->managed->tensor;
    Py_buffer *v = &s->view;
    char other[24];
    size_t bytes;

    if (t->rank < 0 || t->rank > RANK_LIMIT || (t->rank && !t->shape) || t->bits % 8 || !t->bits)
        return refuse(place, PyExc_ValueError, "has no valid layout, or more than 32 dimensions");
    snprintf(other, sizeof(other), "DLPack's type %u.%u", t->code, t->bits);
    set_element(s, NULL, other);
    for (size_t i = 0; i < ELEMENT_COUNT && t->lanes == 1; i++)
        if (elements[i].code == t->code && elements[i].size * 8 == t->bits)
            set_element(s, &elements[i], other);
    v->itemsize = t->bits / 8;
    v->ndim = t->rank;
    v->shape = room;
    v->strides = room + RANK_LIMIT;
    bytes = (size_t)v->itemsize;
    for (int i = 0; i < t->rank; i++) {
        v->shape[i] = (Py_ssize_t)t->shape[i];
        if (t->shape[i] < 0 || __builtin_mul_overflow(bytes, (size_t)t->shape[i], &bytes) || bytes > PY_SSIZE_T_MAX)
            return refuse(place, PyExc_ValueError, "has a dimension that is negative or too large");
    }
    for (Py_ssize_t i = t->rank - 1, dense = v->itemsize; i >= 0; dense *= v->shape[i] ? v->shape[i] : 1, i--) {
        v->strides[i] = dense;
        if (t->strides && __builtin_mul_overflow((Py_ssize_t)t->strides[i], v->itemsize, &v->strides[i]))
            return refuse(place, PyExc_ValueError, "has a stride that is too large");
    }
    v->len = (Py_ssize_t)bytes;
    if (bytes && !t->data)
        return refuse(place, PyExc_ValueError, "has no memory");
    v->buf = t->data ? (char *)t->data + t->offset : NULL;
    return true;
}

static bool open_tensor(PyObject *value, const struct place *place, bool writable, struct source *s)
{
    Py_ssize_t room[2 * RANK_LIMIT];
    PyObject *capsule;
    bool ok;

    if (!check_device(value, place))
        return false;
    capsule = PyObject_CallMethod(value, "__dlpack__", NULL);
    if (!capsule)
        return false;
    if (!PyCapsule_IsValid(capsule, "dltensor")) {
        Py_DECREF(capsule);
        return refuse(place, PyExc_TypeError, "has a __dlpack__ that gives no capsule 'dltensor', or one that has been used");
    }
    s->managed = PyCapsule_GetPointer(capsule, "dltensor");
    /* From here on the tensor is ours, and its deleter to be called. */
    ok = !PyCapsule_SetName(capsule, "used_dltensor");
    if (!ok)
        s->managed = NULL;
    ok = ok && describe_tensor(s, place, room) && read_view(s, place, writable);
    Py_DECREF(capsule);
    s->view.shape = s->view.strides = NULL; /* they lie on this function's stack */
    return ok;
}

/* ---- sources ---- */

bool source_open(PyObject *value, const struct place *place, bool writable, struct source *out)
{
    char what[128];
    bool ok = false;

    if (PyObject_CheckBuffer(value)) {
        ok = open_buffer(value, place, writable, out);
    } else if (PyObject_HasAttrString(value, "__dlpack__")) {
        ok = open_tensor(value, place, writable, out);
    } else {
        snprintf(what, sizeof(what), *place->name ? "%s: %s '%.60s'" : "%s: %s", place->call, place->role, place->name);
        refuse_type(what, value, "an array: it has neither the buffer protocol nor __dlpack__");
    }
    if (!ok)
        source_close(out);
    return ok;
}

void source_close(struct source *source)
{
    struct dlpack_managed *managed = source->managed;
    PyObject *type, *value, *traceback;

    /* An exception may be set, which code that runs here must not see. */
    PyErr_Fetch(&type, &value, &traceback);
    PyMem_Free(source->copy);
    if (source->view.obj)
        PyBuffer_Release(&source->view);
    source->copy = NULL;
    source->managed = NULL;
    if (managed && managed->deleter)
        managed->deleter(managed);
    PyErr_Restore(type, value, traceback);
}

/** Sets a ValueError with the shape that an array has and the one that it should have. */
static bool refuse_shape(const struct source *s, const struct place *place, const WNNOperandDescriptor *d, const char *wanting)
{
    PyObject *given = list_of_sizes(s->rank, s->sizes), *wanted = list_of_dimensions(d->rank, d->shape, d->dimensions);

    if (given && wanted)
        PyErr_Format(PyExc_ValueError, "%s: %s%s%s%s has shape %R; %s wants %R", place->call, place->role,
                     *place->name ? " '" : "", place->name, *place->name ? "'" : "", given, wanting, wanted);
    Py_XDECREF(given);
    Py_XDECREF(wanted);
    return false;
}

bool source_fits(const struct source *s, const struct place *place, const WNNOperandDescriptor *d, const char *wanting)
{
    size_t bytes = descriptor_bytes(d), i = 0;
    char text[128];

    if (s->raw && s->bytes == bytes)
        return true;
    const bool bits = d->dataType == WNNOperandDataType_Bfloat16  ? !strcmp(s->type_name, "uint16")
                      : d->dataType > WNNOperandDataType_Bfloat16 ? s->type == WNNOperandDataType_Uint8
                                                                  : false;
    if (s->type != d->dataType && !bits) {
        snprintf(text, sizeof(text), "has elements of %s; %s wants %s", s->type_name, wanting,
                 wnnOperandDataTypeGetName(d->dataType));
        return refuse(place, PyExc_TypeError, text);
    }
    while (i < d->rank && s->rank == d->rank && (s->sizes[i] == d->shape[i] || (d->dimensions && d->dimensions[i].name.data)))
        i++;
    return (s->rank == d->rank && i == d->rank) || (s->rank == 1 && s->bytes == bytes) || refuse_shape(s, place, d, wanting);
}
