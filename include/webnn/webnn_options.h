/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/**
 * @file webnn_options.h
 * Part of webnn.h, which is what programs include: the options of every operator, with the specification's defaults.
 */
#ifndef WEBNN_WEBNN_OPTIONS_H_
#define WEBNN_WEBNN_OPTIONS_H_

#include "webnn/webnn_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------ operator options */

/** MLOperatorOptions */
typedef struct WNNOperatorOptions {
    WNNStringView label;
} WNNOperatorOptions;

#define WNN_OPERATOR_OPTIONS_INIT WNN_INIT_(WNNOperatorOptions, {{NULL, 0}})

/** MLArgMinMaxOptions */
typedef struct WNNArgMinMaxOptions {
    WNNStringView label;
    bool keepDimensions;
    WNNOperandDataType outputDataType;
} WNNArgMinMaxOptions;

#define WNN_ARG_MIN_MAX_OPTIONS_INIT WNN_INIT_(WNNArgMinMaxOptions, {{NULL, 0}, false, WNNOperandDataType_Int32})

/** MLBatchNormalizationOptions */
typedef struct WNNBatchNormalizationOptions {
    WNNStringView label;
    WNNOperand WNN_NULLABLE scale;
    WNNOperand WNN_NULLABLE bias;
    uint32_t axis;
    double epsilon;
} WNNBatchNormalizationOptions;

#define WNN_BATCH_NORMALIZATION_OPTIONS_INIT WNN_INIT_(WNNBatchNormalizationOptions, {{NULL, 0}, NULL, NULL, 1, 1e-5})

/** MLClampOptions */
typedef struct WNNClampOptions {
    WNNStringView label;
    WNNNumber minValue;
    WNNNumber maxValue;
} WNNClampOptions;

#define WNN_CLAMP_OPTIONS_INIT                                                                                                 \
    WNN_INIT_(WNNClampOptions, {{NULL, 0}, {WNNNumberType_Undefined, {0.0}}, {WNNNumberType_Undefined, {0.0}}})

