/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes the addresses of innermost loops cheap.  An index is a sum of terms: those that are the same in all iterations are
 * added to the pointer before the loop, and products of the loop's variable and a number, such as a stride, become sums that
 * grow with the variable.  LLVM's strength reduction does so as well, but takes a sixth of the time of compiling.
 */
#include "codegen/lower/build.h"

enum { SUMS_MAX = 8 }; /* of a loop, in registers */

struct induction {
    struct loop_builder b;
    struct build m;
    V loop, factors[SUMS_MAX], sums[SUMS_MAX];
    int64_t times[SUMS_MAX];
    uint32_t count;
    struct loop_place before; /* the loop */
};

static bool varies(const struct induction *d, const struct loop_value *v)
{
    if (v == d->loop)
        return true;
    for (const struct loop_region *r = v->region; r; r = r->owner ? r->owner->region : NULL)
        if (r->owner == d->loop)
            return true;
    return false;
}

/* Returns the slot of variable * factor * times, or NULL if there are too many. */
static V find_sum(struct induction *d, V factor, int64_t times)
{
    struct loop_region *body = d->loop->regions;
    struct loop_place end = {.region = body, .after = body->last->previous};

    for (uint32_t i = 0; i < d->count; i++)
        if (d->factors[i] == factor && d->times[i] == times)
            return d->sums[i];
    if (d->count == SUMS_MAX)
        return NULL;
    V sum = loop_slot(&d->b, factor->type);
    d->factors[d->count] = factor;
    d->times[d->count] = times;
    d->sums[d->count++] = sum;
    d->before.after = d->loop->previous; /* the slot, if the loop was first */
    d->b.at = &d->before;
    V product = op_times(&d->m, factor, times), step = op_mul(&d->m, product, body->last->args[0]);
    op_set(&d->m, sum, op_mul(&d->m, d->loop->args[0], product));
    d->b.at = &end;
    op_set(&d->m, sum, op_add(&d->m, op_get(&d->m, sum), step));
    return sum;
}

static void reduce_product(struct induction *d, V v)
{
    for (uint32_t i = 0; v->op == LOOP_MUL && i < 2; i++) {
        V x = v->args[i], factor = v->args[1 - i];
        int64_t times = 1;

        if (x->op == LOOP_MUL && x->args[0] == d->loop && is_int_constant(x->args[1], &times))
            x = d->loop;
        V sum = x == d->loop && factor->op != LOOP_CONST && !varies(d, factor) ? find_sum(d, factor, times) : NULL;
        if (!sum)
            continue;
        v->op = LOOP_GET;
        v->arg_count = 1;
        v->args[0] = sum;
    }
}

/* Adds the terms of an index to *same, before the loop, and to *rest.  Returns false if one may be neither. */
static bool split_index(struct induction *d, V index, struct loop_place *here, V *same, V *rest)
{
    const bool whole = !varies(d, index),
               product = !whole && index->op == LOOP_MUL && !varies(d, index->args[0]) && !varies(d, index->args[1]);
    V *to = whole || product ? same : rest;

    if (!whole && index->op == LOOP_ADD)
        return split_index(d, index->args[0], here, same, rest) && split_index(d, index->args[1], here, same, rest);
    if (to == rest && index != d->loop && index->op != LOOP_GET && index->op != LOOP_MUL)
        return false;
    d->b.at = to == same ? &d->before : here;
    if (product)
        index = op_mul(&d->m, index->args[0], index->args[1]);
    *to = *to ? op_add(&d->m, *to, index) : index;
    return true;
}

static void split_address(struct induction *d, V v)
{
    struct loop_place here = {.region = v->region, .after = v->previous};
    V same = NULL, rest = NULL;

    if (v->op != LOOP_ADDRESS || lanes_of(v) > 1 || varies(d, v->args[0]) || !varies(d, v->args[1]) ||
        !split_index(d, v->args[1], &here, &same, &rest) || !same || !rest || same->op == LOOP_CONST)
        return;
    d->b.at = &d->before;
    v->args[0] = op_opaque(&d->m, op_address(&d->m, v->of, v->args[0], same));
    v->args[1] = rest;
}

static void reduce_operations(struct induction *d, struct loop_region *region, void (*reduce)(struct induction *d, V v))
{
    for (V v = region->first; v; v = v->next) {
        for (uint32_t r = 0; r < v->region_count; r++)
            reduce_operations(d, &v->regions[r], reduce);
        reduce(d, v);
    }
}

/* Returns whether there is a loop. */
static bool reduce_loops(struct induction *d, struct loop_region *region)
{
    bool any = false;

    for (V v = region->first; v; v = v->next) {
        bool inner = false;

        for (uint32_t r = 0; r < v->region_count; r++)
            inner |= reduce_loops(d, &v->regions[r]);
        any |= inner || v->op == LOOP_FOR;
        d->loop = v;
        if (v->op != LOOP_FOR || inner || v->number & LOOP_AT_MOST_ONCE || varies(d, v->regions->last->args[0]))
            continue;
        d->count = 0;
        d->before = (struct loop_place){.region = region, .after = v->previous};
        reduce_operations(d, v->regions, reduce_product);
        reduce_operations(d, v->regions, split_address);
    }
    return any;
}

void reduce_addresses(const struct build *m, struct loop_function *f)
{
    struct induction d = {.m = *m};

    d.m.b = &d.b;
    if (!m->b->module->failed && loop_builder_begin(&d.b, m->b->module, f))
        reduce_loops(&d, &f->body);
}
