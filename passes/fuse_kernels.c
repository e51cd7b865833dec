/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Joins nodes into kernels.  In: a graph whose library clusters are made.  Out: a kernel cluster for every set of two or more
 * nodes that are better computed together; nodes that stay alone are left to pass_finish_clusters.
 *
 * Nodes are visited in topological order, each a group of its own at first.  A node's group then joins, one after the other,
 * the groups that compute its inputs and those that read the same inputs, if
 *
 *   1. it pays: bytes not moved any more, less what the join costs (fuse_cost.h turns operations into bytes);
 *   2. nothing whose work is high (transcendental functions, sums) would be done more than once per element;
 *   3. the lowering can make one kernel of it (lower_can_join);
 *   4. no other group would have to run both before and after it.
 *
 * A view costs nothing where it is, so it joins only together with a group that reads it.  Library clusters are groups that
 * nothing joins.
 *
 * For 4, groups have places in a linear order in which every group comes after those it reads from.  Two groups may join if no
 * path leads from the earlier to the later through others; only groups placed between them can lie on one, so the search goes
 * backwards and never past the one placed first.  What it visits is then moved before the earlier group, whose
 * place the joined group takes.  Places are numbers with gaps; when a gap is used up, all are numbered anew.  A search that
 * becomes long (SEARCH_MAX) is given up and the join with it: declining is always right, and it keeps the pass linear.
 */
#include <string.h>

#include "ir/conv.h"
#include "passes/fuse_cost.h"
#include "passes/support.h"

enum {
    GROUP_NODES_MAX = 64,
    GROUP_STREAMS_MAX = 24, /* tensors at the boundary, written ones twice: what a core follows, and registers for addresses */
    SEARCH_MAX = 1024,      /* inputs looked at in one search for a path */
    VIEWS_MAX = 4,          /* views in a row that are looked through */
    SIBLINGS_MAX = 4,       /* other readers of an input that are considered */
    CACHES_MAX = 2          /* factors of products in one kernel, in second caches */
};

struct group {
    enum { GROUP_KERNEL, GROUP_LIBRARY, GROUP_FREE } kind; /* FREE: a view as long as it stays alone */
    uint32_t count;
    struct node **nodes; /* in topological order */
    int64_t place;
    struct group *next, *prev; /* in the order of places */
    double bytes;              /* moved to and from memory */
    bool uniform;              /* element-wise nodes with results of one shape only: a kernel is sure to be possible */
    bool closed;               /* a concat with what computes its inputs: a kernel per input, to which nothing can be added */
    bool unasked;              /* joined without asking, for that reason */
    uint32_t seen, member;     /* number of the search that found it, of the one it was to be a member of */
};

struct fuse {
    struct graph *g;
    const struct pass_options *o;
    struct arena arena;
    struct group **group_of;    /* by node->index; NULL: not visited yet */
    uint32_t *position;         /* by node->index: in the graph's order */
    uint32_t *uses;             /* by value->index: reading slots and outputs */
    struct group *first, *last; /* in the order of places */
    uint32_t search;            /* number of the current search */
    struct group **found;       /* by the current search */
    uint32_t found_count;
    uint32_t *cluster_sizes; /* by cluster->index: of the clusters that exist already */
    struct group **cluster_groups;
    /* of the set of nodes being weighed: */
    uint32_t weighing;
    uint32_t *node_in;    /* by node->index: number of the weighing it belongs to */
    uint32_t *value_in;   /* by value->index: number of the weighing it was met in */
    uint32_t *value_uses; /* by value->index: uses inside */
    double *value_bytes;  /* by value->index: bytes of it that are read */
};

/* ---- order of groups ---- */

#define PLACE_GAP (INT64_C(1) << 32)

static void order_append(struct fuse *f, struct group *g)
{
    g->place = f->last ? f->last->place + PLACE_GAP : 0;
    g->prev = f->last;
    g->next = NULL;
    if (f->last)
        f->last->next = g;
    else
        f->first = g;
    f->last = g;
}

