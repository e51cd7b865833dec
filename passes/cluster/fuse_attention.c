/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes one kernel cluster of every attention, softmax(chain(Q K^T)) V, that is worth one: the two matmuls, the softmax, what
 * lies between them element by element (a scale, a mask, a cast), the movements of data through which Q, K and V are read and
 * the result is written.  lower_attention.c makes a kernel of stages of it, in which the scores of a few rows at a time exist,
 * in the cache only.  docs/attention.md explains the method and where the numbers of the cost model (struct attention_facts)
 * come from.
 *
 * Nothing leaves such a cluster but the result of its last node, because a node joins only if its one reader is in the cluster.
 * So no cycle among clusters can come about (fuse_epilogues.c says why).  The nodes that say which keys count are the same in
 * all layers of a network: each attention gets its own copy of them.
 */
#include "passes/cluster/attention.h"

#include "passes/support.h"

enum {
    MOVEMENTS_MAX = 5, /* movements of data, and casts, in a row that join */
    NODES_MAX = 5 + ATTENTION_CHAIN_MAX + ATTENTION_CASTS_MAX + ATTENTION_CONDITIONS_MAX + 4 * MOVEMENTS_MAX
};

/* ---- whether ---- */

/* Returns whether there are macro-tiles for all units of a device: matmuls divide their columns, too, among units that
 * would have nothing to do here.  A processor has few threads, and need not be filled. */
static bool fills_device(const struct attention *a, const struct target *t)
{
    const int64_t rows = attention_tile_rows(a, t);
    const int64_t tiles = attention_has_few_rows(a, t) ? a->batches / a->group : a->batches * ceil_div(a->rows, rows);

    return !t->device || tiles >= target_stage_threads(t);
}

/* Returns whether one kernel is better than two matmuls with the scores in memory between them. */
static bool is_better(const struct attention *a, const struct target *t)
{
    const struct attention_facts *facts = &target_facts(t)->attention;
    const double scores = (double)a->batches * (double)a->rows * (double)a->keys * sizeof(float);
    const int64_t rows = attention_tile_rows(a, t);
    const double least = a->rows % rows || rows % target_stage_lanes(t) ? facts->scores_least : facts->scores_whole;

    if (attention_has_few_rows(a, t))
        return (!t->takes_node && !t->device) ||
               a->group * a->rows <= (a->bound.edge_count ? facts->bounded_rows : facts->few_rows_best);
    const bool skips = a->bound.edge_count && !t->device && !t->sizes_vary; /* keys that the library would read */
    return a->rows >= (skips ? facts->bounded_least : facts->rows_least) && a->keys >= facts->keys_least &&
           ((!t->takes_node && !t->device) || skips || scores >= least);
}

/* ---- the cluster ---- */

struct members {
    uint32_t count;
    struct node *nodes[NODES_MAX];
};

static void join(struct members *m, const struct node *n)
{
    m->nodes[m->count++] = (struct node *)(uintptr_t)n;
}

static bool is_moved(const struct node *n)
{
    return n->op == OP_TRANSPOSE || n->op == OP_RESHAPE || n->op == OP_EXPAND || n->op == OP_SLICE;
}

static bool is_cast(const struct node *n)
{
    return n->op == OP_CAST && dtype_size(n->inputs[0].value->type.type) < dtype_size(n->results[0]->type.type) &&
           n->results[0]->type.type == WNNOperandDataType_Float32;
}

/* Joins the movements of data through which an operand is read, and with `casts` a cast from a shorter type. */
static void join_operand(struct members *m, const struct value *v, bool casts)
{
    for (uint32_t i = 0; i < MOVEMENTS_MAX; i++) {
        const struct node *n = v->producer;

        if (!n || n->cluster || !(is_moved(n) || (casts && is_cast(n))) || !value_only_use(v))
            return;
        join(m, n);
        v = n->inputs[0].value;
    }
}

