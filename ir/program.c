/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Describes programs, frees them and prints them, however they came about.  Those of the compiler have kernels that are IR, and
 * serialized ones have kernels that are numbers; the facts about running them are the same for either.
 */
#include "ir/program.h"

#include <string.h>

#include "ir/schedule/schedule.h"

enum { SCRATCH_GAP = 2 * TARGET_LINE_BYTES };

uint32_t program_kernel_parts(double flops, double bytes, int64_t units, uint32_t thread_count)
{
    double parts = target_microseconds(flops, bytes) / target_facts_everywhere()->call.thread_work;

    if (parts > (double)units)
        parts = (double)units;
    if (parts >= (double)thread_count)
        return thread_count;
    return parts < 2.0 ? 1 : (uint32_t)parts;
}

int64_t program_scratch_stride(int64_t scratch_bytes)
{
    if (scratch_bytes <= 0)
        return 0;
    return target_align(scratch_bytes) + SCRATCH_GAP;
}

static bool describe_kernel(struct program *p, struct program_step *s)
{
    const struct kernel *k = s->kernel;
    bool *written = arena_array(&p->arena, s->location_count, sizeof *written);
    const bool described = s->schedule && s->schedule_kind->describe;

    if (!written || (described && !s->schedule_kind->describe(s->schedule, &p->arena, &s->run)))
        return false;
    if (!described) {
        const struct kernel_cost cost = kernel_cost(k, target_facts_everywhere());
        s->run.flops = cost.operations;
        s->run.bytes = cost.bytes;
    }
    for (uint32_t i = 0; i < s->location_count && i < k->tensor_count; i++)
        written[i] = k->tensors[i].written;
    s->run.written = written;
    return true;
}

bool step_writes(const struct program_step *s, uint32_t location)
{
    if (s->kind != STEP_KERNEL)
        return location + 1 == s->location_count;
    return s->kernel ? s->kernel->tensors[location].written : s->run.written[location];
}

bool program_describe(struct program *p)
{
    for (uint32_t i = 0; i < p->step_count; i++) {
        struct program_step *s = &p->steps[i];
        const bool known = !s->kernel || s->run.written; /* of a serialized program, or described before */

        if (s->like)
            s->run = p->steps[s->like - 1].run;
        else if (s->kind == STEP_KERNEL && !known && !describe_kernel(p, s))
            return false;
    }
    return true;
}

void program_drop_kernels(struct program *p)
{
    for (uint32_t i = 0; i < p->step_count; i++) {
        struct program_step *s = &p->steps[i];

        if (s->schedule)
            s->schedule_kind->free(s->schedule);
        kernel_free(s->kernel);
        s->schedule = NULL;
        s->kernel = NULL;
    }
}

void program_free(struct program *p)
{
    program_drop_kernels(p);
    for (uint32_t i = 0; !p->is_lent && i < p->step_count; i++)
        if (p->steps[i].library)
            p->free_library(p->steps[i].library);
    for (uint32_t i = 0; !p->is_lent && i < p->constant_count; i++)
        constant_release(p->constants[i]);
    arena_free(&p->arena);
    memset(p, 0, sizeof *p);
}

/* ---- printing ---- */

static void location_print(const struct location *location, FILE *out)
{
    static const char *const names[] = {
        [LOCATION_ARENA] = "arena", [LOCATION_INPUT] = "input", [LOCATION_OUTPUT] = "output", [LOCATION_CONSTANT] = "constant"};

    fprintf(out, " %s", names[location->kind]);
    if (location->kind != LOCATION_ARENA)
        fprintf(out, "%u", location->slot);
    fprintf(out, "+%lld:%lld", (long long)location->offset, (long long)location->bytes);
}

static void move_print(const struct program_move *m, FILE *out)
{
    fprintf(out, "(%+lld", (long long)m->stride);
    if (m->has_first) {
        fputs(", first", out);
        location_print(&m->first, out);
    }
    fputc(')', out);
}

static void step_schedule_print(const struct program_step *s, FILE *out)
{
    if (!s->schedule)
        return;
    fputs("      # ", out);
    s->schedule_kind->print(s->schedule, out);
    fputc('\n', out);
}

void program_print(const struct program *p, FILE *out)
{
    long long constants = 0;

    for (uint32_t i = 0; i < p->constant_count; i++)
        constants += (long long)p->constants[i]->bytes;
    fprintf(out, "program: %u steps, arena %lld bytes (lower bound %lld), %u constants with %lld bytes\n", p->step_count,
            (long long)p->arena_bytes, (long long)p->arena_lower_bound, p->constant_count, constants);
    for (uint32_t i = 0, loop = 0, move = 0; i < p->step_count; i++) {
        const struct program_step *s = &p->steps[i];
        bool arrow = false;

        if (loop < p->loop_count && p->loops[loop].first == i) {
            fprintf(out, "  loop of %u steps, %u times:\n", p->loops[loop].count, p->loops[loop].iterations);
            loop++;
        }
        fprintf(out, "  %3u %s %s:", i,
                s->kind == STEP_KERNEL    ? "kernel"
                : s->kind == STEP_LIBRARY ? "library"
                                          : "copy",
                s->name);
        for (uint32_t t = 0; t < s->location_count; t++) {
            bool written = step_writes(s, t);
            if (written && !arrow)
                fputs(" ->", out);
            arrow |= written;
            location_print(&s->locations[t], out);
            if (move < p->move_count && p->moves[move].step == i && p->moves[move].location == t)
                move_print(&p->moves[move++], out);
        }
        fputc('\n', out);
        step_schedule_print(s, out);
    }
}
