/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Counts the memory of an engine's tensors and graphs against the limit that the context's options set: buffers (tensors, the
 * arenas that graphs compute in) and what graphs keep (constants, packed weights).
 */
#pragma once

#include "runtime/engine/engine.h"

/** Counts bytes that are about to be taken.  Returns false after an UnknownError in *e, with nothing counted, beyond the limit.
 */
bool memory_charge(struct engine *en, size_t bytes, struct error *e);
/** Gives back bytes that were counted. */
void memory_discharge(struct engine *en, size_t bytes);
/** Returns a counted buffer of the engine's, or NULL after an error in *e. */
struct engine_buffer *memory_buffer_create(struct engine *en, size_t bytes, struct error *e);
/** Frees a buffer of the engine's, counted or not. */
void memory_buffer_free(struct engine *en, struct engine_buffer *b);
