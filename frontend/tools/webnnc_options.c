/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads webnnc's command line.  The man page webnnc.1 has the same options; a test holds it against --help.
 */
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "frontend/tools/arguments.h"
#include "frontend/tools/webnnc.h"
#include "ir/support/suggest.h"
#include "passes/passes.h"

static const char usage_text[] =
    "usage: webnnc [OPTION ...] MODEL -o OUT\n"
    "\n"
    "Compiles a model to native code: an ONNX file, a .webnn text or its JSON form, a folder with a model.onnx or a\n"
    "manifest.json.\n"
    "\n"
    "output\n"
    "  -o, --output FILE     where to; \"-\" is standard output (default: the model's name with the kind's ending)\n"
    "  --emit KIND           obj, asm, llvm-ir, bc, so, exe, wasm (with the JavaScript module that loads it), ir, webnn, json\n"
    "                        or dot (default: by the ending of OUT: .o .s .ll .bc .so .wasm .ir .webnn .json .dot; none or\n"
    "                        .exe: exe)\n"
    "  --header FILE         write the C header of the object\n"
    "  --name PREFIX         of the functions' names (default: from OUT's name)\n"
    "  --weights FILE        write the constants there instead of into the object, which maps the file\n"
    "  --weights-as FORM     of webnn, json and ir: container (NAME.weights and NAME.manifest.json, the default), safetensors\n"
    "                        (NAME.safetensors) or inline\n"
    "  --legal-names         webnn: names that every reader of the format takes\n"
    "\n"
    "model\n"
    "  --dim NAME=N          the size of a symbolic dimension\n"
    "  --shape NAME=1x3x8x8  the shape of an input (NAME=scalar for rank 0)\n"
    "  --constant NAME=VALUE an input whose value the graph depends on, such as a shape: numbers (sr=16000, size=1,3,8) or a\n"
    "                        file (.npy); it is no input any more\n"
    "  --budget OPS[,BYTES]  what reading and compiling may take (default: by the sizes of the model's files and inputs)\n"
    "  --model-weights FILE  the weights of a .webnn text or JSON\n"
    "\n"
    "target\n"
    "  --target TRIPLE       x86_64-linux-gnu, aarch64-linux-gnu, riscv64-linux-gnu, wasm32, ... (default: this machine's;\n"
    "                        of wasm: wasm32)\n"
    "  --cpu NAME[,NAME...]  a processor, x86-64-v2 to -v4, or native; several levels of x86-64: code for each, and the\n"
    "                        object picks when it runs (default: x86-64,x86-64-v3,x86-64-v4, elsewhere what every machine "
    "has)\n"
    "  --features LIST       +name,-name on top of that\n"
    "  --library onednn|none who computes convolutions and matmuls: oneDNN through libwebnn_rt (default, where it is), or "
    "code\n"
    "                        of the object's own, which then needs nothing but the C library\n"
    "  --engine cpu          objects are for processors: graphs for a GPU are compiled when they are built\n"
    "  --quantize-weights F  int8 or int4: keep the weights of matmuls in so many bits, with a scale for each block of 32\n"
    "                        (webnn-run's option prints the error that this makes)\n"
    "  --precision P         float32 (default), bf16x2, bf16 or int8: how exactly convolutions and matmuls are computed\n"
    "  --deterministic       compute the same bits with any number of threads (without oneDNN that is always so)\n"
    "  --threads N           threads that one run uses at most (default: all processors; a standalone object has its "
    "caller's)\n"
    "  --cc COMMAND          the C compiler that links so and exe (default: cc)\n"
    "  --wasm-ld COMMAND     the linker that links wasm (default: LLVM's wasm-ld)\n"
    "\n"
    "looking inside\n"
    "  --print-after PASS    print the graph after a pass, on stderr (may be repeated)\n"
    "  --print-after-all     after every pass that changed it\n"
    "  --skip PASS           skip an optional pass (may be repeated)\n"
    "  --time-passes         print how long each pass takes\n"
    "  --list-passes         print the passes and end\n"
    "  --debug SWITCHES      further switches (docs/debugging.md)\n"
    "  -v, --verbose         print what is done, times and sizes\n"
    "  -q, --quiet           no progress display\n"
    "  -h, --help, --version\n";

bool complain(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    print_message("webnnc", format, args);
    va_end(args);
    return false;
}

