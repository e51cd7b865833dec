/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits loads and stores: of tensors through index maps and guards, and of row buffers.
 */
#pragma once

#include "codegen/lower/emitter.h"

/** Returns the value of a K_LOAD. */
V emit_load(struct emitter *e, const struct context *cx, uint32_t expr);
/** Returns the word, or the vector of words, of a type that begins `bytes` bytes after the element that a K_LOAD without guards
 * reads in the first lane. */
V emit_load_word(struct emitter *e, const struct context *cx, uint32_t expr, int64_t bytes, T type, V mask);
/** Emits a store of the value. */
void emit_store(struct emitter *e, const struct context *cx, uint32_t store, V value);
/** Returns the value of a row buffer, of a type, in the current iteration over the REDUCED variables. */
V emit_row_buffer_load(struct emitter *e, const struct context *cx, int32_t buffer, enum ktype type);
/** Puts a value there. */
void emit_row_buffer_store(struct emitter *e, const struct context *cx, int32_t buffer, enum ktype type, V value);
