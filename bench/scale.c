/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Times how build time grows with the number of nodes of a graph.
 *
 * There are three kinds of graphs: a chain of element-wise operators with a residual now and then; a value that half of the
 * nodes read, and that the others add up again in a tree; a chain of convolutions whose weights all differ, each with a bias
 * and a relu after it.  Sizes double, so that times that are not linear show.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "bench/bench.h"

const struct bench_scale bench_scales[] = {
    {"elementwise", {1250, 2500, 5000, 10000, 20000}},
    {"wide", {1250, 2500, 5000, 10000, 20000}},
    {"convolution", {312, 625, 1250, 2500, 5000}},
    {NULL, {0}},
};

/** Makes operators that no pass can fold into each other: signs, bounds and a value from some steps before. */
static WNNOperand elementwise_chain(WNNGraphBuilder b, WNNOperand x, uint32_t nodes)
{
    WNNOperand early = x;

    for (uint32_t i = 0; i < nodes; i++) {
        switch (i % 5) {
        case 0:
            x = wnnGraphBuilderTanh(b, x, NULL);
            break;
        case 1:
            x = wnnGraphBuilderMul(b, x, early, NULL);
            break;
        case 2:
            x = wnnGraphBuilderSigmoid(b, x, NULL);
            break;
        case 3:
            x = wnnGraphBuilderAdd(b, x, early, NULL);
            early = x;
            break;
        default:
            x = wnnGraphBuilderAbs(b, x, NULL);
            break;
        }
    }
    return x;
}

/** Returns a value with thousands of readers, each with a scalar of its own, and a tree over them. */
static WNNOperand wide_tree(WNNGraphBuilder b, WNNOperand x, uint32_t nodes)
{
    uint32_t leaves = nodes / 2;
    WNNOperand *level = malloc(leaves * sizeof *level), top = NULL;

    for (uint32_t i = 0; level && i < leaves; i++)
        level[i] = wnnGraphBuilderMul(
            b, x, wnnGraphBuilderConstantScalar(b, WNNOperandDataType_Float32, wnnNumber(1 + 1.0 / (1 + i))), NULL);
    for (uint32_t count = leaves; level && count > 1; count = (count + 1) / 2)
        for (uint32_t i = 0; i < (count + 1) / 2; i++)
            level[i] = 2 * i + 1 < count ? wnnGraphBuilderAdd(b, level[2 * i], level[2 * i + 1], NULL) : level[2 * i];
    if (level)
        top = level[0];
    free(level);
    return top;
}

enum { CHANNELS = 16, WINDOW = 3 };

static WNNOperand convolution_chain(WNNGraphBuilder b, WNNOperand x, uint32_t nodes)
{
    uint32_t filter_shape[] = {CHANNELS, CHANNELS, WINDOW, WINDOW}, bias_shape[] = {CHANNELS}, padding[] = {1, 1, 1, 1};
    WNNOperandDescriptor filter = {WNNOperandDataType_Float32, 4, filter_shape, NULL},
                         bias = {WNNOperandDataType_Float32, 1, bias_shape, NULL};
    float weights[CHANNELS * CHANNELS * WINDOW * WINDOW], zeros[CHANNELS] = {0};

    for (uint32_t i = 0; i < nodes; i++) {
        WNNConv2dOptions o = WNN_CONV2D_OPTIONS_INIT;

        bench_noise(WNNOperandDataType_Float32, sizeof weights, i + 1, weights);
        o.paddingCount = 4;
        o.padding = padding;
        o.bias = wnnGraphBuilderConstant(b, &bias, zeros, sizeof zeros);
        x = wnnGraphBuilderConv2d(b, x, wnnGraphBuilderConstant(b, &filter, weights, sizeof weights), &o);
        x = wnnGraphBuilderRelu(b, x, NULL);
    }
    return x;
}

bool bench_scale_time(const char *kind, uint32_t nodes, uint32_t threads, const char *debug, double *ms)
{
    bool convolutions = !strcmp(kind, "convolution");
    uint32_t shape[] = {1, CHANNELS, 14, 14};
    WNNOperandDescriptor d = {WNNOperandDataType_Float32, 4, shape, NULL};
    WNNContextOptions options = WNN_CONTEXT_OPTIONS_INIT;
    WNNContext context = NULL;
    WNNGraphBuilder b = NULL;
    WNNGraph graph = NULL;
    double start = bench_now();
    bool ok;

    options.accelerated = false;
    options.cache = WNN_STR("off");
    options.threadCount = threads;
    if (debug)
        options.debug = WNN_STR(debug);
    ok = !wnnCreateContext(&options, &context) && !wnnContextCreateGraphBuilder(context, &b);
    if (ok) {
        WNNOperand x = wnnGraphBuilderInput(b, WNN_STR("x"), &d);

        x = convolutions            ? convolution_chain(b, x, nodes)
            : !strcmp(kind, "wide") ? wide_tree(b, x, nodes)
                                    : elementwise_chain(b, x, nodes);
        ok = wnnGraphBuilderBuild(b, 1, &(WNNNamedOperand){WNN_STR("y"), x}, &graph) == WNNStatus_Success;
    }
    *ms = (bench_now() - start) * 1e3;
    wnnGraphRelease(graph);
    wnnGraphBuilderRelease(b);
    wnnContextRelease(context);
    return ok;
}

