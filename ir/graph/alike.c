/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "ir/graph/alike.h"

#include <stdlib.h>
#include <string.h>

#include "ir/graph/dims.h"
#include "ir/graph/op_draft.h"
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

/* Returns whether a node's results are never constants that names decide: it takes elements of inputs, or only constants. */
static bool varies(const struct node *n, const struct value *const *known)
{
    bool any = n->op == OP_LOOP, plain = true;

    for (uint32_t i = 0; i < n->input_count; i++) {
        const struct value *v = n->inputs[i].value;

        any |= v && !known[v->index];
        plain &= !v || v->kind == VALUE_CONSTANT;
    }
    for (uint32_t i = 0; i < n->result_count; i++)
        plain &= !type_is_open(&n->results[i]->type);
    return (any || plain) && n->op != OP_SHAPE && n->op != OP_RANGE && !n->results[0]->sizes;
}

/* Returns whether inference gives a node the results of one that is alike: their operands are the same, if they are known. */
static bool is_sure(const struct node *n, const struct node *like, const struct value *const *known)
{
    const bool any_elements = varies(n, known) && !op_is_draft(n->op);

    for (uint32_t i = 0; i < n->input_count; i++) {
        const struct value *v = n->inputs[i].value, *w = like->inputs[i].value;

        if (v != w && known[v->index] != known[w->index] &&
            (v->kind != VALUE_CONSTANT || !(any_elements || v->sizes || v->constant == w->constant)))
            return false;
    }
    return n->op != OP_LOOP;
}

/* Notes for the results of a node the first values that are made of the same sizes; NULL: sizes do not tell their elements. */
static void know(const struct node *n, const struct node *same, const struct value **known)
{
    const bool unknown = varies(n, known);

    for (uint32_t r = 0; r < n->result_count; r++) {
        const struct value *v = n->results[r];

        known[v->index] = unknown ? NULL : same && (v->sizes || n->op == OP_RANGE) ? same->results[r] : v;
    }
}

/* Lists a node, or the values that its results are. */
static void add(struct alike *a, const struct node *n, const struct node *like, bool same)
{
    for (uint32_t r = 0; same && r < n->result_count; r++)
        a->values[n->results[r]->index] = like->results[r]->index;
    if (!same)
        a->nodes[a->count++] = (struct alike_node){n, like};
}

struct alike *graph_alike(const struct graph *g)
{
    const size_t values = (size_t)g->value_count + 1;
    struct alike *a = calloc(1, sizeof *a + g->node_count * sizeof *a->nodes + values * sizeof *a->values);
    const struct value **known = calloc(values, sizeof *known);
    struct table seen = {0};
    bool ok = a && known && table_reserve(&seen, NULL, g->node_count);

    if (ok) {
        a->nodes = (struct alike_node *)(a + 1);
        a->values = (uint32_t *)(a->nodes + g->node_count);
        for (uint32_t i = 0; i < g->value_count; i++)
            a->values[i] = i;
        for (const struct value *v = g->first_constant; v; v = v->next_constant)
            known[v->index] = v;
        graph_for_each (g, n) {
            const uint64_t hash = hash_node(n);
            struct table_entry *at = NULL;

            while ((at = table_next(&seen, hash, at))->item && !is_alike(at->item, n))
                ;
            const struct node *like = at->item;
            const bool same = like && is_sure(n, like, known);
            if (!like)
                table_put(&seen, at, hash, n);
            add(a, n, like, same);
            know(n, same ? like : NULL, known);
        }
    }
    free(seen.entries);
    free(known);
    if (!ok)
        free(a);
    return ok ? a : NULL;
}
