/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a computation costs beside its kernels.  In: the number of threads.  Out: microseconds.
 *
 * A graph of one relu of 16 numbers takes as long as `compute` needs to check bindings, find an execution, start and come back;
 * in a chain of such steps that are kept apart each further one costs what the step walker does.  Dispatch is timed until it
 * returns, with the timeline idle, which is when its thread has to be woken, and with work queued before it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"

enum { ELEMENTS = 16, CHAIN = 64, ROUNDS = 200, BURST = 16 };

/** relu, neg, relu, ... */
static bool build_chain(WNNContext context, uint32_t length, WNNGraph *graph)
{
    uint32_t shape[] = {ELEMENTS};
    WNNOperandDescriptor d = {WNNOperandDataType_Float32, 1, shape};
    WNNGraphBuilder b = NULL;
    WNNOperand x;
    WNNStatus status;

    *graph = NULL;
    if (wnnContextCreateGraphBuilder(context, &b))
        return false;
    x = wnnGraphBuilderInput(b, WNN_STR("x"), &d);
    for (uint32_t i = 0; i < length; i++)
        x = i % 2 ? wnnGraphBuilderNeg(b, x, NULL) : wnnGraphBuilderRelu(b, x, NULL);
    status = wnnGraphBuilderBuild(b, 1, &(WNNNamedOperand){WNN_STR("y"), x}, graph);
    wnnGraphBuilderRelease(b);
    return status == WNNStatus_Success;
}

/* ---- compute ---- */

struct chain {
    WNNGraph graph;
    WNNNamedBuffer input, output;
};

static bool compute(void *user)
{
    struct chain *c = user;

    return wnnGraphCompute(c->graph, 1, &c->input, 1, &c->output) == WNNStatus_Success;
}

static bool time_chain(WNNContext context, uint32_t length, double *us)
{
    _Alignas(64) float x[ELEMENTS] = {0}, y[ELEMENTS];
    struct chain c = {NULL, {WNN_STR("x"), x, sizeof x}, {WNN_STR("y"), y, sizeof y}};
    struct bench_times times;
    bool ok = build_chain(context, length, &c.graph) && bench_measure(compute, &c, 0.1, &times);

    wnnGraphRelease(c.graph);
    if (ok)
        *us = times.median * 1e3;
    return ok;
}

/* ---- dispatch ---- */

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/** Microseconds until a dispatch returns: the first of a burst on an idle timeline, and in the mean each of those behind it. */
static bool time_bursts(WNNContext context, WNNGraph graph, WNNTensor from, WNNTensor to, double *idle, double *queued)
{
    WNNNamedTensor input = {WNN_STR("x"), from}, output = {WNN_STR("y"), to};
    double first[ROUNDS], others[ROUNDS];
    float y[ELEMENTS];

    for (int i = 0; i < ROUNDS; i++) {
        double start = bench_now(), after;

        if (wnnContextDispatch(context, graph, 1, &input, 1, &output))
            return false;
        after = bench_now();
        first[i] = (after - start) * 1e6;
        for (int k = 1; k < BURST; k++)
            if (wnnContextDispatch(context, graph, 1, &input, 1, &output))
                return false;
        others[i] = (bench_now() - after) * 1e6 / (BURST - 1);
        if (wnnContextReadTensor(context, to, y, sizeof y)) /* which waits */
            return false;
    }
    qsort(first, ROUNDS, sizeof *first, by_size);
    qsort(others, ROUNDS, sizeof *others, by_size);
    *idle = first[ROUNDS / 2];
    *queued = others[ROUNDS / 2];
    return true;
}

static bool time_dispatch(WNNContext context, double *idle, double *queued)
{
    uint32_t shape[] = {ELEMENTS};
    WNNTensorDescriptor d = {WNNOperandDataType_Float32, 1, shape, true, true};
    WNNTensor from = NULL, to = NULL;
    WNNGraph graph = NULL;
    bool ok = build_chain(context, 1, &graph) && !wnnContextCreateTensor(context, &d, &from) &&
              !wnnContextCreateTensor(context, &d, &to) && time_bursts(context, graph, from, to, idle, queued);

    wnnTensorRelease(from);
    wnnTensorRelease(to);
    wnnGraphRelease(graph);
    return ok;
}

/* ---- the whole ---- */

bool bench_measure_overhead(uint32_t threads, struct bench_overhead *out)
{
    WNNContextOptions options = WNN_CONTEXT_OPTIONS_INIT;
    WNNContext context = NULL;
    double chain = 0;
    bool ok;

    memset(out, 0, sizeof *out);
    options.threadCount = threads;
    options.debug = WNN_STR("skip=fuse-kernels");
    ok = !wnnCreateContext(&options, &context) && time_chain(context, 1, &out->compute) && time_chain(context, CHAIN, &chain) &&
         time_dispatch(context, &out->dispatch_idle, &out->dispatch_queued);
    out->step = (chain - out->compute) / (CHAIN - 1);
    wnnContextRelease(context);
    return ok;
}

int bench_overhead_report(uint32_t threads, bool json)
{
    struct bench_overhead o;

    if (!bench_measure_overhead(threads, &o)) {
        WNNStringView text = wnnGetLastErrorMessage();

        fprintf(stderr, "webnn-bench: %.*s\n", (int)text.length, text.data);
        return 1;
    }
    if (json)
        printf("{\"threads\": %u, \"compute_us\": %.3f, \"step_us\": %.3f, \"dispatch_idle_us\": %.3f, \"dispatch_queued_us\": "
               "%.3f}\n",
               threads, o.compute, o.step, o.dispatch_idle, o.dispatch_queued);
    else
        printf("compute, a graph of one step of 16 numbers  %8.2f us\n"
               "each further step                           %8.2f us\n"
               "dispatch returns, timeline idle             %8.2f us\n"
               "dispatch returns, work queued before it     %8.2f us\n",
               o.compute, o.step, o.dispatch_idle, o.dispatch_queued);
    return 0;
}
