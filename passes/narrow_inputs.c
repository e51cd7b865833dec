/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Lets what the library reads as bfloat16 lie in memory as bfloat16 (docs/precision.md).
 *
 * In: products of float32 operands, which the target's library rounds to bfloat16 by itself (struct target: narrows_input).
 * Out: the same rounding as nodes, once for each value however many products read it, and as early as can be:
 *
 *     x -> reshape -> matmul     becomes     x -> cast to bfloat16 -> reshape -> cast to float32 -> matmul
 *
 * The first cast then belongs to what computes x, as the last thing that a library cluster does or as what a kernel stores; the
 * second one to the product, which reads bfloat16 (pass_fuse_epilogues).  Other readers of x see float32 as before, so that the
 * pass changes no number: where x has such readers, it is stored both ways.
 */
#include "passes/support.h"

enum { PARTS_MAX = 8 }; /* of a concat */

struct narrowing {
    struct graph *g;
    struct value **narrow; /* by value->index: the value in bfloat16, if it is there already */
    uint32_t count;
};

static bool is_narrow_already(const struct value *v)
{
    const struct node *n = v->producer;

    return v->type.type != WNNOperandDataType_Float32 ||
           (n && n->op == OP_CAST && n->inputs[0].value->type.type == DTYPE_BFLOAT16);
}

/* Movements that take numbers as they come: half as many bytes to move.  A concat that others read would be made twice. */
static bool is_moved(const struct value *v)
{
    const struct node *n = v->producer;

    return n && !n->cluster &&
           (n->op == OP_RESHAPE || n->op == OP_TRANSPOSE ||
            (n->op == OP_CONCAT && n->input_count <= PARTS_MAX && value_only_use(v)));
}

/* v in bfloat16.  NULL: out of memory. */
static struct value *narrow_value(struct narrowing *x, struct node *before, struct value *v)
{
    struct node *n = v->producer;
    struct value *from[PARTS_MAX], *made;

    if (v->index < x->count && x->narrow[v->index])
        return x->narrow[v->index];
    if (is_moved(v)) {
        for (uint32_t i = 0; i < n->input_count; i++)
            if (!(from[i] = narrow_value(x, before, n->inputs[i].value)))
                return NULL;
        made = make_node(x->g, before, n->op, n, n->input_count, from, n->options, &n->args);
    } else {
        made = make_cast(x->g, before, n ? n : before, v, DTYPE_BFLOAT16);
    }
    if (made && v->index < x->count)
        x->narrow[v->index] = made;
    return made;
}

/* Movements that only what is narrow now has read. */
static void drop_unread(struct value *v)
{
    struct node *n = v->producer;
    struct value *inputs[PARTS_MAX];
    uint32_t count;

    if (!n || v->uses || v->output_uses)
        return;
    count = n->input_count;
    for (uint32_t i = 0; i < count; i++)
        inputs[i] = n->inputs[i].value;
    node_remove(n);
    n->results[0]->producer = NULL; /* one that reads it twice comes back */
    for (uint32_t i = 0; i < count; i++)
        drop_unread(inputs[i]);
}

static bool narrow_input(struct narrowing *x, const struct target *t, struct node *n, uint32_t slot)
{
    struct value *v = n->inputs[slot].value, *narrow;

    if (!v || v->kind == VALUE_CONSTANT || is_narrow_already(v) || !t->narrows_input(t->user, n, slot))
        return false;
    narrow = narrow_value(x, n, v);
    narrow = narrow ? make_cast(x->g, n, n, narrow, WNNOperandDataType_Float32) : NULL;
    if (!narrow)
        return false;
    node_set_input(n, slot, narrow);
    drop_unread(v);
    return true;
}

bool pass_narrow_inputs(struct graph *g, const struct pass_options *o)
{
    const struct target *t = o->target;
    struct narrowing x = {.g = g, .count = g->value_count};
    bool changed = false;

    if (!t || !t->narrows_input)
        return false;
    graph_for_each_safe (g, n) {
        if (n->cluster || n->transformed || !(op_infos[n->op].flags & OPF_LIBRARY) || !t->takes_node(t->user, n))
            continue;
        for (uint32_t slot = 0; slot < 2 && !g->error.status; slot++) {
            /* most contexts never come here */
            if (!x.narrow && !(x.narrow = arena_array(&g->arena, x.count, sizeof(struct value *))))
                return changed;
            changed |= narrow_input(&x, t, n, slot);
        }
    }
    return changed;
}
