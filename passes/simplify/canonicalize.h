/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares internals of canonicalisation.  Read passes/simplify/canonicalize.c first.
 */
#pragma once

#include "passes/support.h"

struct rule;

/**
 * These functions return a replacement of the only result of n, or NULL if no rule applies (or g->error is set).  The
 * value is an operand, an earlier value, or the result of new nodes before n.  The first applies rows of ir/rules/rules.c.
 */
struct value *canonicalize_by_rules(struct graph *g, struct node *n, const struct rule *rows, size_t count);
struct value *canonicalize_movement(struct graph *g, struct node *n);
struct value *canonicalize_clamps(struct graph *g, struct node *n);

/** Applies rules that keep n and change its operands.  Returns whether any applied. */
bool canonicalize_operands(struct graph *g, struct node *n);
