/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Recognises compact weights: operand B of a matmul that is stored in fewer bits than it is multiplied in
 * (docs/compact-weights.md).
 */
#pragma once

#include "ir/graph/ir.h"

/** Returns whether n is 2 times a cast from packed numbers: those whose zero point is a half are stored so. */
bool node_doubles_packed(const struct node *n);
/**
 * Returns the constant that has the elements of v: v itself, or what transposes of two dimensions and a cast read, from
 * packed numbers, which may be doubled.  *transposed says whether its dimensions are those of v in the other order.  Returns
 * NULL if there is none.
 */
const struct value *compact_constant(const struct value *v, bool *transposed);
/** Returns the factor of the elements of v to those of that constant: 1 or 2. */
uint32_t compact_times(const struct value *v);

/** Returns whether v has a contraction's bytes in packed order, which a kernel of its own computes
 * (passes/weights/byte_operands.h). */
bool value_is_packed_late(const struct value *v);
/**
 * Returns whether v is computed from constants alone, of which the one with the weights (compact_constant) has 16 bits or less
 * per element, by a dequantizeLinear, or a cast followed by subtractions and multiplications, and by casts between floats,
 * transposes and reshapes after it, or likewise from a value of value_is_packed_late.  Constant folding skips such a value; its
 * reader unpacks it element by element.
 */
bool value_is_unpacked(const struct value *v);

/** Returns whether v is a single byte as a float: the zero point, which is data, of a value of value_is_rounded. */
bool value_is_rounded_zero(const struct value *v);
/**
 * Returns whether v converts bytes computed at run time to floats, only for a contraction with compact weights: a cast of them,
 * perhaps less a zero point, perhaps times a scale for each row of the last dimension, perhaps reshaped.  The contraction's
 * kernel converts them in registers.
 */
bool value_is_rounded(const struct value *v);
