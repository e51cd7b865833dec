/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares the import of Loop and Scan as loops of the builder (docs/loops.md): the body's nodes come once, whatever the number
 * of turns.
 */
#ifndef WEBNN_FRONTEND_READERS_ONNX_CONTROL_LOOP_H_
#define WEBNN_FRONTEND_READERS_ONNX_CONTROL_LOOP_H_

#include "frontend/readers/onnx/onnx.h"

/** Holds what a Scan says of its inputs and outputs.  Directions are 1 for backward. */
struct control_scan {
    size_t inputs, carried, outputs;
    const int64_t *in_axes, *in_directions, *out_axes, *out_directions;
};

/** Returns whether the body of a Loop gives its condition on as it is, or a constant, so that the trip count alone ends it. */
bool control_goes_on(const Onnx__GraphProto *body);
/** Imports a Loop of so many turns.  condition is its second input if that is computed, else NULL.  Returns false if n is
 * refused. */
bool control_loop(struct onnx_node *n, const Onnx__GraphProto *body, uint32_t turns, struct onnx_value *condition);
/** Imports a Scan.  Returns false if n is refused. */
bool control_scan(struct onnx_node *n, const Onnx__GraphProto *body, uint32_t turns, const struct control_scan *s);

#endif
