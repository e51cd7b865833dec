/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits the register tiles of contractions on devices whose operands come to the group's memory first.
 */
#pragma once

#include "codegen/lower/space.h"

/** Emits what an item does of a kernel of such tiles. */
void emit_local_tiles(struct emitter *e, const struct gpu_schedule *s);
