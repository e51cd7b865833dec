/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Declares what the builder and its operators share. */
#ifndef WEBNN_FRONTEND_PYTHON_OPERATORS_H_
#define WEBNN_FRONTEND_PYTHON_OPERATORS_H_

#include "frontend/python/module.h"

/** Returns the builder, or sets an exception if it builds on another thread: one thread at a time may use it. */
struct object *builder_begin(PyObject *self);
/** Makes the object of an operand of a builder; name is that of an input, or NULL. */
PyObject *operand_create(struct object *builder, WNNOperand operand, PyObject *name);
/** Converts an int, a float or what can be made one of them. */
bool number_of(PyObject *value, const char *what, WNNNumber *out);

/* These are the methods of operators, one for each (operators.c). */
#define OPERATOR(name, python, ...) PyObject *call_##python(PyObject *self, PyObject *args, PyObject *keywords);
#include "operators.inc" /* of webnn-python-tables */
#undef OPERATOR

#endif
