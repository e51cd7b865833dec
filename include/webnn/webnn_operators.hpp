/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/**
 * @file webnn_operators.hpp
 * This part of webnn.hpp is generated from ir/graph/ops.def by webnn-cpp-operators.
 */
#ifndef WEBNN_WEBNN_OPERATORS_HPP_
#define WEBNN_WEBNN_OPERATORS_HPP_

#include "webnn/webnn_base.hpp"

// clang-format off
namespace webnn
{

/** The data types of operands (MLOperandDataType). */
enum class DataType : std::uint32_t {
    float32 = 1,
    float16 = 2,
    int32 = 3,
    uint32 = 4,
    int64 = 5,
    uint64 = 6,
    int8 = 7,
    uint8 = 8,
};

/** The values of MLInputOperandLayout. */
enum class InputOperandLayout : std::uint32_t {
    nchw = 0,
    nhwc = 1,
};

/** The values of MLConv2dFilterOperandLayout. */
enum class Conv2dFilterOperandLayout : std::uint32_t {
    oihw = 0,
    hwio = 1,
    ohwi = 2,
    ihwo = 3,
};

/** The values of MLConvTranspose2dFilterOperandLayout. */
enum class ConvTranspose2dFilterOperandLayout : std::uint32_t {
    iohw = 0,
    hwoi = 1,
    ohwi = 2,
};

/** The values of MLGruWeightLayout. */
enum class GruWeightLayout : std::uint32_t {
    zrn = 0,
    rzn = 1,
};

/** The values of MLLstmWeightLayout. */
enum class LstmWeightLayout : std::uint32_t {
    iofg = 0,
    ifgo = 1,
};

/** The values of MLRecurrentNetworkActivation. */
enum class RecurrentNetworkActivation : std::uint32_t {
    relu = 0,
    sigmoid = 1,
    tanh = 2,
};

/** The values of MLRecurrentNetworkDirection. */
enum class RecurrentNetworkDirection : std::uint32_t {
    forward = 0,
    backward = 1,
    both = 2,
};

/** The values of MLPaddingMode. */
enum class PaddingMode : std::uint32_t {
    constant = 0,
    edge = 1,
    reflection = 2,
};

/** The values of MLRoundingType. */
enum class RoundingType : std::uint32_t {
    floor = 0,
    ceil = 1,
};

/** The values of MLInterpolationMode. */
enum class InterpolationMode : std::uint32_t {
    nearest_neighbor = 0,
    linear = 1,
};

/** The members of MLArgMinMaxOptions, with the specification's defaults. */
struct ArgMinMaxOptions {
    std::string label{}; /**< appears in error messages */
    bool keepDimensions = false;
    DataType outputDataType = DataType::int32;

    /** Returns the same for the C API, which points into this object. */
    WNNArgMinMaxOptions native() const
    {
        WNNArgMinMaxOptions o = WNN_ARG_MIN_MAX_OPTIONS_INIT;
        o.label = detail::view(label);
        o.keepDimensions = keepDimensions;
        o.outputDataType = static_cast<WNNOperandDataType>(outputDataType);
        return o;
    }
};

/** The members of MLBatchNormalizationOptions, with the specification's defaults. */
struct BatchNormalizationOptions {
    std::string label{}; /**< appears in error messages */
    Operand scale{};
    Operand bias{};
    std::uint32_t axis = 1;
    double epsilon = 1.0000000000000001e-05;

    /** Returns the same for the C API, which points into this object. */
    WNNBatchNormalizationOptions native() const
    {
        WNNBatchNormalizationOptions o = WNN_BATCH_NORMALIZATION_OPTIONS_INIT;
        o.label = detail::view(label);
        o.scale = scale.get();
        o.bias = bias.get();
        o.axis = axis;
        o.epsilon = epsilon;
        return o;
    }
};

/** The members of MLOperatorOptions, with the specification's defaults. */
struct OperatorOptions {
    std::string label{}; /**< appears in error messages */

    /** Returns the same for the C API, which points into this object. */
    WNNOperatorOptions native() const
    {
        WNNOperatorOptions o = WNN_OPERATOR_OPTIONS_INIT;
        o.label = detail::view(label);
        return o;
    }
};

/** The members of MLClampOptions, with the specification's defaults. */
struct ClampOptions {
    std::string label{}; /**< appears in error messages */
    Number minValue;
    Number maxValue;

    /** Returns the same for the C API, which points into this object. */
    WNNClampOptions native() const
    {
        WNNClampOptions o = WNN_CLAMP_OPTIONS_INIT;
        o.label = detail::view(label);
        o.minValue = minValue;
        o.maxValue = maxValue;
        return o;
    }
};

/** The members of MLConv2dOptions, with the specification's defaults. */
struct Conv2dOptions {
    std::string label{}; /**< appears in error messages */
    Operand bias{};
    std::optional<std::vector<std::uint32_t>> padding{};
    std::optional<std::vector<std::uint32_t>> strides{};
    std::optional<std::vector<std::uint32_t>> dilations{};
    std::uint32_t groups = 1;
    InputOperandLayout inputLayout = InputOperandLayout::nchw;
    Conv2dFilterOperandLayout filterLayout = Conv2dFilterOperandLayout::oihw;

