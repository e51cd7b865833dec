/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Finds nodes for which inference gives the same results at all sizes, such as those of the layers of a network. */
#pragma once

#include "ir/graph/ir.h"

/** The nodes that are made at each size: the results of others can be taken at all sizes, whatever their operands are then. */
struct alike {
    uint32_t count;
    struct alike_node {
        const struct node *node, *like; /* the first one that has the same operator and attributes, and the same types, kinds
                                           and sizes (value->sizes) of operands and results, or NULL */
    } *nodes;
    uint32_t *values; /* by value->index: that of the result to take, or the same */
};

/** Compares the nodes of a graph.  The caller frees the result.  Returns NULL if memory runs out. */
struct alike *graph_alike(const struct graph *g);
