/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits loads and stores of rows that are shorter than a vector, all rows of a vector's lanes at a time.
 */
#pragma once

#include "codegen/lower/emitter.h"

/** Loads the rows of an expression for a vector of points into its row buffer. */
void short_rows_load(struct emitter *e, const struct context *cx, uint32_t expr);
/** Stores the rows that a store's row buffer has collected. */
void short_rows_store(struct emitter *e, const struct context *cx, uint32_t store);
