/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Kernels of stages: building and completing them, and what printing, verifying and interpreting them adds to the stages' own.
 *
 * Scratch of such a kernel has the local tensors one after the other and behind them what the stages need themselves, which is
 * the same memory for all of them: they run one after the other.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ir/kernel_internal.h"

enum { ALIGN = 64 };

static int64_t align_up(int64_t n)
{
    return (n + ALIGN - 1) / ALIGN * ALIGN;
}

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
    else if (!stage->finished && !kernel_finish(stage))
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

int64_t kernel_chunks(const struct kernel *stage)
{
    int64_t chunks = 1;

    for (uint32_t i = 0; i < stage->chunk_vars; i++)
        chunks *= stage->vars[i].size;
    return chunks;
}

bool kernel_finish_stages(struct kernel *k)
{
    double touched[KERNEL_TENSORS_MAX] = {0};
    int64_t offset = 0, own = 0;

    if (k->error.status)
        return false;
    for (uint32_t i = 0; i < k->local_count; i++) {
        k->locals[i].offset = offset;
        offset = align_up(offset + k->locals[i].elements * (int64_t)dtype_size(k->locals[i].type));
    }
    k->flops = k->bytes = 0;
    for (uint32_t i = 0; i < k->stage_count; i++) {
        const struct kstage *s = &k->stages[i];
        own = s->kernel->scratch_bytes > own ? s->kernel->scratch_bytes : own;
        if (s->when == KSTAGE_NOT_BELOW)
            continue; /* seldom */
        k->flops += s->kernel->flops;
        for (uint32_t t = 0; t < s->kernel->tensor_count; t++)
            if (s->tensors[t] < KERNEL_TENSORS_MAX)
                touched[s->tensors[t]] = (double)s->kernel->tensors[t].elements;
    }
    for (uint32_t i = 0; i < k->tensor_count; i++)
        k->bytes += touched[i] * (double)dtype_size(k->tensors[i].type);
    k->scratch_bytes = offset + align_up(own);
    k->vector_var = k->row_var = KEXPR_NONE;
    k->finished = true;
    return true;
}

/* ---- numbers ---- */

bool kernel_numbers_stages(const struct kernel *k, struct arena *a, struct knumbers *out)
{
    struct knumbers own[KERNEL_STAGES_MAX];
    uint32_t count = k->local_count + 1 + k->stage_count, at = 0;
    int64_t end = 0;

    memset(out, 0, sizeof *out);
    for (uint32_t i = 0; i < k->stage_count; i++) {
        if (!kernel_numbers(k->stages[i].kernel, a, &own[i]))
            return false;
        count += own[i].param_count;
    }
    out->params = arena_array(a, count, sizeof *out->params);
    if (!out->params)
        return false;
    for (uint32_t i = 0; i < k->local_count; i++) {
        out->params[at++] = k->locals[i].offset;
        end = align_up(k->locals[i].offset + k->locals[i].elements * (int64_t)dtype_size(k->locals[i].type));
    }
    out->params[at++] = end;
    for (uint32_t i = 0; i < k->stage_count; i++)
        out->params[at++] = kernel_units(k->stages[i].kernel) / kernel_chunks(k->stages[i].kernel);
    for (uint32_t i = 0; i < k->stage_count; i++) {
        for (uint32_t p = 0; p < own[i].param_count; p++)
            out->params[at++] = own[i].params[p];
    }
    out->param_count = at;
    return true;
}

/* ---- text ---- */

static void describe_stage(const struct kernel *k, uint32_t i, FILE *f)
{
    const struct kstage *s = &k->stages[i];

    fprintf(f, "  stage %" PRIu32 " chunk %" PRIu32, i, s->kernel->chunk_vars);
    for (uint32_t t = 0; t < s->kernel->tensor_count; t++) {
        const bool local = s->tensors[t] >= KERNEL_TENSORS_MAX;
        fprintf(f, " %s%" PRIu32, local ? "local" : "t", local ? s->tensors[t] - KERNEL_TENSORS_MAX : s->tensors[t]);
    }
    if (s->when)
        fprintf(f, " if %slocal%" PRIu32 " < %a", s->when == KSTAGE_BELOW ? "" : "not ", s->judge, (double)s->limit);
    fputc('\n', f);
}

char *kernel_stage_structure(const struct kernel *k, uint32_t stage, struct arena *a)
{
    char *text = NULL, *copy = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);

    if (!f)
        return NULL;
    if (stage == 0)
        fprintf(f, "  locals %" PRIu32 " tensors %" PRIu32 " stages %" PRIu32 "\n", k->local_count, k->tensor_count,
                k->stage_count);
    describe_stage(k, stage, f);
    if (fclose(f) == 0)
        copy = arena_string(a, text, size);
    free(text);
    return copy;
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

/* Whether a stage's tensors are the kernel's and its locals, in type, size and use. */
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

        good = own->finished && !own->stage_count && kernel_verify(own, out) && own->chunk_vars == first->chunk_vars &&
               own->chunk_vars <= own->parallel_count && tensors_fit(k, s, ready);
        for (uint32_t v = 0; good && v < own->chunk_vars; v++)
            good = own->vars[v].size == first->vars[v].size && own->vector_var != v && own->row_var != v;
        if (s->when)
            good =
                good && s->judge < k->local_count && ready[s->judge] && k->locals[s->judge].type == WNNOperandDataType_Float32;
        for (uint32_t t = 0; good && t < own->tensor_count; t++)
            if (s->tensors[t] >= KERNEL_TENSORS_MAX && own->tensors[t].written)
                ready[s->tensors[t] - KERNEL_TENSORS_MAX] = true;
        if (!good && out)
            fprintf(out, "kernel %s: stage %" PRIu32 " does not fit\n", k->name, i);
    }
    return good;
}

/* ---- interpreting ---- */

bool kernel_interpret_stages(const struct kernel *k, void *const *tensors)
{
    const int64_t chunks = kernel_units(k);
    void *own[KERNEL_TENSORS_MAX], *locals[KERNEL_LOCALS_MAX] = {NULL};
    bool ok = true;

    for (uint32_t i = 0; ok && i < k->local_count; i++)
        ok = (locals[i] = calloc((size_t)k->locals[i].elements, dtype_size(k->locals[i].type))) != NULL;
    for (int64_t chunk = 0; ok && chunk < chunks; chunk++)
        for (uint32_t i = 0; ok && i < k->stage_count; i++) {
            const struct kstage *s = &k->stages[i];

            if (s->when && (*(const float *)locals[s->judge] < s->limit) != (s->when == KSTAGE_BELOW))
                continue;
            for (uint32_t t = 0; t < s->kernel->tensor_count; t++)
                own[t] =
                    s->tensors[t] < KERNEL_TENSORS_MAX ? tensors[s->tensors[t]] : locals[s->tensors[t] - KERNEL_TENSORS_MAX];
            ok = kernel_interpret_chunk(s->kernel, chunk, own);
        }
    for (uint32_t i = 0; i < k->local_count; i++)
        free(locals[i]);
    return ok;
}
