/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Keeps facts about an executable's steps and their times: facts for tools, a table for readers, spans for traces.
 */

#include "ir/support/json.h"
#include "ir/support/new_file.h"
#include "ir/support/text.h"
#include "ir/support/trace.h"
#include "runtime/program/executable.h"

/* ---- while steps run ---- */

/* A span of a step in a loop is of one iteration, where the profile counts them all. */
void executable_trace_steps(struct executable *x)
{
    for (uint32_t i = 0; x->profile.trace && i < x->step_count; i++) {
        struct step_profile *s = &x->profile.steps[i];
        double times = executable_step_calls(x, i);

        s->trace_name = trace_register(
            x->profile.trace, &(struct trace_name){"step", s->name, s->implementation, s->flops / times, s->bytes / times});
    }
}

void executable_count_span(struct executable *x, uint32_t step, uint64_t start, uint64_t end)
{
    struct step_profile *s = &x->profile.steps[step];
    uint64_t nanoseconds = end - start;
    unsigned long long least = atomic_load_explicit(&s->least, memory_order_relaxed);

    atomic_fetch_add_explicit(&s->nanoseconds, nanoseconds, memory_order_relaxed);
    while ((!least || nanoseconds < least) &&
           !atomic_compare_exchange_weak_explicit(&s->least, &least, nanoseconds, memory_order_relaxed, memory_order_relaxed))
        ;
    if (x->profile.trace)
        trace_add(x->profile.trace, s->trace_name, start, end);
}

void executable_count_run(struct executable *x, uint64_t nanoseconds)
{
    if (!x->profile.measuring)
        return;
    atomic_fetch_add_explicit(&x->profile.runs, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&x->profile.nanoseconds, nanoseconds, memory_order_relaxed);
}

/* ---- tables ---- */

void executable_print_profile(const struct executable *x, FILE *out)
{
    double runs = (double)atomic_load(&x->profile.runs), total = 0;

    for (uint32_t i = 0; i < x->step_count; i++)
        total += (double)atomic_load(&x->profile.steps[i].nanoseconds);
    fprintf(out, "profile: %.0f run(s) of %u steps, %.3f ms a run on average, %u thread(s), %.4f ms between steps\n", runs,
            x->step_count, runs > 0 ? total / runs * 1e-6 : 0, x->engine->thread_count,
            runs > 0 ? ((double)atomic_load(&x->profile.nanoseconds) - total) / runs * 1e-6 : 0);
    fprintf(out, "  %4s %-32s %-28s %6s %10s %6s %9s %8s\n", "step", "name", "implementation", "calls", "us", "%", "GFLOP/s",
            "GB/s");
    for (uint32_t i = 0; i < x->step_count && runs > 0; i++) {
        const struct step_profile *s = &x->profile.steps[i];
        double each = (double)atomic_load(&s->nanoseconds) / runs;

        fprintf(out, "  %4u %-32s %-28s %6u %10.2f %6.2f %9.2f %8.2f\n", i, s->name, s->implementation,
                executable_step_calls(x, i), each * 1e-3, total > 0 ? each * runs / total * 100 : 0,
                each > 0 ? s->flops / each : 0, each > 0 ? s->bytes / each : 0);
    }
}

/* ---- for tools ---- */

void executable_measure(struct executable *x)
{
    x->profile.measuring = true;
    atomic_store(&x->profile.runs, 0);
    atomic_store(&x->profile.nanoseconds, 0);
    for (uint32_t i = 0; i < x->step_count; i++) {
        atomic_store(&x->profile.steps[i].nanoseconds, 0);
        atomic_store(&x->profile.steps[i].least, 0);
    }
}

void executable_get_facts(const struct executable *x, struct executable_facts *out)
{
    *out = (struct executable_facts){x->arena_bytes, x->arena_lower_bound, x->step_count, (double)atomic_load(&x->profile.runs),
                                     (double)atomic_load(&x->profile.nanoseconds)};
}

/* Returns the bytes of a step's location that its calls touch together. */
static double location_bytes(const struct executable *x, uint32_t address, uint32_t calls)
{
    const double bytes = (double)x->locations[address].bytes;

    for (uint32_t i = 0; i < x->move_count; i++) {
        const int64_t stride = x->moves[i].stride;
        const double step = (double)(stride < 0 ? -stride : stride);

        if (x->moves[i].address == address)
            return bytes + (step < bytes ? step : bytes) * (calls - 1);
    }
    return bytes;
}

