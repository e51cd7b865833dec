/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * This is webnn-bench; bench/options.c has its usage, and bench/README.md describes it.
 *
 * It prints a table or JSON on stdout, and exits with 1 if a case failed or was found wrong, with 2 for wrong usage.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/subject.h"
#include "frontend/readers/files/file.h"
#include "frontend/readers/files/manifest.h"
#include "frontend/builder/builder.h"
#include "frontend/readers/model.h"
#include "frontend/tools/arguments.h"
#include "ir/interpret/interpret.h"
#include "ir/graph/ir.h"
#include "ir/support/suggest.h"
#include "ir/support/text.h"

enum { SAME_BITS_THREADS = 4 };

/* ---- timing ---- */

enum { NAME_SHOWN = 200 };

struct result {
    const char *level, *name;
    double read_ms, build_ms, first_ms, flops, bytes, rss;
    struct bench_times times;
    struct error error;
};

/** Returns the name as tables print it: a file may be called anything. */
static const char *shown_name(const struct result *r, char name[NAME_SHOWN])
{
    return escape_text(name, NAME_SHOWN, r->name, strlen(r->name));
}

/* Prints a line with what failed: names and messages come from models. */
static void print_failure(FILE *out, const char *level, const struct result *r)
{
    char name[NAME_SHOWN];

    fprintf(out, "%-9s %-28s ", level, shown_name(r, name));
    text_print_safely(out, r->error.message);
    fputc('\n', out);
}

/** Reads the model, counts what its graph costs, and builds it. */
static bool build_model(const struct bench_options *o, const char *path, struct bench_contractions *contractions,
                        struct subject *s, struct result *r)
{
    double start = bench_now();
    struct error e = {0};
    struct model model;
    bool ok = model_read(s->context, path, &o->model, &model, &e);

    r->read_ms = (bench_now() - start) * 1e3;
    if (ok) {
        bench_case_cost(model.builder->graph, &r->flops, &r->bytes);
        for (size_t i = 0; i < model.output_count; i++) /* not yet the graph's */
            r->bytes += (double)subject_bytes(&model.outputs[i].descriptor);
        ok = !contractions || bench_label_contractions(model.builder->graph, contractions);
        start = bench_now();
        ok = ok && model_build(&model, &s->graph, &e) == WNNStatus_Success;
        r->build_ms = (bench_now() - start) * 1e3;
        model_free(&model);
    }
    if (!ok)
        file_error(&r->error, "%s", e.message);
    return ok;
}

/** Builds g, or the model at path; labels contractions if they are asked for (not NULL). */
static bool build_subject(const struct bench_options *o, const char *debug, struct graph *g, const char *path,
                          struct bench_contractions *contractions, struct subject *s, struct result *r)
{
    double start;

    if (!subject_open(s, o, debug, &r->error))
        return false;
    if (path)
        return build_model(o, path, contractions, s, r);
    start = bench_now();
    bool ok = bench_case_build(g, s->context, contractions, &s->graph, &r->error) == WNNStatus_Success;
    r->build_ms = (bench_now() - start) * 1e3;
    return ok;
}

/** Tells what a graph was compiled to, for --memory and --steps. */
static bool inspect_graph(const struct bench_options *o, struct graph *g, const char *path, struct result *r)
{
    struct subject s = {0}, by_library = {0};
    struct bench_contractions contractions = {0}, same = {0};
    char debug[512], name[NAME_SHOWN];
    bool ok;

    snprintf(debug, sizeof debug, "%s%sprefer-library", o->debug ? o->debug : "", o->debug ? "," : "");
    ok = build_subject(o, o->debug, g, path, o->json ? NULL : &contractions, &s, r);
    if (ok && o->instead.memory)
        ok = bench_memory_report(shown_name(r, name), s.graph) ||
             file_error(&r->error, "intermediate values take more than 10 %% above the lower bound");
    else if (ok && o->json)
        ok = subject_bind(&s, &r->error) &&
             (bench_steps_json(r->name, s.graph, subject_run, &s, o->seconds) || subject_say_last_error(&r->error, "compute"));
    else if (ok)
        ok = build_subject(o, debug, g, path, &same, &by_library, r) && subject_bind(&s, &r->error) &&
             bench_steps_report(shown_name(r, name), s.graph, by_library.graph, &contractions, subject_run, &s, o->seconds,
                                &r->error);
    free(contractions.flops);
    free(same.flops);
    subject_close(&s);
    subject_close(&by_library);
    if (!ok)
        print_failure(stderr, "webnn-bench:", r);
    return ok;
}

