/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "frontend/tools/report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend/readers/files/file.h"
#include "frontend/tools/arguments.h"
#include "ir/support/json.h"
#include "ir/support/new_file.h"

/** This is report.html, whose place for the data is marked by a comment. */
extern const char report_page[];
static const char mark[] = "/*DATA*/";

static void print_text(FILE *out, const char *before, const char *text, size_t length)
{
    fputs(before, out);
    json_print_string(out, text, length, JSON_REPLACE_BYTES);
}

/** Notes a node of the model, for model_options.told. */
static void note_node(void *report, const char *name, const char *type)
{
    struct report *r = report;

    print_text(r->data, r->node_count++ ? ",\n[" : "[", name, strlen(name));
    print_text(r->data, ", ", type, strlen(type));
    fputc(']', r->data);
}

bool report_begin(struct report *r, struct model_options *options, const char *model)
{
    const char *parent = getenv("TMPDIR");

    *r = (struct report){.folder = file_join(parent && *parent ? parent : "/tmp", "webnn-report-XXXXXX")};
    r->data = open_memstream(&r->text, &r->length);
    if (r->folder && r->data && mkdtemp(r->folder))
        r->steps = file_join(r->folder, "steps.json");
    if (!r->steps)
        return false;
    options->told = note_node;
    options->told_user = r;
    print_text(r->data, "{\"model\": ", model, strlen(model));
    fprintf(r->data, ", \"version\": \"%s\",\n\"nodes\": [", wnnGetVersion());
    return true;
}

/* ---- what the machine can do ---- */

/** Returns how often y is computed of x in a millisecond at best, or 0 if it is not. */
static double best_rate(WNNGraph graph, WNNNamedBuffer x, WNNNamedBuffer y)
{
    enum { LEAST_TIMES = 5, MILLISECONDS = 150 };
    const double begin = milliseconds_now();
    double best = 0;

    for (int i = 0; i < LEAST_TIMES || milliseconds_now() - begin < MILLISECONDS; i++) {
        const double start = milliseconds_now();
        const bool ok = !wnnGraphCompute(graph, 1, &x, 1, &y);
        const double rate = 1 / (milliseconds_now() - start);

        best = ok && rate > best ? rate : best;
    }
    return best;
}

/** Returns the rate of matmul(x, w), or of relu(x), for square matrices. */
static double measure(WNNContext context, bool multiplies, uint32_t side)
{
    const WNNOperandDescriptor d = {WNNOperandDataType_Float32, 2, (const uint32_t[]){side, side}, NULL};
    const size_t count = (size_t)side * side, bytes = count * sizeof(float);
    float *in = malloc(bytes), *out = malloc(bytes);
    WNNNamedOperand y = {.name = WNN_STR("y")};
    WNNGraphBuilder b = NULL;
    WNNGraph graph = NULL;
    double rate = 0;

    for (size_t i = 0; in && i < count; i++)
        in[i] = (float)(i % 7) - 3;
    if (in && out && !wnnContextCreateGraphBuilder(context, &b)) {
        WNNOperand x = wnnGraphBuilderInput(b, WNN_STR("x"), &d);

        y.operand = multiplies ? wnnGraphBuilderMatmul(b, x, wnnGraphBuilderConstant(b, &d, in, bytes), NULL)
                               : wnnGraphBuilderRelu(b, x, NULL);
        if (!wnnGraphBuilderBuild(b, 1, &y, &graph))
            rate = best_rate(graph, (WNNNamedBuffer){WNN_STR("x"), in, bytes}, (WNNNamedBuffer){WNN_STR("y"), out, bytes});
    }
    wnnGraphRelease(graph);
    wnnGraphBuilderRelease(b);
    free(in);
    free(out);
    return rate;
}

/** Prints the limits as members: multiplying matrices, and moving so many bytes. */
static void print_limits(FILE *out, const WNNContextOptions *options)
{
    static const uint32_t sides[] = {256, 512, 1024, 2048, 4096}; /* 0.5 to 128 MiB */
    const double matrix = 1024;
    WNNContext context;

    if (wnnCreateContext(options, &context))
        return; /* the page does without */
    fprintf(out, "\"gflops\": %.3f,\n\"moving\": [",
            2e-6 * matrix * matrix * matrix * measure(context, true, (uint32_t)matrix));
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        const double bytes = 2.0 * sizeof(float) * sides[i] * sides[i];

        fprintf(out, "%s{\"bytes\": %.0f, \"gbs\": %.3f}", i ? ", " : "", bytes,
                1e-6 * bytes * measure(context, false, sides[i]));
    }
    fputs("],\n", out);
    wnnContextRelease(context);
}

/* ---- the page ---- */

bool report_write(struct report *r, const char *path, struct error *e)
{
    const char *place = strstr(report_page, mark);
    char *steps;
    size_t length;
    int why = ENOMEM;

    if (!file_read(r->steps, &steps, &length, e))
        return false;
    fputs("],\n", r->data);
    print_limits(r->data, &r->options);
    fprintf(r->data, "\"graph\": %s}", steps);
    free(steps);
    struct new_file *f = memory_stream_close(r->data, &r->text) ? new_file_open(path, 0, &why) : NULL;
    r->data = NULL;
    if (f)
        fprintf(new_file_stream(f), "%.*s%s%s", (int)(place - report_page), report_page, r->text, place + sizeof mark - 1);
    return (f && new_file_commit(f, &why)) || file_error(e, "%s: %s", PATH_SHOWN(path), strerror(why));
}

void report_end(struct report *r)
{
    if (r->data)
        fclose(r->data);
    if (r->steps) {
        unlink(r->steps);
        rmdir(r->folder);
    }
    free(r->text);
    free(r->steps);
    free(r->folder);
    *r = (struct report){0};
}
