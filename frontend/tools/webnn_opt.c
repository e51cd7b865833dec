/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * webnn-opt runs passes of the compiler on a graph in its textual form.
 *
 * It reads a file of the textual form (docs/formats.md), such as a dump or what webnnc writes, with its weights next to it,
 * and writes the graph after the passes in the same form.  Nothing is lowered or compiled.  Like webnnc it links the library's
 * static folders, since passes and their target are not part of the public API.
 */
#include <stdlib.h>

#include "frontend/readers/text/weights.h"
#include "frontend/readers/text/write.h"
#include "frontend/tools/arguments.h"
#include "frontend/tools/option_passes.h"
#include "ir/text/text.h"
#include "runtime/api/context.h"

enum { EXIT_FAILED = 1 };

struct options {
    const char *input, *output, *weights, *passes;
    char *debug; /* switches, separated by commas */
    WNNBudget budget;
};

/* ---- the command line ---- */

/** A comma would make several switches of a value. */
static bool take_value(struct option_call *c)
{
    return !strchr(c->value, ',') && option_add_switch(c, c->row->name, c->value);
}

static bool take_print_after(struct option_call *c)
{
    return !strcmp(c->value, "all") ? option_add_switch(c, "print-after-all", "") : take_value(c);
}

#define AT(field) .member = offsetof(struct options, field)
static const struct option_row rows[] = {
    {"output", 'o', "FILE",
     "the output file, with the larger constants in NAME.safetensors next to NAME.webnn (default: standard output, with all "
     "constants)",
     option_text, AT(output)},
    {"weights", 0, "FILE",
     "the weights of the graph (default: NAME.weights, with NAME.manifest.json, or NAME.safetensors next to NAME.webnn)",
     option_text, AT(weights)},
    {"passes", 0, "A,B,C", "the passes, in this order (default: the whole pipeline)", option_text, AT(passes)},
    {"isa", 0, "NAME", "baseline, avx2, avx512 or native (default): the instruction set that passes decide for",
     .take = take_value, AT(debug), .wants = "one name"},
    {"no-library", 0, NULL, "the library takes nothing: every convolution and matmul is a generated kernel", option_switch,
     AT(debug)},
    {"print-after", 0, "PASS",
     "print the graph after a pass, on stderr; all: after every pass that changed it (may be repeated)",
     .take = take_print_after, AT(debug), .wants = "one name"},
    {"verify", 0, NULL, "verify the graph after every pass, and that a second run of the pass does nothing", option_switch,
     AT(debug)},
    {"debug", 0, "SWITCHES", "further switches of the compiler, as in the environment variable WEBNN_DEBUG (docs/debugging.md)",
     option_switches, AT(debug)},
    {"budget", 0, "OPS[,BYTES]",
     "how much work, and how much memory, folding constants may take (default: by the sizes of the files and inputs)",
     option_budget, AT(budget)},
    OPTION_LIST_PASSES,
};
static const struct option_row graph_row = {"graph", .take = option_single, AT(input)};
static const struct option_program program = {
    .name = "webnn-opt",
    .about = "usage: webnn-opt [OPTION ...] GRAPH\n"
             "\n"
             "Runs passes of the compiler on a graph in its textual form (.webnn text, also with marks of passes), or on each\n"
             "of a file of pass cases, and prints the results.\n"
             "\n",
    .examples = "  webnnc model.onnx -o model.webnn --weights-as safetensors   # any model as a graph in its textual form\n"
                "  webnn-opt model.webnn --print-after all -o after.webnn      # the whole pipeline, stage by stage\n"
                "  webnn-opt model.webnn --passes canonicalize,fold-constants,drop-dead\n"
                "  webnn-opt dump/graph0-14-winograd.webnn --passes fuse-kernels --no-library --isa avx2\n",
    .rows = rows,
    .row_count = sizeof rows / sizeof *rows,
    .other = &graph_row,
};

/* ---- the graph ---- */

/** Holds what a graph's @weights refer to; it is opened when the first one is met. */
struct source {
    const struct options *o;
    struct weights *weights;
};

static bool find_weights(void *user, const char *key, const struct tensor_type *type, struct constant **constant,
                         struct error *e)
{
    struct source *s = user;

    if (!s->weights && !weights_open_for(s->o->input, s->o->weights, &s->weights, e))
        return false;
    const struct weights_entry *entry = weights_find(s->weights, key, strlen(key));
    if (!entry)
        return error_set(e, WNNStatus_DataError, "there is no tensor '%s' in %s", NAME_SHOWN(key), weights_path(s->weights));
    if (!weights_entry_is(entry, type->type, type->rank, type->dims))
        return error_set(e, WNNStatus_DataError, "tensor '%s' in %s has another data type or shape", NAME_SHOWN(key),
                         weights_path(s->weights));
    *constant = constant_create(weights_data(s->weights, entry), entry->length);
    return *constant || error_out_of_memory(e);
}

