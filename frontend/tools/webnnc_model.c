/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads a model file and makes the compiler's graph of it: c->model first, with builder calls made, then c->graph, after
 * build's checks.
 */
#include <stdlib.h>

#include "frontend/tools/arguments.h"
#include "frontend/tools/webnnc.h"
#include "ir/graph/dims.h"
#include "ir/interpret/at_sizes.h"
#include "runtime/compile/plans.h"

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
        return complain_last("");
    c->graph = model_take_graph(&c->model, &e);
    if (!c->graph)
        return complain("%s", e.message);
    if (c->options->verbose)
        fprintf(stderr, "webnnc: %u inputs, %u outputs, %u operators\n", c->graph->input_count, c->graph->output_count,
                c->graph->node_count);
    return true;
}

/* ---- several sizes ---- */

/* Adds what there is at the sizes of a combination: the sizes, then of each input and output elements and dimensions. */
static bool add_ports(struct compilation *c, const struct graph *g, const struct model_dim *sizes, uint32_t id)
{
    const uint32_t inputs = g->input_count - g->origin.data_count;
    struct object_row row = {0};

    for (size_t i = 0; i < c->options->sizes.count; i++)
        object_row_put(&row, sizes[i].size, 0);
    for (uint32_t i = 0; i < inputs + g->output_count; i++) {
        const struct tensor_type *t = i < inputs ? &g->inputs[i]->type : &g->outputs[i - inputs].value->type;

        object_row_put(&row, type_elements(t), (int64_t)(inputs * 256u + t->rank * 16u) + t->type);
        for (uint32_t d = 0; d < t->rank; d++)
            object_row_put(&row, t->dims[d], 0);
    }
    return object_table_add_row(&c->parts.ports, id, 0, 0, &row) || complain("out of memory");
}

/* Adds up what stands for a name: numbers, and sizes that the list before it has or that are fixed. */
static bool add_up(const struct compilation *c, const struct argument_pair *sum, const struct model_dim *dims, uint32_t count,
                   uint32_t *size)
{
    const struct model_options *m = &c->options->model;
    uint64_t total = 0, n;

    for (const char *at = sum->value; at; at = strchr(at, '+') ? strchr(at, '+') + 1 : NULL) {
        const size_t length = strcspn(at, "+");
        char text[256];
        bool known;

        snprintf(text, sizeof text, "%.*s", (int)length, at);
        known = argument_number(text, 0, INT32_MAX, &n);
        for (uint32_t i = 0; i < count + m->dim_count && !known; i++) {
            const struct model_dim *d = i < count ? &dims[i] : &m->dims[i - count];

            known = !strcmp(d->name, text);
            n = d->size;
        }
        if (!known)
            return complain("--dim %s=%s: no size is given for '%s' before it", NAME_SHOWN(sum->name), NAME_SHOWN(sum->value),
                            NAME_SHOWN(text));
        total += n;
    }
    *size = (uint32_t)total;
    return total <= INT32_MAX || complain("--dim %s=%s is too large", NAME_SHOWN(sum->name), NAME_SHOWN(sum->value));
}

/* Finds the dimensions of a combination of sizes. */
static bool dims_at(const struct compilation *c, uint32_t id, struct model_dim dims[OBJECT_SIZES_MAX])
{
    const struct argument_pairs *lists = &c->options->sizes;

    for (uint32_t i = 0, k = 0; i < lists->count; i++) {
        dims[i].name = lists->items[i].name;
        if (!strchr(lists->items[i].value, '+'))
            dims[i].size = object_size_at(c->sizes, c->size_count, k++, id);
        else if (!add_up(c, &lists->items[i], dims, i, &dims[i].size))
            return false;
    }
    return true;
}

/* Reads the model with dimensions of these sizes, or with names in their place that go as far as the second list says. */
static bool read_sized(struct compilation *c, const struct model_dim *sizes, const struct model_dim *most, struct error *e)
{
    const uint32_t count = (uint32_t)c->options->sizes.count;
    struct model_options options = c->options->model;
    struct model_dim *dims = arena_array(&c->arena, options.dim_count + count, sizeof *dims);
    WNNDimension names[OBJECT_SIZES_MAX];

    if (!dims)
        return error_out_of_memory(e);
    if (options.dim_count)
        memcpy(dims, options.dims, options.dim_count * sizeof *dims);
    options.dims = dims;
    options.names = names;
    options.name_count = most ? count : 0;
    for (uint32_t i = 0; i < count; i++)
        if (most)
            names[i] = (WNNDimension){{sizes[i].name, strlen(sizes[i].name)}, sizes[i].size, most[i].size};
        else
            dims[options.dim_count++] = sizes[i];
    if (!model_read(c->context, c->options->input, &options, &c->model, e))
        return false;
    if (most)
        print_notes(c->model.notes);
    return true;
}

/* Compiles a graph, if there is one, which is for a combination of sizes. */
static bool compile_at(struct compilation *c, struct graph *g, const struct model_dim *sizes, uint32_t id, struct error *e)
{
    return g && compile_program(c, g, e) && add_ports(c, g, sizes, id);
}

/* Compiles the graph with names for certain sizes of them: a plan's, or if there is none, or its kernels cannot be made, one of
 * which plans learn. */
static bool compile_named(struct compilation *c, struct plans *plans, const struct model_dim *sizes, uint32_t id,
                          struct error *e)
{
    uint32_t *names = arena_array(&c->arena, dims_name_count(c->graph) + 1u, sizeof *names);
    size_t length;

