/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads webnn-run's command line by a table of options, each with the function that takes its value.  The man page webnn-run.1
 * has the same options, which a test holds against --help.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/tools/webnn_run.h"
#include "ir/support/suggest.h"

static const char usage_text[] =
    "usage: webnn-run [OPTION ...] MODEL\n"
    "\n"
    "Runs a model: an ONNX file, a .webnn text or its JSON form, a folder with a model.onnx or a manifest.json; or what\n"
    "was compiled from one: a file that --save wrote, a shared object of webnnc.\n"
    "\n"
    "inputs (those that are not given are zeros)\n"
    "  --input NAME=FILE     .npy, .npz (its array NAME, or its only one), PNG, JPEG, or raw elements\n"
    "  --input FILE.npz      every array by its name\n"
    "  --random SEED         inputs that are not given are noise: floats from -1 to 1, integers 0 or 1\n"
    "  --dim NAME=N          the size of a symbolic dimension\n"
    "  --shape NAME=1x3x8x8  the shape of an input (NAME=scalar for rank 0); inputs from files have the file's\n"
    "  --constant NAME=VALUE an input whose value the graph depends on, such as a shape: numbers (sr=16000, size=1,3,8) or a\n"
    "                        file (.npy)\n"
    "  --weights FILE        the weights of a .webnn text or JSON\n"
    "\n"
    "many inputs\n"
    "  --each [NAME=]PATH    compute once for each file of a folder (or for one file), read while others are computed; print\n"
    "                        a line of JSON for each, and at the end how many failed\n"
    "  --each-list [NAME=]FILE   the same for the paths in the lines of a file, or of standard input (-)\n"
    "  --save-each FOLDER    save all outputs of each input as FOLDER/ITS-FILE-NAME.npz; the folder is made if need be\n"
    "\n"
    "pictures: every level L of 0..255 becomes (L * scale - mean) / std\n"
    "  --scale S             default: 1/255\n"
    "  --mean M[,M,M]        default: 0; one number, or one for each of red, green and blue\n"
    "  --std D[,D,D]         default: 1\n"
    "  --layout nchw|nhwc    default: nchw\n"
    "  --resize WxH|auto     bilinear, antialiased; auto: the size that the input has\n"
    "  --grey                one channel\n"
    "\n"
    "outputs\n"
    "  --top K               the K largest elements of each row, most useful with\n"
    "  --labels FILE         one label per line\n"
    "  --first N             how many elements to print of each output (default: 6)\n"
    "  --output NAME=FILE    save as .npy, .npz, .png, or raw elements with any other ending\n"
    "  --output FILE.npz     save all of them\n"
    "  --output-scale S      levels of a PNG are the elements times S (default: 255)\n"
    "  --compare NAME=FILE   compare with an .npy file or the array NAME of an .npz; exit with 1 unless\n"
    "                        |difference| <= A + R * |expected|\n"
    "  --atol A, --rtol R    default: 1e-5 and 1e-3 (outputs of integers must be equal unless one is given)\n"
    "  --quiet               print only what was asked for and what failed\n"
    "\n"
    "running\n"
    "  --save FILE           write the compiled graph, which the next run takes as its MODEL without compiling\n"
    "  --repeat N            compute N times and print median and smallest time\n"
    "  --state INPUT=OUTPUT  the output becomes the input of the next time, in the same memory; * stands for the same\n"
    "                        text in several names: 'past.*=present.*'\n"
    "  --engine E            cpu, auto (default), gpu or gpu:DEVICE, a number or a part of a name in the list of devices\n"
    "  --list-devices        print the devices that gpu may name, and what they lack\n"
    "  --threads N           threads of the computation (default: OMP_NUM_THREADS, else all processors); a step uses as\n"
    "                        many as pay for it; OMP_WAIT_POLICY=passive lets waiting threads sleep at once\n"
    "  --quantize-weights F  int8 or int4: keep the weights of matmuls in so many bits, with a scale for each block of 32,\n"
    "                        and print how far the outputs are from those of the model as it is\n"
    "  --precision P         float32 (default), bf16x2, bf16 or int8: how exactly convolutions and matmuls are computed\n"
    "  --deterministic       compute the same bits with any number of threads, which may take longer\n"
    "  --budget OPS[,BYTES]  what reading and building may take (default: by the sizes of the model's files and inputs)\n"
    "  --profile             print a table of times per kernel, on stderr\n"
    "  --trace FILE          write the times as a trace for Perfetto or chrome://tracing\n"
    "  --debug SWITCHES      debug switches of the compiler (docs/debugging.md)\n"
    "  --help, --version\n";

