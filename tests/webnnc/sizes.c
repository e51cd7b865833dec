/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * An object that takes sizes computes what the library does without oneDNN, at each combination of sizes, and refuses others.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/readers/files/npy.h"
#include "frontend/readers/model.h"
#include "../support/help.h"
#include "webnn/webnn_object.h"

PROGRAM_HELP("usage: test-webnnc-sizes OBJECT.so MODEL.onnx SWITCHES [SUM]   SUM: a dimension that is the sum of the sizes\n")

enum { ARGUMENTS = 24, SIZES = 4 };

static const struct webnn_object_sizes *object_of(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const struct webnn_object_sizes *o = library ? dlsym(library, WEBNN_OBJECT_SYMBOL) : NULL;

    if (!o || o->object.version != WEBNN_OBJECT_SIZES_VERSION)
        exit(fprintf(stderr, "%s\n", library ? "another version" : dlerror()));
    return o;
}

/* Calls run, or with a workspace run_with: all arguments are words of the calling convention, and those after them ignored. */
static int run(const struct webnn_object_sizes *o, void *workspace, const uint32_t *sizes, void *const *tensors)
{
    typedef int words(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
                      uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);
    uintptr_t a[ARGUMENTS] = {(uintptr_t)workspace};
    uint32_t n = workspace ? 2 : 0;

    for (uint32_t i = 0; i < o->size_count; i++)
        a[n++] = sizes[i];
    for (uint32_t i = 0; i < o->object.input_count + o->object.output_count; i++)
        a[n++] = (uintptr_t)tensors[i];
    return ((words *)(workspace ? o->object.run_with : o->object.run))(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8],
                                                                       a[9], a[10], a[11], a[12], a[13], a[14], a[15]);
}

/* Fills an input with small numbers of its type. */
static void fill(const struct npy_array *a)
{
    for (size_t i = 0; i < npy_elements(a); i++)
        if (a->dataType == WNNOperandDataType_Int64)
            ((int64_t *)a->data)[i] = (int64_t)(i * 7 % 5 + 1);
        else
            ((float *)a->data)[i] = (float)(i * 7919 % 1009) / 512 - 1;
}

/* Returns whether floats are those of the library, which has other bits where this processor's caches make it choose others. */
static int equal(const float *x, const float *y, size_t count)
{
    float largest = 0, difference = 0;

    for (size_t i = 0; i < count; i++) {
        largest = fmaxf(largest, fabsf(y[i]));
        difference = fmaxf(difference, isnan(x[i] - y[i]) ? INFINITY : fabsf(x[i] - y[i]));
    }
    return difference <= 1e-4f * largest; /* the models' README */
}

/* Returns whether the object gives what the graph gives at these sizes. */
static int same(const struct webnn_object_sizes *o, WNNGraph graph, const uint32_t *sizes)
{
    const uint32_t inputs = o->object.input_count, count = inputs + o->object.output_count;
    WNNNamedBuffer buffers[ARGUMENTS];
    void *tensors[ARGUMENTS], *workspace = malloc(((size_t (*)(uint32_t))o->object.workspace_size)(1));

    for (uint32_t i = 0; i < count; i++) {
        WNNNamedOperandDescriptor d;
        struct npy_array a;

        if ((i < inputs ? wnnGraphGetInput(graph, i, &d) : wnnGraphGetOutput(graph, i - inputs, &d)) ||
            !npy_create(&d.descriptor, &a, NULL))
            return 0;
        if (i < inputs)
            fill(&a);
        buffers[i] = (WNNNamedBuffer){d.name, a.data, a.byteLength};
        tensors[i] = i < inputs ? a.data : calloc(1, a.byteLength);
    }
    int ok = !wnnGraphCompute(graph, inputs, buffers, count - inputs, buffers + inputs) && !run(o, workspace, sizes, tensors);
    for (uint32_t i = 0; i < count; i++) {
        ok &= i < inputs || equal(tensors[i], buffers[i].data, buffers[i].byteLength / sizeof(float));
        if (i >= inputs)
            free(tensors[i]);
        free(buffers[i].data);
    }
    free(workspace);
    return ok;
}

/* Returns whether sizes that the object does not have are refused, and pointers that are NULL. */
static int refuses(const struct webnn_object_sizes *o)
{
    void *tensors[ARGUMENTS] = {NULL};
    uint32_t sizes[SIZES], i = 0;
    int ok = 1;

    for (i = 0; i < o->size_count; i++)
        sizes[i] = o->sizes[i].values[0];
    ok &= run(o, NULL, sizes, tensors) == WEBNN_OBJECT_BAD_ARGUMENT;
    for (i = 0; i < ARGUMENTS; i++)
        tensors[i] = tensors;
    for (i = 0; i < o->size_count; i++) {
        const uint32_t wrong[] = {0, o->sizes[i].values[o->sizes[i].count - 1] + 1, UINT32_MAX};
        for (uint32_t k = 0; k < 3; k++) {
            sizes[i] = wrong[k];
            ok &= run(o, NULL, sizes, tensors) == WEBNN_OBJECT_BAD_SIZE;
        }
        sizes[i] = o->sizes[i].values[0];
    }
    return ok;
}

int main(int argc, char **argv)
{
    WNNContextOptions options = WNN_CONTEXT_OPTIONS_INIT;
    const struct webnn_object_sizes *o = object_of(argv[1]);
    WNNNamedSize named[SIZES + 1];
    WNNContext context;
    struct model model;
    struct error e = {0};
    uint32_t sizes[SIZES], count = 1, wrong = !refuses(o);
    WNNGraph graph = NULL, variant = NULL;

    options.threadCount = 1;
    options.debug = (WNNStringView){argv[3], strlen(argv[3])};
    if (wnnCreateContext(&options, &context) ||
        !model_read(context, argv[2], &(struct model_options){.named = true}, &model, &e) || model_build(&model, &graph, &e))
        return fprintf(stderr, "%s\n", e.message);
    for (uint32_t i = 0; i < o->size_count; i++)
        count *= o->sizes[i].count;
    for (uint32_t id = count; id-- > 0;) {
        uint32_t sum = 0, rest = id;

        for (uint32_t i = o->size_count; i-- > 0; rest /= o->sizes[i].count) {
            sizes[i] = o->sizes[i].values[rest % o->sizes[i].count];
            named[i] = (WNNNamedSize){{o->sizes[i].name, strlen(o->sizes[i].name)}, sizes[i]};
            sum += sizes[i];
        }
        named[o->size_count] = (WNNNamedSize){{argv[argc - 1], strlen(argv[argc - 1])}, sum};
        if (wnnGraphGetVariant(graph, o->size_count + (argc > 4), named, &variant) || !same(o, variant, sizes)) {
            fprintf(stderr, "at %u, %u: differs\n", sizes[0], sizes[o->size_count - 1]);
            wrong++;
        }
        wnnGraphRelease(variant);
    }
    printf("%u combinations\n", count);
    wnnGraphRelease(graph);
    model_free(&model);
    wnnContextRelease(context);
    return wrong != 0;
}
