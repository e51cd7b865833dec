/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Measures what sizes that were not seen before cost a graph with named dimensions.
 *
 * Random sizes are planned one after the other, and computed, so that all that is made on demand is there for the next one.  At
 * the last of them the graph is timed in turns with one that was read for these numbers.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/bench.h"
#include "bench/subject.h"
#include "frontend/readers/files/file.h"
#include "ir/graph/constant_pool.h"
#include "runtime/api/context.h"
#include "runtime/engine/cpu/internal.h"

enum { SIZES = 40, PRICED = 3, NAMES_MAX = 8, ATTEMPTS = 100 };

/** Says which sizes a dimension has, by its name and a part of the network's; the first row that fits counts. */
static const struct range_row {
    const char *network, *name;
    uint32_t least, most, step;
    const char *sum[2]; /* or it is the sum of two others, which come before it */
} ranges[] = {
    {"", "batch", 1, 4, 1, {NULL}},         {"unet", "height", 96, 320, 32, {NULL}},
    {"unet", "width", 96, 320, 32, {NULL}}, {"", "height", 96, 320, 1, {NULL}},
    {"", "width", 96, 320, 1, {NULL}},      {"", "length", 1, 300, 1, {NULL}},
    {"", "sequence", 1, 512, 1, {NULL}},    {"", "past", 1, 512, 1, {NULL}},
    {"", "frames", 100, 3000, 1, {NULL}},   {"", "steps", 1, 500, 1, {NULL}},
    {"", "total", 0, 0, 0, {"past", "sequence"}},
};

/** Holds a network, its names, and the sizes they have in this turn. */
struct sized {
    const struct bench_options *o;
    const char *path;
    struct subject named;
    size_t count;
    char names[NAMES_MAX][64];
    WNNNamedSize sizes[NAMES_MAX];
    uint32_t state; /* of the random numbers */
};

static double processor_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static bool read_network(const struct sized *n, struct subject *s, bool named, struct error *e)
{
    struct model_options options = n->o->model;
    struct model_dim dims[NAMES_MAX];
    struct model model;

    for (size_t i = 0; i < n->count; i++)
        dims[i] = (struct model_dim){n->names[i], n->sizes[i].size};
    options.named = named;
    if (!named) {
        options.dims = dims;
        options.dim_count = n->count;
    }
    if (!subject_open(s, n->o, n->o->debug, e) || !model_read(s->context, n->path, &options, &model, e))
        return false;
    const bool ok = model_build(&model, &s->graph, e) == WNNStatus_Success;
    model_free(&model);
    return ok;
}

static bool take_names(struct sized *n, struct error *e)
{
    WNNNamedOperandDescriptor d;

    for (size_t i = 0; i < wnnGraphGetInputCount(n->named.graph) && !wnnGraphGetInput(n->named.graph, i, &d); i++)
        for (size_t k = 0; d.descriptor.dimensions && k < d.descriptor.rank; k++) {
            const WNNStringView name = d.descriptor.dimensions[k].name;
            size_t at = 0;

            while (at < n->count && (strlen(n->names[at]) != name.length || memcmp(n->names[at], name.data, name.length) != 0))
                at++;
            if (!name.length || at < n->count)
                continue;
            if (at == NAMES_MAX)
                return file_error(e, "more than %d named dimensions", NAMES_MAX);
            snprintf(n->names[at], sizeof n->names[at], "%.*s", (int)name.length, name.data);
            n->sizes[n->count++].name = WNN_STR(n->names[at]);
        }
    return n->count || file_error(e, "the network has no named dimensions");
}

/** Fills in the size of each name: the sums are known in a second round. */
static bool choose_sizes(struct sized *n, struct error *e)
{
    for (size_t i = 0; i < 2 * n->count; i++) {
        const size_t at = i % n->count;
        const struct range_row *r = ranges, *end = ranges + sizeof ranges / sizeof *ranges;

        while (r < end && (strcmp(r->name, n->names[at]) != 0 || !strstr(n->path, r->network)))
            r++;
        if (r == end)
            return file_error(e, "no range is known of dimension \"%s\"", n->names[at]);
        if (r->sum[0] && i >= n->count) {
            n->sizes[at].size = 0;
            for (size_t k = 0; k < n->count; k++)
                n->sizes[at].size += !strcmp(n->names[k], r->sum[0]) || !strcmp(n->names[k], r->sum[1]) ? n->sizes[k].size : 0;
        } else if (!r->sum[0] && i < n->count) {
            n->state = n->state * 1664525u + 1013904223u;
            n->sizes[at].size = r->least + (n->state >> 8) % ((r->most - r->least) / r->step + 1) * r->step;
        }
    }
    return true;
}

