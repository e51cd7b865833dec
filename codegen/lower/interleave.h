/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits shuffles that deinterleave short rows, which are contiguous in whole vectors, into their columns, and interleave them
 * again.
 */
#pragma once

#include "codegen/lower/build.h"

/** Replaces n vectors, which hold as many rows of n elements as they have lanes, by the rows' columns: lane i of vector j is
 * element j of row i.  n is SCHEDULE_SHORT_ROW_MAX at most. */
void emit_deinterleave(const struct build *m, V *vectors, uint32_t n);
/** Returns lanes of two vectors from the lane `first` on: in turns, or every second one of both in a row. */
V lanes_of_two(const struct build *m, V a, V b, bool turns, uint32_t first);
/** Does the opposite. */
void emit_interleave(const struct build *m, V *vectors, uint32_t n);
