/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Finds nodes for which inference gives the same results at all sizes, such as those of the layers of a network. */
#pragma once

#include "ir/graph/ir.h"

/** The first node that has the same operator and attributes as another, and the same types, kinds and sizes (value->sizes) of
 * operands and results, open dimensions being the same expressions. */
struct alike {
    const struct node *node; /* NULL: it is the first one */
    bool sure;               /* its results can be taken at all sizes, whatever its operands are then */
};

/** Returns that for each node, by its index.  The caller frees the list.  Returns NULL if memory runs out. */
struct alike *graph_alike(const struct graph *g);
