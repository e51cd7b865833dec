/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Implements the builder's methods of operators: arguments and options are converted as the table says, then called by name. */
#include "frontend/node/operators.h"

#include <string.h>

#include "frontend/node/convert.h"
#include "webnn/webnn_call.h"

#include "operator_rows.inc" /* of webnn-node-tables */

/* ---- lists ---- */

struct method_values {
    WNNMethodValue *items;
    size_t count, capacity;
    const struct value_row *row;
};

static bool convert_item(struct call *c, napi_value item, const char *what, const struct value_row *row, WNNMethodValue *out)
{
    struct object *o;
    uint32_t number;
    double real;
    size_t index;

    switch (row->kind) {
    case VALUE_OPERANDS:
        o = object_require(c, item, INTERFACE_OPERAND, what);
        if (o)
            *out = wnnMethodValueOperand(o->native.operand);
        return o;
    case VALUE_ENUMERATIONS:
        if (!convert_enumeration(c, item, what, row->values, &index))
            return false;
        *out = wnnMethodValueString(WNN_STR(row->values[index]));
        return true;
    case VALUE_FLOATS:
        if (!convert_float(c, item, what, &real))
            return false;
        *out = wnnMethodValueNumber(wnnNumber(real));
        return true;
    default:
        if (!convert_unsigned_long(c, item, what, row->kind == VALUE_UNSIGNED_LONGS_MODULAR ? RANGE_MODULAR : RANGE_ENFORCE,
                                   &number))
            return false;
        *out = wnnMethodValueNumber(wnnNumberUint64(number));
        return true;
    }
}

static bool take_item(struct call *c, napi_value item, const char *what, void *user)
{
    struct method_values *list = user;

    list->items = call_room(c, list->items, list->count, &list->capacity, sizeof(*list->items));
    return list->items && convert_item(c, item, what, list->row, &list->items[list->count++]);
}

static bool convert_list(struct call *c, napi_value value, napi_value method, const struct value_row *row, WNNMethodValue *out)
{
    static const WNNMethodValue empty;
    struct method_values list = {NULL, 0, 0, row};

    if (!(method ? convert_iterable(c, value, method, row->name, take_item, &list)
                 : convert_sequence(c, value, row->name, take_item, &list)))
        return false;
    *out = wnnMethodValueList(list.count, list.count ? list.items : &empty);
    return true;
}

/* ---- values ---- */

static bool convert_integer_or_list(struct call *c, napi_value value, const struct value_row *row, WNNMethodValue *out)
{
    napi_value method = NULL;
    uint32_t number;

    if (is_object(c, value) && !iterator_method(c, value, &method))
        return false;
    if (method)
        return convert_list(c, value, method, row, out);
    if (!convert_unsigned_long(c, value, row->name, RANGE_ENFORCE, &number))
        return false;
    *out = wnnMethodValueNumber(wnnNumberUint64(number));
    return true;
}

static bool convert_value(struct call *c, napi_value value, const struct value_row *row, WNNMethodValue *out)
{
    WNNOperandDataType type;
    WNNStringView text;
    WNNNumber number;
    struct object *o;
    uint32_t u;
    int32_t i;
    double d;
    bool b;
    size_t index;

    switch (row->kind) {
    case VALUE_OPERAND:
        o = object_require(c, value, INTERFACE_OPERAND, row->name);
        if (o)
            *out = wnnMethodValueOperand(o->native.operand);
        return o;
    case VALUE_UNSIGNED_LONG:
    case VALUE_UNSIGNED_LONG_MODULAR:
        if (!convert_unsigned_long(c, value, row->name, row->kind == VALUE_UNSIGNED_LONG ? RANGE_ENFORCE : RANGE_MODULAR, &u))
            return false;
        *out = wnnMethodValueNumber(wnnNumberUint64(u));
        return true;
    case VALUE_LONG:
        if (!convert_long(c, value, row->name, &i))
            return false;
        *out = wnnMethodValueNumber(wnnNumberInt64(i));
        return true;
    case VALUE_DOUBLE:
        if (!convert_double(c, value, row->name, &d))
            return false;
        *out = wnnMethodValueNumber(wnnNumber(d));
        return true;
    case VALUE_BOOLEAN:
        if (!convert_boolean(c, value, &b))
            return false;
        *out = wnnMethodValueBool(b);
        return true;
    case VALUE_NUMBER:
        if (!convert_number(c, value, &number))
            return false;
        *out = wnnMethodValueNumber(number);
        return true;
    case VALUE_STRING:
        if (!convert_string(c, value, &text))
            return false;
        *out = wnnMethodValueString(text);
        return true;
    case VALUE_DATA_TYPE:
        if (!convert_data_type(c, value, row->name, &type))
            return false;
        *out = wnnMethodValueString(WNN_STR(wnnOperandDataTypeGetName(type)));
        return true;
    case VALUE_ENUMERATION:
        if (!convert_enumeration(c, value, row->name, row->values, &index))
            return false;
        *out = wnnMethodValueString(WNN_STR(row->values[index]));
        return true;
    case VALUE_UNSIGNED_LONG_OR_LIST:
        return convert_integer_or_list(c, value, row, out);
    case VALUE_OPERANDS:
    case VALUE_ENUMERATIONS:
    case VALUE_UNSIGNED_LONGS:
    case VALUE_UNSIGNED_LONGS_MODULAR:
    case VALUE_FLOATS:
        return convert_list(c, value, NULL, row, out);
    case VALUE_NONE:
        break;
    }
    return false;
}

