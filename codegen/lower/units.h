/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits the loop over units, which are independent pieces of a kernel's work.
 */
#pragma once

#include "codegen/lower/emitter.h"

/** Emits the units [begin, end), then a return.  store_values is as for emit_point. */
void emit_units(struct emitter *e, const struct context *cx, V begin, V end, V *store_values);
