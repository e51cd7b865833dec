/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Converts low-precision floats to and from the form in which they lie in memory.
 */
#ifndef WEBNN_CODEGEN_EMIT_CONVERT_H_
#define WEBNN_CODEGEN_EMIT_CONVERT_H_

#include "codegen/emit/build.h"

/** Converts i16 lanes that hold numbers of a low-precision type to float32; lanes of any other type stay. */
V widen_float(const struct build *m, V x, dtype type);
/** Converts float32 to i16 lanes of a low-precision type: to the nearest number (of two the even one), and a subnormal float to
 * a zero of bfloat16.  Lanes of any other type stay. */
V narrow_float(const struct build *m, V x, dtype type);

#endif
