/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * This header declares what the files of the Python module share: its state, its objects, errors.  It is C over the stable ABI
 * of Python 3.11, so that one binary serves that version and newer ones.
 *
 * Functions that return bool return false with a Python exception set, and functions that return an object NULL.  All run with
 * the GIL; it is given up while the library works.  The library's own threads never call Python.
 */
#pragma once

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "webnn/webnn_model.h"

/** Lists the types of the module. */
enum type {
    TYPE_ML,
    TYPE_CONTEXT,
    TYPE_BUILDER,
    TYPE_OPERAND,
    TYPE_GRAPH,
    TYPE_TENSOR,
    TYPE_MODEL,
    TYPE_CANCELLATION,
    TYPE_ARRAY,
    TYPE_COUNT
};

/** Holds the state of one import of the module; each interpreter has its own. */
struct module {
    PyObject *types[TYPE_COUNT];
    PyObject *errors[WNNStatus_DataError + 1]; /* exception classes by status */
    PyObject *context;                         /* that webnn.load uses by itself, or NULL before it was needed */
    PyObject *as_array;                        /* numpy.asarray, or NULL where there is no NumPy */
    bool sought_numpy;
};

struct profile;

/** Holds an object of every type but TYPE_ARRAY. */
struct object {
    PyObject base;
    enum type type;
    union {
        void *any;
        WNNContext context;
        WNNGraphBuilder builder;
        WNNOperand operand;
        WNNGraph graph;
        WNNTensor tensor;
        WNNDynamicModel model;
        WNNCancellation cancellation;
    } native;                              /* one reference */
    PyObject *owner;                       /* the context of a builder, graph, tensor or model */
    PyObject *text;                        /* an input's name, or NULL */
    PyObject *constants;                   /* the names of a model's inputs that are constants: a dict, or NULL */
    struct profile *profile;               /* of a context that keeps one */
    size_t operand_count, operation_count; /* of a builder, and of the graph that it built */
    bool busy;                             /* the builder builds on some thread */
    bool is_partial;                       /* a model for some outputs, which may not need all inputs */
};

extern PyType_Spec ml_spec, context_spec, builder_spec, operand_spec, graph_spec, tensor_spec, model_spec, cancellation_spec,
    array_spec;

/** Lets other threads run Python in the meantime. */
#define WITHOUT_GIL(call)                                                                                                      \
    do {                                                                                                                       \
        Py_BEGIN_ALLOW_THREADS;                                                                                                \
        call;                                                                                                                  \
        Py_END_ALLOW_THREADS;                                                                                                  \
    } while (0)

/** Defines a type of the module, NAME_spec, by its slots. */
#define DEFINE_TYPE(name, class, object, flags, ...)                                                                           \
    static PyType_Slot name##_slots[] = {__VA_ARGS__, {0, NULL}};                                                              \
    PyType_Spec name##_spec = {"webnn." class, sizeof(object), 0, Py_TPFLAGS_DEFAULT | (flags), name##_slots};

/* ---- objects (module.c) ---- */

/** Returns the state of the module that an object's type is of. */
static inline struct module *module_of(PyObject *self)
{
    return PyType_GetModuleState(Py_TYPE(self));
}
/**
 * Makes an object and takes over a reference of native, also when it fails.  owner, which may be NULL, is another object that
 * it keeps alive.
 */
PyObject *object_create(struct module *m, enum type type, void *native, PyObject *owner);
/** The destructor of every type but TYPE_ARRAY. */
void object_free(PyObject *self);
/** Implements repr() of what has the attributes inputs and outputs. */
PyObject *object_show_ports(PyObject *self);
/** Returns value as an object of that type, or sets a TypeError in which it is called `what`. */
struct object *object_require(struct module *m, PyObject *value, enum type type, const char *what);
/** Returns a new array as the program gets it: a NumPy array over it if NumPy is installed.  Takes over the reference. */
PyObject *array_present(struct module *m, PyObject *array);
/** Calls numpy.asarray(value, data_type), where data_type may be NULL.  Returns NULL without an exception if there is no NumPy.
 */
PyObject *numpy_array(struct module *m, PyObject *value, PyObject *data_type);

/* ---- errors (module.c) ---- */

