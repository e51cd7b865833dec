/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Runs expansions on single values, with which tests compare generated code bit by bit.
 */
#pragma once

#include "ir/expansion/expansion.h"

/** Runs an expansion with kernel_scalar: all its steps, rare ones too.  Returns its result. */
static inline union scalar expansion_scalar(const struct expansion *x, const union scalar *args)
{
    union scalar values[EXPANSION_VALUES_MAX] = {{.u64 = 0}};

    for (uint32_t i = 0; i < x->value_count; i++) {
        const struct expansion_step *s = &x->steps[i];
        union scalar operands[3] = {{.u64 = 0}, {.u64 = 0}, {.u64 = 0}};

        if (i < x->argument_count) {
            values[i] = args[i];
            continue;
        }
        if (s->op == K_CONST) {
            values[i] = s->bits;
            continue;
        }
        for (uint32_t a = 0; a < 3 && s->args[a] != EXPANSION_NONE; a++)
            operands[a] = values[s->args[a]];
        values[i] = kernel_scalar(s->op, s->type, x->steps[s->args[0]].type, operands);
    }
    return values[x->result];
}
