/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits integer division and powers that never trap, and saturating casts.
 */
#ifndef WEBNN_CODEGEN_EMIT_INTEGER_H_
#define WEBNN_CODEGEN_EMIT_INTEGER_H_

#include "codegen/emit/build.h"

/** Returns a / b, truncated.  A division by 0 gives 0, and the smallest number divided by -1 is itself. */
V int_divide(const struct build *m, V a, V b, bool is_signed);
/** Returns a to the power of b, which wraps.  If b is negative that is 1 / a^-b, truncated. */
V int_power(const struct build *m, V a, V b, bool is_signed);
/** Converts float32 to integers of so many bits: truncates, saturates, and turns NaN into 0. */
V float_to_int(const struct build *m, V f, uint32_t bits, bool is_signed);

#endif
