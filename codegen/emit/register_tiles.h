/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits all register tiles of a unit.
 */
#ifndef WEBNN_CODEGEN_EMIT_REGISTER_TILES_H_
#define WEBNN_CODEGEN_EMIT_REGISTER_TILES_H_

#include "codegen/emit/emitter.h"

/**
 * Emits all tiles of rows [first_row, first_row + rows) and elements [low, high) of the vector variable.  first_row and rows
 * are NULL if there is no M variable.  store_values is as for emit_point.
 */
void emit_register_tiles(struct emitter *e, const struct context *cx, V first_row, V rows, V low, V high, V *store_values);

#endif
