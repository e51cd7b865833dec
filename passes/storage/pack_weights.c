/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Puts constant B operands of contractions that generated kernels compute into the order in which those read them: panels of P
 * output channels side by side, [N / P][window, input channels ...][P], so that every step of a sum loads whole vectors from
 * consecutive addresses.
 *
 * It looks at nodes without a cluster that the library does not take.  They get the constant in that order, and behind it the
 * transpose and the reshape that say which element is which; they become index maps of the contraction's kernel
 * (docs/contractions.md).  The graph means the same as before.  Where the lowering would not take the three together nothing is
 * changed.  Nothing may fold constants behind this pass.
 */
#include <string.h>

#include "ir/graph/conv.h"
#include "ir/schedule/schedule.h"
#include "passes/support.h"

/* Says where the dimensions of a contraction's B are: that of output channels (N), and the others (K), slowest first. */
struct weight_order {
    uint32_t results, count;
    uint8_t others[RANK_MAX];
    int64_t group; /* output channels that read the same part of A: a panel must not have more */
    int64_t rows;  /* M: points that read all of B */
    int64_t inner; /* K: multiply-adds for one result */
};

/* Returns the rows of a matmul that read the same B. */
static int64_t count_rows(const struct node *n)
{
    const struct tensor_type *a = &n->inputs[0].value->type, *b = &n->inputs[1].value->type, *out = &n->results[0]->type;

    if (n->op == OP_GEMM || b->rank > 2)
        return out->dims[out->rank - 2];
    return type_elements(a) / a->dims[a->rank - 1];
}

/*
 * Returns the results that a reshape behind n keeps side by side (the width of a head): where panels end elsewhere, which
 * element of which panel a result is takes divisions, and the schedule finds no register tiles.
 */
static int64_t piece_of(const struct contraction_facts *facts, const struct node *n, int64_t results)
{
    while (n->results[0]->uses && !n->results[0]->uses->next) {
        const struct node *user = n->results[0]->uses->node;
        const struct tensor_type *t = &user->results[0]->type;
        if (user->op == OP_RESHAPE && t->rank) {
            int64_t last = t->dims[t->rank - 1];
            return last < results && results % last == 0 && last >= facts->panel.piece_least ? last : results;
        }
        if (!(op_infos[user->op].flags & OPF_ELEMENTWISE))
            break;
        n = user;
    }
    return results;
}

static bool find_order(const struct contraction_facts *facts, const struct node *n, struct weight_order *o)
{
    const struct tensor_type *t = &n->inputs[1].value->type;

    *o = (struct weight_order){0};
    if (n->op == OP_CONV2D || n->op == OP_CONV_TRANSPOSE2D) {
        static const uint8_t order[] = {AXIS_HEIGHT, AXIS_WIDTH, AXIS_INPUT};
        const struct conv_view c = conv_view(n);
        if (c.image[AXIS_CHANNEL] != 3)
            return false; /* vectors run along the image */
        o->results = c.filter[AXIS_OUTPUT];
        for (uint32_t i = 0; i < 3; i++)
            o->others[o->count++] = (uint8_t)c.filter[order[i]];
        o->group = t->dims[o->results] / (c.transposed ? 1 : c.groups);
        o->rows = type_elements(&n->results[0]->type) / n->results[0]->type.dims[c.image[AXIS_CHANNEL]];
        o->inner = type_elements(t) / t->dims[o->results];
        return true;
    }
    if (n->op == OP_MATMUL || n->op == OP_GEMM) {
        const bool swapped = n->op == OP_GEMM && NODE_OPTIONS(n, WNNGemmOptions)->bTranspose;
        o->results = swapped ? t->rank - 2 : t->rank - 1;
        for (uint32_t i = 0; i < t->rank; i++)
            if (i != o->results)
                o->others[o->count++] = (uint8_t)i;
        o->group = t->dims[o->results];
        o->rows = count_rows(n);
        o->group = piece_of(facts, n, o->group);
        o->inner = t->dims[o->others[o->count - 1]];
        return true;
    }
    return false;
}

static bool is_identity(const uint32_t *permutation, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (permutation[i] != i)
            return false;
    return true;
}

