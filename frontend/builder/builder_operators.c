/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Defines the operator methods of MLGraphBuilder, which hand their arguments to builder_apply.  Every rule is in the operator's
 * row and its infer function, so there is nothing to decide here.
 */
#include "frontend/builder/builder.h"
#include "ir/graph/op_draft.h"
#include "webnn/webnn_draft.h"

#define APPLY(ID, options, args, ...)                                                                                          \
    builder_apply(builder, OP_##ID, options, args, sizeof((WNNOperand[]){__VA_ARGS__}) / sizeof(WNNOperand),                   \
                  (WNNOperand[]){__VA_ARGS__})
#define APPLY_SEQUENCE(ID, options, args, capacity, outputs, ...)                                                              \
    builder_apply_sequence(builder, OP_##ID, options, args, sizeof((WNNOperand[]){__VA_ARGS__}) / sizeof(WNNOperand),          \
                           (WNNOperand[]){__VA_ARGS__}, capacity, outputs)
#define ARGS(op, ...) (&(const union op_args){.op = {__VA_ARGS__}})

/* ---- one, two or three operands and options ---- */

#define UNARY(ID, Method, Options)                                                                                             \
    WNNOperand wnnGraphBuilder##Method(WNNGraphBuilder builder, WNNOperand x, Options const *options)                          \
    {                                                                                                                          \
        return APPLY(ID, options, NULL, x);                                                                                    \
    }
#define BINARY(ID, Method, Options)                                                                                            \
    WNNOperand wnnGraphBuilder##Method(WNNGraphBuilder builder, WNNOperand x, WNNOperand y, Options const *options)            \
    {                                                                                                                          \
        return APPLY(ID, options, NULL, x, y);                                                                                 \
    }
#define TERNARY(ID, Method, Options)                                                                                           \
    WNNOperand wnnGraphBuilder##Method(WNNGraphBuilder builder, WNNOperand x, WNNOperand y, WNNOperand z,                      \
                                       Options const *options)                                                                 \
    {                                                                                                                          \
        return APPLY(ID, options, NULL, x, y, z);                                                                              \
    }

#define OP(...)
#define OP_UNARY(ID, name, Method, ...) UNARY(ID, Method, WNNOperatorOptions)
#define OP_TEST(ID, name, Method, ...) UNARY(ID, Method, WNNOperatorOptions)
#define OP_BINARY(ID, name, Method, ...) BINARY(ID, Method, WNNOperatorOptions)
#define OP_REDUCE(ID, name, Method, ...) UNARY(ID, Method, WNNReduceOptions)
#define OP_POOL2D(ID, name, Method, ...) UNARY(ID, Method, WNNPool2dOptions)
#include "ir/graph/ops.def"
#undef OP

UNARY(IDENTITY, Identity, WNNOperatorOptions)
BINARY(PRELU, Prelu, WNNOperatorOptions)
UNARY(CLAMP, Clamp, WNNClampOptions)
UNARY(ELU, Elu, WNNEluOptions)
UNARY(HARD_SIGMOID, HardSigmoid, WNNHardSigmoidOptions)
UNARY(LEAKY_RELU, LeakyRelu, WNNLeakyReluOptions)
UNARY(LINEAR, Linear, WNNLinearOptions)
TERNARY(WHERE, Where, WNNOperatorOptions)
TERNARY(DEQUANTIZE_LINEAR, DequantizeLinear, WNNOperatorOptions)
TERNARY(QUANTIZE_LINEAR, QuantizeLinear, WNNOperatorOptions)

TERNARY(BATCH_NORMALIZATION, BatchNormalization, WNNBatchNormalizationOptions)
UNARY(INSTANCE_NORMALIZATION, InstanceNormalization, WNNInstanceNormalizationOptions)
UNARY(LAYER_NORMALIZATION, LayerNormalization, WNNLayerNormalizationOptions)

BINARY(CONV2D, Conv2d, WNNConv2dOptions)
BINARY(CONV_TRANSPOSE2D, ConvTranspose2d, WNNConvTranspose2dOptions)
BINARY(GEMM, Gemm, WNNGemmOptions)
BINARY(MATMUL, Matmul, WNNOperatorOptions)

