/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits the values of expressions.
 */
#pragma once

#include "codegen/lower/emitter.h"

/* ---- accumulators of reductions and running sums, which are stack slots (accumulate.c) ---- */

/** Returns whether an expression is a sum of float32 numbers, which is added up in blocks where it is long. */
bool is_long_sum(const struct kexpr *x);
/** Returns the type of a lane of a REDUCE or SCAN during accumulation: of arg-min and arg-max that of the extreme. */
T accumulator_type(const struct emitter *e, uint32_t id);
/** Starts a REDUCE or SCAN, or the next block of a long sum.  in_blocks says that this is the start of a sum in blocks, none of
 * which has been added up yet. */
void accumulator_reset(struct emitter *e, const struct context *cx, uint32_t id, bool in_blocks);
/** Returns the number of lanes of the operands that the current copy adds. */
uint32_t accumulator_lanes(const struct emitter *e, const struct context *cx, uint32_t id);
/** Returns whether the current copy is to be added: values that are the same for all copies are added once. */
bool accumulator_takes_copy(const struct emitter *e, const struct context *cx, uint32_t id);
/** Emits one step of a REDUCE.  other is the second operand of KR_DOT, else NULL. */
void accumulator_add(struct emitter *e, const struct context *cx, uint32_t id, V value, V other);
/** Emits one step of a SCAN and returns its value there. */
V accumulator_scan(struct emitter *e, const struct context *cx, uint32_t id, V value);
/** Adds a block of a long sum to its total. */
void accumulator_add_block(struct emitter *e, const struct context *cx, uint32_t id);
/** Makes the results of a REDUCE its values.  in_blocks says whether long sums were added up in blocks. */
void accumulator_finish(struct emitter *e, const struct context *cx, uint32_t id, bool in_blocks);
/** Computes total, rest += value on two slots, exactly but for the rounding of rest. */
void sum_add_block(const struct build *m, V total_slot, V rest_slot, V value);
/** Returns total + rest; if the total is infinite or NaN, without rest. */
V sum_of_blocks(const struct build *m, V total_slot, V rest_slot);

/* ---- functions of 4 bits or fewer as a lookup (lookup.c) ----
 *
 * The table is in one vector register, if the processor permutes the lanes of a vector by another one (AVX-512): that is one
 * instruction instead of masking, converting and subtracting. */

/** Returns the expression whose lowest 4 bits determine the value of expr, a float32 number, and fills table, which has 16
 * members; or KEXPR_NONE if there is no such expression or the processor has no such instruction for so many lanes. */
uint32_t lookup_find(const struct emitter *e, uint32_t expr, uint32_t lanes, float *table);
/** Returns a table of 16 numbers as a vector, for LOOP_PERMUTE by the lowest 4 bits of an index. */
V lookup_table(const struct build *m, const float *table);
/** Returns the table's numbers for a vector of indices, several vectors of them one after the other. */
V lookup_emit(const struct build *m, const float *table, V index);

/* ---- any expression, on demand and at its level (expression.c) ---- */

/** Computes and allocates in e->arena all data for values, of a kernel without stages.  Returns false if memory runs out. */
bool values_prepare(struct emitter *e, const struct build *m, const struct schedule *s);
/** Returns the value of an expression in the context's phase and copy: with its lanes, or a scalar if it is the same for all
 * lanes. */
V expr_value(struct emitter *e, const struct context *cx, uint32_t expr);
/** Returns the same value with that many lanes. */
V expr_value_lanes(struct emitter *e, const struct context *cx, uint32_t expr, uint32_t lanes);
/** Lets a tile's bytes, where an expression quantises, be made of several copies' vectors at once, which takes fewer
 * instructions. */
void expr_quantise_copies(struct emitter *e, const struct context *cx, uint32_t expr);
/** Makes empty caches, for code whose values those in e->cache are not.  Returns false if memory runs out. */
bool caches_make(struct emitter *e, struct caches *c);