/* Returns the weights in panels, seen as they were, or NULL if they are in order, or after an error in g->error. */
static struct value *pack(struct graph *g, struct node *n, const struct weight_order *o, int64_t panel)
{
    struct value *weights = n->inputs[1].value, *v;
    const struct tensor_type *t = &weights->type;
    uint32_t dims[RANK_MAX], old[RANK_MAX], to[RANK_MAX], back[RANK_MAX], rank = t->rank + 1, at = 0;

    memcpy(old, t->dims, t->rank * sizeof *old);
    if (panel == (int64_t)t->dims[o->results]) { /* one panel: only the order may be wrong */
        for (uint32_t i = 0; i < o->count; i++)
            to[at++] = o->others[i];
        to[at++] = o->results;
        for (uint32_t i = 0; i < at; i++)
            back[to[i]] = i;
        return is_identity(to, at) ? NULL : make_transpose(g, n, n, make_transpose(g, n, n, weights, to), back);
    }
    /* The results' dimension becomes two, and the other ones move. */
    for (uint32_t i = 0; i < t->rank; i++) {
        if (i == o->results)
            dims[at++] = (uint32_t)(t->dims[i] / panel);
        dims[at++] = i == o->results ? (uint32_t)panel : t->dims[i];
    }
    at = 0;
    to[at++] = o->results;
    for (uint32_t i = 0; i < o->count; i++)
        to[at++] = (uint32_t)o->others[i] + (o->others[i] > o->results);
    to[at++] = o->results + 1;
    for (uint32_t i = 0; i < rank; i++)
        back[to[i]] = i;
    v = make_reshape(g, n, n, weights, rank, dims);
    v = make_transpose(g, n, n, make_transpose(g, n, n, v, to), back);
    return v ? make_reshape(g, n, n, v, t->rank, old) : NULL;
}

static bool is_candidate(const struct node *n, const struct target *t)
{
    const struct value *weights;

    if (n->cluster || n->transformed || !(op_infos[n->op].flags & OPF_LIBRARY) || n->input_count < 2 || !n->inputs[1].value)
        return false;
    weights = n->inputs[1].value;
    if (weights->kind != VALUE_CONSTANT || weights->type.rank < 2 || weights->type.rank >= RANK_MAX)
        return false;
    /* Only floats are multiplied in tiles. */
    if (weights->type.type != WNNOperandDataType_Float32 && weights->type.type != WNNOperandDataType_Float16)
        return false;
    return !t->takes_node || !t->takes_node(t->user, n);
}

/* Removes what was made before n since mark. */
static void undo(struct node *n, const struct node *mark)
{
    while (n->prev != mark)
        node_remove(n->prev);
}

bool pass_pack_weights(struct graph *g, const struct pass_options *o)
{
    bool changed = false;

    if (!o->target)
        return false;
    graph_for_each_safe (g, n) {
        const struct node *mark = n->prev;
        struct weight_order order;
        struct node *nodes[3], *maker;
        struct value *v, *original;
        uint32_t count = 0;

        if (!is_candidate(n, o->target) || !find_order(&target_facts(o->target)->contraction, n, &order))
            continue;
        original = n->inputs[1].value;
        v = pack(g, n, &order,
                 schedule_panel(o->target, &(struct contraction){.m = order.rows,
                                                                 .n = original->type.dims[order.results],
                                                                 .k = order.inner,
                                                                 .group = order.group}));
        if (g->error.status)
            return changed;
        if (!v)
            continue;
        node_set_input(n, 1, v);
        if (v->producer->op == OP_RESHAPE)
            nodes[1] = v->producer, nodes[0] = nodes[1]->inputs[0].value->producer, count = 2;
        else
            nodes[0] = v->producer, count = 1;
        nodes[count++] = n;
        if (!lower_can_join(o->target, nodes, count)) {
            node_set_input(n, 1, original);
            undo(n, mark);
            continue;
        }
        /* What comes before the data movement that stays is computed at once. */
        while ((maker = nodes[0]->inputs[0].value->producer) != NULL) {
            while (maker->inputs[0].value->producer)
                maker = maker->inputs[0].value->producer;
            if (!node_fold(g, maker))
                return changed;
        }
        changed = true;
    }
    return changed;
}
