/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits dot products of bytes: register tiles whose operands are 8-bit integers before they are scaled (struct
 * byte_products in ir/schedule/schedule.h).  An accumulator has 32 bits, and one instruction adds four products to it.
 */
#pragma once

#include "codegen/lower/build.h"
#include "codegen/lower/emitter.h"

/** Returns the number of corrections of a tile: sums by which the zero points of A (by vector) or of B (by row) are
 * multiplied. */
uint32_t byte_products_corrections(const struct emitter *e, const struct context *cx);
/** Returns whether corrections are sums of columns of B for all of K, which are the same for all tiles of these columns. */
bool byte_products_share_columns(const struct emitter *e);
/** Emits one step: four products of each row of A and each column of B, or eight of numbers of 4 bits.  sums are slots by copy,
 * then come those of the corrections; either may be NULL, for none. */
void byte_products_step(struct emitter *e, const struct context *cx, const V *sums, const V *corrections);
/** Return what operands are that every column has of its own, as numbers of 32 bits. */
V byte_products_own_a(struct emitter *e, const struct context *cx);
V byte_products_own_b(struct emitter *e, const struct context *cx);
/** Returns whether an instruction adds the products of four neighbouring bytes, so that those of a word may be added at once.
 */
bool byte_products_own_words(const struct emitter *e, const struct context *cx);
/** Adds the product of two such numbers, or words. */
V byte_products_add_own(struct emitter *e, const struct context *cx, V sum, V a, V b);
/** Makes of the sum of B's columns in a slot what the accumulators of these columns start with. */
void byte_products_start(struct emitter *e, const struct context *cx, V slot);
/** Returns the value of a block's sum in that copy as float32, before it is scaled. */
V byte_products_value(struct emitter *e, const struct context *cx, uint32_t copy, V sum, const V *corrections);
/** Returns the factor of a block's sum in that copy, or NULL for none. */
V byte_products_factor(struct emitter *e, const struct context *cx, uint32_t copy);
