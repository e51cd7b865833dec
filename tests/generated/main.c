/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * generated-models: makes models and checks each in a child process.
 *
 *     generated-models [--seed N] [--count N] [--seconds S] [--jobs N] [--operator NAME] [--failures N] [--shrink S] [--keep
 * FOLDER]
 *                      [--table]
 *     generated-models --learn [--seed N] [--operator NAME]    prints what the search finds of every operator
 *     generated-models FILE                       checks one model that was kept
 */
#include "generated.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "support/help.h"
#include "support/search_options.h"

enum { JOBS_MAX = 64, UNIT_MODELS = 24, FINDINGS_MAX = 256, ATTEMPTS = 3 };

#ifdef WEBNN_SANITIZE
/* Freed memory is kept apart for a while only, so that what a model takes can be told from what earlier ones took. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "quarantine_size_mb=8:malloc_context_size=10:detect_stack_use_after_return=0:allocator_may_return_null=1";
}
static const struct gen_limits limits = {.cpu_seconds = 6, .memory = (uint64_t)400 << 20};
#else
static const struct gen_limits limits = {.cpu_seconds = 2, .memory = (uint64_t)300 << 20};
#endif

struct options {
    struct search_options search;
    unsigned jobs;
    const char *only, *keep, *file;
    bool table, learn;
};

struct run {
    struct options o;
    const char *program;
    struct gen_worker workers[JOBS_MAX], helper;
    unsigned attempts[JOBS_MAX];
    uint64_t next_unit;
    unsigned finding_count, repeated;
    char findings[FINDINGS_MAX][96]; /* what each was about */
};

/* ---- findings ---- */

/** What a finding is about: the sanitizer's summary, or the kind of failure and the operators. */
static void name_finding(const struct gen_worker *w, const struct gen_model *m, enum gen_failure failure, char *name,
                         size_t size)
{
    FILE *in = fopen(w->log, "r");
    char line[512];

    snprintf(name, size, "%s", gen_failure_name(failure));
    for (unsigned n = 0; n < m->node_count; n++)
        snprintf(name + strlen(name), size - strlen(name), " %s", m->nodes[n].op);
    while (in && fgets(line, sizeof line, in)) {
        char *at = strstr(line, "SUMMARY: ");

        if (!at && failure == GEN_FAILED_CRASH)
            at = strstr(line, "runtime error: ");
        if (at) {
            line[strcspn(line, "\n")] = 0;
            snprintf(name, size, "%.*s", (int)size - 1, at);
            break;
        }
    }
    if (in)
        fclose(in);
}

static void print_log(const struct gen_worker *w)
{
    FILE *in = fopen(w->log, "r");
    char line[512];

    for (unsigned count = 0; in && count < 45 && fgets(line, sizeof line, in); count++)
        printf("    | %.200s%s", line, strchr(line, '\n') ? "" : "\n");
    if (in)
        fclose(in);
}

/** The model as a file that other tools read, too. */
static void write_file(const struct gen_model *m, const char *path)
{
    size_t length;
    char *bytes = m->dialect == GEN_ONNX ? gen_onnx_write(m, &length) : gen_text_write(m, &length), name[4200];

    snprintf(name, sizeof name, "%s.%s", path, m->dialect == GEN_ONNX ? "onnx" : "webnn");
    FILE *out = fopen(name, "wb");
    if (out) {
        fwrite(bytes, 1, length, out);
        fclose(out);
    }
    free(bytes);
}

/** Returns whether a finding of that name is there already; notes it if not. */
static bool is_known(struct run *run, const char *name)
{
    for (unsigned i = 0; i < run->finding_count; i++)
        if (!strcmp(run->findings[i], name)) {
            run->repeated++;
            return true;
        }
    return run->finding_count == FINDINGS_MAX;
}

static void report(struct run *run, const struct gen_worker *by, struct gen_model *m, uint32_t check_seed,
                   enum gen_failure failure)
{
    struct gen_worker *w = &run->helper;
    char name[96], path[4096];