/** Builds (g, or the model at path), runs, measures. */
static bool time_graph(const struct bench_options *o, struct graph *g, const char *path, struct result *r)
{
    struct subject s = {0};
    double start;
    bool ok = build_subject(o, o->debug, g, path, NULL, &s, r) && subject_bind(&s, &r->error);

    start = bench_now();
    ok = ok && (subject_run(&s) || subject_say_last_error(&r->error, "compute"));
    r->first_ms = (bench_now() - start) * 1e3;
    ok = ok && (bench_measure(subject_run, &s, o->seconds, &r->times) || subject_say_last_error(&r->error, "compute"));
    r->rss = bench_peak_rss();
    subject_close(&s);
    return ok;
}

/* ---- checking ---- */

/** Above this the interpreter, which is plain double arithmetic, takes too long. */
static const double interpret_flops_max = 6e8;

static double element(WNNOperandDataType type, const void *data, int64_t i)
{
    union scalar x = {0};

    memcpy(&x, (const char *)data + (size_t)i * dtype_size(type), dtype_size(type));
    return scalar_to_double(x, type);
}

/** Returns whether a network rounds to integers: what lies at a tie may go either way, and all that depends on it follows. */
static bool has_ties(const struct graph *g)
{
    graph_for_each (g, n)
        if (n->op == OP_QUANTIZE_LINEAR)
            return true;
    return false;
}

/** Returns how many convolutions and matmuls are on the way to a value that has most of them. */
static double contractions_before(const struct graph *g)
{
    double *most = calloc(g->value_count + 1, sizeof *most), all = 0;

    if (!most)
        return 0;
    graph_for_each (g, n) {
        double before = 0;

        for (uint32_t i = 0; i < n->input_count; i++)
            if (n->inputs[i].value)
                before = fmax(before, most[n->inputs[i].value->index]);
        before += (op_infos[n->op].flags & OPF_LIBRARY) != 0;
        for (uint32_t i = 0; i < n->result_count; i++)
            most[n->results[i]->index] = before;
        all = fmax(all, before);
    }
    free(most);
    return all;
}

/**
 * Returns how far two ways to compute a network in a precision may be apart in the mean, as a part of the results' root mean
 * square.  Both round two operands of every contraction along the way, by 2^-9 / sqrt(3) in the root mean square for bfloat16,
 * and 2^-17 for two parts; independent errors add up in squares.  For float32 and integers it is 0.
 */
static double rounding_bound(const struct bench_options *o, const struct graph *g)
{
    const double step = o->precision == WNNPrecision_Bf16 ? 0x1p-9 : o->precision == WNNPrecision_Bf16x2 ? 0x1p-17 : 0;

    return step * sqrt(2 * 2 * contractions_before(g) / 3);
}

/**
 * Returns whether the largest difference, as a part of the largest number, is small enough.  With `ties`, one of which puts a
 * handful of elements a whole step off, the mean difference counts, which has to stay well below a step of 8 bits.  With
 * `rounding` it is likewise the mean, as a part of the root mean square.
 */
static bool close_enough(const struct tensor_type *t, const void *got, const void *want, bool ties, double rounding,
                         struct error *e)
{
    double scale = 0, worst = 0, mean = 0, squares = 0;
    int64_t count = type_elements(t);

    for (int64_t i = 0; i < count; i++) {
        const double x = element(t->type, got, i), y = element(t->type, want, i);

        scale = fmax(scale, fabs(y));
        worst = fmax(worst, fabs(x - y));
        mean += fabs(x - y) / (double)count;
        squares += y * y / (double)count;
        if (isnan(x) != isnan(y))
            return file_error(e, "element %lld: NaN on one side only", (long long)i);
    }
    return worst <= 1e-4 * scale || (ties && mean <= 5e-4 * scale) || mean <= rounding * sqrt(squares) ||
           file_error(e, "differs by %g, %g in the mean, numbers go up to %g, %g in the root mean square", worst, mean, scale,
                      sqrt(squares));
}

