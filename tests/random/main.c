/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * random-graphs [--seed N] [--count N] [--nodes N] [--variant NAME]... [--seconds S] [--failures N] [--stats] [--print]
 *
 * Graph i has the seed N + i: a failure's seed and the line to run it again are printed with the graph, made small, and the
 * numbers that went in.  NAME is "mixed" (default: all passes always, two of the others in turn), "all", or debug switches and
 * threads=N, separated by commas.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "passes/passes.h"
#include "random.h"
#include "support/help.h"
#include "support/search_options.h"

enum { VARIANTS_MAX = 64, PRINTED_ELEMENTS = 64 };

struct options {
    struct search_options search;
    uint32_t nodes;
    bool mixed, stats, print;
    uint32_t variant_count;
    struct variant variants[VARIANTS_MAX];
};

/* Operators and data types of their first operands, to be sure that nothing is left out. */
static uint64_t seen[OP_ROWS][DTYPE_COUNT];

/* ---- crashes ---- */

static char crash_text[256];

#ifdef WEBNN_SANITIZE
void __sanitizer_set_death_callback(void (*callback)(void));

static void on_death(void)
{
    (void)!write(STDERR_FILENO, crash_text, strlen(crash_text));
}
#else
static void on_crash(int number)
{
    (void)!write(STDERR_FILENO, crash_text, strlen(crash_text));
    signal(number, SIG_DFL);
    raise(number);
}
#endif

/* Interrupted, a long run ends with its counts. */
static volatile sig_atomic_t stopped;

static void on_stop(int number)
{
    stopped = 1;
}

static void watch_signals(void)
{
    signal(SIGINT, on_stop);
    signal(SIGTERM, on_stop);
#ifdef WEBNN_SANITIZE
    __sanitizer_set_death_callback(on_death);
#else
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        signal(numbers[i], on_crash);
#endif
}

/* ---- reports ---- */

static void print_rerun(char *text, size_t size, const struct options *o, uint64_t seed, const char *variant)
{
    snprintf(text, size, "random-graphs --seed %" PRIu64 " --count 1 --nodes %u --variant %s", seed, o->nodes, variant);
}

static void print_input(const struct sample *s, const struct value *v)
{
    size_t size = dtype_size(v->type.type);

    fprintf(stderr, "# %s =", v->name);
    for (int64_t i = 0; i < type_elements(&v->type) && i < PRINTED_ELEMENTS; i++) {
        union scalar x = {.u64 = 0};
        memcpy(&x, (const char *)s->data[v->index] + (size_t)i * size, size);
        if (dtype_is_float(v->type.type))
            fprintf(stderr, " %.9g", scalar_to_double(x, v->type.type));
        else if (size == 8)
            fprintf(stderr, " %" PRId64 "%s", x.i64, x.i64 < 0 && !dtype_is_signed(v->type.type) ? "u" : "");
        else
            fprintf(stderr, " %.0f", scalar_to_double(x, v->type.type));
    }
    fprintf(stderr, "%s\n", type_elements(&v->type) > PRINTED_ELEMENTS ? " ..." : "");
}

static void print_sample(const struct sample *s)
{
    char *text = sample_text(s);

    fputs(text, stderr);
    free(text);
    for (uint32_t i = 0; i < s->g->input_count; i++)
        print_input(s, s->g->inputs[i]);
}

/* s fails: says so, shrinks it and prints what remains. */
static void report_failure(struct options *o, struct sample *s, struct variant *v, uint64_t seed, const char *report)
{
    char again[CHECK_REPORT], line[256];

    print_rerun(line, sizeof line, o, seed, v ? v->name : "default");
    fprintf(stderr, "FAIL seed %" PRIu64 ", %s: %s\n# again: %s\n", seed, v ? v->name : "no variant", report, line);
    if (o->search.shrink > 0) {
        sample_shrink(s, v, o->search.shrink);
        strcpy(again, "(not any more)");
        if (v)
            (void)check_variant(s, v, NULL, again);
        else
            (void)check_sample(s, again);
        fprintf(stderr, "# shrunk: %s\n", again);
    }
    print_sample(s);
}

/* ---- running ---- */

static void count_operators(const struct sample *s)
{
    graph_for_each (s->g, n)
        seen[n->op][n->inputs[0].value->type.type]++;
}

static bool run_one(struct options *o, uint64_t seed, uint64_t turn, struct check_counts *counts)
{
    const struct generate_options g = {seed, o->nodes};
    char report[CHECK_REPORT] = "", line[200];
    struct sample s;
    bool good = true;

    print_rerun(line, sizeof line, o, seed, "?");
    snprintf(crash_text, sizeof crash_text, "crash: %s (generating)\n", line);
    sample_generate(&s, &g);
    count_operators(&s);
    if (o->print)
        print_sample(&s);
    if (!check_sample(&s, report)) {
        report_failure(o, &s, NULL, seed, report);
        good = false;
    }
    for (uint32_t i = 0; good && i < o->variant_count; i++) {
        /* of the many variants each graph takes the first and two more */
        uint32_t others = o->variant_count - 1;
        if (o->mixed && i > 0 && i - 1 != 2 * turn % others && i - 1 != (2 * turn + 1) % others)
            continue;
        print_rerun(line, sizeof line, o, seed, o->variants[i].name);
        snprintf(crash_text, sizeof crash_text, "crash: %s\n", line);
        good = check_variant(&s, &o->variants[i], counts, report);
        if (!good)
            report_failure(o, &s, &o->variants[i], seed, report);
    }
    sample_free(&s);
    return good;
}

