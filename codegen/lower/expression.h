/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Evaluates expressions on demand, at the level where they belong.
 */
#pragma once

#include "codegen/lower/emitter.h"

/** Finds out and allocates in e->arena everything that values need, of a kernel without stages.  Returns false if memory runs
 * out. */
bool values_prepare(struct emitter *e, const struct build *m, const struct schedule *s);
/** Returns the value of an expression in the context's phase and copy: with its lanes, or a scalar if it is the same for all
 * lanes. */
V expr_value(struct emitter *e, const struct context *cx, uint32_t expr);
/** Returns the same value with as many lanes as asked for. */
V expr_value_lanes(struct emitter *e, const struct context *cx, uint32_t expr, uint32_t lanes);
