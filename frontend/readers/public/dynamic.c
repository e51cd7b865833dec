/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Implements dynamic models: an open model, and the graphs that were built of it, by their sizes
 * (frontend/readers/sizes.h).
 *
 * Graphs are kept by their sizes (ir/support/kept.h), and read, built, loaded and saved without a lock.  They are variants of a
 * graph whose dimensions have the file's names, which is kept by those sizes that are numbers in it: those that the options of
 * the model give, that no name gives, or that are 0.  A file that needs more numbers is read for each combination of sizes.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "frontend/readers/files/file.h"
#include "frontend/readers/public/folder.h"
#include "frontend/readers/sizes.h"
#include "ir/support/kept.h"
#include "ir/support/struct_size.h"
#include "ir/support/suggest.h"

enum { GRAPH_LIMIT = 16 };

/** Stands for the graph with named dimensions where the file needs numbers. */
static char needs_numbers;

struct WNNDynamicModelImpl {
    atomic_size_t references;
    WNNContext context;
    struct model_source *source;
    WNNModelInfo info;
    struct request request; /* the options of all graphs */
    size_t sizes_length;
    uint32_t *fixed; /* sizes that the options of the model give */
    char *folder;    /* NULL: graphs are not saved */
    uint64_t folder_limit;
    WNNBuildProgressCallbackInfo progress;
    struct digest digest;

    struct kept graphs; /* by their sizes */
    struct kept shared; /* by the sizes that are numbers */
    atomic_uint_fast64_t built, loaded, saved, unsaved, reads;
    _Atomic(char *) reason, notes; /* why the file needs numbers; of the first reading that has some */
};

static void retain(void *graph)
{
    if (graph != &needs_numbers)
        wnnGraphAddRef(graph);
}

static void release(void *graph)
{
    if (graph != &needs_numbers)
        wnnGraphRelease(graph);
}

/* ---- creation ---- */

static WNNStatus read_options(WNNDynamicModelOptions *out, const WNNDynamicModelOptions *given)
{
    static const WNNDynamicModelOptions defaults = WNN_DYNAMIC_MODEL_OPTIONS_INIT;
    static const struct known_struct known = {sizeof defaults, STRUCT_FIRST_SIZE(WNNDynamicModelOptions, folder), &defaults,
                                              "WNN_DYNAMIC_MODEL_OPTIONS_INIT"};
    char text[400];
    const char *wrong = struct_read(out, given ? given : &defaults, &known, text, sizeof text);

    if (!wrong)
        return WNNStatus_Success;
    return reader_refuse("dynamic model options: %s", wrong);
}

/** Opens the file at path, or bytes in memory if they are not NULL. */
static WNNStatus open_source(struct WNNDynamicModelImpl *m, const char *path, const void *bytes, size_t length)
{
    struct error e = {0};

    m->source = bytes ? model_source_memory(path, bytes, length, true, &e) : model_source_open(path, &e);
    m->info = m->source ? info_create(m->source, &e) : NULL;
    return reader_publish(&e);
}

/** Adds the sizes that a request says. */
static WNNStatus add_sizes(const struct model_description *d, const struct request *r, uint32_t *sizes)
{
    struct error e = {0};

    return sizes_add(d, &r->options, sizes, &e) ? WNNStatus_Success : reader_refuse("%s", e.message);
}

/** Checks that outputs which the options name are the model's. */
static WNNStatus check_outputs(const struct model_description *d, const struct model_options *o)
{
    for (size_t i = 0; i < o->output_count; i++) {
        struct suggestion meant = suggestion_for(o->outputs[i], strlen(o->outputs[i]));
        size_t k = 0;

        for (; k < d->output_count && !text_is(o->outputs[i], d->outputs[k].name.data, d->outputs[k].name.length); k++)
            suggestion_offer(&meant, d->outputs[k].name.data);
        if (k == d->output_count)
            return reader_refuse("the model has no output '%s'%s", NAME_SHOWN(o->outputs[i]), suggestion_list(&meant));
    }
    return WNNStatus_Success;
}

