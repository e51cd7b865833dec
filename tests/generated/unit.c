/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * One unit of work: some operators of one dialect.  First their valid models are searched for: every refusal that was not seen
 * before, its numbers aside, is kept as a start for more changes.  Then models are made of what was found, most of them
 * changed, some joined to chains, and checked.
 */
#include "generated.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum {
    ROWS = 4,
    FOUND_MAX = 24,
    SEEN_MAX = 64,
    EXAMPLES = 8,
    USES = 6,
    READS = 4000,
    READS_AFTER_FOUND = 120,
    FOUND_ENOUGH = 16
};

struct seen {
    uint64_t signature;
    uint32_t uses;
    unsigned steps; /* how far the reader came */
    struct example {
        struct gen_model model;
        uint32_t uses;
        char message[GEN_MESSAGE];
    } examples[EXAMPLES]; /* of different numbers; an empty message: none */
};

/** The notes of one operator. */
struct search {
    struct gen_row *row;
    size_t index; /* of the row */
    uint32_t seen_count, found_count;
    struct seen seen[SEEN_MAX];
    struct gen_model found[FOUND_MAX];
};

struct run {
    struct gen_shared *shared;
    struct gen_random random;
    struct gen_checker *checker;
    const struct gen_limits *limits;
    enum gen_dialect dialect;
    char message[GEN_MESSAGE];
    struct search *searches;
};

/* ---- one model at work ---- */

#ifdef WEBNN_SANITIZE
int __lsan_do_recoverable_leak_check(void);
#endif

static void limit_time(double seconds)
{
    struct itimerval timer = {{0, 0}, {(time_t)seconds, (suseconds_t)((seconds - (double)(time_t)seconds) * 1e6)}};

    setitimer(ITIMER_PROF, &timer, NULL);
}

/** Reads a model, for result with the shapes of its results, or checks it if result is NULL.  The parent sees which model is at
 * work, and what went wrong if this process ends. */
static enum gen_verdict work(struct run *run, const struct gen_model *m, uint32_t seed, struct gen_model *result)
{
    bool learning = result != NULL;
    struct gen_shared *s = run->shared;
    enum gen_verdict verdict;

    s->model = *m;
    s->learning = learning;
    s->check_seed = seed;
    s->base_rss = gen_resident_bytes(getpid());
    s->serial++;
    *s->message = 0;
    *run->message = 0;
    s->busy = true;
    limit_time(run->limits->cpu_seconds);
    if (learning) {
        *result = *m;
        verdict = gen_check_reading(run->checker, result, run->message, sizeof run->message);
    } else {
        verdict = gen_check(run->checker, m, s->check_seed, run->message, sizeof run->message);
    }
    limit_time(0);
    if (verdict == GEN_WRONG) {
        strcpy(s->message, run->message);
        _exit(3);
    }
#ifdef WEBNN_SANITIZE
    if (s->check_leaks && __lsan_do_recoverable_leak_check())
        _exit(4);
#endif
    s->busy = false;
    return verdict;
}

/* ---- searching ---- */

/** A message without its numbers and what it quotes. */
static uint64_t signature_of(const char *message)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    bool quoted = false;

    for (const char *at = message; *at; at++) {
        quoted ^= *at == '"';
        if (quoted || (isdigit((unsigned char)*at) && at > message && isdigit((unsigned char)at[-1])))
            continue;
        hash = (hash ^ (isdigit((unsigned char)*at) ? '0' : (unsigned char)*at)) * UINT64_C(0x100000001B3);
    }
    return hash;
}

/** Returns the reason, without the file's name and the count of nodes. */
static const char *reason_of(const char *message)
{
    const char *line = strchr(message, '\n'), *reason;

    if (!line)
        line = message;
    reason = strstr(line, "): ");
    return reason ? reason + 2 : line;
}

