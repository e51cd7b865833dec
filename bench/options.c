/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The command line of webnn-bench is a table of options.  An error is one line that names the option and its value.
 */
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "frontend/tools/arguments.h"
#include "ir/support/suggest.h"

static const char usage_text[] =
    "usage: webnn-bench [OPTION ...]             the built-in cases\n"
    "       webnn-bench [OPTION ...] MODEL ...   model files\n"
    "\n"
    "MODEL is an ONNX file, a .webnn text or its JSON form, or a folder with a manifest.json, whose first case says what its\n"
    "inputs are; those of others, and of other shapes, are noise.\n"
    "\n"
    "  --dim NAME=N     the size of a symbolic dimension\n"
    "  --shape NAME=1x3x224x224   the shape of an input\n"
    "  --weights FILE   the weights of a .webnn text or JSON\n"
    "  --level L,...    kernel, operator, model (default: all)\n"
    "  --level scale    instead: how build time grows with the graph, up to 20,000 operators and 5,000 convolutions\n"
    "  --overhead       instead: what compute and dispatch cost beside the kernels\n"
    "  --memory         instead: the memory that intermediate values need, beside what liveness needs at least\n"
    "  --steps          instead: every step's time, and that of the library alone for contractions; with --json what each\n"
    "                   computes and touches\n"
    "  --tune           instead: find the best sizes of tiles for the device of --engine gpu, and keep them in the folder\n"
    "                   of built programs, where contexts find them\n"
    "  --peaks          instead: the machine's peaks\n"
    "  --case TEXT      only cases whose name contains TEXT\n"
    "  --model MODEL    the same as MODEL alone\n"
    "  --engine E       cpu, auto, gpu or gpu:DEVICE, a number or a part of a name (webnn-run --list-devices)\n"
    "  --threads N      threads of a computation (default: 1)\n"
    "  --budget OPS[,BYTES]  what reading and building a model may take (default: by the sizes of its files and inputs)\n"
    "  --precision P    float32, bf16x2, bf16 or int8: how exact convolutions and matmuls have to be (default: float32)\n"
    "  --deterministic  compute the same bits with any number of threads\n"
    "  --tensors        time a dispatch with tensors and waiting for it, as programs on a GPU do, instead of wnnGraphCompute,\n"
    "                   which copies inputs and outputs to a GPU's memory and back; on the processor, where nothing is\n"
    "                   copied, handing the dispatch to another thread takes some microseconds\n"
    "  --seconds S      time for measuring each case (default: 1)\n"
    "  --debug TEXT     debug switches of the context (docs/debugging.md), such as skip=fuse-kernels\n"
    "  --file FILE      case lines to read instead of bench/cases.txt\n"
    "  --json           JSON instead of the table: one line for each MODEL, one document for the built-in cases\n"
    "  --no-peaks       do not measure the machine's peaks\n"
    "  --check          time nothing: compare every case with the reference interpreter (large networks: with an\n"
    "                   unoptimised build of themselves); with --level scale: fail if build time is not linear\n"
    "  --same-bits      time nothing: compute every case or MODEL with 1, 2, 3 and 4 threads and compare all bits\n"
    "  --list           names only\n"
    "  --print NAME     the graph of a case as text\n"
    "  --help, --version\n";

static bool take_text(const char **member, const char *value)
{
    *member = value;
    return true;
}

static const char *const levels[] = {"kernel", "operator", "model", "scale"};

static bool take_level(struct bench_options *o, const char *value)
{
    const char *item = value;

    for (;; item++) { /* names separated by commas */
        const size_t length = strcspn(item, ",");
        bool known = false;

        for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
            known |= strlen(levels[i]) == length && !memcmp(item, levels[i], length);
        if (!known || (!strncmp(item, "scale", length) && length < strlen(value)))
            return false;
        item += length;
        if (!*item)
            return take_text(&o->levels, value);
    }
}

static bool take_case(struct bench_options *o, const char *value)
{
    return take_text(&o->pattern, value);
}

static bool take_debug(struct bench_options *o, const char *value)
{
    return take_text(&o->debug, value);
}

static bool take_file(struct bench_options *o, const char *value)
{
    return take_text(&o->file, value);
}

static bool take_print(struct bench_options *o, const char *value)
{
    return take_text(&o->print, value);
}

static bool take_weights(struct bench_options *o, const char *value)
{
    return take_text(&o->model.weights, value);
}

static bool take_model(struct bench_options *o, const char *value)
{
    if (o->model_count == BENCH_MODELS_MAX)
        return false;
    o->models[o->model_count++] = value;
    return true;
}

static bool take_threads(struct bench_options *o, const char *value)
{
    uint64_t number;

    if (!argument_number(value, 1, 1024, &number))
        return false;
    o->threads = (uint32_t)number;
    return true;
}

static bool take_seconds(struct bench_options *o, const char *value)
{
    return argument_real(value, &o->seconds) && o->seconds > 0;
}

static bool take_budget(struct bench_options *o, const char *value)
{
    return argument_budget(value, &o->budget);
}

static bool take_precision(struct bench_options *o, const char *value)
{
    return argument_precision(value, &o->precision);
}

static bool take_engine(struct bench_options *o, const char *value)
{
    WNNEngine engine;
    const char *device;

    /* All contexts of this program are created with WNNEngine_Auto, which follows the variable. */
    (void)o;
    return argument_engine(value, &engine, &device) && setenv("WEBNN_ENGINE", value, 1) == 0;
}

