/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Chooses what an item keeps of its row: a value that several phases need and that is expensive to compute, as the exponentials
 * of a softmax are, which are added up first and divided by their sum later.
 */
#include "ir/schedule/schedule_gpu_internal.h"
#include "ir/schedule/schedule_internal.h"

/* Keeps one expression: the last one of a phase has the others in it. */
static bool keeps_value(void *user, uint32_t id, uint32_t first)
{
    struct gpu_schedule *s = user;
    const struct kexpr *e = &s->kernel->exprs[id];

    if (s->kept == KEXPR_NONE && e->type == KT_F32 && kexpr_class(e) >= OPERATION_EXPONENTIAL) {
        s->kept = id;
        s->kept_phase = first;
    }
    return s->kept == id;
}

void gpu_choose_kept(const struct gpu_context *c, struct gpu_schedule *s)
{
    const struct kernel *k = c->k;
    struct arena arena = {0};

    if (k->reduced_count != 1 || k->phase_count < 2 || gpu_has_order(k) ||
        (s->lane_var != KEXPR_NONE && s->lane_var != k->parallel_count))
        return;
    const int64_t elements = k->vars[k->parallel_count].size;
    if (elements * (int64_t)sizeof(float) > c->device->kept_bytes)
        return;
    kept_find(k, &arena, keeps_value, s); /* without memory nothing is kept */
    if (s->kept != KEXPR_NONE)            /* sizes are parts of the text, so there are few of them */
        for (s->kept_elements = 64; s->kept_elements < elements;)
            s->kept_elements *= 2;
    arena_free(&arena);
}
