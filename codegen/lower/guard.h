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
 * Returns a mask of the lanes for which 0 <= base + lane < bound.  The bound is a vector of 32 bits, which it fits into, being
 * a size of a tensor.  As unsigned numbers what is below 0 is above every bound, and so is the number that stands for a base
 * too far away to be said, if the schedule says that there are such.
 */
V guard_contiguous(struct emitter *e, const struct context *cx, V base, V bound);
/** Returns whether a guard whose form has this value is known to hold where code is emitted for. */
bool guard_is_known(const struct context *cx, const struct form_value *p);
/** Emits the conjunction of guards, for use at level: *scalar holds for all lanes, *lanes per lane; each is NULL where there is
 * none. */
void guards_value(struct emitter *e, const struct context *cx, uint32_t form, uint32_t count, uint32_t level, V *scalar,
                  V *lanes);
/** Gives conditions of one lane: guards hold for every lane, and may hold for some, which the first and the last one tell.
 * Returns false if they do not, because a guard is one of other variables than the vector's. */
bool guards_at_ends(struct emitter *e, const struct context *cx, uint32_t form, uint32_t count, V *every, V *some);
/** Returns what is loaded where a guard fails, as so many lanes in the form in which a tensor of the load's has them. */
V guard_fill(struct emitter *e, const struct kexpr *load, uint32_t lanes);

/** Returns whether the kernel reads windows that may lie in padding, and one test tells whether a whole window does not. */
bool window_is_guarded(const struct emitter *e);
/**
 * Emits the tests for a vector of points: *rows says whether all guards hold that are the same for all lanes, for every element
 * of the window; *lanes whether the others hold for all lanes.  *lanes is NULL if there are no others.
 */
void window_tests(struct emitter *e, const struct context *cx, V *rows, V *lanes);
