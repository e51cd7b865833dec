/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Writes schedules as text: schedule_print and schedule_print_short are for people, schedule_structure makes the key under
 * which compiled code is shared, and schedule_list_numbers lists the parameters of that code.
 *
 * print_code writes everything of a schedule that shapes code, and both texts contain it: what the lowering follows and is not
 * written there would let kernels share code that differ.
 */
#include <inttypes.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

#include "ir/kernel/kernel_internal.h"
#include "ir/schedule/schedule_internal.h"
#include "ir/support/text.h"

static uint32_t immediate_var(const struct schedule *s)
{
    const struct kvar *v = s->vector_var == KEXPR_NONE ? NULL : &s->kernel->vars[s->vector_var];

    /* Sums of few vectors need no loop, or a short one. */
    return s->fixed_size && v && (v->kind == KVAR_PARALLEL || v->size <= SCHEDULE_FIXED_SUM_MAX) ? s->vector_var : KEXPR_NONE;
}

/* ---- numbers ---- */

static bool stage_numbers(struct schedule *s, struct knumbers *out)
{
    const struct kernel *k = s->kernel;
    uint32_t count = k->local_count + 1 + 2 * k->stage_count, at = 0;

    for (uint32_t i = 0; i < k->stage_count; i++)
        count += s->stages[i]->numbers.param_count;
    out->params = arena_array(&s->arena, count, sizeof *out->params);
    if (!out->params)
        return false;
    for (uint32_t i = 0; i < k->local_count; i++)
        out->params[at++] = k->locals[i].offset;
    out->params[at++] = kernel_locals_bytes(k);
    for (uint32_t i = 0; i < k->stage_count; i++)
        out->params[at++] = s->stages[i]->units / kernel_macro_tiles(k->stages[i].kernel);
    for (uint32_t i = 0; i < k->stage_count; i++)
        out->params[at++] = k->stages[i].period;
    for (uint32_t i = 0; i < k->stage_count; i++)
        for (uint32_t p = 0; p < s->stages[i]->numbers.param_count; p++)
            out->params[at++] = s->stages[i]->numbers.params[p];
    out->param_count = at;
    return true;
}

/* Adds the steps of a block of a sum that is split as the last number, a parameter. */
static bool add_split(struct schedule *s, struct knumbers *out)
{
    struct knumber *items = arena_array(&s->arena, out->count + 1, sizeof *items);
    int64_t *params = arena_array(&s->arena, out->param_count + 1, sizeof *params);

    if (!items || !params)
        return false;
    memcpy(items, out->items, out->count * sizeof *items);
    memcpy(params, out->params, out->param_count * sizeof *params);
    items[out->count++] = (struct knumber){s->tile.split_steps, (int32_t)out->param_count};
    params[out->param_count++] = s->tile.split_steps;
    out->items = items;
    out->params = params;
    return true;
}

bool schedule_list_numbers(struct schedule *s)
{
    if (s->kernel->stage_count)
        return stage_numbers(s, &s->numbers);
    return kernel_numbers(s->kernel, immediate_var(s), &s->arena, &s->numbers) &&
           (!schedule_splits_by_number(s) || add_split(s, &s->numbers));
}

/* ---- text ---- */

/* Prints the coefficients of m_var, where they are immediate numbers of the code. */
static void print_strides(const struct schedule *s, uint32_t var, FILE *out)
{
    struct kform_walk w = {.owner = s->kernel->var_count};

    fputs(" row strides", out);
    while (kernel_next_form(s->kernel, &w))
        fprintf(out, " %" PRId64, kaffine_coefficient(*w.form, var));
}

static void print_tile(const struct schedule *s, FILE *out)
{
    const struct register_tile *t = &s->tile;

    fprintf(out, "  tile m %d %ux%u shorter %u full %u rest %u masked %u scalars %u unroll %u split %d%s", (int)t->m_var, t->mr,
            t->vectors, t->shorter, t->full, t->n_tail, t->masked, t->scalars, t->unroll_from, (int)t->split,
            schedule_splits_by_number(s) ? " by a number" : "");
    if (t->blocks.factor != KEXPR_NONE)
        fprintf(out, " times e%u", t->blocks.factor);
    if (t->blocks.bytes.a != KEXPR_NONE)
        fprintf(out, " bytes e%u e%u%s times e%d e%d less e%d e%d%s%s%s", t->blocks.bytes.a, t->blocks.bytes.words,
                t->blocks.bytes.own     ? " own"
                : t->blocks.bytes.whole ? " whole"
                                        : "",
                (int)t->blocks.bytes.a_factor, (int)t->blocks.bytes.b_factor, (int)t->blocks.bytes.a_zero,
                (int)t->blocks.bytes.zero, t->blocks.bytes.columns ? " columns" : "",
                t->blocks.bytes.both_signed ? " signed" : "", t->blocks.bytes.narrow ? " narrow" : "");
    if (t->blocks.words != KEXPR_NONE)
        fprintf(out, " words e%u", t->blocks.words);
    fprintf(out, " guarded %u branch %d zeros %u at %u outer %u %u chains %u prefetch %d block %u", t->guarded, (int)t->branch,
            t->zeros, t->edge, t->b_outer, t->m_outer, t->chains, (int)t->prefetch_var, t->m_tiles);
    if (t->strided)
        fprintf(out, t->interleaved ? " strided interleaved %u" : " strided", t->interleaved);
    if (tile_fixes_rows(s))
        print_strides(s, t->m_var, out);
    if (t->window.row.neighbours) {
        fprintf(out, " window %u/%u", t->window.row.neighbours, t->window.row.inside);
        if (t->window.lines > 1)
            fprintf(out, " lines %u%s of %u by %u/%u", t->window.lines, t->window.line_left ? " or 1" : "", t->window.line_var,
                    t->window.line.neighbours, t->window.line.inside);
        if (t->window.skips)
            fprintf(out, " skips %u %u", t->window.low, t->window.high);
    }
    fputc('\n', out);
}

