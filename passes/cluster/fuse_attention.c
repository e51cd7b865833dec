/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes one kernel cluster of every attention, softmax(chain(Q K^T)) V, that is worth one: the two matmuls, the softmax, what
 * lies between them element by element (a scale, a mask), the movements of data through which Q, K and V are read and the
 * result is written.  lower_attention.c makes a kernel of stages of it, in which the scores of a few rows at a time exist, in
 * the cache only.  docs/attention.md explains the method and where the numbers of the cost model (struct attention_facts)
 * come from.
 *
 * Nothing leaves such a cluster but the result of its last node, because a node joins only if its one reader is in the cluster.
 * So no cycle among clusters can come about (fuse_epilogues.c says why).
 */
#include "passes/cluster/attention.h"

#include <string.h>

#include "passes/lower/lower.h"
#include "passes/support.h"

enum {
    MOVEMENTS_MAX = 4, /* movements of data in a row that join */
    NODES_MAX = 3 + ATTENTION_CHAIN_MAX + 4 * MOVEMENTS_MAX
};

static int64_t divide_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static bool is_float32(const struct value *v)
{
    return v->type.type == WNNOperandDataType_Float32;
}

/* ---- which nodes ---- */

static bool same_dims(const struct value *a, const struct value *b)
{
    return a->type.rank == b->type.rank && type_elements(&a->type) == type_elements(&b->type) &&
           !memcmp(a->type.dims, b->type.dims, a->type.rank * sizeof a->type.dims[0]);
}

/* Finds the matmul that v's elements come from, one by one, through nodes whose results nothing else reads. */
static bool find_scores(const struct value *v, struct attention *a)
{
    const struct node *n = v->producer;

    if (!n || !value_only_use(v) || !is_float32(v))
        return false;
    if (n->op == OP_MATMUL) {
        a->scores = n;
        return true;
    }
    if (!(op_infos[n->op].flags & OPF_ELEMENTWISE) || n->op == OP_BATCH_NORMALIZATION || a->chain_count == ATTENTION_CHAIN_MAX)
        return false;
    a->chain[a->chain_count++] = n;
    for (uint32_t i = 0; i < n->input_count; i++) {
        const struct value *operand = n->inputs[i].value;

        if (operand && same_dims(operand, v) && find_scores(operand, a))
            return true;
    }
    a->chain_count--;
    return false;
}

/* Reads the sizes off the matmuls.  Returns false if they are not attention's. */
static bool read_sizes(struct attention *a)
{
    const struct tensor_type *q = &a->scores->inputs[0].value->type, *v = &a->product->inputs[1].value->type,
                             *result = &a->product->results[0]->type;
    const uint32_t rank = result->rank;

    if (rank < 2 || a->scores->results[0]->type.rank != rank || !is_float32(a->scores->inputs[0].value) ||
        !is_float32(a->scores->inputs[1].value) || !is_float32(a->product->inputs[1].value))
        return false;
    a->rows = result->dims[rank - 2];
    a->width = result->dims[rank - 1];
    a->depth = q->dims[q->rank - 1];
    a->keys = v->dims[v->rank - 2];
    a->batches = 1;
    for (uint32_t d = 0; d + 2 < rank; d++) {
        if (a->scores->results[0]->type.dims[d] != result->dims[d]) /* V is a batch, and the scores are not */
            return false;
        a->batches *= result->dims[d];
        if (result->dims[d] == 1)
            continue;
        if (a->batch_count == ATTENTION_BATCH_MAX)
            return false;
        a->batch[a->batch_count++] = d;
    }
    return a->rows > 1 && a->keys > 1 && a->depth > 1 && a->width > 1;
}

/* Returns whether a value that is broadcast to the scores differs from row to row and from key to key. */
static bool is_mask(const struct value *v)
{
    const struct tensor_type *t = &v->type;

    return t->rank >= 2 && t->dims[t->rank - 2] > 1 && t->dims[t->rank - 1] > 1;
}

/* Finds the masks.  Returns false if there are too many. */
static bool find_masks(struct attention *a)
{
    for (uint32_t i = 0; i < a->chain_count; i++) {
        const struct node *n = a->chain[i];
        const struct value *carried = i + 1 < a->chain_count ? a->chain[i + 1]->results[0] : a->scores->results[0];

        for (uint32_t j = 0; j < n->input_count; j++) {
            const struct value *v = n->inputs[j].value;

            if (!v || v == carried || !is_mask(v) || (a->mask_count && a->masks[0] == v))
                continue;
            if (a->mask_count == ATTENTION_MASKS_MAX)
                return false;
            a->masks[a->mask_count++] = v;
        }
    }
    return true;
}

