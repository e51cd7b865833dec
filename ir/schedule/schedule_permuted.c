/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Chooses loads at computed indices that are permuted out of a few whole vectors instead of being gathered: the neighbours that
 * resampling reads.  It finds bounds of how far apart the lanes of an index are, from how the index is computed.
 */
#include "ir/schedule/schedule_internal.h"

/** Bounds integers: low <= x <= high. */
struct range {
    int64_t low, high;
};

/** Numbers beyond this bound are not followed, so that sums of a few of them stay far from the limits of 64 bits. */
static const int64_t FARTHEST = INT64_C(1) << 40, STEEPEST = INT64_C(1) << 20; /* coefficients, of such numbers */

static bool is_near(struct range r)
{
    return r.low >= -FARTHEST && r.high <= FARTHEST;
}

/** Returns whether bounds are near, and an expression of this type holds them. */
static bool holds(enum ktype type, struct range r)
{
    return type == KT_I32 ? r.low >= INT32_MIN && r.high <= INT32_MAX : type == KT_I64 && is_near(r);
}

/** Stores bounds of an integer expression's value.  Returns false if none are known. */
static bool value_range(const struct kernel *k, uint32_t expr, struct range *r)
{
    const struct kexpr *x = &k->exprs[expr];
    struct range a, b;

    switch (x->op) {
    case K_CONST:
        r->low = r->high = x->type == KT_I32 ? x->bits.i32 : x->bits.i64;
        return holds(x->type, *r);
    case K_INDEX:
        kaffine_range(k, x->index, &r->low, &r->high);
        return holds(x->type, *r);
    case K_CAST: /* the value stays the same where it fits */
        return value_range(k, x->args[0], r) && holds(x->type, *r);
    case K_ADD:
        if (!value_range(k, x->args[0], &a) || !value_range(k, x->args[1], &b))
            return false;
        *r = (struct range){a.low + b.low, a.high + b.high};
        return holds(x->type, *r);
    case K_MIN:
    case K_MAX:
    case K_SELECT: {
        const uint32_t from = x->op == K_SELECT;
        if (!value_range(k, x->args[from], &a) || !value_range(k, x->args[from + 1], &b))
            return false;
        *r = (struct range){a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
        if (x->op == K_MIN)
            r->high = a.high < b.high ? a.high : b.high;
        if (x->op == K_MAX)
            r->low = a.low > b.low ? a.low : b.low;
        return true;
    }
    default:
        return false;
    }
}

/** Stores bounds of how far an affine form is, in the lanes after the first, from its value in the first lane.  Returns false
 * if none are known. */
static bool form_spread(const struct schedule *s, struct kaffine form, struct range *r)
{
    *r = (struct range){0, 0};
    for (uint32_t i = 0; i < form.count; i++) {
        const uint32_t var = form.terms[i].var;
        const struct kvar *v = &s->kernel->vars[var];
        struct range one = {0, 0};

        if (var == s->vector_var) {
            one.high = s->lanes - 1;
        } else if (v->kind == KVAR_DIVMOD && s->var_lanes[var]) {
            /* A quotient is as far away as its dividend, divided and rounded up; nothing bounds a remainder. */
            if (v->modulo || !form_spread(s, v->base, &one))
                return false;
            one.low = -ceil_div(-one.low, v->divide);
            one.high = ceil_div(one.high, v->divide);
        } else if (s->var_lanes[var]) {
            return false;
        }
        if (form.terms[i].coefficient < -STEEPEST || form.terms[i].coefficient > STEEPEST)
            return false;
        const int64_t a = one.low * form.terms[i].coefficient, b = one.high * form.terms[i].coefficient;
        *r = (struct range){r->low + (a < b ? a : b), r->high + (a < b ? b : a)};
        if (!is_near(*r))
            return false;
    }
    return true;
}

/** Returns whether a is b plus a constant, and stores that. */
static bool differs_by(const struct kernel *k, uint32_t a, uint32_t b, int64_t *difference)
{
    const struct kexpr *x = &k->exprs[a];
    struct range r;

    *difference = 0;
    if (a == b)
        return true;
    for (uint32_t i = 0; x->op == K_ADD && i < 2; i++) {
        if (x->args[i] == b && k->exprs[x->args[1 - i]].op == K_CONST && value_range(k, x->args[1 - i], &r)) {
            *difference = r.low;
            return true;
        }
    }
    return false;
}

/** Does what form_spread does, for an integer expression whose value value_range knows. */
static bool spread(const struct schedule *s, uint32_t expr, struct range *r)
{
    const struct kexpr *x = &s->kernel->exprs[expr];
    struct range a, b;
    int64_t difference;

    switch (x->op) {
    case K_CONST:
        *r = (struct range){0, 0};
        return true;
    case K_INDEX:
        return form_spread(s, x->index, r);
    case K_CAST:
        return spread(s, x->args[0], r);
    case K_ADD:
        if (!spread(s, x->args[0], &a) || !spread(s, x->args[1], &b))
            return false;
        *r = (struct range){a.low + b.low, a.high + b.high};
        return true;
    case K_MIN: /* both moves bound that of the smaller or larger one */
    case K_MAX:
        if (!spread(s, x->args[0], &a) || !spread(s, x->args[1], &b))
            return false;
        *r = (struct range){a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
        return true;
    case K_SELECT: /* the first lane and another one may have different operands, which are a constant apart */
        if (!differs_by(s->kernel, x->args[1], x->args[2], &difference) || !spread(s, x->args[2], r))
            return false;
        difference = difference < 0 ? -difference : difference;
        *r = (struct range){r->low - difference, r->high + difference};
        return true;
    default:
        return false;
    }
}

/** Returns whether a form has the same value in all lanes. */
static bool is_uniform(const struct schedule *s, struct kaffine form)
{
    for (uint32_t i = 0; i < form.count; i++)
        if (form.terms[i].var == s->vector_var || s->var_lanes[form.terms[i].var])
            return false;
    return true;
}

uint32_t load_permuted(const struct schedule *s, const struct kexpr *load, const struct isa *isa, int32_t *first)
{
    const struct kernel *k = s->kernel;
    const size_t bytes = dtype_size(k->tensors[load->tensor].type);
    const struct kterm *index = NULL;
    struct range value, r;

    *first = 0;
    if (!isa->permutes || s->vector_var == KEXPR_NONE || (s->lanes != 8 && s->lanes != 16) || bytes > 4 ||
        (bytes < 4 && !isa->masks))
        return 0;
    for (uint32_t g = 0; g < load->guard_count; g++)
        if (!is_uniform(s, load->guards[g].form))
            return 0; /* what lies between two lanes may be outside of the tensor */
    for (uint32_t i = 0; i < load->index.count; i++) {
        const struct kterm *t = &load->index.terms[i];
        if (t->var != s->vector_var && !s->var_lanes[t->var])
            continue;
        if (index || t->coefficient != 1 || t->var == s->vector_var)
            return 0;
        index = t;
    }
    if (!index)
        return 0;
    const struct kvar *by = &k->vars[index->var];
    if (by->kind == KVAR_DIVMOD) {
        /* No lane is before the one in front of it, so that the last one bounds the reads. */
        if (!form_spread(s, (struct kaffine){.count = 1, .terms = index}, &r) || r.low < 0)
            return 0;
    } else {
        /* Clamping to the size leaves lanes as near to each other as they are, where no negative index counts from the end. */
        if (!value_range(k, by->expr, &value) || value.low < 0 || !spread(s, by->expr, &r))
            return 0;
    }
    const int64_t vectors = (r.high - r.low + s->lanes) / s->lanes;
    if (vectors > s->facts->loop.permuted_most)
        return 0;
    *first = (int32_t)r.low;
    return (uint32_t)vectors;
}
