/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Checks buffers of the host that are given to a computation. */
#pragma once

#include "runtime/api/context.h"

/**
 * Checks that no output shares memory with another output or an input, unless the two are a state and the same bytes.  slots
 * has the bindings of the inputs, then of the outputs.  Returns false after an error in *e.
 */
bool buffers_are_apart(WNNGraph graph, size_t input_count, WNNNamedBuffer const *inputs, size_t output_count,
                       WNNNamedBuffer const *outputs, const uint32_t *slots, struct error *e);
