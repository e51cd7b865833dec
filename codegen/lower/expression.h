/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Evaluates expressions on demand, at the level where they belong.
 */
#pragma once

#include "codegen/lower/emitter.h"

/** Returns the value of an expression in the context's phase and copy: with its lanes, or a scalar if it is the same for all
 * lanes. */
V expr_value(struct emitter *e, const struct context *cx, uint32_t expr);
/** Returns the same value with as many lanes as asked for. */
V expr_value_lanes(struct emitter *e, const struct context *cx, uint32_t expr, uint32_t lanes);
