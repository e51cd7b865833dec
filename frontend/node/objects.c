/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Implements platform objects, intrinsics, calls and errors. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/node/addon.h"
#include "ir/support/error.h"
#include "ir/support/list.h"

/* ---- errors ---- */

bool succeeded(napi_env env, napi_status status)
{
    const napi_extended_error_info *info;
    bool is_pending = false;

    if (status == napi_ok)
        return true;
    if (napi_get_last_error_info(env, &info) != napi_ok)
        info = NULL;
    const char *text = info && info->error_message ? info->error_message : "Node-API failed";
    if (napi_is_exception_pending(env, &is_pending) == napi_ok && !is_pending)
        napi_throw_error(env, NULL, text);
    return false;
}

bool throw_type(struct call *c, const char *format, ...)
{
    char text[600];
    int length = snprintf(text, sizeof(text), "%s: ", c->name);
    bool is_pending = false;

    WITH_ARGUMENTS(format, vsnprintf(text + length, sizeof(text) - (size_t)length, format, arguments));
    napi_is_exception_pending(c->env, &is_pending);
    if (!is_pending)
        throw_status(c, WNNStatus_TypeError, WNN_STR(text));
    return false;
}

napi_value error_create(struct environment *e, WNNStatus status, WNNStringView message)
{
    const bool is_type = status == WNNStatus_TypeError;
    napi_value arguments[2], error;

    if (!string_create(e->env, message, &arguments[0]) ||
        (!is_type && !string_create(e->env, WNN_STR(wnnStatusGetName(status)), &arguments[1])))
        return NULL;
    napi_value constructor = intrinsic_get(e, is_type ? INTRINSIC_TYPE_ERROR : INTRINSIC_DOM_EXCEPTION);
    return succeeded(e->env, napi_new_instance(e->env, constructor, is_type ? 1 : 2, arguments, &error)) ? error : NULL;
}

bool throw_status(struct call *c, WNNStatus status, WNNStringView message)
{
    if (status == WNNStatus_Success)
        return true;
    napi_value error = error_create(c->environment, status, message);
    if (error)
        napi_throw(c->env, error);
    return false;
}

/* ---- calls ---- */

struct scratch {
    struct scratch *next;
    max_align_t memory[];
};

static const struct {
    const char *name, *argument;
} interfaces[INTERFACE_COUNT] = {
    {"ML", "ml"},         {"MLContext", "context"},         {"MLTensor", "tensor"},
    {"MLGraph", "graph"}, {"MLOperand", "operand"},         {"MLGraphBuilder", "builder"},
    {"Model", "model"},   {"Cancellation", "cancellation"},
};

/** Checks the receiver, the number of arguments, and a function's first argument, in the order of Web IDL. */
static bool member_check(struct call *c, struct object **o)
{
    const struct member *m = c->member;
    const bool is_typed = m->interface != INTERFACE_COUNT, is_function = m->flags & MEMBER_FUNCTION;

    if (is_typed && !is_function && !(*o = object_of(c->environment, c->receiver, m->interface)))
        return throw_type(c, "Illegal invocation: the receiver is not an %s", interfaces[m->interface].name);
    if (c->count < m->length)
        return throw_type(c, "%u argument%s required, but only %zu present", m->length, m->length == 1 ? " is" : "s are",
                          c->count);
    return !is_typed || !is_function ||
           (*o = object_require(c, c->arguments[0], m->interface, interfaces[m->interface].argument));
}

napi_value member_call(napi_env env, napi_callback_info info)
{
    napi_value arguments[ARGUMENTS_MAX], result;
    struct call c = {.count = ARGUMENTS_MAX, .arguments = arguments, .env = env};
    struct object *o = NULL;
    void *data;

    if (napi_get_cb_info(env, info, &c.count, arguments, &c.receiver, &data) != napi_ok)
        return NULL;
    napi_get_instance_data(env, (void **)&c.environment);
    c.member = data;
    c.name = c.member->name;
    result = member_check(&c, &o) ? c.member->call(&c, o) : NULL;
    while (c.scratch) {
        struct scratch *next = c.scratch->next;

        free(c.scratch);
        c.scratch = next;
    }
    return result;
}

void *call_allocate(struct call *c, size_t count, size_t size)
{
    struct scratch *s = NULL;

    if (count <= (SIZE_MAX - sizeof(*s)) / size)
        s = calloc(1, sizeof(*s) + count * size);
    if (!s)
        return throw_memory(c);
    s->next = c->scratch;
    c->scratch = s;
    return s->memory;
}

