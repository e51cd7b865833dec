/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Finds out which keys of an attention count, where the graph compares the keys' numbers with numbers that are known when it
 * runs (docs/attention.md says what is recognised, and why leaving out the other keys is exact).
 *
 * The last nodes of a chain may be masks: each replaces the scores where its condition says so, or adds to them, by a number
 * that is very small.  A condition is taken apart as far as it says that two things hold at once: logicalAnd, logicalOr where
 * it is negated, logicalNot.  The rest are comparisons, which say from which key on or up to which one keys count, and
 * conditions that are not understood.
 */
#include <string.h>

#include "passes/cluster/attention.h"
#include "passes/support.h"

/* The exponential of a number so far below the largest score is 0 in float32, for all scores that real networks have.
 */
static const double nothing_below = -1e30;

enum { DEPTH_MAX = 6 }; /* of the nodes of a condition */

/* This is what has been found so far. */
struct search {
    struct attention_bound bound;
    const struct node *mask; /* which is looked at */
    int64_t keys;
    bool in_doubt; /* a key may not count for another reason than the comparisons */
    bool too_many; /* nodes or comparisons */
};

/* ---- comparisons ---- */

/* Returns whether a value is 0, 1, 2 ... along the keys. */
static bool counts_keys(const struct value *v, int64_t keys)
{
    return v->type.rank && v->type.dims[v->type.rank - 1] == keys && type_elements(&v->type) == keys && value_counts(v);
}

/* Returns whether a value is a whole number for each row. */
static bool is_edge(const struct value *v)
{
    return value_is_integer(v) && (!v->type.rank || v->type.dims[v->type.rank - 1] == 1);
}

/* Returns the flags of a comparison by which one of two numbers is the greater one, or 0. */
static uint32_t ordering(enum op op)
{
    const uint32_t flags = op_infos[op].flags & OPF_COMPARES;

    return !(flags & OPF_IF_LESS) == !(flags & OPF_IF_GREATER) ? 0 : flags;
}

/* Takes down a comparison of the keys' numbers (or, if it is `negated`, its contrary).  Returns false if n is none. */
static bool read_comparison(struct search *s, const struct node *n, bool negated)
{
    struct attention_bound *b = &s->bound;
    const bool keys_first = counts_keys(n->inputs[0].value, s->keys);
    const struct value *at = n->inputs[keys_first].value;
    const uint32_t exchanged = keys_first ? 0 : OPF_IF_LESS | OPF_IF_GREATER;
    const uint32_t holds = ordering(n->op) ^ exchanged ^ (negated ? OPF_COMPARES : 0); /* for integers, one of three does */

    if (!is_edge(at) || (!keys_first && !counts_keys(n->inputs[1].value, s->keys)))
        return false;
    if (b->edge_count == ATTENTION_EDGES_MAX)
        s->too_many = true;
    else
        b->edges[b->edge_count++] = (struct attention_edge){at, holds & OPF_IF_GREATER, holds & OPF_IF_EQUAL};
    return true;
}

/* ---- conditions ---- */

static void add_node(struct search *s, const struct node *n)
{
    struct attention_bound *b = &s->bound;

    for (uint32_t i = 0; i < b->node_count; i++)
        if (b->nodes[i].node == n && b->nodes[i].mask == s->mask)
            return;
    if (b->node_count == ATTENTION_CONDITIONS_MAX)
        s->too_many = true;
    else
        b->nodes[b->node_count++] = (struct attention_condition){n, s->mask};
}

/* Reads the condition v (or, if it is `negated`, its contrary) for keys to count.  Returns whether a comparison of their
 * numbers is a part of it. */
static bool read_condition(struct search *s, const struct value *v, bool negated, uint32_t depth)
{
    const struct node *n = v->producer;
    bool found = false;

    if (n && depth < DEPTH_MAX && n->op == OP_LOGICAL_NOT) {
        found = read_condition(s, n->inputs[0].value, !negated, depth + 1);
    } else if (n && depth < DEPTH_MAX && n->op == (negated ? OP_LOGICAL_OR : OP_LOGICAL_AND)) {
        for (uint32_t i = 0; i < 2; i++)
            found |= read_condition(s, n->inputs[i].value, negated, depth + 1);
    } else {
        found = n && ordering(n->op) && read_comparison(s, n, negated);
        s->in_doubt |= !found;
    }
    if (found)
        add_node(s, n);
    return found;
}

/* ---- masks ---- */

/* This is what a mask does to the scores. */
struct mask {
    const struct value *condition; /* under which keys count, */
    bool negated;                  /* or its contrary */
    double otherwise;              /* replaces the scores of others, or is added */
    const struct node *added;      /* the node that makes the addend, NULL if scores are replaced */
};

/* Reads where(condition, kept, very small), or where(condition, very small, kept). */
static bool read_choice(const struct node *n, const struct value *kept, struct mask *m)
{
    m->condition = n->inputs[0].value;
    m->negated = n->inputs[1].value != kept;
    return (m->negated ? n->inputs[2].value : n->inputs[1].value) == kept &&
           value_splat_number(n->inputs[m->negated ? 1 : 2].value, &m->otherwise) && m->otherwise <= nothing_below;
}

/* Reads an addend that is 0 where keys count, and very small elsewhere. */
static bool read_addend(const struct value *v, struct mask *m)
{
    const struct node *n = v->producer;
    double number;

    m->added = n;
    if (!n || n->op != OP_WHERE)
        return false;
    for (uint32_t i = 1; i <= 2; i++)
        if (value_splat_number(n->inputs[i].value, &number) && number == 0 && read_choice(n, n->inputs[i].value, m))
            return true;
    return false;
}

/* Reads node i of the chain.  Returns false if it is not a mask. */
static bool read_mask(const struct attention *a, uint32_t i, struct mask *m)
{
    const struct node *n = a->chain[i];
    const struct value *scores = attention_carried(a, i);

    *m = (struct mask){0};
    if (n->op == OP_WHERE)
        return read_choice(n, scores, m);
    return n->op == OP_ADD && read_addend(n->inputs[n->inputs[0].value == scores].value, m);
}

void attention_find_bound(struct attention *a)
{
    struct search s = {.keys = a->keys};
    bool infinite = true;
    struct mask m;

    for (uint32_t i = 0; i < a->chain_count; i++) {
        if (a->chain[i]->op == OP_CAST)
            continue;
        if (!read_mask(a, i, &m)) /* scores grow again after a mask that comes before such a node */
            break;
        s.mask = a->chain[i];
        infinite &= m.otherwise == -INFINITY;
        if (read_condition(&s, m.condition, m.negated, 0) && m.added)
            add_node(&s, m.added);
    }
    /* A row in which no key counts has equal weights, those of keys beyond included.  Whether there is one is not known if it
     * is in doubt which keys count, but if it is all NaN nothing depends on how many keys are looked at. */
    if (s.bound.edge_count && !s.too_many && (!s.in_doubt || infinite))
        a->bound = s.bound;
}
