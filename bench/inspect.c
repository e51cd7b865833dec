/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reports what compiled graphs consist of: their memory, and their steps, compared with what the library would need at best.
 * This is the one file of the programs that looks into executables (runtime/engine/engine.h).
 *
 * The library alone is a primitive that chose the layouts of all its operands, on memory of its own, without anything before or
 * after it: once on operands that stay in the cache, and once with other weights each time, as they are for a step of a
 * network.  A generated contraction is compared with the step of the same node in a second build of the network that leaves
 * contractions to the library; both are found by numbers in labels, since passes make new nodes and give those the labels of
 * the old.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "frontend/readers/files/file.h"
#include "runtime/api/context.h"

/* ---- memory ---- */

static const double OVER_MAX = 1.1; /* times the bound */

/** Returns what the engine tells tools of its executables, or NULL, after a message on stderr, if it tells nothing. */
static const struct engine_tools *tools_of(WNNGraph graph)
{
    const struct engine_functions *f = graph->context->engine->functions;

    if (!f->optional.tools)
        fprintf(stderr, "the engine \"%s\" says nothing of its steps\n", f->name);
    return f->optional.tools;
}

void bench_memory_header(void)
{
    printf("%-20s %7s %14s %14s %7s\n", "network", "steps", "arena bytes", "lower bound", "over");
}

bool bench_memory_report(const char *name, WNNGraph graph)
{
    struct executable_facts f;
    bool good;

    const struct engine_tools *tools = tools_of(graph);
    if (!tools)
        return false;
    tools->facts(graph->executable, &f);
    good = (double)f.arena_bytes <= OVER_MAX * (double)f.arena_lower_bound;
    printf("%-20s %7u %14lld %14lld %6.1f%%%s\n", name, f.step_count, (long long)f.arena_bytes, (long long)f.arena_lower_bound,
           f.arena_lower_bound > 0 ? 100 * (double)(f.arena_bytes - f.arena_lower_bound) / (double)f.arena_lower_bound : 0,
           good ? "" : "  TOO MUCH");
    return good;
}

/* ---- steps ---- */

/** Returns the step of the same contraction in the other build, or NULL unless the library has it there. */
static const struct library_step *find_by_library(WNNGraph by_library, int64_t number)
{
    const struct engine_tools *tools = tools_of(by_library);
    struct executable_facts f;
    struct step_facts s;

    if (!tools)
        return NULL;
    tools->facts(by_library->executable, &f);
    for (uint32_t i = 0; number >= 0 && i < f.step_count; i++) {
        tools->step_facts(by_library->executable, i, &s);
        if (s.library && bench_contraction_number(s.name) == number)
            return s.library;
    }
    return NULL;
}

/** Returns whether a step computes what the builder's contraction of that number does, and nothing else. */
static bool computes_contraction(const struct engine *engine, const struct library_step *s,
                                 const struct bench_contractions *contractions, int64_t number)
{
    struct library_step_info info;

    engine->functions->optional.library->step_info(s, &info);
    return number < 0 || (number < contractions->count && fabs(info.flops - contractions->flops[number]) < 1);
}

/** Holds sums over the steps of a network, in microseconds of a run. */
struct sums {
    double all, moving, compared, alone, cold;
};

static void report_step(const struct engine_tools *tools, const struct step_facts *s, const struct library_step *step,
                        double seconds, struct sums *sums)
{
    const bool asks = step && tools->step_standalone;
    double best = s->least * 1e-3, alone = asks ? tools->step_standalone(step, false, seconds) : 0,
           cold = asks ? tools->step_standalone(step, true, seconds) : 0;

    sums->all += best * s->calls;
    if (s->moves)
        sums->moving += best * s->calls;
    if (alone > 0 && cold > 0) {
        sums->compared += best * s->calls;
        sums->alone += alone * s->calls;
        sums->cold += cold * s->calls;
    }
    printf("  %-36s %-26s %6u %10.2f", s->name, s->implementation, s->calls, best);
    if (alone > 0)
        printf(" %10.2f %6.0f%% %10.2f %6.0f%%\n", alone, 100 * alone / best, cold, 100 * cold / best);
    else
        printf("%s\n", s->moves ? "     moves" : "");
}