    name_finding(by, m, failure, name, sizeof name);
    if (is_known(run, name))
        return;
    enum gen_failure again = gen_worker_check(w, m, check_seed, failure == GEN_FAILED_LEAK, &limits);
    if (again == GEN_PASSED && failure == GEN_FAILED_TIME) { /* the machine was busy with something else */
        printf("one model took more than %g s once, but not again\n", limits.cpu_seconds);
        return;
    }
    if (again == GEN_PASSED) {
        printf("FINDING (%s) that does not repeat on its own:\n", gen_failure_name(failure));
        print_log(by);
    } else {
        gen_shrink(w, m, check_seed, again, &limits, run->o.search.shrink);
        again = gen_worker_check(w, m, check_seed, again == GEN_FAILED_LEAK, &limits);
        name_finding(w, m, again, name, sizeof name);
        if (is_known(run, name))
            return;
    }
    strcpy(run->findings[run->finding_count++], name);
    snprintf(path, sizeof path, "%s/generated-%" PRIu64 "-%u.model", run->o.keep, run->o.search.seed, run->finding_count);
    printf("FINDING %u: %s\n", run->finding_count, name);
    if (again == GEN_FAILED_WRONG)
        printf("  %s\n", w->shared->message);
    gen_model_print(m, stdout);
    print_log(w);
    if (!gen_model_save(m, path))
        printf("  %s cannot be written\n", path);
    write_file(m, path);
    printf("  again: %s %s   (check seed %" PRIu32 ")\n\n", run->program, path, check_seed);
    fflush(stdout);
}

/* ---- units ---- */

static void start_next(struct run *run, unsigned job)
{
    struct gen_unit unit = {run->o.search.seed, run->next_unit++, UNIT_MODELS, run->o.only};

    run->attempts[job] = 0;
    gen_worker_start(&run->workers[job], &unit, &limits);
}

/** Keeps what ended a unit early, and lets the unit go on with other numbers. */
static void take_failure(struct run *run, unsigned job, enum gen_failure failure)
{
    struct gen_worker *w = &run->workers[job];
    struct gen_unit unit = w->unit;
    struct gen_model m = w->shared->model;

    if (failure == GEN_FAILED_LEAK && !w->shared->check_leaks && !w->shared->busy) {
        w->shared->check_leaks = true; /* the same again, to see which model it is */
        gen_worker_start(w, &unit, &limits);
        return;
    }
    w->shared->check_leaks = false;
    report(run, w, &m, w->shared->check_seed, failure);
    if (++run->attempts[job] < ATTEMPTS) {
        unit.seed += UINT64_C(0x100000000);
        gen_worker_start(w, &unit, &limits);
    }
}

static uint64_t sum(const struct run *run, size_t offset)
{
    uint64_t all = 0;

    for (unsigned i = 0; i < run->o.jobs; i++) {
        uint64_t one;
        memcpy(&one, (const char *)run->workers[i].shared + offset, sizeof one);
        all += one;
    }
    return all;
}
#define SUM(run, member) sum(run, offsetof(struct gen_shared, member))

static void print_table(const struct run *run)
{
    for (unsigned d = GEN_ONNX; d <= GEN_CALLS; d++) {
        size_t count;
        const struct gen_row *rows = gen_rows((enum gen_dialect)d, &count);

        for (size_t i = 0; i < count; i++) {
            uint32_t tried = 0, taken = 0;

            for (unsigned j = 0; j < run->o.jobs; j++) {
                tried += run->workers[j].shared->tried[d][i];
                taken += run->workers[j].shared->taken[d][i];
            }
            printf("%-6s %-32s %5u models, %5u accepted%s\n", d == GEN_ONNX ? "onnx" : "calls", rows[i].name, tried, taken,
                   rows[i].refused   ? " (the table refuses it)"
                   : tried && !taken ? " NONE"
                                     : "");
        }
    }
}

