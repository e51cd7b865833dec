/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * webnn-run reads the files, reads the model, builds, computes and shows (webnn_run.h; webnn_run_options.c has its usage).
 *
 * Times of kernels come from the library itself, by its debug switches `profile` and `trace` (docs/debugging.md), so that every
 * other program has them, too.
 */
#include <errno.h>
#include <stdlib.h>

#include "frontend/readers/ports.h"
#include "frontend/tools/report/report.h"
#include "frontend/tools/webnn_run.h"
#include "ir/support/array.h"

/** Holds everything that has to be given back. */
struct run {
    struct run_options options;
    struct sources sources;
    struct labels labels;
    WNNContext context;
    struct model model;
    struct name_map inputs_by_name, outputs_by_name; /* of the model */
    WNNGraph graph;
    size_t input_count, result_count;
    struct npy_array *inputs; /* in the graph's order */
    WNNNamedBuffer *input_buffers, *output_buffers;
    struct result *results, *cut; /* as they are computed; without padding */
    struct run_states states;
    struct reference reference; /* of --quantize-weights */
    struct each each;
    const struct model_port **ports; /* of the graph's inputs */
    char warning[256];               /* the last one of the context */
    struct report report;            /* of --report */
};

/* Keeps a warning until it is known whether it is an error, which is printed anyway. */
static void on_message(WNNLogLevel level, WNNStringView message, void *run, void *unused)
{
    struct run *r = run;

    (void)unused;
    if (level == WNNLogLevel_Warning)
        snprintf(r->warning, sizeof r->warning, "%.*s", (int)message.length, message.data);
}

static bool create_context(struct run *r)
{
    const struct run_options *o = &r->options;
    WNNContextOptions c = WNN_CONTEXT_OPTIONS_INIT;
    const char *steps = r->report.steps;
    char *debug = NULL;

    if (!text_append(&debug, "%s%s%s%s%s%s", o->debug ? o->debug : "", o->profile ? ",profile" : "", o->trace ? ",trace=" : "",
                     o->trace ? o->trace : "", steps ? ",steps=" : "", steps ? steps : ""))
        return complain("out of memory");
    c.threadCount = o->threads;
    c.precision = o->precision;
    c.engine = o->engine;
    /* Of a file that is for no engine, loading it says why. */
    if (c.engine == WNNEngine_Auto && model_is_compiled(o->model) && wnnGetFileEngine(o->model, &c.engine))
        c.engine = WNNEngine_Auto;
    c.device = WNN_STR(o->device ? o->device : "");
    c.deterministic = o->deterministic;
    c.budget = o->model_options.budget;
    c.debug = WNN_STR(o->debug ? o->debug : "");
    r->report.options = c;
    c.debug = WNN_STR(debug);
    c.log = (WNNLogCallbackInfo){on_message, r, NULL};
    bool ok = wnnCreateContext(&c, &r->context) == WNNStatus_Success || complain_last("context");
    free(debug);
    return ok;
}

/** Binds the graph's inputs, which may be fewer than the model's. */
static bool bind_inputs(struct run *r)
{
    const struct run_options *o = &r->options;
    char type[256], note[512];
    WNNNamedOperandDescriptor d;

    r->input_count = wnnGraphGetInputCount(r->graph);
    r->inputs = calloc(r->input_count + 1, sizeof *r->inputs);
    r->input_buffers = calloc(r->input_count + 1, sizeof *r->input_buffers);
    r->ports = calloc(r->input_count + 1, sizeof(struct model_port *));
    if (!r->inputs || !r->input_buffers || !r->ports || !ports_index(r->model.inputs, r->model.input_count, &r->inputs_by_name))
        return complain("out of memory");
    for (size_t i = 0; i < r->input_count; i++) {
        if (wnnGraphGetInput(r->graph, i, &d))
            return complain_last("input");
        const struct model_port *port = ports_find(&r->inputs_by_name, d.name);
        if (!port)
            return complain("the graph has an input that the model does not have");
        r->ports[i] = port;
        if (!sources_take(o, &r->sources, port, &r->inputs[i], note, sizeof note))
            return false;
        r->input_buffers[i] = (WNNNamedBuffer){WNN_STR(port->name), r->inputs[i].data, r->inputs[i].byteLength};
        if (!is_each(o) && !o->quiet)
            printf("input '%s' %s %s\n", NAME_SHOWN(port->name),
                   describe_type(type, sizeof type, r->inputs[i].dataType, r->inputs[i].rank, r->inputs[i].shape), note);
    }
    for (size_t i = 0; i < r->sources.count; i++)
        if (!r->sources.items[i].used)
            fprintf(stderr, "webnn-run: note: no output depends on input '%s'\n", NAME_SHOWN(r->sources.items[i].name));
    return true;
}

