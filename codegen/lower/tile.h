/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits register tiles, MR x NR, of contractions.
 */
#pragma once

#include "codegen/lower/emitter.h"

/* ---- operands (operand.c) ----
 *
 * Row pointers are set outside of the innermost loops, for operands whose rows may be in the padding and for those whose
 * strides are parameters.  A context with row_pointers loads these operands through them. */

/** Returns what of a form is known with `depth` loops over REDUCED variables open, at the first point of the tile. */
V operand_first(struct emitter *e, const struct context *cx, uint32_t form, uint32_t depth);
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

/* ---- dot products of bytes (byte_products.c) ----
 *
 * Operands are 8-bit integers before they are scaled (struct byte_products in ir/schedule/schedule.h).  An accumulator has 32
 * bits, and one instruction adds four products to it. */

enum { BYTE_ONES = 0x01010101 }; /* a word of four times 1 */
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
/** Returns the value of a block's sum in that copy, as float32 if it is to be scaled. */
V byte_products_value(struct emitter *e, const struct context *cx, uint32_t copy, V sum, const V *corrections);
/** Returns the factor of a block's sum in that copy, or NULL for none. */
V byte_products_factor(struct emitter *e, const struct context *cx, uint32_t copy);

/* ---- steps of tiles whose accumulators have operands of their own (window.c) ---- */

/** These are the accumulators of a tile, by copy, on the stack. */
struct sums {
    uint32_t reduce;                        /* the REDUCE that they are of */
    V partial[TILE_CHAINS_MAX][COPIES_MAX]; /* partial sums that take turns; register_tile.interleaved a row */
    uint32_t chain;                         /* whose turn it is */
    V total[COPIES_MAX];                    /* of a sum that is split: what earlier blocks added up to */
    uint32_t correction_count;
    V corrections[COPIES_MAX]; /* of products of bytes (byte_products.c) */
    bool columns_only;         /* nothing else is summed */
};

/** Returns whether all steps of the loops over REDUCED variables from r on are emitted by emit_window. */
bool window_begins(const struct emitter *e, uint32_t r);
/** Emits them. */
void emit_window(struct emitter *e, const struct context *cx, struct sums *t, uint32_t r);

/* ---- one tile (microkernel.c) ---- */

/** Makes the zeros that rows in the padding read.  The position is in the function's first basic block. */
void microkernel_enter_function(struct emitter *e);
/** Describes where a register tile is, and how large. */
struct tile_at {
    V row, column; /* its first point: of M (NULL: there is no such variable) and of the vector variable */
    V high;        /* the vector variable's end */
    V whole;       /* whether the last row exists, a bit; NULL: it does */
    uint32_t rows, vectors, lanes, lines;
    bool masked;          /* the last vector of a row may go beyond the end */
    const V *column_sums; /* what emit_column_sums has made for all rows; NULL: nothing */
};
/** Emits the initial values of sums of bytes of these columns, for all their tiles, into new slots, one for each vector. */
void emit_column_sums(struct emitter *e, const struct context *cx, const struct tile_at *at, V *slots);
/** Emits one tile, from clearing its accumulators to storing its results. */
void emit_microkernel(struct emitter *e, const struct context *cx, const struct tile_at *at);
