/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Answers what a program asks of its schedules. */
#include "ir/schedule/program_schedule.h"

#include <stdlib.h>

/* ---- for processors ---- */

static bool cpu_describe(const void *schedule, struct arena *a, struct step_run *run)
{
    const struct schedule *s = schedule;

    run->param_count = s->numbers.param_count;
    run->params = arena_copy(a, s->numbers.params, s->numbers.param_count * sizeof *s->numbers.params);
    run->units = s->units;
    run->scratch_bytes = s->scratch_bytes;
    run->flops = s->cost.operations;
    run->bytes = s->cost.bytes;
    run->multiplies_bytes = s->tiled && s->tile.blocks.bytes.a != KEXPR_NONE;
    return run->params;
}

static double cpu_scratch_bytes(const void *schedule, uint32_t thread_count)
{
    return (double)((const struct schedule *)schedule)->scratch_bytes * thread_count;
}

static void cpu_print(const void *schedule, FILE *out)
{
    schedule_print_short(schedule, out);
}

static void cpu_free(void *schedule)
{
    schedule_free(schedule);
}

void step_set_schedule(struct program_step *s, struct schedule *schedule)
{
    static const struct schedule_kind kind = {
        .describe = cpu_describe, .scratch_bytes = cpu_scratch_bytes, .print = cpu_print, .free = cpu_free};

    s->schedule = schedule;
    s->schedule_kind = &kind;
}

/* ---- for devices with work-groups ---- */

static double gpu_scratch_bytes(const void *schedule, uint32_t thread_count)
{
    (void)thread_count;
    return (double)((const struct gpu_schedule *)schedule)->scratch_bytes;
}

static void gpu_print(const void *schedule, FILE *out)
{
    gpu_schedule_print(schedule, out);
}

void step_set_gpu_schedule(struct program_step *s, struct gpu_schedule *schedule)
{
    static const struct schedule_kind kind = {.scratch_bytes = gpu_scratch_bytes, .print = gpu_print, .free = free};

    s->schedule = schedule;
    s->schedule_kind = &kind;
}