static bool check_by_unoptimised(const struct bench_options *o, struct graph *g, const struct subject *s, struct error *e)
{
    struct subject plain = {0};
    bool ok = subject_open(&plain, o, "no-passes", e) &&
              bench_case_build(g, plain.context, NULL, &plain.graph, e) == WNNStatus_Success && subject_bind(&plain, e) &&
              (subject_run(&plain) || subject_say_last_error(e, "compute"));

    for (size_t i = 0; ok && i < s->output_count; i++)
        ok = close_enough(&g->outputs[i].value->type, s->outputs[i].data, plain.outputs[i].data, has_ties(g),
                          rounding_bound(o, g), e);
    subject_close(&plain);
    return ok;
}

static bool within_bounds(const struct tensor_type *t, const void *got, const void *want, const double *bounds, struct error *e)
{
    for (int64_t i = 0; i < type_elements(t); i++) {
        double x = element(t->type, got, i), y = element(t->type, want, i);

        if (x == y || (isnan(x) && isnan(y)) || fabs(x - y) <= bounds[i])
            continue;
        return file_error(e, "element %lld is %.9g, not %.9g within %g", (long long)i, x, y, bounds[i]);
    }
    return true;
}

static bool check_by_interpreter(struct graph *g, const struct subject *s, struct error *error)
{
    const void *inputs[BINDINGS_MAX] = {NULL};
    void *outputs[BINDINGS_MAX] = {NULL};
    double *bounds[BINDINGS_MAX] = {NULL};
    struct error e = {0};
    bool ok = true;

    for (size_t i = 0; i < s->input_count; i++)
        inputs[i] = s->inputs[i].data;
    for (size_t i = 0; i < s->output_count; i++) {
        outputs[i] = malloc(s->outputs[i].byteLength);
        bounds[i] = malloc((size_t)type_elements(&g->outputs[i].value->type) * sizeof(double));
        ok &= outputs[i] && bounds[i];
    }
    ok = ok ? graph_interpret_bounds(g, inputs, outputs, bounds, &e) || file_error(error, "interpreter: %s", e.message)
            : file_error(error, "out of memory");
    for (size_t i = 0; ok && i < s->output_count; i++)
        ok = within_bounds(&g->outputs[i].value->type, s->outputs[i].data, outputs[i], bounds[i], error);
    for (size_t i = 0; i < s->output_count; i++) {
        free(outputs[i]);
        free(bounds[i]);
    }
    return ok;
}

static bool check_graph(const struct bench_options *o, struct graph *g, struct result *r)
{
    struct subject s = {0};
    bool ok = subject_open(&s, o, o->debug, &r->error) &&
              bench_case_build(g, s.context, NULL, &s.graph, &r->error) == WNNStatus_Success && subject_bind(&s, &r->error) &&
              (subject_run(&s) || subject_say_last_error(&r->error, "compute"));

    if (ok)
        ok = r->flops <= interpret_flops_max ? check_by_interpreter(g, &s, &r->error)
                                             : check_by_unoptimised(o, g, &s, &r->error);
    subject_close(&s);
    return ok;
}

/** Returns whether all numbers of threads up to SAME_BITS_THREADS give the same bits, of g or the model at path. */
static bool compare_bits(const struct bench_options *o, struct graph *g, const char *path, struct result *r)
{
    struct subject one = {0}, several = {0};
    struct bench_options with = *o;
    bool ok = true;

    for (with.threads = 1; ok && with.threads <= SAME_BITS_THREADS; with.threads++) {
        struct subject *s = with.threads == 1 ? &one : &several;
        ok = build_subject(&with, o->debug, g, path, NULL, s, r) && subject_bind(s, &r->error) &&
             (subject_run(s) || subject_say_last_error(&r->error, "compute"));
        for (size_t i = 0; ok && s == &several && i < one.output_count; i++)
            if (memcmp(one.outputs[i].data, s->outputs[i].data, one.outputs[i].byteLength))
                ok = file_error(&r->error, "output %zu has other bits with %u threads than with one", i, with.threads);
        subject_close(&several);
    }
    subject_close(&one);
    return ok;
}