bool attention_find(const struct node *softmax, struct attention *a)
{
    const struct value *weights = softmax->results[0];
    const struct use *use = value_only_use(weights);

    *a = (struct attention){.softmax = softmax};
    if (softmax->op != OP_SOFTMAX || softmax->args.softmax.axis + 1 != weights->type.rank || !is_float32(weights) || !use ||
        use->node->op != OP_MATMUL || use->slot != 0)
        return false;
    a->product = use->node;
    return find_scores(softmax->inputs[0].value, a) && read_sizes(a) && find_masks(a);
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

/* ---- how large, and whether ---- */

/* Returns the time that macro-tiles of so many rows take, in vectors of rows of one thread. */
static double tile_cost(const struct attention *a, const struct target *t, int64_t rows)
{
    const struct attention_facts *facts = &target_facts(t)->attention;
    const int64_t threads = t->thread_count ? t->thread_count : 1;
    const int64_t tiles = a->batches * divide_up(a->rows, rows);
    const double vectors = (double)divide_up(rows, target_lanes(t));
    const double guarded =
        a->rows % rows ? facts->guarded_keys / (double)a->keys + (a->mask_count ? facts->guarded_mask : 0) : 0;

    return (double)divide_up(tiles, threads) * (vectors * (1 + guarded) + facts->tile);
}

int64_t attention_tile_rows(const struct attention *a, const struct target *t)
{
    const struct attention_facts *facts = &target_facts(t)->attention;
    const int64_t lanes = target_lanes(t), most = facts->vectors_most * lanes;
    int64_t best = a->rows < lanes ? a->rows : lanes;

    for (int64_t rows = best + 1; rows <= most && rows <= divide_up(a->rows, lanes) * lanes; rows++) {
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

    while (keys >= facts->attention.block_least && a->keys % keys)
        keys--;
    return keys >= facts->attention.block_least && keys < a->keys ? keys : a->keys;
}

/* Returns whether one kernel is better than two matmuls with the scores in memory between them. */
static bool is_better(const struct attention *a, const struct target *t)
{
    const struct attention_facts *facts = &target_facts(t)->attention;
    const double scores = (double)a->batches * (double)a->rows * (double)a->keys * sizeof(float);

    return a->rows >= facts->rows_least && a->keys >= facts->keys_least && (!t->takes_node || scores >= facts->scores_least);
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

/* Joins the movements of data through which an operand is read. */
static void join_operand(struct members *m, const struct value *v)
{
    for (uint32_t i = 0; i < MOVEMENTS_MAX; i++) {
        const struct node *n = v->producer;

        if (!n || n->cluster || !is_moved(n) || !value_only_use(v))
            return;
        join(m, n);
        v = n->inputs[0].value;
    }
}

/* Joins the movements of data through which the result is written. */
static void join_result(struct members *m, const struct value *v)
{
    for (uint32_t i = 0; i < MOVEMENTS_MAX; i++) {
        const struct use *u = value_only_use(v);

        if (!u || u->node->cluster || (u->node->op != OP_TRANSPOSE && u->node->op != OP_RESHAPE))
            return;
        join(m, u->node);
        v = u->node->results[0];
    }
}

/* Lists the nodes in the order in which they are computed. */
static void list_members(const struct graph *g, const struct attention *a, struct members *m)
{
    struct members found = {0};
    uint32_t sorted = 0;

    join(&found, a->scores);
    join(&found, a->softmax);
    join(&found, a->product);
    for (uint32_t i = 0; i < a->chain_count; i++)
        join(&found, a->chain[i]);
    join_operand(&found, a->scores->inputs[0].value);
    join_operand(&found, a->scores->inputs[1].value);
    join_operand(&found, a->product->inputs[1].value);
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
    for (uint32_t i = 0; i < 2; i++)
        if (matmuls[i]->cluster || (t->takes_low_precision && t->takes_low_precision(t->user, matmuls[i])))
            return false;
    return !a->softmax->cluster;
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
        struct cluster *c;

        if (n->op != OP_SOFTMAX || !attention_find(n, &a) || !is_free(&a, t))
            continue;
        if (!(flags & DEBUG_PREFER_ATTENTION) && (t->avoids_stages || !is_better(&a, t)))
            continue;
        list_members(g, &a, &m);
        if (!lower_can_be_staged(t, m.nodes, m.count))
            continue;
        c = cluster_create(g, CLUSTER_KERNEL);
        if (!c)
            return changed;
        for (uint32_t i = 0; i < m.count; i++)
            m.nodes[i]->cluster = c;
        changed = true;
    }
    return changed;
}
