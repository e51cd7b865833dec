/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits loads whose lanes are taken out of whole vectors: those of every second element or so, and of indices near each other.
 */
#pragma once

#include "codegen/lower/emitter.h"

/** Returns whether the schedule has a load taken out of whole vectors, and this is code for vectors. */
bool load_is_strided(const struct emitter *e, const struct context *cx, uint32_t expr);
/** Returns the load's value, what its guards say included. */
V emit_strided_load(struct emitter *e, const struct context *cx, uint32_t expr);

/** Returns the elements at address + lanes; lanes are what the index differs by from lane to lane.  Where the guard, which may
 * be NULL, does not hold nothing is read. */
V emit_permuted_load(struct emitter *e, const struct context *cx, uint32_t expr, T element, V address, V lanes, V guard,
                     uint32_t align);