    /** Returns the same for the C API, which points into this object. */
    WNNConv2dOptions native() const
    {
        WNNConv2dOptions o = WNN_CONV2D_OPTIONS_INIT;
        o.label = detail::view(label);
        o.bias = bias.get();
        if (padding) {
            o.paddingCount = padding->size();
            o.padding = detail::list(*padding);
        }
        if (strides) {
            o.stridesCount = strides->size();
            o.strides = detail::list(*strides);
        }
        if (dilations) {
            o.dilationsCount = dilations->size();
            o.dilations = detail::list(*dilations);
        }
        o.groups = groups;
        o.inputLayout = static_cast<WNNInputOperandLayout>(inputLayout);
        o.filterLayout = static_cast<WNNConv2dFilterOperandLayout>(filterLayout);
        return o;
    }
};

/** The members of MLConvTranspose2dOptions, with the specification's defaults. */
struct ConvTranspose2dOptions {
    std::string label{}; /**< appears in error messages */
    Operand bias{};
    std::optional<std::vector<std::uint32_t>> padding{};
    std::optional<std::vector<std::uint32_t>> strides{};
    std::optional<std::vector<std::uint32_t>> dilations{};
    std::optional<std::vector<std::uint32_t>> outputPadding{};
    std::optional<std::vector<std::uint32_t>> outputSizes{};
    std::uint32_t groups = 1;
    InputOperandLayout inputLayout = InputOperandLayout::nchw;
    ConvTranspose2dFilterOperandLayout filterLayout = ConvTranspose2dFilterOperandLayout::iohw;

    /** Returns the same for the C API, which points into this object. */
    WNNConvTranspose2dOptions native() const
    {
        WNNConvTranspose2dOptions o = WNN_CONV_TRANSPOSE2D_OPTIONS_INIT;
        o.label = detail::view(label);
        o.bias = bias.get();
        if (padding) {
            o.paddingCount = padding->size();
            o.padding = detail::list(*padding);
        }
        if (strides) {
            o.stridesCount = strides->size();
            o.strides = detail::list(*strides);
        }
        if (dilations) {
            o.dilationsCount = dilations->size();
            o.dilations = detail::list(*dilations);
        }
        if (outputPadding) {
            o.outputPaddingCount = outputPadding->size();
            o.outputPadding = detail::list(*outputPadding);
        }
        if (outputSizes) {
            o.outputSizesCount = outputSizes->size();
            o.outputSizes = detail::list(*outputSizes);
        }
        o.groups = groups;
        o.inputLayout = static_cast<WNNInputOperandLayout>(inputLayout);
        o.filterLayout = static_cast<WNNConvTranspose2dFilterOperandLayout>(filterLayout);
        return o;
    }
};

/** The members of MLCumulativeSumOptions, with the specification's defaults. */
struct CumulativeSumOptions {
    std::string label{}; /**< appears in error messages */
    bool exclusive = false;
    bool reversed = false;

    /** Returns the same for the C API, which points into this object. */
    WNNCumulativeSumOptions native() const
    {
        WNNCumulativeSumOptions o = WNN_CUMULATIVE_SUM_OPTIONS_INIT;
        o.label = detail::view(label);
        o.exclusive = exclusive;
        o.reversed = reversed;
        return o;
    }
};

/** The members of MLEluOptions, with the specification's defaults. */
struct EluOptions {
    std::string label{}; /**< appears in error messages */
    double alpha = 1;

    /** Returns the same for the C API, which points into this object. */
    WNNEluOptions native() const
    {
        WNNEluOptions o = WNN_ELU_OPTIONS_INIT;
        o.label = detail::view(label);
        o.alpha = alpha;
        return o;
    }
};

/** The members of MLGatherOptions, with the specification's defaults. */
struct GatherOptions {
    std::string label{}; /**< appears in error messages */
    std::uint32_t axis = 0;

    /** Returns the same for the C API, which points into this object. */
    WNNGatherOptions native() const
    {
        WNNGatherOptions o = WNN_GATHER_OPTIONS_INIT;
        o.label = detail::view(label);
        o.axis = axis;
        return o;
    }
};

/** The members of MLGemmOptions, with the specification's defaults. */
struct GemmOptions {
    std::string label{}; /**< appears in error messages */
    Operand c{};
    double alpha = 1;
    double beta = 1;
    bool aTranspose = false;
    bool bTranspose = false;

    /** Returns the same for the C API, which points into this object. */
    WNNGemmOptions native() const
    {
        WNNGemmOptions o = WNN_GEMM_OPTIONS_INIT;
        o.label = detail::view(label);
        o.c = c.get();
        o.alpha = alpha;
        o.beta = beta;
        o.aTranspose = aTranspose;
        o.bTranspose = bTranspose;
        return o;
    }
};

/** The members of MLGruOptions, with the specification's defaults. */
struct GruOptions {
    std::string label{}; /**< appears in error messages */
    Operand bias{};
    Operand recurrentBias{};
    Operand initialHiddenState{};
    bool resetAfter = true;
    bool returnSequence = false;
    RecurrentNetworkDirection direction = RecurrentNetworkDirection::forward;
    GruWeightLayout layout = GruWeightLayout::zrn;
    std::optional<std::vector<RecurrentNetworkActivation>> activations{};

    /** Returns the same for the C API, which points into this object. */
    WNNGruOptions native() const
    {
        WNNGruOptions o = WNN_GRU_OPTIONS_INIT;
        o.label = detail::view(label);
        o.bias = bias.get();
        o.recurrentBias = recurrentBias.get();
        o.initialHiddenState = initialHiddenState.get();
        o.resetAfter = resetAfter;
        o.returnSequence = returnSequence;
        o.direction = static_cast<WNNRecurrentNetworkDirection>(direction);
        o.layout = static_cast<WNNGruWeightLayout>(layout);
        if (activations) {
            o.activationsCount = activations->size();
            o.activations = detail::list<WNNRecurrentNetworkActivation>(*activations);
        }
        return o;
    }
};

/** The members of MLGruCellOptions, with the specification's defaults. */
struct GruCellOptions {
    std::string label{}; /**< appears in error messages */
    Operand bias{};
    Operand recurrentBias{};
    bool resetAfter = true;
    GruWeightLayout layout = GruWeightLayout::zrn;
    std::optional<std::vector<RecurrentNetworkActivation>> activations{};

