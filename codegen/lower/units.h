/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits the loop over units, which are independent pieces of a kernel's work.
 */
#pragma once

#include "codegen/lower/emitter.h"

/** Emits the units [begin, end), then a return. */
void emit_units(struct emitter *e, const struct context *cx, V begin, V end);
