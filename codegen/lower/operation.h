/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits the kernel IR's scalar operations as instructions, on scalars and on vectors of any number of lanes.
 */
#pragma once

#include "codegen/lower/build.h"
#include "ir/kernel/kernel.h"

/** Converts i16 lanes that hold numbers of a low-precision type to float32; lanes of any other type stay. */
V widen_float(const struct build *m, V x, dtype type);
/** Converts float32 to i16 lanes of a low-precision type: to the nearest number (of two the even one), and a subnormal float to
 * a zero of bfloat16.  Lanes of any other type stay. */
V narrow_float(const struct build *m, V x, dtype type);

/**
 * Emits a scalar operation at the builder's position and returns its value.  type is that of the result, from that of the
 * operands (they differ for K_CAST and comparisons); a, b and c are as many operands as the operation has, and NULL beyond.
 */
V emit_operation(const struct build *m, enum kop op, enum ktype type, enum ktype from, V a, V b, V c);

/** Returns the operation by which a reduction combines two numbers, or a dot two products. */
enum kop reduction_operation(enum kreduce reduce);
/** Returns the initial value of a reduction of numbers of a type: its neutral element. */
union scalar reduction_start(enum kreduce reduce, enum ktype type);