static void order_remove(struct fuse *f, struct group *g)
{
    if (g->prev)
        g->prev->next = g->next;
    else
        f->first = g->next;
    if (g->next)
        g->next->prev = g->prev;
    else
        f->last = g->prev;
}

/* Puts groups, in this order, before `next`. */
static void order_insert_before(struct fuse *f, struct group *const *groups, uint32_t count, struct group *next)
{
    int64_t low = next->prev ? next->prev->place : next->place - PLACE_GAP;
    int64_t step = (next->place - low) / (count + 1);

    for (uint32_t i = 0; i < count; i++) {
        struct group *g = groups[i];
        g->next = next;
        g->prev = next->prev;
        next->prev = g;
        if (g->prev)
            g->prev->next = g;
        else
            f->first = g;
        g->place = low + step * (i + 1);
    }
    if (step == 0) {
        int64_t place = 0;
        for (struct group *i = f->first; i; i = i->next, place += PLACE_GAP)
            i->place = place;
    }
}

/*
 * Finds every other group, placed after members[0], that members[1..] depend on; members[0] is the one placed first.  False:
 * one of them depends on a member in turn, or the search became too long.
 */
static bool search_between(struct fuse *f, struct group *const *members, uint32_t member_count)
{
    uint32_t looked_at = 0, next = 0, queued = 0;

    f->search++;
    for (uint32_t i = 0; i < member_count; i++)
        members[i]->seen = members[i]->member = f->search;
    for (uint32_t i = 1; i < member_count; i++)
        f->found[queued++] = members[i];
    while (next < queued) {
        const struct group *g = f->found[next++];
        for (uint32_t i = 0; i < g->count; i++) {
            const struct node *n = g->nodes[i];
            for (uint32_t k = 0; k < n->input_count; k++) {
                const struct value *v = n->inputs[k].value;
                struct group *needed = v && v->producer ? f->group_of[v->producer->index] : NULL;
                if (++looked_at > SEARCH_MAX)
                    return false;
                if (!needed)
                    continue;
                if (needed->member == f->search && g->member != f->search)
                    return false;
                if (needed->seen == f->search || needed->place < members[0]->place)
                    continue;
                needed->seen = f->search;
                f->found[queued++] = needed;
            }
        }
    }
    f->found_count = queued - (member_count - 1);
    memmove(f->found, f->found + member_count - 1, f->found_count * sizeof *f->found);
    return true;
}

/* Moves what was found before `first`, keeping its order. */
static void move_found_before(struct fuse *f, struct group *first)
{
    /* Insertion sort: a search finds few groups. */
    for (uint32_t i = 1; i < f->found_count; i++) {
        struct group *g = f->found[i];
        uint32_t k = i;
        for (; k > 0 && f->found[k - 1]->place > g->place; k--)
            f->found[k] = f->found[k - 1];
        f->found[k] = g;
    }
    for (uint32_t i = 0; i < f->found_count; i++)
        order_remove(f, f->found[i]);
    if (f->found_count)
        order_insert_before(f, f->found, f->found_count, first);
}

/* ---- weighing ---- */

/* A candidate: nodes in topological order. */
struct candidate {
    uint32_t count;
    struct node *nodes[GROUP_NODES_MAX + VIEWS_MAX + 1];
};

static double value_bytes(const struct value *v)
{
    return (double)type_bytes(&v->type);
}

/* Whether a result of the nodes being weighed is needed elsewhere: it has more uses than were met among them. */
static bool read_outside(const struct fuse *f, const struct value *v)
{
    return f->uses[v->index] > (f->value_in[v->index] == f->weighing ? f->value_uses[v->index] : 0);
}

