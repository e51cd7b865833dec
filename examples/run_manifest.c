/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Runs any network that is described by a manifest (docs/formats.md).
 *
 *   run_manifest MODEL_FOLDER [INPUT.npy ...] [--threads N]
 *
 * With .npy files: binds them to the graph's inputs in order and prints what comes out.  Without: runs the cases that come with
 * the network and prints how far the results are from the expected ones.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "frontend/readers/files/manifest.h"

enum { TENSORS_MAX = 16 };

static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int report(const char *what)
{
    WNNStringView text = wnnGetLastErrorMessage();

    fprintf(stderr, "run_manifest: %s: %.*s\n", what, (int)text.length, text.data);
    return 1;
}

/* Prints shape, range, and the places of the five largest elements. */
static void print_output(const WNNNamedOperandDescriptor *d, const float *data)
{
    size_t n = wnnOperandDescriptorGetByteLength(&d->descriptor) / sizeof(float);
    double low = INFINITY, high = -INFINITY, sum = 0;
    double bound = INFINITY;

    printf("  %.*s [", (int)d->name.length, d->name.data);
    for (size_t i = 0; i < d->descriptor.rank; i++)
        printf("%s%u", i ? ", " : "", d->descriptor.shape[i]);
    for (size_t i = 0; i < n; i++) {
        low = fmin(low, data[i]);
        high = fmax(high, data[i]);
        sum += data[i];
    }
    printf("]: %g to %g, mean %g; largest at", low, high, sum / (double)n);
    for (int k = 0; k < 5 && (size_t)k < n; k++) {
        size_t best = SIZE_MAX;

        for (size_t i = 0; i < n; i++)
            if (data[i] < bound && (best == SIZE_MAX || data[i] > data[best]))
                best = i;
        if (best == SIZE_MAX)
            break;
        printf(" %zu (%g)", best, data[best]);
        bound = data[best];
    }
    printf("\n");
}

/* Computes once.  The outputs are malloc'ed and the caller's, also after a failure. */
static int compute(WNNGraph graph, size_t input_count, const WNNNamedBuffer *inputs, float **outputs, double *ms)
{
    size_t count = wnnGraphGetOutputCount(graph);
    WNNNamedBuffer named[TENSORS_MAX];
    WNNNamedOperandDescriptor d;
    double start;

    if (count > TENSORS_MAX) {
        fprintf(stderr, "run_manifest: more than %d outputs\n", TENSORS_MAX);
        return 1;
    }
    for (size_t i = 0; i < count; i++) {
        if (wnnGraphGetOutput(graph, i, &d))
            return report("output");
        outputs[i] = malloc(wnnOperandDescriptorGetByteLength(&d.descriptor));
        if (!outputs[i]) {
            fprintf(stderr, "run_manifest: out of memory\n");
            return 1;
        }
        named[i] = (WNNNamedBuffer){d.name, outputs[i], wnnOperandDescriptorGetByteLength(&d.descriptor)};
    }
    start = now_ms();
    if (wnnGraphCompute(graph, input_count, inputs, count, named))
        return report("compute");
    *ms = now_ms() - start;
    return 0;
}

static int run_files(WNNGraph graph, size_t count, char *const *paths)
{
    struct npy_array arrays[TENSORS_MAX] = {{0}};
    WNNNamedBuffer inputs[TENSORS_MAX];
    float *outputs[TENSORS_MAX] = {NULL};
    WNNNamedOperandDescriptor d;
    struct error e = {0};
    int result = 0;
    double ms;

    if (count != wnnGraphGetInputCount(graph) || count > TENSORS_MAX) {
        fprintf(stderr, "run_manifest: %zu files for %zu inputs\n", count, wnnGraphGetInputCount(graph));
        return 1;
    }
    for (size_t i = 0; i < count && !result; i++) {
        if (!npy_read(paths[i], &arrays[i], &e)) {
            fprintf(stderr, "run_manifest: %s\n", e.message);
            result = 1;
        } else if (wnnGraphGetInput(graph, i, &d)) {
            result = report("input");
        } else {
            inputs[i] = (WNNNamedBuffer){d.name, arrays[i].data, arrays[i].byteLength};
        }
    }
    if (!result)
        result = compute(graph, count, inputs, outputs, &ms);
    if (!result) {
        printf("computed in %.2f ms\n", ms);
        for (size_t i = 0; i < wnnGraphGetOutputCount(graph); i++)
            if (!wnnGraphGetOutput(graph, i, &d) && d.descriptor.dataType == WNNOperandDataType_Float32)
                print_output(&d, outputs[i]);
    }
    for (size_t i = 0; i < TENSORS_MAX; i++) {
        free(outputs[i]);
        npy_free(&arrays[i]);
    }
    return result;
}

