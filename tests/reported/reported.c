/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * reported FOLDER REFUSALS WEBNN_RUN WEBNNC [--group LETTER] [--case NAME] [--way WAY]
 *
 * Runs models with the inputs and outputs that lie next to them: FOLDER/NAME/model.onnx, in_INPUT.npy, exp_OUTPUT.npy, and
 * case.json, which names inputs, outputs, tolerances, inputs that become constants, and further arguments of webnn-run.  Each
 * goes four ways: through the reference interpreter, compiled, compiled without passes, and as an object of webnnc.
 *
 * REFUSALS lists what does not pass, one case a line: NAME TEXT, where webnn-run says TEXT.  A case that fails without being
 * listed fails the test, and so does one that is listed and passes.  With ?TEXT it depends on the processor, whose library may
 * or may not take a part of the model: compiled forms pass or say TEXT, the others pass.
 */
#define _GNU_SOURCE /* vasprintf */
#include <cjson/cJSON.h>
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "frontend/builder/builder.h"
#include "frontend/readers/text/write.h"
#include "frontend/readers/files/element.h"
#include "frontend/readers/files/file.h"
#include "frontend/readers/model.h"
#include "ir/interpret/interpret.h"
#include "frontend/tools/arguments.h"
#include "ir/graph/ir.h"
#include "support/help.h"
#include "support/shared.h"
#include "support/scoped.h"

enum { WORDS_MAX = 200, PORTS_MAX = 40 };
enum way { INTERPRETER, COMPILED, NO_PASSES, OBJECT, WAY_COUNT };
static const char *const way_names[WAY_COUNT] = {"interpreter", "compiled", "no-passes", "object"};

extern char **environ;
static const char *webnn_run, *webnnc, *folder, *name, *log_path; /* name: the case's */
static const cJSON *json;                                         /* the case's */
static WNNContext context;
static const char *fixed[PORTS_MAX]; /* inputs of the case whose values the reader has to know */
static size_t fixed_count;
static char **texts; /* what text() has made, until the end */
static size_t text_count;

static _Noreturn void die(const char *what, const char *why)
{
    printf("%s: %s\n", what, why);
    exit(1);
}

static char *__attribute__((format(printf, 1, 2))) text(const char *format, ...)
{
    va_list args;

    texts = realloc(texts, (text_count + 1) * sizeof *texts);
    va_start(args, format);
    if (!texts || vasprintf(&texts[text_count], format, args) < 0)
        die(format, "out of memory");
    va_end(args);
    return texts[text_count++];
}

/* ---- a case ---- */

static const cJSON *items(const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(json, key);
}

static double tolerance(const char *key)
{
    return items(key) ? cJSON_GetNumberValue(items(key)) : 0;
}

/** Returns "1,2.5" for a number or a list of them; a text stays. */
static char *value_text(const cJSON *value)
{
    const cJSON *first = cJSON_IsArray(value) ? value->child : value;
    char *made = text("%s", cJSON_IsString(value) ? value->valuestring : "");

    for (const cJSON *v = first; v && !cJSON_IsString(value); v = cJSON_IsArray(value) ? v->next : NULL)
        made = text("%s%s%.17g", made, v == first ? "" : ",", v->valuedouble);
    return made;
}

/** Reads in_PORT.npy or exp_PORT.npy.  Returns whether there is one. */
static bool read_array(const char *prefix, const char *port, struct npy_array *array)
{
    char *path = text("%s/%s/%s_%s.npy", folder, name, prefix, port);
    struct error e = {0};

    if (access(path, R_OK))
        return false;
    if (!npy_read(path, array, &e))
        die(path, e.message);
    return true;
}

/* ---- reading ---- */

