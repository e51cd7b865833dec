/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Computes a model at one combination of sizes after the other (--sizes), by one graph whose dimensions have the file's names.
 * Sizes of 0 are numbers in it, so that it is read again where others are 0; a file that needs numbers is read for each
 * combination.  A compiled graph (--save) has its names.
 */
#include <stdlib.h>

#include "frontend/tools/webnn_run.h"

enum { NAMES_MAX = 16, COLUMNS_MAX = 1000 };

/** Holds the model as it was read last, and what it is computed for. */
struct at_sizes {
    const struct run_options *o;
    struct sources *sources;
    WNNContext context;
    struct model_source *source;            /* NULL: the graph is compiled */
    uint32_t lists[NAMES_MAX][COLUMNS_MAX]; /* of each name, its size at each turn */
    struct model_dim sizes[NAMES_MAX];      /* of this turn */
    WNNGraph graph;                         /* with names; NULL: none was read, or the file needs numbers */
    bool zeros[NAMES_MAX], is_read;         /* the sizes that are 0 in it */
    bool noted;                             /* notes of the file were printed */
};

/** Reads the model, with these sizes as numbers, or only those that are 0, and builds it. */
static WNNGraph read_at(struct at_sizes *s, bool named, struct error *e)
{
    const size_t given = s->o->model_options.dim_count, count = s->o->sizes.count;
    struct model_dim *dims = calloc(given + count + 1, sizeof *dims);
    struct model_options options = s->o->model_options;
    struct model model = {0};
    WNNGraph graph = NULL;

    if (!dims) {
        error_out_of_memory(e);
        return NULL;
    }
    if (given)
        memcpy(dims, options.dims, given * sizeof *dims);
    options.dims = dims;
    options.named = named;
    for (size_t i = 0; i < count; i++)
        if (!named || !s->sizes[i].size)
            dims[options.dim_count++] = s->sizes[i];
    if (model_source_read(s->source, s->context, &options, &model, e)) {
        if (named || !s->noted)
            print_notes(model.notes);
        s->noted = true;
        e->status = model_build(&model, &graph, e);
        model_free(&model);
    }
    free(dims);
    return graph;
}

/** Reads the graph with names, unless it is there for sizes of which the same are 0. */
static bool read_named(struct at_sizes *s)
{
    bool same = s->is_read;
    struct error e = {0};

    for (size_t i = 0; i < s->o->sizes.count; i++) {
        same = same && s->zeros[i] == !s->sizes[i].size;
        s->zeros[i] = !s->sizes[i].size;
    }
    if (same)
        return true;
    if (s->is_read && s->o->save)
        return complain("--save: sizes of 0 need a graph of their own; save it in a separate run");
    wnnGraphRelease(s->graph);
    s->graph = read_at(s, true, &e);
    s->is_read = true;
    if (!s->graph)
        fprintf(stderr, "webnn-run: note: the file is read for each of the sizes: %s\n", e.message);
    return true;
}

/** Makes the graph of this turn. */
static WNNGraph plan(struct at_sizes *s)
{
    const struct model_options *m = &s->o->model_options;
    WNNNamedSize sizes[NAMES_MAX];
    size_t count = 0;
    WNNGraph graph = NULL;
    struct error e = {0};

    if (s->source && !read_named(s))
        return NULL;
    for (size_t i = 0; i < s->o->sizes.count; i++)
        if (s->sizes[i].size || !s->source)
            sizes[count++] = (WNNNamedSize){WNN_STR(s->sizes[i].name), s->sizes[i].size};
    for (size_t i = 0; i < m->dim_count && !s->source && count < NAMES_MAX; i++) /* a model is read with them */
        sizes[count++] = (WNNNamedSize){WNN_STR(m->dims[i].name), m->dims[i].size};
    if (s->graph && !wnnGraphGetVariant(s->graph, count, sizes, &graph))
        return graph;
    if (!s->source) {
        complain_last("");
        return NULL;
    }
    graph = read_at(s, false, &e); /* which reports the error, or does without the names */
    if (!graph)
        complain("%s", e.message);
    return graph;
}

