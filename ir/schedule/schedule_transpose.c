/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Chooses transposes in registers, for kernels that read along one PARALLEL variable and write along another, such as changes
 * of layout.  It takes a schedule with its vector variable, v, and fills schedule->transpose.  Let some tensor be contiguous
 * along another variable, u.  A tile is as many values of u as a vector has lanes; the tensor is loaded or stored by whole
 * vectors along u and transposed by shuffles.  Two to four values of u, such as an image's channels, would leave most lanes of
 * such vectors empty.  If all of them are contiguous in memory, rows follow each other without a gap, and as many whole
 * vectors as there are values hold them: those are interleaved or deinterleaved instead.
 */
#include "ir/schedule/schedule_internal.h"

/** Returns whether a form has u with coefficient 1 and the vector variable with one that is not 1 or -1. */
static bool crosses(const struct schedule *s, const struct kaffine *a, uint32_t u)
{
    const int64_t across = kaffine_coefficient(*a, s->vector_var);

    return kaffine_coefficient(*a, u) == 1 && across != 0 && across != 1 && across != -1;
}

/** Returns whether the rows of a form follow each other, all of u's values in each. */
static bool is_interleaved(const struct schedule *s, const struct kaffine *a, uint32_t u)
{
    return crosses(s, a, u) && kaffine_coefficient(*a, s->vector_var) == s->kernel->vars[u].size;
}

typedef bool (*form_test)(const struct schedule *s, const struct kaffine *a, uint32_t u);

/** Returns the best variable of those with least to most values: the one along which most tensors pass the test. */
static uint32_t choose(const struct schedule *s, int64_t least, int64_t greatest, form_test passes)
{
    const struct kernel *k = s->kernel;
    uint32_t best = KEXPR_NONE, most = 0;
    double cost = 0;

    for (uint32_t i = 0; i < k->expr_count; i++)
        cost += expr_cost(s, &k->exprs[i]);
    if (cost > s->facts->loop.transposed_cost || s->vector_var >= k->parallel_count || k->reduced_count ||
        k->var_count > k->parallel_count)
        return KEXPR_NONE;
    for (uint32_t u = k->macro_tile_vars; u < k->parallel_count; u++) {
        uint32_t count = 0;
        if (u == s->vector_var || k->vars[u].bounded || k->vars[u].size < least || k->vars[u].size > greatest)
            continue;
        for (uint32_t i = 0; i < k->expr_count; i++)
            count += k->exprs[i].op == K_LOAD && !k->exprs[i].guard_count && passes(s, &k->exprs[i].index, u);
        for (uint32_t i = 0; i < k->store_count; i++)
            count += !k->stores[i].guard_count && passes(s, &k->stores[i].index, u);
        if (count > most) {
            most = count;
            best = u;
        }
    }
    return best;
}

void transpose_choose(struct schedule *s)
{
    struct register_transpose *t = &s->transpose;

    t->interleave = 0;
    t->few_rows = s->facts->loop.few_rows;
    t->var = choose(s, (int64_t)t->few_rows + 1, INT64_MAX, crosses);
    if (t->var == KEXPR_NONE) {
        t->var = choose(s, 2, t->few_rows, is_interleaved);
        t->interleave = t->var == KEXPR_NONE ? 0 : (uint32_t)s->kernel->vars[t->var].size;
    }
}

bool transpose_takes(const struct schedule *s, const struct kaffine *address)
{
    return (s->transpose.interleave ? is_interleaved : crosses)(s, address, s->transpose.var);
}
