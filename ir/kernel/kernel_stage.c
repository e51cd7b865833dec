/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Builds and completes kernels of stages, and does what printing and verifying them adds to the stages' own.
 *
 * Scratch of such a kernel has the local tensors one after the other, then what the stages need themselves, which is
 * the same memory for all of them: they run one after the other.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ir/kernel/kernel_internal.h"

/* ---- building ---- */

uint32_t kernel_local(struct kernel *k, dtype type, int64_t elements)
{
    if (k->local_count == KERNEL_LOCALS_MAX) {
        error_set(&k->error, WNNStatus_OperationError, "kernel: more than %d local tensors", KERNEL_LOCALS_MAX);
        return 0;
    }
    k->locals[k->local_count] = (struct klocal){.type = type, .elements = elements};
    return k->local_count++;
}

struct kstage *kernel_stage(struct kernel *k, struct kernel *stage, const uint32_t *tensors)
{
    struct kstage *s;

    if (!k->stages)
        k->stages = arena_array(&k->arena, KERNEL_STAGES_MAX, sizeof *k->stages);
    if (!k->stages)
        error_out_of_memory(&k->error);
    else if (k->stage_count == KERNEL_STAGES_MAX)
        error_set(&k->error, WNNStatus_OperationError, "kernel: more than %d stages", KERNEL_STAGES_MAX);
    else if (!stage->builder.finished && !kernel_finish(stage))
        error_set(&k->error, stage->error.status, "%s", stage->error.message);
    if (k->error.status) {
        kernel_free(stage);
        return NULL;
    }
    s = &k->stages[k->stage_count++];
    *s = (struct kstage){.kernel = stage};
    memcpy(s->tensors, tensors, stage->tensor_count * sizeof *tensors);
    return s;
}

int64_t kernel_macro_tiles(const struct kernel *stage)
{
    int64_t macro_tiles = 1;

    for (uint32_t i = 0; i < stage->macro_tile_vars; i++)
        macro_tiles *= stage->vars[i].size;
    return macro_tiles;
}

/* ---- completing ---- */

static bool has_variable(const struct kernel *k, uint32_t var)
{
    struct kform_walk w = {0};

    while (kernel_next_form(k, &w))
        if (kaffine_coefficient(*w.form, var))
            return true;
    return false;
}

/* Returns whether a stage reads no locals, and no other stage writes those that it writes. */
static bool depends_on_variables_alone(const struct kernel *k, uint32_t stage)
{
    const struct kstage *s = &k->stages[stage];

    for (uint32_t t = 0; t < s->kernel->tensor_count; t++) {
        if (s->tensors[t] < KERNEL_TENSORS_MAX)
            continue;
        if (!s->kernel->tensors[t].written)
            return false;
        for (uint32_t i = 0; i < k->stage_count; i++)
            for (uint32_t other = 0; i != stage && other < k->stages[i].kernel->tensor_count; other++)
                if (k->stages[i].tensors[other] == s->tensors[t] && k->stages[i].kernel->tensors[other].written)
                    return false;
    }
    return s->when == KSTAGE_ALWAYS;
}

/* Returns for how many macro-tiles in a row a stage leaves the same in its locals. */
static int64_t period_of(const struct kernel *k, uint32_t stage)
{
    const struct kernel *own = k->stages[stage].kernel;
    int64_t period = 1;

    if (!depends_on_variables_alone(k, stage))
        return 1;
    for (uint32_t v = own->macro_tile_vars; v-- > 0 && !has_variable(own, v);)
        period *= own->vars[v].size;
    return period;
}

bool kernel_finish_stages(struct kernel *k)
{
    int64_t offset = 0;

    if (k->error.status)
        return false;
    for (uint32_t i = 0; i < k->local_count; i++) {
        k->locals[i].offset = offset;
        offset = target_align(offset + k->locals[i].elements * (int64_t)dtype_size(k->locals[i].type));
    }
    for (uint32_t i = 0; i < k->stage_count; i++)
        k->stages[i].period = period_of(k, i);
    k->builder.finished = true;
    return true;
}

int64_t kernel_locals_bytes(const struct kernel *k)
{
    const struct klocal *last = k->local_count ? &k->locals[k->local_count - 1] : NULL;

    return last ? target_align(last->offset + last->elements * (int64_t)dtype_size(last->type)) : 0;
}

