/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits tiles of contractions that sub-groups compute by matrix instructions.
 */
#pragma once

#include "codegen/lower/space.h"

/** Emits what an item does of a kernel of such tiles. */
void emit_matrix_tiles(struct emitter *e, const struct gpu_schedule *s);
