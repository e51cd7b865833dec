/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Implements what tells which devices there are, and which one a context has: beyond the specification. */
#include "frontend/node/convert.h"

/** Returns {kind, name, platform, lacks, memoryBytes, bufferBytes}. */
static napi_value describe_device(struct call *c, const WNNDeviceInfo *device)
{
    static const char *const kinds[] = {"other", "cpu", "gpu", "accelerator"}; /* as WNNDeviceKind */
    napi_value object;

    if (!succeeded(c->env, napi_create_object(c->env, &object)) ||
        !property_set_string(c, object, "kind", WNN_STR(kinds[device->kind])) ||
        !property_set_string(c, object, "name", WNN_STR(device->name)) ||
        !property_set_string(c, object, "platform", WNN_STR(device->platform)) ||
        !property_set_string(c, object, "lacks", WNN_STR(device->lacks)) ||
        !property_set_number(c, object, "memoryBytes", device->memoryBytes) ||
        !property_set_number(c, object, "bufferBytes", device->bufferBytes))
        return NULL;
    return object;
}

napi_value extension_list_devices(struct call *c, struct object *none)
{
    napi_value result = NULL, object;
    WNNDeviceInfo device;

    (void)none;
    if (!succeeded(c->env, napi_create_array(c->env, &result)))
        return NULL;
    for (uint32_t i = 0; wnnGetDevice(i, &device); i++)
        if (!(object = describe_device(c, &device)) || !succeeded(c->env, napi_set_element(c->env, result, i, object)))
            return NULL;
    return result;
}

napi_value extension_get_device(struct call *c, struct object *context)
{
    WNNDeviceInfo device;

    wnnContextGetDevice(context->native.context, &device);
    return describe_device(c, &device);
}