static _Thread_local struct {
    char *text;
    size_t size;
} caught;

void run_catch(char *text, size_t size)
{
    caught.text = text;
    caught.size = size;
}

bool run_error(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    if (caught.text) {
        vsnprintf(caught.text, caught.size, format, args);
        va_end(args);
        return false;
    }
    print_message("webnn-run", format, args);
    va_end(args);
    return false;
}

/* ---- taking values; false: the value is not what the option takes ---- */

static bool add_pair(struct run_pairs *pairs, const char *value)
{
    struct argument_pair pair, *grown = list_grow(pairs->items, pairs->count, sizeof *pairs->items);

    if (!grown)
        return false;
    pairs->items = grown;
    if (!argument_split(value, &pair) || !*pair.value)
        return false;
    pairs->items[pairs->count++] = pair;
    return true;
}

static bool add_named_pair(struct run_pairs *pairs, const char *value)
{
    return add_pair(pairs, value) && pairs->items[pairs->count - 1].name;
}

static bool take_input(struct run_options *o, const char *value)
{
    return add_pair(&o->inputs, value);
}

static bool take_each(struct run_options *o, const char *value)
{
    return add_pair(&o->each.paths, value);
}

static bool take_each_list(struct run_options *o, const char *value)
{
    return add_pair(&o->each.lists, value);
}

static bool take_save_each(struct run_options *o, const char *value)
{
    o->each.save = value;
    return *value;
}

static bool take_output(struct run_options *o, const char *value)
{
    return add_pair(&o->outputs, value);
}

static bool take_compare(struct run_options *o, const char *value)
{
    return add_named_pair(&o->compares, value);
}

static bool take_constant(struct run_options *o, const char *value)
{
    return add_named_pair(&o->constants, value);
}

static bool take_state(struct run_options *o, const char *value)
{
    return add_named_pair(&o->states, value);
}

static bool take_dim(struct run_options *o, const char *value)
{
    struct model_dim *grown = list_grow(o->dims, o->dim_count, sizeof *grown);
    uint32_t size;
    char *name;

    if (!grown)
        return false;
    o->dims = grown;
    if (!argument_dim(value, &name, &size))
        return false;
    o->dims[o->dim_count++] = (struct model_dim){name, size};
    return true;
}

static bool take_shape(struct run_options *o, const char *value)
{
    struct model_shape *grown = list_grow(o->shapes, o->shape_count, sizeof *grown);
    char *name;

    if (!grown)
        return false;
    o->shapes = grown;
    if (!argument_shape(value, &name, &o->shapes[o->shape_count]))
        return false;
    o->shape_count++;
    return true;
}

static bool take_random(struct run_options *o, const char *value)
{
    o->random = true;
    return argument_number(value, 0, UINT64_MAX, &o->seed);
}

static bool take_weights(struct run_options *o, const char *value)
{
    o->weights = value;
    return true;
}

static bool take_scale(struct run_options *o, const char *value)
{
    return argument_real(value, &o->form.scale) && o->form.scale != 0;
}

static bool take_mean(struct run_options *o, const char *value)
{
    return argument_reals3(value, o->form.mean);
}

static bool take_std(struct run_options *o, const char *value)
{
    return argument_reals3(value, o->form.deviation) && o->form.deviation[0] != 0 && o->form.deviation[1] != 0 &&
           o->form.deviation[2] != 0;
}

static bool take_layout(struct run_options *o, const char *value)
{
    o->form.nhwc = !strcmp(value, "nhwc");
    return o->form.nhwc || !strcmp(value, "nchw");
}

static bool take_resize(struct run_options *o, const char *value)
{
    int end = 0;

    o->resize_auto = !strcmp(value, "auto");
    o->resize = !o->resize_auto;
    if (o->resize_auto)
        return true;
    return value[0] != '-' && sscanf(value, "%9ux%9u%n", &o->width, &o->height, &end) == 2 && !value[end] && o->width &&
           o->height;
}

static bool take_labels(struct run_options *o, const char *value)
{
    o->labels = value;
    return true;
}

static bool take_top(struct run_options *o, const char *value)
{
    return argument_number(value, 1, 1000, &o->top);
}

static bool take_first(struct run_options *o, const char *value)
{
    return argument_number(value, 0, 1000000, &o->first);
}

static bool take_output_scale(struct run_options *o, const char *value)
{
    return argument_real(value, &o->output_scale) && o->output_scale != 0;
}

static bool take_atol(struct run_options *o, const char *value)
{
    return argument_real(value, &o->atol) && o->atol >= 0;
}

