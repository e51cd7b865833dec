/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares the import of Loop and Scan as loops of the builder (docs/loops.md): the body's nodes come once, whatever the number
 * of iterations.
 */
#pragma once

#include "frontend/readers/onnx/onnx.h"

/** Holds a Scan's attributes of its inputs and outputs.  Directions are 1 for backward. */
struct control_scan {
    size_t inputs, carried, outputs;
    const int64_t *in_axes, *in_directions, *out_axes, *out_directions;
};

/** Holds a loop of the builder.  The lists are the caller's. */
struct control_iterations {
    uint32_t iterations;
    size_t carried_count, scanned_count, stacked_count;
    WNNOperand *carried, *parameters, *next, *outputs; /* before the loop, in an iteration, after it, after the loop */
    WNNLoopSlices *scanned, *stacked;
};

/** Returns `size` elements of a value along an axis; without the axis, whose size is 1, unless `keeps`.  Returns NULL after
 * refusing. */
struct onnx_value *control_take(struct onnx_node *n, struct onnx_value *v, uint32_t axis, uint32_t start, uint32_t size,
                                bool keeps);

/** Returns whether a loop may begin: loops are not nested. */
bool control_may_begin(const struct onnx_node *n);
/** Begins a loop.  Returns false if n is refused. */
bool control_begin(struct onnx_node *n, const struct control_iterations *t);
/** Ends the loop.  What cannot be a loop (!good, or n is refused) leaves none open: what comes after it may be imported all the
 * same. */
bool control_end(struct onnx_node *n, const struct control_iterations *t, bool good);

/** Returns whether the body of a Loop gives its condition on as it is, or a constant, so that the trip count alone ends it. */
bool control_goes_on(const Onnx__GraphProto *body);
/** Returns whether what reads the outputs of a Loop or Scan may have to know them, by those of its first iteration: they depend
 * on constants only, and a loop of the builder is never computed by the reader. */
bool control_needs_values(const struct onnx_node *n, struct onnx_value *const *outputs);
/** Imports a Loop of that many iterations.  computes: its body computes the condition; condition is its second input if that
 * is computed, else NULL.  Returns false if n is refused. */
bool control_loop(struct onnx_node *n, const Onnx__GraphProto *body, uint32_t iterations, bool computes,
                  struct onnx_value *condition);
/** Imports a Scan.  Returns false if n is refused. */
bool control_scan(struct onnx_node *n, const Onnx__GraphProto *body, uint32_t iterations, const struct control_scan *s);
