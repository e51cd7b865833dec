/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* JSON of the validation data as the values that Web IDL makes of them: names, numbers, shapes, typed arrays. */
#include "wpt/validation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *allocate(size_t size)
{
    void *p = calloc(1, size ? size : 1);

    if (!p) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return p;
}

/* ---- JSON ---- */

/* cJSON's strings end at a NUL, but names in the data contain some: the reader puts a private-use character in their place,
 * which here becomes a NUL again. */
#define NUL_MARK "\xEE\x80\x80"

char *read_text(const char *path)
{
    FILE *f = fopen(path, "rb");
    char *text, *at;

    if (!f)
        return NULL;
    fseek(f, 0, SEEK_END);
    long size = ftell(f);
    rewind(f);
    text = allocate((size_t)size + 1);
    if (fread(text, 1, (size_t)size, f) != (size_t)size)
        text[0] = 0;
    fclose(f);
    for (at = text; (at = strstr(at, "\\u0000")); at += 6)
        at[2] = 'e';
    return text;
}

WNNStringView view(const char *text, char *buf, size_t size)
{
    size_t length = 0;

    while (*text && length + 1 < size)
        if (!strncmp(text, NUL_MARK, 3)) {
            buf[length++] = 0;
            text += 3;
        } else {
            buf[length++] = *text++;
        }
    buf[length] = 0;
    return (WNNStringView){buf, length};
}

const char *text_of(const cJSON *object, const char *name)
{
    const cJSON *m = member(object, name);

    return cJSON_IsString(m) ? m->valuestring : "";
}

int index_of(const cJSON *object, const char *name, int count, int missing)
{
    const cJSON *m = member(object, name);

    if (!m)
        return missing;
    if (!cJSON_IsNumber(m) || m->valuedouble < 0 || m->valuedouble >= count) {
        fprintf(stderr, "\"%s\" is out of the range that this program has room for\n", name);
        exit(1);
    }
    return m->valueint;
}

static bool special_number(const char *text, double *value)
{
    static const struct {
        const char *name;
        double value;
    } names[] = {{"NaN", NAN}, {"Infinity", INFINITY}, {"-Infinity", -INFINITY}, {"-0", -0.0}};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (!strcmp(text, names[i].name)) {
            *value = names[i].value;
            return true;
        }
    return false;
}

static WNNNumber bigint(const char *text)
{
    return text[0] == '-' ? wnnNumberInt64(strtoll(text, NULL, 10)) : wnnNumberUint64(strtoull(text, NULL, 10));
}

WNNMethodValue to_value(struct run *r, const cJSON *json)
{
    double number;

    if (cJSON_IsNumber(json))
        return wnnMethodValueNumber(wnnNumber(json->valuedouble));
    if (cJSON_IsBool(json))
        return wnnMethodValueBool(cJSON_IsTrue(json));
    if (cJSON_IsString(json))
        return special_number(json->valuestring, &number) ? wnnMethodValueNumber(wnnNumber(number))
                                                          : wnnMethodValueString(WNN_STR(json->valuestring));
    if (cJSON_IsArray(json)) {
        size_t count = (size_t)cJSON_GetArraySize(json), first = r->value_count, i = 0;
        const cJSON *item;

        if (count > VALUES_MAX - first) {
            fprintf(stderr, "a list is too long for this program\n");
            exit(1);
        }
        r->value_count += count;
        cJSON_ArrayForEach(item, json) r->values[first + i++] = to_value(r, item);
        return wnnMethodValueList(count, &r->values[first]);
    }
    if (member(json, "operand"))
        return wnnMethodValueOperand(r->operands[index_of(json, "operand", OPERANDS_MAX, 0)]);
    if (member(json, "bigint"))
        return wnnMethodValueNumber(bigint(text_of(json, "bigint")));
    return wnnMethodValueString((WNNStringView){"[object Object]", 15}); /* {"object": ...}: not what any argument is */
}

/* ---- types ---- */

WNNOperandDataType data_type(const char *name)
{
    for (int t = 1; t <= 8; t++)
        if (!strcmp(wnnOperandDataTypeGetName((WNNOperandDataType)t), name))
            return (WNNOperandDataType)t;
    return WNNOperandDataType_Undefined;
}

bool to_shape(const cJSON *list, uint32_t shape[64], size_t *rank)
{
    const cJSON *item;

    *rank = 0;
    cJSON_ArrayForEach(item, list)
    {
        if (*rank == 64 || !cJSON_IsNumber(item) || item->valuedouble < 0 || item->valuedouble > UINT32_MAX)
            return false;
        shape[(*rank)++] = (uint32_t)item->valuedouble;
    }
    return true;
}

bool matches(const cJSON *expect, WNNOperandDataType type, const uint32_t *shape, size_t rank)
{
    uint32_t expected[64];
    size_t count;

    return !strcmp(text_of(expect, "dataType"), wnnOperandDataTypeGetName(type)) &&
           to_shape(member(expect, "shape"), expected, &count) && count == rank &&
           (!count || !memcmp(expected, shape, count * sizeof(*shape)));
}

/* ---- buffers ---- */

static const struct {
    const char *view, *type;
} views[] = {{"Float32Array", "float32"}, {"Float16Array", "float16"},  {"Int32Array", "int32"}, {"Uint32Array", "uint32"},
             {"BigInt64Array", "int64"},  {"BigUint64Array", "uint64"}, {"Int8Array", "int8"}};

bool view_fits(const char *buffer, const char *type)
{
    if (!strcmp(buffer, "ArrayBuffer") || !strcmp(buffer, "SharedArrayBuffer") || !strcmp(buffer, "Uint8Array"))
        return true;
    if (!strcmp(buffer, "Uint16Array"))
        return !strcmp(type, "float16");
    for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++)
        if (!strcmp(buffer, views[i].view))
            return !strcmp(type, views[i].type);
    return false;
}

double number_of(const cJSON *json)
{
    double value = cJSON_IsNumber(json) ? json->valuedouble : 0;

    if (cJSON_IsString(json))
        special_number(json->valuestring, &value);
    return value;
}

void *buffer_bytes(const cJSON *buffer, size_t *bytes)
{
    const cJSON *fill = member(buffer, "fill"), *data = member(buffer, "data"), *item;
    size_t i = 0;

    *bytes = (size_t)number_of(member(buffer, "byteLength"));
    void *p = allocate(*bytes);
    if (!strcmp(text_of(buffer, "type"), "Float32Array")) {
        for (size_t k = 0; fill && k < *bytes / sizeof(float); k++)
            ((float *)p)[k] = (float)number_of(fill);
        cJSON_ArrayForEach(item, data) if (i < *bytes / sizeof(float))((float *)p)[i++] = (float)number_of(item);
    } else if ((fill && number_of(fill) != 0) || data) {
        fprintf(stderr, "contents of a %s are not implemented\n", text_of(buffer, "type"));
        exit(1);
    }
    return p;
}
