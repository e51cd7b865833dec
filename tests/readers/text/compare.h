/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Whether two graphs are the same: inputs, outputs, nodes in their order with operators, labels, options and operands, and
 * constants bit by bit.  Only what values are called inside is left out, and constants that nothing uses.
 */
#pragma once

#include <stdio.h>
#include <string.h>

#include "ir/graph/ir.h"

static inline bool graphs_differ(const char *what, unsigned index)
{
    fprintf(stderr, "the graphs differ in %s %u\n", what, index);
    return false;
}

/** Notes that two values stand for each other (scratch of a), or checks that they do. */
static inline bool same_value(struct value *a, struct value *b)
{
    if (!a || !b)
        return a == b;
    if (a->scratch)
        return a->scratch == b;
    if (a->kind != b->kind || !type_equal(&a->type, &b->type))
        return false;
    if (a->kind == VALUE_CONSTANT &&
        (a->constant->bytes != b->constant->bytes || memcmp(a->constant->data, b->constant->data, a->constant->bytes) != 0))
        return false;
    a->scratch = b;
    return true;
}

static inline bool same_name_bytes(const char *a, size_t a_length, const char *b, size_t b_length)
{
    return a_length == b_length && memcmp(a, b, a_length) == 0;
}

/** Says on stderr what the first difference is. */
static inline bool graphs_equal(const struct graph *a, const struct graph *b)
{
    const struct node *n = b->first;

    if (a->input_count != b->input_count)
        return graphs_differ("the number of inputs", b->input_count);
    if (a->output_count != b->output_count)
        return graphs_differ("the number of outputs", b->output_count);
    for (uint32_t i = 0; i < a->input_count; i++)
        if (!same_value(a->inputs[i], b->inputs[i]) ||
            !same_name_bytes(a->inputs[i]->name, a->inputs[i]->name_length, b->inputs[i]->name, b->inputs[i]->name_length))
            return graphs_differ("input", i);
    graph_for_each (a, m) {
        if (!n)
            return graphs_differ("the number of nodes; missing is", m->index);
        if (!node_same_attrs(m, n) || strcmp(m->label, n->label) || m->input_count != n->input_count ||
            m->result_count != n->result_count)
            return graphs_differ("node", m->index);
        for (uint32_t i = 0; i < m->input_count; i++)
            if (!same_value(m->inputs[i].value, n->inputs[i].value))
                return graphs_differ("an operand of node", m->index);
        for (uint32_t i = 0; i < m->result_count; i++)
            if (!same_value(m->results[i], n->results[i]))
                return graphs_differ("a result of node", m->index);
        n = n->next;
    }
    if (n)
        return graphs_differ("the number of nodes; too much is", n->index);
    for (uint32_t i = 0; i < a->output_count; i++)
        if (!same_value(a->outputs[i].value, b->outputs[i].value) ||
            !same_name_bytes(a->outputs[i].name, a->outputs[i].name_length, b->outputs[i].name, b->outputs[i].name_length))
            return graphs_differ("output", i);
    for (struct value *v = a->first_constant; v; v = v->next_constant)
        v->scratch = NULL;
    for (uint32_t i = 0; i < a->input_count; i++)
        a->inputs[i]->scratch = NULL;
    graph_for_each (a, m)
        for (uint32_t i = 0; i < m->result_count; i++)
            m->results[i]->scratch = NULL;
    return true;
}
