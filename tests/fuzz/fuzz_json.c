/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The reader of the JSON form of `.webnn` text. */
#include <string.h>

#include "fuzz/fuzz.h"

static const char *const seeds[] = {
    "{\"format\": \"webnn-graph-json\", \"version\": 1, \"inputs\": {\"x\": {\"dataType\": \"float32\", \"shape\": [1, 4]}},\n"
    "\"consts\": {\"w\": {\"dataType\": \"float32\", \"shape\": [4, 2], \"init\": {\"kind\": \"scalar\", \"value\": 0.5}},\n"
    "\"b\": {\"dataType\": \"uint8\", \"shape\": [3], \"init\": {\"kind\": \"inlineBytes\", \"bytes\": [1, 2, 255]}}},\n"
    "\"nodes\": [{\"id\": \"y\", \"op\": \"matmul\", \"inputs\": [\"x\", \"w\"], \"options\": {\"label\": \"l\"}},\n"
    "{\"id\": \"s\", \"op\": \"split\", \"inputs\": [\"y\"], \"options\": {\"splits\": 2, \"axis\": 1}, \"outputs\": [\"p\", "
    "\"q\"]},\n"
    "{\"id\": \"c\", \"op\": \"concat\", \"inputs\": [\"p\", \"q\"], \"options\": {\"axis\": 1}, \"outputs\": [\"c\"]}],\n"
    "\"outputs\": {\"out\": \"c\", \"p\\u00e4\": \"p\"}}",
    "{\"format\": \"webnn-graph-json\", \"version\": 2, \"name\": \"n\", \"quantized\": false,\n"
    "\"inputs\": {\"x\": {\"dataType\": \"float16\", \"shape\": [{\"name\": \"batch\", \"maxSize\": 8}, 4]}}, \"consts\": {},\n"
    "\"nodes\": [{\"id\": \"y\", \"op\": \"clamp\", \"inputs\": [\"x\"], \"options\": {\"minValue\": \"-Infinity\", "
    "\"maxValue\": 6}}],\n"
    "\"outputs\": {\"y\": \"y\"}}",
    "{\"format\": \"webnn-graph-json\", \"version\": 1, \"inputs\": {\"x\": {\"dataType\": \"int64\", \"shape\": []}},\n"
    "\"consts\": {\"k\": {\"dataType\": \"int64\", \"shape\": [2], \"init\": {\"kind\": \"weights\", \"ref\": \"k\"}}},\n"
    "\"nodes\": [{\"id\": \"y\", \"op\": \"add\", \"inputs\": [\"x\", \"k\"], \"options\": null}], \"outputs\": {\"y\": "
    "\"y\"}}",
};

void fuzz_seeds(void)
{
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++)
        fuzz_seed(seeds[i], strlen(seeds[i]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_model(model_read_json, data, size);
    fuzz_description(model_describe_json, data, size);
    return 0;
}
