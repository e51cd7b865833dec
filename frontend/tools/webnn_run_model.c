/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads webnn-run's model with the shapes that the given inputs have, or loads it as it was compiled.
 */
#include <stdlib.h>

#include "frontend/readers/files/npz.h"
#include "frontend/tools/webnn_run.h"

static bool has_shape(const struct run_options *o, const char *name)
{
    for (size_t i = 0; i < o->model_options.shape_count; i++)
        if (!strcmp(o->model_options.shapes[i].name, name))
            return true;
    return false;
}

/** Collects the shapes of options and arrays, and of pictures if asked for.  Returns how many; out has room for all. */
static size_t collect_shapes(const struct run_options *o, const struct sources *s, bool pictures, struct model_shape *out)
{
    size_t n = o->model_options.shape_count;

    if (n)
        memcpy(out, o->model_options.shapes, n * sizeof *out);
    for (size_t i = 0; i < s->count; i++) {
        const struct source *source = &s->items[i];
        uint32_t width, height, channels = o->form.grey ? 1 : 3;
        struct model_shape shape = {.name = source->name, .rank = 4, .file = source->path};

        if (!source->name || has_shape(o, source->name))
            continue;
        if (source->kind == SOURCE_ARRAY) {
            shape.rank = source->array.rank;
            memcpy(shape.dims, source->array.shape, sizeof source->array.shape);
        } else if (source->kind == SOURCE_PICTURE && pictures && picture_size(o, source, &width, &height)) {
            const uint32_t nchw[4] = {1, channels, height, width}, nhwc[4] = {1, height, width, channels};

            memcpy(shape.dims, o->form.nhwc ? nhwc : nchw, sizeof nchw);
        } else {
            continue;
        }
        out[n++] = shape;
    }
    return n;
}

/** A source without a name is for the only input that there is. */
static bool name_source(struct sources *s, const struct model *model)
{
    for (size_t i = 0; i < s->count; i++) {
        if (s->items[i].name)
            continue;
        if (model->input_count != 1)
            return complain("%s is for which of the model's %zu inputs?  Say --input NAME=%s", PATH_SHOWN(s->items[i].path),
                            model->input_count, PATH_SHOWN(s->items[i].path));
        for (size_t k = 0; k < s->count; k++)
            if (s->items[k].name)
                return complain("the model has one input, %zu are given", s->count);
        s->items[i].name = strdup(model->inputs[0].name);
        if (!s->items[i].name)
            return complain("out of memory");
    }
    return true;
}

/**
 * Makes one more constant, of the array that is given for an input whose value the model has to know.  Returns false if none
 * is, or with --each, where values change, or with an error in place of *e if it cannot be read.
 */
static bool add_needed(const struct run_options *o, struct sources *s, const char *name, struct model_constant *added,
                       struct error *e)
{
    for (size_t i = 0; i < s->count && !is_each(o); i++) {
        struct source *source = &s->items[i];

        if (source->kind != SOURCE_ARRAY || (source->name ? strcmp(source->name, name) != 0 : s->count > 1))
            continue;
        if (!source->name && !(source->name = strdup(name)))
            return error_out_of_memory(e);
        if (source->member && !npz_read_array(source->path, source->member, &source->array, e))
            return false;
        free(source->member);
        source->member = NULL;
        source->is_constant = true;
        *added = (struct model_constant){.name = source->name, .array = &source->array};
        return true;
    }
    return false;
}

/** Reads the model.  Inputs whose values it has to know become constants, which there is room for, one after the other. */
static bool read_model(const struct run_options *o, struct sources *s, const struct model_source *source, WNNContext context,
                       struct model_options *m, struct model_constant *constants, struct model *model, struct error *e)
{
    char *needed = NULL;

    m->needed = &needed;
    while (!model_source_read(source, context, m, model, e)) {
        const bool added = needed && m->constant_count < o->model_options.constant_count + s->count &&
                           add_needed(o, s, needed, &constants[m->constant_count], e);

        free(needed);
        needed = NULL;
        if (!added)
            return false;
        m->constant_count++;
        *e = (struct error){0};
    }
    free(needed);
    for (size_t i = o->model_options.constant_count; i < m->constant_count; i++)
        model_note(model, "the graph is for this value of input '%s' only, which it has to know",
                   NAME_SHOWN(constants[i].name));
    return true;
}