/* ---- the call ---- */

/** Converts all arguments and options in the order in which Web IDL does; nothing is checked or called yet. */
static bool convert_all(struct call *c, const struct operator_row *row, WNNMethodValue *arguments, WNNMethodValue *options)
{
    size_t count = 0;
    napi_value member;
    bool present;

    memset(options, 0, VALUES_MAX * sizeof(*options));
    for (; row->arguments[count].name; count++)
        if (!convert_value(c, c->arguments[count], &row->arguments[count], &arguments[count]))
            return false;
    if (c->count <= count)
        return true;
    if (!dictionary_check(c, c->arguments[count], "options"))
        return false;
    for (size_t i = 0; row->options[i].name; i++)
        if (!dictionary_member(c, c->arguments[count], row->options[i].name, &member, &present) ||
            (present && !convert_value(c, member, &row->options[i], &options[i])))
            return false;
    return true;
}

/** Tells the method about members that its options do not have, for the context's log. */
static bool ignore_others(struct call *c, WNNMethodCall method, const struct operator_row *row, napi_value options)
{
    napi_value keys = intrinsic_call(c->environment, INTRINSIC_OWN_KEYS, 1, &options), key;
    napi_valuetype type;
    WNNStringView name;
    uint32_t count, k;

    if (!keys || !succeeded(c->env, napi_get_array_length(c->env, keys, &count)))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!succeeded(c->env, napi_get_element(c->env, keys, i, &key)) || !succeeded(c->env, napi_typeof(c->env, key, &type)))
            return false;
        if (type != napi_string)
            continue;
        if (!convert_string(c, key, &name))
            return false;
        for (k = 0; row->options[k].name && strcmp(row->options[k].name, name.data) != 0; k++)
            ;
        if (!row->options[k].name && !throw_last(c, wnnMethodCallOption(method, name, wnnMethodValueBool(true), true)))
            return false;
    }
    return true;
}

static WNNStatus invoke(WNNMethodCall method, const struct operator_row *row, const WNNMethodValue *arguments,
                        const WNNMethodValue *options, WNNGraphBuilder builder)
{
    WNNStatus status = WNNStatus_Success;

    for (size_t i = 0; row->arguments[i].name && status == WNNStatus_Success; i++)
        status = wnnMethodCallArgument(method, i, arguments[i]);
    for (size_t i = 0; row->options[i].name && status == WNNStatus_Success; i++)
        if (options[i].kind != WNNMethodValueKind_None)
            status = wnnMethodCallOption(method, WNN_STR(row->options[i].name), options[i], false);
    return status == WNNStatus_Success ? wnnMethodCallInvoke(method, builder) : status;
}

static napi_value new_operand(struct call *c, WNNOperand operand)
{
    wnnOperandAddRef(operand);
    return object_create(c->environment, INTERFACE_OPERAND, operand, 0, NULL);
}

static napi_value results(struct call *c, WNNMethodCall method)
{
    napi_value array, operand;

    if (!wnnMethodCallIsSequence(method))
        return new_operand(c, wnnMethodCallResult(method, 0));
    if (!succeeded(c->env, napi_create_array(c->env, &array)))
        return NULL;
    for (uint32_t i = 0; i < wnnMethodCallResultCount(method); i++) {
        operand = new_operand(c, wnnMethodCallResult(method, i));
        if (!operand || !succeeded(c->env, napi_set_element(c->env, array, i, operand)))
            return NULL;
    }
    return array;
}

napi_value operator_call(struct call *c)
{
    napi_value result = NULL;
    WNNMethodValue arguments[VALUES_MAX], options[VALUES_MAX];
    size_t required = 0;

    const struct operator_row *row = c->data;
    while (row->arguments[required].name)
        required++;
    struct object *builder = call_receiver(c, INTERFACE_BUILDER);
    if (!builder || !call_requires(c, required) || !convert_all(c, row, arguments, options))
        return NULL;
    WNNMethodCall method = wnnMethodCallCreate(WNN_STR(row->name));
    if (method && builder->has_log && is_object(c, c->arguments[required]) &&
        !ignore_others(c, method, row, c->arguments[required])) {
        wnnMethodCallDestroy(method);
        return NULL;
    }
    WNNStatus status = method ? invoke(method, row, arguments, options, builder->native.builder) : WNNStatus_UnknownError;
    if (throw_last(c, status))
        result = results(c, method);
    /* What has been thrown is no reason to refuse the build. */
    wnnGraphBuilderClearError(builder->native.builder);
    wnnMethodCallDestroy(method);
    return result;
}
