/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Defines the module webnn.node.  It exports one function, start, which frontend/node/lib/interfaces.js calls once in every
 * environment with the intrinsics and a function that makes an interface's object of its members.  It returns the ML object.
 */
#include <pthread.h>
#include <stdlib.h>

#include "frontend/node/mailbox.h"
#include "frontend/node/operators.h"

/* ---- the environment ---- */

void environment_release(struct environment *e)
{
    if (--e->references == 0)
        free(e);
}

static void environment_finalize(napi_env env, void *data, void *hint)
{
    (void)env;
    (void)hint;
    environment_release(data);
}

/**
 * Ends the environment, when the process or a worker ends.  Work that is under way is waited for, because process.exit()
 * destroys what static memory LLVM and others have while their threads run.  It may be called again.
 */
static void environment_end(void *data)
{
    struct environment *e = data;

    objects_abandon(e);
    mailbox_close(e);
}

/**
 * Is shutdown(), for the event exit of the process, after which Node.js calls no cleanup hook if the program called
 * process.exit().
 */
static napi_value shutdown(napi_env env, napi_callback_info info)
{
    struct environment *e = NULL;

    (void)info;
    napi_get_instance_data(env, (void **)&e);
    if (e && e->mailbox)
        environment_end(e);
    return NULL;
}

/* ---- interfaces ---- */

/**
 * Calls define(interface's index, or INTERFACE_COUNT for what belongs to none, name, length, whether it is an attribute,
 * whether it returns a promise, function, whether it is the draft's).
 */
static bool define_member(napi_env env, napi_value define, const struct member *m)
{
    const uint32_t interface = m->flags & MEMBER_FUNCTION ? INTERFACE_COUNT : m->interface;
    napi_value arguments[7], undefined, result;

    return succeeded(env, napi_get_undefined(env, &undefined)) &&
           succeeded(env, napi_create_uint32(env, interface, &arguments[0])) &&
           succeeded(env, napi_create_string_utf8(env, m->name, NAPI_AUTO_LENGTH, &arguments[1])) &&
           succeeded(env, napi_create_uint32(env, m->length, &arguments[2])) &&
           succeeded(env, napi_get_boolean(env, m->flags & MEMBER_ATTRIBUTE, &arguments[3])) &&
           succeeded(env, napi_get_boolean(env, m->flags & MEMBER_PROMISE, &arguments[4])) &&
           succeeded(env, napi_create_function(env, m->name, NAPI_AUTO_LENGTH, member_call, (void *)m, &arguments[5])) &&
           succeeded(env, napi_get_boolean(env, m->flags & MEMBER_DRAFT, &arguments[6])) &&
           succeeded(env, napi_call_function(env, undefined, define, 7, arguments, &result));
}

/** These members stand for operators; an empty one ends them.  They are made once: every environment uses them. */
static struct member operator_members[128];
static pthread_once_t operator_members_once = PTHREAD_ONCE_INIT;

static void fill_operator_members(void)
{
    for (size_t i = 0; i < operator_count && i + 1 < sizeof(operator_members) / sizeof(operator_members[0]); i++) {
        uint32_t length = 0;

        while (operator_rows[i].arguments[length].name)
            length++;
        operator_members[i] =
            (struct member){operator_rows[i].name, INTERFACE_BUILDER, length, i < standard_operator_count ? 0 : MEMBER_DRAFT,
                            operator_call,         &operator_rows[i]};
    }
}

static bool define_members(napi_env env, napi_value define)
{
    const struct member *const lists[] = {context_members,   object_members,  builder_members, operator_members,
                                          extension_members, model_functions, draft_members};

    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        for (const struct member *m = lists[i]; m->name; m++)
            if (!define_member(env, define, m))
                return false;
    return true;
}

static bool keep(napi_env env, napi_value array, napi_ref *reference)
{
    return succeeded(env, napi_create_reference(env, array, 1, reference));
}

/** Is start(intrinsics, prototypes, define). */
static napi_value start(napi_env env, napi_callback_info info)
{
    struct environment *e = NULL;
    napi_value arguments[3];
    size_t count = 3;

    if (!succeeded(env, napi_get_cb_info(env, info, &count, arguments, NULL, NULL)) || count < 3)
        return NULL;
    napi_get_instance_data(env, (void **)&e);
    if (e) {
        napi_throw_error(env, NULL, "webnn.node has been started already");
        return NULL;
    }
    e = calloc(1, sizeof(*e));
    if (!e) {
        napi_throw_error(env, NULL, "out of memory");
        return NULL;
    }
    e->env = env;
    e->references = 1;
    if (!succeeded(env, napi_set_instance_data(env, e, environment_finalize, NULL))) {
        free(e);
        return NULL;
    }
    pthread_once(&operator_members_once, fill_operator_members);
    if (!keep(env, arguments[0], &e->intrinsics) || !keep(env, arguments[1], &e->prototypes) || !mailbox_open(e) ||
        !succeeded(env, napi_add_env_cleanup_hook(env, environment_end, e)) || !define_members(env, arguments[2]))
        return NULL;
    return object_create(e, INTERFACE_ML, NULL, 0, NULL);
}

NAPI_MODULE_INIT()
{
    static const struct member construct = {"MLGraphBuilder constructor", INTERFACE_COUNT, 0, 0, builder_construct, NULL};
    napi_value function;

    if (!succeeded(env, napi_create_function(env, "start", NAPI_AUTO_LENGTH, start, NULL, &function)) ||
        !succeeded(env, napi_set_named_property(env, exports, "start", function)) ||
        !succeeded(env, napi_create_function(env, "shutdown", NAPI_AUTO_LENGTH, shutdown, NULL, &function)) ||
        !succeeded(env, napi_set_named_property(env, exports, "shutdown", function)) ||
        !succeeded(env, napi_create_function(env, "construct", NAPI_AUTO_LENGTH, member_call, (void *)&construct, &function)) ||
        !succeeded(env, napi_set_named_property(env, exports, "construct", function)))
        return NULL;
    return exports;
}
