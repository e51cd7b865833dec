/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Replaces nodes by simpler equivalents, and gives equal things one form, so that later passes need to know only that.
 *
 * Every rule meets these requirements:
 *   1. It is exact: the same bits for every input, NaN (but for its payload), infinities, signed zeros and subnormals included,
 *      for every data type that it accepts.  Each rule says why.  Those that are patterns of operators are rows of
 *      ir/rules/rules.c, those that ask about options, uses or bounds are functions.
 *   2. Types and shapes of what remains are unchanged.
 *   3. It makes the graph smaller, or keeps the number of nodes and moves one node or operand closer to its final form, and no
 *      rule leads back.  So the walks end; ROUNDS_MAX is far beyond what any graph needs, and reaching it is reported as our
 *      error.
 *   4. It looks at a node and a few producers, never at more.
 *
 * The pass walks in topological order, so that operands are in final form when a node is looked at; a walk that changed
 * something is followed by another.  Rewritings that are not exact are not here: passes/simplify/fold_batch_norm.c says by
 * which licence it works.
 */
#include "ir/rules/rules.h"
#include "passes/simplify/canonicalize.h"

enum { ROUNDS_MAX = 100 };

static bool walk(struct graph *g)
{
    bool changed = false;

    graph_for_each_safe (g, n) {
        if (n->cluster)
            continue;
        changed |= canonicalize_operands(g, n);
        if (n->result_count != 1)
            continue;
        struct value *v = NULL;
        if (op_infos[n->op].flags & OPF_COMMUTES && n->inputs[0].value->kind == VALUE_CONSTANT &&
            n->inputs[1].value->kind != VALUE_CONSTANT) /* where rules and epilogues look for it */
            v = make_binary(g, n, n->op, n->inputs[1].value, n->inputs[0].value);
        if (!v && !g->error.status)
            v = canonicalize_by_rules(g, n, rules, rule_count);
        if (!v && !g->error.status)
            v = canonicalize_movement(g, n);
        if (!v && !g->error.status)
            v = canonicalize_clamps(g, n);
        if (g->error.status)
            return changed;
        if (!v)
            continue;
        node_replace(n, v);
        changed = true;
    }
    return changed;
}

bool pass_canonicalize(struct graph *g, const struct pass_options *o)
{
    bool changed = false;
    uint32_t round = 0;

    (void)o;
    while (walk(g)) {
        changed = true;
        if (g->error.status)
            break;
        /* What was replaced leaves producers that nothing reads; rules that ask for an only reader must not count them. */
        pass_drop_dead(g, o);
        if (++round == ROUNDS_MAX) {
            error_set(&g->error, WNNStatus_UnknownError, "internal error: canonicalize does not come to an end");
            break;
        }
    }
    return changed;
}
