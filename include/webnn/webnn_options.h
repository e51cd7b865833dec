/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/**
 * @file webnn_options.h
 * The part of webnn.h with the options of every operator, with the specification's defaults.  Programs include webnn.h.
 *
 * Begin with the WNN_..._INIT macro of the struct and set what differs from the defaults:
 *
 *     WNNGemmOptions options = WNN_GEMM_OPTIONS_INIT;
 *     options.bTranspose = true;
 *
 * The macro sets structSize, the size of the struct in the webnn.h that the program was compiled with.  Later versions append
 * members; by the size the library knows which of them a program has, so that old programs run with new libraries.  A program
 * with a newer webnn.h runs with an older library if the members unknown to it are zero (else TypeError).
 *
 * In a struct that was zeroed instead (structSize is 0, as in `&(WNNGatherOptions){.axis = 1}`) a member that is zero has its
 * default.  If zero is a valid value other than the default (alpha of gemm), this is ambiguous: such
 * a call fails with a TypeError that names the member and the macro.  Members that were appended after the first version of a
 * struct are not read from it, since the program may not have them: they have their defaults.
 */
#ifndef WEBNN_WEBNN_OPTIONS_H_
#define WEBNN_WEBNN_OPTIONS_H_

#include "webnn/webnn_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------ operator options */

/** Stands for MLOperatorOptions. */
typedef struct WNNOperatorOptions {
    size_t structSize;
    WNNStringView label;
} WNNOperatorOptions;

#define WNN_OPERATOR_OPTIONS_INIT WNN_INIT_(WNNOperatorOptions, {sizeof(WNNOperatorOptions), {NULL, 0}})

/** Stands for MLArgMinMaxOptions. */
typedef struct WNNArgMinMaxOptions {
    size_t structSize;
    WNNStringView label;
    bool keepDimensions;
    WNNOperandDataType outputDataType;
} WNNArgMinMaxOptions;

#define WNN_ARG_MIN_MAX_OPTIONS_INIT                                                                                           \
    WNN_INIT_(WNNArgMinMaxOptions, {sizeof(WNNArgMinMaxOptions), {NULL, 0}, false, WNNOperandDataType_Int32})

/** Stands for MLBatchNormalizationOptions. */
typedef struct WNNBatchNormalizationOptions {
    size_t structSize;
    WNNStringView label;
    WNNOperand WNN_NULLABLE scale;
    WNNOperand WNN_NULLABLE bias;
    uint32_t axis;
    double epsilon;
} WNNBatchNormalizationOptions;

#define WNN_BATCH_NORMALIZATION_OPTIONS_INIT                                                                                   \
    WNN_INIT_(WNNBatchNormalizationOptions, {sizeof(WNNBatchNormalizationOptions), {NULL, 0}, NULL, NULL, 1, 1e-5})

/** Stands for MLClampOptions. */
typedef struct WNNClampOptions {
    size_t structSize;
    WNNStringView label;
    WNNNumber minValue;
    WNNNumber maxValue;
} WNNClampOptions;

#define WNN_CLAMP_OPTIONS_INIT                                                                                                 \
    WNN_INIT_(WNNClampOptions,                                                                                                 \
              {sizeof(WNNClampOptions), {NULL, 0}, {WNNNumberType_Undefined, {0.0}}, {WNNNumberType_Undefined, {0.0}}})

/** Stands for MLConv2dOptions. */
typedef struct WNNConv2dOptions {
    size_t structSize;
    WNNStringView label;
    size_t paddingCount;
    uint32_t const *WNN_NULLABLE padding;
    size_t stridesCount;
    uint32_t const *WNN_NULLABLE strides;
    size_t dilationsCount;
    uint32_t const *WNN_NULLABLE dilations;
    uint32_t groups;
    WNNInputOperandLayout inputLayout;
    WNNConv2dFilterOperandLayout filterLayout;
    WNNOperand WNN_NULLABLE bias;
} WNNConv2dOptions;

#define WNN_CONV2D_OPTIONS_INIT                                                                                                \
    WNN_INIT_(WNNConv2dOptions, {sizeof(WNNConv2dOptions),                                                                     \
                                 {NULL, 0},                                                                                    \
                                 0,                                                                                            \
                                 NULL,                                                                                         \
                                 0,                                                                                            \
                                 NULL,                                                                                         \
                                 0,                                                                                            \
                                 NULL,                                                                                         \
                                 1,                                                                                            \
                                 WNNInputOperandLayout_Nchw,                                                                   \
                                 WNNConv2dFilterOperandLayout_Oihw,                                                            \
                                 NULL})

