/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Puts constant B operands of contractions that generated kernels compute into the order in which those read them: panels of P
 * contiguous output channels, [N / P][window, input channels ...][P], so that every step of a sum loads whole vectors from
 * consecutive addresses.
 *
 * Weights that lie in memory in 4, 8 or 16 bits stay like that (compact_weights.c).
 *
 * It looks at nodes without a cluster that the library does not take.  They get the constant in that order, and after it the
 * transpose and the reshape that say which element is which; they become index maps of the contraction's kernel
 * (docs/contractions.md).  The graph's meaning does not change.  Where the lowering would not take the three together nothing
 * is changed.  Nothing may fold constants after this pass.
 */
#include "ir/graph/constant_pool.h"
#include "ir/graph/conv.h"
#include "ir/schedule/schedule.h"
#include "passes/weights/byte_operands.h"
#include "passes/weights/compact_weights.h"
#include "passes/weights/round_operand.h"

/* Returns the rows of a matmul that read the same B. */
static int64_t count_rows(const struct node *n)
{
    const struct tensor_type *a = &n->inputs[0].value->type, *b = &n->inputs[1].value->type, *out = &n->results[0]->type;

    if (n->op == OP_GEMM || b->rank > 2)
        return out->dims[out->rank - 2];
    return type_elements(a) / a->dims[a->rank - 1];
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
        o->rows = count_rows(n);
        /* Where panels end elsewhere, which element of which panel a result is takes divisions, and there are no register
         * tiles. */
        o->group = node_piece(n, t->dims[o->results], facts->panel.piece_least);
        o->inner = t->dims[o->others[o->count - 1]];
        return true;
    }
    return false;
}

/* A contraction, what unpacks its B, and what makes floats of its rounded A. */
enum { COMPACT_NODES_MAX = 12 };

/* Returns the weights in panels (0: column after column), seen as they were, or NULL if they are in order, or after an error in
 * g->error. */
static struct value *pack(struct graph *g, struct node *n, const struct weight_order *o, int64_t panel)
{
    struct value *weights = n->inputs[1].value, *v;
    const struct tensor_type *t = &weights->type;
    uint32_t dims[RANK_MAX], to[RANK_MAX], back[RANK_MAX], rank = t->rank + 1, at = 0;

    if (!panel || panel == (int64_t)t->dims[o->results]) { /* one panel: only the order may be wrong */
        if (!panel)
            to[at++] = o->results;
        for (uint32_t i = 0; i < o->count; i++)
            to[at++] = o->others[i];
        if (panel)
            to[at++] = o->results;
        for (uint32_t i = 0; i < at; i++)
            back[to[i]] = i;
        return permutation_moves(t, to) ? make_transpose(g, n, n, make_transpose(g, n, n, weights, to), back) : NULL;
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
    return v ? make_reshape(g, n, n, v, t->rank, t->dims) : NULL;
}

static bool is_candidate(const struct node *n, const struct target *t)
{
    if (n->cluster || n->transformed || !(op_infos[n->op].flags & OPF_LIBRARY) || n->input_count < 2 || !n->inputs[1].value)
        return false;
    const struct value *weights = n->inputs[1].value;
    if (weights->kind != VALUE_CONSTANT || weights->type.rank < 2 || weights->type.rank >= RANK_MAX)
        return false;
    /* Only floats are multiplied in tiles. */
    if (weights->type.type != WNNOperandDataType_Float32 && weights->type.type != WNNOperandDataType_Float16)
        return false;
    return !library_computes(n, t);
}

static int64_t panel_of(const struct target *t, const struct node *n, const struct weight_order *o, int64_t rows, bool compact)
{
    const int64_t columns = n->inputs[1].value->type.dims[o->results];

    return schedule_panel(t, &(struct contraction){rows, columns, o->inner, o->group, compact});
}

/*
 * Returns the panel of a compact B.  It does not depend on the rows, so that graphs for a prompt and for one token share their
 * weights.  The panel for one row serves many rows as well, but where tiles make floats of the elements (tall) and registers
 * hold three vectors of these: those are as fast for one row, and faster for many.
 */
static int64_t compact_panel_of(const struct target *t, const struct node *n, const struct weight_order *o, bool tall)
{
    const struct contraction_facts *facts = &target_facts(t)->contraction;

    if (t->compact.panel_columns)
        return schedule_device_panel(n->inputs[1].value->type.dims[o->results], o->group, t->compact.panel_columns);

    tall = tall && facts->panel.vectors_compact > facts->panel.vectors &&
           o->group % (target_lanes(t) * (int64_t)facts->panel.vectors_compact) == 0;
    return panel_of(t, n, o, tall ? facts->tall_rows : 1, true);
}

/* Says how a B of floats is packed. */
static struct constant_recipe recipe_of(const struct value *weights, const struct weight_order *o, int64_t panel)
{
    struct constant_recipe r = constant_recipe_begin(CONSTANT_PACKED, weights->constant);

