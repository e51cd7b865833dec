/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Implements wnnContextLoadGraph, which finds out which kind of file it is given and who loads it.  The runtime loads
 * serialized programs (runtime/api/save.c); shared objects are opened and called through libffi (load_object.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "frontend/load/load.h"
#include "ir/support/text.h"
#include "runtime/api/context.h"
#include "runtime/api/runtime.h"

static bool is_elf(int file)
{
    char start[4];

    return pread(file, start, sizeof start, 0) == (ssize_t)sizeof start && !memcmp(start, "\177ELF", sizeof start);
}

/* Returns -1 after an error in *e. */
static int open_file(const char *path, struct error *e)
{
    char text[512];
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (file < 0)
        error_set(e, WNNStatus_DataError, "loading a graph: %s: %s", escape_text(text, sizeof text, path, strlen(path)),
                  strerror(errno));
    return file;
}

static WNNGraph load(WNNContext context, const char *path, struct error *e)
{
    int file = open_file(path, e);

    if (file < 0)
        return NULL;
    WNNGraph graph = is_elf(file) ? load_object(context, path, e) : runtime_load_graph(context, path, file, e);
    close(file);
    return graph;
}

static bool check_path(const char *path, struct error *e)
{
    return (path && *path) || error_set(e, WNNStatus_TypeError, "loading a graph: the path is empty");
}

static bool find_engine(const char *path, WNNEngine *engine, struct error *e)
{
    int file = check_path(path, e) ? open_file(path, e) : -1;

    if (file < 0)
        return false;
    *engine = WNNEngine_Cpu; /* all that objects compute on */
    const bool found = is_elf(file) || runtime_find_engine(path, file, engine, e);
    close(file);
    return found;
}

WNNStatus wnnGetFileEngine(char const *path, WNNEngine *engine)
{
    struct error e = {0};

    if (!engine)
        error_set(&e, WNNStatus_TypeError, "loading a graph: engine is NULL");
    else if (find_engine(path, engine, &e))
        return WNNStatus_Success;
    if (engine)
        *engine = WNNEngine_Auto;
    return error_publish(&e);
}

/* Checks the arguments.  Returns false after an error in *e. */
static bool check(WNNContext context, const char *path, struct error *e)
{
    if (!context)
        return error_set(e, WNNStatus_TypeError, "loading a graph: context is NULL");
    if (!check_path(path, e))
        return false;
    return !atomic_load(&context->lost) || error_set(e, WNNStatus_InvalidStateError, "loading a graph: the context is lost");
}

WNNStatus wnnContextLoadGraph(WNNContext context, char const *path, WNNGraph *graph)
{
    struct error e = {0};

    if (!graph)
        return error_fail(&e, WNNStatus_TypeError, "loading a graph: graph is NULL");
    *graph = check(context, path, &e) ? load(context, path, &e) : NULL;
    if (!*graph)
        return error_publish(&e);
    runtime_graph_hold_context(*graph);
    return WNNStatus_Success;
}

WNNFuture wnnContextLoadGraphAsync(WNNContext context, char const *path, WNNBuildCallbackInfo callbackInfo)
{
    struct error e = {0};

    if (check(context, path, &e))
        return runtime_load_async(context, path, load, callbackInfo);
    if (context)
        return runtime_build_failed(context, &e, callbackInfo);
    error_publish(&e);
    if (callbackInfo.callback) /* no context to wait in: it reports at once */
        callbackInfo.callback(e.status, NULL, wnnGetLastErrorMessage(), callbackInfo.userdata1, callbackInfo.userdata2);
    return (WNNFuture){0};
}
