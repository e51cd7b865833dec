/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Has the table of webnnc's options, and what follows from them.  A test holds the manual page webnnc.1 against the table. */
#include <stdlib.h>
#include <sys/stat.h>

#include "frontend/tools/arguments.h"
#include "frontend/tools/option_passes.h"
#include "frontend/tools/webnnc.h"
#include "ir/support/array.h"
#include "ir/support/suggest.h"
#include "passes/passes.h"

static const char *const kinds[] = {"", "obj", "asm", "llvm-ir", "bc", "so", "exe", "wasm", "ir", "webnn", "json", "dot", NULL};
static const char *const endings[] = {"", ".o", ".s", ".ll", ".bc", ".so", ".exe", ".wasm", ".ir", ".webnn", ".json", ".dot"};
static const char *const libraries[] = {[LIBRARY_DEFAULT] = "", [LIBRARY_NONE] = "none", [LIBRARY_ONEDNN] = "onednn", NULL};
static const char *const optimizations[] = {[OPTIMIZE_SPEED] = "speed", [OPTIMIZE_SIZE] = "size", NULL};
static const char *const weight_forms[] = {
    [TEXT_WEIGHTS_CONTAINER] = "container", [TEXT_WEIGHTS_SAFETENSORS] = "safetensors", [TEXT_WEIGHTS_INLINE] = "inline", NULL};

static bool take_pass(struct option_call *c)
{
    const bool optional = !strcmp(c->row->name, "skip");
    struct suggestion meant = suggestion_for(c->value, strlen(c->value));
    bool known = false;

    for (uint32_t i = 0; i < pass_pipeline_length; i++)
        if (!(optional && pass_pipeline[i].required)) {
            known |= !strcmp(pass_pipeline[i].name, c->value);
            suggestion_offer(&meant, pass_pipeline[i].name);
        }
    snprintf(c->wants, sizeof c->wants, "a pass%s (--list-passes prints them)%s", optional ? " that is not required" : "",
             suggestion_text(&meant));
    return known && option_add_switch(c, c->row->name, c->value);
}

static bool take_name(struct option_call *c)
{
    return option_text(c) && name_is_identifier(c->value);
}

static bool take_engine(struct option_call *c)
{
    return !strcmp(c->value, "cpu");
}

/* A number fixes a dimension; other texts say which sizes functions take. */
static bool take_dim(struct option_call *c)
{
    struct options *o = c->options;
    const char *equals = strchr(c->value, '='), *sizes = equals ? equals + 1 : "";
    const bool listed = strpbrk(sizes, "+?") || strstr(sizes, "..") || (strchr(sizes, ',') && !strchr(sizes, '='));

    c->member = listed ? (void *)&o->sizes : (void *)&o->model;
    return listed ? option_named_pair(c) : option_dim(c);
}

