/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "runtime/compile/equal_clusters.h"

#include <stdlib.h>
#include <string.h>

#include "passes/support.h"

static uint64_t cluster_hash(const struct cluster_nodes *c)
{
    uint64_t h = hash_mix(c->count + (uint64_t)c->nodes[0]->cluster->kind, (uint64_t)c->input_count << 32 | c->output_count);

    for (uint32_t i = 0; i < c->count; i++) {
        const struct tensor_type *t = &c->nodes[i]->results[0]->type;

        h = hash_mix(h, c->nodes[i]->op);
        for (uint32_t k = 0; k < t->rank; k++)
            h = hash_mix(h, t->dims[k]);
    }
    return h;
}

/* Returns the number of a value: of the nodes' results in their order, or of the inputs after those. */
static uint32_t number_of(const struct cluster_nodes *c, const struct value *v)
{
    uint32_t at = 0;

    for (uint32_t i = 0; i < c->count; at += c->nodes[i++]->result_count)
        if (v->producer == c->nodes[i])
            return at + v->result;
    for (uint32_t i = 0; i < c->input_count; i++)
        if (v == c->inputs[i])
            return at + i;
    return UINT32_MAX;
}

struct value *cluster_counterpart(const struct cluster_nodes *a, const struct cluster_nodes *b, const struct value *v)
{
    for (uint32_t i = 0; v->producer && i < a->count; i++)
        if (v->producer == a->nodes[i])
            return b->nodes[i]->results[v->result];
    for (uint32_t i = 0; i < a->input_count; i++)
        if (v == a->inputs[i])
            return b->inputs[i];
    return NULL;
}

/* The lowering makes code of constants whose elements are all equal; of integers it asks who else reads them. */
static bool equal_constants(const struct value *a, const struct value *b)
{
    union scalar x, y;

    if (!a->constant || !b->constant || a->kept != b->kept)
        return false;
    if (a->type.type != WNNOperandDataType_Float32 && a->type.type != WNNOperandDataType_Float16 &&
        type_elements(&a->type) == 1)
        return false;
    const bool packed = dtype_packed_bits(a->type.type) != 0, splat = !packed && value_is_splat(a, &x),
               other = !packed && value_is_splat(b, &y);
    return splat == other && (!splat || !memcmp(&x, &y, sizeof x));
}

static bool equal_inputs(const struct value *a, const struct value *b)
{
    return a == b || (a->kind == b->kind && type_equal(&a->type, &b->type) && !a->producer == !b->producer &&
                      (!a->producer || (a->producer->op == b->producer->op && a->result == b->result)) &&
                      (a->kind != VALUE_CONSTANT || equal_constants(a, b)));
}

static bool equal_uses(const struct cluster_nodes *a, const struct cluster_nodes *b, const struct value *v,
                       const struct value *w)
{
    return !v || !w ? v == w : number_of(a, v) == number_of(b, w);
}

static bool clusters_are_equal(const struct cluster_nodes *a, const struct cluster_nodes *b)
{
    if (a->nodes[0]->cluster->kind != b->nodes[0]->cluster->kind || a->count != b->count || a->input_count != b->input_count ||
        a->output_count != b->output_count)
        return false;
    for (uint32_t i = 0; i < a->count; i++) {
        const struct node *n = a->nodes[i], *m = b->nodes[i];

        if (n->input_count != m->input_count || n->result_count != m->result_count || !node_same_attrs(n, m) ||
            !equal_uses(a, b, n->transformed, m->transformed))
            return false;
        for (uint32_t k = 0; k < n->result_count; k++)
            if (!type_equal(&n->results[k]->type, &m->results[k]->type) ||
                !n->results[k]->output_uses != !m->results[k]->output_uses)
                return false;
        for (uint32_t k = 0; k < n->input_count; k++)
            if (!equal_uses(a, b, n->inputs[k].value, m->inputs[k].value))
                return false;
    }
    for (uint32_t i = 0; i < a->input_count; i++)
        if (!equal_inputs(a->inputs[i], b->inputs[i]))
            return false;
    for (uint32_t i = 0; i < a->output_count; i++)
        if (number_of(a, a->outputs[i]) != number_of(b, b->outputs[i]))
            return false;
    return true;
}

bool equal_clusters_find(const struct graph *g, struct arena *a, struct equal_clusters *out)
{
    struct table seen = {0};

    out->nodes = arena_array(a, g->cluster_count, sizeof *out->nodes);
    out->like = arena_array(a, g->cluster_count, sizeof *out->like);
    if (!out->nodes || !out->like || !table_reserve(&seen, a, g->cluster_count))
        return false;
    for (const struct cluster *c = g->first_cluster; c; c = c->next) {
        struct cluster_nodes *nodes = &out->nodes[c->index];
        struct table_entry *at = NULL;

        if (!cluster_collect(g, c, a, nodes))
            return false;
        if (!nodes->count)
            continue;
        const uint64_t hash = cluster_hash(nodes);
        while ((at = table_next(&seen, hash, at))->item && !clusters_are_equal(at->item, nodes))
            ;
        if (at->item)
            out->like[c->index] = (uint32_t)((const struct cluster_nodes *)at->item - out->nodes) + 1;
        else
            table_put(&seen, at, hash, nodes);
    }
    return true;
}

void equal_clusters_forget(struct equal_clusters *c)
{
    program_free(&c->program);
    free(c->values);
    c->values = NULL;
}
