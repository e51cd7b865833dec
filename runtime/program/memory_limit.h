/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Counts the memory of an engine's tensors and graphs against the limit that the context's options set: buffers (tensors,
 * arenas) and data of graphs (constants, packed weights).
 */
#pragma once

#include "runtime/engine/engine.h"

/** Counts bytes before they are allocated.  Returns false after an UnknownError in *e, with nothing counted, beyond the limit.
 */
bool memory_charge(struct engine *en, size_t bytes, struct error *e);
/** Subtracts freed bytes. */
static inline void memory_discharge(struct engine *en, size_t bytes)
{
    if (en->memory_limit)
        atomic_fetch_sub_explicit(&en->memory_used, bytes, memory_order_relaxed);
}
/** Returns a counted buffer of the engine's, or NULL after an error in *e. */
struct engine_buffer *memory_buffer_create(struct engine *en, size_t bytes, struct error *e);
/** Frees a buffer of the engine's, counted or not. */
void memory_buffer_free(struct engine *en, struct engine_buffer *b);
