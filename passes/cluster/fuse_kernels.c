/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Joins nodes into kernels.  It takes a graph whose library clusters are made, and makes a kernel cluster for every set of two
 * or more nodes that are better computed together; nodes that stay alone are left to pass_finish_clusters.
 *
 * Nodes are visited in topological order; each starts as its own group.  A node's group then joins, one after the other,
 * the groups that compute its inputs and those that read the same inputs, if
 *
 *   1. it pays: bytes not moved any more, less what the join costs (fuse_cost.h turns operations into bytes);
 *   2. nothing whose work is high (transcendental functions, sums) would be done more than once per element;
 *   3. the lowering can make one kernel of it, which executes little more than the groups do apart (is_good_kernel);
 *   4. no other group would have to run both before and after it.
 *
 * A view costs nothing where it is, so it joins only together with a group that reads it.  Library clusters are groups that
 * nothing joins.
 *
 * For 4, groups have places in a linear order in which every group comes after those it reads from.  Two groups may join if no
 * path leads from the earlier to the later through others; only groups placed between them can lie on one, so the search goes
 * backwards and never past the one placed first.  What it visits is then moved before the earlier group, whose place the joined
 * group takes.  Places are numbers with gaps; when a gap is used up, all are numbered again.  A search that becomes long
 * (SEARCH_MAX) is given up and the join with it: declining is always right, and it keeps the pass linear.
 */
#include <string.h>

#include "ir/graph/compact.h"
#include "ir/graph/conv.h"
#include "passes/cluster/attention.h"
#include "passes/cluster/fuse_internal.h"

/* ---- joining ---- */

static bool candidate_add_group(struct candidate *c, const struct group *g)
{
    if (c->count + g->count > GROUP_NODES_MAX)
        return false;
    memcpy(&c->nodes[c->count], g->nodes, g->count * sizeof *g->nodes);
    c->count += g->count;
    return true;
}

/* Sorts the nodes.  Merge sort would be faster, but groups are small and nearly sorted. */
static void candidate_sort(const struct fuse *f, struct candidate *c)
{
    for (uint32_t i = 1; i < c->count; i++) {
        struct node *n = c->nodes[i];
        uint32_t k = i;
        for (; k > 0 && f->position[c->nodes[k - 1]->index] > f->position[n->index]; k--)
            c->nodes[k] = c->nodes[k - 1];
        c->nodes[k] = n;
    }
}

/*
 * Makes one group of several, the one placed first, which becomes members[0]; c has the nodes of all.  Returns
 * false if it is not possible without a cycle, or if memory runs out.
 */
static bool join(struct fuse *f, struct group **members, uint32_t member_count, const struct candidate *c)
{
    for (uint32_t i = 1; i < member_count; i++)
        if (members[i]->place < members[0]->place) {
            struct group *swap = members[0];
            members[0] = members[i];
            members[i] = swap;
        }
    struct group *first = members[0];
    if (!fuse_search_between(f, members, member_count))
        return false;
    struct node **nodes = arena_copy(&f->arena, c->nodes, c->count * sizeof *nodes);
    if (!nodes)
        return error_out_of_memory(&f->g->error);
    fuse_move_found_before(f, first);
    for (uint32_t i = 1; i < member_count; i++)
        fuse_order_remove(f, members[i]);
    first->kind = GROUP_KERNEL;
    first->nodes = nodes;
    first->count = c->count;
    for (uint32_t i = 0; i < c->count; i++)
        f->group_of[nodes[i]->index] = first;
    return true;
}

/*
 * Returns whether all members are element-wise and of one shape.  The lowering need not be asked then, each time again about
 * ever more nodes, but once when the group is complete.
 */
static bool is_uniform(struct group *const *members, uint32_t count)
{
    const struct tensor_type *t = &members[0]->nodes[0]->results[0]->type;

    for (uint32_t i = 0; i < count; i++) {
        const struct tensor_type *other = &members[i]->nodes[0]->results[0]->type;
        if (!members[i]->uniform || other->rank != t->rank || memcmp(other->dims, t->dims, t->rank * sizeof *t->dims) != 0)
            return false;
    }
    return true;
}

static double cache_bytes(const struct fuse *f)
{
    return f->o->target ? target_l2_bytes(f->o->target) : 0;
}