/* ---- text ---- */

static void describe_stage(const struct kernel *k, uint32_t i, FILE *f)
{
    const struct kstage *s = &k->stages[i];

    fprintf(f, "  stage %" PRIu32 " macro-tile %" PRIu32, i, s->kernel->macro_tile_vars);
    for (uint32_t t = 0; t < s->kernel->tensor_count; t++) {
        const bool local = s->tensors[t] >= KERNEL_TENSORS_MAX;
        fprintf(f, " %s%" PRIu32, local ? "local" : "t", local ? s->tensors[t] - KERNEL_TENSORS_MAX : s->tensors[t]);
    }
    if (s->period > 1)
        fputs(" at intervals", f);
    if (s->when)
        fprintf(f, " if %slocal%" PRIu32 " < %a", s->when == KSTAGE_BELOW ? "" : "not ", s->predicate, (double)s->limit);
    fputc('\n', f);
}

void kernel_stage_structure(const struct kernel *k, uint32_t stage, FILE *out)
{
    if (stage == 0)
        fprintf(out, "  locals %" PRIu32 " tensors %" PRIu32 " stages %" PRIu32 "\n", k->local_count, k->tensor_count,
                k->stage_count);
    describe_stage(k, stage, out);
}

void kernel_print_stages(const struct kernel *k, FILE *out)
{
    for (uint32_t i = 0; i < k->tensor_count; i++)
        fprintf(out, "  tensor t%" PRIu32 ": %s[%" PRId64 "]%s\n", i, dtype_name(k->tensors[i].type), k->tensors[i].elements,
                k->tensors[i].written ? " written" : "");
    for (uint32_t i = 0; i < k->local_count; i++)
        fprintf(out, "  local%" PRIu32 ": %s[%" PRId64 "] at %" PRId64 "\n", i, dtype_name(k->locals[i].type),
                k->locals[i].elements, k->locals[i].offset);
    for (uint32_t i = 0; i < k->stage_count; i++) {
        describe_stage(k, i, out);
        kernel_print(k->stages[i].kernel, out);
    }
}

/* ---- verifying ---- */

/* Returns whether a stage's tensors are the kernel's and its locals, in type, size and use. */
static bool tensors_fit(const struct kernel *k, const struct kstage *s, const bool *ready)
{
    for (uint32_t t = 0; t < s->kernel->tensor_count; t++) {
        const struct ktensor *own = &s->kernel->tensors[t];
        const uint32_t to = s->tensors[t], local = to - KERNEL_TENSORS_MAX;

        if (to < KERNEL_TENSORS_MAX) {
            if (to >= k->tensor_count || k->tensors[to].type != own->type || k->tensors[to].elements != own->elements ||
                k->tensors[to].written != own->written)
                return false;
        } else if (local >= k->local_count || k->locals[local].type != own->type ||
                   k->locals[local].elements != own->elements || (!own->written && !ready[local])) {
            return false;
        }
    }
    return true;
}

bool kernel_verify_stages(const struct kernel *k, FILE *out)
{
    bool ready[KERNEL_LOCALS_MAX] = {false}, good = k->stage_count > 0 && !k->var_count && !k->expr_count && !k->store_count;

    for (uint32_t i = 0; good && i < k->stage_count; i++) {
        const struct kstage *s = &k->stages[i];
        const struct kernel *first = k->stages[0].kernel, *own = s->kernel;

        good = own->builder.finished && !own->stage_count && kernel_verify(own, out) &&
               own->macro_tile_vars == first->macro_tile_vars && own->macro_tile_vars <= own->parallel_count &&
               tensors_fit(k, s, ready);
        for (uint32_t v = 0; good && v < own->macro_tile_vars; v++)
            good = own->vars[v].size == first->vars[v].size;
        if (s->when)
            good = good && s->predicate < k->local_count && ready[s->predicate] &&
                   k->locals[s->predicate].type == WNNOperandDataType_Float32;
        for (uint32_t t = 0; good && t < own->tensor_count; t++)
            if (s->tensors[t] >= KERNEL_TENSORS_MAX && own->tensors[t].written)
                ready[s->tensors[t] - KERNEL_TENSORS_MAX] = true;
        if (!good && out)
            fprintf(out, "kernel %s: stage %" PRIu32 " does not fit\n", k->name, i);
    }
    return good;
}
