/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits loads of every second, third or fourth element as whole vectors, which shuffles take the elements out of.
 */
#ifndef WEBNN_CODEGEN_EMIT_STRIDED_H_
#define WEBNN_CODEGEN_EMIT_STRIDED_H_

#include "codegen/emit/emitter.h"

/** Returns whether the schedule has a load taken out of whole vectors, and this is code for vectors. */
bool load_is_strided(const struct emitter *e, const struct context *cx, uint32_t expr);
/** Returns the load's value, what its guards say included. */
V emit_strided_load(struct emitter *e, const struct context *cx, uint32_t expr);

#endif
