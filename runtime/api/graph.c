/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Implements WNNGraph: what a built graph shows of itself, and its lifetime.  Building is in build.c, computing in dispatch.c.
 */
#include "runtime/api/variants.h"

#include <stdlib.h>

/* ---- description ---- */

static bool binding_set(struct arena *a, struct graph_binding *b, const char *name, size_t length,
                        const struct tensor_type *type, uint32_t slot)
{
    b->name = arena_string(a, name ? name : "", length);
    b->name_length = length;
    b->type = *type;
    b->slot = slot;
    return b->name != NULL;
}

/* Finds, by value, the groups of outputs that need it.  Returns NULL if memory runs out. */
static const uint64_t *graph_reach(struct graph *g)
{
    uint64_t *reached = g->origin.reached;

    if (reached || !(reached = g->origin.reached = arena_array(&g->arena, g->value_count, sizeof *reached)))
        return reached;
    for (uint32_t i = 0; i < g->output_count; i++)
        reached[g->outputs[i].value->index] |= graph_output_group(i, g->output_count);
    /* Nodes stand in an order in which values are defined before they are used: backwards, every user comes first. */
    for (const struct node *n = g->last; n; n = n->prev) {
        uint64_t needed = 0;
        for (uint32_t i = 0; i < n->result_count; i++)
            needed |= reached[n->results[i]->index];
        for (uint32_t i = 0; needed && i < n->input_count; i++)
            if (n->inputs[i].value)
                reached[n->inputs[i].value->index] |= needed;
    }
    return reached;
}

static int compare_names(const char *a, size_t a_length, const char *b, size_t b_length)
{
    if (a_length != b_length)
        return a_length < b_length ? -1 : 1;
    return a_length ? memcmp(a, b, a_length) : 0;
}

static int compare_bindings(const void *a, const void *b)
{
    const struct graph_binding *x = *(const struct graph_binding *const *)a, *y = *(const struct graph_binding *const *)b;

    return compare_names(x->name, x->name_length, y->name, y->name_length);
}

static bool sort_names(struct arena *a, const struct graph_binding *bindings, uint32_t count,
                       const struct graph_binding ***by_name)
{
    *by_name = arena_array(a, count, sizeof **by_name);
    for (uint32_t i = 0; *by_name && i < count; i++)
        (*by_name)[i] = &bindings[i];
    if (*by_name)
        qsort(*by_name, count, sizeof **by_name, compare_bindings);
    return *by_name != NULL;
}

static bool graph_sort_names(WNNGraph graph)
{
    return sort_names(&graph->arena, graph->inputs, graph->input_count, &graph->inputs_by_name) &&
           sort_names(&graph->arena, graph->outputs, graph->output_count, &graph->outputs_by_name);
}

static bool graph_describe(WNNGraph graph, struct graph *g)
{
    const uint32_t inputs = g->input_count - g->origin.data_count;
    const uint64_t *reached = graph_reach(g);
    bool ok = true;

    if (!reached)
        return false;
    for (uint32_t i = 0; i < inputs; i++)
        graph->input_count += g->origin.role == GRAPH_VARIANT || reached[g->inputs[i]->index];
    graph->input_slots = inputs;
    graph->output_count = g->output_count;
    graph->inputs = arena_array(&graph->arena, graph->input_count, sizeof *graph->inputs);
    graph->outputs = arena_array(&graph->arena, graph->output_count, sizeof *graph->outputs);
    if (!graph->inputs || !graph->outputs)
        return false;
    for (uint32_t i = 0, at = 0; ok && i < inputs; i++) {
        const struct value *v = g->inputs[i];
        if (g->origin.role != GRAPH_VARIANT && !reached[v->index])
            continue;
        graph->inputs[at].spares = ~reached[v->index];
        ok = binding_set(&graph->arena, &graph->inputs[at], v->name, v->name_length, &v->type, i) &&
             variants_describe(&graph->arena, g, &graph->inputs[at]);
        at++;
    }
    for (uint32_t i = 0; ok && i < g->output_count; i++)
        ok = binding_set(&graph->arena, &graph->outputs[i], g->outputs[i].name, g->outputs[i].name_length,
                         &g->outputs[i].value->type, i) &&
             variants_describe(&graph->arena, g, &graph->outputs[i]);
    for (uint32_t i = 0; ok && i < g->output_count; i++)
        for (uint32_t k = 0; k < g->input_count && g->outputs[i].state; k++)
            if (g->inputs[k] == g->outputs[i].state)
                graph->outputs[i].state = k + 1;
    return ok && graph_sort_names(graph);
}

