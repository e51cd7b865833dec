/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits loops over one variable.
 */
#include "codegen/lower/point.h"

void loop_variable(struct emitter *e, uint32_t level, uint32_t var, V low, V high)
{
    V at = loop_for_begin(e->m.b, low, high, LOOP_AT_LEAST_ONCE);

    frame_open(&e->frame, level);
    e->frame.var_value[var] = at;
}

/* Holds what the context of an iteration refers to. */
struct strip_state {
    V vector_base[COPIES_MAX];
    struct transposed_tile transposed;
};

static struct context strip_context(const struct build *m, const struct context *cx, const struct strip *s, V i, V high,
                                    struct strip_state *state)
{
    struct context of = *cx;

    of.lanes = s->lanes;
    of.copies = s->copies;
    of.vector_base = state->vector_base;
    for (uint32_t c = 0; c < s->copies; c++)
        state->vector_base[c] = c && !s->transposed ? op_plus(m, i, (int64_t)s->lanes * c) : i;
    if (s->transposed) {
        state->transposed = *s->transposed;
        of.transposed = &state->transposed;
    }
    if (s->masked) {
        V left = op_sub(m, high, i);
        left = op_smin(m, left, const_index(m, s->lanes));
        state->transposed.lanes = of.left = left;
        left = splat(m, op_trunc(m, left, type_i32), s->lanes);
        of.mask = op_ult(m, const_iota(m, 32, s->lanes), left);
    }
    return of;
}

V loop_strip(struct emitter *e, const struct context *cx, V from, V high, struct strip s, loop_body body)
{
    const struct build *m = &e->m;
    struct strip_state state;
    const uint32_t length = s.transposed ? s.lanes : s.lanes * s.copies;
    V step = const_index(m, length);
    V at =
        loop_for_begin(m->b, from, high, (s.once ? LOOP_AT_MOST_ONCE : 0) | (!s.masked && length > 1 ? LOOP_WHOLE_STEPS : 0));
    frame_open(&e->frame, e->info.vector_level);
    const struct context of = strip_context(m, cx, &s, at, high, &state);
    body(e, &of);
    loop_for_end(m->b, step);
    return loop_stopped(m->b, at);
}

void loop_vectors(struct emitter *e, const struct context *cx, V low, V high, uint32_t copies, loop_body body)
{
    uint32_t width = e->s->lanes;
    int64_t first, end, fixed = is_int_constant(low, &first) && is_int_constant(high, &end) ? end - first : INT64_MAX;

    if (width == 1) {
        loop_strip(e, cx, low, high, (struct strip){.lanes = 1, .copies = 1}, body);
        return;
    }
    if (e->k->rare && e->s->edges.masked_tail) { /* one code for all, whatever the mask costs */
        loop_strip(e, cx, low, high, (struct strip){.lanes = width, .copies = 1, .masked = true}, body);
        return;
    }
    if (e->s->wide_vectors > 1 && fixed >= e->s->wide_vectors * width)
        low = loop_strip(e, cx, low, high, (struct strip){.lanes = e->s->wide_vectors * width, .copies = 1}, body);
    else if (copies > 1 && fixed >= copies * width)
        low = loop_strip(e, cx, low, high, (struct strip){.lanes = width, .copies = copies}, body);
    bool several = copies > 1 || e->s->wide_vectors > 1;
    if ((!several || !e->s->edges.masked_tail) && fixed >= width)
        low = loop_strip(e, cx, low, high, (struct strip){.lanes = width, .copies = 1}, body);
    if (e->s->edges.whole || (!several && fixed != INT64_MAX && fixed % width == 0))
        return; /* nothing is left */
    if (e->s->edges.masked_tail)
        loop_strip(e, cx, low, high, (struct strip){.lanes = width, .copies = 1, .masked = true, .once = !several}, body);
    else
        loop_strip(e, cx, low, high, (struct strip){.lanes = 1, .copies = 1}, body);
}