static void add_variant(struct options *o, const char *name)
{
    if (o->variant_count == VARIANTS_MAX)
        random_die("too many variants");
    variant_init(&o->variants[o->variant_count++], name);
}

static void add_all_variants(struct options *o)
{
    char names[] = "default threads=2 no-passes no-library isa=avx2 isa=baseline no-passes,no-library no-library,threads=2 "
                   "prefer-winograd prefer-winograd,no-library,threads=2 prefer-winograd,isa=avx2 prefer-attention,threads=2 "
                   "prefer-attention,isa=avx2 prefer-compact prefer-compact,no-library,isa=avx2 named "
                   "named,prefer-winograd named,prefer-attention engine=null";
    char name[96], *rest;

    for (const char *one = strtok_r(names, " ", &rest); one; one = strtok_r(NULL, " ", &rest))
        add_variant(o, one);
    for (uint32_t i = 0; i < pass_pipeline_length; i++) {
        bool again = pass_pipeline[i].required;
        for (uint32_t k = 0; k < i; k++)
            again |= !strcmp(pass_pipeline[k].name, pass_pipeline[i].name);
        if (again)
            continue;
        snprintf(name, sizeof name, "skip=%s", pass_pipeline[i].name);
        add_variant(o, name);
    }
}

static void print_statistics(void)
{
    for (int op = 0; op < OP_ROWS; op++) {
        printf("%-24s", op_infos[op].name);
        for (int t = 1; t < DTYPE_COUNT; t++)
            if (op_infos[op].ins[0].types >> t & 1)
                printf(" %s %" PRIu64, dtype_short_name((dtype)t), seen[op][t]);
        printf("\n");
    }
}

/* Of the pairs that the table allows, how many occurred. */
static uint32_t pairs_seen(uint32_t *all)
{
    uint32_t count = 0;

    *all = 0;
    for (int op = 0; op < OP_COUNT; op++)
        for (int t = 1; t < DTYPE_COUNT; t++)
            if (op_infos[op].ins[0].types >> t & 1) {
                ++*all;
                count += seen[op][t] > 0;
            }
    return count;
}

static uint32_t operators_seen(void)
{
    uint32_t count = 0;

    for (int op = 0; op < OP_COUNT; op++) {
        uint64_t sum = 0;
        for (int t = 0; t < DTYPE_COUNT; t++)
            sum += seen[op][t];
        count += sum > 0;
    }
    return count;
}

PROGRAM_HELP("usage: random-graphs [--seed N] [--count N] [--nodes N] [--variant mixed|all|SWITCHES]... [--seconds S]\n"
             "                     [--failures N] [--shrink S] [--stats] [--print]\n")

static void read_options(struct options *o, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;

        if (!strcmp(name, "--stats") || !strcmp(name, "--print")) {
            *(name[2] == 's' ? &o->stats : &o->print) = true;
            continue;
        }
        if (!value)
            exit(WRONG_USAGE);
        i++;
        if (search_option(&o->search, name, value))
            continue;
        if (!strcmp(name, "--nodes"))
            o->nodes = (uint32_t)strtoul(value, NULL, 10);
        else if (strcmp(name, "--variant"))
            exit(WRONG_USAGE);
        else if (!strcmp(value, "all") || !strcmp(value, "mixed")) {
            o->mixed = *value == 'm';
            add_all_variants(o);
        } else
            add_variant(o, value);
    }
    if (!o->variant_count) {
        o->mixed = true;
        add_all_variants(o);
    }
}

int main(int argc, char **argv)
{
    static struct options o = {.search = {.seed = 1, .count = 1000, .failures = 5, .seconds = 1e9, .shrink = 20}, .nodes = 6};
    struct check_counts counts = {0};
    uint64_t done = 0, failed = 0;
    uint32_t pairs, allowed;
    const double start = random_seconds();

    read_options(&o, argc, argv);
    watch_signals();
    for (; done < o.search.count && failed < o.search.failures && !stopped; done++) {
        if (random_seconds() - start >= o.search.seconds)
            break;
        failed += !run_one(&o, o.search.seed + done, done, &counts);
    }
    pairs = pairs_seen(&allowed);
    if (o.stats)
        print_statistics();
    printf("%" PRIu64 " graphs from seed %" PRIu64 ": %" PRIu64
           " failed; %u of %d operators, %u of %u pairs with a data type; %" PRIu64 " elements compared, %" PRIu64
           " near a jump, %" PRIu64 " after library epilogues that drop NaN; %ld s\n",
           done, o.search.seed, failed, operators_seen(), OP_COUNT, pairs, allowed, counts.compared, counts.unknown,
           counts.exempt, (long)(random_seconds() - start));
    for (uint32_t i = 0; i < o.variant_count; i++) {
        printf("  %-32s %" PRIu64 " graphs\n", o.variants[i].name, o.variants[i].graphs);
        variant_release(&o.variants[i]);
    }
    if (counts.unknown * 100 > counts.compared + counts.unknown + counts.exempt) {
        fprintf(stderr, "FAIL more than 1 %% of the elements lie near a jump\n");
        failed++;
    }
    if (done >= 800 && operators_seen() != OP_COUNT) { /* this many graphs hold every operator */
        fprintf(stderr, "FAIL operators that never occur\n");
        failed++;
    }
    return failed ? 1 : 0;
}
