/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Converts numbers, strings, sequences, dictionaries and records.  Buffers are in buffer.c. */
#define _GNU_SOURCE /* memmem */
#include "frontend/node/convert.h"
#include "ir/support/suggest.h"
#include "ir/support/text.h"

#include <math.h>

/* ---- kinds of values ---- */

static napi_valuetype type_of(struct call *c, napi_value value)
{
    napi_valuetype type = napi_undefined;

    napi_typeof(c->env, value, &type);
    return type;
}

bool is_object(struct call *c, napi_value value)
{
    napi_valuetype type = type_of(c, value);

    return type == napi_object || type == napi_function || type == napi_external;
}

bool is_nullish(struct call *c, napi_value value)
{
    napi_valuetype type = type_of(c, value);

    return type == napi_undefined || type == napi_null;
}

/* ---- numbers ---- */

/** Implements ToNumber. */
static bool to_number(struct call *c, napi_value value, const char *what, double *out)
{
    char given[GIVEN_MAX];

    if (napi_get_value_double(c->env, value, out) == napi_ok)
        return true;
    if (type_of(c, value) == napi_bigint || type_of(c, value) == napi_symbol)
        return throw_type(c, "%s is %s, not a number", what, object_describe(c, value, given));
    return succeeded(c->env, napi_coerce_to_number(c->env, value, &value)) &&
           succeeded(c->env, napi_get_value_double(c->env, value, out));
}

/** Converts to an integer between two bounds, after truncation. */
static bool enforce_range(struct call *c, double number, const char *what, double low, double high, double *out)
{
    if (!isfinite(number))
        return throw_type(c, "%s is not a finite number", what);
    *out = trunc(number);
    if (*out < low || *out > high)
        return throw_type(c, "%s is %.15g, which is outside the range of %.0f to %.0f", what, number, low, high);
    return true;
}

bool convert_unsigned_long(struct call *c, napi_value value, const char *what, enum range range, uint32_t *out)
{
    double number;

    if (!to_number(c, value, what, &number))
        return false;
    if (range == RANGE_MODULAR) {
        number = isfinite(number) ? fmod(trunc(number), 0x1p32) : 0;
        if (number < 0)
            number += 0x1p32;
    } else if (!enforce_range(c, number, what, 0, UINT32_MAX, &number)) {
        return false;
    }
    *out = (uint32_t)number;
    return true;
}

bool convert_long(struct call *c, napi_value value, const char *what, int32_t *out)
{
    double number;

    if (!to_number(c, value, what, &number) || !enforce_range(c, number, what, INT32_MIN, INT32_MAX, &number))
        return false;
    *out = (int32_t)number;
    return true;
}

bool convert_bytes(struct call *c, napi_value value, const char *what, size_t *out)
{
    const double most = sizeof(size_t) < sizeof(uint64_t) ? UINT32_MAX : 0x1p53 - 1; /* integers that numbers hold */
    double number;

    if (!to_number(c, value, what, &number) || !enforce_range(c, number, what, 0, most, &number))
        return false;
    *out = (size_t)number;
    return true;
}

bool convert_double(struct call *c, napi_value value, const char *what, double *out)
{
    return to_number(c, value, what, out) && (isfinite(*out) || throw_type(c, "%s is not a finite number", what));
}

bool convert_float(struct call *c, napi_value value, const char *what, double *out)
{
    if (!to_number(c, value, what, out))
        return false;
    *out = (float)*out;
    return isfinite(*out) || throw_type(c, "%s is not a finite number of single precision", what);
}

/** Converts a BigInt; beyond 64 bits it becomes the double nearest to it, which every data type treats alike. */
static bool convert_big_integer(struct call *c, napi_value value, WNNNumber *out)
{
    bool lossless;
    int64_t i;
    uint64_t u;
    double d;

    if (!succeeded(c->env, napi_get_value_bigint_int64(c->env, value, &i, &lossless)))
        return false;
    if (lossless) {
        *out = wnnNumberInt64(i);
        return true;
    }
    if (!succeeded(c->env, napi_get_value_bigint_uint64(c->env, value, &u, &lossless)))
        return false;
    if (lossless) {
        *out = wnnNumberUint64(u);
        return true;
    }
    /* This is Number(bigint), by way of its digits, which needs no function of the program's. */
    napi_value text;
    if (!succeeded(c->env, napi_coerce_to_string(c->env, value, &text)) || !to_number(c, text, "value", &d))
        return false;
    *out = wnnNumber(d);
    return true;
}

