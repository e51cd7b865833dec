/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Chooses the engine of a context.
 */
#pragma once

#include "runtime/engine/engine.h"
#include "webnn/webnn.h"

/**
 * Creates the engine of the options; with WNNEngine_Auto the one that the variable WEBNN_ENGINE names ("cpu", "gpu"
 * or "gpu:DEVICE"), unless variables are ignored, else a GPU if it is expected to be faster, else the processor.  debug must
 * outlive it.  Returns NULL after an error in *e: a TypeError if the options or the variable name no engine, a
 * NotSupportedError if there is no such engine or device.
 */
struct engine *engine_choose(const WNNContextOptions *o, uint32_t thread_count, const struct debug_options *debug,
                             struct error *e);
