/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * hostile FILE...: files that somebody made to do harm.  Each must be refused with a message, or be read, built and computed,
 * in a second of processor time and within 300 MiB above a process that does nothing; what is computed must be what the
 * reference interpreter computes, where that is no great effort.
 *
 * Every file has a process of its own, so that a crash, a hang or a thirst for memory is a failure of that file alone.  Models
 * are files of any kind that model_read knows; .npy and .npz files are inputs, read as arrays; what ends in .xz is unpacked by
 * the program xz first.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "frontend/builder/builder.h"
#include "frontend/readers/files/npz.h"
#include "frontend/readers/model.h"
#include "random/random.h"
#include "support/model_compute.h"
#include "support/help.h"

/* What sanitizers check makes a program several times slower; the promise is that of a release build. */
#ifdef WEBNN_SANITIZE
enum { CPU_LIMIT = 2 };
#else
enum { CPU_LIMIT = 1 };
#endif
enum { SKIPPED = 77, WALL_LIMIT = 60, CHECK_LIMIT = 20, MEMORY_LIMIT = 300 };

#define CHECKED_ELEMENTS 0x1p18 /* of all values together, that the interpreter is asked for */

#ifdef WEBNN_SANITIZE
/* Memory that was freed is kept for a while to see who uses it: the sanitizer's, not the program's. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "quarantine_size_mb=8";
}
#endif

static bool ends_in(const char *text, const char *ending)
{
    size_t length = strlen(text), n = strlen(ending);

    return length >= n && !strcmp(text + length - n, ending);
}

/* ---- the steps for a file, in a child ---- */

static WNNContext make_context(void)
{
    WNNContextOptions options = WNN_CONTEXT_OPTIONS_INIT;
    WNNContext context;

    options.threadCount = 1;
    if (wnnCreateContext(&options, &context))
        exit(2);
    return context;
}

/** A refusal is an answer if it says why. */
static int refusal(const char *message)
{
    printf("refused: %.200s\n", *message ? message : "without a message");
    return *message ? 0 : 1;
}

/** The same of a model (NULL: none was read); releases everything. */
static int refused_model(WNNContext context, struct model *m, const char *message)
{
    int code = refusal(message);

    if (m)
        model_free(m);
    wnnContextRelease(context);
    return code;
}

/** Reads, builds and computes. */
static int run_model(const char *path)
{
    WNNContext context = make_context();
    struct error e = {0};
    WNNGraph graph;
    struct model m;

    if (!model_read(context, path, NULL, &m, &e))
        return refused_model(context, NULL, e.message);
    if (model_build(&m, &graph, &e))
        return refused_model(context, &m, e.message);
    if (!model_compute(&m, graph, NULL, NULL)) {
        WNNStringView text = wnnGetLastErrorMessage();

        printf("read and built, but computing says: %.*s\n", (int)text.length, text.data);
        return 1;
    }
    wnnGraphRelease(graph);
    model_free(&m);
    wnnContextRelease(context);
    printf("computed\n");
    return 0;
}

/** Reads again and compares with the interpreter. */
static int check_model(const char *path)
{
    WNNContext context = make_context();
    struct error error = {0};
    char report[CHECK_REPORT] = "";
    struct variant variant;
    struct error e = {0};
    struct sample s = {0};
    double elements = 0;
    struct model m;

    if (!model_read(context, path, NULL, &m, &error))
        return refused_model(context, NULL, error.message);
    WNNNamedOperand *outputs = random_alloc(m.output_count, sizeof *outputs);
    for (size_t i = 0; i < m.output_count; i++)
        outputs[i] = (WNNNamedOperand){WNN_STR(m.outputs[i].name), m.outputs[i].operand};
    s.g = builder_take_graph(m.builder, m.output_count, outputs, &e);
    free(outputs);
    model_free(&m);
    if (!s.g)
        return refused_model(context, NULL, strdup(e.message));
    for (uint32_t i = 0; i < s.g->input_count; i++)
        elements += (double)type_elements(&s.g->inputs[i]->type);
    for (const struct value *k = s.g->first_constant; k; k = k->next_constant)
        elements += (double)type_elements(&k->type);
    graph_for_each (s.g, n)
        for (uint32_t i = 0; i < n->result_count; i++)
            elements += (double)type_elements(&n->results[i]->type);
    if (elements > CHECKED_ELEMENTS) {
        printf("too large for the interpreter\n");
        sample_free(&s);
        wnnContextRelease(context);
        return 0;
    }
    for (uint32_t i = 0; i < s.g->input_count; i++)
        sample_set_data(&s, s.g->inputs[i], random_alloc((size_t)type_bytes(&s.g->inputs[i]->type), 1), NULL);
    variant_init(&variant, "default");
    bool good = sample_evaluate(&s) && check_sample(&s, report) && check_variant(&s, &variant, NULL, report);
    printf("%s%s\n", good ? "as the interpreter computes it" : "compared with the interpreter: ", report);
    variant_release(&variant);
    sample_free(&s);
    wnnContextRelease(context);
    return !good;
}

