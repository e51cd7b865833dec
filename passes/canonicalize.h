/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Canonicalisation, inside: families of rules.  Read passes/canonicalize.c first.
 */
#ifndef WEBNN_PASSES_CANONICALIZE_H_
#define WEBNN_PASSES_CANONICALIZE_H_

#include "passes/support.h"

/**
 * A family of rules: what the only result of n may be replaced by, or NULL if no rule applies (or g->error is set).  The value
 * is an operand, an earlier value, or the result of new nodes before n.
 */
struct value *canonicalize_movement(struct graph *g, struct node *n);
struct value *canonicalize_arithmetic(struct graph *g, struct node *n);
/** Rules that keep n and change its operands.  True: they did. */
bool canonicalize_operands(struct graph *g, struct node *n);

#endif