/* Returns whether a value is packed weights, seen as they were: a constant in another order. */
static bool is_packed(const struct value *v)
{
    while (v->producer && op_infos[v->producer->op].flags & OPF_MOVEMENT && v->producer->input_count == 1)
        v = v->producer->inputs[0].value;
    return v->kind == VALUE_CONSTANT;
}

/* Returns whether a value is computed from constant bytes in a few steps, as dequantized weights are. */
static bool is_of_bytes(const struct value *v)
{
    for (uint32_t depth = 0; depth < 8 && v->producer && v->producer->input_count; depth++)
        v = v->producer->inputs[0].value;
    return v->kind == VALUE_CONSTANT && dtype_size(v->type.type) == 1;
}

/* Returns whether a node is a transpose that moves elements, and the last dimension. */
static bool moves_last(const struct node *n)
{
    return n->op == OP_TRANSPOSE && !node_is_view(n) &&
           NODE_OPTIONS(n, WNNTransposeOptions)->permutation[n->results[0]->type.rank - 1] != n->results[0]->type.rank - 1;
}

/* Returns whether a node reads floats, element by element, of which a transpose among the nodes weighed last moved the last
 * dimension there. */
static bool reads_moved(const struct fuse *f, const struct node *n)
{
    do {
        n = n->inputs[0].value->producer;
        if (!n || f->node_in[n->index] != f->weighing || n->results[0]->type.type != WNNOperandDataType_Float32)
            return false;
    } while (op_infos[n->op].flags & OPF_ELEMENTWISE);
    return moves_last(n);
}

/* Returns whether a convolution would read or write in another order than the one its kernel is fast in.
 *   - Winograd: tiles take a few elements of every channel.  Where an image is larger than L2 and its
 *     channels lie far apart, each of these is a miss that no prefetcher foresees.
 *   - Transposed, with strides: vectors run along the channels, whose results would be stored one by one.
 *   - Of images whose results are larger than L2: the same, and each store is a miss.
 *   - Of bytes: the same, and their sums are so short that these stores are a third of the time.
 *   - Depthwise, under windows of several lines: along the channels results share what their windows load.
 *   - Others, and matmuls: cost_reads_apart. */
static bool scatters(const struct fuse *f, const struct candidate *c)
{
    bool winograd = false, strided = false, convolves = false;
    double moved = 0, moved_results = 0;

    for (uint32_t i = 0; i < c->count; i++) {
        const struct node *n = c->nodes[i];
        winograd |= n->transformed != NULL;
        if (op_infos[n->op].flags & OPF_LIBRARY && !n->transformed && f->o->target && !f->o->target->device &&
            reads_moved(f, n) && cost_reads_apart(f->o->target, n))
            return true;
        if (n->op == OP_CONV_TRANSPOSE2D)
            strided |= conv_view(n).strides[0] > 1 || conv_view(n).strides[1] > 1;
        if (n->op == OP_CONV2D && target_facts(f->o->target)->multiplication.groups && is_packed(n->inputs[1].value)) {
            const uint32_t *sizes = n->inputs[1].value->type.dims, *axes = conv_view(n).filter;
            strided |= sizes[axes[AXIS_OUTPUT]] == conv_view(n).groups && sizes[axes[AXIS_HEIGHT]] > 1;
        }
        convolves |= n->op == OP_CONV2D && f->o->target && !f->o->target->device;
        if (convolves && moves_last(n) && n->inputs[0].value->producer &&
            f->node_in[n->inputs[0].value->producer->index] == f->weighing)
            moved_results = fuse_value_bytes(n->results[0]);
        if (n->op == OP_CONV2D && !n->transformed)
            strided |= is_of_bytes(n->inputs[1].value);
        if (n->op == OP_TRANSPOSE && !is_packed(n->inputs[0].value) && !is_of_bytes(n->inputs[0].value) && !node_is_view(n) &&
            fuse_value_bytes(n->results[0]) > moved)
            moved = fuse_value_bytes(n->results[0]);
    }
    return (moved > 0 && (strided || (winograd && moved > cache_bytes(f)))) || moved_results > cache_bytes(f);
}