bool sources_read_model(const struct run_options *o, struct sources *s, WNNContext context, struct model *model)
{
    struct model_shape *shapes = calloc(o->model_options.shape_count + s->count + 1, sizeof *shapes);
    struct model_constant *constants = calloc(o->model_options.constant_count + s->count + 1, sizeof *constants);
    struct error e = {0};
    bool ok = shapes && constants, has_pictures = false;
    const bool is_array = s->count == 1 && !s->items->name && s->items->kind == SOURCE_ARRAY;
    struct model_options m = o->model_options;
    struct model_description declared = {0};
    struct model_source *source = NULL;

    if (!ok)
        complain("out of memory");
    else if (m.constant_count)
        memcpy(constants, m.constants, m.constant_count * sizeof *constants);
    m.shapes = shapes;
    m.constants = constants;
    for (size_t i = 0; i < s->count; i++)
        has_pictures |= s->items[i].kind == SOURCE_PICTURE;
    if (ok) {
        /* Most models fix the size of pictures, or take it in a form that only they know; the others get four dimensions.  A
         * picture is a batch of one. */
        progress_begin(o, "reading the model");
        source = model_source_open(o->model, &e);
        ok = source && (!(has_pictures || is_array) || model_source_describe(source, &declared, &e));
        if (ok && is_array && declared.input_count == 1 && declared.free_count) /* else the shape says nothing new */
            s->items->name = strdup(declared.inputs->name.data);
        m.shape_count = collect_shapes(o, s, false, shapes);
        ok = ok && read_model(o, s, source, context, &m, constants, model, &e);
        if (!ok && has_pictures) {
            struct error first = e;

            m.shape_count = collect_shapes(o, s, true, shapes);
            e = (struct error){0};
            ok = source && model_single_batch(&declared, &o->model_options, &m.dim_count, &m.dims) &&
                 read_model(o, s, source, context, &m, constants, model, &e);
            if (!ok && !e.status)
                e = first;
        }
        progress_end();
        if (!ok)
            complain("%s", e.message);
        ok = ok && name_source(s, model);
    }
    model_source_close(source);
    model_description_free(&declared);
    free(shapes);
    free(constants);
    return ok;
}

/* ---- compiled graphs ---- */

/** Makes ports of the graph's inputs or outputs. */
static bool add_ports(WNNGraph graph, bool input, struct model_port **ports, size_t *count)
{
    size_t total = input ? wnnGraphGetInputCount(graph) : wnnGraphGetOutputCount(graph);
    WNNNamedOperandDescriptor d;

    *ports = calloc(total + 1, sizeof **ports);
    for (; *ports && *count < total; ++*count) {
        struct model_port *port = &(*ports)[*count];

        if (input ? wnnGraphGetInput(graph, *count, &d) : wnnGraphGetOutput(graph, *count, &d))
            return complain_last("");
        port->name = strndup(d.name.data ? d.name.data : "", d.name.length);
        port->descriptor = d.descriptor; /* its shape is the graph's */
        if (!port->name)
            return complain("out of memory");
    }
    return *ports || complain("out of memory");
}

bool graph_model(WNNGraph graph, struct sources *s, struct model *model)
{
    model_free(model);
    model->name = strdup("");
    return (model->name || complain("out of memory")) && add_ports(graph, true, &model->inputs, &model->input_count) &&
           add_ports(graph, false, &model->outputs, &model->output_count) && name_source(s, model);
}

bool sources_check(const struct run_options *o, struct sources *s, const struct model_source *source, WNNGraph graph)
{
    struct model_description d = {0};
    struct model model = {0};
    struct error e = {0};
    bool ok = source ? model_source_describe(source, &d, &e) || complain("%s", e.message) : graph_model(graph, s, &model);

    if (ok && source && !(model.inputs = calloc(d.input_count + 1, sizeof *model.inputs)))
        ok = complain("out of memory");
    for (size_t i = 0; ok && i < d.input_count; i++) {
        const char *name = d.inputs[i].name.data;

        if (!d.defaults || !d.defaults[i] || has_shape(o, name))
            ok = (model.inputs[model.input_count++].name = strdup(name)) || complain("out of memory");
    }
    ok = ok && name_source(s, &model) && sources_all_used(s, &model);
    model_free(&model);
    model_description_free(&d);
    return ok;
}

