/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Operators of the working group's draft of dynamic shapes (docs/named-dimensions.md), which may change as the draft does.
 *
 * They compute with shapes and take sizes from operands.  Such an operand has a data type of int32, uint32, int64 or uint64 and
 * at most 64 elements, and depends on shapes and constants only: what depends on an input's values is refused with TypeError.
 * Arithmetic on them becomes part of the graph's sizes, which are computed once for each combination of sizes of named
 * dimensions. The draft's squeeze, unsqueeze and reshapeTo2d are wnnGraphBuilderSqueeze, wnnGraphBuilderUnsqueeze and
 * wnnGraphBuilderFlatten.
 *
 * As with all methods of a builder, one thread at a time calls them, options may be NULL, and a call that fails returns an
 * error operand (wnnGraphBuilderGetError).  In graphs with loops (wnnGraphBuilderBeginLoop) build refuses them.
 */
#ifndef WEBNN_WEBNN_DRAFT_H_
#define WEBNN_WEBNN_DRAFT_H_

#include "webnn/webnn.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Returns the dimensions of input, of rank 1 or more, as a uint32 tensor of rank 1: shape(input). */
WNN_EXPORT WNNOperand wnnGraphBuilderShape(WNNGraphBuilder builder, WNNOperand input,
                                           WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Returns start, start + delta and so on up to before limit, of rank 1: range(start, limit, delta).  All three are scalars of
 * one integer type, which is the result's; delta is not 0, and there is at least one number.
 */
WNN_EXPORT WNNOperand wnnGraphBuilderRange(WNNGraphBuilder builder, WNNOperand start, WNNOperand limit, WNNOperand delta,
                                           WNNOperatorOptions const *WNN_NULLABLE options);
/** Returns what remains of a when it is divided by b, rounded down: it has b's sign.  a and b are of one integer type and
 * broadcast.  Like a division, it has any value where b is 0. */
WNN_EXPORT WNNOperand wnnGraphBuilderModulusFloor(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                                  WNNOperatorOptions const *WNN_NULLABLE options);
/** Does the same with a division that is rounded towards 0: the result has a's sign. */
WNN_EXPORT WNNOperand wnnGraphBuilderModulusTruncate(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                                     WNNOperatorOptions const *WNN_NULLABLE options);
/** Does reshape with the elements of newShape, of rank 1. */
WNN_EXPORT WNNOperand wnnGraphBuilderReshapeDynamic(WNNGraphBuilder builder, WNNOperand input, WNNOperand newShape,
                                                    WNNOperatorOptions const *WNN_NULLABLE options);
/** Does expand with the elements of newShape, of rank 1. */
WNN_EXPORT WNNOperand wnnGraphBuilderExpandDynamic(WNNGraphBuilder builder, WNNOperand input, WNNOperand newShape,
                                                   WNNOperatorOptions const *WNN_NULLABLE options);
/** Does slice with starts and sizes that have an element for each dimension of input. */
WNN_EXPORT WNNOperand wnnGraphBuilderSliceDynamic(WNNGraphBuilder builder, WNNOperand input, WNNOperand starts,
                                                  WNNOperand sizes, WNNSliceOptions const *WNN_NULLABLE options);
/** Does pad with zeros, by an element of each padding for each dimension of input. */
WNN_EXPORT WNNOperand wnnGraphBuilderPadDynamic(WNNGraphBuilder builder, WNNOperand input, WNNOperand beginningPadding,
                                                WNNOperand endingPadding, WNNOperatorOptions const *WNN_NULLABLE options);
/** Does split with the elements of splits, whose number is that of the results: outputs has room for as many. */
WNN_EXPORT WNNStatus wnnGraphBuilderSplitDynamic(WNNGraphBuilder builder, WNNOperand input, WNNOperand splits,
                                                 WNNSplitOptions const *WNN_NULLABLE options, size_t outputsCapacity,
                                                 WNNOperand *outputs);
/** Does resample2d, with the two elements of options.sizes if it is given. */
WNN_EXPORT WNNOperand wnnGraphBuilderResample2dDynamic(WNNGraphBuilder builder, WNNOperand input,
                                                       WNNResample2dDynamicOptions const *WNN_NULLABLE options);
/** Does tile with an element of repetitions for each dimension of input. */
WNN_EXPORT WNNOperand wnnGraphBuilderTileDynamic(WNNGraphBuilder builder, WNNOperand input, WNNOperand repetitions,
                                                 WNNOperatorOptions const *WNN_NULLABLE options);

/** Says what is known of a size: a dimension, or an element of a tensor that depends on shapes and constants only. */
typedef struct WNNSize {
    uint32_t expression; /**< the same for sizes that are always equal; 0 of a number */
    int64_t least, most; /**< equal, of a number */
} WNNSize;

/** Says what is known of dimension `index`.  Returns false if there is none, or after build. */
WNN_EXPORT bool wnnOperandGetDimension(WNNOperand operand, size_t index, WNNSize *size);
/** Says what is known of element `index`, in row-major order.  Returns false if there is none, if the operand has more than 64
 * or depends on anything but shapes and constants, or after build. */
WNN_EXPORT bool wnnOperandGetElement(WNNOperand operand, size_t index, WNNSize *size);

#ifdef __cplusplus
}
#endif

#endif /* WEBNN_WEBNN_DRAFT_H_ */
