/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Compiled graphs in files: what stands behind wnnGraphSave and wnnContextLoadGraph.
 *
 * In: a built graph and a path.  Out: a file (runtime/image.h) that is complete or not there at all.  In: a path.  Out: a graph
 * whose constants, packed weights and code are the mapped file's own pages.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ir/clock.h"
#include "runtime/context.h"
#include "runtime/runtime.h"

static const char *quote(char *buf, size_t size, const char *path)
{
    return escape_text(buf, size, path, strlen(path));
}

/* ---- saving ---- */

/* Pieces go through a buffer: some are a few bytes. */
enum { BUFFER_BYTES = 1 << 16 };

struct file_sink {
    int file;
    int error; /* errno of the first failure */
    size_t used;
    unsigned char buffer[BUFFER_BYTES];
};

static bool write_bytes(struct file_sink *s, const unsigned char *at, size_t bytes)
{
    while (bytes > 0) {
        ssize_t n = write(s->file, at, bytes);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            s->error = n < 0 ? errno : EIO;
            return false;
        }
        at += n;
        bytes -= (size_t)n;
    }
    return true;
}

static bool sink_flush(struct file_sink *s)
{
    size_t used = s->used;

    s->used = 0;
    return write_bytes(s, s->buffer, used);
}

static bool sink_put(void *user, const void *data, size_t bytes)
{
    struct file_sink *s = user;

    if (bytes > sizeof s->buffer - s->used && !sink_flush(s))
        return false;
    if (bytes >= sizeof s->buffer)
        return write_bytes(s, data, bytes);
    memcpy(s->buffer + s->used, data, bytes);
    s->used += bytes;
    return true;
}

/* A new file beside path, so that renaming it is one step. */
static char *temporary_create(const char *path, int *file)
{
    static atomic_uint serial;
    size_t room = strlen(path) + 48;
    char *name = malloc(room);

    for (int tries = 0; name && tries < 100; tries++) {
        snprintf(name, room, "%s.%ld-%u.tmp", path, (long)getpid(), atomic_fetch_add(&serial, 1));
        *file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (*file >= 0)
            return name;
        if (errno != EEXIST)
            break;
    }
    free(name);
    return NULL;
}

static bool save_failed(const char *path, int why, struct error *e)
{
    char text[512];

    return error_set(e, WNNStatus_UnknownError, "saving the graph: %s: %s", quote(text, sizeof text, path), strerror(why));
}

static bool save_to(WNNGraph graph, const char *path, struct error *e)
{
    struct engine *en = graph->context->engine;
    struct file_sink *sink = malloc(sizeof *sink);
    int file = -1;
    char *name = sink ? temporary_create(path, &file) : NULL;

    if (!name) {
        bool ok = sink ? save_failed(path, errno, e) : error_out_of_memory(e);
        free(sink);
        return ok;
    }
    sink->file = file;
    sink->error = 0;
    sink->used = 0;
    bool ok = en->functions->save(graph->executable, graph->input_count, graph->inputs, graph->output_count, graph->outputs,
                                  sink_put, sink, e) &&
              sink_flush(sink);
    if (close(file) != 0 && ok) {
        ok = false;
        sink->error = errno;
    }
    if (ok && rename(name, path) != 0) {
        ok = false;
        sink->error = errno;
    }
    if (!ok)
        unlink(name);
    if (sink->error)
        save_failed(path, sink->error, e);
    free(name);
    free(sink);
    return ok;
}

static bool save(WNNGraph graph, const char *path, struct error *e)
{
    WNNContext context = graph->context;

    if (!path || !*path)
        return error_set(e, WNNStatus_TypeError, "saving the graph: the path is empty");
    if (!context->engine->functions->save)
        return error_set(e, WNNStatus_NotSupportedError, "saving the graph: the engine's graphs cannot be saved");
    pthread_mutex_lock(&context->lock);
    bool usable = !graph->destroyed;
    if (usable)
        graph_pin(graph);
    pthread_mutex_unlock(&context->lock);
    if (!usable)
        return error_set(e, WNNStatus_InvalidStateError, "saving the graph: %s",
                         atomic_load(&context->lost) ? "the context is lost" : "the graph is destroyed");
    bool ok = save_to(graph, path, e);
    graph_unpin(graph);
    return ok;
}

WNNStatus wnnGraphSave(WNNGraph graph, char const *path)
{
    struct error e;

    error_clear(&e);
    if (!graph)
        error_set(&e, WNNStatus_TypeError, "saving the graph: it is NULL");
    else if (save(graph, path, &e))
        return WNNStatus_Success;
    return error_publish(&e);
}

/* ---- loading ---- */

struct mapping {
    void *bytes;
    size_t size;
};

static void mapping_release(void *user)
{
    struct mapping *m = user;

    munmap(m->bytes, m->size);
    free(m);
}

static bool load_failed(const char *path, int why, struct error *e)
{
    char text[512];

    return error_set(e, WNNStatus_DataError, "loading a graph: %s: %s", quote(text, sizeof text, path), strerror(why));
}

static struct mapping *map(const char *path, int file, struct error *e)
{
    struct mapping *m = calloc(1, sizeof *m);
    struct stat s;

    if (!m) {
        error_out_of_memory(e);
        return NULL;
    }
    int why = fstat(file, &s) != 0 ? errno : !S_ISREG(s.st_mode) ? EINVAL : s.st_size <= 0 ? ENODATA : 0;
    if (why) {
        load_failed(path, why, e);
        free(m);
        return NULL;
    }
    m->size = (size_t)s.st_size;
    /* All of it is read at once for the checksum: one call is cheaper than a fault for every few pages. */
    m->bytes = mmap(NULL, m->size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
    if (m->bytes == MAP_FAILED) {
        load_failed(path, errno, e);
        free(m);
        return NULL;
    }
    return m;
}

static struct executable *load_image(WNNContext context, const char *path, int file, struct image_view *view, struct error *e)
{
    struct engine *en = context->engine;
    double start = milliseconds_now();
    struct mapping *m = map(path, file, e);
    struct error why = {.status = WNNStatus_Success};
    char text[512];

    if (!m)
        return NULL;
    double mapped = milliseconds_now();
    struct image_source source = {.image = m->bytes, .bytes = m->size, .file = file};
    struct executable *x = en->functions->load_image(en, &source, mapping_release, m, view, &why);
    if (x && context->debug.flags & DEBUG_TIME_PASSES)
        fprintf(stderr, "# load: map %.3f ms, checksums %.3f ms, library's primitives %.3f ms, all else %.3f ms\n",
                mapped - start, view->checksum_ms, view->library_ms,
                milliseconds_now() - mapped - view->checksum_ms - view->library_ms);
    if (x)
        return x;
    mapping_release(m);
    error_set(e, why.status, "loading a graph: %s: %.600s", quote(text, sizeof text, path), why.message);
    return NULL;
}

WNNGraph runtime_graph_of(WNNContext context, struct executable *x, uint32_t input_slots, const struct image_facts *facts,
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

WNNGraph runtime_load_graph(WNNContext context, const char *path, int file, struct error *e)
{
    struct image_view view = {0};
    WNNGraph graph = NULL;

    if (!context->engine->functions->load_image) {
        error_set(e, WNNStatus_NotSupportedError, "loading a graph: the engine does not load any");
        return NULL;
    }
    struct executable *x = load_image(context, path, file, &view, e);
    if (x)
        graph = runtime_graph_of(context, x, view.input_slots, &view.facts, e);
    image_view_free(&view);
    return graph;
}