BINARY(GATHER, Gather, WNNGatherOptions)
BINARY(GATHER_ELEMENTS, GatherElements, WNNGatherOptions)
BINARY(GATHER_ND, GatherND, WNNOperatorOptions)
TERNARY(SCATTER_ELEMENTS, ScatterElements, WNNScatterOptions)
TERNARY(SCATTER_ND, ScatterND, WNNOperatorOptions)
TERNARY(SCATTER_REDUCE, ScatterReduce, WNNScatterReduceOptions)

UNARY(RESAMPLE2D, Resample2d, WNNResample2dOptions)
UNARY(REVERSE, Reverse, WNNReverseOptions)
UNARY(TRANSPOSE, Transpose, WNNTransposeOptions)
UNARY(TRIANGULAR, Triangular, WNNTriangularOptions)

UNARY(SHAPE, Shape, WNNOperatorOptions)
TERNARY(RANGE, Range, WNNOperatorOptions)
BINARY(MODULUS_FLOOR, ModulusFloor, WNNOperatorOptions)
BINARY(MODULUS_TRUNCATE, ModulusTruncate, WNNOperatorOptions)
BINARY(RESHAPE_DYNAMIC, ReshapeDynamic, WNNOperatorOptions)
BINARY(EXPAND_DYNAMIC, ExpandDynamic, WNNOperatorOptions)
TERNARY(SLICE_DYNAMIC, SliceDynamic, WNNSliceOptions)
TERNARY(PAD_DYNAMIC, PadDynamic, WNNOperatorOptions)
UNARY(RESAMPLE2D_DYNAMIC, Resample2dDynamic, WNNResample2dDynamicOptions)
BINARY(TILE_DYNAMIC, TileDynamic, WNNOperatorOptions)

/* ---- further positional arguments ---- */

WNNOperand wnnGraphBuilderArgMin(WNNGraphBuilder builder, WNNOperand input, uint32_t axis, WNNArgMinMaxOptions const *options)
{
    return APPLY(ARG_MIN, options, ARGS(argMin, axis), input);
}

WNNOperand wnnGraphBuilderArgMax(WNNGraphBuilder builder, WNNOperand input, uint32_t axis, WNNArgMinMaxOptions const *options)
{
    return APPLY(ARG_MAX, options, ARGS(argMax, axis), input);
}

WNNOperand wnnGraphBuilderCast(WNNGraphBuilder builder, WNNOperand input, WNNOperandDataType dataType,
                               WNNOperatorOptions const *options)
{
    return APPLY(CAST, options, ARGS(cast, dataType), input);
}

WNNOperand wnnGraphBuilderConcat(WNNGraphBuilder builder, size_t inputsCount, WNNOperand const *inputs, uint32_t axis,
                                 WNNOperatorOptions const *options)
{
    return builder_apply(builder, OP_CONCAT, options, ARGS(concat, axis), inputsCount, inputs);
}

WNNOperand wnnGraphBuilderCumulativeSum(WNNGraphBuilder builder, WNNOperand input, uint32_t axis,
                                        WNNCumulativeSumOptions const *options)
{
    return APPLY(CUMULATIVE_SUM, options, ARGS(cumulativeSum, axis), input);
}

WNNOperand wnnGraphBuilderExpand(WNNGraphBuilder builder, WNNOperand input, size_t newShapeCount, uint32_t const *newShape,
                                 WNNOperatorOptions const *options)
{
    return APPLY(EXPAND, options, ARGS(expand, newShapeCount, newShape), input);
}

WNNOperand wnnGraphBuilderPad(WNNGraphBuilder builder, WNNOperand input, size_t beginningPaddingCount,
                              uint32_t const *beginningPadding, size_t endingPaddingCount, uint32_t const *endingPadding,
                              WNNPadOptions const *options)
{
    return APPLY(PAD, options, ARGS(pad, beginningPaddingCount, beginningPadding, endingPaddingCount, endingPadding), input);
}

WNNOperand wnnGraphBuilderReshape(WNNGraphBuilder builder, WNNOperand input, size_t newShapeCount, uint32_t const *newShape,
                                  WNNOperatorOptions const *options)
{
    return APPLY(RESHAPE, options, ARGS(reshape, newShapeCount, newShape), input);
}

