/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Converts elements of arrays to and from doubles, by the specification's cast (ir/graph/number.c).  Data need no alignment:
 * every access is a copy of the element's bytes.
 */
#include "frontend/io/element.h"

#include <string.h>

#include "ir/graph/ir.h"

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

bool element_is_float(WNNOperandDataType type)
{
    return type == WNNOperandDataType_Float32 || type == WNNOperandDataType_Float16;
}