void *call_room(struct call *c, void *items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return items;
    *capacity = count ? 2 * count : 8;
    void *grown = call_allocate(c, *capacity, size);

    return grown && count ? memcpy(grown, items, count * size) : grown;
}

/* ---- intrinsics ---- */

napi_value intrinsic_get(struct environment *e, enum intrinsic which)
{
    napi_value list, value = NULL;

    if (napi_get_reference_value(e->env, e->intrinsics, &list) == napi_ok)
        napi_get_element(e->env, list, which, &value);
    return value;
}

napi_value intrinsic_call(struct environment *e, enum intrinsic which, size_t count, const napi_value *arguments)
{
    napi_value receiver, result;

    if (!succeeded(e->env, napi_get_undefined(e->env, &receiver)) ||
        !succeeded(e->env, napi_call_function(e->env, receiver, intrinsic_get(e, which), count, arguments, &result)))
        return NULL;
    return result;
}

/* ---- platform objects ---- */

/* This tells our objects from all others; it was drawn at random. */
static const napi_type_tag type_tag = {0x5d1a7c3b9e0f4286, 0xb3c84a6f17e2d950};

static void native_release(struct object *o)
{
    switch (o->interface) {
    case INTERFACE_CONTEXT:
        wnnContextRelease(o->native.context);
        break;
    case INTERFACE_TENSOR:
        wnnTensorRelease(o->native.tensor);
        break;
    case INTERFACE_GRAPH:
        wnnGraphRelease(o->native.graph);
        break;
    case INTERFACE_OPERAND:
        wnnOperandRelease(o->native.operand);
        break;
    case INTERFACE_BUILDER:
        wnnGraphBuilderRelease(o->native.builder);
        break;
    case INTERFACE_MODEL:
        wnnDynamicModelRelease(o->native.model);
        break;
    case INTERFACE_CANCELLATION:
        wnnCancellationRelease(o->native.cancellation);
        break;
    case INTERFACE_ML:
    case INTERFACE_COUNT:
        break;
    }
    o->native.any = NULL;
}

void object_set_bytes(struct object *o, int64_t bytes)
{
    int64_t total;

    napi_adjust_external_memory(o->environment->env, bytes - o->bytes, &total);
    o->bytes = bytes;
}

/** Is the garbage collector's finalizer: no JavaScript may run. */
static void object_finalize(napi_env env, void *data, void *hint)
{
    struct object *o = data;

    (void)hint;
    if (o->native.any)
        native_release(o);
    object_set_bytes(o, 0);
    if (o->shape)
        napi_delete_reference(env, o->shape);
    if (o->wrapper)
        napi_delete_reference(env, o->wrapper);
    LIST_REMOVE(o->environment->objects, o, next, previous);
    environment_release(o->environment);
    free(o);
}

napi_value object_create(struct environment *e, enum interface interface, void *native, int64_t bytes, napi_value receiver)
{
    struct object *o = calloc(1, sizeof(*o));
    napi_value list, prototype, value = receiver;

    if (!o) {
        struct object temporary = {.interface = interface, .native = {native}};

        native_release(&temporary);
        napi_throw_error(e->env, NULL, "out of memory");
        return NULL;
    }
    o->interface = interface;
    o->environment = e;
    o->native.any = native;
    if (!receiver) {
        if (!succeeded(e->env, napi_get_reference_value(e->env, e->prototypes, &list)) ||
            !succeeded(e->env, napi_get_element(e->env, list, interface, &prototype)) ||
            !(value = intrinsic_call(e, INTRINSIC_CREATE, 1, &prototype)))
            goto failed;
    }
    if (!succeeded(e->env, napi_type_tag_object(e->env, value, &type_tag)) ||
        !succeeded(e->env, napi_wrap(e->env, value, o, object_finalize, NULL,
                                     interface == INTERFACE_CONTEXT || interface == INTERFACE_GRAPH ? &o->wrapper : NULL)))
        goto failed;
    e->references++;
    LIST_ADD(e->objects, o, next, previous);
    object_set_bytes(o, bytes);
    return value;
failed:
    native_release(o);
    free(o);
    return NULL;
}

struct object *object_of(struct environment *e, napi_value value, enum interface interface)
{
    napi_valuetype type;
    void *data = NULL;
    bool ours = false;

    if (napi_typeof(e->env, value, &type) != napi_ok || type != napi_object ||
        napi_check_object_type_tag(e->env, value, &type_tag, &ours) != napi_ok || !ours ||
        napi_unwrap(e->env, value, &data) != napi_ok)
        return NULL;
    const struct object *o = data;
    return o->interface == interface && (o->native.any || interface == INTERFACE_ML) ? data : NULL;
}

