/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Converts elements of arrays to and from doubles, by the specification's cast (ir/support/number.c).  Data need no alignment:
 * every access is a copy of the element's bytes.
 */
#include "frontend/readers/files/element.h"

#include <string.h>

#include "ir/support/number.h"

double element_get(WNNOperandDataType type, const void *data, size_t index)
{
    size_t size = wnnOperandDataTypeGetByteSize(type);
    union scalar x = {.u64 = 0};

    memcpy(&x, (const char *)data + index * size, size);
    return size ? scalar_to_double(x, type) : 0;
}

void element_set(WNNOperandDataType type, void *data, size_t index, double value)
{
    size_t size = wnnOperandDataTypeGetByteSize(type);
    union scalar x = number_cast(wnnNumber(value), type);

    memcpy((char *)data + index * size, &x, size);
}

/* Returns the integers of a data type as those of WNNNumber; of 64 bits the sign says which half of the bits is meant. */
static int64_t integer_get(WNNOperandDataType type, const void *data, size_t index, bool *above_int64)
{
    size_t size = wnnOperandDataTypeGetByteSize(type);
    union scalar x = {.u64 = 0};

    memcpy(&x, (const char *)data + index * size, size);
    *above_int64 = type == WNNOperandDataType_Uint64 && x.i64 < 0;
    return type == WNNOperandDataType_Int64 || type == WNNOperandDataType_Uint64 ? x.i64 : (int64_t)scalar_to_double(x, type);
}

bool element_convert(WNNOperandDataType from, const void *data, WNNOperandDataType to, void *out, size_t index)
{
    size_t size = wnnOperandDataTypeGetByteSize(to);
    bool above, back_above;
    char stored[sizeof(union scalar)];

    if (element_is_float(from)) {
        element_set(to, out, index, element_get(from, data, index));
        return true;
    }
    int64_t whole = integer_get(from, data, index, &above);
    union scalar x = number_cast(above ? wnnNumberUint64((uint64_t)whole) : wnnNumberInt64(whole), to);
    memcpy(stored, &x, sizeof x);
    if (element_is_float(to) ? element_get(to, stored, 0) != element_get(from, data, index)
                             : integer_get(to, stored, 0, &back_above) != whole || back_above != above)
        return false;
    memcpy((char *)out + index * size, stored, size);
    return true;
}