/** Checks the options of all graphs, and keeps them. */
static WNNStatus keep_options(struct WNNDynamicModelImpl *m, const WNNDynamicModelOptions *o)
{
    const struct model_description *d = info_description(m->info);
    WNNStatus status = WNNStatus_Success;

    if (m->request.options.builder)
        return reader_refuse("dynamic model options: every graph has a builder of its own, none can be given");
    status = check_outputs(d, &m->request.options);
    if (status)
        return status;
    m->progress = o->progress;
    m->sizes_length = sizes_count(d);
    m->graphs.key_bytes = m->sizes_length * sizeof(uint32_t); /* no other thread knows the model yet */
    m->graphs.limit = o->graphLimit ? o->graphLimit : GRAPH_LIMIT;
    m->shared.key_bytes = m->graphs.key_bytes;
    m->fixed = calloc(m->sizes_length + 1, sizeof *m->fixed);
    if (!m->fixed || !request_keep_constants(&m->request))
        status = reader_no_memory();
    else
        status = add_sizes(d, &m->request, m->fixed);
    if (status || !o->folder)
        return status;
    status = folder_prepare(o->folder);
    m->folder = status ? NULL : strdup(o->folder);
    m->folder_limit = o->folderLimit;
    if (!status && !m->folder)
        return reader_no_memory();
    digest_model(&m->digest, m->context, m->source, d, &m->request);
    return status;
}

static WNNStatus create(WNNContext context, const char *path, const void *bytes, size_t length,
                        const WNNDynamicModelOptions *options, WNNDynamicModel *model)
{
    struct WNNDynamicModelImpl *m = calloc(1, sizeof *m);
    WNNDynamicModelOptions o;

    const bool begun = m && kept_begin(&m->graphs, 0, GRAPH_LIMIT, retain, release);
    if (!begun || !kept_begin(&m->shared, 0, GRAPH_LIMIT, retain, release)) {
        if (begun)
            kept_end(&m->graphs);
        free(m);
        return reader_no_memory();
    }
    atomic_init(&m->references, 1);
    m->context = context;
    wnnContextAddRef(context);
    WNNStatus status = read_options(&o, options);
    if (!status)
        status = request_make(&m->request, o.model);
    if (!status)
        status = open_source(m, bytes && o.model && o.model->path ? o.model->path : path, bytes, length);
    if (!status)
        status = keep_options(m, &o);
    if (status)
        wnnDynamicModelRelease(m);
    else
        *model = m;
    return status;
}

WNNStatus wnnDynamicModelCreate(WNNContext context, char const *path, WNNDynamicModelOptions const *options,
                                WNNDynamicModel *model)
{
    REFUSE_NULL(model);
    *model = NULL;
    REFUSE_NULL(context);
    REFUSE_NULL(path);
    return create(context, path, NULL, 0, options, model);
}

WNNStatus wnnDynamicModelCreateFromMemory(WNNContext context, void const *data, size_t byteLength,
                                          WNNDynamicModelOptions const *options, WNNDynamicModel *model)
{
    REFUSE_NULL(model);
    *model = NULL;
    REFUSE_NULL(context);
    REFUSE_NULL(data);
    return create(context, FILE_NO_PATH, data, byteLength, options, model);
}

void wnnDynamicModelAddRef(WNNDynamicModel model)
{
    if (model)
        atomic_fetch_add_explicit(&model->references, 1, memory_order_relaxed);
}

void wnnDynamicModelRelease(WNNDynamicModel model)
{
    if (!model || atomic_fetch_sub_explicit(&model->references, 1, memory_order_acq_rel) > 1)
        return;
    kept_end(&model->graphs);
    kept_end(&model->shared);
    free(atomic_load(&model->reason));
    free(atomic_load(&model->notes));
    free(model->fixed);
    wnnModelInfoRelease(model->info);
    model_source_close(model->source);
    arena_free(&model->request.memory);
    free(model->folder);
    wnnContextRelease(model->context);
    free(model);
}

/* ---- one graph ---- */

/** Keeps a copy of a text for as long as the model, unless there is one already. */
static void keep_text(_Atomic(char *) *place, const char *text)
{
    char *none = NULL, *copy = text ? strdup(text) : NULL;

    if (!atomic_compare_exchange_strong(place, &none, copy))
        free(copy);
}

