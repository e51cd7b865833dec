/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Links shared objects and programs: the object and, for a program, the runner (frontend/tools/runner/runner.c, carried as
 * text) go into a folder of their own, and the system's C compiler driver makes OUT of them.  WebAssembly modules are made of
 * the object alone, by LLVM's linker.  Whatever these tools print is the user's to see; if they cannot be started, that is said
 * here.
 */
#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "frontend/tools/arguments.h"
#include "frontend/tools/webnnc.h"
#include "ir/support/array.h"
#include "ir/support/new_file.h"

extern char **environ;
extern const char webnnc_runner[], webnnc_object_header[];

enum { WORDS_MAX = 64, PATH_BYTES = 4096 };

/* Holds the driver's command line; strings are the caller's. */
struct command {
    char *words[WORDS_MAX + 1];
    uint32_t count;
};

static void add(struct command *c, const char *word)
{
    if (c->count < WORDS_MAX)
        c->words[c->count++] = (char *)word;
    c->words[c->count] = NULL;
}

/* Adds the words between blanks of text such as "aarch64-linux-gnu-gcc -static", which is cut up. */
static void add_words(struct command *c, char *text)
{
    for (char *word = strtok(text, " \t"); word; word = strtok(NULL, " \t"))
        add(c, word);
}

/* Runs a tool, such as the "C compiler", which the option --cc names.  Returns false after saying why. */
static bool run_tool(const struct command *c, const char *tool, const char *option)
{
    pid_t child;
    int status, error = posix_spawnp(&child, c->words[0], NULL, NULL, c->words, environ);

    if (error)
        return complain("cannot run the %s %s: %s; --%s names another", tool, NAME_SHOWN(c->words[0]), strerror(error), option);
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return complain("waiting for the %s failed: %s", tool, strerror(errno));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    return complain("the %s %s failed", tool, NAME_SHOWN(c->words[0]));
}

/* Does the same with a linker that makes OUT, and shows it. */
static bool run(const struct compilation *c, struct command *command, const char *out, const char *tool, const char *option)
{
    add(command, "-o");
    add(command, out);
    progress_show(c->options, "linking", 0, 0);
    bool ok = run_tool(command, tool, option);
    progress_show(c->options, NULL, 0, 0);
    return ok;
}

/* Finds where libwebnn_rt lies: next to this program, in the build tree or installed.  Returns false if it is not there. */
static bool find_library(char *folder, size_t size)
{
    static const char *const places[] = {"../lib", "../" WEBNN_LIBDIR};
    char self[PATH_BYTES], file[PATH_BYTES + 64];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

    if (n <= 0)
        return false;
    self[n] = '\0';
    *strrchr(self, '/') = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(file, sizeof file, "%s/%s/libwebnn_rt.so", self, places[i]);
        if (access(file, R_OK))
            continue;
        file[strlen(file) - strlen("/libwebnn_rt.so")] = '\0';
        char *real = realpath(file, NULL);
        bool ok = real && snprintf(folder, size, "%s", real) < (int)size;
        free(real);
        return ok;
    }
    return false;
}

static bool write_intermediate(const char *path, const void *data, size_t length)
{
    int why;

    return new_file_write(path, 0, data, length, &why) || complain("cannot write %s: %s", PATH_SHOWN(path), strerror(why));
}

/* Writes the object's description, int model_call(model, workspace, sizes, inputs, outputs), which calls the natural prototype
 * with arguments from arrays, and model_shape. */
static bool write_glue(const struct compilation *c, const char *path, const char *header)
{
    const char *p = c->prefix;
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    if (!out)
        return complain("out of memory");
    fprintf(
        out,
        "#include \"%s\"\n#include \"webnn_object.h\"\n"
        "extern const struct webnn_object *const model_description;\n"
        "const struct webnn_object *const model_description = &%s_object;\n"
        "int model_call(void *model, void *workspace, const uint32_t *sizes, void *const *inputs, void *const *outputs);\n"
        "void model_shape(const uint32_t *, uint32_t, uint32_t *);\n"
        "int model_call(void *model, void *workspace, const uint32_t *sizes, void *const *inputs, void *const *outputs)\n{\n"
        "    (void)model;\n    (void)workspace;\n    (void)sizes;\n    (void)inputs;\n    return %s_run",
        strrchr(header, '/') + 1, p, p);
    if (c->with_library)
        fprintf(out, "((%s_model *)model", p);
    else
        fputs("_with(workspace, NULL", out);
    for (uint32_t i = 0; i < c->size_count; i++)
        fprintf(out, ", sizes[%u]", i);
    for (uint32_t i = 0; i < port_count(c); i++)
        fprintf(out, i < c->graph->input_count ? ", inputs[%u]" : ", outputs[%u]",
                i - (i < c->graph->input_count ? 0 : c->graph->input_count));
    fputs(");\n}\n\nvoid model_shape(const uint32_t *sizes, uint32_t port, uint32_t *shape);\n"
          "void model_shape(const uint32_t *sizes, uint32_t port, uint32_t *shape)\n{\n",
          out);
    shapes_print(out, c);
    fputs("}\n", out);
    bool ok = (memory_stream_close(out, &text) || complain("out of memory")) && write_intermediate(path, text, length);
    free(text);
    return ok;
}

