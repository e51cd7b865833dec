/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Implements the builder's methods of operators.  webnn-python-tables prints from ir/graph/ops.def how they are called and what
 * help() says; values are converted as the kinds of the arguments say, and the call is made by name (webnn/webnn_call.h).
 */
#include "frontend/python/context.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "webnn/webnn_call.h"

/** Describes one operator. */
struct operator_row {
    const char *name;      /* the specification's */
    const char *method;    /* Python's */
    const char *signature; /* "(input, filter, *, bias=None, ...)" */
};

/** Holds one call. */
struct call {
    const struct operator_row *row;
    struct module *module;
    WNNMethodCall method;
    uint32_t given;   /* a bit for each positional argument */
    char prefix[128]; /* of messages: "conv2d [label]" */
};

/* ---- values ---- */

/** Converts a value that is not a list. */
static bool convert_item(struct call *c, PyObject *value, const char *what, const char *name, WNNMethodValueKind kind,
                         WNNMethodValue *out)
{
    WNNOperandDataType type;
    struct object *operand;
    int truth;

    out->kind = kind;
    switch (kind) {
    case WNNMethodValueKind_Operand:
        operand = object_require(c->module, value, TYPE_OPERAND, what);
        if (operand)
            out->as.operand = operand->native.operand;
        return operand;
    case WNNMethodValueKind_Number:
        return number_of(value, what, &out->as.number);
    case WNNMethodValueKind_Bool:
        truth = PyNumber_Check(value) ? PyObject_IsTrue(value) : -1;
        out->as.boolean = truth > 0;
        return truth >= 0 || (!PyErr_Occurred() && refuse_type(what, value, "bool"));
    case WNNMethodValueKind_String:
        if (PyUnicode_Check(value) || !strstr(name, "ataType"))
            return convert_text(value, what, &out->as.string);
        if (!convert_data_type(value, what, &type))
            return false;
        out->as.string = WNN_STR(wnnOperandDataTypeGetName(type));
        return true;
    default:
        return false;
    }
}

/** Sets the argument of the specification's name to a list. */
static bool set_list(struct call *c, PyObject *value, const char *what, const char *name, WNNMethodValueKind kind,
                     WNNStatus *status)
{
    PyObject *list = PyUnicode_Check(value) ? NULL : PySequence_List(value);
    Py_ssize_t count = list ? PyList_Size(list) : 0;
    WNNMethodValue *items = PyMem_Calloc((size_t)count + 1, sizeof(*items));
    bool ok = list && items;
    char text[256];

    if (!list && (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_TypeError))) {
        PyErr_Clear();
        refuse_type(what, value, "a list");
    } else if (!items) {
        PyErr_NoMemory();
    }
    for (Py_ssize_t i = 0; ok && i < count && i < PyList_Size(list); i++) {
        snprintf(text, sizeof(text), "%.200s[%zd]", what, i);
        ok = convert_item(c, PyList_GetItem(list, i), text, name, kind, &items[i]);
    }
    if (ok)
        *status = wnnMethodCallSet(c->method, WNN_STR(name), wnnMethodValueList((size_t)count, items));
    PyMem_Free(items);
    Py_XDECREF(list);
    return ok;
}

/** Raises what the library says of a value, with the label. */
static bool refuse_value(struct call *c, WNNStatus status)
{
    WNNStringView message = wnnGetLastErrorMessage();
    const char *text = message.data ? strstr(message.data, ": ") : NULL; /* the operator's name comes before that */

    if (status != WNNStatus_TypeError || !text)
        return succeeded(c->module, status);
    PyErr_Format(PyExc_ValueError, "%s%s", c->prefix, text);
    return false;
}

/** Sets the argument of the specification's name; `python` is Python's. */
static bool set_value(struct call *c, const char *name, const char *python, PyObject *value)
{
    WNNMethodValue converted;
    WNNStatus status = WNNStatus_Success;
    WNNMethodValueKind kind;
    char what[sizeof(c->prefix) + 64];
    bool is_list;

    snprintf(what, sizeof(what), "%s: %s", c->prefix, python);
    kind = wnnMethodCallArgumentKind(c->method, WNN_STR(name), &is_list);
    /* These may be one number. */
    if (is_list && (strcmp(name, "splits") != 0 || !PyIndex_Check(value) || PySequence_Check(value))) {
        if (!set_list(c, value, what, name, kind, &status))
            return false;
    } else {
        if (!convert_item(c, value, what, name, kind, &converted))
            return false;
        status = wnnMethodCallSet(c->method, WNN_STR(name), converted);
    }
    return status == WNNStatus_Success || refuse_value(c, status);
}

/* ---- arguments ---- */

/** Writes the specification's name of an argument, such as inputLayout for input_layout.  Returns false if it is too long. */
static bool specification_name(const char *python, char *out, size_t size)
{
    size_t length = 0;

    if (!strcmp(python, "pads")) /* as programs for pywebnn call it */
        python = "padding";
    for (; *python && length + 1 < size; python++)
        if (*python == '_' && python[1])
            out[length++] = (char)toupper((unsigned char)*++python);
        else
            out[length++] = *python;
    out[length] = '\0';
    return !*python;
}

