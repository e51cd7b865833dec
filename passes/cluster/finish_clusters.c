/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Gives every node without a cluster its own, puts the clusters into an order in which each runs after those it
 * reads from, and numbers them.  The pass is required: lowering and storage assignment rely on all of it.
 *
 * Such a node becomes a view where its results are existing bytes, a library call where the target has
 * one, else a kernel.  Three things keep a view from being one: see view_allowed.  A concat whose inputs are contiguous
 * in its output is a view, too, in reverse: its inputs are computed where they belong.  Inputs that cannot be (graph
 * inputs, constants, inputs of two concats) get an identity node, which is the copy that the concat would have made for them.
 *
 * Dead nodes are removed first: a cluster that writes nothing cannot be lowered.
 */

#include "passes/weights/compact_weights.h"

/* Describes the bytes of a value, by value->index. */
struct bytes_info {
    struct value *root; /* whose bytes these are, looking through views */
    bool is_output;     /* root: is in a graph output's buffer (itself an output, or a view of it is) */
    bool is_part;       /* root: lies inside the output of a concat */
};

struct finish {
    struct graph *g;
    const struct target *target;
    struct arena arena; /* of this pass */
    struct bytes_info *info;
    bool changed;
};

/* ---- views ---- */

static struct value *root_of(struct finish *f, struct value *v)
{
    struct value *root = f->info[v->index].root;

    return root ? root : v;
}

static void view_record(struct finish *f, const struct node *n)
{
    struct value *root = root_of(f, n->inputs[0].value);

    for (uint32_t i = 0; i < n->result_count; i++) {
        f->info[n->results[i]->index].root = root;
        if (n->results[i]->output_uses)
            f->info[root->index].is_output = true;
    }
}

static bool root_is_output(const struct finish *f, const struct value *root)
{
    return root->output_uses || f->info[root->index].is_output;
}

/*
 * Returns whether a node may be a view.  A view that is a graph output puts the bytes it looks at into the output's buffer.  So
 * these must be computed here, be the whole of what is computed, and not lie somewhere else already: in another output or
 * inside a concat.
 */
static bool view_allowed(struct finish *f, const struct node *n)
{
    if (!node_is_view(n))
        return false;
    struct value *root = root_of(f, n->inputs[0].value);
    for (uint32_t i = 0; i < n->result_count; i++) {
        if (!n->results[i]->output_uses)
            continue;
        if (root->kind != VALUE_RESULT || root_is_output(f, root) || f->info[root->index].is_part ||
            type_bytes(&root->type) != type_bytes(&n->results[i]->type))
            return false;
    }
    return true;
}

/* ---- concats ---- */

static bool part_can_be_placed(struct finish *f, struct value *part)
{
    struct value *root = root_of(f, part);

    return root->kind == VALUE_RESULT && !root_is_output(f, root) && !f->info[root->index].is_part &&
           type_bytes(&root->type) == type_bytes(&part->type);
}

static bool give_cluster(struct finish *f, struct node *n, enum cluster_kind kind)
{
    n->cluster = cluster_create(f->g, kind);
    if (!n->cluster)
        return false;
    if (kind == CLUSTER_LIBRARY)
        n->cluster->anchor = n;
    f->changed = true;
    return true;
}

/* Makes a contiguous concat a view.  *done says whether it was worth it: some input must be saved its copy. */
static bool concat_place(struct finish *f, struct node *n, bool *done)
{
    bool any = false;

    *done = false;
    if (!concat_is_contiguous(n))
        return true;
    for (uint32_t i = 0; i < n->input_count && !any; i++)
        any = part_can_be_placed(f, n->inputs[i].value);
    if (!any)
        return true;
    for (uint32_t i = 0; i < n->input_count; i++) {
        struct value *part = n->inputs[i].value;

        if (!part_can_be_placed(f, part)) {
            part = make_node(f->g, n, OP_IDENTITY, n, 1, &part, NULL, NULL);
            if (!part || !give_cluster(f, part->producer, CLUSTER_KERNEL))
                return false;
            node_set_input(n, i, part);
        }
        f->info[root_of(f, part)->index].is_part = true;
    }
    *done = true;
    return give_cluster(f, n, CLUSTER_VIEW);
}

/* ---- a cluster for every node ---- */

static bool cluster_single(struct finish *f, struct node *n)
{
    const struct target *t = f->target;
    bool done;

    if (view_allowed(f, n)) {
        view_record(f, n);
        return give_cluster(f, n, CLUSTER_VIEW);
    }
    if (n->op == OP_CONCAT) {
        if (!concat_place(f, n, &done))
            return false;
        if (done)
            return true;
    }
    if (op_infos[n->op].flags & OPF_LIBRARY && !n->transformed && library_computes(n, t))
        return give_cluster(f, n, CLUSTER_LIBRARY);
    if (op_infos[n->op].flags & OPF_RECURRENT)
        return give_cluster(f, n, CLUSTER_LOOP);
    return give_cluster(f, n, CLUSTER_KERNEL);
}

