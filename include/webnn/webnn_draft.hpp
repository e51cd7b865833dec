/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/**
 * @file webnn_draft.hpp
 * The operators of the draft of dynamic shapes (webnn_draft.h), generated from ir/graph/ops_draft.def by
 * webnn-cpp-operators.  They may change with the draft.
 */
#ifndef WEBNN_WEBNN_DRAFT_HPP_
#define WEBNN_WEBNN_DRAFT_HPP_

#include "webnn/webnn.hpp"
#include "webnn/webnn_draft.h"

// clang-format off
namespace webnn
{

namespace draft
{

/** The data types of the draft of low precision (ContextOptions::draftDataTypes). */
inline constexpr DataType bfloat16 = static_cast<DataType>(9);
inline constexpr DataType float8e4m3 = static_cast<DataType>(10);
inline constexpr DataType float8e5m2 = static_cast<DataType>(11);

/** The members of MLResample2dDynamicOptions, with the specification's defaults. */
struct Resample2dDynamicOptions {
    std::string label{}; /**< appears in error messages */
    Operand sizes{};
    InterpolationMode mode = InterpolationMode::nearest_neighbor;
    std::optional<std::vector<float>> scales{};
    std::optional<std::vector<std::uint32_t>> axes{};

    /** Returns the same for the C API, which points into this object. */
    WNNResample2dDynamicOptions native() const
    {
        WNNResample2dDynamicOptions o = WNN_RESAMPLE2D_DYNAMIC_OPTIONS_INIT;
        o.label = detail::view(label);
        o.sizes = sizes.get();
        o.mode = static_cast<WNNInterpolationMode>(mode);
        if (scales) {
            o.scalesCount = scales->size();
            o.scales = detail::list(*scales);
        }
        if (axes) {
            o.axesCount = axes->size();
            o.axes = detail::list(*axes);
        }
        return o;
    }
};

/** A builder that has the draft's operators, too. */
class GraphBuilder : public webnn::GraphBuilder
{
  public:
    using webnn::GraphBuilder::GraphBuilder;

    /** Adds the operator shape: see wnnGraphBuilderShape. */
    Operand shape(Operand const &input, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderShape(get(), input.get(), &o));
    }
    /** Adds the operator range: see wnnGraphBuilderRange. */
    Operand range(Operand const &start, Operand const &limit, Operand const &delta, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderRange(get(), start.get(), limit.get(), delta.get(), &o));
    }
    /** Adds the operator modulusFloor: see wnnGraphBuilderModulusFloor. */
    Operand modulusFloor(Operand const &a, Operand const &b, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderModulusFloor(get(), a.get(), b.get(), &o));
    }
    /** Adds the operator modulusTruncate: see wnnGraphBuilderModulusTruncate. */
    Operand modulusTruncate(Operand const &a, Operand const &b, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderModulusTruncate(get(), a.get(), b.get(), &o));
    }
    /** Adds the operator squeeze: see wnnGraphBuilderSqueeze. */
    Operand squeeze(Operand const &input, std::vector<std::uint32_t> const &axes, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderSqueeze(get(), input.get(), axes.size(), detail::list(axes), &o));
    }
    /** Adds the operator unsqueeze: see wnnGraphBuilderUnsqueeze. */
    Operand unsqueeze(Operand const &input, std::vector<std::uint32_t> const &axes, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderUnsqueeze(get(), input.get(), axes.size(), detail::list(axes), &o));
    }
    /** Adds the operator reshapeTo2d: see wnnGraphBuilderFlatten. */
    Operand reshapeTo2d(Operand const &input, std::uint32_t axis, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderFlatten(get(), input.get(), axis, &o));
    }
    /** Adds the operator reshapeDynamic: see wnnGraphBuilderReshapeDynamic. */
    Operand reshapeDynamic(Operand const &input, Operand const &newShape, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderReshapeDynamic(get(), input.get(), newShape.get(), &o));
    }
    /** Adds the operator expandDynamic: see wnnGraphBuilderExpandDynamic. */
    Operand expandDynamic(Operand const &input, Operand const &newShape, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderExpandDynamic(get(), input.get(), newShape.get(), &o));
    }
    /** Adds the operator sliceDynamic: see wnnGraphBuilderSliceDynamic. */
    Operand sliceDynamic(Operand const &input, Operand const &starts, Operand const &sizes, SliceOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderSliceDynamic(get(), input.get(), starts.get(), sizes.get(), &o));
    }
    /** Adds the operator padDynamic: see wnnGraphBuilderPadDynamic. */
    Operand padDynamic(Operand const &input, Operand const &beginningPadding, Operand const &endingPadding, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderPadDynamic(get(), input.get(), beginningPadding.get(), endingPadding.get(), &o));
    }
    /** Adds the operator splitDynamic: see wnnGraphBuilderSplitDynamic. */
    std::vector<Operand> splitDynamic(Operand const &input, Operand const &splits, SplitOptions const &options = {}) const
    {
        auto const o = options.native();
        std::vector<WNNOperand> outputs(wnnOperandGetRank(splits.get()) ? splits.shape()[0] : 0);
        WNNStatus const status = wnnGraphBuilderSplitDynamic(get(), input.get(), splits.get(), &o, outputs.size(), outputs.data());
        detail::check_builder(get());
        check(status);
        return detail::operands(outputs);
    }
    /** Adds the operator resample2dDynamic: see wnnGraphBuilderResample2dDynamic. */
    Operand resample2dDynamic(Operand const &input, Resample2dDynamicOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderResample2dDynamic(get(), input.get(), &o));
    }
    /** Adds the operator tileDynamic: see wnnGraphBuilderTileDynamic. */
    Operand tileDynamic(Operand const &input, Operand const &repetitions, OperatorOptions const &options = {}) const
    {
        auto const o = options.native();
        return detail::checked(get(), wnnGraphBuilderTileDynamic(get(), input.get(), repetitions.get(), &o));
    }
};

} // namespace draft
} // namespace webnn

#endif
