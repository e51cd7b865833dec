/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Implements MLContext.opSupportLimits(): the dictionary as an object, its members in the order in which Web IDL writes them.
 */
#include <stdlib.h>
#include <string.h>

#include "frontend/node/addon.h"

/** Sets the members of an MLTensorLimits. */
static bool set_limits(struct call *c, napi_value object, const WNNTensorLimits *limits)
{
    napi_value value, types, range, name;
    uint32_t count = 0;

    if (!succeeded(c->env, napi_create_object(c->env, &value)) || !succeeded(c->env, napi_create_array(c->env, &types)) ||
        !succeeded(c->env, napi_create_object(c->env, &range)))
        return false;
    for (int t = WNNOperandDataType_Float32; wnnOperandDataTypeGetByteSize((WNNOperandDataType)t); t++) {
        if (!(limits->dataTypes & WNN_DATA_TYPE_BIT(t)))
            continue;
        if (!string_create(c->env, WNN_STR(wnnOperandDataTypeGetName((WNNOperandDataType)t)), &name) ||
            !succeeded(c->env, napi_set_element(c->env, types, count++, name)))
            return false;
    }
    return property_set(c, value, "dataTypes", types) && property_set_number(c, range, "max", limits->rankRange.max) &&
           property_set_number(c, range, "min", limits->rankRange.min) && property_set(c, value, "rankRange", range) &&
           property_set(c, object, limits->name, value);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const WNNTensorLimits *)a)->name, ((const WNNTensorLimits *)b)->name);
}

/** Sets the member of one operator. */
static bool set_operator(struct call *c, WNNContext context, napi_value object, const char *name)
{
    WNNTensorLimits limits[WNN_TENSOR_LIMITS_MAX];
    napi_value value;
    size_t count;

    if (!throw_last(c, wnnContextGetOperatorSupportLimits(context, WNN_STR(name), WNN_TENSOR_LIMITS_MAX, limits, &count)) ||
        !succeeded(c->env, napi_create_object(c->env, &value)))
        return false;
    qsort(limits, count, sizeof(*limits), by_name);
    for (size_t i = 0; i < count; i++)
        if (!set_limits(c, value, &limits[i]))
            return false;
    return property_set(c, object, name, value);
}

/** Sets one member of the dictionary: an operator's, or that of a name below. */
static bool set_member(struct call *c, WNNContext context, const WNNOpSupportLimits *top, napi_value object, const char *name)
{
    if (!strcmp(name, "preferredInputLayout"))
        return property_set_string(c, object, name,
                                   WNN_STR(top->preferredInputLayout == WNNInputOperandLayout_Nhwc ? "nhwc" : "nchw"));
    if (!strcmp(name, "maxTensorByteLength"))
        return property_set_number(c, object, name, top->maxTensorByteLength);
    if (!strcmp(name, "input"))
        return set_limits(c, object, &top->input);
    if (!strcmp(name, "constant"))
        return set_limits(c, object, &top->constant);
    if (!strcmp(name, "output"))
        return set_limits(c, object, &top->output);
    return set_operator(c, context, object, name);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

napi_value context_op_support_limits(struct call *c, struct object *context)
{
    static const char *const others[] = {"preferredInputLayout", "maxTensorByteLength", "input", "constant", "output"};
    const size_t other_count = sizeof(others) / sizeof(others[0]), operator_count = wnnGetOperatorCount();
    const char **names = call_allocate(c, operator_count + other_count, sizeof(*names));
    WNNOpSupportLimits top;
    napi_value object;

    if (!names || !throw_last(c, wnnContextGetOpSupportLimits(context->native.context, &top)) ||
        !succeeded(c->env, napi_create_object(c->env, &object)))
        return NULL;
    memcpy(names, others, sizeof(others));
    for (size_t i = 0; i < operator_count; i++)
        names[other_count + i] = wnnGetOperatorName(i);
    qsort(names, operator_count + other_count, sizeof(*names), compare_names);
    for (size_t i = 0; i < operator_count + other_count; i++)
        if (!set_member(c, context->native.context, &top, object, names[i]))
            return NULL;
    return object;
}
