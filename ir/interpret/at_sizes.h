/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Converts a graph with named dimensions (ir/graph/dims.h) to one of certain sizes. */
#pragma once

#include "ir/graph/alike.h"
#include "ir/graph/dims.h"

/**
 * Makes the graph of g with these sizes of its names, in their order: the same inputs, constants (which are shared) and
 * outputs, every node validated as by the builder.  Operators of ops_draft.def become ordinary ones, and values that depend on
 * shapes and constants only become constants.  g does not change, so that several threads may do this at once.  Returns NULL
 * after an error in *e.
 *
 * With `alike`, a list of graph_alike, one of equal nodes is made: the result is not for computing, but it is valid only if the
 * whole graph is, and its inputs, outputs and data have the same types and bytes.
 */
struct graph *graph_at_sizes(const struct graph *g, const uint32_t *sizes, const struct alike *alike, struct error *e);
