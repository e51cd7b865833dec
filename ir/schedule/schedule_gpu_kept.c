/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Chooses what an item keeps of its row: a value that several phases need and that is expensive to compute, as the exponentials
 * of a softmax are, which are added up first and divided by their sum later.
 */
#include "ir/kernel/kernel_internal.h"
#include "ir/schedule/schedule_gpu_internal.h"

#include <string.h>

static void need_of_phase(const struct kernel *k, uint32_t phase, bool *needed)
{
    memset(needed, 0, k->expr_count * sizeof *needed);
    for (uint32_t i = 0; i < k->store_count; i++)
        if (k->stores[i].varying && k->stores[i].phase == phase)
            needed[k->stores[i].expr] = true;
    for (uint32_t id = k->expr_count; id-- > 0;) { /* users come after what they use */
        const struct kexpr *e = &k->exprs[id];
        const bool root = e->op == K_REDUCE && e->phase == phase;
        if (!root && (!needed[id] || !e->varying || e->op == K_REDUCE))
            continue;
        for (uint32_t a = 0; a < 3; a++)
            if (e->args[a] != KEXPR_NONE)
                needed[e->args[a]] = true;
    }
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
    uint32_t *first = arena_array(&arena, (size_t)k->expr_count + 1, sizeof *first);
    bool *needed = arena_array(&arena, (size_t)k->expr_count + 1, sizeof *needed);
    for (uint32_t i = 0; first && i < k->expr_count; i++)
        first[i] = KEXPR_NONE;
    for (uint32_t phase = 0; first && needed && phase < k->phase_count; phase++) {
        need_of_phase(k, phase, needed);
        for (uint32_t i = 0; i < k->expr_count; i++) {
            const struct kexpr *e = &k->exprs[i];
            if (!needed[i] || !e->varying || e->type != KT_F32 || kexpr_class(e) < OPERATION_EXPONENTIAL)
                continue;
            if (first[i] == KEXPR_NONE) {
                first[i] = phase;
            } else if (first[i] < phase && (s->kept == KEXPR_NONE || i > s->kept)) { /* the last one has the others in it */
                s->kept = i;
                s->kept_phase = first[i];
            }
        }
    }
    if (s->kept != KEXPR_NONE) /* sizes are parts of the text, so there are few of them */
        for (s->kept_elements = 64; s->kept_elements < elements;)
            s->kept_elements *= 2;
    arena_free(&arena);
}
