/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Finds the order in which a graph's nodes can be imported: indices, every node after those that it reads from.  The file's
 * own order is taken if it is one; the format asks for that, but not every writer keeps to it.
 */
#include <stdlib.h>
#include <string.h>

#include "frontend/readers/onnx/internal.h"

struct order {
    const struct name_map *producers; /* name to 1 + index */
    size_t node;                      /* whose names are visited */
    bool *needed;                     /* visits note their producers here, if not NULL */
    bool sorted, out_of_memory;
    struct edge {
        size_t next; /* of the same producer, 1 + index; 0: the last */
        size_t consumer;
    } *edges;
    uint32_t edge_count;
    size_t *first, *waits; /* per node: its consumers, how many values it waits for */
};

/** Holds the names that a body defines; a read of one of them does not refer to a value outside of the body. */
struct body {
    const struct body *outer;
    struct name_map names;
};

/** Notes what one name says about the order. */
static bool visit(struct order *o, const struct body *body, const char *name)
{
    size_t producer = name && *name ? (size_t)(uintptr_t)onnx_map_get(o->producers, name, NULL) : 0;

    for (bool found = false; producer && body; body = body->outer) {
        onnx_map_get(&body->names, name, &found);
        if (found)
            return true;
    }
    if (!producer)
        return true;
    producer--;
    if (o->needed)
        return o->needed[producer] = true;
    if (!o->first) {
        o->sorted = o->sorted && producer < o->node;
        return o->sorted;
    }
    o->out_of_memory = !array_extend(&o->edges, o->edge_count, sizeof *o->edges);
    if (o->out_of_memory)
        return false;
    o->edges[o->edge_count] = (struct edge){o->first[producer], o->node};
    o->first[producer] = ++o->edge_count;
    o->waits[o->node]++;
    return true;
}

static bool define(struct order *o, struct body *body, const char *name)
{
    o->out_of_memory = name && onnx_map_add(&body->names, name, body) == NAME_MAP_OUT_OF_MEMORY;
    return !o->out_of_memory;
}

/** Notes the names of inputs, initializers and results of a body. */
static bool define_all(struct order *o, struct body *body, const Onnx__GraphProto *graph)
{
    bool ok = true;

    for (size_t i = 0; ok && i < graph->n_input; i++)
        ok = define(o, body, graph->input[i]->name);
    for (size_t i = 0; ok && i < graph->n_initializer; i++)
        ok = define(o, body, graph->initializer[i]->name);
    for (size_t i = 0; ok && i < graph->n_sparse_initializer; i++)
        ok = !graph->sparse_initializer[i]->values || define(o, body, graph->sparse_initializer[i]->values->name);
    for (size_t k = 0; ok && k < graph->n_node; k++)
        for (size_t i = 0; ok && i < graph->node[k]->n_output; i++)
            ok = define(o, body, graph->node[k]->output[i]);
    return ok;
}

/** Visits every name that a node reads, also from within its bodies, which may see everything around them. */
static bool visit_node(struct order *o, const struct body *outer, const Onnx__NodeProto *node)
{
    bool ok = true;

    for (size_t i = 0; ok && i < node->n_input; i++)
        ok = visit(o, outer, node->input[i]);
    for (size_t i = 0; i < node->n_attribute; i++) {
        const Onnx__AttributeProto *a = node->attribute[i];

        for (size_t g = 0; ok && g < a->n_graphs + (a->g != NULL); g++) {
            const Onnx__GraphProto *graph = g < a->n_graphs ? a->graphs[g] : a->g;
            struct body body = {.outer = outer};

            ok = define_all(o, &body, graph);
            for (size_t k = 0; ok && k < graph->n_node; k++)
                ok = visit_node(o, &body, graph->node[k]);
            for (size_t k = 0; ok && k < graph->n_output; k++)
                ok = visit(o, &body, graph->output[k]->name);
            name_map_free(&body.names);
        }
    }
    return ok;
}

static bool map_producers(struct onnx_reader *r, size_t count, Onnx__NodeProto *const *nodes, struct name_map *producers)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < nodes[i]->n_output; k++) {
            const char *name = nodes[i]->output[k];
            const enum name_map_status added =
                name && *name ? onnx_map_add(producers, name, (void *)(uintptr_t)(i + 1)) : NAME_MAP_ADDED;

            if (added == NAME_MAP_OUT_OF_MEMORY)
                return onnx_fail_memory(r);
            if (added == NAME_MAP_EXISTS)
                return onnx_fail(r, "two nodes have a result \"%s\", the second is \"%s\" (%s)", onnx_escape(r, name),
                                 onnx_escape(r, nodes[i]->name), onnx_escape(r, nodes[i]->op_type));
        }
    return true;
}

