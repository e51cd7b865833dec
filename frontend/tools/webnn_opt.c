/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * webnn-opt runs passes of the compiler on a graph in its textual form.
 *
 * It reads a file of the textual form (docs/formats.md), such as a dump or what webnnc writes, with its weights next to it,
 * and writes the graph after the passes in the same form.  Nothing is lowered or compiled.  Like webnnc it links the library's
 * static folders, since passes and their target are no part of the public API.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/readers/files/file.h"
#include "frontend/readers/text/weights.h"
#include "frontend/readers/text/write.h"
#include "frontend/tools/arguments.h"
#include "ir/text/text.h"
#include "passes/passes.h"
#include "runtime/api/context.h"

enum { EXIT_FAILED = 1, EXIT_USAGE = 2 };

static const char usage_text[] =
    "usage: webnn-opt [OPTION ...] GRAPH\n"
    "\n"
    "Runs passes of the compiler on a graph in its textual form (.webnn text, also with the marks that passes make, such as a\n"
    "dump), and prints the graph that they leave.\n"
    "\n"
    "  -o, --output FILE     where to, with the larger constants in NAME.safetensors beside NAME.webnn (default: standard\n"
    "                        output, with all constants)\n"
    "  --weights FILE        the weights of the graph (default: NAME.weights or NAME.safetensors beside NAME.webnn)\n"
    "  --passes A,B,C        the passes, in this order (default: the whole pipeline)\n"
    "  --isa NAME            baseline, avx2, avx512 or native (default): the instruction set that passes decide for\n"
    "  --no-library          the library takes nothing: every convolution and matmul is a generated kernel\n"
    "  --print-after PASS    print the graph after a pass, on stderr; all: after every pass that changed it (may be repeated)\n"
    "  --verify              verify the graph after every pass, and that a second run of the pass does nothing\n"
    "  --debug SWITCHES      further switches (docs/debugging.md)\n"
    "  --budget OPS[,BYTES]  what folding constants may take (default: by the sizes of the files and inputs)\n"
    "  --list-passes         print the passes and end\n"
    "  -h, --help, --version\n"
    "\n"
    "examples\n"
    "  webnnc model.onnx -o model.webnn --weights-as safetensors   # any model as a graph in its textual form\n"
    "  webnn-opt model.webnn --print-after all -o after.webnn      # the whole pipeline, stage by stage\n"
    "  webnn-opt model.webnn --passes canonicalize,fold-constants,drop-dead\n"
    "  webnn-opt dump/graph0-14-winograd.webnn --passes fuse-kernels --no-library --isa avx2\n";

struct options {
    const char *input, *output, *weights, *passes;
    char debug[1024]; /* switches, separated by commas */
    WNNBudget budget;
};

static bool complain(const char *format, ...) PRINTF_LIKE(1, 2);

static bool complain(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    print_message("webnn-opt", format, arguments);
    va_end(arguments);
    return false;
}

/* ---- the command line ---- */

enum {
    OPTION_WEIGHTS = 256,
    OPTION_PASSES,
    OPTION_ISA,
    OPTION_NO_LIBRARY,
    OPTION_PRINT_AFTER,
    OPTION_VERIFY,
    OPTION_DEBUG,
    OPTION_BUDGET,
    OPTION_LIST_PASSES,
    OPTION_VERSION
};

static const struct option long_options[] = {
    {"output", required_argument, NULL, 'o'},
    {"weights", required_argument, NULL, OPTION_WEIGHTS},
    {"passes", required_argument, NULL, OPTION_PASSES},
    {"isa", required_argument, NULL, OPTION_ISA},
    {"no-library", no_argument, NULL, OPTION_NO_LIBRARY},
    {"print-after", required_argument, NULL, OPTION_PRINT_AFTER},
    {"verify", no_argument, NULL, OPTION_VERIFY},
    {"debug", required_argument, NULL, OPTION_DEBUG},
    {"budget", required_argument, NULL, OPTION_BUDGET},
    {"list-passes", no_argument, NULL, OPTION_LIST_PASSES},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, OPTION_VERSION},
    {0},
};