static int run_case(const struct manifest *manifest, WNNGraph graph, size_t index)
{
    float *outputs[TENSORS_MAX] = {NULL};
    WNNNamedBuffer inputs[TENSORS_MAX];
    WNNNamedOperandDescriptor d;
    struct manifest_case c;
    struct error e = {0};
    int result;
    double ms;

    if (!manifest_case_load(manifest, index, &c, &e)) {
        fprintf(stderr, "run_manifest: %s\n", e.message);
        return 1;
    }
    for (size_t i = 0; i < c.input_count && i < TENSORS_MAX; i++)
        inputs[i] = (WNNNamedBuffer){WNN_STR(c.inputs[i].name), c.inputs[i].array.data, c.inputs[i].array.byteLength};
    result = compute(graph, c.input_count, inputs, outputs, &ms);
    if (!result) {
        const char *note = manifest_case_text(manifest, index, "note");

        printf("case %zu%s%.60s: computed in %.2f ms\n", index, note ? ", " : "", note ? note : "", ms);
        for (size_t g = 0; g < wnnGraphGetOutputCount(graph); g++) {
            if (wnnGraphGetOutput(graph, g, &d) || d.descriptor.dataType != WNNOperandDataType_Float32)
                continue;
            print_output(&d, outputs[g]);
            for (size_t k = 0; k < c.output_count; k++) {
                const float *expected = c.outputs[k].array.data;
                double worst = 0;

                if (strlen(c.outputs[k].name) != d.name.length || memcmp(c.outputs[k].name, d.name.data, d.name.length) ||
                    c.outputs[k].array.byteLength != wnnOperandDescriptorGetByteLength(&d.descriptor))
                    continue;
                for (size_t i = 0; i < npy_elements(&c.outputs[k].array); i++) {
                    double difference = fabs((double)outputs[g][i] - (double)expected[i]);

                    worst = isnan(difference) ? INFINITY : fmax(worst, difference);
                }
                printf("    largest difference from the expected result: %g\n", worst);
            }
        }
    }
    for (size_t i = 0; i < TENSORS_MAX; i++)
        free(outputs[i]);
    manifest_case_free(&c);
    return result;
}

int main(int argc, char **argv)
{
    WNNContextOptions options = WNN_CONTEXT_OPTIONS_INIT;
    struct manifest *manifest = NULL;
    const char *folder = NULL;
    struct error e = {0};
    char *paths[TENSORS_MAX];
    size_t count = 0;
    WNNContext context = NULL;
    WNNGraph graph = NULL;
    double start;
    int result = 0;

    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--threads") && i + 1 < argc)
            options.threadCount = (uint32_t)strtoul(argv[++i], NULL, 10);
        else if (!folder)
            folder = argv[i];
        else if (count < TENSORS_MAX)
            paths[count++] = argv[i];
    }
    if (!folder) {
        fprintf(stderr, "usage: run_manifest MODEL_FOLDER [INPUT.npy ...] [--threads N]\n");
        return 2;
    }
    if (!manifest_open(folder, &manifest, &e)) {
        fprintf(stderr, "run_manifest: %s\n", e.message);
        return 1;
    }
    start = now_ms();
    if (wnnCreateContext(&options, &context)) {
        result = report("context");
    } else if (manifest_build(manifest, context, &graph, &e)) {
        fprintf(stderr, "run_manifest: %s\n", e.message);
        result = 1;
    } else {
        printf("%s (%s): loaded and built in %.1f ms\n", manifest_name(manifest), manifest_task(manifest), now_ms() - start);
        if (count)
            result = run_files(graph, count, paths);
        for (size_t i = 0; !count && !result && i < manifest_case_count(manifest); i++)
            result = run_case(manifest, graph, i);
    }
    wnnGraphRelease(graph);
    wnnContextRelease(context);
    manifest_close(manifest);
    return result;
}