bool convert_number(struct call *c, napi_value value, WNNNumber *out)
{
    double d;

    if (type_of(c, value) != napi_number && type_of(c, value) != napi_bigint) {
        value = intrinsic_call(c->environment, INTRINSIC_TO_NUMERIC, 1, &value);
        if (!value)
            return false;
    }
    if (type_of(c, value) == napi_bigint)
        return convert_big_integer(c, value, out);
    if (!to_number(c, value, "value", &d))
        return false;
    *out = wnnNumber(d);
    return true;
}

/* ---- strings ---- */

bool convert_string(struct call *c, napi_value value, WNNStringView *out)
{
    size_t length, written;

    if (type_of(c, value) != napi_string && !succeeded(c->env, napi_coerce_to_string(c->env, value, &value)))
        return false;
    if (!succeeded(c->env, napi_get_value_string_utf8(c->env, value, NULL, 0, &length)))
        return false;
    char *text = call_allocate(c, length + 1, 1);
    if (!text || !succeeded(c->env, napi_get_value_string_utf8(c->env, value, text, length + 1, &written)))
        return false;
    out->data = text;
    out->length = written;
    return true;
}

bool convert_path(struct call *c, napi_value value, const char *what, const char **path)
{
    WNNStringView text;

    if (!convert_string(c, value, &text))
        return false;
    *path = text.data;
    return strlen(text.data) == text.length || throw_type(c, "%s has a NUL character", what);
}

/** Throws a TypeError for a text that is none of the values, which it names. */
static bool throw_not_one_of(struct call *c, const char *what, const char *text, const char *const *values)
{
    char list[400] = "";
    size_t length = 0;

    for (size_t i = 0; values[i] && length < sizeof(list); i++)
        length += (size_t)snprintf(list + length, sizeof(list) - length, "%s'%s'", i ? ", " : "", values[i]);
    return throw_type(c, "%s is '%.100s'; it may be %s", what, text, list);
}

bool convert_enumeration(struct call *c, napi_value value, const char *what, const char *const *values, size_t *out)
{
    WNNStringView text;

    if (!convert_string(c, value, &text))
        return false;
    for (*out = 0; values[*out]; ++*out)
        if (text_is(values[*out], text.data, text.length))
            return true;
    return throw_not_one_of(c, what, text.data, values);
}

bool convert_data_type(struct call *c, napi_value value, const char *what, WNNOperandDataType *out)
{
    WNNStringView text;

    if (!convert_string(c, value, &text))
        return false;
    for (*out = WNNOperandDataType_Float32; wnnOperandDataTypeGetByteSize(*out); ++*out)
        if (text_is(wnnOperandDataTypeGetName(*out), text.data, text.length))
            return true;
    const char *names[32] = {NULL};
    for (int i = 0; i < 31 && wnnOperandDataTypeGetByteSize(WNNOperandDataType_Float32 + i); i++)
        names[i] = wnnOperandDataTypeGetName(WNNOperandDataType_Float32 + i);
    return throw_not_one_of(c, what, text.data, names);
}

/* ---- sequences ---- */

bool iterator_method(struct call *c, napi_value value, napi_value *method)
{
    napi_value key = intrinsic_get(c->environment, INTRINSIC_ITERATOR);

    if (!succeeded(c->env, napi_get_property(c->env, value, key, method)))
        return false;
    if (is_nullish(c, *method))
        *method = NULL;
    else if (type_of(c, *method) != napi_function)
        return throw_type(c, "Symbol.iterator of a sequence is not a function");
    return true;
}

/** Takes one step of an iterator; *item is NULL at its end. */
static bool iterator_step(struct call *c, napi_value iterator, napi_value next, napi_value *item)
{
    napi_value result, done;
    bool is_done;

    if (!succeeded(c->env, napi_call_function(c->env, iterator, next, 0, NULL, &result)))
        return false;
    if (!is_object(c, result))
        return throw_type(c, "the iterator's result is not an object");
    if (!succeeded(c->env, napi_get_named_property(c->env, result, "done", &done)) || !convert_boolean(c, done, &is_done))
        return false;
    *item = NULL;
    return is_done || succeeded(c->env, napi_get_named_property(c->env, result, "value", item));
}

