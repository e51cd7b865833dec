/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes a library cluster of every convolution and matmul that the target's library takes, of the transposes and casts that it
 * reads through, and of the element-wise nodes after it that it takes as an epilogue: bias, activation, residual.
 *
 * A node joins the end of the cluster if it is the only reader of what the cluster computes so far and keeps its shape.  So
 * nothing can leave a cluster but the result of its last node, and no cycle among clusters can come about: a path from a
 * cluster back into it would start at that last node and end at one of the cluster's nodes, hence be a cycle of the graph.  For
 * the same reason other operands (a residual) may be computed by anything, also by nodes that come later in the order now;
 * pass_finish_clusters puts the clusters in order.
 *
 * The pass runs once over the nodes; every node joins at most one cluster.
 */
#include "passes/weights/compact_weights.h"

enum {
    EPILOGUE_MAX = 16,    /* more than any library's list of post-operations */
    DATA_MOVEMENT_MAX = 2 /* a cast and a transpose */
};

static void join_operands(const struct target *t, struct node *anchor, struct cluster *c)
{
    for (uint32_t i = 0; i < anchor->input_count; i++) {
        struct node *data_movement[DATA_MOVEMENT_MAX];
        const struct value *v = anchor->inputs[i].value;

        for (uint32_t count = 1; count <= DATA_MOVEMENT_MAX && v; count++) {
            struct node *n = v->producer, **first = data_movement + DATA_MOVEMENT_MAX - count;

            if (!n || n->cluster || (n->op != OP_TRANSPOSE && n->op != OP_CAST) || !value_only_use(v))
                break;
            *first = n;
            if (!t->takes_operand(t->user, anchor, i, first, count))
                break;
            n->cluster = c;
            v = n->inputs[0].value;
        }
    }
}

static void join_epilogue(const struct target *t, struct node *anchor, struct cluster *c)
{
    struct node *nodes[EPILOGUE_MAX] = {anchor};

    for (uint32_t count = 1; count < EPILOGUE_MAX; count++) {
        const struct value *carried = nodes[count - 1]->results[0];
        const struct use *u = value_only_use(carried);
        struct node *next = u ? u->node : NULL;

        if (!next || next->cluster || !(op_infos[next->op].flags & OPF_ELEMENTWISE) ||
            type_elements(&next->results[0]->type) != type_elements(&carried->type) ||
            next->results[0]->type.rank != carried->type.rank || !t->takes_epilogue(t->user, nodes, count, next, u->slot))
            return;
        next->cluster = c;
        nodes[count] = next;
    }
}

bool pass_fuse_epilogues(struct graph *g, const struct pass_options *o)
{
    const struct target *t = o->target;
    bool changed = false;

    if (!t || !t->takes_node)
        return false;
    graph_for_each (g, n) {
        if (n->cluster || n->transformed || !(op_infos[n->op].flags & OPF_LIBRARY) || !library_computes(n, t))
            continue;
        struct cluster *c = cluster_create(g, CLUSTER_LIBRARY);
        if (!c)
            return changed;
        c->anchor = n;
        n->cluster = c;
        changed = true;
        if (t->takes_operand)
            join_operands(t, n, c);
        if (t->takes_epilogue)
            join_epilogue(t, n, c);
    }
    return changed;
}