enum {
    OPTION_EMIT = 256,
    OPTION_HEADER,
    OPTION_NAME,
    OPTION_WEIGHTS,
    OPTION_WEIGHTS_AS,
    OPTION_LEGAL_NAMES,
    OPTION_DIM,
    OPTION_SHAPE,
    OPTION_CONSTANT,
    OPTION_MODEL_WEIGHTS,
    OPTION_TARGET,
    OPTION_CPU,
    OPTION_FEATURES,
    OPTION_LIBRARY,
    OPTION_PRECISION,
    OPTION_QUANTIZE_WEIGHTS,
    OPTION_ENGINE,
    OPTION_DETERMINISTIC,
    OPTION_BUDGET,
    OPTION_THREADS,
    OPTION_CC,
    OPTION_WASM_LD,
    OPTION_PRINT_AFTER,
    OPTION_PRINT_AFTER_ALL,
    OPTION_SKIP,
    OPTION_TIME_PASSES,
    OPTION_LIST_PASSES,
    OPTION_DEBUG,
    OPTION_VERSION
};

static const struct option long_options[] = {
    {"output", required_argument, NULL, 'o'},
    {"emit", required_argument, NULL, OPTION_EMIT},
    {"header", required_argument, NULL, OPTION_HEADER},
    {"name", required_argument, NULL, OPTION_NAME},
    {"weights", required_argument, NULL, OPTION_WEIGHTS},
    {"weights-as", required_argument, NULL, OPTION_WEIGHTS_AS},
    {"legal-names", no_argument, NULL, OPTION_LEGAL_NAMES},
    {"dim", required_argument, NULL, OPTION_DIM},
    {"shape", required_argument, NULL, OPTION_SHAPE},
    {"constant", required_argument, NULL, OPTION_CONSTANT},
    {"model-weights", required_argument, NULL, OPTION_MODEL_WEIGHTS},
    {"target", required_argument, NULL, OPTION_TARGET},
    {"cpu", required_argument, NULL, OPTION_CPU},
    {"features", required_argument, NULL, OPTION_FEATURES},
    {"library", required_argument, NULL, OPTION_LIBRARY},
    {"engine", required_argument, NULL, OPTION_ENGINE},
    {"precision", required_argument, NULL, OPTION_PRECISION},
    {"quantize-weights", required_argument, NULL, OPTION_QUANTIZE_WEIGHTS},
    {"deterministic", no_argument, NULL, OPTION_DETERMINISTIC},
    {"budget", required_argument, NULL, OPTION_BUDGET},
    {"threads", required_argument, NULL, OPTION_THREADS},
    {"cc", required_argument, NULL, OPTION_CC},
    {"wasm-ld", required_argument, NULL, OPTION_WASM_LD},
    {"print-after", required_argument, NULL, OPTION_PRINT_AFTER},
    {"print-after-all", no_argument, NULL, OPTION_PRINT_AFTER_ALL},
    {"skip", required_argument, NULL, OPTION_SKIP},
    {"time-passes", no_argument, NULL, OPTION_TIME_PASSES},
    {"list-passes", no_argument, NULL, OPTION_LIST_PASSES},
    {"debug", required_argument, NULL, OPTION_DEBUG},
    {"verbose", no_argument, NULL, 'v'},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, OPTION_VERSION},
    {0},
};

static const struct kind {
    const char *name, *ending;
    enum emit_kind kind;
} kinds[] = {
    {"obj", ".o", EMIT_OBJ},         {"asm", ".s", EMIT_ASM},      {"llvm-ir", ".ll", EMIT_LLVM_IR}, {"bc", ".bc", EMIT_BC},
    {"so", ".so", EMIT_SO},          {"exe", ".exe", EMIT_EXE},    {"wasm", ".wasm", EMIT_WASM},     {"ir", ".ir", EMIT_IR},
    {"webnn", ".webnn", EMIT_WEBNN}, {"json", ".json", EMIT_JSON}, {"dot", ".dot", EMIT_DOT},
};
enum { KIND_COUNT = sizeof kinds / sizeof *kinds };

/* ---- single options; false: complained, or out of memory ---- */

static bool no_memory(void)
{
    return complain("out of memory");
}

static bool bad_value(const char *option, const char *value, const char *expected)
{
    char text[200];

    return complain("--%s %s: expected %s", option, escape_text(text, sizeof text, value, strlen(value)), expected);
}