/* ---- checking ---- */

/** Four times the nodes may take so many times the processor time: 4 is linear, 16 quadratic, and caches are shared. */
enum { CHECKED_STEP = 2 };
static const double GROWTH_MAX = 8;

static bool say_failed(const char *kind, uint32_t nodes)
{
    WNNStringView text = wnnGetLastErrorMessage();

    fprintf(stderr, "webnn-bench: %s of %u nodes: %.*s\n", kind, nodes, (int)text.length, text.data);
    return false;
}

/**
 * Keeps freed memory in the process.  Otherwise a second build of a small graph finds the pages of the first, a large one asks
 * the kernel for its pages again, and growth shows that is not the compiler's.
 */
static void keep_memory(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

/** Returns the milliseconds of processor time that all threads of this process have taken. */
static double processor_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/**
 * Measures the processor time of a build, the best of two, or of up to four until one takes at most `most`: time of other
 * processes does not count, but they evict caches.
 */
static bool time_best(const char *kind, uint32_t nodes, uint32_t threads, const char *debug, double most, double *ms)
{
    for (int i = 0; i < 2 || (i < 4 && *ms > most); i++) {
        double elapsed, start = processor_ms();

        if (!bench_scale_time(kind, nodes, threads, debug, &elapsed))
            return say_failed(kind, nodes);
        double taken = processor_ms() - start;
        *ms = i && *ms < taken ? *ms : taken;
    }
    return true;
}

bool bench_scale_check(uint32_t threads, const char *pattern, const char *debug)
{
    bool good = true;

    keep_memory();
    for (const struct bench_scale *s = bench_scales; s->kind; s++) {
        uint32_t few = s->nodes[BENCH_SCALE_SIZES - 1 - CHECKED_STEP], many = s->nodes[BENCH_SCALE_SIZES - 1];
        double short_ms, long_ms;

        if (pattern && !strstr(s->kind, pattern))
            continue;
        if (!time_best(s->kind, few, threads, debug, INFINITY, &short_ms) ||
            !time_best(s->kind, many, threads, debug, GROWTH_MAX * short_ms, &long_ms))
            return false;
        bool linear = long_ms <= GROWTH_MAX * short_ms;
        printf("%-12s %u nodes %.1f ms of processor time, %u nodes %.1f ms%s\n", s->kind, few, short_ms, many, long_ms,
               linear ? "" : ": not linear");
        good &= linear;
    }
    return good;
}

/* ---- the curve ---- */

int bench_scale_report(uint32_t threads, const char *pattern, const char *debug, bool json)
{
    bool first = true;
    int status = 0;

    if (json)
        printf("{\"version\": \"%s\", \"threads\": %u, \"scale\": [", wnnGetVersion(), threads);
    else
        printf("%-12s %7s %10s %10s %9s\n", "graph", "nodes", "build ms", "us a node", "exponent");
    for (const struct bench_scale *s = bench_scales; s->kind; s++) {
        double before = 0, ms;

        for (int i = 0; i < BENCH_SCALE_SIZES; i++) {
            if (pattern && !strstr(s->kind, pattern))
                continue;
            if (!bench_scale_time(s->kind, s->nodes[i], threads, debug, &ms)) {
                say_failed(s->kind, s->nodes[i]);
                status = 1;
                break;
            }
            if (json) {
                printf("%s\n  {\"graph\": \"%s\", \"nodes\": %u, \"build_ms\": %.3f}", first ? "" : ",", s->kind, s->nodes[i],
                       ms);
            } else {
                printf("%-12s %7u %10.1f %10.2f ", s->kind, s->nodes[i], ms, ms * 1e3 / s->nodes[i]);
                /* The exponents mean: 1 linear, 2 quadratic; against half as many nodes. */
                if (before > 0)
                    printf("%9.2f", log2(ms / before));
                printf("\n");
            }
            fflush(stdout);
            before = ms;
            first = false;
        }
    }
    if (json)
        printf("\n]}\n");
    return status;
}
