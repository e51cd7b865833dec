/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The value of an operand that depends on constants only.  In: a builder that has not built, an operand of it.  Out: bytes, as the
 * reference interpreter computes them; the graph stays as it is.
 *
 * Readers of model files need such values: shapes, axes and repetitions that a file computes in operators are arguments here.
 */
#include "frontend/builder.h"

#include <stdlib.h>
#include <string.h>

/** The nodes that a value needs, and what they computed. */
struct evaluation {
    struct node **nodes;
    size_t count, capacity;
    struct constant **values; /* by value index; results of the nodes above */
};

/** Adds a value's producer once.  false: the value depends on an input, or out of memory. */
static bool need(struct evaluation *ev, struct value *v, struct error *e)
{
    if (v->kind == VALUE_INPUT)
        return error_set(e, WNNStatus_TypeError, "getConstantValue: the operand depends on an input");
    if (v->kind == VALUE_CONSTANT || v->producer->scratch)
        return true;
    if (ev->count == ev->capacity) {
        size_t capacity = ev->capacity ? ev->capacity * 2 : 16;
        struct node **nodes = realloc(ev->nodes, capacity * sizeof(*nodes));

        if (!nodes)
            return error_out_of_memory(e);
        ev->nodes = nodes;
        ev->capacity = capacity;
    }
    v->producer->scratch = v->producer; /* a mark, taken away below */
    ev->nodes[ev->count++] = v->producer;
    return true;
}

static int by_index(const void *a, const void *b)
{
    uint32_t x = (*(struct node *const *)a)->index, y = (*(struct node *const *)b)->index;

    return (x > y) - (x < y);
}

/** Computes one node; all it needs is there. */
static bool evaluate_node(struct evaluation *ev, struct node *n, struct arena *a, struct error *e)
{
    const void **inputs = arena_array(a, n->input_count ? n->input_count : 1, sizeof(*inputs));
    void **results = arena_array(a, n->result_count, sizeof(*results));

    if (!inputs || !results)
        return error_out_of_memory(e);
    for (uint32_t i = 0; i < n->input_count; i++) {
        struct value *v = n->inputs[i].value;

        if (v)
            inputs[i] = v->kind == VALUE_CONSTANT ? v->constant->data : ev->values[v->index]->data;
    }
    for (uint32_t i = 0; i < n->result_count; i++) {
        struct constant *c = constant_create(NULL, (size_t)type_bytes(&n->results[i]->type));

        if (!c)
            return error_out_of_memory(e);
        ev->values[n->results[i]->index] = c;
        results[i] = (void *)c->data; /* ours alone so far */
    }
    return node_interpret(n, inputs, results, e);
}

static bool evaluate(struct graph *g, struct value *v, void *data, size_t length, struct error *e)
{
    struct evaluation ev = {0};
    struct arena a = {0};
    bool ok = need(&ev, v, e);

    for (size_t i = 0; ok && i < ev.count; i++)
        for (uint32_t j = 0; ok && j < ev.nodes[i]->input_count; j++)
            if (ev.nodes[i]->inputs[j].value)
                ok = need(&ev, ev.nodes[i]->inputs[j].value, e);
    for (size_t i = 0; i < ev.count; i++)
        ev.nodes[i]->scratch = NULL;
    if (ok) {
        ev.values = calloc(g->value_count, sizeof(*ev.values));
        ok = ev.values || error_out_of_memory(e);
    }
    /* A builder only ever appends, so nodes were made in the order of execution. */
    if (ev.count)
        qsort(ev.nodes, ev.count, sizeof(*ev.nodes), by_index);
    for (size_t i = 0; ok && i < ev.count; i++)
        ok = evaluate_node(&ev, ev.nodes[i], &a, e);
    if (ok)
        memcpy(data, v->kind == VALUE_CONSTANT ? v->constant->data : ev.values[v->index]->data, length);
    for (size_t i = 0; ev.values && i < ev.count; i++)
        for (uint32_t j = 0; j < ev.nodes[i]->result_count; j++)
            constant_release(ev.values[ev.nodes[i]->results[j]->index]);
    free(ev.values);
    free(ev.nodes);
    arena_free(&a);
    return ok;
}

WNNStatus wnnGraphBuilderGetConstantValue(WNNGraphBuilder builder, WNNOperand operand, void *data, size_t byteLength)
{
    struct error e = {0};

    if (!builder || !data)
        error_set(&e, WNNStatus_TypeError, "getConstantValue: %s is NULL", builder ? "data" : "builder");
    else if (builder_can_build(builder, "getConstantValue", &e) &&
             builder_check_operand(builder, operand, "getConstantValue: the operand", &e)) {
        if ((uint64_t)type_bytes(&operand->type) != byteLength)
            error_set(&e, WNNStatus_TypeError, "getConstantValue: the buffer has %zu bytes, the operand %lld", byteLength,
                      (long long)type_bytes(&operand->type));
        else
            evaluate(builder->graph, operand->value, data, byteLength, &e);
    }
    return e.status == WNNStatus_Success ? WNNStatus_Success : error_publish(&e);
}
