/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Files of wnnGraphSave as wnnContextLoadGraph takes them, machine code included: what fuzz_load does not pass, the file's
 * mapping, code and facts.  No code is run: it is trusted.
 */
#include <stdlib.h>
#include <string.h>

#include "frontend/readers/files/file.h"
#include "fuzz/serialized.h"
#include "runtime/api/context.h"
#include "webnn/webnn_draft.h"

static const char *const models[] = {
    "webnn_graph \"a\" v1 { inputs { x: f32[2, 3]; } nodes { y = relu(x); } outputs { y; } }",
    "webnn_graph \"b\" v1 { inputs { x: f32[1, 4]; } consts { w: f32[4, 2] @scalar(0.5); } nodes { y = matmul(x, w); z = "
    "softmax(y, 1); } outputs { z; y; } }",
};

static void seed_graph(WNNGraph graph)
{
    char path[128], *bytes = NULL;
    size_t length;

    strcpy(path, fuzz_file("seed.wnn", "", 0));
    if (!wnnGraphSave(graph, path) && file_read(path, &bytes, &length, NULL))
        fuzz_seed(bytes, length);
    free(bytes);
    wnnGraphRelease(graph);
}

static void seed(const char *text)
{
    struct error e = {0};
    WNNGraph graph = NULL;
    struct model m;

    if (!model_read_text(fuzz_context(), "seed", text, strlen(text), NULL, &m, &e) || model_build(&m, &graph, &e))
        abort();
    seed_graph(graph);
    model_free(&m);
}

/* A graph with named dimensions, and code of one size. */
static void seed_named(void)
{
    const WNNDimension dims[2] = {{WNN_STR("n"), 1, 8}, {{NULL, 0}, 0, 0}};
    const WNNOperandDescriptor x = {WNNOperandDataType_Float32, 2, (uint32_t[]){0, 64}, dims},
                               w = {WNNOperandDataType_Float32, 2, (uint32_t[]){64, 4}, NULL};
    static float weights[64 * 4] = {1};
    WNNGraph graph = NULL, variant = NULL;
    WNNGraphBuilder b;

    if (wnnContextCreateGraphBuilder(fuzz_context(), &b))
        abort();
    WNNOperand in = wnnGraphBuilderInput(b, WNN_STR("x"), &x);
    WNNOperand y = wnnGraphBuilderMatmul(b, in, wnnGraphBuilderConstant(b, &w, weights, sizeof weights), NULL);
    y = wnnGraphBuilderReshapeDynamic(b, wnnGraphBuilderRelu(b, y, NULL), wnnGraphBuilderShape(b, y, NULL), NULL);
    if (wnnGraphBuilderBuild(b, 1, &(WNNNamedOperand){WNN_STR("y"), y}, &graph) ||
        wnnGraphGetVariant(graph, 1, &(WNNNamedSize){WNN_STR("n"), 3}, &variant))
        abort();
    seed_graph(graph);
    wnnGraphRelease(variant);
    wnnGraphBuilderRelease(b);
}

void fuzz_seeds(void)
{
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        seed(models[i]);
    seed_named();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    WNNGraph graph = NULL;

    if (size >= 4 && !memcmp(data, "\177ELF", 4)) /* a shared object is code that loading runs */
        return 0;
    unsigned char *copy = aligned_alloc(SERIALIZED_ALIGN, (size + SERIALIZED_ALIGN) / SERIALIZED_ALIGN * SERIALIZED_ALIGN);
    if (!copy)
        return 0;
    memcpy(copy, data, size);
    serialized_sign(copy, size);
    if (wnnContextLoadGraph(fuzz_context(), fuzz_file("fuzz.wnn", copy, size), &graph)) {
        if (graph || !wnnGetLastErrorMessage().length)
            abort();
    } else {
        for (size_t i = 0; i < wnnGraphGetInputCount(graph); i++) {
            WNNNamedOperandDescriptor input;

            if (wnnGraphGetInput(graph, i, &input))
                abort();
        }
        if (graph->variants) { /* what the sizes of its outputs are */
            WNNNamedShape inputs[4], outputs[4];
            const size_t count = wnnGraphGetInputCount(graph);
            WNNNamedOperandDescriptor d;

            for (size_t i = 0; i < count && i < 4 && !wnnGraphGetInput(graph, i, &d); i++) {
                inputs[i] = (WNNNamedShape){d.name, d.descriptor.rank, {0}};
                for (size_t k = 0; k < d.descriptor.rank; k++)
                    inputs[i].shape[k] = d.descriptor.shape[k]                ? d.descriptor.shape[k]
                                         : d.descriptor.dimensions[k].minSize ? d.descriptor.dimensions[k].minSize
                                                                              : 2;
            }
            if (count <= 4 && wnnGraphGetOutputCount(graph) <= 4 &&
                wnnGraphComputeShapes(graph, count, inputs, wnnGraphGetOutputCount(graph), outputs) &&
                !wnnGetLastErrorMessage().length)
                abort();
        }
        wnnGraphRelease(graph);
    }
    free(copy);
    return 0;
}
