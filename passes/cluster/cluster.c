/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes clusters, and collects a cluster's nodes and the values at its boundary.
 */
#include <string.h>

#include "ir/support/table.h"
#include "passes/passes.h"

struct cluster *cluster_create(struct graph *g, enum cluster_kind kind)
{
    struct cluster *c = arena_alloc(&g->arena, sizeof *c);

    if (!c)
        return error_null_memory(&g->error);
    c->kind = kind;
    c->index = g->cluster_count++;
    graph_append_cluster(g, c);
    return c;
}

/* Lists a value unless it was listed already: a concat may have thousands of inputs. */
static void list_input(struct table *seen, struct value *v, struct cluster_nodes *out)
{
    struct table_entry *place = NULL;

    while ((place = table_next(seen, v->index, place))->item)
        if (place->item == v)
            return;
    table_put(seen, place, v->index, v);
    out->inputs[out->input_count++] = v;
}

static bool used_outside(const struct value *v, const struct cluster *c)
{
    if (v->output_uses)
        return true;
    value_for_each_use (v, u)
        if (u->node->cluster != c)
            return true;
    return false;
}

/* Returns a cluster's first node.  Before pass_finish_clusters a cluster does not know where its nodes are. */
static const struct node *first_of(const struct graph *g, const struct cluster *c)
{
    const struct node *n = c->first ? c->first : g->first;

    while (n && n->cluster != c)
        n = n->next;
    return n;
}

bool cluster_collect(const struct graph *g, const struct cluster *c, struct arena *a, struct cluster_nodes *out)
{
    const struct node *first = first_of(g, c);
    size_t nodes = 0, inputs = 0, results = 0;
    struct table seen = {0};

    memset(out, 0, sizeof *out);
    for (const struct node *n = first; n && (!c->first || nodes < c->node_count); n = n->next) {
        if (n->cluster != c)
            continue;
        nodes++;
        inputs += n->input_count + (n->transformed != NULL);
        results += n->result_count;
    }
    out->nodes = arena_array(a, nodes, sizeof *out->nodes);
    out->inputs = arena_array(a, inputs, sizeof *out->inputs);
    out->outputs = arena_array(a, results, sizeof *out->outputs);
    if (inputs > UINT32_MAX || !table_reserve(&seen, a, (uint32_t)inputs) || !out->nodes || !out->inputs || !out->outputs)
        return false;
    for (const struct node *n = first; n && out->count < nodes; n = n->next) {
        if (n->cluster != c)
            continue;
        out->nodes[out->count++] = (struct node *)n;
        for (uint32_t i = 0; i < n->input_count; i++) {
            struct value *v = n->inputs[i].value;
            if (v && !(v->producer && v->producer->cluster == c))
                list_input(&seen, v, out);
        }
        if (n->transformed)
            list_input(&seen, n->transformed, out);
        for (uint32_t i = 0; i < n->result_count; i++)
            if (used_outside(n->results[i], c))
                out->outputs[out->output_count++] = n->results[i];
    }
    return true;
}
