/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* States: inputs and outputs for which a dispatch may give one tensor (wnnGraphBuilderSetStates). */
#pragma once

#include "frontend/builder/builder.h"

/** Copies a list of states in place of the builder's.  Returns false if memory runs out; then nothing has changed. */
bool builder_set_states(WNNGraphBuilder b, size_t count, const WNNNamedState *states);
/** Checks that the states are of inputs that the outputs need (marks, by value->index) and of these outputs.  Returns false
 * after an error in *e. */
bool builder_check_states(WNNGraphBuilder b, const uint8_t *marks, size_t count, WNNNamedOperand const *outputs,
                          struct error *e);
/** Notes the states, which have been checked, in a graph that has its outputs. */
void builder_add_states(WNNGraphBuilder b, struct graph *g);