/* Bytes that a kernel of these nodes moves; *streams: 1 for each tensor at its boundary, 2 for those it writes. */
static double weigh(struct fuse *f, struct node *const *nodes, uint32_t count, uint32_t *streams)
{
    double bytes = 0;

    f->weighing++;
    *streams = 0;
    for (uint32_t i = 0; i < count; i++)
        f->node_in[nodes[i]->index] = f->weighing;
    for (uint32_t i = 0; i < count; i++) {
        const struct node *n = nodes[i];
        for (uint32_t k = 0; k < n->input_count; k++) {
            const struct value *v = n->inputs[k].value;
            double read;
            if (!v)
                continue;
            if (f->value_in[v->index] != f->weighing) {
                f->value_in[v->index] = f->weighing;
                f->value_uses[v->index] = 0;
                f->value_bytes[v->index] = 0;
                *streams += !(v->producer && f->node_in[v->producer->index] == f->weighing);
            }
            f->value_uses[v->index]++;
            if (v->producer && f->node_in[v->producer->index] == f->weighing)
                continue;
            /* A slice reads a part; reading more often than there are elements comes from the cache. */
            read = cost_elements_read(n, k) * (double)dtype_size(v->type.type);
            if (read > value_bytes(v))
                read = value_bytes(v);
            if (read > f->value_bytes[v->index]) {
                bytes += read - f->value_bytes[v->index];
                f->value_bytes[v->index] = read;
            }
        }
    }
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < nodes[i]->result_count; k++)
            if (read_outside(f, nodes[i]->results[k])) {
                bytes += value_bytes(nodes[i]->results[k]);
                *streams += 2;
            }
    return bytes;
}

/* How many results of the nodes weighed last are needed outside. */
static uint32_t written_values(const struct fuse *f, struct node *const *nodes, uint32_t count)
{
    uint32_t written = 0;

    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < nodes[i]->result_count; k++)
            written += read_outside(f, nodes[i]->results[k]);
    return written;
}

/* Elements that one point of a reducing node's space runs over, and how many points there are. */
static bool is_row(const struct node *n, double *points, double *row)
{
    if (!(op_infos[n->op].flags & (OPF_REDUCTION | OPF_NORMALIZATION | OPF_SCAN)))
        return false;
    *points = cost_points(n);
    *row = (double)type_elements(&n->inputs[0].value->type) / *points;
    return true;
}

/*
 * Whether reading v, one value per row, for every element of the rows is no repeated work: some node of the candidate runs over
 * these rows, and what is the same for a whole row is computed once per row.
 */
static bool read_per_row(const struct candidate *c, const struct value *v, double reads)
{
    double points, row;

    for (uint32_t i = 0; i < c->count; i++)
        if (is_row(c->nodes[i], &points, &row) && points == (double)type_elements(&v->type) && points * row == reads)
            return true;
    return false;
}

/*
 * What the join costs, in bytes: work done again because elements are read more often than there are.  Negative: it must not be
 * done at all.  `times` is kept in value_bytes of what is computed inside, by going backwards: a node is computed as often as
 * its most frequent reader asks for it.
 */
static double weigh_repeated_work(struct fuse *f, const struct candidate *c)
{
    double operations = 0;

    for (uint32_t i = 0; i < c->count; i++)
        for (uint32_t k = 0; k < c->nodes[i]->result_count; k++)
            f->value_bytes[c->nodes[i]->results[k]->index] = 1;
    for (uint32_t i = c->count; i-- > 0;) {
        const struct node *n = c->nodes[i];
        double times = 1;

        for (uint32_t k = 0; k < n->result_count; k++)
            if (f->value_bytes[n->results[k]->index] > times)
                times = f->value_bytes[n->results[k]->index];
        if (times > 1) {
            if (cost_is_high(n))
                return -1;
            operations += (times - 1) * cost_operations(n);
        }
        for (uint32_t k = 0; k < n->input_count; k++) {
            const struct value *v = n->inputs[k].value;
            double reads, again;
            if (!v || !v->producer || f->node_in[v->producer->index] != f->weighing)
                continue;
            reads = cost_elements_read(n, k);
            again = times * reads / (double)type_elements(&v->type);
            if (again > f->value_bytes[v->index] && !(times == 1 && read_per_row(c, v, reads)))
                f->value_bytes[v->index] = again;
        }
    }
    return operations / COST_OPERATIONS_PER_BYTE;
}