/** Sorts: first come nodes that wait for nothing, then those that waited for them, and so on. */
static bool sort(struct onnx_reader *r, struct order *o, size_t count, Onnx__NodeProto *const *nodes, const char *what,
                 size_t *order)
{
    size_t done = 0, end = 0;

    o->first = calloc(count, sizeof *o->first);
    o->waits = calloc(count, sizeof *o->waits);
    if (!o->first || !o->waits)
        return onnx_fail_memory(r);
    for (o->node = 0; o->node < count; o->node++)
        if (!visit_node(o, NULL, nodes[o->node]))
            return onnx_fail_memory(r);
    for (size_t i = 0; i < count; i++)
        if (!o->waits[i])
            order[end++] = i;
    for (; done < end; done++)
        for (size_t e = o->first[order[done]]; e; e = o->edges[e - 1].next)
            if (!--o->waits[o->edges[e - 1].consumer])
                order[end++] = o->edges[e - 1].consumer;
    if (end == count)
        return true;
    for (size_t i = 0; i < count; i++)
        if (o->waits[i])
            return onnx_fail(r, "%s: node \"%s\" (%s) depends on its own result, or on a node that does", what,
                             onnx_escape(r, nodes[i]->name), onnx_escape(r, nodes[i]->op_type));
    return false;
}

/** Finds the nodes of the model's graph that wanted outputs depend on; a wanted name that is not an output is refused later. */
static bool find_needed(struct onnx_reader *r, struct order *o, const size_t *order)
{
    const Onnx__GraphProto *graph = r->proto->graph;
    const struct model_options *options = r->options;
    size_t known = 0;
    bool ok = (o->needed = r->needed = onnx_reader_alloc(r, graph->n_node + 1, sizeof *r->needed));

    for (int pass = 0; ok && pass < 2; pass++) /* of the outputs that are named, and of all */
        for (size_t k = 0; k < graph->n_output && (!pass || !known || known < options->output_count); k++) {
            const char *name = graph->output[k]->name ? graph->output[k]->name : "";
            const size_t length = strlen(name);
            size_t i = pass ? 0 : options->output_count;

            while (i > 0 && (strncmp(options->outputs[i - 1], name, length) != 0 ||
                             (options->outputs[i - 1][length] && strncmp(options->outputs[i - 1] + length, ".shape[", 7) != 0)))
                i--;
            known += i > 0;
            if (pass || i > 0)
                visit(o, NULL, name);
        }
    for (size_t i = graph->n_node; ok && i-- > 0;)
        ok = !r->needed[order[i]] || visit_node(o, NULL, graph->node[order[i]]) || onnx_fail_memory(r);
    return ok;
}

/** Finds the order of nodes that was not asked for yet. */
static const size_t *make_order(struct onnx_reader *r, size_t count, Onnx__NodeProto *const *nodes, const char *what)
{
    struct name_map producers = {0};
    struct order o = {.producers = &producers, .sorted = true};
    size_t *order = onnx_reader_alloc(r, count + 1, sizeof *order);
    bool ok = order && map_producers(r, count, nodes, &producers);

    for (size_t i = 0; ok && i < count; i++)
        order[i] = i;
    for (; ok && o.sorted && o.node < count; o.node++)
        visit_node(&o, NULL, nodes[o.node]);
    if (o.out_of_memory)
        ok = onnx_fail_memory(r);
    if (ok && !o.sorted)
        ok = sort(r, &o, count, nodes, what, order);
    if (ok && nodes == r->proto->graph->node)
        ok = find_needed(r, &o, order);
    free(o.edges);
    free(o.first);
    free(o.waits);
    name_map_free(&producers);
    return ok ? order : NULL;
}

const size_t *onnx_order_nodes(struct onnx_reader *r, size_t count, Onnx__NodeProto *const *nodes, const char *what)
{
    struct onnx_order *made = name_map_find(&r->orders, (const char *)&nodes, sizeof nodes);

    if (made)
        return made->order;
    made = onnx_reader_alloc(r, 1, sizeof *made);
    if (!made)
        return NULL;
    made->nodes = nodes;
    made->order = make_order(r, count, nodes, what);
    if (made->order && count &&
        name_map_add(&r->orders, (const char *)&made->nodes, sizeof made->nodes, made) == NAME_MAP_OUT_OF_MEMORY)
        onnx_fail_memory(r);
    return r->failed ? NULL : made->order;
}
