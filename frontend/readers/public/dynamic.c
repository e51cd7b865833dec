/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Implements dynamic models: an open model, and the graphs that were built of it, by their sizes
 * (frontend/readers/sizes.h).
 *
 * Graphs stand in a list, the one that was asked for last first.  An entry whose graph is being made has none yet; any other
 * thread that asks for it waits.  Graphs are read, built, loaded and saved without the lock.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/readers/files/file.h"
#include "frontend/readers/public/folder.h"
#include "frontend/readers/public/reader.h"
#include "frontend/readers/sizes.h"
#include "ir/support/struct_size.h"
#include "ir/support/suggest.h"

enum { GRAPH_LIMIT = 16 };

/** Holds a graph that is kept, or, while graph is NULL, one that a thread makes. */
struct entry {
    struct entry *next;
    WNNGraph graph;
    uint32_t sizes[];
};

struct WNNDynamicModelImpl {
    atomic_size_t references;
    WNNContext context;
    struct model_source *source;
    WNNModelInfo info;
    struct request request; /* what is the same for all graphs */
    size_t graph_limit, sizes_length;
    char *folder; /* NULL: graphs are not saved */
    uint64_t folder_limit;
    WNNBuildProgressCallbackInfo progress;
    struct digest digest;

    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t made;  /* an entry has got its graph, or has gone */
    struct entry *entries;
    WNNDynamicModelCounts counts;
};

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

/** Opens what is described by path and, if bytes is not NULL, lies in memory. */
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

/** Checks what is the same for all graphs, and keeps it. */
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
    m->graph_limit = o->graphLimit ? o->graphLimit : GRAPH_LIMIT;
    m->sizes_length = sizes_count(d);
    uint32_t *sizes = calloc(m->sizes_length + 1, sizeof *sizes);
    if (!sizes || !request_keep_constants(&m->request))
        status = reader_no_memory();
    else
        status = add_sizes(d, &m->request, sizes);
    free(sizes);
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

    if (!m || pthread_mutex_init(&m->lock, NULL)) {
        free(m);
        return reader_no_memory();
    }
    if (pthread_cond_init(&m->made, NULL)) {
        pthread_mutex_destroy(&m->lock);
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
    *model = NULL;
    return path ? create(context, path, NULL, 0, options, model)
                : reader_refuse("wnnDynamicModelCreate: there is no path (NULL)");
}

WNNStatus wnnDynamicModelCreateFromMemory(WNNContext context, void const *data, size_t byteLength,
                                          WNNDynamicModelOptions const *options, WNNDynamicModel *model)
{
    *model = NULL;
    return data ? create(context, FILE_NO_PATH, data, byteLength, options, model)
                : reader_refuse("wnnDynamicModelCreateFromMemory: there are no bytes (NULL)");
}

void wnnDynamicModelAddRef(WNNDynamicModel model)
{
    atomic_fetch_add_explicit(&model->references, 1, memory_order_relaxed);
}

/** Frees a list of entries, none of which is being made. */
static void free_entries(struct entry *e)
{
    for (struct entry *next; e; e = next) {
        next = e->next;
        wnnGraphRelease(e->graph);
        free(e);
    }
}

void wnnDynamicModelRelease(WNNDynamicModel model)
{
    if (!model || atomic_fetch_sub_explicit(&model->references, 1, memory_order_acq_rel) > 1)
        return;
    free_entries(model->entries);
    wnnModelInfoRelease(model->info);
    model_source_close(model->source);
    arena_free(&model->request.memory);
    free(model->folder);
    pthread_cond_destroy(&model->made);
    pthread_mutex_destroy(&model->lock);
    wnnContextRelease(model->context);
    free(model);
}

/* ---- one graph ---- */

/** Reads the model with these sizes and builds it. */
static WNNStatus build(WNNDynamicModel m, const uint32_t *sizes, WNNGraph *graph)
{
    const struct model_description *d = info_description(m->info);
    struct model_dim *dims = calloc(d->free_count + 1, sizeof *dims);
    struct model_shape *shapes = calloc(d->input_count + 1, sizeof *shapes);
    struct model_options options = m->request.options;
    struct model model = {0};
    struct error e = {0};

    if (!dims || !shapes) {
        error_out_of_memory(&e);
    } else {
        sizes_options(d, sizes, dims, shapes, &options);
        if (model_source_read(m->source, m->context, &options, &model, &e)) {
            WNNStatus refused = wnnGraphBuilderSetProgress(model.builder, m->progress);

            (void)refused; /* for a context that is lost, which building says with the reason */
            e.status = model_build(&model, graph, &e);
        }
        model_free(&model);
    }
    free(dims);
    free(shapes);
    return reader_publish(&e);
}

/** Says what became of a graph, for the counts. */
struct making {
    bool loaded, saved, unsaved;
};