/** Reads the model.  Inputs whose values have to be known become constants, and are noted in `fixed`. */
static bool read_model(const char *path, struct model *model, struct error *e)
{
    struct model_shape shapes[PORTS_MAX];
    struct model_constant constants[2 * PORTS_MAX];
    struct npy_array arrays[2 * PORTS_MAX], array;
    char *needed = NULL;
    struct model_options options = {.shapes = shapes, .constants = constants, .needed = &needed};
    const cJSON *item;
    bool read;

    if (cJSON_GetArraySize(items("inputs")) > PORTS_MAX || cJSON_GetArraySize(items("outputs")) > PORTS_MAX)
        die(name, "too many inputs or outputs");
    cJSON_ArrayForEach(item, items("inputs")) if (read_array("in", item->valuestring, &array))
    {
        shapes[options.shape_count] = (struct model_shape){.name = item->valuestring, .rank = array.rank};
        memcpy(shapes[options.shape_count++].dims, array.shape, sizeof array.shape);
        npy_free(&array);
    }
    cJSON_ArrayForEach(item, items("constants"))
    {
        struct model_constant *c = &constants[options.constant_count];

        *c = (struct model_constant){.name = item->string, .array = &arrays[options.constant_count++]};
        if (!argument_constant(value_text(item), (struct npy_array *)c->array, &c->literal, e))
            die(name, e->message);
    }
    fixed_count = 0;
    while (!(read = model_read(context, path, &options, model, e)) && needed && fixed_count < PORTS_MAX &&
           read_array("in", needed, &arrays[options.constant_count])) {
        fixed[fixed_count] = text("%s", needed);
        constants[options.constant_count] =
            (struct model_constant){.name = fixed[fixed_count++], .array = &arrays[options.constant_count]};
        options.constant_count++;
        free(needed);
        needed = NULL;
        *e = (struct error){0};
    }
    free(needed);
    while (options.constant_count)
        npy_free(&arrays[--options.constant_count]);
    return read;
}

/* ---- through the tools ---- */

struct words {
    char *at[WORDS_MAX + 1];
    size_t count;
};

static void add(struct words *w, char *word)
{
    if (w->count == WORDS_MAX)
        die(word, "too many arguments");
    w->at[w->count++] = word;
}