/* Adds "name" or "name=value" to the context's switches. */
static bool add_switch(struct options *o, const char *name, const char *value)
{
    size_t used = strlen(o->debug);
    int n = snprintf(o->debug + used, sizeof o->debug - used, "%s%s%s%s", used ? "," : "", name, value ? "=" : "",
                     value ? value : "");

    return (n >= 0 && (size_t)n < sizeof o->debug - used) || complain("these are too many switches for one run");
}

/* Adds one value of a switch, without the commas that would make several switches of it. */
static bool add_value(struct options *o, const char *option, const char *name, const char *value)
{
    return strchr(value, ',') ? complain("--%s takes one name, not '%s'", option, value) : add_switch(o, name, value);
}

/* Names in the order of the pipeline; what comes twice there is one pass. */
static void list_passes(void)
{
    for (uint32_t i = 0; i < pass_pipeline_length; i++)
        printf("%-18s %s%s\n", pass_pipeline[i].name, pass_pipeline[i].summary, pass_pipeline[i].required ? " (required)" : "");
}

/* Reads the command line.  Returns false if the program is to end with *status. */
static bool options_parse(struct options *o, int argc, char **argv, int *status)
{
    int option;
    bool ok = true;

    *o = (struct options){0};
    *status = EXIT_USAGE;
    opterr = 0;
    while (ok && (option = getopt_long(argc, argv, ":o:h", long_options, NULL)) != -1) {
        switch (option) {
        case 'o':
            o->output = optarg;
            break;
        case OPTION_WEIGHTS:
            o->weights = optarg;
            break;
        case OPTION_PASSES:
            o->passes = optarg;
            break;
        case OPTION_ISA:
            ok = add_value(o, "isa", "isa", optarg);
            break;
        case OPTION_NO_LIBRARY:
            ok = add_switch(o, "no-library", NULL);
            break;
        case OPTION_PRINT_AFTER:
            ok = !strcmp(optarg, "all") ? add_switch(o, "print-after-all", NULL)
                                        : add_value(o, "print-after", "print-after", optarg);
            break;
        case OPTION_VERIFY:
            ok = add_switch(o, "verify", NULL);
            break;
        case OPTION_DEBUG:
            ok = !*optarg || add_switch(o, optarg, NULL);
            break;
        case OPTION_BUDGET:
            ok = argument_budget(optarg, &o->budget) || complain("--budget takes %s, not '%s'", ARGUMENT_BUDGET, optarg);
            break;
        case OPTION_LIST_PASSES:
            list_passes();
            *status = 0;
            return false;
        case 'h':
            fputs(usage_text, stdout);
            *status = 0;
            return false;
        case OPTION_VERSION:
            print_version("webnn-opt");
            *status = 0;
            return false;
        default:
            return argument_refused("webnn-opt", option, long_options, argv);
        }
    }
    if (!ok)
        return false;
    if (optind == argc)
        return complain("no graph is given; try --help");
    if (optind + 1 < argc)
        return complain("one graph at a time: %s, then %s", argv[optind], argv[optind + 1]);
    o->input = argv[optind];
    return true;
}

/* ---- the graph ---- */

/** Holds what a graph's @weights refer to; it is opened when the first one is met. */
struct source {
    const struct options *o;
    struct weights *weights;
};

static bool source_open(struct source *s, struct error *e)
{
    char *path = s->o->weights ? strdup(s->o->weights) : weights_beside(s->o->input), *message = NULL;
    bool ok = path && weights_open(path, s->o->weights != NULL, &s->weights, &message);

    if (!path || (!ok && !message))
        error_out_of_memory(e);
    else if (!ok)
        error_set(e, WNNStatus_DataError, "%s", message);
    free(message);
    free(path);
    return ok;
}

