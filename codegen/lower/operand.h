/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits the operands of register tiles: where each row of a tile begins, what is known of guards, and what is prefetched.
 *
 * Row pointers are set outside of the innermost loops, for operands whose rows may lie in the padding and for those whose
 * strides are parameters.  A context with row_pointers loads these operands through them.
 */
#pragma once

#include "codegen/lower/emitter.h"

/** Sets where the rows of guarded operands begin while `depth` loops over REDUCED variables are open; rows that are outside
 * begin at zeros. */
void operand_set_edge_pointers(struct emitter *e, const struct context *cx, uint32_t depth);
/** Sets where the rows of a strided kernel's A begin: each has one address, which passes do not take apart. */
void operand_set_row_pointers(struct emitter *e, const struct context *cx);
/** Returns an operand's address by cx->row_pointers, at its level, or NULL if it has none there. */
V operand_address(struct emitter *e, const struct context *cx, uint32_t expr, T element);
/** Returns whether a load's guards are known to hold in this context. */
bool operand_guards_hold(const struct emitter *e, const struct context *cx, uint32_t expr);

/** Sets what the tile whose first row is `row` prefetches of B's next panel: the share of its rows. */
void operand_set_prefetch(struct emitter *e, const struct context *cx, V row, struct micro_tile *tile);
/** Asks for the next line in a step of K, if the tile prefetches. */
void operand_prefetch(struct emitter *e, const struct context *cx);
