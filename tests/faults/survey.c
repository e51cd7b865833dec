/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Runs a command many times under tests/support/failing_process.c, each time with another request of the process failing, and
 * counts how it ends.  Right are success, and an error with a message.  A death or an exit counts for the library that it
 * happened in, and is a failure of the test unless --may-die names that library with the share of runs that may end so.  A hang
 * is never right.
 *
 * usage: survey --shim FILE --kind memory|threads|living-threads [--sample N] [--for N] [--may-die LIBRARY=PERCENT]... --
 * COMMAND...
 *
 * The sample is spread evenly over all requests that the command makes when none fails.  The variable FAULT_SAMPLE overrides
 * its size (0: every request); a line for each run that ended wrongly says how to repeat it.
 */
#include "../support/processor.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../support/help.h"

enum { LIBRARIES_MAX = 32, SECONDS_MAX = 60 };

/* How runs ended in a library, or which made the request that failed. */
struct library {
    char name[64];
    long requests, deaths;
    double allowed; /* percent of all runs; negative: none was named */
};

static struct library libraries[LIBRARIES_MAX];
static size_t library_count;
static const char *shim, *kind = "memory", *consecutive = "1";
static char folder[] = "/tmp/webnn-faults-XXXXXX", report_path[64], message_path[64];

static struct library *library_of(const char *name)
{
    for (size_t i = 0; i < library_count; i++)
        if (!strcmp(libraries[i].name, name))
            return &libraries[i];
    if (library_count == LIBRARIES_MAX)
        return &libraries[LIBRARIES_MAX - 1];
    struct library *l = &libraries[library_count++];
    snprintf(l->name, sizeof l->name, "%s", name);
    l->allowed = -1;
    return l;
}

/* ---- one run ---- */

struct outcome {
    int status;       /* of wait */
    long requests;    /* made; 0: the process did not say */
    char failed[64];  /* who made the request that failed; empty: none did */
    char ended[64];   /* where the process died or exit was called; empty: it ended by itself */
    bool has_message; /* on its standard error */
};

static void read_report(struct outcome *o)
{
    char line[256], first[64], second[64], third[64];
    FILE *f = fopen(report_path, "r");

    while (f && fgets(line, sizeof line, f)) {
        int count = sscanf(line, "%63s %63s %63s", first, second, third);

        if (count >= 2 && !strcmp(first, "requests"))
            o->requests = atol(second);
        else if (count >= 2 && !strcmp(first, "failed"))
            memcpy(o->failed, second, sizeof o->failed);
        else if (count >= 2 && !strcmp(first, "exited"))
            memcpy(o->ended, second, sizeof o->ended);
        else if (count == 3 && !strcmp(first, "died"))
            memcpy(o->ended, third, sizeof o->ended);
    }
    if (f)
        fclose(f);
}