/* A file of weights says a data type by its public value, or only by its name, where WebNN does not have it. */
static bool is_type_of(const struct weights_entry *entry, const struct tensor_type *type)
{
    bool same = entry->rank == type->rank && (dtype_is_public(type->type)    ? entry->dataType == type->type
                                              : type->type == DTYPE_BFLOAT16 ? !strcmp(entry->typeName, "BF16")
                                              : type->type == DTYPE_UINT4    ? !strcmp(entry->typeName, "U4")
                                                                             : !strcmp(entry->typeName, "F64"));

    for (size_t i = 0; same && i < entry->rank; i++)
        same = entry->shape[i] == type->dims[i];
    return same;
}

static bool find_weights(void *user, const char *key, const struct tensor_type *type, struct constant **constant,
                         struct error *e)
{
    struct source *s = user;
    const struct weights_entry *entry;
    char text[128];

    if (!s->weights && !source_open(s, e))
        return false;
    entry = weights_find(s->weights, key, strlen(key));
    if (!entry)
        return error_set(e, WNNStatus_DataError, "there is no tensor '%s' in %s",
                         escape_text(text, sizeof text, key, strlen(key)), weights_path(s->weights));
    if (!is_type_of(entry, type))
        return error_set(e, WNNStatus_DataError, "tensor '%s' in %s has another data type or shape",
                         escape_text(text, sizeof text, key, strlen(key)), weights_path(s->weights));
    *constant = constant_create(weights_data(s->weights, entry), entry->length);
    return *constant || error_out_of_memory(e);
}

/* Sets the graph's own budget, to which what passes compute is charged as for a builder's graph. */
static void set_budget(struct graph *g, const struct options *o, uint64_t source_bytes)
{
    budget_set(&g->budget, o->budget, source_bytes);
    for (uint32_t i = 0; i < g->input_count; i++)
        budget_grow_input(&g->budget, (uint64_t)type_bytes(&g->inputs[i]->type));
    g->account = &g->budget;
}

/* Reads the graph.  Returns NULL after complaining. */
static struct graph *read_graph(const struct options *o)
{
    struct source s = {.o = o};
    struct error e = {0};
    struct graph *g;
    char message[512], *text;
    size_t length;

    if (!file_read(o->input, &text, &length, message, sizeof message)) {
        complain("%s", message);
        return NULL;
    }
    g = graph_parse(text, length, find_weights, &s, &e);
    if (!g)
        complain("%s: %s", PATH_SHOWN(o->input), e.message);
    else
        set_budget(g, o, length + (s.weights ? weights_length(s.weights) : 0));
    weights_close(s.weights);
    free(text);
    return g;
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
    char *message = NULL;
    bool ok;

    if (o->output && strcmp(o->output, "-")) {
        ok = text_write_files(g, &options, o->output, &message);
        if (!ok)
            complain("%s", message ? message : "out of memory");
        free(message);
        return ok;
    }
    if (text_has_loops(g))
        return complain("%s", TEXT_NO_LOOPS);
    options.weights = TEXT_WEIGHTS_INLINE;
    ok = text_write_graph(g, &options, stdout);
    return (fflush(stdout) == 0 && ok) || complain("cannot write standard output");
}

static bool run(const struct options *o)
{
    WNNContextOptions context_options = WNN_CONTEXT_OPTIONS_INIT;
    WNNContext context;
    struct graph *g;
    bool ok;

    context_options.accelerated = false; /* what is printed depends on a GPU only if one is asked for */
    context_options.debug = (WNNStringView){o->debug, strlen(o->debug)};
    if (wnnCreateContext(&context_options, &context))
        return complain("%s", wnnGetLastErrorMessage().data);
    g = read_graph(o);
    ok = g && run_passes(g, o, context);
    if (ok && !graph_verify(g, stderr))
        ok = complain("internal error: the graph is invalid after the passes");
    ok = ok && write_graph(g, o);
    graph_free(g);
    wnnContextRelease(context);
    return ok;
}

int main(int argc, char **argv)
{
    struct options o;
    int status;

    if (options_parse(&o, argc, argv, &status))
        status = run(&o) ? 0 : EXIT_FAILED;
    return output_arrived("webnn-opt") || status ? status : EXIT_FAILED;
}
