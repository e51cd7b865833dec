/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Numbers the numbers of a kernel: where those of each variable, expression and store begin, and which are arguments.
 */
#include "codegen/opencl/internal.h"

#include <stdlib.h>
#include <string.h>

static uint32_t guard_numbers(uint32_t count, const struct kguard *guards)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < count; i++)
        n += form_numbers(guards[i].form) + 1;
    return n;
}

struct gpu_vars reduced_vars(const struct kernel *k)
{
    struct gpu_vars reduced = {.count = k->reduced_count};

    for (uint32_t i = 0; i < reduced.count; i++)
        reduced.vars[i] = k->parallel_count + i;
    return reduced;
}

bool printer_number(struct printer *p, struct arena *a)
{
    const struct kernel *k = p->k;
    uint32_t next = 0;

    p->starts.vars = arena_array(a, k->var_count + 1, sizeof(uint32_t));
    p->starts.exprs = arena_array(a, k->expr_count + 1, sizeof(uint32_t));
    p->starts.stores = arena_array(a, k->store_count + 1, sizeof(uint32_t));
    p->expr_known = arena_array(a, k->expr_count + 1, sizeof(bool));
    p->var_known = arena_array(a, k->var_count + 1, sizeof(bool));
    p->expr_lanes = arena_array(a, k->expr_count + 1, sizeof(bool));
    p->var_lanes = arena_array(a, k->var_count + 1, sizeof(bool));
    if (!p->starts.vars || !p->starts.exprs || !p->starts.stores || !p->expr_known || !p->var_known || !p->expr_lanes ||
        !p->var_lanes || !kernel_numbers(k, KEXPR_NONE, a, &p->numbers))
        return false;
    p->arena = a;
    p->lanes = 1;
    if (p->s->lane_var != KEXPR_NONE)
        gpu_differ_along(k, p->s->lane_var, p->var_lanes, p->expr_lanes);
    for (uint32_t i = 0; i < k->var_count; i++) {
        p->starts.vars[i] = next;
        next += k->vars[i].kind == KVAR_DIVMOD ? form_numbers(k->vars[i].base) + 2 : 1;
    }
    for (uint32_t i = 0; i < k->expr_count; i++) {
        const struct kexpr *e = &k->exprs[i];
        p->starts.exprs[i] = next;
        if (e->op == K_LOAD || e->op == K_INDEX)
            next += form_numbers(e->index);
        if (e->op == K_LOAD)
            next += guard_numbers(e->guard_count, e->guards);
    }
    for (uint32_t i = 0; i < k->store_count; i++) {
        p->starts.stores[i] = next;
        next += form_numbers(k->stores[i].index) + guard_numbers(k->stores[i].guard_count, k->stores[i].guards);
    }
    return next == p->numbers.count;
}

bool printer_append_params(struct opencl_source *out, const struct knumbers *numbers)
{
    const uint32_t count = out->param_count + numbers->param_count;
    int64_t *params = realloc(out->params, (count + 1) * sizeof *params);

    if (!params)
        return false;
    if (numbers->param_count)
        memcpy(params + out->param_count, numbers->params, numbers->param_count * sizeof *params);
    out->params = params;
    out->param_count = count;
    return true;
}
