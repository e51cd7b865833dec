/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits scalar operations of the kernel IR, on scalars and on vectors of any number of lanes, and shuffles.
 */
#pragma once

#include "codegen/lower/build.h"
#include "ir/expansion/expansion.h"

/* ---- instructions of AVX-512 without an LLVM operation (avx512.c) ----
 *
 * Each avx512_has_... returns whether there is one for operands with as many lanes as `like`, and whether it is faster. */

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
/** Returns what K_FRACTION is. */
V avx512_fraction(const struct build *m, V x);
/** Returns a / b within 0.6 ulp, from an estimate, for b within [2^-100, 2^100] and a at most 1 (or NaN). */
bool avx512_has_divide(const struct build *m, V like);
V avx512_divide(const struct build *m, V a, V b);

/* ---- operations that are one instruction or a few (native.c) ---- */

/**
 * Emits an operation for which the target needs no expansion (expansion_exists), at the builder's position, and returns its
 * value.  type is that of the result, from that of the first operand; a, b and c are as many operands as the operation has.  Of
 * KT_F64 it takes the operations of kop_has_f64.
 */
V emit_native(const struct build *m, enum kop op, enum ktype type, enum ktype from, V a, V b, V c);

/* ---- expansions of elementary functions as instructions (expand.c) ---- */

/** Returns the features of the target for operands with as many lanes as another value. */
struct expansion_target expansion_target_of(const struct build *m, V like);
/**
 * Emits the expansion of an operation at the builder's position, its steps inlined or as a call of a function of the module,
 * and returns its value.  The operands args have equally many lanes.
 */
V emit_expansion(const struct build *m, enum kop op, const V *args);

/* ---- all operations (operation.c) ---- */

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

/* ---- the division by a scale, rounding and conversion of quantizeLinear (quantise.c) ----
 *
 * This is for processors that pack vectors of integers: for as many lanes as a vector has bytes, or for one vector, where the
 * scale is a constant. */

/** Returns whether there are instructions for vectors of that many lanes, and this scale (NULL: 1). */
bool quantise_has(const struct build *m, uint32_t lanes, const struct kexpr *scale);
/**
 * Returns round(x / scale) + zero_point as bytes, with the same bits as those operations one by one: they saturate, and NaN
 * becomes 0.  scale (NULL: 1) and zero_point, which is a whole number not larger than bytes are (NULL: 0), are scalars of
 * float32.  `fits` says that x / scale is a number within int32 (struct quantised).
 */
V emit_quantised(const struct build *m, V x, V scale, V zero_point, bool is_signed, bool fits);
/** Returns the bytes of QUANTISED_VECTORS vectors, one after the other, where the scale is a constant. */
V emit_quantised_vectors(const struct build *m, const V *x, V scale, V zero_point, bool is_signed, bool fits);

/* ---- shuffles of short rows, which are contiguous in whole vectors (interleave.c) ---- */

/** Replaces n vectors, which hold as many rows of n elements as they have lanes, by the rows' columns: lane i of vector j is
 * element j of row i.  n is SCHEDULE_SHORT_ROW_MAX at most. */
void emit_deinterleave(const struct build *m, V *vectors, uint32_t n);
/** Does the opposite. */
void emit_interleave(const struct build *m, V *vectors, uint32_t n);
/** Returns the low or high halves of each block of so many lanes of two vectors, lane by lane in turns, as the unpack
 * instructions do. */
V blocks_in_turns(const struct build *m, V a, V b, uint32_t block, bool high);
/** Returns every second block of a, then of b, from the block `first` on. */
V every_second_block(const struct build *m, V a, V b, uint32_t block, uint32_t first);
