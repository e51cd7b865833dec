/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares what the files that print tiles of contractions share: print_tile.c, which has the tiles from global memory and
 * what all tiles have alike, and print_tile_local.c.
 */
#ifndef WEBNN_CODEGEN_OPENCL_PRINT_TILE_H_
#define WEBNN_CODEGEN_OPENCL_PRINT_TILE_H_

#include "codegen/opencl/internal.h"

/** This is the state of printing a contraction. */
struct tile_printer {
    struct printer *p;
    const struct gpu_tile *t;
    uint32_t dot, operands[2];
    bool rows[2], columns[2]; /* whether an operand differs from row to row, and along the columns */
    enum ktype type;          /* of sums */
    uint32_t *depths;         /* of expressions (gpu_depths) */
    bool *hoisted[2];         /* by expression: it is computed for an operand before the innermost loop */
    bool *below;              /* for mark_below */
    uint32_t scaled;          /* the operand whose factor multiplies sums of blocks; 2: none */
    bool scales_blocks;       /* these sums are added to b, else they are multiplied where they are added to s, or at last */
};

/** Returns whether the innermost loop runs over the numbers of a word of operand o, which is loaded before it. */
bool tile_has_words(const struct tile_printer *w, uint32_t o);
/** Declares the accumulators of the tile. */
void put_tile_accumulators(const struct tile_printer *w);
/** Multiplies every row with every vector. */
void put_tile_products(const struct tile_printer *w);
/** Adds full blocks to the sums. */
void put_tile_flush(const struct tile_printer *w);
/** Writes the sums to the array `sums`. */
void put_tile_sums(const struct tile_printer *w);
/* ---- print_tile_local.c ---- */

/** Writes a tile whose operands come to local memory. */
void put_local_tile(const struct tile_printer *w);

#endif
