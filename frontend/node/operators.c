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

static bool convert_value(struct call *c, napi_value value, const struct value_row *row, WNNMethodValue *out);

static bool take_item(struct call *c, napi_value item, const char *what, void *user)
{
    struct method_values *list = user;
    const struct value_row row = {what, list->row->kind & ~(unsigned)VALUE_LIST, list->row->values};

    list->items = call_room(c, list->items, list->count, &list->capacity, sizeof(*list->items));
    return list->items && convert_value(c, item, &row, &list->items[list->count++]);
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
    const struct value_row item = {row->name, VALUE_UNSIGNED_LONG, NULL}, list = {row->name, VALUE_UNSIGNED_LONGS, NULL};
    napi_value method = NULL;

    if (is_object(c, value) && !iterator_method(c, value, &method))
        return false;
    return method ? convert_list(c, value, method, &list, out) : convert_value(c, value, &item, out);
}

static bool convert_value(struct call *c, napi_value value, const struct value_row *row, WNNMethodValue *out)
{
    WNNOperandDataType type = WNNOperandDataType_Float32;
    WNNStringView text = WNN_STRING_VIEW_INIT;
    WNNNumber number = {0};
    struct object *o;
    uint32_t u = 0;
    int32_t i = 0;
    double d = 0;
    bool b = false, ok = false;
    size_t index = 0;

    if (row->kind & VALUE_LIST)
        return convert_list(c, value, NULL, row, out);
    switch (row->kind) {
    case VALUE_OPERAND:
        o = object_require(c, value, INTERFACE_OPERAND, row->name);
        if (o)
            *out = wnnMethodValueOperand(o->native.operand);
        return o;
    case VALUE_UNSIGNED_LONG:
    case VALUE_UNSIGNED_LONG_MODULAR:
        ok = convert_unsigned_long(c, value, row->name, row->kind == VALUE_UNSIGNED_LONG ? RANGE_ENFORCE : RANGE_MODULAR, &u);
        *out = wnnMethodValueNumber(wnnNumberUint64(u));
        break;
    case VALUE_LONG:
        ok = convert_long(c, value, row->name, &i);
        *out = wnnMethodValueNumber(wnnNumberInt64(i));
        break;
    case VALUE_DOUBLE:
    case VALUE_FLOAT:
        ok = row->kind == VALUE_FLOAT ? convert_float(c, value, row->name, &d) : convert_double(c, value, row->name, &d);
        *out = wnnMethodValueNumber(wnnNumber(d));
        break;
    case VALUE_BOOLEAN:
        ok = convert_boolean(c, value, &b);
        *out = wnnMethodValueBool(b);
        break;
    case VALUE_NUMBER:
        ok = convert_number(c, value, &number);
        *out = wnnMethodValueNumber(number);
        break;
    case VALUE_STRING:
        ok = convert_string(c, value, &text);
        *out = wnnMethodValueString(text);
        break;
    case VALUE_DATA_TYPE:
        ok = convert_data_type(c, value, row->name, &type);
        *out = wnnMethodValueString(WNN_STR(ok ? wnnOperandDataTypeGetName(type) : ""));
        break;
    case VALUE_ENUMERATION:
        ok = convert_enumeration(c, value, row->name, row->values, &index);
        *out = wnnMethodValueString(WNN_STR(ok ? row->values[index] : ""));
        break;
    case VALUE_UNSIGNED_LONG_OR_LIST:
        return convert_integer_or_list(c, value, row, out);
    default:
        break;
    }
    return ok;
}

/* ---- the call ---- */

/** Converts all arguments and options in the order in which Web IDL does; nothing is checked or called yet. */
static bool convert_all(struct call *c, const struct operator_row *row, WNNMethodValue *arguments, WNNMethodValue *options)
{
    size_t count = 0;
    napi_value member;

    memset(options, 0, VALUES_MAX * sizeof(*options));
    for (; row->arguments[count].name; count++)
        if (!convert_value(c, c->arguments[count], &row->arguments[count], &arguments[count]))
            return false;
    if (c->count <= count)
        return true;
    if (!dictionary_check(c, c->arguments[count], "options"))
        return false;
    for (size_t i = 0; row->options[i].name; i++)
        if (!dictionary_member(c, c->arguments[count], row->options[i].name, &member) ||
            (member && !convert_value(c, member, &row->options[i], &options[i])))
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

napi_value operator_call(struct call *c, struct object *builder)
{
    const struct operator_row *row = c->member->data;
    const size_t required = c->member->length;
    napi_value result = NULL;
    WNNMethodValue arguments[VALUES_MAX], options[VALUES_MAX];

    if (!convert_all(c, row, arguments, options))
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
