/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Shares the bytes of constants between graphs: a language model's graph for a prompt and its graph for one token are made of
 * the same weights, which are packed alike.  What was packed is found by its bytes, or before anything is packed by what it is
 * made of.
 */
#pragma once

#include "ir/graph/ir.h"

/** Knows constants by their bytes, as long as somebody has a reference to them: the pool itself has none. */
struct constant_pool;

/** Constants with fewer bytes than this are not worth looking for. */
enum { CONSTANT_POOL_BYTES_LEAST = 1 << 12 };

/** Says how a constant is made: by which function, of which constant (its id), and with which numbers, such as the dimensions
 * of two tensors. */
enum { CONSTANT_RECIPE_MAX = 2 * RANK_MAX + 9 };
enum constant_maker { CONSTANT_PACKED, CONSTANT_COMPACT, CONSTANT_TRANSFORMED };
struct constant_recipe {
    uint32_t count;
    uint64_t numbers[CONSTANT_RECIPE_MAX];
};
/** Begins a recipe; numbers are to be added. */
static inline struct constant_recipe constant_recipe_begin(enum constant_maker maker, const struct constant *of)
{
    return (struct constant_recipe){2, {maker, of->id}};
}
/** Adds a number to a recipe. */
static inline void constant_recipe_add(struct constant_recipe *r, uint64_t number)
{
    r->numbers[r->count++] = number;
}

/** Counts constants that were found by recipes, and those that were kept under them. */
struct constant_pool_counts {
    uint64_t found, made;
};

/** Creates an empty pool.  Returns NULL if memory runs out. */
struct constant_pool *constant_pool_create(void);
/** Gives the pool back.  It lives on until the last constant that it knows is gone.  NULL does nothing. */
void constant_pool_release(struct constant_pool *p);
/**
 * Creates a constant of so many bytes for the caller to write, as constant_create does.  It is for what stays as long as a
 * graph: constants of a pool share huge pages once there are enough of them.  p may be NULL.  Several threads may call this.
 */
struct constant *constant_pool_place(struct constant_pool *p, size_t bytes);
/**
 * Takes over the caller's reference to c, whose bytes are complete, and returns one to a constant with the same bytes: one that
 * the pool knows, or c, which the pool knows from then on.  Lent constants and small ones are returned as they are; so is c if
 * memory runs out or p is NULL.  Several threads may call this.
 */
struct constant *constant_pool_share(struct constant_pool *p, struct constant *c);
/** Returns a new reference to the constant that was made by this recipe, if somebody still has it; else NULL.  p may be NULL.
 * Several threads may call this. */
struct constant *constant_pool_find(struct constant_pool *p, const struct constant_recipe *r);
/** Does what constant_pool_share does with a constant that was made by a recipe, by which it is found from then on unless it is
 * small. */
struct constant *constant_pool_keep(struct constant_pool *p, const struct constant_recipe *r, struct constant *c);
/** Returns what was found and made so far. */
struct constant_pool_counts constant_pool_count(struct constant_pool *p);
/** Returns the hash of a constant's bytes, by which pools and devices find equal ones. */
uint64_t constant_hash(const struct constant *c);
/** Is called by the last reference to a constant that a pool knows. */
void constant_pool_forget(struct constant_entry *e);