    /** Returns the same for the C API, which points into this object. */
    WNNGruCellOptions native() const
    {
        WNNGruCellOptions o = WNN_GRU_CELL_OPTIONS_INIT;
        o.label = detail::view(label);
        o.bias = bias.get();
        o.recurrentBias = recurrentBias.get();
        o.resetAfter = resetAfter;
        o.layout = static_cast<WNNGruWeightLayout>(layout);
        if (activations) {
            o.activationsCount = activations->size();
            o.activations = detail::list<WNNRecurrentNetworkActivation>(*activations);
        }
        return o;
    }
};

/** The members of MLHardSigmoidOptions, with the specification's defaults. */
struct HardSigmoidOptions {
    std::string label{}; /**< appears in error messages */
    double alpha = 0.20000000000000001;
    double beta = 0.5;

    /** Returns the same for the C API, which points into this object. */
    WNNHardSigmoidOptions native() const
    {
        WNNHardSigmoidOptions o = WNN_HARD_SIGMOID_OPTIONS_INIT;
        o.label = detail::view(label);
        o.alpha = alpha;
        o.beta = beta;
        return o;
    }
};

/** The members of MLInstanceNormalizationOptions, with the specification's defaults. */
struct InstanceNormalizationOptions {
    std::string label{}; /**< appears in error messages */
    Operand scale{};
    Operand bias{};
    double epsilon = 1.0000000000000001e-05;
    InputOperandLayout layout = InputOperandLayout::nchw;

    /** Returns the same for the C API, which points into this object. */
    WNNInstanceNormalizationOptions native() const
    {
        WNNInstanceNormalizationOptions o = WNN_INSTANCE_NORMALIZATION_OPTIONS_INIT;
        o.label = detail::view(label);
        o.scale = scale.get();
        o.bias = bias.get();
        o.epsilon = epsilon;
        o.layout = static_cast<WNNInputOperandLayout>(layout);
        return o;
    }
};

/** The members of MLLayerNormalizationOptions, with the specification's defaults. */
struct LayerNormalizationOptions {
    std::string label{}; /**< appears in error messages */
    Operand scale{};
    Operand bias{};
    std::optional<std::vector<std::uint32_t>> axes{};
    double epsilon = 1.0000000000000001e-05;

    /** Returns the same for the C API, which points into this object. */
    WNNLayerNormalizationOptions native() const
    {
        WNNLayerNormalizationOptions o = WNN_LAYER_NORMALIZATION_OPTIONS_INIT;
        o.label = detail::view(label);
        o.scale = scale.get();
        o.bias = bias.get();
        if (axes) {
            o.axesCount = axes->size();
            o.axes = detail::list(*axes);
        }
        o.epsilon = epsilon;
        return o;
    }
};

/** The members of MLLeakyReluOptions, with the specification's defaults. */
struct LeakyReluOptions {
    std::string label{}; /**< appears in error messages */
    double alpha = 0.01;

    /** Returns the same for the C API, which points into this object. */
    WNNLeakyReluOptions native() const
    {
        WNNLeakyReluOptions o = WNN_LEAKY_RELU_OPTIONS_INIT;
        o.label = detail::view(label);
        o.alpha = alpha;
        return o;
    }
};

/** The members of MLLinearOptions, with the specification's defaults. */
struct LinearOptions {
    std::string label{}; /**< appears in error messages */
    double alpha = 1;
    double beta = 0;

    /** Returns the same for the C API, which points into this object. */
    WNNLinearOptions native() const
    {
        WNNLinearOptions o = WNN_LINEAR_OPTIONS_INIT;
        o.label = detail::view(label);
        o.alpha = alpha;
        o.beta = beta;
        return o;
    }
};

/** The members of MLLstmOptions, with the specification's defaults. */
struct LstmOptions {
    std::string label{}; /**< appears in error messages */
    Operand bias{};
    Operand recurrentBias{};
    Operand peepholeWeight{};
    Operand initialHiddenState{};
    Operand initialCellState{};
    bool returnSequence = false;
    RecurrentNetworkDirection direction = RecurrentNetworkDirection::forward;
    LstmWeightLayout layout = LstmWeightLayout::iofg;
    std::optional<std::vector<RecurrentNetworkActivation>> activations{};

    /** Returns the same for the C API, which points into this object. */
    WNNLstmOptions native() const
    {
        WNNLstmOptions o = WNN_LSTM_OPTIONS_INIT;
        o.label = detail::view(label);
        o.bias = bias.get();
        o.recurrentBias = recurrentBias.get();
        o.peepholeWeight = peepholeWeight.get();
        o.initialHiddenState = initialHiddenState.get();
        o.initialCellState = initialCellState.get();
        o.returnSequence = returnSequence;
        o.direction = static_cast<WNNRecurrentNetworkDirection>(direction);
        o.layout = static_cast<WNNLstmWeightLayout>(layout);
        if (activations) {
            o.activationsCount = activations->size();
            o.activations = detail::list<WNNRecurrentNetworkActivation>(*activations);
        }
        return o;
    }
};

/** The members of MLLstmCellOptions, with the specification's defaults. */
struct LstmCellOptions {
    std::string label{}; /**< appears in error messages */
    Operand bias{};
    Operand recurrentBias{};
    Operand peepholeWeight{};
    LstmWeightLayout layout = LstmWeightLayout::iofg;
    std::optional<std::vector<RecurrentNetworkActivation>> activations{};

    /** Returns the same for the C API, which points into this object. */
    WNNLstmCellOptions native() const
    {
        WNNLstmCellOptions o = WNN_LSTM_CELL_OPTIONS_INIT;
        o.label = detail::view(label);
        o.bias = bias.get();
        o.recurrentBias = recurrentBias.get();
        o.peepholeWeight = peepholeWeight.get();
        o.layout = static_cast<WNNLstmWeightLayout>(layout);
        if (activations) {
            o.activationsCount = activations->size();
            o.activations = detail::list<WNNRecurrentNetworkActivation>(*activations);
        }
        return o;
    }
};

/** The members of MLPadOptions, with the specification's defaults. */
struct PadOptions {
    std::string label{}; /**< appears in error messages */
    PaddingMode mode = PaddingMode::constant;
    Number value = 0;

