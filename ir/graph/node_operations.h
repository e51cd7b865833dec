/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares what computing a node with the reference interpreter takes, and charging it to a budget.
 */
#pragma once

#include "ir/graph/ir.h"

/** Charges computing a node with the reference interpreter, its results' memory included; `doing` is a participle. */
bool budget_spend_node(struct budget *b, const char *doing, const struct node *n, struct error *e);

/** Returns about how many scalar operations the reference interpreter takes to compute a node. */
double node_operations(const struct node *n);
