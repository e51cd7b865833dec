/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits scalar operations of the kernel IR that are one instruction or a few, on scalars and on vectors of any number of lanes.
 */
#pragma once

#include "codegen/lower/build.h"
#include "ir/kernel/kernel.h"

/**
 * Emits an operation for which the target needs no expansion (expansion_exists), at the builder's position, and returns its
 * value.  type is that of the result, from that of the first operand; a, b and c are as many operands as the operation has.  Of
 * KT_F64 it takes the operations of kop_has_f64.
 */
V emit_native(const struct build *m, enum kop op, enum ktype type, enum ktype from, V a, V b, V c);