/* Writes the object, and for a program its sources; their names go to the command. */
static bool write_parts(const struct compilation *c, bool shared, const void *object, size_t length, struct command *command,
                        char *include)
{
    const char *folder = folder_create();
    const char *object_path = folder ? folder_path("model.o") : NULL;

    if (!object_path || !write_intermediate(object_path, object, length))
        return false;
    add(command, object_path);
    if (shared)
        return true;
    const char *runner = folder_path("runner.c"), *glue = folder_path("glue.c"), *header = folder_path("model.h"),
               *object_header = folder_path("webnn_object.h");
    char *text = NULL;
    size_t text_length = 0;
    bool ok = runner && glue && header && object_header && header_create(c, &text, &text_length) &&
              write_intermediate(header, text, text_length) && write_glue(c, glue, header) &&
              write_intermediate(runner, webnnc_runner, strlen(webnnc_runner)) &&
              write_intermediate(object_header, webnnc_object_header, strlen(webnnc_object_header));
    free(text);
    snprintf(include, PATH_BYTES, "-I%s", folder);
    add(command, include);
    add(command, "-O2");
    add(command, runner);
    add(command, glue);
    return ok;
}

static bool link_to(const struct compilation *c, bool shared, const void *object, size_t length, const char *out)
{
    char *cc = strdup(c->options->cc ? c->options->cc : "cc");
    char include[PATH_BYTES], folder[PATH_BYTES], search[PATH_BYTES + 8], path[PATH_BYTES + 32];
    struct command command = {.count = 0};

    if (!cc)
        return complain("out of memory");
    add_words(&command, cc);
    bool ok = command.count > 0 || complain("--cc names no command");
    if (shared)
        add(&command, "-shared");
    ok = ok && write_parts(c, shared, object, length, &command, include);
    if (ok && c->with_library) {
        ok = find_library(folder, sizeof folder) ||
             complain("libwebnn_rt.so is not next to webnnc: --library none does without");
        snprintf(search, sizeof search, "-L%s", folder);
        snprintf(path, sizeof path, "-Wl,-rpath,%s", folder);
        add(&command, search);
        add(&command, path);
        add(&command, "-lwebnn_rt");
    }
    if (!shared)
        add(&command, "-lm");
    ok = ok && run(c, &command, out, "C compiler", "cc");
    free(cc);
    return ok;
}

/* ---- WebAssembly ---- */

/* Returns whether a program of that name is where programs are looked for. */
static bool is_program(const char *name)
{
    const char *path = getenv("PATH");
    char file[PATH_BYTES];

    for (const char *p = path; p && *p; p += strcspn(p, ":"), p += *p == ':') {
        snprintf(file, sizeof file, "%.*s/%s", (int)strcspn(p, ":"), p, name);
        if (!access(file, X_OK))
            return true;
    }
    return false;
}

/*
 * The stack lies below everything else, so that a run which needs more of it traps instead of writing over constants.  Kernels
 * need a small part of this size.
 */
#define STACK_OPTIONS "--stack-first -z stack-size=262144"

static bool link_module_to(const struct compilation *c, const void *object, size_t length, const char *out)
{
    static const char *const functions[] = {"run_with", "workspace_size", "set_weights"};
    const uint32_t count = c->weights_bytes ? 3 : 2;
    char newest[32], options[] = STACK_OPTIONS, exports[3][128];
    struct command command = {.count = 0};

    /* Debian has the linker under a name with LLVM's version. */
    snprintf(newest, sizeof newest, "wasm-ld-%d", atoi(WEBNN_LLVM_VERSION));
    char *tool = strdup(c->options->wasm_ld ? c->options->wasm_ld : is_program(newest) ? newest : "wasm-ld");
    if (!tool)
        return complain("out of memory");
    add_words(&command, tool);
    bool ok = command.count > 0 || complain("--wasm-ld names no command");
    add(&command, "--no-entry");
    add_words(&command, options);
    add(&command, "--export=__heap_base");
    for (uint32_t i = 0; i < count; i++) {
        snprintf(exports[i], sizeof exports[i], "--export=%s_%s", c->prefix, functions[i]);
        add(&command, exports[i]);
    }
    ok = ok && write_parts(c, true, object, length, &command, NULL);
    ok = ok && run(c, &command, out, "linker", "wasm-ld");
    free(tool);
    return ok;
}

/* ---- outputs ---- */

struct output *link_output(const struct compilation *c, const void *object, size_t length)
{
    const enum emit_kind kind = c->options->emit;

    if (kind != EMIT_WASM && !c->options->cc && !object_target_is_native(compilation_target(c))) {
        complain("--emit %s for %s: --cc must name a C compiler for it", kind == EMIT_SO ? "so" : "exe", c->levels[0].triple);
        return NULL;
    }
    struct output *f = output_begin(c->options->output, kind != EMIT_WASM);
    if (!f)
        return NULL;
    bool ok = kind == EMIT_WASM ? link_module_to(c, object, length, output_temporary(f))
                                : link_to(c, kind == EMIT_SO, object, length, output_temporary(f));
    folder_remove();
    if (ok)
        return f;
    output_abandon(f);
    return NULL;
}