static bool take_rtol(struct run_options *o, const char *value)
{
    return argument_real(value, &o->rtol) && o->rtol >= 0;
}

static bool take_repeat(struct run_options *o, const char *value)
{
    return argument_number(value, 1, 1000000, &o->repeat);
}

static bool take_threads(struct run_options *o, const char *value)
{
    uint64_t n;
    bool ok = argument_number(value, 1, 1024, &n);

    o->threads = ok ? (uint32_t)n : 0;
    return ok;
}

static bool take_budget(struct run_options *o, const char *value)
{
    return argument_budget(value, &o->budget);
}

static bool take_precision(struct run_options *o, const char *value)
{
    return argument_precision(value, &o->precision);
}

static bool take_quantize(struct run_options *o, const char *value)
{
    return argument_weight_format(value, &o->quantize);
}

static bool take_engine(struct run_options *o, const char *value)
{
    return argument_engine(value, &o->engine, &o->device);
}

static bool take_trace(struct run_options *o, const char *value)
{
    o->trace = value;
    return *value && !strchr(value, ',') && value[0] != ' ' && value[strlen(value) - 1] != ' '; /* it becomes a debug switch */
}

static bool take_save(struct run_options *o, const char *value)
{
    o->save = value;
    return *value;
}

static bool take_debug(struct run_options *o, const char *value)
{
    o->debug = value;
    return true;
}

static bool take_grey(struct run_options *o, const char *value)
{
    (void)value;
    o->form.grey = true;
    return true;
}

static bool take_profile(struct run_options *o, const char *value)
{
    (void)value;
    o->profile = true;
    return true;
}

static bool take_quiet(struct run_options *o, const char *value)
{
    (void)value;
    o->quiet = true;
    return true;
}

static bool take_deterministic(struct run_options *o, const char *value)
{
    (void)value;
    o->deterministic = true;
    return true;
}

static const struct {
    const char *name;
    bool has_value;
    bool (*take)(struct run_options *o, const char *value);
    const char *wants;
} options[] = {
    {"--input", true, take_input, "NAME=FILE"},
    {"--each", true, take_each, "a folder or file, or NAME=FOLDER"},
    {"--each-list", true, take_each_list, "a file with a path in each line, or NAME=FILE"},
    {"--save-each", true, take_save_each, "a folder"},
    {"--random", true, take_random, "a number"},
    {"--dim", true, take_dim, "NAME=N"},
    {"--shape", true, take_shape, "NAME=1x3x224x224"},
    {"--constant", true, take_constant, "NAME=VALUE, or NAME=FILE.npy"},
    {"--state", true, take_state, "INPUT=OUTPUT"},
    {"--weights", true, take_weights, "a file"},
    {"--scale", true, take_scale, "a number other than 0"},
    {"--mean", true, take_mean, "one number or three"},
    {"--std", true, take_std, "one number or three, none of them 0"},
    {"--layout", true, take_layout, "nchw or nhwc"},
    {"--resize", true, take_resize, "WIDTHxHEIGHT or auto"},
    {"--grey", false, take_grey, NULL},
    {"--top", true, take_top, "a number from 1 to 1000"},
    {"--labels", true, take_labels, "a file"},
    {"--first", true, take_first, "a number up to 1000000"},
    {"--output", true, take_output, "NAME=FILE"},
    {"--output-scale", true, take_output_scale, "a number other than 0"},
    {"--compare", true, take_compare, "NAME=FILE.npy"},
    {"--atol", true, take_atol, "a number that is not below 0"},
    {"--rtol", true, take_rtol, "a number that is not below 0"},
    {"--quiet", false, take_quiet, NULL},
    {"--save", true, take_save, "a file"},
    {"--repeat", true, take_repeat, "a number from 1 to 1000000"},
    {"--threads", true, take_threads, "a number from 1 to 1024"},
    {"--engine", true, take_engine, ARGUMENT_ENGINES},
    {"--precision", true, take_precision, ARGUMENT_PRECISIONS},
    {"--quantize-weights", true, take_quantize, ARGUMENT_WEIGHT_FORMATS},
    {"--deterministic", false, take_deterministic, NULL},
    {"--budget", true, take_budget, ARGUMENT_BUDGET},
    {"--profile", false, take_profile, NULL},
    {"--trace", true, take_trace, "a file whose name has no comma"},
    {"--debug", true, take_debug, "debug switches"},
};