    for (uint32_t i = 0; names && i < dims_name_count(c->graph); i++) {
        const char *name = dims_name_at(c->graph, i, &length);

        for (size_t k = 0; k < c->options->sizes.count; k++)
            if (text_is(sizes[k].name, name, length))
                names[i] = sizes[k].size;
    }
    struct graph *g = names ? plans_take(plans, names) : NULL;
    bool ok = compile_at(c, g, sizes, id, &(struct error){0});

    if (g)
        plans_give_back(plans);
    if (ok)
        return true;
    g = names ? graph_at_sizes(c->graph, names, NULL, e) : NULL;
    ok = compile_at(c, g, sizes, id, e);
    if (ok)
        plans_learn(plans, g);
    else if (g)
        graph_free(g);
    return ok;
}

/* Reads the model for certain sizes, and compiles it.  The graph stays, as it says what is the same at all sizes. */
static bool compile_read(struct compilation *c, const struct model_dim *sizes, uint32_t id, struct error *e)
{
    if (c->graph)
        graph_free(c->graph);
    c->graph = NULL;
    model_free(&c->model);
    return read_sized(c, sizes, NULL, e) && take_graph(c) && compile_at(c, c->graph, sizes, id, e);
}

/* Compiles the model for a combination of sizes. */
static bool compile_variant(struct compilation *c, struct plans *plans, uint32_t id)
{
    struct model_dim dims[OBJECT_SIZES_MAX];
    struct error e = {0};
    char text[512] = "";

    if (!dims_at(c, id, dims))
        return false;
    if (plans ? compile_named(c, plans, dims, id, &e) : compile_read(c, dims, id, &e))
        return standalone_add(c, id);
    for (size_t i = 0; i < c->options->sizes.count && strlen(text) < sizeof text - 80; i++)
        snprintf(text + strlen(text), 80, "%s%.50s=%u", i ? ", " : "", dims[i].name, dims[i].size);
    return e.status && complain("%s: %s", text, e.message);
}

/* ---- lists of sizes ---- */

/* Finds the sizes of a name, which are listed. */
static bool take_list(struct compilation *c, const struct argument_pair *given)
{
    const char *list = strcmp(given->value, "?") ? given->value : "1..512";
    uint32_t *values = arena_array(&c->arena, OBJECT_VARIANTS_MAX, sizeof *values);
    const size_t count = values ? argument_numbers(list, OBJECT_VARIANTS_MAX, values) : 0;

    if (!values)
        return complain("out of memory");
    if (!count)
        return complain(
            "--dim %s=%s: it takes a number, or up to %d, separated by commas, or a range (1..8), ? for any, or a sum "
            "of numbers and names",
            NAME_SHOWN(given->name), NAME_SHOWN(list), OBJECT_VARIANTS_MAX);
    for (size_t i = 0; i < count; i++)
        if (values[i] <= (i ? values[i - 1] : 0))
            return complain("--dim %s=%s: sizes that functions take ascend, from 1", NAME_SHOWN(given->name), NAME_SHOWN(list));
    c->sizes[c->size_count++] = (struct object_size){given->name, (uint32_t)count, values};
    return true;
}

/* Returns how many combinations of sizes there are, or 0 after saying what is wrong. */
static uint32_t take_lists(struct compilation *c)
{
    const struct argument_pairs *lists = &c->options->sizes;
    uint32_t count = 1;

    if (lists->count > OBJECT_SIZES_MAX)
        return (uint32_t)complain("--dim: functions take %d sizes at most", OBJECT_SIZES_MAX);
    for (size_t i = 0; i < lists->count; i++) {
        for (size_t k = 0; k < i; k++)
            if (!strcmp(lists->items[k].name, lists->items[i].name))
                return (uint32_t)complain("--dim is given twice for '%s'", NAME_SHOWN(lists->items[i].name));
        if (strchr(lists->items[i].value, '+'))
            continue;
        if (!take_list(c, &lists->items[i]))
            return 0;
        count *= c->sizes[c->size_count - 1].count;
        if (count > OBJECT_VARIANTS_MAX)
            return (uint32_t)complain("--dim: %u combinations of sizes up to '%s', of at most %d that an object is made for",
                                      count, NAME_SHOWN(lists->items[i].name), OBJECT_VARIANTS_MAX);
    }
    return c->size_count ? count : (uint32_t)complain("--dim: a sum is of other sizes that functions take (--dim NAME=1..8)");
}

bool compile_sizes(struct compilation *c)
{
    const uint32_t count = take_lists(c);
    struct model_dim least[OBJECT_SIZES_MAX], most[OBJECT_SIZES_MAX];
    struct plans *plans = NULL;
    struct error e = {0};
    bool ok = true;

    if (!count || !dims_at(c, 0, least) || !dims_at(c, count - 1, most))
        return false;
    if (!read_sized(c, least, most, &e))
        complain("note: the file is read for each of the sizes: %s", e.message);
    else if (!take_graph(c) || !(plans = plans_create(c->graph)))
        return false;
    for (uint32_t id = count; ok && id-- > 0;) { /* large ones first: their constants may begin like those of others */
        progress_show(c->options, "sizes", count - 1 - id, count);
        ok = compile_variant(c, plans, id);
    }
    progress_show(c->options, NULL, 0, 0);
    plans_free(plans);
    return ok && (c->parts.ports.class_count == 1 ||
                  complain("--dim: the model has other inputs or outputs at other sizes, such as empty ones that are left out; "
                           "compile an object for each"));
}
