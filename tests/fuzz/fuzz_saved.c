/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Files of wnnGraphSave as wnnContextLoadGraph takes them, machine code included: what fuzz_load does not pass, the file's
 * mapping, code and facts.  No code is run: it is trusted.
 */
#include <stdlib.h>
#include <string.h>

#include "frontend/readers/files/file.h"
#include "fuzz/serialized.h"

static const char *const models[] = {
    "webnn_graph \"a\" v1 { inputs { x: f32[2, 3]; } nodes { y = relu(x); } outputs { y; } }",
    "webnn_graph \"b\" v1 { inputs { x: f32[1, 4]; } consts { w: f32[4, 2] @scalar(0.5); } nodes { y = matmul(x, w); z = "
    "softmax(y, "
    "1); } outputs { z; y; } }",
};

static void seed(const char *text)
{
    char path[128], *bytes = NULL;
    struct error e = {0};
    WNNGraph graph = NULL;
    struct model m;
    size_t length;

    if (!model_read_text(fuzz_context(), "seed", text, strlen(text), NULL, &m, &e) || model_build(&m, &graph, &e))
        abort();
    strcpy(path, fuzz_file("seed.wnn", "", 0));
    if (!wnnGraphSave(graph, path) && file_read(path, &bytes, &length, NULL))
        fuzz_seed(bytes, length);
    free(bytes);
    model_free(&m);
    wnnGraphRelease(graph);
}

void fuzz_seeds(void)
{
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        seed(models[i]);
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
        wnnGraphRelease(graph);
    }
    free(copy);
    return 0;
}