static WNNGraph graph_new(WNNContext context)
{
    WNNGraph graph = calloc(1, sizeof *graph);

    if (graph) {
        atomic_init(&graph->references, 1);
        graph->context = context;
    }
    return graph;
}

static WNNGraph graph_give_up(WNNGraph graph, struct error *e)
{
    if (graph)
        arena_free(&graph->arena);
    free(graph);
    return error_null_memory(e);
}

WNNGraph graph_create_object(WNNContext context, struct graph *g, struct error *e)
{
    WNNGraph graph = graph_new(context);

    return graph && graph_describe(graph, g) ? graph : graph_give_up(graph, e);
}

static bool bindings_copy(struct arena *a, uint32_t count, const struct graph_binding *from, struct graph_binding **to)
{
    *to = arena_array(a, count, sizeof **to);
    for (uint32_t i = 0; *to && i < count; i++) {
        if (!binding_set(a, &(*to)[i], from[i].name, from[i].name_length, &from[i].type, from[i].slot))
            return false;
        (*to)[i].state = from[i].state;
        (*to)[i].spares = from[i].spares;
    }
    return *to != NULL;
}

WNNGraph graph_create_described(WNNContext context, uint32_t input_slots, uint32_t input_count,
                                const struct graph_binding *inputs, uint32_t output_count, const struct graph_binding *outputs,
                                struct error *e)
{
    WNNGraph graph = graph_new(context);

    if (!graph || !bindings_copy(&graph->arena, input_count, inputs, &graph->inputs) ||
        !bindings_copy(&graph->arena, output_count, outputs, &graph->outputs))
        return graph_give_up(graph, e);
    graph->input_slots = input_slots;
    graph->input_count = input_count;
    graph->output_count = output_count;
    return graph_sort_names(graph) ? graph : graph_give_up(graph, e);
}

bool graph_publish(WNNGraph graph)
{
    WNNContext context = graph->context;

    pthread_mutex_lock(&context->lock);
    bool lost = atomic_load(&context->lost);
    if (!lost)
        LIST_ADD(context->first_graph, graph, next, previous);
    pthread_mutex_unlock(&context->lock);
    return !lost;
}

uint32_t graph_find_binding(const struct graph_binding *bindings, const struct graph_binding *const *by_name, uint32_t count,
                            WNNStringView name, uint32_t hint)
{
    size_t length = view_length(name);
    uint32_t low = 0, high = count;

    /* Callers mostly give the names in the graph's own order. */
    if (hint < count && compare_names(bindings[hint].name, bindings[hint].name_length, name.data, length) == 0)
        return hint;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = compare_names(by_name[middle]->name, by_name[middle]->name_length, name.data, length);

        if (order == 0)
            return (uint32_t)(by_name[middle] - bindings);
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return count;
}

struct suggestion graph_suggest_binding(const struct graph_binding *bindings, uint32_t count, WNNStringView name)
{
    struct suggestion meant = suggestion_for(name.data, view_length(name));

    for (uint32_t i = 0; i < count; i++)
        suggestion_offer(&meant, bindings[i].name);
    suggestion_list(&meant);
    return meant;
}

/* ---- lifetime ---- */

void wnnGraphAddRef(WNNGraph graph)
{
    if (graph)
        atomic_fetch_add_explicit(&graph->references, 1, memory_order_relaxed);
}