/* ---- running ---- */

static bool run_passes(struct graph *g, const struct options *o, WNNContext context)
{
    struct error e = {0};
    const struct target *t = context->engine->functions->target(context->engine, &e);
    const struct pass_options p = {.target = t, .debug = &context->debug};

    if (!t)
        return complain("%s", e.message);
    if (o->passes ? passes_run_named(g, &p, o->passes) : passes_run(g, &p))
        return true;
    return complain("%s", g->error.message);
}

static bool write_graph(const struct graph *g, const struct options *o)
{
    struct text_options options = {.marks = true, .weights = TEXT_WEIGHTS_SAFETENSORS};
    struct error e = {0};

    return text_write(g, &options, o->output ? o->output : "-", &e) || complain("%s", e.message);
}

static bool run_text(const struct options *o, WNNContext context, const char *text, size_t length)
{
    struct source s = {.o = o};
    struct error e = {0};
    struct graph *g = graph_parse(text, length, find_weights, &s, &e);
    const bool is_onnx = length && *text == 0x08; /* a ModelProto begins with its ir_version */
    bool ok =
        g || complain("%s: %s%s", PATH_SHOWN(o->input), e.message,
                      is_onnx ? "; it looks like an ONNX file, which webnnc FILE.onnx -o FILE.webnn converts to text" : "");

    if (g) { /* what passes compute is charged as for a builder's graph */
        budget_set(&g->budget, o->budget, length + (s.weights ? weights_length(s.weights) : 0));
        for (uint32_t i = 0; i < g->input_count; i++)
            budget_grow_input(&g->budget, (uint64_t)type_bytes(&g->inputs[i]->type));
        g->account = &g->budget;
    }
    weights_close(s.weights);
    ok = ok && run_passes(g, o, context);
    if (ok && !graph_verify(g, stderr))
        ok = complain("internal error: the graph is invalid after the passes");
    ok = ok && write_graph(g, o);
    graph_free(g);
    return ok;
}

/* Runs passes, those of the options or of the file, on the graph of every case of a text (docs/testing.md). */
static bool run_cases(const struct options *o, WNNContext context, const char *text)
{
    const char *head = strstr(text, "# passes: "), *end, *graph;
    bool ok = !o->output || complain("%s: --output takes one graph, and this is a file of cases", PATH_SHOWN(o->input));
    struct options own = *o;
    char passes[256];

    if (!o->passes && head && sscanf(head, "# passes: %255[^\n]", passes) == 1)
        own.passes = passes;
    for (const char *at = strstr(text, "# case: "); ok && at; at = strstr(end, "# case: ")) {
        for (graph = at; *graph == '#'; graph += *graph == '\n')
            graph += strcspn(graph, "\n");
        end = strstr(graph, "\n# ") ? strstr(graph, "\n# ") : graph + strlen(graph);
        printf("%.*s\n", (int)strcspn(at, "\n"), at);
        /* A case has a whole graph, or its blocks. */
        const size_t size = (size_t)(end - graph) + sizeof "webnn_graph \"case\" v1 {}";
        char *whole = malloc(size);
        if (whole)
            snprintf(whole, size, *graph == ' ' ? "webnn_graph \"case\" v1 {%.*s}" : "%.*s", (int)(end - graph), graph);
        ok = whole ? run_text(&own, context, whole, strlen(whole)) : complain("out of memory");
        free(whole);
    }
    return ok;
}

static bool run(const struct options *o)
{
    WNNContextOptions context_options = WNN_CONTEXT_OPTIONS_INIT;
    struct error e = {0};
    char *text = NULL;
    WNNContext context;
    size_t length;

    context_options.accelerated = false; /* the output depends on a GPU only if one is requested */
    context_options.debug = WNN_STR(o->debug ? o->debug : "");
    if (wnnCreateContext(&context_options, &context))
        return complain("%s", wnnGetLastErrorMessage().data);
    bool ok = file_read(o->input, &text, &length, &e) || complain("%s", e.message);
    ok = ok && (strstr(text, "# case: ") ? run_cases(o, context, text) : run_text(o, context, text, length));
    free(text);
    wnnContextRelease(context);
    return ok;
}

int main(int argc, char **argv)
{
    struct options o = {0};
    int status;

    if (options_read(&program, argc, argv, &o, &status) && (o.input || options_wrong(NULL, "no graph is given")))
        status = run(&o) ? 0 : EXIT_FAILED;
    free(o.debug);
    return output_arrived() || status ? status : EXIT_FAILED;
}
