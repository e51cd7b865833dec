/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Computes the value of an operand that depends on constants only, as the reference interpreter does, while the builder has not
 * built; the graph stays as it is.  Readers of model files need such values, because shapes, axes and repetitions that a file
 * computes by operators are arguments of builder calls.
 */
#include "frontend/builder/builder.h"
#include "ir/graph/node_operations.h"
#include "ir/graph/op_draft.h"
#include "ir/interpret/interpret.h"

#include <stdlib.h>

/** Holds a node that a value needs, and what it computed.  The node's scratch leads here. */
struct step {
    struct node *node;
    struct constant **results;
};

struct evaluation {
    struct step *steps;
    uint32_t count;
    struct arena arena;
};

/** Adds a value's producer once.  Returns false if the value depends on an input, or if memory runs out. */
static bool need(struct evaluation *ev, struct value *v, struct error *e)
{
    if (v->kind == VALUE_INPUT)
        return error_set(e, WNNStatus_TypeError, "getConstantValue: the operand depends on an input");
    if (v->kind == VALUE_CONSTANT || v->producer->scratch)
        return true;
    if (op_is_draft(v->producer->op))
        return error_set(e, WNNStatus_TypeError, "getConstantValue: the operand depends on %s, which the graph computes",
                         op_infos[v->producer->op].name);
    if (!array_extend(&ev->steps, ev->count, sizeof *ev->steps))
        return error_out_of_memory(e);
    v->producer->scratch = v->producer; /* a mark: steps still move */
    ev->steps[ev->count++] = (struct step){v->producer, NULL};
    return true;
}

static int by_index(const void *a, const void *b)
{
    uint32_t x = ((const struct step *)a)->node->index, y = ((const struct step *)b)->node->index;

    return (x > y) - (x < y);
}

static const void *bytes_of(const struct value *v)
{
    return v->kind == VALUE_CONSTANT ? v->constant->data
                                     : ((const struct step *)v->producer->scratch)->results[v->result]->data;
}

/** Computes one node; all it needs is there. */
static bool run_step(struct evaluation *ev, struct step *s, struct error *e)
{
    struct node *n = s->node;
    const void **inputs = arena_array(&ev->arena, n->input_count ? n->input_count : 1, sizeof(*inputs));
    void **results = arena_array(&ev->arena, n->result_count, sizeof(*results));

    s->results = arena_array(&ev->arena, n->result_count, sizeof(*s->results));
    if (!budget_spend_node(n->graph->account, "computing a constant:", n, e))
        return false;
    if (!inputs || !results || !s->results)
        return error_out_of_memory(e);
    for (uint32_t i = 0; i < n->input_count; i++)
        inputs[i] = n->inputs[i].value ? bytes_of(n->inputs[i].value) : NULL;
    for (uint32_t i = 0; i < n->result_count; i++) {
        s->results[i] = constant_create(NULL, (size_t)type_bytes(&n->results[i]->type));
        if (!s->results[i])
            return error_out_of_memory(e);
        results[i] = (void *)s->results[i]->data; /* ours alone so far */
    }
    return node_interpret(n, inputs, results, e);
}

static bool evaluate(struct value *v, void *data, size_t length, struct error *e)
{
    struct evaluation ev = {0};
    bool ok = need(&ev, v, e);

    for (size_t i = 0; ok && i < ev.count; i++)
        for (uint32_t j = 0; ok && j < ev.steps[i].node->input_count; j++)
            if (ev.steps[i].node->inputs[j].value)
                ok = need(&ev, ev.steps[i].node->inputs[j].value, e);
    /* A builder only ever appends, so nodes were made in the order of execution. */
    if (ev.count)
        qsort(ev.steps, ev.count, sizeof(*ev.steps), by_index);
    for (size_t i = 0; i < ev.count; i++)
        ev.steps[i].node->scratch = &ev.steps[i];
    for (size_t i = 0; ok && i < ev.count; i++)
        ok = run_step(&ev, &ev.steps[i], e);
    if (ok)
        memcpy(data, bytes_of(v), length);
    for (size_t i = 0; i < ev.count; i++) {
        for (uint32_t j = 0; ev.steps[i].results && j < ev.steps[i].node->result_count; j++)
            constant_release(ev.steps[i].results[j]);
        ev.steps[i].node->scratch = NULL;
    }
    free(ev.steps);
    arena_free(&ev.arena);
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
            evaluate(operand->value, data, byteLength, &e);
    }
    return e.status == WNNStatus_Success ? WNNStatus_Success : error_publish(&e);
}
