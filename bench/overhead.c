/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Times what a computation costs apart from its kernels, in microseconds.
 *
 * A graph of one relu of 16 numbers takes as long as `compute` needs to check bindings, find an invocation, start and come
 * back; in a chain of such steps that are kept apart each further one costs what the step walker does.
 *
 * Dispatch is timed until it returns: of the tiny graph, which is computed before it returns, and of one that the timeline's
 * thread computes.  For that one it is timed with the timeline idle for a moment, when its thread still looks out for work,
 * with it idle for long, when the thread sleeps and has to be woken, and with work queued before it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"

enum { ELEMENTS = 16, WORK = 4096, CHAIN = 64, ROUNDS = 200, BURST = 16 };

static const double SHORT_PAUSE = 20e-6, LONG_PAUSE = 5e-3;

/** Builds relu, neg, relu, ... */
static bool build_chain(WNNContext context, uint32_t length, uint32_t elements, WNNGraph *graph)
{
    uint32_t shape[] = {elements};
    WNNOperandDescriptor d = {WNNOperandDataType_Float32, 1, shape, NULL};
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
    bool ok = build_chain(context, length, ELEMENTS, &c.graph) && bench_measure(compute, &c, 0.1, &times);

    wnnGraphRelease(c.graph);
    if (ok)
        *us = times.median * 1e3;
    return ok;
}

/* ---- dispatch ---- */

struct dispatching {
    WNNContext context;
    WNNGraph graph;
    WNNTensor from, to;
};

static bool dispatch_open(WNNContext context, uint32_t length, uint32_t elements, struct dispatching *d)
{
    uint32_t shape[] = {elements};
    WNNTensorDescriptor t = {
        .dataType = WNNOperandDataType_Float32, .rank = 1, .shape = shape, .readable = true, .writable = true};

    *d = (struct dispatching){.context = context};
    return build_chain(context, length, elements, &d->graph) && !wnnContextCreateTensor(context, &t, &d->from) &&
           !wnnContextCreateTensor(context, &t, &d->to);
}

static void dispatch_close(struct dispatching *d)
{
    wnnTensorRelease(d->from);
    wnnTensorRelease(d->to);
    wnnGraphRelease(d->graph);
}

static bool dispatch(const struct dispatching *d)
{
    WNNNamedTensor input = {WNN_STR("x"), d->from}, output = {WNN_STR("y"), d->to};

    return wnnContextDispatch(d->context, d->graph, 1, &input, 1, &output) == WNNStatus_Success;
}

static bool dispatch_once(void *user)
{
    return dispatch(user);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/**
 * Times a dispatch until it returns, in microseconds: the first of a burst, so many seconds after the last has ended, and in
 * the mean each of those after it.  The pause is spent computing, which is when another core has to be woken; a caller who
 * slept as well may find the thread on his own core.
 */
static bool time_bursts(const struct dispatching *d, int rounds, double pause, double *idle, double *queued)
{
    double first[ROUNDS], others[ROUNDS];
    float y[WORK];

    for (int i = 0; i < rounds; i++) {
        double start = bench_now(), after;

        while (bench_now() - start < pause)
            ;
        start = bench_now();
        if (!dispatch(d))
            return false;
        after = bench_now();
        first[i] = (after - start) * 1e6;
        for (int k = 1; k < BURST; k++)
            if (!dispatch(d))
                return false;
        others[i] = (bench_now() - after) * 1e6 / (BURST - 1);
        if (wnnContextReadTensor(d->context, d->to, y, WORK * sizeof *y)) /* which waits */
            return false;
    }
    qsort(first, (size_t)rounds, sizeof *first, by_size);
    qsort(others, (size_t)rounds, sizeof *others, by_size);
    *idle = first[rounds / 2];
    *queued = others[rounds / 2];
    return true;
}

static bool dispatch_and_read(void *user)
{
    const struct dispatching *d = user;
    float y[ELEMENTS];

    return dispatch(d) && wnnContextReadTensor(d->context, d->to, y, sizeof y) == WNNStatus_Success;
}

static bool time_brief(WNNContext context, double *dispatched, double *read)
{
    struct dispatching d;
    struct bench_times times[2];
    bool ok = dispatch_open(context, 1, ELEMENTS, &d) && bench_measure(dispatch_once, &d, 0.1, &times[0]) &&
              bench_measure(dispatch_and_read, &d, 0.1, &times[1]);

    dispatch_close(&d);
    if (ok) {
        *dispatched = times[0].median * 1e3;
        *read = times[1].median * 1e3;
    }
    return ok;
}

static bool time_dispatch(WNNContext context, struct bench_overhead *out)
{
    struct dispatching d;
    double ignored;
    bool ok = dispatch_open(context, 8, WORK, &d) &&
              time_bursts(&d, ROUNDS, SHORT_PAUSE, &out->dispatch_idle, &out->dispatch_queued) &&
              time_bursts(&d, ROUNDS / 4, LONG_PAUSE, &out->dispatch_asleep, &ignored);

    dispatch_close(&d);
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
    options.accelerated = false;
    options.threadCount = threads;
    options.debug = WNN_STR("skip=fuse-kernels");
    ok = !wnnCreateContext(&options, &context) && time_chain(context, 1, &out->compute) && time_chain(context, CHAIN, &chain) &&
         time_brief(context, &out->dispatch_brief, &out->dispatch_read) && time_dispatch(context, out);
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
        printf("{\"threads\": %u, \"compute_us\": %.3f, \"step_us\": %.3f, \"dispatch_brief_us\": %.3f, \"dispatch_read_us\": "
               "%.3f, \"dispatch_idle_us\": %.3f, \"dispatch_asleep_us\": %.3f, \"dispatch_queued_us\": %.3f}\n",
               threads, o.compute, o.step, o.dispatch_brief, o.dispatch_read, o.dispatch_idle, o.dispatch_asleep,
               o.dispatch_queued);
    else
        printf("compute, a graph of one step of 16 numbers        %8.2f us\n"
               "each further step                                 %8.2f us\n"
               "dispatch of that graph                            %8.2f us\n"
               "dispatch of that graph, and readTensor            %8.2f us\n"
               "dispatch of more returns, idle for 20 us          %8.2f us\n"
               "dispatch of more returns, idle for 5 ms           %8.2f us\n"
               "dispatch of more returns, work queued before it   %8.2f us\n",
               o.compute, o.step, o.dispatch_brief, o.dispatch_read, o.dispatch_idle, o.dispatch_asleep, o.dispatch_queued);
    return 0;
}