/*
 * Returns whether there are several contractions that are better alone: a kernel of one is register-tiled and reads its B
 * operand from consecutive addresses, or unpacks it in registers.  Small values of one row (gates of a recurrent step)
 * gains more by one kernel less.
 */
static bool has_large_contractions(const struct fuse *f, const struct candidate *c)
{
    double rows = 0, bytes = 0;
    uint32_t contractions = 0;
    bool compact = false;

    for (uint32_t i = 0; i < c->count; i++) {
        const struct node *n = c->nodes[i];
        if (!(op_infos[n->op].flags & OPF_LIBRARY))
            continue;
        const struct tensor_type *out = &n->results[0]->type;
        contractions++;
        rows = out->dims[out->rank - 2] > rows ? out->dims[out->rank - 2] : rows;
        bytes += fuse_value_bytes(n->inputs[1].value);
        compact |= value_is_unpacked(n->inputs[1].value);
    }
    return contractions > 1 && (rows > 1 || compact || bytes > target_facts(f->o->target)->fusion.b_caches * cache_bytes(f));
}

/* Returns what a group executes, of views nothing; -1: it is not a kernel.  A concat loads and stores its elements. */
static double group_work(const struct fuse *f, struct group *g)
{
    const struct target *t = f->o->target;
    const struct node *last = g->nodes[g->count - 1];

    if (g->kind == GROUP_KERNEL && !g->work && !lower_can_join(t, g->nodes, g->count, &g->work))
        g->work = last->op == OP_CONCAT ? 2 * (double)type_elements(&last->results[0]->type) / (double)target_lanes(t) : -1;
    return g->work;
}

/*
 * Returns whether one kernel of these members can be made and executes not much more than they do apart: the space, the vector
 * variable and the register tile of a contraction may be bad for another node, and a reader of a concat may compute all its
 * parts.  *work becomes what the kernel executes, or 0 where that is not counted.
 */
static bool is_good_kernel(const struct fuse *f, const struct candidate *c, struct group *const *members, uint32_t count,
                           double *work)
{
    const struct target *t = f->o->target;
    bool weighed = false;
    double apart = 0;

    for (uint32_t i = 0; i < c->count; i++)
        weighed |= op_infos[c->nodes[i]->op].flags & (OPF_LIBRARY | OPF_POOL) || c->nodes[i]->op == OP_CONCAT;
    weighed = weighed && t && !t->device && t->isa.vector_bits;
    for (uint32_t i = 0; i < count && weighed; i++) { /* how these lie in memory was chosen for the contraction's kernel */
        const struct value *v = members[i]->nodes[members[i]->count - 1]->results[0];
        weighed = !value_is_unpacked(v) && !value_is_rounded(v) && !is_packed(v);
    }
    if (!lower_can_join(t, c->nodes, c->count, weighed ? work : NULL))
        return false;
    for (uint32_t i = 0; i < count && weighed; i++) {
        weighed = group_work(f, members[i]) >= 0;
        apart += members[i]->work;
    }
    if (weighed && *work > target_facts(t)->fusion.more_work * apart)
        return false;
    *work = weighed ? fmin(*work, apart) : 0; /* small increases of many joins add up */
    return true;
}

/* Joins `reader` with `other`, through the views between them, if all four rules allow it.  Returns NULL if they do not. */
static struct group *try_join(struct fuse *f, struct group *reader, struct group *other, struct group *const *views,
                              uint32_t view_count)
{
    struct group *members[2 + VIEWS_MAX] = {reader, other};
    uint32_t member_count = 2 + view_count, streams;
    struct candidate c = {.count = 0};
    double bytes, repeated, work = 0, before = 0;

    if (reader->closed || other->closed)
        return NULL;
    for (uint32_t i = 0; i < view_count; i++)
        members[2 + i] = views[i];
    for (uint32_t i = 0; i < member_count; i++) {
        if (!candidate_add_group(&c, members[i]))
            return NULL;
        before += members[i]->bytes;
    }
    candidate_sort(f, &c);
    bytes = fuse_weigh(f, c.nodes, c.count, &streams);
    if (streams > target_facts(f->o->target)->cache.streams || bytes >= before || has_large_contractions(f, &c) ||
        scatters(f, &c))
        return NULL;
    repeated = fuse_repeated_work(f, &c);
    if (repeated < 0 || bytes + repeated + fuse_lost_threads(f, &c) >= before)
        return NULL;
    bool uniform = is_uniform(members, member_count);
    if ((!uniform && !is_good_kernel(f, &c, members, member_count, &work)) || !join(f, members, member_count, &c))
        return NULL;
    members[0]->bytes = bytes;
    members[0]->work = work;
    members[0]->uniform = members[0]->unasked = uniform;
    return members[0];
}

