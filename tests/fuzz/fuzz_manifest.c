/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Networks as folders: the manifest is mutated, the files of weights next to it stay. */
#include <stdlib.h>
#include <string.h>

#include "frontend/readers/files/manifest.h"
#include "fuzz/fuzz.h"

#define X "{\"name\": \"x\", \"dataType\": \"float32\", \"shape\": [1, 2]}"
#define W "{\"id\": \"w\", \"file\": \"w.npy\"}"
#define MANIFEST(constants, layers, outputs, cases)                                                                            \
    "{\"name\": \"n\", \"task\": \"t\", \"inputs\": [" X "], \"constants\": [" constants "], \"layers\": [" layers             \
    "], \"outputs\": [" outputs "], \"cases\": [" cases "]}"

static const char *const seeds[] = {
    MANIFEST(
        W,
        "{\"id\": \"m\", \"op\": \"mul\", \"inputs\": [\"x\", \"w\"]}, {\"id\": \"c\", \"op\": \"concat\", \"inputs\": [\"m\", "
        "\"x\"], \"axis\": 0, \"outputShape\": [2, 2]}",
        "{\"name\": \"c\"}", "{\"inputs\": {\"x\": \"w.npy\"}, \"outputs\": {\"c\": {\"file\": \"c.npy\", \"atol\": 1e-3}}}"),
    MANIFEST(W,
             "{\"id\": \"g\", \"op\": \"gemm\", \"inputs\": [\"x\", \"w\"], \"bTranspose\": true, \"alpha\": 0.5, "
             "\"outputShape\": [1, 1]}",
             "{\"name\": \"g\"}", ""),
    "{\"model\": \"model.onnx\", \"cases\": [{\"inputs\": [{\"name\": \"x\", \"file\": \"w.npy\", \"shape\": [1, 2]}]}]}",
};

void fuzz_seeds(void)
{
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++)
        fuzz_seed(seeds[i], strlen(seeds[i]));
}

static void write_weights(void)
{
    static float values[2] = {1, -2};
    const struct npy_array array = {WNNOperandDataType_Float32, 2, {1, 2}, sizeof values, values, false};
    size_t length;
    void *npy;

    if (!npy_format(&array, "w", &npy, &length, NULL))
        abort();
    fuzz_file("w.npy", npy, length);
    fuzz_file("c.npy", npy, length);
    free(npy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool has_weights;
    struct manifest_case c;
    struct manifest *manifest;
    struct model model;
    struct error e = {0};

    if (!has_weights)
        write_weights();
    has_weights = true;
    fuzz_file("manifest.json", data, size);
    if (manifest_open(fuzz_folder(), &manifest, &e)) {
        for (size_t i = 0; i < manifest_case_count(manifest) && i < 4; i++)
            if (manifest_case_load(manifest, i, &c, &e))
                manifest_case_free(&c);
        manifest_close(manifest);
    } else if (!*e.message) {
        abort();
    }
    e = (struct error){0};
    if (model_read_manifest(fuzz_context(), fuzz_folder(), NULL, &model, &e))
        model_free(&model);
    else if (!*e.message)
        abort();
    return 0;
}
