/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Numbers and types as the data of conformance cases write them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conformance.h"

bool number_read(const cJSON *json, WNNNumber *number)
{
    char *end;

    if (cJSON_IsNumber(json)) {
        *number = wnnNumber(json->valuedouble);
        return true;
    }
    if (!cJSON_IsString(json))
        return false;
    const char *text = json->valuestring;
    if (!strcmp(text, "NaN") || !strcmp(text, "Infinity") || !strcmp(text, "-Infinity") || !strcmp(text, "-0")) {
        *number = wnnNumber(strtod(text, NULL));
        return true;
    }
    if (!*text || strspn(text, "-0123456789") != strlen(text))
        return false;
    errno = 0;
    int64_t whole = strtoll(text, &end, 10);
    if (!errno && !*end) {
        *number = wnnNumberInt64(whole);
        return true;
    }
    errno = 0;
    uint64_t large = *text == '-' ? 0 : strtoull(text, &end, 10);
    if (*text != '-' && !errno && !*end)
        *number = wnnNumberUint64(large);
    else
        *number = wnnNumber(strtod(text, &end));
    return !*end;
}

bool type_read(const cJSON *json, struct tensor_type *type)
{
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "dataType"));
    const cJSON *dim;

    memset(type, 0, sizeof *type);
    type->type = name ? dtype_parse(name, strlen(name)) : WNNOperandDataType_Undefined;
    cJSON_ArrayForEach(dim, cJSON_GetObjectItemCaseSensitive(json, "shape"))
    {
        if (type->rank == RANK_MAX)
            return false;
        type->dims[type->rank++] = (uint32_t)dim->valuedouble;
    }
    return type->type != WNNOperandDataType_Undefined;
}
