/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits dot products of bytes: register tiles whose operands are 8-bit integers before they are scaled (struct
 * byte_products in ir/schedule/schedule.h).  An accumulator has 32 bits, and one instruction adds four products to it.
 */
#pragma once

#include "codegen/lower/build.h"
#include "codegen/lower/emitter.h"

/** Returns how many corrections a tile has: sums of what the zero points of A (by vector) or of B (by row) are multiplied
 * by. */
uint32_t byte_products_corrections(const struct emitter *e, const struct context *cx);
/** Emits one step: four products of each row of A and each column of B, or eight of numbers of 4 bits.  sums are slots by copy,
 * then come those of the corrections. */
void byte_products_step(struct emitter *e, const struct context *cx, const V *sums, const V *corrections);
/** Returns the value of a block's sum in that copy as float32, before it is scaled. */
V byte_products_value(struct emitter *e, const struct context *cx, uint32_t copy, V sum, const V *corrections);
/** Returns what a block's sum is multiplied by in that copy, or NULL for nothing. */
V byte_products_factor(struct emitter *e, const struct context *cx, uint32_t copy);
