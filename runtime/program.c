/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Programs (runtime/engine.h), however they came about: what running their kernels takes, freeing, printing.
 *
 * In: programs of the compiler (kernels as IR) and of images (kernels as numbers).  Out: the same facts of either.
 */
#include <string.h>

#include "runtime/engine.h"

static bool describe_kernel(struct program *p, struct program_step *s)
{
    const struct kernel *k = s->kernel;
    struct arena scratch = {0};
    struct knumbers numbers;
    bool ok = kernel_numbers(k, &scratch, &numbers);

    if (ok) {
        bool *written = arena_array(&p->arena, s->place_count, sizeof *written);

        s->run.param_count = numbers.param_count;
        s->run.params = arena_copy(&p->arena, numbers.params, numbers.param_count * sizeof *numbers.params);
        s->run.units = kernel_units(k);
        s->run.scratch_bytes = k->scratch_bytes;
        s->run.flops = k->flops;
        s->run.bytes = k->bytes;
        ok = written && (s->run.params || numbers.param_count == 0);
        for (uint32_t i = 0; ok && i < s->place_count && i < k->tensor_count; i++)
            written[i] = k->tensors[i].written;
        s->run.written = ok ? written : NULL;
    }
    arena_free(&scratch);
    return ok;
}

bool step_writes(const struct program_step *s, uint32_t place)
{
    if (s->kind != STEP_KERNEL)
        return place + 1 == s->place_count;
    return s->kernel ? s->kernel->tensors[place].written : s->run.written[place];
}

bool program_describe(struct program *p)
{
    for (uint32_t i = 0; i < p->step_count; i++) {
        struct program_step *s = &p->steps[i];
        const bool known = !s->kernel || s->run.written; /* of an image, or described before */

        if (s->kind == STEP_KERNEL && !known && !describe_kernel(p, s))
            return false;
    }
    return true;
}

void program_free(struct program *p)
{
    for (uint32_t i = 0; i < p->step_count; i++) {
        if (p->steps[i].kernel)
            kernel_free(p->steps[i].kernel);
        if (p->steps[i].library)
            p->engine->functions->step_free(p->steps[i].library);
    }
    for (uint32_t i = 0; i < p->constant_count; i++)
        constant_release(p->constants[i]);
    arena_free(&p->arena);
    memset(p, 0, sizeof *p);
}

/* ---- printing ---- */

static void place_print(const struct place *place, FILE *out)
{
    static const char *const names[] = {
        [PLACE_ARENA] = "arena", [PLACE_INPUT] = "input", [PLACE_OUTPUT] = "output", [PLACE_CONSTANT] = "constant"};

    fprintf(out, " %s", names[place->kind]);
    if (place->kind != PLACE_ARENA)
        fprintf(out, "%u", place->slot);
    fprintf(out, "+%lld:%lld", (long long)place->offset, (long long)place->bytes);
}

static void move_print(const struct program_move *m, FILE *out)
{
    fprintf(out, "(%+lld", (long long)m->stride);
    if (m->has_first) {
        fputs(", first", out);
        place_print(&m->first, out);
    }
    fputc(')', out);
}

void program_print(const struct program *p, FILE *out)
{
    long long constants = 0;

    for (uint32_t i = 0; i < p->constant_count; i++)
        constants += (long long)p->constants[i]->bytes;
    fprintf(out, "plan: %u steps, arena %lld bytes (lower bound %lld), %u constants with %lld bytes\n", p->step_count,
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
        for (uint32_t t = 0; t < s->place_count; t++) {
            bool written = step_writes(s, t);
            if (written && !arrow)
                fputs(" ->", out);
            arrow |= written;
            place_print(&s->places[t], out);
            if (move < p->move_count && p->moves[move].step == i && p->moves[move].place == t)
                move_print(&p->moves[move++], out);
        }
        fputc('\n', out);
    }
}