void wnnGraphRelease(WNNGraph graph)
{
    if (!graph || atomic_fetch_sub_explicit(&graph->references, 1, memory_order_acq_rel) != 1)
        return;
    WNNContext context = graph->context;

    pthread_mutex_lock(&context->lock);
    LIST_REMOVE(context->first_graph, graph, next, previous);
    pthread_mutex_unlock(&context->lock);
    if (graph->executable)
        context->engine->functions->unload(graph->executable);
    variants_free(graph->variants);
    arena_free(&graph->arena);
    bool holds_context = graph->holds_context;
    free(graph);
    if (holds_context)
        wnnContextRelease(context);
}

void graph_pin(WNNGraph graph)
{
    wnnGraphAddRef(graph);
    graph->pins++;
}

/* Returns the executable of a destroyed graph with no pin, which is to be unloaded, or NULL.  The lock is held. */
static struct executable *take_unused(WNNGraph graph)
{
    struct executable *x = graph->destroyed && graph->pins == 0 ? graph->executable : NULL;

    if (x)
        graph->executable = NULL;
    return x;
}

static void unload(WNNContext context, struct executable *x)
{
    if (x)
        context->engine->functions->unload(x);
}

void graph_unpin(WNNGraph graph)
{
    WNNContext context = graph->context;

    pthread_mutex_lock(&context->lock);
    graph->pins--;
    struct executable *unused = take_unused(graph);
    pthread_mutex_unlock(&context->lock);
    unload(context, unused);
    wnnGraphRelease(graph);
}

bool graph_refuse(WNNGraph graph, const char *call, struct error *e)
{
    return error_set(e, WNNStatus_InvalidStateError, "%s: %s", call,
                     atomic_load(&graph->context->lost) ? "the context is lost" : "the graph is destroyed");
}

bool graph_try_pin(WNNGraph graph, const char *call, struct error *e)
{
    pthread_mutex_lock(&graph->context->lock);
    const bool usable = !graph->destroyed;
    if (usable)
        graph_pin(graph);
    pthread_mutex_unlock(&graph->context->lock);
    return usable || graph_refuse(graph, call, e);
}

struct executable *graph_destroy_locked(WNNGraph graph)
{
    graph->destroyed = true;
    return take_unused(graph);
}

void wnnGraphDestroy(WNNGraph graph)
{
    if (!graph)
        return;
    WNNContext context = graph->context;
    pthread_mutex_lock(&context->lock);
    struct executable *unused = graph_destroy_locked(graph);
    pthread_mutex_unlock(&context->lock);
    unload(context, unused);
    if (graph->variants)
        variants_clear(graph->variants);
}

/* ---- facts ---- */

size_t wnnGraphGetInputCount(WNNGraph graph)
{
    return graph ? graph->input_count : 0;
}

void wnnGraphGetQuantizedWeights(WNNGraph graph, WNNQuantizedWeights *weights)
{
    if (weights)
        *weights = graph ? graph->quantized : (WNNQuantizedWeights){0};
}

size_t wnnGraphGetOutputCount(WNNGraph graph)
{
    return graph ? graph->output_count : 0;
}

static WNNStatus binding_get(const struct graph_binding *bindings, uint32_t count, size_t index, const char *what,
                             WNNNamedOperandDescriptor *out)
{
    struct error e;

    error_clear(&e);
    if (!out)
        return error_fail(&e, WNNStatus_TypeError, "graph: no room for the %s", what);
    if (index >= count)
        return error_fail(&e, WNNStatus_TypeError, "graph: %s %zu is out of range, the graph has %u", what, index, count);
    const struct graph_binding *b = &bindings[index];
    out->name = (WNNStringView){b->name, b->name_length};
    out->descriptor = (WNNOperandDescriptor){b->type.type, b->type.rank, b->type.dims, b->dimensions};
    return WNNStatus_Success;
}

WNNStatus wnnGraphGetInput(WNNGraph graph, size_t index, WNNNamedOperandDescriptor *input)
{
    return binding_get(graph ? graph->inputs : NULL, graph ? graph->input_count : 0, index, "input", input);
}

WNNStatus wnnGraphGetOutput(WNNGraph graph, size_t index, WNNNamedOperandDescriptor *output)
{
    return binding_get(graph ? graph->outputs : NULL, graph ? graph->output_count : 0, index, "output", output);
}
