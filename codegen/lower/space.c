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
        number = op_add(m, op_times(m, number, s->local[d]), space_place(e, LOOP_ITEM, d));
    return times > 1 ? op_times(m, number, times) : number;
}

V space_points(struct emitter *e, uint64_t vars)
{
    V points = NULL;

    for (; vars; vars &= vars - 1) {
        V values = var_values(e, (uint32_t)__builtin_ctzll(vars));
        points = points ? op_mul(&e->m, points, values) : values;
    }
    return points ? points : const_index(&e->m, 1);
}

void space_decode(struct emitter *e, uint64_t vars, V number)
{
    const struct build *m = &e->m;

    while (vars) {
        const uint32_t var = kvars_last(vars);
        vars &= ~kvars_from(var, 1);
        V size = vars ? var_values(e, var) : NULL, value = vars ? op_modulo_index(m, number, size) : number;
        number = vars ? op_divide_index(m, number, size) : number;
        V first = var_first(e, var);
        e->frame.var_value[var] = e->k->vars[var].bounded ? op_add(m, value, first) : value;
    }
}

void space_keep(const struct emitter *e, uint64_t vars, V *values)
{
    for (; vars; vars &= vars - 1)
        *values++ = e->frame.var_value[__builtin_ctzll(vars)];
}

void space_set(struct emitter *e, uint64_t vars, V const *values)
{
    for (; vars; vars &= vars - 1)
        e->frame.var_value[__builtin_ctzll(vars)] = *values++;
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