bool convert_iterable(struct call *c, napi_value value, napi_value method, const char *what, item_function take, void *user)
{
    napi_value iterator, next;

    if (!succeeded(c->env, napi_call_function(c->env, value, method, 0, NULL, &iterator)))
        return false;
    if (!is_object(c, iterator))
        return throw_type(c, "the iterator of %s is not an object", what);
    if (!succeeded(c->env, napi_get_named_property(c->env, iterator, "next", &next)))
        return false;
    if (type_of(c, next) != napi_function)
        return throw_type(c, "the iterator of %s has no function next", what);
    for (size_t i = 0;; i++) {
        char name[96];
        napi_value item;

        if (!iterator_step(c, iterator, next, &item))
            return false;
        if (!item)
            return true;
        snprintf(name, sizeof(name), "%s[%zu]", what, i);
        if (!take(c, item, name, user))
            return false;
    }
}

bool convert_sequence(struct call *c, napi_value value, const char *what, item_function take, void *user)
{
    napi_value method;

    if (!is_object(c, value))
        return throw_type(c, "%s is not a sequence", what);
    if (!iterator_method(c, value, &method))
        return false;
    if (!method)
        return throw_type(c, "%s is not iterable", what);
    return convert_iterable(c, value, method, what, take, user);
}

static bool take_unsigned_long(struct call *c, napi_value item, const char *what, void *user)
{
    struct unsigned_longs *list = user;

    list->items = call_room(c, list->items, list->count, &list->capacity, sizeof(*list->items));
    return list->items && convert_unsigned_long(c, item, what, list->range, &list->items[list->count++]);
}

bool convert_unsigned_longs(struct call *c, napi_value value, const char *what, enum range range, struct unsigned_longs *out)
{
    *out = (struct unsigned_longs){NULL, 0, 0, range};
    /* An empty list is present, so that it needs an address. */
    out->items = call_room(c, NULL, 0, &out->capacity, sizeof(*out->items));
    return out->items && convert_sequence(c, value, what, take_unsigned_long, out);
}

/* ---- dictionaries ---- */

bool dictionary_has_only(struct call *c, napi_value dictionary, const char *const *known)
{
    uint32_t count = 0;
    napi_value names, item;
    WNNStringView name;
    size_t k;

    if (is_nullish(c, dictionary))
        return true;
    if (!dictionary_check(c, dictionary, "options") ||
        !succeeded(c->env, napi_get_all_property_names(c->env, dictionary, napi_key_own_only,
                                                       napi_key_enumerable | napi_key_skip_symbols, napi_key_numbers_to_strings,
                                                       &names)) ||
        !succeeded(c->env, napi_get_array_length(c->env, names, &count)))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!succeeded(c->env, napi_get_element(c->env, names, i, &item)) || !convert_string(c, item, &name))
            return false;

        struct suggestion s = suggestion_for(name.data, name.length);

        for (k = 0; known[k] && strcmp(known[k], name.data); k++)
            suggestion_offer(&s, known[k]);
        if (!known[k])
            return throw_type(c, "there is no option '%.64s'%s", name.data, suggestion_list(&s));
    }
    return true;
}

bool dictionary_member(struct call *c, napi_value dictionary, const char *name, napi_value *value)
{
    *value = NULL;
    if (is_nullish(c, dictionary))
        return true;
    if (!succeeded(c->env, napi_get_named_property(c->env, dictionary, name, value)))
        return false;
    if (type_of(c, *value) == napi_undefined)
        *value = NULL;
    return true;
}

/** Holds a growing list of dimensions. */
struct dimensions {
    struct unsigned_longs sizes;
    WNNDimension *items;
    size_t capacity;
};

/** Takes (unsigned long or DOMString): a value that is not a number is a name. */
static bool take_dimension(struct call *c, napi_value item, const char *what, void *user)
{
    struct dimensions *list = user;
    const size_t index = list->sizes.count;
    const bool is_size = type_of(c, item) == napi_number;

    list->items = call_room(c, list->items, index, &list->capacity, sizeof(*list->items));
    list->sizes.items = call_room(c, list->sizes.items, index, &list->sizes.capacity, sizeof(*list->sizes.items));
    if (!list->items || !list->sizes.items)
        return false;
    list->items[index] = (WNNDimension){0};
    list->sizes.items[index] = 0;
    list->sizes.count++;
    return is_size ? convert_unsigned_long(c, item, what, RANGE_ENFORCE, &list->sizes.items[index])
                   : convert_string(c, item, &list->items[index].name);
}