/* ---- output ---- */

static void print_header(const struct bench_options *o, const struct bench_peaks *p)
{
    if (o->json) {
        printf("{\"version\": \"%s\", \"threads\": %u, \"seconds\": %g, \"debug\": ", wnnGetVersion(), o->threads, o->seconds);
        bench_print_quoted(o->debug ? o->debug : "");
        printf(", \"processor\": ");
        bench_print_quoted(p->processor);
        printf(", \"peaks\": {");
        bench_print_peaks_json(p);
        printf("}, \"cases\": [");
        return;
    }
    printf("webnn %s, %u thread%s%s%s\n", wnnGetVersion(), o->threads, o->threads == 1 ? "" : "s", o->debug ? ", " : "",
           o->debug ? o->debug : "");
    if (o->peaks)
        bench_print_peaks(p);
    if (!o->check && !o->same_bits)
        printf("\n%-9s %-28s %9s %9s %10s %10s %10s %8s %8s %7s\n", "level", "case", "build ms", "first ms", "median ms", "p10",
               "p90", "GFLOP/s", "GB/s", "MiB");
}

static void print_peaks(const struct bench_options *o, const struct bench_peaks *p)
{
    if (!o->json) {
        bench_print_peaks(p);
        return;
    }
    printf("{\"version\": \"%s\", \"processor\": ", wnnGetVersion());
    bench_print_quoted(p->processor);
    printf(", \"threads\": %u, ", o->threads);
    bench_print_peaks_json(p);
    printf("}\n");
}

/** Prints one line that is a JSON object. */
static void print_model_line(const struct bench_options *o, const struct result *r, bool ok)
{
    const struct bench_times *t = &r->times;
    double per_ms = ok && t->median > 0 ? 1e-6 / t->median : 0;

    printf("{\"model\": ");
    bench_print_quoted(r->name);
    if (!ok) {
        printf(", \"error\": ");
        bench_print_quoted(r->error.message);
    } else {
        printf(", \"threads\": %u, \"median_ms\": %.5f, \"min_ms\": %.5f, \"p90_ms\": %.5f, \"first_ms\": %.3f, \"runs\": %zu, "
               "\"read_ms\": %.3f, \"build_ms\": %.3f, \"rss_mb\": %.1f, \"gflops\": %.3f, \"gbs\": %.3f",
               o->threads, t->median, t->min, t->p90, r->first_ms, t->runs, r->read_ms, r->build_ms, r->rss, r->flops * per_ms,
               r->bytes * per_ms);
    }
    printf("}\n");
    fflush(stdout);
}

static void print_result(const struct bench_options *o, const struct result *r, bool ok, bool first)
{
    const struct bench_times *t = &r->times;
    char name[NAME_SHOWN];
    double per_ms = ok && t->median > 0 ? 1e-6 / t->median : 0;

    if (o->json) {
        printf("%s\n  {\"level\": \"%s\", \"name\": ", first ? "" : ",", r->level);
        bench_print_quoted(r->name);
        if (!ok) {
            printf(", \"error\": ");
            bench_print_quoted(r->error.message);
        } else if (!o->check && !o->same_bits) {
            printf(", \"build_ms\": %.3f, \"first_ms\": %.3f, \"median_ms\": %.5f, \"p10_ms\": %.5f, \"p90_ms\": %.5f, "
                   "\"min_ms\": %.5f, \"runs\": %zu, \"gflops\": %.3f, \"gbs\": %.3f, \"rss_mib\": %.1f",
                   r->build_ms, r->first_ms, t->median, t->p10, t->p90, t->min, t->runs, r->flops * per_ms, r->bytes * per_ms,
                   r->rss);
        }
        printf("}");
    } else if (!ok) {
        print_failure(stdout, r->level, r);
    } else if (o->check || o->same_bits) {
        printf("%-9s %-28s ok\n", r->level, shown_name(r, name));
    } else {
        printf("%-9s %-28s %9.2f %9.3f %10.4f %10.4f %10.4f %8.2f %8.2f %7.0f\n", r->level, shown_name(r, name), r->build_ms,
               r->first_ms, t->median, t->p10, t->p90, r->flops * per_ms, r->bytes * per_ms, r->rss);
    }
    fflush(stdout);
}

