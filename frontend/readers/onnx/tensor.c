/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes constants on the host of tensors of the file, initializers and tensor attributes, whose elements stand in raw_data, in
 * one of the typed lists, or in a file next to the model.
 *
 * Elements are held where they are if their form is the one that onnx_value has; otherwise (bool, types that are kept as wider
 * ones, small types in int32_data) they are converted.  Sizes are checked against the shape, files against their length, and a
 * file's path must lie in the model's folder: a model must not be able to read what its user did not mean to give it.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/readers/files/named_file.h"
#include "frontend/readers/files/map.h"
#include "frontend/readers/onnx/internal.h"
#include "ir/support/dtype.h"
#include "webnn/webnn_draft.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "raw_data is little-endian and used as it is");

/* ---- types ---- */

static const struct type_info {
    enum onnx_type type;
    const char *name;
    uint8_t size; /* on the host; 0: not kept */
    bool is_float, is_signed;
    WNNOperandDataType data_type;
    struct onnx_format format; /* without bits: elements are in files as they are on the host */
} types[] = {
    {ONNX_FLOAT, "float32", 4, true, false, WNNOperandDataType_Float32, {0}},
    {ONNX_UINT8, "uint8", 1, false, false, WNNOperandDataType_Uint8, {0}},
    {ONNX_INT8, "int8", 1, false, true, WNNOperandDataType_Int8, {0}},
    {ONNX_INT32, "int32", 4, false, true, WNNOperandDataType_Int32, {0}},
    {ONNX_INT64, "int64", 8, false, true, WNNOperandDataType_Int64, {0}},
    {ONNX_STRING, "string", 0, false, false, WNNOperandDataType_Undefined, {0}},
    {ONNX_BOOL, "bool", 1, false, false, WNNOperandDataType_Uint8, {.bits = 8}},
    {ONNX_FLOAT16, "float16", 2, true, false, WNNOperandDataType_Float16, {0}},
    {ONNX_DOUBLE, "float64", 8, true, false, DTYPE_FLOAT64, {0}},
    {ONNX_UINT32, "uint32", 4, false, false, WNNOperandDataType_Uint32, {0}},
    {ONNX_UINT64, "uint64", 8, false, false, WNNOperandDataType_Uint64, {0}},
    {14, "complex64", 0, false, false, WNNOperandDataType_Undefined, {0}},
    {15, "complex128", 0, false, false, WNNOperandDataType_Undefined, {0}},
    /* Types that are kept as others come after those (onnx_type_of). */
    {ONNX_UINT16, "uint16", 4, false, false, WNNOperandDataType_Int32, {.bits = 16}},
    {ONNX_INT16, "int16", 4, false, true, WNNOperandDataType_Int32, {.bits = 16}},
    {ONNX_UINT4, "uint4", 1, false, false, WNNOperandDataType_Uint8, {.bits = 4}},
    {ONNX_INT4, "int4", 1, false, true, WNNOperandDataType_Int8, {.bits = 4}},
    {25, "uint2", 1, false, false, WNNOperandDataType_Uint8, {.bits = 2}},
    {26, "int2", 1, false, true, WNNOperandDataType_Int8, {.bits = 2}},
    {ONNX_BFLOAT16, "bfloat16", 4, true, false, WNNOperandDataType_Float32, {16, 7, 127, ONNX_INFINITE, 0x1.fep127F}},
    {ONNX_FLOAT8E4M3FN, "float8e4m3fn", 4, true, false, WNNOperandDataType_Float32, {8, 3, 7, ONNX_FINITE, 448}},
    {18, "float8e4m3fnuz", 4, true, false, WNNOperandDataType_Float32, {8, 3, 8, ONNX_ONE_ZERO, 240}},
    {ONNX_FLOAT8E5M2, "float8e5m2", 4, true, false, WNNOperandDataType_Float32, {8, 2, 15, ONNX_INFINITE, 57344}},
    {20, "float8e5m2fnuz", 4, true, false, WNNOperandDataType_Float32, {8, 2, 16, ONNX_ONE_ZERO, 57344}},
    {23, "float4e2m1", 4, true, false, WNNOperandDataType_Float32, {4, 1, 1, ONNX_NUMBERS, 6}},
    {ONNX_FLOAT8E8M0, "float8e8m0", 4, true, false, WNNOperandDataType_Float32, {8, 0, 127, ONNX_POWERS, 0x1p127F}},
};

static const struct type_info *info_of(enum onnx_type type)
{
    static const struct type_info unknown = {
        ONNX_UNDEFINED, "an unknown type", 0, false, false, WNNOperandDataType_Undefined, {0}};

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (types[i].type == type)
            return &types[i];
    return &unknown;
}

const char *onnx_type_name(enum onnx_type type)
{
    return info_of(type)->name;
}

