/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads and writes NumPy .npy files: a magic number, a version, a Python dictionary as text, then the elements. */
#include "frontend/readers/files/npy.h"

#include <stdlib.h>

#include "frontend/readers/files/element.h"
#include "frontend/readers/files/file.h"

static const char magic[6] = {'\x93', 'N', 'U', 'M', 'P', 'Y'};

/* float64 is float32 after reading. */
#define FLOAT64 "<f8"

static const struct {
    const char *descr;
    WNNOperandDataType type;
} types[] = {
    {"<f4", WNNOperandDataType_Float32},   {"<f2", WNNOperandDataType_Float16}, {"<i4", WNNOperandDataType_Int32},
    {"<u4", WNNOperandDataType_Uint32},    {"<i8", WNNOperandDataType_Int64},   {"<u8", WNNOperandDataType_Uint64},
    {"|i1", WNNOperandDataType_Int8},      {"|u1", WNNOperandDataType_Uint8},   {"|b1", WNNOperandDataType_Uint8},
    {FLOAT64, WNNOperandDataType_Float32},
};

/* Returns the text after "'key':" in a header of length bytes, NULL if the key is missing. */
static const char *find_key(const char *header, size_t length, const char *key)
{
    size_t n = strlen(key);
    const char *end = header + length;

    for (const char *p = header; p + n + 3 <= end; p++) {
        if ((*p != '\'' && *p != '"') || memcmp(p + 1, key, n) || p[n + 1] != *p)
            continue;
        for (p += n + 2; p < end && (*p == ' ' || *p == ':'); p++)
            ;
        return p < end ? p : NULL;
    }
    return NULL;
}

/* Returns the bytes of an element as the file has it. */
static size_t element_in_file(const struct npy_array *array)
{
    return array->from_float64 ? sizeof(double) : wnnOperandDataTypeGetByteSize(array->dataType);
}

static bool parse_header(const char *header, size_t length, const char *name, struct npy_array *array, bool *fortran,
                         struct error *e)
{
    char buf[64];
    const char *end = header + length;
    const char *descr = find_key(header, length, "descr");
    const char *order = find_key(header, length, "fortran_order");
    const char *shape = find_key(header, length, "shape");
    size_t elements = 1;

    if (!descr || !order || !shape || *shape != '(')
        return file_error(e, "%s: the .npy header lacks descr, fortran_order or shape", PATH_SHOWN(name));
    *fortran = end - order >= 4 && memcmp(order, "True", 4) == 0;
    array->dataType = WNNOperandDataType_Undefined;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (end - descr >= 5 && memcmp(descr + 1, types[i].descr, 3) == 0)
            array->dataType = types[i].type;
    array->from_float64 = end - descr >= 5 && memcmp(descr + 1, FLOAT64, 3) == 0;
    if (!array->dataType)
        return file_error(e, "%s: element type %s is not a data type of WebNN (little-endian)", PATH_SHOWN(name),
                          escape_text(buf, sizeof buf, descr, end - descr < 5 ? (size_t)(end - descr) : 5));

    array->rank = 0;
    for (const char *p = shape + 1; p < end && *p != ')';) {
        uint64_t dim = 0;

        if (*p == ' ' || *p == ',') {
            p++;
            continue;
        }
        if (*p < '0' || *p > '9')
            return file_error(e, "%s: the shape in the .npy header is not a tuple of numbers", PATH_SHOWN(name));
        for (; p < end && *p >= '0' && *p <= '9'; p++) {
            dim = dim * 10 + (uint64_t)(*p - '0');
            if (dim > INT32_MAX)
                return file_error(e, "%s: a dimension in the .npy header is above 2147483647", PATH_SHOWN(name));
        }
        if (array->rank == NPY_RANK_MAX)
            return file_error(e, "%s: more than %d dimensions", PATH_SHOWN(name), NPY_RANK_MAX);
        array->shape[array->rank++] = (uint32_t)dim;
        if (dim && elements > SIZE_MAX / 8 / dim)
            return file_error(e, "%s: the array is too large", PATH_SHOWN(name));
        elements *= dim;
    }
    array->byteLength = elements * element_in_file(array);
    return true;
}

/** Copies elements whose first index runs fastest into the order in which the last one does. */
static void copy_fortran(const struct npy_array *array, const uint8_t *from)
{
    size_t element = element_in_file(array), count = array->byteLength / element, at = 0;
    size_t strides[NPY_RANK_MAX], index[NPY_RANK_MAX] = {0};
    uint8_t *to = array->data;

    for (size_t d = 0, stride = element; d < array->rank; d++) {
        strides[d] = stride;
        stride *= array->shape[d];
    }
    for (size_t i = 0; i < count; i++) {
        memcpy(to + i * element, from + at, element);
        for (size_t d = array->rank; d-- > 0;) {
            at += strides[d];
            if (++index[d] < array->shape[d])
                break;
            at -= strides[d] * array->shape[d];
            index[d] = 0;
        }
    }
}

