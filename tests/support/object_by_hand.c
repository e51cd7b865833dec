/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * This is a shared object as webnnc would make it, written by hand: y = x * scale and sum(x).  It is compiled as it is (no
 * model), with HAND_MODEL, and with HAND_WRONG (a description that contradicts itself).  A negative scale fails, so that errors
 * are seen, too.
 */
#include "webnn/webnn_object.h"

#include <stdlib.h>

#if defined(__GNUC__)
#define EXPORT __attribute__((visibility("default")))
#else
#define EXPORT
#endif

struct job {
    const float *x;
    float scale, *y, *partial;
};

static void part(void *data, uint32_t i, uint32_t parts)
{
    const struct job *j = data;

    j->partial[i] = 0;
    for (uint32_t k = i; k < 6; k += parts) {
        j->y[k] = j->x[k] * j->scale;
        j->partial[i] += j->x[k];
    }
}

static int compute(float *workspace, const struct webnn_object_parallel *parallel, const float *x, const float *scale, float *y,
                   float *sum)
{
    struct job j = {x, *scale, y, workspace};
    uint32_t parts = parallel ? parallel->threads : 1;

    if (*scale < 0)
        return WEBNN_OBJECT_LIBRARY_FAILED;
    if (parallel)
        parallel->run(parallel->user, parts, part, &j);
    else
        part(&j, 0, 1);
    *sum = 0;
    for (uint32_t i = 0; i < parts; i++)
        *sum += workspace[i];
    return WEBNN_OBJECT_OK;
}

static const uint32_t matrix[] = {2, 3};
static const struct webnn_object_tensor inputs[] = {{"x", WEBNN_OBJECT_FLOAT32, 2, matrix, 24},
                                                    {"scale", WEBNN_OBJECT_FLOAT32, 0, NULL, 4}};
static const struct webnn_object_tensor outputs[] = {
#if defined(HAND_WRONG)
    {"y", WEBNN_OBJECT_FLOAT32, 2, (const uint32_t[]){1, 7}, 24},
#else
    {"y", WEBNN_OBJECT_FLOAT32, 2, matrix, 24},
#endif
    {"sum", WEBNN_OBJECT_FLOAT32, 0, NULL, 4}};

#if defined(HAND_MODEL)

struct hand_model {
    uint32_t threads;
};

static int create(const struct webnn_object_options *options, struct hand_model **model)
{
    if (options->structSize != sizeof *options)
        return WEBNN_OBJECT_BAD_ARGUMENT;
    *model = malloc(sizeof **model);
    if (!*model)
        return WEBNN_OBJECT_NO_MEMORY;
    (*model)->threads = options->threads;
    return WEBNN_OBJECT_OK;
}

static void destroy(struct hand_model *model)
{
    free(model);
}

static int run(struct hand_model *model, const float *x, const float *scale, float *y, float *sum)
{
    float workspace[1];

    return model->threads == 3 ? compute(workspace, NULL, x, scale, y, sum) : WEBNN_OBJECT_BAD_ARGUMENT;
}

#define FUNCTIONS (webnn_object_function) run, (webnn_object_function)create, (webnn_object_function)destroy, NULL, NULL
enum { FLAGS = WEBNN_OBJECT_HAS_MODEL };

#else

static int run(const float *x, const float *scale, float *y, float *sum)
{
    float workspace[1];

    return compute(workspace, NULL, x, scale, y, sum);
}

static size_t workspace_size(uint32_t threads)
{
    return threads * sizeof(float);
}

#define FUNCTIONS (webnn_object_function) run, NULL, NULL, (webnn_object_function)workspace_size, (webnn_object_function)compute
enum { FLAGS = 0 };

#endif

#define HEAD WEBNN_OBJECT_MAGIC, WEBNN_OBJECT_VERSION, sizeof(struct webnn_object), FLAGS
extern const struct webnn_object webnn_object_v1;
EXPORT const struct webnn_object webnn_object_v1 = {HEAD,   "hand",  "by hand", "any", 2,   2,
                                                    inputs, outputs, FUNCTIONS, NULL,  NULL};
