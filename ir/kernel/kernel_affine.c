/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Computes with affine forms of a kernel's variables: arithmetic, ranges, and variables that are derived from forms or from
 * data.  The files of passes/lower call this, and the forms lie in the kernel's arena.  As in kernel.c, allocation failure sets
 * k->error, and forms returned afterwards are harmless and lead nowhere.
 */
#include <assert.h>
#include <stdlib.h>

#include "ir/kernel/kernel_internal.h"

/* ---- affine forms ---- */

struct kaffine kaffine_const(int64_t offset)
{
    return (struct kaffine){.offset = offset};
}

/* Adds multiples of forms up, with terms in `terms`, which has room for those of all. */
static struct kaffine sum_up(uint32_t count, const struct kaffine *forms, const int64_t *factors, struct kterm *terms)
{
    struct kaffine sum = {.terms = terms};
    int64_t coefficients[KERNEL_VARS_MAX];
    uint64_t vars = 0;

    for (uint32_t i = 0; i < count; i++) {
        sum.offset += factors[i] * forms[i].offset;
        for (uint32_t t = 0; t < forms[i].count; t++) {
            const struct kterm *term = &forms[i].terms[t];

            coefficients[term->var] = (vars >> term->var & 1 ? coefficients[term->var] : 0) + factors[i] * term->coefficient;
            vars |= (uint64_t)1 << term->var;
        }
    }
    for (; vars; vars &= vars - 1) {
        const uint32_t var = (uint32_t)__builtin_ctzll(vars);

        if (coefficients[var])
            terms[sum.count++] = (struct kterm){var, coefficients[var]};
    }
    return sum;
}

struct kaffine kaffine_combine(struct kaffine a, struct kaffine b, int64_t factor, struct kterm *terms)
{
    return sum_up(2, (const struct kaffine[]){a, b}, (const int64_t[]){1, factor}, terms);
}

struct kaffine kaffine_sum(struct kernel *k, uint32_t count, const struct kaffine *forms, const int64_t *factors)
{
    uint32_t most = 0;

    for (uint32_t i = 0; i < count; i++)
        most += forms[i].count;
    struct kterm *terms = arena_grow(&k->arena, NULL, 0, most * sizeof *terms);
    return terms ? sum_up(count, forms, factors, terms) : (error_out_of_memory(&k->error), kaffine_const(0));
}

struct kaffine kaffine_var(struct kernel *k, uint32_t var)
{
    return kaffine_sum(k, 1, &(struct kaffine){.count = 1, .terms = &(struct kterm){var, 1}}, (const int64_t[]){1});
}

struct kaffine kaffine_add_scaled(struct kernel *k, struct kaffine a, struct kaffine b, int64_t factor)
{
    if (!b.count)
        return kaffine_add_const(a, factor * b.offset);
    if (!a.count && factor == 1)
        return kaffine_add_const(b, a.offset);
    return kaffine_sum(k, 2, (const struct kaffine[]){a, b}, (const int64_t[]){1, factor});
}

struct kaffine kaffine_add_const(struct kaffine a, int64_t offset)
{
    a.offset += offset;
    return a;
}

bool kaffine_equal(struct kaffine a, struct kaffine b)
{
    if (a.offset != b.offset || a.count != b.count)
        return false;
    for (uint32_t i = 0; i < a.count; i++)
        if (a.terms[i].var != b.terms[i].var || a.terms[i].coefficient != b.terms[i].coefficient)
            return false;
    return true;
}

void kaffine_range(const struct kernel *k, struct kaffine a, int64_t *low, int64_t *high)
{
    *low = *high = a.offset;
    for (uint32_t i = 0; i < a.count; i++) {
        int64_t reach = a.terms[i].coefficient * (k->vars[a.terms[i].var].size - 1);
        *(reach < 0 ? low : high) += reach;
    }
}

int64_t kaffine_coefficient(struct kaffine a, uint32_t var)
{
    for (uint32_t i = 0; i < a.count; i++)
        if (a.terms[i].var == var)
            return a.terms[i].coefficient;
    return 0;
}

bool kaffine_may_derive(const struct kernel *k, struct kaffine a, uint32_t var)
{
    for (uint32_t i = 0; i < a.count; i++) {
        const struct kvar *v = &k->vars[a.terms[i].var];
        if (v->kind == KVAR_LOADED ||
            (v->kind == KVAR_DIVMOD && (kaffine_coefficient(v->base, var) || kaffine_may_derive(k, v->base, var))))
            return true;
    }
    return false;
}

bool kaffine_varying(const struct kernel *k, struct kaffine a)
{
    for (uint32_t i = 0; i < a.count; i++) {
        const struct kvar *v = &k->vars[a.terms[i].var];
        if (v->kind == KVAR_REDUCED || (v->kind == KVAR_DIVMOD && kaffine_varying(k, v->base)) ||
            (v->kind == KVAR_LOADED && kexpr_varies(k, v->expr)))
            return true;
    }
    return false;
}

bool kguards_varying(const struct kernel *k, uint32_t count, const struct kguard *guards)
{
    for (uint32_t i = 0; i < count; i++)
        if (kaffine_varying(k, guards[i].form))
            return true;
    return false;
}

/* ---- what depends on which variables: expressions that indices are loaded by come before all that use these ---- */

_Static_assert(KERNEL_VARS_MAX <= 64, "a bit for every variable");

uint64_t kvar_vars(const struct kernel *k, uint32_t var)
{
    const struct kvar *v = &k->vars[var];

    return v->kind == KVAR_DIVMOD   ? kaffine_vars(k, v->base)
           : v->kind == KVAR_LOADED ? k->exprs[v->expr].vars
                                    : (uint64_t)1 << var;
}