/** Returns true for success; else sets the exception of a status, whose message is `message`. */
bool status_check(struct module *m, WNNStatus status, WNNStringView message);
/** Does the same with the message of the library's last call on this thread. */
bool succeeded(struct module *m, WNNStatus status);
/** Does the same with the message of the last call of the reader of models. */
static inline bool model_succeeded(struct module *m, WNNStatus status)
{
    return status_check(m, status, status ? wnnModelGetLastErrorMessage() : WNN_STRING_VIEW_INIT);
}
/** Sets a TypeError: "WHAT is a list, not WANTED".  Returns false. */
bool refuse_type(const char *what, PyObject *value, const char *wanted);

/* ---- cancellation (cancellation.c) ---- */

/** Returns the cancellation of the awaitable call that runs on this thread, or NULL. */
WNNCancellation cancellation_current(void);
/** Progress callback on the building thread; ends a build that was cancelled. */
bool cancellation_permits(WNNBuildStage stage, uint32_t done, uint32_t total, void *unused1, void *unused2);

/* ---- conversions (convert.c) ---- */

enum { RANK_LIMIT = 32 };

/** Holds the sizes of a shape. */
struct shape {
    size_t rank;
    uint32_t sizes[RANK_LIMIT];
};

/** Converts a str; the text is valid as long as value is. */
bool convert_text(PyObject *value, const char *what, WNNStringView *out);
/** Converts a str that is one of choices, which end with NULL; *out is its index, and stays what it is if value is NULL. */
bool convert_choice(PyObject *value, const char *what, const char *const *choices, size_t *out);
/** Converts the name of a data type, or a NumPy data type. */
bool convert_data_type(PyObject *value, const char *what, WNNOperandDataType *out);
/** Converts an integer from 0 to `most`, of any class that has __index__. */
bool convert_integer(PyObject *value, const char *what, uint64_t most, uint64_t *out);
/** Converts an integer of 32 bits without a sign. */
bool convert_size(PyObject *value, const char *what, uint32_t *out);
/**
 * Converts a sequence of such integers; if dimensions is not NULL, zeros for RANK_LIMIT of them, also of names, which are valid
 * as long as the items.
 */
bool convert_shape(PyObject *value, const char *what, struct shape *out, WNNDimension *dimensions);
/** Holds the pairs of a dict while they are converted.  It begins as zeros. */
struct pairs {
    size_t count;
    PyObject *items; /* a list of tuples, which keeps names and values */
    void *room;      /* zeros for what the pairs become */
};
/** Takes the pairs of a dict, and makes room of that size for each. */
bool pairs_open(struct pairs *pairs, PyObject *dict, const char *what, size_t size);
/** Returns the value of a pair, borrowed, and converts its name, which stays valid as long as the pairs. */
PyObject *pairs_get(const struct pairs *pairs, size_t index, WNNStringView *name);
/** Releases the pairs.  It does nothing with zeros. */
void pairs_close(struct pairs *pairs);
/** Returns a list of sizes, and of names where dimensions, which may be NULL, has them. */
PyObject *list_of_dimensions(size_t rank, const uint32_t *sizes, const WNNDimension *dimensions);
/** Returns a list of sizes. */
static inline PyObject *list_of_sizes(size_t rank, const uint32_t *sizes)
{
    return list_of_dimensions(rank, sizes, NULL);
}
/** Returns a str. */
PyObject *text_of(WNNStringView text);
/** Returns the bytes that a descriptor describes, or SIZE_MAX if they are too many. */
size_t descriptor_bytes(const WNNOperandDescriptor *d);
/** Appends to a list, which becomes NULL on failure; takes over the reference of value, which may be NULL after one. */
void list_add(PyObject **list, PyObject *value);
/** Sets a member of a dict likewise. */
void dict_add(PyObject **dict, WNNStringView name, PyObject *value);

/** Defines the getter of a property. */
#define GETTER(name, value)                                                                                                    \
    static PyObject *name(PyObject *self, void *Py_UNUSED(unused))                                                             \
    {                                                                                                                          \
        return value;                                                                                                          \
    }
/** Defines a method that has neither arguments nor a result. */
#define ACTION(name, call)                                                                                                     \
    static PyObject *name(PyObject *self, PyObject *Py_UNUSED(unused))                                                         \
    {                                                                                                                          \
        call;                                                                                                                  \
        Py_RETURN_NONE;                                                                                                        \
    }
