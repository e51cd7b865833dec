/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Lets what the library reads as bfloat16 lie in memory as bfloat16 (docs/precision.md).
 *
 * It looks at contractions of float32 operands, which the target's library rounds to bfloat16 by itself (struct target:
 * takes_low_precision_input).  The same rounding becomes nodes, once for each value however many contractions read it, and as
 * early as can be:
 *
 *     x -> reshape -> matmul     becomes     x -> cast to bfloat16 -> reshape -> cast to float32 -> matmul
 *
 * The first cast then belongs to what computes x, as the last thing that a library cluster does or as what a kernel stores; the
 * second one to the contraction, which reads bfloat16 (pass_fuse_epilogues).  Other users of x still read float32, so that
 * the pass changes no number: where x has such readers, it is stored both ways.
 */
#include "passes/weights/compact_weights.h"

enum { PARTS_MAX = 8 }; /* of a concat */

struct low_precision {
    struct graph *g;
    struct value **made; /* by value->index: the value in bfloat16, if it is there already */
    uint32_t count;
};

static bool is_low_precision_already(const struct value *v)
{
    const struct node *n = v->producer;

    return v->type.type != WNNOperandDataType_Float32 ||
           (n && n->op == OP_CAST && n->inputs[0].value->type.type == DTYPE_BFLOAT16);
}

/* Returns whether v comes from data movement that takes numbers as they come: there are half as many bytes to move.  A concat
 * that others read would be made twice. */
static bool is_moved(const struct value *v)
{
    const struct node *n = v->producer;

    return n && !n->cluster &&
           (n->op == OP_RESHAPE || n->op == OP_TRANSPOSE ||
            (n->op == OP_CONCAT && n->input_count <= PARTS_MAX && value_only_use(v)));
}

/* Returns v in bfloat16, or NULL if memory runs out. */
static struct value *low_precision_value(struct low_precision *x, struct node *before, struct value *v)
{
    struct node *n = v->producer;
    struct value *from[PARTS_MAX], *made;

    if (v->index < x->count && x->made[v->index])
        return x->made[v->index];
    if (is_moved(v)) {
        for (uint32_t i = 0; i < n->input_count; i++)
            if (!(from[i] = low_precision_value(x, before, n->inputs[i].value)))
                return NULL;
        made = make_node(x->g, before, n->op, n, n->input_count, from, n->options, &n->args);
    } else {
        made = make_cast(x->g, before, n ? n : before, v, DTYPE_BFLOAT16);
    }
    if (made && v->index < x->count)
        x->made[v->index] = made;
    return made;
}

static bool lower_precision(struct low_precision *x, const struct target *t, struct node *n, uint32_t slot)
{
    struct value *v = n->inputs[slot].value, *made;

    if (!v || v->kind == VALUE_CONSTANT || is_low_precision_already(v) || !t->takes_low_precision_input(t->user, n, slot))
        return false;
    made = low_precision_value(x, n, v);
    made = made ? make_cast(x->g, n, n, made, WNNOperandDataType_Float32) : NULL;
    if (!made)
        return false;
    node_set_input(n, slot, made);
    value_drop_unread(v);
    return true;
}

bool pass_low_precision_inputs(struct graph *g, const struct pass_options *o)
{
    const struct target *t = o->target;
    struct low_precision x = {.g = g, .count = g->value_count};
    bool changed = false;

    if (!t || !t->takes_low_precision_input)
        return false;
    graph_for_each_safe (g, n) {
        if (n->cluster || n->transformed || !(op_infos[n->op].flags & OPF_LIBRARY) || !library_computes(n, t))
            continue;
        for (uint32_t slot = 0; slot < 2 && !g->error.status; slot++) {
            /* Most contexts never come here. */
            if (!x.made && !(x.made = arena_array(&g->arena, x.count, sizeof(struct value *))))
                return changed;
            changed |= lower_precision(&x, t, n, slot);
        }
    }
    return changed;
}
