/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Converts AllowSharedBufferSource: ArrayBuffer, SharedArrayBuffer and views on either. */
#include <string.h>

#include "frontend/node/convert.h"
#include "webnn/webnn_draft.h"

bool buffer_bytes(struct environment *e, napi_value value, struct buffer_source *out)
{
    napi_value description = intrinsic_call(e, INTRINSIC_DESCRIBE_BUFFER, 1, &value), bytes, name;
    napi_valuetype type;
    static uint8_t nothing; /* what an empty buffer points to */
    bool is_view;
    void *data = NULL;

    out->value = value;
    out->data = NULL;
    out->length = 0;
    out->class_name[0] = '\0';
    if (!description || !succeeded(e->env, napi_typeof(e->env, description, &type)))
        return false;
    if (type == napi_undefined)
        return true;
    if (!succeeded(e->env, napi_get_element(e->env, description, 0, &name)) ||
        !succeeded(e->env, napi_get_value_string_utf8(e->env, name, out->class_name, sizeof(out->class_name), NULL)) ||
        !succeeded(e->env, napi_get_element(e->env, description, 1, &bytes)) ||
        !succeeded(e->env, napi_is_typedarray(e->env, bytes, &is_view)))
        return false;
    if (is_view && !succeeded(e->env, napi_get_typedarray_info(e->env, bytes, NULL, &out->length, &data, NULL, NULL)))
        return false;
    out->data = is_view && !data ? &nothing : data;
    return true;
}

bool convert_buffer_source(struct call *c, napi_value value, const char *what, struct buffer_source *out)
{
    napi_value description = intrinsic_call(c->environment, INTRINSIC_DESCRIBE_BUFFER, 1, &value), resizable;
    napi_valuetype type;
    bool is_resizable;

    out->value = value;
    if (!description || !succeeded(c->env, napi_typeof(c->env, description, &type)))
        return false;
    if (type == napi_undefined)
        return throw_type(c, "%s is neither an ArrayBuffer nor a SharedArrayBuffer nor a view of one", what);
    if (!succeeded(c->env, napi_get_element(c->env, description, 2, &resizable)) ||
        !convert_boolean(c, resizable, &is_resizable))
        return false;
    return !is_resizable || throw_type(c, "%s is in a buffer that can be resized", what);
}

bool buffer_fits_type(const struct buffer_source *buffer, WNNOperandDataType type)
{
    static const struct {
        const char *name;
        WNNOperandDataType type;
    } views[] = {
        {"Float32Array", WNNOperandDataType_Float32},  {"Float16Array", WNNOperandDataType_Float16},
        {"Uint16Array", WNNOperandDataType_Float16}, /* for engines without Float16Array */
        {"Uint16Array", WNNOperandDataType_Bfloat16},  {"Int32Array", WNNOperandDataType_Int32},
        {"Uint32Array", WNNOperandDataType_Uint32},    {"BigInt64Array", WNNOperandDataType_Int64},
        {"BigUint64Array", WNNOperandDataType_Uint64}, {"Int8Array", WNNOperandDataType_Int8},
    };

    if (!strcmp(buffer->class_name, "ArrayBuffer") || !strcmp(buffer->class_name, "SharedArrayBuffer") ||
        !strcmp(buffer->class_name, "Uint8Array"))
        return true;
    for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++)
        if (views[i].type == type && !strcmp(buffer->class_name, views[i].name))
            return true;
    return false;
}

bool buffer_check(struct call *c, const struct buffer_source *buffer, const char *what, WNNOperandDataType type)
{
    if (!buffer->data)
        return throw_type(c, "%s is detached: its memory has been transferred", what);
    return buffer_fits_type(buffer, type) ||
           throw_type(c, "%s is %s %s, which does not hold elements of type %s", what,
                      strchr("AI", buffer->class_name[0]) ? "an" : "a", buffer->class_name, wnnOperandDataTypeGetName(type));
}