/* Switches for the context add up, separated by commas. */
static bool add_debug(struct options *o, const char *name, const char *value)
{
    size_t have = o->debug ? strlen(o->debug) + 1 : 0, size = have + strlen(name) + strlen(value) + 1;
    char *all = realloc(o->debug, size);

    if (!all)
        return no_memory();
    snprintf(all + (have ? have - 1 : 0), size - (have ? have - 1 : 0), "%s%s%s", have ? "," : "", name, value);
    o->debug = all;
    return true;
}

static bool add_pass(struct options *o, const char *option, const char *name, bool optional)
{
    bool known = false;
    struct suggestion meant = suggestion_for(name, strlen(name));
    char expected[300];

    for (uint32_t i = 0; i < pass_pipeline_length; i++)
        if (!(optional && pass_pipeline[i].required)) {
            known |= !strcmp(pass_pipeline[i].name, name);
            suggestion_offer(&meant, pass_pipeline[i].name);
        }
    snprintf(expected, sizeof expected, "a pass%s (--list-passes prints them)%s", optional ? " that is not required" : "",
             suggestion_text(&meant));
    if (!known)
        return bad_value(option, name, expected);
    char key[32];
    snprintf(key, sizeof key, "%s=", option);
    return add_debug(o, key, name);
}

static bool add_dim(struct options *o, const char *value)
{
    struct model_dim *grown = list_grow(o->dims, o->model.dim_count, sizeof *grown);
    char *name;
    uint32_t size;

    if (!grown)
        return no_memory();
    o->dims = grown;
    if (!argument_dim(value, &name, &size))
        return bad_value("dim", value, argument_dim_wants(value));
    o->dims[o->model.dim_count++] = (struct model_dim){name, size};
    return true;
}

static bool add_shape(struct options *o, const char *value)
{
    struct model_shape *grown = list_grow(o->shapes, o->model.shape_count, sizeof *grown), shape;
    char *name;

    if (!grown)
        return no_memory();
    o->shapes = grown;
    if (!argument_shape(value, &name, &shape))
        return bad_value("shape", value, "NAME=1x3x224x224, or NAME=scalar");
    shape.name = name;
    o->shapes[o->model.shape_count++] = shape;
    return true;
}

static bool add_constant(struct options *o, const char *value)
{
    size_t count = o->model.constant_count;
    struct model_constant *constants = list_grow(o->constants, count, sizeof *constants);
    struct argument_pair pair;
    char message[512];

    if (constants)
        o->constants = constants;
    struct npy_array *arrays = list_grow(o->arrays, count, sizeof *arrays);
    if (arrays)
        o->arrays = arrays;
    if (!constants || !arrays || !argument_split(value, &pair))
        return no_memory();
    if (!pair.name || !*pair.value) {
        free(pair.name);
        return bad_value("constant", value, "NAME=VALUE, or NAME=FILE.npy");
    }
    bool literal;
    if (!argument_constant(pair.value, &o->arrays[count], &literal, message, sizeof message)) {
        complain("--constant %s: %s; numbers such as %s=16000 need no file", pair.name, message, pair.name);
        free(pair.name);
        return false;
    }
    o->constants[count].literal = literal;
    o->constants[count].name = pair.name;
    o->model.constant_count++;
    return true;
}

static bool set_emit(struct options *o, const char *value)
{
    struct suggestion meant = suggestion_for(value, strlen(value));
    char expected[300];

    for (int i = 0; i < KIND_COUNT; i++) {
        if (!strcmp(kinds[i].name, value))
            o->emit = kinds[i].kind;
        suggestion_offer(&meant, kinds[i].name);
    }
    snprintf(expected, sizeof expected, "obj, asm, llvm-ir, bc, so, exe, wasm, ir, webnn, json or dot%s",
             suggestion_text(&meant));
    return o->emit || bad_value("emit", value, expected);
}

static bool set_library(struct options *o, const char *value)
{
    o->library = !strcmp(value, "none") ? LIBRARY_NONE : !strcmp(value, "onednn") ? LIBRARY_ONEDNN : LIBRARY_DEFAULT;
    return o->library || bad_value("library", value, "onednn or none");
}

static bool set_weights_as(struct options *o, const char *value)
{
    static const char *const forms[] = {
        [TEXT_WEIGHTS_CONTAINER] = "container", [TEXT_WEIGHTS_SAFETENSORS] = "safetensors", [TEXT_WEIGHTS_INLINE] = "inline"};

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (!strcmp(forms[i], value)) {
            o->weights_as = (enum text_weights)i;
            return true;
        }
    return bad_value("weights-as", value, "container, safetensors or inline");
}

