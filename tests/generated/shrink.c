/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Making a failing model small: every change that keeps it failing in the same way is kept, until none does or time is over. */
#include "generated.h"

#include <stdlib.h>
#include <string.h>

struct shrinking {
    struct gen_worker *w;
    const struct gen_limits *limits;
    struct gen_model *m;
    uint32_t check_seed;
    enum gen_failure failure;
    double end;
    bool changed;
};

/** Keeps the change if the model still fails. */
static bool try_model(struct shrinking *k, struct gen_model *smaller)
{
    gen_model_compact(smaller);
    if (random_seconds() > k->end || !memcmp(smaller, k->m, sizeof *smaller) ||
        gen_worker_check(k->w, smaller, k->check_seed, k->failure == GEN_FAILED_LEAK, k->limits) != k->failure)
        return false;
    *k->m = *smaller;
    k->changed = true;
    return true;
}

/** Drops a node; what others read of it becomes an input. */
static void drop_nodes(struct shrinking *k)
{
    for (unsigned n = 0; n < k->m->node_count && k->m->node_count > 1; n++) {
        struct gen_model smaller = *k->m;
        const struct gen_node *node = &k->m->nodes[n];

        for (unsigned i = 0; i < node->output_count; i++)
            if (node->outputs[i] >= 0) {
                struct gen_tensor *t = &smaller.tensors[node->outputs[i]];
                t->source = GEN_INPUT;
                t->type = t->type ? t->type : ONNX_FLOAT;
            }
        memmove(&smaller.nodes[n], &smaller.nodes[n + 1], (smaller.node_count - n - 1u) * sizeof smaller.nodes[0]);
        smaller.node_count--;
        if (try_model(k, &smaller))
            n--;
    }
}

static void drop_attributes(struct shrinking *k, unsigned n)
{
    for (unsigned i = 0; i < k->m->nodes[n].attribute_count; i++) {
        struct gen_model smaller = *k->m;
        struct gen_node *node = &smaller.nodes[n];

        memmove(&node->attributes[i], &node->attributes[i + 1], (node->attribute_count - i - 1u) * sizeof node->attributes[0]);
        node->attribute_count--;
        if (try_model(k, &smaller))
            i--;
    }
}

static void drop_operands(struct shrinking *k, unsigned n)
{
    struct gen_model smaller;

    for (unsigned i = k->m->nodes[n].input_count; i-- > 0;) {
        smaller = *k->m;
        if (i + 1u == smaller.nodes[n].input_count)
            smaller.nodes[n].input_count--;
        else
            smaller.nodes[n].inputs[i] = -1;
        try_model(k, &smaller);
    }
    while (k->m->nodes[n].output_count > 1) {
        smaller = *k->m;
        smaller.nodes[n].output_count--;
        if (!try_model(k, &smaller))
            break;
    }
}

/** Tries numbers that are simpler than the one at `at`, which lies within k->m. */
static void simplify(struct shrinking *k, int64_t *at, bool is_float)
{
    size_t offset = (size_t)((char *)at - (char *)k->m);
    double f = gen_double(*at);
    int64_t simpler[] = {1, 0, 2, *at / 2, *at - 1};
    int64_t floats[] = {gen_bits(1), gen_bits(0), gen_bits((double)(float)(int)(f > -100 && f < 100 ? f : 0))};
    size_t count = is_float ? 3 : *at > 0 && *at < 3 ? 1 : 5;

    for (size_t i = 0; i < count; i++) {
        struct gen_model smaller = *k->m;
        int64_t *there = (int64_t *)(void *)((char *)&smaller + offset);

        if (*there == 1 || (is_float && *there == floats[0]))
            return;
        *there = is_float ? floats[i] : simpler[i];
        if (try_model(k, &smaller))
            return;
    }
}

static void simplify_tensor(struct shrinking *k, unsigned index)
{
    struct gen_tensor *t = &k->m->tensors[index];
    struct gen_model smaller;

    for (unsigned d = 0; d < t->rank; d++) {
        smaller = *k->m;
        memmove(&smaller.tensors[index].dims[d], &smaller.tensors[index].dims[d + 1], (t->rank - d - 1u) * sizeof t->dims[0]);
        smaller.tensors[index].rank--;
        if (try_model(k, &smaller)) {
            d--;
            continue;
        }
        simplify(k, &t->dims[d], false);
    }
    if (t->type != ONNX_FLOAT) {
        smaller = *k->m;
        smaller.tensors[index].type = ONNX_FLOAT;
        smaller.tensors[index].count = 1;
        smaller.tensors[index].values[0] = gen_bits(1);
        try_model(k, &smaller);
    }
    if (t->count > 1) {
        smaller = *k->m;
        smaller.tensors[index].count = 1;
        try_model(k, &smaller);
    }
    for (unsigned i = 0; i < t->count; i++)
        simplify(k, &t->values[i], gen_type_is_float(t->type));
}

static void simplify_attributes(struct shrinking *k, unsigned n)
{
    for (unsigned i = 0; i < k->m->nodes[n].attribute_count; i++) {
        struct gen_attribute *a = &k->m->nodes[n].attributes[i];

        if (a->length > 1) {
            struct gen_model smaller = *k->m;
            smaller.nodes[n].attributes[i].length /= 2;
            try_model(k, &smaller);
        }
        for (unsigned v = 0; v < a->count && a->kind != GEN_STRING && a->kind != GEN_STRINGS && a->kind != GEN_TENSOR; v++)
            simplify(k, &a->values[v], a->kind == GEN_FLOAT || a->kind == GEN_FLOATS);
    }
}

void gen_shrink(struct gen_worker *w, struct gen_model *m, uint32_t check_seed, enum gen_failure failure,
                const struct gen_limits *limits, double seconds)
{
    struct shrinking k = {w, limits, m, check_seed, failure, random_seconds() + seconds, true};

    while (k.changed && random_seconds() < k.end) {
        k.changed = false;
        drop_nodes(&k);
        for (unsigned n = 0; n < m->node_count; n++) {
            drop_attributes(&k, n);
            drop_operands(&k, n);
            simplify_attributes(&k, n);
        }
        for (unsigned t = 0; t < m->tensor_count; t++)
            if (m->tensors[t].source != GEN_RESULT)
                simplify_tensor(&k, t);
    }
}