/** Stands for MLConvTranspose2dOptions. */
typedef struct WNNConvTranspose2dOptions {
    size_t structSize;
    WNNStringView label;
    size_t paddingCount;
    uint32_t const *WNN_NULLABLE padding;
    size_t stridesCount;
    uint32_t const *WNN_NULLABLE strides;
    size_t dilationsCount;
    uint32_t const *WNN_NULLABLE dilations;
    size_t outputPaddingCount;
    uint32_t const *WNN_NULLABLE outputPadding;
    size_t outputSizesCount;
    uint32_t const *WNN_NULLABLE outputSizes;
    uint32_t groups;
    WNNInputOperandLayout inputLayout;
    WNNConvTranspose2dFilterOperandLayout filterLayout;
    WNNOperand WNN_NULLABLE bias;
} WNNConvTranspose2dOptions;

#define WNN_CONV_TRANSPOSE2D_OPTIONS_INIT                                                                                      \
    WNN_INIT_(WNNConvTranspose2dOptions, {sizeof(WNNConvTranspose2dOptions),                                                   \
                                          {NULL, 0},                                                                           \
                                          0,                                                                                   \
                                          NULL,                                                                                \
                                          0,                                                                                   \
                                          NULL,                                                                                \
                                          0,                                                                                   \
                                          NULL,                                                                                \
                                          0,                                                                                   \
                                          NULL,                                                                                \
                                          0,                                                                                   \
                                          NULL,                                                                                \
                                          1,                                                                                   \
                                          WNNInputOperandLayout_Nchw,                                                          \
                                          WNNConvTranspose2dFilterOperandLayout_Iohw,                                          \
                                          NULL})

/** Stands for MLCumulativeSumOptions. */
typedef struct WNNCumulativeSumOptions {
    size_t structSize;
    WNNStringView label;
    bool exclusive;
    bool reversed;
} WNNCumulativeSumOptions;

#define WNN_CUMULATIVE_SUM_OPTIONS_INIT                                                                                        \
    WNN_INIT_(WNNCumulativeSumOptions, {sizeof(WNNCumulativeSumOptions), {NULL, 0}, false, false})

/** Stands for MLEluOptions. */
typedef struct WNNEluOptions {
    size_t structSize;
    WNNStringView label;
    double alpha;
} WNNEluOptions;

#define WNN_ELU_OPTIONS_INIT WNN_INIT_(WNNEluOptions, {sizeof(WNNEluOptions), {NULL, 0}, 1.0})

/** Stands for MLGatherOptions. */
typedef struct WNNGatherOptions {
    size_t structSize;
    WNNStringView label;
    uint32_t axis;
} WNNGatherOptions;

#define WNN_GATHER_OPTIONS_INIT WNN_INIT_(WNNGatherOptions, {sizeof(WNNGatherOptions), {NULL, 0}, 0})

/** Stands for MLGemmOptions. */
typedef struct WNNGemmOptions {
    size_t structSize;
    WNNStringView label;
    WNNOperand WNN_NULLABLE c;
    double alpha;
    double beta;
    bool aTranspose;
    bool bTranspose;
} WNNGemmOptions;

#define WNN_GEMM_OPTIONS_INIT WNN_INIT_(WNNGemmOptions, {sizeof(WNNGemmOptions), {NULL, 0}, NULL, 1.0, 1.0, false, false})

/** Stands for MLGruOptions. */
typedef struct WNNGruOptions {
    size_t structSize;
    WNNStringView label;
    WNNOperand WNN_NULLABLE bias;
    WNNOperand WNN_NULLABLE recurrentBias;
    WNNOperand WNN_NULLABLE initialHiddenState;
    bool resetAfter;
    bool returnSequence;
    WNNRecurrentNetworkDirection direction;
    WNNGruWeightLayout layout;
    size_t activationsCount;
    WNNRecurrentNetworkActivation const *WNN_NULLABLE activations;
} WNNGruOptions;

