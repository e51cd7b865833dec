/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Writes GPU schedules as text, for dumps of programs.
 */
#include <inttypes.h>

#include "ir/schedule/schedule_gpu.h"

const char *gpu_shape_name(enum gpu_shape shape)
{
    static const char *const names[] = {
        [GPU_POINTS] = "points", [GPU_ROWS] = "rows", [GPU_TILES] = "tiles", [GPU_STAGES] = "stages", [GPU_BLOCKS] = "blocks"};

    return names[shape];
}

static void print_tile(const struct gpu_tile *t, FILE *out)
{
    static const char *const along[] = {"rows", "K"};

    if (t->matrix) {
        fprintf(out, " of %u rows x %u columns by matrix instructions (%u x %u sub-groups, %u iterations at once, ", t->rows,
                t->vectors, t->items_m, t->items_n, t->k_tile);
        fprintf(out, "operands along %s and %s)", along[t->along_k[0]], along[t->along_k[1]]);
        return;
    }
    fprintf(out, " of %u rows x %u vectors from %s memory", t->rows, t->vectors, t->local_memory ? "local" : "global");
    if (t->local_memory)
        fprintf(out, " (%u x %u items, %u iterations at once)", t->items_m, t->items_n, t->k_tile);
    if (t->k_items > 1)
        fprintf(out, ", %u items share K", t->k_items);
    if (t->factor != KEXPR_NONE)
        fprintf(out, ", sums inside of %u loops times %%%u", t->factor_depth, t->factor);
}

/* Prints what stages and kernels without stages have alike. */
static void print_shape(const struct gpu_stage *s, FILE *out)
{
    fputs(gpu_shape_name(s->shape), out);
    if (s->shape == GPU_TILES)
        print_tile(&s->tile, out);
    if (s->lanes > 1)
        fprintf(out, ", %u lanes along variable %u%s", s->lanes, s->lane_var, s->lane_tail ? " with a rest" : "");
}

static void print_sums(const struct gpu_stage *s, FILE *out)
{
    if (s->sum_split != KEXPR_NONE)
        fprintf(out, ", sums split at reduced variable %u by %u", s->sum_split, s->sum_steps);
}

static void print_stages(const struct gpu_schedule *s, FILE *out)
{
    for (uint32_t i = 0; i < s->kernel->stage_count; i++) {
        const struct gpu_stage *stage = &s->stages[i];

        fprintf(out, "%s", i ? "; " : " (");
        print_shape(stage, out);
        if (stage->shape == GPU_ROWS)
            fprintf(out, " of %u items", stage->row_items);
        print_sums(stage, out);
    }
    for (uint32_t i = 0; i < s->kernel->local_count; i++)
        if (s->locals[i].in_local_memory)
            fprintf(out, "; local%u in local memory", i);
    fputs(")", out);
}

void gpu_schedule_print(const struct gpu_schedule *s, FILE *out)
{
    print_shape(&s->own, out);
    if (s->lane_repeats)
        fputs(", some twice", out);
    if (s->shape == GPU_STAGES)
        print_stages(s, out);
    if (s->shape == GPU_BLOCKS)
        fprintf(out, ", side %u along variable %u, in %s", s->block.side, s->block.across,
                s->block.local_memory ? "local memory" : "registers");
    print_sums(&s->own, out);
    if (s->kept != KEXPR_NONE)
        fprintf(out, ", %%%u kept from phase %u", s->kept, s->kept_phase);
    fprintf(out, ", %" PRId64, s->global[0]);
    for (uint32_t d = 1; d < GPU_DIMENSIONS; d++)
        fprintf(out, " x %" PRId64, s->global[d]);
    fprintf(out, " work-items in groups of %u", s->local[0]);
    for (uint32_t d = 1; d < GPU_DIMENSIONS; d++)
        fprintf(out, " x %u", s->local[d]);
    fprintf(out, ", scratch %" PRId64 " bytes%s", s->scratch_bytes, s->wide ? ", 64-bit indices" : "");
}
