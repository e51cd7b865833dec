/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Prints as JSON, for the debug switch steps, the operators before the passes, and the operators of each step. */
#pragma once

#include "ir/graph/ir.h"
#include "ir/program.h"

/** Prints inputs and outputs as [name, type], and operators as [operator, label, [what its inputs are, or -1 for the graph's]];
 * then the list of steps begins.  Operators without a label get one, "relu_7". */
void describe_graph(FILE *out, struct graph *g);
/** Unless out is NULL, prints the steps from `first` on, which these nodes became: operators [operator, label], and locations
 * [kind, slot, offset, bytes, whether it is written].  Passes label new nodes like the replaced ones. */
void describe_steps(FILE *out, const struct program *p, uint32_t first, struct node *const *nodes, uint32_t count);