WNNOperand wnnGraphBuilderSlice(WNNGraphBuilder builder, WNNOperand input, size_t startsCount, uint32_t const *starts,
                                size_t sizesCount, uint32_t const *sizes, WNNSliceOptions const *options)
{
    return APPLY(SLICE, options, ARGS(slice, startsCount, starts, sizesCount, sizes), input);
}

WNNOperand wnnGraphBuilderSoftmax(WNNGraphBuilder builder, WNNOperand input, uint32_t axis, WNNOperatorOptions const *options)
{
    return APPLY(SOFTMAX, options, ARGS(softmax, axis), input);
}

WNNOperand wnnGraphBuilderTile(WNNGraphBuilder builder, WNNOperand input, size_t repetitionsCount, uint32_t const *repetitions,
                               WNNOperatorOptions const *options)
{
    return APPLY(TILE, options, ARGS(tile, repetitionsCount, repetitions), input);
}

/* ---- recurrent networks and sequences of results ---- */

WNNStatus wnnGraphBuilderGru(WNNGraphBuilder builder, WNNOperand input, WNNOperand weight, WNNOperand recurrentWeight,
                             uint32_t steps, uint32_t hiddenSize, WNNGruOptions const *options, WNNOperand *outputs)
{
    return APPLY_SEQUENCE(GRU, options, ARGS(gru, steps, hiddenSize), 2, outputs, input, weight, recurrentWeight);
}

WNNOperand wnnGraphBuilderGruCell(WNNGraphBuilder builder, WNNOperand input, WNNOperand weight, WNNOperand recurrentWeight,
                                  WNNOperand hiddenState, uint32_t hiddenSize, WNNGruCellOptions const *options)
{
    return APPLY(GRU_CELL, options, ARGS(gruCell, hiddenSize), input, weight, recurrentWeight, hiddenState);
}

WNNStatus wnnGraphBuilderLstm(WNNGraphBuilder builder, WNNOperand input, WNNOperand weight, WNNOperand recurrentWeight,
                              uint32_t steps, uint32_t hiddenSize, WNNLstmOptions const *options, WNNOperand *outputs)
{
    return APPLY_SEQUENCE(LSTM, options, ARGS(lstm, steps, hiddenSize), 3, outputs, input, weight, recurrentWeight);
}

WNNStatus wnnGraphBuilderLstmCell(WNNGraphBuilder builder, WNNOperand input, WNNOperand weight, WNNOperand recurrentWeight,
                                  WNNOperand hiddenState, WNNOperand cellState, uint32_t hiddenSize,
                                  WNNLstmCellOptions const *options, WNNOperand *outputs)
{
    return APPLY_SEQUENCE(LSTM_CELL, options, ARGS(lstmCell, hiddenSize), 2, outputs, input, weight, recurrentWeight,
                          hiddenState, cellState);
}

/** A caller that asks for more parts than there can be may not have room for as many results. */
static size_t split_capacity(size_t splits)
{
    return splits > TENSOR_COUNT_MAX ? 0 : splits;
}

WNNStatus wnnGraphBuilderSplit(WNNGraphBuilder builder, WNNOperand input, size_t splitsCount, uint32_t const *splits,
                               WNNSplitOptions const *options, WNNOperand *outputs)
{
    return APPLY_SEQUENCE(SPLIT, options, ARGS(split, splitsCount, splits, 0), split_capacity(splitsCount), outputs, input);
}

WNNStatus wnnGraphBuilderSplitEqual(WNNGraphBuilder builder, WNNOperand input, uint32_t splits, WNNSplitOptions const *options,
                                    WNNOperand *outputs)
{
    return APPLY_SEQUENCE(SPLIT, options, ARGS(split, .equal = splits), split_capacity(splits), outputs, input);
}

WNNStatus wnnGraphBuilderSplitDynamic(WNNGraphBuilder builder, WNNOperand input, WNNOperand splits,
                                      WNNSplitOptions const *options, size_t outputsCapacity, WNNOperand *outputs)
{
    return APPLY_SEQUENCE(SPLIT_DYNAMIC, options, NULL, split_capacity(outputsCapacity), outputs, input, splits);
}
