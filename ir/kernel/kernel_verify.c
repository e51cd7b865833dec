/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * kernel_verify checks, and reports all violations of:
 *
 *   - Variables: sizes are positive; in a finished kernel PARALLEL come before REDUCED before derived ones; a DIVMOD's base is
 *     never negative and its value below its size; a LOADED variable's expression is an integer.
 *   - Forms: terms are sorted by variable, coefficients are not 0, variables exist.
 *   - Expressions: operands come before their users; operand and result types fit the operation.
 *   - Stores: the value has the tensor's type, the tensor is written; of a written tensor only that element is read which a
 *     store then overwrites (an update).
 *   - Stages: they agree on the macro-tile, their tensors are the kernel's or locals, and no local is read before it is
 * written.
 *   - Addresses: every load and store stays inside its tensor at every point where its guards hold.
 */
#include <inttypes.h>

#include "ir/kernel/kernel_internal.h"

struct verifier {
    const struct kernel *k;
    FILE *out;
    bool good;
};

static void complain(struct verifier *v, const char *format, ...) PRINTF_LIKE(2, 3);

static void complain(struct verifier *v, const char *format, ...)
{
    v->good = false;
    if (!v->out)
        return;
    fprintf(v->out, "kernel %s: ", v->k->name);
    WITH_ARGUMENTS(format, vfprintf(v->out, format, arguments));
    fprintf(v->out, "\n");
}

static bool check_form(struct verifier *v, struct kaffine a, const char *what, uint32_t id)
{
    for (uint32_t i = 0; i < a.count; i++) {
        if (a.terms[i].var >= v->k->var_count || !a.terms[i].coefficient || (i && a.terms[i].var <= a.terms[i - 1].var)) {
            complain(v, "%s %u: malformed affine form", what, id);
            return false;
        }
    }
    return true;
}

/** Returns 1 or -1 if b's terms are a's times that, else 0. */
static int same_terms(struct kaffine a, struct kaffine b)
{
    int sign = 0;

    if (a.count != b.count)
        return 0;
    for (uint32_t i = 0; i < a.count; i++) {
        int s = a.terms[i].coefficient == b.terms[i].coefficient    ? 1
                : a.terms[i].coefficient == -b.terms[i].coefficient ? -1
                                                                    : 0;
        if (a.terms[i].var != b.terms[i].var || !s || (sign && s != sign))
            return 0;
        sign = s;
    }
    return sign;
}

/** Finds the range of a form's terms where all guards over the same terms hold. */
static void terms_range(const struct kernel *k, struct kaffine a, uint32_t guard_count, const struct kguard *guards,
                        int64_t *low, int64_t *high)
{
    a.offset = 0;
    kaffine_range(k, a, low, high);
    for (uint32_t g = 0; g < guard_count; g++) {
        int sign = same_terms(a, guards[g].form);
        int64_t first = -guards[g].form.offset, last = guards[g].bound - 1 - guards[g].form.offset;
        if (!sign)
            continue;
        if (sign < 0) {
            int64_t t = first;
            first = -last;
            last = -t;
        }
        *low = first > *low ? first : *low;
        *high = last < *high ? last : *high;
    }
}

/**
 * Finds the range of a form, with the guards considered one after the other from `start` on.  A form that contains a guard's as
 * a multiple is bounded by the guard instead of the variables: it is factor * guard + rest, where rest does not have the
 * guard's variables.
 */
static void range_from(const struct kernel *k, struct kaffine a, uint32_t guard_count, const struct kguard *guards,
                       uint32_t start, int64_t *low, int64_t *high)
{
    struct kterm terms[2][KERNEL_VARS_MAX * 2];
    int64_t guard_low = 0, guard_high = 0;
    uint32_t buffer = 0;

    for (uint32_t i = 0; i < guard_count; i++) {
        struct kaffine form = guards[(start + i) % guard_count].form, rest;
        int64_t c, factor, first, last;
        if (!form.count || a.count > KERNEL_VARS_MAX || form.count > KERNEL_VARS_MAX)
            continue;
        c = kaffine_coefficient(a, form.terms[0].var);
        factor = c / form.terms[0].coefficient;
        if (!factor || c % form.terms[0].coefficient)
            continue;
        rest = kaffine_combine(a, form, -factor, terms[buffer]);
        rest.offset = a.offset;
        if (rest.count + form.count > a.count)
            continue;
        a = rest;
        buffer ^= 1;
        terms_range(k, form, guard_count, guards, &first, &last);
        guard_low += factor * (factor > 0 ? first : last);
        guard_high += factor * (factor > 0 ? last : first);
    }
    kaffine_range(k, a, low, high);
    *low += guard_low;
    *high += guard_high;
}

