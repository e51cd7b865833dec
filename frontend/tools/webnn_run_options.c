/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Has the table of webnn-run's options.  A test holds the manual page webnn-run.1 against it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/tools/options.h"
#include "frontend/tools/webnn_run.h"

static bool take_random(struct option_call *c)
{
    struct run_options *o = c->options;

    o->random = true;
    return argument_number(c->value, 0, UINT64_MAX, &o->seed);
}

static bool take_deviation(struct option_call *c)
{
    const double *numbers = c->member;

    return option_reals3(c) && numbers[0] != 0 && numbers[1] != 0 && numbers[2] != 0;
}

static bool take_layout(struct option_call *c)
{
    bool *nhwc = c->member;

    *nhwc = !strcmp(c->value, "nhwc");
    return *nhwc || !strcmp(c->value, "nchw");
}

static bool take_resize(struct option_call *c)
{
    struct run_options *o = c->options;
    int end = 0;

    o->resize_auto = !strcmp(c->value, "auto");
    o->resize = !o->resize_auto;
    if (o->resize_auto)
        return true;
    return c->value[0] != '-' && sscanf(c->value, "%9ux%9u%n", &o->width, &o->height, &end) == 2 && !c->value[end] &&
           o->width && o->height;
}

static bool take_engine(struct option_call *c)
{
    struct run_options *o = c->options;

    return argument_engine(c->value, &o->engine, &o->device);
}

static bool take_trace(struct option_call *c)
{
    const size_t length = strlen(c->value);

    /* It becomes a debug switch. */
    return option_name(c) && !strchr(c->value, ',') && c->value[0] != ' ' && c->value[length - 1] != ' ';
}

static bool list_devices(struct option_call *c)
{
    static const char *const kinds[] = {"other", "processor", "gpu", "accelerator"};
    WNNDeviceInfo d;
    uint32_t i = 0;

    for (; wnnGetDevice(i, &d); i++) {

        printf("%u  %s  (%s, %s, %.1f GiB)%s%s\n", i, NAME_SHOWN(d.name), kinds[d.kind], NAME_SHOWN(d.platform),
               (double)d.memoryBytes / (1 << 30), d.lacks[0] ? " runs no graphs: " : "", d.lacks);
    }
    if (!i)
        puts("there are no devices: OpenCL or the driver of one is missing");
    return c->ends = true;
}