static bool refuse_call(struct call *c, const char *format, const char *name)
{
    PyObject *problem = PyUnicode_FromFormat(format, name);

    if (problem)
        PyErr_Format(PyExc_TypeError, "%s: %U; it is called %s%s", c->prefix, problem, c->row->method, c->row->signature);
    Py_XDECREF(problem);
    return false;
}

/** Returns Python's name of a positional argument, which the signature has in its order. */
static const char *positional_name(const struct call *c, size_t index, char name[64])
{
    const char *at = c->row->signature + 1;

    for (; index; index--)
        at = strchr(at, ' ') + 1;
    snprintf(name, 64, "%.*s", (int)strcspn(at, ",)"), at);
    return name;
}

static bool set_positional(struct call *c, PyObject *args)
{
    char name[64];

    Py_ssize_t count = PyTuple_Size(args);

    if ((size_t)count > wnnMethodCallArgumentCount(c->method))
        return refuse_call(c, "there are too many arguments%s", "");
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!set_value(c, wnnMethodCallArgumentName(c->method, (size_t)i), positional_name(c, (size_t)i, name),
                       PyTuple_GetItem(args, i)))
            return false;
        c->given |= UINT32_C(1) << i;
    }
    return true;
}

static bool set_named(struct call *c, PyObject *keywords)
{
    PyObject *items = PyDict_Items(keywords);
    bool ok = items;

    for (Py_ssize_t i = 0; ok && i < PyList_Size(items); i++) {
        PyObject *value = PyTuple_GetItem(PyList_GetItem(items, i), 1);
        WNNStringView python;
        char name[64];
        size_t index = 0;

        ok = convert_text(PyTuple_GetItem(PyList_GetItem(items, i), 0), "a name", &python);
        if (!ok)
            break;
        if (!specification_name(python.data, name, sizeof(name)) ||
            (!wnnMethodCallArgumentKind(c->method, WNN_STR(name), NULL) && strcmp(name, "label") != 0)) {
            ok = refuse_call(c, "there is no argument '%s'", python.data);
            break;
        }
        while (wnnMethodCallArgumentName(c->method, index) && strcmp(wnnMethodCallArgumentName(c->method, index), name) != 0)
            index++;
        if (wnnMethodCallArgumentName(c->method, index)) {
            if (c->given >> index & 1)
                ok = refuse_call(c, "'%s' is given twice", python.data);
            c->given |= UINT32_C(1) << index;
        } else if (value == Py_None) { /* as if it had not been given */
            continue;
        }
        ok = ok && set_value(c, name, python.data, value);
    }
    Py_XDECREF(items);
    return ok;
}

/** Sets all arguments; the label is looked at first, so that messages about the others have it. */
static bool set_arguments(struct call *c, PyObject *args, PyObject *keywords)
{
    PyObject *label = keywords ? PyDict_GetItemString(keywords, "label") : NULL;
    WNNStringView text = WNN_STRING_VIEW_INIT;
    char name[64];

    if (label && label != Py_None && !convert_text(label, "label", &text))
        return false;
    snprintf(c->prefix, sizeof(c->prefix), text.length ? "%s [%.80s]" : "%s", c->row->method, text.data);
    if (!set_positional(c, args) || (keywords && !set_named(c, keywords)))
        return false;
    for (size_t i = 0; i < wnnMethodCallArgumentCount(c->method); i++)
        if (!(c->given >> i & 1))
            return refuse_call(c, "'%s' is missing", positional_name(c, i, name));
    return true;
}

/* ---- the call ---- */

static PyObject *call_results(struct object *builder, WNNMethodCall method)
{
    size_t count = wnnMethodCallResultCount(method);
    PyObject *list;

    if (!wnnMethodCallIsSequence(method))
        return operand_create(builder, wnnMethodCallResult(method, 0), NULL);
    list = PyList_New(0);
    for (size_t i = 0; list && i < count; i++)
        list_add(&list, operand_create(builder, wnnMethodCallResult(method, i), NULL));
    return list;
}

static PyObject *operator_call(PyObject *self, PyObject *args, PyObject *keywords, const struct operator_row *row)
{
    struct object *builder = builder_begin(self);
    struct call c = {.row = row, .module = module_of(self)};
    PyObject *result = NULL;

    if (!builder)
        return NULL;
    c.method = wnnMethodCallCreate(WNN_STR(row->name));
    if (!c.method) {
        succeeded(c.module, WNNStatus_UnknownError);
        return NULL;
    }
    /* Converting arguments may run code of the program's, which may call the builder, too. */
    if (set_arguments(&c, args, keywords) && builder_begin(self) &&
        succeeded(c.module, wnnMethodCallInvoke(c.method, builder->native.builder))) {
        builder->operation_count++;
        result = call_results(builder, c.method);
    }
    if (!builder->busy) /* what has been raised is no reason to refuse the build */
        wnnGraphBuilderClearError(builder->native.builder);
    wnnMethodCallDestroy(c.method);
    return result;
}

#define OPERATOR(name, python, signature, help)                                                                                \
    PyObject *call_##python(PyObject *self, PyObject *args, PyObject *keywords)                                                \
    {                                                                                                                          \
        static const struct operator_row row = {#name, #python, signature};                                                    \
        return operator_call(self, args, keywords, &row);                                                                      \
    }
#include "operators.inc" /* of webnn-python-tables */
#undef OPERATOR