/** Reads the model with these sizes and builds it; with `named`, other sizes stay names. */
static void read_and_build(WNNDynamicModel m, const uint32_t *sizes, bool named, WNNGraph *graph, struct error *e)
{
    const struct model_description *d = info_description(m->info);
    struct model_dim *dims = calloc(d->free_count + 1, sizeof *dims);
    struct model_shape *shapes = calloc(d->input_count + 1, sizeof *shapes);
    struct model_options options = m->request.options;
    struct model model = {0};

    options.named = named;
    options.name_count = named ? options.name_count : 0;
    atomic_fetch_add(&m->reads, 1);
    if (!dims || !shapes) {
        error_out_of_memory(e);
    } else {
        sizes_options(d, sizes, dims, shapes, &options);
        if (model_source_read(m->source, m->context, &options, &model, e)) {
            WNNStatus refused = wnnGraphBuilderSetProgress(model.builder, m->progress);

            (void)refused; /* for a context that is lost, which building says with the reason */
            e->status = model_build(&model, graph, e);
            keep_text(&m->notes, model.notes);
        }
        model_free(&model);
    }
    free(dims);
    free(shapes);
}

static void *make_shared(void *user, const void *sizes)
{
    WNNDynamicModel m = user;
    WNNGraph graph = NULL;
    struct error e = {0};

    read_and_build(m, sizes, true, &graph, &e);
    if (graph)
        wnnGraphSetVariantLimit(graph, 1);                                                   /* the model keeps them */
    if (graph || e.status == WNNStatus_OperationError || e.status == WNNStatus_UnknownError) /* of this time, not of the file */
        return graph;
    keep_text(&m->reason, e.message);
    return &needs_numbers;
}

/** Returns whether a graph has a dimension of that name: an input that became a constant leaves none. */
static bool has_dimension(WNNGraph graph, WNNStringView name)
{
    WNNNamedOperandDescriptor d;

    for (size_t i = 0; !wnnGraphGetInput(graph, i, &d); i++)
        for (size_t k = 0; d.descriptor.dimensions && k < d.descriptor.rank; k++)
            if (text_is(name.data, d.descriptor.dimensions[k].name.data, d.descriptor.dimensions[k].name.length))
                return true;
    return false;
}

/** Gives the graph of these sizes as a variant.  Returns NULL after an error in *e, and without one where that cannot be. */
static WNNGraph find_variant(WNNDynamicModel m, const uint32_t *sizes, struct error *e)
{
    const struct model_description *d = info_description(m->info);
    uint32_t *key = calloc(m->sizes_length + 1, sizeof *key);
    WNNNamedSize *named = calloc(d->free_count + 1, sizeof *named);
    WNNGraph shared = NULL, graph = NULL;
    size_t count = 0;
    bool complete = key && named && model_source_has_names(m->source);

    for (size_t i = 0; complete && i < m->sizes_length; i++) {
        const bool open = i < d->free_count && sizes[i] != 1 && !m->fixed[i]; /* 1 is a size of 0 */

        complete = i >= d->free_count || sizes[i];
        if (open && complete)
            named[count++] = (WNNNamedSize){d->free[i].name, sizes[i] - 1};
        key[i] = open ? 0 : sizes[i];
    }
    if (complete && count)
        shared = kept_get(&m->shared, key, make_shared, m);
    if (!key || !named)
        error_out_of_memory(e);
    if ((void *)shared == &needs_numbers)
        shared = NULL;
    for (size_t i = 0; shared && i < count;)
        if (has_dimension(shared, named[i].name))
            i++;
        else
            named[i] = named[--count];
    if (shared)
        e->status = wnnGraphGetVariant(shared, count, named, &graph);
    if (e->status == WNNStatus_TypeError) /* the reader says why, or does without names what the graph cannot do with them */
        e->status = WNNStatus_Success;
    else if (e->status)
        snprintf(e->message, sizeof e->message, "%.*s", (int)wnnGetLastErrorMessage().length, wnnGetLastErrorMessage().data);
    if (graph)
        model_source_rest(m->source);
    wnnGraphRelease(shared);
    free(key);
    free(named);
    return graph;
}

static WNNStatus build(WNNDynamicModel m, const uint32_t *sizes, WNNGraph *graph)
{
    struct error e = {0};

    *graph = find_variant(m, sizes, &e);
    if (!*graph && !e.status)
        read_and_build(m, sizes, false, graph, &e);
    atomic_fetch_add(&m->built, !e.status);
    return reader_publish(&e);
}