static bool take_dim(struct bench_options *o, const char *value)
{
    struct model_dim *d = &o->dims[o->model.dim_count];

    if (o->model.dim_count == BENCH_SIZES_MAX || !argument_dim(value, (char **)&d->name, &d->size))
        return false;
    o->model.dim_count++;
    return true;
}

static bool take_shape(struct bench_options *o, const char *value)
{
    struct model_shape *s = &o->shapes[o->model.shape_count];

    if (o->model.shape_count == BENCH_SIZES_MAX || !argument_shape(value, (char **)&s->name, s))
        return false;
    o->model.shape_count++;
    return true;
}

/** An option with a value has `take`, and for messages what it is; any other has a member that it sets to `to`. */
static const struct option {
    const char *name;
    bool (*take)(struct bench_options *o, const char *value);
    const char *wants;
    size_t member;
    bool to;
} options[] = {
#define VALUE(text, function, words) {.name = (text), .take = (function), .wants = (words)}
#define SWITCH(text, flag, value) {.name = (text), .member = offsetof(struct bench_options, flag), .to = (value)}
    VALUE("--dim", take_dim, "NAME=N, 64 times at most"),
    VALUE("--shape", take_shape, "NAME=1x3x224x224, 64 times at most"),
    VALUE("--weights", take_weights, "a file"),
    VALUE("--level", take_level, "kernel, operator and model, separated by commas, or scale"),
    VALUE("--case", take_case, "a part of a name"),
    VALUE("--model", take_model, "a model, 16 at most"),
    VALUE("--threads", take_threads, "a number from 1 to 1024"),
    VALUE("--engine", take_engine, ARGUMENT_ENGINES),
    VALUE("--precision", take_precision, ARGUMENT_PRECISIONS),
    VALUE("--budget", take_budget, ARGUMENT_BUDGET),
    VALUE("--seconds", take_seconds, "a number above 0"),
    VALUE("--debug", take_debug, "debug switches"),
    VALUE("--file", take_file, "a file of cases"),
    VALUE("--print", take_print, "a case's name"),
    SWITCH("--json", json, true),
    SWITCH("--check", check, true),
    SWITCH("--same-bits", same_bits, true),
    SWITCH("--deterministic", deterministic, true),
    SWITCH("--tensors", tensors, true),
    SWITCH("--list", list, true),
    SWITCH("--overhead", instead.overhead, true),
    SWITCH("--memory", instead.memory, true),
    SWITCH("--steps", instead.steps, true),
    SWITCH("--tune", instead.tune, true),
    SWITCH("--peaks", instead.peaks, true),
    SWITCH("--no-peaks", peaks, false),
#undef VALUE
#undef SWITCH
};

static bool wrong_usage(int *status, const char *a, const char *text, const char *b, const char *value)
{
    char x[256], y[256];

    *status = 2;
    fprintf(stderr, "webnn-bench: %s%s%s", escape_text(x, sizeof x, a, strlen(a)), text, b);
    if (value)
        fprintf(stderr, ", not '%s'", escape_text(y, sizeof y, value, strlen(value)));
    fputs("\ntry: webnn-bench --help\n", stderr);
    return false;
}

/** Takes one argument, with its value from the next one.  *i is moved on. */
static bool parse_option(int argc, char **argv, int *i, struct bench_options *o, int *status)
{
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
        const struct option *option = &options[k];

        if (strcmp(option->name, argv[*i]))
            continue;
        if (!option->take) {
            *(bool *)((char *)o + option->member) = option->to;
            return true;
        }
        if (*i + 1 == argc)
            return wrong_usage(status, option->name, " needs a value: ", option->wants, NULL);
        const char *value = argv[++*i];
        return option->take(o, value) || wrong_usage(status, option->name, " takes ", option->wants, value);
    }
    struct suggestion meant = suggestion_for(argv[*i], strlen(argv[*i]));
    for (size_t k = 0; k < sizeof options / sizeof *options; k++)
        suggestion_offer(&meant, options[k].name);
    return wrong_usage(status, argv[*i], ": there is no such option", suggestion_text(&meant), NULL);
}

bool bench_options_parse(int argc, char **argv, struct bench_options *o, int *status)
{
    *o = (struct bench_options){.threads = 1, .seconds = 1, .peaks = true, .file = BENCH_DIR "/cases.txt"};
    o->model.dims = o->dims;
    o->model.shapes = o->shapes;
    *status = 0;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--help")) {
            fputs(usage_text, stdout);
            return false;
        }
        if (!strcmp(argv[i], "--version")) {
            print_version("webnn-bench");
            return false;
        }
        if (argv[i][0] == '-') {
            if (!parse_option(argc, argv, &i, o, status))
                return false;
        } else if (!take_model(o, argv[i])) {
            return wrong_usage(status, argv[i], ": that is one model too many", "", NULL);
        }
    }
    if (o->model_count && (o->check || o->list || o->print))
        return wrong_usage(status,
                           o->check  ? "--check"
                           : o->list ? "--list"
                                     : "--print",
                           " is for the built-in cases", "", o->models[0]);
    return true;
}

void bench_options_free(struct bench_options *o)
{
    for (size_t i = 0; i < o->model.dim_count; i++)
        free((char *)o->dims[i].name);
    for (size_t i = 0; i < o->model.shape_count; i++)
        free((char *)o->shapes[i].name);
}
