/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits the register tiles of contractions on devices whose operands come from global memory.
 */
#pragma once

#include "codegen/lower/space.h"

/** Emits what an item does of a kernel of tiles. */
void emit_global_tiles(struct emitter *e, const struct gpu_schedule *s);
/** Emits the tiles of a stage that are an item's.  `fixed` are the variables of the macro-tile. */
void emit_stage_tiles(struct emitter *e, const struct gpu_schedule *s, const struct stage_item *at,
                      const struct gpu_vars *fixed);
