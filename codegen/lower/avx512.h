/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits instructions of AVX-512 without an LLVM operation.  Each avx512_has_... returns whether there is one for operands with
 * as many lanes as `like`, and whether it is faster.
 */
#pragma once

#include "codegen/lower/build.h"

/** Returns the largest or smallest of two floats, or NaN if one of them is; -0 < +0. */
bool avx512_has_extreme(const struct build *m, V like);
V avx512_extreme(const struct build *m, bool largest, V a, V b);
/** Returns the same of numbers, in one instruction.  Of a NaN and a number it is the number. */
V avx512_extreme_number(const struct build *m, bool largest, V a, V b);
/** Returns count + 1 where a condition holds and count elsewhere, of 32-bit integers. */
bool avx512_has_count(const struct build *m, V like);
V avx512_count(const struct build *m, V count, V condition);
/** Returns x * 2^n, rounded once, where there are extremes; n is a whole number, as float. */
V avx512_scale(const struct build *m, V x, V n);
/** Returns a / b within 0.6 ulp, from an estimate, for b within [2^-100, 2^100] and a at most 1 (or NaN). */
bool avx512_has_divide(const struct build *m, V like);
V avx512_divide(const struct build *m, V a, V b);
