/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Converts JavaScript values to the types of the IDL, as Web IDL defines them.  `what` names a value in messages.  Functions
 * that return bool return false with an exception pending if the value does not convert.
 */
#pragma once

#include "frontend/node/addon.h"

/** Describes how the range of an integer type is checked. */
enum range { RANGE_ENFORCE, RANGE_MODULAR };

/** Converts to unsigned long, with or without [EnforceRange]. */
bool convert_unsigned_long(struct call *c, napi_value value, const char *what, enum range range, uint32_t *out);
/** Converts to [EnforceRange] unsigned long long, which a size_t holds. */
bool convert_bytes(struct call *c, napi_value value, const char *what, size_t *out);
/** Converts to [EnforceRange] long. */
bool convert_long(struct call *c, napi_value value, const char *what, int32_t *out);
/** Converts to double, which is finite. */
bool convert_double(struct call *c, napi_value value, const char *what, double *out);
/** Converts to float, which is finite after rounding. */
bool convert_float(struct call *c, napi_value value, const char *what, double *out);
/** Converts to boolean. */
static inline bool convert_boolean(struct call *c, napi_value value, bool *out)
{
    return succeeded(c->env, napi_coerce_to_bool(c->env, value, &value)) &&
           succeeded(c->env, napi_get_value_bool(c->env, value, out));
}
/** Converts to (bigint or unrestricted double). */
bool convert_number(struct call *c, napi_value value, WNNNumber *out);
/** Converts to USVString, or to DOMString where it makes no difference: UTF-8 that is freed after the call. */
bool convert_string(struct call *c, napi_value value, WNNStringView *out);
/** Converts the name of a file, which C functions take as a string that ends with a NUL. */
bool convert_path(struct call *c, napi_value value, const char *what, const char **path);
/** Converts to an enumeration: *out is the index of the string in values, which ends with NULL. */
bool convert_enumeration(struct call *c, napi_value value, const char *what, const char *const *values, size_t *out);
/** Converts to MLOperandDataType. */
bool convert_data_type(struct call *c, napi_value value, const char *what, WNNOperandDataType *out);

/** Returns whether value is an Object in the sense of ECMAScript. */
bool is_object(struct call *c, napi_value value);
/** Returns whether value is undefined or null. */
bool is_nullish(struct call *c, napi_value value);

/** Takes one item of a sequence, which messages call `what`: "sizes[1]".  Returns false with an exception pending to stop. */
typedef bool (*item_function)(struct call *c, napi_value item, const char *what, void *user);
/** Converts to sequence<T>: calls take for every item while the iterator runs. */
bool convert_sequence(struct call *c, napi_value value, const char *what, item_function take, void *user);
/** Finds the method that makes an object a sequence in a union; *method is NULL if there is none. */
bool iterator_method(struct call *c, napi_value value, napi_value *method);
/** Does what convert_sequence does, with the method found before. */
bool convert_iterable(struct call *c, napi_value value, napi_value method, const char *what, item_function take, void *user);

/** Holds a growing list of numbers. */
struct unsigned_longs {
    uint32_t *items;
    size_t count, capacity;
    enum range range;
};
/** Converts to sequence<unsigned long>. */
bool convert_unsigned_longs(struct call *c, napi_value value, const char *what, enum range range, struct unsigned_longs *out);

/** Checks that a dictionary is an Object, or nullish, which stands for one without members. */
static inline bool dictionary_check(struct call *c, napi_value dictionary, const char *what)
{
    return is_nullish(c, dictionary) || is_object(c, dictionary) || throw_type(c, "%s is not an object", what);
}
/** Refuses members that are not in the list, which ends with NULL, so that a misspelt one is an error. */
bool dictionary_has_only(struct call *c, napi_value dictionary, const char *const *known);
/** Reads a member of such a dictionary; *value is NULL if it is undefined. */
bool dictionary_member(struct call *c, napi_value dictionary, const char *name, napi_value *value);

/** Converts to MLOperandDescriptor (in a member of the draft: MLInputOperandDescriptor) or to MLTensorDescriptor, whose shape
 * is freed after the call. */
bool convert_operand_descriptor(struct call *c, napi_value value, WNNOperandDescriptor *out);
bool convert_tensor_descriptor(struct call *c, napi_value value, WNNTensorDescriptor *out);

/** Holds one entry of a record: its value, and what that was converted to. */
struct record_entry {
    WNNStringView name;
    napi_value value;
    struct object *object;
    WNNStringView text;
};
/** Stands in place of an interface for records of strings, and of values that are converted later. */
#define RECORD_OF_STRINGS INTERFACE_COUNT
#define RECORD_OF_VALUES (INTERFACE_COUNT + 1)
/** Converts to record<USVString, T>, of interfaces or of these; of keys that become the same the last one counts. */
bool convert_record(struct call *c, napi_value value, enum interface interface, const char *what, struct record_entry **entries,
                    size_t *count);

/** Describes an AllowSharedBufferSource.  data is valid until JavaScript runs again. */
struct buffer_source {
    napi_value value;
    uint8_t *data; /* not NULL, unless it is detached */
    size_t length;
    char class_name[24]; /* "ArrayBuffer", "Float32Array", ... */
};
/** Checks that value is a buffer source.  buffer_bytes asks for its bytes once nothing else is converted. */
bool convert_buffer_source(struct call *c, napi_value value, const char *what, struct buffer_source *out);
/** Finds where the bytes are; a detached buffer has none.  It needs no call, since completions have none. */
bool buffer_bytes(struct environment *e, napi_value value, struct buffer_source *out);
/** Returns whether a view of this class may hold elements of a data type (specification, "validate buffer with descriptor"). */
bool buffer_fits_type(const struct buffer_source *buffer, WNNOperandDataType type);
/** Checks that, and that the buffer is not detached, after buffer_bytes. */
bool buffer_check(struct call *c, const struct buffer_source *buffer, const char *what, WNNOperandDataType type);
