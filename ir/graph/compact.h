/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Recognises compact weights: operand B of a matmul that lies in memory in fewer bits than it is multiplied in
 * (docs/compact-weights.md).
 */
#pragma once

#include "ir/graph/ir.h"

/**
 * Returns the constant that has the elements of v: v itself, or what transposes of two dimensions and a cast read, from
 * numbers of 4 bits.  *transposed says whether its dimensions are those of v in the other order.  Returns NULL if there is
 * none.
 */
const struct value *compact_constant(const struct value *v, bool *transposed);

/**
 * Returns whether v is computed from constants alone, of which the one with the weights (compact_constant) has 16 bits or less
 * per element, by a dequantizeLinear, or a cast followed by subtractions and multiplications, and by casts between floats,
 * transposes and reshapes after it.  Constant folding has left such a value to its reader, which unpacks it element by
 * element.
 */
bool value_is_unpacked(const struct value *v);

/**
 * Returns whether v makes floats of bytes that are computed while the graph runs, for a contraction with compact weights alone:
 * a cast of uint8, perhaps less a zero point, perhaps times a scale for each row of the last dimension, perhaps reshaped.  The
 * contraction's kernel does so in registers.
 */
bool value_is_rounded(const struct value *v);
