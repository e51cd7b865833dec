/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A graph is saved where there is no room: an error with the system's reason, nothing left behind, an older file as it was. */
#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <webnn/webnn.h>

#include "../support/help.h"

static int failures;

static void expect(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "not so: %s (last message: %s)\n", what, wnnGetLastErrorMessage().data);
    failures++;
}

static WNNGraph build(WNNContext context)
{
    static float weights[64 * 64];
    WNNOperandDescriptor d = {WNNOperandDataType_Float32, 2, (uint32_t[]){64, 64}, NULL};
    WNNGraphBuilder b = NULL;
    WNNGraph graph = NULL;

    if (wnnContextCreateGraphBuilder(context, &b))
        return NULL;
    WNNOperand sum = wnnGraphBuilderAdd(b, wnnGraphBuilderInput(b, WNN_STR("x"), &d),
                                        wnnGraphBuilderConstant(b, &d, weights, sizeof weights), NULL);
    if (wnnGraphBuilderBuild(b, 1, &(WNNNamedOperand){WNN_STR("y"), sum}, &graph))
        graph = NULL;
    wnnGraphBuilderRelease(b);
    return graph;
}

static long size_of(const char *path)
{
    struct stat s;

    return stat(path, &s) == 0 ? (long)s.st_size : -1;
}

static int files_in(const char *folder)
{
    DIR *d = opendir(folder);
    int count = 0;

    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d))
        count += e->d_name[0] != '.' || strlen(e->d_name) > 2;
    if (d)
        closedir(d);
    return count;
}

static void limit_size(rlim_t bytes)
{
    struct rlimit limit;

    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
}

PROGRAM_HELP("usage: full-disk   save graphs where there is no room\n")
int main(void)
{
    char folder[] = "/tmp/webnn-full-XXXXXX", path[64];
    WNNContext context = NULL;

    if (!mkdtemp(folder) || wnnCreateContext(NULL, &context))
        return 2;
    WNNGraph graph = build(context);
    snprintf(path, sizeof path, "%s/graph.wnn", folder);
    expect(graph != NULL, "the graph is built");
    if (!graph)
        return 1;

    expect(wnnGraphSave(graph, "/dev/full") == WNNStatus_UnknownError, "saving to a full device is an UnknownError");
    expect(strstr(wnnGetLastErrorMessage().data, "No space left") != NULL, "its message has the system's reason");

    expect(wnnGraphSave(graph, path) == WNNStatus_Success, "the graph is saved where there is room");
    long size = size_of(path);
    expect(size > 0 && unlink(path) == 0, "there is a file");

    signal(SIGXFSZ, SIG_IGN);
    for (int i = 0; i < 4; i++) {
        limit_size((rlim_t)size * i / 4);
        WNNStatus status = wnnGraphSave(graph, path);
        limit_size(RLIM_INFINITY);
        expect(status == WNNStatus_UnknownError, "saving above the limit on sizes of files is an UnknownError");
        expect(strstr(wnnGetLastErrorMessage().data, "File too large") != NULL, "its message has the system's reason");
        expect(files_in(folder) == 0, "nothing is left behind");
    }
    expect(wnnGraphSave(graph, path) == WNNStatus_Success, "the same graph is saved where there is room again");
    expect(size_of(path) == size, "the file is whole");
    limit_size((rlim_t)size / 2);
    expect(wnnGraphSave(graph, path) == WNNStatus_UnknownError, "saving above the limit once more is an UnknownError");
    limit_size(RLIM_INFINITY);
    expect(size_of(path) == size && files_in(folder) == 1, "the older file stays as it was");
    unlink(path);
    rmdir(folder);
    wnnGraphRelease(graph);
    wnnContextRelease(context);
    return failures > 0;
}
