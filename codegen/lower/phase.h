/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits the phases of a point: loops over the REDUCED variables, and the stores.
 */
#pragma once

#include "codegen/lower/emitter.h"

/** Emits all phases and all stores of the context's points. */
void emit_phases(struct emitter *e, const struct context *cx);
/** Does the same; where windows may be in padding, there is code for those that do not. */
void emit_point(struct emitter *e, const struct context *cx, void *user);
/** Emits the stores that come after all phases, whose reductions are known. */
void emit_results(struct emitter *e, const struct context *cx);
