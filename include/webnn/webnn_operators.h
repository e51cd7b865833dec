/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/**
 * @file webnn_operators.h
 * The part of webnn.h with the operators, which are methods of a graph builder.  Programs include webnn.h.
 */
#ifndef WEBNN_WEBNN_OPERATORS_H_
#define WEBNN_WEBNN_OPERATORS_H_

#include "webnn/webnn_options.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------ operators */

/*
 * Every method checks its arguments in the order of the specification's steps and infers the type of its result.  It returns
 * an operand of the builder, or the builder's error operand, which further calls refuse; a failed call does not change
 * the builder.  Methods with a sequence of results return a status and fill outputs, in case of failure with the error operand.
 *
 * Besides the rules of each method, these are refused:
 * - InvalidStateError: any call on a builder that has built, or whose context is lost.
 * - TypeError: an operand that is NULL, an error operand or of another builder, also in options; a data type or rank that is
 * not listed, or that wnnContextGetOperatorSupportLimits does not list; an enumeration value that does not exist, a double that
 * is not finite; a result with more than 2^31-1 elements or of a rank above 12 (WNN_RANK_MAX).
 * - UnknownError: out of memory.
 *
 * options may be NULL.  options->label appears in error messages, in square brackets.  Shapes broadcast by the
 * specification's section "Broadcasting".  The name in parentheses is the section that defines the operator.
 */

