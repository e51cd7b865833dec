/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits the division by a scale, rounding and conversion of quantizeLinear for as many lanes as a vector has bytes, where the
 * processor packs vectors of integers.
 */
#pragma once

#include "codegen/lower/build.h"

/** Returns whether there are instructions for vectors of so many lanes. */
bool quantise_has(const struct build *m, uint32_t lanes);
/**
 * Returns round(x / scale) + zero_point as bytes, to the bit what those operations one by one give: they saturate, and NaN
 * becomes 0.  scale and zero_point, which is a whole number not larger than bytes are (NULL: 0), are scalars of float32.
 */
V emit_quantised(const struct build *m, V x, V scale, V zero_point, bool is_signed);
