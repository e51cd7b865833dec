/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Decides what values are called in a printed graph.  Every value gets a unique name: what it is called, the output it is,
 * or its kind and a number.  The number is its index, which it keeps from pass to pass; in the exchange forms its place in the
 * text, so that a file that is read and written again stays as it is, byte for byte.
 */
#include <stdlib.h>
#include <string.h>

#include "ir/text/lex.h"
#include "ir/text/print.h"

struct print_name print_own_name(const struct value *v)
{
    struct print_name name = {v->name, v->name_length};

    if (name.text && !name.length) /* only inputs must have their length set */
        name.length = strlen(name.text);
    if (!name.length)
        name.text = NULL;
    return name;
}

/* Returns the name with other characters than identifiers have replaced, and with underscores appended until it is unused. */
static struct print_name name_legalise(struct print_names *n, struct print_name name)
{
    char *copy = arena_alloc(&n->arena, name.length + n->taken.table.count + 3);
    size_t length = 0;

    if (!copy)
        return (struct print_name){NULL, 0};
    if (!is_plain_name(name.text, 1))
        copy[length++] = '_';
    for (size_t i = 0; i < name.length; i++) {
        char two[2] = {'_', name.text[i]};

        copy[length++] = is_plain_name(two, 2) ? name.text[i] : '_';
    }
    while (!is_plain_name(copy, length) || name_map_find(&n->taken, copy, length))
        copy[length++] = '_';
    return (struct print_name){copy, length};
}

static bool name_take(struct print_names *n, const struct value *v, struct print_name name)
{
    if (n->legal && name.length && v->index < n->count && !print_has_name(n, v) && !is_plain_name(name.text, name.length))
        name = name_legalise(n, name);
    if (v->index >= n->count || print_has_name(n, v) || !name.length ||
        name_map_add(&n->taken, name.text, name.length, (void *)v) != NAME_MAP_ADDED)
        return false;
    n->by_index[v->index] = name;
    return true;
}

/* Returns v<number> or c<number>, with as many underscores appended as it takes. */
static void name_generate(struct print_names *n, const struct value *v, uint32_t number)
{
    char stem[16];
    size_t length = (size_t)snprintf(stem, sizeof stem, "%c%u", v->kind == VALUE_CONSTANT ? 'c' : 'v', number);

    if (print_has_name(n, v))
        return;
    for (size_t underscores = 0; underscores <= n->taken.table.count; underscores++) {
        char *name = arena_alloc(&n->arena, length + underscores + 1);
        if (!name)
            return;
        memcpy(name, stem, length);
        memset(name + length, '_', underscores);
        if (name_take(n, v, (struct print_name){name, length + underscores}))
            return;
    }
}

static void name_outputs(struct print_names *n, const struct graph *g)
{
    n->outputs = arena_array(&n->arena, g->output_count + 1, sizeof *n->outputs);
    for (uint32_t i = 0; n->outputs && i < g->output_count; i++) {
        const struct graph_output *o = &g->outputs[i];
        struct print_name name = {o->name, o->name_length};
        bool first = true;

        for (uint32_t k = 0; k < i; k++)
            first &= g->outputs[k].value != o->value;
        if (!first && (!is_plain_name(name.text, name.length) || name_map_find(&n->taken, name.text, name.length)))
            name = name_legalise(n, name);
        n->outputs[i] = first ? n->by_index[o->value->index] : name;
        if (!first && name.text)
            name_map_add(&n->taken, name.text, name.length, o->value);
    }
}

/*
 * Own names come first, then those of outputs, then generated ones, so that no named value loses its name to an anonymous one.
 * Where an output cannot be called otherwise than its value (legal), outputs come before the results' own names.
 */
void print_names_collect(struct print_names *n, const struct graph *g, const struct print_options *options)
{
    bool legal = options->legal_names, by_place = options->by_place || options->style != PRINT_IR;
    uint32_t place = 0;

    memset(n, 0, sizeof *n);
    n->legal = legal;
    n->by_index = calloc(g->value_count ? g->value_count : 1, sizeof *n->by_index);
    if (!n->by_index)
        return;
    n->count = g->value_count;
    for (uint32_t i = 0; i < g->input_count; i++)
        name_take(n, g->inputs[i], print_own_name(g->inputs[i]));
    for (uint32_t i = 0; legal && i < g->output_count; i++)
        name_take(n, g->outputs[i].value, (struct print_name){g->outputs[i].name, g->outputs[i].name_length});
    for (const struct value *v = g->first_constant; v; v = v->next_constant)
        if (print_is_used(v, options))
            name_take(n, v, print_own_name(v));
    graph_for_each (g, node)
        for (uint32_t i = 0; i < node->result_count; i++)
            name_take(n, node->results[i], print_own_name(node->results[i]));
    for (uint32_t i = 0; i < g->output_count; i++)
        name_take(n, g->outputs[i].value, (struct print_name){g->outputs[i].name, g->outputs[i].name_length});

    for (uint32_t i = 0; i < g->input_count; i++, place++)
        name_generate(n, g->inputs[i], by_place ? place : g->inputs[i]->index);
    for (const struct value *v = g->first_constant; v; v = v->next_constant)
        if (print_is_used(v, options))
            name_generate(n, v, by_place ? place++ : v->index);
    graph_for_each (g, node)
        for (uint32_t i = 0; i < node->result_count; i++, place++)
            name_generate(n, node->results[i], by_place ? place : node->results[i]->index);
    if (legal)
        name_outputs(n, g);
}

void print_names_free(struct print_names *n)
{
    free(n->by_index);
    name_map_free(&n->taken);
    arena_free(&n->arena);
}
