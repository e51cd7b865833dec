/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Has the table of webnn-bench's options. */
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "frontend/tools/arguments.h"
#include "frontend/tools/options.h"

static const char *const levels[] = {"kernel", "operator", "model", "scale", "sizes"};

static bool take_level(struct option_call *c)
{
    const char *const value = c->value;
    const char *item = value;

    for (;; item++) { /* names separated by commas */
        const size_t length = strcspn(item, ",");
        bool known = false;

        for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
            known |= strlen(levels[i]) == length && !memcmp(item, levels[i], length);
        if (!known || (*item == 's' && length < strlen(value)))
            return false;
        item += length;
        if (!*item)
            return option_text(c);
    }
}

static bool take_model(struct option_call *c)
{
    struct bench_options *o = c->options;

    if (o->model_count == BENCH_MODELS_MAX)
        return false;
    o->models[o->model_count++] = c->value;
    return true;
}

static bool take_seconds(struct option_call *c)
{
    return argument_real(c->value, c->member) && *(double *)c->member > 0;
}

static bool take_engine(struct option_call *c)
{
    WNNEngine engine;
    const char *device;

    /* All contexts of this program are created with WNNEngine_Auto, which follows the variable. */
    return argument_engine(c->value, &engine, &device) && setenv("WEBNN_ENGINE", c->value, 1) == 0;
}

static bool take_no_peaks(struct option_call *c)
{
    ((struct bench_options *)c->options)->peaks = false;
    return true;
}

#define AT(field) .member = offsetof(struct bench_options, field)
static const struct option_row rows[] = {
    {"dim", 0, "NAME=N", "the size of a symbolic dimension", option_dim, AT(model)},
    {"shape", 0, "NAME=1x3x8x8", "the shape of an input", option_shape, AT(model)},
    {"weights", 0, "FILE", "the weights of a .webnn text or JSON", option_text, AT(model.weights), .wants = "a file"},
    {"level", 0, "L,...",
     "kernel, operator, model (default: all); or scale instead: how build time grows with the graph, up to 20,000 operators "
     "and 5,000 convolutions; or sizes: what new sizes of the dimensions that MODEL names cost",
     take_level, AT(levels), .wants = "kernel, operator and model, separated by commas, or scale or sizes"},
    {"overhead", 0, NULL, "instead: what compute and dispatch cost next to the kernels", option_flag, AT(instead.overhead)},
    {"memory", 0, NULL, "instead: the memory that intermediate values need, next to what liveness needs at least", option_flag,
     AT(instead.memory)},
    {"steps", 0, NULL,
     "instead: every step's time, and that of the library alone for contractions; with --json what each computes and touches",
     option_flag, AT(instead.steps)},
    {"tune", 0, NULL,
     "instead: find the best sizes of tiles for the device of --engine gpu, and keep them in the folder of built programs, "
     "where contexts find them",
     option_flag, AT(instead.tune)},
    {"peaks", 0, NULL, "instead: the machine's peaks", option_flag, AT(instead.peaks)},
    {"case", 0, "TEXT", "only cases whose name contains TEXT", option_text, AT(pattern), .wants = "a part of a name"},
    {"model", 0, "MODEL", "the same as MODEL alone", .take = take_model, .wants = "a model, 16 at most"},
    {"engine", 0, "E", "cpu, auto, gpu or gpu:DEVICE, a number or a part of a name (webnn-run --list-devices)",
     .take = take_engine, .wants = ARGUMENT_ENGINES},
    {"threads", 0, "N", "threads of a computation (default: 1)", option_threads, AT(threads)},
    {"budget", 0, "OPS[,BYTES]", "what reading and building a model may take (default: by the sizes of its files and inputs)",
     option_budget, AT(budget)},
    {"precision", 0, "P", "float32, bf16x2, bf16 or int8: how exact convolutions and matmuls have to be (default: float32)",
     option_choice, AT(precision), .choices = option_precisions},
    {"deterministic", 0, NULL, "compute the same bits with any number of threads", option_flag, AT(deterministic)},
    {"tensors", 0, NULL,
     "time a dispatch with tensors and waiting for it, as programs on a GPU do, instead of wnnGraphCompute, which copies "
     "inputs and outputs to a GPU's memory and back; on the processor, where nothing is copied, handing the dispatch to "
     "another thread takes some microseconds",
     option_flag, AT(tensors)},
    {"seconds", 0, "S", "time for measuring each case (default: 1)", take_seconds, AT(seconds), .wants = "a number above 0"},
    {"debug", 0, "TEXT", "debug switches of the context (docs/debugging.md), such as skip=fuse-kernels", option_text,
     AT(debug)},
    {"file", 0, "FILE", "case lines to read instead of bench/cases.txt", option_text, AT(file)},
    {"json", 0, NULL, "JSON instead of the table: one line for each MODEL, one document for the built-in cases", option_flag,
     AT(json)},
    {"no-peaks", 0, NULL, "do not measure the machine's peaks", .take = take_no_peaks},
    {"check", 0, NULL,
     "time nothing: compare every case with the reference interpreter (large networks: with an unoptimised build of "
     "themselves); with --level scale: fail if build time is not linear",
     option_flag, AT(check)},
    {"same-bits", 0, NULL, "time nothing: compute every case or MODEL with 1, 2, 3 and 4 threads and compare all bits",
     option_flag, AT(same_bits)},
    {"list", 0, NULL, "names only", option_flag, AT(list)},
    {"print", 0, "NAME", "the graph of a case as text", option_text, AT(print)},
};
static const struct option_row model_row = {"one run", .take = take_model, .wants = "16 models at most"};
static const struct option_program program = {
    .name = "webnn-bench",
    .about = "usage: webnn-bench [OPTION ...]             the built-in cases\n"
             "       webnn-bench [OPTION ...] MODEL ...   model files\n"
             "\n"
             "MODEL is an ONNX file, a .webnn text or its JSON form, or a folder with a manifest.json, whose first case says "
             "what its\n"
             "inputs are; those of others, and of other shapes, are noise.\n"
             "\n",
    .rows = rows,
    .row_count = sizeof rows / sizeof *rows,
    .other = &model_row,
};

bool bench_options_parse(int argc, char **argv, struct bench_options *o, int *status)
{
    *o = (struct bench_options){.threads = 1, .seconds = 1, .peaks = true, .file = BENCH_DIR "/cases.txt"};
    if (!options_read(&program, argc, argv, o, status))
        return false;
    if (o->model_count && (o->check || o->list || o->print))
        return options_wrong(NULL, "%s is for the built-in cases, not '%s'",
                             o->check  ? "--check"
                             : o->list ? "--list"
                                       : "--print",
                             o->models[0]);
    *status = 0;
    return true;
}

void bench_options_free(struct bench_options *o)
{
    option_model_free(&o->model);
}
