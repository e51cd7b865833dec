/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Estimates what computing a node costs, for deciding which nodes become one kernel.  The estimates count elements and bytes,
 * from the operator table's flags and the types alone.
 */
#pragma once

#include "passes/passes.h"

/** Returns how many elements of input `slot` computing all of n reads, an element read twice counted twice. */
double cost_elements_read(const struct node *n, uint32_t slot);
/** Returns how many additions take as much time as computing all of n, on t (NULL: the baseline). */
double cost_operations(const struct target *t, const struct node *n);
/** Returns whether doing n's work twice is never worth it: transcendental functions, and whatever sums over many elements. */
bool cost_is_high(const struct node *n);
/** Returns the independent points of n's iteration space, which can be shared among threads. */
double cost_points(const struct node *n);