WNNOperandDataType onnx_data_type(enum onnx_type type)
{
    return info_of(type)->data_type;
}

enum onnx_type onnx_type_of(WNNOperandDataType type)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (types[i].data_type == type && type != WNNOperandDataType_Undefined)
            return types[i].type;
    return ONNX_UNDEFINED;
}

size_t onnx_type_size(enum onnx_type type)
{
    return info_of(type)->size;
}

bool onnx_type_is_float(enum onnx_type type)
{
    return info_of(type)->is_float;
}

bool onnx_type_is_signed(enum onnx_type type)
{
    return info_of(type)->is_signed;
}

const struct onnx_format *onnx_format_of(enum onnx_type type)
{
    const struct onnx_format *format = &info_of(type)->format;

    return format->bits ? format : NULL;
}

uint32_t onnx_type_bits(enum onnx_type type)
{
    const struct type_info *info = info_of(type);

    return info->format.bits < 8 && !info->is_float ? info->format.bits : 0;
}

WNNOperandDataType onnx_draft_type(enum onnx_type type)
{
    return type == ONNX_BFLOAT16       ? WNNOperandDataType_Bfloat16
           : type == ONNX_FLOAT8E4M3FN ? WNNOperandDataType_Float8E4M3
           : type == ONNX_FLOAT8E5M2   ? WNNOperandDataType_Float8E5M2
                                       : WNNOperandDataType_Undefined;
}

/** Returns the bytes that so many elements take in a file. */
static size_t file_bytes(enum onnx_type type, size_t count)
{
    const struct onnx_format *f = onnx_format_of(type);

    return f ? (count * f->bits + 7) / 8 : count * onnx_type_size(type);
}

/* ---- files next to the model ---- */

/** Reads a number in an external_data entry. */
static bool parse_number(struct onnx_reader *r, const char *key, const char *text, uint64_t *value)
{
    char *end;

    errno = 0;
    *value = strtoull(text, &end, 10);
    if (errno || end == text || *end || text[0] < '0' || text[0] > '9' || *value > INT64_MAX)
        return onnx_fail(r, "external data: %s \"%s\" is not a size", key, onnx_escape(r, text));
    return true;
}

/** Opens a file in the model's folder.  -1: failed. */
static int open_descriptor(struct onnx_reader *r, const char *location)
{
    const char *slash = strrchr(r->path, '/'), *why;
    char *folder = strndup(r->path, slash ? (size_t)(slash - r->path) + 1 : 0);
    int file = -1;

    if (!folder)
        onnx_fail_memory(r);
    else if ((file = named_file_open(folder, location, &why)) < 0)
        onnx_fail(r, "external data \"%s\": %s", onnx_escape(r, location), why);
    free(folder);
    return file;
}

/** Returns a file next to the model, mapped once for all tensors in it, whatever they call it, or NULL if the reader failed. */
static struct file_map *open_external(struct onnx_reader *r, const char *location)
{
    enum { KEY_BYTES = 64 };
    int file = open_descriptor(r, location);
    struct onnx_external *e = NULL;
    char key[KEY_BYTES];
    struct stat s;

    if (file < 0)
        return NULL;
    if (fstat(file, &s) != 0) {
        onnx_fail(r, "external data \"%s\": %s", onnx_escape(r, location), strerror(errno));
        close(file);
        return NULL;
    }
    snprintf(key, sizeof key, "%llx:%llx", (unsigned long long)s.st_dev, (unsigned long long)s.st_ino);
    e = onnx_map_get(&r->external_by_path, key, NULL);
    if (e) {
        close(file);
        return e->map;
    }
    e = onnx_reader_alloc(r, 1, sizeof *e + KEY_BYTES);
    if (!e || !file_map_descriptor(file, location, &e->map, NULL)) {
        if (e)
            onnx_fail(r, "external data \"%s\" cannot be read", onnx_escape(r, location));
        close(file);
        return NULL;
    }
    close(file);
    memcpy(e->key, key, sizeof key);
    e->next = r->external;
    r->external = e;
    if (onnx_map_add(&r->external_by_path, e->key, e) == NAME_MAP_OUT_OF_MEMORY) {
        onnx_fail_memory(r);
        return NULL;
    }
    model_add_source(r->model, file_map_length(e->map));
    return e->map;
}

/** Returns the bytes of a tensor that is in a file next to the model, and that file, or NULL if the reader failed. */
static const unsigned char *read_external(struct onnx_reader *r, const Onnx__TensorProto *t, const char *what, size_t bytes,
                                          struct file_map **map)
{
    const char *location = NULL;
    uint64_t offset = 0, length = 0;
    bool has_length = false;

