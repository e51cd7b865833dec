/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Declares what contexts, builders and models share beyond module.h. */
#ifndef WEBNN_FRONTEND_PYTHON_CONTEXT_H_
#define WEBNN_FRONTEND_PYTHON_CONTEXT_H_

#include "frontend/python/source.h"

/** Holds the value of a constant: (value, shape=None, data_type=None).  It begins as zeros. */
struct constant {
    struct shape shape;
    WNNOperandDescriptor descriptor;
    PyObject *value; /* what is open */
    struct source source;
};

/** Converts the arguments of a method that takes such a value (builder.c). */
bool constant_open(struct module *m, const char *call, PyObject *args, PyObject *keywords, struct constant *out);
/** Converts one value with its name for messages; sizes and type may be NULL or None. */
bool constant_open_value(struct module *m, const struct place *place, PyObject *value, PyObject *sizes, PyObject *type,
                         struct constant *out);
/** Lets the value go.  It does nothing with zeros. */
void constant_close(struct constant *constant);

/** Checks that a file can be read, or sets an OSError such as FileNotFoundError; path is a bytes object (context.c). */
bool check_readable(PyObject *path);

/** These are functions of the module: devices() (context.c), and load(...) (model.c). */
PyObject *module_devices(PyObject *self, PyObject *unused);
PyObject *module_load(PyObject *self, PyObject *args, PyObject *keywords);

#endif
