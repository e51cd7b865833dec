/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Implements what tells which devices there are, and which one a context has: beyond the specification. */
#include "frontend/node/convert.h"

static bool set_text(struct call *c, napi_value object, const char *name, const char *text)
{
    napi_value value;

    return succeeded(c->env, napi_create_string_utf8(c->env, text, NAPI_AUTO_LENGTH, &value)) &&
           succeeded(c->env, napi_set_named_property(c->env, object, name, value));
}

/** Sets a number of bytes, which is one that JavaScript's numbers hold. */
static bool set_bytes(struct call *c, napi_value object, const char *name, uint64_t bytes)
{
    napi_value value;

    return succeeded(c->env, napi_create_double(c->env, (double)bytes, &value)) &&
           succeeded(c->env, napi_set_named_property(c->env, object, name, value));
}

/** Returns {kind, name, platform, lacks, memoryBytes, bufferBytes}. */
static napi_value describe_device(struct call *c, const WNNDeviceInfo *device)
{
    static const char *const kinds[] = {"other", "cpu", "gpu", "accelerator"}; /* as WNNDeviceKind */
    napi_value object;

    if (!succeeded(c->env, napi_create_object(c->env, &object)) || !set_text(c, object, "kind", kinds[device->kind]) ||
        !set_text(c, object, "name", device->name) || !set_text(c, object, "platform", device->platform) ||
        !set_text(c, object, "lacks", device->lacks) || !set_bytes(c, object, "memoryBytes", device->memoryBytes) ||
        !set_bytes(c, object, "bufferBytes", device->bufferBytes))
        return NULL;
    return object;
}

napi_value extension_list_devices(struct call *c)
{
    napi_value result = NULL, object;
    WNNDeviceInfo device;

    if (!succeeded(c->env, napi_create_array(c->env, &result)))
        return NULL;
    for (uint32_t i = 0; wnnGetDevice(i, &device); i++)
        if (!(object = describe_device(c, &device)) || !succeeded(c->env, napi_set_element(c->env, result, i, object)))
            return NULL;
    return result;
}

napi_value extension_get_device(struct call *c)
{
    napi_value result = NULL;
    struct object *context;
    WNNDeviceInfo device;

    if (call_requires(c, 1) && (context = object_require(c, c->arguments[0], INTERFACE_CONTEXT, "context"))) {
        wnnContextGetDevice(context->native.context, &device);
        result = describe_device(c, &device);
    }
    return result;
}
