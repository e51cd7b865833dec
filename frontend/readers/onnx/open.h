/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Follows sizes that the file names, where the options leave them open (docs/named-dimensions.md).
 *
 * A size of such a reading is a number, or it is open: ONNX_OPEN plus a place in the reader's table.  Equal open sizes have one
 * place, and each is an operand that the builder makes of shapes.  Importers that take open sizes pass them on and compute with
 * the functions below; whatever else meets one is refused, and the file is read once more for numbers.
 */
#pragma once

#include "frontend/readers/onnx/onnx.h"

#define ONNX_OPEN INT64_C(0x80000000)

static inline bool onnx_is_open(int64_t size)
{
    return size >= ONNX_OPEN && size < 2 * ONNX_OPEN;
}

/** Returns whether one of that many sizes is open. */
bool onnx_any_open(size_t count, const uint32_t *sizes);
/** Returns whether a dimension of a value is open. */
bool onnx_value_is_open(const struct onnx_value *v);
/** Returns dimension d of an operand. */
uint32_t onnx_dimension(struct onnx_node *n, WNNOperand operand, size_t d);
/**
 * Returns the elements of input i as sizes: any integers that are constant, or numbers and open sizes.  Returns NULL after
 * refusing what depends on more than shapes.
 */
const int64_t *onnx_sizes(struct onnx_node *n, size_t i, size_t *count);
/** Returns whether an operand is made of shapes and constants only. */
bool onnx_is_sizes(struct onnx_node *n, WNNOperand operand);
/** Returns sizes as an operand, int64 of rank 1. */
WNNOperand onnx_sizes_operand(struct onnx_node *n, size_t count, const uint32_t *sizes);
/** Returns a size as a scalar of a data type. */
WNNOperand onnx_size_scalar(struct onnx_node *n, int64_t size, WNNOperandDataType type);
/** Returns a + b, a - b, a * b, floor(a / b), a % b, the lesser one (<) or the greater one (>), of sizes. */
int64_t onnx_compute_size(struct onnx_node *n, char operation, int64_t a, int64_t b);
/** Answer questions about sizes.  Refuse, and return false, where it depends on the sizes. */
bool onnx_size_is_equal(struct onnx_node *n, int64_t a, int64_t b);
bool onnx_size_at_least(struct onnx_node *n, int64_t a, int64_t b);
/** Returns num / den, products of as many sizes, after cancelling common factors. */
int64_t onnx_size_quotient(struct onnx_node *n, size_t num_count, const int64_t *num, size_t den_count, const int64_t *den);
/** From then on a computed size is read from dimension d of an operand, so that its users include the checks of that
 * operand. */
void onnx_take_size_from(struct onnx_node *n, int64_t size, WNNOperand operand, size_t d);
/** Refuses a node that must know an open size. */
static inline bool onnx_refuse_open(struct onnx_node *n)
{
    return onnx_refuse(n, "it must know a size that the file names: one graph does not serve all sizes");
}
/** Refuses a node with open sizes whose importer does not take them. */
bool onnx_check_open(struct onnx_node *n);
