/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares internals of layout propagation.  Read passes/layout/propagate_layout.c first.
 *
 * A permutation describes another layout of a value: dimension j of the permuted form is dimension permutation[j] of the value.
 */
#pragma once

#include "passes/support.h"

struct permutation {
    uint8_t at[RANK_MAX];
};

/* ---- passes/layout/layout_follow.c: operators that work on permuted operands ---- */

/** Returns whether input `slot` of n must be permuted with n; other operands stay, or the caller adapts them. */
bool layout_is_tied(const struct node *n, uint32_t slot);
/** Finds the permutation that the results get when the tied inputs have `operand`.  Returns false if n cannot work on such
 * operands. */
bool layout_forward(const struct node *n, const struct permutation *operand, struct permutation *result);
/** Finds the permutation that tied inputs must have for the results to get `result`.  Returns false if there is none, or it is
 * ambiguous. */
bool layout_backward(const struct node *n, const struct permutation *result, struct permutation *operand);
/**
 * Makes n on permuted operands, before n, and returns the new node.  inputs are the tied ones permuted, and others as they are.
 * Returns NULL if memory runs out, or after an internal error in g->error.
 */
struct node *layout_rebuild(struct graph *g, struct node *n, struct value *const *inputs, const struct permutation *operand,
                            const struct permutation *result);

/* ---- passes/layout/layout_cut.c: minimum cut ---- */

struct cut;
#define CUT_INFINITE INT64_MAX
enum { CUT_ZERO = 0, CUT_ONE = 1 }; /* the two terminals; variables are numbered from 2 */

/** Makes a problem with that many variables and no costs, which the caller frees.  Returns NULL if memory runs out. */
struct cut *cut_create(uint32_t variables);
/** Frees a problem.  NULL does nothing. */
void cut_free(struct cut *c);
/** Adds a variable and returns its number. */
uint32_t cut_variable(struct cut *c);
/** Adds a cost: `capacity` if a is 0 and b is 1. */
void cut_cost(struct cut *c, uint32_t a, uint32_t b, int64_t capacity);
/** Assigns 0 or 1 to every variable at the least total cost, which it stores in *cost, with as few ones as possible.
 * Returns false if memory runs out. */
bool cut_solve(struct cut *c, int64_t *cost);
/** Returns whether cut_solve gave 1 to a variable. */
bool cut_is_one(const struct cut *c, uint32_t variable);