/*
 * What the join costs in parallelism: a kernel that reduces has as many independent points as its reductions have results, and
 * everything that joins it is computed by as many threads.
 */
static double weigh_lost_threads(const struct fuse *f, const struct candidate *c)
{
    double threads = f->o->target && f->o->target->thread_count ? f->o->target->thread_count : 1;
    double points = -1, lost = 0;

    if (threads <= 1)
        return 0;
    for (uint32_t i = 0; i < c->count; i++) {
        double p, row;
        if (is_row(c->nodes[i], &p, &row) && (points < 0 || p < points))
            points = p;
    }
    if (points < 0 || points >= threads)
        return 0;
    for (uint32_t i = 0; i < c->count; i++) {
        double own = cost_points(c->nodes[i]);
        double before = own < threads ? own : threads;
        lost += cost_operations(c->nodes[i]) * (1 / points - 1 / before);
    }
    return lost / COST_OPERATIONS_PER_BYTE;
}

/* ---- joining ---- */

static bool candidate_add_group(struct candidate *c, const struct group *g)
{
    if (c->count + g->count > GROUP_NODES_MAX)
        return false;
    memcpy(&c->nodes[c->count], g->nodes, g->count * sizeof *g->nodes);
    c->count += g->count;
    return true;
}

/* Merge sort would be faster; groups are small and nearly sorted. */
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
 * Makes one group of several, members[0] being the one placed first; c has the nodes of all.  False: not without a cycle, or
 * out of memory.
 */
static bool join(struct fuse *f, struct group *const *members, uint32_t member_count, const struct candidate *c)
{
    struct group *first = members[0];
    struct node **nodes;

    if (!search_between(f, members, member_count))
        return false;
    nodes = arena_copy(&f->arena, c->nodes, c->count * sizeof *nodes);
    if (!nodes)
        return error_out_of_memory(&f->g->error);
    move_found_before(f, first);
    for (uint32_t i = 1; i < member_count; i++)
        order_remove(f, members[i]);
    first->kind = GROUP_KERNEL;
    first->nodes = nodes;
    first->count = c->count;
    for (uint32_t i = 0; i < c->count; i++)
        f->group_of[nodes[i]->index] = first;
    return true;
}

/*
 * Whether all members are element-wise and of one shape.  The lowering need not be asked then, each time anew about ever more
 * nodes, but once when the group is complete.
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
    return f->o->target && f->o->target->cache_bytes ? (double)f->o->target->cache_bytes : 0;
}

/*
 * Whether a convolution would read or write in another order than the one its kernel is fast in.
 *   - By transforms: tiles take a few elements of every channel.  Where an image is larger than the second cache and its
 *     channels lie far apart, each of these is a miss that no prefetcher foresees.
 *   - Transposed, with strides: neighbours in a row of the result come from different parts of the window, so that vectors run
 *     along the channels, whose results would be stored one by one.
 */
static bool scatters(const struct fuse *f, const struct candidate *c)
{
    bool transforms = false, strided = false;
    double moved = 0;

    for (uint32_t i = 0; i < c->count; i++) {
        const struct node *n = c->nodes[i];
        transforms |= n->transformed != NULL;
        if (n->op == OP_CONV_TRANSPOSE2D)
            strided |= conv_view(n).strides[0] > 1 || conv_view(n).strides[1] > 1;
        if (n->op == OP_TRANSPOSE && n->inputs[0].value->kind != VALUE_CONSTANT && !node_is_view(n) &&
            value_bytes(n->results[0]) > moved) /* packed weights are constants */
            moved = value_bytes(n->results[0]);
    }
    return moved > 0 && (strided || (transforms && moved > cache_bytes(f)));
}

