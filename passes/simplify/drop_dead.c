/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Removes nodes whose results nothing reads, and frees the bytes of constants that nothing reads.  It needs and keeps the
 * topological order: going backwards, a node's readers are gone before the node is looked at, so that one walk is enough.
 */
#include "passes/support.h"

static bool node_is_dead(const struct node *n)
{
    for (uint32_t i = 0; i < n->result_count; i++)
        if (n->results[i]->uses || n->results[i]->output_uses)
            return false;
    return true;
}

bool pass_drop_dead(struct graph *g, const struct pass_options *o)
{
    bool changed = false;

    (void)o;
    for (struct node *n = g->last, *previous; n; n = previous) {
        previous = n->prev;
        if (node_is_dead(n)) {
            node_remove(n);
            changed = true;
        }
    }
    /* Folded weights would otherwise exist twice until the graph goes.  This is no change of the graph. */
    for (struct value *v = g->first_constant; v; v = v->next_constant) {
        value_drop_constant(v);
    }
    return changed;
}
