/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Declares how a graph with named dimensions (ir/graph/dims.h) becomes one of certain sizes. */
#pragma once

#include "ir/graph/dims.h"

/**
 * Makes the graph that g is if its names have these sizes, in the order of their numbers: the same inputs, constants (which are
 * shared) and outputs, every node validated as the builder would have done.  Operators of ops_draft.def become those that they
 * stand for, and what depends on shapes and constants only becomes constants.  g does not change, so that several threads may
 * do this at once.  Returns NULL after an error in *e.
 */
struct graph *graph_at_sizes(const struct graph *g, const uint32_t *sizes, struct error *e);