/*
 * Whether there are several products that are better alone: a kernel of one is computed in tiles of rows and reads its factor
 * from consecutive addresses.  What is small and has one row (gates of a recurrent step) gains more by one kernel less.
 */
static bool has_large_products(const struct fuse *f, const struct candidate *c)
{
    double rows = 0, bytes = 0;
    uint32_t products = 0;

    for (uint32_t i = 0; i < c->count; i++) {
        const struct node *n = c->nodes[i];
        if (!(op_infos[n->op].flags & OPF_LIBRARY))
            continue;
        const struct tensor_type *out = &n->results[0]->type;
        products++;
        rows = out->dims[out->rank - 2] > rows ? out->dims[out->rank - 2] : rows;
        bytes += value_bytes(n->inputs[1].value);
    }
    return products > 1 && (rows > 1 || bytes > CACHES_MAX * cache_bytes(f));
}

/* Joins `reader` with `other`, through the views between them, if all four rules allow it.  NULL: they do not. */
static struct group *try_join(struct fuse *f, struct group *reader, struct group *other, struct group *const *views,
                              uint32_t view_count)
{
    struct group *members[2 + VIEWS_MAX] = {reader, other};
    uint32_t member_count = 2 + view_count, streams;
    struct candidate c = {.count = 0};
    double bytes, repeated, before = 0;
    bool uniform;

    if (reader->closed || other->closed)
        return NULL;
    for (uint32_t i = 0; i < view_count; i++)
        members[2 + i] = views[i];
    for (uint32_t i = 0; i < member_count; i++) {
        if (!candidate_add_group(&c, members[i]))
            return NULL;
        before += members[i]->bytes;
        if (members[i]->place < members[0]->place) {
            struct group *swap = members[0];
            members[0] = members[i];
            members[i] = swap;
        }
    }
    candidate_sort(f, &c);
    bytes = weigh(f, c.nodes, c.count, &streams);
    if (streams > GROUP_STREAMS_MAX || bytes >= before || has_large_products(f, &c) || scatters(f, &c))
        return NULL;
    repeated = weigh_repeated_work(f, &c);
    if (repeated < 0 || bytes + repeated + weigh_lost_threads(f, &c) >= before)
        return NULL;
    uniform = is_uniform(members, member_count);
    if ((!uniform && !lower_can_join(f->o->target, c.nodes, c.count)) || !join(f, members, member_count, &c))
        return NULL;
    members[0]->bytes = bytes;
    members[0]->uniform = members[0]->unasked = uniform;
    return members[0];
}

/* ---- visiting ---- */

/* Whether n, alone, is no kernel: its bytes are somewhere already, or will be (see passes/finish_clusters.c). */
static bool is_free(const struct node *n)
{
    const struct value *v = n->results[0];
    uint32_t looked_through = 0;

    if (!node_is_view(n))
        return concat_is_contiguous(n);
    if (!v->output_uses)
        return true;
    /* An output that looks at what is no result, or at another output, is a copy. */
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

    if (!g || !(g->nodes = arena_array(&f->arena, capacity, sizeof *g->nodes))) {
        error_out_of_memory(&f->g->error);
        return NULL;
    }
    return g;
}

