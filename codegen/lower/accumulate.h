/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits the accumulators of reductions and running sums, which are stack slots.
 */
#pragma once

#include "codegen/lower/emitter.h"

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
