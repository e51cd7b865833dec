/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads a model file and makes the compiler's graph of it: c->model first, with builder calls made, then c->graph, after
 * build's checks.
 */
#include <stdlib.h>
#include <string.h>

#include "frontend/tools/arguments.h"
#include "frontend/tools/webnnc.h"

bool read_model(struct compilation *c, const struct model_options *options)
{
    struct error e = {0};
    double start = milliseconds_now();

    progress_show(c->options, "reading the model", 0, 0);
    bool ok = model_read(c->context, c->options->input, options, &c->model, &e);
    progress_show(c->options, NULL, 0, 0);
    if (!ok)
        complain("%s", e.message);
    else
        print_notes(c->model.notes);
    if (ok && c->options->verbose)
        fprintf(stderr, "webnnc: read in %.1f ms\n", milliseconds_now() - start);
    return ok;
}

bool take_graph(struct compilation *c)
{
    struct error e = {0};

    if (wnnGraphBuilderQuantizeWeights(c->model.builder, c->options->quantize))
        return complain("%.*s", (int)wnnGetLastErrorMessage().length, wnnGetLastErrorMessage().data);
    c->graph = model_take_graph(&c->model, &e);
    if (!c->graph)
        return complain("%s", e.message);
    if (c->options->verbose)
        fprintf(stderr, "webnnc: %u inputs, %u outputs, %u operators\n", c->graph->input_count, c->graph->output_count,
                c->graph->node_count);
    return true;
}

/* ---- several sizes ---- */

/* Checks that the ports of a graph are those of the first sizes but for dimensions.  Returns false after saying what differs.
 */
static bool same_ports(const struct graph *first, const struct graph *g)
{
    bool same = g->input_count == first->input_count && g->output_count == first->output_count;

    for (uint32_t i = 0; same && i < g->input_count; i++)
        same = g->inputs[i]->type.type == first->inputs[i]->type.type &&
               g->inputs[i]->type.rank == first->inputs[i]->type.rank &&
               text_is(g->inputs[i]->name, first->inputs[i]->name, first->inputs[i]->name_length);
    for (uint32_t i = 0; same && i < g->output_count; i++)
        same = g->outputs[i].value->type.type == first->outputs[i].value->type.type &&
               g->outputs[i].value->type.rank == first->outputs[i].value->type.rank;
    return same || complain("--sizes: the model has other inputs or outputs at other sizes, such as empty ones that are left "
                            "out; compile an object for each (--dim)");
}

/* Reads and compiles the model for the sizes of a column. */
static bool compile_column(struct compilation *c, size_t column)
{
    const struct options *o = c->options;
    struct sized *v = &c->variants[column];
    struct model_options options = o->model;
    struct model_dim *dims = arena_array(&c->arena, options.dim_count + o->sizes.count, sizeof *dims);

    if (!dims)
        return complain("out of memory");
    if (options.dim_count)
        memcpy(dims, options.dims, options.dim_count * sizeof *dims);
    options.dims = dims;
    for (size_t i = 0; i < o->sizes.count; i++) {
        v->sizes[i] = arguments_number(&o->sizes.items[i], column);
        dims[options.dim_count++] = (struct model_dim){o->sizes.items[i].name, v->sizes[i]};
    }
    for (size_t k = 0; k < column; k++)
        if (!memcmp(c->variants[k].sizes, v->sizes, sizeof v->sizes))
            return complain("--sizes: the same sizes are given twice");
    c->graph = NULL; /* the first one's */
    bool ok = read_model(c, &options) && take_graph(c) && (!column || same_ports(c->variants[0].graph, c->graph)) &&
              compile_program(c);
    v->model = c->model;
    v->graph = c->graph;
    v->program = c->program;
    c->model = (struct model){0};
    c->program = (struct program){0};
    c->variant_count++;
    c->graph = c->variants[0].graph;
    return ok;
}

bool compile_sizes(struct compilation *c)
{
    const struct argument_pairs *lists = &c->options->sizes;
    const size_t columns = arguments_columns(lists, OBJECT_SIZES_MAX, OBJECT_VARIANTS_MAX);

    if (!columns)
        return false;
    c->variants = calloc(columns, sizeof *c->variants);
    c->size_names = calloc(lists->count, sizeof *c->size_names);
    if (!c->variants || !c->size_names)
        return complain("out of memory");
    for (size_t i = 0; i < lists->count; i++)
        c->size_names[c->size_count++] = lists->items[i].name;
    for (size_t column = 0; column < columns; column++)
        if (!compile_column(c, column))
            return false;
    return true;
}

void sizes_free(struct compilation *c)
{
    for (uint32_t i = 0; i < c->variant_count; i++) {
        program_free(&c->variants[i].program);
        graph_free(c->variants[i].graph);
        model_free(&c->variants[i].model);
    }
    free(c->variants);
    free(c->size_names);
}