static int read_arrays(const char *path)
{
    struct npz_entry *entries;
    struct npy_array array;
    struct error e = {0};
    size_t count;

    if (ends_in(path, ".npy")) {
        if (!npy_read(path, &array, &e))
            return refusal(e.message);
        npy_free(&array);
    } else {
        if (!npz_read(path, &entries, &count, &e))
            return refusal(e.message);
        npz_free(entries, count);
    }
    printf("read\n");
    return 0;
}

static int do_nothing(const char *path)
{
    return 0;
}

/* ---- children ---- */

struct outcome {
    bool ended;       /* by itself */
    int code;         /* its exit code, or the signal */
    double seconds;   /* of processor time */
    double megabytes; /* at most in memory */
};

/** Runs a function in a child; it is killed after some seconds of processor time, or of waiting. */
static struct outcome run_child(int (*run)(const char *path), const char *path, unsigned cpu)
{
    struct outcome o = {0};
    struct rusage usage;
    int status;

    fflush(stdout);
    fflush(stderr);
    pid_t pid = fork();
    if (pid < 0) {
        perror("fork");
        exit(2);
    }
    if (!pid) {
        struct rlimit limit = {cpu + 1, cpu + 2}, none = {0, 0};

        setrlimit(RLIMIT_CPU, &limit);
        setrlimit(RLIMIT_CORE, &none);
        alarm(WALL_LIMIT);
        printf("  ");
        int code = run(path);
        fflush(stdout);
        exit(code);
    }
    while (wait4(pid, &status, 0, &usage) < 0)
        if (errno != EINTR) {
            perror("wait4");
            exit(2);
        }
    o.ended = WIFEXITED(status);
    o.code = o.ended ? WEXITSTATUS(status) : WTERMSIG(status);
    o.seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
    o.megabytes = (double)usage.ru_maxrss / 1024;
    return o;
}

static bool report(const struct outcome *o, double cpu, double empty)
{
    double more = o->megabytes - empty;
    bool good = o->ended && !o->code && o->seconds <= cpu && more <= MEMORY_LIMIT;

    if (!o->ended)
        printf("\n  ended by signal %d (%s)\n", o->code, strsignal(o->code));
    else if (o->code)
        printf("\n  ended with code %d\n", o->code);
    printf("  %.2f s of processor time (at most %.0f), %.0f MiB more than an empty process (at most %d)%s\n", o->seconds, cpu,
           more, MEMORY_LIMIT, good ? "" : ": FAILED");
    return good;
}

/* ---- files ---- */

/** Unpacks FILE.xz into a file of its own.  False: the program is not there, or failed. */
static bool unpack(const char *path, char *name, size_t size)
{
    const char *base = strrchr(path, '/'), *folder = getenv("TMPDIR");
    int fd, status;

    base = base ? base + 1 : path;
    /* The ending tells what kind of file it is. */
    snprintf(name, size, "%s/hostile-XXXXXX-%.*s", folder ? folder : "/tmp", (int)(strlen(base) - 3), base);
    fd = mkstemps(name, (int)strlen(base) - 3 + 1);
    if (fd < 0) {
        perror(name);
        exit(2);
    }
    pid_t pid = fork();
    if (!pid) {
        dup2(fd, STDOUT_FILENO);
        execlp("xz", "xz", "-dc", "--", path, (char *)NULL);
        _exit(127);
    }
    close(fd);
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status);
}

/** 0: as it must be; 1: not; SKIPPED. */
static int run_file(const char *path)
{
    bool packed = ends_in(path, ".xz"), arrays, good;
    char name[1000];
    struct outcome empty, o;

    printf("%s\n", path);
    if (packed && !unpack(path, name, sizeof name)) {
        printf("  skipped: the program xz is not there, or cannot unpack it\n");
        unlink(name);
        return SKIPPED;
    }
    path = packed ? name : path;
    arrays = ends_in(path, ".npz") || ends_in(path, ".npy");
    empty = run_child(do_nothing, path, CPU_LIMIT);
    o = run_child(arrays ? read_arrays : run_model, path, CPU_LIMIT);
    good = report(&o, CPU_LIMIT, empty.megabytes);
    if (good && !arrays) {
        o = run_child(check_model, path, CHECK_LIMIT);
        if (!o.ended || o.code) {
            printf("  checking it ended with %s %d: FAILED\n", o.ended ? "code" : "signal", o.code);
            good = false;
        }
    }
    if (packed)
        unlink(name);
    return !good;
}

PROGRAM_HELP("usage: hostile FILE ...   read hostile files, each in a process of its own, and say what became of them\n")
int main(int count, char **paths)
{
    int failed = 0, skipped = 0;

    for (int i = 1; i < count; i++) {
        int code = run_file(paths[i]);

        skipped += code == SKIPPED;
        failed += code == 1;
    }
    printf("%d of %d files passed, %d skipped\n", count - 1 - failed - skipped, count - 1, skipped);
    return failed ? 1 : skipped && skipped == count - 1 ? SKIPPED : 0;
}