#define AT(field) .member = offsetof(struct options, field)
static const struct option_row rows[] = {
    {.help = "Output"},
    {"output", 'o', "FILE", "the output file; - is standard output (default: the model's name with the kind's ending)",
     option_name, AT(output)},
    {"emit", 0, "KIND",
     "obj, asm, llvm-ir, bc, so, exe (a program that runs the model on .npy files; its --help says how), wasm (a WebAssembly "
     "module, and next to it NAME.mjs, the JavaScript module that loads it in Node.js and in browsers), ir (the compiler's own "
     "text), webnn, json (the exchange format) or dot (Graphviz; a box around each kernel); default: by the ending "
     "of OUT: .o .s .ll .bc .so .wasm .ir .webnn .json .dot; none or .exe: exe",
     option_choice, AT(emit), .choices = kinds},
    {"header", 0, "FILE", "write the C header of the object (C99 and C++)", option_name, AT(header)},
    {"name", 0, "PREFIX", "a C identifier that the names of all functions begin with (default: from OUT's name)", take_name,
     AT(name), .wants = "a C identifier of at most 60 characters"},
    {"weights", 0, "FILE",
     "write the constants to a file instead of the object, which maps the file when it is created or first run", option_name,
     AT(weights)},
    {"weights-as", 0, "FORM",
     "where the weights of webnn, json and ir go: container (NAME.weights and NAME.manifest.json, the default), safetensors "
     "(NAME.safetensors) or inline",
     option_choice, AT(text.weights), .choices = weight_forms},
    {"legal-names", 0, NULL, "webnn: change names that other readers of the format do not take", option_flag,
     AT(text.legal_names)},
    {.help = "Model"},
    {"dim", 0, "NAME=N",
     OPTION_DIM_HELP
     ".  NAME=1,4 or NAME=1..512 lists sizes, and NAME=? is 1..512: the object's functions take the size, in any combination "
     "with those of other names.  NAME=past+sequence is a sum of these, which they do not take",
     .take = take_dim},
    OPTION_MODEL_ROWS(offsetof(struct options, model), "model-weights"),
    {.help = "Target"},
    {"target", 0, "TRIPLE",
     "x86_64-linux-gnu, aarch64-linux-gnu, riscv64-linux-gnu, wasm32 or any other little-endian target that LLVM has (default: "
     "this machine's; of wasm: wasm32)",
     option_name, AT(triple)},
    {"cpu", 0, "NAME[,NAME...]",
     "a processor as LLVM calls it, x86-64-v2 to -v4, or native; several levels of x86-64, the lowest first: code for each, of "
     "which the object takes the highest that the processor has when it runs (default: x86-64,x86-64-v3,x86-64-v4, or x86-64 "
     "if --features are given; elsewhere a baseline: ARMv8-A, rv64gc, WebAssembly 2.0)",
     option_name, AT(cpu)},
    {"features", 0, "LIST", "+name,-name on top of that, such as +avx2,+fma, +relaxed-simd or -simd128", option_name,
     AT(features)},
    {"library", 0, "onednn|none",
     "what computes convolutions and matmuls: oneDNN through libwebnn_rt (default for this machine), or the object's "
     "own (default for others), which then needs nothing but the C library",
     option_choice, AT(library), .choices = libraries},
    {"optimize", 'O', "speed|size",
     "what code is optimized for (default: speed): for size, loops are not unrolled; code for one --cpu is smaller than code "
     "for several levels",
     option_choice, AT(optimize), .choices = optimizations},
    {"engine", 0, "cpu",
     "objects are for processors: graphs for a GPU are compiled when they are built, by a context with that engine",
     .take = take_engine,
     .wants = "cpu: it writes objects for processors; a graph for a GPU is compiled when it is built, by a context with that "
              "engine (webnn-run --engine gpu)"},
    {"quantize-weights", 0, "F",
     "int8 or int4: keep the weights of matmuls in 8 or 4 bits, with a scale for each block of 32, and print their bytes "
     "before and after (webnn-run's option prints the resulting error)",
     option_choice, AT(quantize), .choices = option_weight_formats},
    {"precision", 0, "P",
     "precision of convolutions and matmuls of float32: float32 (default), bf16x2 (operands as sums of two bfloat16 numbers), "
     "bf16 (operands rounded to bfloat16) or int8 (operands of weights of 4 or 8 bits, rounded to 8 bits block by block); "
     "bfloat16 is oneDNN's, and whether it takes it depends on the processor that runs the object, and on the sizes",
     option_choice, AT(precision), .choices = option_precisions},
    {"deterministic", 0, NULL, "compute the same bits with any number of threads (without oneDNN that is always so)",
     option_flag, AT(deterministic)},
    {"threads", 0, "N", "threads that one run uses at most (default: all processors; a standalone object has its caller's)",
     option_threads, AT(threads)},
    {"cc", 0, "COMMAND",
     "the C compiler that links so and exe, with options if need be: \"aarch64-linux-gnu-gcc -static\" (default: cc)",
     option_name, AT(cc)},
    {"wasm-ld", 0, "COMMAND",
     "the linker that links wasm, with options if need be (default: wasm-ld, or the one whose name ends with the version of "
     "LLVM that webnnc was built with)",
     option_name, AT(wasm_ld)},
    {.help = "Looking inside"},
    {"print-after", 0, "PASS", "print the graph after a pass, on stderr (may be repeated)", .take = take_pass, AT(debug)},
    {"print-after-all", 0, NULL, "after every pass that changed it", option_switch, AT(debug)},
    {"skip", 0, "PASS", "skip an optional pass (may be repeated)", .take = take_pass, AT(debug)},
    {"time-passes", 0, NULL, "print the times of passes and code generation", option_switch, AT(debug)},
    OPTION_LIST_PASSES,
    {"debug", 0, "SWITCHES", "further switches of the compiler, as in the environment variable WEBNN_DEBUG (docs/debugging.md)",
     option_switches, AT(debug)},
    {"verbose", 'v', NULL, "print steps, times and sizes, on stderr", option_flag, AT(verbose)},
    {"quiet", 'q', NULL, "no display of progress, which otherwise appears if stderr is a terminal", option_flag, AT(quiet)},
};
static const struct option_row model_row = {"model", .take = option_single, AT(input)};
static const struct option_program program = {
    .name = "webnnc",
    .about = "usage: webnnc [OPTION ...] MODEL -o OUT\n"
             "\n"
             "Compiles a model to native code: an ONNX file, a .webnn text or its JSON form, a folder with a model.onnx or a\n"
             "manifest.json.\n",
    .rows = rows,
    .row_count = sizeof rows / sizeof *rows,
    .other = &model_row,
};

