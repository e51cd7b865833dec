/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Constant weights of products that generated kernels compute, in the order in which those read them: panels of P results side
 * by side, [results / P][window, inputs ...][P], so that every step of a sum loads whole vectors from consecutive addresses.
 *
 * In: nodes without a cluster that the library does not take.  Out: the constant in that order, and behind it the transpose and
 * the reshape that say which element is which; they become index maps of the product's kernel (docs/products.md).  The graph
 * means the same as before.  Where the lowering would not take the three together nothing is changed.  Needs that nothing folds
 * constants behind it.
 */
#include <string.h>

#include "ir/conv.h"
#include "passes/support.h"

enum {
    PANEL_VECTORS = 4,          /* of a tile with few rows */
    PANEL_VECTORS_TALL = 2,     /* of one with as many rows as registers allow, */
    PANEL_VECTORS_32 = 3,       /* where there are 32 of them and it leaves no rest; */
    PANEL_LINE = 16,            /* but at least a line of the cache, which parts of a panel share */
    PANEL_VECTORS_MOST = 8,     /* several tiles wide: where narrower ones would waste lanes */
    PANEL_BYTES_MOST = 1 << 18, /* of those: parts of it are read again for every few rows, while the next is fetched */
    PIECE_MIN = 16              /* results of a head that are worth panels of their own */
};

/* Where the dimensions of a product's second operand are: that of results, and the others, slowest first. */
struct weight_order {
    uint32_t results, count;
    uint8_t others[RANK_MAX];
    int64_t group; /* results that read the same inputs: a panel must not have more */
    int64_t rows;  /* that read all of the weights */
    int64_t inner; /* products that a result sums up */
};

/* Rows of a matrix product that read the same weights. */
static int64_t count_rows(const struct node *n)
{
    const struct tensor_type *a = &n->inputs[0].value->type, *b = &n->inputs[1].value->type, *out = &n->results[0]->type;

    if (n->op == OP_GEMM || b->rank > 2)
        return out->dims[out->rank - 2];
    return type_elements(a) / a->dims[a->rank - 1];
}

/*
 * The results that a reshape behind n keeps side by side (the width of a head): where panels end elsewhere, which element of
 * which panel a result is takes divisions, and the product is none for tiles.
 */
static int64_t piece_of(const struct node *n, int64_t results)
{
    while (n->results[0]->uses && !n->results[0]->uses->next) {
        const struct node *user = n->results[0]->uses->node;
        const struct tensor_type *t = &user->results[0]->type;
        if (user->op == OP_RESHAPE && t->rank) {
            int64_t last = t->dims[t->rank - 1];
            return last < results && results % last == 0 && last >= PIECE_MIN ? last : results;
        }
        if (!(op_infos[user->op].flags & OPF_ELEMENTWISE))
            break;
        n = user;
    }
    return results;
}

static bool find_order(const struct node *n, struct weight_order *o)
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
        o->group = piece_of(n, o->group);
        o->inner = t->dims[o->others[o->count - 1]];
        return true;
    }
    return false;
}

/*
 * As many as a tile, so that the weights of one are read from consecutive addresses.  Where that would leave lanes empty,
 * something wider may be better; of equals what is nearest to a tile.  All of them if they are few.
 */
int64_t pack_panel_width(const struct target *t, int64_t results, int64_t group, int64_t rows, int64_t inner)
{
    const int64_t lanes = t->vector_bits >= 64 ? t->vector_bits / 32 : 1;
    const int64_t three = lanes * PANEL_VECTORS_32;
    const int64_t two = lanes * PANEL_VECTORS_TALL;
    const int64_t wide = rows <= KERNEL_FEW_ROWS                       ? lanes * PANEL_VECTORS
                         : t->vector_bits >= 512 && group % three == 0 ? three
                         : two < PANEL_LINE                            ? PANEL_LINE
                                                                       : two;
    /* With one row or two memory is what takes time, not empty lanes. */
    const int64_t most = rows == 1 || rows == 2 ? wide : lanes * PANEL_VECTORS_MOST;
    /* Several tiles jump over each other's part, and read theirs from behind the second cache if the panel is large. */
    const double several = most * inner * (int64_t)sizeof(float) > PANEL_BYTES_MOST ? 1.3 : 1.12;
    int64_t best = results;
    double least = 0;

    if (results <= wide || group < KERNEL_RUN_MIN)
        return results;
    for (int64_t p = KERNEL_RUN_MIN; p <= most && p <= group; p++) {
        double waste = (double)((p + lanes - 1) / lanes * lanes) / (double)p;
        if (group % p || waste > 1.5)
            continue;
        if (p <= lanes)
            waste *= 1.15; /* one vector per row's factor is less than the load ports like */
        if (p > wide)
            waste *= p <= three ? 1.05 : several; /* a tile of fewer rows; several tiles */
        if (!least || waste < least || (waste == least && p <= wide)) {
            best = p;
            least = waste;
        }
    }
    return best;
}

static bool is_identity(const uint32_t *permutation, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (permutation[i] != i)
            return false;
    return true;
}

/* The weights in panels, seen as they were; NULL: they are in order, or g->error. */
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
    /* the results' dimension becomes two, the other ones move */
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
        struct value *v, *plain;
        uint32_t count = 0;

        if (!is_candidate(n, o->target) || !find_order(n, &order))
            continue;
        plain = n->inputs[1].value;
        v = pack(g, n, &order,
                 pack_panel_width(o->target, plain->type.dims[order.results], order.group, order.rows, order.inner));
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
            node_set_input(n, 1, plain);
            undo(n, mark);
            continue;
        }
        /* what comes before the movements that stay is computed now */
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