/** Computes a graph on the inputs that are given, or noise or zeros.  *ms is the median of all times. */
static bool compute(struct at_sizes *s, WNNGraph graph, double *ms)
{
    const size_t input_count = wnnGraphGetInputCount(graph), output_count = wnnGraphGetOutputCount(graph);
    struct npy_array *arrays = calloc(input_count + output_count, sizeof *arrays);
    WNNNamedBuffer *buffers = calloc(input_count + output_count, sizeof *buffers);
    double *times = calloc((size_t)s->o->repeat, sizeof *times);
    bool ok = (arrays && buffers && times) || complain("out of memory");
    WNNNamedOperandDescriptor d;
    struct error e = {0};
    char note[512];

    for (size_t i = 0; ok && i < input_count + output_count; i++) {
        const bool input = i < input_count;
        struct model_port port = {0};

        ok = !(input ? wnnGraphGetInput(graph, i, &d) : wnnGraphGetOutput(graph, i - input_count, &d)) || complain_last("");
        port.name = ok ? strndup(d.name.data, d.name.length) : NULL;
        port.descriptor = d.descriptor;
        if (ok)
            ok = !port.name ? complain("out of memory")
                 : input    ? sources_take(s->o, s->sources, &port, &arrays[i], note, sizeof note)
                            : npy_create(&d.descriptor, &arrays[i], &e) || complain("%s", e.message);
        free(port.name);
        buffers[i] = (WNNNamedBuffer){d.name, arrays[i].data, arrays[i].byteLength};
    }
    for (uint64_t k = 0; ok && k < s->o->repeat; k++) {
        const double start = milliseconds_now();

        ok = !wnnGraphCompute(graph, input_count, buffers, output_count, buffers + input_count) || complain_last("");
        times[k] = milliseconds_now() - start;
    }
    if (ok)
        *ms = median_time(times, (size_t)s->o->repeat);
    for (size_t i = 0; arrays && i < input_count + output_count; i++)
        npy_free(&arrays[i]);
    free(arrays);
    free(buffers);
    free(times);
    return ok;
}

/** Does one turn and prints its line. */
static bool turn(struct at_sizes *s)
{
    const double start = milliseconds_now();
    WNNGraph graph = plan(s);
    const double planned = milliseconds_now() - start;
    if (s->source)
        model_source_rest(s->source);
    double computed = 0;
    const bool ok = graph && compute(s, graph, &computed);

    for (size_t i = 0; ok && i < s->o->sizes.count; i++)
        printf("%s%s=%u", i ? " " : "", NAME_SHOWN(s->sizes[i].name), s->sizes[i].size);
    if (ok)
        printf(": planned in %.2f ms, computed in %.2f ms\n", planned, computed);
    wnnGraphRelease(graph);
    return ok;
}

/** Reads the lists of --sizes, of which one number alone is that of all turns.  Returns how many turns there are, or 0 after
 * saying what is wrong. */
static size_t read_lists(struct at_sizes *s)
{
    const struct argument_pairs *lists = &s->o->sizes;
    size_t columns = 1, counts[NAMES_MAX];

    if (lists->count > NAMES_MAX)
        return (size_t)complain("--sizes is given for more than %d names", NAMES_MAX);
    for (size_t i = 0; i < lists->count; i++) {
        const char *name = s->sizes[i].name = lists->items[i].name;

        counts[i] = argument_numbers(lists->items[i].value, COLUMNS_MAX, s->lists[i]);
        if (!counts[i])
            return (size_t)complain("--sizes %s=%s: it takes up to %d numbers, separated by commas, or ranges (1..8)",
                                    NAME_SHOWN(name), NAME_SHOWN(lists->items[i].value), COLUMNS_MAX);
        for (size_t k = 0; k < i; k++)
            if (!strcmp(s->sizes[k].name, name))
                return (size_t)complain("--sizes is given twice for '%s'", NAME_SHOWN(name));
        if (counts[i] != columns && counts[i] != 1 && columns != 1)
            return (size_t)complain("--sizes has %zu sizes for '%s', and %zu for another", counts[i], NAME_SHOWN(name),
                                    columns);
        columns = counts[i] > columns ? counts[i] : columns;
    }
    for (size_t i = 0; i < lists->count; i++)
        for (size_t k = counts[i]; k < columns; k++)
            s->lists[i][k] = s->lists[i][0];
    return columns;
}

bool sizes_run(const struct run_options *o, struct sources *sources, WNNContext context)
{
    struct at_sizes s = {.o = o, .sources = sources, .context = context};
    struct error e = {0};
    const size_t columns = read_lists(&s);
    bool ok = columns;

    if (ok && model_is_compiled(o->model)) {
        ok = compiled_takes(o, "--shape, ", o->model_options.shape_count) &&
             (!wnnContextLoadGraph(context, o->model, &s.graph) || complain_last(""));
    } else if (ok) {
        s.source = model_source_open(o->model, &e);
        ok = s.source || complain("%s", e.message);
    }
    ok = ok && sources_check(o, sources, s.source, s.graph);
    for (size_t column = 0; ok && column < columns; column++) {
        for (size_t i = 0; i < o->sizes.count; i++)
            s.sizes[i].size = s.lists[i][column];
        ok = turn(&s);
    }
    if (ok && o->save)
        ok = s.graph ? !wnnGraphSave(s.graph, o->save) || complain_last("")
                     : complain("--save: the file needs numbers (see the note above): save a graph of certain sizes (--dim)");
    wnnGraphRelease(s.graph);
    model_source_close(s.source);
    return ok;
}
