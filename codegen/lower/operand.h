/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits the operands of register tiles: row pointers, facts about guards, and prefetches.
 *
 * Row pointers are set outside of the innermost loops, for operands whose rows may be in the padding and for those whose
 * strides are parameters.  A context with row_pointers loads these operands through them.
 */
#pragma once

#include "codegen/lower/emitter.h"

/** Sets the row pointers of guarded operands while `depth` loops over REDUCED variables are open; those outside the tensor
 * point to zeros. */
void operand_set_edge_pointers(struct emitter *e, const struct context *cx, uint32_t depth);
/** Sets the row pointers of a strided kernel's A, each one address that passes do not split. */
void operand_set_row_pointers(struct emitter *e, const struct context *cx);
/** Returns an operand's address by cx->row_pointers, at its level, or NULL if it has none there. */
V operand_address(struct emitter *e, const struct context *cx, uint32_t expr, T element);
/** Returns whether a load's guards are known to hold in this context. */
static inline bool operand_guards_hold(const struct emitter *e, const struct context *cx, uint32_t expr)
{
    return e->k->exprs[expr].varying &&
           (cx->guards_hold || (cx->row_pointers && tile_guards_are_common(e->s, expr, e->s->tile.edge)));
}

/** Sets the part of B's next panel that the tile whose first row is `row` prefetches: the share of its rows. */
void operand_set_prefetch(struct emitter *e, const struct context *cx, V row, struct micro_tile *tile);
/** Prefetches the next cache line in a step of K, if the tile prefetches. */
void operand_prefetch(struct emitter *e, const struct context *cx);
/** Returns the start of a tile's part of an operand, as an index that does not depend on loops over REDUCED variables, or NULL
 * if it does. */
V operand_start(struct emitter *e, const struct context *cx, uint32_t expr);