/** Converts the shape of a descriptor, which may have names in calls of the draft's members. */
static bool convert_shape(struct call *c, napi_value value, WNNOperandDescriptor *out)
{
    struct dimensions list = {{NULL, 0, 0, RANGE_ENFORCE}, NULL, 0};

    if (c->member->flags & MEMBER_DRAFT ? !convert_sequence(c, value, "shape", take_dimension, &list)
                                        : !convert_unsigned_longs(c, value, "shape", RANGE_ENFORCE, &list.sizes))
        return false;
    out->rank = list.sizes.count;
    out->shape = list.sizes.items;
    out->dimensions = list.items;
    return true;
}

bool convert_operand_descriptor(struct call *c, napi_value value, WNNOperandDescriptor *out)
{
    napi_value member;

    *out = WNN_OPERAND_DESCRIPTOR_INIT;
    if (!dictionary_check(c, value, "the descriptor") || !dictionary_member(c, value, "dataType", &member))
        return false;
    if (!member)
        return throw_type(c, "the descriptor has no member dataType");
    if (!convert_data_type(c, member, "dataType", &out->dataType) || !dictionary_member(c, value, "shape", &member))
        return false;
    if (!member)
        return throw_type(c, "the descriptor has no member shape");
    return convert_shape(c, member, out);
}

bool convert_tensor_descriptor(struct call *c, napi_value value, WNNTensorDescriptor *out)
{
    WNNOperandDescriptor inherited;
    napi_value member;

    *out = WNN_TENSOR_DESCRIPTOR_INIT;
    if (!convert_operand_descriptor(c, value, &inherited))
        return false;
    out->dataType = inherited.dataType;
    out->rank = inherited.rank;
    out->shape = inherited.shape;
    return dictionary_member(c, value, "readable", &member) && (!member || convert_boolean(c, member, &out->readable)) &&
           dictionary_member(c, value, "writable", &member) && (!member || convert_boolean(c, member, &out->writable));
}

/* ---- records ---- */

/** Adds an entry, or gives an older one of the same name another value. */
static void record_set(struct record_entry *entries, size_t *count, struct record_entry added)
{
    /* Property keys differ; only those with characters that UTF-8 cannot hold can become the same. */
    for (size_t i = 0; i < *count && memmem(added.name.data, added.name.length, "\xEF\xBF\xBD", 3); i++)
        if (entries[i].name.length == added.name.length && !memcmp(entries[i].name.data, added.name.data, added.name.length)) {
            entries[i] = added;
            return;
        }
    entries[(*count)++] = added;
}

bool convert_record(struct call *c, napi_value value, enum interface interface, const char *what, struct record_entry **entries,
                    size_t *count)
{
    napi_value keys, key, item;
    uint32_t key_count;

    *count = 0;
    if (!is_object(c, value))
        return throw_type(c, "%s is not an object", what);
    keys = intrinsic_call(c->environment, INTRINSIC_OWN_KEYS, 1, &value);
    if (!keys || !succeeded(c->env, napi_get_array_length(c->env, keys, &key_count)))
        return false;
    *entries = call_allocate(c, key_count + 1, sizeof(**entries));
    if (!*entries)
        return false;
    for (uint32_t i = 0; i < key_count; i++) {
        napi_value pair[2], enumerable;
        struct record_entry entry = {.name = WNN_STRING_VIEW_INIT};
        bool is_enumerable;

        if (!succeeded(c->env, napi_get_element(c->env, keys, i, &key)))
            return false;
        pair[0] = value;
        pair[1] = key;
        enumerable = intrinsic_call(c->environment, INTRINSIC_IS_ENUMERABLE, 2, pair);
        if (!enumerable || !convert_boolean(c, enumerable, &is_enumerable))
            return false;
        if (!is_enumerable)
            continue;
        if (!convert_string(c, key, &entry.name) || !succeeded(c->env, napi_get_property(c->env, value, key, &item)))
            return false;
        entry.value = item;
        if (interface == RECORD_OF_STRINGS) {
            if (!convert_string(c, item, &entry.text))
                return false;
        } else if (interface != RECORD_OF_VALUES && !(entry.object = object_of(c->environment, item, interface))) {
            char path[128]; /* for the message alone: a dispatch converts records */

            snprintf(path, sizeof(path), "%s['%.*s']", what, (int)(entry.name.length < 64 ? entry.name.length : 64),
                     entry.name.data);
            return object_require(c, item, interface, path);
        }
        record_set(*entries, count, entry);
    }
    return true;
}
