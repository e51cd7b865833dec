/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Saves and loads compiled graphs: implements wnnGraphSave and wnnContextLoadGraph.
 *
 * Saving writes a file (runtime/program/serialized.h) by the rules of ir/support/new_file.h.  Loading makes a graph whose
 * constants, packed weights and code are the mapped file's own pages.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ir/support/clock.h"
#include "ir/support/new_file.h"
#include "runtime/api/runtime.h"
#include "runtime/api/variants.h"
#include "runtime/program/serialized_named.h"

static const char *quote(char *buf, size_t size, const char *path)
{
    return escape_text(buf, size, path, strlen(path));
}

/* ---- saving ---- */

static bool save_failed(const char *path, int why, struct error *e)
{
    char text[512];

    error_set(e, WNNStatus_UnknownError, "saving the graph: %s: %s", quote(text, sizeof text, path), strerror(why));
    errno = why;
    return false;
}

static bool stream_put(void *user, const void *data, size_t bytes)
{
    return fwrite(data, 1, bytes, user) == bytes;
}

static bool save_to(WNNGraph graph, const char *path, struct error *e)
{
    struct engine *en = graph->context->engine;
    int why;
    struct new_file *file = new_file_open(path, 0, &why);

    if (!file)
        return save_failed(path, why, e);
    bool ok = graph->variants ? variants_save(graph, stream_put, new_file_stream(file), e)
                              : en->functions->optional.serialization->save(graph->executable, graph->input_count,
                                                                            graph->inputs, graph->output_count, graph->outputs,
                                                                            stream_put, new_file_stream(file), e);
    if (!ok && e->status != WNNStatus_Success) {
        new_file_abandon(file);
        errno = 0; /* it was not the file */
        return false;
    }
    return new_file_commit(file, &why) || save_failed(path, why, e); /* the stream says what stopped the sink */
}

static bool save(WNNGraph graph, const char *path, struct error *e)
{
    WNNContext context = graph->context;

    if (!path || !*path)
        return error_set(e, WNNStatus_TypeError, "saving the graph: the path is empty");
    if (!context->engine->functions->optional.serialization)
        return error_set(e, WNNStatus_NotSupportedError, "saving the graph: graphs of the engine \"%s\" cannot be saved",
                         context->engine->functions->name);
    if (!graph_try_pin(graph, "saving the graph", e))
        return false;
    bool ok = save_to(graph, path, e);
    const int why = errno;
    graph_unpin(graph);
    errno = why;
    return ok;
}

WNNStatus wnnGraphSave(WNNGraph graph, char const *path)
{
    struct error e = {0};

    if (!graph)
        error_set(&e, WNNStatus_TypeError, "saving the graph: it is NULL");
    else if (save(graph, path, &e))
        return WNNStatus_Success;
    return error_publish(&e);
}

/* ---- loading ---- */

struct mapping {
    atomic_uint references;
    void *bytes;
    size_t size;
};

static void mapping_retain(void *user)
{
    atomic_fetch_add(&((struct mapping *)user)->references, 1);
}

static void mapping_release(void *user)
{
    struct mapping *m = user;

    if (atomic_fetch_sub(&m->references, 1) > 1)
        return;
    munmap(m->bytes, m->size);
    free(m);
}

static void constant_unmap(const void *data, size_t bytes, void *user, void *unused)
{
    (void)data, (void)bytes, (void)unused;
    mapping_release(user);
}

static bool load_failed(const char *path, int why, struct error *e)
{
    char text[512];

    return error_set(e, WNNStatus_DataError, "loading a graph: %s: %s", quote(text, sizeof text, path), strerror(why));
}

/* Maps a file, which is read with it if `whole`. */
static struct mapping *map(const char *path, int file, bool whole, struct error *e)
{
    struct mapping *m = calloc(1, sizeof *m);
    struct stat s;

    if (!m)
        return error_null_memory(e);
    int why = fstat(file, &s) != 0 ? errno : !S_ISREG(s.st_mode) ? EINVAL : s.st_size <= 0 ? ENODATA : 0;
    if (why) {
        load_failed(path, why, e);
        free(m);
        return NULL;
    }
    atomic_init(&m->references, 1);
    m->size = (size_t)s.st_size;
    /* The bytes for the checksum are read at once: one call is cheaper than a fault for every few pages. */
    m->bytes = mmap(NULL, m->size, PROT_READ, MAP_PRIVATE | (whole ? MAP_POPULATE : 0), file, 0);
    if (m->bytes == MAP_FAILED) {
        load_failed(path, errno, e);
        free(m);
        return NULL;
    }
    return m;
}

