/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Holds the table of debug switches, and reads "name,name=value,..." from WEBNN_DEBUG and from the context's options into
 * struct debug_options.  A new switch is a row here and a row in docs/debugging.md; a test compares the two.
 */
#include "ir/support/debug.h"
#include "ir/support/environment.h"
#include "ir/support/new_file.h"
#include "ir/support/print_number.h"
#include "ir/support/suggest.h"
#include "ir/support/text.h"

#include <errno.h>
#include <stdlib.h>

#define FLAG(text, bit, words) {.name = (text), .flag = (bit), .summary = (words)}
#define STRING(text, member, value, words)                                                                                     \
    {.name = (text), .offset = offsetof(struct debug_options, member), .argument = (value), .summary = (words)}
#define NUMBER(text, member, value, words)                                                                                     \
    {.name = (text), .offset = offsetof(struct debug_options, member), .argument = (value), .number = true, .summary = (words)}
#define LIST(text, member, value, words)                                                                                       \
    {.name = (text), .offset = offsetof(struct debug_options, member), .argument = (value), .list = true, .summary = (words)}

const struct debug_switch debug_switches[] = {
    FLAG("help", DEBUG_HELP, "print this list on stderr, once in a process, and go on"),
    FLAG("print-after-all", DEBUG_PRINT_AFTER_ALL, "print the graph after every pass that changed it"),
    LIST("print-after", print_after, "PASS", "print the graph after the named passes"),
    LIST("skip", skip, "PASS", "skip the named passes, if they are optional"),
    STRING("stop-after", stop_after, "PASS", "run no optional pass after the named one"),
    FLAG("no-passes", DEBUG_NO_PASSES, "skip every optional pass"),
    FLAG("verify", DEBUG_VERIFY, "run the verifiers after every pass and stage; debug builds always do"),
    FLAG("time-passes", DEBUG_TIME_PASSES, "print milliseconds per pass, compile stage and kernel"),
    FLAG("dump-kernels", DEBUG_DUMP_KERNELS,
         "print the kernel and loop IR of every kernel that is compiled (equal structures once)"),
    FLAG("dump-llvm", DEBUG_DUMP_LLVM, "print the LLVM IR of every module before and after its passes"),
    FLAG("dump-asm", DEBUG_DUMP_ASM, "print the assembly of every module"),
    FLAG("dump-program", DEBUG_DUMP_PROGRAM,
         "print the steps of every program, their schedules, and the locations of its values"),
    STRING("dump", dump_dir, "DIR",
           "write graphs, kernels, code and programs to files in an existing directory instead of stderr"),
    STRING("isa", isa, "baseline|avx2|avx512|native", "cap the instruction set of generated code and oneDNN"),
    FLAG("no-library", DEBUG_NO_LIBRARY, "compute every convolution and matmul by generated kernels"),
    FLAG("prefer-library", DEBUG_PREFER_LIBRARY,
         "use the library for every convolution and matmul that it supports, even if slower"),
    FLAG("reference-library", DEBUG_REFERENCE_LIBRARY, "let oneDNN use its slow reference implementations on a GPU: for tests"),
    FLAG("no-matrix-instructions", DEBUG_NO_MATRIX_INSTRUCTIONS, "multiply float16 on a GPU without its matrix instructions"),
    FLAG("prefer-bfloat16", DEBUG_PREFER_BFLOAT16,
         "compute in bfloat16 all that the context's precision and the library allow, even if slower"),
    NUMBER("bfloat16-rate", bfloat16_rate, "FACTOR",
           "assume this ratio of bfloat16 to float32 multiplications per second (AMX: 8)"),
    FLAG("prefer-winograd", DEBUG_PREFER_WINOGRAD, "compute every possible 3x3 convolution by Winograd, even if slower"),
    FLAG("prefer-attention", DEBUG_PREFER_ATTENTION, "compute every possible attention in one kernel, even if slower"),
    FLAG("prefer-compact", DEBUG_PREFER_COMPACT,
         "keep small weights of matmuls in 4, 8 or 16 bits, too, even if unpacking them first is faster"),
    FLAG("sanitize", DEBUG_SANITIZE,
         "check generated code with the address sanitizer, in programs built with it, and poison the gaps between values"),
    FLAG("profile", DEBUG_PROFILE, "time every step and print a table when the graph is released"),
    STRING("trace", trace_file, "FILE", "write the times of every pass and step for Perfetto or chrome://tracing"),
    STRING("steps", steps_file, "FILE",
           "time every step, and write steps, their operators and memory as JSON when the graph is released"),
    FLAG("no-warm-up", DEBUG_NO_WARM_UP, "do not run small graphs once when they are built, so that their first run is cold"),
    FLAG("perf", DEBUG_PERF, "write /tmp/perf-<pid>.map, so that perf names generated code"),
    FLAG("gdb", DEBUG_GDB, "register generated code with the debugger"),
};
const size_t debug_switch_count = sizeof debug_switches / sizeof *debug_switches;

