/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Merges nodes that compute the same thing (same operator, attributes and inputs) and constants that hold the same bytes.  This
 * is exact: operators have no state, so equal nodes give equal bits.  It needs topological order: when a node is looked at, its
 * inputs have been merged already, so that one walk with a hash table finds equal chains, too.  Constants above CONSTANT_BYTES
 * are compared by identity only; weights are not worth a walk.
 */
#include <stdlib.h>
#include <string.h>

#include "passes/support.h"

enum { CONSTANT_BYTES = 1 << 12 };

/* ---- hashing ---- */

static uint64_t mix(uint64_t h, uint64_t x)
{
    h ^= x + 0x9e3779b97f4a7c15u + (h << 6) + (h >> 2);
    h *= 0xff51afd7ed558ccdu;
    return h ^ h >> 32;
}

static uint64_t mix_bytes(uint64_t h, const void *data, size_t bytes)
{
    const unsigned char *p = data;

    for (size_t i = 0; i < bytes; i++)
        h = (h ^ p[i]) * 0x100000001b3u;
    return mix(h, bytes);
}

static uint64_t hash_type(uint64_t h, const struct tensor_type *t)
{
    h = mix(h, t->type);
    h = mix(h, t->rank);
    for (uint32_t i = 0; i < t->rank; i++)
        h = mix(h, t->dims[i]);
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
    uint64_t h = mix(n->op, n->input_count);

    if (n->input_count)
        ordered_inputs(n, &inputs[0], &inputs[1]);
    for (uint32_t i = 0; i < n->input_count; i++) {
        const struct value *v = i < 2 ? inputs[i] : n->inputs[i].value;
        h = mix(h, v ? v->index : UINT32_MAX);
    }
    /* This hashes only what is cheap to hash without knowing each kind; node_same_attrs decides. */
    for (const struct attr_info *a = info->attrs; a->kind != ATTR_NONE; a++) {
        if (a->kind == ATTR_U32_LIST) {
            size_t count = attr_count(a, n->options, &n->args);
            const uint32_t *list = attr_value(a, n->options, &n->args);
            h = mix(h, count);
            for (size_t i = 0; list && i < count; i++)
                h = mix(h, list[i]);
        } else if (a->kind == ATTR_U32) {
            h = mix(h, *(const uint32_t *)attr_value(a, n->options, &n->args));
        } else if (a->kind == ATTR_F64) {
            h = mix_bytes(h, attr_value(a, n->options, &n->args), sizeof(double));
        }
    }
    return n->result_count ? hash_type(h, &n->results[0]->type) : h;
}

static uint64_t hash_constant(const struct value *v)
{
    return mix_bytes(hash_type(1, &v->type), v->constant->data, v->constant->bytes);
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

static bool same_node(const struct node *a, const struct node *b)
{
    return a->op == b->op && a->result_count == b->result_count && same_inputs(a, b) && node_same_attrs(a, b);
}

static bool same_constant(const struct value *a, const struct value *b)
{
    return type_equal(&a->type, &b->type) && memcmp(a->constant->data, b->constant->data, a->constant->bytes) == 0;
}

/* ---- the table: open addressing, twice as large as what goes in ---- */

struct entry {
    uint64_t hash;
    void *item;
};

struct table {
    struct arena arena;
    struct entry *entries;
    size_t mask;
};

static bool table_create(struct table *t, size_t items)
{
    size_t size = 16;

    while (size < 2 * items)
        size *= 2;
    memset(t, 0, sizeof *t);
    t->entries = arena_array(&t->arena, size, sizeof *t->entries);
    t->mask = size - 1;
    return t->entries != NULL;
}

static bool merge_constants(struct graph *g)
{
    struct table t;
    size_t count = 0;
    bool changed = false;

    for (struct value *v = g->first_constant; v; v = v->next_constant)
        count++;
    if (!table_create(&t, count)) {
        error_out_of_memory(&g->error);
        return false;
    }
    for (struct value *v = g->first_constant; v; v = v->next_constant) {
        uint64_t hash;
        size_t i;

        if (!v->constant || v->constant->bytes > CONSTANT_BYTES || (!v->uses && !v->output_uses))
            continue;
        hash = hash_constant(v);
        for (i = hash & t.mask; t.entries[i].item; i = (i + 1) & t.mask)
            if (t.entries[i].hash == hash && same_constant(t.entries[i].item, v))
                break;
        if (t.entries[i].item) {
            value_replace_uses(v, t.entries[i].item);
            changed = true;
        } else {
            t.entries[i] = (struct entry){hash, v};
        }
    }
    arena_free(&t.arena);
    return changed;
}

static bool merge_nodes(struct graph *g)
{
    struct table t;
    size_t count = 0;
    bool changed = false;

    graph_for_each (g, n)
        count++;
    if (!table_create(&t, count)) {
        error_out_of_memory(&g->error);
        return false;
    }
    graph_for_each_safe (g, n) {
        uint64_t hash = hash_node(n);
        size_t i;

        for (i = hash & t.mask; t.entries[i].item; i = (i + 1) & t.mask)
            if (t.entries[i].hash == hash && same_node(t.entries[i].item, n))
                break;
        if (!t.entries[i].item) {
            t.entries[i] = (struct entry){hash, n};
            continue;
        }
        struct node *first = t.entries[i].item;
        for (uint32_t k = 0; k < n->result_count; k++)
            value_replace_uses(n->results[k], first->results[k]);
        node_remove(n);
        changed = true;
    }
    arena_free(&t.arena);
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