#define AT(field) .member = offsetof(struct run_options, field)
static const struct option_row rows[] = {
    {.help = "Inputs (those that are not given are zeros; the shapes of arrays bind the model's symbolic dimensions)"},
    {"input", 0, "[NAME=]FILE",
     "an .npy file, an .npz file (its array NAME, or its only one; without NAME= every array by its name), a PNG or JPEG "
     "picture, or raw little-endian elements, told by the file's first bytes; NAME may be left out if the model has one input, "
     "and a = of it is written \\=",
     option_pair, AT(inputs)},
    {"random", 0, "SEED",
     "inputs that are not given are noise: floats from -1 to 1, integers 0 or 1; the same seed gives the same noise everywhere",
     take_random, AT(seed), .wants = "a number"},
    {"dim", 0, "NAME=N", OPTION_DIM_HELP, option_dim, .member = offsetof(struct run_options, model_options)},
    OPTION_MODEL_ROWS(offsetof(struct run_options, model_options), "weights"),
    {.help = "Many inputs"},
    {"each", 0, "[NAME=]PATH",
     "compute once for each file of a folder (or for one file), read while others are computed; print a line of JSON for each "
     "(input, then ms and outputs, or error), and at the end how many failed; the first file that fits the model determines "
     "which inputs change and their shapes; may be given several times",
     option_pair, AT(each.paths), .wants = "a folder or file, or NAME=FOLDER"},
    {"each-list", 0, "[NAME=]FILE", "the same for the paths in the lines of a file, or of standard input (-)", option_pair,
     AT(each.lists), .wants = "a file with a path in each line, or NAME=FILE"},
    {"save-each", 0, "FOLDER", "save all outputs of each input as FOLDER/ITS-FILE-NAME.npz; the folder is made if need be",
     option_name, AT(each.save), .wants = "a folder"},
    {.help = "Many sizes"},
    {"sizes", 0, "NAME=N[,N ...]",
     "compute at each of these sizes (or 1..8) of a dimension that the file names, one after the other, and print for each how "
     "long planning and computing took; given for several names, the first sizes go together, then the second ones; an ONNX "
     "file is read once for all of them, unless a note says which operator must know a size",
     option_named_pair, AT(sizes), .wants = "NAME=N,N,..."},
    {.help = "Pictures: every level L of 0 to 255 becomes (L * scale - mean) / std"},
    {"scale", 0, "S", "a number or a fraction; default: 1/255", option_factor, AT(form.scale)},
    {"mean", 0, "M[,M,M]", "default: 0; one number, or one for each of red, green and blue", option_reals3, AT(form.mean),
     .wants = "one number or three"},
    {"std", 0, "D[,D,D]", "default: 1", take_deviation, AT(form.deviation), .wants = "one number or three, none of them 0"},
    {"layout", 0, "nchw|nhwc", "whether channels are planes (default) or interleaved; for pictures in both directions",
     take_layout, AT(form.nhwc), .wants = "nchw or nhwc"},
    {"resize", 0, "WxH|auto",
     "bilinear, and antialiased when the picture gets smaller; auto: the size that the input has; without this option a "
     "picture of another size is refused",
     take_resize, AT(resize), .wants = "WIDTHxHEIGHT or auto"},
    {"grey", 0, NULL, "one channel: 0.299 red + 0.587 green + 0.114 blue; taken by itself where the input has one channel",
     option_flag, AT(form.grey)},
    {.help = "Outputs"},
    {"top", 0, "K", "the K largest elements of each row, with their indices; most useful with --labels", option_number, AT(top),
     .low = 1, .high = 1000},
    {"labels", 0, "FILE", "one label per line, printed by --top for outputs whose rows are as long", option_text, AT(labels),
     .wants = "a file"},
    {"first", 0, "N", "how many elements to print of each output (default: 6)", option_number, AT(first), .high = 1000000},
    {"output", 0, "[NAME=]FILE",
     "save an output as .npy, .npz, .png, or as raw elements if the file has another ending; FILE.npz alone: save all of them",
     option_pair, AT(outputs)},
    {"output-scale", 0, "S", "levels of a PNG are the elements times S, rounded and clamped (default: 255)", option_factor,
     AT(output_scale)},
    {"compare", 0, "NAME=FILE",
     "compare an output with an .npy file or the array NAME of an .npz, and print the largest absolute and relative error and "
     "where they are; exit with 1 unless |difference| <= A + R * |expected| for every element, NaN where NaN is expected; may "
     "be repeated",
     option_named_pair, AT(compares), .wants = "NAME=FILE.npy"},
    {"atol", 0, "A", "default: 1e-5; outputs of integers must be equal unless this or --rtol is given", option_tolerance,
     AT(atol)},
    {"rtol", 0, "R", "default: 1e-3", option_tolerance, AT(rtol)},
    {"quiet", 0, NULL, "print only requested output and failures, and show no progress", option_flag, AT(quiet)},
    {.help = "Running"},
    {"save", 0, "FILE",
     "write the compiled graph, which later runs on this machine or one like it take as their MODEL without compiling; with "
     "--sizes, one graph for all sizes, which later runs take with --dim, --shape, --input or --sizes",
     option_name, AT(save), .wants = "a file"},
    {"repeat", 0, "N", "compute N times and print the median and the smallest time", option_number, AT(repeat), .low = 1,
     .high = 1000000},
    {"state", 0, "INPUT=OUTPUT",
     "the output becomes the input of the next time, such as a cache, in the same memory; * in both names stands for the same "
     "text, so that one option names the caches of all layers: 'past.*=present.*'",
     option_named_pair, AT(states)},
    {"engine", 0, "E",
     "where the graph runs: cpu, auto (default: what WEBNN_ENGINE says, else a GPU that is expected to be faster than the "
     "processor, else the processor), gpu (the device that WEBNN_ENGINE names, else the first) or gpu:DEVICE, a number or a "
     "part of a name in the list of devices; a compiled graph runs, by default, on the engine that it was made for",
     take_engine, AT(engine), .wants = ARGUMENT_ENGINES},
    {"list-devices", 0, NULL, "print every device with its number, name, kind, platform and memory, and its missing features",
     list_devices, AT(engine)},
    {"threads", 0, "N",
     "threads of the computation (default: OMP_NUM_THREADS, else all processors); a step uses as many as pay for it",
     option_threads, AT(threads)},
    {"quantize-weights", 0, "F",
     "int8 or int4: keep the weights of matmuls in 8 or 4 bits, with a scale for each block of 32; the model is also computed "
     "as it is, and the errors of the outputs and the bytes of the weights are printed",
     option_choice, AT(quantize), .choices = option_weight_formats},
    {"precision", 0, "P",
     "precision of convolutions and matmuls of float32, if it is faster on the processor: float32 (default), bf16x2 "
     "(operands as sums of two bfloat16 numbers), bf16 (operands rounded to bfloat16) or int8 (operands of weights "
     "of 4 or 8 bits, rounded to 8 bits block by block)",
     option_choice, AT(precision), .choices = option_precisions},
    {"deterministic", 0, NULL, "compute the same bits with any number of threads, which may take longer", option_flag,
     AT(deterministic)},
    {"profile", 0, NULL,
     "print a table of times per kernel on stderr: calls per run, microseconds, share, and rates where they are known",
     option_flag, AT(profile)},
    {"trace", 0, "FILE", "write the times of every pass and kernel for Perfetto or chrome://tracing", take_trace, AT(trace),
     .wants = "a file whose name has no comma"},
    {"report", 0, "FILE",
     "write a page for browsers: the graph as it was compiled, time and share of the machine's limits of every step, memory "
     "over time, and which step computes which operator; goes well with --repeat 100",
     option_name, AT(report), .wants = "a file"},
    {"debug", 0, "SWITCHES", "debug switches of the compiler, as in the environment variable WEBNN_DEBUG (docs/debugging.md)",
     option_text, AT(debug), .wants = "debug switches"},
};
static const struct option_row model_row = {"model", .take = option_single, AT(model)};
static const struct option_program program = {
    .name = "webnn-run",
    .about =
        "usage: webnn-run [OPTION ...] MODEL\n"
        "\n"
        "Runs a model: an ONNX file, a .webnn text or its JSON form, a folder with a model.onnx or a manifest.json; or what\n"
        "was compiled from one: a file that --save wrote, a shared object of webnnc.\n",
    .rows = rows,
    .row_count = sizeof rows / sizeof *rows,
    .other = &model_row,
};

