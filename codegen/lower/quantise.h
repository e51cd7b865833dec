/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits the division by a scale, rounding and conversion of quantizeLinear, if the processor packs vectors of integers: for
 * as many lanes as a vector has bytes, or for one vector, where the scale is a constant.
 */
#pragma once

#include "codegen/lower/build.h"
#include "ir/kernel/kernel.h"

#define QUOTIENT_MOST 0x1p10 /* larger ones saturate, too */

/** Returns whether there are instructions for vectors of that many lanes, and this scale. */
bool quantise_has(const struct build *m, uint32_t lanes, const struct kexpr *scale);
/**
 * Returns round(x / scale) + zero_point as bytes, with the same bits as those operations one by one: they saturate, and NaN
 * becomes 0.  scale and zero_point, which is a whole number not larger than bytes are (NULL: 0), are scalars of float32.
 * `bounded` says that x is not above QUOTIENT_MOST times the scale.
 */
V emit_quantised(const struct build *m, V x, V scale, V zero_point, bool is_signed, bool bounded);
