/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits the index space of devices.
 */
#include "codegen/lower/space.h"

#include "codegen/lower/index.h"

V space_item(struct emitter *e, const struct gpu_schedule *s, uint32_t d, uint32_t times)
{
    const struct build *m = &e->m;
    V number = space_place(e, LOOP_GROUP, d);

    if (s->local[d] > 1)
        number = op_add(m, op_mul(m, number, const_index(m, s->local[d])), space_place(e, LOOP_ITEM, d));
    return times > 1 ? op_mul(m, number, const_index(m, times)) : number;
}

V space_points(struct emitter *e, const struct gpu_vars *vars)
{
    V points = vars->count ? var_values(e, vars->vars[0]) : const_index(&e->m, 1);

    for (uint32_t i = 1; i < vars->count; i++)
        points = op_mul(&e->m, points, var_values(e, vars->vars[i]));
    return points;
}

void space_decode(struct emitter *e, const struct gpu_vars *vars, V number)
{
    const struct build *m = &e->m;

    for (uint32_t i = vars->count; i-- > 0;) {
        const uint32_t var = vars->vars[i];
        V size = i ? var_values(e, var) : NULL, value = i ? op_modulo_index(m, number, size) : number;
        number = i ? op_divide_index(m, number, size) : number;
        V first = var_first(e, var);
        e->frame.var_value[var] = e->k->vars[var].bounded ? op_add(m, value, first) : value;
    }
}

void space_open_reduced(struct emitter *e, uint32_t from)
{
    for (uint32_t r = from; r < e->k->reduced_count; r++)
        frame_open(&e->frame, e->info.reduced_level + r);
}

V stage_runs(const struct build *m, const struct kstage *stage, V predicate, V tile, V first, V period)
{
    if (period) {
        V is_first = op_eq(m, tile, first), rest = op_modulo_index(m, tile, period);
        return op_or(m, is_first, op_eq(m, rest, const_index(m, 0)));
    }
    if (!predicate)
        return NULL;
    V value = op_load(m, type_f32, op_address(m, type_f32, predicate, const_index(m, 0)), NULL, sizeof(float));
    V below = op_lt(m, value, const_float(m, type_f32, (double)stage->limit));
    return stage->when == KSTAGE_BELOW ? below : op_not(m, below);
}
