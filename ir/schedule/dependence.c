/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Finds out what depends on which variables.  Expressions that indices are loaded by come before all that use these.
 */
#include "ir/schedule/dependence.h"

_Static_assert(KERNEL_VARS_MAX <= 64, "a bit for every variable");

uint64_t var_dependences(const struct kernel *k, const uint64_t *exprs, uint32_t var)
{
    const struct kvar *v = &k->vars[var];

    return v->kind == KVAR_DIVMOD   ? form_dependences(k, exprs, &v->base)
           : v->kind == KVAR_LOADED ? exprs[v->expr]
                                    : (uint64_t)1 << var;
}

uint64_t form_dependences(const struct kernel *k, const uint64_t *exprs, const struct kaffine *form)
{
    uint64_t vars = 0;

    for (uint32_t i = 0; i < form->count; i++)
        vars |= var_dependences(k, exprs, form->terms[i].var);
    return vars;
}

uint64_t guard_dependences(const struct kernel *k, const uint64_t *exprs, uint32_t count, const struct kguard *guards)
{
    uint64_t vars = 0;

    for (uint32_t i = 0; i < count; i++)
        vars |= form_dependences(k, exprs, &guards[i].form);
    return vars;
}

bool form_derives_along(const struct kernel *k, const uint64_t *exprs, const struct kaffine *form, uint32_t var)
{
    for (uint32_t i = 0; i < form->count; i++)
        if (form->terms[i].var != var && depends_on(var_dependences(k, exprs, form->terms[i].var), var))
            return true;
    return false;
}

uint64_t *kernel_dependences(const struct kernel *k, struct arena *a)
{
    uint64_t *exprs = arena_array(a, (size_t)k->expr_count + 1, sizeof *exprs);

    for (uint32_t i = 0; exprs && i < k->expr_count; i++) {
        const struct kexpr *x = &k->exprs[i];

        exprs[i] = form_dependences(k, exprs, &x->index) | guard_dependences(k, exprs, x->guard_count, x->guards);
        for (uint32_t n = 0; n < 3; n++)
            exprs[i] |= x->args[n] == KEXPR_NONE ? 0 : exprs[x->args[n]];
        if (x->op == K_REDUCE)
            exprs[i] &= ((uint64_t)1 << k->parallel_count) - 1;
    }
    return exprs;
}

uint32_t dependence_depth(const struct kernel *k, uint64_t vars)
{
    const uint64_t reduced = vars >> k->parallel_count;

    return reduced ? 64 - (uint32_t)__builtin_clzll(reduced) : 0;
}