bool run_options_parse(int argc, char **argv, struct run_options *o, int *status)
{
    *o = (struct run_options){.model_options.command = true,
                              .form = PICTURE_FORM_INIT,
                              .output_scale = 255,
                              .first = 6,
                              .repeat = 1,
                              .atol = -1,
                              .rtol = -1}; /* -1: not given */
    if (!options_read(&program, argc, argv, o, status))
        return false;
    if (!o->model)
        return options_wrong(NULL, "no model is given");
    const char *other = o->sizes.count && is_each(o)       ? "--each"
                        : o->outputs.count                 ? "--output"
                        : o->compares.count                ? "--compare"
                        : o->quantize                      ? "--quantize-weights"
                        : o->repeat > 1 && !o->sizes.count ? "--repeat"
                        : o->states.count                  ? "--state"
                        : o->report                        ? "--report"
                                                           : NULL;
    if (o->sizes.count)
        return !other || options_wrong(NULL, "%s does not go with --sizes", other);
    if (!is_each(o))
        return !o->each.save || options_wrong(NULL, "--save-each is for --each");
    return !other || options_wrong(NULL, "%s does not go with --each, which computes every file once and by itself", other);
}

void run_options_free(struct run_options *o)
{
    argument_pairs_free(&o->inputs);
    argument_pairs_free(&o->each.paths);
    argument_pairs_free(&o->each.lists);
    argument_pairs_free(&o->outputs);
    argument_pairs_free(&o->compares);
    argument_pairs_free(&o->states);
    argument_pairs_free(&o->sizes);
    option_model_free(&o->model_options);
}