/** Appends the sizes of an input's dimensions that have names, which expressions of names are not: they have no largest size.
 * Returns whether the shape is one of the input's. */
static bool add_sizes(const struct model *model, const struct model_shape *shape, WNNNamedSize *sizes, size_t *count)
{
    const WNNOperandDescriptor *d = NULL;

    for (size_t i = 0; i < model->input_count; i++)
        if (!strcmp(model->inputs[i].name, shape->name))
            d = &model->inputs[i].descriptor;
    bool fits = d && d->rank == shape->rank;
    for (size_t i = 0, rank = fits ? d->rank : 0; i < rank; i++) {
        fits = fits && (!d->shape[i] || d->shape[i] == shape->dims[i]);
        if (!d->shape[i] && d->dimensions[i].maxSize)
            sizes[(*count)++] = (WNNNamedSize){d->dimensions[i].name, shape->dims[i]};
    }
    return fits;
}

/** Takes the variant of a graph with named dimensions for the sizes that options and sources give. */
static WNNGraph graph_at(const struct run_options *o, const struct sources *s, const struct model *model, WNNGraph graph)
{
    const struct model_options *m = &o->model_options;
    struct model_shape *shapes = calloc(m->shape_count + s->count + 1, sizeof *shapes);
    const size_t shape_count = shapes ? collect_shapes(o, s, true, shapes) : 0;
    WNNNamedSize *sizes = calloc(m->dim_count + (shape_count + s->count) * NPY_RANK_MAX + 1, sizeof *sizes);
    bool ok = (shapes && sizes) || complain("out of memory");
    WNNGraph variant = NULL;
    size_t count = 0;

    for (size_t i = 0; ok && i < m->dim_count; i++)
        sizes[count++] = (WNNNamedSize){WNN_STR(m->dims[i].name), m->dims[i].size};
    for (size_t i = 0; ok && i < shape_count; i++) /* arrays and pictures that do not fit are refused later */
        ok = add_sizes(model, &shapes[i], sizes, &count) || i >= m->shape_count ||
             complain("--shape %s: the graph has no input of that name with such a shape", NAME_SHOWN(shapes[i].name));
    for (size_t i = 0; ok && i < s->count * model->input_count; i++) { /* a picture is a batch of one, whatever its size */
        const struct source *source = &s->items[i / model->input_count];
        const struct model_port *port = &model->inputs[i % model->input_count];

        if (source->kind == SOURCE_PICTURE && !strcmp(port->name, source->name) && port->descriptor.rank &&
            !port->descriptor.shape[0])
            sizes[count++] = (WNNNamedSize){port->descriptor.dimensions[0].name, 1};
    }
    if (ok && wnnGraphGetVariant(graph, count, sizes, &variant))
        complain("%s (sizes are those of --dim, --shape and --input)", wnnGetLastErrorMessage().data);
    free(shapes);
    free(sizes);
    wnnGraphRelease(graph);
    return variant;
}

bool compiled_takes(const struct run_options *o, const char *sizes, bool late)
{
    const struct model_options *m = &o->model_options;

    return (!late && !m->constant_count && !m->output_count && !m->weights && o->precision == WNNPrecision_Float32 &&
            !o->quantize && !o->deterministic && !m->budget.operations && !m->budget.bytes) ||
           complain("%s is compiled: %s--constant, --outputs, --weights, --precision, --quantize-weights, "
                    "--deterministic and --budget come too late, give them to the run that saves it",
                    PATH_SHOWN(o->model), sizes);
}

bool load_compiled(const struct run_options *o, struct sources *s, WNNContext context, struct model *model, WNNGraph *graph)
{
    const struct model_options *m = &o->model_options;
    bool named = false;

    if (wnnContextLoadGraph(context, o->model, graph))
        return complain_last("");
    if (!graph_model(*graph, s, model))
        return false;
    for (size_t i = 0; i < model->input_count; i++)
        named = named || model->inputs[i].descriptor.dimensions;
    if (!compiled_takes(o, named ? "" : "--dim, --shape, ", !named && (m->dim_count || m->shape_count)))
        return false;
    return !named || (sources_all_used(s, model) && (*graph = graph_at(o, s, model, *graph)) && graph_model(*graph, s, model));
}
