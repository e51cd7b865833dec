/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits loads whose lanes are extracted from whole vectors: strided ones, and those of nearby indices.
 */
#pragma once

#include "codegen/lower/emitter.h"

/** Returns whether the schedule has a load extracted from whole vectors, and this is code for vectors. */
bool load_is_strided(const struct emitter *e, const struct context *cx, uint32_t expr);
/** Returns the load's value, with its guards applied. */
V emit_strided_load(struct emitter *e, const struct context *cx, uint32_t expr);

/** Returns the elements at address + lanes; lanes are the offsets of the index.  If the guard, which may be NULL, does not
 * hold, nothing is read. */
V emit_permuted_load(struct emitter *e, const struct context *cx, uint32_t expr, T element, V address, V lanes, V guard,
                     uint32_t align);