static bool is_rounding(const struct node *n)
{
    return n->op == OP_CAST && n->results[0]->type.type == WNNOperandDataType_Float16;
}

/* Returns whether n replaces some elements of v by a number, such as rows that see no key by 0. */
static bool replaces_rows(const struct node *n, const struct value *v)
{
    double number;

    return n->op == OP_WHERE && n->inputs[0].value != v && type_equal(&n->results[0]->type, &v->type) &&
           value_splat_number(n->inputs[n->inputs[1].value == v ? 2 : 1].value, &number);
}

/* Joins the movements of data through which the result is written, what replaces its rows, and a cast to float16. */
static void join_result(struct members *m, const struct value *v)
{
    for (uint32_t i = 0; i < MOVEMENTS_MAX; i++) {
        const struct use *u = value_only_use(v);

        if (!u || u->node->cluster ||
            (u->node->op != OP_TRANSPOSE && u->node->op != OP_RESHAPE && !is_rounding(u->node) && !replaces_rows(u->node, v)))
            return;
        join(m, u->node);
        v = u->node->results[0];
    }
}

/*
 * Lists the nodes in the order in which they are computed.  Few rows read K and V once, so that their casts join.  With many
 * rows each element of K and V is loaded once for each macro-tile and multiplied by some vectors: a conversion would take as
 * long as they do.
 */
static void list_members(const struct graph *g, const struct attention *a, const struct target *t, struct members *m)
{
    const bool few = attention_has_few_rows(a, t);
    struct members found = {0};
    uint32_t sorted = 0;

    join(&found, a->scores);
    join(&found, a->softmax);
    join(&found, a->product);
    if (a->ungroup) {
        join(&found, a->ungroup);
        join(&found, a->regroup);
    }
    for (uint32_t i = 0; i < a->chain_count; i++)
        join(&found, a->chain[i]);
    for (uint32_t i = 0; i < a->cast_count; i++)
        join(&found, a->casts[i]);
    for (uint32_t i = 0; i < a->bound.node_count; i++)
        join(&found, a->bound.nodes[i].node);
    join_operand(&found, a->scores->inputs[0].value, true);
    join_operand(&found, a->scores->inputs[1].value, few);
    join_operand(&found, a->product->inputs[1].value, few);
    join_result(&found, a->product->results[0]);
    *m = found;
    graph_for_each (g, n)
        for (uint32_t i = 0; i < found.count; i++)
            if (found.nodes[i] == n)
                m->nodes[sorted++] = n;
}

/* Returns whether no node has a cluster yet, and the matmuls are to be computed as float32 numbers. */
static bool is_free(const struct attention *a, const struct target *t)
{
    const struct node *const matmuls[] = {a->scores, a->product};

    for (uint32_t i = 0; i < a->chain_count; i++)
        if (a->chain[i]->cluster)
            return false;
    for (uint32_t i = 0; i < a->cast_count; i++)
        if (a->casts[i]->cluster)
            return false;
    if (a->ungroup && (a->ungroup->cluster || a->regroup->cluster))
        return false;
    for (uint32_t i = 0; i < 2; i++)
        if (matmuls[i]->cluster || (t->takes_low_precision && t->takes_low_precision(t->user, matmuls[i])))
            return false;
    return !a->softmax->cluster;
}

static bool is_bound_shared(const struct attention_bound *b)
{
    for (uint32_t i = 0; i < b->node_count; i++)
        if (b->nodes[i].node->cluster || !value_only_use(b->nodes[i].node->results[0]))
            return true;
    return false;
}

static void remove_unread(const struct attention_bound *b)
{
    for (uint32_t i = b->node_count; i-- > 0;) {
        struct node *n = (struct node *)(uintptr_t)b->nodes[i].node;
        bool is_last = true; /* of the entries that name it */

        for (uint32_t j = 0; j < i; j++)
            is_last &= b->nodes[j].node != n;
        if (is_last && !n->results[0]->uses && !n->results[0]->output_uses)
            node_remove(n);
    }
}