#define WNN_GRU_OPTIONS_INIT                                                                                                   \
    WNN_INIT_(WNNGruOptions, {sizeof(WNNGruOptions),                                                                           \
                              {NULL, 0},                                                                                       \
                              NULL,                                                                                            \
                              NULL,                                                                                            \
                              NULL,                                                                                            \
                              true,                                                                                            \
                              false,                                                                                           \
                              WNNRecurrentNetworkDirection_Forward,                                                            \
                              WNNGruWeightLayout_Zrn,                                                                          \
                              0,                                                                                               \
                              NULL})

/** Stands for MLGruCellOptions. */
typedef struct WNNGruCellOptions {
    size_t structSize;
    WNNStringView label;
    WNNOperand WNN_NULLABLE bias;
    WNNOperand WNN_NULLABLE recurrentBias;
    bool resetAfter;
    WNNGruWeightLayout layout;
    size_t activationsCount;
    WNNRecurrentNetworkActivation const *WNN_NULLABLE activations;
} WNNGruCellOptions;

#define WNN_GRU_CELL_OPTIONS_INIT                                                                                              \
    WNN_INIT_(WNNGruCellOptions, {sizeof(WNNGruCellOptions), {NULL, 0}, NULL, NULL, true, WNNGruWeightLayout_Zrn, 0, NULL})

/** Stands for MLHardSigmoidOptions. */
typedef struct WNNHardSigmoidOptions {
    size_t structSize;
    WNNStringView label;
    double alpha;
    double beta;
} WNNHardSigmoidOptions;

#define WNN_HARD_SIGMOID_OPTIONS_INIT WNN_INIT_(WNNHardSigmoidOptions, {sizeof(WNNHardSigmoidOptions), {NULL, 0}, 0.2, 0.5})

/** Stands for MLInstanceNormalizationOptions. */
typedef struct WNNInstanceNormalizationOptions {
    size_t structSize;
    WNNStringView label;
    WNNOperand WNN_NULLABLE scale;
    WNNOperand WNN_NULLABLE bias;
    double epsilon;
    WNNInputOperandLayout layout;
} WNNInstanceNormalizationOptions;

#define WNN_INSTANCE_NORMALIZATION_OPTIONS_INIT                                                                                \
    WNN_INIT_(WNNInstanceNormalizationOptions,                                                                                 \
              {sizeof(WNNInstanceNormalizationOptions), {NULL, 0}, NULL, NULL, 1e-5, WNNInputOperandLayout_Nchw})

/** Stands for MLLayerNormalizationOptions. */
typedef struct WNNLayerNormalizationOptions {
    size_t structSize;
    WNNStringView label;
    WNNOperand WNN_NULLABLE scale;
    WNNOperand WNN_NULLABLE bias;
    size_t axesCount;
    uint32_t const *WNN_NULLABLE axes;
    double epsilon;
} WNNLayerNormalizationOptions;

#define WNN_LAYER_NORMALIZATION_OPTIONS_INIT                                                                                   \
    WNN_INIT_(WNNLayerNormalizationOptions, {sizeof(WNNLayerNormalizationOptions), {NULL, 0}, NULL, NULL, 0, NULL, 1e-5})

/** Stands for MLLeakyReluOptions. */
typedef struct WNNLeakyReluOptions {
    size_t structSize;
    WNNStringView label;
    double alpha;
} WNNLeakyReluOptions;

#define WNN_LEAKY_RELU_OPTIONS_INIT WNN_INIT_(WNNLeakyReluOptions, {sizeof(WNNLeakyReluOptions), {NULL, 0}, 0.01})

/** Stands for MLLinearOptions. */
typedef struct WNNLinearOptions {
    size_t structSize;
    WNNStringView label;
    double alpha;
    double beta;
} WNNLinearOptions;

#define WNN_LINEAR_OPTIONS_INIT WNN_INIT_(WNNLinearOptions, {sizeof(WNNLinearOptions), {NULL, 0}, 1.0, 0.0})

/** Stands for MLLstmOptions. */
typedef struct WNNLstmOptions {
    size_t structSize;
    WNNStringView label;
    WNNOperand WNN_NULLABLE bias;
    WNNOperand WNN_NULLABLE recurrentBias;
    WNNOperand WNN_NULLABLE peepholeWeight;
    WNNOperand WNN_NULLABLE initialHiddenState;
    WNNOperand WNN_NULLABLE initialCellState;
    bool returnSequence;
    WNNRecurrentNetworkDirection direction;
    WNNLstmWeightLayout layout;
    size_t activationsCount;
    WNNRecurrentNetworkActivation const *WNN_NULLABLE activations;
} WNNLstmOptions;

