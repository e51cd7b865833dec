/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads and writes single elements of arrays of any data type as doubles, for programs that print, compare or make data, not
 * for speed.
 */
#pragma once

#include "webnn/webnn.h"

/**
 * Returns the index-th element; 64-bit integers beyond 2^53 are rounded.  Returns 0 for values of type that are not data type.
 */
double element_get(WNNOperandDataType type, const void *data, size_t index);
/**
 * Stores the nearest value of the type (ties to even) as the index-th element; integers saturate, and NaN becomes 0 in them.
 */
void element_set(WNNOperandDataType type, void *data, size_t index, double value);
/**
 * Converts the index-th element to another type, and stores it as the index-th of out.  Floats are rounded.  Returns false if
 * an integer is not among the numbers of the type; then nothing is stored.  Floats must not become integers.
 */
bool element_convert(WNNOperandDataType from, const void *data, WNNOperandDataType to, void *out, size_t index);
/** Returns whether the data type is float32 or float16. */
static inline bool element_is_float(WNNOperandDataType type)
{
    return type == WNNOperandDataType_Float32 || type == WNNOperandDataType_Float16;
}
