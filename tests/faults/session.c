/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The public functions one after the other, for fault-survey: create, build, compute, dispatch, read, save, load.  A call that
 * fails prints its message, and the session goes on with what there is.  After a session with failures comes another, on a
 * thread of its own: what one context met must not stop the next.  Exits with 0 if nothing failed, with 1 if something did.
 *
 * usage: session [--warm] [--threads N]
 *
 * With --warm a whole session comes before requests are counted (failing_process.c), so that LLVM has done all it does once for
 * the process.  The session after the failure must then succeed.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <webnn/webnn.h>

#include "../support/help.h"

enum { SIZE = 24, CHANNELS = 8, ELEMENTS = CHANNELS * SIZE * SIZE };

static uint32_t thread_count = 2;

struct session {
    bool failed;
    WNNContext context;
    WNNGraph graph;
    WNNTensor x, y;
    float in[ELEMENTS], out[ELEMENTS];
};

static bool check(struct session *s, const char *what, WNNStatus status)
{
    if (status == WNNStatus_Success)
        return true;
    fprintf(stderr, "%s: %s\n", what, wnnGetLastErrorMessage().data);
    s->failed = true;
    return false;
}

/* Kinds differ in what has to be compiled: kernels with transcendental functions, reductions, transposes; primitives of oneDNN.
 */
static WNNOperand compose(WNNGraphBuilder b, WNNOperand x, int kind)
{
    static float weights[CHANNELS * CHANNELS * 9];
    WNNOperandDescriptor filter = {WNNOperandDataType_Float32, 4, (uint32_t[]){CHANNELS, CHANNELS, 3, 3}, NULL};
    WNNOperandDescriptor matrix = {WNNOperandDataType_Float32, 2, (uint32_t[]){SIZE, SIZE}, NULL};
    WNNConv2dOptions same = WNN_CONV2D_OPTIONS_INIT;
    WNNTransposeOptions turn = WNN_TRANSPOSE_OPTIONS_INIT;

    same.paddingCount = 4;
    same.padding = (uint32_t[]){1, 1, 1, 1};
    turn.permutationCount = 4;
    turn.permutation = (uint32_t[]){0, 1, 3, 2};
    switch (kind) {
    case 0:
        return wnnGraphBuilderRelu(
            b, wnnGraphBuilderConv2d(b, x, wnnGraphBuilderConstant(b, &filter, weights, sizeof weights), &same), NULL);
    case 1:
        x = wnnGraphBuilderMatmul(b, x, wnnGraphBuilderConstant(b, &matrix, weights, SIZE * SIZE * sizeof(float)), NULL);
        return wnnGraphBuilderSoftmax(b, wnnGraphBuilderErf(b, x, NULL), 3, NULL);
    default:
        x = wnnGraphBuilderTranspose(b, wnnGraphBuilderSin(b, x, NULL), &turn);
        return wnnGraphBuilderMul(b, wnnGraphBuilderTanh(b, x, NULL), wnnGraphBuilderCumulativeSum(b, x, 2, NULL), NULL);
    }
}

static bool build(struct session *s, int kind)
{
    WNNOperandDescriptor d = {WNNOperandDataType_Float32, 4, (uint32_t[]){1, CHANNELS, SIZE, SIZE}, NULL};
    WNNGraphBuilder b = NULL;

    if (!check(s, "createGraphBuilder", wnnContextCreateGraphBuilder(s->context, &b)))
        return false;
    WNNOperand x = wnnGraphBuilderInput(b, WNN_STR("x"), &d);
    bool ok = check(s, "build", wnnGraphBuilderBuild(b, 1, &(WNNNamedOperand){WNN_STR("y"), compose(b, x, kind)}, &s->graph));
    wnnGraphBuilderRelease(b);
    return ok;
}

static bool compute(struct session *s)
{
    return check(s, "compute",
                 wnnGraphCompute(s->graph, 1, &(WNNNamedBuffer){WNN_STR("x"), s->in, sizeof s->in}, 1,
                                 &(WNNNamedBuffer){WNN_STR("y"), s->out, sizeof s->out}));
}

static void dispatch(struct session *s)
{
    WNNTensorDescriptor d = {.dataType = WNNOperandDataType_Float32,
                             .rank = 4,
                             .shape = (uint32_t[]){1, CHANNELS, SIZE, SIZE},
                             .readable = true,
                             .writable = true};

    if (check(s, "createTensor", wnnContextCreateTensor(s->context, &d, &s->x)) &&
        check(s, "createTensor", wnnContextCreateTensor(s->context, &d, &s->y)) &&
        check(s, "writeTensor", wnnContextWriteTensor(s->context, s->x, s->in, sizeof s->in)) &&
        check(s, "dispatch",
              wnnContextDispatch(s->context, s->graph, 1, &(WNNNamedTensor){WNN_STR("x"), s->x}, 1,
                                 &(WNNNamedTensor){WNN_STR("y"), s->y})))
        check(s, "readTensor", wnnContextReadTensor(s->context, s->y, s->out, sizeof s->out));
    wnnTensorRelease(s->x);
    wnnTensorRelease(s->y);
    s->x = s->y = NULL;
}

static void save_and_load(struct session *s)
{
    char folder[] = "/tmp/webnn-session-XXXXXX", path[64];

    if (!mkdtemp(folder))
        return;
    snprintf(path, sizeof path, "%s/graph.wnn", folder);
    if (check(s, "save", wnnGraphSave(s->graph, path))) {
        WNNGraph saved = s->graph;

        s->graph = NULL;
        if (check(s, "load", wnnContextLoadGraph(s->context, path, &s->graph)))
            compute(s);
        wnnGraphRelease(s->graph);
        s->graph = saved;
    }
    unlink(path);
    rmdir(folder);
}

static bool run_session(void)
{
    WNNContextOptions options = WNN_CONTEXT_OPTIONS_INIT;
    struct session *s = calloc(1, sizeof *s);

    if (!s) {
        fputs("the program itself is out of memory\n", stderr);
        return false;
    }
    options.threadCount = thread_count;
    if (check(s, "createContext", wnnCreateContext(&options, &s->context)))
        for (int kind = 0; kind < 3; kind++) {
            if (build(s, kind)) {
                if (compute(s))
                    dispatch(s);
                save_and_load(s);
            }
            wnnGraphRelease(s->graph);
            s->graph = NULL;
        }
    bool ok = !s->failed;
    wnnContextRelease(s->context);
    free(s);
    return ok;
}

static void *run_again(void *data)
{
    *(bool *)data = run_session();
    return NULL;
}

PROGRAM_HELP("usage: fault-session [--warm] [--threads N]   do what surveys of faults repeat\n")
int main(int argc, char **argv)
{
    void (*start)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "failing_process_start");
    bool warm = false, again = true;
    pthread_t thread;

    for (int i = 1; i < argc; i++) {
        warm |= !strcmp(argv[i], "--warm");
        if (!strcmp(argv[i], "--threads") && i + 1 < argc)
            thread_count = (uint32_t)atoi(argv[++i]);
    }
    if (warm && !run_session())
        return 2;
    if (start)
        start();
    if (run_session())
        return 0;
    if (pthread_create(&thread, NULL, run_again, &again) == 0)
        pthread_join(thread, NULL);
    return warm && !again ? 3 : 1;
}