/* The group that computes v, looking through views that stand alone; NULL: none that a kernel could join. */
static struct group *producer_group(struct fuse *f, const struct value *v, struct group **views, uint32_t *view_count)
{
    *view_count = 0;
    while (v && v->producer) {
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

static void join_producers(struct fuse *f, const struct node *n)
{
    for (uint32_t i = 0; i < n->input_count && i < GROUP_STREAMS_MAX; i++) {
        struct group *views[VIEWS_MAX], *g = f->group_of[n->index], *producer;
        uint32_t view_count;

        producer = producer_group(f, n->inputs[i].value, views, &view_count);
        if (producer && producer != g)
            try_join(f, g, producer, views, view_count);
    }
}

/* Groups that read what n reads: one walk over the bytes instead of two. */
static void join_siblings(struct fuse *f, const struct node *n)
{
    for (uint32_t i = 0; i < n->input_count && i < GROUP_STREAMS_MAX; i++) {
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
 * A concat that is no view is lowered to one kernel per input, which copies it, or computes it where it belongs if the cluster
 * has the nodes for it: a group joins if all it is for is one of the inputs.  Each of these kernels is the one that the group
 * would have been.
 */
static void join_parts(struct fuse *f, struct node *n)
{
    for (uint32_t i = 0; i < n->input_count; i++) {
        struct value *v = n->inputs[i].value;
        struct group *g = f->group_of[n->index], *other = v->producer ? f->group_of[v->producer->index] : NULL;
        struct group *members[2] = {other, g};
        struct candidate c = {.count = 0};
        uint32_t streams;
        double bytes;

        if (!other || other == g || other->kind != GROUP_KERNEL || other->closed || f->uses[v->index] != 1)
            continue;
        weigh(f, other->nodes, other->count, &streams);
        /* Asked also about a node alone: a scatter or a loop is not one kernel. */
        if (written_values(f, other->nodes, other->count) != 1 || !lower_can_join(f->o->target, other->nodes, other->count) ||
            !candidate_add_group(&c, other) || !candidate_add_group(&c, g))
            continue;
        if (g->place < other->place) {
            members[0] = g;
            members[1] = other;
        }
        candidate_sort(f, &c);
        bytes = weigh(f, c.nodes, c.count, &streams);
        if (!join(f, members, 2, &c))
            continue;
        members[0]->bytes = bytes;
        members[0]->uniform = members[0]->unasked = false;
        members[0]->closed = true;
    }
}

static bool visit(struct fuse *f, struct node *n)
{
    struct group *g = group_create(f, 1);
    uint32_t streams;

    if (!g)
        return false;
    g->nodes[g->count++] = n;
    f->group_of[n->index] = g;
    order_append(f, g);
    if (is_free(n)) {
        g->kind = GROUP_FREE;
        return true;
    }
    g->kind = GROUP_KERNEL;
    g->uniform = op_infos[n->op].flags & OPF_ELEMENTWISE;
    g->bytes = weigh(f, g->nodes, 1, &streams);
    if (n->op == OP_CONCAT)
        join_parts(f, n);
    join_producers(f, n);
    join_siblings(f, n);
    return !f->g->error.status;
}

/* A cluster that exists already is a group that is placed with its last node: nothing reads what it computes before that. */
static bool visit_clustered(struct fuse *f, struct node *n)
{
    struct group **g = &f->cluster_groups[n->cluster->index];

    if (!*g && !(*g = group_create(f, f->cluster_sizes[n->cluster->index])))
        return false;
    (*g)->kind = GROUP_LIBRARY;
    (*g)->nodes[(*g)->count++] = n;
    f->group_of[n->index] = *g;
    if ((*g)->count == f->cluster_sizes[n->cluster->index])
        order_append(f, *g);
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
 * A cluster of these nodes, or of each half of them if the lowering, asked only now, cannot make one kernel.  Halves of a group
 * in topological order cannot need each other, nor anything else that needs the group's other half.
 */
static bool make_clusters(struct fuse *f, struct node **nodes, uint32_t count, bool unasked)
{
    struct cluster *c;

    if (count < 2)
        return true;
    if (unasked && !lower_can_join(f->o->target, nodes, count))
        return make_clusters(f, nodes, count / 2, true) && make_clusters(f, nodes + count / 2, count - count / 2, true);
    c = cluster_create(f->g, CLUSTER_KERNEL);
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
    bool changed;

    /* Once is enough: what stayed alone was offered to every neighbour. */
    for (const struct cluster *c = g->first_cluster; c; c = c->next)
        if (c->kind == CLUSTER_KERNEL)
            return false;
    changed = fuse(&f);
    arena_free(&f.arena);
    return changed;
}