#define WNN_LSTM_OPTIONS_INIT                                                                                                  \
    WNN_INIT_(WNNLstmOptions, {sizeof(WNNLstmOptions),                                                                         \
                               {NULL, 0},                                                                                      \
                               NULL,                                                                                           \
                               NULL,                                                                                           \
                               NULL,                                                                                           \
                               NULL,                                                                                           \
                               NULL,                                                                                           \
                               false,                                                                                          \
                               WNNRecurrentNetworkDirection_Forward,                                                           \
                               WNNLstmWeightLayout_Iofg,                                                                       \
                               0,                                                                                              \
                               NULL})

/** Stands for MLLstmCellOptions. */
typedef struct WNNLstmCellOptions {
    size_t structSize;
    WNNStringView label;
    WNNOperand WNN_NULLABLE bias;
    WNNOperand WNN_NULLABLE recurrentBias;
    WNNOperand WNN_NULLABLE peepholeWeight;
    WNNLstmWeightLayout layout;
    size_t activationsCount;
    WNNRecurrentNetworkActivation const *WNN_NULLABLE activations;
} WNNLstmCellOptions;

#define WNN_LSTM_CELL_OPTIONS_INIT                                                                                             \
    WNN_INIT_(WNNLstmCellOptions, {sizeof(WNNLstmCellOptions), {NULL, 0}, NULL, NULL, NULL, WNNLstmWeightLayout_Iofg, 0, NULL})

/** Stands for MLPadOptions. */
typedef struct WNNPadOptions {
    size_t structSize;
    WNNStringView label;
    WNNPaddingMode mode;
    WNNNumber value;
} WNNPadOptions;

#define WNN_PAD_OPTIONS_INIT                                                                                                   \
    WNN_INIT_(WNNPadOptions, {sizeof(WNNPadOptions), {NULL, 0}, WNNPaddingMode_Constant, {WNNNumberType_Float64, {0.0}}})

/** Stands for MLPool2dOptions. */
typedef struct WNNPool2dOptions {
    size_t structSize;
    WNNStringView label;
    size_t windowDimensionsCount;
    uint32_t const *WNN_NULLABLE windowDimensions;
    size_t paddingCount;
    uint32_t const *WNN_NULLABLE padding;
    size_t stridesCount;
    uint32_t const *WNN_NULLABLE strides;
    size_t dilationsCount;
    uint32_t const *WNN_NULLABLE dilations;
    WNNInputOperandLayout layout;
    WNNRoundingType outputShapeRounding;
    size_t outputSizesCount;
    uint32_t const *WNN_NULLABLE outputSizes;
} WNNPool2dOptions;

#define WNN_POOL2D_OPTIONS_INIT                                                                                                \
    WNN_INIT_(WNNPool2dOptions, {sizeof(WNNPool2dOptions),                                                                     \
                                 {NULL, 0},                                                                                    \
                                 0,                                                                                            \
                                 NULL,                                                                                         \
                                 0,                                                                                            \
                                 NULL,                                                                                         \
                                 0,                                                                                            \
                                 NULL,                                                                                         \
                                 0,                                                                                            \
                                 NULL,                                                                                         \
                                 WNNInputOperandLayout_Nchw,                                                                   \
                                 WNNRoundingType_Floor,                                                                        \
                                 0,                                                                                            \
                                 NULL})

/** Stands for MLReduceOptions. */
typedef struct WNNReduceOptions {
    size_t structSize;
    WNNStringView label;
    size_t axesCount;
    uint32_t const *WNN_NULLABLE axes;
    bool keepDimensions;
} WNNReduceOptions;

#define WNN_REDUCE_OPTIONS_INIT WNN_INIT_(WNNReduceOptions, {sizeof(WNNReduceOptions), {NULL, 0}, 0, NULL, false})

/** Stands for MLResample2dOptions. */
typedef struct WNNResample2dOptions {
    size_t structSize;
    WNNStringView label;
    WNNInterpolationMode mode;
    size_t scalesCount;
    float const *WNN_NULLABLE scales;
    size_t sizesCount;
    uint32_t const *WNN_NULLABLE sizes;
    size_t axesCount;
    uint32_t const *WNN_NULLABLE axes;
} WNNResample2dOptions;

