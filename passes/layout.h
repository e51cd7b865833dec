/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Layout propagation, inside.  Read passes/propagate_layout.c first.
 *
 * A permutation says how a value would be stored otherwise: dimension j of the other form is dimension permutation[j] of the
 * value.
 */
#ifndef WEBNN_PASSES_LAYOUT_H_
#define WEBNN_PASSES_LAYOUT_H_

#include "passes/support.h"

struct permutation {
    uint8_t at[RANK_MAX];
};

/* ---- passes/layout_follow.c: operators that work on permuted operands ---- */

/** Whether input `slot` of n must be permuted with n; other operands stay or are fitted by layout_fit_operand. */
bool layout_is_tied(const struct node *n, uint32_t slot);
/** The permutation that the results get when the tied inputs have `operand`.  False: n cannot work on such operands. */
bool layout_forward(const struct node *n, const struct permutation *operand, struct permutation *result);
/** The permutation that tied inputs must have for the results to get `result`.  False: there is none, or not one alone. */
bool layout_backward(const struct node *n, const struct permutation *result, struct permutation *operand);
/**
 * n on permuted operands, before n: inputs are tied ones permuted, others as they are.  NULL: out of memory, or an internal
 * error in g->error.
 */
struct node *layout_rebuild(struct graph *g, struct node *n, struct value *const *inputs, const struct permutation *operand,
                            const struct permutation *result);

/* ---- passes/layout_cut.c: minimum cut ---- */

struct cut;
#define CUT_INFINITE INT64_MAX
enum { CUT_ZERO = 0, CUT_ONE = 1 }; /* the two terminals; variables are numbered from 2 */

/** NULL: out of memory. */
struct cut *cut_create(uint32_t variables);
void cut_free(struct cut *c);
/** A further variable. */
uint32_t cut_variable(struct cut *c);
/** It costs `capacity` if a is 0 and b is 1. */
void cut_cost(struct cut *c, uint32_t a, uint32_t b, int64_t capacity);
/** Gives every variable 0 or 1 at the least total cost, ones only where they are needed for it.  False: out of memory. */
bool cut_solve(struct cut *c, int64_t *cost);
bool cut_is_one(const struct cut *c, uint32_t variable);

#endif