    /** Returns the same for the C API, which points into this object. */
    WNNPadOptions native() const
    {
        WNNPadOptions o = WNN_PAD_OPTIONS_INIT;
        o.label = detail::view(label);
        o.mode = static_cast<WNNPaddingMode>(mode);
        o.value = value;
        return o;
    }
};

/** The members of MLPool2dOptions, with the specification's defaults. */
struct Pool2dOptions {
    std::string label{}; /**< appears in error messages */
    std::optional<std::vector<std::uint32_t>> windowDimensions{};
    std::optional<std::vector<std::uint32_t>> padding{};
    std::optional<std::vector<std::uint32_t>> strides{};
    std::optional<std::vector<std::uint32_t>> dilations{};
    InputOperandLayout layout = InputOperandLayout::nchw;
    RoundingType outputShapeRounding = RoundingType::floor;
    std::optional<std::vector<std::uint32_t>> outputSizes{};

    /** Returns the same for the C API, which points into this object. */
    WNNPool2dOptions native() const
    {
        WNNPool2dOptions o = WNN_POOL2D_OPTIONS_INIT;
        o.label = detail::view(label);
        if (windowDimensions) {
            o.windowDimensionsCount = windowDimensions->size();
            o.windowDimensions = detail::list(*windowDimensions);
        }
        if (padding) {
            o.paddingCount = padding->size();
            o.padding = detail::list(*padding);
        }
        if (strides) {
            o.stridesCount = strides->size();
            o.strides = detail::list(*strides);
        }
        if (dilations) {
            o.dilationsCount = dilations->size();
            o.dilations = detail::list(*dilations);
        }
        o.layout = static_cast<WNNInputOperandLayout>(layout);
        o.outputShapeRounding = static_cast<WNNRoundingType>(outputShapeRounding);
        if (outputSizes) {
            o.outputSizesCount = outputSizes->size();
            o.outputSizes = detail::list(*outputSizes);
        }
        return o;
    }
};

/** The members of MLReduceOptions, with the specification's defaults. */
struct ReduceOptions {
    std::string label{}; /**< appears in error messages */
    std::optional<std::vector<std::uint32_t>> axes{};
    bool keepDimensions = false;

    /** Returns the same for the C API, which points into this object. */
    WNNReduceOptions native() const
    {
        WNNReduceOptions o = WNN_REDUCE_OPTIONS_INIT;
        o.label = detail::view(label);
        if (axes) {
            o.axesCount = axes->size();
            o.axes = detail::list(*axes);
        }
        o.keepDimensions = keepDimensions;
        return o;
    }
};

/** The members of MLResample2dOptions, with the specification's defaults. */
struct Resample2dOptions {
    std::string label{}; /**< appears in error messages */
    InterpolationMode mode = InterpolationMode::nearest_neighbor;
    std::optional<std::vector<float>> scales{};
    std::optional<std::vector<std::uint32_t>> sizes{};
    std::optional<std::vector<std::uint32_t>> axes{};

    /** Returns the same for the C API, which points into this object. */
    WNNResample2dOptions native() const
    {
        WNNResample2dOptions o = WNN_RESAMPLE2D_OPTIONS_INIT;
        o.label = detail::view(label);
        o.mode = static_cast<WNNInterpolationMode>(mode);
        if (scales) {
            o.scalesCount = scales->size();
            o.scales = detail::list(*scales);
        }
        if (sizes) {
            o.sizesCount = sizes->size();
            o.sizes = detail::list(*sizes);
        }
        if (axes) {
            o.axesCount = axes->size();
            o.axes = detail::list(*axes);
        }
        return o;
    }
};

/** The members of MLReverseOptions, with the specification's defaults. */
struct ReverseOptions {
    std::string label{}; /**< appears in error messages */
    std::optional<std::vector<std::uint32_t>> axes{};

    /** Returns the same for the C API, which points into this object. */
    WNNReverseOptions native() const
    {
        WNNReverseOptions o = WNN_REVERSE_OPTIONS_INIT;
        o.label = detail::view(label);
        if (axes) {
            o.axesCount = axes->size();
            o.axes = detail::list(*axes);
        }
        return o;
    }
};

/** The members of MLScatterOptions, with the specification's defaults. */
struct ScatterOptions {
    std::string label{}; /**< appears in error messages */
    std::uint32_t axis = 0;

    /** Returns the same for the C API, which points into this object. */
    WNNScatterOptions native() const
    {
        WNNScatterOptions o = WNN_SCATTER_OPTIONS_INIT;
        o.label = detail::view(label);
        o.axis = axis;
        return o;
    }
};

/** The members of MLSliceOptions, with the specification's defaults. */
struct SliceOptions {
    std::string label{}; /**< appears in error messages */
    std::optional<std::vector<std::uint32_t>> strides{};

    /** Returns the same for the C API, which points into this object. */
    WNNSliceOptions native() const
    {
        WNNSliceOptions o = WNN_SLICE_OPTIONS_INIT;
        o.label = detail::view(label);
        if (strides) {
            o.stridesCount = strides->size();
            o.strides = detail::list(*strides);
        }
        return o;
    }
};

/** The members of MLSplitOptions, with the specification's defaults. */
struct SplitOptions {
    std::string label{}; /**< appears in error messages */
    std::uint32_t axis = 0;

    /** Returns the same for the C API, which points into this object. */
    WNNSplitOptions native() const
    {
        WNNSplitOptions o = WNN_SPLIT_OPTIONS_INIT;
        o.label = detail::view(label);
        o.axis = axis;
        return o;
    }
};

/** The members of MLTransposeOptions, with the specification's defaults. */
struct TransposeOptions {
    std::string label{}; /**< appears in error messages */
    std::optional<std::vector<std::uint32_t>> permutation{};