#define WNN_RESAMPLE2D_OPTIONS_INIT                                                                                            \
    WNN_INIT_(WNNResample2dOptions,                                                                                            \
              {sizeof(WNNResample2dOptions), {NULL, 0}, WNNInterpolationMode_NearestNeighbor, 0, NULL, 0, NULL, 0, NULL})

/** Stands for MLResample2dDynamicOptions of the draft of dynamic shapes: sizes is an operand of two elements. */
typedef struct WNNResample2dDynamicOptions {
    size_t structSize;
    WNNStringView label;
    WNNInterpolationMode mode;
    size_t scalesCount;
    float const *WNN_NULLABLE scales;
    WNNOperand WNN_NULLABLE sizes;
    size_t axesCount;
    uint32_t const *WNN_NULLABLE axes;
} WNNResample2dDynamicOptions;

#define WNN_RESAMPLE2D_DYNAMIC_OPTIONS_INIT                                                                                    \
    WNN_INIT_(WNNResample2dDynamicOptions,                                                                                     \
              {sizeof(WNNResample2dDynamicOptions), {NULL, 0}, WNNInterpolationMode_NearestNeighbor, 0, NULL, NULL, 0, NULL})

/** Stands for MLReverseOptions. */
typedef struct WNNReverseOptions {
    size_t structSize;
    WNNStringView label;
    size_t axesCount;
    uint32_t const *WNN_NULLABLE axes;
} WNNReverseOptions;

#define WNN_REVERSE_OPTIONS_INIT WNN_INIT_(WNNReverseOptions, {sizeof(WNNReverseOptions), {NULL, 0}, 0, NULL})

/** Stands for MLScatterOptions. */
typedef struct WNNScatterOptions {
    size_t structSize;
    WNNStringView label;
    uint32_t axis;
} WNNScatterOptions;

#define WNN_SCATTER_OPTIONS_INIT WNN_INIT_(WNNScatterOptions, {sizeof(WNNScatterOptions), {NULL, 0}, 0})

/** Holds the options of wnnGraphBuilderScatterReduce, which is not in the specification. */
typedef struct WNNScatterReduceOptions {
    size_t structSize;
    WNNStringView label;
    uint32_t axis;
    WNNScatterReduction reduction;
} WNNScatterReduceOptions;

#define WNN_SCATTER_REDUCE_OPTIONS_INIT                                                                                        \
    WNN_INIT_(WNNScatterReduceOptions, {sizeof(WNNScatterReduceOptions), {NULL, 0}, 0, WNNScatterReduction_Add})

/** Stands for MLSliceOptions. */
typedef struct WNNSliceOptions {
    size_t structSize;
    WNNStringView label;
    size_t stridesCount;
    uint32_t const *WNN_NULLABLE strides;
} WNNSliceOptions;

#define WNN_SLICE_OPTIONS_INIT WNN_INIT_(WNNSliceOptions, {sizeof(WNNSliceOptions), {NULL, 0}, 0, NULL})

/** Stands for MLSplitOptions. */
typedef struct WNNSplitOptions {
    size_t structSize;
    WNNStringView label;
    uint32_t axis;
} WNNSplitOptions;

#define WNN_SPLIT_OPTIONS_INIT WNN_INIT_(WNNSplitOptions, {sizeof(WNNSplitOptions), {NULL, 0}, 0})

/** Stands for MLTransposeOptions. */
typedef struct WNNTransposeOptions {
    size_t structSize;
    WNNStringView label;
    size_t permutationCount;
    uint32_t const *WNN_NULLABLE permutation;
} WNNTransposeOptions;

#define WNN_TRANSPOSE_OPTIONS_INIT WNN_INIT_(WNNTransposeOptions, {sizeof(WNNTransposeOptions), {NULL, 0}, 0, NULL})

/** Stands for MLTriangularOptions. */
typedef struct WNNTriangularOptions {
    size_t structSize;
    WNNStringView label;
    bool upper;
    int32_t diagonal;
} WNNTriangularOptions;

#define WNN_TRIANGULAR_OPTIONS_INIT WNN_INIT_(WNNTriangularOptions, {sizeof(WNNTriangularOptions), {NULL, 0}, true, 0})

#ifdef __cplusplus
}
#endif

#endif /* WEBNN_WEBNN_OPTIONS_H_ */
