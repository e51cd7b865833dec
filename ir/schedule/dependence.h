/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Computes the variables that the values of a kernel depend on, as sets: a bit for each PARALLEL and REDUCED variable.
 */
#pragma once

#include "ir/kernel/kernel.h"

/** Returns the sets of all expressions, in the arena, or NULL if memory runs out.  A REDUCE has one value for a point. */
uint64_t *kernel_dependences(const struct kernel *k, struct arena *a);
/** Return the sets of a variable and of a form, from those of the expressions of loaded indices. */
uint64_t var_dependences(const struct kernel *k, const uint64_t *exprs, uint32_t var);
uint64_t form_dependences(const struct kernel *k, const uint64_t *exprs, const struct kaffine *form);
/** Returns the union of the sets of guards. */
uint64_t guard_dependences(const struct kernel *k, const uint64_t *exprs, uint32_t count, const struct kguard *guards);
/** Returns whether derived variables in a form depend on a variable. */
bool form_derives_along(const struct kernel *k, const uint64_t *exprs, const struct kaffine *form, uint32_t var);
/** Returns how many loops over REDUCED variables, from the outermost on, must be open before the value can be computed. */
uint32_t dependence_depth(const struct kernel *k, uint64_t vars);

static inline bool depends_on(uint64_t vars, uint32_t var)
{
    return var != KEXPR_NONE && vars >> var & 1;
}
