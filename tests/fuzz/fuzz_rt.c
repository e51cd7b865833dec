/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Serialized programs as objects with libwebnn_rt hold them: the serialized program, then its data, which lie apart.  Models
 * are made, with kernels that do nothing, but not run: fuzz_load runs programs.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz/serialized.h"
#include "webnn/webnn_rt.h"

enum { KERNELS_MAX = 64, TAIL = 4 };

void fuzz_seeds(void)
{
    fuzz_serialized_seeds(true);
}

static void no_kernel(const struct kernel_args *args, int64_t begin, int64_t end)
{
}

/** Both parts begin at multiples of SERIALIZED_ALIGN, and end where their blocks do. */
static unsigned char *part(const uint8_t *data, size_t size)
{
    unsigned char *copy = NULL;

    if (posix_memalign((void **)&copy, SERIALIZED_ALIGN, size + 1))
        abort();
    memcpy(copy, data, size);
    return copy;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    webnn_rt_kernel kernels[KERNELS_MAX];
    struct webnn_rt_model *model = NULL;
    const struct webnn_rt_options options = {.threads = 1};
    /* The last bytes say where the data begin, and how many kernels there are. */
    size_t length = size > TAIL ? size - TAIL : 0;
    size_t image_bytes = length ? data[length] | (size_t)data[length + 1] << 8 | (size_t)data[length + 2] << 16 : 0;
    uint32_t kernel_count = length ? data[length + 3] % KERNELS_MAX : 0;

    if (image_bytes > length)
        image_bytes = length;
    for (int i = 0; i < KERNELS_MAX; i++)
        kernels[i] = no_kernel;
    unsigned char *serialized = part(data, image_bytes), *weights = part(data + image_bytes, length - image_bytes);
    serialized_sign(serialized, image_bytes);
    const struct webnn_rt_program program = {WEBNN_RT_VERSION, kernel_count,        kernels, serialized, image_bytes,
                                             weights,          length - image_bytes};
    if (!webnn_rt_create(&program, &options, &model))
        webnn_rt_destroy(model);
    else if (model || !*webnn_rt_message())
        abort();
    free(serialized);
    free(weights);
    return 0;
}