/* ---- what follows from what was not said ---- */

static bool ends_with(const char *text, const char *ending)
{
    size_t n = strlen(text), m = strlen(ending);

    return n > m && !strcmp(text + n - m, ending);
}

static bool kind_from_output(struct options *o)
{
    const char *name = file_name(o->output);

    for (int i = EMIT_OBJ; i <= EMIT_DOT; i++)
        if (ends_with(name, endings[i]))
            o->emit = (enum emit_kind)i;
    if (!o->emit && strcmp(o->output, "-") && !strchr(name, '.'))
        o->emit = EMIT_EXE;
    return o->emit || complain("%s: its ending says nothing about what to write: use --emit", NAME_SHOWN(o->output));
}

static bool makes_code(enum emit_kind kind)
{
    return kind >= EMIT_OBJ && kind <= EMIT_WASM;
}

static bool check(struct options *o)
{
    if (!o->input)
        return options_wrong(NULL, "no model is given");
    if (!o->emit && !o->output)
        o->emit = EMIT_OBJ;
    if (!o->emit && !kind_from_output(o))
        return false;
    if (o->output && !strcmp(o->output, "-") && is_linked(o->emit))
        return complain("shared objects, programs and modules are not written to standard output");
    if (o->emit == EMIT_WASM && !o->triple)
        o->triple = "wasm32";
    if (o->emit == EMIT_WASM && strncmp(o->triple, "wasm32", 6)) /* JavaScript passes addresses of wasm32 as numbers */
        return complain("--emit wasm makes modules for wasm32, not for %s", NAME_SHOWN(o->triple));
    if (!makes_code(o->emit) && (o->header || o->weights))
        return complain("--%s goes with code, not with --emit %s", o->header ? "header" : "weights", kinds[o->emit]);
    if (o->sizes.count && !makes_code(o->emit))
        return complain("--dim: code takes sizes, with --emit %s each dimension has one (--dim NAME=N)", kinds[o->emit]);
    if (o->sizes.count && o->library == LIBRARY_ONEDNN)
        return complain("--dim: sizes that functions take go with --library none: oneDNN's primitives are made for one size");
    if (o->library == LIBRARY_ONEDNN && o->triple && !makes_code(o->emit) && o->emit != EMIT_DOT)
        return complain("--library goes with code");
    return true;
}

/* Names the output after the input, in the current folder: NAME.o or so; and what belongs to it. */
static bool name_outputs(struct options *o)
{
    char *name = o->output ? NULL : name_from_path(o->input);

    if (name && text_append(&o->default_output, "%s%s", name, o->emit == EMIT_EXE ? "" : endings[o->emit]))
        o->output = o->default_output;
    free(name);
    if (o->output && o->emit == EMIT_WASM)
        o->script = script_path(o->output);
    return (o->output && (o->emit != EMIT_WASM || o->script)) || complain("out of memory");
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat at_a, at_b;

    return !strcmp(a, b) || (!stat(a, &at_a) && !stat(b, &at_b) && S_ISREG(at_a.st_mode) && at_a.st_dev == at_b.st_dev &&
                             at_a.st_ino == at_b.st_ino);
}

/* Of two outputs with one name the second would replace the first; only a graph may be written in place of itself. */
static bool check_files(const struct options *o)
{
    const struct {
        const char *path, *what;
    } files[] = {{o->input, "the model"},
                 {o->output, "--output"},
                 {o->header, "--header"},
                 {o->weights, "--weights"},
                 {o->script, "the JavaScript module"}};

    for (int i = 0; i < 5; i++)
        for (int j = makes_code(o->emit) ? 0 : 1; j < i; j++)
            if (files[i].path && files[j].path && is_same_file(files[i].path, files[j].path))
                return complain("%s and %s are the same file: %s", files[j].what, files[i].what, NAME_SHOWN(files[i].path));
    return true;
}

bool options_parse(int argc, char **argv, struct options *o, int *status)
{
    *o = (struct options){.model.command = true};
    return options_read(&program, argc, argv, o, status) && check(o) && name_outputs(o) && check_files(o);
}

void options_free(struct options *o)
{
    option_model_free(&o->model);
    argument_pairs_free(&o->sizes);
    free(o->debug);
    free(o->default_output);
    free(o->script);
}
