/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "ir/graph/alike.h"

#include <stdlib.h>
#include <string.h>

#include "ir/support/table.h"

static uint64_t hash_type(uint64_t h, const struct tensor_type *t)
{
    h = hash_mix(h, (uint64_t)t->type << 32 | t->rank);
    for (uint32_t i = 0; i < t->rank; i++)
        h = hash_mix(h, t->dims[i]);
    return h;
}

static uint64_t hash_node(const struct node *n)
{
    uint64_t h = hash_type(hash_mix(n->op, n->input_count), &n->results[0]->type);

    for (uint32_t i = 0; i < n->input_count; i++)
        h = n->inputs[i].value ? hash_type(h, &n->inputs[i].value->type) : hash_mix(h, i);
    return h;
}

static bool same_value(const struct value *a, const struct value *b)
{
    if (!a || !b)
        return a == b;
    return a->kind == b->kind && type_equal(&a->type, &b->type) && !a->sizes == !b->sizes &&
           (!a->sizes || !memcmp(a->sizes, b->sizes, (size_t)type_elements(&a->type) * sizeof *a->sizes));
}

static bool is_alike(const struct node *a, const struct node *b)
{
    if (a->input_count != b->input_count || a->result_count != b->result_count || !node_same_attrs(a, b))
        return false;
    for (uint32_t i = 0; i < a->input_count; i++)
        if (!same_value(a->inputs[i].value, b->inputs[i].value))
            return false;
    for (uint32_t i = 0; i < a->result_count; i++)
        if (!same_value(a->results[i], b->results[i]))
            return false;
    return true;
}

const struct node **graph_alike(const struct graph *g)
{
    const struct node **alike = calloc((size_t)g->node_count + 1, sizeof *alike);
    struct table seen = {0};
    bool ok = alike && table_reserve(&seen, NULL, g->node_count);

    graph_for_each (g, n) {
        const uint64_t hash = ok ? hash_node(n) : 0;
        struct table_entry *at = NULL;

        while (ok && (at = table_next(&seen, hash, at))->item && !is_alike(at->item, n))
            ;
        if (ok && at->item)
            alike[n->index] = at->item;
        else if (ok)
            table_put(&seen, at, hash, n);
    }
    free(seen.entries);
    if (!ok)
        free(alike);
    return ok ? alike : NULL;
}
