/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Finds nodes for which inference gives the same results at all sizes, such as those of the layers of a network. */
#pragma once

#include "ir/graph/ir.h"

/** Returns for each node, by its index, the first one that has the same operator and attributes, and the same types, kinds and
 * sizes (value->sizes) of operands and results, open dimensions being the same expressions; NULL for that one.  The caller
 * frees the list.  Returns NULL if memory runs out. */
const struct node **graph_alike(const struct graph *g);
