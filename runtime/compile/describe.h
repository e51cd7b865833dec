/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Prints as JSON, for the debug switch steps, which operators there are before the passes, and what each step consists of. */
#pragma once

#include "ir/program.h"

/** Prints inputs and outputs as [name, type], and operators as [operator, label, [what its inputs are, or -1 for the graph's]];
 * then the list of steps begins.  Operators without a label get one, "relu_7". */
void describe_graph(FILE *out, struct graph *g);
/** Unless out is NULL, prints the steps from `first` on, which these nodes became: operators [operator, label], and locations
 * [kind, slot, offset, bytes, whether it is written].  Passes give what they make the labels of what it was made of. */
void describe_steps(FILE *out, const struct program *p, uint32_t first, struct node *const *nodes, uint32_t count);
