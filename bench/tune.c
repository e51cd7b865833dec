/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Tunes the facts about a device that its schedules go by.
 *
 * One fact after the other gets the value with which a few contractions, and a normalisation, take the least time in the
 * geometric mean; then all of them again, since they depend on each other, until nothing changes or the rounds are over.
 * Graphs are built again for every value, and what comes out of them is compared with what the first facts give: no time counts
 * that is of something else.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "ir/graph/ir.h"
#include "runtime/api/context.h"

enum { CASES = 7, ROUNDS_MOST = 3, CASE_SHARE = 20 /* of --seconds, for each case */ };

/* A choice has to gain so much to count: less is noise. */
static const double least_gain = 0.02;

#define GRAPH(text) "webnn_graph \"tune\" v1 { " text " outputs { y; } }"

static const struct bench_case cases[CASES] = {
    {"tune", "matmul",
     GRAPH("inputs { x: f32[384, 384]; } consts { w: f32[384, 384] @weights(\"384\"); } nodes { y = matmul(x, w); }")},
    {"tune", "matmul of float16",
     GRAPH("inputs { x: f32[512, 512]; } consts { w: f16[512, 512] @weights(\"512\"); } nodes { h = cast(x, float16); m = "
           "matmul(h, w); y = cast(m, float32); }")},
    {"tune", "matmul of one row",
     GRAPH("inputs { x: f32[1, 1024]; } consts { w: f32[1024, 1024] @weights(\"1024\"); } nodes { y = matmul(x, w); }")},
    {"tune", "convolution 1x1",
     GRAPH("inputs { x: f32[1, 96, 28, 28]; } consts { w: f32[64, 96, 1, 1] @weights(\"96\"); } nodes { y = conv2d(x, w); }")},
    {"tune", "convolution 3x3",
     GRAPH("inputs { x: f32[1, 32, 28, 28]; } consts { w: f32[32, 32, 3, 3] @weights(\"288\"); } "
           "nodes { y = conv2d(x, w, padding=[1, 1, 1, 1]); }")},
    {"tune", "depthwise convolution",
     GRAPH("inputs { x: f32[1, 64, 28, 28]; } consts { w: f32[64, 1, 3, 3] @weights(\"9\"); } "
           "nodes { y = conv2d(x, w, padding=[1, 1, 1, 1], groups=64); }")},
    {"tune", "softmax", GRAPH("inputs { x: f32[64, 1024]; } nodes { y = softmax(x, 1); }")},
};

/* A case with its data. */
struct tuned {
    WNNNamedBuffer x, y;
    float *first; /* what the first facts give */
    WNNGraph graph;
};

struct tuner {
    WNNContext context;
    const struct engine_tools *tools;
    struct gpu_facts *facts;
    double seconds;
    const char *pattern; /* in the names of cases, or NULL */
    struct tuned cases[CASES];
};

static bool run_once(void *user)
{
    struct tuned *c = user;

    return wnnGraphCompute(c->graph, 1, &c->x, 1, &c->y) == WNNStatus_Success;
}

static bool bind(WNNNamedBuffer *b, const WNNNamedOperandDescriptor *d, const char *name)
{
    size_t bytes = sizeof(float);

    for (size_t i = 0; i < d->descriptor.rank; i++)
        bytes *= d->descriptor.shape[i];
    if (!b->data)
        b->data = calloc(1, bytes);
    b->name = (WNNStringView){name, strlen(name)};
    b->byteLength = bytes;
    return b->data != NULL;
}

static bool close_to_first(const struct tuned *c)
{
    const float *y = c->y.data;

    for (size_t i = 0; i < c->y.byteLength / sizeof(float); i++)
        if (!(fabs((double)y[i] - (double)c->first[i]) <= 1e-3 + fabs((double)c->first[i]) / 1024)) /* one step of float16 */
            return false;
    return true;
}

/* Returns milliseconds of the fastest run, or 0 after a message. */
static double time_case(struct tuner *t, uint32_t number)
{
    struct tuned *c = &t->cases[number];
    struct bench_times times = {0};
    WNNNamedOperandDescriptor d;
    struct error e = {.message = "it computes something else than with the first facts"};
    struct graph *g = bench_case_parse(&cases[number], &e);
    bool ok = g && bench_case_build(g, t->context, NULL, &c->graph, &e) == WNNStatus_Success &&
              !wnnGraphGetInput(c->graph, 0, &d) && bind(&c->x, &d, "x") && !wnnGraphGetOutput(c->graph, 0, &d) &&
              bind(&c->y, &d, "y");

    if (ok && !c->first)
        bench_noise(WNNOperandDataType_Float32, c->x.byteLength, number + 1, c->x.data);
    ok = ok && bench_measure(run_once, c, t->seconds, &times);
    if (ok && !c->first && (c->first = malloc(c->y.byteLength)))
        memcpy(c->first, c->y.data, c->y.byteLength);
    ok = ok && c->first && close_to_first(c);
    wnnGraphRelease(c->graph);
    c->graph = NULL;
    graph_free(g);
    if (!ok)
        fprintf(stderr, "webnn-bench: %s: %s\n", cases[number].name, e.message);
    return ok ? times.min : 0;
}

