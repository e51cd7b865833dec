/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Completes a kernel: kernel_finish, and the questions about finished kernels (points, dependence on data, sharing of memory).
 *
 * It takes a kernel as the lowering built it, and turns it into the same computation with these changes:
 *   1. Variables are split where that removes divisions (a reshape's), those of size 1 go, adjacent ones are merged that every
 *      form treats as one, and everything dead goes (rebuild: all live expressions are built again over the new variables).
 *   2. Phases are computed, and which variables values depend on.
 */
#include <assert.h>
#include <string.h>

#include "ir/kernel/kernel_internal.h"

enum {
    SPLIT_ROUNDS = 16, /* each round splits one variable; reshapes have at most RANK_MAX dimensions */
};

static bool is_loop(const struct kvar *v)
{
    return v->kind == KVAR_PARALLEL || v->kind == KVAR_REDUCED;
}

/* ---- 1. rebuilding over other variables ---- */

/** Holds an old kernel's content on its way into the same kernel with other variables. */
struct rebuild {
    struct kernel *k;
    uint32_t var_count, expr_count, store_count;
    struct kvar vars[KERNEL_VARS_MAX];
    const struct kexpr *exprs;
    const struct kstore *stores;
    struct kaffine to[KERNEL_VARS_MAX]; /* the old variable over the new ones */
    bool known[KERNEL_VARS_MAX];
    bool same;     /* nothing but the order and the dead ones of expressions changes: forms stay */
    uint32_t left; /* variables that are not yet known */
    bool reduces;  /* there are REDUCED variables; without them no REDUCE remains */
    uint32_t *ids; /* new expression, KEXPR_NONE: not built yet */
};

static uint32_t rebuild_expr(struct rebuild *r, uint32_t id);
static struct kaffine rebuild_form(struct rebuild *r, struct kaffine a);

static struct kaffine rebuild_var(struct rebuild *r, uint32_t var)
{
    const struct kvar *v = &r->vars[var];

    if (!r->known[var]) {
        const struct kaffine base = rebuild_form(r, v->base);
        const uint32_t expr = v->kind == KVAR_LOADED ? rebuild_expr(r, v->expr) : KEXPR_NONE;
        if (r->same)
            r->k->vars[var].expr = expr;
        else
            r->to[var] = v->kind == KVAR_DIVMOD ? kernel_divmod(r->k, base, v->divide, v->modulo)
                                                : kernel_loaded_var(r->k, expr, v->size);
        r->known[var] = true;
        r->left--;
    }
    return r->to[var];
}

static struct kaffine rebuild_form(struct rebuild *r, struct kaffine a)
{
    struct kaffine f = kaffine_const(a.offset);

    if (r->same && !r->left)
        return a;
    for (uint32_t i = 0; i < a.count; i++) {
        const struct kaffine var = rebuild_var(r, a.terms[i].var);
        f = r->same ? a : kaffine_add_scaled(r->k, f, var, a.terms[i].coefficient);
    }
    return f;
}

static const struct kguard *rebuild_guards(struct rebuild *r, uint32_t count, const struct kguard *guards)
{
    for (uint32_t i = 0; i < count && r->same && r->left; i++)
        rebuild_form(r, guards[i].form);
    if (!count || r->same)
        return guards;
    struct kguard *g = arena_array(&r->k->arena, count, sizeof *g);
    if (!g) {
        error_out_of_memory(&r->k->error);
        return guards; /* over the old variables; the error keeps it from being used */
    }
    for (uint32_t i = 0; i < count; i++)
        g[i] = (struct kguard){rebuild_form(r, guards[i].form), guards[i].bound};
    return g;
}

/** Returns a reduction over one point.  Sums start at 0, so that -0 alone gives 0. */
static uint32_t reduce_one(struct kernel *k, const struct kexpr *e, const uint32_t args[3])
{
    const uint32_t zero = kernel_const(k, e->type, (union scalar){.u64 = 0});

    if (kexpr_is_place(e))
        return kernel_const(k, KT_I64, (union scalar){.i64 = 0});
    if (e->reduce == KR_DOT)
        return kernel_op2(k, K_ADD, kernel_op2(k, K_MUL, args[0], args[1]), zero);
    return e->reduce == KR_SUM ? kernel_op2(k, K_ADD, args[0], zero) : args[0];
}

/** Appends an expression that differs from an old one in its operands' numbers only. */
static uint32_t append_same(struct kernel *k, const struct kexpr *e, const uint32_t args[3])
{
    const bool swaps = kop_info(e->op)->commutes && args[0] > args[1];

    if (!array_reserve(&k->builder.arena, &k->exprs, &k->builder.expr_capacity, k->expr_count + 1, sizeof *k->exprs)) {
        error_out_of_memory(&k->error);
        return KEXPR_NONE;
    }
    k->exprs[k->expr_count] = *e;
    for (uint32_t i = 0; i < 3; i++)
        k->exprs[k->expr_count].args[i] = args[swaps && i < 2 ? 1 - i : i];
    return k->expr_count++;
}

/** Builds an expression again.  The depth of the recursion is the length of the longest chain of operators in a kernel, which
 * the lowering bounds. */
static uint32_t rebuild_expr(struct rebuild *r, uint32_t id)
{
    const struct kexpr *e = &r->exprs[id];
    struct kernel *k = r->k;
    uint32_t args[3] = {KEXPR_NONE, KEXPR_NONE, KEXPR_NONE}, n = KEXPR_NONE;

    if (r->ids[id] != KEXPR_NONE || k->error.status)
        return r->ids[id];
    for (uint32_t i = 0; i < 3; i++)
        if (e->args[i] != KEXPR_NONE)
            args[i] = rebuild_expr(r, e->args[i]);
    const struct kaffine index = e->index.count ? rebuild_form(r, e->index) : e->index;
    const struct kguard *guards = e->guard_count ? rebuild_guards(r, e->guard_count, e->guards) : NULL;
    if (r->same)
        return r->ids[id] = k->error.status ? KEXPR_NONE : append_same(k, e, args);
    switch (e->op) {
    case K_CONST:
        n = kernel_const(k, e->type, e->bits);
        break;
    case K_LOAD:
        n = kernel_load(k, e->tensor, index, e->guard_count, guards, e->bits);
        break;
    case K_INDEX:
        n = e->index.count ? kernel_index(k, index) : kernel_size(k, e->index.offset);
        break;
    case K_REDUCE:
        n = !r->reduces           ? reduce_one(k, e, args)
            : e->reduce == KR_DOT ? kernel_dot(k, args[0], args[1])
                                  : kernel_reduce(k, e->reduce, args[0]);
        break;
    case K_SCAN:
        n = r->reduces   ? kernel_scan(k, args[0], e->bits.u8)
            : e->bits.u8 ? kernel_const(k, e->type, (union scalar){.u64 = 0})
                         : args[0];
        break;
    default:
        n = kernel_operate(k, e->op, e->type, args[0], args[1], args[2]);
        break;
    }
    r->ids[id] = n;
    return n;
}

/** Starts over: k keeps its tensors only. */
static bool rebuild_begin(struct rebuild *r, struct kernel *k)
{
    memset(r, 0, sizeof *r);
    r->k = k;
    r->var_count = k->var_count;
    r->expr_count = k->expr_count;
    r->store_count = k->store_count;
    memcpy(r->vars, k->vars, k->var_count * sizeof k->vars[0]);
    r->exprs = k->exprs;
    r->stores = k->stores;
    r->ids = arena_array(&k->builder.arena, k->expr_count + 1, sizeof *r->ids);
    if (!r->ids)
        return error_out_of_memory(&k->error);
    memset(r->ids, 0xFF, (k->expr_count + 1) * sizeof *r->ids);
    r->reduces = true;
    k->var_count = k->expr_count = k->builder.expr_capacity = k->store_count = k->builder.store_capacity = 0;
    k->exprs = NULL;
    k->stores = NULL;
    k->builder.table = (struct table){0};
    return array_reserve(&k->builder.arena, &k->exprs, &k->builder.expr_capacity, r->expr_count, sizeof *k->exprs) ||
           error_out_of_memory(&k->error);
}

/** Builds all that the stores need.  Returns false after an error. */
static bool rebuild_end(struct rebuild *r)
{
    for (uint32_t i = 0; i < r->store_count; i++) {
        const struct kstore *s = &r->stores[i];
        uint32_t e = rebuild_expr(r, s->expr);
        const struct kaffine index = rebuild_form(r, s->index);
        kernel_store(r->k, s->tensor, index, e, s->guard_count, rebuild_guards(r, s->guard_count, s->guards));
    }
    return !r->k->error.status;
}

/** Adds a loop variable like an old one, and returns it as a form. */
static struct kaffine add_same(struct kernel *k, const struct kvar *v)
{
    return kaffine_var(k, v->bounded ? kernel_bounded_var(k, v->kind, v->size, k->bound) : kernel_var(k, v->kind, v->size));
}

/** Adds loop variables like the old ones, PARALLEL first, without those of size 1.  If all stay where they are, derived ones
 * may follow as they are; all is done again if nothing that is alive uses one of these. */
static bool rebuild_same(struct kernel *k, bool may_follow)
{
    struct rebuild r;
    uint32_t kept = 0;

    if (!rebuild_begin(&r, k))
        return false;
    r.same = may_follow;
    for (int kind = KVAR_PARALLEL; kind <= KVAR_REDUCED; kind++) {
        for (uint32_t i = 0; i < r.var_count; i++) {
            if ((int)r.vars[i].kind != kind)
                continue;
            /* One with a single value stays for the macro-tile's sake, or so that sizes make no other code. */
            const bool stays = r.vars[i].size > 1 || i < k->macro_tile_vars || kernel_sizes_are_chosen(k);
            r.to[i] = stays ? add_same(k, &r.vars[i]) : kaffine_const(0);
            r.known[i] = true;
            r.same &= k->var_count == ++kept && kept == i + 1;
        }
    }
    r.reduces = k->var_count && k->vars[k->var_count - 1].kind == KVAR_REDUCED;
    for (uint32_t i = 0; i < r.expr_count && !r.reduces; i++)
        r.same &= r.exprs[i].op != K_REDUCE && r.exprs[i].op != K_SCAN;
    r.left = r.var_count - kept;
    for (uint32_t i = kept; i < r.var_count && r.same; i++)
        kernel_append_var(k, &r.vars[i]);
    if (!rebuild_end(&r))
        return false;
    for (uint32_t i = kept; i < r.var_count && r.same; i++)
        if (!r.known[i])
            return rebuild_same(k, false);
    return true;
}

/**
 * Returns whether a split at `factor` would leave runs of consecutive stores too short for vectors (an image enlarged twice):
 * there a division per element is cheaper.
 */
static bool split_shortens_runs(const struct kernel *k, uint32_t var, int64_t factor)
{
    if (factor >= KERNEL_RUN_LEAST)
        return false;
    for (uint32_t i = 0; i < k->store_count; i++) {
        const int64_t c = kaffine_coefficient(k->stores[i].index, var);
        if ((c == 1 || c == -1) && k->vars[var].size >= KERNEL_RUN_LEAST)
            return true;
    }
    return false;
}

/** Finds a variable whose split at `factor` makes a division exact. */
static bool find_split(const struct kernel *k, uint32_t *var, int64_t *factor)
{
    for (uint32_t i = 0; i < k->var_count; i++) {
        const struct kvar *d = &k->vars[i];
        if (d->kind != KVAR_DIVMOD)
            continue;
        const int64_t boundaries[2] = {d->divide, d->modulo ? d->divide * d->modulo : 0};
        for (uint32_t b = 0; b < 2; b++) {
            for (uint32_t t = 0; t < d->base.count; t++) {
                const int64_t c = d->base.terms[t].coefficient, size = k->vars[d->base.terms[t].var].size;
                if (!is_loop(&k->vars[d->base.terms[t].var]) || k->vars[d->base.terms[t].var].bounded ||
                    d->base.terms[t].var < k->macro_tile_vars || c <= 0 || c >= boundaries[b] || boundaries[b] % c)
                    continue;
                *factor = boundaries[b] / c;
                *var = d->base.terms[t].var;
                if (size > *factor && size % *factor == 0 && !split_shortens_runs(k, *var, *factor))
                    return true;
            }
        }
    }
    return false;
}

static bool split_variable(struct kernel *k, uint32_t var, int64_t factor)
{
    struct rebuild r;

    if (!rebuild_begin(&r, k))
        return false;
    for (uint32_t i = 0; i < r.var_count && is_loop(&r.vars[i]); i++) {
        if (i == var) {
            uint32_t high = kernel_var(k, r.vars[i].kind, r.vars[i].size / factor), low = kernel_var(k, r.vars[i].kind, factor);
            r.to[i] = kaffine_add(k, kaffine_scale(k, kaffine_var(k, high), factor), kaffine_var(k, low));
        } else {
            r.to[i] = add_same(k, &r.vars[i]);
        }
        r.known[i] = true;
    }
    return rebuild_end(&r);
}

bool kernel_next_form(const struct kernel *k, struct kform_walk *w)
{
    for (; w->owner < k->var_count + k->expr_count + k->store_count; w->owner++, w->next = 0) {
        const uint32_t expr = w->owner - k->var_count;
        const struct kvar *v = w->owner < k->var_count ? &k->vars[w->owner] : NULL;
        const struct kexpr *e = !v && expr < k->expr_count ? &k->exprs[expr] : NULL;
        const struct kstore *s = !v && !e ? &k->stores[expr - k->expr_count] : NULL;
        const struct kguard *guards = e ? e->guards : s ? s->guards : NULL;

        if (v ? v->kind != KVAR_DIVMOD : e && e->op != K_LOAD && e->op != K_INDEX)
            continue;
        if (w->next > (e ? e->guard_count : s ? s->guard_count : 0))
            continue;
        w->form = w->next ? &guards[w->next - 1].form : v ? &v->base : e ? &e->index : &s->index;
        w->bound = w->next ? guards[w->next - 1].bound : 0;
        w->next++;
        return true;
    }
    return false;
}

/** Returns whether all forms treat a variable and the next one as one. */
static bool treats_as_one(const struct kernel *k, uint32_t outer)
{
    struct kform_walk w = {0};

    while (kernel_next_form(k, &w))
        if (kaffine_coefficient(*w.form, outer) != kaffine_coefficient(*w.form, outer + 1) * k->vars[outer + 1].size)
            return false;
    return true;
}

/** Merges every pair of neighbours that all forms treat as outer * size + inner. */
static bool merge_variables(struct kernel *k)
{
    bool with_next[KERNEL_VARS_MAX] = {false}, any = false;
    struct rebuild r;
    int64_t size = 1;

    for (uint32_t i = 0; i + 1 < k->var_count && is_loop(&k->vars[i + 1]); i++) {
        with_next[i] = i >= k->macro_tile_vars && k->vars[i].kind == k->vars[i + 1].kind && !k->vars[i].bounded &&
                       !k->vars[i + 1].bounded && treats_as_one(k, i);
        any |= with_next[i];
    }
    if (!any)
        return true;
    if (!rebuild_begin(&r, k))
        return false;
    for (uint32_t i = 0; i < r.var_count && is_loop(&r.vars[i]); i++) {
        size *= r.vars[i].size;
        /* outer * c * size + inner * c is c * merged: the inner one's coefficient stands for both. */
        r.to[i] = kaffine_const(0);
        r.known[i] = true;
        if (!with_next[i]) {
            r.to[i] = r.vars[i].bounded ? add_same(k, &r.vars[i]) : kaffine_var(k, kernel_var(k, r.vars[i].kind, size));
            size = 1;
        }
    }
    return rebuild_end(&r);
}

static bool normalise(struct kernel *k)
{
    uint32_t var;
    int64_t factor;

    if (!rebuild_same(k, true))
        return false;
    for (int round = 0; round < SPLIT_ROUNDS && k->var_count + 2 < KERNEL_VARS_MAX && find_split(k, &var, &factor); round++)
        if (!split_variable(k, var, factor))
            return false;
    return merge_variables(k);
}

/* Returns a form of elements as one of groups of them: the innermost variable counts what a group has.  *whole becomes false if
 * it does not. */
static struct kaffine form_of_groups(struct kernel *k, struct kaffine a, int64_t size, bool *whole)
{
    struct kaffine of = kaffine_const(a.offset / size);

    *whole = *whole && a.offset % size == 0 && kaffine_coefficient(a, k->var_count - 1) == 1;
    for (uint32_t i = 0; i < a.count; i++) {
        const struct kterm *t = &a.terms[i];
        if (t->var == k->var_count - 1)
            continue;
        *whole = *whole && t->coefficient % size == 0;
        of = kaffine_add_scaled(k, of, kaffine_var(k, t->var), t->coefficient / size);
    }
    return of;
}

/* Makes a copy of two or four bytes at a time, such as a transpose of words, one of numbers of 16 or 32 bits. */
static bool copy_words(struct kernel *k)
{
    struct kstore *s = k->stores;
    struct kexpr *load = k->exprs;
    struct kvar *last = &k->vars[k->var_count ? k->var_count - 1 : 0]; /* derived ones come after those of loops */
    bool whole = true;

    if (!k->var_count || k->tensor_count != 2 || k->store_count != 1 || k->expr_count != 1 || last->kind != KVAR_PARALLEL ||
        load->op != K_LOAD || load->guard_count || s->guard_count || k->tensors[0].type != k->tensors[1].type ||
        last->size < 2 || sizeof(int32_t) % ((size_t)last->size * dtype_size(k->tensors[0].type)) != 0 || last->bounded)
        return true;
    const int64_t size = last->size;
    const struct kaffine from = form_of_groups(k, load->index, size, &whole), to = form_of_groups(k, s->index, size, &whole);
    if (!whole)
        return true;
    load->index = from;
    load->type = (size_t)size * dtype_size(k->tensors[0].type) == sizeof(int32_t) ? KT_U32 : KT_I16;
    s->index = to;
    last->size = 1;
    k->tensors[0].type = k->tensors[1].type = load->type == KT_U32 ? WNNOperandDataType_Uint32 : DTYPE_INT16;
    k->tensors[0].elements /= size;
    k->tensors[1].elements /= size;
    return normalise(k);
}

/* ---- 2. phases ---- */

/** Returns the first phase in which an expression's value can be used. */
static uint32_t ready(const struct kernel *k, uint32_t id)
{
    return k->exprs[id].phase + (k->exprs[id].op == K_REDUCE);
}

/** Returns the first phase in which a form can be evaluated: later than 0 only if data it depends on is. */
static uint32_t form_phase(const struct kernel *k, struct kaffine a)
{
    uint32_t phase = 0;

    for (uint32_t i = 0; i < a.count; i++) {
        const struct kvar *v = &k->vars[a.terms[i].var];
        if (v->kind == KVAR_LOADED)
            phase = max_u32(phase, ready(k, v->expr));
        else if (v->kind == KVAR_DIVMOD)
            phase = max_u32(phase, form_phase(k, v->base));
    }
    return phase;
}

static uint32_t guards_phase(const struct kernel *k, uint32_t count, const struct kguard *guards)
{
    uint32_t phase = 0;

    for (uint32_t i = 0; i < count; i++)
        phase = max_u32(phase, form_phase(k, guards[i].form));
    return phase;
}

static void compute_phases(struct kernel *k)
{
    uint32_t phases = 0;

    k->parallel_count = k->reduced_count = 0;
    for (uint32_t i = 0; i < k->var_count; i++) {
        k->parallel_count += k->vars[i].kind == KVAR_PARALLEL;
        k->reduced_count += k->vars[i].kind == KVAR_REDUCED;
    }
    for (uint32_t i = 0; i < k->expr_count; i++) {
        struct kexpr *e = &k->exprs[i];
        e->phase = max_u32(form_phase(k, e->index), guards_phase(k, e->guard_count, e->guards));
        e->vars = kaffine_vars(k, e->index) | kguards_vars(k, e->guard_count, e->guards);
        for (uint32_t a = 0; a < 3 && e->args[a] != KEXPR_NONE; a++) {
            e->phase = max_u32(e->phase, ready(k, e->args[a]));
            e->vars |= k->exprs[e->args[a]].vars;
        }
        if (e->op == K_REDUCE)
            e->vars &= ((uint64_t)1 << k->parallel_count) - 1;
        if (e->op == K_REDUCE || e->varying)
            phases = max_u32(phases, e->phase + 1);
    }
    for (uint32_t i = 0; i < k->store_count; i++) {
        struct kstore *s = &k->stores[i];
        s->phase = max_u32(max_u32(ready(k, s->expr), form_phase(k, s->index)), guards_phase(k, s->guard_count, s->guards));
        if (s->varying)
            phases = max_u32(phases, s->phase + 1);
    }
    k->phase_count = phases;
    for (uint32_t i = 0; i < k->store_count; i++)
        if (!k->stores[i].varying)
            k->stores[i].phase = phases;
}

/* ---- questions ---- */

double kernel_points(const struct kernel *k, enum kvar_kind kind)
{
    double n = 1;

    for (uint32_t i = 0; i < k->var_count; i++)
        if (k->vars[i].kind == kind)
            n *= (double)k->vars[i].size;
    return n;
}

bool kernel_multiplies(const struct kernel *k)
{
    bool any = false;

    for (uint32_t i = 0; i < k->expr_count; i++)
        any |= k->exprs[i].op == K_REDUCE && k->exprs[i].reduce == KR_DOT;
    return any;
}

bool kernel_stores_in_order(const struct kernel *k)
{
    for (uint32_t i = 0; i < k->store_count; i++) {
        if (!k->stores[i].varying)
            continue;
        if (kaffine_may_derive(k, k->stores[i].index, KEXPR_NONE))
            return true;
        for (uint32_t r = k->parallel_count; r < k->parallel_count + k->reduced_count; r++)
            if (k->vars[r].size > 1 && !kaffine_coefficient(k->stores[i].index, r) &&
                !kaffine_may_derive(k, k->stores[i].index, r))
                return true;
    }
    return false;
}

/* ---- all of it ---- */

bool kernel_finish(struct kernel *k)
{
    assert(!k->builder.finished);
    if (k->stage_count)
        return kernel_finish_stages(k);
    if (k->error.status || !normalise(k) || !copy_words(k))
        return false;
    compute_phases(k);
    k->exprs = arena_copy(&k->arena, k->exprs, k->expr_count * sizeof *k->exprs);
    arena_free(&k->builder.arena);
    k->builder.finished = true;
    return k->exprs || error_out_of_memory(&k->error);
}

bool kernel_may_share(const struct kernel *k, uint32_t input, uint32_t output)
{
    const struct kstore *store = NULL;

    if (k->stage_count) /* other macro-tiles may still read what one has overwritten */
        return false;
    if (k->tensors[input].written || !k->tensors[output].written ||
        dtype_size(k->tensors[input].type) != dtype_size(k->tensors[output].type))
        return false;
    for (uint32_t i = 0; i < k->store_count; i++) {
        if (k->stores[i].tensor != output)
            continue;
        if (store) /* which of them comes first would matter */
            return false;
        store = &k->stores[i];
    }
    if (!store || kaffine_may_derive(k, store->index, KEXPR_NONE))
        return false;
    for (uint32_t i = 0; i < k->expr_count; i++) {
        const struct kexpr *e = &k->exprs[i];
        if (e->op != K_LOAD || e->tensor != input)
            continue;
        /* Each point reads only what itself overwrites, and overwrites it in its last phase. */
        if (!kaffine_equal(e->index, store->index))
            return false;
        if (k->phase_count > 1 && store->varying && store->phase + 1 < k->phase_count)
            return false;
    }
    return true;
}

/* ---- copies ---- */

static bool runs_over_all(const struct kernel *k, const struct kaffine *a, int64_t elements)
{
    if (a->offset || k->tensors[0].elements != k->tensors[1].elements)
        return false;
    return k->parallel_count
               ? k->vars[0].size == elements && a->count == 1 && a->terms[0].var == 0 && a->terms[0].coefficient == 1
               : elements == 1;
}

bool kernel_copies(const struct kernel *k)
{
    const struct kstore *s = k->stores;

    if (k->stage_count || k->tensor_count != 2 || k->store_count != 1 || k->parallel_count > 1 || k->reduced_count ||
        s->guard_count || s->tensor != 1 || k->tensors[0].type != k->tensors[1].type)
        return false;
    const struct kexpr *load = &k->exprs[s->expr];
    return load->op == K_LOAD && load->tensor == 0 && !load->guard_count &&
           runs_over_all(k, &load->index, k->tensors[0].elements) && runs_over_all(k, &s->index, k->tensors[1].elements);
}
