/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Finds clusters that compute the same on different values, like the layers of a network: one lowering serves all.
 */
#pragma once

#include "passes/passes.h"

/** Returns a number that equal clusters have in common. */
uint64_t cluster_hash(const struct cluster_nodes *c);
/** Returns whether lowering cannot tell two clusters apart: they have the same nodes between values of the same types. */
bool clusters_are_equal(const struct cluster_nodes *a, const struct cluster_nodes *b);
/** Returns b's counterpart of a's value v; NULL: v is not one of a's. */
struct value *cluster_counterpart(const struct cluster_nodes *a, const struct cluster_nodes *b, const struct value *v);
