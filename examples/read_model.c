/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads a model file, lists its inputs and outputs, and computes it once with inputs of zeros.
 *
 *     read_model MODEL [DIMENSION SIZE]...        for example: read_model model.onnx batch 1
 */
#include <stdio.h>
#include <stdlib.h>

#include "webnn/webnn_model.h"

static void print_port(const char *what, const WNNModelPort *port)
{
    printf("%s %.*s: %s [", what, (int)port->name.length, port->name.data,
           wnnOperandDataTypeGetName(port->descriptor.dataType));
    for (size_t i = 0; i < port->descriptor.rank; i++)
        printf("%s%u", i ? ", " : "", port->descriptor.shape[i]);
    printf("]\n");
}

/** Fills buffers of zeros for all ports of one kind and lists them.  Returns false if memory runs out. */
static bool make_buffers(WNNModel model, bool inputs, size_t count, WNNNamedBuffer *buffers)
{
    for (size_t i = 0; i < count; i++) {
        WNNModelPort port;

        if (inputs ? wnnModelGetInput(model, i, &port) : wnnModelGetOutput(model, i, &port))
            return false;
        print_port(inputs ? "input" : "output", &port);
        const size_t size = wnnOperandDescriptorGetByteLength(&port.descriptor);
        buffers[i] = (WNNNamedBuffer){port.name, calloc(size, 1), size};
        if (!buffers[i].data)
            return false;
    }
    return true;
}

static void free_buffers(size_t count, WNNNamedBuffer *buffers)
{
    for (size_t i = 0; buffers && i < count; i++)
        free(buffers[i].data);
    free(buffers);
}

static bool run(WNNModel model)
{
    const size_t n = wnnModelGetInputCount(model), m = wnnModelGetOutputCount(model);
    WNNNamedBuffer *inputs = calloc(n + 1, sizeof *inputs), *outputs = calloc(m + 1, sizeof *outputs);
    bool ok = inputs && outputs && make_buffers(model, true, n, inputs) && make_buffers(model, false, m, outputs);
    WNNGraph graph = NULL;

    if (ok && wnnModelBuild(model, &graph)) {
        fprintf(stderr, "%s\n", wnnModelGetLastErrorMessage().data);
        ok = false;
    }
    if (ok && wnnGraphCompute(graph, n, inputs, m, outputs)) {
        fprintf(stderr, "%s\n", wnnGetLastErrorMessage().data);
        ok = false;
    }
    if (ok)
        printf("computed\n");
    wnnGraphRelease(graph);
    free_buffers(n, inputs);
    free_buffers(m, outputs);
    return ok;
}

int main(int argc, char **argv)
{
    enum { DIMENSIONS = 16 };
    WNNModelDimension dimensions[DIMENSIONS];
    WNNModelOptions options = WNN_MODEL_OPTIONS_INIT;
    WNNContext context;
    WNNModel model;
    bool ok;

    if (argc < 2 || argc % 2 || argc > 2 + 2 * DIMENSIONS) {
        fprintf(stderr, "usage: %s MODEL [DIMENSION SIZE]...\n", argv[0]);
        return 2;
    }
    for (int i = 2; i < argc; i += 2)
        dimensions[options.dimensionCount++] = (WNNModelDimension){WNN_STR(argv[i]), (uint32_t)strtoul(argv[i + 1], NULL, 10)};
    options.dimensions = dimensions;
    if (wnnCreateContext(NULL, &context)) {
        fprintf(stderr, "%s\n", wnnGetLastErrorMessage().data);
        return 1;
    }
    if (wnnModelRead(context, argv[1], &options, &model)) {
        fprintf(stderr, "%s\n", wnnModelGetLastErrorMessage().data);
        wnnContextRelease(context);
        return 1;
    }
    ok = run(model);
    wnnModelRelease(model);
    wnnContextRelease(context);
    return ok ? 0 : 1;
}
