/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Single elements of arrays of any data type as doubles: for programs that print, compare or make data, not for speed. */
#ifndef WEBNN_FRONTEND_IO_ELEMENT_H_
#define WEBNN_FRONTEND_IO_ELEMENT_H_

#include "webnn/webnn.h"

/** The index-th element; 64-bit integers beyond 2^53 are rounded.  0 for values of type that are no data type. */
double element_get(WNNOperandDataType type, const void *data, size_t index);
/** Rounds to the nearest value of the type (ties to even); integers saturate, and NaN becomes 0 in them. */
void element_set(WNNOperandDataType type, void *data, size_t index, double value);
/** Whether the data type is float32 or float16. */
bool element_is_float(WNNOperandDataType type);

#endif
