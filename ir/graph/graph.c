/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Builds and changes graphs: values, nodes, use lists.  No other functions change links.  Inferred calls, types and constants
 * become the structures of ir/graph/ir.h, whose invariants are kept (ir/graph/verify.c lists them).  Each function allocates
 * everything it needs before it links anything, so that a failed allocation leaves the graph as it was.
 */
#include "ir/graph/ir.h"
#include "ir/support/table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct graph *graph_create(void)
{
    return calloc(1, sizeof(struct graph));
}

void graph_free(struct graph *g)
{
    if (!g)
        return;
    for (struct value *v = g->first_constant; v; v = v->next_constant)
        constant_release(v->constant);
    for (uint32_t i = 0; i < g->origin.data_count; i++)
        constant_release(g->origin.data[i]);
    for (struct loop_body *l = g->loops; l; l = l->next)
        graph_free(l->graph);
    arena_free(&g->arena);
    free(g);
}

/* ---- values ---- */

/* Makes a value without a number: who calls sets its index once nothing can fail any more. */
static struct value *value_alloc(struct graph *g, enum value_kind kind, const struct tensor_type *type)
{
    struct value *v = arena_alloc(&g->arena, sizeof *v);

    if (!v)
        return NULL;
    v->kind = kind;
    v->type.type = type->type; /* dimensions beyond the rank stay 0 */
    v->type.rank = type->rank;
    memcpy(v->type.dims, type->dims, type->rank * sizeof *type->dims);
    v->graph = g;
    return v;
}

struct value *graph_add_input(struct graph *g, const char *name, size_t name_length, const struct tensor_type *type)
{
    if (!array_reserve(&g->arena, &g->inputs, &g->input_capacity, g->input_count + 1, sizeof(struct value *)))
        return error_null_memory(&g->error);

    struct value *v = value_alloc(g, VALUE_INPUT, type);
    if (!v || !(v->name = arena_string(&g->arena, name, name_length)))
        return error_null_memory(&g->error);
    v->name_length = name_length;
    v->index = g->value_count++;
    g->inputs[g->input_count++] = v;
    return v;
}

struct value *graph_add_data(struct graph *g, const struct tensor_type *type, struct constant *c)
{
    struct graph_origin *o = &g->origin;
    char name[24];
    const size_t length = (size_t)snprintf(name, sizeof name, "sizes_%u", o->data_count);
    struct value *v = array_reserve(&g->arena, &o->data, &o->data_capacity, o->data_count + 1, sizeof(struct constant *))
                          ? graph_add_input(g, name, length, type)
                          : error_null_memory(&g->error);

    if (v)
        o->data[o->data_count++] = c;
    else
        constant_release(c);
    return v;
}

struct value *graph_add_parameter(struct graph *g, const struct tensor_type *type)
{
    struct value *v = value_alloc(g, VALUE_INPUT, type);

    if (!v)
        return error_null_memory(&g->error);
    v->index = g->value_count++;
    return v;
}

struct value *graph_add_constant(struct graph *g, const struct tensor_type *type, struct constant *c)
{
    struct value *v = c ? value_alloc(g, VALUE_CONSTANT, type) : NULL;

    if (!v) {
        constant_release(c);
        return error_null_memory(&g->error);
    }
    assert(c->bytes == (size_t)type_bytes(type));
    v->constant = c;
    v->index = g->value_count++;
    if (g->last_constant)
        g->last_constant->next_constant = v;
    else
        g->first_constant = v;
    g->last_constant = v;
    return v;
}

struct value *graph_add_scalar(struct graph *g, const struct tensor_type *type, WNNNumber value)
{
    size_t size = dtype_size(type->type), bytes = (size_t)type_bytes(type);
    struct constant *c = constant_create(NULL, bytes);

    if (c) {
        union scalar s = number_cast(value, type->type);
        char *data = (char *)c->data;
        size_t filled = size;

        memcpy(data, &s, size); /* every member of the union starts at its first byte */
        while (filled < bytes) {
            size_t n = filled < bytes - filled ? filled : bytes - filled;
            memcpy(data + filled, data, n);
            filled += n;
        }
    }
    return graph_add_constant(g, type, c);
}

bool graph_add_output(struct graph *g, const char *name, size_t name_length, struct value *v)
{
    char *copy = arena_string(&g->arena, name, name_length);

    /* The capacity is the next power of two. */
    if (copy && (g->output_count & (g->output_count - 1)) == 0) {
        struct graph_output *outputs =
            arena_array(&g->arena, g->output_count ? 2 * (size_t)g->output_count : 1, sizeof *outputs);
        if (!outputs)
            return error_out_of_memory(&g->error);
        if (g->output_count)
            memcpy(outputs, g->outputs, g->output_count * sizeof *outputs);
        g->outputs = outputs;
    }
    if (!copy)
        return error_out_of_memory(&g->error);
    g->outputs[g->output_count++] = (struct graph_output){copy, name_length, v, NULL};
    v->output_uses++;
    return true;
}