/* ---- visiting ---- */

/* Returns whether n, alone, is not a kernel: its bytes are somewhere already, or will be (see
 * passes/cluster/finish_clusters.c). */
static bool is_free(const struct node *n)
{
    const struct value *v = n->results[0];
    uint32_t looked_through = 0;

    if (n->result_count == 1 && (value_is_rounded(v) || value_is_rounded_zero(v)))
        return true; /* its contraction's kernel computes it */
    if (!node_is_view(n))
        return concat_is_contiguous(n);
    if (!v->output_uses)
        return true;
    /* An output that is a view of an input, a constant or another output is a copy. */
    while (v->producer && node_is_view(v->producer) && looked_through++ < VIEWS_MAX) {
        v = v->producer->inputs[0].value;
        if (v->output_uses)
            return false;
    }
    return v->kind == VALUE_RESULT;
}

static struct group *group_create(struct fuse *f, uint32_t capacity)
{
    struct group *g = arena_alloc(&f->arena, sizeof *g);

    if (!g || !(g->nodes = arena_array(&f->arena, capacity, sizeof *g->nodes)))
        return error_null_memory(&f->g->error);
    return g;
}

/* Returns the group that computes v, looking through views that stand alone, or NULL if there is none that a kernel could
 * join. */
static struct group *producer_group(struct fuse *f, const struct value *v, struct group **views, uint32_t *view_count)
{
    *view_count = 0;
    while (v && v->producer && !value_is_packed_late(v)) {
        struct group *g = f->group_of[v->producer->index];
        if (g->kind == GROUP_KERNEL)
            return g;
        if (g->kind == GROUP_LIBRARY || *view_count == VIEWS_MAX || !node_is_view(v->producer))
            return NULL;
        views[(*view_count)++] = g;
        v = v->producer->inputs[0].value;
    }
    return NULL;
}

/* Returns whether n makes floats of bytes for elementwise nodes only: its readers join it, and bytes are moved. */
static bool awaits_readers(const struct node *n)
{
    if (n->op != OP_DEQUANTIZE_LINEAR || n->results[0]->output_uses)
        return false;
    value_for_each_use (n->results[0], u)
        if (!(op_infos[u->node->op].flags & OPF_ELEMENTWISE) || u->node->cluster)
            return false;
    return true;
}

/* Joins the groups that compute n's inputs.  A contraction's weights come first: without them it is another kernel. */
static void join_producers(struct fuse *f, const struct node *n)
{
    const uint32_t count = n->input_count < SIBLING_INPUTS_MAX ? n->input_count : SIBLING_INPUTS_MAX;
    const bool backwards = op_infos[n->op].flags & OPF_LIBRARY;

    if (n->result_count == 1 && value_is_packed_late(n->results[0])) /* it moves words, where it computes nothing */
        return;
    for (uint32_t i = 0; i < count; i++) {
        struct group *views[VIEWS_MAX], *g = f->group_of[n->index], *producer;
        uint32_t view_count;

        producer = producer_group(f, n->inputs[backwards ? count - 1 - i : i].value, views, &view_count);
        if (!producer || producer == g || !try_join(f, g, producer, views, view_count))
            continue;
        const struct node *of = n->inputs[backwards ? count - 1 - i : i].value->producer;
        if (awaits_readers(of))
            join_producers(f, of);
    }
}

/* Joins groups that read what n reads: there is one walk over the bytes instead of two. */
static void join_siblings(struct fuse *f, const struct node *n)
{
    for (uint32_t i = 0; i < n->input_count && i < SIBLING_INPUTS_MAX; i++) {
        uint32_t considered = 0;

        if (!n->inputs[i].value || n->inputs[i].value->kind == VALUE_CONSTANT)
            continue;
        value_for_each_use (n->inputs[i].value, u) {
            struct group *g = f->group_of[n->index], *other = f->group_of[u->node->index];
            if (considered++ == SIBLINGS_MAX)
                break;
            if (other && other != g && other->kind == GROUP_KERNEL)
                try_join(f, g, other, NULL, 0);
        }
    }
}