/** Is what a thread asks for: the graph of a model, and how it could not be made. */
struct request_of_graph {
    WNNDynamicModel model;
    WNNStatus status;
};

/** Loads the graph of these sizes, or builds it and saves it.  A file that cannot be loaded is replaced. */
static void *make_graph(void *user, const void *sizes)
{
    struct request_of_graph *r = user;
    WNNDynamicModel m = r->model;
    struct digest digest = m->digest;
    WNNGraph graph = NULL;

    digest_add(&digest, sizes, m->graphs.key_bytes);
    char *path = m->folder ? folder_path(m->folder, &digest) : NULL;
    const bool loaded = path && folder_load(m->context, path, &graph);
    atomic_fetch_add(&m->loaded, loaded);
    if (!loaded)
        r->status = m->folder && !path ? reader_no_memory() : build(m, sizes, &graph);
    if (path && !loaded && !r->status)
        atomic_fetch_add(folder_save(graph, m->folder, path, m->folder_limit) ? &m->saved : &m->unsaved, 1);
    free(path);
    return r->status ? NULL : graph;
}

WNNStatus wnnDynamicModelGetGraph(WNNDynamicModel model, size_t dimensionCount, WNNModelDimension const *dimensions,
                                  size_t shapeCount, WNNModelShape const *shapes, WNNGraph *graph)
{
    WNNModelOptions given = WNN_MODEL_OPTIONS_INIT;
    struct request r = {0};

    REFUSE_NULL(graph);
    *graph = NULL;
    REFUSE_NULL(model);
    const struct model_description *d = info_description(model->info);
    uint32_t *sizes = calloc(model->sizes_length + 1, sizeof *sizes);
    given.dimensionCount = dimensionCount;
    given.dimensions = dimensions;
    given.shapeCount = shapeCount;
    given.shapes = shapes;
    WNNStatus status = sizes ? request_make(&r, &given) : reader_no_memory();
    if (!status)
        status = add_sizes(d, &model->request, sizes);
    if (!status)
        status = add_sizes(d, &r, sizes);
    arena_free(&r.memory);
    for (size_t i = 0; !status && i < d->free_count; i++) {
        const WNNDimension *bounds = model_name(&model->request.options, d->free[i].name);
        const uint32_t most = bounds && bounds->maxSize ? bounds->maxSize : INT32_MAX;

        if (bounds && sizes[i] && (sizes[i] - 1 < bounds->minSize || sizes[i] - 1 > most))
            status = reader_refuse("dimension '%s' is %u; its bounds are %u and %u", NAME_SHOWN(d->free[i].name.data),
                                   sizes[i] - 1, bounds->minSize, most);
    }
    if (!status) {
        struct request_of_graph wanted = {model, WNNStatus_Success};

        *graph = kept_get(&model->graphs, sizes, make_graph, &wanted);
        status = *graph ? WNNStatus_Success : wanted.status ? wanted.status : reader_no_memory();
    }
    free(sizes);
    return status;
}

void wnnDynamicModelClear(WNNDynamicModel model)
{
    if (!model)
        return;
    kept_clear(&model->graphs);
    kept_clear(&model->shared);
}

uint64_t wnnDynamicModelGetReadCount(WNNDynamicModel model, char const **reason)
{
    if (reason)
        *reason = model ? atomic_load(&model->reason) : NULL;
    return model ? atomic_load(&model->reads) : 0;
}

WNNStringView wnnDynamicModelGetNotes(WNNDynamicModel model)
{
    return reader_view(model ? atomic_load(&model->notes) : NULL);
}

WNNModelInfo wnnDynamicModelGetInfo(WNNDynamicModel model)
{
    return model ? model->info : NULL;
}

void wnnDynamicModelGetCounts(WNNDynamicModel model, WNNDynamicModelCounts *counts)
{
    if (!counts)
        return;
    *counts = (WNNDynamicModelCounts){0};
    if (!model)
        return;
    const struct kept_counts kept = kept_count(&model->graphs);
    counts->built = atomic_load(&model->built);
    counts->loaded = atomic_load(&model->loaded);
    counts->saved = atomic_load(&model->saved);
    counts->unsaved = atomic_load(&model->unsaved);
    counts->found = kept.found;
    counts->evicted = kept.evicted;
    counts->held = kept.held;
}