    constant_recipe_add(&r, weights->type.type);
    for (uint32_t i = 0; i < weights->type.rank; i++)
        constant_recipe_add(&r, weights->type.dims[i]);
    constant_recipe_add(&r, o->results);
    for (uint32_t i = 0; i < o->count; i++)
        constant_recipe_add(&r, o->others[i]);
    constant_recipe_add(&r, (uint64_t)panel);
    return r;
}

/* Packs a constant B of floats.  Returns false if nothing was changed, or after an error in g->error. */
static bool pack_floats(struct graph *g, struct node *n, const struct target *t)
{
    const struct node *mark = n->prev;
    struct weight_order order;
    struct node *nodes[3], *maker;
    struct value *v, *original = n->inputs[1].value;
    uint32_t count = 0;

    if (!find_order(&target_facts(t)->contraction, n, &order))
        return false;
    /* Other sizes share the weights: panels for many rows are about as fast for few. */
    int64_t panel = panel_of(t, n, &order, t->sizes_vary ? target_facts(t)->contraction.tall_rows : order.rows, false);
    if (panel == 2 || (order.rows == 1 && order.inner > TILE_SUM_STEPS &&
                       panel > target_lanes(t) * (int64_t)target_facts(t)->contraction.panel.vectors_most))
        panel = 0; /* vectors run along K, or no width divides the columns and along them they would jump from row to row */
    const struct constant_recipe recipe = recipe_of(original, &order, panel);
    v = pack(g, n, &order, panel);
    if (!v)
        return false;
    node_set_input(n, 1, v);
    if (v->producer->op == OP_RESHAPE)
        nodes[count++] = v->producer->inputs[0].value->producer;
    nodes[count++] = v->producer;
    nodes[count++] = n;
    if (!lower_can_join(t, nodes, count, NULL)) {
        node_set_input(n, 1, original);
        nodes_undo(n, mark);
        return false;
    }
    v = nodes[0]->inputs[0].value;
    struct constant *found = constant_pool_find(t->pool, &recipe);
    if (found) {
        node_set_input(nodes[0], 0, graph_add_constant(g, &v->type, found));
        value_drop_unread(v);
        return true;
    }
    /* What comes before the data movement that stays is computed at once. */
    while ((maker = nodes[0]->inputs[0].value->producer) != NULL) {
        while (maker->inputs[0].value->producer)
            maker = maker->inputs[0].value->producer;
        if (!node_fold(g, maker))
            return false;
    }
    v = nodes[0]->inputs[0].value;
    v->constant = constant_pool_keep(t->pool, &recipe, v->constant);
    return true;
}

/* Returns whether one kernel may compute n and the nodes before it back to `mark`. */
static bool is_one_kernel(struct node *n, const struct node *mark, const struct target *t)
{
    struct node *nodes[COMPACT_NODES_MAX], **at = nodes + COMPACT_NODES_MAX;

    for (struct node *m = n; m != mark; m = m->prev)
        *--at = m;
    return lower_can_join(t, at, (uint32_t)(nodes + COMPACT_NODES_MAX - at), NULL);
}

/* Returns whether operand A may be rounded: it lies row by row. */
static bool may_round(const struct node *n, const struct target *t)
{
    return t->rounds_operands && !(n->op == OP_GEMM && NODE_OPTIONS(n, WNNGemmOptions)->aTranspose);
}

/* Packs a compact B, or makes floats of it and packs those where no kernel can unpack it.  Returns false if nothing was
 * changed, or after an error in g->error. */
static bool pack_compact(struct graph *g, struct node *n, struct node *unpacking, const struct target *t,
                         struct rounded_operands *kept)
{
    const struct node *mark = n->prev;
    struct weight_order order;
    struct value *v, *original = n->inputs[1].value;
    int64_t block;