    for (size_t i = 0; i < t->n_external_data; i++) {
        const Onnx__StringStringEntryProto *e = t->external_data[i];
        const char *key = e->key ? e->key : "", *value = e->value ? e->value : "";

        if (!strcmp(key, "location"))
            location = value;
        else if (!strcmp(key, "offset")) {
            if (!parse_number(r, key, value, &offset))
                return NULL;
        } else if (!strcmp(key, "length")) {
            if (!parse_number(r, key, value, &length))
                return NULL;
            has_length = true;
        } else if (strcmp(key, "checksum") != 0 && strcmp(key, "basepath") != 0) {
            return onnx_fail_null(r, "%s: external data have an unknown entry \"%s\"", what, onnx_escape(r, key));
        }
    }
    if (!location)
        return onnx_fail_null(r, "%s: external data without a location", what);
    if (has_length && length != bytes)
        return onnx_fail_null(r, "%s: its shape needs %zu bytes, external data have %llu", what, bytes,
                              (unsigned long long)length);
    *map = open_external(r, location);
    if (!*map)
        return NULL;
    if (offset <= file_map_length(*map) && bytes <= file_map_length(*map) - offset)
        return (const unsigned char *)file_map_data(*map) + offset;
    return onnx_fail_null(r, "%s: %zu bytes at offset %llu of \"%s\", which has %zu", what, bytes, (unsigned long long)offset,
                          onnx_escape(r, location), file_map_length(*map));
}

/* ---- elements ---- */

/** Finds the bytes of a tensor's raw_data: in the file, or (short ones) in the message. */
static bool find_raw(struct onnx_reader *r, const Onnx__TensorProto *t, const char *what, const unsigned char **raw,
                     size_t *bytes)
{
    struct onnx_wire_reference reference;

    *raw = t->raw_data.data;
    *bytes = t->raw_data.len;
    if (*bytes < sizeof reference)
        return true;
    /* A file can be so broken that what looks like a reference is none. */
    memcpy(&reference, *raw, sizeof reference);
    if (*bytes != sizeof reference || reference.offset > r->length || reference.length > r->length - reference.offset)
        return onnx_fail(r, "%s: its data are damaged", what);
    *raw = r->bytes + reference.offset;
    *bytes = (size_t)reference.length;
    return true;
}

/**
 * Lets v be elements of a file: read where they are if they are aligned, lent to the builder in any case.  map is NULL if the
 * file is not there for long enough.
 */
static bool from_file(struct onnx_reader *r, struct onnx_value *v, struct file_map *map, const unsigned char *raw, size_t bytes)
{
    bool lent = map && bytes >= LEND_BYTES;

    v->file = lent ? raw : NULL;
    v->map = lent ? map : NULL;
    if ((uintptr_t)raw % onnx_type_size(v->type) == 0 || lent) {
        v->data = (uintptr_t)raw % onnx_type_size(v->type) == 0 ? raw : NULL; /* onnx_value_compute moves them if it must */
        return true;
    }
    void *data = onnx_reader_alloc(r, bytes + 1, 1);
    if (data)
        memcpy(data, raw, bytes);
    v->data = data;
    return data != NULL;
}

/** Returns the number that the bits of a floating-point type stand for. */
static float decode(const struct onnx_format *f, uint32_t bits)
{
    const uint32_t sign = bits >> (f->bits - 1), rest = bits & ((1u << (f->bits - 1)) - 1), most = (1u << (f->bits - 1)) - 1;
    const uint32_t exponent = rest >> f->mantissa, fraction = rest & ((1u << f->mantissa) - 1);
    float x;

    if (f->special == ONNX_POWERS)
        return bits == UINT8_MAX ? NAN : ldexpf(1, (int)bits - f->bias);
    if ((f->special == ONNX_FINITE && rest == most) || (f->special == ONNX_ONE_ZERO && sign && !rest))
        return NAN;
    if (f->special == ONNX_INFINITE && exponent == most >> f->mantissa)
        x = fraction ? NAN : INFINITY;
    else
        x = ldexpf((float)(exponent ? fraction | 1u << f->mantissa : fraction),
                   (exponent ? (int)exponent : 1) - f->bias - f->mantissa);
    return sign ? -x : x;
}

const void *onnx_from_raw(struct onnx_reader *r, enum onnx_type type, const void *bytes, size_t count)
{
    const unsigned char *raw = bytes;
    const struct onnx_format *f = onnx_format_of(type);

    if (!f)
        return raw;
    unsigned char *data = onnx_reader_alloc(r, count + 1, onnx_type_size(type));
    for (size_t i = 0; data && i < count; i++) {
        const uint32_t bits = f->bits == 16 ? raw[2 * i] | (uint32_t)raw[2 * i + 1] << 8
                                            : (uint32_t)raw[i * f->bits / 8] >> (i * f->bits % 8) & ((1u << f->bits) - 1);

        if (onnx_type_is_float(type))
            onnx_store(type, data, i, (double)decode(f, bits));
        else
            onnx_store_int(type, data, i, bits);
    }
    return data;
}