/* ---- cases and models ---- */

static bool wanted(const struct bench_options *o, const struct bench_case *c)
{
    return (!o->levels || strstr(o->levels, c->level)) && (!o->pattern || strstr(c->name, o->pattern));
}

/** Checks that there is a case that the options choose.  Otherwise *e names the nearest one, if one is near. */
static bool check_names(const struct bench_options *o, const struct bench_cases *cases, struct error *e)
{
    const char *name = o->print ? o->print : o->pattern ? o->pattern : "";
    struct suggestion meant = suggestion_for(name, strlen(name));
    char shown[NAME_SHOWN];

    for (size_t i = 0; i < cases->count; i++) {
        const struct bench_case *c = &cases->items[i];

        if (o->print ? !strcmp(o->print, c->name) : wanted(o, c))
            return true;
        suggestion_offer(&meant, c->name);
    }
    return file_error(e, "there is no case '%s'%s%s --list prints their names",
                      escape_text(shown, sizeof shown, name, strlen(name)), suggestion_text(&meant), *meant.best ? " " : ";");
}

static bool run_case(const struct bench_options *o, const struct bench_case *c, struct result *r)
{
    struct graph *g = bench_case_parse(c, &r->error);
    bool ok = false;

    r->level = c->level;
    r->name = c->name;
    if (g) {
        bench_case_cost(g, &r->flops, &r->bytes);
        ok = o->check       ? check_graph(o, g, r)
             : o->same_bits ? compare_bits(o, g, NULL, r)
                            : (o->instead.memory || o->instead.steps ? inspect_graph : time_graph)(o, g, NULL, r);
        graph_free(g);
    }
    return ok;
}

/**
 * Loads the first case of a folder with a manifest, which is empty if there is none.  Returns false after an error described in
 * message.
 */
static bool load_case(const char *path, struct manifest_case *c, struct error *e)
{
    struct manifest *m;
    bool ok;

    *c = (struct manifest_case){0};
    if (!manifest_open(path, &m, e)) /* no manifest, or one that reading the model will complain of */
        return true;
    ok = manifest_case_count(m) == 0 || manifest_case_load(m, 0, c, e);
    manifest_close(m);
    return ok;
}

/** Takes the shapes of a case's inputs, but for those that the command line says something of; shapes has room for them. */
static void take_shapes(struct model_options *m, const struct manifest_case *c, struct model_shape shapes[BENCH_SIZES_MAX])
{
    if (m->dim_count || m->shape_count > BENCH_SIZES_MAX)
        return;
    for (size_t i = 0; i < m->shape_count; i++)
        shapes[i] = m->shapes[i];
    m->shapes = shapes;
    for (size_t i = 0; i < c->input_count && m->shape_count < BENCH_SIZES_MAX; i++) {
        const struct npy_array *a = &c->inputs[i].array;
        struct model_shape *shape = &shapes[m->shape_count];
        bool said = false;

        for (size_t k = 0; k < m->shape_count; k++)
            said |= !strcmp(shapes[k].name, c->inputs[i].name);
        if (said)
            continue;
        *shape = (struct model_shape){.name = c->inputs[i].name, .rank = a->rank};
        memcpy(shape->dims, a->shape, a->rank * sizeof *a->shape);
        m->shape_count++;
    }
}

static bool run_model(const struct bench_options *said, const char *path, struct result *r)
{
    const char *slash = strrchr(path, '/');
    struct bench_options o = *said;
    struct model_shape shapes[BENCH_SIZES_MAX];
    struct manifest_case c;
    bool ok;

    r->level = "model";
    r->name = slash && slash[1] ? slash + 1 : path;
    /* Models of the same kind are all called model.onnx; their folder tells them apart. */
    if (slash && !strcmp(r->name, "model.onnx"))
        for (r->name = slash; r->name > path && r->name[-1] != '/';)
            r->name--;
    ok = load_case(path, &c, &r->error);
    o.given = &c;
    if (ok)
        take_shapes(&o.model, &c, shapes);
    ok = ok && (o.same_bits                           ? compare_bits
                : o.instead.memory || o.instead.steps ? inspect_graph
                                                      : time_graph)(&o, NULL, path, r);
    manifest_case_free(&c);
    return ok;
}