static int run_units(struct run *run)
{
    double start = random_seconds();
    unsigned active = 0;
    bool stopping = false;

    for (unsigned i = 0; i < run->o.jobs; i++) {
        if (!gen_worker_init(&run->workers[i])) {
            perror("generated-models");
            return 2;
        }
        start_next(run, i);
        active++;
    }
    while (active) {
        for (unsigned i = 0; i < run->o.jobs; i++) {
            enum gen_failure failure;

            if (run->workers[i].pid <= 0 || !gen_worker_poll(&run->workers[i], &limits, &failure))
                continue;
            stopping = stopping || random_seconds() - start > run->o.search.seconds ||
                       SUM(run, checked) >= run->o.search.count || run->finding_count >= run->o.search.failures;
            if (failure != GEN_PASSED)
                take_failure(run, i, failure);
            else
                run->workers[i].shared->check_leaks = false;
            if (run->workers[i].pid > 0)
                continue;
            if (stopping)
                active--;
            else
                start_next(run, i);
        }
        nanosleep(&(struct timespec){0, 3000000}, NULL);
    }
    if (run->o.table)
        print_table(run);
    printf("seed %" PRIu64 ": %" PRIu64 " models checked after %" PRIu64 " were read to learn; %" PRIu64
           " accepted (%.0f %%), %" PRIu64 " computed, %" PRIu64
           " compared with the interpreter; %u findings (%u again); %.0f s\n",
           run->o.search.seed, SUM(run, checked), SUM(run, read), SUM(run, accepted),
           100.0 * (double)SUM(run, accepted) / (double)(SUM(run, checked) ? SUM(run, checked) : 1), SUM(run, computed),
           SUM(run, compared), run->finding_count, run->repeated, random_seconds() - start);
    for (unsigned i = 0; i < run->o.jobs; i++)
        gen_worker_free(&run->workers[i]);
    return run->finding_count ? 1 : 0;
}

static int check_file(struct run *run)
{
    struct gen_model m;
    enum gen_failure failure;
    bool failed = false;

    if (!gen_model_load(&m, run->o.file)) {
        fprintf(stderr, "%s is no model of this program\n", run->o.file);
        return 2;
    }
    gen_model_print(&m, stdout);
    for (uint32_t seed = 0; seed < 3; seed++) { /* every variant of computing */
        failure = gen_worker_check(&run->helper, &m, seed, false, &limits);
        printf("variant %u: %s%s%s\n", seed, gen_failure_name(failure), *run->helper.shared->message ? ": " : "",
               run->helper.shared->message);
        print_log(&run->helper);
        failed |= failure != GEN_PASSED;
    }
    return failed;
}

PROGRAM_HELP(
    "usage: generated-models [--seed N] [--count N] [--seconds S] [--jobs N] [--operator NAME] [--failures N] [--shrink "
    "S]\n"
    "                        [--keep FOLDER] [--table]\n"
    "       generated-models --learn [--seed N] [--operator NAME]\n"
    "       generated-models FILE\n")

static void read_options(struct options *o, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;

        if (!strcmp(name, "--table") || !strcmp(name, "--learn")) {
            *(name[2] == 't' ? &o->table : &o->learn) = true;
            continue;
        }
        if (*name != '-') {
            o->file = name;
            continue;
        }
        if (!value)
            exit(WRONG_USAGE);
        i++;
        if (search_option(&o->search, name, value))
            continue;
        if (!strcmp(name, "--jobs"))
            o->jobs = (unsigned)strtoul(value, NULL, 10);
        else if (!strcmp(name, "--operator"))
            o->only = value;
        else if (!strcmp(name, "--keep"))
            o->keep = value;
        else
            exit(WRONG_USAGE);
    }
    if (!o->jobs || o->jobs > JOBS_MAX)
        exit(WRONG_USAGE);
}

int main(int argc, char **argv)
{
    static struct run run = {
        .o = {.search = {.seed = 1, .count = 2000, .failures = 20, .seconds = 1e9, .shrink = 10}, .jobs = 1, .keep = "."}};
    size_t count;

    read_options(&run.o, argc, argv);
    run.program = argv[0];
    setenv("OMP_NUM_THREADS", "1", 1);
    setenv("OMP_WAIT_POLICY", "passive", 1);
    gen_rows(GEN_ONNX, &count);
    if (!gen_worker_init(&run.helper)) {
        perror("generated-models");
        return 2;
    }
    if (run.o.learn) {
        gen_worker_learn(&run.helper, run.o.search.seed, run.o.only);
        gen_worker_free(&run.helper);
        return 0;
    }
    int status = run.o.file ? check_file(&run) : run_units(&run);
    gen_worker_free(&run.helper);
    return status;
}