/* Loads a graph with named dimensions, whose constants keep the mapping. */
static WNNGraph load_named(WNNContext context, struct mapping *m, const struct serialized_source *source, struct error *e)
{
    const WNNBufferReleaseCallbackInfo release = {constant_unmap, m, NULL};
    struct graph *g = serialized_named_load(source, context->engine, wnnContextGetBudget(context), mapping_retain, release, e);
    WNNGraph graph = g ? graph_build(context, g, e) : NULL;

    mapping_release(m);
    return graph;
}

/* Loads a program, whose executable keeps the mapping. */
static WNNGraph load_program(WNNContext context, struct mapping *m, const struct serialized_source *source, double start,
                             struct error *e)
{
    struct engine *en = context->engine;
    struct serialized_view view = {0};
    const double mapped = milliseconds_now();
    WNNGraph graph = NULL;
    struct executable *x = en->functions->optional.serialization->load(en, source, mapping_release, m, &view, e);

    if (x && context->debug.flags & DEBUG_TIME_PASSES)
        fprintf(stderr, "# load: map %.3f ms, checksums %.3f ms, library's primitives %.3f ms, all else %.3f ms\n",
                mapped - start, view.checksum_ms, view.library_ms,
                milliseconds_now() - mapped - view.checksum_ms - view.library_ms);
    if (x)
        graph = runtime_graph_of(context, x, view.input_slots, &view.facts, e);
    else
        mapping_release(m);
    serialized_view_free(&view);
    return graph;
}

WNNGraph runtime_graph_of(WNNContext context, struct executable *x, uint32_t input_slots, const struct serialized_facts *facts,
                          struct error *e)
{
    WNNGraph graph =
        graph_create_described(context, input_slots, facts->input_count, facts->inputs, facts->output_count, facts->outputs, e);

    if (!graph) {
        context->engine->functions->unload(x);
        return NULL;
    }
    graph->executable = x;
    if (!graph_publish(graph)) {
        error_set(e, WNNStatus_InvalidStateError, "loading a graph: the context is lost");
        wnnGraphRelease(graph);
        return NULL;
    }
    return graph;
}

void runtime_graph_hold_context(WNNGraph graph)
{
    wnnContextAddRef(graph->context);
    graph->holds_context = true;
}

bool runtime_find_engine(const char *path, int file, WNNEngine *engine, struct error *e)
{
    struct mapping *m = map(path, file, false, e);
    struct error why = {.status = WNNStatus_Success};
    char text[512];

    if (!m)
        return false;
    const bool found = serialized_find_engine(m->bytes, m->size, engine, &why);
    mapping_release(m);
    return found || error_set(e, why.status, "loading a graph: %s: %.600s", quote(text, sizeof text, path), why.message);
}

WNNGraph runtime_load_graph(WNNContext context, const char *path, int file, struct error *e)
{
    const double start = milliseconds_now();
    struct error why = {.status = WNNStatus_Success};
    char text[512];

    if (!context->engine->functions->optional.serialization)
        return error_null(e, WNNStatus_NotSupportedError, "loading a graph: the engine \"%s\" does not load any",
                          context->engine->functions->name);
    struct mapping *m = map(path, file, true, e);
    if (!m)
        return NULL;
    const struct serialized_source source = {.program = m->bytes, .bytes = m->size, .file = file};
    WNNGraph graph = serialized_is_named(m->bytes, m->size) ? load_named(context, m, &source, &why)
                                                            : load_program(context, m, &source, start, &why);
    if (graph) {
        context_log(context, WNNLogLevel_Info, "a graph was loaded from %s: %.1f ms", quote(text, sizeof text, path),
                    milliseconds_now() - start);
        return graph;
    }
    context_check_engine(context);
    error_set(e, why.status, "loading a graph: %s: %.600s", quote(text, sizeof text, path), why.message);
    context_log(context, WNNLogLevel_Warning, "%s", e->message);
    return NULL;
}