static void keep_refusal(struct run *run, struct search *s, const struct gen_model *m)
{
    const char *reason = reason_of(run->message);
    uint64_t signature = signature_of(reason);
    struct seen *seen = NULL;

    for (uint32_t i = 0; i < s->seen_count; i++)
        if (s->seen[i].signature == signature)
            seen = &s->seen[i];
    if (!seen) {
        if (s->seen_count == SEEN_MAX)
            return;
        seen = &s->seen[s->seen_count++];
        seen->signature = signature;
        seen->uses = 0;
        seen->steps = gen_steps();
    }
    for (const char *at = reason; *at; at++)
        signature = signature * 31 + (unsigned char)*at;
    struct example *example = &seen->examples[signature >> 16 & (EXAMPLES - 1)];
    if (*example->message && example->uses < USES)
        return;
    example->uses = 0;
    example->model = *m;
    snprintf(example->message, sizeof example->message, "%s", reason);
}

static void keep_found(struct run *run, struct search *s, const struct gen_model *m)
{
    s->found[s->found_count < FOUND_MAX ? s->found_count++ : gen_below(&run->random, FOUND_MAX)] = *m;
}

/** Returns a refusal: mostly one that the reader came far for, and that led to few tries. */
static struct example *pick_seen(struct run *run, struct search *s)
{
    struct seen *best = &s->seen[gen_below(&run->random, s->seen_count)];

    for (unsigned i = 0; i < 4; i++) {
        struct seen *other = &s->seen[gen_below(&run->random, s->seen_count)];
        if ((double)(other->steps + 1) / (other->uses + 8) > (double)(best->steps + 1) / (best->uses + 8))
            best = other;
    }
    unsigned at = gen_below(&run->random, EXAMPLES);
    while (!*best->examples[at].message)
        at = (at + 1) % EXAMPLES;
    best->uses++;
    best->examples[at].uses++;
    return &best->examples[at];
}

static void search_row(struct run *run, struct search *s)
{
    struct gen_random *r = &run->random;
    unsigned after = 0, found = 0;

    for (unsigned i = 0; i < READS && after < READS_AFTER_FOUND && found < FOUND_ENOUGH; i++) {
        struct gen_model m, result;
        struct gen_hints hints = {.tensor = UINT32_MAX};

        if (s->found_count && gen_chance(r, 40)) {
            m = s->found[gen_below(r, s->found_count)];
            gen_mutate(r, &m, NULL);
        } else if (s->seen_count && i >= 8 && gen_chance(r, 92)) {
            const struct example *seen = pick_seen(run, s);

            m = seen->model;
            gen_hints_read(&m, seen->message, &hints);
            for (unsigned k = 0, count = gen_chance(r, 70) ? 1 : 2 + gen_below(r, 3); k < count; k++)
                gen_mutate(r, &m, &hints);
        } else {
            gen_start(r, run->dialect, s->row, &m);
        }
        run->shared->read++;
        after += found > 0;
        if (work(run, &m, 0, &result) >= GEN_ACCEPTED) {
            keep_found(run, s, &result);
            found++;
        } else {
            keep_refusal(run, s, &m);
        }
        if (s->row->refused && i > 30)
            break;
    }
}

/* ---- checking ---- */

static struct search *pick_search(struct run *run)
{
    struct search *s = &run->searches[gen_below(&run->random, ROWS)];

    for (unsigned i = 0; i < 3 && !s->found_count; i++)
        s = &run->searches[gen_below(&run->random, ROWS)];
    return s;
}

static void check_one(struct run *run)
{
    struct gen_random *r = &run->random;
    struct search *s = pick_search(run);
    struct gen_model m, other;
    bool single = true;

    if (s->found_count)
        m = s->found[gen_below(r, s->found_count)];
    else if (s->seen_count)
        m = pick_seen(run, s)->model;
    else
        return;
    while (m.node_count < GEN_NODES && gen_chance(r, 35)) {
        const struct search *next = pick_search(run);

        if (!next->found_count)
            break;
        other = next->found[gen_below(r, next->found_count)];
        if (gen_append(r, &m, &other)) {
            single = false;
            if (work(run, &m, 0, &other) >= GEN_ACCEPTED) /* for the shapes of its results */
                m = other;
        }
    }
    for (unsigned i = gen_below(r, 3); i > 0; i--)
        gen_mutate(r, &m, NULL);
    if (gen_chance(r, 45))
        gen_mutate_extreme(r, &m);
    if (m.dialect == GEN_CALLS && gen_chance(r, 40))
        m.dialect = GEN_TEXTUAL;
    enum gen_verdict verdict = work(run, &m, (uint32_t)gen_next(r), NULL);
    run->shared->checked++;
    run->shared->accepted += verdict >= GEN_ACCEPTED;
    run->shared->computed += verdict >= GEN_COMPUTED;
    run->shared->compared += verdict >= GEN_COMPARED;
    if (single) {
        run->shared->tried[run->dialect][s->index]++;
        run->shared->taken[run->dialect][s->index] += verdict >= GEN_ACCEPTED;
    }
}