/* Gives the attention separate nodes for its bound, if they have other users.  Returns false if memory ran out. */
static bool own_bound(struct graph *g, struct attention *a)
{
    const struct attention_bound *b = &a->bound;
    struct value *copies[ATTENTION_CONDITIONS_MAX];

    if (!is_bound_shared(b))
        return true;
    for (uint32_t i = 0; i < b->node_count; i++) {
        const struct node *n = b->nodes[i].node;
        struct node *mask = (struct node *)(uintptr_t)b->nodes[i].mask;
        struct value *inputs[3] = {NULL};

        for (uint32_t slot = 0; slot < n->input_count; slot++) {
            inputs[slot] = n->inputs[slot].value;
            for (uint32_t j = 0; j < i; j++)
                if (b->nodes[j].mask == mask && b->nodes[j].node->results[0] == n->inputs[slot].value)
                    inputs[slot] = copies[j];
        }
        copies[i] = make_node(g, mask, n->op, n, n->input_count, inputs, n->options, &n->args);
        if (!copies[i])
            return false;
        for (uint32_t slot = 0; slot < mask->input_count; slot++)
            if (mask->inputs[slot].value == n->results[0])
                node_set_input(mask, slot, copies[i]);
    }
    remove_unread(b);
    return attention_find(a->softmax, a);
}

/*
 * Moves the cast from float16 of an operand in front of the movements of data through which it is read: so these join, and the
 * cast is computed in the order in which its operand lies.  *changed becomes true if anything was moved.  Returns false if
 * memory ran out.
 */
static bool cast_first(struct graph *g, struct value *v, bool *changed)
{
    struct node *cast = v->producer, *movements[MOVEMENTS_MAX];
    uint32_t count = 0;

    if (!cast || cast->cluster || !is_cast(cast) || !value_only_use(v))
        return true;
    v = cast->inputs[0].value;
    while (count < MOVEMENTS_MAX && v->producer && !v->producer->cluster && value_only_use(v) && is_moved(v->producer) &&
           v->producer->op != OP_SLICE) { /* of which the rest would be converted, too */
        movements[count++] = v->producer;
        v = v->producer->inputs[0].value;
    }
    if (!count)
        return true;
    *changed = true;
    v = make_cast(g, cast, cast, v, WNNOperandDataType_Float32);
    for (uint32_t i = count; v && i-- > 0;)
        v = make_node(g, cast, movements[i]->op, movements[i], 1, &v, movements[i]->options, &movements[i]->args);
    if (!v)
        return false;
    node_replace(cast, v);
    for (uint32_t i = 0; i < count; i++)
        node_remove(movements[i]);
    return true;
}

bool pass_fuse_attention(struct graph *g, const struct pass_options *o)
{
    const uint32_t flags = o->debug ? o->debug->flags : 0;
    const struct target *t = o->target;
    bool changed = false;

    if (!t || flags & DEBUG_PREFER_LIBRARY)
        return false;
    graph_for_each (g, n) {
        struct attention a;
        struct members m;

        if (n->op != OP_SOFTMAX || !attention_find(n, &a) || !is_free(&a, t))
            continue;
        if (!(flags & DEBUG_PREFER_ATTENTION) && !(fills_device(&a, t) && is_better(&a, t)))
            continue;
        if (!own_bound(g, &a) || !cast_first(g, a.scores->inputs[1].value, &changed) ||
            !cast_first(g, a.product->inputs[1].value, &changed))
            return changed;
        list_members(g, &a, t, &m);
        if (!lower_can_be_staged(t, m.nodes, m.count))
            continue;
        struct cluster *c = cluster_create(g, CLUSTER_KERNEL);
        if (!c)
            return changed;
        for (uint32_t i = 0; i < m.count; i++)
            m.nodes[i]->cluster = c;
        changed = true;
    }
    return changed;
}