/** Loads the graph of these sizes, or builds it and saves it.  A file that cannot be loaded is replaced. */
static WNNStatus make(WNNDynamicModel m, const uint32_t *sizes, WNNGraph *graph, struct making *making)
{
    struct digest digest = m->digest;

    if (!m->folder)
        return build(m, sizes, graph);
    digest_add(&digest, sizes, m->sizes_length * sizeof *sizes);
    char *path = folder_path(m->folder, &digest);
    if (!path)
        return reader_no_memory();
    making->loaded = folder_load(m->context, path, graph);
    WNNStatus status = making->loaded ? WNNStatus_Success : build(m, sizes, graph);
    if (!status && !making->loaded) {
        making->saved = folder_save(*graph, m->folder, path, m->folder_limit);
        making->unsaved = !making->saved;
    }
    free(path);
    return status;
}

/* ---- the list of graphs ---- */

/** Returns the place in the list that leads to the entry of these sizes, or to the list's end. */
static struct entry **find(WNNDynamicModel m, const uint32_t *sizes)
{
    struct entry **at = &m->entries;

    while (*at && memcmp((*at)->sizes, sizes, m->sizes_length * sizeof *sizes) != 0)
        at = &(*at)->next;
    return at;
}

/** Takes the entry that a place leads to out of the list. */
static struct entry *take(struct entry **at)
{
    struct entry *e = *at;

    *at = e->next;
    return e;
}

static void put_first(WNNDynamicModel m, struct entry *e)
{
    e->next = m->entries;
    m->entries = e;
}

/** Takes the graphs beyond the limit, the last of the list, out of it, and returns them. */
static struct entry *evict(WNNDynamicModel m)
{
    struct entry *evicted = NULL, **at = &m->entries;
    size_t kept = 0;

    while (*at) {
        if (!(*at)->graph || ++kept <= m->graph_limit) {
            at = &(*at)->next;
            continue;
        }
        struct entry *e = take(at);

        e->next = evicted;
        evicted = e;
        m->counts.evicted++;
        m->counts.held--;
    }
    return evicted;
}

/** Makes the graph of an entry that stands in the list, with the lock held, which is free meanwhile. */
static WNNStatus fill(WNNDynamicModel m, struct entry *e, WNNGraph *graph)
{
    struct making making = {0};
    struct entry *evicted = NULL;

    pthread_mutex_unlock(&m->lock);
    WNNStatus status = make(m, e->sizes, graph, &making);
    pthread_mutex_lock(&m->lock);
    take(find(m, e->sizes));
    if (status) {
        free(e);
    } else {
        wnnGraphAddRef(*graph);
        e->graph = *graph;
        put_first(m, e);
        m->counts.held++;
        m->counts.built += !making.loaded;
        m->counts.loaded += making.loaded;
        m->counts.saved += making.saved;
        m->counts.unsaved += making.unsaved;
        evicted = evict(m);
    }
    pthread_cond_broadcast(&m->made);
    pthread_mutex_unlock(&m->lock);
    free_entries(evicted);
    pthread_mutex_lock(&m->lock);
    return status;
}

/** Gives the graph of these sizes, with the lock held. */
static WNNStatus get(WNNDynamicModel m, const uint32_t *sizes, WNNGraph *graph)
{
    struct entry **at, *e;

    while (*(at = find(m, sizes)) && !(*at)->graph)
        pthread_cond_wait(&m->made, &m->lock);
    if (*at) {
        e = take(at);
        put_first(m, e);
        m->counts.found++;
        *graph = e->graph;
        wnnGraphAddRef(*graph);
        return WNNStatus_Success;
    }
    e = calloc(1, sizeof *e + m->sizes_length * sizeof *sizes);
    if (!e)
        return reader_no_memory();
    memcpy(e->sizes, sizes, m->sizes_length * sizeof *sizes);
    put_first(m, e);
    return fill(m, e, graph);
}

WNNStatus wnnDynamicModelGetGraph(WNNDynamicModel model, size_t dimensionCount, WNNModelDimension const *dimensions,
                                  size_t shapeCount, WNNModelShape const *shapes, WNNGraph *graph)
{
    const struct model_description *d = info_description(model->info);
    uint32_t *sizes = calloc(model->sizes_length + 1, sizeof *sizes);
    WNNModelOptions given = WNN_MODEL_OPTIONS_INIT;
    struct request r = {0};

    *graph = NULL;
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
    if (!status) {
        pthread_mutex_lock(&model->lock);
        status = get(model, sizes, graph);
        pthread_mutex_unlock(&model->lock);
    }
    free(sizes);
    return status;
}

void wnnDynamicModelClear(WNNDynamicModel model)
{
    struct entry *cleared = NULL;

    pthread_mutex_lock(&model->lock);
    for (struct entry **at = &model->entries; *at;)
        if ((*at)->graph) {
            struct entry *e = take(at);

            e->next = cleared;
            cleared = e;
            model->counts.held--;
        } else {
            at = &(*at)->next;
        }
    pthread_mutex_unlock(&model->lock);
    free_entries(cleared);
}

WNNModelInfo wnnDynamicModelGetInfo(WNNDynamicModel model)
{
    return model->info;
}

void wnnDynamicModelGetCounts(WNNDynamicModel model, WNNDynamicModelCounts *counts)
{
    pthread_mutex_lock(&model->lock);
    *counts = model->counts;
    pthread_mutex_unlock(&model->lock);
}
