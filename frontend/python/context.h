/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Declares what contexts, builders and models share in addition to module.h. */
#pragma once

#include "frontend/python/source.h"

/** Holds the value of a constant: (value, shape=None, data_type=None).  It begins as zeros. */
struct constant {
    struct shape shape;
    WNNOperandDescriptor descriptor;
    PyObject *value; /* the open source */
    struct source source;
};

/** Converts the arguments of a method that takes such a value (builder.c). */
bool constant_open(struct module *m, const char *call, PyObject *args, PyObject *keywords, struct constant *out);
/** Converts one value with its name for messages; sizes and type may be NULL or None. */
bool constant_open_value(struct module *m, const struct place *place, PyObject *value, PyObject *sizes, PyObject *type,
                         struct constant *out);
/** Releases the value.  It does nothing with zeros. */
void constant_close(struct constant *constant);

/** Checks that a file can be read, or sets an OSError such as FileNotFoundError; path is a bytes object (context.c). */
bool check_readable(PyObject *path);

/** Functions of the module: devices() (context.c), and load(...) (model.c). */
PyObject *module_devices(PyObject *self, PyObject *unused);
PyObject *module_load(PyObject *self, PyObject *args, PyObject *keywords);

/* ---- the profile of a context (profile.c) ---- */

/** Makes a profile and enters it in the options: the threads that report times to it run no Python. */
struct profile *profile_create(WNNContextOptions *options);
/** Frees a profile whose context could not be created.  NULL is allowed. */
void profile_free(struct profile *p);
/** Makes the context free the profile when it is destroyed, after all work. */
void profile_entrust(struct profile *p, WNNContext context);
/** Returns a list of the times that have been kept, {"submitted": ..., "begun": ..., "ended": ...}, and forgets them. */
PyObject *profile_take(struct profile *p);

/* ---- builders and their operators (builder.c, operators.c) ---- */

/** Returns the builder, or sets an exception if it builds on another thread: one thread at a time may use it. */
struct object *builder_begin(PyObject *self);
/** Makes the object of an operand of a builder; name is that of an input, or NULL. */
PyObject *operand_create(struct object *builder, WNNOperand operand, PyObject *name);
/** Converts an int, a float or what can be made one of them. */
bool number_of(PyObject *value, const char *what, WNNNumber *out);

/* The methods of operators, one for each. */
#define OPERATOR(name, python, ...) PyObject *call_##python(PyObject *self, PyObject *args, PyObject *keywords);
#include "operators.inc" /* of webnn-python-tables */
#undef OPERATOR