/** Lets v be elements of raw bytes in a file that is mapped, or NULL: those of a data type of the draft and integers of fewer
 * than 8 bits stay there if they are many. */
static bool set_raw(struct onnx_reader *r, struct onnx_value *v, struct file_map *map, const unsigned char *raw, size_t bytes)
{
    if (!onnx_format_of(v->type))
        return from_file(r, v, map, raw, bytes);
    v->raw = map && bytes >= LEND_BYTES && (onnx_draft_type(v->type) || onnx_type_bits(v->type)) ? raw : NULL;
    v->map = v->raw ? map : NULL;
    v->data = v->raw ? NULL : onnx_from_raw(r, v->type, raw, (size_t)onnx_elements(v));
    return v->raw || v->data;
}

/** Returns the elements of the list that a type stands in; it must be as long as the shape asks for. */
static const void *from_list(struct onnx_reader *r, const Onnx__TensorProto *t, enum onnx_type type, const char *what,
                             size_t count)
{
    const struct onnx_format *f = onnx_format_of(type);
    size_t have, want = f && f->bits < 8 ? file_bytes(type, count) : count, size = onnx_type_size(type);

    switch (type) {
    case ONNX_FLOAT:
        have = t->n_float_data;
        break;
    case ONNX_DOUBLE:
        have = t->n_double_data;
        break;
    case ONNX_INT64:
        have = t->n_int64_data;
        break;
    case ONNX_UINT32:
    case ONNX_UINT64:
        have = t->n_uint64_data;
        break;
    default:
        have = t->n_int32_data;
    }
    if (have != want)
        return onnx_fail_null(r, "%s: its shape needs %zu elements, the file has %zu", what, want, have);
    if (type == ONNX_FLOAT && count)
        return t->float_data;
    if (type == ONNX_DOUBLE && count)
        return t->double_data;
    if (type == ONNX_INT64 && count)
        return t->int64_data;
    if (type == ONNX_UINT64 && count)
        return t->uint64_data;
    unsigned char *data = onnx_reader_alloc(r, count + 1, size);
    if (!data || !count)
        return data;
    const size_t bytes = f ? file_bytes(type, count) / want : size; /* of an entry of the list: its low ones */
    for (size_t i = 0; i < want; i++)
        if (type == ONNX_UINT32)
            memcpy(data + i * size, &(uint32_t){(uint32_t)t->uint64_data[i]}, size);
        else
            memcpy(data + i * bytes, &t->int32_data[i], bytes); /* also float16, which stands as its bits */
    return onnx_from_raw(r, type, data, count);
}

struct onnx_value *onnx_read_tensor(struct onnx_reader *r, const Onnx__TensorProto *t, const char *what)
{
    enum onnx_type type = (enum onnx_type)t->data_type;
    size_t size = onnx_type_size(type), count, bytes;

    if (t->segment)
        return onnx_fail_null(r, "%s: tensors in segments are not supported", what);
    if (t->n_dims <= ONNX_RANK_MAX && !onnx_dims_fit(t->n_dims, t->dims))
        return onnx_fail_null(r, "%s: its shape has a negative size, or more than 2^31-1 elements", what);
    struct onnx_value *v = onnx_value_create(r, type, t->n_dims <= ONNX_RANK_MAX ? t->n_dims : 0, t->dims);
    if (!v)
        return NULL;
    v->is_static = true;
    count = (size_t)onnx_elements(v);
    if (!size) {
        char *reason = onnx_reader_alloc(r, 100, 1);

        if (reason)
            snprintf(reason, 100, "is of type %s, which WebNN does not have", onnx_type_name(type));
        v->refusal = reason;
        return reason ? v : NULL;
    }
    if (t->n_dims > ONNX_RANK_MAX) {
        v->refusal = "has more dimensions than an operand may have";
        return v;
    }
    bytes = file_bytes(type, count);
    if (t->data_location == 1) {
        struct file_map *map;
        const unsigned char *raw = read_external(r, t, what, bytes, &map);

        if (raw && bytes)
            return set_raw(r, v, map, raw, bytes) ? v : NULL;
        v->data = raw ? onnx_reader_alloc(r, 1, 1) : NULL;
    } else if (t->has_raw_data) {
        const unsigned char *raw;
        size_t have;

        if (!find_raw(r, t, what, &raw, &have))
            return NULL;
        if (have != bytes)
            return onnx_fail_null(r, "%s: its shape needs %zu bytes, the file has %zu", what, bytes, have);
        if (bytes)
            return set_raw(r, v, r->map, raw, bytes) ? v : NULL;
        v->data = onnx_reader_alloc(r, 1, 1);
    } else {
        v->data = from_list(r, t, type, what, count);
    }
    return v->data ? v : NULL;
}
