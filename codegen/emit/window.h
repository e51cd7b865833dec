/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Finds out where a window lies inside the input, so that guards need not be tested element by element there.
 */
#ifndef WEBNN_CODEGEN_EMIT_WINDOW_H_
#define WEBNN_CODEGEN_EMIT_WINDOW_H_

#include "codegen/emit/emitter.h"

/** Returns whether the kernel reads windows that may lie in padding, and one test tells whether a whole window does not. */
bool window_is_guarded(const struct emitter *e);
/**
 * Emits the tests for a vector of points: *rows says whether all guards hold that are the same for all lanes, for every element
 * of the window; *lanes whether the others hold for all lanes.  *lanes is NULL if there are no others.
 */
void window_tests(struct emitter *e, const struct context *cx, V *rows, V *lanes);

#endif
