/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits loads at computed indices that lie near each other: a few whole vectors hold all lanes, which are permuted out of them.
 */
#ifndef WEBNN_CODEGEN_EMIT_PERMUTED_H_
#define WEBNN_CODEGEN_EMIT_PERMUTED_H_

#include "codegen/emit/emitter.h"

/** Returns whether the schedule has a load permuted out of whole vectors, and this is code for such vectors. */
bool load_is_permuted(const struct emitter *e, const struct context *cx, uint32_t expr);
/** Returns the elements at address + lanes; lanes are what the index differs by from lane to lane.  Where the guard, which may
 * be NULL, does not hold nothing is read. */
V emit_permuted_load(struct emitter *e, const struct context *cx, uint32_t expr, T element, V address, V lanes, V guard,
                     uint32_t align);

#endif
