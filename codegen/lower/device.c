/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Says what the lowering asks a schedule for, of one for devices.
 */
#include "codegen/lower/device.h"

#include <string.h>

#include "ir/schedule/dependence.h"

/* Returns how a load's lanes are loaded: where they are a few elements apart, out of that many vectors. */
static void choose_load(const struct gpu_schedule *s, const uint64_t *exprs, uint32_t expr, struct schedule_expr *by)
{
    const struct kexpr *e = &s->kernel->exprs[expr];
    const uint32_t var = s->lane_var;
    const int64_t step = e->op == K_LOAD && var != KEXPR_NONE ? kaffine_coefficient(e->index, var) : 0;
    bool strided = s->strides && step >= 2 && step <= GPU_STRIDE_MAX;

    by->lanes = depends_on(exprs[expr], var);
    by->row_buffer = expr == s->kept ? 0 : -1;
    by->phase = s->kept_phase;
    strided = strided && !form_derives_along(s->kernel, exprs, &e->index, var);
    for (uint32_t g = 0; strided && g < e->guard_count; g++) {
        const int64_t by_lane = kaffine_coefficient(e->guards[g].form, var);
        strided = (by_lane == 0 || by_lane == step) && !form_derives_along(s->kernel, exprs, &e->guards[g].form, var);
    }
    by->load = strided ? LOAD_STRIDED : LOAD_BY_INDEX;
    by->count = (uint32_t)step;
}

struct schedule *device_schedule(const struct gpu_schedule *s, struct arena *a)
{
    const struct kernel *k = s->kernel;
    const uint64_t *exprs = kernel_dependences(k, a);
    struct schedule *out = arena_alloc(a, sizeof *out);

    if (!exprs || !out)
        return NULL;
    *out = (struct schedule){.kernel = k,
                             .vector_var = s->lane_var,
                             .lanes = s->lanes,
                             .vectors = 1,
                             .wide_vectors = 1,
                             .phase_vectors = arena_array(a, (size_t)k->phase_count + 1, sizeof(uint8_t)),
                             .reduced = {k->reduced_count, s->shape == GPU_ROWS ? 0 : s->sum_split, s->sum_steps},
                             .edges = {.far_guards = s->wide, .whole = !s->lane_tail, .branches = true},
                             .transpose.var = KEXPR_NONE,
                             .row_buffers = {.count = 1, .element_bytes = sizeof(float), .lanes = 1},
                             .var_lanes = arena_array(a, (size_t)k->var_count + 1, sizeof(bool)),
                             .exprs = arena_array(a, (size_t)k->expr_count + 1, sizeof *out->exprs)};
    out->row_buffers.short_rows.stores = arena_array(a, (size_t)k->store_count + 1, sizeof(int32_t));
    if (!kernel_numbers(k, KEXPR_NONE, a, &out->numbers) || !out->phase_vectors || !out->var_lanes || !out->exprs ||
        !out->row_buffers.short_rows.stores)
        return NULL;
    memset(out->phase_vectors, 1, (size_t)k->phase_count + 1);
    memset(out->row_buffers.short_rows.stores, 0xFF, k->store_count * sizeof(int32_t)); /* -1: none */
    for (uint32_t i = 0; i < k->expr_count; i++)
        choose_load(s, exprs, i, &out->exprs[i]);
    for (uint32_t i = 0; i < k->var_count; i++)
        out->var_lanes[i] = depends_on(var_dependences(k, exprs, i), s->lane_var);
    return out;
}