/* A step of the library holds its weights itself: they are what it reads besides its locations.  A kernel may read less than
 * all of a location, and is taken to do so evenly. */
static void count_distinct(const struct executable *x, const struct executable_step *s, struct step_facts *f)
{
    const double once = f->bytes / f->calls;
    double all = 0;

    for (uint32_t i = s->first; i < s->first + s->count; i++) {
        const double distinct = location_bytes(x, i, f->calls);

        all += (double)x->locations[i].bytes;
        f->distinct_bytes += distinct;
        if (x->locations[i].kind == LOCATION_CONSTANT)
            f->weight_bytes += distinct;
    }
    if (all > once) {
        f->distinct_bytes *= once / all;
        f->weight_bytes *= once / all;
    } else if (s->kind == STEP_LIBRARY) {
        f->distinct_bytes += once - all;
        f->weight_bytes += once - all;
    }
    f->distinct_bytes = f->distinct_bytes < f->bytes ? f->distinct_bytes : f->bytes;
}

void executable_get_step_facts(const struct executable *x, uint32_t step, struct step_facts *out)
{
    const struct step_profile *p = &x->profile.steps[step];
    const struct executable_step *s = &x->steps[step];

    *out = (struct step_facts){.name = p->name,
                               .implementation = p->implementation,
                               .flops = p->flops,
                               .bytes = p->bytes,
                               .arithmetic = p->arithmetic,
                               .operations = p->operations,
                               .calls = executable_step_calls(x, step),
                               .nanoseconds = (double)atomic_load(&p->nanoseconds),
                               .least = (double)atomic_load(&p->least),
                               .moves = s->kind == STEP_COPY || (s->kind == STEP_KERNEL && p->flops == 0),
                               .library = s->kind == STEP_LIBRARY ? s->library : NULL};
    count_distinct(x, s, out);
}

/* ---- the switch steps ---- */

void executable_write_steps(const struct executable *x)
{
    static const char *const kinds[] = {[STEP_KERNEL] = "kernel", [STEP_LIBRARY] = "library", [STEP_COPY] = "copy"};
    const double runs = fmax(1, (double)atomic_load(&x->profile.runs)), us = 1e-3 / runs;
    const char *path = x->engine->debug->steps_file;
    char text[256];
    int why;
    struct new_file *f = new_file_open(path, NEW_FILE_NO_LINKS, &why);
    FILE *out = f ? new_file_stream(f) : NULL;

    if (f)
        fprintf(out,
                "{\"engine\": \"%s\", \"threads\": %u, \"runs\": %.0f, \"us\": %.3f, \"arena_bytes\": %lld, "
                "\"arena_lower_bound\": %lld,\n%s],\n\"steps\": [",
                x->engine->functions->name, x->engine->thread_count, runs, (double)atomic_load(&x->profile.nanoseconds) * us,
                (long long)x->arena_bytes, (long long)x->arena_lower_bound,
                x->profile.description ? x->profile.description : "\"program\": [");
    for (uint32_t i = 0; f && i < x->step_count; i++) {
        struct step_facts s;

        executable_get_step_facts(x, i, &s);
        fprintf(out, "%s{\"kind\": \"%s\", \"name\": ", i ? ",\n" : "", kinds[x->steps[i].kind]);
        json_print_string(out, s.name, strlen(s.name), JSON_REPLACE_BYTES);
        fputs(", \"implementation\": ", out);
        json_print_string(out, s.implementation, strlen(s.implementation), JSON_REPLACE_BYTES);
        fprintf(out,
                ", \"calls\": %u, \"us\": %.3f, \"least_us\": %.3f, \"flops\": %.0f, \"bytes\": %.0f, "
                "\"distinct_bytes\": %.0f, \"weight_bytes\": %.0f, \"float32\": %s}",
                s.calls, s.nanoseconds * us, s.least * s.calls * 1e-3, s.flops, s.bytes, s.distinct_bytes, s.weight_bytes,
                s.arithmetic == ARITHMETIC_FLOAT32 ? "true" : "false");
    }
    if (f)
        fputs("]}\n", out);
    if (!f || !new_file_commit(f, &why))
        fprintf(stderr, "debug switch steps: %s: %s\n", escape_text(text, sizeof text, path, strlen(path)), strerror(why));
}