/*
 * Joins groups with a concat.  A concat that is not a view is lowered to one kernel per input, which copies it, or computes it
 * where it belongs if the cluster has the nodes for it: a group joins if all it is for is one of the inputs.  Each of these
 * kernels is the one that the group would have been.
 */
static void join_parts(struct fuse *f, struct node *n)
{
    for (uint32_t i = 0; i < n->input_count; i++) {
        struct value *v = n->inputs[i].value;
        struct group *g = f->group_of[n->index], *other = v->producer ? f->group_of[v->producer->index] : NULL;
        struct group *members[2] = {other, g};
        struct candidate c = {.count = 0};
        uint32_t streams;

        if (!other || other == g || other->kind != GROUP_KERNEL || other->closed || f->uses[v->index] != 1)
            continue;
        fuse_weigh(f, other->nodes, other->count, &streams);
        /* The lowering checks single nodes, too: a scatter or a loop is not one kernel. */
        if (fuse_written_values(f, other->nodes, other->count) != 1 ||
            !lower_can_join(f->o->target, other->nodes, other->count, NULL) || !candidate_add_group(&c, other) ||
            !candidate_add_group(&c, g))
            continue;
        candidate_sort(f, &c);
        double bytes = fuse_weigh(f, c.nodes, c.count, &streams);
        if (!join(f, members, 2, &c))
            continue;
        members[0]->bytes = bytes;
        members[0]->uniform = members[0]->unasked = false;
        members[0]->closed = true;
    }
}

/* Joins a contraction with the conversion of its rounded operand to floats, which costs nothing extra there. */
static void join_rounded(struct fuse *f, const struct node *n)
{
    struct group *members[2 + VIEWS_MAX] = {f->group_of[n->index]};
    uint32_t member_count = 1, streams;
    struct candidate c = {.count = 0};

    for (const struct value *v = n->inputs[0].value; value_is_rounded(v) && member_count < 2 + VIEWS_MAX;
         v = v->producer->inputs[0].value) {
        const struct value *zero = v->producer->op == OP_SUB ? v->producer->inputs[1].value : NULL;
        members[member_count++] = f->group_of[v->producer->index];
        if (zero && zero->producer && value_is_rounded_zero(zero) && member_count < 2 + VIEWS_MAX)
            members[member_count++] = f->group_of[zero->producer->index];
    }
    if (member_count == 1)
        return;
    for (uint32_t i = 0; i < member_count; i++)
        if (members[i]->kind == GROUP_LIBRARY || !candidate_add_group(&c, members[i]))
            return;
    candidate_sort(f, &c);
    if (!lower_can_join(f->o->target, c.nodes, c.count, NULL) || !join(f, members, member_count, &c))
        return;
    members[0]->bytes = fuse_weigh(f, c.nodes, c.count, &streams);
    members[0]->work = 0;
    members[0]->uniform = members[0]->unasked = false;
}

static bool visit(struct fuse *f, struct node *n)
{
    struct group *g = group_create(f, 1);
    uint32_t streams;

    if (!g)
        return false;
    g->nodes[g->count++] = n;
    f->group_of[n->index] = g;
    fuse_order_append(f, g);
    if (is_free(n)) {
        g->kind = GROUP_FREE;
        return true;
    }
    g->kind = GROUP_KERNEL;
    g->uniform = op_infos[n->op].flags & OPF_ELEMENTWISE;
    g->bytes = fuse_weigh(f, g->nodes, 1, &streams);
    if (n->op == OP_CONCAT)
        join_parts(f, n);
    if (op_infos[n->op].flags & OPF_LIBRARY && n->input_count > 1 && value_is_unpacked(n->inputs[1].value))
        join_rounded(f, n);
    if (!awaits_readers(n))
        join_producers(f, n);
    join_siblings(f, n);
    return !f->g->error.status;
}

/* Makes a group of a cluster.  A cluster that exists already is a group that is placed with its last node: nothing reads what
 * it computes before that. */