    if (!find_order(&target_facts(t)->contraction, n, &order))
        return false;
    const bool rounds = may_round(n, t);
    const int64_t panel = compact_panel_of(t, n, &order, !rounds), packed_panel = compact_panel_of(t, n, &order, false);
    v = compact_weights_pack(g, n, unpacking, &(struct compact_order){order.results, panel, packed_panel, rounds, t->pool},
                             &block);
    if (!v)
        return false;
    node_set_input(n, 1, v);
    if (is_one_kernel(n, mark, t)) {
        value_drop_unread(original);
        if (block && (v = round_operand(g, n, block, kept)))
            node_set_input(n, 0, v);
        return v != NULL;
    }
    node_set_input(n, 1, original);
    nodes_undo(n, mark);
    struct node *last = original->producer; /* `unpacking`, or a cast of what it gives */
    return compact_weights_fold(g, unpacking) && (last == unpacking || node_fold(g, unpacking)) && node_fold(g, last) &&
           (pack_floats(g, n, t) || !g->error.status);
}

/* Packs operands of 8 bits.  Returns the contraction, or NULL if nothing was changed, or after an error in g->error. */
static struct node *pack_bytes(struct graph *g, struct node *n, const struct target *t)
{
    struct weight_order order;

    if (!find_order(&target_facts(t)->contraction, n, &order))
        return NULL;
    struct value *operands[2] = {n->inputs[0].value, n->inputs[1].value};
    n = pack_byte_operands(g, n, &order, panel_of(t, n, &order, order.rows, true), t);
    for (uint32_t i = 0; n && i < 2; i++)
        value_drop_unread(operands[i]);
    return n;
}

static void share(struct value *v, struct constant_pool *pool)
{
    if (v && v->kind == VALUE_CONSTANT && v->constant)
        v->constant = constant_pool_share(pool, v->constant);
}

/* Shares the constants that n's B is made of with other graphs: each matrix as soon as it is packed, so that not all of a
 * graph's weights are there twice for a while. */
static void share_weights(const struct node *n, struct constant_pool *pool)
{
    struct value *v = n->inputs[1].value;

    for (; v->producer; v = v->producer->inputs[0].value)
        for (uint32_t i = 1; i < v->producer->input_count; i++)
            share(v->producer->inputs[i].value, pool);
    share(v, pool);
}

bool pass_pack_weights(struct graph *g, const struct pass_options *o)
{
    struct rounded_operands kept = {0};
    bool changed = false;

    if (!o->target)
        return false;
    graph_for_each_safe (g, n)
        changed |= n->op == OP_QUANTIZE_LINEAR && !g->error.status && fold_byte_scale(g, n, o->target);
    graph_for_each (g, n)
        n->results[0]->scratch = NULL; /* make_a's */
    graph_for_each_safe (g, n) {
        struct node *unpacking = n->cluster ? NULL : compact_weights_of(n, o->target), *bytes;
        bool packed = false;

        if (node_multiplies_bytes(n, o->target)) {
            if ((bytes = pack_bytes(g, n, o->target)) != NULL)
                share_weights(bytes, o->target->pool);
            changed |= bytes != NULL;
            if (g->error.status)
                return changed;
            continue;
        }
        if (unpacking)
            packed = pack_compact(g, n, unpacking, o->target, &kept);
        else if (is_candidate(n, o->target))
            packed = pack_floats(g, n, o->target);
        if (packed)
            share_weights(n, o->target->pool);
        changed |= packed;
        if (g->error.status)
            return changed;
    }
    return changed;
}