static bool cluster_every_node(struct finish *f)
{
    size_t values = f->g->value_count; /* and one for each identity */

    graph_for_each (f->g, n)
        values += n->op == OP_CONCAT ? n->input_count : 0;
    f->info = arena_array(&f->arena, values, sizeof *f->info);
    if (!f->info)
        return error_out_of_memory(&f->g->error);
    /* What earlier passes, or an earlier run of this one, made views counts before anything new is decided. */
    graph_for_each (f->g, n) {
        if (!n->cluster || n->cluster->kind != CLUSTER_VIEW)
            continue;
        if (node_is_view(n))
            view_record(f, n);
        else
            for (uint32_t i = 0; i < n->input_count; i++)
                f->info[root_of(f, n->inputs[i].value)->index].is_part = true;
    }
    graph_for_each (f->g, n)
        if (!n->cluster && !cluster_single(f, n))
            return false;
    return true;
}

/* ---- order ---- */

/* This is a cluster while it is being ordered. */
struct member_list {
    struct cluster *cluster;
    uint32_t first, count; /* in the array of members */
    uint32_t node, input;  /* where the walk over the members' inputs stands */
    enum { NOT_SEEN, OPEN, DONE } state;
};

static bool members_collect(struct finish *f, struct member_list **lists, uint32_t *list_count, struct node ***members)
{
    struct graph *g = f->g;
    struct member_list *list = arena_array(&f->arena, g->cluster_count, sizeof *list);
    uint32_t total = 0, lists_used = 0;

    /* Clusters are renumbered in the order of their first nodes; numbers from before may have gaps. */
    for (struct cluster *c = g->first_cluster; c; c = c->next)
        c->index = UINT32_MAX;
    if (!list)
        return error_out_of_memory(&g->error);
    graph_for_each (g, n) {
        if (n->cluster->index == UINT32_MAX) {
            n->cluster->index = lists_used;
            list[lists_used++].cluster = n->cluster;
        }
        list[n->cluster->index].count++;
        total++;
    }
    *members = arena_array(&f->arena, total, sizeof **members);
    if (!*members)
        return error_out_of_memory(&g->error);
    for (uint32_t i = 0, first = 0; i < lists_used; i++) {
        list[i].first = first;
        first += list[i].count;
        list[i].count = 0;
    }
    graph_for_each (g, n) {
        struct member_list *l = &list[n->cluster->index];
        (*members)[l->first + l->count++] = n;
    }
    *lists = list;
    *list_count = lists_used;
    return true;
}

/*
 * Orders the clusters, depth first from every one in turn: whatever a cluster reads comes before it.  order receives the lists'
 * numbers.  A cycle among clusters is a fault of a clustering pass.
 */
static bool order_clusters(struct finish *f, struct member_list *lists, uint32_t count, struct node *const *members,
                           uint32_t *order)
{
    uint32_t *stack = arena_array(&f->arena, count, sizeof *stack), ordered = 0;

    if (!stack)
        return error_out_of_memory(&f->g->error);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t depth = 0;

        if (lists[i].state == DONE)
            continue;
        stack[depth++] = i;
        lists[i].state = OPEN;
        while (depth) {
            struct member_list *l = &lists[stack[depth - 1]];

            if (l->node == l->count) {
                l->state = DONE;
                order[ordered++] = stack[--depth];
                continue;
            }
            const struct node *n = members[l->first + l->node];
            if (l->input == n->input_count) {
                l->node++;
                l->input = 0;
                continue;
            }
            const struct value *v = n->inputs[l->input++].value;
            if (!v || !v->producer || v->producer->cluster == l->cluster)
                continue;
            struct member_list *needed = &lists[v->producer->cluster->index];
            if (needed->state == OPEN)
                return error_set(&f->g->error, WNNStatus_UnknownError, "internal error: clusters of %s and %s need each other",
                                 op_infos[n->op].name, op_infos[v->producer->op].name);
            if (needed->state == DONE)
                continue;
            needed->state = OPEN;
            stack[depth++] = (uint32_t)(needed - lists);
        }
    }
    return true;
}

static bool arrange(struct finish *f)
{
    struct graph *g = f->g;
    struct member_list *lists = NULL;
    struct node **members;
    uint32_t count = 0, *order;
    struct node *at = g->first;
    bool moved = false;

    if (!members_collect(f, &lists, &count, &members))
        return false;
    order = arena_array(&f->arena, count, sizeof *order);
    if (!order)
        return error_out_of_memory(&g->error);
    if (!order_clusters(f, lists, count, members, order))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < lists[order[i]].count; k++) {
            moved |= at != members[lists[order[i]].first + k];
            at = at ? at->next : NULL;
        }
    }
    if (moved) {
        for (uint32_t i = 0; i < count; i++)
            for (uint32_t k = 0; k < lists[order[i]].count; k++)
                node_move_before(members[lists[order[i]].first + k], NULL);
        f->changed = true;
    }
    g->first_cluster = g->last_cluster = NULL;
    for (uint32_t i = 0; i < count; i++) {
        struct member_list *l = &lists[order[i]];

        l->cluster->index = i;
        l->cluster->first = members[l->first];
        l->cluster->node_count = l->count;
        l->cluster->next = NULL;
        graph_append_cluster(g, l->cluster);
    }
    g->cluster_count = count;
    return true;
}

bool pass_finish_clusters(struct graph *g, const struct pass_options *o)
{
    struct finish f = {.g = g, .target = o->target};

    f.changed = pass_drop_dead(g, o);
    if (cluster_every_node(&f))
        arrange(&f);
    arena_free(&f.arena);
    return f.changed;
}
