/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Arrays in .npy files. */
#include <stdlib.h>
#include <string.h>

#include "frontend/readers/files/npy.h"
#include "fuzz/fuzz.h"

void fuzz_seeds(void)
{
    float data[6] = {1, 2, 3, 4, 5, 6};
    const struct npy_array array = {WNNOperandDataType_Float32, 2, {2, 3}, sizeof data, data, false};
    size_t length;
    void *npy;

    if (npy_format(&array, "seed", &npy, &length, NULL))
        fuzz_seed(npy, length);
    free(npy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct npy_array array, again;
    struct error e = {0};
    void *bytes;
    size_t length;

    if (!npy_parse(data, size, "fuzz", &array, &e)) {
        if (!*e.message)
            abort();
        return 0;
    }
    if (!npy_format(&array, "fuzz", &bytes, &length, NULL) || !npy_parse(bytes, length, "fuzz", &again, NULL) ||
        again.byteLength != array.byteLength || memcmp(again.data, array.data, array.byteLength))
        abort();
    free(bytes);
    npy_free(&again);
    npy_free(&array);
    return 0;
}
