/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Runs a finished kernel, one scalar at a time, in the most literal way: every PARALLEL point, in it every phase, in it every
 * REDUCED point.  Values are computed when first asked for and remembered for the point (or the iteration, if they vary).
 *
 * Sums accumulate in double, so that generated code differs in its order of summation only.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/kernel/kernel_internal.h"
#include "support/kernel_text.h"

union accumulator {
    double f;
    uint64_t u;
};

struct run {
    const struct kernel *k;
    void *const *tensors;
    int64_t vars[KERNEL_VARS_MAX]; /* loop variables' values */
    union scalar *values;
    uint64_t *stamps; /* when a value was computed: `point` or `iteration` */
    uint64_t point, iteration, clock;
    union accumulator *sums; /* of REDUCE and SCAN */
    union scalar *extremes;  /* of ARG_MIN and ARG_MAX */
    int64_t reduced_index;
};

static union scalar value_of(struct run *r, uint32_t id);

static int64_t form_value(struct run *r, struct kaffine a);

static union scalar cast_scalar(enum ktype to, enum ktype from, union scalar s)
{
    const union scalar args[3] = {s, {.u64 = 0}, {.u64 = 0}};

    return kernel_scalar(K_CAST, to, from, args);
}

static int64_t var_value(struct run *r, uint32_t var)
{
    const struct kvar *v = &r->k->vars[var];

    if (v->kind == KVAR_DIVMOD) {
        int64_t q = form_value(r, v->base) / v->divide;
        return v->modulo ? q % v->modulo : q;
    }
    if (v->kind == KVAR_LOADED) {
        union scalar s = value_of(r, v->expr);
        enum ktype type = r->k->exprs[v->expr].type;
        int64_t i = cast_scalar(KT_I64, type, s).i64;
        if (type == KT_U64 && s.u64 > INT64_MAX)
            i = INT64_MAX;
        i = i < -v->size ? -v->size : i >= v->size ? v->size - 1 : i;
        return i < 0 ? i + v->size : i;
    }
    return r->vars[var];
}

static int64_t form_value(struct run *r, struct kaffine a)
{
    int64_t value = a.offset;

    for (uint32_t i = 0; i < a.count; i++)
        value += a.terms[i].coefficient * var_value(r, a.terms[i].var);
    return value;
}

static bool guards_hold(struct run *r, uint32_t count, const struct kguard *guards)
{
    for (uint32_t i = 0; i < count; i++) {
        int64_t v = form_value(r, guards[i].form);
        if (v < 0 || v >= guards[i].bound)
            return false;
    }
    return true;
}

static union scalar load(struct run *r, const struct kexpr *e)
{
    const struct ktensor *t = &r->k->tensors[e->tensor];
    const size_t size = dtype_size(t->type);
    union scalar s = {.u64 = 0};

    if (!guards_hold(r, e->guard_count, e->guards))
        return e->bits;
    int64_t i = form_value(r, e->index);
    assert(i >= 0 && i < t->elements);
    memcpy(&s, (const char *)r->tensors[e->tensor] + (size_t)i * size, size);
    return scalar_widen(s, t->type);
}

static void store(struct run *r, const struct kstore *s, union scalar value, int64_t i)
{
    const struct ktensor *t = &r->k->tensors[s->tensor];
    const size_t size = dtype_size(t->type);

    assert(i >= 0 && i < t->elements);
    value = scalar_narrow(value, t->type);
    memcpy((char *)r->tensors[s->tensor] + (size_t)i * size, &value, size);
}

static bool is_double_sum(const struct kexpr *e)
{
    return ktype_is_float(e->type) &&
           (e->op == K_SCAN || e->reduce == KR_SUM || e->reduce == KR_PRODUCT || e->reduce == KR_DOT);
}

static uint64_t bits_of(enum ktype t, union scalar s)
{
    return cast_scalar(KT_I64, t, s).u64;
}

static union scalar sum_value(const struct kexpr *e, union accumulator a)
{
    union scalar s = {.u64 = 0};

    if (!is_double_sum(e))
        return cast_scalar(e->type, KT_U64, (union scalar){.u64 = a.u});
    if (e->type == KT_F64)
        s.f64 = a.f;
    else
        s.f32 = (float)a.f;
    return s;
}

static double float_of(enum ktype type, union scalar v)
{
    return type == KT_F64 ? v.f64 : (double)v.f32;
}

static void sum_add(const struct kexpr *e, union accumulator *a, union scalar v)
{
    if (is_double_sum(e))
        a->f += float_of(e->type, v);
    else
        a->u += bits_of(e->type, v);
}

static union scalar value_of(struct run *r, uint32_t id)
{
    const struct kexpr *e = &r->k->exprs[id];
    union scalar args[3] = {{.u64 = 0}, {.u64 = 0}, {.u64 = 0}}, v = {.u64 = 0};