/* Returns the mean of the logarithms of all times, or NAN after a message. */
static double time_all(struct tuner *t)
{
    uint32_t count = 0;
    double sum = 0;

    for (uint32_t i = 0; i < CASES; i++) {
        if (t->pattern && !strstr(cases[i].name, t->pattern))
            continue;
        const double ms = time_case(t, i);

        if (!(ms > 0))
            return NAN;
        sum += log(ms);
        count++;
    }
    if (!count)
        fprintf(stderr, "webnn-bench: no case to tune by has '%s' in its name\n", t->pattern);
    return sum / count; /* NAN: there is none */
}

/* Gives a fact the best of its values.  *best becomes the time with it.  Returns false after a message. */
static bool tune_fact(struct tuner *t, const struct gpu_tunable *f, double *best, bool *changed)
{
    uint32_t *fact = (uint32_t *)((char *)t->facts + f->offset), kept = *fact;

    *best = time_all(t); /* again, since the machine is not as fast at all times */
    if (isnan(*best))
        return false;
    for (uint32_t i = 0; i < f->value_count; i++) {
        if (f->values[i] == kept)
            continue;
        *fact = f->values[i];
        const double time = time_all(t);
        if (isnan(time)) {
            *fact = kept;
            return false;
        }
        printf("%-16s %3" PRIu32 ": %6.3f of the time\n", f->name, f->values[i], exp(time - *best));
        fflush(stdout);
        if (time < *best - least_gain) {
            *best = time;
            kept = *fact;
            *changed = true;
        }
    }
    *fact = kept;
    return true;
}

/* Goes back to the first facts unless all choices together gain something.  Returns how much they do, or NAN after a
 * message. */
static double weigh(struct tuner *t, const struct gpu_facts *first)
{
    const struct gpu_facts chosen = *t->facts;
    const double after = time_all(t);

    *t->facts = *first;
    const double before = time_all(t), gain = exp(before - after);
    if (!(gain > 1 + least_gain))
        return isnan(gain) ? NAN : 1;
    *t->facts = chosen;
    return gain;
}

static bool tune(struct tuner *t)
{
    const struct gpu_facts first = *t->facts;
    struct error e = {.status = WNNStatus_Success};
    bool changed = true, ok = true;
    double best = 0, gain;

    for (int round = 0; ok && changed && round < ROUNDS_MOST; round++) {
        changed = false;
        for (uint32_t i = 0; ok && target_gpu_tunable(i); i++)
            ok = tune_fact(t, target_gpu_tunable(i), &best, &changed);
    }
    if (!ok || isnan(gain = weigh(t, &first)))
        return false;
    if (!t->tools->tuning->keep_facts(t->context->engine, &e)) {
        fprintf(stderr, "webnn-bench: %s\n", e.message);
        return false;
    }
    for (uint32_t i = 0; target_gpu_tunable(i); i++)
        printf("%s%s %" PRIu32, i ? ", " : "kept: ", target_gpu_tunable(i)->name,
               *(const uint32_t *)((const char *)t->facts + target_gpu_tunable(i)->offset));
    printf("; %.2f times as fast as before\n", gain);
    return true;
}

static bool tune_context(WNNContext context, double seconds, const char *pattern)
{
    struct tuner t = {
        .context = context, .tools = context->engine->functions->optional.tools, .seconds = seconds, .pattern = pattern};

    if (!t.tools || !t.tools->tuning) {
        fprintf(stderr,
                "webnn-bench: --tune is for devices: the engine \"%s\" has nothing to tune; choose a device by --engine gpu\n",
                context->engine->functions->name);
        return false;
    }
    t.facts = t.tools->tuning->device_facts(context->engine);
    const bool ok = tune(&t);
    for (uint32_t i = 0; i < CASES; i++) {
        free(t.cases[i].x.data);
        free(t.cases[i].y.data);
        free(t.cases[i].first);
    }
    return ok;
}

bool bench_tune(const struct bench_options *o)
{
    WNNContextOptions c = WNN_CONTEXT_OPTIONS_INIT;
    WNNContext context;

    if (o->debug)
        c.debug = (WNNStringView){o->debug, strlen(o->debug)};
    if (wnnCreateContext(&c, &context)) {
        fprintf(stderr, "webnn-bench: %s\n", wnnGetLastErrorMessage().data);
        return false;
    }
    const bool ok = tune_context(context, o->seconds / CASE_SHARE, o->pattern);
    wnnContextRelease(context);
    return ok;
}