static bool set_threads(struct options *o, const char *value)
{
    uint64_t number;

    if (!argument_number(value, 1, 1024, &number))
        return bad_value("threads", value, "a number from 1 to 1024");
    o->threads = (uint32_t)number;
    return true;
}

static bool set_name(struct options *o, const char *value)
{
    o->name = value;
    return name_is_identifier(value) || bad_value("name", value, "a C identifier of at most 60 characters");
}

static void list_passes(void)
{
    for (uint32_t i = 0; i < pass_pipeline_length; i++)
        printf("%-18s %s%s\n", pass_pipeline[i].name, pass_pipeline[i].summary, pass_pipeline[i].required ? " (required)" : "");
}

static bool take_text(const char **member, const char *option, const char *value)
{
    *member = value;
    return *value || bad_value(option, value, "a value");
}

/* Takes one option.  Returns true to go on. */
static bool take(struct options *o, int option, const char *value, bool *done)
{
    switch (option) {
    case 'o':
        return take_text(&o->output, "output", value);
    case OPTION_EMIT:
        return set_emit(o, value);
    case OPTION_HEADER:
        return take_text(&o->header, "header", value);
    case OPTION_NAME:
        return set_name(o, value);
    case OPTION_WEIGHTS:
        return take_text(&o->weights, "weights", value);
    case OPTION_WEIGHTS_AS:
        return set_weights_as(o, value);
    case OPTION_LEGAL_NAMES:
        return o->legal_names = true;
    case OPTION_DIM:
        return add_dim(o, value);
    case OPTION_SHAPE:
        return add_shape(o, value);
    case OPTION_CONSTANT:
        return add_constant(o, value);
    case OPTION_MODEL_WEIGHTS:
        return take_text(&o->model_weights, "model-weights", value);
    case OPTION_TARGET:
        return take_text(&o->triple, "target", value);
    case OPTION_CPU:
        return take_text(&o->cpu, "cpu", value);
    case OPTION_FEATURES:
        return take_text(&o->features, "features", value);
    case OPTION_LIBRARY:
        return set_library(o, value);
    case OPTION_ENGINE:
        return !strcmp(value, "cpu") ||
               bad_value(
                   "engine", value,
                   "cpu: it writes objects for processors; a graph for a GPU is compiled when it is built, by a context with "
                   "that engine (webnn-run --engine gpu)");
    case OPTION_PRECISION:
        return argument_precision(value, &o->precision) || bad_value("precision", value, ARGUMENT_PRECISIONS);
    case OPTION_QUANTIZE_WEIGHTS:
        return argument_weight_format(value, &o->quantize) || bad_value("quantize-weights", value, ARGUMENT_WEIGHT_FORMATS);
    case OPTION_DETERMINISTIC:
        o->deterministic = true;
        return true;
    case OPTION_BUDGET:
        return argument_budget(value, &o->budget) || bad_value("budget", value, ARGUMENT_BUDGET);
    case OPTION_THREADS:
        return set_threads(o, value);
    case OPTION_CC:
        return take_text(&o->cc, "cc", value);
    case OPTION_WASM_LD:
        return take_text(&o->wasm_ld, "wasm-ld", value);
    case OPTION_PRINT_AFTER:
        return add_pass(o, "print-after", value, false);
    case OPTION_PRINT_AFTER_ALL:
        return add_debug(o, "print-after-all", "");
    case OPTION_SKIP:
        return add_pass(o, "skip", value, true);
    case OPTION_TIME_PASSES:
        return add_debug(o, "time-passes", "");
    case OPTION_DEBUG:
        return add_debug(o, value, "");
    case 'v':
        return o->verbose = true;
    case 'q':
        return o->quiet = true;
    case OPTION_LIST_PASSES:
        list_passes();
        break;
    case 'h':
        fputs(usage_text, stdout);
        break;
    case OPTION_VERSION:
        print_version("webnnc");
        break;
    default:
        return false;
    }
    *done = true;
    return false;
}

/* ---- what follows from what was not said ---- */

static bool ends_with(const char *text, const char *ending)
{
    size_t n = strlen(text), m = strlen(ending);

    return n > m && !strcmp(text + n - m, ending);
}

static bool kind_from_output(struct options *o)
{
    const char *slash = strrchr(o->output, '/'), *name = slash ? slash + 1 : o->output;

    for (int i = 0; i < KIND_COUNT; i++)
        if (ends_with(name, kinds[i].ending))
            o->emit = kinds[i].kind;
    if (!o->emit && strcmp(o->output, "-") && !strchr(name, '.'))
        o->emit = EMIT_EXE;
    char text[200];
    return o->emit || complain("%s: its ending says nothing about what to write: use --emit",
                               escape_text(text, sizeof text, o->output, strlen(o->output)));
}

