/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Finds clusters that compute the same on different values, like the layers of a network: one lowering serves all.
 */
#pragma once

#include "passes/passes.h"

/** The clusters of a graph, by their indices. */
struct equal_clusters {
    struct cluster_nodes *nodes;
    uint32_t *like; /* 1 + the index of the first one that lowering cannot tell apart: it has the same nodes between values of
                       the same types; 0: none */
    struct storage_kept storage; /* of a plan */
};

/** Collects the clusters of a graph in the arena, and finds equal ones.  Returns false if memory runs out. */
bool equal_clusters_find(const struct graph *g, struct arena *a, struct equal_clusters *out);
/** Returns b's counterpart of a's value v; NULL: v is not one of a's. */
struct value *cluster_counterpart(const struct cluster_nodes *a, const struct cluster_nodes *b, const struct value *v);