/**
 * Returns the index of the smallest element along axis; of equal ones the lowest index.  input has any data type and rank 1 or
 * more.  The result has options' outputDataType (int32 or int64) and input's shape without the axis, or with 1 in its place if
 * keepDimensions.  Fails with TypeError if axis is not less than the rank. (argMin/argMax operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderArgMin(WNNGraphBuilder builder, WNNOperand input, uint32_t axis,
                                            WNNArgMinMaxOptions const *WNN_NULLABLE options);
/**
 * Returns the index of the largest element along axis; of equal ones the lowest index.  input has any data type and rank 1 or
 * more.  The result has options' outputDataType (int32 or int64) and input's shape without the axis, or with 1 in its place if
 * keepDimensions.  Fails with TypeError if axis is not less than the rank. (argMin/argMax operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderArgMax(WNNGraphBuilder builder, WNNOperand input, uint32_t axis,
                                            WNNArgMinMaxOptions const *WNN_NULLABLE options);
/**
 * Returns (input - mean) / sqrt(variance + epsilon) * scale + bias, with statistics given per index of options' axis (by
 * default 1).  input is float32 or float16, of rank 1 or more; mean, variance, scale and bias have the same data type and shape
 * [size of the axis].  A missing scale is 1, and a missing bias is 0.  Fails with TypeError if axis is not less than the rank
 * or a shape differs. (batchNormalization)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderBatchNormalization(WNNGraphBuilder builder, WNNOperand input, WNNOperand mean,
                                                        WNNOperand variance,
                                                        WNNBatchNormalizationOptions const *WNN_NULLABLE options);
/**
 * Converts each element to dataType.  Data types and rank may be any; the shape stays.  From float to integer it truncates and
 * saturates, and NaN becomes 0; from integer to integer it keeps the low bits; to float it rounds to nearest even. (cast)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderCast(WNNGraphBuilder builder, WNNOperand input, WNNOperandDataType dataType,
                                          WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Returns min(max(x, minValue), maxValue).  input has any data type and rank.  The bounds are cast to the data type of input
 * first; a missing bound has no effect (the specification's text has the two defaults exchanged).  Fails with TypeError if
 * minValue is greater than maxValue after the cast. (clamp)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderClamp(WNNGraphBuilder builder, WNNOperand input,
                                           WNNClampOptions const *WNN_NULLABLE options);
/**
 * Concatenates the inputs along axis.  They have any data type and rank 1 or more, the same for all; all
 * dimensions but axis must be equal.  Fails with TypeError for no or more than 8192 inputs, an axis not less than the rank, or
 * a joined dimension above 2^31-1. (concat)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderConcat(WNNGraphBuilder builder, size_t inputsCount, WNNOperand const *inputs,
                                            uint32_t axis, WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Computes a 2-D convolution.  All operands are float32 or all float16.  input is [batches, channels, height, width] or as
 * options' inputLayout says, filter [outputChannels, channels / groups, height, width] or as filterLayout says, and bias
 * [outputChannels].  padding is [beginning height, ending height, beginning width, ending width], strides and dilations are
 * [height, width].  Each spatial size of the result is floor((input - ((filter - 1) * dilation + 1) + both paddings) / stride)
 * + 1.  Fails with TypeError for lists of another length, a stride, dilation or groups of 0, channels that do not fit, or a
 * filter larger than the padded input. (conv2d)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderConv2d(WNNGraphBuilder builder, WNNOperand input, WNNOperand filter,
                                            WNNConv2dOptions const *WNN_NULLABLE options);
/**
 * Computes a 2-D transposed convolution, the gradient of a convolution with regard to its input.  Operands and options are as
 * for conv2d, with these exceptions: filter is [channels, outputChannels / groups, height, width] or as filterLayout says; a
 * spatial size of the result is (input - 1) * stride + (filter - 1) * dilation + 1 - both paddings + outputPadding, where
 * outputPadding must be less than the stride; outputSizes [height, width], if given, replaces it and must be from the size
 * without outputPadding to stride - 1 more. (convTranspose2d)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderConvTranspose2d(WNNGraphBuilder builder, WNNOperand input, WNNOperand filter,
                                                     WNNConvTranspose2dOptions const *WNN_NULLABLE options);
/**
 * Computes the running sum along axis: element i is the sum of the elements up to i; with exclusive, of those before i (the
 * first is 0); with reversed, from the end.  input is float32, float16, int32, uint32, int64 or uint64 of rank 1 or more; the
 * shape stays.  Fails with TypeError if axis is not less than the rank. (cumulativeSum)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderCumulativeSum(WNNGraphBuilder builder, WNNOperand input, uint32_t axis,
                                                   WNNCumulativeSumOptions const *WNN_NULLABLE options);
/**
 * Returns a + b.  Both have the same data type, which may be any; shapes broadcast to each other.  Integers wrap around.
 * (element-wise binary operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderAdd(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                         WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Returns a - b.  Both have the same data type, which may be any; shapes broadcast to each other.  Integers wrap around.
 * (element-wise binary operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderSub(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                         WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Returns a * b.  Both have the same data type, which may be any; shapes broadcast to each other.  Integers wrap around.
 * (element-wise binary operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderMul(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                         WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Returns a / b.  Both have the same data type, which may be any; shapes broadcast to each other.  Integers round toward zero;
 * x / 0 is 0. (element-wise binary operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderDiv(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                         WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Returns the larger of a and b, NaN if either is.  Both have the same data type, which may be any; shapes broadcast to each
 * other. (element-wise binary operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderMax(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                         WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Returns the smaller of a and b, NaN if either is.  Both have the same data type, which may be any; shapes broadcast to each
 * other. (element-wise binary operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderMin(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                         WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Returns a to the power b.  Both have the same data type, which may be any; shapes broadcast to each other. (element-wise
 * binary operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderPow(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                         WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Returns 1 where a == b, else 0.  Both have the same data type, which may be any; shapes broadcast to each other; the result
 * is uint8. (element-wise logical operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderEqual(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                           WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Returns 1 where a != b, else 0; NaN differs from everything.  Both have the same data type, which may be any; shapes
 * broadcast to each other; the result is uint8. (element-wise logical operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderNotEqual(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                              WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Returns 1 where a > b, else 0.  Both have the same data type, which may be any; shapes broadcast to each other; the result is
 * uint8. (element-wise logical operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderGreater(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                             WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Returns 1 where a >= b, else 0.  Both have the same data type, which may be any; shapes broadcast to each other; the result
 * is uint8. (element-wise logical operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderGreaterOrEqual(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                                    WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Returns 1 where a < b, else 0.  Both have the same data type, which may be any; shapes broadcast to each other; the result is
 * uint8. (element-wise logical operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderLesser(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                            WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Returns 1 where a <= b, else 0.  Both have the same data type, which may be any; shapes broadcast to each other; the result
 * is uint8. (element-wise logical operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderLesserOrEqual(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                                   WNNOperatorOptions const *WNN_NULLABLE options);
/** Returns 1 where a is 0, else 0.  a is uint8, of any rank; the shape stays. (element-wise logical operations) */
WNN_EXPORT WNNOperand wnnGraphBuilderLogicalNot(WNNGraphBuilder builder, WNNOperand a,
                                                WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Returns 1 where a and b are both nonzero, else 0.  Both are uint8; shapes broadcast to each other. (element-wise logical
 * operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderLogicalAnd(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                                WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Returns 1 where a or b is not 0, else 0.  Both are uint8; shapes broadcast to each other. (element-wise logical operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderLogicalOr(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                               WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Returns 1 where exactly one of a and b is not 0, else 0.  Both are uint8; shapes broadcast to each other. (element-wise
 * logical operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderLogicalXor(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                                WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Returns 1 where a is NaN, else 0.  a is float32 or float16, of any rank; the result is uint8 of the same shape.
 * (element-wise logical operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderIsNaN(WNNGraphBuilder builder, WNNOperand a,
                                           WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Returns 1 where a is an infinity of either sign, else 0.  a is float32 or float16, of any rank; the result is uint8 of the
 * same shape. (element-wise logical operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderIsInfinite(WNNGraphBuilder builder, WNNOperand a,
                                                WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Returns |x|; that of the smallest integer is itself.  input is float32, float16, int64, int32 or int8, of any rank; data
 * type and shape stay. (element-wise unary operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderAbs(WNNGraphBuilder builder, WNNOperand input,
                                         WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Returns the smallest integer not below x.  input is float32 or float16, of any rank; data type and shape stay. (element-wise
 * unary operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderCeil(WNNGraphBuilder builder, WNNOperand input,
                                          WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Returns the cosine of x, which is in radians.  input is float32 or float16, of any rank; data type and shape stay.
 * (element-wise unary operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderCos(WNNGraphBuilder builder, WNNOperand input,
                                         WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Returns the Gauss error function of x.  input is float32 or float16, of any rank; data type and shape stay. (element-wise
 * unary operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderErf(WNNGraphBuilder builder, WNNOperand input,
                                         WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Returns e to the power x.  input is float32 or float16, of any rank; data type and shape stay. (element-wise unary
 * operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderExp(WNNGraphBuilder builder, WNNOperand input,
                                         WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Returns the largest integer not above x.  input is float32 or float16, of any rank; data type and shape stay. (element-wise
 * unary operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderFloor(WNNGraphBuilder builder, WNNOperand input,
                                           WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Returns x, for instance to make an input or constant an output.  input has any data type and rank; data type and shape stay.
 * (element-wise unary operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderIdentity(WNNGraphBuilder builder, WNNOperand input,
                                              WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Returns the natural logarithm, which is NaN below 0 and -Infinity at 0.  input is float32 or float16, of any rank; data type
 * and shape stay. (element-wise unary operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderLog(WNNGraphBuilder builder, WNNOperand input,
                                         WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Returns -x; that of the smallest integer is itself.  input is float32, float16, int64, int32 or int8, of any rank; data type
 * and shape stay. (element-wise unary operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderNeg(WNNGraphBuilder builder, WNNOperand input,
                                         WNNOperatorOptions const *WNN_NULLABLE options);
/** Returns 1 / x.  input is float32 or float16, of any rank; data type and shape stay. (element-wise unary operations) */
WNN_EXPORT WNNOperand wnnGraphBuilderReciprocal(WNNGraphBuilder builder, WNNOperand input,
                                                WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Returns the nearest integer, ties to even.  input is float32 or float16, of any rank; data type and shape stay.
 * (element-wise unary operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderRoundEven(WNNGraphBuilder builder, WNNOperand input,
                                               WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Returns the sine of x, which is in radians.  input is float32 or float16, of any rank; data type and shape stay.
 * (element-wise unary operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderSin(WNNGraphBuilder builder, WNNOperand input,
                                         WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Returns -1 below 0, 1 above, else 0, also of NaN.  input is float32, float16, int64, int32 or int8, of any rank; data type
 * and shape stay. (element-wise unary operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderSign(WNNGraphBuilder builder, WNNOperand input,
                                          WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Returns the square root, which is NaN below 0.  input is float32 or float16, of any rank; data type and shape stay.
 * (element-wise unary operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderSqrt(WNNGraphBuilder builder, WNNOperand input,
                                          WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Returns the tangent of x, which is in radians.  input is float32 or float16, of any rank; data type and shape stay.
 * (element-wise unary operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderTan(WNNGraphBuilder builder, WNNOperand input,
                                         WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Returns (input - zeroPoint) * scale.  input and zeroPoint are uint8, int8, uint32 or int32, the same for both; scale is
 * float32 or float16, which the result has.  scale and zeroPoint have one shape of input's rank, each dimension of which
 * divides input's: their elements apply to blocks of elements.  Scales that are not positive are used as they are.
 * (dequantizeLinear)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderDequantizeLinear(WNNGraphBuilder builder, WNNOperand input, WNNOperand scale,
                                                      WNNOperand zeroPoint, WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Returns roundEven(input / scale) + zeroPoint, saturated to the data type of zeroPoint (uint8, int8, uint32 or int32), which
 * the result has.  input and scale are float32 or float16, the same for both.  scale and zeroPoint have one shape of input's
 * rank, each dimension of which divides input's.  Scales that are not positive are used as they are. (quantizeLinear)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderQuantizeLinear(WNNGraphBuilder builder, WNNOperand input, WNNOperand scale,
                                                    WNNOperand zeroPoint, WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Returns x, or alpha * (exp(x) - 1) below 0; alpha is cast to the data type of input.  input is float32 or float16, of any
 * rank; data type and shape stay. (elu)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderElu(WNNGraphBuilder builder, WNNOperand input, WNNEluOptions const *WNN_NULLABLE options);
/**
 * Returns input broadcast to newShape, which may have more dimensions; only dimensions of size 1 can be repeated.  input has
 * any data type and rank.  Fails with TypeError if input's shape is not broadcastable to newShape. (expand)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderExpand(WNNGraphBuilder builder, WNNOperand input, size_t newShapeCount,
                                            uint32_t const *newShape, WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Returns slices of input along axis at indices.  input has any data type and rank 1 or more; indices is int32, uint32 or
 * int64, of any rank, from -n to n - 1 for a dimension of size n (others are clamped to it).  The result has input's shape with
 * indices' shape in place of the axis.  Fails with TypeError if axis is not less than the rank. (gather)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderGather(WNNGraphBuilder builder, WNNOperand input, WNNOperand indices,
                                            WNNGatherOptions const *WNN_NULLABLE options);
/**
 * Returns for every element of indices the element of input at the same position, but at that index along axis.  input has any
 * data type and rank 1 or more; indices is int32, uint32 or int64, of input's shape except along axis; the result has its
 * shape.  Indices are as for gather. (gatherElements)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderGatherElements(WNNGraphBuilder builder, WNNOperand input, WNNOperand indices,
                                                    WNNGatherOptions const *WNN_NULLABLE options);
/**
 * Returns slices of input at coordinates.  input has any data type and rank 1 or more; indices is int32, uint32 or int64, of
 * rank 1 or more, and its last dimension is the number of leading dimensions of input that a coordinate names.  The result has
 * indices' shape without the last dimension, then the remaining dimensions of input.  Indices are as for gather.  Fails
 * with TypeError if a coordinate is longer than input's rank. (gatherND)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderGatherND(WNNGraphBuilder builder, WNNOperand input, WNNOperand indices,
                                              WNNOperatorOptions const *WNN_NULLABLE options);
/** Returns 0.5 * x * (1 + erf(x / sqrt(2))).  input is float32 or float16, of any rank; data type and shape stay. (gelu) */
WNN_EXPORT WNNOperand wnnGraphBuilderGelu(WNNGraphBuilder builder, WNNOperand input,
                                          WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Returns alpha * a * b + beta * c with matrices a, b, which aTranspose, bTranspose transpose first.  All
 * operands are float32 or all float16.  a and b have rank 2; c has rank 0 to 2, is broadcastable to the result's shape, and is
 * 0 if missing.  alpha and beta are cast to the data type.  Fails with TypeError if the number of columns of a is not the
 * number of rows of b. (gemm)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderGemm(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                          WNNGemmOptions const *WNN_NULLABLE options);
/**
 * Runs a gated recurrent unit over a sequence.  All operands are float32 or all float16.  input is [steps, batch, inputSize],
 * weight [directions, 3 * hiddenSize, inputSize], recurrentWeight [directions, 3 * hiddenSize, hiddenSize], bias and
 * recurrentBias [directions, 3 * hiddenSize]; initialHiddenState is [directions, batch, hiddenSize], or 0 if missing.  layout
 * orders the gates; resetAfter applies the reset gate after the matmul; activations are those of the update and reset gates
 * and of the new gate (by default sigmoid, tanh); direction both has 2 directions.  outputs[0] receives the last state,
 * [directions, batch, hiddenSize], and outputs[1] all states, [steps, directions, batch, hiddenSize], if returnSequence, else
 * NULL.  outputs has room for 2.  steps is 0 where input has a named dimension for it. (gru)
 */
WNN_EXPORT WNNStatus wnnGraphBuilderGru(WNNGraphBuilder builder, WNNOperand input, WNNOperand weight,
                                        WNNOperand recurrentWeight, uint32_t steps, uint32_t hiddenSize,
                                        WNNGruOptions const *WNN_NULLABLE options, WNNOperand *outputs);
/**
 * Runs one step of a gated recurrent unit.  All operands are float32 or all float16.  input is [batch, inputSize], weight [3 *
 * hiddenSize, inputSize], recurrentWeight [3 * hiddenSize, hiddenSize], hiddenState [batch, hiddenSize], as the result is; bias
 * and recurrentBias are [3 * hiddenSize].  Options are as for gru. (gruCell)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderGruCell(WNNGraphBuilder builder, WNNOperand input, WNNOperand weight,
                                             WNNOperand recurrentWeight, WNNOperand hiddenState, uint32_t hiddenSize,
                                             WNNGruCellOptions const *WNN_NULLABLE options);
/**
 * Returns max(0, min(1, alpha * x + beta)); alpha and beta are cast to the data type of input.  input is float32 or float16, of
 * any rank; data type and shape stay. (hardSigmoid)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderHardSigmoid(WNNGraphBuilder builder, WNNOperand input,
                                                 WNNHardSigmoidOptions const *WNN_NULLABLE options);
/** Returns x * max(0, min(6, x + 3)) / 6.  input is float32 or float16, of any rank; data type and shape stay. (hardSwish) */
WNN_EXPORT WNNOperand wnnGraphBuilderHardSwish(WNNGraphBuilder builder, WNNOperand input,
                                               WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Returns (input - mean) / sqrt(variance + epsilon) * scale + bias, with mean and variance of the spatial dimensions for every
 * batch and channel.  input is float32 or float16, of rank 4, [batch, channels, height, width] or as layout says; scale (by
 * default 1) and bias (by default 0) have the same data type and shape [channels].  The shape stays. (instanceNormalization)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderInstanceNormalization(WNNGraphBuilder builder, WNNOperand input,
                                                           WNNInstanceNormalizationOptions const *WNN_NULLABLE options);
/**
 * Returns (input - mean) / sqrt(variance + epsilon) * scale + bias, with mean and variance over options' axes (by default all
 * but the first).  input is float32 or float16, of any rank; scale (by default 1) and bias (by default 0) have the same data
 * type and the sizes of axes in the order of axes.  The shape stays.  Fails with TypeError for axes out of range or given
 * twice. (layerNormalization)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderLayerNormalization(WNNGraphBuilder builder, WNNOperand input,
                                                        WNNLayerNormalizationOptions const *WNN_NULLABLE options);
/**
 * Returns x, or alpha * x below 0; alpha is cast to the data type of input.  input is float32 or float16, of any rank; data
 * type and shape stay. (leakyRelu)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderLeakyRelu(WNNGraphBuilder builder, WNNOperand input,
                                               WNNLeakyReluOptions const *WNN_NULLABLE options);
/**
 * Returns alpha * x + beta; alpha and beta are cast to the data type of input.  input is float32 or float16, of any rank; data
 * type and shape stay. (linear)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderLinear(WNNGraphBuilder builder, WNNOperand input,
                                            WNNLinearOptions const *WNN_NULLABLE options);
/**
 * Runs a long short-term memory over a sequence.  All operands are float32 or all float16.  input is [steps, batch, inputSize],
 * weight [directions, 4 * hiddenSize, inputSize], recurrentWeight [directions, 4 * hiddenSize, hiddenSize], bias and
 * recurrentBias [directions, 4 * hiddenSize]; peepholeWeight is [directions, 3 * hiddenSize] for the input, output and forget
 * gates; initialHiddenState and initialCellState are [directions, batch, hiddenSize], or 0 if missing.  layout orders the
 * gates; activations are those of the gates, of the cell gate and of the cell state (by default sigmoid, tanh, tanh).
 * outputs[0] and outputs[1] receive the last hidden and cell state, [directions, batch, hiddenSize], and outputs[2] all hidden
 * states, [steps, directions, batch, hiddenSize], if returnSequence, else NULL.  outputs has room for 3.  steps is 0 where
 * input has a named dimension for it. (lstm)
 */
WNN_EXPORT WNNStatus wnnGraphBuilderLstm(WNNGraphBuilder builder, WNNOperand input, WNNOperand weight,
                                         WNNOperand recurrentWeight, uint32_t steps, uint32_t hiddenSize,
                                         WNNLstmOptions const *WNN_NULLABLE options, WNNOperand *outputs);
/**
 * Runs one step of a long short-term memory.  All operands are float32 or all float16.  input is [batch, inputSize], weight [4
 * * hiddenSize, inputSize], recurrentWeight [4 * hiddenSize, hiddenSize], hiddenState and cellState [batch, hiddenSize]; bias
 * and recurrentBias are [4 * hiddenSize], and peepholeWeight [3 * hiddenSize].  Options are as for lstm.  outputs[0] and
 * outputs[1] receive the new hidden and cell state, [batch, hiddenSize].  outputs has room for 2. (lstmCell)
 */
WNN_EXPORT WNNStatus wnnGraphBuilderLstmCell(WNNGraphBuilder builder, WNNOperand input, WNNOperand weight,
                                             WNNOperand recurrentWeight, WNNOperand hiddenState, WNNOperand cellState,
                                             uint32_t hiddenSize, WNNLstmCellOptions const *WNN_NULLABLE options,
                                             WNNOperand *outputs);
/**
 * Multiplies the matrices of the last two dimensions; the others broadcast.  Both are float32 or both float16, of rank 2 or
 * more.  Fails with TypeError if the number of columns of a is not the number of rows of b. (matmul)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderMatmul(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                            WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Returns input with a border: beginningPadding[d] elements before and endingPadding[d] after it in dimension d, one of each
 * per dimension.  input has any data type and rank.  By mode, they are value cast to the data type of input (constant),
 * the nearest element of input (edge), or input mirrored without repeating its edge (reflection; padding must be less than the
 * dimension). (pad)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderPad(WNNGraphBuilder builder, WNNOperand input, size_t beginningPaddingCount,
                                         uint32_t const *beginningPadding, size_t endingPaddingCount,
                                         uint32_t const *endingPadding, WNNPadOptions const *WNN_NULLABLE options);
/**
 * Returns the mean of the elements in each window, without the padding.  input is float32 or float16, of rank 4,
 * [batch, channels, height, width] or as layout says.  windowDimensions (by default the whole height and width), strides and
 * dilations are [height, width], and padding is as for conv2d.  Spatial sizes of the result are those of a convolution, rounded
 * as outputShapeRounding says, or outputSizes, which must be what rounding down or up gives.  Fails with TypeError for lists of
 * another length, zeros in them, or a window larger than the padded input. (pooling operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderAveragePool2d(WNNGraphBuilder builder, WNNOperand input,
                                                   WNNPool2dOptions const *WNN_NULLABLE options);
/**
 * Returns the square root of the sum of the squares in each window.  input is float32 or float16, of rank 4, [batch,
 * channels, height, width] or as layout says.  windowDimensions (by default the whole height and width), strides and dilations
 * are [height, width], and padding is as for conv2d.  Spatial sizes of the result are those of a convolution, rounded as
 * outputShapeRounding says, or outputSizes, which must be what rounding down or up gives.  Fails with TypeError for lists of
 * another length, zeros in them, or a window larger than the padded input. (pooling operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderL2Pool2d(WNNGraphBuilder builder, WNNOperand input,
                                              WNNPool2dOptions const *WNN_NULLABLE options);
/**
 * Returns the largest element in each window.  input has any data type and rank 4, [batch, channels, height, width] or as
 * layout says.  windowDimensions (by default the whole height and width), strides and dilations are [height, width], and
 * padding is as for conv2d.  Spatial sizes of the result are those of a convolution, rounded as outputShapeRounding says, or
 * outputSizes, which must be what rounding down or up gives.  Fails with TypeError for lists of another length, zeros in them,
 * or a window larger than the padded input. (pooling operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderMaxPool2d(WNNGraphBuilder builder, WNNOperand input,
                                               WNNPool2dOptions const *WNN_NULLABLE options);
/**
 * Returns x, or slope * x below 0.  Both are float32, float16, int64, int32 or int8, the same for both; shapes broadcast to
 * each other. (prelu)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderPrelu(WNNGraphBuilder builder, WNNOperand input, WNNOperand slope,
                                           WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Returns the sum of absolute values.  input is float32, float16, int32, uint32, int64 or uint64, of any rank.  options' axes
 * (by default all; if empty, each element by itself) are left out of the result's shape, or are 1 in it if keepDimensions.
 * Fails with TypeError for axes out of range or given twice. (reduction operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderReduceL1(WNNGraphBuilder builder, WNNOperand input,
                                              WNNReduceOptions const *WNN_NULLABLE options);
/**
 * Returns the square root of the sum of squares.  input is float32 or float16, of any rank.  options' axes (by default all; if
 * empty, each element by itself) are left out of the result's shape, or are 1 in it if keepDimensions.  Fails with TypeError
 * for axes out of range or given twice. (reduction operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderReduceL2(WNNGraphBuilder builder, WNNOperand input,
                                              WNNReduceOptions const *WNN_NULLABLE options);
/**
 * Returns the natural logarithm of the sum.  input is float32 or float16, of any rank.  options' axes (by default all; if
 * empty, each element by itself) are left out of the result's shape, or are 1 in it if keepDimensions.  Fails with TypeError
 * for axes out of range or given twice. (reduction operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderReduceLogSum(WNNGraphBuilder builder, WNNOperand input,
                                                  WNNReduceOptions const *WNN_NULLABLE options);
/**
 * Returns the natural logarithm of the sum of exponentials, computed without overflow.  input is float32 or float16, of any
 * rank.  options' axes (by default all; if empty, each element by itself) are left out of the result's shape, or are 1 in it if
 * keepDimensions.  Fails with TypeError for axes out of range or given twice. (reduction operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderReduceLogSumExp(WNNGraphBuilder builder, WNNOperand input,
                                                     WNNReduceOptions const *WNN_NULLABLE options);
/**
 * Returns the largest element.  input has any data type and any rank.  options' axes (by default all; if empty, each element by
 * itself) are left out of the result's shape, or are 1 in it if keepDimensions.  Fails with TypeError for axes out of range or
 * given twice. (reduction operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderReduceMax(WNNGraphBuilder builder, WNNOperand input,
                                               WNNReduceOptions const *WNN_NULLABLE options);
/**
 * Returns the mean.  input is float32 or float16, of any rank.  options' axes (by default all; if empty, each element by
 * itself) are left out of the result's shape, or are 1 in it if keepDimensions.  Fails with TypeError for axes out of range or
 * given twice. (reduction operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderReduceMean(WNNGraphBuilder builder, WNNOperand input,
                                                WNNReduceOptions const *WNN_NULLABLE options);
/**
 * Returns the smallest element.  input has any data type and any rank.  options' axes (by default all; if empty, each element
 * by itself) are left out of the result's shape, or are 1 in it if keepDimensions.  Fails with TypeError for axes out of range
 * or given twice. (reduction operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderReduceMin(WNNGraphBuilder builder, WNNOperand input,
                                               WNNReduceOptions const *WNN_NULLABLE options);
/**
 * Returns the product.  input is float32, float16, int32, uint32, int64 or uint64, of any rank.  options' axes (by default all;
 * if empty, each element by itself) are left out of the result's shape, or are 1 in it if keepDimensions.  Fails with TypeError
 * for axes out of range or given twice. (reduction operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderReduceProduct(WNNGraphBuilder builder, WNNOperand input,
                                                   WNNReduceOptions const *WNN_NULLABLE options);
/**
 * Returns the sum.  input is float32, float16, int32, uint32, int64 or uint64, of any rank.  options' axes (by default all; if
 * empty, each element by itself) are left out of the result's shape, or are 1 in it if keepDimensions.  Fails with TypeError
 * for axes out of range or given twice. (reduction operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderReduceSum(WNNGraphBuilder builder, WNNOperand input,
                                               WNNReduceOptions const *WNN_NULLABLE options);
/**
 * Returns the sum of squares.  input is float32, float16, int32, uint32, int64 or uint64, of any rank.  options' axes (by
 * default all; if empty, each element by itself) are left out of the result's shape, or are 1 in it if keepDimensions.  Fails
 * with TypeError for axes out of range or given twice. (reduction operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderReduceSumSquare(WNNGraphBuilder builder, WNNOperand input,
                                                     WNNReduceOptions const *WNN_NULLABLE options);
/** Returns max(0, x).  input is float32, float16, int64, int32 or int8, of any rank; data type and shape stay. (relu) */
WNN_EXPORT WNNOperand wnnGraphBuilderRelu(WNNGraphBuilder builder, WNNOperand input,
                                          WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Returns input with two dimensions resized.  input is float32, float16, uint8 or int8, of rank 4.  options' axes (by default
 * [2, 3], in any order) are resized to sizes or, if that is missing, to floor(size * scales) (by default [1, 1]).  mode is
 * nearest-neighbor or linear; centres of elements are aligned.  Fails with TypeError for lists of another length than 2, axes
 * out of range or equal, scales not above 0. (resample2d)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderResample2d(WNNGraphBuilder builder, WNNOperand input,
                                                WNNResample2dOptions const *WNN_NULLABLE options);
/**
 * Returns the same elements, in the same row-major order, as newShape (a scalar if that is empty).  input has any data type and
 * rank.  Fails with TypeError if newShape has another number of elements. (reshape)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderReshape(WNNGraphBuilder builder, WNNOperand input, size_t newShapeCount,
                                             uint32_t const *newShape, WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Returns the elements in the opposite order along options' axes (by default all).  input has any data type and rank; the shape
 * stays.  Fails with TypeError for axes out of range or given twice. (reverse)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderReverse(WNNGraphBuilder builder, WNNOperand input,
                                             WNNReverseOptions const *WNN_NULLABLE options);
/**
 * Returns input with elements replaced: for every element of updates that at the same position, but at its index along axis.
 * input has any data type and rank 1 or more; indices is int32, uint32 or int64, of input's shape except along axis; updates
 * has input's data type and indices' shape.  Of two updates of one element the later one wins.  Indices are as for gather.
 * (scatterElements)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderScatterElements(WNNGraphBuilder builder, WNNOperand input, WNNOperand indices,
                                                     WNNOperand updates, WNNScatterOptions const *WNN_NULLABLE options);
/**
 * Returns input with slices replaced by those of updates at coordinates.  input has any data type and rank 1 or more; indices
 * is int32, uint32 or int64, of rank 1 or more, as for gatherND; updates has input's data type and the shape that gatherND
 * would read.  Of two updates of one slice the later one wins. (scatterND)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderScatterND(WNNGraphBuilder builder, WNNOperand input, WNNOperand indices,
                                               WNNOperand updates, WNNOperatorOptions const *WNN_NULLABLE options);
/** Returns 1 / (1 + exp(-x)).  input is float32 or float16, of any rank; data type and shape stay. (sigmoid) */
WNN_EXPORT WNNOperand wnnGraphBuilderSigmoid(WNNGraphBuilder builder, WNNOperand input,
                                             WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Returns the window of input from starts[d], sizes[d] long, in every dimension d, with every strides[d]-th element of it (by
 * default every one).  input has any data type and rank.  Fails with TypeError for lists of another length than the rank, sizes
 * or strides of 0, or a window that reaches beyond input. (slice)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderSlice(WNNGraphBuilder builder, WNNOperand input, size_t startsCount,
                                           uint32_t const *starts, size_t sizesCount, uint32_t const *sizes,
                                           WNNSliceOptions const *WNN_NULLABLE options);
/**
 * Returns exp(x - max) / sum of exp(x - max) along axis.  input is float32 or float16, of rank 1 or more; the shape stays.
 * Fails with TypeError if axis is not less than the rank. (softmax)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderSoftmax(WNNGraphBuilder builder, WNNOperand input, uint32_t axis,
                                             WNNOperatorOptions const *WNN_NULLABLE options);
/** Returns log(1 + exp(x)).  input is float32 or float16, of any rank; data type and shape stay. (softplus) */
WNN_EXPORT WNNOperand wnnGraphBuilderSoftplus(WNNGraphBuilder builder, WNNOperand input,
                                              WNNOperatorOptions const *WNN_NULLABLE options);
/** Returns x / (1 + |x|).  input is float32 or float16, of any rank; data type and shape stay. (softsign) */
WNN_EXPORT WNNOperand wnnGraphBuilderSoftsign(WNNGraphBuilder builder, WNNOperand input,
                                              WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Returns parts of input along options' axis, splits[i] long; outputs receives splitsCount operands.  input has any data type
 * and rank 1 or more.  Fails with TypeError for no or more than 8192 parts (outputs is not written then), a part of 0, or a sum
 * other than the size of the axis. (split)
 */
WNN_EXPORT WNNStatus wnnGraphBuilderSplit(WNNGraphBuilder builder, WNNOperand input, size_t splitsCount, uint32_t const *splits,
                                          WNNSplitOptions const *WNN_NULLABLE options, WNNOperand *outputs);
/** Returns the hyperbolic tangent.  input is float32 or float16, of any rank; data type and shape stay. (tanh) */
WNN_EXPORT WNNOperand wnnGraphBuilderTanh(WNNGraphBuilder builder, WNNOperand input,
                                          WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Returns input repeated repetitions[d] times in every dimension d.  input has any data type and rank.  Fails with TypeError
 * for another number of repetitions than the rank, a repetition of 0, or a dimension above 2^31-1. (tile)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderTile(WNNGraphBuilder builder, WNNOperand input, size_t repetitionsCount,
                                          uint32_t const *repetitions, WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Returns input with its dimensions permuted: dimension d of the result is dimension permutation[d] of input (by default the
 * reversed order).  input has any data type and rank.  Fails with TypeError if permutation is not one. (transpose)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderTranspose(WNNGraphBuilder builder, WNNOperand input,
                                               WNNTransposeOptions const *WNN_NULLABLE options);
/**
 * Returns the upper or lower triangle of each matrix in the last two dimensions, zeros elsewhere.  input has any data type and
 * rank 2 or more; the shape stays.  diagonal moves the boundary: above 0 towards the upper right, below 0 towards
 * the lower left. (triangular)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderTriangular(WNNGraphBuilder builder, WNNOperand input,
                                                WNNTriangularOptions const *WNN_NULLABLE options);
/**
 * Returns trueValue where condition is not 0, else falseValue.  condition is uint8, and the others have any data type, the same
 * for both; all shapes broadcast to each other. (where)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderWhere(WNNGraphBuilder builder, WNNOperand condition, WNNOperand trueValue,
                                           WNNOperand falseValue, WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Splits input into `splits` equal parts; outputs receives as many operands.  Fails with TypeError if the size of the axis is
 * not divisible, or as for split. (split)
 */
WNN_EXPORT WNNStatus wnnGraphBuilderSplitEqual(WNNGraphBuilder builder, WNNOperand input, uint32_t splits,
                                               WNNSplitOptions const *WNN_NULLABLE options, WNNOperand *outputs);

/* ------------------------------------------------------------------------------------------------ emulated operators */

/**
 * Reshapes input without the dimensions of size 1 among axes, or without all of them if axesCount is 0.  Axes of other sizes
 * and axes beyond the rank are ignored. (Operator Emulation, squeeze)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderSqueeze(WNNGraphBuilder builder, WNNOperand input, size_t axesCount,
                                             uint32_t const *WNN_NULLABLE axes, WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Reshapes input with dimensions of size 1 inserted; axes are their positions in the result.  Fails with TypeError for an axis
 * that is not less than the rank of the result, or given twice. (Operator Emulation, unsqueeze)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderUnsqueeze(WNNGraphBuilder builder, WNNOperand input, size_t axesCount,
                                               uint32_t const *axes, WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Reshapes input to two dimensions: the product of those before axis, and the product of the others.  Returns input itself if
 * axis is greater than its rank. (Operator Emulation, flatten)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderFlatten(WNNGraphBuilder builder, WNNOperand input, uint32_t axis,
                                             WNNOperatorOptions const *WNN_NULLABLE options);

#ifdef __cplusplus
}
#endif

#endif /* WEBNN_WEBNN_OPERATORS_H_ */
