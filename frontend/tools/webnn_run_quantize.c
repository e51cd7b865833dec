/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Implements webnn-run --quantize-weights: what the model computes with its weights as they are, and how far the results with
 * quantized weights are from that.
 */
#include <math.h>
#include <stdlib.h>

#include "frontend/readers/files/element.h"
#include "frontend/tools/webnn_run.h"

/* ---- the model as it is ---- */

static bool allocate_outputs(WNNGraph graph, struct reference *r)
{
    const size_t count = wnnGraphGetOutputCount(graph);
    WNNNamedOperandDescriptor d;
    struct npy_array array;
    struct error e = {0};

    r->outputs = calloc(count + 1, sizeof *r->outputs);
    for (; r->outputs && r->count < count; r->count++) {
        if (wnnGraphGetOutput(graph, r->count, &d))
            return complain_last("output");
        if (!npy_create(&d.descriptor, &array, &e))
            return complain("%s", e.message);
        r->outputs[r->count] = (WNNNamedBuffer){d.name, array.data, array.byteLength}; /* the name is the graph's */
    }
    return r->outputs || complain("out of memory");
}

/* Builds the model and computes once. */
static bool compute(const struct run_options *o, const struct model *m, size_t input_count, const WNNNamedBuffer *inputs,
                    struct reference *r)
{
    WNNGraph graph = NULL;
    struct error e = {0};

    progress_begin(o, "building the graph with its weights as they are");
    bool ok = model_build(m, &graph, &e) == WNNStatus_Success;
    progress_end();
    if (!ok)
        complain("%s", e.message);
    ok = ok && allocate_outputs(graph, r);
    if (ok && wnnGraphCompute(graph, input_count, inputs, r->count, r->outputs))
        ok = complain_last("");
    wnnGraphRelease(graph);
    return ok;
}

bool reference_compute(const struct run_options *o, struct sources *s, WNNContext context, size_t input_count,
                       const WNNNamedBuffer *inputs, struct reference *r)
{
    struct model m = {0};
    bool ok = sources_read_model(o, s, context, &m) && compute(o, &m, input_count, inputs, r);

    model_free(&m);
    return ok;
}

void reference_free(struct reference *r)
{
    for (size_t i = 0; r->outputs && i < r->count + 1; i++)
        free(r->outputs[i].data);
    free(r->outputs);
}

/* ---- errors ---- */

static size_t find_largest(const struct npy_array *a, const void *data, size_t first, size_t count)
{
    size_t largest = first;

    for (size_t i = first; i < first + count; i++)
        if (element_get(a->dataType, data, i) > element_get(a->dataType, data, largest))
            largest = i;
    return largest;
}

/* Prints in how many rows the largest element is the same one: what a classifier or a language model says. */
static void print_rows(const struct npy_array *a, const void *expected)
{
    const size_t length = a->rank ? a->shape[a->rank - 1] : 1, count = npy_elements(a);
    size_t same = 0;

    if (length < 2 || count / length == 0)
        return;
    for (size_t first = 0; first < count; first += length)
        same += find_largest(a, a->data, first, length) == find_largest(a, expected, first, length);
    printf(", largest element the same in %zu of %zu rows", same, count / length);
}

static void print_error(const struct result *r, const void *expected)
{
    const struct npy_array *a = &r->array;
    const size_t count = npy_elements(a);
    double worst = 0, errors = 0, values = 0;

    for (size_t i = 0; i < count; i++) {
        const double e = element_get(a->dataType, expected, i), error = element_get(a->dataType, a->data, i) - e;

        if (!isfinite(e))
            continue; /* -infinity in a mask, for example */
        worst = fmax(worst, isnan(error) ? INFINITY : fabs(error));
        errors += error * error;
        values += e * e;
    }
    printf("%s with quantized weights: largest error %.3g", NAME_SHOWN(r->name), worst);
    if (values > 0)
        printf(", root mean square error %.3g of the output's", sqrt(errors / values));
    print_rows(a, expected);
    printf("\n");
}

void results_print_errors(const WNNQuantizedWeights *weights, const struct reference *r, size_t count,
                          const struct result *results)
{
    if (!weights->matrices) {
        printf("no weights were quantized: no matmul has constant ones that are large enough\n");
        return;
    }
    printf("quantized %llu matrices, %.2f MB, to %.2f MB\n", (unsigned long long)weights->matrices,
           (double)weights->bytesBefore / 1e6, (double)weights->bytesAfter / 1e6);
    for (size_t i = 0; i < count && i < r->count; i++)
        print_error(&results[i], r->outputs[i].data);
}