    /** Returns the same for the C API, which points into this object. */
    WNNTransposeOptions native() const
    {
        WNNTransposeOptions o = WNN_TRANSPOSE_OPTIONS_INIT;
        o.label = detail::view(label);
        if (permutation) {
            o.permutationCount = permutation->size();
            o.permutation = detail::list(*permutation);
        }
        return o;
    }
};

/** The members of MLTriangularOptions, with the specification's defaults. */
struct TriangularOptions {
    std::string label{}; /**< appears in error messages */
    bool upper = true;
    std::int32_t diagonal = 0;

    /** Returns the same for the C API, which points into this object. */
    WNNTriangularOptions native() const
    {
        WNNTriangularOptions o = WNN_TRIANGULAR_OPTIONS_INIT;
        o.label = detail::view(label);
        o.upper = upper;
        o.diagonal = diagonal;
        return o;
    }
};

/**
 * The operators, as methods of a builder.  Each returns what it adds, or throws Error with the message of the call that
 * failed; then the builder does not change.
 */
class Operators : public Handle<WNNGraphBuilder, wnnGraphBuilderAddRef, wnnGraphBuilderRelease>
{
  public:
    using Handle::Handle;

    /** Adds the operator argMin: see wnnGraphBuilderArgMin. */
    Operand argMin(Operand const &input, std::uint32_t axis, ArgMinMaxOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderArgMin(get(), input.get(), axis, &o));
    }
    /** Adds the operator argMax: see wnnGraphBuilderArgMax. */
    Operand argMax(Operand const &input, std::uint32_t axis, ArgMinMaxOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderArgMax(get(), input.get(), axis, &o));
    }
    /** Adds the operator batchNormalization: see wnnGraphBuilderBatchNormalization. */
    Operand batchNormalization(Operand const &input, Operand const &mean, Operand const &variance, BatchNormalizationOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderBatchNormalization(get(), input.get(), mean.get(), variance.get(), &o));
    }
    /** Adds the operator cast: see wnnGraphBuilderCast. */
    Operand cast(Operand const &input, DataType dataType, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderCast(get(), input.get(), static_cast<WNNOperandDataType>(dataType), &o));
    }
    /** Adds the operator clamp: see wnnGraphBuilderClamp. */
    Operand clamp(Operand const &input, ClampOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderClamp(get(), input.get(), &o));
    }
    /** Adds the operator concat: see wnnGraphBuilderConcat. */
    Operand concat(std::vector<Operand> const &inputs, std::uint32_t axis, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderConcat(get(), inputs.size(), detail::handles(inputs).data(), axis, &o));
    }
    /** Adds the operator conv2d: see wnnGraphBuilderConv2d. */
    Operand conv2d(Operand const &input, Operand const &filter, Conv2dOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderConv2d(get(), input.get(), filter.get(), &o));
    }
    /** Adds the operator convTranspose2d: see wnnGraphBuilderConvTranspose2d. */
    Operand convTranspose2d(Operand const &input, Operand const &filter, ConvTranspose2dOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderConvTranspose2d(get(), input.get(), filter.get(), &o));
    }
    /** Adds the operator cumulativeSum: see wnnGraphBuilderCumulativeSum. */
    Operand cumulativeSum(Operand const &input, std::uint32_t axis, CumulativeSumOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderCumulativeSum(get(), input.get(), axis, &o));
    }
    /** Adds the operator add: see wnnGraphBuilderAdd. */
    Operand add(Operand const &a, Operand const &b, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderAdd(get(), a.get(), b.get(), &o));
    }
    /** Adds the operator sub: see wnnGraphBuilderSub. */
    Operand sub(Operand const &a, Operand const &b, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderSub(get(), a.get(), b.get(), &o));
    }
    /** Adds the operator mul: see wnnGraphBuilderMul. */
    Operand mul(Operand const &a, Operand const &b, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderMul(get(), a.get(), b.get(), &o));
    }
    /** Adds the operator div: see wnnGraphBuilderDiv. */
    Operand div(Operand const &a, Operand const &b, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderDiv(get(), a.get(), b.get(), &o));
    }
    /** Adds the operator max: see wnnGraphBuilderMax. */
    Operand max(Operand const &a, Operand const &b, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderMax(get(), a.get(), b.get(), &o));
    }
    /** Adds the operator min: see wnnGraphBuilderMin. */
    Operand min(Operand const &a, Operand const &b, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderMin(get(), a.get(), b.get(), &o));
    }
    /** Adds the operator pow: see wnnGraphBuilderPow. */
    Operand pow(Operand const &a, Operand const &b, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderPow(get(), a.get(), b.get(), &o));
    }
    /** Adds the operator equal: see wnnGraphBuilderEqual. */
    Operand equal(Operand const &a, Operand const &b, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderEqual(get(), a.get(), b.get(), &o));
    }
    /** Adds the operator notEqual: see wnnGraphBuilderNotEqual. */
    Operand notEqual(Operand const &a, Operand const &b, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderNotEqual(get(), a.get(), b.get(), &o));
    }
    /** Adds the operator greater: see wnnGraphBuilderGreater. */
    Operand greater(Operand const &a, Operand const &b, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderGreater(get(), a.get(), b.get(), &o));
    }
    /** Adds the operator greaterOrEqual: see wnnGraphBuilderGreaterOrEqual. */
    Operand greaterOrEqual(Operand const &a, Operand const &b, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderGreaterOrEqual(get(), a.get(), b.get(), &o));
    }
    /** Adds the operator lesser: see wnnGraphBuilderLesser. */
    Operand lesser(Operand const &a, Operand const &b, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderLesser(get(), a.get(), b.get(), &o));
    }
    /** Adds the operator lesserOrEqual: see wnnGraphBuilderLesserOrEqual. */
    Operand lesserOrEqual(Operand const &a, Operand const &b, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderLesserOrEqual(get(), a.get(), b.get(), &o));
    }
    /** Adds the operator logicalNot: see wnnGraphBuilderLogicalNot. */
    Operand logicalNot(Operand const &a, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderLogicalNot(get(), a.get(), &o));
    }
    /** Adds the operator logicalAnd: see wnnGraphBuilderLogicalAnd. */
    Operand logicalAnd(Operand const &a, Operand const &b, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderLogicalAnd(get(), a.get(), b.get(), &o));
    }
    /** Adds the operator logicalOr: see wnnGraphBuilderLogicalOr. */
    Operand logicalOr(Operand const &a, Operand const &b, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderLogicalOr(get(), a.get(), b.get(), &o));
    }
    /** Adds the operator logicalXor: see wnnGraphBuilderLogicalXor. */
    Operand logicalXor(Operand const &a, Operand const &b, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderLogicalXor(get(), a.get(), b.get(), &o));
    }
    /** Adds the operator isNaN: see wnnGraphBuilderIsNaN. */
    Operand isNaN(Operand const &a, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderIsNaN(get(), a.get(), &o));
    }
    /** Adds the operator isInfinite: see wnnGraphBuilderIsInfinite. */
    Operand isInfinite(Operand const &a, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderIsInfinite(get(), a.get(), &o));
    }
    /** Adds the operator abs: see wnnGraphBuilderAbs. */
    Operand abs(Operand const &input, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderAbs(get(), input.get(), &o));
    }
    /** Adds the operator ceil: see wnnGraphBuilderCeil. */
    Operand ceil(Operand const &input, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderCeil(get(), input.get(), &o));
    }
    /** Adds the operator cos: see wnnGraphBuilderCos. */
    Operand cos(Operand const &input, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderCos(get(), input.get(), &o));
    }
    /** Adds the operator erf: see wnnGraphBuilderErf. */
    Operand erf(Operand const &input, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderErf(get(), input.get(), &o));
    }
    /** Adds the operator exp: see wnnGraphBuilderExp. */
    Operand exp(Operand const &input, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderExp(get(), input.get(), &o));
    }
    /** Adds the operator floor: see wnnGraphBuilderFloor. */
    Operand floor(Operand const &input, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderFloor(get(), input.get(), &o));
    }
    /** Adds the operator identity: see wnnGraphBuilderIdentity. */
    Operand identity(Operand const &input, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderIdentity(get(), input.get(), &o));
    }
    /** Adds the operator log: see wnnGraphBuilderLog. */
    Operand log(Operand const &input, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderLog(get(), input.get(), &o));
    }
    /** Adds the operator neg: see wnnGraphBuilderNeg. */
    Operand neg(Operand const &input, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderNeg(get(), input.get(), &o));
    }
    /** Adds the operator reciprocal: see wnnGraphBuilderReciprocal. */
    Operand reciprocal(Operand const &input, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderReciprocal(get(), input.get(), &o));
    }
    /** Adds the operator roundEven: see wnnGraphBuilderRoundEven. */
    Operand roundEven(Operand const &input, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderRoundEven(get(), input.get(), &o));
    }
    /** Adds the operator sin: see wnnGraphBuilderSin. */
    Operand sin(Operand const &input, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderSin(get(), input.get(), &o));
    }
    /** Adds the operator sign: see wnnGraphBuilderSign. */
    Operand sign(Operand const &input, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderSign(get(), input.get(), &o));
    }
    /** Adds the operator sqrt: see wnnGraphBuilderSqrt. */
    Operand sqrt(Operand const &input, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderSqrt(get(), input.get(), &o));
    }
    /** Adds the operator tan: see wnnGraphBuilderTan. */
    Operand tan(Operand const &input, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderTan(get(), input.get(), &o));
    }
    /** Adds the operator dequantizeLinear: see wnnGraphBuilderDequantizeLinear. */
    Operand dequantizeLinear(Operand const &input, Operand const &scale, Operand const &zeroPoint, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderDequantizeLinear(get(), input.get(), scale.get(), zeroPoint.get(), &o));
    }
    /** Adds the operator quantizeLinear: see wnnGraphBuilderQuantizeLinear. */
    Operand quantizeLinear(Operand const &input, Operand const &scale, Operand const &zeroPoint, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderQuantizeLinear(get(), input.get(), scale.get(), zeroPoint.get(), &o));
    }
    /** Adds the operator elu: see wnnGraphBuilderElu. */
    Operand elu(Operand const &input, EluOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderElu(get(), input.get(), &o));
    }
    /** Adds the operator expand: see wnnGraphBuilderExpand. */
    Operand expand(Operand const &input, std::vector<std::uint32_t> const &newShape, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderExpand(get(), input.get(), newShape.size(), detail::list(newShape), &o));
    }
    /** Adds the operator gather: see wnnGraphBuilderGather. */
    Operand gather(Operand const &input, Operand const &indices, GatherOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderGather(get(), input.get(), indices.get(), &o));
    }
    /** Adds the operator gatherElements: see wnnGraphBuilderGatherElements. */
    Operand gatherElements(Operand const &input, Operand const &indices, GatherOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderGatherElements(get(), input.get(), indices.get(), &o));
    }
    /** Adds the operator gatherND: see wnnGraphBuilderGatherND. */
    Operand gatherND(Operand const &input, Operand const &indices, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderGatherND(get(), input.get(), indices.get(), &o));
    }
    /** Adds the operator gelu: see wnnGraphBuilderGelu. */
    Operand gelu(Operand const &input, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderGelu(get(), input.get(), &o));
    }
    /** Adds the operator gemm: see wnnGraphBuilderGemm. */
    Operand gemm(Operand const &a, Operand const &b, GemmOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderGemm(get(), a.get(), b.get(), &o));
    }
    /** Adds the operator gru: see wnnGraphBuilderGru. */
    std::vector<Operand> gru(Operand const &input, Operand const &weight, Operand const &recurrentWeight, std::uint32_t steps, std::uint32_t hiddenSize, GruOptions const &options = {}) const
    {
        auto const o = options.native();
        std::vector<WNNOperand> outputs(3);
        WNNStatus const status = wnnGraphBuilderGru(get(), input.get(), weight.get(), recurrentWeight.get(), steps, hiddenSize, &o, outputs.data());
        detail::check_builder(get());
        check(status);
        return detail::operands(outputs);
    }
    /** Adds the operator gruCell: see wnnGraphBuilderGruCell. */
    Operand gruCell(Operand const &input, Operand const &weight, Operand const &recurrentWeight, Operand const &hiddenState, std::uint32_t hiddenSize, GruCellOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderGruCell(get(), input.get(), weight.get(), recurrentWeight.get(), hiddenState.get(), hiddenSize, &o));
    }
    /** Adds the operator hardSigmoid: see wnnGraphBuilderHardSigmoid. */
    Operand hardSigmoid(Operand const &input, HardSigmoidOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderHardSigmoid(get(), input.get(), &o));
    }
    /** Adds the operator hardSwish: see wnnGraphBuilderHardSwish. */
    Operand hardSwish(Operand const &input, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderHardSwish(get(), input.get(), &o));
    }
    /** Adds the operator instanceNormalization: see wnnGraphBuilderInstanceNormalization. */
    Operand instanceNormalization(Operand const &input, InstanceNormalizationOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderInstanceNormalization(get(), input.get(), &o));
    }
    /** Adds the operator layerNormalization: see wnnGraphBuilderLayerNormalization. */
    Operand layerNormalization(Operand const &input, LayerNormalizationOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderLayerNormalization(get(), input.get(), &o));
    }
    /** Adds the operator leakyRelu: see wnnGraphBuilderLeakyRelu. */
    Operand leakyRelu(Operand const &input, LeakyReluOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderLeakyRelu(get(), input.get(), &o));
    }
    /** Adds the operator linear: see wnnGraphBuilderLinear. */
    Operand linear(Operand const &input, LinearOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderLinear(get(), input.get(), &o));
    }
    /** Adds the operator lstm: see wnnGraphBuilderLstm. */
    std::vector<Operand> lstm(Operand const &input, Operand const &weight, Operand const &recurrentWeight, std::uint32_t steps, std::uint32_t hiddenSize, LstmOptions const &options = {}) const
    {
        auto const o = options.native();
        std::vector<WNNOperand> outputs(3);
        WNNStatus const status = wnnGraphBuilderLstm(get(), input.get(), weight.get(), recurrentWeight.get(), steps, hiddenSize, &o, outputs.data());
        detail::check_builder(get());
        check(status);
        return detail::operands(outputs);
    }
    /** Adds the operator lstmCell: see wnnGraphBuilderLstmCell. */
    std::vector<Operand> lstmCell(Operand const &input, Operand const &weight, Operand const &recurrentWeight, Operand const &hiddenState, Operand const &cellState, std::uint32_t hiddenSize, LstmCellOptions const &options = {}) const
    {
        auto const o = options.native();
        std::vector<WNNOperand> outputs(3);
        WNNStatus const status = wnnGraphBuilderLstmCell(get(), input.get(), weight.get(), recurrentWeight.get(), hiddenState.get(), cellState.get(), hiddenSize, &o, outputs.data());
        detail::check_builder(get());
        check(status);
        return detail::operands(outputs);
    }
    /** Adds the operator matmul: see wnnGraphBuilderMatmul. */
    Operand matmul(Operand const &a, Operand const &b, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderMatmul(get(), a.get(), b.get(), &o));
    }
    /** Adds the operator pad: see wnnGraphBuilderPad. */
    Operand pad(Operand const &input, std::vector<std::uint32_t> const &beginningPadding, std::vector<std::uint32_t> const &endingPadding, PadOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderPad(get(), input.get(), beginningPadding.size(), detail::list(beginningPadding), endingPadding.size(), detail::list(endingPadding), &o));
    }
    /** Adds the operator averagePool2d: see wnnGraphBuilderAveragePool2d. */
    Operand averagePool2d(Operand const &input, Pool2dOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderAveragePool2d(get(), input.get(), &o));
    }
    /** Adds the operator l2Pool2d: see wnnGraphBuilderL2Pool2d. */
    Operand l2Pool2d(Operand const &input, Pool2dOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderL2Pool2d(get(), input.get(), &o));
    }
    /** Adds the operator maxPool2d: see wnnGraphBuilderMaxPool2d. */
    Operand maxPool2d(Operand const &input, Pool2dOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderMaxPool2d(get(), input.get(), &o));
    }
    /** Adds the operator prelu: see wnnGraphBuilderPrelu. */
    Operand prelu(Operand const &input, Operand const &slope, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderPrelu(get(), input.get(), slope.get(), &o));
    }
    /** Adds the operator reduceL1: see wnnGraphBuilderReduceL1. */
    Operand reduceL1(Operand const &input, ReduceOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderReduceL1(get(), input.get(), &o));
    }
    /** Adds the operator reduceL2: see wnnGraphBuilderReduceL2. */
    Operand reduceL2(Operand const &input, ReduceOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderReduceL2(get(), input.get(), &o));
    }
    /** Adds the operator reduceLogSum: see wnnGraphBuilderReduceLogSum. */
    Operand reduceLogSum(Operand const &input, ReduceOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderReduceLogSum(get(), input.get(), &o));
    }
    /** Adds the operator reduceLogSumExp: see wnnGraphBuilderReduceLogSumExp. */
    Operand reduceLogSumExp(Operand const &input, ReduceOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderReduceLogSumExp(get(), input.get(), &o));
    }
    /** Adds the operator reduceMax: see wnnGraphBuilderReduceMax. */
    Operand reduceMax(Operand const &input, ReduceOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderReduceMax(get(), input.get(), &o));
    }
    /** Adds the operator reduceMean: see wnnGraphBuilderReduceMean. */
    Operand reduceMean(Operand const &input, ReduceOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderReduceMean(get(), input.get(), &o));
    }
    /** Adds the operator reduceMin: see wnnGraphBuilderReduceMin. */
    Operand reduceMin(Operand const &input, ReduceOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderReduceMin(get(), input.get(), &o));
    }
    /** Adds the operator reduceProduct: see wnnGraphBuilderReduceProduct. */
    Operand reduceProduct(Operand const &input, ReduceOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderReduceProduct(get(), input.get(), &o));
    }
    /** Adds the operator reduceSum: see wnnGraphBuilderReduceSum. */
    Operand reduceSum(Operand const &input, ReduceOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderReduceSum(get(), input.get(), &o));
    }
    /** Adds the operator reduceSumSquare: see wnnGraphBuilderReduceSumSquare. */
    Operand reduceSumSquare(Operand const &input, ReduceOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderReduceSumSquare(get(), input.get(), &o));
    }
    /** Adds the operator relu: see wnnGraphBuilderRelu. */
    Operand relu(Operand const &input, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderRelu(get(), input.get(), &o));
    }
    /** Adds the operator resample2d: see wnnGraphBuilderResample2d. */
    Operand resample2d(Operand const &input, Resample2dOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderResample2d(get(), input.get(), &o));
    }
    /** Adds the operator reshape: see wnnGraphBuilderReshape. */
    Operand reshape(Operand const &input, std::vector<std::uint32_t> const &newShape, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderReshape(get(), input.get(), newShape.size(), detail::list(newShape), &o));
    }
    /** Adds the operator reverse: see wnnGraphBuilderReverse. */
    Operand reverse(Operand const &input, ReverseOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderReverse(get(), input.get(), &o));
    }
    /** Adds the operator scatterElements: see wnnGraphBuilderScatterElements. */
    Operand scatterElements(Operand const &input, Operand const &indices, Operand const &updates, ScatterOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderScatterElements(get(), input.get(), indices.get(), updates.get(), &o));
    }
    /** Adds the operator scatterND: see wnnGraphBuilderScatterND. */
    Operand scatterND(Operand const &input, Operand const &indices, Operand const &updates, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderScatterND(get(), input.get(), indices.get(), updates.get(), &o));
    }
    /** Adds the operator sigmoid: see wnnGraphBuilderSigmoid. */
    Operand sigmoid(Operand const &input, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderSigmoid(get(), input.get(), &o));
    }
    /** Adds the operator slice: see wnnGraphBuilderSlice. */
    Operand slice(Operand const &input, std::vector<std::uint32_t> const &starts, std::vector<std::uint32_t> const &sizes, SliceOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderSlice(get(), input.get(), starts.size(), detail::list(starts), sizes.size(), detail::list(sizes), &o));
    }
    /** Adds the operator softmax: see wnnGraphBuilderSoftmax. */
    Operand softmax(Operand const &input, std::uint32_t axis, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderSoftmax(get(), input.get(), axis, &o));
    }
    /** Adds the operator softplus: see wnnGraphBuilderSoftplus. */
    Operand softplus(Operand const &input, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderSoftplus(get(), input.get(), &o));
    }
    /** Adds the operator softsign: see wnnGraphBuilderSoftsign. */
    Operand softsign(Operand const &input, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderSoftsign(get(), input.get(), &o));
    }
    /** Adds the operator split: see wnnGraphBuilderSplit. */
    std::vector<Operand> split(Operand const &input, std::vector<std::uint32_t> const &splits, SplitOptions const &options = {}) const
    {
        auto const o = options.native();
        std::vector<WNNOperand> outputs(splits.size());
        WNNStatus const status = wnnGraphBuilderSplit(get(), input.get(), splits.size(), detail::list(splits), &o, outputs.data());
        detail::check_builder(get());
        check(status);
        return detail::operands(outputs);
    }
    /** Splits into equal parts: see wnnGraphBuilderSplitEqual. */
    std::vector<Operand> split(Operand const &input, std::uint32_t parts, SplitOptions const &options = {}) const
    {
        auto const o = options.native();
        std::vector<WNNOperand> outputs(parts);
        WNNStatus const status = wnnGraphBuilderSplitEqual(get(), input.get(), parts, &o, outputs.data());
        detail::check_builder(get());
        check(status);
        return detail::operands(outputs);
    }
    /** Adds the operator tanh: see wnnGraphBuilderTanh. */
    Operand tanh(Operand const &input, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderTanh(get(), input.get(), &o));
    }
    /** Adds the operator tile: see wnnGraphBuilderTile. */
    Operand tile(Operand const &input, std::vector<std::uint32_t> const &repetitions, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderTile(get(), input.get(), repetitions.size(), detail::list(repetitions), &o));
    }
    /** Adds the operator transpose: see wnnGraphBuilderTranspose. */
    Operand transpose(Operand const &input, TransposeOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderTranspose(get(), input.get(), &o));
    }
    /** Adds the operator triangular: see wnnGraphBuilderTriangular. */
    Operand triangular(Operand const &input, TriangularOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderTriangular(get(), input.get(), &o));
    }
    /** Adds the operator where: see wnnGraphBuilderWhere. */
    Operand where(Operand const &condition, Operand const &trueValue, Operand const &falseValue, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderWhere(get(), condition.get(), trueValue.get(), falseValue.get(), &o));
    }
};

} // namespace webnn

#endif