const char *object_describe(struct call *c, napi_value value, char text[GIVEN_MAX])
{
    static const char *const kinds[] = {
        [napi_undefined] = "undefined", [napi_null] = "null",           [napi_symbol] = "a symbol",
        [napi_object] = "an object",    [napi_function] = "a function", [napi_external] = "an object"};
    char content[GIVEN_MAX - 2] = "";
    napi_valuetype type = napi_undefined;
    napi_value string;

    *text = '\0';
    napi_typeof(c->env, value, &type);
    if ((size_t)type < sizeof(kinds) / sizeof(*kinds) && kinds[type])
        snprintf(text, GIVEN_MAX, "%s", kinds[type]);
    else if (napi_coerce_to_string(c->env, value, &string) == napi_ok &&
             napi_get_value_string_utf8(c->env, string, content, sizeof(content), NULL) == napi_ok)
        snprintf(text, GIVEN_MAX, type == napi_string ? "'%s'" : "%s", content);
    for (enum interface i = 0; i < INTERFACE_COUNT; i++)
        if (object_of(c->environment, value, i))
            snprintf(text, GIVEN_MAX, "an %s", interfaces[i].name);
    return text;
}

struct object *object_require(struct call *c, napi_value value, enum interface interface, const char *what)
{
    struct object *o = object_of(c->environment, value, interface);
    bool is_promise = false;
    char given[GIVEN_MAX];

    if (!o && napi_is_promise(c->env, value, &is_promise) == napi_ok && is_promise)
        throw_type(c, "%s is a Promise of an %s: await it", what, interfaces[interface].name);
    else if (!o)
        throw_type(c, "%s is %s, not an %s", what, object_describe(c, value, given), interfaces[interface].name);
    return o;
}

void objects_abandon(struct environment *e)
{
    for (struct object *o = e->objects; o; o = o->next)
        if (o->interface == INTERFACE_CONTEXT && o->native.any)
            wnnContextDestroy(o->native.context);
    for (struct object *o = e->objects; o; o = o->next)
        if (o->native.any)
            native_release(o);
}

/* ---- properties ---- */

bool string_create(napi_env env, WNNStringView text, napi_value *value)
{
    const size_t length = text.length == WNN_STRLEN ? NAPI_AUTO_LENGTH : text.length;

    return succeeded(env, napi_create_string_utf8(env, text.data ? text.data : "", text.data ? length : 0, value));
}

bool sizes_create(struct call *c, size_t rank, const uint32_t *shape, const WNNDimension *dimensions, napi_value *value)
{
    bool ok = succeeded(c->env, napi_create_array_with_length(c->env, rank, value));
    napi_value size;

    for (uint32_t i = 0; ok && i < rank; i++)
        ok = (dimensions && dimensions[i].name.data ? string_create(c->env, dimensions[i].name, &size)
                                                    : succeeded(c->env, napi_create_uint32(c->env, shape[i], &size))) &&
             succeeded(c->env, napi_set_element(c->env, *value, i, size));
    return ok;
}

bool property_set_view(struct call *c, napi_value object, WNNStringView name, napi_value value)
{
    napi_property_descriptor property = {.value = value, .attributes = napi_default_jsproperty};

    return string_create(c->env, name, &property.name) &&
           succeeded(c->env, napi_define_properties(c->env, object, 1, &property));
}

bool property_set_string(struct call *c, napi_value object, const char *name, WNNStringView text)
{
    napi_value value;

    return string_create(c->env, text, &value) && property_set(c, object, name, value);
}

bool property_set_number(struct call *c, napi_value object, const char *name, uint64_t number)
{
    napi_value value;

    return succeeded(c->env, napi_create_double(c->env, (double)number, &value)) && property_set(c, object, name, value);
}

napi_value numbers_create(struct call *c, size_t count, const char *const *names, const uint64_t *numbers)
{
    napi_value object = NULL;
    bool ok = succeeded(c->env, napi_create_object(c->env, &object));

    for (size_t i = 0; ok && i < count; i++)
        ok = property_set_number(c, object, names[i], numbers[i]);
    return ok ? object : NULL;
}

napi_value shape_get(struct call *c, struct object *o, size_t rank, const uint32_t *shape, const WNNDimension *dimensions)
{
    napi_value array;

    if (o->shape)
        return succeeded(c->env, napi_get_reference_value(c->env, o->shape, &array)) ? array : NULL;
    if (!sizes_create(c, rank, shape, dimensions, &array) || !intrinsic_call(c->environment, INTRINSIC_FREEZE, 1, &array) ||
        !succeeded(c->env, napi_create_reference(c->env, array, 1, &o->shape)))
        return NULL;
    return array;
}
