/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits guards as masks, and tests of all guards of a window at once.
 */
#pragma once

#include "codegen/lower/index.h"
#include "codegen/lower/emitter.h"

/** Returns a and b, with as many lanes as the one that has more; NULL always holds. */
V guard_and(struct emitter *e, V a, V b);
/**
 * Returns a mask of the lanes for which 0 <= base + lane < bound.  The bound is a vector of 32-bit integers, which holds any
 * size of a tensor.  As unsigned numbers negative ones are above every bound, and so is the substitute for a base outside 32
 * bits, if the schedule has such.
 */
V guard_contiguous(struct emitter *e, const struct context *cx, V base, V bound);
/** Returns whether a guard whose form has this value is known to hold for the context. */
static inline bool guard_is_known(const struct context *cx, const struct form_value *p)
{
    return p->kind == FORM_UNIFORM ? cx->rows_inside : cx->lanes_inside;
}
/** Emits the conjunction of guards, for use at level: *scalar holds for all lanes, *lanes per lane; each is NULL if there is
 * none. */
void guards_value(struct emitter *e, const struct context *cx, uint32_t form, uint32_t count, uint32_t level, V *scalar,
                  V *lanes);
/** Returns scalar conditions: guards hold for every lane, and may hold for some, judged by the first and the last one.  Returns
 * false if that is not possible, because a guard depends on other variables than the vector's. */
bool guards_at_ends(struct emitter *e, const struct context *cx, uint32_t form, uint32_t count, V *every, V *some);
/** Returns the value where a guard fails, as that many lanes of the tensor's element type. */
V guard_fill(struct emitter *e, const struct kexpr *load, uint32_t lanes);

/** Returns whether the kernel reads windows that may be in padding, and one test tells whether a whole window does not. */
bool window_is_guarded(const struct emitter *e);
/**
 * Emits the tests for a vector of points: *rows: all guards that are the same for all lanes hold for every element of the
 * window; *lanes: the others hold for all lanes.  *lanes is NULL if there are no others.
 */
void window_tests(struct emitter *e, const struct context *cx, V *rows, V *lanes);
