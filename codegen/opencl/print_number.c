/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Numbers the numbers of a kernel: where those of each variable, expression and store begin, and which are arguments.
 */
#include "codegen/opencl/internal.h"

#include <stdlib.h>
#include <string.h>

bool printer_number(struct printer *p, struct arena *a)
{
    const struct kernel *k = p->k;

    p->expr_known = arena_array(a, k->expr_count + 1, sizeof(bool));
    p->var_known = arena_array(a, k->var_count + 1, sizeof(bool));
    p->expr_lanes = arena_array(a, k->expr_count + 1, sizeof(bool));
    p->var_lanes = arena_array(a, k->var_count + 1, sizeof(bool));
    if (!p->expr_known || !p->var_known || !p->expr_lanes || !p->var_lanes || !kernel_numbers(k, KEXPR_NONE, a, &p->numbers))
        return false;
    p->arena = a;
    p->lanes = 1;
    if (p->s->lane_var != KEXPR_NONE)
        gpu_differ_along(k, p->s->lane_var, p->var_lanes, p->expr_lanes);
    return true;
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
