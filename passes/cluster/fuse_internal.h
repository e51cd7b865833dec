/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares internals of fuse-kernels: groups of nodes, their order, and the cost of joining them.
 */
#pragma once

#include "passes/cluster/fuse_cost.h"
#include "passes/support.h"

enum {
    GROUP_NODES_MAX = 64,
    SIBLING_INPUTS_MAX = 24, /* inputs of a node whose other readers are considered */
    SEARCH_MAX = 1024,       /* inputs looked at in one search for a path */
    VIEWS_MAX = 4,           /* views in a row that are looked through */
    SIBLINGS_MAX = 4         /* other readers of an input that are considered */
};

/** Nodes that will become one cluster. */
struct group {
    enum { GROUP_KERNEL, GROUP_LIBRARY, GROUP_FREE } kind; /* FREE: a view as long as it stays alone */
    uint32_t count;
    struct node **nodes; /* in topological order */
    int64_t place;
    struct group *next, *prev; /* in the order of places */
    double bytes;              /* moved to and from memory */
    double work;               /* lower_can_join's, or that of its parts if less; 0: not computed, -1: unknown */
    bool uniform;              /* element-wise nodes with results of one shape only: a kernel is always possible */
    bool closed;               /* a concat with what computes its inputs: a kernel per input, to which nothing can be added */
    bool unasked;              /* joined without lower_can_join, for that reason */
    uint32_t seen, member;     /* number of the search that found it, of the one it was to be a member of */
};

/** The state of the pass. */
struct fuse {
    struct graph *g;
    const struct pass_options *o;
    struct arena arena;
    struct group **group_of;    /* by node->index; NULL: not visited yet */
    uint32_t *position;         /* by node->index: in the graph's order */
    uint32_t *uses;             /* by value->index: reading slots and outputs */
    struct group *first, *last; /* in the order of places */
    uint32_t search;            /* number of the current search */
    struct group **found;       /* by the current search */
    uint32_t found_count;
    uint32_t *cluster_sizes; /* by cluster->index: of the clusters that exist already */
    struct group **cluster_groups;
    /* State of the set of nodes that is being weighed. */
    uint32_t weighing;
    uint32_t *node_in;    /* by node->index: number of the weighing it belongs to */
    uint32_t *value_in;   /* by value->index: number of the weighing it was met in */
    uint32_t *value_uses; /* by value->index: uses inside */
    double *value_bytes;  /* by value->index: bytes of it that are read */
};

/* A candidate: nodes in topological order. */
struct candidate {
    uint32_t count;
    struct node *nodes[GROUP_NODES_MAX + VIEWS_MAX + 1];
};

/* ---- the order of groups (fuse_order.c) ---- */

/** Puts a group after all others. */
void fuse_order_append(struct fuse *f, struct group *g);
/** Removes a group from the order. */
void fuse_order_remove(struct fuse *f, struct group *g);
/**
 * Finds every other group, placed after members[0], that members[1..] depend on; members[0] is the one placed first.  Returns
 * false if one of them depends on a member in turn, or if the search became too long.
 */
bool fuse_search_between(struct fuse *f, struct group *const *members, uint32_t member_count);
/** Moves what was found before `first`, keeping its order. */
void fuse_move_found_before(struct fuse *f, struct group *first);

/* ---- the cost of a join (fuse_weigh.c) ---- */

/** Returns the bytes of a value. */
static inline double fuse_value_bytes(const struct value *v)
{
    return (double)type_bytes(&v->type);
}
/** Returns the bytes that a kernel of these nodes moves.  *streams counts 1 for each tensor at its boundary, and 2 for those it
 * writes. */
double fuse_weigh(struct fuse *f, struct node *const *nodes, uint32_t count, uint32_t *streams);
/** Returns how many results of the nodes weighed last are needed outside. */
uint32_t fuse_written_values(const struct fuse *f, struct node *const *nodes, uint32_t count);
/**
 * Returns the cost of recomputation of the join, in bytes: elements that are read, and therefore computed, several times.  A
 * negative result says that the join must not be made at all.  `times` is kept in value_bytes of what is computed inside, by
 * going backwards: a node is computed as often as its most frequent reader needs it.
 */
double fuse_repeated_work(struct fuse *f, const struct candidate *c);
/**
 * Returns the cost of lost parallelism of the join: a kernel that reduces has as many independent points as its reductions have
 * results, which limits the threads of all its nodes.
 */
double fuse_lost_threads(const struct fuse *f, const struct candidate *c);
