/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Building a network takes its weights once and a little more: what is packed replaces what it was packed from, step by step.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include "support/api.h"

enum { LAYERS = 8, N = 2048, ROWS = 64, WEIGHT_BYTES = N * N * (int)sizeof(float), ROOM_KIB = 60 << 10 };

/* Returns the private memory of this process that is not a file's, in KiB. */
static long private_kib(void)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    long kib = -1;

    while (f && fgets(line, sizeof line, f) && sscanf(line, "RssAnon: %ld", &kib) != 1)
        ;
    if (f)
        fclose(f);
    return kib;
}

static atomic_bool built;
static long peak;

static void *watch(void *user)
{
    const struct timespec pause = {0, 500000};

    for (bool last = false; !last; nanosleep(&pause, NULL)) {
        last = atomic_load(&built); /* however late this thread runs, it sees what the graph takes */
        const long kib = private_kib();
        peak = kib > peak ? kib : peak;
    }
    return NULL;
}

/* Products with matrices that are constants, whose bytes are the builder's. */
static WNNGraph make(WNNContext c)
{
    static float weights[N * N];
    const uint32_t matrix[2] = {N, N}, rows[2] = {ROWS, N};
    const WNNOperandDescriptor d = {WNNOperandDataType_Float32, 2, matrix, NULL};
    WNNGraphBuilder b = builder_of(c);
    WNNOperand x = wnnGraphBuilderInput(b, WNN_STR("x"), &(WNNOperandDescriptor){WNNOperandDataType_Float32, 2, rows, NULL});

    for (int i = 0; i < LAYERS; i++) {
        for (size_t k = 0; k < N * N; k++)
            weights[k] = (float)((k + (size_t)i) % 251) / 251;
        x = wnnGraphBuilderRelu(b, wnnGraphBuilderMatmul(b, x, wnnGraphBuilderConstant(b, &d, weights, sizeof weights), NULL),
                                NULL);
    }
    return build_y(b, x);
}

TEST(weights_are_there_once)
{
    pthread_t thread;

#ifdef __SANITIZE_ADDRESS__
    skip(); /* it keeps freed memory for a while */
#endif
    OWNED(context) WNNContext c = context_with(NULL);
    const long before = private_kib();
    assert_int_equal(pthread_create(&thread, NULL, watch, NULL), 0);
    OWNED(compiled) WNNGraph g = make(c);
    atomic_store(&built, true);
    pthread_join(thread, NULL);
    /* The array of the test is a matrix, too. */
    assert_in_range(peak - before, LAYERS * (WEIGHT_BYTES >> 10), (LAYERS + 1) * (WEIGHT_BYTES >> 10) + ROOM_KIB);
}
