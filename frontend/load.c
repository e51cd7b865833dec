/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * wnnContextLoadGraph: which kind of file it is, and who loads it.
 *
 * In: a path.  Out: a graph.  Images go to the runtime (runtime/save.c), shared objects are opened and called through libffi.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "frontend/load.h"
#include "runtime/context.h"
#include "runtime/runtime.h"

static bool is_elf(int file)
{
    char start[4];

    return pread(file, start, sizeof start, 0) == (ssize_t)sizeof start && !memcmp(start, "\177ELF", sizeof start);
}

static WNNGraph load(WNNContext context, const char *path, struct error *e)
{
    char text[512];
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (file < 0) {
        error_set(e, WNNStatus_DataError, "loading a graph: %s: %s", escape_text(text, sizeof text, path, strlen(path)),
                  strerror(errno));
        return NULL;
    }
    WNNGraph graph = is_elf(file) ? load_object(context, path, e) : runtime_load_graph(context, path, file, e);
    close(file);
    return graph;
}

WNNStatus wnnContextLoadGraph(WNNContext context, char const *path, WNNGraph *graph)
{
    struct error e;

    error_clear(&e);
    if (graph)
        *graph = NULL;
    if (!context || !graph || !path || !*path)
        error_set(&e, WNNStatus_TypeError, "loading a graph: %s",
                  !context ? "context is NULL"
                  : !graph ? "graph is NULL"
                           : "the path is empty");
    else if (atomic_load(&context->lost))
        error_set(&e, WNNStatus_InvalidStateError, "loading a graph: the context is lost");
    else
        *graph = load(context, path, &e);
    return graph && *graph ? WNNStatus_Success : error_publish(&e);
}