void kaffine_guarded_range(const struct kernel *k, struct kaffine a, uint32_t guard_count, const struct kguard *guards,
                           int64_t elements, int64_t *low, int64_t *high)
{
    kaffine_range(k, a, low, high);
    /* Guards may share variables, and which of them is used up first decides which are left for the others.  The bounds of
     * every order hold. */
    for (uint32_t start = 0; start < guard_count && (*low < 0 || *high >= elements); start++) {
        int64_t first, last;
        range_from(k, a, guard_count, guards, start, &first, &last);
        *low = first > *low ? first : *low;
        *high = last < *high ? last : *high;
    }
}

static void check_address(struct verifier *v, const char *what, uint32_t id, uint32_t tensor, struct kaffine index,
                          uint32_t guard_count, const struct kguard *guards)
{
    int64_t low, high;

    if (tensor >= v->k->tensor_count) {
        complain(v, "%s %u: no tensor %u", what, id, tensor);
        return;
    }
    for (uint32_t g = 0; g < guard_count; g++) {
        if (!check_form(v, guards[g].form, what, id))
            return;
    }
    if (!check_form(v, index, what, id))
        return;
    kaffine_guarded_range(v->k, index, guard_count, guards, v->k->tensors[tensor].elements, &low, &high);
    if (low < 0 || high >= v->k->tensors[tensor].elements)
        complain(v, "%s %u: addresses %" PRId64 " to %" PRId64 " of tensor %u, which has %" PRId64 " elements", what, id, low,
                 high, tensor, v->k->tensors[tensor].elements);
}

static void check_types(struct verifier *v, uint32_t id, const struct kexpr *e)
{
    const struct kexpr *x = v->k->exprs;
    const enum ktype a = e->args[0] != KEXPR_NONE ? x[e->args[0]].type : KT_COUNT;
    const enum ktype b = e->args[1] != KEXPR_NONE ? x[e->args[1]].type : KT_COUNT;
    const enum ktype c = e->args[2] != KEXPR_NONE ? x[e->args[2]].type : KT_COUNT;
    bool good;

    if (kop_info(e->op)->types == KOP_EXPANSION)
        complain(v, "expression %u: %s is not for kernels", id, kop_name(e->op));
    switch (e->op) {
    case K_LOAD:
        good = e->type == ktype_of(v->k->tensors[e->tensor].type);
        break;
    case K_REDUCE:
        good = (e->reduce == KR_ARG_MIN || e->reduce == KR_ARG_MAX ? e->type == KT_I64 : e->type == a) &&
               (e->reduce != KR_DOT || a == b) && a != KT_BOOL;
        break;
    default:
        good = kop_types_fit(e->op, e->type, a, b, c);
        break;
    }
    if (!good)
        complain(v, "expression %u: %s of wrong types", id, kop_name(e->op));
}

/** Returns whether a load reads what a store of the same iteration overwrites. */
static bool is_updated(const struct kernel *k, const struct kexpr *load)
{
    for (uint32_t i = 0; i < k->store_count; i++)
        if (k->stores[i].tensor == load->tensor && kaffine_equal(k->stores[i].index, load->index))
            return true;
    return false;
}

