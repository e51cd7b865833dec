/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Implements Cancellation, by which an awaitable form ends its work on a thread (lib/__init__.py).  The calls on that thread
 * find it by themselves, so that none has a parameter for it.
 */
#include "frontend/python/module.h"

static _Thread_local WNNCancellation current; /* a reference of the caller's */

WNNCancellation cancellation_current(void)
{
    return current;
}

bool cancellation_permits(WNNBuildStage stage, uint32_t done, uint32_t total, void *unused1, void *unused2)
{
    (void)stage, (void)done, (void)total, (void)unused1, (void)unused2;
    return !current || !wnnCancellationIsCancelled(current);
}

static PyObject *cancellation_new(PyTypeObject *type, PyObject *Py_UNUSED(args), PyObject *Py_UNUSED(keywords))
{
    struct module *m = PyType_GetModuleState(type);
    WNNCancellation cancellation = NULL;

    return succeeded(m, wnnCreateCancellation(&cancellation)) ? object_create(m, TYPE_CANCELLATION, cancellation, NULL) : NULL;
}

static PyObject *cancellation_run(PyObject *self, PyObject *args, PyObject *keywords)
{
    PyObject *function = PyTuple_GetItem(args, 0), *rest = function ? PyTuple_GetSlice(args, 1, PyTuple_Size(args)) : NULL;
    const WNNCancellation before = current;
    PyObject *result = NULL;

    if (rest) {
        current = ((struct object *)self)->native.cancellation;
        result = PyObject_Call(function, rest, keywords);
        current = before;
    }
    Py_XDECREF(rest);
    return result;
}

ACTION(cancellation_cancel, wnnCancellationCancel(((struct object *)self)->native.cancellation))

static PyMethodDef cancellation_methods[] = {
    {"run", (PyCFunction)(void (*)(void))cancellation_run, METH_VARARGS | METH_KEYWORDS,
     "run($self, function, /, *args, **keywords)\n--\n\nCalls the function, whose builds and computations `cancel` ends."},
    {"cancel", cancellation_cancel, METH_NOARGS, "cancel($self)\n--\n\nEnds them; any thread may call it."},
    {NULL, NULL, 0, NULL},
};

DEFINE_TYPE(cancellation, "Cancellation", struct object, 0,
            {Py_tp_doc, "Ends the builds and computations of `run` on another thread."}, {Py_tp_new, cancellation_new},
            {Py_tp_dealloc, object_free}, {Py_tp_methods, cancellation_methods})
