/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Evaluates expressions on demand, at their level.
 */
#pragma once

#include "codegen/lower/emitter.h"

/** Computes and allocates in e->arena all data for values, of a kernel without stages.  Returns false if memory runs
 * out. */
bool values_prepare(struct emitter *e, const struct build *m, const struct schedule *s);
/** Returns the value of an expression in the context's phase and copy: with its lanes, or a scalar if it is the same for all
 * lanes. */
V expr_value(struct emitter *e, const struct context *cx, uint32_t expr);
/** Returns the same value with that many lanes. */
V expr_value_lanes(struct emitter *e, const struct context *cx, uint32_t expr, uint32_t lanes);
/** Makes empty caches, for code whose values those in e->cache are not.  Returns false if memory runs out. */
bool caches_make(struct emitter *e, struct caches *c);
