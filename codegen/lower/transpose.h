/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits loads and stores with a transpose in registers, of tensors that are contiguous along another variable than the vector
 * variable.
 */
#pragma once

#include "codegen/lower/emitter.h"

/** Returns whether this context transposes what a load reads. */
bool load_is_transposed(const struct emitter *e, const struct context *cx, uint32_t expr);
/** Returns whether this context transposes what a store writes. */
bool store_is_transposed(const struct emitter *e, const struct context *cx, uint32_t store);
/** Do the same as emit_load and emit_store, for all copies at once. */
void emit_transposed_load(struct emitter *e, const struct context *cx, uint32_t expr, V values[COPIES_MAX]);
void emit_transposed_store(struct emitter *e, const struct context *cx, uint32_t store, const V *values);