/** Runs a command and appends what it prints to the log.  Returns whether it ended well. */
static bool run(struct words *w)
{
    posix_spawn_file_actions_t actions;
    int status = 1;
    pid_t child;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, log_path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    if (posix_spawn(&child, w->at[0], &actions, NULL, w->at, environ) || waitpid(child, &status, 0) < 0)
        die(w->at[0], "cannot be run");
    posix_spawn_file_actions_destroy(&actions);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/** Adds the case's own arguments: those that name the model, or the others. */
static void add_arguments(struct words *w, bool compiles)
{
    static const char *const compiling = "--dim --shape --constant --budget";
    bool takes = false;
    const cJSON *item;

    cJSON_ArrayForEach(item, items("arguments"))
    {
        if (!strncmp(item->valuestring, "--", 2))
            takes = !!strstr(compiling, item->valuestring) == compiles;
        if (takes)
            add(w, item->valuestring);
    }
    if (compiles)
        cJSON_ArrayForEach(item, items("constants")) add(w, text("--constant=%s=%s", item->string, value_text(item)));
}

static bool is_fixed(const char *input)
{
    for (size_t i = 0; i < fixed_count; i++)
        if (!strcmp(fixed[i], input))
            return true;
    return false;
}

static bool run_model(const char *model, enum way way)
{
    struct words w = {.at = {text("%s", webnn_run), text("%s", model), text("--quiet"), text("--rtol=%.17g", tolerance("rtol")),
                             text("--atol=%.17g", tolerance("atol"))},
                      .count = 5};
    const cJSON *item;

    if (way == NO_PASSES)
        add(&w, text("--debug=no-passes"));
    add_arguments(&w, false);
    if (way != OBJECT)
        add_arguments(&w, true);
    for (int out = 0; out < 2; out++)
        cJSON_ArrayForEach(item, items(out ? "outputs" : "inputs"))
        {
            char *path = text("%s/%s/%s_%s.npy", folder, name, out ? "exp" : "in", item->valuestring);

            if (!access(path, R_OK) && !(way == OBJECT && !out && is_fixed(item->valuestring)))
                add(&w, text("--%s=%s=%s", out ? "compare" : "input", item->valuestring, path));
        }
    return run(&w);
}

static bool run_object(const char *model)
{
    char *object = text("%s.so", log_path);
    struct words w = {.at = {text("%s", webnnc), text("%s", model), text("--output=%s", object), text("--cpu=native")},
                      .count = 4};
    struct npy_array array;
    struct model read;
    const cJSON *item;

    read_model(model, &read, &(struct error){0}); /* notes which inputs are fixed */
    model_free(&read);
    add_arguments(&w, true);
    cJSON_ArrayForEach(item, items("inputs"))
    {
        char *shape = text("--shape=%s=", item->valuestring);

        if (is_fixed(item->valuestring))
            add(&w, text("--constant=%s=%s/%s/in_%s.npy", item->valuestring, folder, name, item->valuestring));
        if (is_fixed(item->valuestring) || !read_array("in", item->valuestring, &array))
            continue;
        for (size_t d = 0; d < array.rank; d++)
            shape = text("%s%s%u", shape, d ? "x" : "", array.shape[d]);
        add(&w, array.rank ? shape : text("%sscalar", shape));
        npy_free(&array);
    }
    const bool good = run(&w) && run_model(object, OBJECT);
    unlink(object);
    return good;
}

/* ---- through the interpreter ---- */

static bool compare(const struct graph_output *output, const void *data, FILE *log)
{
    const double atol = tolerance("atol"), rtol = tolerance("rtol");
    const struct tensor_type *type = &output->value->type;
    SCOPED(npy_free) struct npy_array expected = {0};

    if (!read_array("exp", output->name, &expected))
        return true;
    bool good = expected.dataType == type->type && expected.rank == type->rank &&
                !memcmp(expected.shape, type->dims, type->rank * sizeof *type->dims);
    if (!good)
        fprintf(log, "output %s has another type or shape than expected\n", output->name);
    for (size_t i = 0; good && i < npy_elements(&expected); i++) {
        const double a = element_get(type->type, data, i), e = element_get(type->type, expected.data, i);

        good = a == e || (isnan(a) && isnan(e)) || (isfinite(e) && fabs(a - e) <= atol + rtol * fabs(e));
        if (!good)
            fprintf(log, "output %s: element %zu is %.9g instead of %.9g\n", output->name, i, a, e);
    }
    return good;
}

static bool interpret(struct graph *g, const struct model *model, FILE *log)
{
    void *inputs[PORTS_MAX] = {NULL}, *outputs[PORTS_MAX] = {NULL};
    struct error e = {0};

    for (uint32_t i = 0; i < g->input_count; i++) {
        struct npy_array array = {0};

        if (read_array("in", model->inputs[i].name, &array) && !npy_convert(&array, model->inputs[i].descriptor.dataType, &e))
            die(name, e.message);
        inputs[i] = array.data;
    }
    for (uint32_t i = 0; i < g->output_count; i++)
        if (!(outputs[i] = calloc(1, (size_t)type_bytes(&g->outputs[i].value->type) + 1)))
            die(name, "out of memory");
    bool good = graph_interpret(g, (const void *const *)inputs, outputs, &e);
    fputs(e.message, log);
    for (uint32_t i = 0; good && i < g->output_count; i++)
        good = compare(&g->outputs[i], outputs[i], log);
    for (uint32_t i = 0; i < PORTS_MAX; i++) {
        free(inputs[i]);
        free(outputs[i]);
    }
    return good;
}

static bool run_interpreter(const char *path, FILE *log)
{
    struct error e = {0};
    SCOPED(model_free) struct model model = {0};
    OWNED(graph) struct graph *g = read_model(path, &model, &e) ? model_take_graph(&model, &e) : NULL;

    if (!g)
        fprintf(log, "%s\n", e.message);
    const bool good = g && interpret(g, &model, log);
    return good;
}

/* ---- all of them ---- */

/** Goes one way.  *log gets what was said, to be freed. */
static bool go(enum way way, char **log)
{
    const char *model = text("%s/%s/model.onnx", folder, name);
    struct error e = {0};
    size_t length;
    FILE *f = fopen(log_path, "w");

    if (!f)
        die(log_path, "cannot be written");
    bool good = way == INTERPRETER && run_interpreter(model, f);
    fclose(f);
    if (way != INTERPRETER)
        good = way == OBJECT ? run_object(model) : run_model(model, way);
    if (!file_read(log_path, log, &length, &e))
        die(log_path, e.message);
    return good;
}

/** Goes all ways, or only the one.  reason is what the compiled model's run has to say, or with ? may say, if the case is
 * listed. */
static bool check_case(const char *reason, const char *only)
{
    const bool depends = reason && *reason == '?';
    bool all = true;

    for (enum way way = 0; way < WAY_COUNT; way++) {
        OWNED(memory) char *log = NULL;

        if (reason && !depends ? way != COMPILED : only && strcmp(only, way_names[way]))
            continue;
        const bool good = go(way, &log), by_library = way == COMPILED || way == OBJECT;
        const bool expected = !reason   ? good
                              : depends ? good || (by_library && strstr(log, reason + 1))
                                        : !good && strstr(log, reason);
        if (!expected)
            printf("FAIL %s, %s%s%s:\n%s\n", name, way_names[way], reason ? ", is listed with: " : "", reason ? reason : "",
                   log);
        all &= expected;
    }
    return all;
}

PROGRAM_HELP("usage: reported FOLDER REFUSALS WEBNN_RUN WEBNNC [--group LETTER] [--case NAME] [--way WAY]\n")
int main(int argc, char **argv)
{
    const char *group = "", *only = NULL, *way = NULL;
    struct error e = {0};
    char *list, *bytes, scratch[] = "/tmp/webnn-reported-XXXXXX";
    size_t count = 0, failed = 0, length;
    struct dirent **entries;

    if (argc < 5)
        return WRONG_USAGE;
    for (int i = 5; i + 1 < argc; i += 2)
        *(!strcmp(argv[i], "--group") ? &group : !strcmp(argv[i], "--case") ? &only : &way) = argv[i + 1];
    folder = argv[1];
    webnn_run = argv[3];
    webnnc = argv[4];
    if (!file_read(argv[2], &list, &length, &e))
        die(argv[2], e.message);
    int found = scandir(folder, &entries, NULL, alphasort);
    if (found < 0)
        return shared_absent(folder);
    if (!mkdtemp(scratch) || wnnCreateContext(NULL, &context))
        die("start", "there is no folder for scratch files, or no context");
    log_path = text("%s/log", scratch);
    for (int i = 0; i < found; free(entries[i++])) {
        name = entries[i]->d_name;
        if (strncmp(name, group, strlen(group)) || (only && strcmp(name, only)) ||
            !file_read(text("%s/%s/case.json", folder, name), &bytes, &length, &e))
            continue;
        OWNED(json) cJSON *parsed = cJSON_ParseWithLength(bytes, length);
        const char *line = strstr(list, text("\n%s ", name));

        free(bytes);
        json = parsed;
        count++;
        failed +=
            !check_case(line ? text("%.*s", (int)strcspn(line + strlen(name) + 2, "\n"), line + strlen(name) + 2) : NULL, way);
    }
    unlink(log_path);
    rmdir(scratch);
    wnnContextRelease(context);
    free(entries);
    free(list);
    while (text_count)
        free(texts[--text_count]);
    free(texts);
    printf("%zu cases, %zu not as expected\n", count, failed);
    return count ? failed != 0 : shared_absent(argv[1]);
}
