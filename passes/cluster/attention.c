/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Finds attentions, softmax(chain(Q K^T)) V, and chooses the sizes of their macro-tiles (passes/cluster/attention.h).
 */
#include "passes/cluster/attention.h"

#include <string.h>

#include "passes/support.h"

static bool is_float(const struct value *v)
{
    return v->type.type == WNNOperandDataType_Float32 || v->type.type == WNNOperandDataType_Float16;
}

/* ---- heads that share a head of K and V ---- */

/* Returns how many heads lie below each other in a matrix of `grouped`, if `heads` has them as batches, else 0. */
static int64_t group_of(const struct tensor_type *grouped, const struct tensor_type *heads)
{
    const uint32_t rank = grouped->rank;

    if (rank < 3 || heads->rank != rank || grouped->dims[rank - 1] != heads->dims[rank - 1] || !heads->dims[rank - 2] ||
        memcmp(grouped->dims, heads->dims, (rank - 3) * sizeof grouped->dims[0]) != 0)
        return 0;
    int64_t group = grouped->dims[rank - 2] / heads->dims[rank - 2];
    return group * heads->dims[rank - 2] == grouped->dims[rank - 2] && group * grouped->dims[rank - 3] == heads->dims[rank - 3]
               ? group
               : 0;
}

/* ---- the chain ---- */

/* Joins a cast between float32 and float16.  Returns false if n is none. */
static bool join_cast(const struct node *n, struct attention *a)
{
    if (n->op != OP_CAST || !is_float(n->results[0]) || !is_float(n->inputs[0].value) || a->cast_count == ATTENTION_CASTS_MAX)
        return false;
    a->casts[a->cast_count++] = n;
    return true;
}

/* Finds the matmul that v is the result of, perhaps through casts. */
static bool find_cast_scores(const struct value *v, struct attention *a)
{
    const uint32_t count = a->cast_count;

    while (v->producer && value_only_use(v)) {
        if (v->producer->op == OP_MATMUL) {
            a->scores = v->producer;
            return true;
        }
        if (!join_cast(v->producer, a))
            break;
        v = v->producer->inputs[0].value;
    }
    a->cast_count = count;
    return false;
}

/* Finds the matmul that v's elements come from, one by one, through nodes whose results nothing else reads. */
static bool find_scores(const struct value *v, struct attention *a)
{
    const struct node *n = v->producer;

    if (!n || !value_only_use(v) || !is_float(v))
        return false;
    if (n->op == OP_MATMUL) {
        a->scores = n;
        return true;
    }
    if (n->op == OP_RESHAPE && group_of(&n->inputs[0].value->type, &v->type) && find_cast_scores(n->inputs[0].value, a)) {
        a->ungroup = n;
        return true;
    }
    if (!(op_infos[n->op].flags & OPF_ELEMENTWISE) || n->op == OP_BATCH_NORMALIZATION || a->chain_count == ATTENTION_CHAIN_MAX)
        return false;
    a->chain[a->chain_count++] = n;
    for (uint32_t i = 0; i < n->input_count; i++) {
        const struct value *operand = n->inputs[i].value;

        if (operand && type_same_dims(&operand->type, &v->type) && find_scores(operand, a))
            return true;
    }
    a->chain_count--;
    return false;
}

/* Finds the matmul that reads v, with a reshape and casts between them. */
static bool find_product(const struct value *v, struct attention *a)
{
    for (const struct use *use = value_only_use(v); use; use = value_only_use(v)) {
        const struct node *n = use->node;

        a->rounds |= v->type.type == WNNOperandDataType_Float16;
        if (n->op == OP_MATMUL && use->slot == 0) {
            a->product = n;
            return true;
        }
        if (n->op == OP_RESHAPE && !a->regroup && group_of(&n->results[0]->type, &v->type))
            a->regroup = n;
        else if (!join_cast(n, a))
            return false;
        v = n->results[0];
    }
    return false;
}

