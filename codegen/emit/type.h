/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Expresses the kernel IR's types and constants as LLVM's.
 */
#ifndef WEBNN_CODEGEN_EMIT_TYPE_H_
#define WEBNN_CODEGEN_EMIT_TYPE_H_

#include "codegen/emit/build.h"
#include "ir/kernel/kernel.h"

/** Returns the type of a value in registers: a truth value is an i1, low-precision floats are float32. */
T type_of(const struct build *m, enum ktype type);
/** Returns the type of an element in memory: low-precision floats have 16 bits. */
T storage_type(const struct build *m, dtype type);
/** Returns a constant of the type with those bits. */
V const_scalar(const struct build *m, enum ktype type, union scalar bits);

#endif
