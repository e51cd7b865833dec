/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes loops of nodes, and infers the types of loops.  docs/loops.md says what a loop is.
 *
 * The builder adds the nodes of an iteration to the graph like all others, with parameters in place of what changes from
 * iteration to iteration.  At the end of the loop those that depend on a parameter move to a graph of their own.  What does not
 * depend on one stays, and is so computed once, before the loop.
 */
#include <stdlib.h>
#include <string.h>

#include "ir/graph/infer_steps.h"

/* ---- inference ---- */

/** Returns the type of a slice with a dimension in front for the iterations. */
static bool stacked_type(const struct tensor_type *slice, uint32_t iterations, struct tensor_type *t)
{
    if (slice->rank >= RANK_MAX)
        return false;
    *t = (struct tensor_type){.type = slice->type, .rank = slice->rank + 1, .dims = {iterations}};
    memcpy(t->dims + 1, slice->dims, slice->rank * sizeof *slice->dims);
    return true;
}

static bool check_operand(struct call *c, const struct loop_body *l, uint32_t iterations, uint32_t i)
{
    struct tensor_type want = l->graph->inputs[i]->type;
    char have_text[160], want_text[160];

    if (i >= l->carried && i < l->carried + l->scanned && !stacked_type(&l->graph->inputs[i]->type, iterations, &want))
        return call_error(c, "operands[%u] has slices of rank %u, at most %d is possible", i, want.rank, RANK_MAX - 1);
    return !type_differs(c->graph, &want, &c->inputs[i]->type) ||
           call_error(c, "operands[%u] is %s, the body takes %s", i,
                      type_print(have_text, sizeof have_text, &c->inputs[i]->type),
                      type_print(want_text, sizeof want_text, &want));
}

bool infer_loop(struct call *c)
{
    const struct loop_body *l = c->args.loop.body;
    const uint32_t iterations = l ? loop_iterations(l, c->inputs) : 0;
    char have[160], want[160];

    if (!iterations || !l->graph)
        return call_error(c, "it has no body or no iterations");
    if (l->carried + l->scanned == 0 || l->graph->input_count != c->input_count ||
        l->graph->output_count != l->carried + l->stacked || c->input_count < l->carried + l->scanned)
        return call_error(c, "its body has %u inputs and %u outputs, for %u operands and %u results", l->graph->input_count,
                          l->graph->output_count, c->input_count, l->carried + l->stacked);
    for (uint32_t i = 0; i < c->input_count; i++)
        if (!check_operand(c, l, iterations, i))
            return false;
    if (!infer_results(c, l->graph->output_count))
        return false;
    for (uint32_t i = 0; i < c->result_count; i++) {
        const struct tensor_type *t = &l->graph->outputs[i].value->type;

        c->results[i] = *t;
        if (i < l->carried && type_differs(c->graph, t, &c->inputs[i]->type))
            return call_error(c, "carried value %u is %s before an iteration and %s after it", i,
                              type_print(have, sizeof have, &c->inputs[i]->type), type_print(want, sizeof want, t));
        if (i >= l->carried && !stacked_type(t, iterations, &c->results[i]))
            return call_error(c, "stacked slice %u has rank %u, at most %d is possible", i - l->carried, t->rank, RANK_MAX - 1);
    }
    return true;
}

/* ---- from nodes to a body ---- */

struct closing {
    struct graph *g;
    struct loop_body *body;
    struct value **map; /* by value index: what the value is in the body, or NULL */
    bool *inside;       /* by value index: depends on a parameter */
    struct value **invariants;
    uint32_t invariant_count;
    struct error *e;
};

static bool depends(const struct closing *c, const struct node *n)
{
    for (uint32_t i = 0; i < n->input_count; i++)
        if (n->inputs[i].value && c->inside[n->inputs[i].value->index])
            return true;
    return false;
}

/** Adds an input of the body under a unique name. */
static struct value *add_input(struct graph *body, const struct tensor_type *t)
{
    char name[16];