/** Row number `place` of a shuffle of all that the table does not refuse. */
static size_t shuffled(uint64_t seed, const struct gen_row *rows, size_t count, size_t place)
{
    static size_t order[GEN_ROWS_MAX];
    struct gen_random r = {seed};
    size_t used = 0;

    for (size_t i = 0; i < count; i++)
        if (!rows[i].refused)
            order[used++] = i;
    for (size_t i = used; i > 1; i--) {
        size_t k = gen_below(&r, (uint32_t)i), t = order[i - 1];
        order[i - 1] = order[k];
        order[k] = t;
    }
    return order[place % used];
}

void gen_unit_run(struct gen_shared *shared, const struct gen_unit *unit, const struct gen_limits *limits)
{
    struct run *run = calloc(1, sizeof *run);
    size_t count, place = (size_t)unit->number / 3 * 2 + unit->number % 3;

    if (!run)
        abort();
    run->shared = shared;
    run->limits = limits;
    run->random.state = unit->seed * UINT64_C(0xD1342543DE82EF95) + unit->number;
    gen_next(&run->random);
    run->checker = gen_checker_create();
    run->searches = calloc(ROWS, sizeof *run->searches);
    if (!run->searches)
        abort();
    /* Two units of three are ONNX. */
    run->dialect = unit->number % 3 == 2 ? GEN_CALLS : GEN_ONNX;
    if (run->dialect == GEN_CALLS)
        place = (size_t)unit->number / 3;
    struct gen_row *rows = gen_rows(run->dialect, &count);
    for (unsigned i = 0; i < ROWS; i++) {
        struct search *s = &run->searches[i];

        s->index = shuffled(unit->seed, rows, count, place * ROWS + i);
        for (size_t k = 0; unit->only && !i && k < count; k++)
            if (!strcmp(rows[k].name, unit->only))
                s->index = k;
        s->row = &rows[s->index];
        search_row(run, s);
    }
    for (uint32_t i = 0; i < unit->models; i++)
        check_one(run);
    gen_checker_free(run->checker);
    free(run->searches);
    free(run);
}

void gen_unit_learn(struct gen_shared *shared, const struct gen_unit *unit, enum gen_dialect dialect, size_t row, FILE *out)
{
    static const struct gen_limits limits = {.cpu_seconds = 10};
    size_t count;
    struct gen_row *rows = gen_rows(dialect, &count);
    struct search *s = calloc(1, sizeof *s);
    struct run run = {.shared = shared,
                      .limits = &limits,
                      .dialect = dialect,
                      .random = {unit->seed * GEN_ROWS_MAX + row},
                      .checker = gen_checker_create()};

    if (!s)
        abort();
    shared->read = 0;
    s->row = &rows[row];
    search_row(&run, s);
    fprintf(out, "%s: %u found in %u reads\n", s->row->name, s->found_count, (unsigned)shared->read);
    for (uint32_t i = 0; !s->found_count && i < s->seen_count; i++)
        for (unsigned k = 0, first = 1; k < EXAMPLES; k++)
            if (*s->seen[i].examples[k].message && first) {
                fprintf(out, "    %3u steps, %3u tries: %s\n", s->seen[i].steps, s->seen[i].uses,
                        s->seen[i].examples[k].message);
                first = 0;
            }
    if (s->found_count)
        gen_model_print(&s->found[s->found_count - 1], out);
    fflush(out);
    gen_checker_free(run.checker);
    free(s);
}

enum gen_verdict gen_unit_check(struct gen_shared *shared, const struct gen_limits *limits)
{
    static struct gen_model model; /* work() writes into shared */
    struct run run = {.shared = shared, .limits = limits, .checker = gen_checker_create()};

    model = shared->model;
    enum gen_verdict verdict = work(&run, &model, shared->check_seed, NULL);
    strcpy(shared->message, run.message);
    gen_checker_free(run.checker);
    return verdict;
}
