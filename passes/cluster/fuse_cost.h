/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Estimates the cost of computing a node, to decide which nodes become one kernel.  The estimates count elements and bytes,
 * from the operator table's flags and the types alone.
 */
#pragma once

#include "passes/passes.h"

/** Returns how many elements of input `slot` computing all of n reads, an element read twice counted twice. */
double cost_elements_read(const struct node *n, uint32_t slot);
/** Returns whether a contraction whose operand 0 is transposed had better read a copy: its elements lie apart along the sum,
 * each in a line of its own, of which the L1 cache does not hold all until the next tile of rows.  So it is with few channels
 * and padding: zeros stand for channels that are neighbours, and others are tested one by one. */
bool cost_reads_apart(const struct target *t, const struct node *n);
/** Returns the time of computing all of n on t (NULL: the baseline), in additions. */
double cost_operations(const struct target *t, const struct node *n);
/** Returns whether n must not be computed twice: transcendental functions, and sums over many elements. */
bool cost_is_high(const struct node *n);
/** Returns the independent points of n's iteration space, which can be shared among threads. */
double cost_points(const struct node *n);