static bool bind_outputs(struct run *r)
{
    WNNNamedOperandDescriptor d;
    size_t count = wnnGraphGetOutputCount(r->graph);

    r->results = calloc(count + 1, sizeof *r->results);
    r->output_buffers = calloc(count + 1, sizeof *r->output_buffers);
    r->cut = calloc(count + 1, sizeof *r->cut);
    if (!r->results || !r->cut || !r->output_buffers ||
        !ports_index(r->model.outputs, r->model.output_count, &r->outputs_by_name))
        return complain("out of memory");
    for (; r->result_count < count; r->result_count++) {
        struct result *out = &r->results[r->result_count];
        struct error e = {0};

        if (wnnGraphGetOutput(r->graph, r->result_count, &d))
            return complain_last("output");
        const struct model_port *port = ports_find(&r->outputs_by_name, d.name);
        if (!port)
            return complain("the graph has an output that the model does not have");
        out->name = port->name;
        if (!npy_create(&d.descriptor, &out->array, &e))
            return complain("%s", e.message);
        r->output_buffers[r->result_count] = (WNNNamedBuffer){WNN_STR(out->name), out->array.data, out->array.byteLength};
    }
    return true;
}

static int compare_times(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Of a compiled graph only the first computation shows whether it has the states of the options: else the library refuses the
 * buffers that they share, which is the only thing that can be wrong with buffers here. */
static bool compute_failed(const struct run *r, WNNStatus status)
{
    if (status == WNNStatus_TypeError && r->states.count && model_is_compiled(r->options.model))
        return complain("%s was saved without these states: give --state with --save (objects of webnnc have no states)",
                        PATH_SHOWN(r->options.model));
    return complain_last("");
}

double median_time(double *times, size_t count)
{
    qsort(times, count, sizeof *times, compare_times);
    return times[count / 2];
}

static bool compute(struct run *r)
{
    size_t count = (size_t)r->options.repeat;
    double *times = malloc(count * sizeof *times);
    bool ok = times || complain("out of memory");

    for (size_t i = 0; i < count && ok; i++) {
        double start = milliseconds_now();

        const WNNStatus status =
            wnnGraphCompute(r->graph, r->input_count, r->input_buffers, r->result_count, r->output_buffers);

        ok = !status || compute_failed(r, status);
        times[i] = milliseconds_now() - start;
    }
    if (ok && (!r->options.quiet || count > 1)) { /* times were asked for */
        printf("computed in %.3f ms", times[0]);
        const double median = median_time(times, count);
        if (count > 1)
            printf(" the first time; %zu times: median %.3f ms, smallest %.3f ms", count, median, times[0]);
        printf("\n");
    }
    free(times);
    return ok;
}

/* Reads or loads the model, for the shapes of the sources. */
static bool read_model(void *user)
{
    struct run *r = user;
    const struct run_options *o = &r->options;

    if ((model_is_compiled(o->model) ? load_compiled(o, &r->sources, r->context, &r->model, &r->graph)
                                     : sources_read_model(o, &r->sources, r->context, &r->model)) &&
        sources_all_used(&r->sources, &r->model))
        return true;
    model_free(&r->model);
    r->model = (struct model){0};
    wnnGraphRelease(r->graph);
    r->graph = NULL;
    return false;
}

/** Does it all.  Returns false after a message. */
static bool run(struct run *r)
{
    const struct run_options *o = &r->options;
    double start = milliseconds_now(), read, built;
    struct error e = {0};
    bool ok = true, compiled;

    if (o->report && !report_begin(&r->report, &r->options.model_options, o->model))
        return complain("--report: a temporary folder: %s", strerror(errno));
    if (!sources_read(o, &r->sources) || (is_each(o) && !each_open(o, &r->each)) || !labels_read(o->labels, &r->labels) ||
        !create_context(r))
        return false;
    if (o->sizes.count)
        return sizes_run(o, &r->sources, r->context);
    compiled = model_is_compiled(o->model);
    read = milliseconds_now();
    if (!(is_each(o) ? each_read_model(&r->sources, &r->each, read_model, r) : read_model(r)))
        return false;
    if (!compiled)
        read = milliseconds_now();
    print_notes(r->model.notes);
    if (!states_find(o, &r->model, &r->states))
        return false;
    if (!compiled && wnnGraphBuilderSetStates(r->model.builder, r->states.count, r->states.items))
        return complain_last("--state");
    if (!compiled && wnnGraphBuilderQuantizeWeights(r->model.builder, o->quantize))
        return complain_last("--quantize-weights");
    if (!compiled)
        progress_begin(o, "building the graph");
    ok = compiled || model_build(&r->model, &r->graph, &e) == WNNStatus_Success;
    progress_end();
    if (!ok)
        return complain("%s", e.message);
    built = milliseconds_now();
    if (*r->warning)
        fprintf(stderr, "webnn-run: note: %s\n", r->warning);
    if (!is_each(o) && !o->quiet)
        printf("%s: files read in %.1f ms, %s in %.1f ms\n", *r->model.name ? NAME_SHOWN(r->model.name) : NAME_SHOWN(o->model),
               read - start, compiled ? "loaded" : "built", built - read);
    if (o->save && wnnGraphSave(r->graph, o->save))
        return complain_last("--save");
    if (!bind_inputs(r) || !bind_outputs(r))
        return false;
    if (o->quantize && !reference_compute(o, &r->sources, r->context, r->input_count, r->input_buffers, &r->reference))
        return false;
    states_bind(&r->states, r->input_buffers, r->input_count, r->output_buffers, r->result_count);
    if (is_each(o)) {
        const struct each_graph g = {r->graph,         &r->labels,        r->input_count, r->result_count, r->ports,
                                     r->input_buffers, r->output_buffers, r->results,     r->cut};

        labels_check(o, &r->labels, r->result_count, r->results);
        return each_run(o, &r->each, &g);
    }
    if (!compute(r))
        return false;
    if (o->quantize) {
        WNNQuantizedWeights weights;

        wnnGraphGetQuantizedWeights(r->graph, &weights);
        results_print_errors(&weights, &r->reference, r->result_count, r->results);
    }
    const size_t count = results_cut(r->result_count, r->results, r->cut);

    labels_check(o, &r->labels, count, r->cut);
    for (size_t i = 0; i < count; i++)
        result_print(o, &r->labels, &r->cut[i]);
    ok = results_save(o, count, r->cut);
    return results_compare(o, count, r->cut) && ok;
}

/** Gives the context back, which writes the trace.  Returns false if that failed, which the library has said on stderr. */
static bool release_context(struct run *r)
{
    static const char prefix[] = "debug switch trace: ";

    wnnContextRelease(r->context);
    return strncmp(wnnGetLastErrorMessage().data, prefix, sizeof prefix - 1) != 0;
}

/** Gives everything back.  Returns false if something that was to be written then could not be. */
static bool run_close(struct run *r, bool succeeded)
{
    struct error e = {0};

    wnnGraphRelease(r->graph); /* prints the profile */
    name_map_free(&r->inputs_by_name);
    name_map_free(&r->outputs_by_name);
    model_free(&r->model);
    bool ok = release_context(r);
    if (succeeded && r->report.steps && !report_write(&r->report, r->options.report, &e))
        ok = complain("%s", e.message);
    report_end(&r->report);
    for (size_t i = 0; i < r->input_count && r->inputs; i++)
        npy_free(&r->inputs[i]);
    for (size_t i = 0; i < r->result_count && r->results; i++)
        npy_free(&r->results[i].array);
    free(r->inputs);
    free(r->input_buffers);
    free(r->results);
    free(r->cut);
    free(r->output_buffers);
    sources_free(&r->sources);
    labels_free(&r->labels);
    free(r->states.items);
    free(r->ports);
    each_close(&r->each);
    reference_free(&r->reference);
    run_options_free(&r->options);
    return ok;
}

int main(int argc, char **argv)
{
    struct run r = {0};
    int status;

    if (run_options_parse(argc, argv, &r.options, &status))
        status = run(&r) ? 0 : 1;
    /* What was promised on stdout must have got there. */
    bool written = output_arrived();
    written = run_close(&r, status == 0) && written;
    return status || written ? status : 1;
}
