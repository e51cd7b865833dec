/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A host that opens the library, computes on several threads and closes it, over and over.  The threads of a team
 * outlive the computation: they must never wake up in code that dlclose has taken away.
 *
 * usage: unload PATH_OF_LIBWEBNN
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <webnn/webnn.h>

#include "../support/help.h"

enum { ROUNDS = 12, SIZE = 192, THREADS = 4 };

static float weights[SIZE * SIZE], in[SIZE * SIZE], out[SIZE * SIZE];

/* Every function of the library is looked up: the program is linked without it. */
#define FIND(library, function) ((__typeof__(&function))find(library, #function))

static void *find(void *library, const char *name)
{
    void *function = dlsym(library, name);

    if (!function) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return function;
}

/* A matmul by oneDNN and a generated kernel, both large enough for several threads; dispatch starts the timeline, too.
 */
static bool use(void *library)
{
    WNNContextOptions options = WNN_CONTEXT_OPTIONS_INIT;
    WNNOperandDescriptor matrix = {WNNOperandDataType_Float32, 2, (uint32_t[]){SIZE, SIZE}, NULL};
    WNNTensorDescriptor tensor = {
        .dataType = WNNOperandDataType_Float32, .rank = 2, .shape = matrix.shape, .readable = true, .writable = true};
    WNNContext context = NULL;
    WNNGraphBuilder b = NULL;
    WNNGraph graph = NULL;
    WNNTensor x = NULL, y = NULL;

    options.threadCount = THREADS;
    if (FIND(library, wnnCreateContext)(&options, &context) || FIND(library, wnnContextCreateGraphBuilder)(context, &b))
        return false;
    WNNOperand a = FIND(library, wnnGraphBuilderInput)(b, WNN_STR("x"), &matrix);
    WNNOperand w = FIND(library, wnnGraphBuilderConstant)(b, &matrix, weights, sizeof weights);
    WNNOperand s = FIND(library, wnnGraphBuilderSoftmax)(b, FIND(library, wnnGraphBuilderMatmul)(b, a, w, NULL), 1, NULL);
    bool ok = !FIND(library, wnnGraphBuilderBuild)(b, 1, &(WNNNamedOperand){WNN_STR("y"), s}, &graph) &&
              !FIND(library, wnnGraphCompute)(graph, 1, &(WNNNamedBuffer){WNN_STR("x"), in, sizeof in}, 1,
                                              &(WNNNamedBuffer){WNN_STR("y"), out, sizeof out}) &&
              !FIND(library, wnnContextCreateTensor)(context, &tensor, &x) &&
              !FIND(library, wnnContextCreateTensor)(context, &tensor, &y) &&
              !FIND(library, wnnContextDispatch)(context, graph, 1, &(WNNNamedTensor){WNN_STR("x"), x}, 1,
                                                 &(WNNNamedTensor){WNN_STR("y"), y}) &&
              !FIND(library, wnnContextReadTensor)(context, y, out, sizeof out);
    FIND(library, wnnTensorRelease)(x);
    FIND(library, wnnTensorRelease)(y);
    FIND(library, wnnGraphRelease)(graph);
    FIND(library, wnnGraphBuilderRelease)(b);
    FIND(library, wnnContextRelease)(context);
    return ok;
}

/* One visit; half of them on a thread of their own, whose team ends with it. */
static void *visit(void *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    bool ok = use(library);
    if (dlclose(library) != 0)
        ok = false;
    usleep(20000); /* threads that wait go to sleep, or wake up in nothing */
    return ok ? path : NULL;
}

PROGRAM_HELP("usage: unload LIBRARY   load the library, use it and unload it, again and again\n")
int main(int argc, char **argv)
{
    if (argc != 2)
        return WRONG_USAGE;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_t thread;
        void *ok = NULL;

        if (i % 2)
            ok = visit(argv[1]);
        else if (pthread_create(&thread, NULL, visit, argv[1]) == 0)
            pthread_join(thread, &ok);
        if (!ok) {
            fprintf(stderr, "round %d failed\n", i);
            return 1;
        }
    }
    printf("%d rounds\n", ROUNDS);
    return 0;
}