static void run_child(char **command, long at)
{
    char number[32];
    int null = open("/dev/null", O_WRONLY), message = open(message_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    snprintf(number, sizeof number, "%ld", at);
    dup2(null, STDOUT_FILENO);
    dup2(message, STDERR_FILENO);
    setenv("LD_PRELOAD", shim, 1);
    setenv("FAULT_KIND", kind, 1);
    setenv("FAULT_FOR", consecutive, 1);
    setenv("FAULT_AT", number, 1);
    setenv("FAULT_REPORT", report_path, 1);
    alarm(SECONDS_MAX); /* survives exec */
    execvp(command[0], command);
    _exit(127);
}

static struct outcome run(char **command, long at)
{
    struct outcome o = {0};
    struct stat message;

    unlink(report_path);
    pid_t child = fork();
    if (child == 0)
        run_child(command, at);
    if (child < 0 || waitpid(child, &o.status, 0) != child)
        exit(2);
    read_report(&o);
    o.has_message = stat(message_path, &message) == 0 && message.st_size > 0;
    return o;
}

/* ---- all of them ---- */

struct totals {
    long runs, successes, errors, deaths, wrong;
};

static void print_wrong(char **command, long at, const struct outcome *o, const char *what)
{
    printf("wrong: %s%s%s: LD_PRELOAD=%s FAULT_KIND=%s FAULT_FOR=%s FAULT_AT=%ld", what, o->ended[0] ? " in " : "", o->ended,
           shim, kind, consecutive, at);
    for (char **word = command; *word; word++)
        printf(" %s", *word);
    printf("\n");
}

static void count_outcome(char **command, long at, const struct outcome *o, struct totals *t)
{
    t->runs++;
    if (o->failed[0])
        library_of(o->failed)->requests++;
    if (WIFSIGNALED(o->status)) {
        print_wrong(command, at, o, WTERMSIG(o->status) == SIGALRM ? "it hangs" : "it was killed");
        t->wrong++;
    } else if (o->ended[0]) {
        struct library *l = library_of(o->ended);

        l->deaths++;
        t->deaths++;
        if (l->allowed < 0)
            print_wrong(command, at, o, "it died");
    } else if (WEXITSTATUS(o->status) == 0) {
        t->successes++;
    } else if (WEXITSTATUS(o->status) == 1 && o->has_message) {
        t->errors++;
    } else {
        print_wrong(command, at, o, "it ended without a message, or with an unusual status");
        t->wrong++;
    }
}

static bool conclude(const struct totals *t, long requests)
{
    bool ok = t->wrong == 0 && t->runs > 0;

    printf("%ld of %ld requests (%s) failed: %ld runs succeeded all the same, %ld ended with an error, %ld died, %ld ended "
           "wrongly\n",
           t->runs, requests, kind, t->successes, t->errors, t->deaths, t->wrong);
    for (size_t i = 0; i < library_count; i++) {
        const struct library *l = &libraries[i];
        double share = t->runs ? 100.0 * (double)l->deaths / (double)t->runs : 0;

        printf("  %-24s made %4ld of the requests; %4ld deaths (%.1f %%", l->name, l->requests, l->deaths, share);
        if (l->allowed >= 0)
            printf(", %.1f %% are documented)\n", l->allowed);
        else
            printf(")\n");
        if (l->deaths > 0 && (l->allowed < 0 || share > l->allowed))
            ok = false;
    }
    return ok;
}

PROGRAM_HELP("usage: survey --shim FILE --kind memory|threads|living-threads [--sample N] [--for N] [--may-die "
             "LIBRARY=PERCENT]... -- COMMAND...\n")

/*
 * What --may-die allows is for processors without AVX-512, for which oneDNN's code generators use memory that they did not get.
 * With AVX-512 there remain its other uses of null pointers (docs/failures.md), which few requests of a sample meet.
 */
enum { PERCENT_WITH_AVX512 = 10 };

/* LIBRARY=PERCENT */
static void allow_deaths(char *text)
{
    char *percent = strchr(text, '=');

    *percent++ = '\0';
    library_of(text)->allowed =
        processor_has_avx512("avx512bw") && atof(percent) > PERCENT_WITH_AVX512 ? PERCENT_WITH_AVX512 : atof(percent);
}

int main(int argc, char **argv)
{
    const char *override = getenv("FAULT_SAMPLE");
    struct totals totals = {0};
    long sample = 50;
    int i = 1;

    for (; i + 1 < argc && strcmp(argv[i], "--") != 0; i += 2) {
        if (!strcmp(argv[i], "--shim"))
            shim = argv[i + 1];
        else if (!strcmp(argv[i], "--kind"))
            kind = argv[i + 1];
        else if (!strcmp(argv[i], "--sample"))
            sample = atol(argv[i + 1]);
        else if (!strcmp(argv[i], "--for"))
            consecutive = argv[i + 1];
        else if (!strcmp(argv[i], "--may-die") && strchr(argv[i + 1], '='))
            allow_deaths(argv[i + 1]);
        else
            return WRONG_USAGE;
    }
    if (!shim || i + 1 >= argc || !mkdtemp(folder))
        return WRONG_USAGE;
    snprintf(report_path, sizeof report_path, "%s/report", folder);
    snprintf(message_path, sizeof message_path, "%s/message", folder);

    char **command = argv + i + 1;
    struct outcome first = run(command, 0);
    long requests = first.requests;

    if (!WIFEXITED(first.status) || WEXITSTATUS(first.status) != 0 || requests == 0) {
        printf("the command fails by itself (status %#x, %ld requests)\n", (unsigned)first.status, requests);
        return 1;
    }
    if (override)
        sample = atol(override);
    if (sample <= 0 || sample > requests)
        sample = requests;
    for (long k = 0; k < sample; k++) {
        long at = 1 + (long)((double)k * (double)requests / (double)sample);
        struct outcome o = run(command, at);

        count_outcome(command, at, &o, &totals);
        fflush(stdout);
    }
    unlink(report_path);
    unlink(message_path);
    rmdir(folder);
    return conclude(&totals, requests) ? 0 : 1;
}