static bool makes_code(enum emit_kind kind)
{
    return kind >= EMIT_OBJ && kind <= EMIT_WASM;
}

static bool is_linked(enum emit_kind kind)
{
    return kind == EMIT_SO || kind == EMIT_EXE || kind == EMIT_WASM;
}

/* JavaScript passes addresses of wasm32 as numbers. */
static bool check_module(struct options *o)
{
    char text[200];

    if (!o->triple)
        o->triple = "wasm32";
    return !strncmp(o->triple, "wasm32", 6) || complain("--emit wasm makes modules for wasm32, not for %s",
                                                        escape_text(text, sizeof text, o->triple, strlen(o->triple)));
}

static bool check(struct options *o)
{
    if (!o->input)
        return complain("no model is given; try --help");
    if (!o->emit && !o->output)
        o->emit = EMIT_OBJ;
    if (!o->emit && !kind_from_output(o))
        return false;
    if (o->output && !strcmp(o->output, "-") && is_linked(o->emit))
        return complain("shared objects, programs and modules are not written to standard output");
    if (o->emit == EMIT_WASM && !check_module(o))
        return false;
    if (!makes_code(o->emit) && (o->header || o->weights))
        return complain("--%s goes with code, not with --emit %s", o->header ? "header" : "weights", kinds[o->emit - 1].name);
    if (o->library == LIBRARY_ONEDNN && o->triple && !makes_code(o->emit) && o->emit != EMIT_DOT)
        return complain("--library goes with code");
    o->model.dims = o->dims;
    o->model.shapes = o->shapes;
    for (size_t i = 0; i < o->model.constant_count; i++)
        o->constants[i].array = &o->arrays[i];
    o->model.constants = o->constants;
    o->model.weights = o->model_weights;
    return true;
}

static bool name_script(struct options *o)
{
    if (o->emit == EMIT_WASM)
        o->script = script_path(o->output);
    return o->emit != EMIT_WASM || o->script || no_memory();
}

/* Names the output after the input, in the current folder: NAME.o or so; and what belongs to it. */
static bool default_output(struct options *o)
{
    char *name = o->output ? NULL : name_from_path(o->input), *path;
    size_t size = name ? strlen(name) + 8 : 0;

    if (o->output)
        return name_script(o);
    path = name ? malloc(size) : NULL;
    if (path)
        snprintf(path, size, "%s%s", name, o->emit == EMIT_EXE ? "" : kinds[o->emit - 1].ending);
    free(name);
    o->output = o->default_output = path;
    return path ? name_script(o) : no_memory();
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
    char text[300];

    for (int i = 0; i < 5; i++)
        for (int j = makes_code(o->emit) ? 0 : 1; j < i; j++)
            if (files[i].path && files[j].path && is_same_file(files[i].path, files[j].path))
                return complain("%s and %s are the same file: %s", files[j].what, files[i].what,
                                escape_text(text, sizeof text, files[i].path, strlen(files[i].path)));
    return true;
}

bool options_parse(int argc, char **argv, struct options *o, int *status)
{
    bool done = false;
    int option;

    *o = (struct options){0};
    *status = EXIT_USAGE;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":o:vqh", long_options, NULL)) != -1)
        if (option == '?' || option == ':') {
            return argument_refused("webnnc", option, long_options, argv);
        } else if (!take(o, option, optarg, &done)) {
            *status = done ? 0 : EXIT_USAGE;
            return false;
        }
    if (optind < argc)
        o->input = argv[optind++];
    if (optind < argc) {
        char text[200];
        return complain("one model at a time: %s is too much",
                        escape_text(text, sizeof text, argv[optind], strlen(argv[optind])));
    }
    return check(o) && default_output(o) && check_files(o);
}

void options_free(struct options *o)
{
    for (size_t i = 0; i < o->model.dim_count; i++)
        free((char *)o->dims[i].name);
    for (size_t i = 0; i < o->model.shape_count; i++)
        free((char *)o->shapes[i].name);
    for (size_t i = 0; i < o->model.constant_count; i++) {
        free((char *)o->constants[i].name);
        npy_free(&o->arrays[i]);
    }
    free(o->dims);
    free(o->shapes);
    free(o->constants);
    free(o->arrays);
    free(o->debug);
    free(o->default_output);
    free(o->script);
}