/** MLConv2dOptions */
typedef struct WNNConv2dOptions {
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
    WNN_INIT_(WNNConv2dOptions,                                                                                                \
              {{NULL, 0}, 0, NULL, 0, NULL, 0, NULL, 1, WNNInputOperandLayout_Nchw, WNNConv2dFilterOperandLayout_Oihw, NULL})

/** MLConvTranspose2dOptions */
typedef struct WNNConvTranspose2dOptions {
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
    WNN_INIT_(WNNConvTranspose2dOptions, {{NULL, 0},                                                                           \
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

/** MLCumulativeSumOptions */
typedef struct WNNCumulativeSumOptions {
    WNNStringView label;
    bool exclusive;
    bool reversed;
} WNNCumulativeSumOptions;

#define WNN_CUMULATIVE_SUM_OPTIONS_INIT WNN_INIT_(WNNCumulativeSumOptions, {{NULL, 0}, false, false})

/** MLEluOptions */
typedef struct WNNEluOptions {
    WNNStringView label;
    double alpha;
} WNNEluOptions;

#define WNN_ELU_OPTIONS_INIT WNN_INIT_(WNNEluOptions, {{NULL, 0}, 1.0})

/** MLGatherOptions */
typedef struct WNNGatherOptions {
    WNNStringView label;
    uint32_t axis;
} WNNGatherOptions;

#define WNN_GATHER_OPTIONS_INIT WNN_INIT_(WNNGatherOptions, {{NULL, 0}, 0})

/** MLGemmOptions */
typedef struct WNNGemmOptions {
    WNNStringView label;
    WNNOperand WNN_NULLABLE c;
    double alpha;
    double beta;
    bool aTranspose;
    bool bTranspose;
} WNNGemmOptions;

#define WNN_GEMM_OPTIONS_INIT WNN_INIT_(WNNGemmOptions, {{NULL, 0}, NULL, 1.0, 1.0, false, false})

/** MLGruOptions */
typedef struct WNNGruOptions {
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
    WNN_INIT_(                                                                                                                 \
        WNNGruOptions,                                                                                                         \
        {{NULL, 0}, NULL, NULL, NULL, true, false, WNNRecurrentNetworkDirection_Forward, WNNGruWeightLayout_Zrn, 0, NULL})

/** MLGruCellOptions */
typedef struct WNNGruCellOptions {
    WNNStringView label;
    WNNOperand WNN_NULLABLE bias;
    WNNOperand WNN_NULLABLE recurrentBias;
    bool resetAfter;
    WNNGruWeightLayout layout;
    size_t activationsCount;
    WNNRecurrentNetworkActivation const *WNN_NULLABLE activations;
} WNNGruCellOptions;

#define WNN_GRU_CELL_OPTIONS_INIT WNN_INIT_(WNNGruCellOptions, {{NULL, 0}, NULL, NULL, true, WNNGruWeightLayout_Zrn, 0, NULL})

/** MLHardSigmoidOptions */
typedef struct WNNHardSigmoidOptions {
    WNNStringView label;
    double alpha;
    double beta;
} WNNHardSigmoidOptions;

#define WNN_HARD_SIGMOID_OPTIONS_INIT WNN_INIT_(WNNHardSigmoidOptions, {{NULL, 0}, 0.2, 0.5})

/** MLInstanceNormalizationOptions */
typedef struct WNNInstanceNormalizationOptions {
    WNNStringView label;
    WNNOperand WNN_NULLABLE scale;
    WNNOperand WNN_NULLABLE bias;
    double epsilon;
    WNNInputOperandLayout layout;
} WNNInstanceNormalizationOptions;

#define WNN_INSTANCE_NORMALIZATION_OPTIONS_INIT                                                                                \
    WNN_INIT_(WNNInstanceNormalizationOptions, {{NULL, 0}, NULL, NULL, 1e-5, WNNInputOperandLayout_Nchw})

/** MLLayerNormalizationOptions */
typedef struct WNNLayerNormalizationOptions {
    WNNStringView label;
    WNNOperand WNN_NULLABLE scale;
    WNNOperand WNN_NULLABLE bias;
    size_t axesCount;
    uint32_t const *WNN_NULLABLE axes;
    double epsilon;
} WNNLayerNormalizationOptions;

#define WNN_LAYER_NORMALIZATION_OPTIONS_INIT WNN_INIT_(WNNLayerNormalizationOptions, {{NULL, 0}, NULL, NULL, 0, NULL, 1e-5})

/** MLLeakyReluOptions */
typedef struct WNNLeakyReluOptions {
    WNNStringView label;
    double alpha;
} WNNLeakyReluOptions;

#define WNN_LEAKY_RELU_OPTIONS_INIT WNN_INIT_(WNNLeakyReluOptions, {{NULL, 0}, 0.01})

/** MLLinearOptions */
typedef struct WNNLinearOptions {
    WNNStringView label;
    double alpha;
    double beta;
} WNNLinearOptions;

#define WNN_LINEAR_OPTIONS_INIT WNN_INIT_(WNNLinearOptions, {{NULL, 0}, 1.0, 0.0})

/** MLLstmOptions */
typedef struct WNNLstmOptions {
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
    WNN_INIT_(WNNLstmOptions, {{NULL, 0},                                                                                      \
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

/** MLLstmCellOptions */
typedef struct WNNLstmCellOptions {
    WNNStringView label;
    WNNOperand WNN_NULLABLE bias;
    WNNOperand WNN_NULLABLE recurrentBias;
    WNNOperand WNN_NULLABLE peepholeWeight;
    WNNLstmWeightLayout layout;
    size_t activationsCount;
    WNNRecurrentNetworkActivation const *WNN_NULLABLE activations;
} WNNLstmCellOptions;

#define WNN_LSTM_CELL_OPTIONS_INIT                                                                                             \
    WNN_INIT_(WNNLstmCellOptions, {{NULL, 0}, NULL, NULL, NULL, WNNLstmWeightLayout_Iofg, 0, NULL})

/** MLPadOptions */
typedef struct WNNPadOptions {
    WNNStringView label;
    WNNPaddingMode mode;
    WNNNumber value;
} WNNPadOptions;

#define WNN_PAD_OPTIONS_INIT WNN_INIT_(WNNPadOptions, {{NULL, 0}, WNNPaddingMode_Constant, {WNNNumberType_Float64, {0.0}}})

/** MLPool2dOptions */
typedef struct WNNPool2dOptions {
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
    WNN_INIT_(WNNPool2dOptions,                                                                                                \
              {{NULL, 0}, 0, NULL, 0, NULL, 0, NULL, 0, NULL, WNNInputOperandLayout_Nchw, WNNRoundingType_Floor, 0, NULL})

/** MLReduceOptions */
typedef struct WNNReduceOptions {
    WNNStringView label;
    size_t axesCount;
    uint32_t const *WNN_NULLABLE axes;
    bool keepDimensions;
} WNNReduceOptions;

#define WNN_REDUCE_OPTIONS_INIT WNN_INIT_(WNNReduceOptions, {{NULL, 0}, 0, NULL, false})

/** MLResample2dOptions */
typedef struct WNNResample2dOptions {
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
    WNN_INIT_(WNNResample2dOptions, {{NULL, 0}, WNNInterpolationMode_NearestNeighbor, 0, NULL, 0, NULL, 0, NULL})

/** MLReverseOptions */
typedef struct WNNReverseOptions {
    WNNStringView label;
    size_t axesCount;
    uint32_t const *WNN_NULLABLE axes;
} WNNReverseOptions;

#define WNN_REVERSE_OPTIONS_INIT WNN_INIT_(WNNReverseOptions, {{NULL, 0}, 0, NULL})

/** MLScatterOptions */
typedef struct WNNScatterOptions {
    WNNStringView label;
    uint32_t axis;
} WNNScatterOptions;

#define WNN_SCATTER_OPTIONS_INIT WNN_INIT_(WNNScatterOptions, {{NULL, 0}, 0})

/** MLSliceOptions */
typedef struct WNNSliceOptions {
    WNNStringView label;
    size_t stridesCount;
    uint32_t const *WNN_NULLABLE strides;
} WNNSliceOptions;

#define WNN_SLICE_OPTIONS_INIT WNN_INIT_(WNNSliceOptions, {{NULL, 0}, 0, NULL})

/** MLSplitOptions */
typedef struct WNNSplitOptions {
    WNNStringView label;
    uint32_t axis;
} WNNSplitOptions;

#define WNN_SPLIT_OPTIONS_INIT WNN_INIT_(WNNSplitOptions, {{NULL, 0}, 0})

/** MLTransposeOptions */
typedef struct WNNTransposeOptions {
    WNNStringView label;
    size_t permutationCount;
    uint32_t const *WNN_NULLABLE permutation;
} WNNTransposeOptions;

#define WNN_TRANSPOSE_OPTIONS_INIT WNN_INIT_(WNNTransposeOptions, {{NULL, 0}, 0, NULL})

/** MLTriangularOptions */
typedef struct WNNTriangularOptions {
    WNNStringView label;
    bool upper;
    int32_t diagonal;
} WNNTriangularOptions;

#define WNN_TRIANGULAR_OPTIONS_INIT WNN_INIT_(WNNTriangularOptions, {{NULL, 0}, true, 0})

#ifdef __cplusplus
}
#endif

#endif /* WEBNN_WEBNN_OPTIONS_H_ */