/* Rounds float64 elements in place to float32. */
static void narrow(struct npy_array *array)
{
    size_t count = array->byteLength / sizeof(double);
    double wide;

    if (!array->from_float64)
        return;
    for (size_t i = 0; i < count; i++) {
        memcpy(&wide, (const char *)array->data + i * sizeof wide, sizeof wide);
        memcpy((char *)array->data + i * sizeof(float), &(float){(float)wide}, sizeof(float));
    }
    array->byteLength = count * sizeof(float);
}

bool npy_head_length(const void *bytes, size_t length, const char *name, size_t *head, struct error *e)
{
    const uint8_t *p = bytes;
    size_t start, header;

    *head = 0;
    if (length < 10 || memcmp(p, magic, sizeof magic))
        return file_error(e, "%s: no .npy file", PATH_SHOWN(name));
    if (p[6] < 1 || p[6] > 3)
        return file_error(e, "%s: .npy version %u is not supported", PATH_SHOWN(name), p[6]);
    start = p[6] == 1 ? 10 : NPY_HEAD_MIN;
    if (length < start)
        return file_error(e, "%s: truncated .npy header", PATH_SHOWN(name));
    header = (size_t)p[8] | (size_t)p[9] << 8;
    if (start == NPY_HEAD_MIN)
        header |= (size_t)p[10] << 16 | (size_t)p[11] << 24;
    if (header > NPY_HEAD_MAX - start)
        return file_error(e, "%s: an .npy header of %zu bytes", PATH_SHOWN(name), header);
    *head = start + header;
    return true;
}

bool npy_parse_head(const void *bytes, size_t head, const char *name, struct npy_array *array, bool *fortran, struct error *e)
{
    const uint8_t *p = bytes;
    size_t start = p[6] == 1 ? 10 : NPY_HEAD_MIN;

    memset(array, 0, sizeof *array);
    if (parse_header((const char *)p + start, head - start, name, array, fortran, e))
        return true;
    memset(array, 0, sizeof *array);
    return false;
}

bool npy_create(const WNNOperandDescriptor *d, struct npy_array *array, struct error *e)
{
    *array = (struct npy_array){0};
    if (d->rank > NPY_RANK_MAX)
        return file_error(e, "a tensor has %zu dimensions, more than %d", d->rank, NPY_RANK_MAX);
    array->dataType = d->dataType;
    array->rank = d->rank;
    array->byteLength = wnnOperandDataTypeGetByteSize(d->dataType);
    for (size_t i = 0; i < d->rank; i++)
        array->byteLength *= array->shape[i] = d->shape[i]; /* at most 2^31-1 elements */
    array->data = calloc(array->byteLength ? array->byteLength : 1, 1);
    return array->data || error_out_of_memory(e);
}

bool npy_alloc(struct npy_array *array, const char *name, struct error *e)
{
    array->data = malloc(array->byteLength ? array->byteLength : 1);
    if (array->data)
        return true;
    memset(array, 0, sizeof *array);
    return file_error(e, "%s: out of memory", PATH_SHOWN(name));
}

bool npy_order(struct npy_array *array, bool fortran, const char *name, struct error *e)
{
    void *from = array->data;

    if (!fortran || array->rank < 2) {
        narrow(array);
        return true;
    }
    if (!npy_alloc(array, name, e)) {
        free(from);
        return false;
    }
    copy_fortran(array, from);
    narrow(array);
    free(from);
    return true;
}

bool npy_parse(const void *bytes, size_t length, const char *name, struct npy_array *array, struct error *e)
{
    bool fortran = false;
    size_t head;

    memset(array, 0, sizeof *array);
    if (!npy_head_length(bytes, length, name, &head, e))
        return false;
    if (head > length)
        return file_error(e, "%s: truncated .npy header", PATH_SHOWN(name));
    if (!npy_parse_head(bytes, head, name, array, &fortran, e))
        return false;
    if (array->byteLength > length - head) {
        file_error(e, "%s: %zu bytes of elements, %zu expected", PATH_SHOWN(name), length - head, array->byteLength);
        memset(array, 0, sizeof *array);
        return false;
    }
    if (!npy_alloc(array, name, e))
        return false;
    if (fortran && array->rank > 1)
        copy_fortran(array, (const uint8_t *)bytes + head);
    else
        memcpy(array->data, (const uint8_t *)bytes + head, array->byteLength);
    narrow(array);
    return true;
}