/* Reads the sizes off the matmuls.  Returns false if they are not attention's. */
static bool read_sizes(struct attention *a)
{
    const struct tensor_type *q = &a->scores->inputs[0].value->type, *v = &a->product->inputs[1].value->type,
                             *result = &a->product->results[0]->type, *weights = &a->softmax->results[0]->type,
                             *scores = &a->scores->results[0]->type;
    const uint32_t rank = result->rank;

    if (rank < 2 || scores->rank != rank || !is_float(a->scores->inputs[0].value) || !is_float(a->product->inputs[1].value) ||
        !a->ungroup != !a->regroup)
        return false;
    a->group = a->ungroup ? group_of(scores, weights) : 1;
    if (a->regroup && !type_same_dims(&a->regroup->results[0]->type, &a->scores->results[0]->type))
        return false;
    a->rows = weights->dims[rank - 2];
    a->width = result->dims[rank - 1];
    a->depth = q->dims[q->rank - 1];
    a->keys = v->dims[v->rank - 2];
    a->batches = a->group;
    for (uint32_t d = 0; d + 2 < rank; d++) {
        if (scores->dims[d] != result->dims[d]) /* V is a batch, and the scores are not */
            return false;
        a->batches *= result->dims[d];
        if (result->dims[d] == 1)
            continue;
        if (a->batch_count == ATTENTION_BATCH_MAX)
            return false;
        a->batch[a->batch_count++] = d;
    }
    return a->group >= 1 && a->keys > 1 && a->depth > 1 && a->width > 1;
}

/* ---- masks ---- */

/* Returns whether a value that is broadcast to the scores differs from row to row and from key to key. */
static bool is_mask(const struct value *v)
{
    const struct tensor_type *t = &v->type;

    return t->rank >= 2 && t->dims[t->rank - 2] > 1 && t->dims[t->rank - 1] > 1;
}

const struct value *attention_carried(const struct attention *a, uint32_t i)
{
    return i + 1 < a->chain_count ? a->chain[i + 1]->results[0] : (a->ungroup ? a->ungroup : a->scores)->results[0];
}

/* Returns whether a value is computed by the nodes that say which keys count. */
static bool is_condition(const struct attention_bound *b, const struct value *v)
{
    for (uint32_t i = 0; i < b->node_count; i++)
        if (b->nodes[i].node->results[0] == v)
            return true;
    return false;
}

/* Adds the masks among the operands of n.  `carried` is none.  Returns false if there are too many. */
static bool add_masks(struct attention *a, const struct node *n, const struct value *carried)
{
    for (uint32_t i = 0; i < n->input_count; i++) {
        const struct value *v = n->inputs[i].value;

        if (!v || v == carried || is_condition(&a->bound, v) || !is_mask(v) || (a->mask_count && a->masks[0] == v))
            continue;
        if (a->mask_count == ATTENTION_MASKS_MAX)
            return false;
        a->masks[a->mask_count++] = v;
    }
    return true;
}

static bool find_masks(struct attention *a)
{
    for (uint32_t i = 0; i < a->chain_count; i++)
        if (!add_masks(a, a->chain[i], attention_carried(a, i)))
            return false;
    for (uint32_t i = 0; i < a->bound.node_count; i++)
        if (!add_masks(a, a->bound.nodes[i].node, NULL))
            return false;
    return true;
}

bool attention_find(const struct node *softmax, struct attention *a)
{
    const struct value *weights = softmax->results[0];

    *a = (struct attention){.softmax = softmax};
    if (softmax->op != OP_SOFTMAX || softmax->args.softmax.axis + 1 != weights->type.rank || !is_float(weights) ||
        !find_product(weights, a) || !find_scores(softmax->inputs[0].value, a) || !read_sizes(a))
        return false;
    const struct use *u = a->ungroup ? value_only_use(a->product->results[0]) : NULL;
    const struct node *q = a->ungroup ? a->scores->inputs[0].value->producer : NULL;
    if (u && u->node->op == OP_RESHAPE && group_of(&u->node->inputs[0].value->type, &u->node->results[0]->type))
        a->apart = u->node->results[0];
    if (q && q->op == OP_RESHAPE && group_of(&q->results[0]->type, &q->inputs[0].value->type) == a->group)
        a->stack = q;
    attention_find_bound(a);
    return find_masks(a);
}

