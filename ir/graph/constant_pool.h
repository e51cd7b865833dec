/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Shares the bytes of constants between graphs: a language model's graph for a prompt and its graph for one token are made of
 * the same weights, which are packed alike.  Packed weights are found by their bytes, or, before packing, by their recipe.
 */
#pragma once

#include "ir/graph/constant.h"
#include "ir/graph/op.h"

/** Maps bytes to constants, as long as others hold a reference to them: the pool itself holds none. */
struct constant_pool;

/** Constants with fewer bytes than this are not shared. */
enum { CONSTANT_POOL_BYTES_LEAST = 1 << 12 };

/** Says how a constant is made: by which function, of which constant (its id), and with which numbers, such as the dimensions
 * of two tensors. */
enum { CONSTANT_RECIPE_MAX = 2 * RANK_MAX + 9 };
enum constant_maker { CONSTANT_PACKED, CONSTANT_COMPACT, CONSTANT_WORDS, CONSTANT_TRANSFORMED };
struct constant_recipe {
    uint32_t count;
    uint64_t numbers[CONSTANT_RECIPE_MAX];
};
/** Begins a recipe without numbers. */
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
/** Releases the pool.  It is freed with the last of its constants.  NULL does nothing. */
void constant_pool_release(struct constant_pool *p);
/**
 * Creates a constant of that many bytes for the caller to write, as constant_create does.  It is for what lives as long as a
 * graph or a tensor: all of a pool share huge pages once there are enough of them.  p may be NULL.  Several threads may call
 * this.
 */
struct constant *constant_pool_place(struct constant_pool *p, size_t bytes);
/**
 * Takes over the caller's reference to c, whose bytes are complete, and returns one to a constant with the same bytes: one in
 * the pool, or c, which is added to the pool.  Lent constants and small ones are returned as they are; so is c if memory runs
 * out or p is NULL.  Several threads may call this.
 */
struct constant *constant_pool_share(struct constant_pool *p, struct constant *c);
/** Returns a new reference to the constant that was made by this recipe, if it still exists; else NULL.  p may be NULL.
 * Several threads may call this. */
struct constant *constant_pool_find(struct constant_pool *p, const struct constant_recipe *r);
/** Does the same as constant_pool_share with a constant made by a recipe, and adds it under the recipe unless it is small. */
struct constant *constant_pool_keep(struct constant_pool *p, const struct constant_recipe *r, struct constant *c);
/** Returns the counts so far. */
struct constant_pool_counts constant_pool_count(struct constant_pool *p);
/** Returns the hash of a constant's bytes, by which pools and devices find equal ones. */
uint64_t constant_hash(const struct constant *c);
/** Is called by the last reference to a constant that a pool knows. */
void constant_pool_forget(struct constant_entry *e);
