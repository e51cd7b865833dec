/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Operators of the working group's draft of dynamic shapes (docs/named-dimensions.md), which may change with the draft.
 *
 * They compute with shapes and take sizes from operands.  Such an operand has a data type of int32, uint32, int64 or uint64 and
 * at most 64 elements, and depends on shapes and constants only; one that depends on an input's values is a TypeError.
 * Arithmetic on them becomes part of the graph's sizes, which are computed once for each combination of sizes of named
 * dimensions.  The draft's squeeze, unsqueeze and reshapeTo2d are wnnGraphBuilderSqueeze, wnnGraphBuilderUnsqueeze and
 * wnnGraphBuilderFlatten.
 *
 * As with all methods of a builder, one thread at a time calls them, options may be NULL, and a call that fails returns an
 * error operand (wnnGraphBuilderGetError).
 */
#ifndef WEBNN_WEBNN_DRAFT_H_
#define WEBNN_WEBNN_DRAFT_H_

#include "webnn/webnn.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Data types of the draft of low precision (bfloat16, float8e4m3 of OCP without infinities), and float8e5m2: values
 * of WNNOperandDataType that a context refuses unless WNNContextOptions.draftDataTypes is set.  They are for storage: inputs,
 * constants, outputs and tensors, cast and operators that move elements, float8 also quantizeLinear and dequantizeLinear, by
 * opSupportLimits.  Casts round to the nearest, ties to even; those to float8 saturate.
 */
#define WNNOperandDataType_Bfloat16 ((WNNOperandDataType)9)
#define WNNOperandDataType_Float8E4M3 ((WNNOperandDataType)10)
#define WNNOperandDataType_Float8E5M2 ((WNNOperandDataType)11)

/**
 * Makes a constant whose elements are stored in any operand data type, these included in every context, and cast to
 * the descriptor's.  Weights that matmuls read keep the stored type (docs/compact-weights.md).  data is lent as
 * for wnnGraphBuilderConstantLent.
 */
WNN_EXPORT WNNOperand wnnGraphBuilderConstantCastLent(WNNGraphBuilder builder, WNNOperandDescriptor const *descriptor,
                                                      WNNOperandDataType stored, void const *data, size_t byteLength,
                                                      WNNBufferReleaseCallbackInfo release);

/** Returns the dimensions of input, of rank 1 or more, as a uint32 tensor of rank 1: shape(input). */
WNN_EXPORT WNNOperand wnnGraphBuilderShape(WNNGraphBuilder builder, WNNOperand input,
                                           WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Returns start, start + delta and so on, excluding limit, of rank 1: range(start, limit, delta).  All three are scalars of
 * one integer type, which is the result's; delta is not 0, and there is at least one element.
 */
WNN_EXPORT WNNOperand wnnGraphBuilderRange(WNNGraphBuilder builder, WNNOperand start, WNNOperand limit, WNNOperand delta,
                                           WNNOperatorOptions const *WNN_NULLABLE options);
/** Returns the remainder of a / b rounded down, which has b's sign.  a and b are of one integer type and
 * broadcast.  The value is unspecified where b is 0. */
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
/** Does split with the elements of splits, one per result: outputs has room for as many. */
WNN_EXPORT WNNStatus wnnGraphBuilderSplitDynamic(WNNGraphBuilder builder, WNNOperand input, WNNOperand splits,
                                                 WNNSplitOptions const *WNN_NULLABLE options, size_t outputsCapacity,
                                                 WNNOperand *outputs);
/** Does resample2d, with the two elements of options.sizes if it is given. */
WNN_EXPORT WNNOperand wnnGraphBuilderResample2dDynamic(WNNGraphBuilder builder, WNNOperand input,
                                                       WNNResample2dDynamicOptions const *WNN_NULLABLE options);
/** Does tile with an element of repetitions for each dimension of input. */
WNN_EXPORT WNNOperand wnnGraphBuilderTileDynamic(WNNGraphBuilder builder, WNNOperand input, WNNOperand repetitions,
                                                 WNNOperatorOptions const *WNN_NULLABLE options);

/** Describes a size: a dimension, or an element of a tensor that depends on shapes and constants only. */
typedef struct WNNSize {
    uint32_t expression; /**< the same for sizes that are always equal; 0 for a number */
    int64_t least, most; /**< equal for a number */
} WNNSize;

/** Describes dimension `index`.  Returns false if there is none, or after build. */
WNN_EXPORT bool wnnOperandGetDimension(WNNOperand operand, size_t index, WNNSize *size);
/** Describes element `index`, in row-major order.  Returns false if there is none, if the operand has more than 64
 * or depends on anything but shapes and constants, or after build. */
WNN_EXPORT bool wnnOperandGetElement(WNNOperand operand, size_t index, WNNSize *size);

#ifdef __cplusplus
}
#endif

#endif /* WEBNN_WEBNN_DRAFT_H_ */