/* Returns whether text is one of the alternatives in "a|b|c"; a word in capitals stands for anything. */
static bool is_allowed(const char *alternatives, const char *text, size_t length)
{
    if (!strchr(alternatives, '|'))
        return true;
    for (const char *a = alternatives; a; a = strchr(a, '|')) {
        a += *a == '|';
        if (strcspn(a, "|") == length && memcmp(a, text, length) == 0)
            return true;
    }
    return false;
}

static bool set_string(struct debug_options *d, const struct debug_switch *s, const char *text, size_t length, struct error *e)
{
    const char **member = (const char **)((char *)d + s->offset);
    size_t before = s->list && *member ? strlen(*member) + 1 : 0;
    char *joined = arena_alloc(&d->arena, before + length + 1);

    if (!joined)
        return error_out_of_memory(e);
    if (before) {
        memcpy(joined, *member, before - 1);
        joined[before - 1] = '+';
    }
    memcpy(joined + before, text, length);
    *member = joined;
    return true;
}

static bool set_number(struct debug_options *d, const struct debug_switch *s, const char *text, size_t length, struct error *e)
{
    double *member = (double *)(void *)((char *)d + s->offset);
    char buf[128];
    size_t digits = 0;

    while (digits < length && ((text[digits] >= '0' && text[digits] <= '9') || text[digits] == '.'))
        digits++;
    *member = digits == length ? digits_to_double(text, length) : 0;
    return *member > 0 || error_set(e, WNNStatus_TypeError, "debug switch %s cannot be '%s', it is a number above 0", s->name,
                                    escape_text(buf, sizeof buf, text, length));
}

