/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Computes a model for several sizes of one of its dimensions, each with a graph of its own, and says what was built and what
 * was found again.
 *
 *     dynamic_model MODEL FOLDER DIMENSION SIZE [SIZE]...        FOLDER keeps the graphs; "-" keeps none
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "webnn/webnn_model.h"

/** Makes zeroed buffers for the inputs or outputs of a graph.  Returns NULL if memory runs out. */
static WNNNamedBuffer *make_buffers(WNNGraph graph, bool inputs, size_t count)
{
    WNNNamedBuffer *buffers = calloc(count + 1, sizeof *buffers);
    bool ok = buffers != NULL;

    for (size_t i = 0; ok && i < count; i++) {
        WNNNamedOperandDescriptor port;

        ok = !(inputs ? wnnGraphGetInput(graph, i, &port) : wnnGraphGetOutput(graph, i, &port));
        if (!ok)
            break;
        const size_t size = wnnOperandDescriptorGetByteLength(&port.descriptor);
        buffers[i] = (WNNNamedBuffer){port.name, calloc(size, 1), size};
        ok = buffers[i].data;
    }
    return buffers;
}

static void free_buffers(size_t count, WNNNamedBuffer *buffers)
{
    for (size_t i = 0; buffers && i < count; i++)
        free(buffers[i].data);
    free(buffers);
}

static bool compute(WNNGraph graph)
{
    const size_t n = wnnGraphGetInputCount(graph), m = wnnGraphGetOutputCount(graph);
    WNNNamedBuffer *inputs = make_buffers(graph, true, n), *outputs = make_buffers(graph, false, m);
    bool ok = inputs && outputs && !wnnGraphCompute(graph, n, inputs, m, outputs);

    if (!ok)
        fprintf(stderr, "%s\n", wnnGetLastErrorMessage().data);
    free_buffers(n, inputs);
    free_buffers(m, outputs);
    return ok;
}

static bool run(WNNDynamicModel model, const char *name, int count, char **sizes)
{
    WNNDynamicModelCounts counts;
    bool ok = true;

    for (int i = 0; ok && i < count; i++) {
        const WNNModelDimension dimension = {WNN_STR(name), (uint32_t)strtoul(sizes[i], NULL, 10)};
        WNNGraph graph;

        if (wnnDynamicModelGetGraph(model, 1, &dimension, 0, NULL, &graph)) {
            fprintf(stderr, "%s\n", wnnModelGetLastErrorMessage().data);
            return false;
        }
        ok = compute(graph);
        wnnGraphRelease(graph);
    }
    wnnDynamicModelGetCounts(model, &counts);
    printf("%llu built, %llu loaded, %llu found again\n", (unsigned long long)counts.built, (unsigned long long)counts.loaded,
           (unsigned long long)counts.found);
    return ok;
}

int main(int argc, char **argv)
{
    WNNDynamicModelOptions options = WNN_DYNAMIC_MODEL_OPTIONS_INIT;
    WNNDynamicModel model;
    WNNContext context;
    bool ok = false;

    if (argc < 5) {
        fprintf(stderr, "usage: %s MODEL FOLDER DIMENSION SIZE [SIZE]...\n", argv[0]);
        return 2;
    }
    if (strcmp(argv[2], "-") != 0)
        options.folder = argv[2];
    if (wnnCreateContext(NULL, &context)) {
        fprintf(stderr, "%s\n", wnnGetLastErrorMessage().data);
        return 1;
    }
    if (wnnDynamicModelCreate(context, argv[1], &options, &model))
        fprintf(stderr, "%s\n", wnnModelGetLastErrorMessage().data);
    else
        ok = run(model, argv[3], argc - 4, argv + 4);
    wnnDynamicModelRelease(model);
    wnnContextRelease(context);
    return ok ? 0 : 1;
}