uint64_t kaffine_vars(const struct kernel *k, struct kaffine a)
{
    uint64_t vars = 0;

    for (uint32_t i = 0; i < a.count; i++)
        vars |= k->vars[a.terms[i].var].kind <= KVAR_REDUCED ? (uint64_t)1 << a.terms[i].var : kvar_vars(k, a.terms[i].var);
    return vars;
}

uint64_t kguards_vars(const struct kernel *k, uint32_t count, const struct kguard *guards)
{
    uint64_t vars = 0;

    for (uint32_t i = 0; i < count; i++)
        vars |= kaffine_vars(k, guards[i].form);
    return vars;
}

bool kaffine_derives(const struct kernel *k, struct kaffine a, uint32_t var)
{
    for (uint32_t i = a.count; i-- > 0 && a.terms[i].var >= k->parallel_count + k->reduced_count;) /* derived ones come last */
        if (a.terms[i].var != var && depends_on(kvar_vars(k, a.terms[i].var), var))
            return true;
    return false;
}

uint32_t kernel_depth(const struct kernel *k, uint64_t vars)
{
    const uint64_t reduced = vars >> k->parallel_count;

    return reduced ? 64 - (uint32_t)__builtin_clzll(reduced) : 0;
}

/* ---- division ---- */

/** Splits a into d * quotient + rest, such that the rest has the terms and the part of the offset that d does not divide. */
static bool split_multiples(struct kernel *k, struct kaffine a, int64_t d, struct kaffine *quotient, struct kaffine *rest)
{
    struct kterm *q = arena_array(&k->arena, a.count + 1, sizeof *q), *r = arena_array(&k->arena, a.count + 1, sizeof *r);
    uint32_t nq = 0, nr = 0;
    int64_t oq = a.offset / d, or = a.offset % d;

    if (!q || !r)
        return error_out_of_memory(&k->error);
    if (or < 0) {
        or += d;
        oq--;
    }
    for (uint32_t i = 0; i < a.count; i++) {
        if (a.terms[i].coefficient % d == 0)
            q[nq++] = (struct kterm){a.terms[i].var, a.terms[i].coefficient / d};
        else
            r[nr++] = a.terms[i];
    }
    *quotient = (struct kaffine){oq, nq, q};
    *rest = (struct kaffine){ or, nr, r};
    return true;
}

struct kaffine kernel_divmod(struct kernel *k, struct kaffine base, int64_t divide, int64_t modulo)
{
    struct kaffine quotient, rest;
    int64_t low, high;
    struct kvar v = {.kind = KVAR_DIVMOD, .expr = KEXPR_NONE};

    assert(divide > 0 && modulo >= 0);
    if (modulo == 1)
        return kaffine_const(0);
    /* Multiples of divide * modulo do not matter, as long as what remains is not negative. */
    if (modulo) {
        if (!split_multiples(k, base, divide * modulo, &quotient, &rest))
            return kaffine_const(0);
        kaffine_range(k, rest, &low, &high);
        if (low >= 0)
            base = rest;
        if (low >= 0 && high < divide * modulo)
            modulo = 0;
    }
    /* A common factor of the coefficients and the divider goes. */
    if (base.count) {
        int64_t g = divide;
        for (uint32_t i = 0; i < base.count; i++)
            g = gcd(g, base.terms[i].coefficient);
        if (g > 1) {
            if (!split_multiples(k, base, g, &quotient, &rest))
                return kaffine_const(0);
            base = quotient;
            divide /= g;
        }
    }
    if (divide > 1) {
        if (!split_multiples(k, base, divide, &quotient, &rest))
            return kaffine_const(0);
        kaffine_range(k, rest, &low, &high);
        if (low >= 0 && high < divide) {
            base = quotient;
            divide = 1;
        } else if (low >= 0 && !modulo && (quotient.count || quotient.offset)) {
            return kaffine_add(k, quotient, kernel_divmod(k, rest, divide, 0));
        }
    }
    kaffine_range(k, base, &low, &high);
    if (divide == 1 && low >= 0 && modulo && high < modulo)
        modulo = 0;
    if (divide == 1 && !modulo)
        return base;
    if (!base.count) {
        int64_t q = base.offset / divide;
        return kaffine_const(modulo ? q % modulo : q);
    }
    if (low < 0 && !k->error.status) {
        error_set(&k->error, WNNStatus_OperationError, "kernel: division of a negative index");
        return kaffine_const(0);
    }
    v.base = base;
    v.divide = divide;
    v.modulo = modulo;
    v.size = high / divide + 1;
    if (modulo && v.size > modulo)
        v.size = modulo;
    for (uint32_t i = 0; i < k->var_count; i++) {
        const struct kvar *o = &k->vars[i];
        if (o->kind == KVAR_DIVMOD && o->divide == divide && o->modulo == modulo && kaffine_equal(o->base, base))
            return kaffine_var(k, i);
    }
    return kaffine_var(k, kernel_append_var(k, &v));
}

struct kaffine kernel_loaded_var(struct kernel *k, uint32_t expr, int64_t size)
{
    if (size == 1 || expr >= k->expr_count)
        return kaffine_const(0);
    for (uint32_t i = 0; i < k->var_count; i++)
        if (k->vars[i].kind == KVAR_LOADED && k->vars[i].expr == expr && k->vars[i].size == size)
            return kaffine_var(k, i);
    return kaffine_var(k, kernel_append_var(k, &(struct kvar){.kind = KVAR_LOADED, .size = size, .expr = expr}));
}
