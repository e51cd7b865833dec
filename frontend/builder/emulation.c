/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Defines squeeze, unsqueeze and flatten: operators of other libraries that the specification (section "Operator Emulation")
 * composes of reshape.
 */
#include "frontend/builder/builder.h"
#include "ir/graph/op_draft.h"

/** Sets a TypeError "squeeze: ..." of a call whose operand has been checked. */
static WNNOperand refuse(WNNGraphBuilder b, const char *name, const char *text, size_t a, size_t limit)
{
    struct error e = {0};

    error_set(&e, WNNStatus_TypeError, "%s: %s (%zu, %zu)", name, text, a, limit);
    return builder_fail(b, &e);
}

/** Returns whether reshape will find the operand worth looking at; if not, reshape is to refuse it. */
static bool usable(WNNGraphBuilder b, WNNOperand input)
{
    return b && input && input->builder == b && input->value;
}

WNNOperand wnnGraphBuilderSqueeze(WNNGraphBuilder builder, WNNOperand input, size_t axesCount, uint32_t const *axes,
                                  WNNOperatorOptions const *options)
{
    uint32_t dims[RANK_MAX] = {0}, rank = 0, chosen = 0;

    if (!usable(builder, input))
        return wnnGraphBuilderReshape(builder, input, 0, NULL, options);
    if (axesCount && !axes)
        return refuse(builder, "squeeze", "axes is NULL, but has items", axesCount, 0);
    for (size_t i = 0; i < axesCount; i++)
        if (axes[i] < RANK_MAX)
            chosen |= 1u << axes[i];
    if (input->names)
        return builder_apply(builder, OP_SQUEEZE, options, &(union op_args){.squeeze = {axesCount, axes}}, 1, &input);
    if (!axesCount)
        chosen = ~0u;
    for (uint32_t i = 0; i < input->type.rank; i++)
        if (!(chosen & 1u << i) || input->type.dims[i] != 1)
            dims[rank++] = input->type.dims[i];
    return wnnGraphBuilderReshape(builder, input, rank, dims, options);
}

WNNOperand wnnGraphBuilderUnsqueeze(WNNGraphBuilder builder, WNNOperand input, size_t axesCount, uint32_t const *axes,
                                    WNNOperatorOptions const *options)
{
    uint32_t dims[RANK_MAX] = {0}, rank, from = 0;
    uint32_t added = 0;

    if (!usable(builder, input))
        return wnnGraphBuilderReshape(builder, input, 0, NULL, options);
    if (axesCount && !axes)
        return refuse(builder, "unsqueeze", "axes is NULL, but has items", axesCount, 0);
    if (axesCount > RANK_MAX - input->type.rank)
        return refuse(builder, "unsqueeze", "the rank would exceed the largest supported", input->type.rank + axesCount,
                      RANK_MAX);
    if (input->names)
        return builder_apply(builder, OP_UNSQUEEZE, options, &(union op_args){.unsqueeze = {axesCount, axes}}, 1, &input);
    rank = input->type.rank + (uint32_t)axesCount;
    for (size_t i = 0; i < axesCount; i++) {
        if (axes[i] >= rank)
            return refuse(builder, "unsqueeze", "an axis is not less than the rank of the result", axes[i], rank);
        if (added & 1u << axes[i])
            return refuse(builder, "unsqueeze", "an axis occurs more than once", axes[i], rank);
        added |= 1u << axes[i];
    }
    for (uint32_t i = 0; i < rank; i++)
        dims[i] = added & 1u << i ? 1 : input->type.dims[from++];
    return wnnGraphBuilderReshape(builder, input, rank, dims, options);
}

WNNOperand wnnGraphBuilderFlatten(WNNGraphBuilder builder, WNNOperand input, uint32_t axis, WNNOperatorOptions const *options)
{
    uint32_t dims[2] = {1, 1};

    if (!usable(builder, input))
        return wnnGraphBuilderReshape(builder, input, 0, NULL, options);
    if (axis > input->type.rank)
        return input;
    if (input->names)
        return builder_apply(builder, OP_RESHAPE_TO_2D, options, &(union op_args){.reshapeTo2d = {axis}}, 1, &input);
    /* The products cannot overflow: the element count of an operand is below 2^31. */
    for (uint32_t i = 0; i < input->type.rank; i++)
        dims[i >= axis] *= input->type.dims[i];
    return wnnGraphBuilderReshape(builder, input, 2, dims, options);
}
