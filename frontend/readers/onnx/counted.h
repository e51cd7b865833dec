/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Follows dimensions whose size is known at run time only.  Such a value (onnx_value.count) has as many elements along it as
 * there can be, of which the first ones count; the others are padding, of any numbers.
 *
 * An operator takes such a value if its row (operators.def) has a rule by which its result has the dimension: padding stays
 * padding.
 * Where it would be read (by a sum, a maximum, the sorting of TopK) it is replaced by what changes no result.
 */
#pragma once

#include "frontend/readers/onnx/onnx.h"

/** Prepares inputs that are counted for the importer.  Returns false after refusing a node that cannot take them. */
bool onnx_count_inputs(struct onnx_node *n);
/** Sets the counted dimension of the results.  Returns false if the node is refused. */
bool onnx_count_outputs(struct onnx_node *n);
/** Says that dimension `axis` of the results has only `count` elements, an int32 scalar. */
void onnx_set_count(struct onnx_node *n, WNNOperand count, uint32_t axis);
/** Returns max(0, min(count, end) - start), of elements start to end of a counted dimension; a negative end is from its end. */
WNNOperand onnx_count_slice(struct onnx_node *n, WNNOperand count, int64_t start, int64_t end);
/** Returns whether a reduction is over a counted dimension of its input. */
bool onnx_reduces_counted(struct onnx_node *n);
/** Refuses values that are counted, for what makes others of them. */
bool onnx_refuse_counted(struct onnx_node *n, size_t count, struct onnx_value *const *values);

/**
 * Imports a node that reads numbers made of counts (sizes.c), if it does (*handled).  Returns false if the node is refused.
 */
bool onnx_import_sized(struct onnx_node *n, bool *handled);
/** Makes output 0 numbers that are known at run time only, int64 of that rank, 0 or 1, within bounds. */
bool onnx_output_sizes(struct onnx_node *n, size_t rank, size_t count, const int64_t *high, const int64_t *low,
                       WNNOperand exact);

/**
 * Returns for flags, int32 [size] of 0 and 1, an int32 [size] that begins with the indices of those that are 1, in their order,
 * and sets *count to the number of them; indices of the others follow.
 */
WNNOperand onnx_compact(struct onnx_node *n, WNNOperand flags, WNNOperand *count);
/** Returns x with `value` where a counted dimension, as that of v, has padding. */
WNNOperand onnx_fill_padding(struct onnx_node *n, const struct onnx_value *v, WNNOperand x, WNNOperand value);