static bool visit_clustered(struct fuse *f, struct node *n)
{
    struct group **g = &f->cluster_groups[n->cluster->index];

    if (!*g && !(*g = group_create(f, f->cluster_sizes[n->cluster->index])))
        return false;
    (*g)->kind = GROUP_LIBRARY;
    (*g)->nodes[(*g)->count++] = n;
    f->group_of[n->index] = *g;
    if ((*g)->count == f->cluster_sizes[n->cluster->index])
        fuse_order_append(f, *g);
    return true;
}

static bool prepare(struct fuse *f)
{
    struct graph *g = f->g;
    uint32_t position = 0;

    f->group_of = arena_array(&f->arena, g->node_count, sizeof *f->group_of);
    f->position = arena_array(&f->arena, g->node_count, sizeof *f->position);
    f->found = arena_array(&f->arena, (size_t)g->node_count + 2 + VIEWS_MAX, sizeof *f->found);
    f->node_in = arena_array(&f->arena, g->node_count, sizeof *f->node_in);
    f->uses = arena_array(&f->arena, g->value_count, sizeof *f->uses);
    f->value_in = arena_array(&f->arena, g->value_count, sizeof *f->value_in);
    f->value_uses = arena_array(&f->arena, g->value_count, sizeof *f->value_uses);
    f->value_bytes = arena_array(&f->arena, g->value_count, sizeof *f->value_bytes);
    f->cluster_sizes = arena_array(&f->arena, g->cluster_count, sizeof *f->cluster_sizes);
    f->cluster_groups = arena_array(&f->arena, g->cluster_count, sizeof *f->cluster_groups);
    if (!f->group_of || !f->position || !f->found || !f->node_in || !f->uses || !f->value_in || !f->value_uses ||
        !f->value_bytes || !f->cluster_sizes || !f->cluster_groups)
        return error_out_of_memory(&g->error);
    graph_for_each (g, n) {
        f->position[n->index] = position++;
        for (uint32_t i = 0; i < n->input_count; i++)
            if (n->inputs[i].value)
                f->uses[n->inputs[i].value->index]++;
        for (uint32_t i = 0; i < n->result_count; i++)
            f->uses[n->results[i]->index] += n->results[i]->output_uses;
        if (n->cluster)
            f->cluster_sizes[n->cluster->index]++;
    }
    return true;
}

/*
 * Makes a cluster of these nodes, or of each half of them if the lowering, asked only now, cannot make one kernel.  Halves of a
 * group in topological order cannot need each other, nor anything else that needs the group's other half.
 */
static bool make_clusters(struct fuse *f, struct node **nodes, uint32_t count, bool unasked)
{
    if (count < 2)
        return true;
    if (unasked && !lower_can_join(f->o->target, nodes, count, NULL))
        return make_clusters(f, nodes, count / 2, true) && make_clusters(f, nodes + count / 2, count - count / 2, true);
    struct cluster *c = cluster_create(f->g, CLUSTER_KERNEL);
    for (uint32_t i = 0; c && i < count; i++)
        nodes[i]->cluster = c;
    return c != NULL;
}

static bool fuse(struct fuse *f)
{
    uint32_t visited = 0, before = f->g->cluster_count;

    if (!prepare(f))
        return false;
    graph_for_each (f->g, n) {
        if (++visited % 256 == 0 && f->o->cancelled && f->o->cancelled(f->o->user))
            return false;
        if (!(n->cluster ? visit_clustered(f, n) : visit(f, n)))
            return false;
    }
    for (const struct group *g = f->first; g; g = g->next)
        if (g->kind == GROUP_KERNEL && !make_clusters(f, g->nodes, g->count, g->unasked))
            break;
    return f->g->cluster_count > before;
}

bool pass_fuse_kernels(struct graph *g, const struct pass_options *o)
{
    struct fuse f = {.g = g, .o = o};
    uint32_t kernels = 0;

    /* Once is enough: what stayed alone was offered to every neighbour. */
    for (const struct cluster *c = g->first_cluster; c; c = c->next)
        kernels += c->kind == CLUSTER_KERNEL;
    if (kernels > attention_count(g))
        return false;
    bool changed = fuse(&f);
    arena_free(&f.arena);
    return changed;
}
