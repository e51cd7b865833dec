/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What computing a node costs, for deciding which nodes become one kernel.  Estimates, in elements and bytes, from the operator
 * table's flags and the types alone.
 */
#ifndef WEBNN_PASSES_FUSE_COST_H_
#define WEBNN_PASSES_FUSE_COST_H_

#include "passes/passes.h"

/** Simple operations that take as long as moving one byte to or from memory. */
#define COST_OPERATIONS_PER_BYTE 4.0

/** How many elements of input `slot` computing all of n reads, an element read twice counted twice. */
double cost_elements_read(const struct node *n, uint32_t slot);
/** Simple operations that computing all of n takes. */
double cost_operations(const struct node *n);
/** Whether doing n's work twice is never worth it: transcendental functions, and whatever sums over many elements. */
bool cost_is_high(const struct node *n);
/** Independent points of n's iteration space: what can be shared among threads. */
double cost_points(const struct node *n);

#endif