    if (r->stamps[id] == (e->varying ? r->iteration : r->point))
        return r->values[id];
    assert(e->op != K_REDUCE); /* its phase has run */
    for (uint32_t i = 0; i < kop_arity(e->op); i++)
        args[i] = value_of(r, e->args[i]);
    switch (e->op) {
    case K_CONST:
        v = e->bits;
        break;
    case K_LOAD:
        v = load(r, e);
        break;
    case K_INDEX:
        v.i64 = form_value(r, e->index);
        break;
    case K_SCAN:
        if (e->bits.u8)
            v = sum_value(e, r->sums[id]);
        sum_add(e, &r->sums[id], args[0]);
        if (!e->bits.u8)
            v = sum_value(e, r->sums[id]);
        break;
    default:
        v = kernel_scalar(e->op, e->type, e->args[0] == KEXPR_NONE ? e->type : r->k->exprs[e->args[0]].type, args);
        break;
    }
    r->values[id] = v;
    r->stamps[id] = e->varying ? r->iteration : r->point;
    return v;
}

/** Returns whether a comes before b as an extreme; NaN comes before everything but NaN. */
static bool better(enum kreduce kind, enum ktype type, union scalar a, union scalar b)
{
    const union scalar args[3] = {kind == KR_ARG_MIN ? a : b, kind == KR_ARG_MIN ? b : a, {.u64 = 0}};

    if (ktype_is_float(type) && (isnan(float_of(type, a)) || isnan(float_of(type, b))))
        return isnan(float_of(type, a)) && !isnan(float_of(type, b));
    return kernel_scalar(K_LT, KT_BOOL, type, args).u8;
}

static void reduce_step(struct run *r, uint32_t id)
{
    const struct kexpr *e = &r->k->exprs[id];
    const enum ktype type = r->k->exprs[e->args[0]].type;
    const bool first = r->reduced_index == 0;
    union scalar v = value_of(r, e->args[0]), args[3] = {v, r->values[id], {.u64 = 0}};

    switch (e->reduce) {
    case KR_SUM:
        sum_add(e, &r->sums[id], v);
        break;
    case KR_DOT:
        args[1] = value_of(r, e->args[1]);
        if (is_double_sum(e))
            r->sums[id].f = fma(float_of(type, v), float_of(type, args[1]), r->sums[id].f);
        else
            r->sums[id].u += bits_of(type, v) * bits_of(type, args[1]);
        break;
    case KR_PRODUCT:
        if (is_double_sum(e))
            r->sums[id].f = first ? float_of(type, v) : r->sums[id].f * float_of(type, v);
        else
            r->sums[id].u = first ? bits_of(type, v) : r->sums[id].u * bits_of(type, v);
        break;
    case KR_MIN:
    case KR_MAX:
        r->values[id] = first ? v : kernel_scalar(e->reduce == KR_MIN ? K_MIN : K_MAX, type, type, args);
        break;
    case KR_ARG_MIN:
    case KR_ARG_MAX:
        if (first || better(e->reduce, type, v, r->extremes[id])) {
            r->extremes[id] = v;
            r->values[id].i64 = r->reduced_index;
        }
        break;
    case KR_COUNT_:
        break;
    }
}

static int64_t first_value(const struct run *r, uint32_t var)
{
    return r->k->vars[var].bounded ? ((const int32_t *)r->tensors[r->k->bound])[0] : 0;
}

static int64_t end_value(const struct run *r, uint32_t var)
{
    return r->k->vars[var].bounded ? ((const int32_t *)r->tensors[r->k->bound])[1] : r->k->vars[var].size;
}

static void begin_values(struct run *r, uint32_t first, uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++)
        r->vars[i] = first_value(r, i);
}

/** Steps the variables first .. first+count-1 like an odometer; returns false once all combinations are through. */
static bool advance(struct run *r, uint32_t first, uint32_t count)
{
    for (uint32_t i = first + count; i-- > first;) {
        if (++r->vars[i] < end_value(r, i))
            return true;
        r->vars[i] = first_value(r, i);
    }
    return false;
}

/** Evaluates all the stores due, then writes them: loads come before stores. */
static void run_stores(struct run *r, bool varying, uint32_t phase, union scalar *pending, int64_t *addresses)
{
    const struct kernel *k = r->k;

    for (uint32_t i = 0; i < k->store_count; i++) {
        const struct kstore *s = &k->stores[i];
        if (s->varying != varying || s->phase != phase)
            continue;
        addresses[i] = guards_hold(r, s->guard_count, s->guards) ? form_value(r, s->index) : -1;
        pending[i] = value_of(r, s->expr);
    }
    for (uint32_t i = 0; i < k->store_count; i++)
        if (k->stores[i].varying == varying && k->stores[i].phase == phase && addresses[i] >= 0)
            store(r, &k->stores[i], pending[i], addresses[i]);
}

