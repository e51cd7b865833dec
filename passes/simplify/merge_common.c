/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Merges nodes that compute the same thing (same operator, attributes and inputs) and constants that hold the same bytes.  This
 * is exact: operators have no state, so equal nodes give equal bits.  It needs topological order: when a node is looked at, its
 * inputs have been merged already, so that one walk with a hash table finds equal chains, too.  Constants above CONSTANT_BYTES
 * are compared by identity only; weights are not worth a walk.
 */
#include <stdlib.h>
#include <string.h>

#include "ir/graph/constant_pool.h"
#include "ir/support/table.h"
#include "passes/support.h"

enum { CONSTANT_BYTES = 1 << 12 };

/* ---- hashing ---- */

static uint64_t hash_type(uint64_t h, const struct tensor_type *t)
{
    h = hash_mix(h, t->type);
    h = hash_mix(h, t->rank);
    for (uint32_t i = 0; i < t->rank; i++)
        h = hash_mix(h, t->dims[i]);
    return h;
}

/* Orders inputs so that the order is the same for a + b and b + a. */
static void ordered_inputs(const struct node *n, const struct value **first, const struct value **second)
{
    *first = n->inputs[0].value;
    *second = n->input_count > 1 ? n->inputs[1].value : NULL;
    if (op_infos[n->op].flags & OPF_COMMUTES && (*first)->index > (*second)->index) {
        const struct value *swap = *first;
        *first = *second;
        *second = swap;
    }
}

static uint64_t hash_node(const struct node *n)
{
    const struct op_info *info = &op_infos[n->op];
    const struct value *inputs[2] = {NULL, NULL};
    uint64_t h = hash_mix(n->op, n->input_count);

    if (n->input_count)
        ordered_inputs(n, &inputs[0], &inputs[1]);
    for (uint32_t i = 0; i < n->input_count; i++) {
        const struct value *v = i < 2 ? inputs[i] : n->inputs[i].value;
        h = hash_mix(h, v ? v->index : UINT32_MAX);
    }
    /* This hashes only attributes that are cheap to hash without knowing each kind; node_same_attrs decides. */
    for (const struct attr_info *a = info->attrs; a->kind != ATTR_NONE; a++) {
        if (a->kind == ATTR_U32_LIST) {
            size_t count = attr_count(a, n->options, &n->args);
            const uint32_t *list = attr_value(a, n->options, &n->args);
            h = hash_mix(h, count);
            for (size_t i = 0; list && i < count; i++)
                h = hash_mix(h, list[i]);
        } else if (a->kind == ATTR_U32) {
            h = hash_mix(h, *(const uint32_t *)attr_value(a, n->options, &n->args));
        } else if (a->kind == ATTR_F64) {
            h = hash_mix(h, hash_bytes(attr_value(a, n->options, &n->args), sizeof(double)));
        }
    }
    return n->result_count ? hash_type(h, &n->results[0]->type) : h;
}

/* ---- equality ---- */

static bool same_inputs(const struct node *a, const struct node *b)
{
    const struct value *a0, *a1, *b0, *b1;

    if (a->input_count != b->input_count)
        return false;
    if (a->input_count == 0)
        return true;
    ordered_inputs(a, &a0, &a1);
    ordered_inputs(b, &b0, &b1);
    if (a0 != b0 || a1 != b1)
        return false;
    for (uint32_t i = 2; i < a->input_count; i++)
        if (a->inputs[i].value != b->inputs[i].value)
            return false;
    return true;
}

/* ---- merging ---- */

static bool merge_constants(struct graph *g)
{
    struct table t = {0};
    bool changed = false;

    for (struct value *v = g->first_constant; v; v = v->next_constant) {
        struct table_entry *e = NULL;

        if (!v->constant || v->constant->bytes > CONSTANT_BYTES || (!v->uses && !v->output_uses))
            continue;
        if (!table_reserve(&t, NULL, t.count + 1)) {
            error_out_of_memory(&g->error);
            break;
        }
        uint64_t hash = hash_mix(hash_type(1, &v->type), constant_hash(v->constant));
        const struct value *w;
        while ((w = (e = table_next(&t, hash, e))->item) &&
               !(type_equal(&w->type, &v->type) && !memcmp(w->constant->data, v->constant->data, w->constant->bytes)))
            ;
        changed |= e->item != NULL;
        if (e->item)
            value_replace_uses(v, (struct value *)e->item);
        else
            table_put(&t, e, hash, v);
    }
    free(t.entries);
    return changed;
}

static bool merge_nodes(struct graph *g)
{
    struct table t = {0};
    bool changed = false;

    graph_for_each_safe (g, n) {
        const uint64_t hash = hash_node(n);
        struct table_entry *e = NULL;

        if (!table_reserve(&t, NULL, t.count + 1)) {
            error_out_of_memory(&g->error);
            break;
        }
        const struct node *first;
        while ((first = (e = table_next(&t, hash, e))->item) &&
               !(first->op == n->op && first->result_count == n->result_count && same_inputs(first, n) &&
                 node_same_attrs(first, n)))
            ;
        if (!e->item) {
            table_put(&t, e, hash, n);
            continue;
        }
        for (uint32_t k = 0; k < n->result_count; k++)
            value_replace_uses(n->results[k], first->results[k]);
        node_remove(n);
        changed = true;
    }
    free(t.entries);
    return changed;
}

bool pass_merge_common(struct graph *g, const struct pass_options *o)
{
    bool constants, nodes;

    (void)o;
    constants = merge_constants(g);
    nodes = merge_nodes(g);
    return constants || nodes;
}