static void print_transpose(const struct schedule *s, FILE *out)
{
    const struct kernel *k = s->kernel;
    const struct register_transpose *t = &s->transpose;

    if (t->var == KEXPR_NONE)
        return;
    fprintf(out, "  transpose along %u, interleave %u, tiles%s%s%s:", t->var, t->interleave, t->full ? " full" : "",
            t->partial ? " partial" : "", t->few ? " few" : "");
    for (uint32_t i = 0; t->interleave && i < k->expr_count; i++)
        fprintf(out, " %d", k->exprs[i].op == K_LOAD && transpose_takes(s, &k->exprs[i].index));
    for (uint32_t i = 0; t->interleave && i < k->store_count; i++)
        fprintf(out, " %d", transpose_takes(s, &k->stores[i].index));
    fputc('\n', out);
}

static void print_code(const struct schedule *s, FILE *out)
{
    const struct kernel *k = s->kernel;

    fprintf(out, "  vectors along %d: %u lanes, %u vectors, wide %u, unroll %u%s, phases", (int)s->vector_var, s->lanes,
            s->vectors, s->wide_vectors, s->reduced.unroll_from, s->edges.masked_tail ? ", masked tail" : "");
    if (s->edges.far_guards)
        fputs(" far guards", out);
    if (s->edges.zeros)
        fprintf(out, " %u zeros", s->edges.zeros);
    for (uint32_t i = 0; i < k->phase_count; i++)
        fprintf(out, " %u", s->phase_vectors[i]);
    if (s->vector_block != s->facts->loop.vector_block)
        fprintf(out, ", blocks of %" PRId64, s->vector_block);
    fputc('\n', out);
    for (uint32_t i = 0; i < k->expr_count; i++)
        if (s->exprs[i].short_row)
            fprintf(out, "  e%u in row buffer %d, of rows of %u\n", i, s->exprs[i].row_buffer, s->row_buffers.short_rows.size);
        else if (s->exprs[i].row_buffer >= 0)
            fprintf(out, "  e%u in row buffer %d, computed in phase %u\n", i, s->exprs[i].row_buffer, s->exprs[i].phase);
    for (uint32_t i = 0; i < k->store_count; i++)
        if (s->row_buffers.short_rows.stores[i] >= 0)
            fprintf(out, "  store %u by row buffer %d, of rows of %u\n", i, s->row_buffers.short_rows.stores[i],
                    s->row_buffers.short_rows.size);
    static const char *const loads[] = {[LOAD_STRIDED] = "  e%u of whole vectors, every %u\n",
                                        [LOAD_REPEATED] = "  e%u repeated, %u times\n",
                                        [LOAD_PERMUTED] = "  e%u permuted out of %u vectors from %d on\n",
                                        [LOAD_RUNS] = "  e%u in runs\n"};
    for (uint32_t i = 0; i < k->expr_count; i++)
        if (s->exprs[i].load)
            fprintf(out, loads[s->exprs[i].load], i, s->exprs[i].count, s->exprs[i].first);
    if (s->tiled)
        print_tile(s, out);
    print_transpose(s, out);
}

void schedule_print(const struct schedule *s, FILE *out)
{
    const struct kernel *k = s->kernel;

    kernel_print(k, out);
    fprintf(out, "schedule {\n");
    for (uint32_t i = 0; i < k->stage_count; i++) {
        fprintf(out, "  stage %u:\n", i);
        print_code(s->stages[i], out);
    }
    if (!k->stage_count)
        print_code(s, out);
    if (schedule_splits_by_number(s))
        fprintf(out, "  # sums of %" PRId64 " steps\n", s->tile.split_steps);
    fprintf(out, "  # operations %g, bytes %g\n", s->cost.operations, s->cost.bytes);
    fprintf(out, "  # units %" PRId64 ", row buffers %u (%" PRId64 " bytes), scratch %" PRId64 " bytes\n}\n", s->units,
            s->row_buffers.count, s->row_buffers.bytes, s->scratch_bytes);
}

void schedule_print_short(const struct schedule *s, FILE *out)
{
    if (s->kernel->stage_count) {
        fprintf(out, "%u stages", s->kernel->stage_count);
    } else {
        fprintf(out, "%u lanes", s->lanes);
        if (s->vector_var != KEXPR_NONE)
            fprintf(out, " along v%u", s->vector_var);
        if (s->tiled)
            fprintf(out, ", tiles of %u rows x %u vectors", s->tile.mr, s->tile.vectors);
        if (s->transpose.var != KEXPR_NONE)
            fprintf(out, ", transposed along v%u", s->transpose.var);
    }
    fprintf(out, ", %" PRId64 " units, scratch %" PRId64 " bytes", s->units, s->scratch_bytes);
}

static void print_structure(const struct schedule *s, FILE *out)
{
    const struct kernel *k = s->kernel;

    for (uint32_t i = 0; i < k->stage_count; i++) {
        kernel_stage_structure(k, i, out);
        print_structure(s->stages[i], out);
    }
    if (k->stage_count)
        return;
    kernel_structure(k, &s->numbers, out);
    print_code(s, out);
}

char *schedule_structure(const struct schedule *s, struct arena *a)
{
    char *key = NULL, *text = NULL;
    size_t size;
    FILE *f = open_memstream(&key, &size);

    if (f) {
        __fsetlocking(f, FSETLOCKING_BYCALLER); /* thousands of short texts */
        print_structure(s, f);
    }
    if (memory_stream_close(f, &key))
        text = arena_string(a, key, size);
    free(key);
    return text;
}
