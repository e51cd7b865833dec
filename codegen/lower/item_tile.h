/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits what the register tiles of contractions on devices are made of: values of operands, sums, and the points after them.
 * An item keeps rows x vectors sums in slots.
 */
#pragma once

#include "codegen/lower/space.h"

/** Are the slots of a sum: of the block that is being added up, of its scaled parts, and of blocks before it with what rounding
 * lost of them.  NULL: it has none. */
struct item_sum {
    V partial, scaled, total, rest;
};

/** Describes a tile that is being emitted. */
struct item_tile {
    struct emitter *e;
    const struct gpu_schedule *s;
    const struct gpu_tile *t;
    enum ktype type;                      /* of sums */
    uint32_t operands[2];                 /* of the dot; where factors are taken out of a sum, without them */
    uint32_t count;                       /* of sums: row by row */
    bool along_rows[2], along_columns[2]; /* whether an operand differs from row to row, and along the columns */
    bool words[2];                        /* it is taken out of words along the innermost loop */
    uint32_t scaled;                      /* the operand whose factor multiplies what is added to item_sum.scaled; 2: none */
    bool totals;                          /* sums are those of blocks */
    V rows, columns;                      /* how many there are */
    V share;                              /* which of the items that share the iterations this is; NULL: none do */
    struct item_sum *sums;
    V *values[2];               /* of the operands, by sum, in a step: scalars where lanes are alike */
    struct caches own, *places; /* the emitter's caches outside of places, and those of each place */
};

/** Returns the tile of a schedule, or NULL, and lets the module fail, if memory runs out.  It has places for as many values
 * that differ within it. */
struct item_tile *item_tile_of(struct emitter *e, const struct gpu_schedule *s, uint32_t places);
/** Sets the place for which code is emitted, and its cache of values. */
void item_tile_at(struct item_tile *t, uint32_t place);
/** Begins sums; of totals `rest` says whether what rounding loses of them is carried along. */
void item_tile_begin(struct item_tile *t, bool rest);
/** Ends the code for places, and adds the products of t->values to the sums. */
void item_tile_multiply(struct item_tile *t);
/** Adds a block's sum to the total, and begins the next block. */
void item_tile_flush(struct item_tile *t, uint32_t i);
/** Puts the sums, each times the factor of its vector of columns if there are factors, into an array, row by row. */
V item_tile_store(struct item_tile *t, const V *factors);
/** Adds up in the group's memory what the items that share the iterations have in their arrays, so many numbers at a time, of
 * which it has room for those of all shares but the first.  own is the item's number among the `items` of a share.  Only the
 * first share has the sums then. */
void item_tile_add_shares(struct item_tile *t, V array, V memory, V own, uint32_t items, uint32_t at_once);
/** Emits everything of a point, or of a vector of points, that comes after its sum.  Its row is known. */
void item_tile_point(struct item_tile *t, V column, uint32_t lanes, V sum);
/** Emits the points of the sums in the array, whose first row and column are these; from vector to vector there are `step`
 * columns. */
void item_tile_points(struct item_tile *t, V array, V row, V column, uint32_t step);

/* ---- global_tile.c, local_tile.c, matrix_tile.c ---- */

/** Emit what an item does of a kernel of tiles: whose operands come from global memory, or come to the group's memory first, or
 * are multiplied by matrix instructions. */
void emit_global_tiles(struct emitter *e, const struct gpu_schedule *s);
void emit_local_tiles(struct emitter *e, const struct gpu_schedule *s);
void emit_matrix_tiles(struct emitter *e, const struct gpu_schedule *s);
/** Emits the tiles of a stage that are an item's, from global memory.  `fixed` are the variables of the macro-tile. */
void emit_stage_tiles(struct emitter *e, const struct gpu_schedule *s, const struct stage_item *at, uint64_t fixed);
