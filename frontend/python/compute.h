/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Declares how arrays are given to a graph by name and computed on. */
#pragma once

#include "frontend/python/source.h"

/** Holds an array and the name that it is given by. */
struct binding {
    WNNStringView name; /* ends with a NUL */
    struct source source;
    bool used;
};

/** Holds arrays by name.  It begins as zeros. */
struct bindings {
    const char *call, *role; /* for messages: "compute", "input" */
    PyObject *error;         /* raised for a name that is missing or unknown */
    struct pairs pairs;
    struct binding *list; /* of the pairs */
    size_t count;         /* of those that are open */
    bool may_exceed;      /* there may be more than the graph has */
    bool cuts;            /* results are cut to what counts (wnnModelIsCount) */
    bool may_lack;        /* there may be fewer: the library says which are needed */
};

/** Opens the arrays of a dict. */
bool bindings_open(struct bindings *b, PyObject *dict, bool writable);
/** Releases them.  It does nothing with zeros. */
void bindings_close(struct bindings *b);
/** Returns the array of a name, or NULL. */
struct binding *bindings_find(struct bindings *b, WNNStringView name);
/**
 * Computes a graph on arrays and returns a dict of its outputs: the arrays of `outputs`, a dict, or new ones if it is NULL or
 * None.
 */
PyObject *compute(struct module *m, WNNGraph graph, struct bindings *inputs, PyObject *outputs);
/** A call with arrays by name, x=..., or in one dict: computes what `function` says, and releases the arrays. */
PyObject *compute_call(PyObject *self, const char *call, PyObject *args, PyObject *keywords,
                       PyObject *(*function)(PyObject *self, struct bindings *inputs));
