/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits the phases of a point: loops over the REDUCED variables, and the stores.
 */
#pragma once

#include "codegen/lower/emitter.h"

/** Emits all phases and all stores of the context's points.  store_values is a V[stores * COPIES_MAX], for the values of
 * stores. */
void emit_point(struct emitter *e, const struct context *cx, void *store_values);