static void check_expr(struct verifier *v, uint32_t id)
{
    const struct kexpr *e = &v->k->exprs[id];
    const uint32_t arity = e->op == K_REDUCE && e->reduce == KR_DOT ? 2 : kop_info(e->op)->arity;

    for (uint32_t i = 0; i < 3; i++) {
        if (i < arity ? e->args[i] >= id : e->args[i] != KEXPR_NONE) {
            complain(v, "expression %u: operand %u is not an earlier expression", id, i);
            return;
        }
    }
    if (e->op == K_LOAD) {
        check_address(v, "load", id, e->tensor, e->index, e->guard_count, e->guards);
        if (e->tensor >= v->k->tensor_count)
            return;
        if (v->k->tensors[e->tensor].written && !is_updated(v->k, e))
            complain(v, "load %u: tensor %u is written", id, e->tensor);
    }
    if (e->op == K_INDEX)
        check_form(v, e->index, "expression", id);
    if (v->k->builder.finished && !v->k->reduced_count && (e->op == K_REDUCE || e->op == K_SCAN))
        complain(v, "expression %u: reduces over nothing", id);
    check_types(v, id, e);
}

static int var_class(const struct kvar *x)
{
    return x->kind == KVAR_PARALLEL ? 0 : x->kind == KVAR_REDUCED ? 1 : 2;
}

static void check_bounded(struct verifier *v, uint32_t i)
{
    const struct kernel *k = v->k;

    if (!k->macro_tile_vars || (i != k->macro_tile_vars && i != k->parallel_count) || kernel_find_bounded(k) != i)
        complain(v, "variable %u: is bounded, and is not a stage's first", i);
    else if (k->bound >= k->tensor_count || k->tensors[k->bound].type != WNNOperandDataType_Int32 ||
             k->tensors[k->bound].elements < 2 || k->tensors[k->bound].written)
        complain(v, "variable %u: its bound is not a pair of int32 that is read", i);
}

static void check_var(struct verifier *v, uint32_t i)
{
    const struct kvar *x = &v->k->vars[i];
    int64_t low, high;

    if (x->size < 1)
        complain(v, "variable %u: size %" PRId64, i, x->size);
    if (x->bounded && v->k->builder.finished)
        check_bounded(v, i);
    if (v->k->builder.finished && i && var_class(x) < var_class(x - 1))
        complain(v, "variable %u: out of order", i);
    if (x->kind == KVAR_DIVMOD) {
        if (!check_form(v, x->base, "variable", i))
            return;
        for (uint32_t t = 0; t < x->base.count; t++) {
            if (x->base.terms[t].var >= i)
                complain(v, "variable %u: depends on a later one", i);
        }
        kaffine_range(v->k, x->base, &low, &high);
        if (x->divide < 1 || x->modulo < 0 || low < 0)
            complain(v, "variable %u: division of a negative form or by %" PRId64, i, x->divide);
        else if (high / x->divide >= x->size && (!x->modulo || x->modulo > x->size))
            complain(v, "variable %u: reaches beyond its size %" PRId64, i, x->size);
    }
    if (x->kind == KVAR_LOADED) {
        if (x->expr >= v->k->expr_count)
            complain(v, "variable %u: no expression %u", i, x->expr);
        else if (ktype_is_float(v->k->exprs[x->expr].type) || v->k->exprs[x->expr].type == KT_BOOL)
            complain(v, "variable %u: not an integer", i);
    }
}

bool kernel_verify(const struct kernel *k, FILE *out)
{
    struct verifier v = {.k = k, .out = out, .good = true};

    if (k->stage_count)
        return kernel_verify_stages(k, out);
    for (uint32_t i = 0; i < k->var_count; i++)
        check_var(&v, i);
    for (uint32_t i = 0; v.good && i < k->expr_count; i++)
        check_expr(&v, i);
    for (uint32_t i = 0; i < k->store_count; i++) {
        const struct kstore *s = &k->stores[i];
        check_address(&v, "store", i, s->tensor, s->index, s->guard_count, s->guards);
        if (s->tensor >= k->tensor_count)
            continue;
        if (!k->tensors[s->tensor].written)
            complain(&v, "store %u: tensor %u is not written", i, s->tensor);
        if (s->expr >= k->expr_count)
            complain(&v, "store %u: no expression %u", i, s->expr);
        else if (k->exprs[s->expr].type != ktype_of(k->tensors[s->tensor].type))
            complain(&v, "store %u: value of another type than the tensor", i);
    }
    return v.good;
}
