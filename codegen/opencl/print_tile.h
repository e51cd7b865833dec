/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares what the files that print register tiles share.  Each calls only those after it in this list: print_tile.c,
 * print_tile_local.c, print_bytes.c, print_tile_values.c.
 */
#pragma once

#include "codegen/opencl/internal.h"

/** This is what is known of a tile that is being printed. */
struct tile_printer {
    struct printer *p;
    const struct gpu_tile *t;
    uint32_t dot, operands[2];
    bool rows[2], columns[2]; /* whether an operand differs from row to row, and along the columns */
    enum ktype type;          /* of sums */
    uint32_t *depths;         /* of expressions (dependence_depth) */
    bool *hoisted[2];         /* by expression: it is computed for an operand before the innermost loop */
    bool *below;              /* for mark_below */
    uint32_t scaled;          /* the operand whose factor multiplies sums of blocks; 2: none */
    bool scales_blocks;       /* these sums are added to b, else they are multiplied where they are added to s, or at last */
};

/** Returns the numbers of a vector of the tile. */
static inline uint32_t tile_lanes(const struct tile_printer *w)
{
    return w->p->s->lanes;
}

/** Returns whether the tile multiplies bytes: its accumulators are integers, and b has the sums of scaled blocks. */
static inline bool tile_multiplies_bytes(const struct tile_printer *w)
{
    return w->t->bytes.a != KEXPR_NONE;
}

/* ---- print_tile_values.c ---- */

/** Fills in everything but p and t.  Sets p->failed if memory runs out. */
void tile_find_differences(struct tile_printer *w);
/** Returns whether the innermost loop runs over the numbers of a word, which is loaded before it. */
bool tile_has_words(const struct tile_printer *w, uint32_t o);
/** Returns the name of what is known of row r and vector v before the innermost loop. */
const char *tile_hoisted_name(const struct tile_printer *w, uint32_t expr, uint32_t r, uint32_t v);
/** Declares the value of an expression of operand o, of row r and vector v. */
void put_tile_value(const struct tile_printer *w, uint32_t o, uint32_t expr, uint32_t r, uint32_t v, const char *name);
/** Says which values variables have for operand o in row r and vector v, in this scope. */
void set_tile_variables(const struct tile_printer *w, uint32_t o, uint32_t r, uint32_t v);
/** Declares the scale of each vector. */
void put_tile_factors(const struct tile_printer *w);
/** Declares the accumulators. */
void put_tile_accumulators(const struct tile_printer *w);
/** Adds full blocks to the sums. */
void put_tile_flush(const struct tile_printer *w);
/** Multiplies the sums of a block by its scale, and adds them to those of the blocks before. */
void put_tile_scaled_block(const struct tile_printer *w);
/** Writes the products of a step. */
void put_tile_products(const struct tile_printer *w);
/** Writes the sums to the array `sums`. */
void put_tile_sums(const struct tile_printer *w);
/** Writes the rows of the tile, for results of the work-item: of a tile from global memory, and of one from local memory. */
void put_global_tile_points(const struct tile_printer *w);
void put_local_tile_points(const struct tile_printer *w);

/* ---- print_tile_local.c ---- */

/** Writes a tile whose operands come to local memory. */
void put_local_tile(const struct tile_printer *w);

/* ---- print_bytes.c ---- */

/** Declares the accumulators of a tile that multiplies bytes. */
void put_byte_accumulators(const struct tile_printer *w);
/** Writes the step of all numbers of a word, of a tile from global memory that multiplies bytes. */
void put_byte_step(const struct tile_printer *w);
/** Makes floats of the sums of a block, multiplies them by its factors, and adds them to those of the blocks before. */
void put_byte_block(const struct tile_printer *w);
/** Writes the body of a kernel of a tile from local memory that multiplies bytes. */
void put_local_byte_tile(const struct tile_printer *w);