uint32_t attention_count(const struct graph *g)
{
    struct attention a;
    uint32_t count = 0;

    graph_for_each (g, n)
        count += n->op == OP_SOFTMAX && n->cluster && n->cluster->kind == CLUSTER_KERNEL && attention_find(n, &a) &&
                 a.scores->cluster == n->cluster && a.product->cluster == n->cluster;
    return count;
}

/* ---- macro-tiles ---- */

bool attention_has_few_rows(const struct attention *a, const struct target *t)
{
    /* Rows of one head, or one row of each that share K and V: both count in one variable. */
    return (a->group == 1 || a->rows == 1) && a->group * a->rows <= target_facts(t)->attention.few_rows;
}

/* Returns the time that macro-tiles of so many rows take, in vectors of rows of one thread. */
static double tile_cost(const struct attention *a, const struct target *t, int64_t rows)
{
    const struct attention_facts *facts = &target_facts(t)->attention;
    const int64_t threads = target_stage_threads(t);
    const int64_t tiles = a->batches * ceil_div(a->rows, rows);
    const double vectors = (double)(ceil_div(rows, target_stage_lanes(t) * facts->vectors_tiled) * facts->vectors_tiled);
    const double guarded =
        a->rows % rows ? facts->guarded_keys / (double)a->keys + (a->mask_count ? facts->guarded_mask : 0) : 0;

    return (double)ceil_div(tiles, threads) * (vectors * (1 + guarded) + facts->tile);
}

int64_t attention_tile_rows(const struct attention *a, const struct target *t)
{
    const struct attention_facts *facts = &target_facts(t)->attention;
    const int64_t lanes = target_stage_lanes(t), most = facts->vectors_most * lanes;
    int64_t best = a->rows < lanes ? a->rows : lanes;

    if (attention_has_few_rows(a, t))
        return a->group * a->rows;
    if (t->sizes_vary) { /* few heights, by halves as far as scores fill the cache */
        int64_t vectors = facts->vectors_vary;

        while (vectors > 1 && (vectors > ceil_div(a->rows, lanes) ||
                               (double)(vectors * lanes * a->keys) * sizeof(float) > facts->scores_share * target_l2_bytes(t)))
            vectors /= 2;
        return lanes * vectors;
    }
    for (int64_t rows = best + 1; rows <= most && rows <= ceil_div(a->rows, lanes) * lanes; rows++) {
        if ((double)(rows * a->keys) * sizeof(float) > facts->scores_share * target_l2_bytes(t))
            break;
        if (tile_cost(a, t, rows) < tile_cost(a, t, best))
            best = rows;
    }
    return best;
}

int64_t attention_block_keys(const struct attention *a, const struct target *t, int64_t tile_rows)
{
    const struct target_facts *facts = target_facts(t);
    const double cache = facts->attention.block_share * (double)(facts->cache.l1_way_bytes * facts->cache.l1_ways);
    int64_t keys = (int64_t)(cache / (double)(tile_rows * (int64_t)sizeof(float)));

    const int64_t most = a->bound.edge_count            ? facts->attention.bounded_keys
                         : attention_has_few_rows(a, t) ? keys
                                                        : TILE_SUM_STEPS;
    keys = keys < most ? keys : most;
    while (keys >= facts->attention.block_least && a->keys % keys)
        keys--;
    return keys >= facts->attention.block_least && keys < a->keys ? keys : a->keys;
}

int64_t attention_rows_at_once(const struct target *t, int64_t rows)
{
    int64_t at_once = target_facts(t)->attention.rows_at_once;

    at_once = rows < at_once ? rows : at_once;
    while (rows % at_once)
        at_once--;
    return at_once;
}
