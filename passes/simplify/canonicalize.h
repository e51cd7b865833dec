/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares the inside of canonicalisation: families of rules.  Read passes/simplify/canonicalize.c first.
 */
#ifndef WEBNN_PASSES_SIMPLIFY_CANONICALIZE_H_
#define WEBNN_PASSES_SIMPLIFY_CANONICALIZE_H_

#include "passes/support.h"

/**
 * A family of rules returns what the only result of n may be replaced by, or NULL if no rule applies (or g->error is set).  The
 * value is an operand, an earlier value, or the result of new nodes before n.
 */
struct value *canonicalize_movement(struct graph *g, struct node *n);
struct value *canonicalize_arithmetic(struct graph *g, struct node *n);
/** This is a rule for an operator. */
struct rule {
    enum op op;
    struct value *(*apply)(struct graph *g, struct node *n);
};
/** Returns what the first of a family's rules that applies makes of n, or NULL. */
struct value *rules_apply(const struct rule *rules, size_t count, struct graph *g, struct node *n);

/** Applies rules that keep n and change its operands.  Returns whether they did. */
bool canonicalize_operands(struct graph *g, struct node *n);

#endif
