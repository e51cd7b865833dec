/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes every graph output a different value that some node computes, by adding identity nodes: for an output that is an input
 * or a constant (folding makes such), and for every further output that is the same value.  The pass is required: storage
 * assignment gives an output's bytes to one value.
 *
 * The rule that pass_finish_clusters and storage_assign add to this: a graph output is written into its own buffer by the
 * kernel or library call that computes it, or it is a view, of all bytes and without offset, of a value that is written there.
 * A view that cannot be so (a part of something, a view of an input or a constant, a second output of the same bytes) becomes a
 * copying kernel, be it an identity made here or a reshape that was there before.
 */
#include "passes/support.h"

bool pass_separate_outputs(struct graph *g, const struct pass_options *o)
{
    bool changed = false;

    (void)o;
    for (uint32_t i = 0; i < g->output_count; i++) {
        struct value *v = g->outputs[i].value, *copy;

        if (v->kind == VALUE_RESULT && v->output_uses == 1)
            continue;
        copy = make_node(g, NULL, OP_IDENTITY, NULL, 1, &v, NULL, NULL);
        if (!copy)
            return changed;
        g->outputs[i].value = copy;
        copy->output_uses = 1;
        v->output_uses--;
        changed = true;
    }
    return changed;
}