    snprintf(name, sizeof name, "in%u", body->input_count);
    return graph_add_input(body, name, strlen(name), t);
}

/** Returns what a value of the graph is in the body, or NULL if memory runs out. */
static struct value *mapped(struct closing *c, struct value *v)
{
    struct value **m = &c->map[v->index];

    if (*m)
        return *m;
    const bool is_constant = v->kind == VALUE_CONSTANT && v->constant;
    *m = is_constant ? graph_add_constant(c->body->graph, &v->type, constant_retain(v->constant))
                     : add_input(c->body->graph, &v->type);
    if (*m && !is_constant) {
        (*m)->sizes = v->sizes;
        c->invariants[c->invariant_count++] = v;
    }
    return *m;
}

static bool copy_node(struct closing *c, const struct node *n)
{
    struct value **inputs = arena_array(&c->body->graph->arena, n->input_count, sizeof *inputs);

    if (!inputs)
        return error_out_of_memory(c->e);
    for (uint32_t i = 0; i < n->input_count; i++) {
        inputs[i] = n->inputs[i].value ? mapped(c, n->inputs[i].value) : NULL;
        if (n->inputs[i].value && !inputs[i])
            return error_out_of_memory(c->e);
    }
    struct node *copy = node_create(c->body->graph, NULL, n->op, n->label, n->input_count, inputs, n->options, &n->args, c->e);
    for (uint32_t r = 0; copy && r < n->result_count; r++) {
        c->inside[n->results[r]->index] = true;
        c->map[n->results[r]->index] = copy->results[r];
        copy->results[r]->sizes = n->results[r]->sizes;
    }
    return copy != NULL;
}

/** Makes an output of the body.  A value that no node of it computes goes through an identity. */
static bool add_output(struct closing *c, struct value *v)
{
    struct value *m = mapped(c, v);
    char name[16];

    if (!m)
        return error_out_of_memory(c->e);
    if (m->kind != VALUE_RESULT) {
        struct node *n = node_create(c->body->graph, NULL, OP_IDENTITY, "", 1, &m, NULL, NULL, c->e);
        if (!n)
            return false;
        m = n->results[0];
    }
    snprintf(name, sizeof name, "out%u", c->body->graph->output_count);
    return graph_add_output(c->body->graph, name, strlen(name), m) || error_out_of_memory(c->e);
}

static bool fill_body(struct closing *c, struct value *const *parameters, struct value *const *outputs)
{
    const uint32_t parameter_count = c->body->carried + c->body->scanned;

    c->body->graph->dims = c->g->dims;
    for (uint32_t i = 0; i < parameter_count; i++) {
        struct value *in = add_input(c->body->graph, &parameters[i]->type);
        if (!in)
            return error_out_of_memory(c->e);
        c->map[parameters[i]->index] = in;
        c->inside[parameters[i]->index] = true;
    }
    graph_for_each (c->g, n)
        if (depends(c, n) && !copy_node(c, n))
            return false;
    for (uint32_t i = 0; i < c->body->carried + c->body->stacked; i++)
        if (!add_output(c, outputs[i]))
            return false;
    return true;
}

static struct node *add_loop(struct closing *c, struct node *before, const char *label, struct value *const *operands)
{
    const uint32_t first = c->body->carried + c->body->scanned;
    const union op_args args = {.loop = {c->body}};
    struct value **inputs = arena_array(&c->g->arena, first + c->invariant_count, sizeof *inputs);

    if (!inputs)
        return error_null_memory(c->e);
    memcpy(inputs, operands, first * sizeof *inputs);
    if (c->invariant_count)
        memcpy(inputs + first, c->invariants, c->invariant_count * sizeof *inputs);
    return node_create(c->g, before, OP_LOOP, label, first + c->invariant_count, inputs, NULL, &args, c->e);
}

