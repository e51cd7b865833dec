/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Computes with maps, which say which element of a value is meant, and how that changes on the way to an operand
 * (passes/lower/lower.h).
 */

#include <string.h>

#include "passes/lower/lower.h"

struct map map_like(const struct map *m, uint32_t rank)
{
    struct map r = {.rank = rank, .guard_count = m->guard_count, .guards = m->guards};

    return r;
}

struct kaffine form_divmod(struct lowering *l, struct kaffine form, int64_t divide, int64_t modulo)
{
    int64_t low, high;

    kaffine_range(l->k, form, &low, &high);
    if (low < 0 && modulo) {
        /* A multiple of divide * modulo changes nothing where the form is not negative, and elsewhere the value is unused. */
        int64_t period = divide * modulo;
        form = kaffine_add_const(form, ceil_div(-low, period) * period);
    }
    return kernel_divmod(l->k, form, divide, modulo);
}

struct map map_spread(struct lowering *l, const struct map *m, const struct tensor_type *t)
{
    struct map r = map_like(m, t->rank);
    int64_t strides[RANK_MAX], low, high;

    if (!m->linear)
        return *m;
    type_strides(t, strides);
    kaffine_range(l->k, m->forms[0], &low, &high);
    for (uint32_t d = 0; d < t->rank; d++) {
        /* The outermost dimension needs no modulo unless a guarded index may lie outside. */
        bool inside = d == 0 && low >= 0 && high < type_elements(t);
        r.forms[d] = form_divmod(l, m->forms[0], strides[d], inside ? 0 : t->dims[d]);
    }
    return r;
}

struct kaffine map_linear(struct lowering *l, const struct map *m, const struct tensor_type *t)
{
    int64_t strides[RANK_MAX];

    if (m->linear)
        return m->forms[0];
    type_strides(t, strides);
    return kaffine_sum(l->k, t->rank, m->forms, strides);
}

static bool stays_inside(struct lowering *l, const struct map *m, const struct tensor_type *t)
{
    for (uint32_t d = 0; d < t->rank; d++) {
        int64_t low, high;
        kaffine_range(l->k, m->forms[d], &low, &high);
        if (low < 0 || high >= t->dims[d])
            return false;
    }
    return true;
}

/**
 * Returns a reshape of an index that may lie outside where guards fail: dimensions that both types have are kept as they are,
 * so that what lies outside in one of them does not spoil the row-major index of the others.
 */
static struct map reshape_by_groups(struct lowering *l, const struct map *m, const struct tensor_type *from,
                                    const struct tensor_type *to)
{
    struct map r = map_like(m, to->rank);
    uint32_t i = 0, j = 0;

    while (i < from->rank || j < to->rank) {
        int64_t left = i < from->rank ? from->dims[i] : 1, right = j < to->rank ? to->dims[j] : 1, stride = 1;
        const uint32_t first = i, begin = j;
        struct kaffine linear = kaffine_const(0);

        i += i < from->rank;
        j += j < to->rank;
        while (left != right) {
            if (left < right)
                left *= from->dims[i++];
            else
                right *= to->dims[j++];
        }
        if (i - first == 1 && j - begin == 1) {
            r.forms[begin] = m->forms[first];
            continue;
        }
        for (uint32_t d = i; d-- > first; stride *= from->dims[d])
            linear = kaffine_add_scaled(l->k, linear, m->forms[d], stride);
        stride = 1;
        for (uint32_t d = j; d-- > begin; stride *= to->dims[d])
            r.forms[d] = form_divmod(l, linear, stride, to->dims[d]);
    }
    return r;
}

struct map map_reshape(struct lowering *l, const struct map *m, const struct tensor_type *from, const struct tensor_type *to)
{
    if (type_same_dims(from, to))
        return *m;
    if (!m->linear && type_elements(from) && !stays_inside(l, m, from))
        return reshape_by_groups(l, m, from, to);
    struct map r = map_like(m, to->rank);
    r.linear = true;
    r.forms[0] = map_linear(l, m, from);
    return r;
}

struct map map_broadcast(struct lowering *l, const struct map *m, const struct tensor_type *result,
                         const struct tensor_type *operand)
{
    struct map spread, r;

    if (type_same_dims(result, operand))
        return *m;
    r = map_like(m, operand->rank);
    if (type_elements(operand) == 1)
        return r; /* all forms are 0 */
    if (type_elements(operand) == type_elements(result))
        return map_reshape(l, m, result, operand); /* only dimensions of size 1 more or less */
    spread = map_spread(l, m, result);
    for (uint32_t d = 0; d < operand->rank; d++)
        if (operand->dims[d] > 1)
            r.forms[d] = spread.forms[d + result->rank - operand->rank];
    return r;
}

bool map_guard(struct lowering *l, struct map *m, uint32_t count, const struct kguard *guards)
{
    bool never;

    if (!count)
        return true;
    struct kguard *all =
        arena_grow(&l->k->arena, m->guards, m->guard_count * sizeof *all, (m->guard_count + count) * sizeof *all);
    if (!all)
        return lower_no_memory(l);
    memcpy(all + m->guard_count, guards, count * sizeof *all);
    m->guard_count = kguards_simplify(l->k, m->guard_count + count, all, &m->guards, &never);
    return !l->k->error.status;
}

bool map_varies(const struct lowering *l, const struct map *m)
{
    const uint32_t count = m->linear ? 1 : m->rank;

    for (uint32_t d = 0; d < count; d++)
        if (kaffine_varying(l->k, m->forms[d]))
            return true;
    return kguards_varying(l->k, m->guard_count, m->guards);
}

bool map_equal(const struct map *a, const struct map *b)
{
    const uint32_t count = a->linear ? 1 : a->rank;

    if (a->linear != b->linear || a->rank != b->rank || a->guard_count != b->guard_count)
        return false;
    for (uint32_t d = 0; d < count; d++)
        if (!kaffine_equal(a->forms[d], b->forms[d]))
            return false;
    return kguards_equal(a->guard_count, a->guards, b->guards);
}
