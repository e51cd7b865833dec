/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A compiled network with the caller's parallel-for: the same bits as without, from several threads at a time, and nothing
 * beyond the workspace is touched.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lenet.h"
#include "webnn/webnn_object.h"
#include "webnn/webnn_rt.h"

enum { THREADS = 3, GUARD = 4096, RUNS = 4 };

static float input[lenet_input_elements];
static float expected[lenet_probabilities_elements];
static unsigned regions; /* parallel ones */

struct part {
    void (*function)(void *data, uint32_t i, uint32_t parts);
    void *data;
    uint32_t i, parts;
};

static void *run_part(void *user)
{
    struct part *p = user;
    p->function(p->data, p->i, p->parts);
    return NULL;
}

static void parallel_for(void *user, uint32_t parts, void (*function)(void *data, uint32_t i, uint32_t parts), void *data)
{
    pthread_t threads[THREADS];
    struct part all[THREADS];

    if (parts < 2 || parts > THREADS || user != &regions)
        abort();
    __atomic_add_fetch(&regions, 1, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < parts; i++) {
        all[i] = (struct part){function, data, i, parts};
        if (pthread_create(&threads[i], NULL, run_part, &all[i]))
            abort();
    }
    for (uint32_t i = 0; i < parts; i++)
        pthread_join(threads[i], NULL);
}

/* Any run, with guards around its workspace. */
static int run_guarded(const struct webnn_object_parallel *parallel)
{
    size_t bytes = lenet_workspace_size(parallel ? parallel->threads : 1);
    unsigned char *memory = malloc(bytes + 2 * GUARD);
    float logits[lenet_logits_elements], probabilities[lenet_probabilities_elements];
    int ok = memory != NULL && bytes == lenet_WORKSPACE_BYTES(parallel ? parallel->threads : 1);

    if (ok)
        memset(memory, 0xA5, bytes + 2 * GUARD);
    ok = ok && lenet_run_with(memory + GUARD, parallel, input, logits, probabilities) == WEBNN_OBJECT_OK;
    ok = ok && !memcmp(probabilities, expected, sizeof expected);
    for (size_t i = 0; ok && i < GUARD; i++)
        ok = memory[i] == 0xA5 && memory[GUARD + bytes + i] == 0xA5;
    free(memory);
    return ok;
}

static void *run_many(void *failed)
{
    const struct webnn_object_parallel parallel = {THREADS, parallel_for, &regions};

    for (int i = 0; i < RUNS; i++)
        if (!run_guarded(&parallel) || !run_guarded(NULL))
            __atomic_store_n((int *)failed, 1, __ATOMIC_RELAXED);
    return NULL;
}

/* The threads of libwebnn_rt, where the program is linked with it. */
static int run_on_rt(void)
{
    int good = 1;
#ifdef WITH_RT
    struct webnn_object_parallel parallel;

    webnn_rt_parallel(THREADS, &parallel);
    good = good && parallel.threads == THREADS && run_guarded(&parallel);
    webnn_rt_parallel(0, &parallel);
    good = good && parallel.threads > 0 && run_guarded(&parallel);
#endif
    return good;
}

int main(int argc, char **argv)
{
    float logits[lenet_logits_elements];
    FILE *f = argc == 2 ? fopen(argv[1], "rb") : NULL;
    pthread_t threads[2];
    int failed = 0;

    if (!f || fseek(f, -(long)sizeof input, SEEK_END) || fread(input, 1, sizeof input, f) != sizeof input)
        return 2;
    fclose(f);
    if (lenet_run(input, logits, expected) != WEBNN_OBJECT_OK)
        return 3;
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, run_many, &failed))
            return 4;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%u parallel regions\n", regions);
    return failed || !regions || !run_on_rt();
}