bool bench_steps_report(const char *name, WNNGraph graph, WNNGraph by_library, const struct bench_contractions *contractions,
                        bool (*run)(void *user), void *user, double seconds, struct error *e)
{
    const struct engine_tools *tools = tools_of(graph);
    struct executable_facts f;
    struct step_facts s;
    struct bench_times times;
    struct sums sums = {0};
    double steps = 0;

    if (!tools)
        return file_error(e, "the engine says nothing of its steps");
    tools->measure(graph->executable);
    if (!bench_measure(run, user, seconds, &times))
        return file_error(e, "compute: %s", wnnGetLastErrorMessage().data);
    tools->facts(graph->executable, &f);
    printf("\n%s, %u steps\n  %-36s %-26s %6s %10s %10s %7s %10s %7s\n", name, f.step_count, "step", "implementation", "calls",
           "best us", "alone us", "share", "cold us", "share");
    for (uint32_t i = 0; i < f.step_count; i++) {
        tools->step_facts(graph->executable, i, &s);
        steps += s.nanoseconds;
        const int64_t number = bench_contraction_number(s.name);
        const struct library_step *step = s.library ? s.library : find_by_library(by_library, number);
        if (step && !computes_contraction(graph->context->engine, step, contractions, number))
            return file_error(e, "%s is compared with a step of another size", s.name);
        report_step(tools, &s, step, seconds / 10, &sums);
    }
    printf("  moving bytes only %.2f %%, between steps %.2f %%", sums.all > 0 ? 100 * sums.moving / sums.all : 0,
           f.nanoseconds > 0 ? 100 * (f.nanoseconds - steps) / f.nanoseconds : 0);
    if (sums.compared > 0)
        printf("; contractions at %.0f %% of the library alone, %.0f %% with cold weights", 100 * sums.alone / sums.compared,
               100 * sums.cold / sums.compared);
    printf("\n");
    return true;
}

static void print_step(uint32_t i, const struct step_facts *s, double runs)
{
    static const char *const arithmetics[] = {
        [ARITHMETIC_FLOAT32] = "float32", [ARITHMETIC_BFLOAT16] = "bfloat16", [ARITHMETIC_INT8] = "int8"};

    printf("%s{\"step\": %u, \"name\": ", i ? ", " : "", i);
    bench_print_quoted(s->name);
    printf(", \"implementation\": ");
    bench_print_quoted(s->implementation);
    printf(", \"calls\": %u, \"ms\": %.6f, \"least_ms\": %.6f, \"flops\": %.0f, \"bytes\": %.0f, \"distinct_bytes\": %.0f, "
           "\"weight_bytes\": %.0f, \"arithmetic\": \"%s\", \"operations\": %.0f, \"moves\": %s}",
           s->calls, s->nanoseconds / runs * 1e-6, s->least * s->calls * 1e-6, s->flops, s->bytes, s->distinct_bytes,
           s->weight_bytes, arithmetics[s->arithmetic], s->operations, s->moves ? "true" : "false");
}

bool bench_steps_json(const char *name, WNNGraph graph, bool (*run)(void *user), void *user, double seconds)
{
    const struct engine_tools *tools = tools_of(graph);
    struct executable_facts f;
    struct step_facts s;
    struct bench_times times;
    double steps = 0;

    if (!tools)
        return false;
    tools->measure(graph->executable);
    if (!bench_measure(run, user, seconds, &times))
        return false;
    tools->facts(graph->executable, &f);
    printf("{\"name\": ");
    bench_print_quoted(name);
    printf(", \"steps\": [");
    for (uint32_t i = 0; i < f.step_count; i++) {
        tools->step_facts(graph->executable, i, &s);
        steps += s.nanoseconds;
        print_step(i, &s, f.runs);
    }
    printf("], \"between_steps_ms\": %.6f}\n", (f.nanoseconds - steps) / f.runs * 1e-6);
    return true;
}
