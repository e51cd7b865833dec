/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Files of weights.  What begins with WGWT is a container with its manifest after it: four bytes magic, version, the
 * container's length as two bytes, then its tensors and the manifest.  Everything else is safetensors.
 */
#include <stdlib.h>
#include <string.h>

#include "frontend/readers/text/weights.h"
#include "fuzz/fuzz.h"

void fuzz_seeds(void)
{
    static const char manifest[] =
        "{\"format\": \"wg-weights-manifest\", \"version\": 1, \"endianness\": \"little\", \"tensors\": {"
        "\"w\": {\"dataType\": \"uint8\", \"shape\": [2, 2], \"byteOffset\": 8, \"byteLength\": 4, \"layout\": "
        "\"row-major\"}, \"v\": {\"dataType\": \"float16\", \"shape\": [1], \"byteOffset\": 12, \"byteLength\": 2}}}";
    static const char header[] =
        "{\"__metadata__\":{\"a\":\"b\"},\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
        "\"n\":{\"dtype\":\"I64\",\"shape\":[0,4],\"data_offsets\":[8,8]},"
        "\"b\":{\"dtype\":\"BF16\",\"shape\":[1],\"data_offsets\":[8,10]}}";
    char bytes[1024] = {0};

    bytes[0] = (char)(sizeof header - 1);
    memcpy(bytes + 8, header, sizeof header - 1);
    fuzz_seed(bytes, 8 + sizeof header - 1 + 10);
    memset(bytes, 0, sizeof bytes);
    memcpy(bytes, "WGWT\1\0\0\0\6\0", 10);
    memcpy(bytes + 16, manifest, sizeof manifest - 1);
    fuzz_seed(bytes, 16 + sizeof manifest - 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error error = {0};
    char *manifest = NULL, *bytes;
    size_t length = size, manifest_length = 0;
    struct weights *w;
    uint64_t sum = 0;

    if (size >= 10 && !memcmp(data, "WGWT", 4)) {
        length = (size_t)data[8] | (size_t)data[9] << 8;
        length = 8 + (length < size - 10 ? length : size - 10);
        manifest_length = size - 2 - length;
    }
    bytes = malloc(length + 1);
    manifest = malloc(manifest_length + 1);
    if (!bytes || !manifest)
        abort();
    memcpy(bytes, data, length < 8 ? length : 8);
    if (length > 8)
        memcpy(bytes + 8, data + (manifest_length ? 10 : 8), length - 8);
    memcpy(manifest, data + size - manifest_length, manifest_length);
    bytes = realloc(bytes, length ? length : 1); /* so that a read beyond the end is seen */
    if (weights_parse(bytes, length, manifest_length ? manifest : NULL, manifest_length, "fuzz", &w, &error)) {
        const struct weights_entry *e;

        for (size_t i = 0; (e = weights_at(w, i)); i++) {
            const uint8_t *p = weights_data(w, e);

            if (weights_find(w, e->key, e->key_length) != e)
                abort();
            for (size_t k = 0; k < e->length; k++)
                sum += p[k];
        }
        weights_close(w);
    } else if (!*error.message) {
        abort();
    }
    free(manifest);
    free(bytes);
    return sum == UINT64_MAX; /* 0: the bytes are really read */
}