/* The message lists what there is: no page has to be looked up for a misspelt switch. */
static bool unknown_switch(const char *text, size_t length, struct error *e)
{
    struct suggestion meant = suggestion_for(text, length);
    char buf[128], names[640];
    size_t used = 0;

    for (size_t i = 0; i < debug_switch_count; i++)
        suggestion_offer(&meant, debug_switches[i].name);
    for (size_t i = 0; i < debug_switch_count && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", debug_switches[i].name);
    return error_set(e, WNNStatus_TypeError, "unknown debug switch '%s'%s%s %s", escape_text(buf, sizeof buf, text, length),
                     suggestion_text(&meant), *meant.best ? "  There are" : ", there are", names);
}

static bool parse_one(struct debug_options *d, const char *text, size_t length, struct error *e)
{
    const char *equals = memchr(text, '=', length);
    size_t name_length = equals ? (size_t)(equals - text) : length;
    char buf[128];

    for (size_t i = 0; i < debug_switch_count; i++) {
        const struct debug_switch *s = &debug_switches[i];
        if (strlen(s->name) != name_length || memcmp(s->name, text, name_length) != 0)
            continue;
        if (!s->argument) {
            if (equals)
                return error_set(e, WNNStatus_TypeError, "debug switch %s takes no value", s->name);
            d->flags |= s->flag;
            return true;
        }
        size_t value_length = equals ? length - name_length - 1 : 0;
        if (value_length == 0)
            return error_set(e, WNNStatus_TypeError, "debug switch %s needs a value: %s=%s", s->name, s->name, s->argument);
        if (memchr(equals + 1, '\0', value_length) || !is_allowed(s->argument, equals + 1, value_length))
            return error_set(e, WNNStatus_TypeError, "debug switch %s cannot be '%s', allowed are %s", s->name,
                             escape_text(buf, sizeof buf, equals + 1, value_length), s->argument);
        return (s->number ? set_number : set_string)(d, s, equals + 1, value_length, e);
    }
    return unknown_switch(text, name_length, e);
}

bool debug_parse(struct debug_options *d, const char *text, size_t length, struct error *e)
{
    for (size_t at = 0; at < length;) {
        const char *comma = memchr(text + at, ',', length - at);
        size_t end = comma ? (size_t)(comma - text) : length, start = at;

        at = end + 1;
        while (start < end && text[start] == ' ')
            start++;
        while (end > start && text[end - 1] == ' ')
            end--;
        if (end > start && !parse_one(d, text + start, end - start, e))
            return false;
    }
    return true;
}

bool debug_init(struct debug_options *d, bool ignore_environment, const char *text, size_t length, struct error *e)
{
    const char *environment = ignore_environment ? NULL : environment_get("WEBNN_DEBUG");

    memset(d, 0, sizeof *d);
    if (environment && !debug_parse(d, environment, strlen(environment), e))
        return false;
    return debug_parse(d, text, length, e);
}

void debug_print_switches(FILE *out)
{
    fputs("switches of WEBNN_DEBUG and WNNContextOptions.debug, separated by commas:\n", out);
    for (size_t i = 0; i < debug_switch_count; i++) {
        const struct debug_switch *s = &debug_switches[i];

        fprintf(out, "  %s%s%s\n      %s\n", s->name, s->argument ? "=" : "", s->argument ? s->argument : "", s->summary);
    }
}

void debug_free(struct debug_options *d)
{
    arena_free(&d->arena);
    memset(d, 0, sizeof *d);
}

/* ---- dumps ---- */

/* Returns the path of a file in the folder of dumps; what a name has of folders becomes "_". */
static char *dump_path(const char *folder, const char *format, va_list arguments)
{
    size_t length = strlen(folder);
    va_list again;

    va_copy(again, arguments);
    int name = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *path = name >= 0 ? malloc(length + (size_t)name + 2) : NULL;
    if (!path)
        return NULL;
    memcpy(path, folder, length);
    path[length] = '/';
    vsnprintf(path + length + 1, (size_t)name + 1, format, arguments);
    for (char *p = path + length + 1; *p; p++)
        if (*p == '/')
            *p = '_';
    return path;
}

static void dump_failed(const char *path, int why)
{
    char text[512];

    fprintf(stderr, "debug switch dump: %s: %s\n", escape_text(text, sizeof text, path, strlen(path)), strerror(why));
}

bool debug_dump_begin(struct debug_dump *x, const struct debug_options *d, const char *format, ...)
{
    int why = ENOMEM;
    char *path = NULL;

    *x = (struct debug_dump){NULL, stderr};
    if (d->dump_dir) {
        WITH_ARGUMENTS(format, path = dump_path(d->dump_dir, format, arguments));
        x->file = path ? new_file_open(path, NEW_FILE_NO_LINKS, &why) : NULL;
        if (!x->file)
            dump_failed(path ? path : d->dump_dir, why);
    }
    if (x->file)
        x->out = new_file_stream(x->file);
    else
        flockfile(stderr); /* whole dumps, not lines of several threads */
    free(path);
    return x->file != NULL;
}

void debug_dump_end(struct debug_dump *x, const struct debug_options *d)
{
    int why;

    if (!x->file)
        funlockfile(stderr);
    else if (!new_file_commit(x->file, &why))
        dump_failed(d->dump_dir, why);
}

bool debug_list_has(const char *list, const char *name)
{
    size_t length = strlen(name);

    for (const char *item = list; item; item = strchr(item, '+')) {
        item += *item == '+';
        if (strcspn(item, "+") == length && memcmp(item, name, length) == 0)
            return true;
    }
    return false;
}
