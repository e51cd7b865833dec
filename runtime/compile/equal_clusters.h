/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Finds clusters that compute the same on different values, like the layers of a network: one lowering serves all.
 */
#pragma once

#include "ir/program.h"
#include "passes/passes.h"

/** The clusters of a graph, by their indices. */
struct equal_clusters {
    struct cluster_nodes *nodes;
    uint32_t *like; /* 1 + the index of the first one that lowering cannot tell apart: it has the same nodes between values of
                       the same types; 0: none */
    /* Of a plan: */
    struct storage_kept storage;
    struct program program;      /* at the last sizes, whose steps other sizes change; without steps: none */
    uint32_t *constant_slots;    /* its constants, by value->index: slot + 1 */
    const struct value **values; /* of its locations, in the order of steps */
};

/** Collects the clusters of a graph in the arena, and finds equal ones.  Returns false if memory runs out. */
bool equal_clusters_find(const struct graph *g, struct arena *a, struct equal_clusters *out);
/** Frees the program of a plan. */
void equal_clusters_forget(struct equal_clusters *c);
/** Returns b's counterpart of a's value v; NULL: v is not one of a's. */
struct value *cluster_counterpart(const struct cluster_nodes *a, const struct cluster_nodes *b, const struct value *v);