static int see_sizes(struct bench_options *o)
{
    int status = 0;

    if (!o->json)
        bench_sizes_header();
    for (int i = 0; i < o->model_count; i++) {
        struct result r = {.level = "sizes", .name = o->models[i]};

        if (bench_sizes_report(o, r.name, &r.error))
            continue;
        print_failure(stderr, r.level, &r);
        status = 1;
    }
    bench_options_free(o);
    return status;
}

static int run(int argc, char **argv)
{
    struct bench_options o;
    struct bench_cases cases = {0};
    struct bench_peaks peaks = {0};
    struct error e = {0};
    bool ok, first = true;
    int status;

    if (!bench_options_parse(argc, argv, &o, &status)) {
        bench_options_free(&o);
        return status;
    }
    if (o.instead.tune)
        return !bench_tune(&o);
    if (o.instead.overhead)
        return bench_overhead_report(o.threads, o.json);
    if (o.levels && !strcmp(o.levels, "scale") && o.check)
        return !bench_scale_check(o.threads, o.pattern, o.debug);
    if (o.levels && !strcmp(o.levels, "scale"))
        return bench_scale_report(o.threads, o.pattern, o.debug, o.json);
    if (o.levels && !strcmp(o.levels, "sizes"))
        return see_sizes(&o);
    if (o.instead.peaks) {
        ok = bench_measure_peaks(o.threads, &peaks);
        print_peaks(&o, &peaks);
        return ok ? 0 : 1;
    }
    bool inspects = o.instead.memory || o.instead.steps;
    o.peaks &= !inspects && !o.check && !o.same_bits && !o.list && !o.print && !(o.model_count && o.json);
    ok = o.model_count || bench_cases_read(o.file, &cases, &e);
    for (size_t i = 0; ok && !o.model_count && bench_network_names[i]; i++) {
        char *text = bench_network_text(bench_network_names[i]);

        ok = text && bench_cases_add(&cases, "model", bench_network_names[i], text);
    }
    ok = ok && (o.model_count || check_names(&o, &cases, &e));
    if (!ok) {
        fputs("webnn-bench: ", stderr);
        text_print_safely(stderr, e.message);
        fputc('\n', stderr);
        bench_cases_free(&cases);
        return 1;
    }
    if (o.peaks)
        bench_measure_peaks(o.threads, &peaks);
    if (o.instead.memory)
        bench_memory_header();
    else if (!inspects && !o.list && !o.print && !(o.model_count && o.json))
        print_header(&o, &peaks);
    for (size_t i = 0; i < cases.count; i++) {
        const struct bench_case *c = &cases.items[i];
        struct result r = {0};

        if (o.print && !strcmp(o.print, c->name))
            printf("%s\n", c->text);
        if (o.print || !wanted(&o, c))
            continue;
        if (o.list) {
            printf("%-9s %s\n", c->level, c->name);
            continue;
        }
        ok = run_case(&o, c, &r);
        status |= !ok;
        if (!inspects)
            print_result(&o, &r, ok, first);
        first = false;
    }
    for (int i = 0; i < o.model_count && !o.list && !o.print; i++) {
        struct result r = {0};

        ok = run_model(&o, o.models[i], &r);
        status |= !ok;
        if (inspects)
            continue;
        if (o.json)
            print_model_line(&o, &r, ok);
        else
            print_result(&o, &r, ok, first);
        first = false;
    }
    if (o.json && !inspects && !o.model_count && !o.list && !o.print)
        printf("\n]}\n");
    bench_options_free(&o);
    bench_cases_free(&cases);
    return status;
}

int main(int argc, char **argv)
{
    int status = run(argc, argv);

    return output_arrived() || status ? status : 1;
}