/** Removes the nodes that the body has copies of; their values belong to it from here on. */
static void remove_copied(struct closing *c, struct value *const *parameters, const struct node *loop)
{
    for (struct node *n = loop->prev, *prev; n; n = prev) {
        prev = n->prev;
        if (!n->result_count || n->results[0]->index >= c->g->value_count || !c->inside[n->results[0]->index])
            continue;
        for (uint32_t r = 0; r < n->result_count; r++)
            n->results[r]->graph = c->body->graph;
        node_remove(n);
    }
    for (uint32_t i = 0; i < c->body->carried + c->body->scanned; i++)
        parameters[i]->graph = c->body->graph;
}

static const bool *copy_flags(struct graph *g, const bool *flags, uint32_t count)
{
    return arena_copy(&g->arena, flags, count * sizeof *flags);
}

/** Makes an empty body, and room for what is known of the graph's values.  Returns false if memory runs out. */
static bool begin_closing(struct closing *c, const struct loop_body *body)
{
    c->body = arena_copy(&c->g->arena, body, sizeof *body);
    c->map = calloc(c->g->value_count + 1, sizeof *c->map);
    c->inside = calloc(c->g->value_count + 1, sizeof *c->inside);
    c->invariants = calloc(c->g->value_count + 1, sizeof *c->invariants);
    if (c->body) {
        c->body->scanned_backward = copy_flags(c->g, body->scanned_backward, body->scanned);
        c->body->stacked_backward = copy_flags(c->g, body->stacked_backward, body->stacked);
        c->body->graph = graph_create();
    }
    if (!c->map || !c->inside || !c->invariants || !c->body || !c->body->scanned_backward || !c->body->stacked_backward ||
        !c->body->graph)
        return error_out_of_memory(c->e);
    c->body->graph->origin.role = GRAPH_BODY;
    return true;
}

/** Gives the graph the body of its new loop, or, without one, frees that. */
static void end_closing(struct closing *c, const struct node *loop)
{
    if (loop) {
        c->body->next = c->g->loops;
        c->g->loops = c->body;
    } else if (c->body) {
        graph_free(c->body->graph);
    }
    free(c->map);
    free(c->inside);
    free(c->invariants);
}

struct node *graph_close_loop(struct graph *g, const struct loop_body *body, const char *label, struct value *const *parameters,
                              struct value *const *operands, struct value *const *outputs, struct error *e)
{
    struct closing c = {.g = g, .e = e};
    struct node *loop = NULL;

    if (begin_closing(&c, body) && fill_body(&c, parameters, outputs))
        loop = add_loop(&c, NULL, label, operands);
    if (loop)
        remove_copied(&c, parameters, loop);
    end_closing(&c, loop);
    return loop;
}

/** Copies the nodes of a branch to the body, whose carried value is the one that stops it. */
static bool fill_branch(struct closing *c, const bool *inside, struct value *stop, struct value *const *outputs)
{
    if (!(c->map[stop->index] = add_input(c->body->graph, &stop->type)))
        return error_out_of_memory(c->e);
    graph_for_each (c->g, n)
        if (inside[n->index] && !copy_node(c, n))
            return false;
    if (!add_output(c, stop))
        return false;
    for (uint32_t i = 0; i < c->body->stacked; i++)
        if (!add_output(c, outputs[i]))
            return false;
    return true;
}

struct node *graph_make_branch(struct graph *g, struct node *before, const bool *inside, struct value *stop, uint32_t count,
                               struct value *const *outputs, struct error *e)
{
    const bool *forward = arena_array(&g->arena, (size_t)count + 1, sizeof *forward);
    const struct loop_body body = {
        .iterations = 1, .carried = 1, .stacked = count, .stop = 1, .scanned_backward = forward, .stacked_backward = forward};
    struct closing c = {.g = g, .e = e};
    struct node *loop = NULL;

    if (!forward)
        return error_null_memory(e);
    if (begin_closing(&c, &body) && fill_branch(&c, inside, stop, outputs))
        loop = add_loop(&c, before, "", &stop);
    end_closing(&c, loop);
    return loop;
}