/** Holds what was seen of one network. */
struct seen {
    size_t count, compiling, late; /* sizes; those for which something was compiled, and those in the second half */
    uint32_t structures;
    uint64_t packed;
    double times[SIZES], rss, price;
};

static uint32_t structures_of(const struct sized *n)
{
    struct codegen *c = cpu_of(n->named.context->engine)->codegen;
    struct codegen_times times = {0};

    if (c)
        codegen_get_times(c, &times);
    return times.structures;
}

static uint64_t packed_of(const struct sized *n)
{
    return constant_pool_count(cpu_of(n->named.context->engine)->target.pool).made;
}

/** Makes the graph of the sizes of this turn, with buffers, in *s, and computes once. */
static bool plan(struct sized *n, struct subject *s, double *ms, struct error *e)
{
    const double start = processor_ms();
    const WNNStatus status = wnnGraphGetVariant(n->named.graph, n->count, n->sizes, &s->graph);

    *ms = processor_ms() - start;
    return (!status || subject_say_last_error(e, "planning")) && subject_bind(s, e) &&
           (subject_run(s) || subject_say_last_error(e, "compute"));
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare_doubles);
    return count ? values[count / 2] : NAN;
}

/** Returns the time of a computation divided by that of a graph that was read for these sizes. */
static bool price(struct sized *n, struct subject *s, double *ratio, struct error *e)
{
    enum { TURNS = 15 };
    struct subject fixed = {0};
    double ratios[TURNS];
    bool ok = read_network(n, &fixed, false, e) && subject_bind(&fixed, e);

    for (int i = 0; ok && i < TURNS + 2; i++) {
        double start = processor_ms(), time;

        ok = subject_run(s);
        time = processor_ms() - start;
        start = processor_ms();
        ok = ok && subject_run(&fixed);
        if (i >= 2)
            ratios[i - 2] = time / (processor_ms() - start);
        ok = ok || subject_say_last_error(e, "compute");
    }
    subject_close(&fixed);
    if (ok)
        *ratio = median(ratios, TURNS);
    return ok;
}

/** Prints a line that is a JSON object. */
static void print_size(const struct sized *n, double ms, uint32_t structures)
{
    printf("{\"model\": ");
    bench_print_quoted(n->path);
    for (size_t k = 0; k < n->count; k++) {
        printf(", ");
        bench_print_quoted(n->names[k]);
        printf(": %u", n->sizes[k].size);
    }
    printf(", \"planned_ms\": %.3f, \"structures\": %u}\n", ms, structures);
}

static bool see(struct sized *n, struct seen *out, struct error *e)
{
    double prices[PRICED], resident = 0;
    uint64_t packed = 0;

    for (uint32_t i = 0; i < SIZES; i++) {
        struct subject s = {0};
        const uint32_t before = structures_of(n);
        double ms = 0;
        bool ok = choose_sizes(n, e) && plan(n, &s, &ms, e);
        const uint32_t compiled = structures_of(n) - before;

        if (ok && n->o->json)
            print_size(n, ms, compiled);
        if (ok && i >= SIZES - PRICED)
            ok = price(n, &s, &prices[i - (SIZES - PRICED)], e);
        s.context = NULL;
        subject_close(&s);
        if (!ok)
            return false;
        if (i == 0) { /* the first one makes everything */
            packed = packed_of(n);
            resident = bench_peak_rss();
            continue;
        }
        out->times[out->count++] = ms;
        out->compiling += compiled > 0;
        out->late += compiled > 0 && i > SIZES / 2;
        out->structures += compiled;
        out->packed = packed_of(n) - packed;
        if (i < SIZES - PRICED)
            out->rss = bench_peak_rss() - resident;
    }
    out->price = median(prices, PRICED);
    return true;
}

void bench_sizes_header(void)
{
    printf("network\tsizes\tmedian\tworst\tcompiled\tlate\tstructures\tpacked\tMiB\tprice\n");
}

bool bench_sizes_report(const struct bench_options *o, const char *path, struct error *e)
{
    struct sized n = {.o = o, .path = path, .state = 1};
    struct seen seen = {0};
    const char *slash = strrchr(path, '/');
    bool ok = read_network(&n, &n.named, true, e) && take_names(&n, e) && see(&n, &seen, e);

    if (ok && !o->json) {
        const double middle = median(seen.times, seen.count);

        printf("%s\t%zu\t%.2f\t%.2f\t%zu\t%zu\t%u\t%llu\t%.0f\t%.2f\n", slash ? slash + 1 : path, seen.count, middle,
               seen.times[seen.count - 1], seen.compiling, seen.late, seen.structures, (unsigned long long)seen.packed,
               seen.rss, seen.price);
    }
    subject_close(&n.named);
    return ok;
}