static void run_phase(struct run *r, uint32_t phase, union scalar *pending, int64_t *addresses)
{
    const struct kernel *k = r->k;

    for (uint32_t i = 0; i < k->expr_count; i++)
        if (k->exprs[i].op == K_SCAN || (k->exprs[i].op == K_REDUCE && k->exprs[i].phase == phase))
            memset(&r->sums[i], 0, sizeof r->sums[i]);
    r->reduced_index = 0;
    begin_values(r, k->parallel_count, k->reduced_count);
    do {
        r->iteration = ++r->clock;
        /* Scans count every iteration. */
        for (uint32_t i = 0; i < k->expr_count; i++)
            if (k->exprs[i].op == K_SCAN && k->exprs[i].phase <= phase)
                value_of(r, i);
        for (uint32_t i = 0; i < k->expr_count; i++) {
            if (k->exprs[i].op == K_REDUCE && k->exprs[i].phase == phase)
                reduce_step(r, i);
        }
        run_stores(r, true, phase, pending, addresses);
        r->reduced_index++;
    } while (advance(r, k->parallel_count, k->reduced_count));
    for (uint32_t i = 0; i < k->expr_count; i++) {
        const struct kexpr *e = &k->exprs[i];
        if (e->op != K_REDUCE || e->phase != phase)
            continue;
        if (e->reduce == KR_SUM || e->reduce == KR_PRODUCT || e->reduce == KR_DOT)
            r->values[i] = sum_value(e, r->sums[i]);
        r->stamps[i] = r->point;
    }
}

/* Runs the points whose first `fixed` variables have the values in vars. */
static bool run_points(const struct kernel *k, uint32_t fixed, const int64_t *vars, void *const *tensors)
{
    struct run r = {.k = k, .tensors = tensors};
    struct arena arena = {0};
    union scalar *pending = arena_array(&arena, k->store_count + 1, sizeof *pending);
    int64_t *addresses = arena_array(&arena, k->store_count + 1, sizeof *addresses);

    assert(k->builder.finished);
    memcpy(r.vars, vars, fixed * sizeof *vars);
    r.values = arena_array(&arena, k->expr_count + 1, sizeof *r.values);
    r.stamps = arena_array(&arena, k->expr_count + 1, sizeof *r.stamps);
    r.sums = arena_array(&arena, k->expr_count + 1, sizeof *r.sums);
    r.extremes = arena_array(&arena, k->expr_count + 1, sizeof *r.extremes);
    if (pending && addresses && r.values && r.stamps && r.sums && r.extremes) {
        begin_values(&r, fixed, k->parallel_count - fixed);
        do {
            r.point = r.iteration = ++r.clock;
            for (uint32_t phase = 0; phase < k->phase_count; phase++)
                run_phase(&r, phase, pending, addresses);
            run_stores(&r, false, k->phase_count, pending, addresses);
        } while (advance(&r, fixed, k->parallel_count - fixed));
        arena_free(&arena);
        return true;
    }
    arena_free(&arena);
    return false;
}

/* ---- stages ---- */

/** Runs one macro-tile of a finished stage. */
static bool run_macro_tile(const struct kernel *k, int64_t macro_tile, void *const *tensors)
{
    int64_t vars[KERNEL_VARS_MAX] = {0};

    for (uint32_t i = k->macro_tile_vars; i-- > 0;) {
        vars[i] = macro_tile % k->vars[i].size;
        macro_tile /= k->vars[i].size;
    }
    return run_points(k, k->macro_tile_vars, vars, tensors);
}

static bool run_stages(const struct kernel *k, void *const *tensors)
{
    const int64_t macro_tiles = kernel_macro_tiles(k->stages[0].kernel);
    void *own[KERNEL_TENSORS_MAX], *locals[KERNEL_LOCALS_MAX] = {NULL};
    bool ok = true;

    for (uint32_t i = 0; ok && i < k->local_count; i++)
        ok = (locals[i] = calloc((size_t)k->locals[i].elements, dtype_size(k->locals[i].type))) != NULL;
    for (int64_t macro_tile = 0; ok && macro_tile < macro_tiles; macro_tile++)
        for (uint32_t i = 0; ok && i < k->stage_count; i++) {
            const struct kstage *s = &k->stages[i];

            if (s->when && (*(const float *)locals[s->predicate] < s->limit) != (s->when == KSTAGE_BELOW))
                continue;
            for (uint32_t t = 0; t < s->kernel->tensor_count; t++)
                own[t] =
                    s->tensors[t] < KERNEL_TENSORS_MAX ? tensors[s->tensors[t]] : locals[s->tensors[t] - KERNEL_TENSORS_MAX];
            ok = run_macro_tile(s->kernel, macro_tile, own);
        }
    for (uint32_t i = 0; i < k->local_count; i++)
        free(locals[i]);
    return ok;
}

bool kernel_interpret(const struct kernel *k, void *const *tensors)
{
    static const int64_t none[1];

    return k->stage_count ? run_stages(k, tensors) : run_points(k, 0, none, tensors);
}