bool npy_read_named(const char *folder, const char *name, struct npy_array *array, struct error *e)
{
    char *bytes;
    size_t length;

    memset(array, 0, sizeof *array);
    if (!(folder ? file_read_named(folder, name, &bytes, &length, e) : file_read(name, &bytes, &length, e)))
        return false;
    bool ok = npy_parse(bytes, length, name, array, e);
    if (ok && folder && array->from_float64) {
        npy_free(array);
        ok = file_error(e, "%s: element type float64 is not supported; save it as the model's type", PATH_SHOWN(name));
    }
    free(bytes);
    return ok;
}

bool npy_read(const char *path, struct npy_array *array, struct error *e)
{
    return npy_read_named(NULL, path, array, e);
}

bool npy_convert(struct npy_array *array, WNNOperandDataType type, struct error *e)
{
    size_t count = npy_elements(array), bytes = count * wnnOperandDataTypeGetByteSize(type);

    if (array->dataType == type)
        return true;
    if (element_is_float(array->dataType) && !element_is_float(type))
        return file_error(e, "%s numbers are not converted to %s", wnnOperandDataTypeGetName(array->dataType),
                          wnnOperandDataTypeGetName(type));
    void *data = malloc(bytes ? bytes : 1);
    if (!data)
        return file_error(e, "out of memory");
    for (size_t i = 0; i < count; i++)
        if (!element_convert(array->dataType, array->data, type, data, i)) {
            free(data);
            return file_error(e, "element %zu is %.0f, which %s cannot hold", i, element_get(array->dataType, array->data, i),
                              wnnOperandDataTypeGetName(type));
        }
    free(array->data);
    array->data = data;
    array->dataType = type;
    array->byteLength = bytes;
    return true;
}

bool npy_format(const struct npy_array *array, const char *name, void **out, size_t *length, struct error *e)
{
    char header[512];
    const char *descr = NULL;
    size_t n, total;

    *out = NULL;
    for (size_t i = sizeof types / sizeof *types; i-- > 0;)
        if (types[i].type == array->dataType && strcmp(types[i].descr, "|b1") && strcmp(types[i].descr, FLOAT64))
            descr = types[i].descr;
    if (!descr)
        return file_error(e, "%s: the array has no data type", PATH_SHOWN(name));
    n = (size_t)snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    for (size_t i = 0; i < array->rank; i++)
        n += (size_t)snprintf(header + n, sizeof header - n, "%u,%s", array->shape[i], i + 1 < array->rank ? " " : "");
    n += (size_t)snprintf(header + n, sizeof header - n, "), }");
    /* The elements start at a multiple of 64 bytes; the header ends with a newline. */
    total = (10 + n + 1 + 63) / 64 * 64;
    char *bytes = malloc(total + array->byteLength);
    if (!bytes)
        return file_error(e, "%s: out of memory", PATH_SHOWN(name));
    memset(bytes, ' ', total);
    memcpy(bytes, magic, sizeof magic);
    bytes[6] = 1;
    bytes[7] = 0;
    bytes[8] = (char)((total - 10) & 0xFF);
    bytes[9] = (char)((total - 10) >> 8);
    memcpy(bytes + 10, header, n);
    bytes[total - 1] = '\n';
    memcpy(bytes + total, array->data, array->byteLength);
    *out = bytes;
    *length = total + array->byteLength;
    return true;
}

bool npy_write(const char *path, const struct npy_array *array, struct error *e)
{
    size_t length;
    void *bytes;
    bool ok = npy_format(array, path, &bytes, &length, e) && file_write(path, bytes, length, e);

    free(bytes);
    return ok;
}

void npy_free(struct npy_array *array)
{
    free(array->data);
    memset(array, 0, sizeof *array);
}

size_t npy_elements(const struct npy_array *array)
{
    size_t size = wnnOperandDataTypeGetByteSize(array->dataType);

    return size ? array->byteLength / size : 0;
}

WNNOperandDescriptor npy_descriptor(const struct npy_array *array)
{
    return (WNNOperandDescriptor){array->dataType, array->rank, array->shape, NULL};
}

void npy_cut(struct npy_array *array, size_t d, size_t count)
{
    size_t outer = 1, inner = wnnOperandDataTypeGetByteSize(array->dataType);
    char *data = array->data;

    if (d >= array->rank || count >= array->shape[d])
        return;
    for (size_t i = 0; i < array->rank; i++) {
        outer *= i < d ? array->shape[i] : 1;
        inner *= i > d ? array->shape[i] : 1;
    }
    for (size_t i = 0; i < outer; i++)
        memmove(data + i * count * inner, data + i * array->shape[d] * inner, count * inner);
    array->shape[d] = (uint32_t)count;
    array->byteLength = outer * count * inner;
}