/* ---- use lists ---- */

static void use_link(struct use *u, struct value *v)
{
    u->value = v;
    u->prev = NULL;
    u->next = v ? v->uses : NULL;
    if (!v)
        return;
    if (v->uses)
        v->uses->prev = u;
    v->uses = u;
}

static void use_unlink(struct use *u)
{
    if (!u->value)
        return;
    if (u->prev)
        u->prev->next = u->next;
    else
        u->value->uses = u->next;
    if (u->next)
        u->next->prev = u->prev;
    u->value = NULL;
    u->next = u->prev = NULL;
}

void node_set_input(struct node *n, uint32_t slot, struct value *v)
{
    assert(slot < n->input_count);
    use_unlink(&n->inputs[slot]);
    use_link(&n->inputs[slot], v);
}

void value_replace_uses(struct value *from, struct value *to)
{
    assert(type_equal(&from->type, &to->type));
    if (from == to)
        return;
    while (from->uses) {
        struct use *u = from->uses;
        use_unlink(u);
        use_link(u, to);
    }
    if (from->output_uses == 0)
        return;
    struct graph *g = from->graph;
    for (uint32_t i = 0; i < g->output_count; i++)
        if (g->outputs[i].value == from)
            g->outputs[i].value = to;
    to->output_uses += from->output_uses;
    from->output_uses = 0;
}

uint32_t value_use_count(const struct value *v)
{
    uint32_t count = v->output_uses;

    value_for_each_use (v, u)
        count++;
    return count;
}

/* ---- nodes ---- */

void graph_append_cluster(struct graph *g, struct cluster *c)
{
    *(g->last_cluster ? &g->last_cluster->next : &g->first_cluster) = c;
    g->last_cluster = c;
}

/* Links n before `before`, or at the end. */
static void node_link(struct graph *g, struct node *n, struct node *before)
{
    n->next = before;
    n->prev = before ? before->prev : g->last;
    if (n->prev)
        n->prev->next = n;
    else
        g->first = n;
    if (before)
        before->prev = n;
    else
        g->last = n;
}

static void node_unlink(struct graph *g, struct node *n)
{
    if (n->prev)
        n->prev->next = n->next;
    else
        g->first = n->next;
    if (n->next)
        n->next->prev = n->prev;
    else
        g->last = n->prev;
    n->next = n->prev = NULL;
}

/* Allocates everything of a node that needs memory.  Returns NULL if memory runs out. */
static struct node *node_alloc(struct call *c)
{
    struct arena *a = &c->graph->arena;
    struct node *n = arena_alloc(a, sizeof *n);

    if (!n)
        return NULL;
    n->op = c->op;
    n->graph = c->graph;
    n->args = c->args;
    n->input_count = c->input_count;
    n->result_count = c->result_count;
    n->label = arena_string(a, c->label, c->label ? strlen(c->label) : 0);
    n->options = options_copy(a, c->op, c->options);
    n->inputs = arena_array(a, c->input_count, sizeof *n->inputs);
    n->results = arena_array(a, c->result_count, sizeof *n->results);
    if (!n->label || !n->options || !n->inputs || !n->results || !args_copy(a, c->op, &n->args))
        return NULL;
    for (uint32_t i = 0; i < c->result_count; i++) {
        n->results[i] = value_alloc(c->graph, VALUE_RESULT, &c->results[i]);
        if (!n->results[i])
            return NULL;
    }
    return n;
}

struct node *node_create_inferred(struct call *c, struct node *before)
{
    struct graph *g = c->graph;
    struct node *n = node_alloc(c);

    if (!n) {
        error_out_of_memory(&g->error);
        if (c->error)
            error_out_of_memory(c->error);
        return NULL;
    }
    n->index = g->node_count++;
    for (uint32_t i = 0; i < n->input_count; i++) {
        n->inputs[i].node = n;
        n->inputs[i].slot = i;
        use_link(&n->inputs[i], c->inputs[i]);
    }
    for (uint32_t i = 0; i < n->result_count; i++) {
        n->results[i]->producer = n;
        n->results[i]->result = i;
        n->results[i]->index = g->value_count++;
    }
    node_link(g, n, before);
    return n;
}

void node_remove(struct node *n)
{
    for (uint32_t i = 0; i < n->result_count; i++)
        assert(!n->results[i]->uses && !n->results[i]->output_uses);
    for (uint32_t i = 0; i < n->input_count; i++)
        use_unlink(&n->inputs[i]);
    node_unlink(n->graph, n);
    n->cluster = NULL;
}

void node_move_before(struct node *n, struct node *before)
{
    if (n == before || n->next == before)
        return;
    node_unlink(n->graph, n);
    node_link(n->graph, n, before);
}
