/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Chooses what the accumulators of a register tile share that have operands of their own (struct tile_window), as those of
 * depthwise convolutions.  It is read off the index maps.
 */
#include <string.h>

#include "ir/schedule/schedule_internal.h"

/* Finds out how a load moves along a PARALLEL variable and a REDUCED one: by coefficients of the same proportion in all forms
 * that depend on either.  *steps has what other loads gave.  Returns false if it moves otherwise. */
static bool find_steps(const struct schedule *s, const struct kexpr *load, uint32_t var, uint32_t reduced,
                       struct window_steps *steps)
{
    for (uint32_t g = 0; g <= load->guard_count; g++) {
        const struct kaffine *form = g ? &load->guards[g - 1].form : &load->index;
        const int64_t along = kaffine_coefficient(*form, var), step = kaffine_coefficient(*form, reduced);
        const int64_t unit = along > 0 && step > 0 ? gcd(along, step) : 1, most = s->facts->contraction.window.steps;

        if (kaffine_derives(s->kernel, *form, var) || kaffine_derives(s->kernel, *form, reduced) || !along != !step)
            return false;
        if (!along)
            continue;
        if (along < 0 || step < 0 || along / unit > most || step / unit > most ||
            (steps->neighbours && (steps->neighbours != along / unit || steps->inside != step / unit)))
            return false;
        *steps = (struct window_steps){(uint32_t)(along / unit), (uint32_t)(step / unit)};
    }
    return true;
}

/* Returns how A moves along a PARALLEL variable that all of it depends on, and B does not; else zeros. */
static struct window_steps steps_along(const struct schedule *s, uint32_t var, uint32_t reduced, const bool *a, const bool *b)
{
    const struct kernel *k = s->kernel;
    struct window_steps steps = {0};

    for (uint32_t i = 0; i < k->expr_count; i++) {
        const struct kexpr *x = &k->exprs[i];
        if (a[i] && (x->op == K_INDEX || (x->op == K_LOAD && !find_steps(s, x, var, reduced, &steps))))
            return (struct window_steps){0};
        if (b[i] && (x->op == K_INDEX || (x->op == K_LOAD && (x->guard_count || depends_on(x->vars, var)))))
            return (struct window_steps){0};
    }
    return steps;
}

/* Finds out where a tile of adjacent elements may read padding, if A is zero there (bytes: the zero point) and sizes are known.
 */
static void find_padding(const struct schedule *s, struct tile_window *w)
{
    const struct kernel *k = s->kernel;
    const struct byte_products *p = &s->tile.blocks.bytes;
    const bool bytes = p->a != KEXPR_NONE;
    const struct kexpr *x = &k->exprs[bytes ? p->a : find_dot(k)->args[0]];
    const uint32_t m = s->tile.m_var, last = k->parallel_count + k->reduced_count - 1;
    const int64_t end = (k->vars[m].size - 1) * w->row.neighbours + k->vars[last].size;
    const int32_t fill = p->a_signed ? (int8_t)x->bits.u8 : x->bits.u8;

    if (bytes ? p->a_zero != KEXPR_NONE || fill != p->a_number : x->op != K_LOAD || x->bits.u64)
        return;
    if (!kaffine_coefficient(x->index, last)) /* a column that is repeated has no elements */
        return;
    for (uint32_t g = 0; g < x->guard_count; g++) {
        const struct kguard *guard = &x->guards[g];
        const int64_t step = kaffine_coefficient(guard->form, last);
        if (depends_on(kaffine_vars(k, guard->form), s->vector_var) || (step && guard->form.count != 2))
            return;
        if (!step)
            continue;
        const int64_t low = guard->form.offset < 0 ? ceil_div(-guard->form.offset, step) : 0,
                      high = end - ceil_div(guard->bound - guard->form.offset, step);
        w->low = low > w->low ? (uint32_t)low : w->low;
        w->high = high > w->high ? (uint32_t)high : w->high;
    }
    w->skips = x->guard_count > 0;
}

bool window_choose(struct schedule *s, const struct target *target)
{
    const struct kernel *k = s->kernel;
    const struct window_facts *facts = &s->facts->contraction.window;
    struct register_tile *t = &s->tile;
    struct tile_window *w = &t->window;
    const uint32_t last = k->parallel_count + k->reduced_count - 1;
    bool *a = arena_array(&s->arena, 2 * (size_t)k->expr_count, sizeof *a), *b = a + k->expr_count;
    int64_t points = 1, line = 1;

    *w = (struct tile_window){.lines = 1};
    if (!a)
        return false;
    if (t->m_var == KEXPR_NONE || !k->reduced_count || k->reduced_count > 2 || t->split != KEXPR_NONE ||
        t->blocks.factor != KEXPR_NONE || !operands_are_own(s))
        return true;
    mark_below(k, find_dot(k)->args[0], a);
    mark_below(k, find_dot(k)->args[1], b);
    w->row = steps_along(s, t->m_var, last, a, b);
    if (!w->row.neighbours)
        return true;
    for (uint32_t u = k->macro_tile_vars; k->reduced_count == 2 && u < k->parallel_count; u++) {
        if (u == t->m_var || u == s->vector_var || k->vars[u].bounded || k->vars[u].size == 1 || var_is_divided(k, u))
            continue;
        const struct window_steps steps = steps_along(s, u, last - 1, a, b);
        if (steps.neighbours)
            *w = (struct tile_window){.row = w->row,
                                      .lines = TILE_LINES,
                                      .line_left = target->sizes_vary || k->vars[u].size % TILE_LINES,
                                      .line_var = u,
                                      .line = steps};
    }
    t->unroll_from = k->reduced_count;
    while (t->unroll_from > 0) {
        const uint32_t var = k->parallel_count + t->unroll_from - 1;
        line = points;
        points *= k->vars[var].size;
        if (!kernel_sums_unroll(k, var) || points > TILE_WINDOW_MAX || points * t->mr * t->vectors > facts->unrolled)
            break;
        t->unroll_from--;
    }
    if (t->unroll_from == k->reduced_count) {
        *w = (struct tile_window){.lines = 1};
        return true;
    }
    /* Two lines at once need the vectors of B of two lines of the window, or all of them. */
    if (t->unroll_from || points * t->mr * t->vectors * w->lines > facts->unrolled ||
        t->mr * t->vectors * w->lines + w->lines * line >= target->isa.registers)
        w->lines = 1;
    if (!target->sizes_vary && w->row.inside == 1)
        find_padding(s, w);
    return true;
}