static bool wrong_usage(int *status, const char *format, const char *a, const char *b)
{
    char x[256], y[256];

    *status = 2;
    run_error(format, escape_text(x, sizeof x, a, strlen(a)), b ? escape_text(y, sizeof y, b, strlen(b)) : "");
    fputs("try: webnn-run --help\n", stderr);
    return false;
}

/** Reads one argument, with its value from the next one or behind "=".  *i is moved on. */
static bool parse_option(int argc, char **argv, int *i, struct run_options *o, int *status)
{
    const char *argument = argv[*i], *equals = strchr(argument, '=');
    size_t length = equals ? (size_t)(equals - argument) : strlen(argument);

    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
        const char *value = equals ? equals + 1 : NULL;
        char what[512];

        if (strlen(options[k].name) != length || strncmp(options[k].name, argument, length))
            continue;
        if (!options[k].has_value && value)
            return wrong_usage(status, "%s takes no value", options[k].name, NULL);
        if (options[k].has_value && !value) {
            if (*i + 1 == argc)
                return wrong_usage(status, "%s needs a value: %s", options[k].name, options[k].wants);
            value = argv[++*i];
        }
        if (options[k].take(o, value))
            return true;
        snprintf(what, sizeof what, "%s takes %s", options[k].name,
                 options[k].take == take_dim ? argument_dim_wants(value) : options[k].wants);
        return wrong_usage(status, "%s, not '%s'", what, value);
    }
    struct suggestion meant = suggestion_for(argument, length);
    for (size_t k = 0; k < sizeof options / sizeof *options; k++)
        suggestion_offer(&meant, options[k].name);
    return wrong_usage(status, "there is no option %s%s", argument, suggestion_text(&meant));
}

static void list_devices(void)
{
    static const char *const kinds[] = {"other", "processor", "gpu", "accelerator"};
    WNNDeviceInfo d;
    uint32_t i = 0;

    for (; wnnGetDevice(i, &d); i++) {
        char name[256], platform[256];

        printf("%u  %s  (%s, %s, %.1f GiB)%s%s\n", i, escape_text(name, sizeof name, d.name, strlen(d.name)), kinds[d.kind],
               escape_text(platform, sizeof platform, d.platform, strlen(d.platform)), (double)d.memoryBytes / (1 << 30),
               d.lacks[0] ? " runs no graphs: " : "", d.lacks);
    }
    if (!i)
        puts("there are no devices: OpenCL or the driver of one is missing");
}

bool run_options_parse(int argc, char **argv, struct run_options *o, int *status)
{
    *o = (struct run_options){
        .form = PICTURE_FORM_INIT, .output_scale = 255, .first = 6, .repeat = 1, .atol = -1, .rtol = -1}; /* -1: not given */
    *status = 0;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            fputs(usage_text, stdout);
            return false;
        }
        if (!strcmp(argv[i], "--version")) {
            print_version("webnn-run");
            return false;
        }
        if (!strcmp(argv[i], "--list-devices")) {
            list_devices();
            return false;
        }
        if (argv[i][0] == '-' && argv[i][1]) {
            if (!parse_option(argc, argv, &i, o, status))
                return false;
        } else if (o->model) {
            return wrong_usage(status, "one model at a time: %s, then %s", o->model, argv[i]);
        } else {
            o->model = argv[i];
        }
    }
    if (!o->model)
        return wrong_usage(status, "%s", "no model is given", NULL);
    if (!o->each.paths.count && !o->each.lists.count)
        return !o->each.save || wrong_usage(status, "%s", "--save-each is for --each", NULL);
    const char *other = o->outputs.count    ? "--output"
                        : o->compares.count ? "--compare"
                        : o->quantize       ? "--quantize-weights"
                        : o->repeat > 1     ? "--repeat"
                        : o->states.count   ? "--state"
                                            : NULL;
    return !other ||
           wrong_usage(status, "%s does not go with --each, which computes every file once and by itself", other, NULL);
}

static void free_pairs(struct run_pairs *pairs)
{
    for (size_t i = 0; i < pairs->count; i++)
        free(pairs->items[i].name);
    free(pairs->items);
}

void run_options_free(struct run_options *o)
{
    free_pairs(&o->inputs);
    free_pairs(&o->each.paths);
    free_pairs(&o->each.lists);
    free_pairs(&o->outputs);
    free_pairs(&o->compares);
    free_pairs(&o->states);
    free_pairs(&o->constants);
    for (size_t i = 0; i < o->dim_count; i++)
        free((char *)o->dims[i].name);
    for (size_t i = 0; i < o->shape_count; i++)
        free((char *)o->shapes[i].name);
    free(o->dims);
    free(o->shapes);
}
