/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The CPU engine computes graphs in this process, with kernels of codegen and steps of oneDNN.
 */
#pragma once

#include "runtime/engine/engine.h"

/** Creates the engine of the processor.  debug must outlive it.  Returns NULL after an error in *e, which is a TypeError for an
 * unknown isa switch. */
struct engine *engine_cpu_create(uint32_t thread_count, const struct debug_options *debug, struct error *e);
/** Makes the engine cache compiled kernels in the folder of cache_folder_open.  This is called
 * before anything is built; en->warning may be set. */
void engine_cpu_keep_kernels(struct engine *en, const char *folder, bool ignore_environment);
/** Returns the expected float32 operations per microsecond of the processor, on all of the engine's threads. */
double engine_cpu_operations(struct engine *en);
