/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Runs the cases of a network in $WEBNN_SHARED/models through the public API. */
#pragma once

#include <math.h>

#include "frontend/readers/files/manifest.h"
#include "support/shared.h"
#include "support/test.h"

/** Holds a network that is built. */
struct network {
    struct manifest *manifest;
    WNNContext context;
    WNNGraph graph;
};

/** Opens models/name; ends the program as skipped if the data are absent, or as failed if they are required. */
static inline void network_open(struct network *n, const char *name, uint32_t threads)
{
    WNNContextOptions options = WNN_CONTEXT_OPTIONS_INIT;
    struct error e = {0};
    char folder[4096], file[4224], models[256];

    snprintf(models, sizeof models, "models/%s", name);
    shared_path(folder, sizeof folder, models);
    snprintf(file, sizeof file, "%s/manifest.json", folder);
    FILE *f = fopen(file, "rb");
    if (!f)
        exit(shared_absent(file));
    fclose(f);
    assert_works(manifest_open(folder, &n->manifest, &e), &e);
    options.threadCount = threads;
    assert_int_equal(wnnCreateContext(&options, &n->context), WNNStatus_Success);
    if (manifest_build(n->manifest, n->context, &n->graph, &e))
        fail_msg("%s: %s", name, e.message);
}

/** Frees what network_open made. */
static inline void network_close(struct network *n)
{
    wnnGraphRelease(n->graph);
    wnnContextRelease(n->context);
    manifest_close(n->manifest);
}

/** Computes a case; outputs[i] is malloc'ed and as long as the i-th expected output. */
static inline void network_compute(struct network *n, const struct manifest_case *c, float **outputs)
{
    WNNNamedBuffer in[8], out[8];

    assert_true(c->input_count <= 8 && c->output_count <= 8);
    for (size_t i = 0; i < c->input_count; i++)
        in[i] = (WNNNamedBuffer){WNN_STR(c->inputs[i].name), c->inputs[i].array.data, c->inputs[i].array.byteLength};
    size_t graph_outputs = wnnGraphGetOutputCount(n->graph);
    float *spare[8] = {NULL};
    assert_true(graph_outputs <= 8);
    for (size_t g = 0; g < graph_outputs; g++) {
        WNNNamedOperandDescriptor d;
        size_t bytes = sizeof(float);

        assert_int_equal(wnnGraphGetOutput(n->graph, g, &d), WNNStatus_Success);
        for (size_t k = 0; k < d.descriptor.rank; k++)
            bytes *= d.descriptor.shape[k];
        float *data = malloc(bytes);
        assert_non_null(data);
        spare[g] = data;
        for (size_t i = 0; i < c->output_count; i++)
            if (strlen(c->outputs[i].name) == d.name.length && !memcmp(c->outputs[i].name, d.name.data, d.name.length)) {
                assert_int_equal(bytes, c->outputs[i].array.byteLength);
                outputs[i] = data;
                spare[g] = NULL;
            }
        out[g] = (WNNNamedBuffer){d.name, data, bytes};
    }
    WNNStatus status = wnnGraphCompute(n->graph, c->input_count, in, graph_outputs, out);
    if (status)
        fail_msg("%s: %.*s", wnnStatusGetName(status), (int)wnnGetLastErrorMessage().length, wnnGetLastErrorMessage().data);
    for (size_t g = 0; g < graph_outputs; g++)
        free(spare[g]);
}

/** Returns the largest difference, and in *scale the largest absolute expected value. */
static inline double largest_difference(const float *actual, const struct npy_array *expected, double *scale)
{
    const float *e = expected->data;
    double worst = 0;

    *scale = 0;
    for (size_t i = 0; i < npy_elements(expected); i++) {
        double d = fabs((double)actual[i] - (double)e[i]);

        worst = d > worst || isnan(d) ? (isnan(d) ? INFINITY : d) : worst;
        *scale = fmax(*scale, fabs((double)e[i]));
    }
    return worst;
}

/**
 * Checks that every case is within the data's tolerance: a relative 1e-4 of the largest expected value
 * (../shared/models/README.md), or the case's own.
 */
static inline void network_check_cases(const char *name, uint32_t threads)
{
    SCOPED(network_close) struct network n = {0};

    network_open(&n, name, threads);
    assert_true(manifest_case_count(n.manifest) > 0);
    for (size_t i = 0; i < manifest_case_count(n.manifest); i++) {
        SCOPED(manifest_case_free) struct manifest_case c = {0};
        float *outputs[8] = {NULL};

        assert_done(manifest_case_load(n.manifest, i, &c, &e));
        network_compute(&n, &c, outputs);
        for (size_t k = 0; k < c.output_count; k++) {
            double scale, worst = largest_difference(outputs[k], &c.outputs[k].array, &scale);
            double allowed = c.outputs[k].atol > 0 ? c.outputs[k].atol : 1e-4 * scale;

            printf("%s case %zu %s: largest difference %g, allowed %g\n", name, i, c.outputs[k].name, worst, allowed);
            if (!(worst <= allowed))
                fail_msg("%s case %zu: %s differs by %g, allowed %g", name, i, c.outputs[k].name, worst, allowed);
            free(outputs[k]);
        }
    }
}
