/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Chooses loads of every second, third or fourth element that are taken out of whole vectors by shuffles instead of being
 * gathered: windows that move by two elements, slices with a stride.  From a kernel and its vector variable it finds the stride
 * of each such load.  It finds loads of which each element is several lanes, as where images are enlarged.  It also finds
 * gathers whose elements are contiguous but near edges: padding by reflection or by the edge itself.
 */
#include "ir/kernel/kernel_internal.h"
#include "ir/schedule/schedule_internal.h"

/** Returns whether a form has this coefficient of var and depends on var in no other way. */
static bool moves_by(const struct kernel *k, struct kaffine a, uint32_t var, int64_t coefficient)
{
    return !kaffine_derives(k, a, var) && kaffine_coefficient(a, var) == coefficient;
}

uint32_t load_stride_within(const struct kernel *k, const struct kexpr *load, uint32_t var, int64_t most)
{
    const int64_t stride = load->op == K_LOAD && var != KEXPR_NONE ? kaffine_coefficient(load->index, var) : 0;
    bool moves = stride >= 2 && stride <= most && moves_by(k, load->index, var, stride);

    for (uint32_t g = 0; moves && g < load->guard_count; g++)
        moves = moves_by(k, load->guards[g].form, var, 0) || moves_by(k, load->guards[g].form, var, stride);
    return moves ? (uint32_t)stride : 0;
}

uint32_t load_stride(const struct schedule *s, const struct kexpr *load, uint32_t var)
{
    /* register tiles have loads of their own */
    return kernel_multiplies(s->kernel) ? 0 : load_stride_within(s->kernel, load, var, s->facts->loop.strided_most);
}

/** Returns n if a variable is (var + a multiple of n) / n, else 0. */
static uint32_t divides_by(const struct schedule *s, const struct kvar *d, uint32_t var)
{
    const int64_t most = s->facts->loop.repeat_most;

    if (d->kind != KVAR_DIVMOD || d->modulo || d->divide < 2 || d->divide > most || d->divide & (d->divide - 1) ||
        d->base.offset % d->divide || !moves_by(s->kernel, d->base, var, 1))
        return 0;
    for (uint32_t i = 0; i < d->base.count; i++)
        if (d->base.terms[i].var != var && d->base.terms[i].coefficient % d->divide)
            return 0;
    return (uint32_t)d->divide;
}

uint32_t load_repeat(const struct schedule *s, const struct kexpr *load, uint32_t var)
{
    const struct kernel *k = s->kernel;
    uint32_t repeat = 0;

    if (load->guard_count || k->vars[var].kind != KVAR_PARALLEL || kaffine_coefficient(load->index, var) ||
        kernel_multiplies(k))
        return 0;
    for (uint32_t i = 0; i < load->index.count; i++) {
        const struct kterm *t = &load->index.terms[i];
        const struct kvar *d = &k->vars[t->var];
        if (d->kind == KVAR_LOADED)
            return 0;
        if (d->kind != KVAR_DIVMOD || (!kaffine_coefficient(d->base, var) && !kaffine_may_derive(k, d->base, var)))
            continue;
        if (repeat || t->coefficient != 1)
            return 0;
        repeat = divides_by(s, d, var);
        if (!repeat || k->vars[var].size % repeat)
            return 0;
    }
    return repeat;
}

/** Returns whether an index moves by one element with var at most: it is made of such indices by operations that keep that. */
static bool moves_by_one(const struct schedule *s, uint32_t expr, uint32_t var)
{
    const struct kexpr *x = &s->kernel->exprs[expr];

    switch (x->op) {
    case K_CONST:
        return true;
    case K_INDEX:
        return moves_by(s->kernel, x->index, var, 1) || moves_by(s->kernel, x->index, var, -1) ||
               moves_by(s->kernel, x->index, var, 0);
    case K_ABS:
    case K_NEG:
    case K_CAST:
        return moves_by_one(s, x->args[0], var);
    case K_ADD:
    case K_SUB:
    case K_MIN:
    case K_MAX:
        return moves_by_one(s, x->args[0], var) && moves_by_one(s, x->args[1], var);
    default:
        return false;
    }
}

/** Returns whether the lanes of a load come from one index that moves so. */
static bool has_runs(const struct schedule *s, const struct kexpr *load)
{
    const struct kernel *k = s->kernel;
    uint32_t count = 0;

    for (uint32_t i = 0; i < load->index.count; i++) {
        const struct kterm *t = &load->index.terms[i];
        if (t->var != s->vector_var && !s->var_lanes[t->var])
            continue;
        if (t->coefficient != 1 || k->vars[t->var].kind != KVAR_LOADED || !moves_by_one(s, k->vars[t->var].expr, s->vector_var))
            return false;
        count++;
    }
    return count == 1;
}

bool has_far_guards(const struct kernel *k)
{
    struct kform_walk w = {0};
    int64_t low = 0, high = 0;

    while (kernel_next_form(k, &w)) {
        if (w.bound)
            kaffine_range(k, *w.form, &low, &high);
        if (low < INT32_MIN / 2 || high > INT32_MAX / 2)
            return true;
    }
    return false;
}

void loads_choose(struct schedule *s, const struct isa *isa)
{
    const struct kernel *k = s->kernel;

    for (uint32_t i = 0; i < k->expr_count; i++) {
        const struct kexpr *x = &k->exprs[i];
        struct schedule_expr *by = &s->exprs[i];
        if (x->op != K_LOAD || s->lanes == 1 || s->tiled || s->transpose.var != KEXPR_NONE)
            continue;
        /* Masks that are not instructions would be a branch for each element. */
        const bool masked =
            !x->guard_count || isa->masks || (isa->masks32 && dtype_size(k->tensors[x->tensor].type) >= sizeof(float));
        const uint32_t repeat = load_repeat(s, x, s->vector_var);
        if (masked && (by->count = load_stride(s, x, s->vector_var)))
            by->load = LOAD_STRIDED;
        else if ((by->count = repeat < s->lanes ? repeat : 0))
            by->load = LOAD_REPEATED;
        else if ((by->count = load_permuted(s, x, isa, &by->first)))
            by->load = LOAD_PERMUTED;
        else if (masked && has_runs(s, x))
            by->load = LOAD_RUNS;
    }
}
