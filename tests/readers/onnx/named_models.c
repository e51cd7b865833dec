/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * onnx-named-models MODEL READS SIZES ...
 *
 * Asks a dynamic model for graphs of several sizes, "batch=2,length=33" each, and computes them.  The results must be those of
 * the file read for these numbers, but for sums that are added in another order.  The file must have been read READS times in
 * the end, and without a reason to read it for each of the sizes, or for "numbers" once for each of them after one attempt.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "webnn/webnn_model.h"
#include "../../support/help.h"

enum { PORTS_MAX = 200, DIMENSIONS_MAX = 8 };

static _Noreturn void die(const char *what, WNNStringView why)
{
    printf("%s: %.*s\n", what, (int)(why.length == WNN_STRLEN ? strlen(why.data) : why.length), why.data ? why.data : "");
    exit(1);
}

/** Returns an input's elements: numbers from -0.5 to 0.5, small whole ones, and ones in a mask. */
static void *make_input(const WNNNamedOperandDescriptor *d, size_t bytes)
{
    const size_t size = wnnOperandDataTypeGetByteSize(d->descriptor.dataType);
    const bool mask = strstr(d->name.data, "mask");
    char *data = calloc(bytes + 1, 1);
    uint32_t state = 1;

    for (size_t i = 0; data && i < bytes / size; i++) {
        state = state * 1664525u + 1013904223u;
        const float x = (float)(state >> 8) / (1 << 24) - 0.5f;
        const int64_t whole = mask ? 1 : state >> 8 & 63;

        memcpy(data + i * size, d->descriptor.dataType == WNNOperandDataType_Float32 ? (const void *)&x : &whole, size);
    }
    return data;
}

/** Returns whether results are equal, or floats that differ by less than 2^-12 of the largest: a wrong shape makes others. */
static bool agree(const WNNNamedBuffer *a, const WNNNamedBuffer *b, WNNOperandDataType type)
{
    const float *x = a->data, *y = b->data;
    float largest = 0, difference = 0;

    if (a->byteLength != b->byteLength || type != WNNOperandDataType_Float32)
        return a->byteLength == b->byteLength && !memcmp(x, y, a->byteLength);
    for (size_t i = 0; i < a->byteLength / sizeof *x; i++) {
        largest = fmaxf(largest, fabsf(y[i]));
        difference = x[i] == y[i] ? difference : fmaxf(difference, isfinite(x[i] - y[i]) ? fabsf(x[i] - y[i]) : INFINITY);
    }
    return difference <= largest / 4096;
}

/** Computes a graph.  outputs gets its results, whose number is returned. */
static size_t compute(WNNGraph graph, WNNNamedBuffer *outputs)
{
    const size_t input_count = wnnGraphGetInputCount(graph), output_count = wnnGraphGetOutputCount(graph);
    WNNNamedBuffer inputs[PORTS_MAX];
    WNNNamedOperandDescriptor d;

    if (input_count > PORTS_MAX || output_count > PORTS_MAX)
        die("inputs and outputs", WNN_STR("too many"));
    for (size_t i = 0; i < input_count && !wnnGraphGetInput(graph, i, &d); i++)
        inputs[i] = (WNNNamedBuffer){d.name, make_input(&d, wnnOperandDescriptorGetByteLength(&d.descriptor)),
                                     wnnOperandDescriptorGetByteLength(&d.descriptor)};
    for (size_t i = 0; i < output_count && !wnnGraphGetOutput(graph, i, &d); i++)
        outputs[i] = (WNNNamedBuffer){d.name, calloc(wnnOperandDescriptorGetByteLength(&d.descriptor) + 1, 1),
                                      wnnOperandDescriptorGetByteLength(&d.descriptor)};
    if (wnnGraphCompute(graph, input_count, inputs, output_count, outputs))
        die("compute", wnnGetLastErrorMessage());
    for (size_t i = 0; i < input_count; i++)
        free((void *)inputs[i].data);
    return output_count;
}

/** Returns the dimensions of a text, which is changed. */
static size_t read_sizes(char *text, WNNModelDimension *dimensions)
{
    size_t count = 0;

    for (char *word = strtok(text, ","), *size; word && count < DIMENSIONS_MAX; word = strtok(NULL, ",")) {
        size = strchr(word, '=');
        if (!size)
            die(word, WNN_STR("no size"));
        dimensions[count++] = (WNNModelDimension){{word, (size_t)(size - word)}, (uint32_t)strtoul(size + 1, NULL, 10)};
    }
    return count;
}

/** Compares the graph of these sizes with that of the file read for them. */
static bool compare(WNNContext context, const char *path, WNNDynamicModel model, size_t count,
                    const WNNModelDimension *dimensions)
{
    WNNModelOptions numbers = WNN_MODEL_OPTIONS_INIT;
    WNNDynamicModelOptions options = WNN_DYNAMIC_MODEL_OPTIONS_INIT;
    WNNNamedBuffer got[PORTS_MAX], want[PORTS_MAX];
    WNNDynamicModel fixed;
    WNNNamedOperandDescriptor d;
    WNNGraph graph, other;
    bool same;

    numbers.dimensionCount = count;
    numbers.dimensions = dimensions;
    options.model = &numbers;
    if (wnnDynamicModelGetGraph(model, count, dimensions, 0, NULL, &graph) ||
        wnnDynamicModelCreate(context, path, &options, &fixed) || wnnDynamicModelGetGraph(fixed, 0, NULL, 0, NULL, &other))
        die(path, wnnModelGetLastErrorMessage());
    const size_t outputs = compute(graph, got);
    same = compute(other, want) == outputs;
    for (size_t i = 0; i < outputs; i++) {
        same = same && !wnnGraphGetOutput(graph, i, &d) && agree(&got[i], &want[i], d.descriptor.dataType);
        free(got[i].data);
        free(want[i].data);
    }
    wnnGraphRelease(graph);
    wnnGraphRelease(other);
    wnnDynamicModelRelease(fixed);
    return same;
}

PROGRAM_HELP("usage: onnx-named-models MODEL READS SIZES ...\n")
int main(int argc, char **argv)
{
    WNNModelDimension dimensions[DIMENSIONS_MAX];
    const char *reason;
    WNNContext context;
    WNNDynamicModel model;
    bool ok = true;

    if (argc < 4)
        return WRONG_USAGE;
    if (wnnCreateContext(NULL, &context))
        die("context", wnnGetLastErrorMessage());
    if (wnnDynamicModelCreate(context, argv[1], NULL, &model))
        die(argv[1], wnnModelGetLastErrorMessage());
    for (int i = 3; i < argc; i++) {
        printf("%s: %s", argv[1], argv[i]);
        const bool same = compare(context, argv[1], model, read_sizes(argv[i], dimensions), dimensions);

        printf(": %s\n", same ? "equal" : "other results than of the file read for these numbers");
        ok = ok && same;
    }
    const uint64_t reads = wnnDynamicModelGetReadCount(model, &reason);
    const bool numbers = !strcmp(argv[2], "numbers");
    const uint64_t expected = numbers ? (uint64_t)argc - 2 : strtoul(argv[2], NULL, 10);
    if (reads != expected || numbers != (reason != NULL)) {
        printf("%s was read %lu times, not %lu; %s\n", argv[1], (unsigned long)reads, (unsigned long)expected,
               reason ? reason : "there is no reason");
        ok = false;
    }
    wnnDynamicModelRelease(model);
    wnnContextRelease(context);
    return !ok;
}
